//! Sleeping in a live run, in both halves: nobody waits for what happens meanwhile, so
//! it takes no time. A program that shows a message for three seconds would be driven by
//! one key in three seconds.
//!
//! A program with threads sleeps as it says: another thread may be at work.

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

/// Whether time need not pass.
pub fn is_skipped() -> bool {
    live::on() && !live::has_threads()
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_nanosleep(time: *const Timespec, left: *mut Timespec) -> c_int {
    // Safety: the caller's.
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
    // Safety: the caller's.
    if is_skipped() { 0 } else { unsafe { clock_nanosleep(clock, flags, time, left) } }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_usleep(micros: c_uint) -> c_int {
    // Safety: any number will do.
    if is_skipped() { 0 } else { unsafe { usleep(micros) } }
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_sleep(seconds: c_uint) -> c_uint {
    // Safety: any number will do.
    if is_skipped() { 0 } else { unsafe { sleep(seconds) } }
}
