//! Comparisons: of memory, of strings, with and without case.
//!
//! Where one side is concrete, a comparison is one value and no decision. The
//! first difference decides, so the result is a chain from the last byte to the
//! first, `a[0] != b[0] ? a[0] - b[0] : (a[1] != b[1] ? …)`, and the program's
//! own `== 0` asks for all the bytes at once. That needs the labelled side's
//! bytes up to the concrete side's end. Behind its own terminator they may not
//! exist; then one decision says that the difference lies before.
//!
//! Where both sides are labelled there is nothing to ask for at once, and the
//! bytes are decided one by one.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, is_clean};
use super::ctype::{lower, lower_byte};
use super::define::models;
use super::text::{ends, fits, length, pin_bytes};
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
        blocks(a, b, n)
    }
    fn bcmp(a: u64, b: u64, n: u64) -> i32 {
        blocks(a, b, n)
    }
    fn strcmp(a: u64, b: u64) -> i32 {
        strings(a, b, u64::MAX, false)
    }
    fn strncmp(a: u64, b: u64, n: u64) -> i32 {
        strings(a, b, n.pin(), false)
    }
    fn strcasecmp(a: u64, b: u64) -> i32 {
        strings(a, b, u64::MAX, true)
    }
    fn strncasecmp(a: u64, b: u64, n: u64) -> i32 {
        strings(a, b, n.pin(), true)
    }
    /// In the C locale as `strcmp`.
    fn strcoll(a: u64, b: u64) -> i32 {
        if plain_collation() {
            return strings(a, b, u64::MAX, false);
        }
        let (a, b) = (a.pin(), b.pin());
        pin_bytes(a, length(a));
        pin_bytes(b, length(b));
        real::strcoll(a, b).into()
    }
}

/// Whether strings collate by their bytes in the current locale.
pub fn plain_collation() -> bool {
    const LC_COLLATE: i32 = 3;
    // Safety: asks for the name only, which is a string or null.
    unsafe {
        let name = real::setlocale(LC_COLLATE, 0) as *const c_char;
        !name.is_null() && [c"C", c"POSIX", c"C.UTF-8", c"C.utf8"].contains(&CStr::from_ptr(name))
    }
}

/// Longer comparisons are made in pieces, each piece that was equal a decision:
/// most long ones differ early, and their chains would not pay.
const PIECE: u64 = 128;

/// # Safety
/// As `memcmp`.
unsafe fn blocks(a: V, b: V, n: V) -> V {
    if n.label != 0 {
        fits(n, a.val);
        fits(n, b.val);
    }
    let (a, b, n) = (a.pin(), b.pin(), n.pin());
    // Safety: the caller's.
    if is_clean(a, n) && is_clean(b, n) {
        return unsafe { real::memcmp(a, b, n) }.into();
    }
    let pair = Pair { a, b, fold: false };
    let same = (0..n).find(|&i| pair.differ(i)).unwrap_or(n);
    let looked_at = (same + 1).min(n);
    if is_clean(a, looked_at) && is_clean(b, looked_at) {
        return unsafe { real::memcmp(a, b, n) }.into();
    }
    if (0..n).any(|i| shadow::raw(a + i) != 0 && shadow::raw(b + i) != 0) {
        return pair.one_by_one(looked_at, false);
    }
    pair.at_once(n, true)
}

/// # Safety
/// As `strncmp`.
unsafe fn strings(a: V, b: V, n: u64, fold: bool) -> V {
    let (a, b) = (a.pin(), b.pin());
    // Where both sides' memory has no label the real function goes ahead, block
    // by block. Most comparisons end there.
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
    while stop < n && !pair.differ(stop) && V::byte(a + stop).val != 0 {
        stop += 1;
    }
    let looked_at = stop.saturating_add(1).min(n);
    if is_clean(a, looked_at) && is_clean(b, looked_at) {
        return match stop < n {
            true => pair.difference(stop),
            false => V::new(32, 0),
        };
    }
    // Safety: as above.
    let sizes = unsafe { [size(a, n), size(b, n)] };
    let [a_clean, b_clean] = [is_clean(a, sizes[0]), is_clean(b, sizes[1])];
    let (need, other, other_size) = match (a_clean, b_clean) {
        (false, false) => return pair.one_by_one(looked_at, true),
        (true, _) => (sizes[0], b, sizes[1]),
        (_, true) => (sizes[1], a, sizes[0]),
    };
    let have = if need <= other_size { need } else { reach(other, other_size, need) };
    pair.at_once(have, have == need)
}

/// Bytes of a string with its terminator, at most `n`.
unsafe fn size(s: u64, n: u64) -> u64 {
    // Safety: the caller's.
    unsafe { real::strnlen(s, n) }.saturating_add(1).min(n)
}

/// How many bytes from `s` on can be read, up to `need`, of which a string takes
/// `size`. A terminator that is not labelled is the end whatever the input.
/// Behind a labelled one the function would go on with other input, to what
/// lies there now: bytes of the same page, or labelled ones.
fn reach(s: u64, size: u64, need: u64) -> u64 {
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
    fn at(&self, i: u64) -> (V, V) {
        let (x, y) = (V::byte(self.a + i), V::byte(self.b + i));
        if self.fold { (lower(x), lower(y)) } else { (x, y) }
    }

    /// Concretely.
    fn differ(&self, i: u64) -> bool {
        // Safety: the comparison itself looks at these bytes.
        let (x, y) = unsafe { (*((self.a + i) as *const u8), *((self.b + i) as *const u8)) };
        x != y && (!self.fold || lower_byte(x) != lower_byte(y))
    }

    fn difference(&self, i: u64) -> V {
        let (x, y) = self.at(i);
        x.zext(32).sub(y.zext(32))
    }

    /// The result over `n` bytes as one value. Unless they are `all`, the trace
    /// says that the difference is among them.
    fn at_once(&self, n: u64, all: bool) -> V {
        let mut from = 0;
        loop {
            let to = n.min(from + PIECE);
            let (result, settled) = self.chain(from, to);
            let last = to == n && all;
            if settled || last || result.ne(V::new(32, 0)).decide() || to == n {
                return result;
            }
            from = to;
        }
    }

    /// The first difference among some bytes, and whether concrete ones differ:
    /// then nothing behind them matters.
    fn chain(&self, from: u64, to: u64) -> (V, bool) {
        let settled = (from..to).find(|&i| {
            self.differ(i) && shadow::raw(self.a + i) == 0 && shadow::raw(self.b + i) == 0
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

    /// The result of looking at `n` bytes, each comparison a decision.
    fn one_by_one(&self, n: u64, strings: bool) -> V {
        for i in 0..n {
            let (x, y) = self.at(i);
            if !x.eq(y).decide() {
                return x.zext(32).sub(y.zext(32));
            }
            if strings && ends(x) {
                break;
            }
        }
        V::new(32, 0)
    }
}
