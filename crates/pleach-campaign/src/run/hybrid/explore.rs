//! A bounded concolic search from the state in which a live run stands.
//!
//! Both halves stand at the same call for input. Each path is a child of one of
//! them: it is given the events after that call, and ends after them. A child of
//! the symbolic half labels them, so that a trace speaks of the events ahead and
//! of nothing before; a child of the fast half shows what they cover. To the
//! strategy this is a small program whose input is the events ahead. It has an
//! execution tree of its own, since paths from one state mean nothing in another,
//! and sees the coverage of the whole campaign: it is the new that counts.

use super::{Live, bias};

use crate::run::state::{changes_key, is_crash};
use crate::run::worker::{Promised, Traced, Worker};
use pleach_exec::executor::{End, Events, ExecError, Step};
use pleach_search::{
    Action, BranchId, Flip, InputId, InputNews, Mark, Options, Origin, Rng, Run, RunId, Runs,
    Strategy, Tree, Verdict, View, find,
};
use pleach_solve::{Goal, Path};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// What came of a search.
#[derive(Default)]
pub struct Found {
    /// Events that cover something new.
    pub bytes: Option<Vec<u8>>,
    /// There was nothing left to try.
    pub exhausted: bool,
    pub decisions: u64,
}

/// A search under way.
struct Search {
    strategy: Box<dyn Strategy>,
    rng: Rng,
    tree: Tree,
    runs: Runs,
    inputs: Vec<Arc<[u8]>>,
    traces: HashMap<RunId, Traced>,
    paths: HashMap<RunId, Path>,
    /// The most events of a path.
    ahead: u64,
    found: Found,
}

/// Bytes of events that a path may take for each of them.
const BYTES: u64 = 8;
/// So many flips that the solver refuses cost as much as a path.
const REFUSALS: u64 = 16;
/// Runs to cut what was found to what it needs.
const CUTS: usize = 32;
const MEMORY: usize = 128 << 20;
/// Paths from one state are as cheap to trace again as to keep.
const PATHS: usize = 16;

impl Worker {
    pub(super) fn explore(
        &mut self,
        live: &mut Live,
        ahead: u64,
        budget: u64,
    ) -> Result<Found, ExecError> {
        if !self.follow(live)? {
            return Ok(Found { decisions: 1, ..Found::default() });
        }
        let settings = &self.shared.settings;
        let options = Options { depth: settings.depth, ..Options::default() };
        let Ok(descriptor) = find(&settings.hybrid.explore) else {
            return Ok(Found::default());
        };
        let mut search = Search {
            strategy: descriptor.make(options),
            rng: Rng::new(live.rng.next_u64()),
            tree: Tree::default(),
            runs: Runs::new(MEMORY),
            inputs: Vec::new(),
            traces: HashMap::new(),
            paths: HashMap::new(),
            ahead,
            found: Found::default(),
        };
        let room = settings.max_len.saturating_sub(live.input.len() as u64);
        let len = (ahead * BYTES).min(room) as usize;
        let known = self.known(live);
        let first = search.random(len, &known);
        self.try_path(live, &mut search, first, Origin::Seed)?;
        let mut left = budget * REFUSALS;
        while left > 0 {
            if search.found.bytes.is_some() || self.shared.stopping() || self.out_of_runs() {
                break;
            }
            if live.fast.live_depth() == 0 || live.symbolic.live_depth() == 0 {
                break;
            }
            let action = {
                let state = self.shared.lock();
                let Search { strategy, rng, tree, runs, .. } = &mut search;
                let view = View {
                    program: &self.shared.map.program,
                    coverage: &state.coverage,
                    tree,
                    runs,
                };
                strategy.next(&view, rng)
            };
            let mut cost = REFUSALS;
            match action {
                Action::Trace(input) | Action::TraceTokens(input) => {
                    self.trace_path(live, &mut search, input)?;
                }
                Action::Flip(flip) => {
                    if !self.flip_path(live, &mut search, flip)? {
                        cost = 1;
                    }
                }
                Action::Random => {
                    let bytes = search.random(len, &known);
                    self.try_path(live, &mut search, bytes, Origin::Random)?;
                }
                Action::Mutate { input, .. } => {
                    let parent = search.inputs[input as usize].clone();
                    let mut bytes = Vec::new();
                    let dictionary =
                        self.shared.dictionary.lock().unwrap_or_else(PoisonError::into_inner);
                    let rng = &mut search.rng;
                    self.mutator.mutate(rng, &parent, None, &dictionary, &mut bytes, len);
                    drop(dictionary);
                    self.try_path(live, &mut search, bytes, Origin::Mutant(input))?;
                }
                // Strategies that derive are not among those that can be named.
                Action::Wait | Action::Live | Action::Derive | Action::Graft { .. } => {
                    search.found.exhausted = true;
                    break;
                }
            }
            left = left.saturating_sub(cost);
        }
        Ok(search.found)
    }

