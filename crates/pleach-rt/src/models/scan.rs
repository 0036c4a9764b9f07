//! What the `scanf` family reads from, and its conversions.
//!
//! A conversion looks at one character at a time and may push the last one
//! back, exactly as glibc's does: what is consumed, also when a conversion
//! fails half way, is what the program sees next. Each look at a labelled
//! character is a decision on its class; the number that digits make is an
//! expression. Floating point is concrete, as everywhere.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::file::File;
use super::number::{Sum, digit, is_space};
use super::stdio::enlarge;
use super::text::{Set, ends};
use crate::symbolic::events::loss;
use crate::symbolic::objects;
use crate::sys;
use core::ffi::c_char;
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn malloc(n: u64) -> u64;
        pub fn free(p: u64);
        pub fn strlen(s: u64) -> u64;
        pub fn sscanf(s: *const u8, format: *const i8, ...) -> i32;
        pub fn strtod(s: *const u8, end: *mut u64) -> f64;
        pub fn strtof(s: *const u8, end: *mut u64) -> f32;
    }
}

/// Why a call ends before its format does.
pub enum Stop {
    /// The input ended.
    Input,
    /// The input does not match.
    Match,
    /// No memory.
    Memory,
}

/// Where characters come from.
#[derive(Clone, Copy)]
pub enum From {
    File(File),
    Text { at: u64, end: u64 },
}

impl From {
    /// # Safety
    /// A string is there.
    pub unsafe fn text(s: u64) -> From {
        // Safety: the caller's.
        From::Text { at: s, end: s + unsafe { real::strlen(s) } }
    }
}

/// The characters, with the last one in hand.
pub struct Scan {
    from: From,
    /// `None` once the end was met; it is not asked for again.
    c: Option<V>,
    /// Characters consumed.
    pub count: u64,
    /// The label of a character that is known to be no white space: one that
    /// ended it is looked at again.
    not_space: u32,
    /// What errno was when the end was met: glibc brings it back whenever it
    /// would read on.
    end_errno: i32,
}

const NUL: V = V::new(8, 0);

impl Scan {
    pub fn new(from: From) -> Scan {
        Scan { from, c: Some(NUL), count: 0, not_space: 0, end_errno: 0 }
    }

    /// Takes the next character.
    pub fn next(&mut self) -> Option<V> {
        if self.c.is_none() {
            *errno() = self.end_errno;
            return None;
        }
        self.c = match &mut self.from {
            From::File(fp) => fp.next(),
            From::Text { at, end } => {
                let b = V::byte(*at);
                // Labelled or not, the string ends where it ended.
                ends(b);
                if *at < *end {
                    *at += 1;
                    Some(b)
                } else {
                    None
                }
            }
        };
        if self.c.is_some() {
            self.count += 1;
        } else {
            self.end_errno = *errno();
        }
        self.c
    }

    /// Takes one that must be there.
    fn need(&mut self) -> Result<V, Stop> {
        self.next().ok_or(Stop::Input)
    }

    /// Gives the last one back.
    pub fn back(&mut self) {
        let Some(b) = self.c else { return };
        self.count -= 1;
        match &mut self.from {
            From::File(fp) => _ = fp.push_back(b),
            From::Text { at, .. } => *at -= 1,
        }
    }

    fn is(&self, c: u8) -> bool {
        self.c.is_some_and(|b| b.eq(V::new(8, c.into())).decide())
    }

    /// Whether it is this letter, in either case.
    fn is_letter(&self, small: u8) -> bool {
        self.c.is_some_and(|b| b.or(V::new(8, 0x20)).eq(V::new(8, small.into())).decide())
    }

    fn is_space(&mut self) -> bool {
        let Some(b) = self.c else { return false };
        if b.label != 0 && b.label == self.not_space {
            return false;
        }
        let space = is_space(b).decide();
        if !space {
            self.not_space = b.label;
        }
        space
    }

    /// Skips white space in front of a conversion. Only an interrupted read
    /// ends the call here.
    pub fn skip_space(&mut self) -> Result<(), Stop> {
        const EINTR: i32 = 4;
        let before = core::mem::replace(errno(), 0);
        while self.c.is_some() && self.next().is_some() && self.is_space() {}
        if self.c.is_none() && *errno() == EINTR {
            return Err(Stop::Input);
        }
        *errno() = before;
        self.back();
        Ok(())
    }

    /// Skips white space at the end of the format.
    pub fn skip_rest(&mut self) {
        while self.next().is_some() && self.is_space() {}
        self.back();
    }

