//! Flips worth asking at once: *goals* proper, that is, branches that no run
//! took, be it by the flip itself or by what a function then [answers](Answers); and
//! *steps*, decisions that are no branch (a comparison inside a libc
//! model, a length, a check) and stand before branches that cannot be seen yet.
//!
//! **Back-off.** One goal may be offered by every run, a thousand times, and be
//! infeasible each time. A goal is asked for the first few offers, then at
//! powers of two: of `n` offers, some `log n` are asked. This starts anew for
//! each new *context*, up to a number: the decision before it, and how many times
//! in a row the goal's own decision was taken. The last is what lets a
//! comparison with a keyword go on character by character.
//!
//! What was asked least comes first; among steps, faults come last.

use super::answers::Answers;
use crate::keys::KeyMap;
use crate::program::BranchId;
use crate::rng::mix;
use crate::run::{Decision, Flip, InputId, Run, RunId};
use crate::strategy::View;
use crate::strategy::plan::is_sampled;
use crate::tree::Tree;
use pleach_abi::event::Kind;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Offers that are taken before the back-off begins.
const FIRST: u32 = 3;
/// Contexts of one goal that start anew.
const CONTEXTS: usize = 48;
/// Times that an input is traced again because its run was dropped.
const AGAIN: u32 = 3;
/// Flips that may wait.
const MOST: usize = 1 << 18;

#[derive(Default)]
pub(super) struct Goals {
    known: KeyMap<(u64, u32), Goal>,
    goals: BinaryHeap<Reverse<Offer>>,
    steps: BinaryHeap<Reverse<Offer>>,
    offers: u64,
    /// Inputs whose runs were dropped before their turn, and how often.
    lost: Vec<InputId>,
    again: HashMap<InputId, u32>,
    answers: Answers,
}

#[derive(Default)]
struct Goal {
    /// Offers, and how many of them were taken.
    seen: u32,
    taken: u32,
    contexts: HashSet<u64>,
}

pub(in crate::strategy) struct Asked {
    pub flip: Flip,
    pub input: InputId,
    pub goal: (u64, u32),
    /// Not to a branch: its result is worth a trace even if it gains nothing.
    pub step: bool,
}

/// Ordered by class, how often its goal was taken before it, and age.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    class: u8,
    taken: u32,
    age: u64,
    run: RunId,
    input: InputId,
    at: u32,
    key: u64,
    outcome: u32,
    /// The branch of a caller that it is for.
    answer: Option<BranchId>,
}

impl Goals {
    /// Takes up what a run could have done instead.
    pub fn offer(&mut self, view: &View, id: RunId, run: &Run) {
        let mut seen: KeyMap<u64, u32> = KeyMap::default();
        let (mut before, mut row) = (0, 0u64);
        let mut wanted = self.answers.wanted(view);
        let mut last: Option<&Decision> = None;
        for (at, decision) in run.decisions.iter().enumerate() {
            match last {
                Some(d) if d.key == decision.key => row += 1,
                Some(d) => (before, row) = (Tree::child(0, d.key, d.outcome), 0),
                None => {}
            }
            last = Some(decision);
            wanted.look(view.program, at, decision, |branch, caller| {
                for outcome in decision.others() {
                    let node = Tree::child(run.nodes[at], decision.key, outcome);
                    if view.tree.mark(node).is_some() {
                        continue;
                    }
                    // A goal of its own: the flip is another for each caller.
                    let key = mix(decision.key ^ u64::from(branch) << 32);
                    let goal = self.known.entry((key, outcome)).or_default();
                    if goal.take(mix(caller)) && self.goals.len() < MOST {
                        self.offers += 1;
                        self.goals.push(Reverse(Offer {
                            class: 0,
                            taken: goal.taken,
                            age: self.offers,
                            run: id,
                            input: run.input,
                            at: at as u32,
                            key,
                            outcome,
                            answer: Some(branch),
                        }));
                    }
                }
            });
            // A switch in a loop has too many sides to look at all every time.
            let count = seen.entry(decision.key).or_insert(0);
            *count += 1;
            if decision.outcomes > 4 && !is_sampled(*count - 1) {
                continue;
            }
            for outcome in decision.others() {
                let Some(class) = class(view, decision, outcome) else { continue };
                let node = Tree::child(run.nodes[at], decision.key, outcome);
                if view.tree.mark(node).is_some() {
                    continue;
                }
                let context = mix(before ^ row.min(16));
                let goal = self.known.entry((decision.key, outcome)).or_default();
                let heap = if class == 0 { &mut self.goals } else { &mut self.steps };
                if goal.take(context) && heap.len() < MOST {
                    self.offers += 1;
                    heap.push(Reverse(Offer {
                        class,
                        taken: goal.taken,
                        age: self.offers,
                        run: id,
                        input: run.input,
                        at: at as u32,
                        key: decision.key,
                        outcome,
                        answer: None,
                    }));
                }
            }
        }
    }

