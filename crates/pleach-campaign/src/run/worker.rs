//! One worker: its own pair of target processes and its own solver. It asks the
//! shared state for an action, does it without the lock, and reports.

use super::corpus::Kept;
use super::ends::signature;
use super::fit::Fit;
use super::graft::Stock;
use super::growing::AT_MAX_LEN;
use super::hybrid::Live;
use super::journal::Record;
use super::language::{Language, Walk};
use super::map::{Map, Sites};

use super::settings::Settings;
use super::sizes::{Asked, Foretold, Sizes};
use super::state::{Executed, State, changes_key, is_crash, limit_of};
use super::stats::Stop;
use super::store::Expect;
use super::tokens::{Solved, TOKENS};
use crate::mutate::{Dictionary, Mutator};
use pleach_abi::event::Kind;
use pleach_exec::executor::{End, ExecError, Executor, Half, TargetOptions};
use pleach_exec::growth::{Calls, Growth};
use pleach_exec::layout::Layout;
use pleach_exec::scratch::WorkDir;
use pleach_exec::triage::{CrashId, Triage};
use pleach_expr::Expr;
use pleach_search::{
    Action, BranchId, Descriptor, Flip, Gain, InputId, Origin, Rng, Run, RunId, TokenUse, Tree,
    Verdict,
};
use pleach_solve::{Config, Goal, Interrupt, Path, Requirement, Solver, Step};
use pleach_template::{Reading, Sentence, Template, Vocabulary};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What all workers of a campaign share.
pub struct Shared {
    pub state: Mutex<State>,
    /// Something under way came back.
    pub wake: Condvar,
    /// Set when everything must end; running targets are killed.
    pub stop: Arc<AtomicBool>,
    pub map: Arc<Map>,
    pub settings: Settings,
    /// What is known of the strategy beforehand.
    pub descriptor: &'static Descriptor,
    /// The files that runs find in their directory.
    pub workdir: Option<WorkDir>,
    pub limits: Limits,
    /// Traces of the runs that are kept.
    pub traces: Mutex<HashMap<RunId, Arc<Traced>>>,
    pub dictionary: Mutex<Dictionary>,
    /// What inputs are derived from.
    pub language: Option<Language>,
    /// Conditions over lengths that were asked for.
    pub sizes: Mutex<Asked>,
    /// What flips over tokens need, and how they are solved.
    pub vocabulary: Option<(Mutex<Vocabulary>, TokenUse)>,
    /// What is known of how the program takes the grammar's sentences.
    pub fit: Mutex<Fit>,
    /// Inputs that others are put together from.
    pub stock: Option<Mutex<Stock>>,
}

/// When a campaign ends by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub runs: Option<u64>,
    pub time: Option<Duration>,
    pub stop_on_crash: bool,
    /// The program does not read its input: nothing is to be tried but the seeds.
    pub reads_nothing: bool,
}

/// What flips of a run need.
pub struct Traced {
    pub(super) expr: Expr,
    pub(super) steps: Vec<Step>,
    pub input: Arc<[u8]>,
    pub(super) template: Option<Arc<Template>>,
    /// The input as tokens, and with their numbers behind it.
    pub(super) sentence: Option<Sentence>,
    pub(super) extended: Option<Vec<u8>>,
    /// Its tokens are variables.
    pub(super) tokens: bool,
    /// Where the numbers of its tokens begin: behind it and the lengths of its holes.
    pub(super) first: u32,
    /// What it decided on the lengths of holes.
    pub(super) sizes: Sizes,
    /// Ends the preparation of its path.
    pub(super) interrupt: Interrupt,
}

impl Traced {
    pub fn new(expr: Expr, steps: Vec<Step>, input: Arc<[u8]>, interrupt: Interrupt) -> Traced {
        Traced {
            expr,
            steps,
            template: None,
            sentence: None,
            extended: None,
            tokens: false,
            first: input.len() as u32,
            input,
            sizes: Sizes::default(),
            interrupt,
        }
    }

