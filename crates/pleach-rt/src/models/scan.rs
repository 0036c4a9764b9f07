//! The conversions of the `scanf` family, and the characters that they read.
//!
//! A conversion examines one character at a time and may push the last one back, exactly as
//! glibc does: the program can see how much was consumed, also when a conversion fails. Each
//! examined character with a label is a decision on its class. An integer is an expression
//! over its digits, and so is a floating-point number.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::file::File;
use super::float::{Float as Number, label_of_number};
use super::number::{Sum, decide_digit, is_space};
use super::stdio::resize;
use super::text::{Set, decide_end};
use crate::symbolic::events::count_loss;
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

/// Why a call stops before the end of its format.
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
pub enum CharSource {
    File(File),
    Text { at: u64, end: u64 },
}

impl CharSource {
    /// # Safety
    /// `s` is a string.
    pub unsafe fn text(s: u64) -> CharSource {
        // Safety: the caller guarantees it.
        CharSource::Text { at: s, end: s + unsafe { real::strlen(s) } }
    }
}

/// The characters of a call.
pub struct Scan {
    from: CharSource,
    /// The last character; `None` once the end was reached. Then nothing reads further.
    c: Option<V>,
    /// Number of characters consumed.
    pub count: u64,
    /// The label of a character that ended white space: the next conversion examines it
    /// again, which needs no second decision.
    not_space: u32,
    /// The value of errno when the end was reached: glibc restores it for each later read.
    end_errno: i32,
}

const NUL: V = V::new(8, 0);

impl Scan {
    pub fn new(from: CharSource) -> Scan {
        Scan { from, c: Some(NUL), count: 0, not_space: 0, end_errno: 0 }
    }

