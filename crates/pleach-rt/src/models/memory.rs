//! Blocks of memory: copying, filling, and searching.
//!
//! A copy also copies the labels. A search decides on every labelled byte that it examines,
//! so that the decisions imply where it stopped. The fortified forms (`__memcpy_chk`, …) do
//! the same, but call the real fortified function, which may end the program.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy, is_clean};
use super::define::models;
use super::search;
use super::text::{check_fits, check_fits_room, for_each_labelled};
use crate::symbolic::tls::tls;
use crate::symbolic::{calls, holes, objects};

mod real {
    unsafe extern "C" {
        pub fn memcpy(dst: u64, src: u64, n: u64) -> u64;
        pub fn memmove(dst: u64, src: u64, n: u64) -> u64;
        pub fn memset(dst: u64, c: i32, n: u64) -> u64;
        pub fn explicit_bzero(dst: u64, n: u64);
        pub fn swab(src: u64, dst: u64, n: i64);
        pub fn memccpy(dst: u64, src: u64, c: i32, n: u64) -> u64;
        pub fn memchr(s: u64, c: i32, n: u64) -> u64;
        pub fn memrchr(s: u64, c: i32, n: u64) -> u64;
        pub fn rawmemchr(s: u64, c: i32) -> u64;
        pub fn memmem(h: u64, hn: u64, n: u64, nn: u64) -> u64;
        pub fn __memcpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64;
        pub fn __memmove_chk(dst: u64, src: u64, n: u64, room: u64) -> u64;
        pub fn __mempcpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64;
        pub fn __memset_chk(dst: u64, c: i32, n: u64, room: u64) -> u64;
        pub fn __explicit_bzero_chk(dst: u64, n: u64, room: u64);
    }
}

models! {
    fn memcpy(dst: u64, src: u64, n: u64) -> u64 {
        copy_block(dst, src, n, |d, s, n| real::memcpy(d, s, n))
    }
    fn memmove(dst: u64, src: u64, n: u64) -> u64 {
        copy_block(dst, src, n, |d, s, n| real::memmove(d, s, n))
    }
    fn mempcpy(dst: u64, src: u64, n: u64) -> u64 {
        copy_block(dst, src, n, |d, s, n| real::memcpy(d, s, n));
        end_of_copy(dst, n)
    }
    fn __mempcpy(dst: u64, src: u64, n: u64) -> u64 {
        copy_block(dst, src, n, |d, s, n| real::memcpy(d, s, n));
        end_of_copy(dst, n)
    }
    fn bcopy(src: u64, dst: u64, n: u64) {
        copy_block(dst, src, n, |d, s, n| real::memmove(d, s, n));
    }
    fn __memcpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        check_fits_room(n, room);
        copy_block(dst, src, n, |d, s, n| real::__memcpy_chk(d, s, n, room.val))
    }
    fn __memmove_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        check_fits_room(n, room);
        copy_block(dst, src, n, |d, s, n| real::__memmove_chk(d, s, n, room.val))
    }
    fn __mempcpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        check_fits_room(n, room);
        copy_block(dst, src, n, |d, s, n| real::__mempcpy_chk(d, s, n, room.val));
        end_of_copy(dst, n)
    }

    fn memset(dst: u64, c: i32, n: u64) -> u64 {
        fill_block(dst, c, n, |d, c, n| real::memset(d, c, n))
    }
    fn __memset_chk(dst: u64, c: i32, n: u64, room: u64) -> u64 {
        check_fits_room(n, room);
        fill_block(dst, c, n, |d, c, n| real::__memset_chk(d, c, n, room.val))
    }
    fn bzero(dst: u64, n: u64) {
        fill_block(dst, V::new(32, 0), n, |d, c, n| real::memset(d, c, n));
    }
    fn explicit_bzero(dst: u64, n: u64) {
        fill_block(dst, V::new(32, 0), n, |d, _, n| { real::explicit_bzero(d, n); d });
    }
    fn __explicit_bzero_chk(dst: u64, n: u64, room: u64) {
        check_fits_room(n, room);
        fill_block(dst, V::new(32, 0), n, |d, _, n| {
            real::__explicit_bzero_chk(d, n, room.val);
            d
        });
    }

    /// Swaps the bytes of each pair; an odd last byte is not copied.
    fn swab(src: u64, dst: u64, n: i64) {
        check_fits(n, dst.val);
        let (s, d, n) = (src.pin(), dst.pin(), n.pin() as i64);
        real::swab(s, d, n);
        for at in (0..(n & !1).max(0) as u64).step_by(2) {
            copy(d + at, s + at + 1, 1);
            copy(d + at + 1, s + at, 1);
        }
    }

    /// Copies up to the first `c`, including it.
    fn memccpy(dst: u64, src: u64, c: i32, n: u64) -> u64 {
        check_fits(n, dst.val);
        let (d, s, n) = (dst.pin(), src.pin(), n.pin());
        let end = real::memccpy(d, s, c.val as i32, n);
        let copied = if end == 0 { n } else { end - d };
        decide_search(s, copied, c);
        copy(d, s, copied);
        end
    }

    fn memchr(s: u64, c: i32, n: u64) -> u64 {
        check_fits(n, s.val);
        s.pin();
        let n = n.pin();
        let found = real::memchr(s.val, c.val as i32, n);
        decide_search(s.val, if found == 0 { n } else { found - s.val + 1 }, c);
        search::place_found(s, found)
    }
    fn rawmemchr(s: u64, c: i32) -> u64 {
        find_raw(s, c)
    }
    fn __rawmemchr(s: u64, c: i32) -> u64 {
        find_raw(s, c)
    }
    fn memrchr(s: u64, c: i32, n: u64) -> u64 {
        check_fits(n, s.val);
        s.pin();
        let n = n.pin();
        let found = real::memrchr(s.val, c.val as i32, n);
        let from = if found == 0 { s.val } else { found };
        decide_search_backwards(from, s.val + n - from, c);
        search::place_found(s, found)
    }
    fn memmem(h: u64, hn: u64, n: u64, nn: u64) -> u64 {
        check_fits(hn, h.val);
        check_fits(nn, n.val);
        let (h, hn, n, nn) = (h.pin(), hn.pin(), n.pin(), nn.pin());
        let found = real::memmem(h, hn, n, nn);
        if !is_clean(n, nn) || !is_clean(h, hn) {
            search::decide_block_search(h, hn, n, nn, found);
        }
        found
    }
}

