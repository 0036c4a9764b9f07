//! Branches on what a function returned.
//!
//! A parser is full of `if (accept(')'))`. What decides there are the branches of
//! `accept`, which were taken both ways long ago; the caller tests a constant that
//! depends on no input as far as labels show, so its branch is never a decision of
//! a run, and no flip leads to it. The static graph knows better: the branch ends a
//! block that calls `accept`. So a decision inside a function is worth flipping for
//! the sake of such a branch of its caller, if the caller has decided something
//! shortly before: that is how a call is told from the other calls of the same
//! function.

use crate::keys::KeyMap;
use crate::program::{BranchId, Program};
use crate::run::Decision;
use crate::strategy::View;
use crate::tree::Tree;

/// Decisions after one of the caller in which a call is taken for the caller's.
const NEAR: usize = 64;

/// A branch of a caller: its function and its sides.
#[derive(Clone, Copy)]
struct Asker {
    function: u32,
    first: BranchId,
    sides: u32,
}

#[derive(Default)]
pub(super) struct Answers {
    /// By function called.
    askers: Option<Vec<Vec<Asker>>>,
}

/// The answers that are wanted while one run is looked at.
pub(super) struct Wanted {
    by_callee: KeyMap<u64, Vec<(Asker, BranchId)>>,
    /// The last decision of each function: its place, and what it was.
    last: KeyMap<u64, (usize, u64)>,
}

impl Answers {
    /// What is wanted now: branches not taken at sites that were reached.
    pub fn wanted(&mut self, view: &View) -> Wanted {
        let askers = self.askers.get_or_insert_with(|| find(view.program));
        let mut by_callee: KeyMap<u64, Vec<(Asker, BranchId)>> = KeyMap::default();
        for (callee, askers) in askers.iter().enumerate() {
            let wanted = askers.iter().filter_map(|a| {
                let mut sides = a.first..a.first + a.sides;
                let reached = sides.clone().any(|b| view.coverage.has(b));
                let missing = sides.find(|&b| !view.coverage.has(b))?;
                reached.then_some((*a, missing))
            });
            let wanted: Vec<_> = wanted.collect();
            if !wanted.is_empty() {
                by_callee.insert(callee as u64, wanted);
            }
        }
        Wanted { by_callee, last: KeyMap::default() }
    }
}

impl Wanted {
    /// Calls `each` with the branches of callers for whose sake a decision could be
    /// flipped, and what the caller had decided last. To be called in the order of
    /// the run.
    pub fn look(
        &mut self,
        program: &Program,
        at: usize,
        decision: &Decision,
        mut each: impl FnMut(BranchId, u64),
    ) {
        let branch = decision.branch(decision.outcome);
        let Some(function) = branch.and_then(|b| program.function_of(b)) else { return };
        let askers = self.by_callee.get(&u64::from(function));
        for (asker, missing) in askers.into_iter().flatten() {
            if let Some(&(last, what)) = self.last.get(&u64::from(asker.function))
                && at - last <= NEAR
            {
                each(*missing, what);
            }
        }
        let what = Tree::child(0, decision.key, decision.outcome);
        self.last.insert(u64::from(function), (at, what));
    }
}

fn find(program: &Program) -> Vec<Vec<Asker>> {
    let mut askers = vec![Vec::new(); program.functions().len()];
    for (f, function) in program.functions().iter().enumerate() {
        for site in function.sites.iter().filter(|s| s.counts) {
            let calls = function.calls.iter().filter(|c| c.block == site.block);
            // The last call of a block is the one whose result is at hand.
            let callee = calls.filter_map(|c| c.callee).next_back();
            if let Some(list) = callee.and_then(|c| askers.get_mut(c as usize)) {
                list.push(Asker { function: f as u32, first: site.first, sides: site.sides });
            }
        }
    }
    askers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Coverage;
    use crate::program::{Call, FunctionShape, SiteShape};
    use crate::run::Runs;
    use pleach_abi::event::Kind;

    /// `parse` (function 0) decides on branches 0/1, then calls `accept` (function
    /// 1, branches 4/5) and tests what it said: branches 2/3.
    fn program() -> Program {
        let site = |first, block| SiteShape {
            first,
            sides: 2,
            block,
            targets: vec![block + 1, block + 2],
            counts: true,
        };
        let parse = FunctionShape {
            name: "parse".into(),
            blocks: vec![vec![1, 2], vec![2, 3], vec![], vec![]],
            sites: vec![site(0, 0), site(2, 1)],
            calls: vec![Call { block: 1, callee: Some(1) }],
        };
        let accept = FunctionShape {
            name: "accept".into(),
            blocks: vec![vec![1, 2], vec![], vec![]],
            sites: vec![site(4, 0)],
            calls: vec![],
        };
        Program::new(vec![parse, accept], [])
    }

    #[test]
    fn a_decision_of_the_function_called_stands_for_its_callers_branch() {
        let program = program();
        let mut coverage = Coverage::new(&program);
        let (tree, runs) = (Tree::default(), Runs::new(1 << 20));
        let decide = |first| Decision::new(first, Kind::Branch, 1, 2).at(first as u32);
        let look = |coverage: &Coverage| {
            let view = View { program: &program, coverage, tree: &tree, runs: &runs };
            let mut wanted = Answers::default().wanted(&view);
            let mut found = Vec::new();
            for (at, first) in [4, 0, 4].into_iter().enumerate() {
                wanted.look(&program, at, &decide(first), |branch, _| found.push((at, branch)));
            }
            found
        };
        assert_eq!(look(&coverage), [], "the caller's branch was not reached");
        let cover = |coverage: &mut Coverage, counts: &[u8]| {
            let mut gain = coverage.news(counts);
            coverage.add(&program, counts, &mut gain);
        };
        cover(&mut coverage, &[1, 0, 0, 1, 1, 1]);
        assert_eq!(look(&coverage), [(2, 2)], "only after a decision of the caller");
        cover(&mut coverage, &[1, 0, 1, 1, 1, 1]);
        assert_eq!(look(&coverage), []);
    }
}
