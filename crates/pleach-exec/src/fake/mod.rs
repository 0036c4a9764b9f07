//! A target that is a Rust function, for tests of the code that runs targets.
//!
//! Nothing is compiled and no process is started, so a test takes microseconds. But the
//! results are real: outcomes, branch counters, traces with nodes and events, and the
//! tables of the program, as if `pleach cc` had made them.
//!
//! A test declares the branches of its program by their lines, and then writes its `main`:
//!
//! ```
//! use pleach_exec::fake::FakeProgram;
//! use pleach_exec::End;
//!
//! let target = FakeProgram::new()
//!     .branches("main", [10, 11])
//!     .switch("parse", 20, [b'+', b'-'])
//!     .target(|run| {
//!         let (first, second) = (run.byte(0), run.byte(1));
//!         if run.branch(10, first.equals(b'a')) {
//!             return run.crash(libc::SIGSEGV);
//!         }
//!         run.branch(11, first.plus(1u8).is_below(second));
//!         match run.switch(20, &first) {
//!             Some(0) => End::Timeout,
//!             _ => End::Exit(0),
//!         }
//!     });
//! let (layout, log) = (target.layout(), target.log());
//! ```
//!
//! `main` says by its result how the run ends: by itself, by a crash, or by a limit. Both
//! halves run the same function; [`FakeRun::half`] tells them apart. Token functions and
//! lengths of holes are not simulated: no event depends on them.

#![forbid(unsafe_code)]

mod live;
mod program;
mod run;
#[cfg(test)]
mod tests;
mod value;

pub use program::{FILE, FakeProgram};
pub use run::FakeRun;
pub use value::Value;

use crate::executor::limits::CPU_SHARE;
use crate::executor::{BatchInput, BatchRuns, End, ExecError, Half, Outcome, Touched};
use crate::growth::Growth;
use crate::layout::Layout;
use crate::shm::LoadedModule;
use crate::target::{LiveRun, RunOptions, Target, TraceOptions, TracedRun};
use crate::trace::{BrokenTrace, Trace};
use crate::triage::{CrashId, Examined, Frame, kind_of};
use live::FakeLive;
use pleach_abi::shm::{Hole, LINE_COUNTERS, Line};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

type Main = dyn Fn(&mut FakeRun) -> End + Send + Sync;

/// A target without a process. Clones have the same program and the same log.
#[derive(Clone)]
pub struct FakeTarget {
    runner: Runner,
    /// The counters that the last run moved.
    lines: Vec<Line>,
    /// False if the last run was lost with its server.
    has_server: bool,
    /// How many inputs the waiting process has seen (persistent mode).
    rounds: u32,
    live_fast: FakeLive,
    live_symbolic: FakeLive,
}

/// One entry of the log.
#[derive(Clone, Debug)]
pub struct LoggedRun {
    pub input: Vec<u8>,
    pub half: Half,
    pub purpose: Purpose,
    pub timeout: Duration,
    pub cpu_limit: Option<Duration>,
    pub growth: Growth,
    pub fresh: bool,
    pub tokens: bool,
    pub holes: Vec<Hole>,
}

/// The method that made a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Run,
    Trace,
    Examine,
    Live,
}

/// All runs of a target and its clones, in order.
#[derive(Clone, Debug, Default)]
pub struct FakeLog(Arc<Mutex<Vec<LoggedRun>>>);

impl FakeLog {
    pub fn runs(&self) -> Vec<LoggedRun> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how many runs there were before.
    fn add(&self, run: LoggedRun) -> usize {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.push(run);
        runs.len() - 1
    }
}

/// What every run needs.
#[derive(Clone)]
struct Runner {
    program: Arc<FakeProgram>,
    main: Arc<Main>,
    log: FakeLog,
    modules: Arc<[LoadedModule]>,
}

/// The result of a run.
struct Finished {
    outcome: Outcome,
    counters: Vec<u8>,
    trace: Result<Trace, BrokenTrace>,
    stack: Vec<Frame>,
    /// A live run has used all its bytes.
    is_paused: bool,
    /// How far the input was read.
    read: usize,
}

impl Runner {
    /// Logs a run and makes it.
    fn run(&self, request: LoggedRun, round: u32) -> Finished {
        let runs_before = self.log.add(request.clone());
        self.execute(&request, runs_before, round, None)
    }

    /// Runs the program. `resumed_at`: as a live run that was paused at this offset.
    fn execute(
        &self,
        request: &LoggedRun,
        runs_before: usize,
        round: u32,
        resumed_at: Option<usize>,
    ) -> Finished {
        let mut run = FakeRun::new(&self.program, &request.input, request.half);
        (run.runs_before, run.round, run.growth) = (runs_before, round, request.growth);
        if let Some(offset) = resumed_at {
            run.resume_at(offset);
        }
        let mut end = (self.main)(&mut run);
        let cpu_limit = request.cpu_limit.unwrap_or(request.timeout * CPU_SHARE);
        if run.cpu > cpu_limit {
            (end, run.cpu) = (End::Timeout, cpu_limit);
        }
        let outcome = Outcome {
            end,
            cpu: run.cpu,
            round,
            calls: run.calls,
            stderr: std::mem::take(&mut run.stderr),
            ..Outcome::not_run()
        };
        let (stack, is_paused, read) = (run.stack(), run.is_paused, run.read);
        let lengths: Vec<u32> = request.holes.iter().map(|hole| hole.len).collect();
        let (counters, trace) = run.finish(&lengths);
        Finished { outcome, counters, trace, stack, is_paused, read }
    }
}

