//! Addresses of networks from text: `inet_pton`, `inet_aton`, `inet_addr`, `ether_aton`. And as
//! text: `inet_ntop`, `inet_ntoa`.
//!
//! Which characters belong to which number is decided by their classes. The bytes of the address
//! are then exact expressions over the digits. As text, the counts of digits are decided, and the
//! digits are expressions; the text of an address of IPv6 is concrete.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, is_clean};
use super::define::models;
use super::digits::Digits;
use super::number::{Sum, decide_byte, decide_digit, decide_letter, is_space};
use super::text::{decide_end, pin_bytes};
use crate::symbolic::events::count_loss;
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn inet_pton(family: i32, s: u64, to: u64) -> i32;
        pub fn inet_aton(s: u64, to: u64) -> i32;
        pub fn inet_addr(s: u64) -> u32;
        pub fn inet_ntop(family: i32, from: u64, to: u64, room: u32) -> u64;
        pub fn inet_ntoa(address: u32) -> u64;
        pub fn ether_aton(s: u64) -> u64;
        pub fn ether_aton_r(s: u64, to: u64) -> u64;
        pub fn strlen(s: u64) -> u64;
    }
}

const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;

models! {
    fn inet_pton(family: i32, s: u64, to: u64) -> i32 {
        let (family, s, to) = (family.pin(), s.pin(), to.pin());
        let done = real::inet_pton(family as i32, s, to);
        match family {
            AF_INET => label_address(s, to, done == 1, quad(s)),
            AF_INET6 => label_address(s, to, done == 1, groups(s)),
            _ => {}
        }
        done
    }
    fn inet_aton(s: u64, to: u64) -> i32 {
        let (s, to) = (s.pin(), to.pin());
        let done = real::inet_aton(s, to);
        let exact = parts(s);
        if to == 0 {
            if exact.is_some() != (done != 0) {
                pin_text(s);
            }
        } else {
            label_address(s, to, done != 0, exact);
        }
        done
    }
    fn inet_ntop(family: i32, from: u64, to: u64, room: u32) -> u64 {
        let (family, from, to) = (family.pin(), from.pin(), to.pin());
        let text = real::inet_ntop(family as i32, from, to, room.pin() as u32);
        if text != 0 && family == AF_INET {
            label_quad(text, [0, 1, 2, 3].map(|i| V::byte(from + i)));
        } else if text != 0 {
            if !is_clean(from, 16) {
                count_loss(Loss::Model);
            }
            clear(text, real::strlen(text) + 1);
        }
        text
    }
    fn inet_ntoa(address: u32) -> u64 {
        let text = real::inet_ntoa(address.val as u32);
        label_quad(text, [0, 8, 16, 24].map(|n| address.shift_right(n).trunc(8)));
        text
    }
    fn inet_addr(s: u64) -> u32 {
        let s = s.pin();
        let val = real::inet_addr(s);
        let Some(bytes) = parts(s) else {
            if val != u32::MAX {
                pin_text(s);
            }
            return val.into();
        };
        let [first, others @ ..] = bytes.map(|byte| byte.zext(32));
        let exact = others.into_iter().zip([8, 16, 24]).fold(first, |all, (byte, up)| {
            all.or(byte.mul(V::new(32, 1 << up)))
        });
        if exact.val != u64::from(val) {
            pin_text(s);
            return val.into();
        }
        exact
    }
    fn ether_aton(s: u64) -> u64 {
        let s = s.pin();
        let to = real::ether_aton(s);
        // The memory of the result, which a failure does not return, keeps its labels then.
        if to != 0 {
            label_stations(s, to, true);
        } else if stations(s).1 == 6 {
            pin_text(s);
        }
        to
    }
    fn ether_aton_r(s: u64, to: u64) -> u64 {
        let (s, to) = (s.pin(), to.pin());
        let done = real::ether_aton_r(s, to);
        label_stations(s, to, done != 0);
        done
    }
}

/// Pins a text, if the model does not agree with the function.
fn pin_text(s: u64) {
    // Safety: the function got it as a string.
    pin_bytes(s, unsafe { real::strlen(s) } + 1);
}

