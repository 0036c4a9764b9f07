//! One worker: its own target and its own solver. It asks the strategy for an action, does
//! it without holding the lock, and reports the result.

use super::candidate::{Candidate, PredictedPath};
use super::import::{import, import_parcels};
use super::judge::run_candidate;
use super::runner::Runner;
use super::{Answered, Stage, act, offspring, optimistic, trace};
use crate::mutate::Mutator;
use crate::run::account::{Account, Entry, Gap, Stop};
use crate::run::clock::{self, Part};
use crate::run::corpus::Record;
use crate::run::exchange::Exchange;
use crate::run::fleet::{Mail, TaskPath};
use crate::run::grammar::try_refused;
use crate::run::hybrid::Live;
use crate::run::memory::WorkerMemory;
use crate::run::search::Question;
use crate::run::shared::{Shared, StateGuard};
use crate::run::state::State;
use pleach_exec::Target;
use pleach_exec::executor::ExecError;
use pleach_search::{Action, BranchId, Flip, InputId, TokenUse, Verdict};
use pleach_solve::Config;
use pleach_template::solve::{self, Answer, FlipSolver, Prepared, Tokens};
use pleach_work::Task;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often a worker reports its time, and where its runs have been.
const REPORT_INTERVAL: Duration = Duration::from_millis(10);
/// How often it measures the path that it solves flips of, which grows meanwhile.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);

pub struct Worker {
    pub runner: Runner,
    pub solver: FlipSolver,
    pub prepared: Prepared,
    pub mutator: Mutator,
    /// Its live run, if the strategy needs one.
    pub live: Option<Live>,
    /// The memory that it has reported.
    reported: WorkerMemory,
    measured: Instant,
    /// What the flip asks that was chosen last.
    question: Option<(Flip, Question)>,
}

impl Worker {
    pub fn new(shared: Arc<Shared>, target: Box<dyn Target>) -> Worker {
        let live = shared.descriptor.live.then(|| {
            let seed = shared.lock().search.rng.next_u64();
            Live::new(&shared.settings, seed)
        });
        Worker {
            solver: FlipSolver::new(Config {
                max_memory: shared.shares.solver,
                ..Config::default()
            }),
            prepared: Prepared::new(shared.shares.paths),
            mutator: Mutator::new(),
            live,
            reported: WorkerMemory::default(),
            measured: Instant::now(),
            question: None,
            runner: Runner::new(shared, target),
        }
    }

    /// Works until the campaign is over.
    pub fn work(&mut self) -> Result<(), ExecError> {
        let shared = self.runner.shared.clone();
        let mut state = shared.lock();
        let mut start = Instant::now();
        let mut reported = start;
        let mut estimated = state.search.strategy.estimated_cost();
        let mut may_import = true;
        // The runs at which members in step have met last.
        let mut met = 0;
        while let Some(Chosen { turn, question }) = next_turn(&shared, state, may_import) {
            self.question = question;
            let result = match turn {
                Turn::Act(action) => act(self, action).map(|_| 0),
                Turn::Import => shared
                    .exchange
                    .as_ref()
                    .map_or(Ok(0), |exchange| import(&mut self.runner, exchange)),
                Turn::Parcels => import_parcels(&mut self.runner),
            };
            meet(&shared, &mut met);
            may_import = matches!(turn, Turn::Act(_));
            state = shared.lock();
            if reported.elapsed() >= REPORT_INTERVAL {
                reported = Instant::now();
                self.report(&mut state.account);
            }
            state.progress.outstanding -= 1;
            // The time and cost of choosing the action belong to it.
            let (end, cost) = (Instant::now(), state.search.strategy.estimated_cost());
            let (spent, estimate) = (end - start, cost - estimated);
            match (turn, &result) {
                (Turn::Act(action), _) => {
                    state.account.stats.count_action(action, spent, estimate);
                }
                (Turn::Import | Turn::Parcels, run) => {
                    let count = *run.as_ref().unwrap_or(&0);
                    state.account.stats.count_actions("import", count as u64, spent, estimate);
                }
            }
            (start, estimated) = (end, cost);
            shared.wake_waiting(&state);
            result?;
        }
        Ok(())
    }

    /// A program that did not start, unless the campaign was ended meanwhile: that interrupts
    /// the start.
    pub fn unless_ended(&self, result: Result<(), ExecError>) -> Result<(), ExecError> {
        let is_start = matches!(result, Err(ExecError::Start { .. }));
        if is_start && self.runner.shared.is_stopping() { Ok(()) } else { result }
    }

    /// Adds its time, its work and its memory to the account.
    pub fn report(&mut self, account: &mut Account) {
        account.add_work();
        if self.measured.elapsed() >= MEASURE_INTERVAL {
            self.measured = Instant::now();
            self.prepared.measure_last();
        }
        let (paths, solver) = (self.prepared.memory(), self.solver.memory());
        self.reported.report(WorkerMemory { paths, solver }, &mut account.stats.memory);
        self.runner.report(account);
    }
}