    /// Brings the symbolic half to where the live run stands.
    fn follow(&mut self, live: &mut Live) -> Result<bool, ExecError> {
        let start = Instant::now();
        let timeout = self.timeout * super::super::worker::SYMBOLIC_PATIENCE;
        let on_the_way = live.symbolic.live_depth() == 1 && live.input.starts_with(&live.followed);
        let bytes = if on_the_way { &live.input[live.followed.len()..] } else { &live.input[..] };
        let events = Events { bytes, most: u64::MAX, seed: None };
        let step = match on_the_way {
            true if bytes.is_empty() => None,
            true => Some(live.symbolic.live_go(events, timeout)?),
            false => Some(live.symbolic.live_begin(events, timeout)?),
        };
        let there = match step {
            None => true,
            Some(Step::Paused(stand)) => stand.taken == live.input.len() as u64,
            Some(Step::Ended(_)) => false,
        };
        live.followed.clone_from(&live.input);
        let mut state = self.shared.lock();
        state.stats.time_s.symbolic += start.elapsed().as_secs_f64();
        if !there {
            live.followed.clear();
            while live.symbolic.live_depth() > 0 {
                live.symbolic.live_drop();
            }
            state.partial("another state in the symbolic half");
        }
        Ok(there)
    }

    fn known(&self, live: &mut Live) -> Known {
        const PHRASES: usize = 32;
        let dictionary = self.shared.dictionary.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rng = Rng::new(live.rng.next_u64());
        let phrases = live.phrases.draw(&mut rng, &dictionary, PHRASES);
        let word = |_| Some(dictionary.token(dictionary.pick(&mut rng)?).to_vec());
        let words = (0..PHRASES).filter_map(word).collect();
        Known {
            letters: bias::letters(&dictionary),
            words,
            phrases,
            sentences: live.sentences.clone(),
        }
    }

    /// The events that were found, cut to what covers the new: first the end, by
    /// halving, then parts in the middle, ever smaller.
    fn cut(
        &mut self,
        live: &mut Live,
        bytes: Vec<u8>,
        fresh: &[BranchId],
        ahead: u64,
    ) -> Result<Vec<u8>, ExecError> {
        let (mut short, mut long) = (0, bytes.len());
        while long - short > 1 {
            let middle = short + (long - short) / 2;
            match self.covers(live, &bytes[..middle], fresh, ahead)? {
                true => long = middle,
                false => short = middle,
            }
        }
        let mut best = bytes[..long].to_vec();
        let mut tries = CUTS;
        let mut size = best.len() / 2;
        while size > 0 {
            let mut at = best.len();
            while at > 0 {
                let from = at.saturating_sub(size);
                if tries == 0 || self.shared.stopping() {
                    return Ok(best);
                }
                tries -= 1;
                let shorter = [&best[..from], &best[at..]].concat();
                if self.covers(live, &shorter, fresh, ahead)? {
                    best = shorter;
                }
                at = from;
            }
            size /= 2;
        }
        Ok(best)
    }

