//! A bounded concolic search from the state of a live run: the ring, on another stage.
//!
//! Both halves are paused at the same call for input. Each path is a child of one of them:
//! it reads the events after that call, and ends after them. A child of the symbolic half
//! labels these events, so its trace speaks of the events ahead and of nothing before. A
//! child of the fast half shows what they cover. To the strategy this is a small program
//! whose input is the events ahead. It has an execution tree of its own, because paths from
//! one state mean nothing in another, and sees the coverage of the whole campaign.

use super::{Live, bias, count_run, keep, run_whole};
use crate::minimise::{RemoveFrom, Shows, bisect, remove_blocks};
use crate::run::account::Gap;
use crate::run::clock::{self, Part};
use crate::run::corpus::Record;
use crate::run::ring::{
    Answered, Candidate, FORK_COST, FastEnd, PredictedPath, Stage, Worker, act,
};
use crate::run::search::{Conditions, Facts, Question, Search};
use crate::run::shared::Shared;
use pleach_exec::executor::{Events, ExecError, Step};
use pleach_search::{
    Action, BranchId, ExecutionReport, Flip, InputId, Options, Origin, Rng, Run, RunCost, Tree,
    Verdict, find,
};
use pleach_template::solve::{Answer, Prepared, Traced};
use std::sync::Arc;
use std::time::Instant;

/// The result of a search.
#[derive(Default)]
pub struct Found {
    /// Events that cover something new.
    pub bytes: Option<Vec<u8>>,
    /// There was nothing left to try.
    pub exhausted: bool,
    pub decisions: u64,
}

/// A search under way.
struct LiveStage<'a> {
    worker: &'a mut Worker,
    live: &'a mut Live,
    search: Search,
    prepared: Prepared,
    inputs: Vec<Arc<[u8]>>,
    /// What first inputs are made of.
    material: Material,
    /// The maximal number of events of a path, and of its bytes.
    ahead: u64,
    max_bytes: usize,
    found: Found,
}

/// How many bytes of input there are for each event.
const BYTES_PER_EVENT: u64 = 8;
/// This many flips without a result cost as much as a path.
const REFUSALS_PER_PATH: u64 = 16;
/// How many runs may be spent on cutting the middle of what was found.
const MAX_CUTS: usize = 32;

/// Searches until something new is found, the budget is used up or nothing is left.
pub fn explore(
    worker: &mut Worker,
    live: &mut Live,
    ahead: u64,
    budget: u64,
) -> Result<Found, ExecError> {
    if !follow(worker, live)? {
        return Ok(Found { decisions: 1, ..Found::default() });
    }
    let shared = worker.runner.shared.clone();
    let settings = &shared.settings;
    let options = Options { depth: settings.depth, ..Options::default() };
    let Ok(descriptor) = find(&settings.hybrid.explore) else { return Ok(Found::default()) };
    let rng = Rng::new(live.rng.next_u64());
    let room = settings.max_len.saturating_sub(live.input.len() as u64);
    let (live_tree, live_runs) = (shared.shares.live_tree, shared.shares.live_runs);
    let mut stage = LiveStage {
        search: Search::new(descriptor.make(options), rng, Tree::new(live_tree), live_runs),
        prepared: Prepared::new(shared.shares.paths),
        inputs: Vec::new(),
        material: Material::new(&shared, live),
        worker,
        live,
        ahead,
        max_bytes: (ahead * BYTES_PER_EVENT).min(room) as usize,
        found: Found::default(),
    };
    stage.run_random(Origin::Seed)?;
    let mut left = budget * REFUSALS_PER_PATH;
    while left > 0 && stage.can_continue()? {
        let action = {
            let state = shared.lock();
            let facts = Facts { program: &shared.map.program, coverage: &state.covered.kept };
            stage.search.choose(facts)
        };
        // Strategies that derive cannot be chosen here.
        if matches!(action, Action::Wait | Action::Live | Action::Derive | Action::Graft { .. }) {
            stage.found.exhausted = true;
            break;
        }
        let has_run = act(&mut stage, action)?;
        left = left.saturating_sub(if has_run { REFUSALS_PER_PATH } else { 1 });
    }
    Ok(stage.found)
}

