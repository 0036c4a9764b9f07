//! Starting a target so that none of its processes outlives the driver.
//!
//! Between the driver and the fork server is a *warden*: a process that only waits. It is
//! the subreaper of all processes below it. So whatever the target forks, and however it
//! daemonises, becomes a child of the warden in the end. The children of the warden are
//! exactly the processes that must be killed. It can kill them without a race, because the
//! system does not reuse the number of a process before its parent has reaped it.
//!
//! The warden and the driver share a socket. When the driver ends, in whatever way, the
//! socket is closed, and the warden has another parent; then it kills everything and removes
//! the private files. When
//! the warden is killed, the kernel kills the server (parent-death signal), and with it the
//! server's runs. So neither `SIGKILL` to the driver nor a target that kills its parent
//! leaves a process behind.
//!
//! The driver could be the subreaper itself. But then it could not tell the target's
//! processes from children that other code in the driver has started.
//!
//! The warden is a fork, without exec, of a program with threads. So it may only make
//! system calls: no allocation, no locks, nothing of the standard library. `raw` has its
//! code.

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

/// What the warden removes if the driver is killed.
#[derive(Clone, Debug, Default)]
pub struct Leftovers {
    pub files: Vec<PathBuf>,
    /// Directories that are empty without these files.
    pub dirs: Vec<PathBuf>,
    /// A directory that is removed with everything in it.
    pub tree: Option<PathBuf>,
}

/// A warden, and the processes below it.
#[derive(Debug)]
pub struct Warden {
    child: Child,
    socket: OwnedFd,
    /// The file of `/proc` that lists the warden's children, if the system has it.
    children: Option<File>,
    /// The wait status of the server, when it has ended.
    ended: Option<i32>,
}

/// From the driver: kill all processes except the server.
const SWEEP: u8 = b's';
/// From the driver: kill everything and exit. The driver removes the files itself.
const QUIT: u8 = b'q';
/// From the warden: the sweep is done. The number of processes follows, or -1 if some are
/// left.
const SWEPT: u8 = b'S';
/// From the warden: the server has ended. Its wait status follows.
const ENDED: u8 = b'E';

/// How often a program is started that is still written to, and the time between.
const BUSY_ATTEMPTS: u32 = 20;
const BUSY_INTERVAL: Duration = Duration::from_millis(10);
/// How long killed processes may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

impl Warden {
    /// Starts a command below a new warden. The command inherits the descriptors `keep`
    /// under their numbers. It cannot write a file longer than `file_limit` bytes. With
    /// `terminal`, its standard input is the terminal of its session.
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
        let driver = std::process::id() as libc::pid_t;
        // Safety: in the new process, the closure only makes system calls.
        unsafe {
            command.pre_exec(move || {
                // A new session has no terminal, so its processes cannot use the driver's.
                libc::setsid();
                if terminal {
                    libc::ioctl(0, libc::TIOCSCTTY, 0);
                }
                libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
                let warden = libc::getpid();
                match libc::fork() {
                    -1 => return Err(io::Error::last_os_error()),
                    0 => {}
                    server => raw::watch(driver, server, socket, (&files, &dirs, &tree)),
                }
                libc::setpgid(0, 0);
                if terminal {
                    // Without this, the system would stop a background process that asks
                    // for the foreground.
                    libc::signal(libc::SIGTTOU, libc::SIG_IGN);
                    libc::tcsetpgrp(0, libc::getpid());
                    libc::signal(libc::SIGTTOU, libc::SIG_DFL);
                }
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid() != warden {
                    libc::_exit(1);
                }
                // Fixed addresses make runs comparable. The system may refuse this.
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
        let child = spawn_when_written(&mut command)?;
        let pid = child.id();
        let children = File::open(format!("/proc/{pid}/task/{pid}/children")).ok();
        Ok(Warden { child, socket: ours, children, ended: None })
    }

    /// The process that was started (the warden's first child), if it still exists.
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

    /// True if the warden has children other than the server; `None` if the system does not
    /// tell.
    pub fn has_strays(&self) -> Option<bool> {
        let mut text = [0; 64];
        let n = self.children.as_ref()?.read_at(&mut text, 0).ok()?;
        Some(text[..n].split(|&b| b == b' ').filter(|pid| !pid.is_empty()).count() > 1)
    }

    /// Kills the processes that a run has left behind. Returns their number; `None` if some
    /// may be left.
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

    /// Waits for the end of the server, at most until `deadline`. Returns its wait status.
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
        // Safety: sends one byte of our own to our own socket.
        let n =
            unsafe { libc::send(self.socket(), (&raw const what).cast(), 1, libc::MSG_NOSIGNAL) };
        if n == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn receive(&self, deadline: Instant) -> Option<(u8, i32)> {
        if !readable(&[self.socket()], Some(deadline)).ok()?[0] {
            return None;
        }
        let mut message = [0u8; 5];
        // Safety: the array has room for five bytes.
        let n = unsafe {
            libc::recv(self.socket(), message.as_mut_ptr().cast(), 5, libc::MSG_DONTWAIT)
        };
        let [kind, value @ ..] = message;
        (n == 5).then(|| (kind, i32::from_le_bytes(value)))
    }
}

/// Starts a command. Its file may be open for writing for a moment: a process that another thread
/// has just forked keeps the descriptors of a compiler or a copy until it starts its own program.
fn spawn_when_written(command: &mut Command) -> io::Result<Child> {
    for _ in 0..BUSY_ATTEMPTS {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
            result => return result,
        }
        std::thread::sleep(BUSY_INTERVAL);
    }
    command.spawn()
}

impl Drop for Warden {
    fn drop(&mut self) {
        let _ = self.send(QUIT);
        let deadline = Instant::now() + PATIENCE + Duration::from_secs(1);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            // The socket is closed when the warden exits.
            let _ = readable(&[self.socket()], Some(Instant::now() + Duration::from_millis(20)));
            while self.receive(Instant::now()).is_some() {}
            std::thread::sleep(Duration::from_micros(200));
        }
        // It is not killed: it continues to kill its children.
    }
}
