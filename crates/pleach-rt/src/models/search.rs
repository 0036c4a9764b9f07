//! Searching in strings, and splitting them: `strchr`, `strstr`, `strtok` and their
//! relatives.
//!
//! A search for a character decides on each labelled byte that it examines. A search for a
//! string decides once for each place where the needle may begin: "the whole needle is
//! here". A flip of such a decision puts the whole needle there. A search for a set of
//! characters is one decision for each byte, whatever the size of the set.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, is_clean};
use super::ctype::to_lower;
use super::define::models;
use super::text::{Set, decide_end, length};
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
        find_first(s, c)
    }
    fn index(s: u64, c: i32) -> u64 {
        find_first(s, c)
    }
    fn strchrnul(s: u64, c: i32) -> u64 {
        s.pin();
        let found = real::strchrnul(s.val, c.val as i32);
        decide_search(s.val, found - s.val + 1, c);
        place_found(s, found)
    }
    fn strrchr(s: u64, c: i32) -> u64 {
        find_last(s, c)
    }
    fn rindex(s: u64, c: i32) -> u64 {
        find_last(s, c)
    }
    /// The GNU form, which does not change the path.
    fn basename(path: u64) -> u64 {
        let slash = find_last(path, V::new(32, b'/'.into()));
        if slash.val == 0 { V::new(64, path.val) } else { slash.add(V::new(64, 1)) }
    }

    fn strspn(s: u64, set: u64) -> u64 {
        let (s, set) = (s.pin(), set.pin());
        holes::length_with_holes(s, span(s, set, true))
    }
    fn strcspn(s: u64, set: u64) -> u64 {
        let (s, set) = (s.pin(), set.pin());
        holes::length_with_holes(s, span(s, set, false))
    }
    fn strpbrk(s: u64, set: u64) -> u64 {
        s.pin();
        let at = s.val + span(s.val, set.pin(), false);
        if decide_end(V::byte(at)) { V::new(64, 0) } else { place_found(s, at) }
    }

    /// The model keeps the pointer between calls itself. Code without instrumentation
    /// calls the real function, which has another one.
    fn strtok(s: u64, set: u64) -> u64 {
        static mut KEPT: u64 = 0;
        next_token(s.pin(), set.pin(), &raw mut KEPT)
    }
    fn strtok_r(s: u64, set: u64, kept: u64) -> u64 {
        next_token(s.pin(), set.pin(), kept.pin() as *mut u64)
    }
    fn __strtok_r(s: u64, set: u64, kept: u64) -> u64 {
        next_token(s.pin(), set.pin(), kept.pin() as *mut u64)
    }
    fn strsep(place: u64, set: u64) -> u64 {
        let (place, set) = (place.pin() as *mut u64, set.pin());
        let begin = V::load(place as u64, 64).pin();
        if begin == 0 {
            return 0;
        }
        let end = begin + span(begin, set, false);
        *place = if decide_end(V::byte(end)) { 0 } else { end_token(end) };
        clear(place as u64, 8);
        begin
    }

    fn strstr(h: u64, n: u64) -> u64 {
        h.pin();
        let n = n.pin();
        let found = real::strstr(h.val, n);
        decide_string_search(h.val, n, found, false);
        place_found(h, found)
    }
    fn strcasestr(h: u64, n: u64) -> u64 {
        h.pin();
        let n = n.pin();
        let found = real::strcasestr(h.val, n);
        decide_string_search(h.val, n, found, true);
        place_found(h, found)
    }
}

/// # Safety
/// As `strchr`.
unsafe fn find_first(s: V, c: V) -> V {
    s.pin();
    // Safety: the caller guarantees it. `strchrnul` also tells where the search ended.
    let stop = unsafe { real::strchrnul(s.val, c.val as i32) };
    decide_search(s.val, stop - s.val + 1, c);
    if V::byte(stop).val == c.val & 0xff { place_found(s, stop) } else { V::new(64, 0) }
}

/// The address of what a search from `s` on has found, or 0. With holes it is an expression
/// over the holes in between.
pub fn place_found(s: V, found: u64) -> V {
    match found {
        0 => V::new(64, 0),
        _ if holes::are_on() => s.add(holes::length_with_holes(s.val, found - s.val)),
        _ => V::new(64, found),
    }
}