/// Brings the symbolic half into the state of the live run.
fn follow(worker: &mut Worker, live: &mut Live) -> Result<bool, ExecError> {
    let runner = &mut worker.runner;
    let (start, timeout) = (Instant::now(), runner.symbolic_timeout());
    let symbolic = runner.live_symbolic()?;
    let is_behind = symbolic.depth() == 1 && live.input.starts_with(&live.followed);
    let bytes = if is_behind { &live.input[live.followed.len()..] } else { &live.input[..] };
    let events = Events { bytes, most: u64::MAX, seed: None };
    let step = match is_behind {
        true if bytes.is_empty() => None,
        true => Some(symbolic.resume(events, timeout)?),
        false => Some(symbolic.begin(events, timeout)?),
    };
    let is_there = match step {
        None => true,
        Some(Step::Paused(paused)) => paused.taken == live.input.len() as u64,
        Some(Step::Ended(_)) => false,
    };
    live.followed.clone_from(&live.input);
    if !is_there {
        live.followed.clear();
        while symbolic.depth() > 0 {
            symbolic.drop_top();
        }
    }
    clock::charge(Part::Symbolic, start.elapsed());
    let mut state = runner.shared.lock();
    if !is_there {
        state.record_gap(Gap::OtherState);
    }
    Ok(is_there)
}

impl LiveStage<'_> {
    /// True if nothing was found yet and both halves still wait there.
    fn can_continue(&mut self) -> Result<bool, ExecError> {
        let runner = &mut self.worker.runner;
        Ok(self.found.bytes.is_none()
            && !runner.shared.is_ending()
            && runner.live_fast()?.depth() > 0
            && runner.live_symbolic()?.depth() > 0)
    }

    fn run_random(&mut self, origin: Origin) -> Result<(), ExecError> {
        let bytes = self.material.random(&mut self.search.rng, self.max_bytes);
        self.run(Candidate::new(bytes.into(), origin, None)).map(drop)
    }

    /// Runs a path on the fast half. Returns how it ended, and the branches that it was the
    /// first to take.
    fn run_path(&mut self, bytes: &[u8]) -> Result<(FastEnd, Vec<BranchId>), ExecError> {
        let runner = &mut self.worker.runner;
        let (start, timeout) = (Instant::now(), runner.timeout());
        let fast = runner.live_fast()?;
        let outcome = fast.explore(bytes, self.ahead, timeout)?;
        runner.read_live_counts()?;
        count_run(runner, start.elapsed(), 0);
        let fresh = runner.shared.lock().covered.kept.fresh(&runner.counts);
        Ok((FastEnd::of(&outcome.end), fresh))
    }

    /// The input from the start that takes the last path: only the events that it read.
    fn whole_input(&mut self, bytes: &[u8]) -> Result<(Vec<u8>, usize), ExecError> {
        let read = self.worker.runner.live_fast()?.explored_bytes()?;
        let read = read.min(bytes.len() as u64) as usize;
        Ok(([&self.live.input[..], &bytes[..read]].concat(), read))
    }

    /// Cuts events that were found to what covers the new branches: first the end, by
    /// halving, then parts in the middle, ever smaller.
    fn cut(&mut self, bytes: &[u8], fresh: &[BranchId]) -> Result<Vec<u8>, ExecError> {
        let long = bisect(0, bytes.len(), |len| self.shows(&bytes[..len], fresh))?;
        let mut best = bytes[..long].to_vec();
        let (mut tries, size) = (MAX_CUTS, best.len() / 2);
        remove_blocks(&mut best, size, RemoveFrom::End, |fewer| {
            if tries == 0 || self.worker.runner.shared.is_stopping() {
                return Ok(Shows::OutOfBudget);
            }
            tries -= 1;
            self.shows(fewer, fresh)
        })?;
        Ok(best)
    }

    /// Runs a path to see if it covers these branches. If it covers others that are new, it
    /// is kept.
    fn shows(&mut self, bytes: &[u8], branches: &[BranchId]) -> Result<Shows, ExecError> {
        if self.worker.runner.live_fast()?.depth() == 0 {
            return Ok(Shows::Other);
        }
        let (end, mut fresh) = self.run_path(bytes)?;
        let has_ended = end == FastEnd::Complete;
        let covered = has_ended && self.worker.runner.has_taken(branches);
        fresh.retain(|b| !branches.contains(b));
        if has_ended && !fresh.is_empty() && !self.worker.runner.shared.is_stopping() {
            let (whole, _) = self.whole_input(bytes)?;
            keep(&mut self.worker.runner, &whole, &fresh)?;
        }
        Ok(Shows::same_if(covered))
    }
}

