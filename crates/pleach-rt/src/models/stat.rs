//! `stat` and its relatives: the size of the input file is labelled as the length of its
//! stream. The model recognises the file by its device and inode, so every path of it works.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::models;
use super::source;
use crate::input;
use crate::symbolic::{channels, is_labelling};
use crate::sys::Stat;

mod real {
    unsafe extern "C" {
        pub fn stat(path: u64, to: u64) -> i32;
        pub fn lstat(path: u64, to: u64) -> i32;
        pub fn fstat(fd: i32, to: u64) -> i32;
        pub fn fstatat(dir: i32, path: u64, to: u64, flags: i32) -> i32;
        pub fn statx(dir: i32, path: u64, flags: i32, mask: u32, to: u64) -> i32;
    }
}

models! {
    fn stat(path: u64, to: u64) -> i32 {
        label_stat(real::stat(path.pin(), to.pin()), to.val)
    }
    fn stat64(path: u64, to: u64) -> i32 {
        label_stat(real::stat(path.pin(), to.pin()), to.val)
    }
    fn lstat(path: u64, to: u64) -> i32 {
        label_stat(real::lstat(path.pin(), to.pin()), to.val)
    }
    fn lstat64(path: u64, to: u64) -> i32 {
        label_stat(real::lstat(path.pin(), to.pin()), to.val)
    }
    fn fstat(fd: i32, to: u64) -> i32 {
        label_stat(real::fstat(fd.pin() as i32, to.pin()), to.val)
    }
    fn fstat64(fd: i32, to: u64) -> i32 {
        label_stat(real::fstat(fd.pin() as i32, to.pin()), to.val)
    }
    fn fstatat(dir: i32, path: u64, to: u64, flags: i32) -> i32 {
        let out = real::fstatat(dir.pin() as i32, path.pin(), to.pin(), flags.pin() as i32);
        label_stat(out, to.val)
    }
    fn fstatat64(dir: i32, path: u64, to: u64, flags: i32) -> i32 {
        let out = real::fstatat(dir.pin() as i32, path.pin(), to.pin(), flags.pin() as i32);
        label_stat(out, to.val)
    }
    /// Programs built with an older glibc call these. On x86-64 every version number means
    /// the same structure.
    fn __xstat(_version: i32, path: u64, to: u64) -> i32 {
        label_stat(real::stat(path.pin(), to.pin()), to.val)
    }
    fn __xstat64(_version: i32, path: u64, to: u64) -> i32 {
        label_stat(real::stat(path.pin(), to.pin()), to.val)
    }
    fn __lxstat(_version: i32, path: u64, to: u64) -> i32 {
        label_stat(real::lstat(path.pin(), to.pin()), to.val)
    }
    fn __lxstat64(_version: i32, path: u64, to: u64) -> i32 {
        label_stat(real::lstat(path.pin(), to.pin()), to.val)
    }
    fn __fxstat(_version: i32, fd: i32, to: u64) -> i32 {
        label_stat(real::fstat(fd.pin() as i32, to.pin()), to.val)
    }
    fn __fxstat64(_version: i32, fd: i32, to: u64) -> i32 {
        label_stat(real::fstat(fd.pin() as i32, to.pin()), to.val)
    }
    fn statx(dir: i32, path: u64, flags: i32, mask: u32, to: u64) -> i32 {
        let out = real::statx(
            dir.pin() as i32, path.pin(), flags.pin() as i32, mask.pin() as u32, to.pin());
        if out == 0 {
            let x = &*(to.val as *const Statx);
            clear(to.val, size_of::<Statx>() as u64);
            label_size(device_number(x.dev_major, x.dev_minor), x.ino, x.mode.into(), x.size, &raw const x.size);
        }
        out
    }
}

/// After a call that filled `struct stat` at `to`: sets its labels.
fn label_stat(out: i32, to: u64) -> i32 {
    if out == 0 {
        clear(to, size_of::<Stat>() as u64);
        // Safety: the kernel has just written it.
        let st = unsafe { &*(to as *const Stat) };
        label_size(st.dev, st.ino, st.mode, st.size as u64, (&raw const st.size).cast());
    }
    out
}

/// Labels the size at `at` if the file is the input, or if the program has written it.
fn label_size(dev: u64, ino: u64, mode: u32, size: u64, at: *const u64) {
    const REGULAR: u32 = 0o100_000;
    if !is_labelling() || mode & 0o170_000 != REGULAR {
        return;
    }
    let s = input::streams();
    let found = s.all[..s.len].iter().position(|x| x.ino == ino && x.dev == dev && x.len == size);
    let size = match found {
        Some(stream) => V { val: size, ..source::length(stream) },
        None => channels::size_of_file(dev, ino, size),
    };
    if size.label != 0 {
        size.store_label(at as u64);
    }
}

/// `struct statx`, with the fields that are used here.
#[repr(C)]
struct Statx {
    head: [u32; 7],
    mode: u16,
    pad: u16,
    ino: u64,
    size: u64,
    middle: [u64; 11],
    dev_major: u32,
    dev_minor: u32,
    tail: [u64; 14],
}

const _: () = assert!(core::mem::offset_of!(Statx, size) == 40);
const _: () = assert!(core::mem::offset_of!(Statx, dev_major) == 136);
const _: () = assert!(size_of::<Statx>() == 256);

/// A device number as in `struct stat`.
fn device_number(major: u32, minor: u32) -> u64 {
    let (major, minor) = (u64::from(major), u64::from(minor));
    minor & 0xff | (major & 0xfff) << 8 | (minor & !0xff) << 12 | (major & !0xfff) << 32
}
