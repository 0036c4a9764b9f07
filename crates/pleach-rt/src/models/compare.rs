//! Comparisons of memory and of strings, with and without case.
//!
//! If one side is concrete, the result of a comparison is one expression, and no decision
//! is recorded. The first difference counts, so the expression is a chain:
//! `a[0] != b[0] ? a[0] - b[0] : (a[1] != b[1] ? …)`. To flip the program's own `== 0` is
//! then to ask for all bytes at once. The chain needs the bytes of the labelled side up to
//! the end of the concrete side. Bytes after the terminator of the labelled side may not
//! exist; then one decision records that the difference lies before them.
//!
//! If both sides are labelled, the bytes are decided one by one.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, is_clean};
use super::ctype::{to_lower, to_lower_byte};
use super::define::models;
use super::text::{check_fits, decide_end, length, pin_bytes};
use crate::symbolic::shadow;
use core::ffi::{CStr, c_char};
use pleach_abi::layout::dirty_of;

mod real {
    unsafe extern "C" {
        pub fn memcmp(a: u64, b: u64, n: u64) -> i32;
        pub fn strncmp(a: u64, b: u64, n: u64) -> i32;
        pub fn strncasecmp(a: u64, b: u64, n: u64) -> i32;
        pub fn strcoll(a: u64, b: u64) -> i32;
        pub fn strnlen(s: u64, n: u64) -> u64;
        pub fn setlocale(category: i32, name: u64) -> u64;
    }
}

models! {
    fn memcmp(a: u64, b: u64, n: u64) -> i32 {
        compare_blocks(a, b, n)
    }
    fn bcmp(a: u64, b: u64, n: u64) -> i32 {
        compare_blocks(a, b, n)
    }
    fn strcmp(a: u64, b: u64) -> i32 {
        compare_strings(a, b, u64::MAX, false)
    }
    fn strncmp(a: u64, b: u64, n: u64) -> i32 {
        compare_strings(a, b, n.pin(), false)
    }
    fn strcasecmp(a: u64, b: u64) -> i32 {
        compare_strings(a, b, u64::MAX, true)
    }
    fn strncasecmp(a: u64, b: u64, n: u64) -> i32 {
        compare_strings(a, b, n.pin(), true)
    }
    /// In the C locale this is `strcmp`.
    fn strcoll(a: u64, b: u64) -> i32 {
        if collates_by_bytes() {
            return compare_strings(a, b, u64::MAX, false);
        }
        let (a, b) = (a.pin(), b.pin());
        pin_bytes(a, length(a));
        pin_bytes(b, length(b));
        real::strcoll(a, b).into()
    }
}

/// True if strings collate by their bytes in the current locale.
pub fn collates_by_bytes() -> bool {
    const LC_COLLATE: i32 = 3;
    // Safety: this only returns the name, a string or null.
    unsafe {
        let name = real::setlocale(LC_COLLATE, 0) as *const c_char;
        !name.is_null() && [c"C", c"POSIX", c"C.UTF-8", c"C.utf8"].contains(&CStr::from_ptr(name))
    }
}

/// The longest chain, in bytes. A longer comparison is split: that a part is equal is a
/// decision. Most long comparisons differ early, and a long chain would be a waste.
pub const MAX_CHAIN: u64 = 128;

/// # Safety
/// As `memcmp`.
unsafe fn compare_blocks(a: V, b: V, n: V) -> V {
    if n.label != 0 {
        check_fits(n, a.val);
        check_fits(n, b.val);
    }
    let (a, b, n) = (a.pin(), b.pin(), n.pin());
    // Safety: the caller guarantees it.
    if is_clean(a, n) && is_clean(b, n) {
        return unsafe { real::memcmp(a, b, n) }.into();
    }
    let pair = Pair { a, b, fold: false };
    let same = (0..n).find(|&i| pair.differs_at(i)).unwrap_or(n);
    let examined = (same + 1).min(n);
    if is_clean(a, examined) && is_clean(b, examined) {
        return unsafe { real::memcmp(a, b, n) }.into();
    }
    if (0..n).any(|i| shadow::raw(a + i) != 0 && shadow::raw(b + i) != 0) {
        return pair.one_by_one(examined, false);
    }
    pair.at_once(n, true)
}