impl Stage for LiveStage<'_> {
    fn shared(&self) -> &Arc<Shared> {
        &self.worker.runner.shared
    }

    fn question(&mut self, flip: Flip) -> Option<Question> {
        self.search.question(flip)
    }

    fn solve(&mut self, flip: Flip, question: &Question) -> Answer {
        let request = question.request(flip, None, 0);
        let _solving = clock::enter(Part::Solve);
        self.worker.solver.solve(&mut self.prepared, &request)
    }

    fn record_answer(
        &mut self,
        flip: Flip,
        answered: Option<Answered>,
        verdict: Verdict,
        _has_result: bool,
    ) -> Option<Record> {
        let shared = &self.worker.runner.shared;
        let mut state = shared.lock();
        if let Some(Answered { answer, spent, entry }) = answered {
            entry.into_iter().for_each(|entry| state.record_branch(entry.clone()));
            state.account.stats.count_answer(answer, spent);
        }
        let facts = Facts { program: &shared.map.program, coverage: &state.covered.kept };
        self.search.answer(facts, flip, verdict)
    }

    fn prepared(&mut self) -> &mut Prepared {
        &mut self.prepared
    }

    fn max_len(&self, _parent: &[u8]) -> usize {
        usize::MAX
    }

    /// Something new ends the search.
    fn run(&mut self, candidate: Candidate) -> Result<Option<InputId>, ExecError> {
        let (bytes, origin) = (candidate.bytes, candidate.origin);
        let (end, fresh) = self.run_path(&bytes)?;
        let is_bad = end != FastEnd::Complete;
        let (whole, read) = self.whole_input(&bytes)?;
        if is_bad && !self.worker.runner.shared.is_stopping() {
            run_whole(&mut self.worker.runner, &whole)?;
        } else if !fresh.is_empty() {
            self.found.bytes = Some(self.cut(&bytes[..read], &fresh)?);
            return Ok(None);
        }
        let id = self.inputs.len() as InputId;
        let news = ExecutionReport {
            input: Some(id),
            origin,
            branches: u32::from(origin == Origin::Seed),
            buckets: 0,
            bad: is_bad,
            hung: end == FastEnd::Hung,
            size: bytes.len() as u32,
            cost: RunCost { work: 0, fixed: FORK_COST },
        };
        self.inputs.push(bytes);
        let shared = &self.worker.runner.shared;
        let state = shared.lock();
        let facts = Facts { program: &shared.map.program, coverage: &state.covered.kept };
        self.search.tell(facts, |strategy, view| strategy.record_execution(view, &news));
        Ok(Some(id))
    }

    fn check_result(&mut self, _question: &Question, _path: PredictedPath, _id: Option<InputId>) {}

    fn give_up(
        &mut self,
        _flip: Flip,
        _question: &Question,
        _answer: Answer,
    ) -> Result<(), ExecError> {
        Ok(())
    }

    fn trace(&mut self, input: InputId, _on_tokens: bool) -> Result<(), ExecError> {
        let runner = &mut self.worker.runner;
        let shared = runner.shared.clone();
        let (start, timeout) = (Instant::now(), runner.symbolic_timeout());
        let bytes = self.inputs[input as usize].clone();
        let symbolic = runner.live_symbolic()?;
        symbolic.explore(&bytes, self.ahead, timeout)?;
        let trace = symbolic.trace();
        clock::charge(Part::Symbolic, start.elapsed());
        if let Ok(trace) = &trace {
            shared.add_words(|dictionary| dictionary.add_trace(trace));
        }
        let decided = trace.as_ref().ok().map(|trace| runner.decide(trace));
        let mut state = shared.lock();
        let stats = &mut state.account.stats;
        stats.traces += 1;
        let (Ok(trace), Some(decided)) = (trace, decided) else {
            stats.broken_traces += 1;
            let facts = Facts { program: &shared.map.program, coverage: &state.covered.kept };
            self.search.tell(facts, |strategy, view| strategy.record_trace_failure(view, input));
            return Ok(());
        };
        self.found.decisions += decided.decisions.len() as u64;
        stats.symbolic.left_out += trace.left_out;
        let mut run = Run::new(input, decided.decisions);
        (run.complete, run.left_out) = (decided.complete, decided.left_out);
        stats.paths += u64::from(run.enter(&mut self.search.tree).is_new);
        state.record_conditions(Conditions::of(&run));
        let traced = Traced::new(trace.expr, decided.steps, bytes);
        let facts = Facts { program: &shared.map.program, coverage: &state.covered.kept };
        self.search.add_run(facts, run, Arc::new(traced));
        Ok(())
    }

    fn make_inputs(&mut self, action: Action) -> Result<(), ExecError> {
        match action {
            Action::Mutate { input, .. } => {
                let parent = self.inputs[input as usize].clone();
                let mut bytes = Vec::new();
                {
                    let dictionary = self.worker.runner.shared.dictionary();
                    let (rng, max_len) = (&mut self.search.rng, self.max_bytes);
                    let mutator = &mut self.worker.mutator;
                    mutator.mutate(rng, &parent, None, &dictionary, &mut bytes, max_len);
                }
                self.run(Candidate::new(bytes.into(), Origin::Mutant(input), None)).map(drop)
            }
            _ => self.run_random(Origin::Random),
        }
    }
}