    /// Bytes of memory besides the expressions, roughly.
    pub(super) fn weight(&self) -> usize {
        let lexemes = self.sentence.as_ref().map_or(0, |s| size_of_val(&s.lexemes[..]));
        let holes = self.template.as_ref().map_or(0, |t| size_of_val(&t.holes[..]));
        let extended = self.extended.as_ref().map_or(0, Vec::len);
        size_of_val(&self.steps[..]) + lexemes + holes + extended
    }

    /// The path, prepared for flips.
    pub fn path(&self) -> Path {
        let input = self.extended.as_deref().unwrap_or(&self.input);
        let required = self.template.as_ref().map(|t| t.requirements(input));
        self.path_under(&required.unwrap_or_default())
    }

    /// The path under other requirements than the template's own.
    pub fn path_under(&self, required: &[Requirement]) -> Path {
        let (lengths, offsets) = pleach_expr::container::extents(&self.input);
        let input = self.extended.as_deref().unwrap_or(&self.input);
        let streams = (&lengths[..], &offsets[..]);
        let steps = self.steps.clone();
        Path::under(required, &self.expr, steps, input, streams, &self.interrupt)
    }
}

/// What is known of an input that was solved for.
#[derive(Default)]
pub struct Promised {
    pub expect: Option<Expect>,
    /// What the journal is to say once the input is there.
    pub answer: Option<Record>,
    /// What of it may change, if not everything.
    pub template: Option<Arc<Template>>,
    /// What it will decide on lengths, if it was made for that.
    pub foretold: Option<Foretold>,
}

/// Worker-side copies of prepared paths: as many as fit.
#[derive(Default)]
pub(super) struct Paths {
    /// The one used last is at the end.
    paths: Vec<(RunId, Path)>,
    /// Operations of all paths that were prepared.
    prepared: u64,
}

/// Paths that are kept prepared, and the memory that they may have when there are more
/// than a few.
const PATHS_KEPT: usize = 48;
const PATHS_AT_LEAST: usize = 4;
const PATHS_MEMORY: usize = 256 << 20;
/// What an operation costs in microseconds: to evaluate, and to prepare a path of.
const EVALUATING: f64 = 0.005;
const PREPARING: f64 = 0.3;
/// What a run that does not end costs besides, in microseconds.
const HUNG: u32 = 30_000;
/// A run that waits may take so many times as long as one that works.
const WAITING: u32 = 10;
/// The symbolic half may take longer than the fast one.
pub const SYMBOLIC_PATIENCE: u32 = 10;

/// How an input runs on the fast half.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// It has all the time there is.
    pub long: bool,
    /// Its process has seen no input before.
    pub fresh: bool,
    /// It was not counted when it was made.
    pub counted: bool,
}

impl Default for How {
    fn default() -> How {
        How { long: false, fresh: false, counted: true }
    }
}

impl Shared {
    /// The most bytes that a child of an input may have: typed calls can have made it
    /// longer than inputs are made otherwise.
    pub(super) fn max_len(&self, parent: &[u8]) -> usize {
        usize::try_from(self.settings.max_len).unwrap_or(usize::MAX).max(parent.len())
    }

    /// The state. A worker that panicked has left it as it was between two
    /// steps; the campaign can be ended in order.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What ends long work when the campaign does.
    pub fn interrupt(&self) -> Interrupt {
        Interrupt::new(self.stop.clone())
    }

    /// Ends the campaign, for the first reason given.
    pub fn end(&self, state: &mut State, why: Stop) {
        state.stop.get_or_insert(why);
        self.stop.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }
}

pub struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) fast: Executor,
    pub(super) symbolic: Executor,
    pub(super) solver: Solver,
    /// Operations of all requests for other lengths.
    pub(super) resizing: u64,
    pub(super) sites: Sites,
    pub(super) paths: Paths,
    /// The tokens of the run that was flipped last.
    pub(super) reading: Option<(RunId, Reading)>,
    pub(super) mutator: Mutator,
    triage: Triage,
    pub(super) counts: Vec<u8>,
    again: Vec<u8>,
    /// How many inputs the process of the last run has seen.
    round: u32,
    pub(super) timeout: Duration,
    /// CPU time of the last run.
    cpu: Duration,
    /// What typed calls of the last run did at the end of its input.
    calls: Calls,
    /// Runs are given up before the limit.
    pub(super) adaptive: bool,
    /// Its live run, where the strategy wants one.
    pub(super) live: Option<Live>,
}

