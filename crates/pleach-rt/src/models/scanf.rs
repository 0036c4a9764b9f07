//! `scanf`, `fscanf`, `sscanf`, their `v` forms, and the names that headers give them for
//! C99 and C23. This file handles the format; `scan` has the conversions.
//!
//! The real function handles formats with wide or multibyte characters, numbered arguments,
//! grouping or local digits. Their labels are lost, and that is counted.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::V;
use super::define::{assembly_model, models};
use super::file::File;
use super::scan::{CharSource, Integer, Precision, Scan, Stop, Text, store_float};
use super::stdio::stdin;
use super::text::Set;
use super::va_list::VaList;
use crate::symbolic::events::count_loss;
use crate::sys;
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn vfscanf(fp: u64, format: u64, args: u64) -> i32;
        pub fn vsscanf(s: u64, format: u64, args: u64) -> i32;
        pub fn __isoc99_vfscanf(fp: u64, format: u64, args: u64) -> i32;
        pub fn __isoc99_vsscanf(s: u64, format: u64, args: u64) -> i32;
        pub fn nl_langinfo(item: i32) -> *const u8;
    }
}

/// The standard that a function follows; its name tells.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Standard {
    /// `%as` allocates.
    Gnu,
    C99,
    /// `%i` takes `0b`.
    C23,
}

macro_rules! family {
    ($($standard:ident: $vscanf:ident $vfscanf:ident $vsscanf:ident, $scanf:literal $fscanf:literal $sscanf:literal;)*) => {$(
        models! {
            fn $vscanf(format: u64, args: u64) -> i32 {
                from_file(stdin(), format, args, Standard::$standard)
            }
            fn $vfscanf(fp: u64, format: u64, args: u64) -> i32 {
                from_file(File(fp.pin()), format, args, Standard::$standard)
            }
            fn $vsscanf(s: u64, format: u64, args: u64) -> i32 {
                from_text(s, format, args, Standard::$standard)
            }
        }
        variadic!($scanf, 8, "rsi", $vscanf);
        variadic!($fscanf, 16, "rdx", $vfscanf);
        variadic!($sscanf, 16, "rdx", $vsscanf);
    )*};
}

/// A variadic function of pointers only: makes a `va_list` of its arguments, and calls the
/// `v` form. `$named` bytes of registers are named arguments and not in the list; `$list`
/// is the register of the list argument.
macro_rules! variadic {
    ($name:literal, $named:literal, $list:literal, $target:path) => {
        assembly_model!($name, [
            "sub rsp, 72",
            ".cfi_def_cfa_offset 80",
            "mov [rsp], rdi", "mov [rsp + 8], rsi", "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx", "mov [rsp + 32], r8", "mov [rsp + 40], r9",
            concat!("mov dword ptr [rsp + 48], ", $named),
            "mov dword ptr [rsp + 52], 176",
            "lea rax, [rsp + 80]", "mov [rsp + 56], rax",
            "mov [rsp + 64], rsp",
            concat!("lea ", $list, ", [rsp + 48]"),
            "call {target}",
            "add rsp, 72",
            ".cfi_def_cfa_offset 8",
            "ret",
        ], target = sym $target);
    };
}

family! {
    Gnu: vscanf vfscanf vsscanf, "scanf" "fscanf" "sscanf";
    C99: __isoc99_vscanf __isoc99_vfscanf __isoc99_vsscanf,
        "__isoc99_scanf" "__isoc99_fscanf" "__isoc99_sscanf";
    C23: __isoc23_vscanf __isoc23_vfscanf __isoc23_vsscanf,
        "__isoc23_scanf" "__isoc23_fscanf" "__isoc23_sscanf";
}

/// # Safety
/// As `vfscanf`.
unsafe fn from_file(fp: File, format: V, args: V, standard: Standard) -> i32 {
    let (format, args) = (format.pin(), args.pin());
    // Safety: the caller guarantees it.
    unsafe {
        fp.locked(|| {
            if is_supported(format, standard) {
                return scan_format(Scan::new(CharSource::File(fp)), format, args, standard);
            }
            let out = match standard {
                Standard::Gnu => real::vfscanf(fp.0, format, args),
                _ => real::__isoc99_vfscanf(fp.0, format, args),
            };
            if fp.source().is_some() {
                count_loss(Loss::Model);
                fp.relabel();
            }
            out
        })
    }
}

