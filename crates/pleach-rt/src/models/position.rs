//! Positions of streams, and the buffer of a stream: seeking moves or refills it, closing
//! frees it.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::models;
use super::file::File;
use super::{source, stream_way};
use crate::symbolic::{channels, holes};

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
        seek(fp, to, whence)
    }
    fn fseeko(fp: u64, to: i64, whence: i32) -> i32 {
        seek(fp, to, whence)
    }
    fn fseeko64(fp: u64, to: i64, whence: i32) -> i32 {
        seek(fp, to, whence)
    }
    fn rewind(fp: u64) {
        let fp = File(fp.pin());
        let src = source_at_stream(fp);
        stream_way::settle(fp);
    stream_way::note_move();
        real::rewind(fp.0);
        after_seek(fp, src, 0, SEEK_SET, 0);
    }
    fn ftell(fp: u64) -> i64 {
        tell(fp)
    }
    fn ftello(fp: u64) -> i64 {
        tell(fp)
    }
    fn ftello64(fp: u64) -> i64 {
        tell(fp)
    }
    fn fgetpos(fp: u64, to: u64) -> i32 {
        get_position(fp, to)
    }
    fn fgetpos64(fp: u64, to: u64) -> i32 {
        get_position(fp, to)
    }
    fn fsetpos(fp: u64, from: u64) -> i32 {
        set_position(fp, from)
    }
    fn fsetpos64(fp: u64, from: u64) -> i32 {
        set_position(fp, from)
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
        fp.clear_labels();
        let after = stream_way::close(fp);
        let out = real::fclose(fp.0);
        after();
        out
    }
    fn freopen(path: u64, mode: u64, fp: u64) -> u64 {
        stream_way::change(File(fp.pin()));
        File(fp.val).clear_labels();
        real::freopen(path.pin(), mode.pin(), fp.val)
    }
    fn freopen64(path: u64, mode: u64, fp: u64) -> u64 {
        stream_way::change(File(fp.pin()));
        File(fp.val).clear_labels();
        real::freopen(path.pin(), mode.pin(), fp.val)
    }
}

const SEEK_SET: i32 = 0;

/// The source at the position of the stream. (The descriptor is further on: its bytes up to
/// there are in the buffer.)
fn source_at_stream(fp: File) -> Option<source::Source> {
    let ahead: u64 = fp.parts().iter().map(|p| p.1).sum();
    fp.source().map(|s| s.back(ahead))
}

/// # Safety
/// As `fseek`.
unsafe fn seek(fp: V, to: V, whence: V) -> i32 {
    let (fp, to, whence) = (File(fp.pin()), to.pin() as i64, whence.pin() as i32);
    let src = source_at_stream(fp);
    stream_way::settle(fp);
    stream_way::note_move();
    // Safety: the caller guarantees it.
    let out = unsafe { real::fseeko(fp.0, to, whence) };
    after_seek(fp, src, to, whence, out);
    out
}

/// After a seek: the buffer may hold another part of the file.
fn after_seek(fp: File, src: Option<source::Source>, to: i64, whence: i32, out: i32) {
    if src.is_none() && out == 0 {
        const SEEK_END: i32 = 2;
        if whence == SEEK_END {
            channels::pin_size(fp.inside().fileno);
        }
        fp.relabel_arrived();
    }
    if let Some(src) = src.filter(|_| out == 0) {
        // The position is of no interest here: `ftell` returns it.
        src.position_after_seek(to, whence, 0);
        fp.relabel();
    }
}

/// # Safety
/// As `ftell`.
unsafe fn tell(fp: V) -> V {
    let fp = File(fp.pin());
    // Safety: the caller guarantees it.
    let now = unsafe { real::ftello(fp.0) };
    match source_at_stream(fp) {
        Some(src) if now >= 0 && src.is_at_end() => source::length(src.stream),
        Some(_) if now >= 0 && holes::are_on() => holes::position(now as u64),
        _ => V::new(64, now as u64),
    }
}

/// # Safety
/// As `fgetpos`.
unsafe fn get_position(fp: V, to: V) -> i32 {
    // `fpos_t` is a position and a conversion state, 16 bytes.
    clear(to.val, 16);
    // Safety: the caller guarantees it.
    unsafe { real::fgetpos(fp.pin(), to.pin()) }
}

/// # Safety
/// As `fsetpos`.
unsafe fn set_position(fp: V, from: V) -> i32 {
    let (fp, place) = (File(fp.pin()), V::load(from.val, 64).pin() as i64);
    let src = source_at_stream(fp);
    stream_way::settle(fp);
    stream_way::note_move();
    // Safety: the caller guarantees it.
    let out = unsafe { real::fsetpos(fp.0, from.pin()) };
    after_seek(fp, src, place, SEEK_SET, out);
    out
}
