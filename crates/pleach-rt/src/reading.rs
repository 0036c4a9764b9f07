//! Reading by descriptor in the fast half. A live run gets the next event if it reads its
//! input; otherwise these are the real functions.

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

/// Takes the next event if the run is live and the descriptor is its input.
fn read_live(fd: c_int, to: *mut c_void, n: usize) -> Option<isize> {
    crate::socket::drain();
    if !live::is_on() || input::stream_of(fd).is_none() {
        return None;
    }
    Some(live::read(to.cast(), n as u64) as isize)
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_read(fd: c_int, to: *mut c_void, n: usize) -> isize {
    // Safety: the caller guarantees it.
    read_live(fd, to, n).unwrap_or_else(|| unsafe { real::read(fd, to, n) })
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
    // Safety: the caller guarantees it.
    read_live(fd, to, n.min(room)).unwrap_or_else(|| unsafe { real::__read_chk(fd, to, n, room) })
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
    // Safety: the caller guarantees it.
    read_live(fd, to, n).unwrap_or_else(|| unsafe { real::recv(fd, to, n, flags) })
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
    // Safety: the caller guarantees it.
    read_live(fd, to, n.min(room))
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
    // Safety: the caller guarantees it.
    read_live(fd, to, n).unwrap_or_else(|| unsafe { real::recvfrom(fd, to, n, flags, addr, len) })
}

// `read` itself, for libraries without instrumentation, such as a terminal library that
// reads keys. It is weak, so that a program may define its own.
core::arch::global_asm!(
    ".pushsection .text.read,\"ax\",@progbits",
    ".weak read",
    ".type read,@function",
    "read: jmp {target}",
    ".size read, .-read",
    ".popsection",
    target = sym __pleach_m_read,
);
