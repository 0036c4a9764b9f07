//! Watching a run by `ptrace`, so that its stack can be read where it dies.
//!
//! A handler in the target for the signals of a crash would change the target,
//! and works on the very stack that may be the cause. Nothing of that here: the
//! fork server is seized when it is about to start the run, the run and all that
//! it forks come along, and each signal is passed on after a look. So a run
//! under watch ends as it ends without, in whatever way it gets its input.
//!
//! Only the thread that seized a process may speak to it, and the conversation
//! with the server goes on meanwhile: the watch has a thread of its own. When
//! that ends, the kernel kills what it watched (`EXITKILL`).
//!
//! A run that never ends is stopped for a look several times before its time is
//! over. What all looks have in common at the outer end of the stack is where
//! it loops.

use super::symbols::Symbols;
use super::unwind::{Address, Stopped, unwind};
use crate::process::{Tracee, tracee};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What was seen of a run.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Where it was when a signal that would end it came.
    pub crash: Option<Crash>,
    /// Where it was from time to time.
    pub looks: Vec<Vec<Address>>,
}

#[derive(Debug)]
pub(crate) struct Crash {
    pub signal: i32,
    pub stack: Vec<Address>,
    /// The fault was at the end of the stack.
    pub stack_overflow: bool,
}

/// Shares of the time limit at which to look.
const LOOKS: [f64; 6] = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// Between two questions whether something has stopped.
const PAUSE: Duration = Duration::from_micros(300);
/// Signals that end a process unless it catches them, and are its own doing.
const FATAL: [i32; 8] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGXCPU,
];
/// A fault this near to the stack pointer and to the end of the stack is one of
/// the stack.
const NEAR: u64 = 1 << 20;

/// Watches the runs of a server until `done`. `ready` is set when the server may
/// be told to run: it is watched, or cannot be.
pub(crate) fn watch(
    symbols: &mut Symbols,
    server: i32,
    timeout: Duration,
    ready: &AtomicBool,
    done: &AtomicBool,
) -> Seen {
    let mut seen = Seen::default();
    let seized = Tracee(server).seize();
    ready.store(true, Ordering::Release);
    if seized.is_err() {
        return seen;
    }
    let mut watch = Watch { symbols, seen: &mut seen, all: vec![server], server, run: None };
    while !done.load(Ordering::Acquire) && !watch.all.is_empty() {
        watch.look_at_times(timeout);
        if !watch.step() {
            std::thread::sleep(PAUSE);
        }
    }
    seen
}

struct Watch<'a> {
    symbols: &'a mut Symbols,
    seen: &'a mut Seen,
    /// Processes and threads under watch.
    all: Vec<i32>,
    server: i32,
    run: Option<Run>,
}

struct Run {
    pid: i32,
    start: Instant,
    looks: usize,
    /// It was asked to stop for a look.
    asked: bool,
}

impl Watch<'_> {
    /// Deals with all that has stopped; whether anything had.
    fn step(&mut self) -> bool {
        let mut any = false;
        for pid in self.all.clone() {
            match Tracee(pid).state() {
                tracee::State::Runs => continue,
                tracee::State::Gone => self.all.retain(|&p| p != pid),
                tracee::State::Stopped { signal, event } => self.stopped(pid, signal, event),
            }
            any = true;
        }
        any
    }

    fn stopped(&mut self, pid: i32, signal: i32, event: i32) {
        let tracee = Tracee(pid);
        match event {
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                if let Some(child) = tracee.new_child() {
                    self.all.push(child);
                    if pid == self.server && self.run.is_none() {
                        let start = Instant::now();
                        self.run = Some(Run { pid: child, start, looks: 0, asked: false });
                    }
                }
                tracee.go_on(0);
            }
            libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => tracee.stay_stopped(),
            libc::PTRACE_EVENT_STOP => {
                let asked = self.run.as_mut().filter(|r| r.pid == pid);
                if asked.is_some_and(|r| std::mem::take(&mut r.asked)) {
                    let look = self.stack(pid).map(|(stack, _)| stack);
                    self.seen.looks.extend(look);
                }
                tracee.go_on(0);
            }
            0 => {
                if FATAL.contains(&signal) && self.is_run(pid) && !is_handled(pid, signal) {
                    self.crash(pid, signal);
                }
                tracee.go_on(signal);
            }
            _ => tracee.go_on(0),
        }
    }

    fn crash(&mut self, pid: i32, signal: i32) {
        let Some((stack, sp)) = self.stack(pid) else { return };
        let fault = Tracee(pid).fault_address().filter(|_| signal == libc::SIGSEGV);
        let stack_overflow = fault.is_some_and(|at| {
            at.abs_diff(sp) < NEAR && stack_end(pid).is_none_or(|end| at.abs_diff(end) < NEAR)
        });
        self.seen.crash = Some(Crash { signal, stack, stack_overflow });
    }

    /// The stack of a process that has stopped, and its stack pointer.
    fn stack(&mut self, pid: i32) -> Option<(Vec<Address>, u64)> {
        let (ip, sp, bp) = Tracee(pid).registers()?;
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let mut read = |address: u64| {
            let mut bytes = [0; 8];
            memory.read_exact_at(&mut bytes, address).ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        let stopped = Stopped { ip, sp, bp, maps: &maps, read: &mut read };
        Some((unwind(self.symbols, stopped), sp))
    }

    /// Whether a process or thread belongs to the run itself.
    fn is_run(&self, pid: i32) -> bool {
        let Some(run) = &self.run else { return false };
        pid == run.pid || status_field(pid, "Tgid:").is_some_and(|t| t == run.pid.to_string())
    }

    fn look_at_times(&mut self, timeout: Duration) {
        let Some(run) = &mut self.run else { return };
        let Some(share) = LOOKS.get(run.looks) else { return };
        if run.start.elapsed() >= timeout.mul_f64(*share) {
            run.looks += 1;
            run.asked = Tracee(run.pid).interrupt();
        }
    }
}

/// Where the stack of a process's first thread ends for now; `None` for other
/// threads, whose stacks have no name.
fn stack_end(pid: i32) -> Option<u64> {
    if status_field(pid, "Tgid:")? != pid.to_string() {
        return None;
    }
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let line = maps.lines().find(|l| l.ends_with("[stack]"))?;
    u64::from_str_radix(line.split_once('-')?.0, 16).ok()
}

/// Whether a process catches or ignores a signal.
fn is_handled(pid: i32, signal: i32) -> bool {
    ["SigCgt:", "SigIgn:"].iter().any(|field| {
        let set = status_field(pid, field).and_then(|t| u64::from_str_radix(&t, 16).ok());
        set.is_some_and(|set| set >> (signal - 1) & 1 == 1)
    })
}

fn status_field(pid: i32, field: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(field))?;
    Some(line.trim().to_string())
}