/// What the strategy has chosen.
struct Chosen {
    turn: Turn,
    /// What a flip asks, if its run was not dropped.
    question: Option<(Flip, Question)>,
}

impl Chosen {
    fn other(turn: Turn, state: &mut State) -> Chosen {
        state.start_action();
        Chosen { turn, question: None }
    }
}

/// What a worker does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Act(Action),
    /// Run files of other fuzzers.
    Import,
    /// Run what was heard from other members of a fleet.
    Parcels,
}

/// Lets members in step meet whenever each has run N inputs.
fn meet(shared: &Shared, met: &mut u64) {
    let Some(post) = &shared.post else { return };
    let Some(step) = post.fleet.in_step() else { return };
    while shared.runs.load(Ordering::Relaxed) >= *met + step && !shared.is_ending() {
        *met += step;
        post.carry(shared);
    }
}

/// The next turn, as soon as there is one; `None` when the campaign is over. Files of other
/// fuzzers and actions of the search alternate.
fn next_turn<'a>(
    shared: &'a Shared,
    mut state: StateGuard<'a>,
    mut may_import: bool,
) -> Option<Chosen> {
    let _choosing = (clock::enter(Part::Search), pleach_work::enter(Task::Choose));
    pleach_work::show_input(None);
    pleach_work::beat();
    loop {
        if state.corpus.has_failed() {
            shared.stop.store(true, std::sync::atomic::Ordering::Relaxed);
            shared.wake.notify_all();
        }
        if state.has_reached_all() {
            shared.end(&mut state, Stop::Reached);
        }
        if shared.is_stopping() {
            return None;
        }
        if shared.is_out_of_runs() {
            shared.end(&mut state, Stop::Runs);
            return None;
        }
        let has_parcels = state.mail.as_ref().is_some_and(Mail::has_parcels);
        if has_parcels && may_import {
            return Some(Chosen::other(Turn::Parcels, &mut state));
        }
        let has_files = shared.exchange.as_ref().is_some_and(Exchange::has_waiting);
        if has_files && may_import {
            return Some(Chosen::other(Turn::Import, &mut state));
        }
        let (search, facts) = state.search();
        match search.choose(facts) {
            Action::Wait if has_parcels => {
                return Some(Chosen::other(Turn::Parcels, &mut state));
            }
            Action::Wait if has_files => {
                return Some(Chosen::other(Turn::Import, &mut state));
            }
            Action::Wait if state.progress.outstanding == 0 => {
                if state.search.tree.forgotten().refutations > 0 {
                    state.record_gap(Gap::Forgotten);
                }
                if state.search.strategy.left_out() > 0 {
                    state.record_gap(Gap::LeftOut);
                }
                if let Some(post) = &shared.post {
                    let owns = |hash| post.fleet.owns(hash);
                    if state.take_work(post.fleet.generation(), &owns) {
                        may_import = true;
                        continue;
                    }
                    state.mail.iter_mut().for_each(|mail| mail.is_exhausted = true);
                    // All members must have come as far: see `Post::settle`.
                    state = match post.fleet.in_step() {
                        None => shared.wait(state),
                        Some(_) => {
                            drop(state);
                            post.carry(shared);
                            shared.lock()
                        }
                    };
                    continue;
                }
                let is_whole = state.account.stats.partial.is_empty();
                if shared.exchange.is_some() && !is_whole {
                    // Another fuzzer may find what this search cannot.
                    state = shared.wait(state);
                    continue;
                }
                let why = if is_whole { Stop::Exhausted } else { Stop::ExhaustedPartial };
                shared.end(&mut state, why);
                return None;
            }
            Action::Wait => {
                state = shared.wait(state);
            }
            // A strategy that knows when it is done has ended above.
            Action::Mutate { .. } | Action::Random | Action::Derive | Action::Graft { .. }
                if shared.limits.reads_nothing =>
            {
                shared.end(&mut state, Stop::ReadsNothing);
                return None;
            }
            action => {
                state.start_action();
                let question = match action {
                    Action::Flip(flip) => state.search.question(flip).map(|asked| (flip, asked)),
                    _ => None,
                };
                return Some(Chosen { turn: Turn::Act(action), question });
            }
        }
    }
}

impl Stage for Worker {
    fn shared(&self) -> &Arc<Shared> {
        &self.runner.shared
    }

    fn question(&mut self, flip: Flip) -> Option<Question> {
        let (asked, question) = self.question.take()?;
        (asked == flip).then_some(question)
    }

