//! The conversation with a fork server. `pleach_abi::message` defines the protocol.
//!
//! Whatever the server does, the driver never waits for ever: the server reports the end of
//! the run, or a limit ends the run, or the driver gives up the server. A server that sends
//! half a message counts as one that does not answer.

use crate::executor::End;
use crate::process::{kill_run, newest_child, parent_of, readable};
use crate::shm::{CounterRanges, LoadedModule};
use crate::warden::Warden;
use pleach_abi::message::{self, Message};
use pleach_abi::shm::Line;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) struct Server {
    pub warden: Warden,
    control: OwnedFd,
    pub pid: i32,
    /// True if it was started for inputs that are containers: its descriptors differ.
    pub container: bool,
    pub modules: Arc<[LoadedModule]>,
    /// Where their counters are.
    pub ranges: CounterRanges,
    /// The counters from before the first run.
    pub startup: Vec<Line>,
    /// How many inputs the waiting process has seen (persistent mode); 0 if none waits.
    pub rounds: u32,
    /// Paused live runs, each forked from the one before. Commands go to the last.
    pub paused: Vec<PausedRun>,
    /// The first bytes of a message whose rest has not come yet.
    partial: Vec<u8>,
}

/// A live run that waits for a command.
pub(crate) struct PausedRun {
    pid: i32,
    /// Bytes of input that it has read.
    pub taken: u64,
}

/// A command to the server, or to the live run that is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Fork, and run the child.
    Run,
    /// Continue (live run).
    Go,
    /// End (live run).
    Quit,
}

/// What the run did then.
pub(crate) enum Answer {
    Ended(End, Message),
    /// It is a live run, and is paused now.
    Paused(Message),
}

/// What a check of the limits says.
pub(crate) enum Check {
    Continue,
    /// The time of the run begins anew: a live run has read more input, or a batch is at
    /// another input.
    Restart,
    /// The run must be ended.
    End(End),
}

/// How long a server may take for an answer that it must give at once.
const GRACE: Duration = Duration::from_secs(5);
/// The same when the driver is about to end: perhaps somebody has stopped the server.
const GRACE_AT_END: Duration = Duration::from_millis(300);

impl Server {
    pub fn new(warden: Warden, control: OwnedFd, container: bool) -> Server {
        Server {
            warden,
            control,
            pid: 0,
            container,
            modules: Arc::default(),
            ranges: CounterRanges::default(),
            startup: Vec::new(),
            rounds: 0,
            paused: Vec::new(),
            partial: Vec::new(),
        }
    }

    /// The process that the server reports as its own, if it really is the one that was
    /// started.
    pub fn verified_pid(&self) -> Option<i32> {
        (parent_of(self.pid)? == self.warden.pid()).then_some(self.pid)
    }

