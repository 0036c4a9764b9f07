//! Goals that are branches on the result of a function.
//!
//! A parser is full of `if (accept(')'))`. The decision is made inside `accept`, whose
//! branches were covered both ways long ago. `accept` returns a constant, which has no
//! label. So the caller's branch is never a decision of a run, and no flip leads to it. But
//! the static graph shows that the branch ends a block that calls `accept`. So a decision
//! inside `accept` is flipped for the sake of an uncovered branch of its caller, if the
//! caller made a decision shortly before. That decision tells this call from other calls of
//! the same function.

use crate::program::{BranchId, Program};
use crate::run::Decision;
use crate::strategy::View;
use crate::tree::Tree;

/// The most decisions between one of the caller and one of the function that it called.
const MAX_CALL_DISTANCE: usize = 64;

/// A branch on the result of a call: the function that it is in, and its sides.
#[derive(Clone, Copy)]
struct ResultBranch {
    function: u32,
    first: BranchId,
    sides: u32,
}

#[derive(Default)]
pub(super) struct Answers {
    /// By called function. Filled on first use.
    result_branches: Option<Vec<Vec<ResultBranch>>>,
    uncovered: UncoveredResults,
    /// The number of branches that were covered when `uncovered` was filled.
    covered: Option<usize>,
}

/// Uncovered branches on results, while one run is examined.
#[derive(Default)]
pub(super) struct UncoveredResults {
    /// By called function: the branch, and its uncovered side.
    by_callee: Vec<Vec<(ResultBranch, BranchId)>>,
    /// The last decision of each function: its position, and a hash of key and outcome.
    last: Vec<Option<(usize, u64)>>,
}

impl Answers {
    /// The uncovered branches now, at sites that some run reached.
    pub fn uncovered(&mut self, view: &View) -> &mut UncoveredResults {
        let all = self.result_branches.get_or_insert_with(|| find_result_branches(view.program));
        // Few runs cover something new, and a large program has many branches.
        if self.covered.replace(view.coverage.covered()) != Some(view.coverage.covered()) {
            let uncovered = |b: &ResultBranch| {
                let mut sides = b.first..b.first + b.sides;
                let is_reached = sides.clone().any(|side| view.coverage.has(side));
                let missing = sides.find(|&side| !view.coverage.has(side))?;
                is_reached.then_some((*b, missing))
            };
            let lists = all.iter().map(|list| list.iter().filter_map(uncovered).collect());
            self.uncovered.by_callee = lists.collect();
        }
        self.uncovered.last.clear();
        self.uncovered.last.resize(all.len(), None);
        &mut self.uncovered
    }
}

impl UncoveredResults {
    /// Must be called for every decision of a run, in order. Calls `each` with the uncovered
    /// branches of callers that a flip of the decision could take, and with a hash of the
    /// caller's last decision.
    pub fn visit_decision(
        &mut self,
        program: &Program,
        at: usize,
        decision: &Decision,
        mut each: impl FnMut(BranchId, u64),
    ) {
        let branch = decision.branch(decision.outcome);
        let Some(function) = branch.and_then(|b| program.function_of(b)) else { return };
        let branches = self.by_callee.get(function as usize);
        for (branch, missing) in branches.into_iter().flatten() {
            if let Some(&Some((last, hash))) = self.last.get(branch.function as usize)
                && at - last <= MAX_CALL_DISTANCE
            {
                each(*missing, hash);
            }
        }
        let hash = Tree::child(0, decision.key, decision.outcome);
        if let Some(last) = self.last.get_mut(function as usize) {
            *last = Some((at, hash));
        }
    }
}

fn find_result_branches(program: &Program) -> Vec<Vec<ResultBranch>> {
    let mut by_callee = vec![Vec::new(); program.functions().len()];
    for (f, function) in program.functions().iter().enumerate() {
        for site in function.sites.iter().filter(|s| s.counts) {
            let calls = function.calls.iter().filter(|c| c.block == site.block);
            // The branch most likely tests the result of the last call in its block.
            let callee = calls.filter_map(|c| c.callee).next_back();
            if let Some(list) = callee.and_then(|c| by_callee.get_mut(c as usize)) {
                let (function, first, sides) = (f as u32, site.first, site.sides);
                list.push(ResultBranch { function, first, sides });
            }
        }
    }
    by_callee
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;
    use crate::coverage::Coverage;
    use crate::program::{Call, FunctionShape, SiteShape};
    use crate::run::Runs;
    use pleach_abi::event::Kind;

    /// `parse` (function 0) decides on branches 0/1, then calls `accept` (function 1,
    /// branches 4/5) and tests its result: branches 2/3.
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
            ..FunctionShape::default()
        };
        let accept = FunctionShape {
            name: "accept".into(),
            blocks: vec![vec![1, 2], vec![], vec![]],
            sites: vec![site(4, 0)],
            ..FunctionShape::default()
        };
        Program::new(vec![parse, accept], [])
    }

    #[test]
    fn a_decision_of_a_called_function_leads_to_its_callers_branch() {
        let program = program();
        let mut coverage = Coverage::new(&program);
        let (tree, runs) = (Tree::default(), Runs::new(1 << 20));
        let decide = |first| Decision::new(first, Kind::Branch, 1, 2).at(first as u32);
        let visit = |coverage: &Coverage| {
            let view = View { program: &program, coverage, tree: &tree, runs: &runs };
            let mut answers = Answers::default();
            let results = answers.uncovered(&view);
            let mut found = Vec::new();
            for (at, first) in [4, 0, 4].into_iter().enumerate() {
                results.visit_decision(&program, at, &decide(first), |branch, _| {
                    found.push((at, branch));
                });
            }
            found
        };
        assert_eq!(visit(&coverage), [], "the caller's branch was not reached");
        let cover = |coverage: &mut Coverage, counts: &[u8]| {
            let counts = Counts::from_all(counts);
            let mut gain = coverage.news(&counts);
            coverage.add(&program, &counts, &mut gain);
        };
        cover(&mut coverage, &[1, 0, 0, 1, 1, 1]);
        assert_eq!(visit(&coverage), [(2, 2)], "only after a decision of the caller");
        cover(&mut coverage, &[1, 0, 1, 1, 1, 1]);
        assert_eq!(visit(&coverage), []);
    }
}
