//! Helpers of the string models: the end of a string, sets of characters, checks of sizes,
//! and pinning of bytes.

use super::api::{V, next_labelled};
use crate::symbolic::tokens::in_token_function;
use crate::symbolic::{arena, holes, objects};
use pleach_abi::event::Kind;
use pleach_abi::node::FLAG_ZERO_KNOWN;

mod real {
    unsafe extern "C" {
        pub fn strlen(s: u64) -> u64;
        pub fn strnlen(s: u64, n: u64) -> u64;
    }
}

/// Decides whether a character ends its string. Programs ask for the length of one string
/// many times, so this is recorded only once.
pub fn decide_end(c: V) -> bool {
    if c.label != 0 && !in_token_function() {
        let known = &mut arena::node(c.label).flags;
        if *known & FLAG_ZERO_KNOWN == 0 {
            *known |= FLAG_ZERO_KNOWN;
            c.eq(V::new(c.width, 0)).decide();
        }
    }
    c.val == 0
}

/// Calls `f` with the index of each labelled byte of a range, in order.
pub fn for_each_labelled(addr: u64, n: u64, mut f: impl FnMut(u64)) {
    let mut i = next_labelled(addr, n);
    while i < n {
        f(i);
        i += 1;
        i += next_labelled(addr + i, n - i);
    }
}

/// The length of a string, with the decisions that it depends on.
///
/// # Safety
/// `s` is a string.
pub unsafe fn length(s: u64) -> u64 {
    // Safety: the caller guarantees it.
    let n = unsafe { real::strlen(s) };
    decide_length(s, n + 1);
    n
}

/// As [`length`], as an expression over the holes in the string.
///
/// # Safety
/// `s` is a string.
pub unsafe fn symbolic_length(s: u64) -> V {
    // Safety: the caller guarantees it.
    let n = unsafe { length(s) };
    holes::length_with_holes(s, n)
}

/// As [`length_within`], as an expression over the holes in the string. Then it also decides
/// that the end comes before `most`.
///
/// # Safety
/// `s` is a string or has `most` bytes.
pub unsafe fn symbolic_length_within(s: u64, most: V) -> V {
    // Safety: the caller guarantees it.
    let n = unsafe { length_within(s, most.val) };
    if n == most.val {
        return V::new(64, n);
    }
    let len = holes::length_with_holes(s, n);
    if len.label != 0 && most.val != u64::MAX {
        len.ult(V::new(64, most.val)).decide();
    }
    len
}

/// As [`length`], for at most `most` bytes.
///
/// # Safety
/// `s` is a string or has `most` bytes.
pub unsafe fn length_within(s: u64, most: u64) -> u64 {
    // Safety: the caller guarantees it.
    let n = unsafe { real::strnlen(s, most) };
    decide_length(s, if n < most { n + 1 } else { n });
    n
}

fn decide_length(s: u64, examined: u64) {
    for_each_labelled(s, examined, |i| {
        decide_end(V::byte(s + i));
    });
}

/// Checks that a labelled size fits the rest of the object at `at`.
pub fn check_fits(size: V, at: u64) {
    if size.label != 0
        && let Some(o) = objects::find(at)
    {
        let room = V::arg(objects::size_label(&o), 64, o.size).sub(V::new(64, at - o.base));
        let room = if room.label == 0 { V::new(size.width, room.val) } else { room };
        if room.width == size.width {
            size.ule(room).check(Kind::CheckSize, o.size);
        }
    }
}

/// As [`check_fits`], for a fortified call: the compiler passes the room, or the largest number if
/// it does not know it.
pub fn check_fits_room(size: V, room: V) {
    if size.label != 0 && room.val != u64::MAX {
        size.ule(V::new(size.width, room.val)).check(Kind::CheckSize, room.val);
    }
}

/// Pins bytes: the rest of the trace holds for these values only. For functions that are too
/// complex for an expression.
pub fn pin_bytes(addr: u64, n: u64) {
    for_each_labelled(addr, n, |i| {
        V::byte(addr + i).pin();
    });
}

/// A set of byte values.
#[derive(Clone, Copy)]
pub struct Set([u64; 4]);

impl Set {
    pub const EMPTY: Set = Set([0; 4]);

    pub fn insert(&mut self, b: u8) {
        self.0[usize::from(b) / 64] |= 1 << (b % 64);
    }

    pub fn has(&self, b: u8) -> bool {
        self.0[usize::from(b) / 64] >> (b % 64) & 1 != 0
    }

    /// The set of all other bytes.
    pub fn inverted(self) -> Set {
        Set(self.0.map(|word| !word))
    }

    /// Membership as a 1-bit value: one comparison for each run of consecutive bytes.
    pub fn contains(&self, b: V) -> V {
        if b.label == 0 {
            return V::new(1, self.has(b.val as u8).into());
        }
        let mut any = V::new(1, 0);
        let mut at = 0u32;
        while at < 256 {
            if !self.has(at as u8) {
                at += 1;
                continue;
            }
            let first = at;
            while at < 256 && self.has(at as u8) {
                at += 1;
            }
            let one = is_between(b, first as u8, (at - 1) as u8);
            any = if any.label == 0 && any.val == 0 { one } else { any.or(one) };
        }
        any
    }
}

/// `first <= b <= last`, unsigned, as one comparison.
pub fn is_between(b: V, first: u8, last: u8) -> V {
    let (first, last) = (u64::from(first), u64::from(last));
    if first == last {
        b.eq(V::new(b.width, first))
    } else {
        let offset = if first == 0 { b } else { b.sub(V::new(b.width, first)) };
        offset.ule(V::new(b.width, last - first))
    }
}
