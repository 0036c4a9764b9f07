//! Starting a target so that nothing of it can outlive its use.
//!
//! Between the driver and the fork server stands a *warden*: a process that
//! only waits. It is the subreaper of everything below it, so whatever the
//! target forks, however it daemonises, ends up as the warden's child, and the
//! warden's children are exactly what must go. Killing its own children has no
//! race over process numbers: one is not used again before the warden has
//! reaped it.
//!
//! The warden and the driver share a socket. When the driver is gone, by
//! whatever death, the socket ends, and the warden kills everything and removes
//! the private files. When the warden is killed, the kernel kills the server
//! (parent-death signal), and the server's runs with it. So neither `SIGKILL`
//! to the driver nor a target that kills its parent leaves anything running.
//!
//! The driver as a subreaper itself would be simpler, but then a child that
//! anything else in the driver's process has started could not be told from
//! the target's.
//!
//! The warden is a fork without exec of a program with threads, so it may only
//! make system calls: no allocation, no locks, nothing of the standard library.

mod raw;

use crate::process::{c_paths, readable, socket_pair};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// What is removed if the driver dies without a word: files, then directories
/// that are empty by then, and one with whatever is in it.
#[derive(Clone, Debug, Default)]
pub struct Leftovers {
    pub files: Vec<PathBuf>,
    pub dirs: Vec<PathBuf>,
    pub tree: Option<PathBuf>,
}

/// Everything that runs below one warden.
#[derive(Debug)]
pub struct Warden {
    child: Child,
    socket: OwnedFd,
    /// The warden's children, where the system has such a file.
    children: Option<File>,
    /// How the server ended, once it has.
    ended: Option<i32>,
}

/// From the driver: kill what is left of a run, but not the server.
const SWEEP: u8 = b's';
/// From the driver: kill everything and leave; the files are the driver's.
const QUIT: u8 = b'q';
/// From the warden: done sweeping; a count follows, -1 if some are left.
const SWEPT: u8 = b'S';
/// From the warden: the server has ended; its wait status follows.
const ENDED: u8 = b'E';

/// How long killed processes may take to go.
const PATIENCE: Duration = Duration::from_secs(5);

impl Warden {
    /// Starts a command below a new warden. `keep` are descriptors that the
    /// command inherits under their numbers. No file that it writes may be
    /// longer than `file_limit`. With `terminal`, its standard input is the terminal
    /// of its session.
    pub fn spawn(
        mut command: Command,
        keep: &[RawFd],
        file_limit: u64,
        terminal: bool,
        left: &Leftovers,
    ) -> io::Result<Warden> {
        let (ours, theirs) = socket_pair(libc::SOCK_SEQPACKET)?;
        let (files, dirs) = (c_paths(&left.files)?, c_paths(&left.dirs)?);
        let tree = c_paths(left.tree.as_slice())?;
        let (keep, socket) = (keep.to_vec(), theirs.as_raw_fd());
        // Safety: the closure makes only system calls, in the new process.
        unsafe {
            command.pre_exec(move || {
                // A session of its own has no terminal: what is in it cannot
                // write to the driver's, nor read from it.
                libc::setsid();
                if terminal {
                    libc::ioctl(0, libc::TIOCSCTTY, 0);
                }
                libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
                let warden = libc::getpid();
                match libc::fork() {
                    -1 => return Err(io::Error::last_os_error()),
                    0 => {}
                    server => raw::watch(server, socket, (&files, &dirs, &tree)),
                }
                libc::setpgid(0, 0);
                if terminal {
                    // Who asks for the foreground from the background is stopped.
                    libc::signal(libc::SIGTTOU, libc::SIG_IGN);
                    libc::tcsetpgrp(0, libc::getpid());
                    libc::signal(libc::SIGTTOU, libc::SIG_DFL);
                }
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid() != warden {
                    libc::_exit(1);
                }
                // Fixed addresses make runs comparable; where it is not
                // permitted they are not.
                let persona = libc::personality(0xffff_ffff);
                if persona >= 0 {
                    libc::personality((persona | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong);
                }
                let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_CORE, &none);
                let mut file = none;
                libc::getrlimit(libc::RLIMIT_FSIZE, &mut file);
                file.rlim_cur = file.rlim_max.min(file_limit);
                libc::setrlimit(libc::RLIMIT_FSIZE, &file);
                for &fd in &keep {
                    libc::fcntl(fd, libc::F_SETFD, 0);
                }
                Ok(())
            });
        }
        let child = command.spawn()?;
        let pid = child.id();
        let children = File::open(format!("/proc/{pid}/task/{pid}/children")).ok();
        Ok(Warden { child, socket: ours, children, ended: None })
    }

    /// The process that was started, if it is still there: the warden's first child.
    pub fn server(&self) -> Option<i32> {
        let mut text = [0; 64];
        let n = self.children.as_ref()?.read_at(&mut text, 0).ok()?;
        std::str::from_utf8(&text[..n]).ok()?.split(' ').next()?.parse().ok()
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Becomes readable when the server has ended.
    pub fn socket(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Whether anything but the server is left below the warden; `None` where
    /// the system does not say.
    pub fn has_strays(&self) -> Option<bool> {
        let mut text = [0; 64];
        let n = self.children.as_ref()?.read_at(&mut text, 0).ok()?;
        Some(text[..n].split(|&b| b == b' ').filter(|pid| !pid.is_empty()).count() > 1)
    }

    /// Kills what a run has left behind; says how many processes that were, or
    /// nothing if some may be left.
    pub fn sweep(&mut self) -> Option<u32> {
        self.send(SWEEP).ok()?;
        let deadline = Instant::now() + PATIENCE + Duration::from_secs(1);
        while let Some((kind, value)) = self.receive(deadline) {
            match kind {
                SWEPT => return u32::try_from(value).ok(),
                ENDED => self.ended = Some(value),
                _ => {}
            }
        }
        None
    }

    /// How the server ended (a wait status), if it has; waits until `deadline`
    /// at most.
    pub fn ended(&mut self, deadline: Instant) -> Option<i32> {
        while self.ended.is_none() {
            let (kind, value) = self.receive(deadline)?;
            if kind == ENDED {
                self.ended = Some(value);
            }
        }
        self.ended
    }

    fn send(&self, what: u8) -> io::Result<()> {
        // Safety: one byte of ours to a socket of ours.
        let n =
            unsafe { libc::send(self.socket(), (&raw const what).cast(), 1, libc::MSG_NOSIGNAL) };
        if n == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn receive(&self, deadline: Instant) -> Option<(u8, i32)> {
        if !readable(&[self.socket()], Some(deadline)).ok()?[0] {
            return None;
        }
        let mut message = [0u8; 5];
        // Safety: five bytes of ours from a socket of ours.
        let n = unsafe {
            libc::recv(self.socket(), message.as_mut_ptr().cast(), 5, libc::MSG_DONTWAIT)
        };
        let [kind, value @ ..] = message;
        (n == 5).then(|| (kind, i32::from_le_bytes(value)))
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        let _ = self.send(QUIT);
        let deadline = Instant::now() + PATIENCE + Duration::from_secs(1);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            // The socket closes when the warden leaves.
            let _ = readable(&[self.socket()], Some(Instant::now() + Duration::from_millis(20)));
            while self.receive(Instant::now()).is_some() {}
            std::thread::sleep(Duration::from_micros(200));
        }
        // It goes on alone: without it, what it has to kill would be free.
    }
}
