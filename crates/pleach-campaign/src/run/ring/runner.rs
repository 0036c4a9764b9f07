//! Runs inputs on the two halves of the target, within the limits of the campaign, and
//! counts the runs.

use super::candidate::Candidate;
use super::growing::Growing;
use super::history::History;
use super::patience::Patience;
use crate::run::account::{Account, Gap, ReachedFiles};
use crate::run::clock::{self, Part};
use crate::run::search::{Decided, Sites};
use crate::run::shared::Shared;
use pleach_abi::shm::Hole;
use pleach_exec::executor::{End, ExecError, Half};
use pleach_exec::growth::{Calls, Growth};
use pleach_exec::trace::Trace;
use pleach_exec::{BatchInput, BatchRuns, RunOptions, Target, TraceOptions, TracedRun};
use pleach_search::{BranchId, Counts, Gain, RunCost};
use pleach_work::{Entered, Task};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A run that waits may take this many times as long as one that works.
const WAITING_FACTOR: u32 = 10;
/// The symbolic half may take this many times as long as the fast one.
const SYMBOLIC_FACTOR: u32 = 10;
/// CPU time of a run that learns token numbers. Its tokens come at its beginning; the rest
/// of it may be endless.
const PROBE_CPU: Duration = Duration::from_millis(200);

/// What a run costs besides its branches, in microseconds: in a process of its own, or in one
/// that reads many inputs. `./x bench prices` compares costs with times.
pub const FORK_COST: u32 = 235;
const PERSISTENT_COST: u32 = 2;
/// Counts of branches that take about a microsecond.
const COUNTS_PER_MICROSECOND: u32 = 128;

/// One target, and what its last run on the fast half showed.
pub struct Runner {
    pub shared: Arc<Shared>,
    pub target: Box<dyn Target>,
    /// How often the last run took each branch.
    pub counts: Counts,
    /// The same of the run that is being confirmed.
    first_counts: Counts,
    /// How many inputs the process of the last run has read.
    round: u32,
    /// A process has waited for another input: the program runs in persistent mode.
    is_persistent: bool,
    /// CPU time of the last run.
    cpu: Duration,
    /// What typed calls of the last run did at the end of its input.
    calls: Calls,
    timeout: Duration,
    /// Runs may be stopped before the timeout.
    adaptive: bool,
    sites: Sites,
    /// The runs of the last batch.
    batch: BatchRuns,
    /// What other inputs the process has read.
    history: History,
    /// What the process of the last run had read before, if it crashed; the same for the
    /// last run of the batch.
    before_crash: Option<Vec<Arc<[u8]>>>,
    batch_before_crash: Option<Vec<Arc<[u8]>>>,
    /// Which source files runs reached, not yet in the account.
    reached: ReachedFiles,
}

/// How long runs may take, and how long typed calls may make inputs.
pub struct Pace {
    pub patience: Patience,
    pub growing: Growing,
}

/// How an input is run on the fast half.
#[derive(Clone, Copy)]
pub struct How {
    /// Nothing but the timeout stops it.
    pub all_time: bool,
    /// Its process has read no input before.
    pub fresh: bool,
    /// It counts as a run in the statistics.
    pub counted: bool,
}

impl Default for How {
    fn default() -> How {
        How { all_time: false, fresh: false, counted: true }
    }
}

