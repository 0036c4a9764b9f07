//! Text that is put together in memory: `sprintf`, `snprintf` and their relatives.
//!
//! The real function writes. Beside it the model walks over the format: the characters
//! of a `%s` keep their labels, and how much is written is an expression where a hole
//! of the input is in one of them (see `symbolic/holes`). What numbers look like stays
//! concrete; a labelled value among the arguments is counted as lost. Formats with
//! numbered arguments, wide characters or `%n` are written without labels, and counted.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{self, V, clear, copy};
use super::define::{assembly_model, models};
use super::text::{fits, measured, measured_within};
use super::va_list::VaList;
use crate::symbolic::events::loss;
use crate::symbolic::labelling;
use crate::symbolic::tls::{take_arguments, tls};
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn vsprintf(to: u64, format: u64, args: u64) -> i32;
        pub fn vsnprintf(to: u64, n: u64, format: u64, args: u64) -> i32;
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

variadic!("sprintf", 16, "rdx", sprintf);
variadic!("snprintf", 24, "rcx", snprintf);
variadic!("__sprintf_chk", 32, "r8", sprintf_chk);
variadic!("__snprintf_chk", 40, "r9", snprintf_chk);

/// A `va_list`, and the address of the model.
#[repr(C)]
struct Passed {
    list: VaList,
    model: usize,
}

unsafe extern "C" fn sprintf(to: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: the list comes from `variadic!`; the rest is the caller's.
    unsafe {
        variable(passed, [to, format], |[to, format], list| {
            Call::of(to, None, format, list).print(|l| real::vsprintf(to.val, format.val, l))
        })
    }
}

