//! Formatting into memory: `sprintf`, `snprintf` and their relatives.
//!
//! The real function writes the text, and the model walks over the format. The characters
//! of a `%s` and a `%c` keep their labels. The length of the text is an expression if a hole of the
//! input is in one of them (see `symbolic/holes`). The digits of integers and of `%f` are
//! expressions (`digits`); another labelled number is counted as lost. The text of a format with
//! numbered arguments, wide characters or `%n` gets no labels, and that is counted.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{self, V, clear, copy};
use super::define::{assembly_model, models};
use super::digits::{Digits, Unsigned};
use super::text::{check_fits, symbolic_length, symbolic_length_within};
use super::va_list::VaList;
use crate::symbolic::calls::{self, Saved};
use crate::symbolic::events::count_loss;
use crate::symbolic::tls::{take_arguments, tls};
use crate::symbolic::{is_labelling, objects};
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn vsprintf(to: u64, format: u64, args: u64) -> i32;
        pub fn vsnprintf(to: u64, n: u64, format: u64, args: u64) -> i32;
        pub fn vasprintf(to: u64, format: u64, args: u64) -> i32;
        pub fn __vasprintf_chk(to: u64, flag: i32, format: u64, args: u64) -> i32;
        pub fn __vsprintf_chk(to: u64, flag: i32, room: u64, format: u64, args: u64) -> i32;
        pub fn __vsnprintf_chk(
            to: u64,
            n: u64,
            flag: i32,
            room: u64,
            format: u64,
            args: u64,
        ) -> i32;
    }
}

models! {
    fn vsprintf(to: u64, format: u64, args: u64) -> i32 {
        let call = Call::of(to, None, format, args.pin());
        call.print(|list| real::vsprintf(to.val, format.val, list))
    }
    fn vsnprintf(to: u64, n: u64, format: u64, args: u64) -> i32 {
        let call = Call::of(to, Some(n), format, args.pin());
        call.print(|list| real::vsnprintf(to.val, n.val, format.val, list))
    }
    fn vasprintf(to: u64, format: u64, args: u64) -> i32 {
        let (to, list) = (to.pin(), args.pin());
        print_new(to, format, list, |l| real::vasprintf(to, format.val, l))
    }
    fn __vasprintf_chk(to: u64, flag: i32, format: u64, args: u64) -> i32 {
        let (to, list, flag) = (to.pin(), args.pin(), flag.pin() as i32);
        print_new(to, format, list, |l| real::__vasprintf_chk(to, flag, format.val, l))
    }
    fn __vsprintf_chk(to: u64, flag: i32, room: u64, format: u64, args: u64) -> i32 {
        let call = Call::of(to, None, format, args.pin());
        call.print(|list| {
            real::__vsprintf_chk(to.val, flag.val as i32, room.val, format.val, list)
        })
    }
    fn __vsnprintf_chk(to: u64, n: u64, flag: i32, room: u64, format: u64, args: u64) -> i32 {
        let call = Call::of(to, Some(n), format, args.pin());
        call.print(|list| {
            real::__vsnprintf_chk(to.val, n.val, flag.val as i32, room.val, format.val, list)
        })
    }
}

/// A variadic function: makes a [`Passed`] of its arguments, with those in vector
/// registers, and calls `$target` with it. `$named` bytes of registers are named arguments
/// and not in the list; `$list` is the register of the `Passed` argument.
macro_rules! variadic {
    ($name:literal, $named:literal, $list:literal, $target:path) => {
        assembly_model!($name, [
            "sub rsp, 216",
            ".cfi_def_cfa_offset 224",
            "mov [rsp], rdi", "mov [rsp + 8], rsi", "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx", "mov [rsp + 32], r8", "mov [rsp + 40], r9",
            "test al, al",
            "je 2f",
            "movaps [rsp + 48], xmm0", "movaps [rsp + 64], xmm1",
            "movaps [rsp + 80], xmm2", "movaps [rsp + 96], xmm3",
            "movaps [rsp + 112], xmm4", "movaps [rsp + 128], xmm5",
            "movaps [rsp + 144], xmm6", "movaps [rsp + 160], xmm7",
            "2:",
            concat!("mov dword ptr [rsp + 176], ", $named),
            "mov dword ptr [rsp + 180], 48",
            "lea rax, [rsp + 224]", "mov [rsp + 184], rax",
            "mov [rsp + 192], rsp",
            concat!("lea rax, [rip + __pleach_m_", $name, "]"),
            "mov [rsp + 200], rax",
            concat!("lea ", $list, ", [rsp + 176]"),
            "call {target}",
            "add rsp, 216",
            ".cfi_def_cfa_offset 8",
            "ret",
        ], target = sym $target);
    };
}
pub(super) use variadic;