    /// One character of the format that must be there, after white space if
    /// the format had some.
    pub fn literal(&mut self, c: u8, after_space: bool) -> Result<(), Stop> {
        self.need()?;
        while after_space && self.is_space() {
            self.need()?;
        }
        if self.is(c) {
            return Ok(());
        }
        self.back();
        Err(Stop::Match)
    }

    /// `%c`.
    pub fn characters(&mut self, width: Option<u64>, to: &mut Text) -> Result<(), Stop> {
        let mut left = width.unwrap_or(1);
        let mut b = self.need()?;
        loop {
            to.put(b)?;
            left -= 1;
            if left == 0 {
                return Ok(());
            }
            match self.next() {
                Some(more) => b = more,
                None if short_is_an_error() => return Err(Stop::Input),
                None => return Ok(()),
            }
        }
    }

    /// `%s`.
    pub fn word(&mut self, width: Option<u64>, to: &mut Text) -> Result<(), Stop> {
        let mut left = width.unwrap_or(u64::MAX);
        let mut b = self.need()?;
        loop {
            if self.is_space() {
                self.back();
                break;
            }
            to.put(b)?;
            left -= 1;
            match if left == 0 { None } else { self.next() } {
                Some(more) => b = more,
                None => break,
            }
        }
        to.put(NUL)
    }

    /// `%[`.
    pub fn class(&mut self, set: &Set, width: Option<u64>, to: &mut Text) -> Result<(), Stop> {
        let mut left = width.unwrap_or(u64::MAX);
        let before = self.count;
        let mut b = self.need()?;
        loop {
            if !set.contains(b).decide() {
                self.back();
                break;
            }
            to.put(b)?;
            left -= 1;
            match if left == 0 { None } else { self.next() } {
                Some(more) => b = more,
                None => break,
            }
        }
        if self.count == before {
            return Err(Stop::Match);
        }
        to.put(NUL)
    }

    /// `%d` and its relatives: base 0 finds out by the prefix.
    pub fn integer(&mut self, how: Integer, width: Option<u64>) -> Result<V, Stop> {
        let mut base = how.base;
        let mut left = width.unwrap_or(u64::MAX);
        self.need()?;
        let negative = self.is(b'-');
        let signed = negative || self.is(b'+');
        if signed {
            left -= 1;
            self.next();
        }
        let (mut sum, mut any) = (Sum::EMPTY, false);
        if left != 0 && self.prefix_matters(base) && self.is(b'0') {
            left -= 1;
            any = true;
            self.next();
            let prefixed = |s: &Self, small| left != 0 && s.is_letter(small);
            if (base == 0 || base == 16) && prefixed(self, b'x') {
                base = 16;
                left -= 1;
                self.next();
            } else if how.binary && base == 0 && prefixed(self, b'b') {
                base = 2;
                left -= 1;
                self.next();
            } else if base == 0 {
                base = 8;
            }
        }
        if base == 0 {
            base = 10;
        }
        while left != 0
            && let Some(b) = self.c
            && let Some(d) = digit(b, base)
        {
            sum.push(d, base);
            any = true;
            left -= 1;
            self.next();
        }
        if any {
            self.back();
        } else if signed || !how.pointer || !self.nil(left) {
            self.back();
            return Err(Stop::Match);
        }
        Ok(sum.finish(negative, how.signed).unwrap_or_else(|limit| {
            const ERANGE: i32 = 34;
            *errno() = ERANGE;
            limit
        }))
    }

    /// Whether a leading zero is anything but a digit.
    fn prefix_matters(&self, base: u64) -> bool {
        base == 0 || base == 16
    }

    /// `(nil)`, which is how pointers are printed.
    fn nil(&mut self, left: u64) -> bool {
        if left < 5 || !self.is(b'(') {
            return false;
        }
        for small in *b"nil" {
            self.next();
            if !self.is_letter(small) {
                return false;
            }
        }
        self.next();
        self.is(b')')
    }