/// # Safety
/// As `strrchr`.
unsafe fn find_last(s: V, c: V) -> V {
    s.pin();
    // Safety: the caller guarantees it.
    unsafe {
        decide_search(s.val, real::strlen(s.val) + 1, c);
        place_found(s, real::strrchr(s.val, c.val as i32))
    }
}

/// Decisions of a search for `c` over `n` bytes of a string: is a byte `c`, is it the end?
fn decide_search(s: u64, n: u64, c: V) {
    if c.label == 0 && is_clean(s, n) {
        return;
    }
    let c = c.trunc(8);
    for i in 0..n {
        let b = V::byte(s + i);
        // A search for zero only decides on the end. A byte that equals another
        // character is not the end.
        let for_end = c.label == 0 && c.val == 0;
        if for_end || !b.eq(c).decide() || c.label != 0 {
            decide_end(b);
        }
    }
}

/// How many bytes from `s` on are in the set (`inside`), or are neither in the set nor the
/// end.
///
/// # Safety
/// Both are strings.
unsafe fn span(s: u64, set: u64, inside: bool) -> u64 {
    // Safety: the caller guarantees it.
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

/// Ends a token at a delimiter; returns where the next token begins.
///
/// # Safety
/// The program may write to the byte.
unsafe fn end_token(end: u64) -> u64 {
    // Safety: the caller guarantees it.
    unsafe { *(end as *mut u8) = 0 };
    clear(end, 1);
    end + 1
}

/// `strtok_r`. It writes only after its second search.
///
/// # Safety
/// As `strtok_r`.
unsafe fn next_token(s: u64, set: u64, kept: *mut u64) -> u64 {
    let place = kept as u64;
    // Safety: the caller guarantees it; the order of reads and writes is glibc's.
    unsafe {
        let from = if s == 0 { V::load(place, 64).pin() } else { s };
        let begin = if decide_end(V::byte(from)) { from } else { from + span(from, set, true) };
        let empty = decide_end(V::byte(begin));
        let end = if empty { begin } else { begin + span(begin, set, false) };
        *kept = if decide_end(V::byte(end)) { end } else { end_token(end) };
        clear(place, 8);
        if empty { 0 } else { begin }
    }
}

/// Decisions of a search for a string in a string. For each place: the string is long enough
/// for the needle, and the needle is there.
///
/// # Safety
/// Both are strings.
unsafe fn decide_string_search(h: u64, n: u64, found: u64, fold: bool) {
    // Safety: the caller guarantees it.
    let size = unsafe { length(n) };
    let examined = if found == 0 { 1 + unsafe { real::strlen(h) } } else { found - h + size };
    if size == 0 || (is_clean(n, size) && is_clean(h, examined)) {
        return;
    }
    let mut long = 0;
    for at in h.. {
        while long < at - h + size {
            if decide_end(V::byte(h + long)) {
                return;
            }
            long += 1;
        }
        if needle_at(at, n, size, fold).decide() {
            return;
        }
    }
}

/// Decisions of a search for a block in a block.
pub fn decide_block_search(h: u64, hn: u64, n: u64, nn: u64, found: u64) {
    if nn == 0 || nn > hn {
        return;
    }
    let last = if found == 0 { hn - nn } else { found - h };
    for i in 0..=last {
        needle_at(h + i, n, nn, false).decide();
    }
}

/// True if the needle is at `at`, as one condition. It is concrete if concrete bytes differ.
fn needle_at(at: u64, n: u64, size: u64, fold: bool) -> V {
    let step = if fold { 1 } else { 8 };
    for i in (0..size).filter(|&i| is_clean(at + i, 1) && is_clean(n + i, 1)) {
        let (a, b) = (V::byte(at + i), V::byte(n + i));
        if if fold { to_lower(a).val != to_lower(b).val } else { a.val != b.val } {
            return V::new(1, 0);
        }
    }
    let mut all = V::new(1, 1);
    for i in (0..size).step_by(step) {
        let bits = 8 * (size - i).min(step as u64) as u32;
        let (mut a, mut b) = (V::load(at + i, bits), V::load(n + i, bits));
        if fold {
            (a, b) = (to_lower(a), to_lower(b));
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