    /// Whether a path covers these branches.
    fn covers(
        &mut self,
        live: &mut Live,
        bytes: &[u8],
        branches: &[BranchId],
        ahead: u64,
    ) -> Result<bool, ExecError> {
        let io = |error| ExecError::Io { what: "cannot read the counters", error };
        if live.fast.live_depth() == 0 {
            return Ok(false);
        }
        let start = Instant::now();
        let outcome = live.fast.live_explore(bytes, ahead, self.timeout)?;
        let modules = live.fast.counters().map_err(io)?;
        self.shared.map.collect(&modules, &mut self.counts);
        self.count(start.elapsed(), 0);
        let ends = matches!(outcome.end, End::Exit(_));
        let covered = ends && self.counted(branches);
        // What was cut may do something else that is new.
        let mut fresh = self.shared.lock().coverage.fresh(&self.counts);
        fresh.retain(|b| !branches.contains(b));
        if ends && !fresh.is_empty() && !self.shared.stopping() {
            let taken = live.fast.live_path()?.min(bytes.len() as u64) as usize;
            self.keep(&[&live.input[..], &bytes[..taken]].concat(), &fresh)?;
        }
        Ok(covered)
    }

    /// Runs a path on the fast half. What covers something new ends the search.
    fn try_path(
        &mut self,
        live: &mut Live,
        search: &mut Search,
        bytes: Vec<u8>,
        origin: Origin,
    ) -> Result<(), ExecError> {
        let io = |error| ExecError::Io { what: "cannot read the counters", error };
        let start = Instant::now();
        let outcome = live.fast.live_explore(&bytes, search.ahead, self.timeout)?;
        let modules = live.fast.counters().map_err(io)?;
        self.shared.map.collect(&modules, &mut self.counts);
        self.count(start.elapsed(), 0);
        let bad = !matches!(outcome.end, End::Exit(_));
        let fresh = self.shared.lock().coverage.fresh(&self.counts);
        let taken = live.fast.live_path()?.min(bytes.len() as u64) as usize;
        if bad && !self.shared.stopping() {
            let whole = [&live.input[..], &bytes[..taken]].concat();
            self.patiently(whole.len(), |worker| {
                worker.execute(&whole, Origin::Live, None, Promised::default())
            })?;
        } else if !fresh.is_empty() {
            let found = self.cut(live, bytes[..taken].to_vec(), &fresh, search.ahead)?;
            search.found.bytes = Some(found);
            return Ok(());
        }
        let id = search.inputs.len() as InputId;
        let news = InputNews {
            input: Some(id),
            origin,
            branches: u32::from(origin == Origin::Seed),
            buckets: 0,
            bad,
            hung: bad && !is_crash(&outcome.end),
            size: bytes.len() as u32,
            cost: 100,
        };
        search.inputs.push(bytes.into());
        let state = self.shared.lock();
        let Search { strategy, tree, runs, .. } = search;
        let view =
            View { program: &self.shared.map.program, coverage: &state.coverage, tree, runs };
        strategy.executed(&view, &news);
        Ok(())
    }

