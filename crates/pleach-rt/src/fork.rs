//! What the server does so that a run costs little. A short run costs what its process costs:
//! system calls, and pages that it is the first to touch or the first to write. So the server
//! does once what every run would do.
//!
//! The rest of what makes it cheap is elsewhere: `cover` maps counters ahead, `pleach_abi::shm`
//! has variables for the loader, and the fast half maps only what it uses of the shared memory.
//!
//! Tried and given up: to have the kernel copy the page tables of code with the fork. It saves
//! 20 of 45 page faults of a small run, and takes longer than these faults. In the driver, one
//! `recv` with a time limit in place of `poll` and `recv` took 2 µs longer.

use crate::sys::{self, weak};
use core::ffi::{c_int, c_void};

/// Larger than the blocks that libc's allocator caches. When it is freed, it becomes a part of
/// the free heap again: the heap has the layout that a run finds without it.
const ALLOCATOR_START_BYTES: usize = 4096;

/// Has libc's allocator get its first memory. In a run, that takes three system calls, one of
/// which makes a new mapping.
pub fn start_allocator() {
    let (malloc, free) = (weak!("__libc_malloc"), weak!("__libc_free"));
    if malloc == 0 || free == 0 {
        return;
    }
    // Safety: glibc's own functions, also in a program that defines its own `malloc`.
    unsafe {
        let malloc: extern "C" fn(usize) -> *mut c_void = core::mem::transmute(malloc);
        let free: extern "C" fn(*mut c_void) = core::mem::transmute(free);
        free(malloc(ALLOCATOR_START_BYTES));
    }
}

/// Forks. `is_plain`: the program has not run yet, so it holds no lock of libc. Then, without
/// threads, nothing that libc's `fork` does around the system call is needed: it writes to
/// three pages of the child to release locks that nobody holds. Handlers of `pthread_atfork`
/// are not run then, as in the program without a driver, which is not forked.
pub fn fork(is_plain: bool) -> i64 {
    let (bare_fork, single) = (weak!("_Fork"), weak!("__libc_single_threaded"));
    // Safety: glibc's own function, and its own byte. libc's `fork` keeps libc's state right
    // in all other cases. The server itself has one thread.
    unsafe {
        let has_one_thread = single != 0 && *(single as *const u8) != 0;
        if !is_plain || bare_fork == 0 || !has_one_thread {
            return i64::from(sys::fork());
        }
        let bare_fork: extern "C" fn() -> c_int = core::mem::transmute(bare_fork);
        i64::from(bare_fork())
    }
}
