//! Floating-point numbers from text.
//!
//! Floating point is concrete, so the number carries no label, and that is
//! counted. Which characters belong to it is still decided, class by class, so
//! that an input with the same shape takes the same path through the text.
//!
//! The models only stand in front of the real functions: one of them returns
//! `long double`, for which Rust has no type.

use super::api::{V, clear};
use super::define::{jump_to_real, wrapper};
use super::number::{digit, is, is_letter, is_space};
use super::text::within;
use crate::symbolic::events::loss;
use crate::symbolic::tls::take_arguments;
use pleach_abi::shm::Loss;

macro_rules! in_front {
    ($before:ident: $($name:literal)*) => {$(
        wrapper!($name, $before, [
            "add rsp, 24", ".cfi_def_cfa_offset 8",
            jump_to_real!($name)
        ]);
    )*};
}

in_front!(before_strtod: "strtod" "strtof" "strtold" "strtod_l" "strtof_l" "strtold_l");
in_front!(before_atof: "atof");

extern "C" fn before_strtod(model: usize, s: u64, end: u64) {
    let [s_label, end_label] = take_arguments(model);
    let end = V::arg(end_label, 64, end).pin();
    shape(V::arg(s_label, 64, s).pin());
    if end != 0 {
        clear(end, 8);
    }
}

extern "C" fn before_atof(model: usize, s: u64, _: u64) {
    let [label] = take_arguments(model);
    shape(V::arg(label, 64, s).pin());
}

/// Decides which characters make the number.
fn shape(s: u64) {
    let mut at = s;
    while is_space(V::byte(at)).decide() {
        at += 1;
    }
    if is(at, b'-') || is(at, b'+') {
        at += 1;
    }
    let end = number(at).unwrap_or_else(|| name(at));
    if (s..end).any(|i| V::byte(i).label != 0) {
        loss(Loss::Float);
    }
}

/// Where a number in figures ends.
fn number(at: u64) -> Option<u64> {
    let figure = |at: u64, base| digit(V::byte(at), base).is_some();
    let starts = |at, base| figure(at, base) || (is(at, b'.') && figure(at + 1, base));
    let hexadecimal = is(at, b'0') && is_letter(at + 1, b'x') && starts(at + 2, 16);
    let (mut at, base, mark) = if hexadecimal { (at + 2, 16, b'p') } else { (at, 10, b'e') };
    if !starts(at, base) {
        return None;
    }
    while figure(at, base) {
        at += 1;
    }
    if is(at, b'.') {
        at += 1;
        while figure(at, base) {
            at += 1;
        }
    }
    if is_letter(at, mark) {
        let mut power = at + 1;
        if is(power, b'-') || is(power, b'+') {
            power += 1;
        }
        if figure(power, 10) {
            while figure(power, 10) {
                power += 1;
            }
            at = power;
        }
    }
    Some(at)
}

/// Where one of the names ends that are numbers, or none does.
fn name(at: u64) -> u64 {
    let word = |at: u64, w: &[u8]| (at..).zip(w).all(|(at, &c)| is_letter(at, c));
    if word(at, b"inf") {
        return if word(at + 3, b"inity") { at + 8 } else { at + 3 };
    }
    if !word(at, b"nan") || !is(at + 3, b'(') {
        return at;
    }
    let mut inside = at + 4;
    let part = |b: V| digit(b, 36).is_some() || within(b, b'_', b'_').decide();
    while part(V::byte(inside)) {
        inside += 1;
    }
    is(inside, b')');
    inside
}
