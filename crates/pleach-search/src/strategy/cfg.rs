//! Control-flow directed search, as in CREST (Burnim, Sen: "Heuristics for
//! scalable dynamic test generation", ASE 2008).
//!
//! Of all the ways that the current run could have gone, take the one that is
//! nearest in the static graph to a branch that nobody took ([`Distances`]).
//! The paper leaves to a report what happens when that is not feasible. Here:
//!
//! **Line.** A stack of runs. Flips are asked of the one on top. If one brings
//! a new branch, its run goes on top and the search goes on from there. If it
//! brings none but came nearer, its run goes on top too, and only alternatives
//! past the flip that are *strictly nearer* are tried: steps towards one goal.
//!
//! **Revision.** Each alternative (decision and outcome) has a penalty that is
//! added to its distance. It grows by one when the solver refuses it or when its
//! run brought no new branch, and goes away when it brought one. So what is
//! near but infeasible drifts back behind what is farther.
//!
//! **Backtracking.** A run with no alternative left, or with [`PATIENCE`] failures,
//! is taken off the stack; the one below goes on where it was.
//!
//! **Restarts.** After [`RESTART`] flips without a new branch, or when the stack is
//! empty, the line is given up, penalties are halved, and the search begins again
//! from an input that once gained something; one time in four from one that did
//! not. An input whose run offers nothing any more is forgotten, and when none is
//! left every path has been tried, as far as the loops of a run are [sampled first
//! and in full afterwards](super::plan).
//!
//! Alternatives from which the graph leads nowhere (a call through a pointer, a
//! loop in the caller) come after all others, not never. A decision that is no
//! branch (a length, a comparison in a libc model) is as near as the next branch
//! that the run took after it, plus one.

use super::plan::{is_sampled, occurrences};
use super::{Action, InputNews, Origin, Strategy, Verdict, View};
use crate::distance::{Distances, FAR};
use crate::keys::KeyMap;
use crate::rng::Rng;
use crate::run::{Flip, InputId, Run, RunId};
use std::collections::{HashMap, VecDeque};

/// Failures after which a run is taken off the stack.
const PATIENCE: u32 = 24;
/// Flips without a new branch after which the line is given up.
const RESTART: u32 = 120;
/// Where alternatives are put that lead nowhere in the graph.
const BEHIND: u32 = 1 << 20;
/// Runs on the stack.
const DEEPEST: usize = 64;
/// Inputs without a gain that are kept for restarts.
const MOST: usize = 1 << 20;

#[derive(Default)]
pub struct Cfg {
    distances: Option<Distances>,
    /// Grows when coverage does.
    age: u32,
    /// The age that the distances are of.
    updated: Option<u32>,
    penalties: KeyMap<(u64, u32), u32>,
    line: Vec<Stop>,
    /// Inputs to trace, and as what.
    to_trace: VecDeque<(InputId, Purpose)>,
    tracing: HashMap<InputId, Purpose>,
    asked: HashMap<Flip, Asked>,
    gained: Vec<InputId>,
    others: Vec<InputId>,
    /// The last run of inputs that a restart used.
    runs: HashMap<InputId, RunId>,
    /// Flips since the last new branch or restart.
    idle: u32,
    left_out: u64,
    nearest: Option<u32>,
}

/// A run on the stack.
struct Stop {
    run: RunId,
    from: u32,
    /// Only what is nearer than this is tried.
    below: u32,
    /// Farthest first, as of an age.
    alternatives: Vec<Alternative>,
    age: Option<u32>,
    failures: u32,
}

type Alternative = (u32, u32, u32, u32);

