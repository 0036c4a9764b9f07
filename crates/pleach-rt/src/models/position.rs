//! Positions of streams, and what becomes of a stream's buffer: seeking moves
//! or refills it, closing gives it up.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::models;
use super::file::File;
use super::source;
use crate::symbolic::holes;

mod real {
    unsafe extern "C" {
        pub fn fseeko(fp: u64, to: i64, whence: i32) -> i32;
        pub fn ftello(fp: u64) -> i64;
        pub fn rewind(fp: u64);
        pub fn fgetpos(fp: u64, to: u64) -> i32;
        pub fn fsetpos(fp: u64, from: u64) -> i32;
        pub fn setvbuf(fp: u64, buffer: u64, mode: i32, n: u64) -> i32;
        pub fn fclose(fp: u64) -> i32;
        pub fn freopen(path: u64, mode: u64, fp: u64) -> u64;
    }
}

models! {
    fn fseek(fp: u64, to: i64, whence: i32) -> i32 {
        seeking(fp, to, whence)
    }
    fn fseeko(fp: u64, to: i64, whence: i32) -> i32 {
        seeking(fp, to, whence)
    }
    fn fseeko64(fp: u64, to: i64, whence: i32) -> i32 {
        seeking(fp, to, whence)
    }
    fn rewind(fp: u64) {
        let fp = File(fp.pin());
        let src = standing(fp);
        real::rewind(fp.0);
        moved(fp, src, 0, SEEK_SET, 0);
    }
    fn ftell(fp: u64) -> i64 {
        telling(fp)
    }
    fn ftello(fp: u64) -> i64 {
        telling(fp)
    }
    fn ftello64(fp: u64) -> i64 {
        telling(fp)
    }
    fn fgetpos(fp: u64, to: u64) -> i32 {
        position(fp, to)
    }
    fn fgetpos64(fp: u64, to: u64) -> i32 {
        position(fp, to)
    }
    fn fsetpos(fp: u64, from: u64) -> i32 {
        back_to(fp, from)
    }
    fn fsetpos64(fp: u64, from: u64) -> i32 {
        back_to(fp, from)
    }

    fn setvbuf(fp: u64, buffer: u64, mode: i32, n: u64) -> i32 {
        let fp = File(fp.pin());
        let (base, end) = (fp.inside().buf_base, fp.inside().buf_end);
        let out = real::setvbuf(fp.0, buffer.pin(), mode.pin() as i32, n.pin());
        if fp.inside().buf_base != base {
            clear(base, end.saturating_sub(base));
        }
        out
    }
    fn fclose(fp: u64) -> i32 {
        let fp = File(fp.pin());
        fp.forget();
        real::fclose(fp.0)
    }
    fn freopen(path: u64, mode: u64, fp: u64) -> u64 {
        File(fp.pin()).forget();
        real::freopen(path.pin(), mode.pin(), fp.val)
    }
    fn freopen64(path: u64, mode: u64, fp: u64) -> u64 {
        File(fp.pin()).forget();
        real::freopen(path.pin(), mode.pin(), fp.val)
    }
}

const SEEK_SET: i32 = 0;

/// The source with the position of the stream itself, in front of the buffer.
fn standing(fp: File) -> Option<source::Source> {
    let ahead: u64 = fp.parts().iter().map(|p| p.1).sum();
    fp.source().map(|s| s.back(ahead))
}

/// # Safety
/// As `fseek`.
unsafe fn seeking(fp: V, to: V, whence: V) -> i32 {
    let (fp, to, whence) = (File(fp.pin()), to.pin() as i64, whence.pin() as i32);
    let src = standing(fp);
    // Safety: the caller's.
    let out = unsafe { real::fseeko(fp.0, to, whence) };
    moved(fp, src, to, whence, out);
    out
}

/// After a seek: the buffer may hold another part of the file.
fn moved(fp: File, src: Option<source::Source>, to: i64, whence: i32, out: i32) {
    if let Some(src) = src.filter(|_| out == 0) {
        // Where it arrived is told by `ftell`.
        src.sought(to, whence, 0);
        fp.relabel();
    }
}

/// # Safety
/// As `ftell`.
unsafe fn telling(fp: V) -> V {
    let fp = File(fp.pin());
    // Safety: the caller's.
    let now = unsafe { real::ftello(fp.0) };
    match standing(fp) {
        Some(src) if now >= 0 && src.at_end() => source::length(src.stream),
        Some(_) if now >= 0 && holes::on() => holes::position(now as u64),
        _ => V::new(64, now as u64),
    }
}

/// # Safety
/// As `fgetpos`.
unsafe fn position(fp: V, to: V) -> i32 {
    // `fpos_t` is a position and a conversion state, 16 bytes.
    clear(to.val, 16);
    // Safety: the caller's.
    unsafe { real::fgetpos(fp.pin(), to.pin()) }
}

/// # Safety
/// As `fsetpos`.
unsafe fn back_to(fp: V, from: V) -> i32 {
    let (fp, place) = (File(fp.pin()), V::load(from.val, 64).pin() as i64);
    let src = standing(fp);
    // Safety: the caller's.
    let out = unsafe { real::fsetpos(fp.0, from.pin()) };
    moved(fp, src, place, SEEK_SET, out);
    out
}
