//! Checksums of zlib: `crc32` and `adler32`.
//!
//! The result is an exact expression over the bytes, as if the library were instrumented, so
//! that a comparison with a field of the input can be met by computing the field. Other
//! libraries have functions of these names with other arguments. They are left alone: zlib's
//! own are recognised by their neighbours.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, is_clean};
use super::define::models;
use crate::symbolic::events::count_loss;
use crate::symbolic::objects;
use crate::sys::weak;
use pleach_abi::shm::Loss;

/// What each byte adds to a CRC-32.
static TABLE: [u32; 256] = make_table();

const fn make_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 != 0 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

/// The modulus of Adler-32, and how many bytes may be added before it must be taken.
const BASE: u64 = 65_521;
const BYTES_BEFORE_BASE: u64 = 5552;

type Function = unsafe extern "C" fn(u64, u64, u64) -> u64;

macro_rules! zlib {
    ($($name:ident beside $neighbour:literal: $sum:ident;)*) => {
        models! {$(
            fn $name(start: u64, buffer: u64, size: u64) -> u64 {
                let (own, neighbour) = (weak!(stringify!($name)), weak!($neighbour));
                call(start, buffer, size, (own, neighbour), $sum)
            }
        )*}
    };
}

zlib! {
    crc32_z beside "crc32_combine": crc;
    adler32_z beside "adler32_combine": adler;
}

macro_rules! zlib_of_int {
    ($($name:ident beside $neighbour:literal: $sum:ident;)*) => {
        models! {$(
            fn $name(start: u64, buffer: u64, size: u32) -> u64 {
                let (own, neighbour) = (weak!(stringify!($name)), weak!($neighbour));
                call(start, buffer, size.zext(64), (own, neighbour), $sum)
            }
        )*}
    };
}

zlib_of_int! {
    crc32 beside "crc32_combine": crc;
    adler32 beside "adler32_combine": adler;
}

/// # Safety
/// As the function of zlib, or as another function that is at the first address.
unsafe fn call(
    start: V,
    buffer: V,
    size: V,
    (own, neighbour): (usize, usize),
    sum: fn(V, u64, u64) -> V,
) -> V {
    if own != 0 {
        // Safety: the caller guarantees it.
        let val = unsafe {
            let own = core::mem::transmute::<usize, Function>(own);
            own(start.val, buffer.val, size.val)
        };
        let concrete = V::new(64, val);
        if neighbour == 0 {
            if start.label | buffer.label | size.label != 0 {
                count_loss(Loss::Model);
            }
            return concrete;
        }
        if buffer.val == 0 || (start.label == 0 && is_clean(buffer.val, size.val)) {
            return concrete;
        }
        let exact = sum(start.trunc(32), buffer.pin(), size.pin()).zext(64);
        if exact.val == val {
            return exact;
        }
        count_loss(Loss::Model);
        return concrete;
    }
    // The library was not linked, because nothing else needs it.
    match buffer.pin() {
        0 => sum(V::new(32, 0), 0, 0).zext(64),
        buffer => sum(start.trunc(32), buffer, size.pin()).zext(64),
    }
}

fn crc(start: V, buffer: u64, size: u64) -> V {
    if buffer == 0 {
        return V::new(32, 0);
    }
    let ones = V::new(32, 0xffff_ffff);
    let base = &raw const TABLE as u64;
    let object = objects::Object { base, size: 4 * 256, constant: true };
    objects::add(object);
    let mut crc = start.xor(ones);
    for at in buffer..buffer + size {
        let index = crc.trunc(8).xor(V::byte(at)).zext(64);
        let entry = V::new(32, TABLE[index.val as usize].into());
        let place = index.mul(V::new(64, 4)).add(V::new(64, base));
        let label = match place.label {
            0 => 0,
            label => objects::lookup(object, label, place.val, 32),
        };
        crc = V { label, ..entry }.xor(crc.shift_right(8));
    }
    crc.xor(ones)
}

fn adler(start: V, buffer: u64, size: u64) -> V {
    if buffer == 0 {
        return V::new(32, 1);
    }
    let base = V::new(32, BASE);
    let mut a = start.and(V::new(32, 0xffff));
    let mut b = start.shift_right(16);
    let mut added = 0;
    for at in buffer..buffer + size {
        a = a.add(V::byte(at).zext(32));
        b = b.add(a);
        added += 1;
        if added == BYTES_BEFORE_BASE {
            (a, b, added) = (a.remainder(base), b.remainder(base), 0);
        }
    }
    if added > 0 {
        (a, b) = (a.remainder(base), b.remainder(base));
    }
    b.mul(V::new(32, 1 << 16)).or(a)
}
