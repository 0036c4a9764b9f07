//! Strings that are searched and cut up.
//!
//! A search for a character decides on each labelled byte that it passes. A
//! search for a string decides once for each place where it could begin, "the
//! whole needle is here": turning one of those round puts the needle there at
//! once. Sets of characters are one decision a byte, whatever their size.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, is_clean};
use super::ctype::lower;
use super::define::models;
use super::text::{Set, ends, length};
use crate::symbolic::holes;

mod real {
    unsafe extern "C" {
        pub fn strrchr(s: u64, c: i32) -> u64;
        pub fn strchrnul(s: u64, c: i32) -> u64;
        pub fn strlen(s: u64) -> u64;
        pub fn strspn(s: u64, set: u64) -> u64;
        pub fn strcspn(s: u64, set: u64) -> u64;
        pub fn strstr(h: u64, n: u64) -> u64;
        pub fn strcasestr(h: u64, n: u64) -> u64;
    }
}

models! {
    fn strchr(s: u64, c: i32) -> u64 {
        first(s, c)
    }
    fn index(s: u64, c: i32) -> u64 {
        first(s, c)
    }
    fn strchrnul(s: u64, c: i32) -> u64 {
        s.pin();
        let found = real::strchrnul(s.val, c.val as i32);
        passed(s.val, found - s.val + 1, c);
        onward(s, found)
    }
    fn strrchr(s: u64, c: i32) -> u64 {
        last(s, c)
    }
    fn rindex(s: u64, c: i32) -> u64 {
        last(s, c)
    }
    /// The GNU form, which leaves the path alone.
    fn basename(path: u64) -> u64 {
        let slash = last(path, V::new(32, b'/'.into()));
        if slash.val == 0 { V::new(64, path.val) } else { slash.add(V::new(64, 1)) }
    }

    fn strspn(s: u64, set: u64) -> u64 {
        let (s, set) = (s.pin(), set.pin());
        holes::stretched(s, span(s, set, true))
    }
    fn strcspn(s: u64, set: u64) -> u64 {
        let (s, set) = (s.pin(), set.pin());
        holes::stretched(s, span(s, set, false))
    }
    fn strpbrk(s: u64, set: u64) -> u64 {
        s.pin();
        let at = s.val + span(s.val, set.pin(), false);
        if ends(V::byte(at)) { V::new(64, 0) } else { onward(s, at) }
    }

    /// The pointer that is kept between calls is ours: only calls from code
    /// that goes through this model share it.
    fn strtok(s: u64, set: u64) -> u64 {
        static mut KEPT: u64 = 0;
        token(s.pin(), set.pin(), &raw mut KEPT)
    }
    fn strtok_r(s: u64, set: u64, kept: u64) -> u64 {
        token(s.pin(), set.pin(), kept.pin() as *mut u64)
    }
    fn __strtok_r(s: u64, set: u64, kept: u64) -> u64 {
        token(s.pin(), set.pin(), kept.pin() as *mut u64)
    }
    fn strsep(place: u64, set: u64) -> u64 {
        let (place, set) = (place.pin() as *mut u64, set.pin());
        let begin = V::load(place as u64, 64).pin();
        if begin == 0 {
            return 0;
        }
        let end = begin + span(begin, set, false);
        *place = if ends(V::byte(end)) { 0 } else { cut(end) };
        clear(place as u64, 8);
        begin
    }

    fn strstr(h: u64, n: u64) -> u64 {
        h.pin();
        let n = n.pin();
        let found = real::strstr(h.val, n);
        in_string(h.val, n, found, false);
        onward(h, found)
    }
    fn strcasestr(h: u64, n: u64) -> u64 {
        h.pin();
        let n = n.pin();
        let found = real::strcasestr(h.val, n);
        in_string(h.val, n, found, true);
        onward(h, found)
    }
}

/// # Safety
/// As `strchr`.
unsafe fn first(s: V, c: V) -> V {
    s.pin();
    // Safety: the caller's. This one also says how far it looked.
    let stop = unsafe { real::strchrnul(s.val, c.val as i32) };
    passed(s.val, stop - s.val + 1, c);
    if V::byte(stop).val == c.val & 0xff { onward(s, stop) } else { V::new(64, 0) }
}

/// A place that was found from `s` on: it moves with the holes in between. 0 if
/// nothing was found.
pub fn onward(s: V, found: u64) -> V {
    match found {
        0 => V::new(64, 0),
        _ if holes::on() => s.add(holes::stretched(s.val, found - s.val)),
        _ => V::new(64, found),
    }
}

/// # Safety
/// As `strrchr`.
unsafe fn last(s: V, c: V) -> V {
    s.pin();
    // Safety: the caller's.
    unsafe {
        passed(s.val, real::strlen(s.val) + 1, c);
        onward(s, real::strrchr(s.val, c.val as i32))
    }
}

