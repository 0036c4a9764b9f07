//! The warden's own code: only system calls, for the reason that `warden` gives.

use super::{ENDED, PATIENCE, QUIT, SWEEP, SWEPT};
use crate::process::raw::{block_signals, close_all_but, remove, remove_tree};
use std::ffi::CString;

/// Waits until the server or the driver has ended, and follows the driver's commands.
///
/// # Safety
/// Only in a new process with one thread, whose parent is `driver` and whose only child is
/// `server`.
pub(super) unsafe fn watch(
    driver: libc::pid_t,
    server: libc::pid_t,
    socket: libc::c_int,
    left: (&[CString], &[CString], &[CString]),
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
        // The server may have ended before the signal descriptor was open.
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
                // A child of the driver that was stopped before it started its program has a
                // copy of the driver's end of the socket, and keeps it open.
                if libc::getppid() != driver {
                    abandon(server, left);
                }
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
                (0, _) => abandon(server, left),
                _ => {}
            }
        }
    }
}

/// The server has ended with this status: kills the rest, reports the status and exits.
unsafe fn leave(server: libc::pid_t, socket: libc::c_int, status: i32) -> ! {
    unsafe {
        kill_all(server, false, None);
        send(socket, ENDED, status);
        libc::_exit(0)
    }
}

/// The driver has ended without a word: kills the rest, removes the files and exits.
unsafe fn abandon(
    server: libc::pid_t,
    (files, dirs, tree): (&[CString], &[CString], &[CString]),
) -> ! {
    unsafe {
        kill_all(server, false, None);
        remove(files, dirs);
        tree.iter().for_each(|t| remove_tree(t));
        libc::_exit(0)
    }
}

unsafe fn send(socket: libc::c_int, kind: u8, value: i32) {
    let mut message = [kind, 0, 0, 0, 0];
    message[1..].copy_from_slice(&value.to_le_bytes());
    unsafe { libc::send(socket, message.as_ptr().cast(), 5, libc::MSG_NOSIGNAL) };
}

/// Reaps all children that have ended. Returns the status of the server if it is among them.
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

/// Kills all processes below us until none is left, or until `deadline`. If the server is
/// spared, its own children are too.
///
/// Against a fork bomb this is a race. A killed process forks no more, even while it is
/// still dying, and a kill takes much less time than a fork. But its children become ours
/// only when it is dead, so this also finds and kills processes further down.
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
        // Dying processes need the processor.
        unsafe { libc::usleep(if reaped { 100 } else { 1000 }) };
    }
}

struct Killed {
    count: i32,
    /// None is left.
    all: bool,
    /// The status of the server, if it has ended meanwhile.
    server: Option<i32>,
}

/// At most this many processes are killed in one pass.
const MAX_PER_PASS: usize = 4096;

/// Kills the processes that are below us now. True if there were any.
unsafe fn kill_once(server: libc::pid_t, spare: bool) -> bool {
    let me = unsafe { libc::getpid() };
    let (mut list, mut count) = ([(0, 0); MAX_PER_PASS], 0);
    let mut add = |parent: libc::pid_t, list: &mut [(libc::pid_t, libc::pid_t); MAX_PER_PASS]| {
        let is_listed = unsafe {
            children(parent, |pid| {
                if count < MAX_PER_PASS && pid > 1 && !(spare && pid == server) {
                    list[count] = (pid, parent);
                    count += 1;
                }
            })
        };
        (is_listed, count)
    };
    let (is_listed, mut end) = add(me, &mut list);
    if !is_listed && !spare {
        // The system has no list of children, but the server is known.
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

/// Kills a process if it is still a child of `parent`, or has become ours. Its number may
/// belong to another process by now. The descriptor keeps the process the same between the
/// check and the kill.
unsafe fn kill_child_of(pid: libc::pid_t, parent: libc::pid_t, me: libc::pid_t) {
    unsafe {
        let process = libc::syscall(libc::SYS_pidfd_open, pid, 0) as libc::c_int;
        if process < 0 {
            return;
        }
        let mut now = 0;
        read_proc(pid, b"/stat", |text| {
            // The name may contain anything; it ends at the last parenthesis.
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

/// Calls `each` with the children of a process's first thread. Children of other threads
/// become ours when the process dies. False if the system has no list of children.
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

/// Reads the beginning of a file of `/proc`. False if it does not exist.
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

/// Writes bytes at an offset, but never the last byte of the buffer. Returns the offset after
/// them.
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

/// Kills a child of ours and its process group. All processes in the group are the target's:
/// a group never has processes of two sessions, and this session is ours or a descendant's.
unsafe fn kill_with_group(pid: libc::pid_t, server: libc::pid_t) {
    unsafe {
        let group = libc::getpgid(pid);
        if group > 1 && group != server && group != libc::getpid() {
            libc::kill(-group, libc::SIGKILL);
        }
        libc::kill(pid, libc::SIGKILL);
    }
}

/// The monotonic clock, in milliseconds.
unsafe fn now() -> i64 {
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