    /// `%f` and its relatives: the text of a number as `strtod` takes it.
    pub fn float(&mut self, width: Option<u64>, text: &mut Text) -> Result<(), Stop> {
        let mut f = Float { left: width.unwrap_or(u64::MAX), text };
        self.need()?;
        f.left -= 1;
        let mut signed = 0;
        if self.is(b'-') || self.is(b'+') {
            signed = 1;
            f.keep(self)?;
            f.more(self)?;
        }
        if self.is_letter(b'n') {
            return f.nan(self);
        }
        if self.is_letter(b'i') {
            return f.infinity(self);
        }
        let (mut hexadecimal, mut figures, mut point, mut power) = (false, false, false, false);
        if self.is(b'0') && f.left != 0 {
            f.keep(self)?;
            self.next();
            f.left -= 1;
            if f.left != 0 && self.is_letter(b'x') {
                f.keep(self)?;
                hexadecimal = true;
                self.next();
                f.left -= 1;
            } else {
                figures = true;
            }
        }
        let mark = if hexadecimal { b'p' } else { b'e' };
        let mut after_mark = false;
        loop {
            let base = if hexadecimal && !power { 16 } else { 10 };
            if self.c.is_some_and(|b| digit(b, base).is_some()) {
                f.keep(self)?;
                (figures, after_mark) = (true, false);
            } else if after_mark && (self.is(b'-') || self.is(b'+')) {
                f.keep(self)?;
                after_mark = false;
            } else if figures && !power && self.is_letter(mark) {
                f.text.put(V::new(8, mark.into()))?;
                (power, point, after_mark) = (true, true, true);
                figures = !power_needs_figures();
            } else if !point && self.is(b'.') {
                f.keep(self)?;
                (point, after_mark) = (true, false);
            } else {
                self.back();
                break;
            }
            if f.left == 0 || self.next().is_none() {
                break;
            }
            f.left -= 1;
        }
        let bare = f.text.len == signed || hexadecimal && f.text.len == 2 + signed;
        if bare || !figures && power_needs_figures() {
            return Err(Stop::Match);
        }
        f.text.put(NUL)
    }
}

fn errno() -> &'static mut i32 {
    // Safety: glibc returns the address of this thread's errno.
    unsafe { &mut *sys::__errno_location() }
}

/// What kind of integer is wanted.
#[derive(Clone, Copy)]
pub struct Integer {
    pub base: u64,
    pub signed: bool,
    pub pointer: bool,
    /// C23: `0b` before binary digits.
    pub binary: bool,
}

struct Float<'a> {
    left: u64,
    text: &'a mut Text,
}

impl Float<'_> {
    /// The character in hand belongs to the number.
    fn keep(&mut self, s: &Scan) -> Result<(), Stop> {
        self.text.put(s.c.unwrap_or(NUL))
    }

    /// One more character, without which the number is none.
    fn more(&mut self, s: &mut Scan) -> Result<(), Stop> {
        if self.left == 0 || s.next().is_none() {
            return Err(Stop::Match);
        }
        self.left -= 1;
        Ok(())
    }

    fn rest(&mut self, s: &mut Scan, rest: &[u8]) -> Result<(), Stop> {
        self.keep(s)?;
        for &small in rest {
            self.more(s)?;
            if !s.is_letter(small) {
                return Err(Stop::Match);
            }
            self.keep(s)?;
        }
        Ok(())
    }

    fn nan(&mut self, s: &mut Scan) -> Result<(), Stop> {
        self.rest(s, b"an")?;
        if nan_has_a_payload() && self.left != 0 && s.next().is_some() {
            if s.is(b'(') {
                self.left -= 1;
                self.keep(s)?;
                loop {
                    self.more(s)?;
                    let last = s.is(b')');
                    let part = s.c.is_some_and(|b| digit(b, 36).is_some()) || s.is(b'_');
                    if !last && !part {
                        return Err(Stop::Match);
                    }
                    self.keep(s)?;
                    if last {
                        break;
                    }
                }
            } else {
                s.back();
            }
        }
        self.text.put(NUL)
    }

    fn infinity(&mut self, s: &mut Scan) -> Result<(), Stop> {
        self.rest(s, b"nf")?;
        if self.left != 0 && s.next().is_some() {
            if s.is_letter(b'i') {
                self.left -= 1;
                self.rest(s, b"nity")?;
            } else {
                s.back();
            }
        }
        self.text.put(NUL)
    }
}

/// A string that a conversion writes.
pub struct Text {
    kind: Kind,
    at: u64,
    pub len: u64,
}

enum Kind {
    Nowhere,
    /// The program's own array.
    Given,
    /// Grown on the heap; the program's pointer to it and its size.
    Grown {
        pointer: *mut u64,
        room: u64,
    },
}

impl Text {
    pub const NOWHERE: Text = Text { kind: Kind::Nowhere, at: 0, len: 0 };

    pub fn given(at: u64) -> Result<Text, Stop> {
        if at == 0 { Err(Stop::Match) } else { Ok(Text { kind: Kind::Given, at, len: 0 }) }
    }

