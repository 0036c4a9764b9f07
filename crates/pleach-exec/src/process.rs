//! Processes and descriptors: what the standard library does not have.
//!
//! Code after a fork of a program with threads (in `raw`) may only make system
//! calls: no allocation, no locks, nothing of the standard library.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Removes a directory (with a layout in it) once this process has ended,
/// whatever it has become by then: for a caller that is about to `exec`. The
/// process that waits is nobody's child, holds none of the caller's
/// descriptors, and ends with it.
pub fn remove_after_exit(dir: &Path) -> io::Result<()> {
    let (files, dirs) = listing(dir);
    let (files, dirs) = (c_paths(&files)?, c_paths(&dirs)?);
    // Safety: a descriptor of our own process; then two forks of which the
    // second only makes system calls.
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

/// Sees whether anybody opens or reads a file, by whatever library.
pub(crate) struct FileWatch(OwnedFd);

impl FileWatch {
    pub fn new(path: &Path) -> io::Result<FileWatch> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        // Safety: a new descriptor, and a string that ends.
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
        // Safety: as many bytes as there is room for.
        unsafe { libc::read(self.0.as_raw_fd(), event.as_mut_ptr().cast(), event.len()) > 0 }
    }
}

/// Paths as system calls take them.
pub(crate) fn c_paths(paths: &[PathBuf]) -> io::Result<Vec<CString>> {
    paths.iter().map(|p| Ok(CString::new(p.as_os_str().as_bytes())?)).collect()
}

/// The files and directories of a layout, in the order of their removal.
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
    use std::os::fd::FromRawFd;
    let mut fds = [0; 2];
    // Safety: an array of two for two descriptors, which are then ours alone.
    unsafe {
        if libc::socketpair(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// A duplicate of a descriptor, out of the way of the numbers that a program
/// expects for its own files.
pub(crate) fn high_duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    use std::os::fd::FromRawFd;
    // Safety: the result is a new descriptor or -1.
    unsafe {
        let high = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 198);
        if high < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(high))
    }
}

/// Which of some descriptors can be read (or have ended), waiting at most
/// until `deadline`. All false: the time is up.
pub(crate) fn readable(fds: &[RawFd], deadline: Option<Instant>) -> io::Result<Vec<bool>> {
    let mut polls: Vec<_> =
        fds.iter().map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    loop {
        let timeout = match deadline {
            None => -1,
            // Rounded up, so that the last round does not spin.
            Some(d) => d
                .saturating_duration_since(Instant::now())
                .as_micros()
                .div_ceil(1000)
                .min(i32::MAX as u128) as libc::c_int,
        };
        // Safety: the array is ours and of that length.
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

/// The parent of a process, if it is there.
pub(crate) fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold spaces and parentheses; it ends at the last one.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// A run and all that it has started, wherever that has gone: what is below a
/// warden, but for the server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Family {
    pub processes: u32,
    /// Resident memory. What processes share with the run counts once.
    pub resident_kib: u64,
    pub cpu: Duration,
}

impl Family {
    /// Looks at `most` processes and one more.
    pub fn below(warden: i32, server: i32, run: i32, most: u32) -> Family {
        let mut family = Family::default();
        let mut found = vec![warden];
        while let Some(pid) = found.pop() {
            if pid != warden && pid != server {
                family.add(pid, run);
            }
            if family.processes > most {
                break;
            }
            found.extend(children_of(pid));
        }
        family
    }

    fn add(&mut self, pid: i32, run: i32) {
        self.processes += 1;
        let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let mut pages = statm.split_whitespace().skip(1).map_while(|n| n.parse::<u64>().ok());
        let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        let own = if pid == run { resident } else { resident.saturating_sub(shared) };
        self.resident_kib += own * PAGE_KIB;
        self.cpu += cpu_of(pid).unwrap_or_default();
    }
}

/// Pages of x86-64.
const PAGE_KIB: u64 = 4;
/// Clock ticks of `/proc`, the same on every Linux.
const TICKS_PER_SECOND: u64 = 100;

/// CPU time of a process, and of its children that have ended, which is less exact.
fn cpu_of(pid: i32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13).take(2);
    let ticks: u64 = fields.map_while(|n| n.parse::<u64>().ok()).sum();
    let children = Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND);
    let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // Safety: places of ours; a process that is not there is an error.
    let known = unsafe {
        libc::clock_getcpuclockid(pid, &mut clock) == 0
            && libc::clock_gettime(clock, &mut time) == 0
    };
    known.then(|| children + Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// The children of a process, of all its threads.
fn children_of(pid: i32) -> Vec<i32> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(text.split_whitespace().filter_map(|n| n.parse::<i32>().ok()));
    }
    children
}