impl Worker {
    pub fn new(shared: Arc<Shared>, layout: &Arc<Layout>) -> Result<Worker, ExecError> {
        let settings = &shared.settings;
        let timeout = Duration::from_millis(settings.timeout_ms);
        let target = |half| TargetOptions {
            cancel: Some(shared.stop.clone()),
            ..settings.target(half, shared.workdir.as_ref())
        };
        let triage = Triage::new(layout.clone(), &target(Half::Fast), timeout)?;
        let mut fast = Executor::new(layout.clone(), target(Half::Fast))?;
        fast.start()?;
        let symbolic = Executor::new(layout.clone(), target(Half::Symbolic))?;
        let live = match shared.descriptor.live {
            true => {
                let seed = shared.lock().rng.next_u64();
                Some(Live::new(layout, target, settings, seed)?)
            }
            false => None,
        };
        Ok(Worker {
            fast,
            symbolic,
            solver: Solver::new(Config { interrupt: shared.interrupt(), ..Config::default() }),
            resizing: 0,
            sites: Sites::default(),
            paths: Paths::default(),
            reading: None,
            mutator: Mutator::new(),
            triage,
            counts: Vec::new(),
            again: Vec::new(),
            round: 1,
            timeout,
            cpu: Duration::ZERO,
            calls: Calls::default(),
            adaptive: settings.adaptive,
            live,
            shared,
        })
    }