    /// Sends a command and waits until the run has ended or is paused. The error says how
    /// the server was lost.
    ///
    /// At every tick, `check_limits` gets the process of the run, and whether its deadline
    /// has passed. A live run says when it has started, and which process it is
    /// (`says_started`). The process of another run is looked up at the first tick: few runs
    /// last so long.
    pub fn converse(
        &mut self,
        command: Command,
        says_started: bool,
        timeout: Duration,
        tick: Duration,
        cancel: Option<&AtomicBool>,
        check_limits: &mut dyn FnMut(i32, bool) -> Check,
    ) -> Result<Answer, String> {
        self.send(match command {
            Command::Run => message::RUN,
            Command::Go => message::GO,
            Command::Quit => message::QUIT,
        })?;
        let mut run = match command {
            Command::Run => None,
            Command::Go | Command::Quit => self.paused.last().map(|p| p.pid),
        };
        // A process that continues is paused no longer.
        if run.is_some() {
            self.paused.pop();
        }
        let parent = self.paused.last().map(|p| p.pid).unwrap_or(self.pid);
        let mut killed = None;
        // A child may be paused before its parent has reported that it started.
        let mut early_pause = None;
        let started_by = Instant::now() + GRACE;
        let mut deadline = Instant::now() + timeout;
        let mut cancelled_at: Option<Instant> = None;
        loop {
            let wake = match (run, &killed) {
                (_, Some(_)) => deadline.min(Instant::now() + tick),
                (None, None) if says_started => started_by,
                (_, None) => deadline.min(Instant::now() + tick),
            };
            if let Some(m) = self.receive(wake)? {
                match (m.kind, run) {
                    (message::STARTED, None) if says_started => {
                        let pid = m.a as i32;
                        if let Some(pause) = early_pause.filter(|e: &Message| e.a == m.a) {
                            self.paused.push(PausedRun { pid, taken: 0 });
                            return Ok(Answer::Paused(pause));
                        }
                        run = Some(pid);
                        deadline = Instant::now() + timeout;
                    }
                    (message::PAUSED, None) if early_pause.is_none() => early_pause = Some(m),
                    (message::DONE | message::STOPPED, _) if run.is_some() || !says_started => {
                        let waits = m.kind == message::STOPPED && killed.is_none();
                        self.rounds = if waits { self.rounds + 1 } else { 0 };
                        return Ok(Answer::Ended(killed.unwrap_or_else(|| end_of(&m)), m));
                    }
                    // The kill may come after the pause.
                    (message::PAUSED, Some(_)) if killed.is_some() => {}
                    (message::PAUSED, Some(pid)) if m.a as i32 == pid => {
                        self.paused.push(PausedRun { pid, taken: 0 });
                        return Ok(Answer::Paused(m));
                    }
                    (message::FAILED, _) => return Err("the target gave up".into()),
                    _ => return Err("the fork server broke its protocol".into()),
                }
                continue;
            }
            let now = Instant::now();
            if cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                let since = *cancelled_at.get_or_insert(now);
                if now - since > GRACE_AT_END {
                    return Err("the fork server does not answer".into());
                }
            }
            if killed.is_none() && run.is_none() && !says_started {
                run = self.verified_pid().and_then(newest_child);
            }
            match (run, &killed) {
                (None, None) if now < started_by => deadline = now + timeout,
                (None, _) => return Err("the fork server does not answer".into()),
                (_, Some(_)) if now >= deadline => {
                    return Err("the fork server does not answer".into());
                }
                (_, Some(_)) => {}
                (Some(pid), None) => match check_limits(pid, now >= deadline) {
                    Check::End(end) => {
                        if parent_of(pid) == Some(parent) {
                            kill_run(pid);
                        }
                        killed = Some(end);
                        deadline = Instant::now() + GRACE;
                    }
                    Check::Restart => deadline = now + timeout,
                    Check::Continue => {}
                },
            }
        }
    }

    fn send(&self, kind: u32) -> Result<(), String> {
        let mut bytes = [0u8; message::SIZE];
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        // Safety: sends from our own array to our own socket.
        let n = unsafe {
            let fd = self.control.as_raw_fd();
            libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
        };
        if n == bytes.len() as isize { Ok(()) } else { Err("the fork server is gone".into()) }
    }

    /// The server's first message; `None` after the deadline, or when `cancel` is set.
    pub fn first(
        &mut self,
        deadline: Instant,
        tick: Duration,
        cancel: Option<&AtomicBool>,
    ) -> Result<Option<Message>, String> {
        loop {
            let message = self.receive(deadline.min(Instant::now() + tick))?;
            let cancelled = cancel.is_some_and(|c| c.load(Ordering::Relaxed));
            if message.is_some() || cancelled || Instant::now() >= deadline {
                return Ok(message);
            }
        }
    }

    /// The next message; `None` after the deadline.
    pub fn receive(&mut self, deadline: Instant) -> Result<Option<Message>, String> {
        let gone = || String::from("the fork server is gone");
        loop {
            let fds = [self.control.as_raw_fd(), self.warden.socket()];
            let ready = readable(&fds, Some(deadline)).map_err(|e| e.to_string())?;
            if !ready[0] {
                // If only the warden is heard, the server has ended, and all that it sent
                // was read before.
                return if ready[1] { Err(gone()) } else { Ok(None) };
            }
            let mut bytes = [0u8; message::SIZE];
            let room = message::SIZE - self.partial.len();
            // Safety: the array has room for `room` bytes.
            let n =
                unsafe { libc::recv(fds[0], bytes.as_mut_ptr().cast(), room, libc::MSG_DONTWAIT) };
            match n {
                1.. => self.partial.extend(&bytes[..n as usize]),
                _ => return Err(gone()),
            }
            if self.partial.len() == message::SIZE {
                let b = std::mem::take(&mut self.partial);
                let four = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
                let eight = |at| u64::from(four(at)) | u64::from(four(at + 4)) << 32;
                let (kind, a) = (four(0), four(4));
                return Ok(Some(Message { kind, a, b: eight(8), c: eight(16), d: eight(24) }));
            }
        }
    }
}

fn end_of(done: &Message) -> End {
    match done.kind {
        message::STOPPED => End::Exit(0),
        _ => end_of_status(done.a as i32),
    }
}

/// How a process ended, by its wait status.
pub(crate) fn end_of_status(status: i32) -> End {
    match libc::WIFSIGNALED(status) {
        true => End::Signal(libc::WTERMSIG(status)),
        false => End::Exit(libc::WEXITSTATUS(status)),
    }
}

/// A wait status in words.
pub(crate) fn describe(status: i32) -> String {
    if libc::WIFSIGNALED(status) {
        format!("it was killed by {}", signal_name(libc::WTERMSIG(status)))
    } else {
        format!("it ended with status {}", libc::WEXITSTATUS(status))
    }
}

/// The name of a signal, such as `SIGSEGV`.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        other => return format!("signal {other}"),
    };
    name.into()
}
