//! Blocks of memory: copying, filling, and looking for bytes.
//!
//! Copies move labels with the bytes. A search decides on every labelled byte
//! that it passes, so that where it stopped is what the decisions say. The
//! fortified forms (`__memcpy_chk`, …) are the same with the real fortified
//! function behind them, which ends the program as it should.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear, copy, is_clean};
use super::define::models;
use super::search;
use super::text::{each_labelled, fits, fits_room};
use crate::symbolic::{calls, holes};

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
        moved(dst, src, n, |d, s, n| real::memcpy(d, s, n))
    }
    fn memmove(dst: u64, src: u64, n: u64) -> u64 {
        moved(dst, src, n, |d, s, n| real::memmove(d, s, n))
    }
    fn mempcpy(dst: u64, src: u64, n: u64) -> u64 {
        moved(dst, src, n, |d, s, n| real::memcpy(d, s, n));
        behind(dst, n)
    }
    fn __mempcpy(dst: u64, src: u64, n: u64) -> u64 {
        moved(dst, src, n, |d, s, n| real::memcpy(d, s, n));
        behind(dst, n)
    }
    fn bcopy(src: u64, dst: u64, n: u64) {
        moved(dst, src, n, |d, s, n| real::memmove(d, s, n));
    }
    fn __memcpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        fits_room(n, room);
        moved(dst, src, n, |d, s, n| real::__memcpy_chk(d, s, n, room.val))
    }
    fn __memmove_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        fits_room(n, room);
        moved(dst, src, n, |d, s, n| real::__memmove_chk(d, s, n, room.val))
    }
    fn __mempcpy_chk(dst: u64, src: u64, n: u64, room: u64) -> u64 {
        fits_room(n, room);
        moved(dst, src, n, |d, s, n| real::__mempcpy_chk(d, s, n, room.val));
        behind(dst, n)
    }

    fn memset(dst: u64, c: i32, n: u64) -> u64 {
        filled(dst, c, n, |d, c, n| real::memset(d, c, n))
    }
    fn __memset_chk(dst: u64, c: i32, n: u64, room: u64) -> u64 {
        fits_room(n, room);
        filled(dst, c, n, |d, c, n| real::__memset_chk(d, c, n, room.val))
    }
    fn bzero(dst: u64, n: u64) {
        filled(dst, V::new(32, 0), n, |d, c, n| real::memset(d, c, n));
    }
    fn explicit_bzero(dst: u64, n: u64) {
        filled(dst, V::new(32, 0), n, |d, _, n| { real::explicit_bzero(d, n); d });
    }
    fn __explicit_bzero_chk(dst: u64, n: u64, room: u64) {
        fits_room(n, room);
        filled(dst, V::new(32, 0), n, |d, _, n| {
            real::__explicit_bzero_chk(d, n, room.val);
            d
        });
    }

    /// Neighbours change places; an odd last byte stays behind.
    fn swab(src: u64, dst: u64, n: i64) {
        fits(n, dst.val);
        let (s, d, n) = (src.pin(), dst.pin(), n.pin() as i64);
        real::swab(s, d, n);
        for at in (0..(n & !1).max(0) as u64).step_by(2) {
            copy(d + at, s + at + 1, 1);
            copy(d + at + 1, s + at, 1);
        }
    }

    /// Copies up to and with the first `c`.
    fn memccpy(dst: u64, src: u64, c: i32, n: u64) -> u64 {
        fits(n, dst.val);
        let (d, s, n) = (dst.pin(), src.pin(), n.pin());
        let end = real::memccpy(d, s, c.val as i32, n);
        let copied = if end == 0 { n } else { end - d };
        passed(s, copied, c);
        copy(d, s, copied);
        end
    }

    fn memchr(s: u64, c: i32, n: u64) -> u64 {
        fits(n, s.val);
        s.pin();
        let n = n.pin();
        let found = real::memchr(s.val, c.val as i32, n);
        passed(s.val, if found == 0 { n } else { found - s.val + 1 }, c);
        search::onward(s, found)
    }
    fn rawmemchr(s: u64, c: i32) -> u64 {
        found_raw(s, c)
    }
    fn __rawmemchr(s: u64, c: i32) -> u64 {
        found_raw(s, c)
    }
    fn memrchr(s: u64, c: i32, n: u64) -> u64 {
        fits(n, s.val);
        s.pin();
        let n = n.pin();
        let found = real::memrchr(s.val, c.val as i32, n);
        let from = if found == 0 { s.val } else { found };
        passed_backwards(from, s.val + n - from, c);
        search::onward(s, found)
    }
    fn memmem(h: u64, hn: u64, n: u64, nn: u64) -> u64 {
        fits(hn, h.val);
        fits(nn, n.val);
        let (h, hn, n, nn) = (h.pin(), hn.pin(), n.pin(), nn.pin());
        let found = real::memmem(h, hn, n, nn);
        if !is_clean(n, nn) || !is_clean(h, hn) {
            search::block(h, hn, n, nn, found);
        }
        found
    }
}

/// A copy: labels move with the bytes.
#[inline(always)]
fn moved(dst: V, src: V, n: V, real: impl FnOnce(u64, u64, u64) -> u64) -> u64 {
    if n.label != 0 {
        fits(n, dst.val);
        fits(n, src.val);
    }
    let (d, s, n) = (dst.pin(), src.pin(), n.pin());
    let out = real(d, s, n);
    copy(d, s, n);
    out
}

/// What lies behind a copy. A size that is a length moves it.
fn behind(dst: V, n: V) -> V {
    if holes::on() { dst.add(n) } else { V::new(64, dst.val + n.val) }
}

#[inline(always)]
fn filled(dst: V, c: V, n: V, real: impl FnOnce(u64, i32, u64) -> u64) -> u64 {
    fits(n, dst.val);
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
unsafe fn found_raw(s: V, c: V) -> V {
    s.pin();
    // Safety: the caller's.
    let found = unsafe { real::rawmemchr(s.val, c.val as i32) };
    passed(s.val, found - s.val + 1, c);
    search::onward(s, found)
}

/// A search for `c` looked at `n` bytes from `s` on.
fn passed(s: u64, n: u64, c: V) {
    if c.label == 0 {
        return each_labelled(s, n, |i| {
            V::byte(s + i).eq(V::new(8, c.val)).decide();
        });
    }
    let c = c.trunc(8);
    for i in 0..n {
        V::byte(s + i).eq(c).decide();
    }
}

fn passed_backwards(s: u64, n: u64, c: V) {
    if c.label == 0 && is_clean(s, n) {
        return;
    }
    let c = c.trunc(8);
    for i in (0..n).rev() {
        V::byte(s + i).eq(c).decide();
    }
}
