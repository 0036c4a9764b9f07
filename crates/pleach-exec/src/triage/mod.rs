//! Which crash is it? Two inputs show the same crash if the kind and the functions at the
//! top of the stack agree.
//!
//! A crash is run once more on the fast half, in a new process, with its output kept and
//! its stack watched (`watch`). If there is a sanitizer's report, it names the kind, and
//! AddressSanitizer's report has the stack too. Otherwise the signal is the kind, and the
//! stack is read from the process when the signal arrives (`unwind`). Names and lines are
//! found in the driver (`symbols`).
//!
//! What identifies a crash:
//!
//! - the kind, without values of this run;
//! - the first few *different* functions of the program, innermost first. Functions of the
//!   C library, the sanitizers and the runtime on top are skipped (`frames`), since every
//!   crash may end in `abort`. A function counts once, because a recursive parser has the
//!   same fault at every depth;
//! - the line in the innermost of these functions, or without debug information the
//!   address: one function may have two bugs.
//!
//! A stack overflow can happen anywhere in a recursion. So only the set of functions
//! counts, without order and line. A hang is known by the frames that several samples of
//! its stack have in common.

mod frames;
mod readme;
mod report;
mod symbols;
mod unwind;
mod watch;

pub use frames::Frame;
pub use readme::{by_hand, quoted, readme};
pub use report::has_report;
pub use symbols::{readable, shortened};

use crate::executor::{End, ExecError, Executor, Half, Outcome, Output, TargetOptions};
use crate::layout::Layout;
use crate::server::signal_name;
use frames::without_noise;
use pleach_hash::Hash;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use symbols::Symbols;
use unwind::{Address, Stopped, unwind};
use watch::Seen;

/// What tells one crash from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashId {
    /// `SIGSEGV`, `stack-overflow`, `heap-buffer-overflow`, `runtime error: …`, `hang`.
    pub kind: String,
    /// Innermost first, without what only reports the fault.
    pub frames: Vec<Frame>,
    /// A hash of the kind and of the frames that count: equal for equal crashes.
    pub hash: u64,
}

/// A crash that was run once more.
#[derive(Clone, Debug)]
pub struct Examined {
    pub outcome: Outcome,
    /// `None` if the run exited: then the crash does not happen in a new process.
    pub crash: Option<CrashId>,
}

/// Runs crashes again, to say which they are.
pub struct Triage {
    executor: Executor,
    symbols: Symbols,
    timeout: Duration,
}

/// How much output of a run is kept.
const MAX_OUTPUT: u64 = 1 << 20;
/// How many different functions identify a crash.
const MAX_FUNCTIONS: usize = 4;
/// How many frames of an endless recursion count.
const MAX_RECURSION: usize = 64;

impl Triage {
    /// Runs the fast half, with its output kept; otherwise as the options say.
    pub fn new(
        layout: Arc<Layout>,
        target: &TargetOptions,
        timeout: Duration,
    ) -> Result<Triage, ExecError> {
        let mut target = target.clone();
        target.half = Half::Fast;
        target.output = Output::Capture { limit: MAX_OUTPUT };
        let executor = Executor::new(layout, target)?;
        Ok(Triage { executor, symbols: Symbols::default(), timeout })
    }

    /// Changes the time limit of runs.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Runs an input and says which crash it shows.
    pub fn examine(&mut self, input: &[u8]) -> Result<Examined, ExecError> {
        let timeout = self.timeout;
        let (mut outcome, seen) =
            self.executor.run_watched(input, timeout, |server, ready, done| {
                watch::watch(server, timeout, ready, done)
            })?;
        let crash = self.identify(&outcome, seen.unwrap_or_default());
        outcome.stderr = self.symbolise(&outcome.stderr);
        Ok(Examined { outcome, crash })
    }

