//! Flips that lead to other paths, as in generational search. Inputs that gained most come
//! first. Each run gets a number of flips, those first that were asked least over all runs.
//! A flip that was refused `n` times in a row is asked with probability 2/`n`.
//!
//! When no such input waits, runs with more flips take turns with inputs that gained
//! nothing. Of the latter, those come first whose flip was seldom made in its *context*.
//! The context of a flip is the decision before it. A hexadecimal number shows why this
//! matters: a letter as its first digit covers nothing new once another digit was a letter,
//! but only then can the number be large.
//!
//! If a grammar shows in which constructs a decision's token is nested, these are its
//! context, and the same flip in another context counts as another flip. There are more
//! contexts than can be tried, most of them in expressions. So, among flips that were asked
//! equally often, those of a decision whose flips gained something come first.

use super::guide::Guide;
use crate::keys::KeyMap;
use crate::run::{Flip, InputId, Run, RunId};
use crate::strategy::View;
use crate::strategy::generational::{Rank, keep_better_half};
use crate::strategy::plan::{Look, Next, Plan, Worth};
use crate::tree::Tree;
use pleach_abi::event::Kind;
use pleach_hash::mix;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// The context of flips that were made before the campaign was resumed.
const RECALLED_CONTEXT: u64 = 0;
/// The most inputs that wait, runs that wait for another turn, contexts and decisions.
const MAX_WAITING: usize = 1 << 18;
/// After this many refusals in a row a flip is asked less often.
const REFUSALS_BEFORE_BACK_OFF: u32 = 8;
/// The most flips of one run in a row, while other inputs wait.
const MAX_TURN: u32 = 128;
/// The fewest, if the grammar gives contexts.
const MIN_TURN: u32 = 4;
/// If no input that gained waits, one of this many turns is for a run that has more flips.
const LATER_EVERY: u32 = 4;

#[derive(Default)]
pub(super) struct Paths {
    /// Inputs that gained something. With a guide, the nearest come first.
    gained: BinaryHeap<(Reverse<u32>, Rank, Reverse<InputId>)>,
    /// Inputs that gained nothing, by how often such a flip was made before.
    without_gain: BinaryHeap<(Reverse<u32>, Rank, Reverse<InputId>)>,
    /// How often each flip was made in its context.
    contexts: KeyMap<u64, u32>,
    /// Turns that were not for an input that gained something.
    other_turns: u32,
    /// The last run of each input, whichever arm traced it.
    runs: HashMap<InputId, RunId>,
    /// The run whose flips are asked now.
    turn: Option<Turn>,
    /// Inputs whose runs have more flips.
    later: VecDeque<(InputId, Look)>,
    /// The next look at the runs of these inputs, if it is not the first.
    next_look: HashMap<InputId, Look>,
    /// How often each flip was asked and refused, over all runs.
    history: KeyMap<(u64, u32), History>,
    /// By decision, in any context: flips asked, and flips whose inputs gained something.
    yields: KeyMap<u64, (u32, u32)>,
}

#[derive(Clone, Copy, Default)]
struct History {
    asked: u32,
    /// How often in a row the solver refused it.
    refused: u32,
}

/// The flips of one run in a row.
struct Turn {
    plan: Plan,
    input: InputId,
    look: Look,
    /// Flips so far.
    flips: u32,
    /// The most flips while other inputs wait.
    max_flips: u32,
}

pub(super) enum PathAction {
    Flip(Flip),
    Trace(InputId),
}

impl Paths {
    /// Adds an input that gained something.
    pub fn add(&mut self, input: InputId, distance: u32, rank: Rank) {
        self.gained.push((Reverse(distance), rank, Reverse(input)));
        keep_better_half(&mut self.gained, MAX_WAITING);
    }

