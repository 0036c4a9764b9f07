//! Starting other processes: `fork`, `exec` and their relatives.
//!
//! The trace is shared memory. A child that wrote to it would mix its decisions with those
//! of its parent. So a forked child gets a private copy of the trace: labels still work
//! there, but the driver never reads it. The driver does not learn what another process
//! decides, so each start of one is counted as a loss. `vfork` has no model: its child
//! runs while the parent waits, and then becomes another program.

use super::define::{assembly_model, drop_argument_labels, jump_to_real, models};
use crate::start::{header, state};
use crate::symbolic::{channels, events, is_labelling};
use crate::sys;
use pleach_abi::layout::SHM_BASE;
use pleach_abi::shm::Loss;

models! {
    fn fork() -> i32 {
        count_process();
        after_fork(sys::fork())
    }
    fn __fork() -> i32 {
        count_process();
        after_fork(sys::fork())
    }
}

/// Counts the start of another process.
extern "C" fn count_process() {
    if is_labelling() {
        events::count_loss(Loss::Process);
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
        ], lose = sym count_process);
    )*};
}

other_program! {
    "execl" "execle" "execlp" "execv" "execve" "execvp" "execvpe" "fexecve"
    "popen" "posix_spawn" "posix_spawnp" "system"
}

/// After a fork: gives the child its own trace.
fn after_fork(pid: i32) -> i32 {
    if pid == 0 {
        channels::mapped::leave_all();
        make_trace_private();
    }
    pid
}

fn make_trace_private() {
    let Some(h) = header() else { return };
    // Without a driver the trace is private already.
    if state().shm_fd < 0 {
        return;
    }
    let size = h.total_size;
    let flags = sys::MAP_PRIVATE | sys::MAP_FIXED | sys::MAP_NORESERVE;
    let prot = sys::PROT_READ | sys::PROT_WRITE;
    let at = sys::mmap(SHM_BASE, size, prot, flags, state().shm_fd as u64, 0);
    if at < 0 {
        // The program has closed the descriptor. The trace becomes empty: it records
        // nothing, and old labels do not match its zeros and are dropped.
        sys::mmap(SHM_BASE, size, prot, flags | sys::MAP_ANONYMOUS, u64::MAX, 0);
    }
    if let Some(h) = header() {
        // Write to the page of the counts, so that it becomes a private copy: until then
        // it shows the parent's counts.
        let events = &raw mut h.events;
        // Safety: mapped again just now.
        unsafe { events.write_volatile(events.read_volatile()) };
    }
}
