//! System calls for processes and descriptors that the standard library does not have.
//!
//! After a fork of a program with threads, the child (in `raw`) may only make system calls:
//! no allocation, no locks, nothing of the standard library.

mod allocator;
mod family;
pub(crate) mod raw;
pub(crate) mod tracee;

pub use allocator::return_large_blocks;
pub(crate) use family::{Family, newest_child};
pub(crate) use tracee::Tracee;

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Keeps from a target what logs in to the server of a fleet: a program that prints its
/// environment would put it into logs and files.
pub(crate) fn hide_secrets(command: &mut Command) {
    for name in ["NATS_USER", "NATS_PASSWORD", "NATS_TOKEN"] {
        command.env_remove(name);
    }
}

/// Has a directory (with a layout in it) removed when this process has ended, also after an
/// `exec`. Another process waits for that. It is not a child of the caller, and holds none
/// of the caller's descriptors.
pub fn remove_after_exit(dir: &Path) -> io::Result<()> {
    let (files, dirs) = listing(dir);
    let (files, dirs) = (c_paths(&files)?, c_paths(&dirs)?);
    // Safety: after each of the two forks, the child only makes system calls.
    unsafe {
        let me = libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0) as libc::c_int;
        if me < 0 {
            return Err(io::Error::last_os_error());
        }
        let middle = libc::fork();
        if middle == 0 {
            libc::setsid();
            if libc::fork() == 0 {
                raw::remove_after(me, &files, &dirs);
            }
            libc::_exit(0);
        }
        libc::close(me);
        if middle < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::waitpid(middle, std::ptr::null_mut(), 0);
    }
    Ok(())
}

/// Watches whether any process opens or reads a file.
pub(crate) struct FileWatch(OwnedFd);

impl FileWatch {
    pub fn new(path: &Path) -> io::Result<FileWatch> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        // Safety: the descriptor is new, and the name is a C string.
        unsafe {
            let fd = libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            let watch = FileWatch(OwnedFd::from_raw_fd(fd));
            match libc::inotify_add_watch(fd, name.as_ptr(), libc::IN_ACCESS | libc::IN_OPEN) {
                added if added < 0 => Err(io::Error::last_os_error()),
                _ => Ok(watch),
            }
        }
    }

    /// True if the file was opened or read since the watch began.
    pub fn was_used(&self) -> bool {
        let mut event = [0u8; 4096];
        // Safety: reads at most as many bytes as the array has.
        unsafe { libc::read(self.0.as_raw_fd(), event.as_mut_ptr().cast(), event.len()) > 0 }
    }
}

/// Paths as C strings.
pub(crate) fn c_paths(paths: &[PathBuf]) -> io::Result<Vec<CString>> {
    paths.iter().map(|p| Ok(CString::new(p.as_os_str().as_bytes())?)).collect()
}

/// The files and directories of a layout, in the order in which they must be removed.
pub(crate) fn listing(dir: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let twins = dir.join(crate::layout::TWINS);
    let mut files = Vec::new();
    for d in [twins.as_path(), dir] {
        let entries = std::fs::read_dir(d).into_iter().flatten().flatten();
        files.extend(entries.map(|e| e.path()).filter(|p| *p != twins));
    }
    (files, vec![twins, dir.into()])
}

/// A pair of connected sockets, closed on exec.
pub(crate) fn socket_pair(kind: libc::c_int) -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // Safety: the array has room for two descriptors; they are new, and nobody else's.
    unsafe {
        if libc::socketpair(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// A duplicate of a descriptor with a high number: a program may expect low numbers for its
/// own files.
pub(crate) fn high_duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    // Safety: the result is a new descriptor, or -1.
    unsafe {
        let high = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 198);
        if high < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(high))
    }
}

/// Waits until one of these descriptors can be read (or has ended), at most until
/// `deadline`. Returns which ones; all false after the deadline.
pub(crate) fn readable(fds: &[RawFd], deadline: Option<Instant>) -> io::Result<Vec<bool>> {
    let mut polls: Vec<_> =
        fds.iter().map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    loop {
        let timeout = match deadline {
            None => -1,
            // Rounded up: with 0 the last round would spin.
            Some(d) => d
                .saturating_duration_since(Instant::now())
                .as_micros()
                .div_ceil(1000)
                .min(i32::MAX as u128) as libc::c_int,
        };
        // Safety: our own array, with its own length.
        let n = unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, timeout) };
        if n >= 0 {
            return Ok(polls.iter().map(|p| p.revents != 0).collect());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The parent of a process, if the process exists.
pub(crate) fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain spaces and parentheses; it ends at the last parenthesis.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Kills a run: the process, and its process group if it has made one.
pub(crate) fn kill_run(pid: i32) {
    if pid <= 1 {
        return;
    }
    // Safety: only sends signals. The caller has checked that it is the server's child.
    unsafe {
        if libc::getpgid(pid) == pid {
            libc::kill(-pid, libc::SIGKILL);
        }
        libc::kill(pid, libc::SIGKILL);
    }
}
