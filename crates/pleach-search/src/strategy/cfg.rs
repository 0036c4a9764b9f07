//! Control-flow directed search, as in CREST (Burnim and Sen: "Heuristics for scalable
//! dynamic test generation", ASE 2008).
//!
//! An *alternative* is an outcome that a decision of the current run did not have. The
//! search flips the alternative that is nearest to an uncovered branch in the static graph
//! ([`Distances`]). The paper does not say what happens if that is infeasible. Here:
//!
//! **Line.** The line is a stack of runs. Flips are asked of the run on top. If a flip
//! finds a new branch, its run goes on top, and the search continues from there. If it
//! finds none but came nearer, its run goes on top too, but then only alternatives past the
//! flip that are *strictly nearer* are tried. These are steps towards one goal.
//!
//! **Revision.** Each alternative has a penalty that is added to its distance. The penalty
//! grows by one when the solver refuses the flip or its run found no new branch. It is
//! removed when the flip found one. So near but infeasible alternatives move behind farther
//! ones.
//!
//! **Backtracking.** A run with no alternative left, or with [`MAX_FAILURES_OF_RUN`]
//! failures, is removed from the stack. The search continues with the run below.
//!
//! **Restarts.** After [`MAX_FLIPS_WITHOUT_GAIN`] flips without a new branch the line is
//! given up and penalties are halved. When the stack is empty, the search starts again from
//! an input that once gained something; one time in four from one that did not. An input
//! whose run has no open flip is removed. When no input is left, every path was tried. The
//! loops of a run are [sampled first and taken in full later](super::plan).
//!
//! Alternatives from which the graph has no way to an uncovered branch (a call through a
//! pointer, a loop in the caller) come after all others. A decision that is not a branch (a
//! length, a comparison in a libc model) has the distance of the next branch that the run
//! took after it, plus one.

use super::plan::{is_sampled, occurrences};
use super::{Action, Descriptor, ExecutionReport, Origin, Strategy, Verdict, View};
use crate::distance::{Distances, FAR};
use crate::keys::KeyMap;
use crate::rng::Rng;
use crate::run::{Flip, InputId, Run, RunId};
use std::collections::{HashMap, VecDeque};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "cfg",
    about: "flips towards uncovered branches, by distance in the control-flow graph (CREST)",
    use_for: "covering the last few branches",
    exhausts: true,
    make: |_| Box::new(Cfg::default()),
    ..Descriptor::COMMON
};

const MAX_FAILURES_OF_RUN: u32 = 24;
const MAX_FLIPS_WITHOUT_GAIN: u32 = 120;
/// The distance of alternatives from which the graph has no way to an uncovered branch.
const NO_WAY: u32 = 1 << 20;
/// The most runs on the stack.
const MAX_LINE: usize = 64;
/// The most inputs without a gain that are kept for restarts.
const MAX_OTHERS: usize = 1 << 20;

#[derive(Default)]
struct Cfg {
    distances: Option<Distances>,
    /// Counts the times that coverage grew.
    coverage_version: u32,
    /// The version that the distances were computed for.
    distances_version: Option<u32>,
    penalties: KeyMap<(u64, u32), u32>,
    line: Vec<LineRun>,
    to_trace: VecDeque<(InputId, Purpose)>,
    tracing: HashMap<InputId, Purpose>,
    asked: HashMap<Flip, Asked>,
    /// Inputs for restarts: seeds and inputs that gained a branch; all others.
    gained: Vec<InputId>,
    others: Vec<InputId>,
    /// The last run of each input.
    runs: HashMap<InputId, RunId>,
    /// Flips since the last new branch or restart.
    flips_without_gain: u32,
    left_out: u64,
    /// The distance of the last flip.
    last_distance: Option<u32>,
}

/// A run on the stack.
struct LineRun {
    run: RunId,
    /// The first decision to flip.
    from: u32,
    /// Only alternatives that are nearer than this are tried.
    below: u32,
    /// Farthest first.
    alternatives: Vec<Alternative>,
    /// The version of the coverage that the alternatives were computed for.
    version: Option<u32>,
    failures: u32,
}

/// Distance, the logarithm of earlier occurrences in the run, position, outcome.
type Alternative = (u32, u32, u32, u32);

