//! `mmap` of the input: the pages' bytes are the input's bytes.
//!
//! Past the end of the file a mapping reads as zeros, and nothing that the
//! program does there asks for the length. So a mapping that reaches past the
//! end pins the length, and one that does not only decides that the input is
//! long enough. Memory that is mapped or unmapped loses its labels.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::models;
use super::source;
use crate::input;
use crate::symbolic::{events, labelling, len_decision};
use crate::sys;
use pleach_abi::layout::{dirty_of, shadow_of};
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn mmap(addr: u64, n: u64, prot: i32, flags: i32, fd: i32, at: i64) -> u64;
        pub fn munmap(addr: u64, n: u64) -> i32;
    }
}

models! {
    fn mmap(addr: u64, n: u64, prot: i32, flags: i32, fd: i32, at: i64) -> u64 {
        mapping(addr, n, prot, flags, fd, at)
    }
    fn mmap64(addr: u64, n: u64, prot: i32, flags: i32, fd: i32, at: i64) -> u64 {
        mapping(addr, n, prot, flags, fd, at)
    }
    fn munmap(addr: u64, n: u64) -> i32 {
        let (addr, n) = (addr.pin(), n.pin());
        let out = real::munmap(addr, n);
        if out == 0 {
            forget(addr, n);
        }
        out
    }
}

const FAILED: u64 = u64::MAX;

/// # Safety
/// As `mmap`.
unsafe fn mapping(addr: V, n: V, prot: V, flags: V, fd: V, at: V) -> u64 {
    let (addr, n, prot, flags) = (addr.pin(), n.pin(), prot.pin() as i32, flags.pin() as i32);
    let (fd, at) = (fd.pin() as i32, at.pin());
    // Safety: the program's own request.
    let where_to = unsafe { real::mmap(addr, n, prot, flags, fd, at as i64) };
    if where_to == FAILED {
        return FAILED;
    }
    forget(where_to, n);
    let shared = flags & sys::MAP_SHARED as i32 != 0 && flags & sys::MAP_ANONYMOUS as i32 == 0;
    if shared && prot & sys::PROT_WRITE as i32 != 0 && labelling() {
        // What is stored there can be read elsewhere, and labels do not follow.
        events::loss(Loss::Channel);
    }
    if flags & sys::MAP_ANONYMOUS as i32 != 0 || prot & sys::PROT_READ as i32 == 0 {
        return where_to;
    }
    let Some(src) = source::at(fd, at) else { return where_to };
    let len = input::streams().all[src.stream].len;
    let seen = n.min(len.saturating_sub(at));
    src.label(where_to, 0, seen);
    len_decision(src.stream, at + n);
    if seen < n {
        source::length(src.stream).pin();
    }
    where_to
}

/// Drops the labels of a range. Of a large one whole pages of the dirty map
/// and the shadow go back to the kernel: looking at each would cost more than
/// the mapping did.
fn forget(addr: u64, n: u64) {
    const BLOCK: u64 = 1 << 20;
    let (from, to) = (addr.next_multiple_of(BLOCK), (addr + n) / BLOCK * BLOCK);
    if to <= from {
        return clear(addr, n);
    }
    const MADV_DONTNEED: u64 = 4;
    clear(addr, from - addr);
    sys::madvise(dirty_of(from), (to - from) >> 8, MADV_DONTNEED);
    sys::madvise(shadow_of(from), (to - from) * 4, MADV_DONTNEED);
    clear(to, addr + n - to);
}
