//! Integers from text: `strtol`, `atoi` and their relatives.
//!
//! Which characters belong to a number is decided character by character, by class: space,
//! sign, digit. The number is then an exact expression over the digits. Overflow is a
//! decision only if there are enough digits for it.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, is_clean};
use super::define::models;
use super::text::is_between;
use crate::symbolic::events::count_loss;
use crate::sys::weak;
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn strtol(s: u64, end: u64, base: i32) -> i64;
        pub fn strtoul(s: u64, end: u64, base: i32) -> i64;
    }
}

/// How the functions of this family differ; `long` and `long long` are the same on x86-64.
#[derive(Clone, Copy)]
struct Form {
    signed: bool,
    /// C23: `0b` before binary digits.
    binary: bool,
}

const SIGNED: Form = Form { signed: true, binary: false };
const UNSIGNED: Form = Form { signed: false, binary: false };

macro_rules! parsers {
    ($($form:ident: $($name:ident)*;)*) => {
        models! {$($(
            fn $name(s: u64, end: u64, base: i32) -> i64 {
                parse(s, end, base, $form, None)
            }
        )*)*}
    };
}

parsers! {
    SIGNED: strtol strtoll strtoq strtoimax;
    UNSIGNED: strtoul strtoull strtouq strtoumax;
}

macro_rules! c23_parsers {
    ($($form:ident: $($name:ident)*;)*) => {
        models! {$($(
            fn $name(s: u64, end: u64, base: i32) -> i64 {
                let address = weak!(stringify!($name));
                parse(s, end, base, Form { binary: true, ..$form }, Some(address))
            }
        )*)*}
    };
}

// The headers of newer versions of glibc use these names.
c23_parsers! {
    SIGNED: __isoc23_strtol __isoc23_strtoll __isoc23_strtoimax;
    UNSIGNED: __isoc23_strtoul __isoc23_strtoull __isoc23_strtoumax;
}

const ZERO: V = V::new(64, 0);
const TEN: V = V::new(32, 10);

models! {
    fn atoi(s: u64) -> i32 {
        parse(s, ZERO, TEN, SIGNED, None).trunc(32)
    }
    fn atol(s: u64) -> i64 {
        parse(s, ZERO, TEN, SIGNED, None)
    }
    fn atoll(s: u64) -> i64 {
        parse(s, ZERO, TEN, SIGNED, None)
    }
}

type Parser = unsafe extern "C" fn(u64, u64, i32) -> i64;

/// # Safety
/// As `strtol`.
unsafe fn parse(s: V, end: V, base: V, form: Form, at: Option<usize>) -> V {
    let (s, end, base) = (s.pin(), end.pin(), base.pin() as i32);
    let mut stop = s;
    // Safety: the caller guarantees it; an address that is not 0 is that of the function.
    let val = unsafe {
        let own: Parser = if form.signed { real::strtol } else { real::strtoul };
        let function = match at {
            Some(address) if address != 0 => core::mem::transmute::<usize, Parser>(address),
            _ => own,
        };
        let val = function(s, &raw mut stop as u64, base);
        if end != 0 {
            *(end as *mut u64) = stop;
            clear(end, 8);
        }
        val
    };
    let concrete = V::new(64, val as u64);
    // Two more bytes: the function also examines a prefix such as `0x` without digits.
    if base == 1 || !(0..=36).contains(&base) || (stop != s && is_clean(s, stop - s + 3)) {
        return concrete;
    }
    let exact = integer(s, base as u64, form);
    if exact.val == concrete.val {
        return exact;
    }
    // A locale with other rules.
    count_loss(Loss::Model);
    concrete
}

