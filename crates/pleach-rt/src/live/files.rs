//! Open files of a snapshot and its children: a fork shares the offsets of open files
//! with its parent, but a child must not move them.
//!
//! When a run is paused, the runtime lists its regular files once. In each child, a file
//! that is open for reading only is opened again at its offset, and a file that is open
//! for writing is replaced by a copy in memory. A file that is too long to be copied
//! stays shared, as do connections; the message `PAUSED` says so.

use crate::start::state;
use crate::sys;
use pleach_abi::message::{PAUSED_WITH_SHARED_FILE, PAUSED_WITH_SOCKETS};

const MAX_FILES: usize = 32;
/// Files longer than this are not copied for every child.
const MAX_COPIED_SIZE: i64 = 1 << 20;

struct Open {
    fds: [u16; MAX_FILES],
    len: usize,
}

static mut OPEN: Open = Open { fds: [0; MAX_FILES], len: 0 };

fn open() -> &'static mut Open {
    // Safety: used while the run is paused, by its only thread.
    unsafe { &mut *&raw mut OPEN }
}

const TYPE_MASK: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const SOCKET: u32 = 0o140_000;

/// Lists the open files. Returns what stays shared, as `PAUSED_*`.
pub fn list() -> u64 {
    const O_DIRECTORY: u64 = 0o200_000;
    let o = open();
    o.len = 0;
    let mut shared = 0;
    let dir = sys::open(c"/proc/self/fd".as_ptr() as u64, O_DIRECTORY, 0);
    if dir < 0 {
        return 0;
    }
    let mut entries = [0u64; 256];
    loop {
        let n = sys::getdents(dir as u64, entries.as_mut_ptr() as u64, 2048);
        if n <= 0 {
            break;
        }
        let mut at = 0;
        while at < n {
            // Safety: the kernel has written whole records: inode, offset, length,
            // type, name.
            let (length, number) = unsafe {
                let record = entries.as_ptr().cast::<u8>().add(at as usize);
                (record.add(16).cast::<u16>().read_unaligned(), decimal(record.add(19)))
            };
            at += i64::from(length.max(1));
            if let Some(fd) = number.filter(|&fd| fd < sys::FIRST_OWN_FD && fd != dir as u64) {
                shared |= list_one(fd);
            }
        }
    }
    sys::close(dir as u64);
    shared
}

fn list_one(fd: u64) -> u64 {
    let Some(st) = sys::fstat(fd as i32) else { return 0 };
    let o = open();
    match st.mode & TYPE_MASK {
        REGULAR if is_input(&st) => 0,
        REGULAR if o.len == MAX_FILES || is_written(fd) && st.size > MAX_COPIED_SIZE => {
            PAUSED_WITH_SHARED_FILE
        }
        REGULAR => {
            o.fds[o.len] = fd as u16;
            o.len += 1;
            0
        }
        SOCKET if crate::input::is_connection(st.dev, st.ino) => 0,
        SOCKET if crate::socket::is_listener(st.dev, st.ino) => 0,
        SOCKET => PAUSED_WITH_SOCKETS,
        _ => 0,
    }
}

fn is_input(st: &sys::Stat) -> bool {
    // Safety: set at the start.
    unsafe { state().header.as_ref() }
        .is_some_and(|h| h.input_ino == st.ino && h.input_dev == st.dev)
}

fn is_written(fd: u64) -> bool {
    const F_GETFL: u64 = 3;
    sys::fcntl(fd, F_GETFL, 0) & 3 != 0
}

/// In a child: replaces its open files by its own ones.
pub fn separate() {
    let o = open();
    for &fd in &o.fds[..o.len] {
        let fd = u64::from(fd);
        let at = sys::lseek(fd, 0, 1);
        let new = if is_written(fd) { copy_to_memory(fd) } else { reopen(fd) };
        if new >= 0 {
            sys::lseek(new as u64, at.max(0) as u64, 0);
            sys::dup2(new as u64, fd);
            sys::close(new as u64);
        }
    }
}

/// The same file with an offset of its own.
fn reopen(fd: u64) -> i64 {
    let mut name = *b"/proc/self/fd/\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let digits = sys::decimal(fd);
    name[14..14 + digits.len()].copy_from_slice(&digits);
    sys::open(name.as_ptr() as u64, 0, 0)
}

fn copy_to_memory(fd: u64) -> i64 {
    const F_GETFL: u64 = 3;
    const F_SETFL: u64 = 4;
    let new = sys::memfd_create(c"copy".as_ptr() as u64, 0);
    if new < 0 {
        return new;
    }
    let (mut chunk, mut at) = ([0u8; 4096], 0);
    // The descriptor may be for writing only: read through another one.
    let source = reopen(fd);
    loop {
        // If that failed, `source` is negative, and nothing is read.
        let n = sys::pread(source as u64, chunk.as_mut_ptr() as u64, 4096, at);
        if n <= 0 {
            break;
        }
        sys::write(new as u64, chunk.as_ptr() as u64, n as u64);
        at += n as u64;
    }
    sys::close(source as u64);
    sys::fcntl(new as u64, F_SETFL, sys::fcntl(fd, F_GETFL, 0).max(0) as u64);
    new
}

/// Parses a decimal number; `None` for `.` and `..`.
///
/// # Safety
/// A zero-terminated string.
unsafe fn decimal(mut text: *const u8) -> Option<u64> {
    let mut n = None;
    // Safety: stops at the zero.
    unsafe {
        while (*text).is_ascii_digit() {
            n = Some(n.unwrap_or(0) * 10 + u64::from(*text - b'0'));
            text = text.add(1);
        }
    }
    n
}
