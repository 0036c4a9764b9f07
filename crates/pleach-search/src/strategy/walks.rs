//! What the two random walks of CREST share: a walker stands at a run, forces
//! one decision of it, waits for the answer, and moves on to the run that comes
//! of it. How it chooses is its [`Policy`]; when it has no choice left it begins
//! again, from where it is or from an input that once gained something.
//!
//! While one walker waits, another worker gets another walker. So there are as
//! many as there are workers, and with one worker there is one walk.
//!
//! The paper begins again from random inputs. Here those are seldom kept (they
//! must gain something first), and a program that reads structured input rejects
//! them; inputs that gained do instead.
//!
//! A walk has no end: it may come by the same path again. It stops only when
//! nothing can be forced: when [`TRIES`] walks in a row found no choice.

use super::{Action, InputNews, Origin, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, Run, RunId};
use crate::tree::{Mark, Tree};
use std::collections::HashMap;

const TRIES: u32 = 64;

/// How a walker chooses.
pub(super) trait Policy: Send {
    /// The next decision to force, and to what; `None` ends the walk.
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
    /// Decisions before this one have been passed.
    pub at: u32,
    /// Decisions forced since the walk began or last gained something.
    pub forced: u32,
}

pub(super) struct Walker<P> {
    policy: P,
    walks: Vec<Walk>,
    /// Inputs to begin from: seeds, and what gained.
    starts: Vec<InputId>,
    runs: HashMap<InputId, RunId>,
    /// Walks in a row that found no choice, since something was last heard.
    empty: u32,
    /// The walks ended though not everything was tried.
    left: bool,
    doing: Place,
}

#[derive(Clone, Copy)]
struct Walk {
    place: Place,
    at: Standing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Nowhere,
    Run(RunId, InputId),
    /// The input of the run where it stands, in case the flip fails.
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
            empty: 0,
            left: false,
            doing: Place::default(),
        }
    }

    /// Where a walk begins: where it stood, or at some input.
    fn begin(&self, stood: Standing, rng: &mut Rng) -> Option<Walk> {
        let at = match stood {
            Standing::Run(run, input) if rng.coin() => Standing::Run(run, input),
            _ => {
                let &input = rng.pick(&self.starts)?;
                match self.runs.get(&input) {
                    Some(&run) => Standing::Run(run, input),
                    None => Standing::ToTrace(input),
                }
            }
        };
        Some(Walk { place: Place::default(), at })
    }

    fn asked(&mut self, flip: Flip) -> Option<(&mut Walk, InputId)> {
        self.walks.iter_mut().find_map(|w| match w.at {
            Standing::Asked(f, input) if f == flip => Some((w, input)),
            _ => None,
        })
    }
}

impl<P: Policy> Strategy for Walker<P> {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        let busy = |w: &Walk| matches!(w.at, Standing::Asked(..) | Standing::Tracing(_));
        let index = match self.walks.iter().position(|w| !busy(w)) {
            Some(index) => index,
            None => {
                self.walks.push(Walk { place: Place::default(), at: Standing::Nowhere });
                self.walks.len() - 1
            }
        };
        while self.empty < TRIES {
            let mut walk = self.walks[index];
            let action = match walk.at {
                Standing::Run(id, input) => match view.runs.get(id) {
                    Some(run) => {
                        let choice = self.policy.choose(&mut walk.place, run, view.tree, rng);
                        choice.map(|(at, outcome)| {
                            let flip = Flip { run: id, at, outcome };
                            walk.at = Standing::Asked(flip, input);
                            Action::Flip(flip)
                        })
                    }
                    None => {
                        self.runs.remove(&input);
                        walk.at = Standing::Tracing(input);
                        Some(Action::Trace(input))
                    }
                },
                Standing::ToTrace(input) => {
                    walk.at = Standing::Tracing(input);
                    Some(Action::Trace(input))
                }
                _ => None,
            };
            if let Some(action) = action {
                if matches!(action, Action::Flip(_)) {
                    self.empty = 0;
                    self.doing = walk.place;
                }
                self.walks[index] = walk;
                return action;
            }
            self.empty += u32::from(walk.at != Standing::Nowhere);
            match self.begin(walk.at, rng) {
                Some(walk) => self.walks[index] = walk,
                None => break,
            }
        }
        // Walks end by chance: somebody must look whether there is anything left.
        let run_of = |input| self.runs.get(input).and_then(|&id| view.runs.get(id));
        self.left = view.runs.has_dropped()
            || self.starts.iter().any(|input| run_of(input).is_none())
            || view.runs.iter().any(|run| run.open(view.tree, 0).next().is_some());
        Action::Wait
    }

    fn executed(&mut self, _view: &View, news: &InputNews) {
        self.empty = 0;
        let starts = news.origin.is_start() || news.branches > 0;
        self.starts.extend(news.input.filter(|_| starts));
        let Origin::Flip(flip) = news.origin else { return };
        if let Some((walk, stood)) = self.asked(flip) {
            walk.place.forced = if news.branches > 0 { 0 } else { walk.place.forced };
            walk.at = match news.input {
                Some(input) => Standing::ToTrace(input),
                None => Standing::Run(flip.run, stood),
            };
        }
    }

    fn traced(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        if self.starts.contains(&run.input) {
            self.runs.insert(run.input, id);
        }
        let waits = self.walks.iter_mut().filter(|w| w.at == Standing::Tracing(run.input));
        waits.for_each(|w| w.at = Standing::Run(id, run.input));
    }

    fn untraceable(&mut self, _view: &View, input: InputId) {
        self.starts.retain(|&i| i != input);
        let waits = self.walks.iter_mut().filter(|w| w.at == Standing::Tracing(input));
        waits.for_each(|w| w.at = Standing::Nowhere);
    }

    fn answered(&mut self, _view: &View, flip: Flip, verdict: Verdict) {
        self.empty = 0;
        if let Some((walk, stood)) = self.asked(flip) {
            match verdict {
                Verdict::Sat | Verdict::Optimistic => {}
                Verdict::Unsat | Verdict::Unknown => walk.at = Standing::Run(flip.run, stood),
                Verdict::Gone => {
                    walk.at = Standing::ToTrace(stood);
                    walk.place.at = walk.place.at.min(flip.at);
                }
            }
        }
    }

    fn doing(&self) -> String {
        self.policy.doing(&self.doing)
    }

    fn left_out(&self) -> u64 {
        self.left.into()
    }
}

/// Whether a decision may be forced: not if the solver refused it or is at it.
pub(super) fn may_force(run: &Run, tree: &Tree, at: u32, outcome: u32) -> bool {
    let mark = run.flipped(at, outcome).and_then(|node| tree.mark(node));
    !matches!(mark, Some(Mark::Unsat | Mark::Unknown | Mark::Asked))
}