    /// Works until the campaign is over.
    pub fn work(&mut self) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        while let Some(action) = self.ask() {
            let result = self.act(action);
            let mut state = shared.lock();
            state.outstanding -= 1;
            shared.wake.notify_all();
            result?;
        }
        Ok(())
    }

    /// The next action, when there is one; `None` when the campaign is over.
    fn ask(&self) -> Option<Action> {
        let shared = &self.shared;
        let mut state = shared.lock();
        loop {
            if state.failed.is_none() {
                state.failed = state.dir.failure();
            }
            if state.failed.is_some() {
                shared.stop.store(true, Ordering::Relaxed);
                shared.wake.notify_all();
            }
            if shared.stopping() {
                return None;
            }
            if shared.limits.runs.is_some_and(|n| state.stats.runs >= n) {
                shared.end(&mut state, Stop::Runs);
                return None;
            }
            match state.next() {
                Action::Wait if state.outstanding == 0 => {
                    if state.strategy.left_out() > 0 {
                        state.partial("left out");
                    }
                    let whole = state.stats.partial.is_empty();
                    let why = if whole { Stop::Exhausted } else { Stop::ExhaustedPartial };
                    shared.end(&mut state, why);
                    return None;
                }
                Action::Wait => {
                    state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                // A strategy that knows when it is done has said so above.
                Action::Mutate { .. } | Action::Random | Action::Derive | Action::Graft { .. }
                    if shared.limits.reads_nothing =>
                {
                    shared.end(&mut state, Stop::ReadsNothing);
                    return None;
                }
                action => {
                    state.outstanding += 1;
                    return Some(action);
                }
            }
        }
    }

    fn act(&mut self, action: Action) -> Result<(), ExecError> {
        match action {
            Action::Trace(input) => self.trace(input, false),
            Action::TraceTokens(input) => self.trace(input, true),
            Action::Flip(flip) => self.flip(flip),
            Action::Mutate { input, count } => self.mutate(input, count),
            Action::Graft { input, count } => self.graft(input, count),
            Action::Random => self.random(),
            Action::Derive => self.derive(),
            Action::Live => self.live_turn(),
            Action::Wait => Ok(()),
        }
    }

    /// Runs an input on the fast half and takes in what comes of it.
    pub fn execute(
        &mut self,
        bytes: &[u8],
        origin: Origin,
        parent: Option<InputId>,
        promised: Promised,
    ) -> Result<Option<InputId>, ExecError> {
        let shared = self.shared.clone();
        let (mut end, mut grown) = self.run_growing(bytes, false)?;
        let hang = |end: &End| !matches!(end, End::Exit(_)) && !is_crash(end);
        let given_up = end == End::Timeout && self.adaptive;
        let mut new_hang = hang(&end) && shared.lock().is_new_hang(&end, &self.counts, given_up);
        if new_hang && given_up {
            (end, grown) = self.run_growing(bytes, true)?;
            // With more time it may come to another end, which may be known.
            if end != End::Timeout {
                new_hang = hang(&end) && shared.lock().is_new_hang(&end, &self.counts, false);
            }
        }
        if shared.stopping() && end == End::Timeout {
            return Ok(None);
        }
        if origin == Origin::Seed && end != End::Timeout {
            shared.lock().patience.seed(self.cpu);
        }
        let (bytes, cost) = (&grown[..], self.cost());
        let mut executed = Executed {
            bytes,
            origin,
            expect: promised.expect,
            parent,
            gain: &Gain::default(),
            keep: false,
            bad: !matches!(end, End::Exit(_)),
            hung: hang(&end),
            cost,
            answer: promised.answer,
            template: promised.template,
            foretold: promised.foretold,
        };
        if executed.bad {
            let gain = match executed.hung {
                true => self.hung(&executed, &end, new_hang)?,
                false => self.crashed(&executed, &end)?,
            };
            executed.cost += if executed.hung { HUNG } else { 0 };
            executed.gain = &gain;
            return Ok(shared.lock().executed(&executed));
        }
        let mut state = shared.lock();
        let mut gain = state.coverage.news(&self.counts);
        let wanted = |gain: &Gain| {
            !gain.branches.is_empty()
                || (shared.descriptor.keeps_hit_counts && !gain.buckets.is_empty())
        };
        // What a live run has shown was seen twice by now.
        if wanted(&gain) && origin != Origin::Live {
            drop(state);
            let unsettled = self.settle(bytes, &mut gain)?;
            state = shared.lock();
            unsettled.iter().for_each(|&branch| state.coverage.doubt(branch));
        }
        state.coverage.add(&shared.map.program, &self.counts, &mut gain);
        executed.gain = &gain;
        executed.keep = origin == Origin::Seed || wanted(&gain);
        Ok(state.executed(&executed))
    }

    /// Takes in an input of a campaign that is resumed: it has its number and its place
    /// already. One of the queue runs again, to see what it covers. Others gained nothing
    /// when they were made, and would gain nothing now.
    pub fn reread(&mut self, id: InputId) -> Result<(), ExecError> {
        let known = self.shared.lock().store.get(id).cloned();
        let Some(known) = known else { return Ok(()) };
        let shared = self.shared.clone();
        let size = known.bytes.len();
        if known.queue.is_none() {
            shared.lock().recalled(id, size, None, false, self.cost());
            return Ok(());
        }
        // It has ended before, with the patience that there was then.
        let end = self.run_again(&known.bytes)?;
        let mut state = shared.lock();
        let mut gain = Gain::default();
        let bad = !matches!(end, End::Exit(_));
        if !bad {
            state.patience.known(self.cpu);
            state.store.set_complete(id);
            gain = state.coverage.news(&self.counts);
            state.coverage.add(&shared.map.program, &self.counts, &mut gain);
        }
        let cost = self.cost();
        state.recalled(id, size, Some(&gain), bad, cost);
        Ok(())
    }

    /// Runs a crash or a hang of a campaign that is resumed, to see what it covers. A hang
    /// does not get all the time there is.
    pub fn reread_bad(&mut self, kept: Kept, bytes: &[u8]) -> Result<(), ExecError> {
        let long = kept == Kept::Crash;
        let end = self.run_once(bytes, How { long, counted: false, ..How::default() })?;
        let mut state = self.shared.lock();
        state.ends.is_new(&end, &self.counts);
        let mut gain = state.new_in_crash(&self.counts);
        state.add_crash(&self.counts, &mut gain);
        Ok(())
    }

    /// One run of the fast half; what it covered is in `counts`.
    pub(super) fn run_fast(&mut self, bytes: &[u8]) -> Result<End, ExecError> {
        self.run_once(bytes, How::default())
    }

    /// As [`Worker::run_fast`], in a process that has seen no input before: as the file will
    /// be run by itself.
    pub(super) fn run_fresh(&mut self, bytes: &[u8]) -> Result<End, ExecError> {
        self.run_once(bytes, How { fresh: true, ..How::default() })
    }

    /// As [`Worker::run_fast`], with all the time there is, for an input whose run was
    /// counted when it was made.
    fn run_again(&mut self, bytes: &[u8]) -> Result<End, ExecError> {
        self.run_once(bytes, How { long: true, counted: false, ..How::default() })
    }

    /// Runs an input that typed calls may make longer; with the input as the program has
    /// taken it.
    fn run_growing<'a>(
        &mut self,
        bytes: &'a [u8],
        long: bool,
    ) -> Result<(End, Cow<'a, [u8]>), ExecError> {
        loop {
            let growth = self.shared.lock().growing.allow(bytes);
            self.fast.set_growth(growth);
            let end = self.run_once(bytes, How { long, ..How::default() });
            self.fast.set_growth(Growth::default());
            let (end, calls) = (end?, self.calls);
            let mut state = self.shared.lock();
            // A run that was given up early may have come to an end.
            let timed_out = end == End::Timeout && (long || !self.adaptive);
            if !state.growing.accept(&growth, &calls, timed_out) {
                continue;
            }
            if calls.ended {
                state.partial(AT_MAX_LEN);
            }
            return Ok((end, growth.add(bytes, &calls)));
        }
    }

    pub(super) fn run_once(&mut self, bytes: &[u8], how: How) -> Result<End, ExecError> {
        let How { long, fresh, counted } = how;
        let patient = long || !self.adaptive;
        let limit = (!patient).then(|| self.shared.lock().patience.limit());
        let start = Instant::now();
        self.fast.limit_cpu(limit.map(|l| l.min(self.timeout)));
        let by_clock = limit.map_or(self.timeout, |l| self.timeout.min(l * WAITING));
        let outcome = match fresh {
            true => self.fast.run_fresh(bytes, by_clock)?,
            false => self.fast.run(bytes, by_clock)?,
        };
        self.round = outcome.round;
        let io = |error| ExecError::Io { what: "cannot read the counters", error };
        let modules = self.fast.counters().map_err(io)?;
        self.shared.map.collect(&modules, &mut self.counts);
        let mut state = self.shared.lock();
        state.stats.runs += u64::from(counted);
        let took = start.elapsed();
        state.stats.time_s.fast += took.as_secs_f64();
        match long {
            true => state.patience.ran_again(took),
            false => state.patience.ran(took, outcome.end == End::Timeout),
        }
        if counted {
            state.reach(&self.counts);
        }
        (self.cpu, self.calls) = (outcome.cpu, outcome.calls);
        Ok(outcome.end)
    }

    /// Runs an input that gained something again, in a process that has seen no other: the
    /// file alone must show what counts. A process that then waits for more is given the
    /// same input once more. So a persistent target that fills a table in the first call
    /// shows both what it does in that call and what it does in all others. What neither
    /// run confirms is taken out of the gain, and returned.
    fn settle(&mut self, bytes: &[u8], gain: &mut Gain) -> Result<Vec<BranchId>, ExecError> {
        let cpu = self.cpu;
        std::mem::swap(&mut self.counts, &mut self.again);
        let mut untaken = gain.branches.clone();
        let mut other = gain.buckets.clone();
        self.run_fresh(bytes)?;
        loop {
            let (now, then) = (&self.counts, &self.again);
            untaken.retain(|&b| now.get(b as usize).is_none_or(|&c| c == 0));
            other.retain(|&b| now.get(b as usize) != then.get(b as usize));
            let settled = untaken.is_empty() && other.is_empty();
            if settled || self.round > 1 || !self.fast.waits() {
                break;
            }
            self.run_fast(bytes)?;
        }
        gain.branches.retain(|b| !untaken.contains(b));
        gain.buckets.retain(|b| !other.contains(b));
        std::mem::swap(&mut self.counts, &mut self.again);
        self.cpu = cpu;
        untaken.append(&mut other);
        Ok(untaken)
    }

    /// Keeps a crash that no other was like, or that covers what no kept input does.
    fn crashed(&mut self, e: &Executed, end: &End) -> Result<Gain, ExecError> {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        limit_of(end).into_iter().for_each(|limit| state.partial(limit));
        if !state.ends.is_new(end, &self.counts) {
            return Ok(Gain::default());
        }
        let mut gain = state.new_in_crash(&self.counts);
        drop(state);
        let quick = signature(end, &self.counts);
        self.settle_crash(e.bytes, &mut gain)?;
        let looked = self.triage.examine(e.bytes)?;
        let ended = shared.stopping() && looked.outcome.end == End::Timeout;
        let (hash, report) = match &looked.crash {
            _ if ended => (quick, "found as the campaign ended\n".to_string()),
            Some(crash) => (crash.hash, crash_report(crash, &looked.outcome.stderr)),
            None => (quick, "does not happen again in a process of its own\n".to_string()),
        };
        let mut state = shared.lock();
        state.add_crash(&self.counts, &mut gain);
        let new = state.crash_ids.insert(hash);
        if !new && gain.branches.is_empty() {
            return Ok(gain);
        }
        let signal = match end {
            End::Signal(n) => *n,
            // Ended by us, as the kernel would have.
            _ => libc::SIGKILL,
        };
        let name = state.keep_bad(Kept::Crash, e, &format!("sig:{signal:02}"), &gain);
        state.dir.note(Some(&format!("{name}.stack.txt")), &report);
        if new {
            state.record(&Record::Crash { hash });
            state.stats.crashes += 1;
            if shared.limits.stop_on_crash {
                shared.end(&mut state, Stop::Crash);
            }
        }
        Ok(gain)
    }

    /// Keeps a hang that is new, and lists the limit that ended it.
    fn hung(&mut self, e: &Executed, end: &End, new: bool) -> Result<Gain, ExecError> {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        limit_of(end).into_iter().for_each(|limit| state.partial(limit));
        if !new {
            return Ok(Gain::default());
        }
        let mut gain = state.new_in_crash(&self.counts);
        drop(state);
        self.settle_crash(e.bytes, &mut gain)?;
        let mut state = shared.lock();
        state.add_crash(&self.counts, &mut gain);
        state.keep_bad(Kept::Hang, e, "", &gain);
        state.stats.hangs += 1;
        Ok(gain)
    }

    /// As [`Worker::settle`], for what a crash or a hang gained.
    fn settle_crash(&mut self, bytes: &[u8], gain: &mut Gain) -> Result<(), ExecError> {
        if !gain.branches.is_empty() {
            let unsettled = self.settle(bytes, gain)?;
            let mut state = self.shared.lock();
            unsettled.iter().for_each(|&branch| state.crashed.doubt(branch));
        }
        Ok(())
    }

    /// Runs the next input that the grammar derives.
    fn derive(&mut self) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let language = shared.language.as_ref();
        let walk = language.and_then(Language::walk);
        let start = Instant::now();
        let derived = language.and_then(|l| l.next(&shared.stop));
        let mut state = shared.lock();
        state.stats.time_s.parse += start.elapsed().as_secs_f64();
        let Some(derived) = derived else {
            if walk.is_some_and(Walk::is_cut) {
                state.partial("longer strings");
            }
            state.strategy.derived_all();
            return Ok(());
        };
        state.stats.derived += 1;
        drop(state);
        let template = derived.template.map(Arc::new);
        let promised = Promised { template, ..Promised::default() };
        self.execute(&derived.bytes, Origin::Derived, None, promised)?;
        if let (Some(walk), Some(number)) = (walk, derived.number)
            && !shared.stopping()
        {
            let done = walk.ran(number);
            let stats = &mut shared.lock().stats;
            stats.strings_done = stats.strings_done.max(done);
        }
        Ok(())
    }

    fn flip(&mut self, flip: Flip) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let traced = {
            let traces = shared.traces.lock().unwrap_or_else(PoisonError::into_inner);
            traces.get(&flip.run).cloned()
        };
        let promise = {
            let state = shared.lock();
            state.runs.get(flip.run).and_then(|run| promise(run, flip))
        };
        let (Some(traced), Some((goal, expect, parent, kind))) = (traced, promise) else {
            shared.lock().answered(flip, Verdict::Gone);
            return Ok(());
        };
        if traced.sizes.is_over(flip.at) {
            return self.resize(&traced, flip, goal, (parent, Instant::now()));
        }
        let (start, before) = (Instant::now(), self.worked());
        let solved = self.solve(&traced, flip, goal);
        if solved.verdict == Verdict::Unsat && self.has_lengths(&traced, flip) {
            return self.resize(&traced, flip, goal, (parent, start));
        }
        let Solved { verdict, bytes, tier, cached, refused } = solved;
        // An interrupted request has no answer, and must not be recorded as unknown.
        if shared.stopping() && verdict == Verdict::Unknown {
            shared.lock().answered(flip, Verdict::Gone);
            return Ok(());
        }
        let spent = start.elapsed().as_secs_f64();
        if let Some((place, wanted)) = refused {
            self.wants(&traced, flip, (place, &wanted))?;
        }
        let most = shared.max_len(&traced.input);
        let too_long = bytes.as_ref().is_some_and(|b| b.len() > most);
        let mut state = shared.lock();
        state.stats.flips.count(verdict, tier, cached);
        state.stats.flips.took(tier, spent);
        state.stats.time_s.solve += spent;
        if tier == TOKENS {
            state.stats.time_s.tokens += spent;
        }
        match verdict {
            Verdict::Optimistic => state.partial("solved without its path"),
            Verdict::Unknown => state.partial("not solved"),
            _ => {}
        }
        state.strategy.worked(flip, self.worked() - before);
        // Nothing within the bound, as far as the search is concerned.
        let answer = state.answered(flip, if too_long { Verdict::Unsat } else { verdict });
        let target = state.branch_of(flip);
        let Some(bytes) = bytes.filter(|_| !too_long) else {
            answer.iter().for_each(|answer| state.record(answer));
            drop(state);
            if verdict == Verdict::Unsat {
                self.bet(&traced, flip, goal, expect, parent)?;
            }
            return Ok(());
        };
        drop(state);
        let optimistic = expect.optimistic || verdict == Verdict::Optimistic;
        let expect = Some(Expect { optimistic, ..expect });
        // What may change of an input with tokens is found when it is traced.
        let template = traced.template.clone().filter(|_| !traced.tokens);
        let promised = Promised { expect, answer, template, foretold: None };
        let id = self.execute(&bytes, Origin::Flip(flip), Some(parent), promised)?;
        if let (Some(id), Some(branch)) = (id, target)
            && self.counts.get(branch as usize) == Some(&0)
        {
            shared.lock().store.set_uncounted(id, branch);
        }
        // Without a trace the branch itself must do: it was foretold.
        if id.is_none()
            && !optimistic
            && let Some(branch) = target
            && self.counts.get(branch as usize) == Some(&0)
        {
            let mut state = shared.lock();
            state.stats.diverged += 1;
            let kind = format!("{kind:?}").to_lowercase();
            *state.stats.diverged_at.entry(kind).or_default() += 1;
        }
        Ok(())
    }

    fn mutate(&mut self, input: InputId, count: u32) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let (parent, other, mut rng) = {
            let mut state = shared.lock();
            let mut rng = Rng::new(state.rng.next_u64());
            let other = rng.pick(state.store.queue()).copied();
            let other = other.and_then(|o| Some(state.store.get(o)?.bytes.clone()));
            (state.store.get(input).map(|k| k.bytes.clone()), other, rng)
        };
        let Some(parent) = parent else { return Ok(()) };
        let dictionary = shared.dictionary.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let most = shared.max_len(&parent);
        let mut mutant = Vec::new();
        for _ in 0..count {
            if shared.stopping() || self.out_of_runs() {
                break;
            }
            let other = other.as_deref();
            self.mutator.mutate(&mut rng, &parent, other, &dictionary, &mut mutant, most);
            self.execute(&mutant, Origin::Mutant(input), Some(input), Promised::default())?;
        }
        Ok(())
    }

    fn random(&mut self) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let bytes = {
            let rng = &mut shared.lock().rng;
            let len = shared.settings.len.max(1) as usize;
            let len = 1 + rng.below(2 * len);
            (0..len).map(|_| rng.next_u64() as u8).collect::<Vec<u8>>()
        };
        self.execute(&bytes, Origin::Random, None, Promised::default())?;
        Ok(())
    }

    /// What all flips have cost so far, in something like microseconds, without a clock.
    pub(super) fn worked(&self) -> f64 {
        let evaluated = (self.solver.stats().work + self.resizing) as f64;
        EVALUATING * evaluated + PREPARING * self.paths.prepared as f64
    }

    /// What the last run cost, in something like microseconds, without a clock:
    /// equal runs must cost the same. A branch and what goes with it takes some
    /// nanoseconds.
    pub(super) fn cost(&self) -> u32 {
        let branches: u32 = self.counts.iter().map(|&c| u32::from(c)).sum();
        100 + branches / 64
    }

    pub fn out_of_runs(&self) -> bool {
        self.shared.limits.runs.is_some_and(|n| self.shared.lock().stats.runs >= n)
    }
}