/// What first events are made of.
struct Material {
    letters: Vec<u8>,
    words: Vec<Vec<u8>>,
    phrases: Vec<Vec<u8>>,
    /// Sentences of the grammar: if there are some, nothing else is used.
    sentences: Vec<Vec<u8>>,
}

impl Material {
    fn new(shared: &Shared, live: &mut Live) -> Material {
        const PHRASES: usize = 32;
        let dictionary = shared.dictionary();
        let mut rng = Rng::new(live.rng.next_u64());
        let phrases = live.phrases.draw(&mut rng, &dictionary, PHRASES);
        let word = |_| Some(dictionary.token(dictionary.pick(&mut rng)?).to_vec());
        let words = (0..PHRASES).filter_map(word).collect();
        let letters = bias::letters(&dictionary);
        Material { letters, words, phrases, sentences: live.sentences.clone() }
    }

    /// Events to begin with: zeros, ends of lines, letters that mean something, phrases,
    /// anything.
    fn random(&self, rng: &mut Rng, len: usize) -> Vec<u8> {
        let style = rng.below(6);
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            match (style, rng.below(16)) {
                _ if !self.sentences.is_empty() => {
                    bytes.extend(&self.sentences[rng.below(self.sentences.len())]);
                }
                // Numbers.
                (0, 0..=5) => bytes.push(0),
                // Lines of words.
                (1, 0..=9) if !self.words.is_empty() => {
                    bytes.extend(&self.words[rng.below(self.words.len())]);
                    bytes.push(if rng.below(2) == 0 { b' ' } else { b'\n' });
                }
                // What was found before, and a little more.
                (2..=4, 0..=11) if !self.phrases.is_empty() => {
                    bytes.extend(&self.phrases[rng.below(self.phrases.len())]);
                }
                (_, 12) => bytes.push(b'\n'),
                (_, 13) => bytes.push(rng.next_u64() as u8),
                _ => bytes.push(self.letters[rng.below(self.letters.len())]),
            }
        }
        bytes.truncate(len);
        bytes
    }
}
