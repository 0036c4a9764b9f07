//! Runs one half of a target on inputs, one at a time, through its fork server.
//!
//! The server is started when it is first needed, and started again after it was lost.
//! Whatever a run does, the result is an [`Outcome`] with an [`End`]. Errors are only for
//! what the user or the machine must fix.
//!
//! `setup` has what processes are given, `start` starts the server, `run` makes one run,
//! `batch` many at once, `limits` checks on them, and `live` has live runs.

mod batch;
pub(crate) mod limits;
mod live;
mod options;
mod outcome;
mod run;
mod sanitizers;
mod setup;
mod start;

pub use batch::{BatchInput, BatchRuns};
pub(crate) use limits::TICK;
pub use live::{Events, Paused, Step};
pub use options::{Half, MAX_NODES, Output, TargetOptions};
pub use outcome::{End, ExecError, ModuleCounters, Outcome, Touched};
pub(crate) use start::{add_args, with_path};

use crate::growth::Growth;
use crate::layout::Layout;
use crate::process::FileWatch;
use crate::server::Server;
use crate::trace::{Bound, BrokenTrace, Trace};
use live::SavedDir;
use pleach_abi::shm::{HOLES_MAX, Hole, Line};
use setup::Setup;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;

pub struct Executor {
    // Dropped first: no process may run when its files go.
    server: Option<Server>,
    setup: Setup,
    input_len: u64,
    /// The holes of the next run, and the lengths of those of the last.
    holes: Vec<Hole>,
    lengths: Vec<u32>,
    cpu_limit: Option<Duration>,
    growth: Growth,
    /// Runs record where the dependence on the input is lost.
    losses: bool,
    /// The next run needs a process that has seen no input before.
    fresh: bool,
    /// The scratch directory of the paused live run.
    saved_dir: SavedDir,
    /// The counters of the last run.
    lines: Vec<Line>,
    /// The last run has written into its scratch directory.
    dir_was_changed: bool,
    /// Inputs of the batch that runs; 0 if none does.
    batch: usize,
    /// The input of the batch that was the last to be checked for its limits.
    batch_checked: usize,
}

impl Executor {
    pub fn new(layout: Arc<Layout>, options: TargetOptions) -> Result<Executor, ExecError> {
        Ok(Executor {
            server: None,
            setup: Setup::new(layout, options)?,
            input_len: 0,
            holes: Vec::new(),
            lengths: Vec::new(),
            cpu_limit: None,
            growth: Growth::default(),
            losses: false,
            fresh: false,
            saved_dir: SavedDir::default(),
            lines: Vec::new(),
            dir_was_changed: false,
            batch: 0,
            batch_checked: 0,
        })
    }

    /// Starts the server if it is not running, so that its errors come now.
    pub fn start(&mut self) -> Result<(), ExecError> {
        if self.server.is_none() {
            self.server = Some(self.setup.start_server(false)?);
        }
        Ok(())
    }

    /// Ends the server. The next run has a new process, which has seen no input before.
    pub fn stop(&mut self) {
        self.server = None;
    }

    /// Sets whether token functions are a border in later runs.
    pub fn set_tokens(&mut self, tokens: bool) {
        self.setup.options.tokens = tokens;
    }

    /// Sets whether later runs record where the dependence on the input is lost.
    pub fn set_losses(&mut self, losses: bool) {
        self.losses = losses;
    }

    /// Sets the limit of CPU time for later runs. `None`: a few times the timeout.
    pub fn limit_cpu(&mut self, limit: Option<Duration>) {
        self.cpu_limit = limit;
    }

    /// Sets what typed calls past the end of the input get in later runs.
    pub fn set_growth(&mut self, growth: Growth) {
        self.growth = growth;
    }

    /// The file that inputs are written to: programs print its name.
    pub fn input_path(&self) -> &std::path::Path {
        self.setup.input.path()
    }

    /// Runs the target once.
    pub fn run(&mut self, input: &[u8], timeout: Duration) -> Result<Outcome, ExecError> {
        self.run_with(input, &[], timeout)
    }

    /// Like [`Executor::run`], with holes whose lengths are variables (symbolic half).
    /// Holes outside the input, and those beyond the maximum number, are ignored.
    pub fn run_with(
        &mut self,
        input: &[u8],
        holes: &[Hole],
        timeout: Duration,
    ) -> Result<Outcome, ExecError> {
        let is_inside = |h: &&Hole| {
            let end = u64::from(h.start) + u64::from(h.len);
            end <= input.len() as u64 && u64::from(h.grows) <= end
        };
        self.holes = holes.iter().filter(is_inside).take(HOLES_MAX).copied().collect();
        self.prepare(input)?;
        let mut outcome = self.run_prepared(timeout);
        self.collect(&mut outcome);
        Ok(outcome)
    }