unsafe extern "C" fn snprintf(to: u64, n: u64, format: u64, passed: *const Passed) -> i32 {
    // Safety: as above.
    unsafe {
        variable(passed, [to, n, format], |[to, n, format], list| {
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
        variable(passed, [to, flag, room, format], |[to, flag, room, format], list| {
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
        variable(passed, [to, n, flag, room, format], |[to, n, flag, room, format], list| {
            Call::of(to, Some(n), format, list).print(|l| {
                real::__vsnprintf_chk(to.val, n.val, flag.val as i32, room.val, format.val, l)
            })
        })
    }
}

/// Arguments that are looked at for labels.
const ARGUMENTS: usize = 16;

/// Takes the labels of a variadic call, and leaves that of its result.
unsafe fn variable<const N: usize>(
    passed: *const Passed,
    values: [u64; N],
    print: impl FnOnce([V; N], u64) -> V,
) -> i32 {
    // Safety: the stub's.
    let (list, model) = unsafe { (&raw const (*passed).list as u64, (*passed).model) };
    let given = (tls().arg_count as usize).min(ARGUMENTS);
    let labels: [u32; ARGUMENTS] = take_arguments(model);
    if labels[..given].iter().skip(N).any(|&l| l != 0) {
        loss(Loss::Model);
    }
    let named = core::array::from_fn(|i| V::arg(labels[i], 64, values[i]));
    api::leave(model, print(named, list)) as i32
}

/// One call, by what all forms have.
struct Call {
    to: u64,
    /// Bytes that may be written, where that is said.
    most: Option<u64>,
    format: u64,
    list: u64,
    /// Strings that are put in: where they are, how much of them, and where to.
    pieces: [(u64, u64, u64); PIECES],
    count: usize,
}

const PIECES: usize = 32;

impl Call {
    fn of(to: V, most: Option<V>, format: V, list: u64) -> Call {
        let (to, most, format) = (to.pin(), most.map(V::pin), format.pin());
        Call { to, most, format, list, pieces: [(0, 0, 0); PIECES], count: 0 }
    }

    /// # Safety
    /// As the function that is called.
    unsafe fn print(mut self, real: impl FnOnce(u64) -> i32) -> V {
        let plain = |n: i32| V::new(32, n as u32 as u64);
        if !labelling() {
            return plain(real(self.list));
        }
        // The real function uses the list up.
        // Safety: the caller's.
        let size = unsafe { self.walk(*(self.list as *const VaList)) };
        if let Some(size) = size {
            match self.most {
                None => fits(size.add(V::new(64, 1)), self.to),
                Some(most) => _ = size.ult(V::new(64, most)).decide(),
            }
        }
        let wrote = real(self.list);
        let room = self.most.map_or(u64::MAX, |n| n.saturating_sub(1));
        if wrote < 0 || self.most == Some(0) {
            return size.filter(|s| s.val == wrote as u64).map_or(plain(wrote), |s| s.trunc(32));
        }
        let text = (wrote as u64).min(room);
        clear(self.to, text + 1);
        let Some(size) = size.filter(|s| s.val == wrote as u64) else {
            loss(Loss::Model);
            return plain(wrote);
        };
        for &(from, n, at) in &self.pieces[..self.count] {
            copy(self.to + at.min(text), from, n.min(text - at.min(text)));
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
        // Safety: the caller's; a string ends with a zero.
        unsafe {
            while *at != 0 {
                if *at != b'%' {
                    at = at.add(1);
                    size = size.add(V::new(64, 1));
                    continue;
                }
                let directive = Directive::read(&mut at, &mut list)?;
                let part = match directive.conversion {
                    b's' => self.string(&directive, size.val, list.next_general())?,
                    _ => directive.number(&mut list)?,
                };
                size = size.add(part);
            }
        }
        Some(size)
    }

    /// What `%s` writes.
    ///
    /// # Safety
    /// A string, or as many bytes as the precision says.
    unsafe fn string(&mut self, d: &Directive, at: u64, text: u64) -> Option<V> {
        if d.long || text == 0 || self.count == PIECES {
            return None;
        }
        // Safety: the caller's.
        let n = unsafe {
            match d.precision {
                Some(most) => measured_within(text, V::new(64, most)),
                None => measured(text),
            }
        };
        let before = if d.left { 0 } else { d.width.saturating_sub(n.val) };
        self.pieces[self.count] = (text, n.val, at + before);
        self.count += 1;
        let width = V::new(64, d.width);
        Some(if d.width > 0 && n.ult(width).decide() { width } else { n })
    }
}

/// From a `%` to its conversion.
struct Directive {
    text: [u8; LONGEST],
    len: usize,
    left: bool,
    width: u64,
    precision: Option<u64>,
    long: bool,
    conversion: u8,
    /// The arguments from the first one of this directive on.
    list: VaList,
}

const LONGEST: usize = 32;

impl Directive {
    /// Parses a directive, and takes a `*` width or precision from the arguments.
    ///
    /// # Safety
    /// `at` points to a `%` of a format.
    unsafe fn read(at: &mut *const u8, list: &mut VaList) -> Option<Directive> {
        let mut d = Directive {
            text: [0; LONGEST],
            len: 0,
            left: false,
            width: 0,
            precision: None,
            long: false,
            conversion: 0,
            list: *list,
        };
        // Safety: the caller's; nothing goes past the zero at the end.
        unsafe {
            d.take(at)?;
            while matches!(**at, b'-' | b'+' | b' ' | b'#' | b'0' | b'\'') {
                d.left |= d.take(at)? == b'-';
            }
            if let Some(width) = d.amount(at, list)? {
                d.left |= width < 0;
                d.width = width.unsigned_abs().into();
            }
            if **at == b'.' {
                d.take(at)?;
                let given = d.amount(at, list)?.unwrap_or(0);
                d.precision = u64::try_from(given).ok();
            }
            while matches!(**at, b'h' | b'l' | b'j' | b'z' | b't' | b'q' | b'L') {
                let c = d.take(at)?;
                d.long |= c == b'l' || c == b'L';
            }
            d.conversion = d.take(at)?;
        }
        Some(d)
    }

    unsafe fn take(&mut self, at: &mut *const u8) -> Option<u8> {
        // Safety: the caller's.
        let c = unsafe { **at };
        if c == 0 || self.len + 1 == LONGEST {
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
        // Safety: the caller's.
        unsafe {
            if **at == b'*' {
                self.take(at)?;
                return Some(Some(list.next_general() as i32));
            }
            let mut number = None;
            while (**at).is_ascii_digit() {
                let digit = i32::from(self.take(at)? - b'0');
                number = Some(number.unwrap_or(0i32).checked_mul(10)?.checked_add(digit)?);
            }
            (**at != b'$').then_some(number)
        }
    }

    /// The length of what any other conversion writes. It is concrete.
    ///
    /// # Safety
    /// `list` has the argument.
    unsafe fn number(&self, list: &mut VaList) -> Option<V> {
        let mut own = self.list;
        // Safety: prints this directive alone, with its own arguments.
        let n = unsafe {
            match self.conversion {
                b'%' | b'm' => {}
                b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'p' => _ = list.next_general(),
                b'c' if !self.long => _ = list.next_general(),
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                    match self.text[..self.len].contains(&b'L') {
                        true => list.skip_long_double(),
                        false => list.skip_double(),
                    }
                }
                _ => return None,
            }
            real::vsnprintf(0, 0, self.text.as_ptr() as u64, &raw mut own as u64)
        };
        u64::try_from(n).ok().map(|n| V::new(64, n))
    }
}
