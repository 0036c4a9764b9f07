//! Lengths and copies of strings: `strlen`, `strcpy`, `strdup` and their relatives.
//!
//! The length of a string is decided byte by byte: "not the end" for each labelled byte, and
//! "the end" for a labelled terminator. After that the length is concrete, and a copy copies
//! the labels of the characters. If a hole of the input lies in the string, the length is an
//! expression over the length of the hole (see `symbolic/holes`). Then the room that a copy
//! needs is checked, too.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy};
use super::compare::collates_by_bytes;
use super::define::models;
use super::text::{
    check_fits, check_fits_room, length, pin_bytes, symbolic_length, symbolic_length_within,
};
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
        symbolic_length(s.pin())
    }
    fn strnlen(s: u64, n: u64) -> u64 {
        check_fits(n, s.val);
        n.pin();
        symbolic_length_within(s.pin(), n)
    }

    fn strcpy(dst: u64, src: u64) -> u64 {
        copy_string(dst, src, |d, s| real::strcpy(d, s))
    }
    fn stpcpy(dst: u64, src: u64) -> u64 {
        copy_string_to_end(dst, src, |d, s| real::stpcpy(d, s))
    }
    fn __stpcpy(dst: u64, src: u64) -> u64 {
        copy_string_to_end(dst, src, |d, s| real::stpcpy(d, s))
    }
    fn __strcpy_chk(dst: u64, src: u64, room: u64) -> u64 {
        copy_string(dst, src, |d, s| real::__strcpy_chk(d, s, room.val))
    }
    fn __stpcpy_chk(dst: u64, src: u64, room: u64) -> u64 {
        copy_string_to_end(dst, src, |d, s| real::__stpcpy_chk(d, s, room.val))
    }

    fn strncpy(dst: u64, src: u64, n: u64) -> u64 {
        copy_padded(dst, src, n, |d, s, n| real::strncpy(d, s, n))
    }
    fn stpncpy(dst: u64, src: u64, n: u64) -> u64 {
        copy_padded(dst, src, n, |d, s, n| real::stpncpy(d, s, n))
    }
    fn __strncpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        check_fits_room(n, room);
        copy_padded(dst, src, n, |d, s, n| real::__strncpy_chk(d, s, n, room.val))
    }
    fn __stpncpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        check_fits_room(n, room);
        copy_padded(dst, src, n, |d, s, n| real::__stpncpy_chk(d, s, n, room.val))
    }

    fn strcat(dst: u64, src: u64) -> u64 {
        append(dst, src, V::new(64, u64::MAX), |d, s, _| real::strcat(d, s))
    }
    fn strncat(dst: u64, src: u64, n: u64) -> u64 {
        append(dst, src, n, |d, s, n| real::strncat(d, s, n))
    }
    fn __strcat_chk(dst: u64, src: u64, room: u64) -> u64 {
        append(dst, src, V::new(64, u64::MAX), |d, s, _| real::__strcat_chk(d, s, room.val))
    }
    fn __strncat_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        check_fits_room(n, room);
        append(dst, src, n, |d, s, n| real::__strncat_chk(d, s, n, room.val))
    }

    fn strdup(src: u64) -> u64 {
        let s = src.pin();
        label_duplicate(s, symbolic_length(s), real::strdup(s))
    }
    fn __strdup(src: u64) -> u64 {
        let s = src.pin();
        label_duplicate(s, symbolic_length(s), real::strdup(s))
    }
    fn strndup(src: u64, n: u64) -> u64 {
        let (s, most) = (src.pin(), n.pin());
        label_duplicate(s, symbolic_length_within(s, n), real::strndup(s, most))
    }
    fn __strndup(src: u64, n: u64) -> u64 {
        let (s, most) = (src.pin(), n.pin());
        label_duplicate(s, symbolic_length_within(s, n), real::strndup(s, most))
    }

    /// In the C locale this is a copy. In others the text changes, and has no expression.
    fn strxfrm(dst: u64, src: u64, n: u64) -> u64 {
        check_fits(n, dst.val);
        let (d, s, n) = (dst.pin(), src.pin(), n.pin());
        let len = length(s);
        let plain = collates_by_bytes();
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

/// Copies a whole string to `dst`; its terminator gets no label.
///
/// # Safety
/// As `strcpy`.
unsafe fn copy_string(dst: V, src: V, real: impl FnOnce(u64, u64) -> u64) -> u64 {
    let (d, s) = (dst.pin(), src.pin());
    // Safety: the caller guarantees it.
    let len = unsafe { symbolic_length(s) };
    check_fits(len.add(ONE), d);
    let (n, out) = (len.val, real(d, s));
    copy(d, s, n);
    clear(d + n, 1);
    out
}

/// As [`copy_string`], for functions that return the address of the terminator.
///
/// # Safety
/// As `stpcpy`.
unsafe fn copy_string_to_end(dst: V, src: V, real: impl FnOnce(u64, u64) -> u64) -> V {
    // Safety: the caller guarantees it.
    let end = unsafe { copy_string(dst, src, real) };
    holes::address_with_holes(V::new(64, end), dst.val, end.wrapping_sub(dst.val))
}

/// The size of a terminator.
const ONE: V = V::new(64, 1);

/// Writes exactly `n` bytes, with zeros after a shorter string.
///
/// # Safety
/// As `strncpy`.
unsafe fn copy_padded(dst: V, src: V, n: V, real: impl FnOnce(u64, u64, u64) -> u64) -> u64 {
    check_fits(n, dst.val);
    let (d, s, most) = (dst.pin(), src.pin(), n.pin());
    // Safety: the caller guarantees it.
    let len = unsafe { symbolic_length_within(s, n) }.val;
    let out = real(d, s, most);
    copy(d, s, len);
    clear(d + len, most - len);
    out
}

/// Appends at most `n` bytes of a string.
///
/// # Safety
/// As `strncat`.
unsafe fn append(dst: V, src: V, n: V, real: impl FnOnce(u64, u64, u64) -> u64) -> u64 {
    let (d, s, most) = (dst.pin(), src.pin(), n.pin());
    // Safety: the caller guarantees it.
    let (had, len) = unsafe { (symbolic_length(d), symbolic_length_within(s, n)) };
    check_fits(had.add(len).add(ONE), d);
    let (at, len) = (d + had.val, len.val);
    let out = real(d, s, most);
    copy(at, s, len);
    clear(at + len, 1);
    out
}

/// Labels a new object with a copy of `len` bytes and a terminator.
fn label_duplicate(src: u64, len: V, new: u64) -> u64 {
    let (size, len) = (len.add(ONE), len.val);
    if new != 0 {
        objects::set_heap_object(new, Some(len + 1));
        objects::set_size_label(new, size.label);
        copy(new, src, len);
        clear(new + len, 1);
    }
    new
}
