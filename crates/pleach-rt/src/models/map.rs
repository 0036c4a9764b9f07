//! `mmap` of the input: the bytes of the pages get the labels of the input.
//!
//! Past the end of the file a mapping reads as zeros, and the program reads these without a
//! decision on the length. So a mapping that reaches past the end pins the length. Any other
//! mapping records the decision that the input is long enough. Memory that is mapped or
//! unmapped loses its labels.
//!
//! A mapping of a file that the program has written gets the labels that were written. Memory
//! that is shared shares its labels (`channels/mapped`).
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::models;
use super::source;
use crate::input;
use crate::symbolic::{channels, decide_read_len, events, is_labelling};
use crate::sys;
use pleach_abi::layout::{dirty_of, shadow_of};
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn mmap(addr: u64, n: u64, prot: i32, flags: i32, fd: i32, at: i64) -> u64;
        pub fn munmap(addr: u64, n: u64) -> i32;
        pub fn shmat(id: i32, addr: u64, flags: i32) -> u64;
        pub fn shmdt(addr: u64) -> i32;
        pub fn shmctl(id: i32, command: i32, to: u64) -> i32;
    }
}

models! {
    fn mmap(addr: u64, n: u64, prot: i32, flags: i32, fd: i32, at: i64) -> u64 {
        map_memory(addr, n, prot, flags, fd, at)
    }
    fn mmap64(addr: u64, n: u64, prot: i32, flags: i32, fd: i32, at: i64) -> u64 {
        map_memory(addr, n, prot, flags, fd, at)
    }
    fn munmap(addr: u64, n: u64) -> i32 {
        let (addr, n) = (addr.pin(), n.pin());
        let out = real::munmap(addr, n);
        if out == 0 {
            drop_labels(addr, n);
        }
        out
    }
    fn shmat(id: i32, addr: u64, flags: i32) -> u64 {
        let id = id.pin() as i32;
        let mapped = real::shmat(id, addr.pin(), flags.pin() as i32);
        if mapped != FAILED && is_labelling() {
            let n = segment_size(id);
            drop_labels(mapped, n);
            if !channels::mapped::map_segment(id as u64, mapped, n) {
                events::count_loss(Loss::Channel);
            }
        }
        mapped
    }
    fn shmdt(addr: u64) -> i32 {
        let addr = addr.pin();
        let out = real::shmdt(addr);
        if out == 0 {
            channels::mapped::unmap(addr, channels::mapped::size_at(addr));
        }
        out
    }
}

/// The size of a segment of System V.
fn segment_size(id: i32) -> u64 {
    const IPC_STAT: i32 = 2;
    /// The place of the size in `struct shmid_ds`, which has 112 bytes.
    const SIZE_WORD: usize = 6;
    let mut status = [0u64; 14];
    // Safety: as large as the structure.
    let out = crate::sys::keep_errno(|| unsafe {
        real::shmctl(id, IPC_STAT, status.as_mut_ptr() as u64)
    });
    if out == 0 { status[SIZE_WORD] } else { 0 }
}

const FAILED: u64 = u64::MAX;

/// # Safety
/// As `mmap`.
unsafe fn map_memory(addr: V, n: V, prot: V, flags: V, fd: V, at: V) -> u64 {
    let (addr, n, prot, flags) = (addr.pin(), n.pin(), prot.pin() as i32, flags.pin() as i32);
    let (fd, at) = (fd.pin() as i32, at.pin());
    // Safety: the caller guarantees it.
    let mapped = unsafe { real::mmap(addr, n, prot, flags, fd, at as i64) };
    if mapped == FAILED {
        return FAILED;
    }
    drop_labels(mapped, n);
    let is_anonymous = flags & sys::MAP_ANONYMOUS as i32 != 0;
    let is_writable = prot & sys::PROT_WRITE as i32 != 0;
    if is_anonymous || !is_labelling() {
        return mapped;
    }
    let is_shared = flags & sys::MAP_SHARED as i32 != 0;
    let Some(src) = source::at(fd, at) else {
        if !is_shared && prot & sys::PROT_READ as i32 != 0 {
            label_written(fd, mapped, n, at);
        } else if is_shared && !channels::mapped::map_file(fd, mapped, n, at, is_writable) {
            events::count_loss(Loss::Channel);
        }
        return mapped;
    };
    if is_shared && is_writable {
        // What is stored there can be read through the file, without labels.
        events::count_loss(Loss::Channel);
    }
    if prot & sys::PROT_READ as i32 == 0 {
        return mapped;
    }
    let len = input::streams().all[src.stream].len;
    let seen = n.min(len.saturating_sub(at));
    src.label(mapped, 0, seen);
    decide_read_len(src.stream, at + n);
    if seen < n {
        source::length(src.stream).pin();
    }
    mapped
}

/// Labels a private mapping of a file that is not input.
fn label_written(fd: i32, mapped: u64, n: u64, at: u64) {
    let Some(way) = channels::read_way(fd) else { return };
    let n = n.min(way.size.saturating_sub(at));
    if !way.is_queue && n != 0 {
        channels::pin_size(fd);
        channels::arrival(way, at, true).label(mapped, n);
    }
}

/// Drops the labels of a range. In a large range it gives whole pages of the dirty map and
/// the shadow back to the kernel: to read each would cost more than the mapping itself.
fn drop_labels(addr: u64, n: u64) {
    channels::mapped::unmap(addr, n);
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
