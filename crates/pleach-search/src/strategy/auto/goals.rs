//! Flips that are asked soon. *Goals* lead to branches that no run took, directly or through
//! the [result of a function](Answers). *Steps* flip decisions that are not branches: a
//! comparison inside a libc model, a length, a check. They may lead to branches that no run
//! has reached yet.
//!
//! **Back-off.** A thousand runs may offer the same goal, and it may be infeasible each
//! time. So only the first three offers of a goal are accepted, and then those at powers of
//! two: of `n` offers, about `log n`. The count starts again for each new *context*, at
//! most [`MAX_CONTEXTS`] times. A context is the decision before, and how often the run
//! took the goal's own decision in a row. Because of the latter, a comparison with a
//! keyword can proceed character by character.
//!
//! Goals that were accepted least come first. Among steps, checks come last.

use super::answers::Answers;
use super::guide::Guide;
use crate::keys::KeyMap;
use crate::program::BranchId;
use crate::run::{Decision, Flip, InputId, Run, RunId};
use crate::strategy::View;
use crate::strategy::plan::is_sampled;
use crate::tree::Tree;
use pleach_abi::event::Kind;
use pleach_hash::mix;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

const OFFERS_BEFORE_BACK_OFF: u32 = 3;
/// The most contexts of one goal in which the count starts again.
const MAX_CONTEXTS: usize = 48;
/// A goal that was accepted this often counts as one branch farther.
const ACCEPTED_PER_DISTANCE: u32 = 2;
/// How often an input is traced again because its run was dropped.
const MAX_RETRACES: u32 = 3;
/// The most flips that wait, of goals and of steps each.
const MAX_WAITING_FLIPS: usize = 1 << 18;

#[derive(Default)]
pub(super) struct Goals {
    /// By key of the decision and outcome.
    history: KeyMap<(u64, u32), Goal>,
    goals: BinaryHeap<Reverse<Offer>>,
    steps: BinaryHeap<Reverse<Offer>>,
    /// The number of accepted offers.
    accepted: u64,
    /// Inputs to trace again because their runs were dropped.
    to_retrace: Vec<InputId>,
    /// How often each input was traced again.
    retraces: HashMap<InputId, u32>,
    answers: Answers,
}

#[derive(Default)]
struct Goal {
    /// Offers since the count last started.
    offered: u32,
    /// Offers that were accepted.
    accepted: u32,
    contexts: HashSet<u64>,
}

/// A flip for a goal or a step.
pub(in crate::strategy) struct GoalFlip {
    pub flip: Flip,
    pub input: InputId,
    /// The key of the goal, and its outcome.
    pub goal: (u64, u32),
    /// True for a step. Its result is traced even if it gained nothing.
    pub is_step: bool,
}

/// Ordered by distance (if there is a guide), by class, by how often its goal was accepted
/// before, and by age.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    distance: u32,
    class: u8,
    accepted: u32,
    number: u64,
    run: RunId,
    input: InputId,
    at: u32,
    key: u64,
    outcome: u32,
    /// The branch of a caller that the flip should lead to.
    caller_branch: Option<BranchId>,
    /// The branch that the flip takes.
    branch: Option<BranchId>,
    /// The distance because of what the run came to after the decision.
    ahead: u32,
}

impl Offer {
    /// Measures the distance.
    fn measure(&mut self, guide: Option<&Guide>) {
        let Some(guide) = guide else { return };
        let branch = self.caller_branch.or(self.branch);
        let own = branch.map_or(u32::MAX, |branch| Guide::branches(guide.of_branch(branch)));
        // A goal that was accepted often counts as farther.
        let penalty = match branch {
            Some(_) => self.accepted / ACCEPTED_PER_DISTANCE,
            None => 0,
        };
        self.distance = own.min(self.ahead).saturating_add(penalty);
    }
}

impl Goals {
    /// Offers the open flips of a run.
    pub fn add_run(&mut self, view: &View, id: RunId, run: &Run, guide: Option<&Guide>) {
        let ahead = guide.map(|guide| guide.ahead(run)).unwrap_or_default();
        let ahead_of = |at: usize| ahead.get(at).map_or(u32::MAX, |&d| Guide::branches(d));
        let mut seen: KeyMap<u64, u32> = KeyMap::default();
        let (mut before, mut row) = (0, 0u64);
        let results = self.answers.uncovered(view);
        let mut last: Option<&Decision> = None;
        for (at, decision) in run.decisions.iter().enumerate() {
            match last {
                Some(d) if d.key == decision.key => row += 1,
                Some(d) => (before, row) = (Tree::child(0, d.key, d.outcome), 0),
                None => {}
            }
            last = Some(decision);
            results.visit_decision(view.program, at, decision, |branch, caller| {
                for outcome in decision.others() {
                    if !run.is_open(view.tree, at as u32, outcome) {
                        continue;
                    }
                    // Each branch of a caller is a goal of its own.
                    let key = mix(decision.key ^ u64::from(branch) << 32);
                    let goal = self.history.entry((key, outcome)).or_default();
                    if goal.accept_offer(mix(caller)) && self.goals.len() < MAX_WAITING_FLIPS {
                        self.accepted += 1;
                        let mut offer = Offer {
                            distance: 0,
                            class: 0,
                            accepted: goal.accepted,
                            number: self.accepted,
                            run: id,
                            input: run.input,
                            at: at as u32,
                            key,
                            outcome,
                            caller_branch: Some(branch),
                            branch: None,
                            ahead: ahead_of(at),
                        };
                        offer.measure(guide);
                        self.goals.push(Reverse(offer));
                    }
                }
            });
            // A switch in a loop has too many sides to offer all of them every time.
            let count = seen.entry(decision.key).or_insert(0);
            *count += 1;
            if decision.outcomes > 4 && !is_sampled(*count - 1) {
                continue;
            }
            for outcome in decision.others() {
                let Some(class) = class(view, decision, outcome) else { continue };
                if !run.is_open(view.tree, at as u32, outcome) {
                    continue;
                }
                let context = mix(before ^ row.min(16));
                let goal = self.history.entry((decision.key, outcome)).or_default();
                let heap = if class == 0 { &mut self.goals } else { &mut self.steps };
                if goal.accept_offer(context) && heap.len() < MAX_WAITING_FLIPS {
                    self.accepted += 1;
                    let mut offer = Offer {
                        distance: 0,
                        class,
                        accepted: goal.accepted,
                        number: self.accepted,
                        run: id,
                        input: run.input,
                        at: at as u32,
                        key: decision.key,
                        outcome,
                        caller_branch: None,
                        branch: decision.branch(outcome),
                        ahead: ahead_of(at),
                    };
                    offer.measure(guide);
                    heap.push(Reverse(offer));
                }
            }
        }
    }

