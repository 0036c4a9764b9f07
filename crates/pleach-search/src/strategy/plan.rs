//! The flips that one run offers, in the order in which they are worth asking.
//!
//! A loop takes the same decision hundreds of times, and flipping each of them
//! teaches little more than flipping a few. So a plan is made in two goes. The
//! *first look* takes the first eight occurrences of each decision and then
//! those at powers of two; if that left some out, the run can be looked at once
//! more, for *all*. The tree remembers what was asked, so the second look finds
//! the rest and nothing twice.
//!
//! Flips to branches that no run has taken can be put before the others. What
//! was uncovered when the plan was made may be covered when its turn comes; it
//! is then put behind.

use super::View;
use crate::keys::KeyMap;
use crate::run::{Decision, Flip, Run, RunId};
use crate::tree::Tree;
use std::collections::VecDeque;

pub(super) struct Plan {
    run: RunId,
    /// To branches that were not covered.
    uncovered: VecDeque<(u32, u32)>,
    /// To other prefixes.
    rest: VecDeque<(u32, u32)>,
    left: bool,
}

/// How much of a run a plan takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    First,
    All,
}

/// What a flip is worth; the better first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth<K> {
    /// Before all others while its branch is uncovered.
    First,
    Rank(K),
    /// Not to be asked.
    Nothing,
}

pub(super) enum Next {
    Flip(Flip),
    /// The run was dropped with flips left.
    Gone,
    Done,
}

impl Plan {
    /// The open flips of a run from decision `from` on, by what they are worth,
    /// then by how often their decision was taken before, in powers of two.
    pub fn new<K: Ord>(
        view: &View,
        id: RunId,
        run: &Run,
        (from, look): (u32, Look),
        worth: impl Fn(u32, &Decision, u32) -> Worth<K>,
    ) -> Plan {
        let mut uncovered = VecDeque::new();
        let mut rest = Vec::new();
        let mut left = false;
        occurrences(run, from, |at, decision, count| {
            let taken = look == Look::All || is_sampled(count);
            for outcome in decision.others() {
                let node = Tree::child(run.nodes[at as usize], decision.key, outcome);
                if view.tree.mark(node).is_some() {
                    continue;
                }
                if !taken {
                    left = true;
                    break;
                }
                let worth = worth(at, decision, outcome);
                match worth {
                    Worth::First if is_uncovered(view, decision, outcome) => {
                        uncovered.push_back((at, outcome));
                    }
                    Worth::Nothing => {}
                    _ => rest.push((worth, (count + 1).ilog2(), at, outcome)),
                }
            }
        });
        rest.sort();
        let rest = rest.into_iter().map(|(_, _, at, outcome)| (at, outcome)).collect();
        Plan { run: id, uncovered, rest, left }
    }

    /// The next flip that is still open.
    pub fn next(&mut self, view: &View) -> Next {
        if self.is_empty() {
            return Next::Done;
        }
        let Some(run) = view.runs.get(self.run) else { return Next::Gone };
        let open = |at, outcome| {
            run.flipped(at, outcome).is_some_and(|node| view.tree.mark(node).is_none())
        };
        while let Some((at, outcome)) = self.uncovered.pop_front() {
            let decision = &run.decisions[at as usize];
            if !is_uncovered(view, decision, outcome) {
                self.rest.push_back((at, outcome));
            } else if open(at, outcome) {
                return Next::Flip(Flip { run: self.run, at, outcome });
            }
        }
        while let Some((at, outcome)) = self.rest.pop_front() {
            if open(at, outcome) {
                return Next::Flip(Flip { run: self.run, at, outcome });
            }
        }
        Next::Done
    }

    /// Whether the first look left something for another.
    pub fn left(&self) -> bool {
        self.left
    }

    pub fn len(&self) -> usize {
        self.uncovered.len() + self.rest.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether a flip would take a branch that no run took.
pub(super) fn is_uncovered(view: &View, decision: &Decision, outcome: u32) -> bool {
    decision.branch(outcome).is_some_and(|b| !view.coverage.has(b))
}

/// Which occurrences of a decision, counted from 0, a first look takes.
pub(super) fn is_sampled(count: u32) -> bool {
    count < 8 || (count + 1).is_power_of_two()
}

/// Each decision from `from` on, and how often the run took it since then.
pub(super) fn occurrences(run: &Run, from: u32, mut each: impl FnMut(u32, &Decision, u32)) {
    let mut seen: KeyMap<u64, u32> = KeyMap::default();
    for (at, decision) in run.decisions.iter().enumerate().skip(from as usize) {
        let count = seen.entry(decision.key).or_insert(0);
        each(at as u32, decision, *count);
        *count += 1;
    }
}