/// Labels the address that a function has stored at `to`, if it was `stored`.
fn label_address<const N: usize>(s: u64, to: u64, stored: bool, exact: Option<[V; N]>) {
    let agrees = match &exact {
        None => !stored,
        // Safety: the function stored this many bytes.
        Some(bytes) => {
            stored
                && bytes
                    .iter()
                    .zip(to..)
                    .all(|(b, at)| b.val == u64::from(unsafe { *(at as *const u8) }))
        }
    };
    if !agrees {
        pin_text(s);
    }
    if stored {
        clear(to, N as u64);
        if let Some(bytes) = exact.filter(|_| agrees) {
            bytes.iter().zip(to..).for_each(|(byte, at)| byte.store_label(at));
        }
    }
}

/// Four decimal numbers without further zeros, up to the end of the text.
fn quad(s: u64) -> Option<[V; 4]> {
    let mut bytes = [V::new(8, 0); 4];
    let (mut at, mut octets, mut in_number) = (s, 0, false);
    let mut number = V::new(32, 0);
    loop {
        let byte = V::byte(at);
        if decide_end(byte) {
            return (octets == 4 && in_number).then_some(bytes);
        }
        if let Some(digit) = decide_digit(byte, 10) {
            if in_number && number.eq(V::new(32, 0)).decide() {
                return None;
            }
            let digit = digit.trunc(32);
            number = if in_number { number.mul(V::new(32, 10)).add(digit) } else { digit };
            if !number.ule(V::new(32, 255)).decide() {
                return None;
            }
            if !in_number {
                octets += 1;
                in_number = true;
            }
            *bytes.get_mut(octets - 1)? = number.trunc(8);
        } else if in_number && decide_byte(at, b'.') {
            if octets == 4 {
                return None;
            }
            in_number = false;
        } else {
            return None;
        }
        at += 1;
    }
}

/// Hexadecimal groups between colons; two colons stand for zeros.
fn groups(s: u64) -> Option<[V; 16]> {
    const ZERO: V = V::new(8, 0);
    let (mut bytes, mut filled, mut gap) = ([ZERO; 16], 0, None);
    let mut at = s;
    if decide_end(V::byte(at)) {
        return None;
    }
    if decide_byte(at, b':') {
        at += 1;
        if !decide_byte(at, b':') {
            return None;
        }
    }
    let (mut group, mut digits, mut value) = (at, 0, V::new(16, 0));
    let mut store = |filled: &mut usize, value: V| {
        let high = value.shift_right(8).trunc(8);
        for byte in [high, value.trunc(8)] {
            *bytes.get_mut(*filled)? = byte;
            *filled += 1;
        }
        Some(())
    };
    let mut quad_at_end = None;
    loop {
        let byte = V::byte(at);
        if decide_end(byte) {
            break;
        }
        at += 1;
        if let Some(digit) = decide_digit(byte, 16) {
            if digits == 4 {
                return None;
            }
            value = value.mul(V::new(16, 16)).or(digit.trunc(16));
            digits += 1;
        } else if decide_byte(at - 1, b':') {
            group = at;
            if digits == 0 {
                if gap.is_some() {
                    return None;
                }
                gap = Some(filled);
                continue;
            }
            if decide_end(V::byte(at)) {
                return None;
            }
            store(&mut filled, value)?;
            (digits, value) = (0, V::new(16, 0));
        } else if decide_byte(at - 1, b'.') {
            if filled + 4 > 16 {
                return None;
            }
            quad_at_end = Some(quad(group)?);
            digits = 0;
            break;
        } else {
            return None;
        }
    }
    if digits > 0 {
        store(&mut filled, value)?;
    }
    for byte in quad_at_end.into_iter().flatten() {
        bytes[filled] = byte;
        filled += 1;
    }
    match gap {
        None => (filled == 16).then_some(bytes),
        Some(_) if filled == 16 => None,
        Some(gap) => {
            let mut all = [ZERO; 16];
            all[..gap].copy_from_slice(&bytes[..gap]);
            all[16 - (filled - gap)..].copy_from_slice(&bytes[gap..filled]);
            Some(all)
        }
    }
}