/// A search for `c` went over `n` bytes of a string: is it `c`, is it the end?
fn passed(s: u64, n: u64, c: V) {
    if c.label == 0 && is_clean(s, n) {
        return;
    }
    let c = c.trunc(8);
    for i in 0..n {
        let b = V::byte(s + i);
        // Looking for zero is asking for the end; what equals another
        // character is no end.
        let for_end = c.label == 0 && c.val == 0;
        if for_end || !b.eq(c).decide() || c.label != 0 {
            ends(b);
        }
    }
}

/// How many bytes from `s` on are in the set (or are not, and are no end).
///
/// # Safety
/// Both are strings.
unsafe fn span(s: u64, set: u64, inside: bool) -> u64 {
    // Safety: the caller's.
    let (n, size) = unsafe {
        let n = if inside { real::strspn(s, set) } else { real::strcspn(s, set) };
        (n, length(set))
    };
    if is_clean(set, size) && is_clean(s, n + 1) {
        return n;
    }
    let mut known = Set::EMPTY;
    for i in (0..size).filter(|&i| is_clean(set + i, 1)) {
        known.insert(V::byte(set + i).val as u8);
    }
    if !inside {
        known.insert(0);
    }
    for i in 0..=n {
        let b = V::byte(s + i);
        let mut member = known.contains(b);
        for j in (0..size).filter(|&j| !is_clean(set + j, 1)) {
            member = member.or(b.eq(V::byte(set + j)));
        }
        member.decide();
    }
    n
}

/// Ends a token at a delimiter; where the next one begins.
///
/// # Safety
/// The byte is the program's to write.
unsafe fn cut(end: u64) -> u64 {
    unsafe { *(end as *mut u8) = 0 };
    clear(end, 1);
    end + 1
}

/// `strtok_r`, which writes only between its two spans.
///
/// # Safety
/// As `strtok_r`.
unsafe fn token(s: u64, set: u64, kept: *mut u64) -> u64 {
    let place = kept as u64;
    // Safety: the caller's; the order of reads and writes is glibc's.
    unsafe {
        let from = if s == 0 { V::load(place, 64).pin() } else { s };
        let begin = if ends(V::byte(from)) { from } else { from + span(from, set, true) };
        let empty = ends(V::byte(begin));
        let end = if empty { begin } else { begin + span(begin, set, false) };
        *kept = if ends(V::byte(end)) { end } else { cut(end) };
        clear(place, 8);
        if empty { 0 } else { begin }
    }
}

/// Decisions of a search for a string in a string: at each place first that the
/// string is long enough to have the needle there, then that it is there.
///
/// # Safety
/// Both are strings.
unsafe fn in_string(h: u64, n: u64, found: u64, fold: bool) {
    // Safety: the caller's.
    let size = unsafe { length(n) };
    let looked_at = if found == 0 { 1 + unsafe { real::strlen(h) } } else { found - h + size };
    if size == 0 || (is_clean(n, size) && is_clean(h, looked_at)) {
        return;
    }
    let mut long = 0;
    for at in h.. {
        while long < at - h + size {
            if ends(V::byte(h + long)) {
                return;
            }
            long += 1;
        }
        if here(at, n, size, fold).decide() {
            return;
        }
    }
}

/// Decisions of a search for a block in a block.
pub fn block(h: u64, hn: u64, n: u64, nn: u64, found: u64) {
    if nn == 0 || nn > hn {
        return;
    }
    let last = if found == 0 { hn - nn } else { found - h };
    for i in 0..=last {
        here(h + i, n, nn, false).decide();
    }
}

/// Whether the needle is at `at`, as one condition. Concrete bytes that differ
/// settle it without one.
fn here(at: u64, n: u64, size: u64, fold: bool) -> V {
    let step = if fold { 1 } else { 8 };
    for i in (0..size).filter(|&i| is_clean(at + i, 1) && is_clean(n + i, 1)) {
        let (a, b) = (V::byte(at + i), V::byte(n + i));
        if if fold { lower(a).val != lower(b).val } else { a.val != b.val } {
            return V::new(1, 0);
        }
    }
    let mut all = V::new(1, 1);
    for i in (0..size).step_by(step) {
        let bits = 8 * (size - i).min(step as u64) as u32;
        let (mut a, mut b) = (V::load(at + i, bits), V::load(n + i, bits));
        if fold {
            (a, b) = (lower(a), lower(b));
        }
        let one = a.eq(b);
        match (one.label, one.val) {
            (0, 0) => return one,
            (0, _) => {}
            _ => all = if all.label == 0 { one } else { all.and(one) },
        }
    }
    all
}