variadic!("sprintf", 16, "rdx", sprintf);
variadic!("snprintf", 24, "rcx", snprintf);
variadic!("asprintf", 16, "rdx", asprintf);
variadic!("__asprintf_chk", 24, "rcx", asprintf_chk);
variadic!("__sprintf_chk", 32, "r8", sprintf_chk);
variadic!("__snprintf_chk", 40, "r9", snprintf_chk);

/// A `va_list`, and the address of the model.
#[repr(C)]
pub struct Passed {
    pub list: VaList,
    pub model: usize,
}

unsafe extern "C" fn sprintf(to: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: the list comes from `variadic!`; the rest is the caller's.
    unsafe {
        print_variadic(passed, [to, format], |[to, format], list| {
            Call::of(to, None, format, list).print(|l| real::vsprintf(to.val, format.val, l))
        })
    }
}

unsafe extern "C" fn snprintf(to: u64, n: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: as above.
    unsafe {
        print_variadic(passed, [to, n, format], |[to, n, format], list| {
            let call = Call::of(to, Some(n), format, list);
            call.print(|l| real::vsnprintf(to.val, n.val, format.val, l))
        })
    }
}

unsafe extern "C" fn sprintf_chk(
    to: u64,
    flag: u64,
    room: u64,
    format: u64,
    passed: *const Passed,
) -> i32 {
    // Safety: as above.
    unsafe {
        print_variadic(passed, [to, flag, room, format], |[to, flag, room, format], list| {
            Call::of(to, None, format, list)
                .print(|l| real::__vsprintf_chk(to.val, flag.val as i32, room.val, format.val, l))
        })
    }
}

unsafe extern "C" fn snprintf_chk(
    to: u64,
    n: u64,
    flag: u64,
    room: u64,
    format: u64,
    passed: *const Passed,
) -> i32 {
    // Safety: as above.
    unsafe {
        print_variadic(passed, [to, n, flag, room, format], |[to, n, flag, room, format], list| {
            Call::of(to, Some(n), format, list).print(|l| {
                real::__vsnprintf_chk(to.val, n.val, flag.val as i32, room.val, format.val, l)
            })
        })
    }
}

unsafe extern "C" fn asprintf(to: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: as above.
    unsafe {
        print_variadic(passed, [to, format], |[to, format], list| {
            let to = to.pin();
            print_new(to, format, list, |l| real::vasprintf(to, format.val, l))
        })
    }
}

unsafe extern "C" fn asprintf_chk(to: u64, flag: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: as above.
    unsafe {
        print_variadic(passed, [to, flag, format], |[to, flag, format], list| {
            let (to, flag) = (to.pin(), flag.pin() as i32);
            print_new(to, format, list, |l| real::__vasprintf_chk(to, flag, format.val, l))
        })
    }
}

/// Runs `real`, which formats into new memory and leaves its address at `place`, and labels the
/// text.
///
/// # Safety
/// As `vasprintf`.
unsafe fn print_new(place: u64, format: V, args: u64, real: impl FnOnce(u64) -> i32) -> V {
    // Safety: the caller guarantees it. Each call gets a list of its own.
    unsafe {
        let mut list = *(args as *const VaList);
        let wrote = real(&raw mut list as u64);
        clear(place, 8);
        if wrote < 0 {
            return V::new(32, wrote as u32 as u64);
        }
        let (to, room) = (*(place as *const u64), wrote as u64 + 1);
        objects::set_heap_object(to, Some(room));
        let call = Call::of(V::new(64, to), Some(V::new(64, room)), format, args);
        call.print(|_| wrote)
    }
}

