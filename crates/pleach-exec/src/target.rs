//! What a search needs of a target: run an input, trace an input, examine a crash, and
//! control a live run.
//!
//! [`CompiledTarget`] implements this with real processes. The fake target, which tests
//! use, is in `fake`.

use crate::executor::{
    BatchInput, BatchRuns, Events, ExecError, Executor, Half, Outcome, Step, TargetOptions, Touched,
};
use crate::growth::Growth;
use crate::layout::Layout;
use crate::trace::{BrokenTrace, Trace};
use crate::triage::{Examined, Triage};
use pleach_abi::shm::{Bias, Hole};
use std::sync::Arc;
use std::time::Duration;

/// A program that inputs can be run on: all that a search needs of a target.
pub trait Target: Send {
    /// Runs an input on the fast half.
    fn run(&mut self, input: &[u8], options: &RunOptions) -> Result<Outcome, ExecError>;

    /// Runs inputs on the fast half, in order, at least the first one. Stops after the first
    /// that does not end by itself, or earlier. The options hold for each, except for the
    /// growth, which each input has.
    fn run_batch(
        &mut self,
        inputs: &[BatchInput],
        options: &RunOptions,
        runs: &mut BatchRuns,
    ) -> Result<(), ExecError>;

    /// The counters that the last run moved (fast half).
    fn touched(&self) -> Touched<'_>;

    /// True if the process of the last run waits for its next input (persistent mode).
    fn is_waiting(&self) -> bool;

    /// Runs an input on the symbolic half and reads its (bounded) trace.
    fn trace(&mut self, input: &[u8], options: &TraceOptions) -> Result<TracedRun, ExecError>;

    /// Runs a crash once more, in a fresh process under ptrace, and says which crash it is.
    fn examine(&mut self, input: &[u8]) -> Result<Examined, ExecError>;

    /// The live run of one half (hybrid search). Made when it is first asked for.
    fn live(&mut self, half: Half) -> Result<&mut dyn LiveRun, ExecError>;
}

/// How one run of the fast half is made. The next run has its own options.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// By the clock.
    pub timeout: Duration,
    /// `None` for a few times the timeout; see [`Executor::limit_cpu`].
    pub cpu_limit: Option<Duration>,
    /// The process has seen no input before.
    pub fresh: bool,
    /// What typed calls past the end of the input get.
    pub growth: Growth,
}

/// How one run of the symbolic half is made. The next run has its own options.
#[derive(Clone, Copy, Debug)]
pub struct TraceOptions<'a> {
    /// By the clock.
    pub timeout: Duration,
    /// `None` for a few times the timeout; see [`Executor::limit_cpu`].
    pub cpu_limit: Option<Duration>,
    /// Token functions are a border; see docs/tokens.md.
    pub tokens: bool,
    /// Parts of the input whose lengths are variables.
    pub holes: &'a [Hole],
    /// What typed calls past the end of the input get.
    pub growth: Growth,
    /// Record where the dependence on the input is lost. Such a trace is whole, and not for a
    /// solver.
    pub losses: bool,
}

/// The result of a run of the symbolic half.
#[derive(Debug)]
pub struct TracedRun {
    pub outcome: Outcome,
    pub trace: Result<Trace, BrokenTrace>,
}

/// A process that reads its input event by event, and its snapshots. Each snapshot is a
/// paused process, forked from the one before; together they are a stack.
pub trait LiveRun: Send {
    /// Sets what random events are made of.
    fn set_bias(&mut self, bias: &Bias) -> Result<(), ExecError>;