    /// Runs the target once. The second result is true if anything opened or read the input
    /// file, also a library that was not built with Pleach.
    pub fn run_watching_input(
        &mut self,
        input: &[u8],
        timeout: Duration,
    ) -> Result<(Outcome, bool), ExecError> {
        self.prepare(input)?;
        let watch = FileWatch::new(self.setup.input.path());
        let mut outcome = self.run_prepared(timeout);
        self.collect(&mut outcome);
        // Without a watch, nobody knows: it may have been used.
        Ok((outcome, watch.map_or(true, |w| w.was_used())))
    }

    /// Like [`Executor::run`], in a process that has seen no input before. The fork server
    /// stays.
    pub fn run_fresh(&mut self, input: &[u8], timeout: Duration) -> Result<Outcome, ExecError> {
        self.fresh = true;
        let outcome = self.run(input, timeout);
        self.fresh = false;
        outcome
    }

    /// The counters that an input gives by itself: in a process that has seen no other
    /// input, and, in persistent mode, once more in the same process. The first round of a
    /// persistent process may take branches that no later round takes.
    pub fn cover_alone(
        &mut self,
        input: &[u8],
        timeout: Duration,
    ) -> Result<[Vec<ModuleCounters>; 2], ExecError> {
        self.run_fresh(input, timeout)?;
        let first = self.counters();
        if !self.is_waiting() {
            return Ok([first, Vec::new()]);
        }
        self.run(input, timeout)?;
        Ok([first, self.counters()])
    }

    /// True if the process of the last run waits for its next input (persistent mode).
    pub fn is_waiting(&self) -> bool {
        self.server.as_ref().is_some_and(|s| s.rounds > 0)
    }

    /// Runs the target once, in a new process, while `watch` runs in a thread. `watch` gets
    /// the process of the fork server. It sets the first flag when the run may begin; the
    /// second is set when the run has ended.
    pub(crate) fn run_watched<T: Send>(
        &mut self,
        input: &[u8],
        timeout: Duration,
        watch: impl FnOnce(i32, &AtomicBool, &AtomicBool) -> T + Send,
    ) -> Result<(Outcome, Option<T>), ExecError> {
        self.stop();
        self.prepare(input)?;
        // The server may report any number as its process.
        let server = self.server.as_ref().and_then(Server::verified_pid);
        let (ready, done) = (AtomicBool::new(false), AtomicBool::new(false));
        let (mut outcome, seen) = std::thread::scope(|scope| {
            let (ready, done) = (&ready, &done);
            // Without memory for a thread, nobody watches the run.
            let start = |pid| {
                let thread = std::thread::Builder::new();
                thread.spawn_scoped(scope, move || watch(pid, ready, done)).ok()
            };
            let thread = server.and_then(start);
            while thread.as_ref().is_some_and(|t| !t.is_finished()) && !ready.load(Acquire) {
                std::thread::sleep(Duration::from_micros(100));
            }
            let outcome = self.run_prepared(timeout);
            done.store(true, Release);
            (outcome, thread.and_then(|t| t.join().ok()))
        });
        self.collect(&mut outcome);
        self.stop();
        Ok((outcome, seen))
    }

    /// The trace of the last run (symbolic half).
    pub fn trace(&self) -> Result<Trace, BrokenTrace> {
        Trace::read(&self.setup.shm, self.input_len, &self.lengths)
    }

    /// The trace of the last run, with a bounded number of events: all that a search can
    /// use.
    pub fn bounded_trace(&self) -> Result<Trace, BrokenTrace> {
        let never = AtomicBool::new(false);
        let stop = self.setup.options.cancel.as_deref().unwrap_or(&never);
        let bound = Bound { max_nodes: self.setup.options.max_nodes, stop };
        Trace::read_bounded(&self.setup.shm, self.input_len, &self.lengths, bound)
    }

    /// Branch counters after the last run (fast half), by module. They include what the
    /// program covered before the server was ready.
    pub fn counters(&self) -> Vec<ModuleCounters> {
        self.touched().by_module()
    }

    /// The same: only the counters that the last run moved.
    pub fn touched(&self) -> Touched<'_> {
        match &self.server {
            Some(server) => Touched { modules: &server.modules, lines: &self.lines },
            None => Touched::default(),
        }
    }

    /// The executable files that the server has mapped: the program and its libraries.
    pub fn loaded_files(&self) -> Vec<PathBuf> {
        let pid = self.server.as_ref().and_then(Server::verified_pid);
        let maps = pid.and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/maps")).ok());
        let mut files: Vec<PathBuf> = Vec::new();
        for line in maps.unwrap_or_default().lines() {
            let is_code = line.split_whitespace().nth(1).is_some_and(|mode| mode.contains('x'));
            let path = line.find('/').map(|at| PathBuf::from(&line[at..]));
            files.extend(path.filter(|p| is_code && !files.contains(p)));
        }
        files
    }

    pub fn layout(&self) -> &Layout {
        &self.setup.layout
    }
}
