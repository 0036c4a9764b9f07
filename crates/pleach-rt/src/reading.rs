//! Reading by descriptor in the fast half. It is the real thing, except in a
//! live run: there what is read from the input is the next event.

use crate::{input, live};
use core::ffi::{c_int, c_void};

mod real {
    use super::{c_int, c_void};
    unsafe extern "C" {
        #[link_name = "__read"]
        pub fn read(fd: c_int, to: *mut c_void, n: usize) -> isize;
        pub fn __read_chk(fd: c_int, to: *mut c_void, n: usize, room: usize) -> isize;
        pub fn recv(fd: c_int, to: *mut c_void, n: usize, flags: c_int) -> isize;
        pub fn __recv_chk(fd: c_int, to: *mut c_void, n: usize, room: usize, flags: c_int)
        -> isize;
        pub fn recvfrom(
            fd: c_int,
            to: *mut c_void,
            n: usize,
            flags: c_int,
            addr: *mut c_void,
            len: *mut u32,
        ) -> isize;
    }
}

/// What a live run reads from a descriptor, if that is its input.
fn event(fd: c_int, to: *mut c_void, n: usize) -> Option<isize> {
    crate::socket::drain();
    if !live::on() || input::stream_of(fd).is_none() {
        return None;
    }
    Some(live::read(to.cast(), n as u64) as isize)
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_read(fd: c_int, to: *mut c_void, n: usize) -> isize {
    // Safety: the caller's.
    event(fd, to, n).unwrap_or_else(|| unsafe { real::read(fd, to, n) })
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m___read_chk(
    fd: c_int,
    to: *mut c_void,
    n: usize,
    room: usize,
) -> isize {
    // Safety: the caller's.
    event(fd, to, n.min(room)).unwrap_or_else(|| unsafe { real::__read_chk(fd, to, n, room) })
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_recv(
    fd: c_int,
    to: *mut c_void,
    n: usize,
    flags: c_int,
) -> isize {
    // Safety: the caller's.
    event(fd, to, n).unwrap_or_else(|| unsafe { real::recv(fd, to, n, flags) })
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m___recv_chk(
    fd: c_int,
    to: *mut c_void,
    n: usize,
    room: usize,
    flags: c_int,
) -> isize {
    // Safety: the caller's.
    event(fd, to, n.min(room))
        .unwrap_or_else(|| unsafe { real::__recv_chk(fd, to, n, room, flags) })
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_recvfrom(
    fd: c_int,
    to: *mut c_void,
    n: usize,
    flags: c_int,
    addr: *mut c_void,
    len: *mut u32,
) -> isize {
    // Safety: the caller's.
    event(fd, to, n).unwrap_or_else(|| unsafe { real::recvfrom(fd, to, n, flags, addr, len) })
}

// `read` itself, for libraries without instrumentation (a terminal library reads
// the keys). Weak, so that a program may have its own.
core::arch::global_asm!(
    ".pushsection .text.read,\"ax\",@progbits",
    ".weak read",
    ".type read,@function",
    "read: jmp {target}",
    ".size read, .-read",
    ".popsection",
    target = sym __pleach_m_read,
);