    /// The next flip to an uncovered branch.
    pub fn goal(&mut self, view: &View) -> Option<Asked> {
        loop {
            let Reverse(offer) = self.goals.pop()?;
            if let Some(asked) = self.asked(view, &offer) {
                return Some(asked);
            }
        }
    }

    /// The next flip of a decision that is no branch.
    pub fn step(&mut self, view: &View) -> Option<Asked> {
        loop {
            let Reverse(offer) = self.steps.pop()?;
            if let Some(asked) = self.asked(view, &offer) {
                return Some(asked);
            }
        }
    }

    /// The flip of an offer, if it is still wanted and open.
    fn asked(&mut self, view: &View, offer: &Offer) -> Option<Asked> {
        let &Offer { run: id, input, at, key, outcome, answer, .. } = offer;
        let Some(run) = view.runs.get(id) else {
            self.lose(input, (key, outcome));
            return None;
        };
        match answer {
            Some(branch) if view.coverage.has(branch) => return None,
            Some(_) => {}
            None => _ = class(view, run.decisions.get(at as usize)?, outcome)?,
        }
        let open = view.tree.mark(run.flipped(at, outcome)?).is_none();
        let flip = Flip { run: id, at, outcome };
        open.then_some(Asked { flip, input, goal: (key, outcome), step: offer.class > 0 })
    }

    /// A flip could not be asked because its run was dropped.
    pub fn lose(&mut self, input: InputId, goal: (u64, u32)) {
        let again = self.again.entry(input).or_insert(0);
        if *again == AGAIN {
            return;
        }
        if let Some(goal) = self.known.get_mut(&goal) {
            goal.seen = 0;
        }
        if !self.lost.contains(&input) {
            *again += 1;
            self.lost.push(input);
        }
    }

    /// An input to trace again.
    pub fn lost(&mut self) -> Option<InputId> {
        self.lost.pop()
    }
}

impl Goal {
    /// Whether an offer is taken.
    fn take(&mut self, context: u64) -> bool {
        if self.contexts.len() < CONTEXTS && self.contexts.insert(context) {
            self.seen = 0;
        }
        self.seen += 1;
        let taken = self.seen <= FIRST || self.seen.is_power_of_two();
        self.taken += u32::from(taken);
        taken
    }
}

/// How soon a flip is asked; `None` if it is no goal.
fn class(view: &View, decision: &Decision, outcome: u32) -> Option<u8> {
    match (decision.branch(outcome), decision.kind) {
        (Some(branch), _) if view.coverage.has(branch) => None,
        (Some(_), _) => Some(0),
        (None, Kind::Model | Kind::Len | Kind::Indirect | Kind::Assume) => Some(1),
        (None, Kind::CheckDiv | Kind::CheckIndex | Kind::CheckSize | Kind::CheckOverflow) => {
            Some(2)
        }
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_that_does_not_give_way_is_asked_ever_more_seldom() {
        let mut goal = Goal::default();
        let taken = (0..1000).filter(|_| goal.take(1)).count();
        assert!((8..=12).contains(&taken), "{taken}");
    }

    #[test]
    fn a_new_context_starts_anew_but_not_for_ever() {
        let mut goal = Goal::default();
        (0..1000).for_each(|_| {
            goal.take(1);
        });
        assert!(goal.take(2) && goal.take(2));
        let taken = (0..100_000u64).filter(|&c| goal.take(c)).count();
        assert!(taken < 2 * CONTEXTS, "{taken}");
    }
}