/// A copy, with its labels.
#[inline(always)]
fn copy_block(dst: V, src: V, n: V, real: impl FnOnce(u64, u64, u64) -> u64) -> u64 {
    if n.label != 0 {
        check_fits(n, dst.val);
        check_fits(n, src.val);
    }
    let (d, s, n) = (dst.pin(), src.val, n.pin());
    if src.label == 0 {
        let out = real(d, s, n);
        copy(d, s, n);
        return out;
    }
    // Examines the bytes at the source before they are overwritten.
    objects::copy_from(tls().site, src.label, d, s, n.min(u32::MAX.into()), 0);
    real(d, s, n)
}

/// The address after a copy. With holes, a labelled size is part of the expression.
fn end_of_copy(dst: V, n: V) -> V {
    if holes::are_on() { dst.add(n) } else { V::new(64, dst.val + n.val) }
}

#[inline(always)]
fn fill_block(dst: V, c: V, n: V, real: impl FnOnce(u64, i32, u64) -> u64) -> u64 {
    check_fits(n, dst.val);
    let (d, n) = (dst.pin(), n.pin());
    let out = real(d, c.val as i32, n);
    if c.label == 0 {
        clear(d, n);
    } else {
        calls::fill(d, c.trunc(8).label, n);
    }
    out
}

/// # Safety
/// As `rawmemchr`.
unsafe fn find_raw(s: V, c: V) -> V {
    s.pin();
    // Safety: the caller guarantees it.
    let found = unsafe { real::rawmemchr(s.val, c.val as i32) };
    decide_search(s.val, found - s.val + 1, c);
    search::place_found(s, found)
}

/// Decisions of a search for `c` that examined `n` bytes from `s` on.
fn decide_search(s: u64, n: u64, c: V) {
    if c.label == 0 {
        return for_each_labelled(s, n, |i| {
            V::byte(s + i).eq(V::new(8, c.val)).decide();
        });
    }
    let c = c.trunc(8);
    for i in 0..n {
        V::byte(s + i).eq(c).decide();
    }
}

/// As [`decide_search`], from the last byte to the first.
fn decide_search_backwards(s: u64, n: u64, c: V) {
    if c.label == 0 && is_clean(s, n) {
        return;
    }
    let c = c.trunc(8);
    for i in (0..n).rev() {
        V::byte(s + i).eq(c).decide();
    }
}
