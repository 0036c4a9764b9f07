//! Code that runs after a fork: only system calls.

use std::ffi::CString;

/// Waits until a process has ended, and removes these files and directories.
///
/// # Safety
/// Only in a new process with one thread.
pub(super) unsafe fn remove_after(process: libc::c_int, files: &[CString], dirs: &[CString]) -> ! {
    unsafe {
        block_signals();
        close_all_but(process);
        libc::prctl(libc::PR_SET_NAME, c"pleach-cleaner".as_ptr());
        libc::chdir(c"/".as_ptr());
        let mut poll = libc::pollfd { fd: process, events: libc::POLLIN, revents: 0 };
        while poll.revents == 0 {
            libc::poll(&mut poll, 1, -1);
        }
        remove(files, dirs);
        libc::_exit(0)
    }
}

pub(crate) unsafe fn remove(files: &[CString], dirs: &[CString]) {
    for f in files {
        unsafe { libc::unlink(f.as_ptr()) };
    }
    for d in dirs {
        unsafe { libc::rmdir(d.as_ptr()) };
    }
}

/// Removes a directory and everything in it.
pub(crate) unsafe fn remove_tree(path: &CString) {
    unsafe {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let dir = libc::open(path.as_ptr(), flags);
        if dir >= 0 {
            empty(dir, MAX_DEPTH);
            libc::close(dir);
        }
        libc::rmdir(path.as_ptr());
    }
}

/// Directories below this depth are not removed.
const MAX_DEPTH: u32 = 64;

/// Removes everything in a directory.
unsafe fn empty(dir: libc::c_int, depth: u32) {
    // An entry of `getdents64`: 16 bytes, the length of the entry in two bytes, its type in
    // one, and its name.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let mut entries = [0u8; 4096];
    loop {
        let mut removed = false;
        let n = unsafe {
            libc::lseek(dir, 0, libc::SEEK_SET);
            libc::syscall(libc::SYS_getdents64, dir, entries.as_mut_ptr(), entries.len())
        };
        let (mut at, end) = (0, n.max(0) as usize);
        while at + NAME < end {
            let length = u16::from_ne_bytes([entries[at + LENGTH], entries[at + LENGTH + 1]]);
            let name = &entries[at + NAME..];
            at += usize::from(length).max(NAME);
            if name.starts_with(b".\0") || name.starts_with(b"..\0") {
                continue;
            }
            unsafe {
                let name = name.as_ptr().cast();
                removed |= libc::unlinkat(dir, name, 0) == 0;
                let inner = libc::openat(dir, name, flags);
                if inner >= 0 {
                    if depth > 0 {
                        empty(inner, depth - 1);
                    }
                    libc::close(inner);
                    removed |= libc::unlinkat(dir, name, libc::AT_REMOVEDIR) == 0;
                }
            }
        }
        if !removed {
            return;
        }
    }
}

pub(crate) unsafe fn block_signals() {
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
}

pub(crate) unsafe fn close_all_but(keep: libc::c_int) {
    unsafe {
        let below = keep as libc::c_uint;
        let closed = (below == 0
            || libc::syscall(libc::SYS_close_range, 0u32, below - 1, 0u32) == 0)
            && libc::syscall(libc::SYS_close_range, below + 1, u32::MAX, 0u32) == 0;
        if !closed {
            (0..4096).filter(|&fd| fd != keep).for_each(|fd| {
                libc::close(fd);
            });
        }
    }
}