/// # Safety
/// As `vsscanf`.
unsafe fn from_text(s: V, format: V, args: V, standard: Standard) -> i32 {
    let (s, format, args) = (s.pin(), format.pin(), args.pin());
    // Safety: the caller guarantees it.
    unsafe {
        if is_supported(format, standard) {
            return scan_format(Scan::new(CharSource::text(s)), format, args, standard);
        }
        count_loss(Loss::Model);
        match standard {
            Standard::Gnu => real::vsscanf(s, format, args),
            _ => real::__isoc99_vsscanf(s, format, args),
        }
    }
}

/// The rest of the format, a string.
struct Format(*const u8);

impl Format {
    fn peek(&self) -> u8 {
        // Safety: never past the final zero.
        unsafe { *self.0 }
    }

    fn next(&mut self) -> u8 {
        let c = self.peek();
        if c != 0 {
            // Safety: as above.
            self.0 = unsafe { self.0.add(1) };
        }
        c
    }

    fn accept(&mut self, c: u8) -> bool {
        let there = self.peek() == c;
        if there {
            self.next();
        }
        there
    }

    /// The set of `%[`, up to its bracket; `None` if the bracket is missing.
    fn set(&mut self) -> Option<Set> {
        let inverted = self.accept(b'^');
        let mut set = Set::EMPTY;
        let mut before = 0;
        if matches!(self.peek(), b']' | b'-') {
            before = self.next();
            set.insert(before);
        }
        loop {
            match self.next() {
                0 => return None,
                b']' => break,
                b'-' if !matches!(self.peek(), 0 | b']')
                    && before <= self.peek()
                    && before != 0 =>
                {
                    (before..self.peek()).for_each(|b| set.insert(b));
                    before = b'-';
                }
                c => {
                    set.insert(c);
                    before = c;
                }
            }
        }
        Some(if inverted { set.inverted() } else { set })
    }

    /// Parses a directive after its `%`.
    fn directive(&mut self, standard: Standard) -> Directive {
        let mut d = Directive { suppress: self.accept(b'*'), ..Directive::default() };
        while self.accept(b'*') {}
        let mut width = 0u64;
        while self.peek().is_ascii_digit() {
            width = (width * 10 + u64::from(self.next() - b'0')).min(i32::MAX as u64);
        }
        d.width = (width != 0).then_some(width);
        match self.peek() {
            b'h' => {
                self.next();
                d.size = if self.accept(b'h') { 8 } else { 16 };
            }
            b'l' => {
                self.next();
                d.long = true;
                d.extended = self.accept(b'l');
                d.size = 64;
            }
            b'q' | b'L' => {
                self.next();
                (d.long, d.extended, d.size) = (true, true, 64);
            }
            b'z' | b'j' | b't' => {
                self.next();
                (d.long, d.size) = (true, 64);
            }
            b'm' => {
                self.next();
                d.grow = true;
                d.long = self.accept(b'l');
            }
            b'a' if standard == Standard::Gnu => {
                let rest = Format(self.0.wrapping_add(1));
                if matches!(rest.peek(), b's' | b'S' | b'[') {
                    self.next();
                    d.grow = true;
                }
            }
            _ => {}
        }
        d.conversion = self.next();
        d
    }
}

struct Directive {
    suppress: bool,
    width: Option<u64>,
    /// Size of an integer in bits.
    size: u32,
    long: bool,
    extended: bool,
    /// The string is allocated.
    grow: bool,
    conversion: u8,
}

impl Default for Directive {
    fn default() -> Directive {
        Directive {
            suppress: false,
            width: None,
            size: 32,
            long: false,
            extended: false,
            grow: false,
            conversion: 0,
        }
    }
}

/// True if every directive of the format is supported.
///
/// # Safety
/// The format is a string.
unsafe fn is_supported(format: u64, standard: Standard) -> bool {
    let mut f = Format(format as *const u8);
    loop {
        match f.next() {
            0 => return true,
            b'%' => {}
            c if c.is_ascii() => continue,
            _ => return false,
        }
        let d = f.directive(standard);
        let supported = match d.conversion {
            b'%' | b'n' | b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'p' => !d.grow,
            b'c' | b's' => !d.long,
            b'[' => !d.long && f.set().is_some(),
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => !d.grow && point_is_a_dot(),
            // Also for unknown conversions: glibc handles them in its own way.
            _ => false,
        };
        if !supported {
            return false;
        }
    }
}

fn point_is_a_dot() -> bool {
    const RADIXCHAR: i32 = 0x1_0000;
    // Safety: a string of at least one character.
    unsafe {
        let point = real::nl_langinfo(RADIXCHAR);
        *point == b'.' && *point.add(1) == 0
    }
}