    /// Takes the next character.
    pub fn next(&mut self) -> Option<V> {
        if self.c.is_none() {
            *errno() = self.end_errno;
            return None;
        }
        self.c = match &mut self.from {
            CharSource::File(fp) => fp.next(),
            CharSource::Text { at, end } => {
                let b = V::byte(*at);
                decide_end(b);
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

    /// Takes the next character; the end stops the call.
    fn next_or_stop(&mut self) -> Result<V, Stop> {
        self.next().ok_or(Stop::Input)
    }

    /// Pushes the last character back.
    pub fn push_back(&mut self) {
        let Some(b) = self.c else { return };
        self.count -= 1;
        match &mut self.from {
            CharSource::File(fp) => _ = fp.push_back(b),
            CharSource::Text { at, .. } => *at -= 1,
        }
    }

    /// Decides whether the last character is `c`.
    fn is(&self, c: u8) -> bool {
        self.c.is_some_and(|b| b.eq(V::new(8, c.into())).decide())
    }

    /// Decides whether the last character is this letter, in either case.
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

    /// Skips white space before a conversion. Only an interrupted read stops the call here.
    pub fn skip_space(&mut self) -> Result<(), Stop> {
        const EINTR: i32 = 4;
        let before = core::mem::replace(errno(), 0);
        while self.c.is_some() && self.next().is_some() && self.is_space() {}
        if self.c.is_none() && *errno() == EINTR {
            return Err(Stop::Input);
        }
        *errno() = before;
        self.push_back();
        Ok(())
    }

    /// Skips white space at the end of the format.
    pub fn skip_rest(&mut self) {
        while self.next().is_some() && self.is_space() {}
        self.push_back();
    }

    /// Reads one literal character of the format, after white space if the format has some.
    pub fn literal(&mut self, c: u8, after_space: bool) -> Result<(), Stop> {
        self.next_or_stop()?;
        while after_space && self.is_space() {
            self.next_or_stop()?;
        }
        if self.is(c) {
            return Ok(());
        }
        self.push_back();
        Err(Stop::Match)
    }

    /// `%c`.
    pub fn characters(&mut self, width: Option<u64>, to: &mut Text) -> Result<(), Stop> {
        let mut left = width.unwrap_or(1);
        let mut b = self.next_or_stop()?;
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
        let mut b = self.next_or_stop()?;
        loop {
            if self.is_space() {
                self.push_back();
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
        let mut b = self.next_or_stop()?;
        loop {
            if !set.contains(b).decide() {
                self.push_back();
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

    /// `%d` and its relatives; with base 0 the prefix tells the base.
    pub fn integer(&mut self, how: Integer, width: Option<u64>) -> Result<V, Stop> {
        let mut base = how.base;
        let mut left = width.unwrap_or(u64::MAX);
        self.next_or_stop()?;
        let negative = self.is(b'-');
        let signed = negative || self.is(b'+');
        if signed {
            left -= 1;
            self.next();
        }
        let (mut sum, mut any) = (Sum::EMPTY, false);
        if left != 0 && self.may_have_prefix(base) && self.is(b'0') {
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
            && let Some(d) = decide_digit(b, base)
        {
            sum.push(d, base);
            any = true;
            left -= 1;
            self.next();
        }
        if any {
            self.push_back();
        } else if signed || !how.pointer || !self.reads_nil(left) {
            self.push_back();
            return Err(Stop::Match);
        }
        Ok(sum.finish(negative, how.signed).unwrap_or_else(|limit| {
            const ERANGE: i32 = 34;
            *errno() = ERANGE;
            limit
        }))
    }

    /// True if a leading zero may be part of a prefix.
    fn may_have_prefix(&self, base: u64) -> bool {
        base == 0 || base == 16
    }

    /// `(nil)`, as `%p` prints a null pointer.
    fn reads_nil(&mut self, left: u64) -> bool {
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

    /// `%f` and its relatives: collects the text of a number for `strtod`.
    pub fn float(&mut self, width: Option<u64>, text: &mut Text) -> Result<(), Stop> {
        let mut f = Float { left: width.unwrap_or(u64::MAX), text };
        self.next_or_stop()?;
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
            if self.c.is_some_and(|b| decide_digit(b, base).is_some()) {
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
                self.push_back();
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

/// The kind of integer that a conversion reads.
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
    /// Adds the last character to the number.
    fn keep(&mut self, s: &Scan) -> Result<(), Stop> {
        self.text.put(s.c.unwrap_or(NUL))
    }

    /// Takes one more character; without it there is no number.
    fn more(&mut self, s: &mut Scan) -> Result<(), Stop> {
        if self.left == 0 || s.next().is_none() {
            return Err(Stop::Match);
        }
        self.left -= 1;
        Ok(())
    }

    /// Adds the last character and reads the letters `rest`, in either case.
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
                    let part = s.c.is_some_and(|b| decide_digit(b, 36).is_some()) || s.is(b'_');
                    if !last && !part {
                        return Err(Stop::Match);
                    }
                    self.keep(s)?;
                    if last {
                        break;
                    }
                }
            } else {
                s.push_back();
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
                s.push_back();
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
    /// On the heap, and grows: the program's pointer to it, and its size.
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

    /// Allocates the string.
    ///
    /// # Safety
    /// `pointer` is null or valid.
    pub unsafe fn grown(pointer: *mut u64, room: u64) -> Result<Text, Stop> {
        if pointer.is_null() {
            return Err(Stop::Match);
        }
        // Safety: the caller guarantees it.
        unsafe {
            clear(pointer as u64, 8);
            *pointer = real::malloc(room);
            if *pointer == 0 {
                return Err(Stop::Memory);
            }
            objects::set_heap_object(*pointer, Some(room));
            clear(*pointer, room);
        }
        Ok(Text { kind: Kind::Grown { pointer, room }, at: 0, len: 0 })
    }

    fn put(&mut self, b: V) -> Result<(), Stop> {
        match &mut self.kind {
            Kind::Nowhere => {}
            Kind::Given => b.store(self.at + self.len),
            Kind::Grown { pointer, room } => {
                // Safety: `*pointer` has `room` bytes.
                unsafe {
                    if self.len == *room {
                        if !resize(*pointer, self.len, 2 * *room) {
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

    /// After a successful conversion: shrinks a heap string to its size.
    pub fn shrink(self) {
        if let Kind::Grown { pointer, room } = self.kind
            && self.len != room
        {
            // Safety: as above.
            unsafe { resize(pointer, self.len, self.len) };
        }
    }

    /// After a failed conversion: frees a heap string.
    pub fn free(self) {
        if let Kind::Grown { pointer, room } = self.kind {
            // Safety: as above.
            unsafe {
                clear(*pointer, room);
                objects::set_heap_object(*pointer, None);
                real::free(*pointer);
                *pointer = 0;
            }
        }
    }

    /// The address of the string.
    fn start(&self) -> u64 {
        // Safety: as above.
        if let Kind::Grown { pointer, .. } = self.kind { unsafe { *pointer } } else { self.at }
    }
}

/// The width of a floating-point number.
#[derive(Clone, Copy, PartialEq)]
pub enum Precision {
    Single,
    Double,
    Extended,
}

/// Converts the text of a number and stores it, unless `to` is 0; false if it is not a
/// number.
///
/// # Safety
/// There is room for it at `to`.
pub unsafe fn store_float(text: &Text, how: Precision, to: u64) -> bool {
    let start = text.start();
    // The text ends with a zero that does not belong to the number.
    let label = |number: Number| label_of_number(start, start + text.len - 1, number);
    let s = start as *const u8;
    let mut end = start;
    // Safety: the text ends with a zero; the rest is the caller's.
    unsafe {
        match how {
            Precision::Single => {
                let v = real::strtof(s, &raw mut end);
                if to != 0 && end != start {
                    (to as *mut f32).write_unaligned(v);
                    V::arg(label(v.into()), 32, v.to_bits().into()).store_label(to);
                }
            }
            Precision::Double => {
                let v = real::strtod(s, &raw mut end);
                if to != 0 && end != start {
                    (to as *mut f64).write_unaligned(v);
                    V::arg(label(v.into()), 64, v.to_bits()).store_label(to);
                }
            }
            Precision::Extended => {
                if super::api::next_labelled(start, text.len) != text.len {
                    count_loss(Loss::Float);
                }
                // Rust has no such type: let libc write it.
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

/// Questions on which versions of glibc differ: a test call answers each, once.
macro_rules! ask_glibc {
    ($($(#[$doc:meta])* $name:ident: |$to:ident| $question:expr;)*) => {$(
        $(#[$doc])*
        fn $name() -> bool {
            static mut ANSWER: u8 = 0;
            // Safety: a race makes the test call twice, with the same result.
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

ask_glibc! {
    /// True if `%2c` fails with one character left.
    short_is_an_error: |to| real::sscanf(c"a".as_ptr().cast(), c"%2c".as_ptr(), to) != 1;
    /// True if `1e` without an exponent fails.
    power_needs_figures: |to| real::sscanf(c"1e".as_ptr().cast(), c"%f".as_ptr(), to) != 1;
    /// True if `nan(1)` is one number.
    nan_has_a_payload: |to| {
        let next = to.cast::<c_char>().add(8);
        real::sscanf(c"nan(1)x".as_ptr().cast(), c"%f%c".as_ptr(), to, next) == 2 && *next as u8 == b'x'
    };
}
