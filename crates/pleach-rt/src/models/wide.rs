//! Strings of wide characters (32 bits each): the functions that lexers use.
//!
//! As with narrow strings, ends and matches are decided character by character, and copies
//! copy labels. Comparisons are decided character by character, too; the sign of the first
//! difference is an expression.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy, is_clean};
use super::define::models;
use super::text::{check_fits, decide_end};
use crate::symbolic::{objects, shadow};

mod real {
    unsafe extern "C" {
        pub fn wcslen(s: u64) -> u64;
        pub fn wcsnlen(s: u64, n: u64) -> u64;
        pub fn wcscpy(dst: u64, src: u64) -> u64;
        pub fn wcsncpy(dst: u64, src: u64, n: u64) -> u64;
        pub fn wcscat(dst: u64, src: u64) -> u64;
        pub fn wcsncat(dst: u64, src: u64, n: u64) -> u64;
        pub fn wcsdup(src: u64) -> u64;
        pub fn wcschr(s: u64, c: u32) -> u64;
        pub fn wcsrchr(s: u64, c: u32) -> u64;
        pub fn wmemcpy(dst: u64, src: u64, n: u64) -> u64;
        pub fn wmemmove(dst: u64, src: u64, n: u64) -> u64;
        pub fn wmemset(dst: u64, c: u32, n: u64) -> u64;
        pub fn wmemchr(s: u64, c: u32, n: u64) -> u64;
    }
}

models! {
    fn wcslen(s: u64) -> u64 {
        length(s.pin())
    }
    fn wcsnlen(s: u64, n: u64) -> u64 {
        length_within(s.pin(), n.pin())
    }
    fn wcscpy(dst: u64, src: u64) -> u64 {
        let (d, s) = (dst.pin(), src.pin());
        let n = length(s);
        let out = real::wcscpy(d, s);
        label_copy(d, s, n, n + 1);
        out
    }
    fn wcsncpy(dst: u64, src: u64, n: u64) -> u64 {
        check_fits(n.mul(V::new(64, 4)), dst.val);
        let (d, s, n) = (dst.pin(), src.pin(), n.pin());
        let len = length_within(s, n);
        let out = real::wcsncpy(d, s, n);
        label_copy(d, s, len, n);
        out
    }
    fn wcscat(dst: u64, src: u64) -> u64 {
        let (d, s) = (dst.pin(), src.pin());
        let (at, n) = (d + 4 * length(d), length(s));
        let out = real::wcscat(d, s);
        label_copy(at, s, n, n + 1);
        out
    }
    fn wcsncat(dst: u64, src: u64, n: u64) -> u64 {
        let (d, s, n) = (dst.pin(), src.pin(), n.pin());
        let (at, len) = (d + 4 * length(d), length_within(s, n));
        let out = real::wcsncat(d, s, n);
        label_copy(at, s, len, len + 1);
        out
    }
    fn wcsdup(src: u64) -> u64 {
        let s = src.pin();
        let n = length(s);
        let new = real::wcsdup(s);
        if new != 0 {
            objects::set_heap_object(new, Some(4 * (n + 1)));
            label_copy(new, s, n, n + 1);
        }
        new
    }

    fn wcschr(s: u64, c: u32) -> u64 {
        let s = s.pin();
        let found = real::wcschr(s, c.val as u32);
        decide_search(s, if found == 0 { real::wcslen(s) } else { (found - s) / 4 } + 1, c, true);
        found
    }
    fn wcsrchr(s: u64, c: u32) -> u64 {
        let s = s.pin();
        decide_search(s, real::wcslen(s) + 1, c, true);
        real::wcsrchr(s, c.val as u32)
    }
    fn wmemchr(s: u64, c: u32, n: u64) -> u64 {
        check_fits(n.mul(V::new(64, 4)), s.val);
        let (s, n) = (s.pin(), n.pin());
        let found = real::wmemchr(s, c.val as u32, n);
        decide_search(s, if found == 0 { n } else { (found - s) / 4 + 1 }, c, false);
        found
    }

    fn wcscmp(a: u64, b: u64) -> i32 {
        compare(a.pin(), b.pin(), u64::MAX, true)
    }
    fn wcsncmp(a: u64, b: u64, n: u64) -> i32 {
        compare(a.pin(), b.pin(), n.pin(), true)
    }
    fn wmemcmp(a: u64, b: u64, n: u64) -> i32 {
        check_fits(n.mul(V::new(64, 4)), a.val);
        compare(a.pin(), b.pin(), n.pin(), false)
    }

    fn wmemcpy(dst: u64, src: u64, n: u64) -> u64 {
        check_fits(n.mul(V::new(64, 4)), dst.val);
        let (d, s, n) = (dst.pin(), src.pin(), n.pin());
        let out = real::wmemcpy(d, s, n);
        copy(d, s, 4 * n);
        out
    }
    fn wmemmove(dst: u64, src: u64, n: u64) -> u64 {
        check_fits(n.mul(V::new(64, 4)), dst.val);
        let (d, s, n) = (dst.pin(), src.pin(), n.pin());
        let out = real::wmemmove(d, s, n);
        copy(d, s, 4 * n);
        out
    }
    fn wmemset(dst: u64, c: u32, n: u64) -> u64 {
        check_fits(n.mul(V::new(64, 4)), dst.val);
        let (d, n) = (dst.pin(), n.pin());
        let out = real::wmemset(d, c.val as u32, n);
        if c.label == 0 {
            clear(d, 4 * n);
        } else {
            (0..n).for_each(|i| shadow::store(d + 4 * i, c.label, 32));
        }
        out
    }
}

/// # Safety
/// `s` is a wide string.
unsafe fn length(s: u64) -> u64 {
    // Safety: the caller guarantees it.
    let n = unsafe { real::wcslen(s) };
    decide_length(s, n + 1);
    n
}

/// # Safety
/// `s` is a wide string or has `most` characters.
unsafe fn length_within(s: u64, most: u64) -> u64 {
    // Safety: the caller guarantees it.
    let n = unsafe { real::wcsnlen(s, most) };
    decide_length(s, if n < most { n + 1 } else { n });
    n
}

fn decide_length(s: u64, examined: u64) {
    if !is_clean(s, 4 * examined) {
        (0..examined).for_each(|i| {
            decide_end(V::load(s + 4 * i, 32));
        });
    }
}

/// Labels a copy of `n` characters, with zeros after them up to `all`.
fn label_copy(d: u64, s: u64, n: u64, all: u64) {
    copy(d, s, 4 * n);
    clear(d + 4 * n, 4 * (all - n));
}

/// Decisions of a search for `c` over `n` characters; of a string also on its end.
fn decide_search(s: u64, n: u64, c: V, string: bool) {
    if c.label == 0 && is_clean(s, 4 * n) {
        return;
    }
    for i in 0..n {
        let b = V::load(s + 4 * i, 32);
        b.eq(c).decide();
        if string {
            decide_end(b);
        }
    }
}

/// -1, 0 or 1, as in glibc; wide characters are signed.
fn compare(a: u64, b: u64, n: u64, strings: bool) -> V {
    for i in 0..n {
        let (x, y) = (V::load(a + 4 * i, 32), V::load(b + 4 * i, 32));
        if !x.eq(y).decide() {
            return x.slt(y).choose((-1).into(), 1.into());
        }
        if strings && decide_end(x) {
            break;
        }
    }
    V::new(32, 0)
}