    /// Runs a path on the symbolic half.
    fn trace_path(
        &mut self,
        live: &mut Live,
        search: &mut Search,
        input: InputId,
    ) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let start = Instant::now();
        let bytes = search.inputs[input as usize].clone();
        let timeout = self.timeout * super::super::worker::SYMBOLIC_PATIENCE;
        live.symbolic.live_explore(&bytes, search.ahead, timeout)?;
        let trace = live.symbolic.bounded_trace();
        let mut state = shared.lock();
        state.stats.traces += 1;
        state.stats.time_s.symbolic += start.elapsed().as_secs_f64();
        let Search { strategy, tree, runs, traces, paths, found, .. } = search;
        let Ok(trace) = trace else {
            state.stats.broken_traces += 1;
            let view = View { program: &shared.map.program, coverage: &state.coverage, tree, runs };
            strategy.untraceable(&view, input);
            return Ok(());
        };
        shared.dictionary.lock().unwrap_or_else(PoisonError::into_inner).add_trace(&trace);
        let decided = shared.map.decide(&mut self.sites, &trace);
        found.decisions += decided.decisions.len() as u64;
        state.stats.symbolic.left_out += trace.left_out;
        let mut run = Run::new(input, decided.decisions);
        (run.complete, run.left_out) = (decided.complete, decided.left_out);
        state.stats.paths += u64::from(run.enter(tree));
        let (id, dropped) = runs.add(run);
        for dropped in dropped {
            traces.remove(&dropped);
            paths.remove(&dropped);
        }
        traces.insert(id, Traced::new(trace.expr, decided.steps, bytes, shared.interrupt()));
        let view = View { program: &shared.map.program, coverage: &state.coverage, tree, runs };
        strategy.traced(&view, id);
        Ok(())
    }

    /// Solves for another path, and runs it if there is one.
    fn flip_path(
        &mut self,
        live: &mut Live,
        search: &mut Search,
        flip: Flip,
    ) -> Result<bool, ExecError> {
        let shared = self.shared.clone();
        let decision = search.runs.get(flip.run).and_then(|run| {
            Some((*run.decisions.get(flip.at as usize)?, run.flipped(flip.at, flip.outcome)?))
        });
        let (Some((decision, node)), Some(traced)) = (decision, search.traces.get(&flip.run))
        else {
            search.answered(self, flip, Verdict::Gone);
            return Ok(false);
        };
        let goal = match decision.kind {
            pleach_abi::event::Kind::Switch => Goal::Case(flip.outcome),
            kind if changes_key(kind) && kind == pleach_abi::event::Kind::Indirect => Goal::Other,
            _ => Goal::Not,
        };
        let start = Instant::now();
        if search.paths.len() > PATHS {
            search.paths.clear();
        }
        let path = search.paths.entry(flip.run).or_insert_with(|| traced.path());
        let answer = self.solver.flip(path, flip.at as usize, goal);
        let (verdict, mark, model) = match answer.verdict {
            pleach_solve::Verdict::Sat(model) => (Verdict::Sat, Mark::Sat, Some(model)),
            pleach_solve::Verdict::Optimistic(model) => {
                (Verdict::Optimistic, Mark::Optimistic, Some(model))
            }
            pleach_solve::Verdict::Unsat => (Verdict::Unsat, Mark::Unsat, None),
            pleach_solve::Verdict::Unknown(_) => (Verdict::Unknown, Mark::Unknown, None),
        };
        let bytes = model.map(|model| model.apply(&traced.input));
        search.tree.set(node, mark);
        let mut state = shared.lock();
        state.stats.flips.count(verdict, answer.tier.name(), answer.cached);
        state.stats.time_s.solve += start.elapsed().as_secs_f64();
        drop(state);
        search.answered(self, flip, verdict);
        let Some(bytes) = bytes else { return Ok(false) };
        self.try_path(live, search, bytes, Origin::Flip(flip))?;
        Ok(true)
    }
}

impl Search {
    fn answered(&mut self, worker: &Worker, flip: Flip, verdict: Verdict) {
        let state = worker.shared.lock();
        let program = &worker.shared.map.program;
        let Search { strategy, tree, runs, .. } = self;
        let view = View { program, coverage: &state.coverage, tree, runs };
        strategy.answered(&view, flip, verdict);
    }

    /// Events to begin with: zeros, ends of lines, letters that mean something,
    /// phrases, anything.
    fn random(&mut self, len: usize, known: &Known) -> Vec<u8> {
        let rng = &mut self.rng;
        let style = rng.below(6);
        let mut bytes = Vec::with_capacity(len);
        while bytes.len() < len {
            match (style, rng.below(16)) {
                _ if !known.sentences.is_empty() => {
                    bytes.extend(&known.sentences[rng.below(known.sentences.len())]);
                }
                // Numbers.
                (0, 0..=5) => bytes.push(0),
                // Lines of words.
                (1, 0..=9) if !known.words.is_empty() => {
                    bytes.extend(&known.words[rng.below(known.words.len())]);
                    bytes.push(if rng.below(2) == 0 { b' ' } else { b'\n' });
                }
                // What was found before, and a little more.
                (2..=4, 0..=11) if !known.phrases.is_empty() => {
                    bytes.extend(&known.phrases[rng.below(known.phrases.len())]);
                }
                (_, 12) => bytes.push(b'\n'),
                (_, 13) => bytes.push(rng.next_u64() as u8),
                _ => bytes.push(known.letters[rng.below(known.letters.len())]),
            }
        }
        bytes.truncate(len);
        bytes
    }
}

/// What events may be made of.
struct Known {
    letters: Vec<u8>,
    words: Vec<Vec<u8>>,
    phrases: Vec<Vec<u8>>,
    /// Of the grammar: then events are nothing else to begin with.
    sentences: Vec<Vec<u8>>,
}