/// The target runs for at most this time, while the result is kept.
#[must_use]
pub struct EnteredRun(#[allow(dead_code)] Entered);

/// The target runs from now on, for at most this time.
pub fn enter_run(task: Task, limit: Duration) -> EnteredRun {
    pleach_work::beat_after(limit);
    EnteredRun(pleach_work::enter(task))
}

impl Drop for EnteredRun {
    fn drop(&mut self) {
        pleach_work::beat();
    }
}

impl Runner {
    pub fn new(shared: Arc<Shared>, target: Box<dyn Target>) -> Runner {
        Runner {
            target,
            counts: Counts::default(),
            first_counts: Counts::default(),
            round: 1,
            is_persistent: false,
            cpu: Duration::ZERO,
            calls: Calls::default(),
            timeout: Duration::from_millis(shared.settings.timeout_ms),
            adaptive: shared.settings.adaptive,
            sites: Sites::default(),
            batch: BatchRuns::default(),
            history: History::default(),
            before_crash: None,
            batch_before_crash: None,
            reached: ReachedFiles::default(),
            shared,
        }
    }

    /// Runs an input on the fast half. Its length does not change.
    pub fn run(&mut self, bytes: &[u8], how: How) -> Result<End, ExecError> {
        let is_limited = self.adaptive && !how.all_time;
        let limit = is_limited.then(|| self.shared.pace().patience.limit());
        self.run_within(bytes, how, limit, Growth::default())
    }

    /// Runs an input on the fast half. Typed calls may make it longer: then it is replaced
    /// by the input as the program has read it.
    pub fn run_growing(&mut self, bytes: &mut Arc<[u8]>, all_time: bool) -> Result<End, ExecError> {
        let is_limited = self.adaptive && !all_time;
        loop {
            let (growth, limit) = {
                let pace = self.shared.pace();
                (pace.growing.allow(bytes), is_limited.then(|| pace.patience.limit()))
            };
            let how = How { all_time, ..How::default() };
            let end = self.run_within(bytes, how, limit, growth)?;
            let calls = self.calls;
            if calls == Calls::default() {
                return Ok(end);
            }
            // With more time, a run that was stopped early might have ended by itself.
            let timed_out = end == End::Timeout && !is_limited;
            if !self.shared.pace().growing.accept(&growth, &calls, timed_out) {
                continue;
            }
            if calls.ended {
                self.shared.lock().record_gap(Gap::AtMaxLen);
            }
            if let std::borrow::Cow::Owned(longer) = growth.add(bytes, &calls) {
                *bytes = longer.into();
            }
            return Ok(end);
        }
    }

    fn run_within(
        &mut self,
        bytes: &[u8],
        How { all_time, fresh, counted }: How,
        limit: Option<Duration>,
        growth: Growth,
    ) -> Result<End, ExecError> {
        let start = Instant::now();
        let options = self.options(limit, fresh, growth);
        let running = enter_run(Task::Run, options.timeout);
        let outcome = self.target.run(bytes, &options)?;
        drop(running);
        let waits = self.target.is_waiting();
        self.before_crash = self.history.add(&outcome, || bytes.into(), waits);
        self.shared.map.collect(self.target.touched(), &mut self.counts);
        (self.round, self.cpu, self.calls) = (outcome.round, outcome.cpu, outcome.calls);
        self.is_persistent |= self.round > 1 || waits;
        let took = start.elapsed();
        clock::charge(Part::Fast, took);
        if counted {
            self.reached.count(&self.shared.map, &self.counts);
            self.shared.runs.fetch_add(1, Ordering::Relaxed);
        }
        let patience = &mut self.shared.pace().patience;
        match all_time {
            true => patience.ran_again(took),
            false => patience.ran(took, outcome.end == End::Timeout),
        }
        Ok(outcome.end)
    }

    /// Runs candidates on the fast half, in order, at least the first one; see
    /// [`Target::run_batch`]. Returns how many. [`Runner::adopt`] shows them one by one.
    pub fn run_batch(&mut self, candidates: &[Candidate]) -> Result<usize, ExecError> {
        let (growing, limit) = {
            let pace = self.shared.pace();
            (pace.growing, self.adaptive.then(|| pace.patience.limit()))
        };
        let input = |c: &'_ Candidate| growing.allow(&c.bytes);
        let growths: Vec<Growth> = candidates.iter().map(input).collect();
        let inputs = candidates.iter().zip(growths);
        let inputs: Vec<BatchInput> =
            inputs.map(|(c, growth)| BatchInput { bytes: &c.bytes, growth }).collect();
        let options = self.options(limit, false, Growth::default());
        let start = Instant::now();
        let running = enter_run(Task::Run, options.timeout * inputs.len() as u32);
        self.target.run_batch(&inputs, &options, &mut self.batch)?;
        drop(running);
        let outcomes = self.batch.outcomes();
        for (i, (outcome, candidate)) in outcomes.iter().zip(candidates).enumerate() {
            let waits = i + 1 < outcomes.len() || self.target.is_waiting();
            let bytes = || candidate.bytes.clone();
            self.batch_before_crash = self.history.add(outcome, bytes, waits);
        }
        let was_stopped = outcomes.last().is_some_and(|last| last.end == End::Timeout);
        let took = start.elapsed();
        let stopped = if was_stopped { took.min(options.timeout) } else { Duration::ZERO };
        clock::charge(Part::Fast, took);
        let patience = &mut self.shared.pace().patience;
        patience.ran(took - stopped, false);
        if was_stopped {
            patience.ran(stopped, true);
        }
        Ok(outcomes.len())
    }

    /// Makes a run of the last batch the last run. Returns how it ended.
    pub fn adopt(&mut self, run: usize) -> End {
        let outcome = &self.batch.outcomes()[run];
        (self.round, self.cpu, self.calls) = (outcome.round, outcome.cpu, outcome.calls);
        self.before_crash = None;
        if run + 1 == self.batch.outcomes().len() {
            self.before_crash = self.batch_before_crash.take();
        }
        self.shared.map.collect(self.batch.touched(run), &mut self.counts);
        outcome.end.clone()
    }

    /// The inputs that the process of the last run had read before, if it crashed and it is
    /// known that these are all.
    pub fn take_before_crash(&mut self) -> Option<Vec<Arc<[u8]>>> {
        self.before_crash.take()
    }

    /// True if the last run, which ended like this, has nothing to report: it ended by
    /// itself, and covers what others cover.
    pub fn is_quiet(&self, end: &End) -> bool {
        let has_ended = matches!(end, End::Exit(_)) && self.calls == Calls::default();
        has_ended && self.shared.seen.has_all(&self.counts)
    }

    /// Counts the last run, which was adopted from a batch.
    pub fn count_adopted(&mut self) {
        self.reached.count(&self.shared.map, &self.counts);
    }

    /// True if typed calls of the last run have changed its input, or tried to.
    pub fn has_calls(&self) -> bool {
        self.calls != Calls::default()
    }

    /// Puts what was counted into the account.
    pub fn report(&mut self, account: &mut Account) {
        self.reached.report(account);
    }

    fn options(&self, limit: Option<Duration>, fresh: bool, growth: Growth) -> RunOptions {
        RunOptions {
            timeout: limit.map_or(self.timeout, |l| self.timeout.min(l * WAITING_FACTOR)),
            cpu_limit: limit.map(|l| l.min(self.timeout)),
            fresh,
            growth,
        }
    }

    /// Runs an input again that gained something, in a process that has read no other: the
    /// file alone must show what counts. If that process then waits for more, it gets the
    /// same input once more. So a persistent target that fills a table in its first call
    /// shows both what it does in that call and what it does in all others. Branches and
    /// hit counts that neither run confirms are removed from the gain, and returned.
    pub fn confirm(&mut self, bytes: &[u8], gain: &mut Gain) -> Result<Vec<BranchId>, ExecError> {
        let cpu = self.cpu;
        std::mem::swap(&mut self.counts, &mut self.first_counts);
        let mut not_taken = gain.branches.clone();
        let mut differing = gain.buckets.clone();
        self.run(bytes, How { fresh: true, ..How::default() })?;
        loop {
            let (now, first) = (&self.counts, &self.first_counts);
            not_taken.retain(|&b| now.get(b) == 0);
            differing.retain(|&b| now.get(b) != first.get(b));
            let is_confirmed = not_taken.is_empty() && differing.is_empty();
            if is_confirmed || self.round > 1 || !self.target.is_waiting() {
                break;
            }
            self.run(bytes, How::default())?;
        }
        gain.branches.retain(|b| !not_taken.contains(b));
        gain.buckets.retain(|b| !differing.contains(b));
        std::mem::swap(&mut self.counts, &mut self.first_counts);
        self.cpu = cpu;
        not_taken.append(&mut differing);
        Ok(not_taken)
    }

    /// Runs an input on the symbolic half.
    pub fn trace(
        &mut self,
        input: &[u8],
        holes: &[Hole],
        tokens: bool,
    ) -> Result<TracedRun, ExecError> {
        let limit = self.adaptive.then(|| self.shared.pace().patience.max_limit());
        let timeout = self.symbolic_timeout();
        let cpu_limit = limit.map(|l| timeout.min(l * SYMBOLIC_FACTOR));
        loop {
            let fixed = self.shared.pace().growing.fixed;
            let growth = Growth { fixed, ..Growth::default() };
            let options = TraceOptions { timeout, cpu_limit, tokens, holes, growth, losses: false };
            let running = enter_run(Task::Trace, timeout);
            let traced = self.target.trace(input, &options)?;
            drop(running);
            if fixed || !traced.outcome.calls.mixed {
                return Ok(traced);
            }
            // The program also reads this input as a stream, so its end is a decision.
            self.shared.pace().growing.fixed = true;
        }
    }

    /// The numbers of the tokens that the program asks for in a short run on an input.
    /// `None` if its trace cannot be used.
    pub fn probe_tokens(&mut self, input: &[u8]) -> Result<Option<Vec<i32>>, ExecError> {
        let options = TraceOptions {
            timeout: self.symbolic_timeout(),
            cpu_limit: self.adaptive.then_some(PROBE_CPU),
            tokens: true,
            holes: &[],
            growth: Growth::default(),
            losses: false,
        };
        let _running = enter_run(Task::Trace, options.timeout);
        let trace = self.target.trace(input, &options)?.trace.ok();
        Ok(trace.map(|trace| trace.token_numbers()))
    }

    /// The decisions of a trace.
    pub fn decide(&mut self, trace: &Trace) -> Decided {
        self.shared.map.decide(&mut self.sites, trace)
    }

    /// Gives a long input time by its length, and nothing stops it earlier.
    pub fn with_time_for<T>(
        &mut self,
        len: usize,
        run: impl FnOnce(&mut Runner) -> Result<T, ExecError>,
    ) -> Result<T, ExecError> {
        const BYTES_PER_TIMEOUT: usize = 16 << 10;
        let (timeout, adaptive) = (self.timeout, self.adaptive);
        self.timeout = timeout * (1 + len / BYTES_PER_TIMEOUT) as u32;
        self.adaptive = false;
        let result = run(self);
        (self.timeout, self.adaptive) = (timeout, adaptive);
        result
    }

    /// Takes the counters of the last step of the live run for the counts of the last run.
    pub fn read_live_counts(&mut self) -> Result<(), ExecError> {
        let touched = self.target.live(Half::Fast)?.touched();
        self.shared.map.collect(touched, &mut self.counts);
        Ok(())
    }

    /// True if the last run took all these branches.
    pub fn has_taken(&self, branches: &[BranchId]) -> bool {
        branches.iter().all(|&b| self.counts.get(b) != 0)
    }

    /// True if the last run did not take this branch of the program.
    pub fn has_missed(&self, branch: BranchId) -> bool {
        self.counts.get(branch) == 0
    }

    /// What the last run cost. A branch and what belongs to it takes some nanoseconds.
    pub fn cost(&self) -> RunCost {
        let fixed = if self.is_persistent { PERSISTENT_COST } else { FORK_COST };
        RunCost { work: self.counts.sum() / COUNTS_PER_MICROSECOND, fixed }
    }

    /// CPU time of the last run.
    pub fn cpu(&self) -> Duration {
        self.cpu
    }

    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    pub fn symbolic_timeout(&self) -> Duration {
        self.timeout * SYMBOLIC_FACTOR
    }

    /// True if runs may be stopped before the timeout.
    pub fn is_adaptive(&self) -> bool {
        self.adaptive
    }
}
