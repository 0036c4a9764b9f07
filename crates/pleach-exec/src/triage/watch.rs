//! Watching a run by `ptrace`, to read its stack when it crashes.
//!
//! A signal handler in the target would change the target, and would run on the stack that
//! may be the cause of the crash. `ptrace` needs no handler. The fork server is seized
//! before it starts the run; the run and its children are then watched too. Each signal is
//! examined and then delivered. So a watched run ends in the same way as an unwatched one.
//!
//! Only the thread that has seized a process can control it. The driver talks to the server
//! at the same time, so the watch has a thread of its own. When this thread ends, the kernel
//! kills the processes that it watched (`EXITKILL`).
//!
//! A run that hangs is stopped several times before its timeout, to sample its stack. The
//! samples agree on the outer frames, down to the loop.

use super::symbols::Symbols;
use super::unwind::{Address, Stopped, unwind};
use crate::process::{Tracee, tracee};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The stacks of a run.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// At the signal that ended it.
    pub crash: Option<Crash>,
    /// At some times before its timeout.
    pub samples: Vec<Vec<Address>>,
}

#[derive(Debug)]
pub(crate) struct Crash {
    pub signal: i32,
    pub stack: Vec<Address>,
    /// The fault was at the end of the stack.
    pub stack_overflow: bool,
}

/// When the stack is sampled, as shares of the timeout.
const SAMPLE_TIMES: [f64; 6] = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// The time between two checks whether a process has stopped.
const POLL_INTERVAL: Duration = Duration::from_micros(300);
/// Signals of a crash: they end a process, and the process is their cause.
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
/// A fault within this distance of the stack pointer and of the end of the stack is a stack
/// overflow.
const STACK_MARGIN: u64 = 1 << 20;

/// Watches the runs of a server until `done` is set. Sets `ready` when the run may start:
/// the server is watched, or cannot be watched.
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
        watch.request_sample(timeout);
        if !watch.step() {
            std::thread::sleep(POLL_INTERVAL);
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
    samples_requested: usize,
    /// It was asked to stop for a sample.
    is_asked: bool,
}

impl Watch<'_> {
    /// Handles all processes that have stopped or ended. True if there were any.
    fn step(&mut self) -> bool {
        let mut any = false;
        for pid in self.all.clone() {
            match Tracee(pid).state() {
                tracee::State::Runs => continue,
                tracee::State::Gone => self.all.retain(|&p| p != pid),
                tracee::State::Stopped { signal, event } => self.handle_stop(pid, signal, event),
            }
            any = true;
        }
        any
    }

    fn handle_stop(&mut self, pid: i32, signal: i32, event: i32) {
        let tracee = Tracee(pid);
        match event {
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                if let Some(child) = tracee.new_child() {
                    self.all.push(child);
                    if pid == self.server && self.run.is_none() {
                        let start = Instant::now();
                        let (pid, samples_requested, is_asked) = (child, 0, false);
                        self.run = Some(Run { pid, start, samples_requested, is_asked });
                    }
                }
                tracee.resume(0);
            }
            libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => tracee.stay_stopped(),
            libc::PTRACE_EVENT_STOP => {
                let run = self.run.as_mut().filter(|r| r.pid == pid);
                if run.is_some_and(|r| std::mem::take(&mut r.is_asked)) {
                    let sample = self.stack(pid).map(|(stack, _)| stack);
                    self.seen.samples.extend(sample);
                }
                tracee.resume(0);
            }
            0 => {
                if FATAL.contains(&signal) && self.is_run(pid) && !is_handled(pid, signal) {
                    self.record_crash(pid, signal);
                }
                tracee.resume(signal);
            }
            _ => tracee.resume(0),
        }
    }

    fn record_crash(&mut self, pid: i32, signal: i32) {
        let Some((stack, sp)) = self.stack(pid) else { return };
        let fault = Tracee(pid).fault_address().filter(|_| signal == libc::SIGSEGV);
        let stack_overflow = fault.is_some_and(|at| {
            let is_near = |place: u64| at.abs_diff(place) < STACK_MARGIN;
            is_near(sp) && stack_end(pid).is_none_or(is_near)
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

    /// True for the process of the run and its threads.
    fn is_run(&self, pid: i32) -> bool {
        let Some(run) = &self.run else { return false };
        pid == run.pid || status_field(pid, "Tgid:").is_some_and(|t| t == run.pid.to_string())
    }

    /// Asks the run to stop for a sample, when it is time for the next.
    fn request_sample(&mut self, timeout: Duration) {
        let Some(run) = &mut self.run else { return };
        let Some(share) = SAMPLE_TIMES.get(run.samples_requested) else { return };
        if run.start.elapsed() >= timeout.mul_f64(*share) {
            run.samples_requested += 1;
            run.is_asked = Tracee(run.pid).interrupt();
        }
    }
}

/// The current end of the stack of a process's first thread. `None` for other threads: their
/// stacks have no name in the map.
fn stack_end(pid: i32) -> Option<u64> {
    if status_field(pid, "Tgid:")? != pid.to_string() {
        return None;
    }
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let line = maps.lines().find(|l| l.ends_with("[stack]"))?;
    u64::from_str_radix(line.split_once('-')?.0, 16).ok()
}

/// True if a process catches or ignores a signal.
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
