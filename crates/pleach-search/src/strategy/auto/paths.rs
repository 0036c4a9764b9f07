//! Flips that only lead to other paths, in generations: of the inputs that
//! gained most, a number of flips each, those first that were asked least over
//! all runs so far; of those that were refused `n` times in a row, two in `n`. A run that has more has another turn when no such input
//! waits; inputs that gained nothing come last.

use crate::keys::KeyMap;
use crate::rng::mix;
use crate::run::{Flip, InputId, Run, RunId};
use crate::strategy::View;
use crate::strategy::generational::{Rank, keep_better_half};
use crate::strategy::plan::{Look, Next, Plan, Worth};
use pleach_abi::event::Kind;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Inputs that may wait, and runs that may wait to be looked at again.
const MOST: usize = 1 << 18;
/// Refusals in a row after which a flip is asked ever more seldom.
const PATIENCE: u32 = 8;
/// Flips of one run in a row. Inputs that gained meanwhile go first then.
const TURN: u32 = 128;

#[derive(Default)]
pub(super) struct Paths {
    waiting: BinaryHeap<(Rank, Reverse<InputId>)>,
    dull: BinaryHeap<(Rank, Reverse<InputId>)>,
    /// The last run of inputs, traced for whatever reason.
    runs: HashMap<InputId, RunId>,
    /// The run at hand.
    turn: Option<Turn>,
    /// Inputs whose runs have more.
    later: VecDeque<(InputId, Look)>,
    /// Inputs whose next look is not the first.
    again: HashMap<InputId, Look>,
    /// What came of each flip, over all runs.
    known: KeyMap<(u64, u32), Known>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    asked: u32,
    /// Times in a row that the solver refused it.
    refused: u32,
}

struct Turn {
    plan: Plan,
    input: InputId,
    look: Look,
    had: u32,
}

pub(super) enum Wants {
    Flip(Flip),
    Trace(InputId),
}

impl Paths {
    pub fn add(&mut self, input: InputId, rank: Rank, gained: bool) {
        let heap = if gained { &mut self.waiting } else { &mut self.dull };
        heap.push((rank, Reverse(input)));
        keep_better_half(heap, MOST);
    }

    /// The next flip, or the input to trace for more.
    pub fn next(&mut self, view: &View) -> Option<Wants> {
        loop {
            if let Some(mut turn) = self.turn.take() {
                let over = turn.had == TURN && !(self.waiting.is_empty() && self.later.is_empty());
                if over {
                    self.put_off(turn.input, turn.look);
                } else {
                    match turn.plan.next(view) {
                        Next::Flip(flip) => {
                            turn.had += 1;
                            self.turn = Some(turn);
                            return Some(Wants::Flip(flip));
                        }
                        Next::Gone => self.put_off(turn.input, turn.look),
                        Next::Done if turn.plan.left() => self.put_off(turn.input, Look::All),
                        Next::Done => {}
                    }
                }
            }
            let best = |heap: &mut BinaryHeap<(Rank, Reverse<InputId>)>| {
                heap.pop().map(|(_, Reverse(input))| (input, Look::First))
            };
            let (input, look) = best(&mut self.waiting)
                .or_else(|| self.later.pop_front())
                .or_else(|| best(&mut self.dull))?;
            if look != Look::First {
                self.again.insert(input, look);
            }
            let known = self.runs.get(&input).and_then(|&id| Some((id, view.runs.get(id)?)));
            let Some((id, run)) = known else {
                self.runs.remove(&input);
                return Some(Wants::Trace(input));
            };
            self.start(view, id, run);
        }
    }

    /// A run is there. If it was traced for this arm, it has its turn now.
    pub fn traced(&mut self, view: &View, id: RunId, run: &Run, mine: bool) {
        self.runs.insert(run.input, id);
        if mine {
            if let Some(turn) = self.turn.take() {
                self.put_off(turn.input, turn.look);
            }
            self.start(view, id, run);
        }
    }

    /// A flip was answered, whichever arm asked.
    pub fn answered(&mut self, view: &View, flip: Flip, refused: bool) {
        let Some(run) = view.runs.get(flip.run) else { return };
        let Some(decision) = run.decisions.get(flip.at as usize) else { return };
        let known = self.known.entry((decision.key, flip.outcome)).or_default();
        known.asked += 1;
        known.refused = if refused { known.refused + 1 } else { 0 };
    }

    pub fn forget(&mut self, input: InputId) {
        self.runs.remove(&input);
        self.again.remove(&input);
    }

    fn start(&mut self, view: &View, id: RunId, run: &Run) {
        // Runs that were dropped need no entry.
        if self.runs.len() > 2 * view.runs.len() + 64 {
            self.runs.retain(|_, id| view.runs.get(*id).is_some());
        }
        let look = self.again.remove(&run.input).unwrap_or(Look::First);
        let plan = Plan::new(view, id, run, (run.bound, look), |at, decision, outcome| {
            let known = self.known.get(&(decision.key, outcome)).copied().unwrap_or_default();
            let chance = mix(u64::from(at) << 32 | u64::from(id));
            if known.refused >= PATIENCE && chance % u64::from(known.refused) >= 2 {
                return Worth::Nothing;
            }
            // Branches that nobody took are no exception: where they are worth
            // more, they are goals. An address held in place, or what the program assumes, gives little.
            let dull = matches!(decision.kind, Kind::Pin | Kind::Assume);
            Worth::Rank((dull, (known.asked + 1).ilog2(), chance))
        });
        self.turn = Some(Turn { plan, input: run.input, look, had: 0 });
    }

    fn put_off(&mut self, input: InputId, look: Look) {
        if self.later.len() < MOST {
            self.later.push_back((input, look));
        }
    }
}