    /// The standard error of a run, with names in a sanitizer's report.
    pub fn symbolise(&mut self, stderr: &[u8]) -> Vec<u8> {
        report::symbolise(stderr, &mut |a: &Address| self.symbols.frames(&a.file, a.address))
    }

    fn identify(&mut self, outcome: &Outcome, seen: Seen) -> Option<CrashId> {
        let Seen { crash, samples } = seen;
        let signal = match &outcome.end {
            End::Timeout => return Some(self.identify_hang(&samples)),
            End::Signal(signal) => *signal,
            end => return kind_of(end).map(|kind| CrashId::new(&kind, Vec::new())),
        };
        let crash = crash.filter(|c| c.signal == signal);
        if let Some(report) = report::parse(&outcome.stderr).filter(|_| signal == libc::SIGABRT) {
            let stack = match (report.stack.is_empty(), crash) {
                (true, Some(crash)) => unwind(&mut self.symbols, &crash.at),
                _ => report.stack,
            };
            return Some(CrashId::new(&report.kind, self.frames(&stack)));
        }
        let Some(crash) = crash else {
            return Some(CrashId::new(&signal_name(signal), Vec::new()));
        };
        let frames = self.stopped_frames(&crash.at);
        Some(match crash.stack_overflow {
            true => CrashId::recursion(frames),
            false => CrashId::new(&signal_name(signal), frames),
        })
    }

    /// A hang: the frames that all samples have in common, from the outer end.
    fn identify_hang(&mut self, samples: &[Stopped]) -> CrashId {
        let mut stacks: Vec<Vec<Frame>> = samples.iter().map(|s| self.stopped_frames(s)).collect();
        let Some(mut common) = stacks.pop() else { return CrashId::new("hang", Vec::new()) };
        for other in &stacks {
            // A later sample may be at another line of the same function.
            let is_same = |(a, b): &(&Frame, &Frame)| {
                a.function_key() == b.function_key() && a.module == b.module
            };
            let pairs = common.iter().rev().zip(other.iter().rev());
            let shared = pairs.take_while(is_same).count();
            common.drain(..common.len() - shared);
        }
        let mut id = CrashId::new("hang", common);
        id.hash =
            hash("hang", distinct(&id.frames, MAX_FUNCTIONS).iter().map(|f| f.function_key()));
        id
    }

    fn stopped_frames(&mut self, stopped: &Stopped) -> Vec<Frame> {
        let stack = unwind(&mut self.symbols, stopped);
        self.frames(&stack)
    }

    fn frames(&mut self, stack: &[Address]) -> Vec<Frame> {
        let mut frames = Vec::new();
        for Address { file, address } in stack {
            frames.extend(self.symbols.frames(file, *address));
        }
        without_noise(frames)
    }
}

/// The kind of crash that this end is, as far as the end alone tells it.
pub(crate) fn kind_of(end: &End) -> Option<String> {
    Some(match end {
        End::Exit(_) => return None,
        End::Signal(signal) => signal_name(*signal),
        End::Timeout => "hang".into(),
        End::Memory => "out of memory".into(),
        End::Output => "too much output".into(),
        End::Processes => "too many processes".into(),
        End::Lost(_) => "fork server lost".into(),
    })
}

impl CrashId {
    pub(crate) fn new(kind: &str, frames: Vec<Frame>) -> CrashId {
        let top = distinct(&frames, MAX_FUNCTIONS);
        let parts = top.iter().enumerate().map(|(i, f)| match i {
            0 => f.place_key(),
            _ => f.function_key(),
        });
        CrashId { hash: hash(kind, parts), kind: kind.into(), frames }
    }

    fn recursion(frames: Vec<Frame>) -> CrashId {
        let some = &frames[..frames.len().min(MAX_RECURSION)];
        let functions: BTreeSet<_> =
            distinct(some, MAX_RECURSION).iter().map(|f| f.function_key()).collect();
        let kind = "stack-overflow";
        CrashId { hash: hash(kind, functions.into_iter()), kind: kind.into(), frames }
    }