/// One to four numbers between dots, in decimal, octal or hexadecimal digits. The last one fills
/// the rest of the address. White space may follow, and then anything.
fn parts(s: u64) -> Option<[V; 4]> {
    let mut bytes = [V::new(8, 0); 4];
    let (mut at, mut filled) = (s, 0);
    let last = loop {
        decide_digit(V::byte(at), 10)?;
        let mut base = 10;
        if decide_byte(at, b'0') {
            base = 8;
            if decide_letter(at + 1, b'x') && decide_digit(V::byte(at + 2), 16).is_some() {
                (at, base) = (at + 2, 16);
            }
        }
        let mut number = Sum::EMPTY;
        while let Some(digit) = decide_digit(V::byte(at), base) {
            number.push(digit, base);
            at += 1;
        }
        let number = number.finish(false, false).ok()?;
        if !number.ule(V::new(64, u32::MAX.into())).decide() {
            return None;
        }
        if !decide_byte(at, b'.') {
            break number;
        }
        if filled > 2 || !number.ule(V::new(64, 255)).decide() {
            return None;
        }
        bytes[filled] = number.trunc(8);
        filled += 1;
        at += 1;
    };
    if !decide_end(V::byte(at)) && !is_space(V::byte(at)).decide() {
        return None;
    }
    let room = 4 - filled as u32;
    if room < 4 && !last.ule(V::new(64, (1 << (8 * room)) - 1)).decide() {
        return None;
    }
    for i in 0..room {
        bytes[filled + i as usize] = last.shift_right(8 * (room - 1 - i)).trunc(8);
    }
    Some(bytes)
}

/// Labels the numbers that `ether_aton_r` has stored, also before a failure.
fn label_stations(s: u64, to: u64, done: bool) {
    let (bytes, count) = stations(s);
    // Safety: the function stored this many bytes.
    let is_stored = |at: u64, byte: &V| byte.val == u64::from(unsafe { *(at as *const u8) });
    let stored = &bytes[..count];
    let agrees = (count == 6) == done && (to..).zip(stored).all(|(at, b)| is_stored(at, b));
    if !agrees {
        pin_text(s);
        clear(to, 6);
        return;
    }
    (to..).zip(stored).for_each(|(at, byte)| byte.store_label(at));
}

/// At most six numbers of one or two hexadecimal digits between colons, and how many there are.
/// The last may be followed by anything if it has two digits.
fn stations(s: u64) -> ([V; 6], usize) {
    let mut bytes = [V::new(8, 0); 6];
    let mut at = s;
    for (i, place) in bytes.iter_mut().enumerate() {
        match station(&mut at, i == 5) {
            Some(byte) => *place = byte,
            None => return (bytes, i),
        }
    }
    (bytes, 6)
}

/// One of these numbers. The function looks for what ends it first, and for a second digit if
/// that is not there.
fn station(at: &mut u64, is_last: bool) -> Option<V> {
    let first = decide_digit(V::byte(*at), 16)?.trunc(8);
    *at += 1;
    let is_ended = match is_last {
        false => decide_byte(*at, b':'),
        true => decide_end(V::byte(*at)) || is_space(V::byte(*at)).decide(),
    };
    let mut number = first;
    if !is_ended {
        let second = decide_digit(V::byte(*at), 16)?.trunc(8);
        number = first.mul(V::new(8, 16)).add(second);
        *at += 1;
        if !is_last && !decide_byte(*at, b':') {
            return None;
        }
    }
    *at += 1;
    Some(number)
}

/// Labels the text of an address: four numbers with points between them.
///
/// # Safety
/// `text` is that text.
unsafe fn label_quad(text: u64, bytes: [V; 4]) {
    // Safety: the caller guarantees it.
    let end = text + unsafe { real::strlen(text) };
    clear(text, end - text + 1);
    let mut at = text;
    for byte in bytes {
        let digits = Digits::of(byte.zext(32), 10, 0);
        at += digits.len();
        if !digits.label(at, text..end) {
            count_loss(Loss::Model);
        }
        at += 1;
    }
}
