//! Floating-point numbers from text: `strtod` and its like.
//!
//! Floating point is concrete, so the number has no label, and that is counted as a loss.
//! Which characters belong to the number is still decided, by their classes. So an input
//! with the same classes takes the same path through the text.
//!
//! The models run before the real functions, and then jump to them: one of these returns
//! `long double`, a type that Rust lacks.

use super::api::{V, clear};
use super::define::{jump_to_real, wrapper};
use super::number::{decide_byte, decide_digit, decide_letter, is_space};
use super::text::is_between;
use crate::symbolic::events::count_loss;
use crate::symbolic::tls::take_arguments;
use pleach_abi::shm::Loss;

macro_rules! run_before {
    ($before:ident: $($name:literal)*) => {$(
        wrapper!($name, $before, [
            "add rsp, 24", ".cfi_def_cfa_offset 8",
            jump_to_real!($name)
        ]);
    )*};
}

run_before!(before_strtod: "strtod" "strtof" "strtold" "strtod_l" "strtof_l" "strtold_l");
run_before!(before_atof: "atof");

extern "C" fn before_strtod(model: usize, s: u64, end: u64) {
    let [s_label, end_label] = take_arguments(model);
    let end = V::arg(end_label, 64, end).pin();
    decide_number(V::arg(s_label, 64, s).pin());
    if end != 0 {
        clear(end, 8);
    }
}

extern "C" fn before_atof(model: usize, s: u64, _: u64) {
    let [label] = take_arguments(model);
    decide_number(V::arg(label, 64, s).pin());
}

/// Decides which characters belong to the number.
fn decide_number(s: u64) {
    let mut at = s;
    while is_space(V::byte(at)).decide() {
        at += 1;
    }
    if decide_byte(at, b'-') || decide_byte(at, b'+') {
        at += 1;
    }
    let end = end_of_digits(at).unwrap_or_else(|| end_of_name(at));
    if (s..end).any(|i| V::byte(i).label != 0) {
        count_loss(Loss::Float);
    }
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