/// Runs a format; returns the number of stored conversions or -1.
///
/// # Safety
/// As `vfscanf`.
unsafe fn scan_format(mut s: Scan, format: u64, args: u64, standard: Standard) -> i32 {
    let mut done = 0;
    // Safety: the caller guarantees it.
    let stop = unsafe { directives(&mut s, format, args, standard, &mut done) };
    match stop {
        Err(Stop::Input) if done == 0 => -1,
        Err(Stop::Memory) => -1,
        _ => done,
    }
}

/// # Safety
/// As `vfscanf`.
unsafe fn directives(
    s: &mut Scan,
    format: u64,
    args: u64,
    standard: Standard,
    done: &mut i32,
) -> Result<(), Stop> {
    let mut f = Format(format as *const u8);
    let mut space = false;
    loop {
        match f.next() {
            0 => break,
            b'%' => {}
            c if c == b' ' || (b'\t'..=b'\r').contains(&c) => {
                space = true;
                continue;
            }
            c => {
                s.literal(c, space)?;
                space = false;
                continue;
            }
        }
        let d = f.directive(standard);
        if space || !matches!(d.conversion, b'[' | b'c' | b'n') {
            s.skip_space()?;
            space = false;
        }
        // Safety: the caller guarantees it.
        let stored = unsafe { convert(s, &d, &mut f, &mut *(args as *mut VaList), standard)? };
        if stored && !d.suppress {
            *done += 1;
        }
    }
    if space {
        s.skip_rest();
    }
    Ok(())
}

/// Runs one conversion; true if it counts as stored.
///
/// # Safety
/// The argument has the type that the directive needs.
unsafe fn convert(
    s: &mut Scan,
    d: &Directive,
    f: &mut Format,
    args: &mut VaList,
    standard: Standard,
) -> Result<bool, Stop> {
    // Safety: the caller guarantees it, here and below.
    let target = |args: &mut VaList| if d.suppress { 0 } else { unsafe { args.next_general() } };
    match d.conversion {
        b'%' => s.literal(b'%', false).map(|()| false),
        b'n' => {
            let to = target(args);
            if !d.suppress {
                V::new(d.size, s.count).store(to);
            }
            Ok(false)
        }
        b'c' | b's' | b'[' => {
            const FIRST_SIZE: u64 = 100;
            let room =
                if d.conversion == b'c' { d.width.unwrap_or(1).min(1024) } else { FIRST_SIZE };
            let mut to = match target(args) {
                _ if d.suppress => Text::NOWHERE,
                pointer if d.grow => unsafe { Text::grown(pointer as *mut u64, room)? },
                at => Text::given(at)?,
            };
            let read = match d.conversion {
                b'c' => s.characters(d.width, &mut to),
                b's' => s.word(d.width, &mut to),
                _ => s.class(&f.set().unwrap_or(Set::EMPTY), d.width, &mut to),
            };
            match read {
                Ok(()) => to.shrink(),
                Err(stop) => {
                    to.free();
                    return Err(stop);
                }
            }
            Ok(true)
        }
        b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'p' => {
            let how = Integer {
                base: match d.conversion {
                    b'd' | b'u' => 10,
                    b'i' => 0,
                    b'o' => 8,
                    _ => 16,
                },
                signed: matches!(d.conversion, b'd' | b'i'),
                pointer: d.conversion == b'p',
                binary: standard == Standard::C23,
            };
            let n = s.integer(how, d.width)?;
            if !d.suppress {
                let size = if how.pointer { 64 } else { d.size };
                n.trunc(size).store(target(args));
            }
            Ok(true)
        }
        _ => unsafe { float(s, d, args) },
    }
}

/// # Safety
/// As [`convert`].
unsafe fn float(s: &mut Scan, d: &Directive, args: &mut VaList) -> Result<bool, Stop> {
    let how = match (d.long, d.extended) {
        (_, true) => Precision::Extended,
        (true, _) => Precision::Double,
        _ => Precision::Single,
    };
    let mut at = 0u64;
    // Safety: a local pointer; the argument is the caller's.
    unsafe {
        let mut text = sys::keep_errno(|| Text::grown(&raw mut at, 128))?;
        let read = s.float(d.width, &mut text).and_then(|()| {
            let to = if d.suppress { 0 } else { args.next_general() };
            if store_float(&text, how, to) { Ok(true) } else { Err(Stop::Match) }
        });
        text.free();
        read
    }
}