#[derive(Clone, Copy)]
enum Purpose {
    Start,
    Step { from: u32, below: u32 },
}

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
            if self.idle >= RESTART {
                self.give_up_line();
            }
            if self.line.is_empty() {
                match self.restart(view, rng) {
                    true => continue,
                    false => return Action::Wait,
                }
            }
            if let Some(flip) = self.flip(view) {
                return Action::Flip(flip);
            }
            self.line.pop();
        }
    }

    fn executed(&mut self, _view: &View, news: &InputNews) {
        if news.branches > 0 {
            self.age += 1;
            self.idle = 0;
        }
        let asked = match news.origin {
            Origin::Flip(flip) => self.asked.remove(&flip).map(|a| (flip, a)),
            _ => None,
        };
        if let Some((flip, asked)) = &asked {
            if news.branches > 0 {
                self.penalties.remove(&asked.alternative);
            } else {
                self.fail(flip, asked.alternative);
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
                Some((flip, asked)) if open && asked.distance > 0 && asked.distance < BEHIND => {
                    let step = Purpose::Step { from: flip.at + 1, below: asked.distance };
                    self.to_trace.push_front((input, step));
                }
                _ => {}
            }
            if self.others.len() < MOST {
                self.others.push(input);
            } else {
                self.left_out += 1;
            }
        }
    }

    fn traced(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        let Some(purpose) = self.tracing.remove(&run.input) else { return };
        self.runs.insert(run.input, id);
        match purpose {
            Purpose::Start => self.push(Stop::new(id, 0, u32::MAX)),
            Purpose::Step { from, below } => self.push(Stop::new(id, from, below)),
        }
    }

    fn untraceable(&mut self, _view: &View, input: InputId) {
        self.tracing.remove(&input);
        self.gained.retain(|&i| i != input);
        self.others.retain(|&i| i != input);
    }

    fn answered(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        match verdict {
            Verdict::Sat | Verdict::Optimistic => {}
            Verdict::Unsat | Verdict::Unknown => {
                if let Some(asked) = self.asked.remove(&flip) {
                    self.fail(&flip, asked.alternative);
                }
            }
            Verdict::Gone => {
                let Some(asked) = self.asked.remove(&flip) else { return };
                self.line.retain(|s| s.run != flip.run);
                let known = self.gained.contains(&asked.input);
                if view.runs.get(flip.run).is_none() && !known && self.others.len() < MOST {
                    self.others.push(asked.input);
                }
            }
        }
    }

    fn doing(&self) -> String {
        match self.nearest {
            Some(distance) if distance < BEHIND => {
                format!("at distance {distance}, {} runs on the line", self.line.len())
            }
            _ => format!("out of the graph's sight, {} runs on the line", self.line.len()),
        }
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Cfg {
    /// The nearest open alternative of the run on top.
    fn flip(&mut self, view: &View) -> Option<Flip> {
        let stop = self.line.last_mut()?;
        let run = view.runs.get(stop.run)?;
        if stop.failures >= PATIENCE {
            return None;
        }
        if stop.age != Some(self.age) {
            let distances = self.distances.get_or_insert_with(|| Distances::new(view.program));
            if self.updated != Some(self.age) {
                self.updated = Some(self.age);
                distances.update(view.program, view.coverage);
            }
            stop.age = Some(self.age);
            stop.alternatives = alternatives(view, run, stop, distances, &self.penalties);
        }
        while let Some((distance, _, at, outcome)) = stop.alternatives.pop() {
            let node = run.flipped(at, outcome)?;
            if view.tree.mark(node).is_some() {
                continue;
            }
            let flip = Flip { run: stop.run, at, outcome };
            let alternative = (run.decisions[at as usize].key, outcome);
            self.asked.insert(flip, Asked { input: run.input, distance, alternative });
            self.idle += 1;
            self.nearest = Some(distance);
            return Some(flip);
        }
        None
    }

    /// Finds an input to begin again from. False if there is none.
    fn restart(&mut self, view: &View, rng: &mut Rng) -> bool {
        self.idle = 0;
        while !(self.gained.is_empty() && self.others.is_empty()) {
            let gained = self.others.is_empty() || !self.gained.is_empty() && rng.below(4) != 0;
            let list = if gained { &mut self.gained } else { &mut self.others };
            let at = rng.below(list.len());
            let input = list[at];
            let known = self.runs.get(&input).and_then(|&id| Some((id, view.runs.get(id)?)));
            match known {
                Some((id, run)) if run.open(view.tree, 0).next().is_some() => {
                    self.push(Stop::new(id, 0, u32::MAX));
                }
                Some(_) => {
                    list.swap_remove(at);
                    self.runs.remove(&input);
                    continue;
                }
                // Its run is on the way.
                None if self.tracing.contains_key(&input) => return false,
                None => self.to_trace.push_back((input, Purpose::Start)),
            }
            return true;
        }
        false
    }

    fn give_up_line(&mut self) {
        self.line.clear();
        self.idle = 0;
        self.penalties.retain(|_, p| {
            *p /= 2;
            *p > 0
        });
    }

    fn push(&mut self, stop: Stop) {
        if self.line.len() == DEEPEST {
            self.line.remove(0);
        }
        self.line.push(stop);
    }

    fn fail(&mut self, flip: &Flip, alternative: (u64, u32)) {
        *self.penalties.entry(alternative).or_insert(0) += 1;
        if let Some(stop) = self.line.iter_mut().find(|s| s.run == flip.run) {
            stop.failures += 1;
        }
    }
}

impl Stop {
    fn new(run: RunId, from: u32, below: u32) -> Stop {
        Stop { run, from, below, alternatives: Vec::new(), age: None, failures: 0 }
    }
}

/// The open alternatives of a run, the best last: by distance and penalty, then
/// by how often the run had decided it before, then by place.
fn alternatives(
    view: &View,
    run: &Run,
    stop: &Stop,
    distances: &Distances,
    penalties: &KeyMap<(u64, u32), u32>,
) -> Vec<Alternative> {
    let of = |branch| distances.of(view.program, view.coverage, branch);
    // For each decision, how near the next branch at or after it is.
    let mut ahead = vec![FAR; run.decisions.len() + 1];
    for (at, d) in
        run.decisions.iter().enumerate().rev().take_while(|(i, _)| *i >= stop.from as usize)
    {
        let sides = (0..d.outcomes).filter_map(|o| d.branch(o));
        ahead[at] = sides.map(of).min().unwrap_or(ahead[at + 1]);
    }
    let mut sampled = Vec::new();
    let mut rest = Vec::new();
    occurrences(run, stop.from, |at, decision, count| {
        for outcome in decision.others() {
            let distance = match decision.branch(outcome) {
                Some(branch) => of(branch),
                None => ahead[at as usize].saturating_add(1),
            };
            let penalty = penalties.get(&(decision.key, outcome)).copied().unwrap_or(0);
            let distance = distance.min(BEHIND) + penalty.min(BEHIND);
            let open = || run.flipped(at, outcome).is_some_and(|n| view.tree.mark(n).is_none());
            if distance < stop.below && open() {
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