/// # Safety
/// As `strncmp`.
unsafe fn compare_strings(a: V, b: V, n: u64, fold: bool) -> V {
    let (a, b) = (a.pin(), b.pin());
    // While the memory of both sides has no labels, call the real function block by block.
    // Most comparisons end here.
    let mut clean = 0;
    // Safety: the dirty map covers all memory; the strings are the caller's.
    unsafe {
        while *(dirty_of(a + clean) as *const u8) | *(dirty_of(b + clean) as *const u8) == 0 {
            let (x, y) = (a + clean, b + clean);
            let room = (256 - (x & 255)).min(256 - (y & 255)).min(n - clean);
            let r = if fold { real::strncasecmp(x, y, room) } else { real::strncmp(x, y, room) };
            if r != 0 || clean + room == n || real::strnlen(x, room) < room {
                return r.into();
            }
            clean += room;
        }
    }
    let pair = Pair { a, b, fold };
    let mut stop = clean;
    while stop < n && !pair.differs_at(stop) && V::byte(a + stop).val != 0 {
        stop += 1;
    }
    let examined = stop.saturating_add(1).min(n);
    if is_clean(a, examined) && is_clean(b, examined) {
        return match stop < n {
            true => pair.difference(stop),
            false => V::new(32, 0),
        };
    }
    // Safety: as above.
    let sizes = unsafe { [size_within(a, n), size_within(b, n)] };
    let [a_clean, b_clean] = [is_clean(a, sizes[0]), is_clean(b, sizes[1])];
    let (need, other, other_size) = match (a_clean, b_clean) {
        (false, false) => return pair.one_by_one(examined, true),
        (true, _) => (sizes[0], b, sizes[1]),
        (_, true) => (sizes[1], a, sizes[0]),
    };
    let have = if need <= other_size { need } else { readable_bytes(other, other_size, need) };
    pair.at_once(have, have == need)
}

/// Size of a string with its terminator, at most `n`.
///
/// # Safety
/// `s` is a string or has `n` bytes.
pub unsafe fn size_within(s: u64, n: u64) -> u64 {
    // Safety: the caller guarantees it.
    unsafe { real::strnlen(s, n) }.saturating_add(1).min(n)
}

/// How many bytes from `s` on can be read, at most `need`; the string there has `size`. A
/// terminator without a label is the end for every input. After a labelled terminator the
/// function would continue with another input; the bytes after it exist if they are in the
/// same page or have labels.
pub fn readable_bytes(s: u64, size: u64, need: u64) -> u64 {
    const PAGE: u64 = 4096;
    let exists = |at: u64| !at.is_multiple_of(PAGE) || shadow::raw(at) != 0;
    // Safety: the bytes before exist.
    let is_end = |at: u64| shadow::raw(at) == 0 && unsafe { *(at as *const u8) } == 0;
    let mut have = size;
    while have < need && !is_end(s + have - 1) && exists(s + have) {
        have += 1;
    }
    have
}

struct Pair {
    a: u64,
    b: u64,
    fold: bool,
}

impl Pair {
    fn bytes_at(&self, i: u64) -> (V, V) {
        let (x, y) = (V::byte(self.a + i), V::byte(self.b + i));
        if self.fold { (to_lower(x), to_lower(y)) } else { (x, y) }
    }

    /// True if the bytes at `i` differ in this run.
    fn differs_at(&self, i: u64) -> bool {
        // Safety: the C function reads these bytes, too.
        let (x, y) = unsafe { (*((self.a + i) as *const u8), *((self.b + i) as *const u8)) };
        x != y && (!self.fold || to_lower_byte(x) != to_lower_byte(y))
    }

    fn difference(&self, i: u64) -> V {
        let (x, y) = self.bytes_at(i);
        x.zext(32).sub(y.zext(32))
    }

    /// The result over `n` bytes as one expression. If they are not `all` bytes, a decision
    /// records that the difference is among them.
    fn at_once(&self, n: u64, all: bool) -> V {
        let mut from = 0;
        loop {
            let to = n.min(from + MAX_CHAIN);
            let (result, settled) = self.chain(from, to);
            let last = to == n && all;
            if settled || last || result.ne(V::new(32, 0)).decide() || to == n {
                return result;
            }
            from = to;
        }
    }

    /// The chain over some bytes, and true if two concrete bytes differ: then the bytes
    /// after them do not matter.
    fn chain(&self, from: u64, to: u64) -> (V, bool) {
        let settled = (from..to).find(|&i| {
            self.differs_at(i) && shadow::raw(self.a + i) == 0 && shadow::raw(self.b + i) == 0
        });
        let (mut result, end) = match settled {
            Some(i) => (self.difference(i), i),
            None => (V::new(32, 0), to),
        };
        for i in (from..end).rev() {
            let d = self.difference(i);
            if d.label != 0 {
                let none = result.label == 0 && result.val == 0;
                result = if none { d } else { d.ne(V::new(32, 0)).choose(d, result) };
            } else if d.val != 0 {
                result = d;
            }
        }
        (result, settled.is_some())
    }

    /// The result over `n` bytes, with a decision for each.
    fn one_by_one(&self, n: u64, strings: bool) -> V {
        for i in 0..n {
            let (x, y) = self.bytes_at(i);
            if !x.eq(y).decide() {
                return x.zext(32).sub(y.zext(32));
            }
            if strings && decide_end(x) {
                break;
            }
        }
        V::new(32, 0)
    }
}