/// The number as an expression, with the decisions of the function.
fn integer(s: u64, base: u64, form: Form) -> V {
    let mut at = s;
    while is_space(V::byte(at)).decide() {
        at += 1;
    }
    let negative = decide_byte(at, b'-');
    if negative || decide_byte(at, b'+') {
        at += 1;
    }
    let mut base = base;
    let hexadecimal = base == 0 || base == 16;
    let binary = form.binary && (base == 0 || base == 2);
    if (hexadecimal || binary || base == 0) && decide_byte(at, b'0') {
        if hexadecimal && decide_letter(at + 1, b'x') {
            (at, base) = (at + 2, 16);
        } else if binary && decide_letter(at + 1, b'b') {
            (at, base) = (at + 2, 2);
        } else if base == 0 {
            base = 8;
        }
    } else if base == 0 {
        base = 10;
    }
    let mut n = Sum::EMPTY;
    while let Some(d) = decide_digit(V::byte(at), base) {
        n.push(d, base);
        at += 1;
    }
    n.finish(negative, form.signed).unwrap_or_else(|limit| limit)
}

/// A number that is built digit by digit.
pub struct Sum {
    sum: V,
    /// The greatest number with this many digits.
    greatest: u128,
    overflows: bool,
}

impl Sum {
    pub const EMPTY: Sum = Sum { sum: ZERO, greatest: 0, overflows: false };

    /// Adds a digit; after an overflow of 64 bits it does nothing.
    pub fn push(&mut self, d: V, base: u64) {
        if self.overflows {
            return;
        }
        self.greatest = (self.greatest * u128::from(base) + u128::from(base - 1)).min(1 << 72);
        if self.greatest > u64::MAX.into() {
            // sum * base + d <= MAX, computed without overflow.
            let (cut, last) = (u64::MAX / base, u64::MAX % base);
            let below = self.sum.ult(V::new(64, cut));
            let just = self.sum.eq(V::new(64, cut)).and(d.ule(V::new(64, last)));
            if !below.or(just).decide() {
                self.overflows = true;
                return;
            }
        }
        self.sum = if self.sum.label == 0 && self.sum.val == 0 {
            d
        } else {
            self.sum.mul(V::new(64, base)).add(d)
        };
    }

    /// The number with its sign, or the limit that it exceeds.
    pub fn finish(self, negative: bool, signed: bool) -> Result<V, V> {
        let limit = match (signed, negative) {
            (false, _) => u64::MAX,
            (true, false) => i64::MAX as u64,
            // The absolute value of the least number, and also its bits.
            (true, true) => 1 << 63,
        };
        let beyond = self.overflows
            || self.greatest > limit.into() && !self.sum.ule(V::new(64, limit)).decide();
        if beyond {
            return Err(V::new(64, limit));
        }
        Ok(if negative { ZERO.sub(self.sum) } else { self.sum })
    }
}

/// The value of a digit, or `None`. The decision is on its class: digits and letters apart.
pub fn decide_digit(b: V, base: u64) -> Option<V> {
    let figures = base.min(10) as u8;
    if is_between(b, b'0', b'0' + figures - 1).decide() {
        return Some(b.sub(V::new(8, b'0'.into())).zext(64));
    }
    if base <= 10 {
        return None;
    }
    let small = b.or(V::new(8, 0x20));
    let last = b'a' + (base - 11) as u8;
    if !is_between(small, b'a', last).decide() {
        return None;
    }
    Some(small.sub(V::new(8, u64::from(b'a') - 10)).zext(64))
}

/// White space as a 1-bit value.
pub fn is_space(b: V) -> V {
    let blank = b.eq(V::new(8, b' '.into()));
    let control = is_between(b, b'\t', b'\r');
    if b.label == 0 { V::new(1, blank.val | control.val) } else { blank.or(control) }
}

/// Decides whether the byte at `at` is `c`.
pub fn decide_byte(at: u64, c: u8) -> bool {
    V::byte(at).eq(V::new(8, c.into())).decide()
}

/// Decides whether a letter is at `at`, in either case.
pub fn decide_letter(at: u64, small: u8) -> bool {
    V::byte(at).or(V::new(8, 0x20)).eq(V::new(8, small.into())).decide()
}