/// Runs `print` with the labels of the `N` named arguments, and leaves the label of the
/// result for the caller.
///
/// # Safety
/// `passed` comes from `variadic!`.
unsafe fn print_variadic<const N: usize>(
    passed: *const Passed,
    values: [u64; N],
    print: impl FnOnce([V; N], u64) -> V,
) -> i32 {
    // Safety: the caller guarantees it.
    unsafe {
        let (named, list) = take_variadic(passed, values);
        api::leave((*passed).model, print(named, list)) as i32
    }
}

/// The named arguments with their labels, and the list of the others, whose labels are in the
/// shadow.
///
/// # Safety
/// `passed` comes from `variadic!`.
pub unsafe fn take_variadic<const N: usize>(
    passed: *const Passed,
    values: [u64; N],
) -> ([V; N], u64) {
    // Safety: the caller guarantees it.
    let (list, model) = unsafe { (&raw const (*passed).list, (*passed).model) };
    let mut saved = Saved::NONE;
    if tls().arg_stamp == model as u64 {
        calls::va_save(&mut saved);
    }
    calls::va_start(list.cast(), &saved);
    let labels: [u32; N] = take_arguments(model);
    (core::array::from_fn(|i| V::arg(labels[i], 64, values[i])), list as u64)
}

/// One call of any function of the family.
pub struct Call {
    to: u64,
    /// Maximum number of bytes to write, if the function has such an argument.
    limit: Option<u64>,
    format: u64,
    list: u64,
    pieces: [Piece; MAX_PIECES],
    count: usize,
    /// A labelled number was formatted whose digits get no labels.
    is_lost: bool,
}

/// A part of the text with labels. Offsets are those in the text.
#[derive(Clone, Copy)]
enum Piece {
    /// `n` characters at `from`.
    Copy { from: u64, n: u64, at: u64 },
    /// The digits of a number before `end`.
    Number { digits: Digits, end: u64 },
}

const MAX_PIECES: usize = 32;

impl Call {
    pub fn of(to: V, limit: Option<V>, format: V, list: u64) -> Call {
        let (to, limit, format) = (to.pin(), limit.map(V::pin), format.pin());
        Call {
            to,
            limit,
            format,
            list,
            pieces: [Piece::Copy { from: 0, n: 0, at: 0 }; MAX_PIECES],
            count: 0,
            is_lost: false,
        }
    }

    /// Calls the real function and labels the text. Returns its length.
    ///
    /// # Safety
    /// As the C function.
    unsafe fn print(self, real: impl FnOnce(u64) -> i32) -> V {
        // Safety: the caller guarantees it.
        unsafe { self.print_or(real, || count_loss(Loss::Model)) }
    }

    /// As [`Call::print`]; `lose` is called if the text gets no labels.
    ///
    /// # Safety
    /// As the C function.
    pub unsafe fn print_or(mut self, real: impl FnOnce(u64) -> i32, lose: impl FnOnce()) -> V {
        let plain = |n: i32| V::new(32, n as u32 as u64);
        if !is_labelling() {
            return plain(real(self.list));
        }
        // A copy of the list, since the real function changes it.
        // Safety: the caller guarantees it.
        let size = unsafe { self.walk(*(self.list as *const VaList)) };
        if let Some(size) = size {
            match self.limit {
                None => check_fits(size.add(V::new(64, 1)), self.to),
                Some(limit) => _ = size.ult(V::new(64, limit)).decide(),
            }
        }
        let wrote = real(self.list);
        let room = self.limit.map_or(u64::MAX, |n| n.saturating_sub(1));
        if wrote < 0 || self.limit == Some(0) {
            return size.filter(|s| s.val == wrote as u64).map_or(plain(wrote), |s| s.trunc(32));
        }
        let text = (wrote as u64).min(room);
        clear(self.to, text + 1);
        let Some(size) = size.filter(|s| s.val == wrote as u64) else {
            lose();
            return plain(wrote);
        };
        for piece in &self.pieces[..self.count] {
            match *piece {
                Piece::Copy { from, n, at } => {
                    copy(self.to + at.min(text), from, n.min(text - at.min(text)));
                }
                Piece::Number { digits, end } => {
                    self.is_lost |= !digits.label(self.to + end, self.to..self.to + text);
                }
            }
        }
        if self.is_lost {
            lose();
        }
        size.trunc(32)
    }

