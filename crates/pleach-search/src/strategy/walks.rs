//! What the two random walks of CREST share. A walk is at a run, flips one decision of it
//! ("forces" it, in CREST's words), waits for the answer, and moves to the resulting run.
//! A [`Policy`] chooses the decision. When the policy has no choice left, the walk starts
//! again: at its current run, or at an input that once gained something.
//!
//! While one walk waits for an answer, another worker gets another walk. So there are as
//! many walks as workers.
//!
//! The paper starts again at random inputs. A program that reads structured input rejects
//! those, so this module starts at inputs that gained something.
//!
//! Walks can visit the same path more than once, so they have no natural end. The search
//! stops when [`MAX_EMPTY_WALKS`] walks in a row found nothing to flip.

use super::{Action, ExecutionReport, Origin, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, Run, RunId};
use crate::tree::{Mark, Tree};
use std::collections::HashMap;

const MAX_EMPTY_WALKS: u32 = 64;

/// How a walk chooses the decision to flip.
pub(super) trait Policy: Send {
    /// The position of the next decision to flip, and its new outcome. `None` ends the walk.
    fn choose(
        &self,
        place: &mut Place,
        run: &Run,
        tree: &Tree,
        rng: &mut Rng,
    ) -> Option<(u32, u32)>;

    fn doing(&self, place: &Place) -> String;
}

/// How far a walk has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// The walk is past the decisions before this one.
    pub at: u32,
    /// Decisions flipped since the walk started or last gained something.
    pub forced: u32,
}

pub(super) struct Walker<P> {
    policy: P,
    walks: Vec<Walk>,
    /// Inputs where walks start: seeds, and inputs that gained something.
    starts: Vec<InputId>,
    /// The last run of each of them.
    runs: HashMap<InputId, RunId>,
    /// Walks in a row that found nothing to flip, since the last result arrived.
    empty_walks: u32,
    /// True if the walks stopped although there may be open flips.
    has_open_flips: bool,
    last_place: Place,
}

#[derive(Clone, Copy)]
struct Walk {
    place: Place,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    NotStarted,
    /// At a run of an input.
    AtRun(RunId, InputId),
    /// Waits for the answer to a flip. If the flip fails, the walk goes back to this input.
    Asked(Flip, InputId),
    ToTrace(InputId),
    Tracing(InputId),
}

impl<P: Policy> Walker<P> {
    pub fn new(policy: P) -> Walker<P> {
        Walker {
            policy,
            walks: Vec::new(),
            starts: Vec::new(),
            runs: HashMap::new(),
            empty_walks: 0,
            has_open_flips: false,
            last_place: Place::default(),
        }
    }

    /// Starts a walk at the run where the last one ended, or at one of the start inputs.
    fn start_walk(&self, last: State, rng: &mut Rng) -> Option<Walk> {
        let state = match last {
            State::AtRun(run, input) if rng.coin() => State::AtRun(run, input),
            _ => {
                let &input = rng.pick(&self.starts)?;
                match self.runs.get(&input) {
                    Some(&run) => State::AtRun(run, input),
                    None => State::ToTrace(input),
                }
            }
        };
        Some(Walk { place: Place::default(), state })
    }

    /// The walk that waits for the answer to a flip.
    fn walk_of(&mut self, flip: Flip) -> Option<(&mut Walk, InputId)> {
        self.walks.iter_mut().find_map(|w| match w.state {
            State::Asked(f, input) if f == flip => Some((w, input)),
            _ => None,
        })
    }
}

impl<P: Policy> Strategy for Walker<P> {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        let busy = |w: &Walk| matches!(w.state, State::Asked(..) | State::Tracing(_));
        let index = match self.walks.iter().position(|w| !busy(w)) {
            Some(index) => index,
            None => {
                self.walks.push(Walk { place: Place::default(), state: State::NotStarted });
                self.walks.len() - 1
            }
        };
        while self.empty_walks < MAX_EMPTY_WALKS {
            let mut walk = self.walks[index];
            let action = match walk.state {
                State::AtRun(id, input) => match view.runs.get(id) {
                    Some(run) => {
                        let choice = self.policy.choose(&mut walk.place, run, view.tree, rng);
                        choice.map(|(at, outcome)| {
                            let flip = Flip { run: id, at, outcome };
                            walk.state = State::Asked(flip, input);
                            Action::Flip(flip)
                        })
                    }
                    None => {
                        self.runs.remove(&input);
                        walk.state = State::Tracing(input);
                        Some(Action::Trace(input))
                    }
                },
                State::ToTrace(input) => {
                    walk.state = State::Tracing(input);
                    Some(Action::Trace(input))
                }
                _ => None,
            };
            if let Some(action) = action {
                if matches!(action, Action::Flip(_)) {
                    self.empty_walks = 0;
                    self.last_place = walk.place;
                }
                self.walks[index] = walk;
                return action;
            }
            self.empty_walks += u32::from(walk.state != State::NotStarted);
            match self.start_walk(walk.state, rng) {
                Some(walk) => self.walks[index] = walk,
                None => break,
            }
        }
        // Walks end by chance, so check if there are open flips.
        let run_of = |input| self.runs.get(input).and_then(|&id| view.runs.get(id));
        self.has_open_flips = view.runs.has_dropped()
            || self.starts.iter().any(|input| run_of(input).is_none())
            || view.runs.iter().any(|run| run.open(view.tree, 0).next().is_some());
        Action::Wait
    }

    fn record_execution(&mut self, _view: &View, news: &ExecutionReport) {
        self.empty_walks = 0;
        let is_start = news.origin.is_start() || news.branches > 0;
        self.starts.extend(news.input.filter(|_| is_start));
        let Origin::Flip(flip) = news.origin else { return };
        if let Some((walk, before)) = self.walk_of(flip) {
            walk.place.forced = if news.branches > 0 { 0 } else { walk.place.forced };
            walk.state = match news.input {
                Some(input) => State::ToTrace(input),
                None => State::AtRun(flip.run, before),
            };
        }
    }

    fn record_trace(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        if self.starts.contains(&run.input) {
            self.runs.insert(run.input, id);
        }
        let waiting = self.walks.iter_mut().filter(|w| w.state == State::Tracing(run.input));
        waiting.for_each(|w| w.state = State::AtRun(id, run.input));
    }

    fn record_trace_failure(&mut self, _view: &View, input: InputId) {
        self.starts.retain(|&i| i != input);
        let waiting = self.walks.iter_mut().filter(|w| w.state == State::Tracing(input));
        waiting.for_each(|w| w.state = State::NotStarted);
    }

    fn record_verdict(&mut self, _view: &View, flip: Flip, verdict: Verdict) {
        self.empty_walks = 0;
        if let Some((walk, before)) = self.walk_of(flip) {
            match verdict {
                Verdict::Sat | Verdict::Optimistic => {}
                Verdict::Unsat | Verdict::Unknown => walk.state = State::AtRun(flip.run, before),
                Verdict::Gone => {
                    walk.state = State::ToTrace(before);
                    walk.place.at = walk.place.at.min(flip.at);
                }
            }
        }
    }

    fn doing(&self) -> String {
        self.policy.doing(&self.last_place)
    }

    fn left_out(&self) -> u64 {
        self.has_open_flips.into()
    }
}

/// True if a decision may be flipped: the solver has not refused it and is not working on
/// it.
pub(super) fn may_force(run: &Run, tree: &Tree, at: u32, outcome: u32) -> bool {
    let mark = run.flipped(at, outcome).and_then(|node| tree.mark(node));
    !matches!(mark, Some(Mark::Unsat | Mark::Unknown | Mark::Asked))
}