    fn solve(&mut self, flip: Flip, question: &Question) -> Answer {
        let shared = self.runner.shared.clone();
        let tokens = shared.tokens.as_ref().filter(|_| question.traced.sentence.is_some());
        let vocabulary = tokens.map(|tokens| (tokens.read(), tokens.token_use));
        let tokens = vocabulary.as_ref().map(|(vocabulary, token_use)| Tokens {
            vocabulary,
            completes: *token_use == TokenUse::Complete,
        });
        let max_hole = shared.settings.max_hole();
        let request = question.request(flip, tokens, max_hole);
        let _solving = (clock::enter(Part::Solve), pleach_work::enter(Task::Solve));
        self.solver.solve(&mut self.prepared, &request)
    }

    fn record_answer(
        &mut self,
        flip: Flip,
        answered: Option<Answered>,
        verdict: Verdict,
        has_result: bool,
    ) -> Option<Record> {
        let mut state = self.runner.shared.lock();
        if let Some(Answered { answer, spent, entry }) = answered {
            entry.into_iter().for_each(|entry| state.record_branch(entry.clone()));
            state.account.stats.count_answer(answer, spent);
            if let Some(gap) = gap_of(answer.verdict) {
                state.record_gap(gap);
            }
            state.search.strategy.record_solver_cost(flip, answer.cost);
        }
        let record = state.answer(flip, verdict)?;
        if has_result {
            if !state.splits_paths() {
                state.tell_answer(&record);
            }
            return Some(record);
        }
        state.tell_answer(&record);
        state.corpus.record(&record);
        None
    }

    fn hand_over(
        &mut self,
        candidate: &Candidate,
        boundary: Option<&[u8]>,
        (path, asked): (PredictedPath, Option<BranchId>),
    ) -> bool {
        /// The edge of an input that comes with the result of a flip.
        const BOUNDARY: u64 = 0x6b79_2d70_6c65_6163;
        let mut state = self.runner.shared.lock();
        if !state.splits_paths() {
            return false;
        }
        let Some(Record::Flip { node: edge, .. }) = candidate.answer else { return false };
        let bound = path.decisions;
        let is_certain = !(path.optimistic || path.check);
        let node = if is_certain || bound == 0 { path.node } else { 0 };
        let mut tasks = vec![(candidate.bytes.clone(), TaskPath { edge, bound, node, asked })];
        // Its path is that of the flip, or that of its parent.
        let path = TaskPath { edge: edge ^ BOUNDARY, bound, node: 0, asked: None };
        tasks.extend(boundary.filter(|_| bound > 0).map(|bytes| (bytes.into(), path)));
        state.hand_over(tasks, candidate.answer.clone())
    }

    fn prepared(&mut self) -> &mut Prepared {
        &mut self.prepared
    }

    fn max_len(&self, parent: &[u8]) -> usize {
        self.shared().max_len(parent)
    }

    fn run(&mut self, candidate: Candidate) -> Result<Option<InputId>, ExecError> {
        run_candidate(&mut self.runner, candidate)
    }

    fn check_result(&mut self, question: &Question, path: PredictedPath, id: Option<InputId>) {
        let Some(branch) = question.branch.filter(|&b| self.runner.has_missed(b)) else { return };
        let mut state = self.runner.shared.lock();
        state.record_branch(Entry::Missed(branch));
        match id {
            Some(id) => state.corpus.store.set_uncounted(id, branch),
            // It will not be traced, so the branch alone must show that it diverged.
            None if !path.optimistic => {
                state.account.count_divergence(format!("{:?}", question.kind).to_lowercase());
            }
            None => {}
        }
    }

    fn give_up(
        &mut self,
        flip: Flip,
        question: &Question,
        answer: Answer,
    ) -> Result<(), ExecError> {
        if let Some(refused) = &answer.refused {
            try_refused(&mut self.runner, question, refused)?;
        }
        match answer.verdict {
            solve::Verdict::Unsat => optimistic::bet(self, flip, question),
            _ => Ok(()),
        }
    }

    fn trace(&mut self, input: InputId, on_tokens: bool) -> Result<(), ExecError> {
        trace::trace(&mut self.runner, &mut self.prepared, input, on_tokens)
    }

    fn make_inputs(&mut self, action: Action) -> Result<(), ExecError> {
        match action {
            Action::Mutate { input, count } => offspring::mutate(self, input, count),
            Action::Graft { input, count } => offspring::graft(&mut self.runner, input, count),
            Action::Random => offspring::random(&mut self.runner),
            Action::Derive => offspring::derive(&mut self.runner),
            Action::Live => crate::run::hybrid::live_turn(self),
            Action::Trace(_) | Action::TraceTokens(_) | Action::Flip(_) | Action::Wait => Ok(()),
        }
    }
}

/// What an answer means for a search that should be exhaustive.
fn gap_of(verdict: solve::Verdict) -> Option<Gap> {
    match verdict {
        solve::Verdict::Optimistic => Some(Gap::SolvedWithoutPath),
        solve::Verdict::Unknown => Some(Gap::NotSolved),
        _ => None,
    }
}