    /// The length of the whole text; `None` if the format is not supported.
    ///
    /// # Safety
    /// `self.format` is a format, and `list` has its arguments.
    unsafe fn walk(&mut self, mut list: VaList) -> Option<V> {
        let mut size = V::new(64, 0);
        let mut at = self.format as *const u8;
        // Safety: the caller guarantees it; stops at the zero.
        unsafe {
            while *at != 0 {
                if *at != b'%' {
                    at = at.add(1);
                    size = size.add(V::new(64, 1));
                    continue;
                }
                let directive = Directive::read(&mut at, &mut list)?;
                let part = match directive.conversion {
                    b's' => self.string_length(&directive, size.val, list.next_general())?,
                    b'c' if !directive.long => self.character(&directive, size.val, &mut list)?,
                    _ => self.number(&directive, size.val, &mut list)?,
                };
                size = size.add(part);
            }
        }
        Some(size)
    }

    /// The length of what `%s` writes.
    ///
    /// # Safety
    /// `text` is a string, or has as many bytes as the precision says.
    unsafe fn string_length(&mut self, d: &Directive, at: u64, text: u64) -> Option<V> {
        if d.long || text == 0 || self.count == MAX_PIECES {
            return None;
        }
        // Safety: the caller guarantees it.
        let n = unsafe {
            match d.precision {
                Some(limit) => symbolic_length_within(text, V::new(64, limit)),
                None => symbolic_length(text),
            }
        };
        self.add_piece(d, at, text, n.val);
        let width = V::new(64, d.width);
        Some(if d.width > 0 && n.ult(width).decide() { width } else { n })
    }

    /// The length of what `%c` writes.
    fn character(&mut self, d: &Directive, at: u64, list: &mut VaList) -> Option<V> {
        if self.count == MAX_PIECES {
            return None;
        }
        self.add_piece(d, at, list.place_of_general(), 1);
        Some(V::new(64, d.width.max(1)))
    }

    /// The length of what any other conversion writes; the decisions on the number imply it.
    ///
    /// # Safety
    /// `list` has the argument.
    unsafe fn number(&mut self, d: &Directive, at: u64, list: &mut VaList) -> Option<V> {
        // Safety: the caller guarantees it.
        let (n, place) = unsafe { d.other_length(list)? };
        let whole = V::new(64, n);
        let Some(place) = place.filter(|&place| V::load(place, 64).label != 0) else {
            return Some(whole);
        };
        let found = if self.count < MAX_PIECES { d.digits(place) } else { None };
        match found {
            Some((digits, before)) => {
                let end = if d.left { before + digits.len() } else { n };
                self.pieces[self.count] = Piece::Number { digits, end: at + end };
                self.count += 1;
            }
            None => self.is_lost = true,
        }
        Some(whole)
    }

    /// Notes that `n` characters at `from` are written at `at`, and padded to the width.
    fn add_piece(&mut self, d: &Directive, at: u64, from: u64, n: u64) {
        let before = if d.left { 0 } else { d.width.saturating_sub(n) };
        self.pieces[self.count] = Piece::Copy { from, n, at: at + before };
        self.count += 1;
    }
}

/// A directive, from the `%` to the conversion.
struct Directive {
    text: [u8; MAX_DIRECTIVE],
    len: usize,
    left: bool,
    width: u64,
    precision: Option<u64>,
    long: bool,
    conversion: u8,
    /// The arguments from the first one of this directive on.
    list: VaList,
}

const MAX_DIRECTIVE: usize = 32;

impl Directive {
    /// Parses a directive, and takes a `*` width or precision from the arguments.
    ///
    /// # Safety
    /// `at` points to a `%` of a format.
    unsafe fn read(at: &mut *const u8, list: &mut VaList) -> Option<Directive> {
        let mut d = Directive {
            text: [0; MAX_DIRECTIVE],
            len: 0,
            left: false,
            width: 0,
            precision: None,
            long: false,
            conversion: 0,
            list: *list,
        };
        // Safety: the caller guarantees it; stops at the zero.
        unsafe {
            d.take_char(at)?;
            while matches!(**at, b'-' | b'+' | b' ' | b'#' | b'0' | b'\'') {
                d.left |= d.take_char(at)? == b'-';
            }
            if let Some(width) = d.amount(at, list)? {
                d.left |= width < 0;
                d.width = width.unsigned_abs().into();
            }
            if **at == b'.' {
                d.take_char(at)?;
                let given = d.amount(at, list)?.unwrap_or(0);
                d.precision = u64::try_from(given).ok();
            }
            while matches!(**at, b'h' | b'l' | b'j' | b'z' | b't' | b'q' | b'L') {
                let c = d.take_char(at)?;
                d.long |= c == b'l' || c == b'L';
            }
            d.conversion = d.take_char(at)?;
        }
        Some(d)
    }

