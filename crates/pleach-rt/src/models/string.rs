//! Strings that are measured and copied.
//!
//! How long a string is, is decided byte by byte: "not the end" for each
//! labelled byte and "the end" for a labelled terminator. What follows from the
//! length is then concrete, and labels move with the characters. Only where a hole of
//! the input lies in the string is the length an expression over the hole's (see
//! `symbolic/holes`); then the room that a copy needs is checked as well.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy};
use super::compare::plain_collation;
use super::define::models;
use super::text::{fits, fits_room, length, measured, measured_within, pin_bytes};
use crate::symbolic::{holes, objects};

mod real {
    unsafe extern "C" {
        pub fn strcpy(dst: u64, src: u64) -> u64;
        pub fn stpcpy(dst: u64, src: u64) -> u64;
        pub fn strncpy(dst: u64, src: u64, n: u64) -> u64;
        pub fn stpncpy(dst: u64, src: u64, n: u64) -> u64;
        pub fn strcat(dst: u64, src: u64) -> u64;
        pub fn strncat(dst: u64, src: u64, n: u64) -> u64;
        pub fn strdup(src: u64) -> u64;
        pub fn strndup(src: u64, n: u64) -> u64;
        pub fn strxfrm(dst: u64, src: u64, n: u64) -> u64;
        pub fn __strcpy_chk(dst: u64, src: u64, room: u64) -> u64;
        pub fn __stpcpy_chk(dst: u64, src: u64, room: u64) -> u64;
        pub fn __strncpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64;
        pub fn __stpncpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64;
        pub fn __strcat_chk(dst: u64, src: u64, room: u64) -> u64;
        pub fn __strncat_chk(dst: u64, src: u64, n: u64, room: u64) -> u64;
    }
}

models! {
    fn strlen(s: u64) -> u64 {
        measured(s.pin())
    }
    fn strnlen(s: u64, n: u64) -> u64 {
        fits(n, s.val);
        n.pin();
        measured_within(s.pin(), n)
    }

    fn strcpy(dst: u64, src: u64) -> u64 {
        copied(dst, src, |d, s| real::strcpy(d, s))
    }
    fn stpcpy(dst: u64, src: u64) -> u64 {
        copied_to_end(dst, src, |d, s| real::stpcpy(d, s))
    }
    fn __stpcpy(dst: u64, src: u64) -> u64 {
        copied_to_end(dst, src, |d, s| real::stpcpy(d, s))
    }
    fn __strcpy_chk(dst: u64, src: u64, room: u64) -> u64 {
        copied(dst, src, |d, s| real::__strcpy_chk(d, s, room.val))
    }
    fn __stpcpy_chk(dst: u64, src: u64, room: u64) -> u64 {
        copied_to_end(dst, src, |d, s| real::__stpcpy_chk(d, s, room.val))
    }

    fn strncpy(dst: u64, src: u64, n: u64) -> u64 {
        padded(dst, src, n, |d, s, n| real::strncpy(d, s, n))
    }
    fn stpncpy(dst: u64, src: u64, n: u64) -> u64 {
        padded(dst, src, n, |d, s, n| real::stpncpy(d, s, n))
    }
    fn __strncpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        fits_room(n, room);
        padded(dst, src, n, |d, s, n| real::__strncpy_chk(d, s, n, room.val))
    }
    fn __stpncpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        fits_room(n, room);
        padded(dst, src, n, |d, s, n| real::__stpncpy_chk(d, s, n, room.val))
    }

    fn strcat(dst: u64, src: u64) -> u64 {
        appended(dst, src, V::new(64, u64::MAX), |d, s, _| real::strcat(d, s))
    }
    fn strncat(dst: u64, src: u64, n: u64) -> u64 {
        appended(dst, src, n, |d, s, n| real::strncat(d, s, n))
    }
    fn __strcat_chk(dst: u64, src: u64, room: u64) -> u64 {
        appended(dst, src, V::new(64, u64::MAX), |d, s, _| real::__strcat_chk(d, s, room.val))
    }
    fn __strncat_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        fits_room(n, room);
        appended(dst, src, n, |d, s, n| real::__strncat_chk(d, s, n, room.val))
    }

    fn strdup(src: u64) -> u64 {
        let s = src.pin();
        duplicate(s, measured(s), real::strdup(s))
    }
    fn __strdup(src: u64) -> u64 {
        let s = src.pin();
        duplicate(s, measured(s), real::strdup(s))
    }
    fn strndup(src: u64, n: u64) -> u64 {
        let (s, most) = (src.pin(), n.pin());
        duplicate(s, measured_within(s, n), real::strndup(s, most))
    }
    fn __strndup(src: u64, n: u64) -> u64 {
        let (s, most) = (src.pin(), n.pin());
        duplicate(s, measured_within(s, n), real::strndup(s, most))
    }

    /// In the C locale a copy; elsewhere a rewriting that has no expression.
    fn strxfrm(dst: u64, src: u64, n: u64) -> u64 {
        fits(n, dst.val);
        let (d, s, n) = (dst.pin(), src.pin(), n.pin());
        let len = length(s);
        let plain = plain_collation();
        if !plain {
            pin_bytes(s, len);
        }
        let wrote = real::strxfrm(d, s, n);
        let kept = wrote.saturating_add(1).min(n);
        if plain {
            copy(d, s, len.min(n));
            clear(d + len.min(n), kept - len.min(n));
        } else {
            clear(d, kept);
        }
        wrote
    }
}

