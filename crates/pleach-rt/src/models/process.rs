//! `fork`: the child goes on with a copy of the trace that nobody reads.
//!
//! The trace is shared memory. A child that wrote to it would mix its
//! decisions into those of the process that is being traced, so it gets a
//! private view of the same pages: labels keep working there, and what the
//! child adds is its own. What the child decides is lost to the driver, and so is
//! what another program does with the input: each start of a process is counted
//! as a loss. `vfork` needs nothing, its child runs while the parent waits and then
//! becomes another program.

use super::define::{assembly_model, drop_argument_labels, jump_to_real, models};
use crate::start::{header, state};
use crate::symbolic::{events, labelling};
use crate::sys;
use pleach_abi::layout::SHM_BASE;
use pleach_abi::shm::Loss;

models! {
    fn fork() -> i32 {
        lose_process();
        forked(sys::fork())
    }
    fn __fork() -> i32 {
        lose_process();
        forked(sys::fork())
    }
}

/// Counts the start of another process.
extern "C" fn lose_process() {
    if labelling() {
        events::loss(Loss::Process);
    }
}

/// Models that count the start of another program and continue in the real function. Some
/// have a variable number of arguments, so all registers of arguments are saved.
macro_rules! other_program {
    ($($name:literal)*) => {$(
        assembly_model!($name, [
            "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
            ".cfi_def_cfa_offset 64",
            "call {lose}",
            "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
            ".cfi_def_cfa_offset 8",
            drop_argument_labels!(),
            jump_to_real!($name),
        ], lose = sym lose_process);
    )*};
}

other_program! {
    "execl" "execle" "execlp" "execv" "execve" "execvp" "execvpe" "fexecve"
    "popen" "posix_spawn" "posix_spawnp" "system"
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