/// Kills a run: its process group, or, if it has not made one yet, the process.
pub(crate) fn kill_run(pid: i32) {
    if pid <= 1 {
        return;
    }
    // Safety: signals only; the caller has checked that it is the server's child.
    unsafe {
        if libc::getpgid(pid) == pid {
            libc::kill(-pid, libc::SIGKILL);
        }
        libc::kill(pid, libc::SIGKILL);
    }
}

/// A process or thread that this thread watches by `ptrace`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracee(pub i32);

pub(crate) mod tracee {
    use super::Tracee;
    use std::io;

    /// What a tracee is at.
    pub(crate) enum State {
        Runs,
        Gone,
        /// By a signal, or by an event of `ptrace`.
        Stopped {
            signal: i32,
            event: i32,
        },
    }

    const NONE: *mut libc::c_void = std::ptr::null_mut();

    // Safety, for all of it: numbers and places of ours; a process that is not
    // there, or not ours to trace, is an error.
    impl Tracee {
        /// Begins to watch it and all that it will fork. It goes on running; it
        /// dies when this thread ends.
        pub fn seize(self) -> io::Result<()> {
            let options = libc::PTRACE_O_EXITKILL
                | libc::PTRACE_O_TRACEFORK
                | libc::PTRACE_O_TRACEVFORK
                | libc::PTRACE_O_TRACECLONE;
            let options = options as usize as *mut libc::c_void;
            match unsafe { libc::ptrace(libc::PTRACE_SEIZE, self.0, NONE, options) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        }

        pub fn state(self) -> State {
            let mut status = 0;
            let pid = unsafe { libc::waitpid(self.0, &mut status, libc::WNOHANG | libc::__WALL) };
            match pid {
                0 => State::Runs,
                p if p == self.0 && libc::WIFSTOPPED(status) => {
                    State::Stopped { signal: libc::WSTOPSIG(status), event: status >> 16 }
                }
                _ => State::Gone,
            }
        }

        /// Lets it run, with a signal or without (0).
        pub fn go_on(self, signal: i32) {
            let signal = signal as usize as *mut libc::c_void;
            unsafe { libc::ptrace(libc::PTRACE_CONT, self.0, NONE, signal) };
        }

        /// It has been stopped as processes are (SIGSTOP), and stays so.
        pub fn stay_stopped(self) {
            unsafe { libc::ptrace(libc::PTRACE_LISTEN, self.0, NONE, NONE) };
        }

        /// Asks it to stop for a look.
        pub fn interrupt(self) -> bool {
            unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, self.0, NONE, NONE) == 0 }
        }

        /// What it has just forked.
        pub fn new_child(self) -> Option<i32> {
            let mut child: libc::c_ulong = 0;
            let place = (&raw mut child).cast::<libc::c_void>();
            let done = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, self.0, NONE, place) };
            (done == 0).then(|| i32::try_from(child).ok()).flatten()
        }

        /// Instruction, stack and base pointer.
        pub fn registers(self) -> Option<(u64, u64, u64)> {
            let mut regs: libc::user_regs_struct = unsafe { std::mem::zeroed() };
            let place = (&raw mut regs).cast::<libc::c_void>();
            let done = unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.0, NONE, place) };
            (done == 0).then_some((regs.rip, regs.rsp, regs.rbp))
        }

        /// The address that the fault it has stopped for was at.
        pub fn fault_address(self) -> Option<u64> {
            let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
            let place = (&raw mut info).cast::<libc::c_void>();
            let done = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, self.0, NONE, place) };
            // Positive codes are the kernel's; another process sends none.
            (done == 0 && info.si_code > 0).then(|| unsafe { info.si_addr() } as u64)
        }
    }
}

/// What runs in a fresh fork. Only system calls, see the module's head.
pub(crate) mod raw {
    use std::ffi::CString;

    /// Removes files and directories once a process has ended.
    ///
    /// # Safety
    /// Only in a fresh process with one thread.
    pub(super) unsafe fn remove_after(
        process: libc::c_int,
        files: &[CString],
        dirs: &[CString],
    ) -> ! {
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

    /// Removes a directory with all that is in it.
    pub(crate) unsafe fn remove_tree(path: &CString) {
        unsafe {
            let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
            let dir = libc::open(path.as_ptr(), flags);
            if dir >= 0 {
                empty(dir, DEEPEST);
                libc::close(dir);
            }
            libc::rmdir(path.as_ptr());
        }
    }

    /// A directory below more than so many others stays.
    const DEEPEST: u32 = 64;

    /// Removes what is in a directory.
    unsafe fn empty(dir: libc::c_int, depth: u32) {
        // As `getdents64` lays it out: after 16 bytes two with the length of the
        // entry and one with its type, then the name.
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
}