    /// The innermost frame of the program itself, if there is one.
    pub fn top(&self) -> Option<&Frame> {
        self.frames.iter().find(|f| f.is_of_program()).or(self.frames.first())
    }
}

/// One line: `heap-buffer-overflow in parse (calc.c:41)`.
impl fmt::Display for CrashId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        match self.top() {
            Some(top) => write!(f, " in {top}"),
            None => Ok(()),
        }
    }
}

/// The first frame of each function of the program, at most `max_count` of them. If no
/// function of the program is on the stack, all functions count.
fn distinct(frames: &[Frame], max_count: usize) -> Vec<&Frame> {
    let own = frames.iter().any(Frame::is_of_program);
    let mut found: Vec<&Frame> = Vec::new();
    for frame in frames.iter().filter(|f| !own || f.is_of_program()) {
        if found.len() < max_count
            && !found.iter().any(|f| f.function_key() == frame.function_key())
        {
            found.push(frame);
        }
    }
    found
}

fn hash(kind: &str, parts: impl Iterator<Item = String>) -> u64 {
    let hash = Hash::new().add_bytes(kind.as_bytes());
    parts.fold(hash, |hash, part| hash.add_bytes(part.as_bytes())).finish()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// `name`, `name:line`, or `lib/name` for a library.
    pub(crate) fn frames(text: &str) -> Vec<Frame> {
        let frame = |word: &str| {
            let (module, rest) = word.split_once('/').unwrap_or(("prog", word));
            let numbered = rest.rsplit_once(':').and_then(|(f, l)| Some((f, l.parse().ok()?)));
            let (function, line) = numbered.unwrap_or((rest, 0));
            Frame { function: function.into(), line, module: module.into(), ..Frame::default() }
        };
        text.split_whitespace().map(frame).collect()
    }

    fn same(a: &str, b: &str) -> bool {
        let id = |text| CrashId::new("SIGSEGV", without_noise(frames(text))).hash;
        id(a) == id(b)
    }

    #[test]
    fn kind_and_inner_functions_identify_a_crash() {
        // The same place at another depth, or below another outer caller.
        assert!(same("value:12 array:9 value:4 main:3", "value:12 array:9 value:4 array:9 main:3"));
        assert!(same("a:1 b:2 c:3 d:4 x:5 main:6", "a:1 b:9 c:9 d:9 y:5 main:6"));
        // How it was reported does not matter.
        assert!(same("libc.so.6/raise libc.so.6/abort f:3 main:9", "f:3 main:9"));
        assert!(same("libc.so.6/strlen f:3 main:9", "libc.so.6/strcpy f:3 main:9"));
        // Another line, another function, another caller.
        assert!(!same("f:3 main:9", "f:4 main:9"));
        assert!(!same("f:3 main:9", "g:3 main:9"));
        assert!(!same("f:3 g:1 main:9", "f:3 h:1 main:9"));
        let of = |kind: &str| CrashId::new(kind, frames("f:3 main:9")).hash;
        assert_ne!(of("SIGSEGV"), of("SIGABRT"));
    }

    #[test]
    fn the_order_of_a_recursion_does_not_count() {
        let id = |text| CrashId::recursion(frames(text)).hash;
        assert_eq!(id("a:1 b:2 a:1 b:2 main:3"), id("b:5 a:1 b:2 main:3"));
        assert_ne!(id("a:1 b:2 main:3"), id("a:1 c:2 main:3"));
    }

    #[test]
    fn a_crash_is_shown_on_one_line() {
        let mut all = frames("libc.so.6/strlen parse:41 main:3");
        all[1].file = "/src/calc.c".into();
        assert_eq!(CrashId::new("SIGSEGV", all).to_string(), "SIGSEGV in parse (calc.c:41)");
        assert_eq!(CrashId::new("hang", Vec::new()).to_string(), "hang");
    }
}