    /// Adds the result of a flip that gained nothing.
    pub fn add_without_gain(
        &mut self,
        view: &View,
        input: InputId,
        distance: u32,
        rank: Rank,
        flip: Flip,
    ) {
        let Some(context) = view.runs.get(flip.run).and_then(|run| context(run, flip)) else {
            return;
        };
        if self.contexts.len() >= MAX_WAITING {
            self.contexts.clear();
        }
        let futility = view.runs.get(flip.run).map_or(0, |run| self.futility(run, flip.at));
        let made = self.contexts.entry(context).or_insert(0);
        *made += 1;
        let distance = Guide::branches(distance);
        self.without_gain.push((Reverse(made.ilog2() + futility + distance), rank, Reverse(input)));
        keep_better_half(&mut self.without_gain, MAX_WAITING);
    }

    /// Adds an input from before the campaign was resumed that gained nothing. Its flip is
    /// not known. All such inputs count as results of one flip, so that new ones come first.
    pub fn add_recalled(&mut self, input: InputId, rank: Rank) {
        let made = self.contexts.entry(RECALLED_CONTEXT).or_insert(0);
        *made += 1;
        self.without_gain.push((Reverse(made.ilog2()), rank, Reverse(input)));
        keep_better_half(&mut self.without_gain, MAX_WAITING);
    }

    /// Sorts the inputs that gained something again, because distances have changed.
    pub fn sort_again(&mut self, guide: &Guide) {
        let inputs = std::mem::take(&mut self.gained).into_iter();
        let sort =
            |(_, rank, Reverse(input))| (Reverse(guide.of_input(input)), rank, Reverse(input));
        self.gained = inputs.map(sort).collect();
    }

    /// The next flip, or the input to trace for more.
    pub fn next(&mut self, view: &View, guide: Option<&Guide>) -> Option<PathAction> {
        loop {
            if let Some(mut turn) = self.turn.take() {
                let none_waits = self.gained.is_empty()
                    && self.later.is_empty()
                    && (turn.max_flips == MAX_TURN || self.without_gain.is_empty());
                if turn.flips >= turn.max_flips && !none_waits {
                    self.put_off(turn.input, turn.look);
                } else {
                    match turn.plan.next(view) {
                        Next::Flip(flip) => {
                            turn.flips += 1;
                            self.turn = Some(turn);
                            return Some(PathAction::Flip(flip));
                        }
                        Next::Gone => self.put_off(turn.input, turn.look),
                        Next::Done if turn.plan.has_unsampled() => {
                            self.put_off(turn.input, Look::All)
                        }
                        Next::Done => {}
                    }
                }
            }
            let (input, look) = self.choose_input()?;
            if look != Look::First {
                self.next_look.insert(input, look);
            }
            let known = self.runs.get(&input).and_then(|&id| Some((id, view.runs.get(id)?)));
            let Some((id, run)) = known else {
                self.runs.remove(&input);
                return Some(PathAction::Trace(input));
            };
            self.start_turn(view, id, run, guide);
        }
    }

    fn choose_input(&mut self) -> Option<(InputId, Look)> {
        if let Some((_, _, Reverse(input))) = self.gained.pop() {
            return Some((input, Look::First));
        }
        self.other_turns += 1;
        if self.other_turns.is_multiple_of(LATER_EVERY)
            && let Some(later) = self.later.pop_front()
        {
            return Some(later);
        }
        let without_gain =
            self.without_gain.pop().map(|(_, _, Reverse(input))| (input, Look::First));
        without_gain.or_else(|| self.later.pop_front())
    }

    /// Reports a new run. If it was traced for this arm (`own`), its turn starts.
    pub fn record_trace(
        &mut self,
        view: &View,
        id: RunId,
        run: &Run,
        own: bool,
        guide: Option<&Guide>,
    ) {
        self.runs.insert(run.input, id);
        if own {
            if let Some(turn) = self.turn.take() {
                self.put_off(turn.input, turn.look);
            }
            self.start_turn(view, id, run, guide);
        }
    }

