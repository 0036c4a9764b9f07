//! Floating-point numbers from text: `strtod` and its like.
//!
//! Which characters belong to the number is decided by their classes. So an input with the
//! same classes takes the same path through the text. The number is then an expression over
//! its digits: an integer of all digits, and a power of ten. A number with more digits than
//! fit 64 bits, or in hexadecimal, has no label, and that is counted as a loss.
//!
//! The models of functions that return `long double`, a type that Rust lacks, run before
//! the real functions, and then jump to them. Such a number has no label.

use super::api::{V, clear, enter, next_labelled};
use super::define::{jump_to_real, wrapper};
use super::number::{decide_byte, decide_digit, decide_letter, is_space};
use super::text::is_between;
use crate::symbolic::arena;
use crate::symbolic::events::count_loss;
use crate::symbolic::ops::rounds_to_nearest;
use crate::symbolic::tls::{set_result, take_arguments};
use pleach_abi::node::Op;
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn strtod(s: u64, end: u64) -> f64;
        pub fn strtof(s: u64, end: u64) -> f32;
        pub fn strtod_l(s: u64, end: u64, locale: u64) -> f64;
        pub fn strtof_l(s: u64, end: u64, locale: u64) -> f32;
        pub fn atof(s: u64) -> f64;
    }
}

macro_rules! parsers {
    ($($name:ident($($end:ident $($locale:ident)?)?) -> $float:ty;)*) => {$(
        /// # Safety
        /// As the C function of that name.
        #[unsafe(export_name = concat!("__pleach_m_", stringify!($name)))]
        pub unsafe extern "C" fn $name(s: u64, $($end: u64, $($locale: u64)?)?) -> $float {
            let me = $name as *const () as usize;
            let [s_label, end_label] = enter(me);
            let s = V::arg(s_label, 64, s).pin();
            let stop = decide_number(s);
            let ends: &[u64] = &[$(V::arg(end_label, 64, $end).pin())?];
            let end_of_number = ends.first().map_or(0, |&end| end);
            let _ = end_label;
            // Safety: the caller guarantees it.
            let number = unsafe { real::$name(s, $($end, $($locale)?)?) };
            if end_of_number != 0 {
                clear(end_of_number, 8);
                // Safety: the function has just written it.
                let real_stop = unsafe { *(end_of_number as *const u64) };
                if real_stop != stop && real_stop != s {
                    // A locale with another decimal point.
                    count_loss(Loss::Model);
                    return number;
                }
            }
            set_result(me, label_of_number(s, stop, number.into()));
            number
        }
    )*};
}

parsers! {
    strtod(end) -> f64;
    strtof(end) -> f32;
    strtod_l(end locale) -> f64;
    strtof_l(end locale) -> f32;
    atof() -> f64;
}

/// A number as a program has it.
pub struct Float {
    width: u32,
    bits: u64,
}

impl From<f64> for Float {
    fn from(number: f64) -> Float {
        Float { width: 64, bits: number.to_bits() }
    }
}

impl From<f32> for Float {
    fn from(number: f32) -> Float {
        Float { width: 32, bits: number.to_bits().into() }
    }
}

/// The label of a number that was read from the text `s .. stop`, whose characters were
/// decided.
pub fn label_of_number(s: u64, stop: u64, number: Float) -> u32 {
    if next_labelled(s, stop - s) == stop - s {
        return 0;
    }
    // The limits of integers and powers that fit their nodes without overflow.
    const MAX_DIGITS: u32 = 19;
    const MAX_POWER_DIGITS: u32 = 6;
    let mut at = s;
    while at < stop && is_concrete(at, |b| b == b' ' || (9..=13).contains(&b)) {
        at += 1;
    }
    let negative = at < stop && is_concrete(at, |b| b == b'-');
    if at < stop && is_concrete(at, |b| b == b'-' || b == b'+') {
        at += 1;
    }
    let is_digit = |at: u64| at < stop && is_concrete(at, |b| b.is_ascii_digit());
    let is_number = is_digit(at) || is_concrete(at, |b| b == b'.') && is_digit(at + 1);
    if !is_number {
        // A name, such as `inf`: its letters are decided.
        return 0;
    }
    let (mut digits, mut count, mut fraction) = (V::new(64, 0), 0, 0);
    let mut point = false;
    while at < stop {
        if is_digit(at) {
            digits = append_digit(digits, at, 64);
            count += 1;
            fraction += u32::from(point);
        } else if !point && is_concrete(at, |b| b == b'.') {
            point = true;
        } else {
            break;
        }
        at += 1;
    }
    let (mut power, mut power_digits) = (V::new(32, 0), 0);
    let has_power = at < stop && is_concrete(at, |b| b | 0x20 == b'e');
    if has_power {
        at += 1;
        let below = at < stop && is_concrete(at, |b| b == b'-');
        if at < stop && is_concrete(at, |b| b == b'-' || b == b'+') {
            at += 1;
        }
        while is_digit(at) {
            power = append_digit(power, at, 32);
            power_digits += 1;
            at += 1;
        }
        if below {
            power = V::new(32, 0).sub(power);
        }
    }
    if at != stop || count > MAX_DIGITS || power_digits > MAX_POWER_DIGITS || !rounds_to_nearest() {
        count_loss(Loss::Float);
        return 0;
    }
    if fraction != 0 {
        power = power.sub(V::new(32, fraction.into()));
    }
    if digits.label | power.label == 0 {
        return 0;
    }
    let imm = if digits.label == 0 { digits.val } else { power.val };
    let sign = 1u64 << (number.width - 1);
    let size = number.bits & !sign;
    let (a, b) = (digits.label, power.label);
    let label = arena::binary(Op::FDecimal, number.width, a, b, imm, size);
    if negative && label != 0 {
        return arena::binary(Op::Xor, number.width, label, 0, sign, number.bits);
    }
    label
}

