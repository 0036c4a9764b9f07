//! Models of `sleep` and its relatives, in both halves: in a live run they return at once.
//! Otherwise a program that shows each message for three seconds would take one key in
//! three seconds.
//!
//! A program with threads really sleeps: it may wait for another thread.

use crate::live;
use crate::socket::Timespec;
use core::ffi::{c_int, c_uint};

unsafe extern "C" {
    fn nanosleep(time: *const Timespec, left: *mut Timespec) -> c_int;
    fn clock_nanosleep(
        clock: c_int,
        flags: c_int,
        time: *const Timespec,
        left: *mut Timespec,
    ) -> c_int;
    fn usleep(micros: c_uint) -> c_int;
    fn sleep(seconds: c_uint) -> c_uint;
}

/// True if a sleep returns at once.
pub fn is_skipped() -> bool {
    live::is_on() && !live::has_threads()
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_nanosleep(time: *const Timespec, left: *mut Timespec) -> c_int {
    // Safety: the caller guarantees it.
    if is_skipped() { 0 } else { unsafe { nanosleep(time, left) } }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: *const Timespec,
    left: *mut Timespec,
) -> c_int {
    // Safety: the caller guarantees it.
    if is_skipped() { 0 } else { unsafe { clock_nanosleep(clock, flags, time, left) } }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_usleep(micros: c_uint) -> c_int {
    // Safety: every number is allowed.
    if is_skipped() { 0 } else { unsafe { usleep(micros) } }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_sleep(seconds: c_uint) -> c_uint {
    // Safety: every number is allowed.
    if is_skipped() { 0 } else { unsafe { sleep(seconds) } }
}