/// The counters that are not 0, in lines.
fn lines_of(counters: &[u8]) -> Vec<Line> {
    let chunks = counters.chunks(LINE_COUNTERS).zip((0..).step_by(LINE_COUNTERS));
    let line = |(chunk, first): (&[u8], u32)| {
        let mut line = Line { first, ..Line::default() };
        line.counts[..chunk.len()].copy_from_slice(chunk);
        (line.counts != [0; LINE_COUNTERS]).then_some(line)
    };
    chunks.filter_map(line).collect()
}

impl FakeTarget {
    fn new(program: FakeProgram, main: Arc<Main>) -> FakeTarget {
        let modules = [program.module()].into();
        let runner = Runner { program: Arc::new(program), main, log: FakeLog::default(), modules };
        FakeTarget {
            lines: Vec::new(),
            has_server: false,
            rounds: 0,
            live_fast: FakeLive::new(&runner, Half::Fast),
            live_symbolic: FakeLive::new(&runner, Half::Symbolic),
            runner,
        }
    }

    /// The tables of the program.
    pub fn layout(&self) -> Arc<Layout> {
        Arc::new(self.runner.program.layout())
    }

    pub fn log(&self) -> FakeLog {
        self.runner.log.clone()
    }
}

impl Target for FakeTarget {
    fn run(&mut self, input: &[u8], options: &RunOptions) -> Result<Outcome, ExecError> {
        if options.fresh {
            self.rounds = 0;
        }
        let logged = LoggedRun {
            input: input.to_vec(),
            half: Half::Fast,
            purpose: Purpose::Run,
            timeout: options.timeout,
            cpu_limit: options.cpu_limit,
            growth: options.growth,
            fresh: options.fresh,
            tokens: false,
            holes: Vec::new(),
        };
        let finished = self.runner.run(logged, self.rounds + 1);
        let end = &finished.outcome.end;
        let waits = self.runner.program.is_persistent && *end == End::Exit(0);
        self.rounds = if waits { self.rounds + 1 } else { 0 };
        self.has_server = !matches!(end, End::Lost(_));
        self.lines = lines_of(&finished.counters);
        Ok(finished.outcome)
    }

    fn run_batch(
        &mut self,
        inputs: &[BatchInput],
        options: &RunOptions,
        runs: &mut BatchRuns,
    ) -> Result<(), ExecError> {
        runs.clear();
        for input in inputs {
            let options = RunOptions { growth: input.growth, ..*options };
            let outcome = self.run(input.bytes, &options)?;
            let lines = if self.has_server { &self.lines[..] } else { &[] };
            runs.push(&self.runner.modules, outcome, lines);
            if !self.is_waiting() {
                break;
            }
        }
        Ok(())
    }

    fn touched(&self) -> Touched<'_> {
        match self.has_server {
            true => Touched { modules: &self.runner.modules, lines: &self.lines },
            false => Touched::default(),
        }
    }

    fn is_waiting(&self) -> bool {
        self.rounds > 0
    }

    fn trace(&mut self, input: &[u8], options: &TraceOptions) -> Result<TracedRun, ExecError> {
        let logged = LoggedRun {
            input: input.to_vec(),
            half: Half::Symbolic,
            purpose: Purpose::Trace,
            timeout: options.timeout,
            cpu_limit: options.cpu_limit,
            growth: options.growth,
            fresh: false,
            tokens: options.tokens,
            holes: options.holes.to_vec(),
        };
        let finished = self.runner.run(logged, 1);
        Ok(TracedRun { outcome: finished.outcome, trace: finished.trace })
    }

    fn examine(&mut self, input: &[u8]) -> Result<Examined, ExecError> {
        let logged = LoggedRun {
            input: input.to_vec(),
            half: Half::Fast,
            purpose: Purpose::Examine,
            timeout: Duration::from_secs(1),
            cpu_limit: None,
            growth: Growth::default(),
            fresh: true,
            tokens: false,
            holes: Vec::new(),
        };
        let Finished { outcome, stack, .. } = self.runner.run(logged, 1);
        let crash = kind_of(&outcome.end).map(|kind| CrashId::new(&kind, stack));
        Ok(Examined { outcome, crash })
    }

    fn live(&mut self, half: Half) -> Result<&mut dyn LiveRun, ExecError> {
        Ok(match half {
            Half::Fast => &mut self.live_fast,
            Half::Symbolic => &mut self.live_symbolic,
        })
    }
}