    /// Takes one character of the format; `None` at its end.
    unsafe fn take_char(&mut self, at: &mut *const u8) -> Option<u8> {
        // Safety: the caller guarantees it.
        let c = unsafe { **at };
        if c == 0 || self.len + 1 == MAX_DIRECTIVE {
            return None;
        }
        self.text[self.len] = c;
        self.len += 1;
        *at = unsafe { at.add(1) };
        Some(c)
    }

    /// A width or precision, if there is one: digits, or a `*` and an argument. `None` for a
    /// numbered argument, which is not supported.
    unsafe fn amount(&mut self, at: &mut *const u8, list: &mut VaList) -> Option<Option<i32>> {
        // Safety: the caller guarantees it.
        unsafe {
            if **at == b'*' {
                self.take_char(at)?;
                return Some(Some(list.next_general() as i32));
            }
            let mut number = None;
            while (**at).is_ascii_digit() {
                let digit = i32::from(self.take_char(at)? - b'0');
                number = Some(number.unwrap_or(0i32).checked_mul(10)?.checked_add(digit)?);
            }
            (**at != b'$').then_some(number)
        }
    }

    /// The length of what any other conversion writes, and where its argument is.
    ///
    /// # Safety
    /// `list` has the argument.
    unsafe fn other_length(&self, list: &mut VaList) -> Option<(u64, Option<u64>)> {
        let mut own = self.list;
        let place = match self.conversion {
            b'%' | b'm' => None,
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'p' => Some(list.place_of_general()),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => Some(match self.has(b'L') {
                true => list.place_of_long_double(),
                false => list.place_of_double(),
            }),
            _ => return None,
        };
        // Safety: prints this directive alone, with its own arguments.
        let n = unsafe { real::vsnprintf(0, 0, self.text.as_ptr() as u64, &raw mut own as u64) };
        Some((u64::try_from(n).ok()?, place))
    }

    /// The digits of the labelled number at `place`, and how many characters are before them
    /// without padding. `None` for a form that is not supported.
    fn digits(&self, place: u64) -> Option<(Digits, u64)> {
        if self.has(b'#') || self.has(b'\'') || self.has(b'L') {
            return None;
        }
        let (base, letter) = match self.conversion {
            b'f' | b'F' => {
                let decimals = self.precision.unwrap_or(6);
                let number = Unsigned::of_double(V::load(place, 64), decimals)?;
                let digits = Digits::with_decimals(number.magnitude, decimals);
                return Some((digits, self.sign_length(number.is_negative)));
            }
            b'd' | b'i' | b'u' => (10, 0),
            b'o' => (8, 0),
            b'x' => (16, b'a'),
            b'X' => (16, b'A'),
            _ => return None,
        };
        let is_signed = matches!(self.conversion, b'd' | b'i');
        let number = Unsigned::of(V::load(place, self.integer_width()), is_signed);
        // Zero with a precision of zero has no digits.
        if self.precision == Some(0) {
            return None;
        }
        let digits = Digits::of(number.magnitude, base, letter);
        let sign = if is_signed { self.sign_length(number.is_negative) } else { 0 };
        let zeros = self.precision.unwrap_or(0).saturating_sub(digits.count);
        Some((digits, sign + zeros))
    }

    fn sign_length(&self, is_negative: bool) -> u64 {
        u64::from(is_negative || self.has(b'+') || self.has(b' '))
    }

    /// The width of an integer argument.
    fn integer_width(&self) -> u32 {
        let count = |c: u8| self.text[..self.len].iter().filter(|&&t| t == c).count();
        match count(b'h') {
            0 if b"ljztq".iter().any(|&c| self.has(c)) => 64,
            0 => 32,
            1 => 16,
            _ => 8,
        }
    }

    fn has(&self, c: u8) -> bool {
        self.text[..self.len].contains(&c)
    }
}