/// What a flip asks the solver for, and what its result must do.
fn promise(run: &Run, flip: Flip) -> Option<(Goal, Expect, InputId, Kind)> {
    let decision = run.decisions.get(flip.at as usize)?;
    let goal = match decision.kind {
        Kind::Switch => Goal::Case(flip.outcome),
        Kind::Indirect => Goal::Other,
        _ => Goal::Not,
    };
    let before = run.nodes[flip.at as usize];
    let (decisions, node) = match changes_key(decision.kind) {
        true => (flip.at, before),
        false => (flip.at + 1, Tree::child(before, decision.key, flip.outcome)),
    };
    // Nothing says what stays where decisions were left out before it, or where only the
    // symbolic half came.
    let optimistic = flip.at >= run.shown().min(run.complete);
    let (check, tokens) = (decision.kind.is_check(), run.tokens);
    let expect = Expect { flip, decisions, node, optimistic, check, tokens };
    Some((goal, expect, run.input, decision.kind))
}

impl Paths {
    pub(super) fn get(&mut self, run: RunId, traced: &Traced) -> &mut Path {
        match self.paths.iter().position(|(id, _)| *id == run) {
            Some(at) => self.paths[at..].rotate_left(1),
            None => {
                self.prepared += traced.expr.nodes().len() as u64;
                self.put(run, traced.path());
            }
        }
        let last = self.paths.len() - 1;
        &mut self.paths[last].1
    }

    pub(super) fn put(&mut self, run: RunId, path: Path) {
        self.paths.push((run, path));
        let mut memory = 0;
        let fits = self.paths.iter().rev().enumerate().take_while(|(at, (_, path))| {
            memory += path.memory();
            *at < PATHS_AT_LEAST || (*at < PATHS_KEPT && memory <= PATHS_MEMORY)
        });
        let kept = fits.count();
        self.paths.drain(..self.paths.len() - kept);
    }
}

/// What is written beside a crash: which it is, its stack, and what was said.
fn crash_report(crash: &CrashId, stderr: &[u8]) -> String {
    let mut text = format!("{crash}\n\n");
    for (i, frame) in crash.frames.iter().enumerate() {
        text.push_str(&format!("#{i} {frame}\n"));
    }
    let said = String::from_utf8_lossy(stderr);
    if !said.trim().is_empty() {
        text.push_str(&format!("\n{}\n", said.trim_end()));
    }
    text
}
