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

/// The warden's own code. Only system calls, see the module's head.
mod raw {
    use super::{ENDED, PATIENCE, QUIT, SWEEP, SWEPT};
    use crate::process::raw::{block_signals, close_all_but, remove, remove_tree};
    use std::ffi::CString;

    /// Watches over a server until it or the driver is gone.
    ///
    /// # Safety
    /// Only in a fresh process with one thread, whose only child is `server`.
    pub(super) unsafe fn watch(
        server: libc::pid_t,
        socket: libc::c_int,
        (files, dirs, tree): (&[CString], &[CString], &[CString]),
    ) -> ! {
        unsafe {
            block_signals();
            close_all_but(socket);
            libc::prctl(libc::PR_SET_NAME, c"pleach-warden".as_ptr());
            let mut chld: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut chld);
            libc::sigaddset(&mut chld, libc::SIGCHLD);
            let signals = libc::signalfd(-1, &chld, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            let poll = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // It may have ended before its signal was waited for.
            if let Some(status) = reap(server) {
                leave(server, socket, status);
            }
            loop {
                let mut polls = [poll(socket), poll(signals)];
                libc::poll(polls.as_mut_ptr(), 2, 1000);
                let mut info: libc::signalfd_siginfo = std::mem::zeroed();
                while libc::read(signals, (&raw mut info).cast(), size_of_val(&info)) > 0 {}
                if let Some(status) = reap(server) {
                    leave(server, socket, status);
                }
                if polls[0].revents == 0 {
                    continue;
                }
                let mut command = 0u8;
                let n = libc::recv(socket, (&raw mut command).cast(), 1, libc::MSG_DONTWAIT);
                match (n, command) {
                    (1, SWEEP) => {
                        let deadline = now() + PATIENCE.as_millis() as i64;
                        let swept = kill_all(server, true, Some(deadline));
                        send(socket, SWEPT, if swept.all { swept.count } else { -1 });
                        if let Some(status) = swept.server {
                            leave(server, socket, status);
                        }
                    }
                    (1, QUIT) => {
                        kill_all(server, false, None);
                        libc::_exit(0);
                    }
                    (0, _) => {
                        kill_all(server, false, None);
                        remove(files, dirs);
                        tree.iter().for_each(|t| remove_tree(t));
                        libc::_exit(0);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The server is gone, with this status; so goes all the rest.
    unsafe fn leave(server: libc::pid_t, socket: libc::c_int, status: i32) -> ! {
        unsafe {
            kill_all(server, false, None);
            send(socket, ENDED, status);
            libc::_exit(0)
        }
    }

    unsafe fn send(socket: libc::c_int, kind: u8, value: i32) {
        let mut message = [kind, 0, 0, 0, 0];
        message[1..].copy_from_slice(&value.to_le_bytes());
        unsafe { libc::send(socket, message.as_ptr().cast(), 5, libc::MSG_NOSIGNAL) };
    }

    /// Reaps whatever has ended; the server's status if it is among it.
    unsafe fn reap(server: libc::pid_t) -> Option<i32> {
        let mut ended = None;
        loop {
            let mut status = 0;
            match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
                pid if pid > 0 && pid == server => ended = Some(status),
                pid if pid > 0 => {}
                _ => return ended,
            }
        }
    }

    /// Kills everything below us (the server and what is its own too, unless it
    /// is spared) until nothing is left, or until `deadline`. Says how many there
    /// were, whether all are gone, and the server's status if it ended meanwhile.
    ///
    /// A fork bomb is a race. A process that is killed forks no more, even before
    /// it has the time to die, and to kill one takes far less than to make one.
    /// But its children become ours only when it is dead; so those further down
    /// are looked for and killed as well.
    unsafe fn kill_all(server: libc::pid_t, spare: bool, deadline: Option<i64>) -> Killed {
        let mut killed = Killed { count: 0, all: true, server: None };
        loop {
            let found = unsafe { kill_once(server, spare) };
            let mut reaped = false;
            loop {
                let mut status = 0;
                match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
                    pid if pid > 0 => {
                        reaped = true;
                        killed.count += 1;
                        if pid == server {
                            killed.server = Some(status);
                        }
                    }
                    _ => break,
                }
            }
            if !found {
                return killed;
            }
            if deadline.is_some_and(|d| unsafe { now() } > d) {
                killed.all = false;
                return killed;
            }
            // Those that are dying need the processor.
            unsafe { libc::usleep(if reaped { 100 } else { 1000 }) };
        }
    }

    struct Killed {
        count: i32,
        all: bool,
        server: Option<i32>,
    }

    /// So many processes are killed in one go.
    const AT_ONCE: usize = 4096;

    /// Kills what is below us now. Whether there was anything.
    unsafe fn kill_once(server: libc::pid_t, spare: bool) -> bool {
        let me = unsafe { libc::getpid() };
        let (mut list, mut count) = ([(0, 0); AT_ONCE], 0);
        let mut add = |parent: libc::pid_t, list: &mut [(libc::pid_t, libc::pid_t); AT_ONCE]| {
            let known = unsafe {
                children(parent, |pid| {
                    if count < AT_ONCE && pid > 1 && !(spare && pid == server) {
                        list[count] = (pid, parent);
                        count += 1;
                    }
                })
            };
            (known, count)
        };
        let (known, mut end) = add(me, &mut list);
        if !known && !spare {
            // No such file here: the server can still be reached.
            unsafe { libc::kill(server, libc::SIGKILL) };
        }
        let mut at = 0;
        while at < end {
            (_, end) = add(list[at].0, &mut list);
            at += 1;
        }
        for &(pid, parent) in &list[..end] {
            match parent == me {
                true => unsafe { kill_with_group(pid, server) },
                false => unsafe { kill_child_of(pid, parent, me) },
            }
        }
        end > 0
    }

    /// Kills a process if it still is the child of that one, or ours by now. Its
    /// number may have gone to a stranger since it was read; the descriptor
    /// keeps what it names from changing between the look and the kill.
    unsafe fn kill_child_of(pid: libc::pid_t, parent: libc::pid_t, me: libc::pid_t) {
        unsafe {
            let process = libc::syscall(libc::SYS_pidfd_open, pid, 0) as libc::c_int;
            if process < 0 {
                return;
            }
            let mut now = 0;
            read_proc(pid, b"/stat", |text| {
                // The name may hold anything; it ends at the last parenthesis.
                let after = text.iter().rposition(|&b| b == b')').map_or(text.len(), |i| i + 4);
                let digits = text.get(after..).unwrap_or_default().iter();
                now = digits
                    .take_while(|b| b.is_ascii_digit())
                    .fold(0, |n, &b| n * 10 + libc::pid_t::from(b - b'0'));
            });
            if now == parent || now == me {
                let none = std::ptr::null::<libc::siginfo_t>();
                libc::syscall(libc::SYS_pidfd_send_signal, process, libc::SIGKILL, none, 0);
            }
            libc::close(process);
        }
    }

    /// The children of a process's first thread; those of others become ours
    /// when it dies. False where the system does not say.
    unsafe fn children(pid: libc::pid_t, mut each: impl FnMut(libc::pid_t)) -> bool {
        let mut name = [0u8; 32];
        let end = put(&mut name, 0, b"/task/");
        let end = put_number(&mut name, end, pid);
        let end = put(&mut name, end, b"/children");
        unsafe {
            read_proc(pid, &name[..end], |text| {
                let mut pid = 0;
                for &byte in text {
                    if byte.is_ascii_digit() {
                        pid = pid * 10 + libc::pid_t::from(byte - b'0');
                    } else {
                        each(pid);
                        pid = 0;
                    }
                }
            })
        }
    }

    /// Reads the beginning of a file of `/proc`. False if it is not there.
    unsafe fn read_proc(pid: libc::pid_t, rest: &[u8], then: impl FnOnce(&[u8])) -> bool {
        let (mut name, mut text) = ([0u8; 64], [0u8; 16384]);
        let end = put(&mut name, 0, b"/proc/");
        let end = put_number(&mut name, end, pid);
        put(&mut name, end, rest);
        unsafe {
            let fd = libc::open(name.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
            if fd < 0 {
                return false;
            }
            let n = libc::read(fd, text.as_mut_ptr().cast(), text.len());
            libc::close(fd);
            then(&text[..n.max(0) as usize]);
        }
        true
    }

    /// Writes bytes at a place, one short of the end at most; the place after them.
    fn put(buffer: &mut [u8], at: usize, bytes: &[u8]) -> usize {
        let room = buffer.len().saturating_sub(at + 1).min(bytes.len());
        buffer[at..at + room].copy_from_slice(&bytes[..room]);
        at + room
    }

    fn put_number(buffer: &mut [u8], at: usize, number: libc::pid_t) -> usize {
        let (mut digits, mut first, mut rest) = ([b'0'; 10], 10, number.max(0));
        while rest > 0 || first == 10 {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        put(buffer, at, &digits[first..])
    }

    /// Kills a child of ours, and its group, which consists of the target's
    /// processes: it is in our session or in one that a descendant has made.
    unsafe fn kill_with_group(pid: libc::pid_t, server: libc::pid_t) {
        unsafe {
            let group = libc::getpgid(pid);
            if group > 1 && group != server && group != libc::getpid() {
                libc::kill(-group, libc::SIGKILL);
            }
            libc::kill(pid, libc::SIGKILL);
        }
    }

    /// Milliseconds of a clock that only goes forward.
    unsafe fn now() -> i64 {
        unsafe {
            let mut time: libc::timespec = std::mem::zeroed();
            libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
            time.tv_sec * 1000 + time.tv_nsec / 1_000_000
        }
    }
}
