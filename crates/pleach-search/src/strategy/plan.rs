//! The open flips of one run, the most promising first.
//!
//! A loop takes the same decision hundreds of times, and flipping each of them finds
//! little more than flipping a few. So there are two passes. The *first look* takes the
//! first eight occurrences of each decision and then those at powers of two. If that
//! skipped some, a second plan of the same run can take *all*. The tree remembers what was
//! asked, so the second plan has only the rest.
//!
//! Flips to uncovered branches can come before the others. If such a branch was covered
//! before its flip's turn, the flip moves to the end.

use super::View;
use crate::keys::KeyMap;
use crate::run::{Decision, Flip, Run, RunId};
use std::collections::VecDeque;

pub(super) struct Plan {
    run: RunId,
    /// Flips to branches that were uncovered when the plan was made.
    uncovered: VecDeque<(u32, u32)>,
    /// All other flips.
    rest: VecDeque<(u32, u32)>,
    has_unsampled: bool,
}

/// How many occurrences of a decision a plan takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// A sample; see the module.
    First,
    All,
}

/// What a flip is worth. The smaller value is better.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth<K> {
    /// Comes before all others while its branch is uncovered.
    First,
    Rank(K),
    /// Is not asked.
    Nothing,
}

pub(super) enum Next {
    Flip(Flip),
    /// The run was dropped while the plan still had flips.
    Gone,
    Done,
}

impl Plan {
    /// Takes the open flips of a run from decision `from` on. Orders them by worth, then by
    /// how often the run took the same decision before, in powers of two.
    pub fn new<K: Ord>(
        view: &View,
        id: RunId,
        run: &Run,
        (from, look): (u32, Look),
        worth: impl Fn(u32, &Decision, u32) -> Worth<K>,
    ) -> Plan {
        let mut uncovered = VecDeque::new();
        let mut rest = Vec::new();
        let mut has_unsampled = false;
        occurrences(run, from, |at, decision, count| {
            let is_taken = look == Look::All || is_sampled(count);
            for outcome in decision.others() {
                if !run.is_open(view.tree, at, outcome) {
                    continue;
                }
                if !is_taken {
                    has_unsampled = true;
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
        Plan { run: id, uncovered, rest, has_unsampled }
    }

    /// The next flip that is still open.
    pub fn next(&mut self, view: &View) -> Next {
        if self.is_empty() {
            return Next::Done;
        }
        let Some(run) = view.runs.get(self.run) else { return Next::Gone };
        let is_open = |at, outcome| run.is_open(view.tree, at, outcome);
        while let Some((at, outcome)) = self.uncovered.pop_front() {
            let decision = &run.decisions[at as usize];
            if !is_uncovered(view, decision, outcome) {
                self.rest.push_back((at, outcome));
            } else if is_open(at, outcome) {
                return Next::Flip(Flip { run: self.run, at, outcome });
            }
        }
        while let Some((at, outcome)) = self.rest.pop_front() {
            if is_open(at, outcome) {
                return Next::Flip(Flip { run: self.run, at, outcome });
            }
        }
        Next::Done
    }

    /// True if the first look skipped open flips.
    pub fn has_unsampled(&self) -> bool {
        self.has_unsampled
    }

    pub fn len(&self) -> usize {
        self.uncovered.len() + self.rest.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// True if the outcome takes a branch that no run took.
pub(super) fn is_uncovered(view: &View, decision: &Decision, outcome: u32) -> bool {
    decision.branch(outcome).is_some_and(|b| !view.coverage.has(b))
}

/// True if a first look takes this occurrence of a decision, counted from 0.
pub(super) fn is_sampled(count: u32) -> bool {
    count < 8 || (count + 1).is_power_of_two()
}

/// Calls `each` for every decision from `from` on: its position, the decision, and how
/// often the run took the same decision since `from`.
pub(super) fn occurrences(run: &Run, from: u32, mut each: impl FnMut(u32, &Decision, u32)) {
    let mut seen: KeyMap<u64, u32> = KeyMap::default();
    for (at, decision) in run.decisions.iter().enumerate().skip(from as usize) {
        let count = seen.entry(decision.key).or_insert(0);
        each(at as u32, decision, *count);
        *count += 1;
    }
}
