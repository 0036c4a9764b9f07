//! Flips that only lead to other paths, in generations: of the inputs that
//! gained most, a number of flips each, those first that were asked least over
//! all runs so far; of those that were refused `n` times in a row, two in `n`.
//!
//! When no such input waits, runs that have more flips take turns with inputs
//! that gained nothing. Among these, a flip that was seldom made before in its
//! *context*, the decision before it, goes first. A number in hexadecimal shows
//! why it matters: that its first digit is a letter is nothing new once another
//! digit was one, and yet only then can the number be large. Where a grammar tells what a
//! decision's token is nested in, that is its context, and the same flip in another one
//! counts as another. There are more contexts than can be tried, most of them in
//! expressions. So there the flips of a decision that has paid go before those of one that
//! has not, as far as they were asked equally often.

use crate::keys::KeyMap;
use crate::rng::mix;
use crate::run::{Flip, InputId, Run, RunId};
use crate::strategy::View;
use crate::strategy::generational::{Rank, keep_better_half};
use crate::strategy::plan::{Look, Next, Plan, Worth};
use crate::tree::Tree;
use pleach_abi::event::Kind;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// The context of flips that were made before the campaign was resumed.
const RECALLED: u64 = 0;
/// Inputs that may wait, and runs that may wait to be looked at again.
const MOST: usize = 1 << 18;
/// Refusals in a row after which a flip is asked ever more seldom.
const PATIENCE: u32 = 8;
/// Flips of one run in a row. Inputs that gained meanwhile go first then.
const TURN: u32 = 128;
/// The same, at least, where contexts are known.
const SHORT: u32 = 4;
/// Of so many turns without an input that gained, one is for a run that has more.
const LATER: u32 = 4;

#[derive(Default)]
pub(super) struct Paths {
    waiting: BinaryHeap<(Rank, Reverse<InputId>)>,
    /// Inputs that gained nothing, by how often such a flip was made before.
    dull: BinaryHeap<(Reverse<u32>, Rank, Reverse<InputId>)>,
    /// Flips that were executed, by decision, outcome and the decision before.
    contexts: KeyMap<u64, u32>,
    /// Turns without an input that gained something.
    turns: u32,
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
    /// By decision, in whatever context: flips asked, and those whose inputs gained.
    yields: KeyMap<u64, (u32, u32)>,
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
    /// Flips that it has had, and how many it gets while others wait.
    had: u32,
    most: u32,
}

pub(super) enum Wants {
    Flip(Flip),
    Trace(InputId),
}

impl Paths {
    /// An input that gained something.
    pub fn add(&mut self, input: InputId, rank: Rank) {
        self.waiting.push((rank, Reverse(input)));
        keep_better_half(&mut self.waiting, MOST);
    }

    /// The result of a flip that gained nothing.
    pub fn add_dull(&mut self, view: &View, input: InputId, rank: Rank, flip: Flip) {
        let Some(context) = view.runs.get(flip.run).and_then(|run| context(run, flip)) else {
            return;
        };
        if self.contexts.len() >= MOST {
            self.contexts.clear();
        }
        let vain = view.runs.get(flip.run).map_or(0, |run| self.vain(run, flip.at));
        let made = self.contexts.entry(context).or_insert(0);
        *made += 1;
        self.dull.push((Reverse(made.ilog2() + vain), rank, Reverse(input)));
        keep_better_half(&mut self.dull, MOST);
    }

    /// An input that gained nothing, of which nobody knows the flip: as if all such flips
    /// were one, so that new ones come before the many.
    pub fn add_recalled(&mut self, input: InputId, rank: Rank) {
        let made = self.contexts.entry(RECALLED).or_insert(0);
        *made += 1;
        self.dull.push((Reverse(made.ilog2()), rank, Reverse(input)));
        keep_better_half(&mut self.dull, MOST);
    }

    /// The next flip, or the input to trace for more.
    pub fn next(&mut self, view: &View) -> Option<Wants> {
        loop {
            if let Some(mut turn) = self.turn.take() {
                let none_wait = self.waiting.is_empty()
                    && self.later.is_empty()
                    && (turn.most == TURN || self.dull.is_empty());
                let over = turn.had >= turn.most && !none_wait;
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
            let (input, look) = self.choose()?;
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

    fn choose(&mut self) -> Option<(InputId, Look)> {
        if let Some((_, Reverse(input))) = self.waiting.pop() {
            return Some((input, Look::First));
        }
        self.turns += 1;
        if self.turns.is_multiple_of(LATER)
            && let Some(again) = self.later.pop_front()
        {
            return Some(again);
        }
        let dull = self.dull.pop().map(|(_, _, Reverse(input))| (input, Look::First));
        dull.or_else(|| self.later.pop_front())
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
        let place = decision.key ^ run.context(flip.at);
        let known = self.known.entry((place, flip.outcome)).or_default();
        known.asked += 1;
        known.refused = if refused { known.refused + 1 } else { 0 };
        self.yields.entry(decision.key).or_default().0 += 1;
    }

    /// A flip's input gained something.
    pub fn paid(&mut self, view: &View, flip: Flip) {
        let run = view.runs.get(flip.run);
        if let Some(decision) = run.and_then(|run| run.decisions.get(flip.at as usize)) {
            self.yields.entry(decision.key).or_default().1 += 1;
        }
    }

    /// How seldom flips of a decision have paid, as a logarithm; 0 where no contexts are
    /// known.
    fn vain(&self, run: &Run, at: u32) -> u32 {
        if run.contexts.is_empty() {
            return 0;
        }
        let key = run.decisions.get(at as usize).map_or(0, |d| d.key);
        let (asked, paid) = self.yields.get(&key).copied().unwrap_or_default();
        ((asked + 8) / (paid + 1)).max(1).ilog2() / 2
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
        let fresh = Cell::new(0);
        let plan = Plan::new(view, id, run, (run.bound, look), |at, decision, outcome| {
            let place = decision.key ^ run.context(at);
            let known = self.known.get(&(place, outcome)).copied().unwrap_or_default();
            let chance = mix(u64::from(at) << 32 | u64::from(id));
            if known.refused >= PATIENCE && chance % u64::from(known.refused) >= 2 {
                return Worth::Nothing;
            }
            fresh.set(fresh.get() + u32::from(known.asked == 0));
            // Branches that nobody took are no exception: where they are worth
            // more, they are goals. An address held in place gives little.
            let dull = decision.kind == Kind::Pin;
            Worth::Rank((dull, (known.asked + 1).ilog2() + self.vain(run, at), chance))
        });
        // Where contexts are known, what was asked in them before can wait.
        let most = match run.contexts.is_empty() {
            true => TURN,
            false => fresh.get().clamp(SHORT, TURN),
        };
        self.turn = Some(Turn { plan, input: run.input, look, had: 0, most });
    }

    fn put_off(&mut self, input: InputId, look: Look) {
        if self.later.len() < MOST {
            self.later.push_back((input, look));
        }
    }
}

/// A flip by what was decided, how, and what had been decided just before.
fn context(run: &Run, flip: Flip) -> Option<u64> {
    let at = flip.at as usize;
    let before = at.checked_sub(1).and_then(|b| run.decisions.get(b));
    let before = match run.context(flip.at) {
        0 => before.map_or(0, |d| Tree::child(0, d.key, d.outcome)),
        // Where it stands says more than what came before it.
        place => place,
    };
    Some(Tree::child(before, run.decisions.get(at)?.key, flip.outcome))
}