/// A whole string goes to `dst`; its terminator arrives unlabelled.
unsafe fn copied(dst: V, src: V, real: impl FnOnce(u64, u64) -> u64) -> u64 {
    let (d, s) = (dst.pin(), src.pin());
    // Safety: the caller's.
    let len = unsafe { measured(s) };
    fits(len.add(ONE), d);
    let (n, out) = (len.val, real(d, s));
    copy(d, s, n);
    clear(d + n, 1);
    out
}

/// The same, for functions that return where the terminator went.
unsafe fn copied_to_end(dst: V, src: V, real: impl FnOnce(u64, u64) -> u64) -> V {
    // Safety: the caller's.
    let end = unsafe { copied(dst, src, real) };
    holes::beside(V::new(64, end), dst.val, end.wrapping_sub(dst.val))
}

/// A terminator.
const ONE: V = V::new(64, 1);

/// Exactly `n` bytes are written, zeros behind a shorter string.
unsafe fn padded(dst: V, src: V, n: V, real: impl FnOnce(u64, u64, u64) -> u64) -> u64 {
    fits(n, dst.val);
    let (d, s, most) = (dst.pin(), src.pin(), n.pin());
    // Safety: the caller's.
    let len = unsafe { measured_within(s, n) }.val;
    let out = real(d, s, most);
    copy(d, s, len);
    clear(d + len, most - len);
    out
}

unsafe fn appended(dst: V, src: V, n: V, real: impl FnOnce(u64, u64, u64) -> u64) -> u64 {
    let (d, s, most) = (dst.pin(), src.pin(), n.pin());
    // Safety: the caller's.
    let (had, len) = unsafe { (measured(d), measured_within(s, n)) };
    fits(had.add(len).add(ONE), d);
    let (at, len) = (d + had.val, len.val);
    let out = real(d, s, most);
    copy(at, s, len);
    clear(at + len, 1);
    out
}

/// A new object got a copy of `len` bytes and a terminator.
fn duplicate(src: u64, len: V, new: u64) -> u64 {
    let (size, len) = (len.add(ONE), len.val);
    if new != 0 {
        objects::heap(new, Some(len + 1));
        objects::sized(new, size.label);
        copy(new, src, len);
        clear(new + len, 1);
    }
    new
}