    /// # Safety
    /// The pointer is the program's, or ours.
    pub unsafe fn grown(pointer: *mut u64, room: u64) -> Result<Text, Stop> {
        if pointer.is_null() {
            return Err(Stop::Match);
        }
        // Safety: the caller's.
        unsafe {
            clear(pointer as u64, 8);
            *pointer = real::malloc(room);
            if *pointer == 0 {
                return Err(Stop::Memory);
            }
            objects::heap(*pointer, Some(room));
            clear(*pointer, room);
        }
        Ok(Text { kind: Kind::Grown { pointer, room }, at: 0, len: 0 })
    }

    fn put(&mut self, b: V) -> Result<(), Stop> {
        match &mut self.kind {
            Kind::Nowhere => {}
            Kind::Given => b.store(self.at + self.len),
            Kind::Grown { pointer, room } => {
                // Safety: a pointer to memory of that size.
                unsafe {
                    if self.len == *room {
                        if !enlarge(*pointer, self.len, 2 * *room) {
                            return Err(Stop::Memory);
                        }
                        *room *= 2;
                    }
                    b.store(**pointer + self.len);
                }
            }
        }
        self.len += 1;
        Ok(())
    }

    /// The conversion succeeded: what is on the heap is cut to its size.
    pub fn done(self) {
        if let Kind::Grown { pointer, room } = self.kind
            && self.len != room
        {
            // Safety: as above.
            unsafe { enlarge(pointer, self.len, self.len) };
        }
    }

    /// It failed: what is on the heap goes.
    pub fn drop_it(self) {
        if let Kind::Grown { pointer, room } = self.kind {
            // Safety: as above.
            unsafe {
                clear(*pointer, room);
                objects::heap(*pointer, None);
                real::free(*pointer);
                *pointer = 0;
            }
        }
    }

    /// Where a heap string is.
    fn start(&self) -> u64 {
        // Safety: as above.
        if let Kind::Grown { pointer, .. } = self.kind { unsafe { *pointer } } else { self.at }
    }
}

/// How wide a floating-point number is wanted.
#[derive(Clone, Copy, PartialEq)]
pub enum Precision {
    Single,
    Double,
    Extended,
}

/// Converts the text of a number and stores it, unless `to` is 0; whether it
/// was one.
///
/// # Safety
/// There is room for it at `to`.
pub unsafe fn store_float(text: &Text, how: Precision, to: u64) -> bool {
    let start = text.start();
    if super::api::next_labelled(start, text.len) != text.len {
        loss(Loss::Float);
    }
    let s = start as *const u8;
    let mut end = start;
    // Safety: the text ends in a zero; the caller's for the rest.
    unsafe {
        match how {
            Precision::Single => {
                let v = real::strtof(s, &raw mut end);
                if to != 0 && end != start {
                    (to as *mut f32).write_unaligned(v);
                    clear(to, 4);
                }
            }
            Precision::Double => {
                let v = real::strtod(s, &raw mut end);
                if to != 0 && end != start {
                    (to as *mut f64).write_unaligned(v);
                    clear(to, 8);
                }
            }
            Precision::Extended => {
                // Rust has no such type; libc writes it for us.
                let mut v = [0u64; 2];
                if real::sscanf(s, c"%Lf".as_ptr(), &raw mut v) != 1 {
                    return false;
                }
                if to != 0 {
                    core::ptr::copy_nonoverlapping((&raw const v).cast::<u8>(), to as *mut u8, 10);
                    clear(to, 16);
                }
                return true;
            }
        }
    }
    end != start
}

/// Where versions of glibc differ, the one at hand is asked, once.
macro_rules! asked {
    ($($(#[$doc:meta])* $name:ident: |$to:ident| $question:expr;)*) => {$(
        $(#[$doc])*
        fn $name() -> bool {
            static mut ANSWER: u8 = 0;
            // Safety: a race asks twice and gets the same answer.
            unsafe {
                if ANSWER == 0 {
                    let mut room = [0u64; 4];
                    let $to = &raw mut room;
                    ANSWER = if sys::keep_errno(|| $question) { 1 } else { 2 };
                }
                ANSWER == 1
            }
        }
    )*};
}

asked! {
    /// `%2c` and one character left.
    short_is_an_error: |to| real::sscanf(c"a".as_ptr().cast(), c"%2c".as_ptr(), to) != 1;
    /// `1e` and nothing after it.
    power_needs_figures: |to| real::sscanf(c"1e".as_ptr().cast(), c"%f".as_ptr(), to) != 1;
    /// `nan(1)` is one number.
    nan_has_a_payload: |to| {
        let next = to.cast::<c_char>().add(8);
        real::sscanf(c"nan(1)x".as_ptr().cast(), c"%f%c".as_ptr(), to, next) == 2 && *next as u8 == b'x'
    };
}
