//! `fork`: the child goes on with a copy of the trace that nobody reads.
//!
//! The trace is shared memory. A child that wrote to it would mix its
//! decisions into those of the process that is being traced, so it gets a
//! private view of the same pages: labels keep working there, and what the
//! child adds is its own. `vfork` needs nothing, its child runs while the
//! parent waits and then becomes another program, and neither do
//! `posix_spawn`, `system` and `popen`.

use super::define::models;
use crate::start::{header, state};
use crate::sys;
use pleach_abi::layout::SHM_BASE;

models! {
    fn fork() -> i32 {
        forked(sys::fork())
    }
    fn __fork() -> i32 {
        forked(sys::fork())
    }
}

fn forked(pid: i32) -> i32 {
    if pid == 0 {
        own_trace();
    }
    pid
}

fn own_trace() {
    let Some(h) = header() else { return };
    // By hand the trace is private already.
    if state().shm_fd < 0 {
        return;
    }
    let size = h.total_size;
    let flags = sys::MAP_PRIVATE | sys::MAP_FIXED | sys::MAP_NORESERVE;
    let prot = sys::PROT_READ | sys::PROT_WRITE;
    let at = sys::mmap(SHM_BASE, size, prot, flags, state().shm_fd as u64, 0);
    if at < 0 {
        // The program closed every descriptor. An empty trace takes nothing,
        // and labels that are left compare with its zeros and are dropped.
        sys::mmap(SHM_BASE, size, prot, flags | sys::MAP_ANONYMOUS, u64::MAX, 0);
    }
    if let Some(h) = header() {
        // A written page is a copy; until then the parent's counts show through.
        let events = &raw mut h.events;
        // Safety: mapped again just now.
        unsafe { events.write_volatile(events.read_volatile()) };
    }
}