    /// Records the solver's verdict on a flip, whichever arm asked.
    pub fn record_verdict(&mut self, view: &View, flip: Flip, refused: bool) {
        let Some(run) = view.runs.get(flip.run) else { return };
        let Some(decision) = run.decisions.get(flip.at as usize) else { return };
        let place = decision.key ^ run.context(flip.at);
        if self.history.len() >= MAX_WAITING {
            self.history.clear();
            self.yields.clear();
        }
        let history = self.history.entry((place, flip.outcome)).or_default();
        history.asked += 1;
        history.refused = if refused { history.refused + 1 } else { 0 };
        self.yields.entry(decision.key).or_default().0 += 1;
    }

    /// Records that the input of a flip gained something.
    pub fn record_gain(&mut self, view: &View, flip: Flip) {
        let run = view.runs.get(flip.run);
        if let Some(decision) = run.and_then(|run| run.decisions.get(flip.at as usize)) {
            self.yields.entry(decision.key).or_default().1 += 1;
        }
    }

    /// How seldom flips of a decision gained something, as a logarithm. 0 if the grammar
    /// gives no contexts.
    fn futility(&self, run: &Run, at: u32) -> u32 {
        if run.contexts.is_empty() {
            return 0;
        }
        let key = run.decisions.get(at as usize).map_or(0, |d| d.key);
        let (asked, gained) = self.yields.get(&key).copied().unwrap_or_default();
        ((asked + 8) / (gained + 1)).max(1).ilog2() / 2
    }

    pub fn forget(&mut self, input: InputId) {
        self.runs.remove(&input);
        self.next_look.remove(&input);
    }

    fn start_turn(&mut self, view: &View, id: RunId, run: &Run, guide: Option<&Guide>) {
        let ahead = guide.map(|guide| guide.ahead(run)).unwrap_or_default();
        // Forget runs that were dropped.
        if self.runs.len() > 2 * view.runs.len() + 64 {
            self.runs.retain(|_, id| view.runs.get(*id).is_some());
        }
        let look = self.next_look.remove(&run.input).unwrap_or(Look::First);
        let never_asked = Cell::new(0);
        let plan = Plan::new(view, id, run, (run.bound, look), |at, decision, outcome| {
            let place = decision.key ^ run.context(at);
            let history = self.history.get(&(place, outcome)).copied().unwrap_or_default();
            let chance = mix(u64::from(at) << 32 | u64::from(id));
            if history.refused >= REFUSALS_BEFORE_BACK_OFF
                && chance % u64::from(history.refused) >= 2
            {
                return Worth::Nothing;
            }
            never_asked.set(never_asked.get() + u32::from(history.asked == 0));
            // Flips to uncovered branches have no advantage here; they are goals.
            // Pinned addresses come last, because their flips gain little.
            let is_pin = decision.kind == Kind::Pin;
            let far = guide.map_or(0, |guide| {
                let side = decision.branch(outcome).map(|branch| guide.of_branch(branch));
                let near = ahead[at as usize].min(side.unwrap_or(u32::MAX));
                Guide::branches(near)
            });
            let asked = (history.asked + 1).ilog2();
            Worth::Rank((is_pin, asked + self.futility(run, at) + far, chance))
        });
        // If there are contexts, flips that were asked in the same context can wait.
        let max_flips = match run.contexts.is_empty() {
            true => MAX_TURN,
            false => never_asked.get().clamp(MIN_TURN, MAX_TURN),
        };
        self.turn = Some(Turn { plan, input: run.input, look, flips: 0, max_flips });
    }

    fn put_off(&mut self, input: InputId, look: Look) {
        if self.later.len() < MAX_WAITING {
            self.later.push_back((input, look));
        }
    }
}

/// A hash of a flip in its context; see the module.
fn context(run: &Run, flip: Flip) -> Option<u64> {
    let at = flip.at as usize;
    let before = at.checked_sub(1).and_then(|b| run.decisions.get(b));
    let before = match run.context(flip.at) {
        0 => before.map_or(0, |d| Tree::child(0, d.key, d.outcome)),
        // The grammar's context says more than the decision before.
        place => place,
    };
    Some(Tree::child(before, run.decisions.get(at)?.key, flip.outcome))
}