/// True if the character at `at` is of a class now. Nothing is decided.
fn is_concrete(at: u64, class: impl Fn(u8) -> bool) -> bool {
    // Safety: the text of a number, which the function read.
    class(unsafe { *(at as *const u8) })
}

fn append_digit(digits: V, at: u64, width: u32) -> V {
    let digit = V::byte(at).sub(V::new(8, b'0'.into())).zext(width);
    if digits.label == 0 && digits.val == 0 {
        return digit;
    }
    digits.mul(V::new(width, 10)).add(digit)
}

macro_rules! run_before {
    ($before:ident: $($name:literal)*) => {$(
        wrapper!($name, $before, [
            "add rsp, 24", ".cfi_def_cfa_offset 8",
            jump_to_real!($name)
        ]);
    )*};
}

run_before!(before_strtold: "strtold" "strtold_l");

extern "C" fn before_strtold(model: usize, s: u64, end: u64) {
    let [s_label, end_label] = take_arguments(model);
    let end = V::arg(end_label, 64, end).pin();
    let s = V::arg(s_label, 64, s).pin();
    let stop = decide_number(s);
    if next_labelled(s, stop - s) != stop - s {
        count_loss(Loss::Float);
    }
    if end != 0 {
        clear(end, 8);
    }
}

/// Decides which characters belong to the number; the address behind the last.
fn decide_number(s: u64) -> u64 {
    let mut at = s;
    while is_space(V::byte(at)).decide() {
        at += 1;
    }
    if decide_byte(at, b'-') || decide_byte(at, b'+') {
        at += 1;
    }
    end_of_digits(at).unwrap_or_else(|| end_of_name(at))
}

/// The end of a number in digits; `None` if there is none.
fn end_of_digits(at: u64) -> Option<u64> {
    let is_digit = |at: u64, base| decide_digit(V::byte(at), base).is_some();
    let starts = |at, base| is_digit(at, base) || (decide_byte(at, b'.') && is_digit(at + 1, base));
    let hexadecimal = decide_byte(at, b'0') && decide_letter(at + 1, b'x') && starts(at + 2, 16);
    let (mut at, base, mark) = if hexadecimal { (at + 2, 16, b'p') } else { (at, 10, b'e') };
    if !starts(at, base) {
        return None;
    }
    while is_digit(at, base) {
        at += 1;
    }
    if decide_byte(at, b'.') {
        at += 1;
        while is_digit(at, base) {
            at += 1;
        }
    }
    if decide_letter(at, mark) {
        let mut power = at + 1;
        if decide_byte(power, b'-') || decide_byte(power, b'+') {
            power += 1;
        }
        if is_digit(power, 10) {
            while is_digit(power, 10) {
                power += 1;
            }
            at = power;
        }
    }
    Some(at)
}

/// The end of `inf`, `infinity`, `nan` or `nan(...)`; `at` if none of them is there.
fn end_of_name(at: u64) -> u64 {
    let word = |at: u64, w: &[u8]| (at..).zip(w).all(|(at, &c)| decide_letter(at, c));
    if word(at, b"inf") {
        return if word(at + 3, b"inity") { at + 8 } else { at + 3 };
    }
    if !word(at, b"nan") || !decide_byte(at + 3, b'(') {
        return at;
    }
    let mut inside = at + 4;
    let part = |b: V| decide_digit(b, 36).is_some() || is_between(b, b'_', b'_').decide();
    while part(V::byte(inside)) {
        inside += 1;
    }
    decide_byte(inside, b')');
    inside
}