    /// Sorts the goals again, because distances have changed. Steps stay as they are.
    pub fn sort_again(&mut self, guide: &Guide) {
        let offers = std::mem::take(&mut self.goals).into_iter();
        let sorted = offers.map(|Reverse(mut offer)| {
            offer.measure(Some(guide));
            Reverse(offer)
        });
        self.goals = sorted.collect();
    }

    /// The distance of the next goal.
    pub fn next_distance(&self) -> Option<u32> {
        self.goals.peek().map(|Reverse(offer)| offer.distance)
    }

    /// The next flip to an uncovered branch.
    pub fn next_goal(&mut self, view: &View) -> Option<GoalFlip> {
        loop {
            let Reverse(offer) = self.goals.pop()?;
            if let Some(flip) = self.flip_of(view, &offer) {
                return Some(flip);
            }
        }
    }

    /// The next flip of a decision that is not a branch.
    pub fn next_step(&mut self, view: &View) -> Option<GoalFlip> {
        loop {
            let Reverse(offer) = self.steps.pop()?;
            if let Some(flip) = self.flip_of(view, &offer) {
                return Some(flip);
            }
        }
    }

    /// The flip of an offer, if it is still open and still leads to an uncovered branch.
    fn flip_of(&mut self, view: &View, offer: &Offer) -> Option<GoalFlip> {
        let &Offer { run: id, input, at, key, outcome, caller_branch, .. } = offer;
        let Some(run) = view.runs.get(id) else {
            self.retry_later(input, (key, outcome));
            return None;
        };
        match caller_branch {
            Some(branch) if view.coverage.has(branch) => return None,
            Some(_) => {}
            None => _ = class(view, run.decisions.get(at as usize)?, outcome)?,
        }
        let flip = Flip { run: id, at, outcome };
        run.is_open(view.tree, at, outcome).then_some(GoalFlip {
            flip,
            input,
            goal: (key, outcome),
            is_step: offer.class > 0,
        })
    }

    /// Reports that a flip could not be asked because its run was dropped. The input will be
    /// traced again.
    pub fn retry_later(&mut self, input: InputId, goal: (u64, u32)) {
        let retraces = self.retraces.entry(input).or_insert(0);
        if *retraces == MAX_RETRACES {
            return;
        }
        if let Some(goal) = self.history.get_mut(&goal) {
            goal.offered = 0;
        }
        if !self.to_retrace.contains(&input) {
            *retraces += 1;
            self.to_retrace.push(input);
        }
    }

    /// The next input to trace again.
    pub fn next_retry(&mut self) -> Option<InputId> {
        self.to_retrace.pop()
    }
}

impl Goal {
    /// Counts an offer. Returns true if it is accepted.
    fn accept_offer(&mut self, context: u64) -> bool {
        if self.contexts.len() < MAX_CONTEXTS && self.contexts.insert(context) {
            self.offered = 0;
        }
        self.offered += 1;
        let accepted = self.offered <= OFFERS_BEFORE_BACK_OFF || self.offered.is_power_of_two();
        self.accepted += u32::from(accepted);
        accepted
    }
}

/// The class of a flip: 0 for a goal, 1 for a step, 2 for a check, `None` for others.
fn class(view: &View, decision: &Decision, outcome: u32) -> Option<u8> {
    match (decision.branch(outcome), decision.kind) {
        (Some(branch), _) if view.coverage.has(branch) => None,
        (Some(_), _) => Some(0),
        // Any target that is not in the table.
        (None, Kind::Indirect) if !decision.is_pin() && outcome + 1 == decision.outcomes => Some(2),
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
    fn a_goal_that_is_offered_often_is_accepted_seldom() {
        let mut goal = Goal::default();
        let accepted = (0..1000).filter(|_| goal.accept_offer(1)).count();
        assert!((8..=12).contains(&accepted), "{accepted}");
    }

    #[test]
    fn the_count_starts_again_in_a_limited_number_of_contexts() {
        let mut goal = Goal::default();
        (0..1000).for_each(|_| {
            goal.accept_offer(1);
        });
        assert!(goal.accept_offer(2) && goal.accept_offer(2));
        let accepted = (0..100_000u64).filter(|&c| goal.accept_offer(c)).count();
        assert!(accepted < 2 * MAX_CONTEXTS, "{accepted}");
    }
}