/// Why an input is traced.
#[derive(Clone, Copy)]
enum Purpose {
    /// To flip any of its decisions.
    Start,
    /// To come nearer to one goal.
    Step { from: u32, below: u32 },
}

/// A flip under way.
struct Asked {
    input: InputId,
    distance: u32,
    alternative: (u64, u32),
}

impl Strategy for Cfg {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        loop {
            if let Some((input, purpose)) = self.to_trace.pop_front() {
                self.tracing.insert(input, purpose);
                return Action::Trace(input);
            }
            if self.flips_without_gain >= MAX_FLIPS_WITHOUT_GAIN {
                self.give_up_line();
            }
            if self.line.is_empty() {
                match self.restart(view, rng) {
                    true => continue,
                    false => return Action::Wait,
                }
            }
            if let Some(flip) = self.next_flip(view) {
                return Action::Flip(flip);
            }
            self.line.pop();
        }
    }

    fn record_execution(&mut self, _view: &View, news: &ExecutionReport) {
        if news.branches > 0 {
            self.coverage_version += 1;
            self.flips_without_gain = 0;
        }
        let asked = match news.origin {
            Origin::Flip(flip) => self.asked.remove(&flip).map(|a| (flip, a)),
            _ => None,
        };
        if let Some((flip, asked)) = &asked {
            if news.branches > 0 {
                self.penalties.remove(&asked.alternative);
            } else {
                self.record_failure(flip, asked.alternative);
            }
        }
        let Some(input) = news.input else { return };
        if news.origin.is_start() {
            self.gained.push(input);
            self.to_trace.push_back((input, Purpose::Start));
        } else if news.branches > 0 {
            self.gained.push(input);
            self.to_trace.push_front((input, Purpose::Start));
        } else {
            let open =
                self.line.iter().any(|s| asked.as_ref().is_some_and(|(f, _)| f.run == s.run));
            match asked {
                Some((flip, asked)) if open && asked.distance > 0 && asked.distance < NO_WAY => {
                    let step = Purpose::Step { from: flip.at + 1, below: asked.distance };
                    self.to_trace.push_front((input, step));
                }
                _ => {}
            }
            if self.others.len() < MAX_OTHERS {
                self.others.push(input);
            } else {
                self.left_out += 1;
            }
        }
    }

    fn record_trace(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        let Some(purpose) = self.tracing.remove(&run.input) else { return };
        // Forget runs that were dropped.
        if self.runs.len() > 2 * view.runs.len() + 64 {
            self.runs.retain(|_, id| view.runs.get(*id).is_some());
        }
        self.runs.insert(run.input, id);
        match purpose {
            Purpose::Start => self.push(LineRun::new(id, 0, u32::MAX)),
            Purpose::Step { from, below } => self.push(LineRun::new(id, from, below)),
        }
    }

    fn record_trace_failure(&mut self, _view: &View, input: InputId) {
        self.tracing.remove(&input);
        self.gained.retain(|&i| i != input);
        self.others.retain(|&i| i != input);
    }

    fn record_verdict(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        match verdict {
            Verdict::Sat | Verdict::Optimistic => {}
            Verdict::Unsat | Verdict::Unknown => {
                if let Some(asked) = self.asked.remove(&flip) {
                    self.record_failure(&flip, asked.alternative);
                }
            }
            Verdict::Gone => {
                let Some(asked) = self.asked.remove(&flip) else { return };
                self.line.retain(|s| s.run != flip.run);
                let known = self.gained.contains(&asked.input);
                if view.runs.get(flip.run).is_none() && !known && self.others.len() < MAX_OTHERS {
                    self.others.push(asked.input);
                }
            }
        }
    }

    fn doing(&self) -> String {
        match self.last_distance {
            Some(distance) if distance < NO_WAY => {
                format!("at distance {distance}, {} runs on the line", self.line.len())
            }
            _ => format!("no way in the graph, {} runs on the line", self.line.len()),
        }
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Cfg {
    /// The nearest open alternative of the run on top of the stack.
    fn next_flip(&mut self, view: &View) -> Option<Flip> {
        let top = self.line.last_mut()?;
        let run = view.runs.get(top.run)?;
        if top.failures >= MAX_FAILURES_OF_RUN {
            return None;
        }
        if top.version != Some(self.coverage_version) {
            let distances = self.distances.get_or_insert_with(|| Distances::new(view.program));
            if self.distances_version != Some(self.coverage_version) {
                self.distances_version = Some(self.coverage_version);
                distances.update(view.program, view.coverage);
            }
            top.version = Some(self.coverage_version);
            top.alternatives = alternatives(view, run, top, distances, &self.penalties);
        }
        while let Some((distance, _, at, outcome)) = top.alternatives.pop() {
            if !run.is_open(view.tree, at, outcome) {
                continue;
            }
            let flip = Flip { run: top.run, at, outcome };
            let alternative = (run.decisions[at as usize].key, outcome);
            self.asked.insert(flip, Asked { input: run.input, distance, alternative });
            self.flips_without_gain += 1;
            self.last_distance = Some(distance);
            return Some(flip);
        }
        None
    }

    /// Starts a new line. Returns false if there is no input to start from, or if the chosen
    /// one is being traced.
    fn restart(&mut self, view: &View, rng: &mut Rng) -> bool {
        self.flips_without_gain = 0;
        while !(self.gained.is_empty() && self.others.is_empty()) {
            let gained = self.others.is_empty() || !self.gained.is_empty() && rng.below(4) != 0;
            let list = if gained { &mut self.gained } else { &mut self.others };
            let at = rng.below(list.len());
            let input = list[at];
            let known = self.runs.get(&input).and_then(|&id| Some((id, view.runs.get(id)?)));
            match known {
                Some((id, run)) if run.open(view.tree, 0).next().is_some() => {
                    self.push(LineRun::new(id, 0, u32::MAX));
                }
                Some(_) => {
                    list.swap_remove(at);
                    self.runs.remove(&input);
                    continue;
                }
                // It is being traced.
                None if self.tracing.contains_key(&input) => return false,
                None => self.to_trace.push_back((input, Purpose::Start)),
            }
            return true;
        }
        false
    }

    fn give_up_line(&mut self) {
        self.line.clear();
        self.flips_without_gain = 0;
        self.penalties.retain(|_, p| {
            *p /= 2;
            *p > 0
        });
    }

    fn push(&mut self, run: LineRun) {
        if self.line.len() == MAX_LINE {
            self.line.remove(0);
        }
        self.line.push(run);
    }

    fn record_failure(&mut self, flip: &Flip, alternative: (u64, u32)) {
        *self.penalties.entry(alternative).or_insert(0) += 1;
        if let Some(run) = self.line.iter_mut().find(|r| r.run == flip.run) {
            run.failures += 1;
        }
    }
}

impl LineRun {
    fn new(run: RunId, from: u32, below: u32) -> LineRun {
        LineRun { run, from, below, alternatives: Vec::new(), version: None, failures: 0 }
    }
}

/// The open alternatives of a run, the best last. They are ordered by distance with
/// penalty, then by how often the run took the same decision before, then by position.
fn alternatives(
    view: &View,
    run: &Run,
    line_run: &LineRun,
    distances: &Distances,
    penalties: &KeyMap<(u64, u32), u32>,
) -> Vec<Alternative> {
    let of = |branch| distances.of(view.program, view.coverage, branch);
    // For each decision, the distance of the next branch at or after it.
    let mut ahead = vec![FAR; run.decisions.len() + 1];
    for (at, d) in
        run.decisions.iter().enumerate().rev().take_while(|(i, _)| *i >= line_run.from as usize)
    {
        let sides = (0..d.outcomes).filter_map(|o| d.branch(o));
        ahead[at] = sides.map(of).min().unwrap_or(ahead[at + 1]);
    }
    let mut sampled = Vec::new();
    let mut rest = Vec::new();
    occurrences(run, line_run.from, |at, decision, count| {
        for outcome in decision.others() {
            let distance = match decision.branch(outcome) {
                Some(branch) => of(branch),
                None => ahead[at as usize].saturating_add(1),
            };
            let penalty = penalties.get(&(decision.key, outcome)).copied().unwrap_or(0);
            let distance = distance.min(NO_WAY) + penalty.min(NO_WAY);
            if distance < line_run.below && run.is_open(view.tree, at, outcome) {
                let list = if is_sampled(count) { &mut sampled } else { &mut rest };
                list.push((distance, (count + 1).ilog2(), at, outcome));
            }
        }
    });
    if sampled.is_empty() {
        sampled = rest;
    }
    sampled.sort_unstable_by(|a, b| b.cmp(a));
    sampled
}
