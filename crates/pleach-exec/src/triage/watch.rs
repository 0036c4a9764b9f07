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

use super::unwind::Stopped;
use crate::process::{Tracee, tracee};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The stacks of a run.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// At the signal that ended it.
    pub crash: Option<Crash>,
    /// At some times before its timeout.
    pub samples: Vec<Stopped>,
}

#[derive(Debug)]
pub(crate) struct Crash {
    pub signal: i32,
    pub at: Stopped,
    /// The fault was at the end of the stack.
    pub stack_overflow: bool,
}

/// When the stack is sampled, as shares of the timeout.
const SAMPLE_TIMES: [f64; 6] = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/// A larger stack is copied only in part: the inner frames.
const MAX_STACK: u64 = 8 << 20;
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
pub(crate) fn watch(server: i32, timeout: Duration, ready: &AtomicBool, done: &AtomicBool) -> Seen {
    let mut seen = Seen::default();
    let seized = Tracee(server).seize();
    ready.store(true, Ordering::Release);
    if seized.is_err() {
        return seen;
    }
    let mut watch = Watch { seen: &mut seen, all: vec![server], server, run: None };
    while !done.load(Ordering::Acquire) && !watch.all.is_empty() {
        watch.request_sample(timeout);
        if !watch.step() {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
    seen
}

struct Watch<'a> {
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
                    self.seen.samples.extend(copy(pid));
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
        let Some(at) = copy(pid) else { return };
        let fault = Tracee(pid).fault_address().filter(|_| signal == libc::SIGSEGV);
        let stack_overflow = fault.is_some_and(|address| {
            let is_near = |place: u64| address.abs_diff(place) < STACK_MARGIN;
            is_near(at.sp) && stack_end(pid).is_none_or(is_near)
        });
        self.seen.crash = Some(Crash { signal, at, stack_overflow });
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

/// Copies what a process that has stopped has on its stack.
fn copy(pid: i32) -> Option<Stopped> {
    let (ip, sp, bp) = Tracee(pid).registers()?;
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    let Range { start, end } = stack_range(&maps, sp).unwrap_or_default();
    let mut stack = vec![0; (end - start).min(MAX_STACK) as usize];
    // Without a stack, the innermost frame is still known.
    if memory.read_exact_at(&mut stack, start).is_err() {
        stack.clear();
    }
    Some(Stopped { ip, sp, bp, maps, stack, stack_start: start })
}

/// The mapped memory from the stack pointer on. A stack that has overflowed begins above it.
fn stack_range(maps: &str, sp: u64) -> Option<Range<u64>> {
    let number = |text| u64::from_str_radix(text, 16).ok();
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let (start, end) = (number(start)?, number(end)?);
        let is_near = start.saturating_sub(sp) < STACK_MARGIN;
        // The stack of a thread has a page below it that cannot be read.
        (end > sp && is_near && rest.starts_with('r')).then_some(start.max(sp)..end)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_begins_at_the_stack_pointer_or_a_little_above() {
        let maps = "1000-3000 r-xp 00000000 08:01 1  /prog\n\
                    6ff000-700000 ---p 00000000 00:00 0\n\
                    700000-900000 rw-p 00000000 00:00 0  [stack]\n";
        assert_eq!(stack_range(maps, 0x700010), Some(0x700010..0x900000));
        assert_eq!(stack_range(maps, 0x6ff000), Some(0x700000..0x900000));
        assert_eq!(stack_range(maps, 0x900000), None);
        assert_eq!(stack_range(maps, 0x5000), None);
        assert_eq!(stack_range("", 0), None);
    }
}