    /// Drops all snapshots and starts a new run.
    fn begin(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError>;

    /// Resumes the top of the stack.
    fn resume(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError>;

    /// Forks the top of the stack: it stays paused, and its child continues.
    fn fork(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError>;

    /// Forks the top of the stack and gives the child these bytes. The child ends after
    /// them, or after `max_events` events. Counters and trace are the child's alone.
    fn explore(
        &mut self,
        bytes: &[u8],
        max_events: u64,
        timeout: Duration,
    ) -> Result<Outcome, ExecError>;

    /// Ends the top of the stack.
    fn drop_top(&mut self);

    /// How many processes are paused.
    fn depth(&self) -> usize;

    /// The bytes of input that the run has read, from this offset on.
    fn input(&self, from: u64) -> Result<Vec<u8>, ExecError>;

    /// Events since the run was last resumed, also if it has ended.
    fn events(&self) -> Result<u64, ExecError>;

    /// How many bytes the last explored path has read.
    fn explored_bytes(&self) -> Result<u64, ExecError>;

    /// The counters that the last step moved.
    fn touched(&self) -> Touched<'_>;

    /// The (bounded) trace of the last explored path. Offsets are those in its bytes.
    fn trace(&self) -> Result<Trace, BrokenTrace>;
}

/// A target compiled by `pleach cc`.
pub struct CompiledTarget {
    fast: Executor,
    symbolic: Executor,
    triage: Triage,
    layout: Arc<Layout>,
    /// The options of the executors for live runs, except for the half.
    live_options: TargetOptions,
    live_fast: Option<Executor>,
    live_symbolic: Option<Executor>,
}

impl CompiledTarget {
    /// Starts the fast half, so that its errors come at once. `options.half` is ignored:
    /// each half has an executor. Inputs of live runs have at most `live_bytes` bytes.
    pub fn new(
        layout: &Arc<Layout>,
        options: &TargetOptions,
        triage_timeout: Duration,
        live_bytes: u64,
    ) -> Result<CompiledTarget, ExecError> {
        let of_half = |half| TargetOptions { half, ..options.clone() };
        let triage = Triage::new(layout.clone(), options, triage_timeout)?;
        let mut fast = Executor::new(layout.clone(), of_half(Half::Fast))?;
        fast.start()?;
        let symbolic = Executor::new(layout.clone(), of_half(Half::Symbolic))?;
        let mut live_options = options.clone();
        live_options.sizes.live = live_bytes;
        Ok(CompiledTarget {
            fast,
            symbolic,
            triage,
            layout: layout.clone(),
            live_options,
            live_fast: None,
            live_symbolic: None,
        })
    }
}

impl Target for CompiledTarget {
    fn run(&mut self, input: &[u8], options: &RunOptions) -> Result<Outcome, ExecError> {
        self.fast.limit_cpu(options.cpu_limit);
        self.fast.set_growth(options.growth);
        match options.fresh {
            true => self.fast.run_fresh(input, options.timeout),
            false => self.fast.run(input, options.timeout),
        }
    }

    fn run_batch(
        &mut self,
        inputs: &[BatchInput],
        options: &RunOptions,
        runs: &mut BatchRuns,
    ) -> Result<(), ExecError> {
        self.fast.limit_cpu(options.cpu_limit);
        self.fast.run_batch(inputs, options.timeout, runs)
    }

    fn touched(&self) -> Touched<'_> {
        self.fast.touched()
    }

    fn is_waiting(&self) -> bool {
        self.fast.is_waiting()
    }

    fn trace(&mut self, input: &[u8], options: &TraceOptions) -> Result<TracedRun, ExecError> {
        self.symbolic.set_tokens(options.tokens);
        self.symbolic.limit_cpu(options.cpu_limit);
        self.symbolic.set_growth(options.growth);
        self.symbolic.set_losses(options.losses);
        let outcome = self.symbolic.run_with(input, options.holes, options.timeout)?;
        let trace = match options.losses {
            true => Executor::trace(&self.symbolic),
            false => self.symbolic.bounded_trace(),
        };
        Ok(TracedRun { outcome, trace })
    }

    fn examine(&mut self, input: &[u8]) -> Result<Examined, ExecError> {
        self.triage.examine(input)
    }

    fn live(&mut self, half: Half) -> Result<&mut dyn LiveRun, ExecError> {
        let slot = match half {
            Half::Fast => &mut self.live_fast,
            Half::Symbolic => &mut self.live_symbolic,
        };
        let executor = match slot.take() {
            Some(executor) => executor,
            None => {
                let options = TargetOptions { half, ..self.live_options.clone() };
                Executor::new(self.layout.clone(), options)?
            }
        };
        Ok(slot.insert(executor))
    }
}

impl LiveRun for Executor {
    fn set_bias(&mut self, bias: &Bias) -> Result<(), ExecError> {
        Executor::set_bias(self, bias)
    }

    fn begin(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        self.live_begin(events, timeout)
    }

    fn resume(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        self.live_resume(events, timeout)
    }

    fn fork(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        self.live_fork(events, timeout)
    }

    fn explore(
        &mut self,
        bytes: &[u8],
        max_events: u64,
        timeout: Duration,
    ) -> Result<Outcome, ExecError> {
        self.live_explore(bytes, max_events, timeout)
    }

    fn drop_top(&mut self) {
        self.live_drop_top();
    }

    fn depth(&self) -> usize {
        self.live_depth()
    }

    fn input(&self, from: u64) -> Result<Vec<u8>, ExecError> {
        self.live_input(from)
    }

    fn events(&self) -> Result<u64, ExecError> {
        self.live_events()
    }

    fn explored_bytes(&self) -> Result<u64, ExecError> {
        self.live_explored_bytes()
    }

    fn touched(&self) -> Touched<'_> {
        Executor::touched(self)
    }

    fn trace(&self) -> Result<Trace, BrokenTrace> {
        self.bounded_trace()
    }
}
