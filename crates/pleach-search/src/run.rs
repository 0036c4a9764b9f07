//! Runs as a search sees them: the decisions of a trace, without expressions.

use crate::program::BranchId;
use crate::tree::{Mark, ROOT, Tree};
use pleach_abi::event::Kind;
use std::collections::{BTreeMap, VecDeque};

/// An input that was executed.
pub type InputId = u32;
/// A traced run of an input.
pub type RunId = u32;

/// One decision of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What was decided: site and kind, and the bound for a length. The same
    /// decision in another run has the same key.
    pub key: u64,
    pub kind: Kind,
    /// What came out: 0 or 1, or the index of a switch's case (the default is
    /// the last). For a value without cases 0 is "the one that was seen".
    pub outcome: u32,
    /// How many outcomes there are.
    pub outcomes: u32,
    /// The branch of outcome 0, if the decision is a branch of the program.
    first: BranchId,
    /// It depends on nothing that may change.
    settled: bool,
}

const NO_BRANCH: BranchId = BranchId::MAX;

impl Decision {
    /// A decision that is no branch of the program: a check, a length, a pin.
    pub fn new(key: u64, kind: Kind, outcome: u32, outcomes: u32) -> Decision {
        Decision { key, kind, outcome, outcomes, first: NO_BRANCH, settled: false }
    }

    /// The sides of the decision in the program start with this branch.
    pub fn at(self, first: BranchId) -> Decision {
        Decision { first, ..self }
    }

    /// The decision of a template's fixed part: it has no other outcomes.
    pub fn settle(&mut self) {
        self.settled = true;
    }

    /// It may change after all.
    pub fn unsettle(&mut self) {
        self.settled = false;
    }

    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// The branch that an outcome takes.
    pub fn branch(&self, outcome: u32) -> Option<BranchId> {
        if self.first == NO_BRANCH || outcome >= self.outcomes {
            return None;
        }
        // The true side of a branch is its first.
        let side = if self.kind == Kind::Switch { outcome } else { 1 - outcome.min(1) };
        Some(self.first + side)
    }

    /// Outcomes that were not seen here.
    pub fn others(&self) -> impl Iterator<Item = u32> + use<> {
        let seen = self.outcome;
        let outcomes = if self.settled { 0 } else { self.outcomes };
        (0..outcomes).filter(move |&o| o != seen)
    }
}

/// One branch of one run to be taken the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flip {
    pub run: RunId,
    pub at: u32,
    pub outcome: u32,
}

#[derive(Clone, Debug)]
pub struct Run {
    pub input: InputId,
    /// The first decision that its parent did not have: flips before it are
    /// the parent's.
    pub bound: u32,
    /// The run left the path that its input was solved for.
    pub diverged: bool,
    /// The fast half stopped before this decision (a sanitizer ended it) and the symbolic
    /// half ran on: no run has shown the decisions from there on.
    pub stopped: Option<u32>,
    /// Its decisions are on tokens: the program's lexer was a border.
    pub tokens: bool,
    pub decisions: Vec<Decision>,
    /// Decisions from the first on that have all decisions before them. Behind them some
    /// were left out, so a solver does not know all conditions there.
    pub complete: u32,
    /// Decisions of the trace that were left out.
    pub left_out: u64,
    /// The tree's node before each decision, and at the end.
    pub nodes: Vec<u64>,
    /// Bytes that others hold for this run's sake.
    pub weight: usize,
    /// Where in the input each decision looks, where a grammar says so: the same
    /// decision there is the same, and elsewhere another. Empty if nothing is known.
    pub contexts: Vec<u64>,
}

impl Run {
    pub fn new(input: InputId, decisions: Vec<Decision>) -> Run {
        let mut node = ROOT;
        let mut nodes = vec![ROOT];
        nodes.extend(decisions.iter().map(|d| {
            node = Tree::child(node, d.key, d.outcome);
            node
        }));
        Run {
            input,
            bound: 0,
            diverged: false,
            stopped: None,
            tokens: false,
            complete: decisions.len() as u32,
            left_out: 0,
            decisions,
            nodes,
            weight: 0,
            contexts: Vec::new(),
        }
    }

    /// Decisions that the fast half has shown, too.
    pub fn shown(&self) -> u32 {
        let all = self.decisions.len() as u32;
        self.stopped.map_or(all, |stopped| stopped.min(all))
    }

    /// Where in the input a decision looks; 0 if nobody knows.
    pub fn context(&self, at: u32) -> u64 {
        self.contexts.get(at as usize).copied().unwrap_or(0)
    }

    /// The node that a flip leads to.
    pub fn flipped(&self, at: u32, outcome: u32) -> Option<u64> {
        let decision = self.decisions.get(at as usize)?;
        Some(Tree::child(self.nodes[at as usize], decision.key, outcome))
    }

    /// Decisions up to which two runs agree.
    pub fn shared(&self, other: &Run) -> u32 {
        let pairs = self.decisions.iter().zip(&other.decisions);
        pairs.take_while(|(a, b)| a.key == b.key && a.outcome == b.outcome).count() as u32
    }

    /// Flips from `from` on that the tree knows nothing of.
    pub fn open<'a>(&'a self, tree: &'a Tree, from: u32) -> impl Iterator<Item = (u32, u32)> + 'a {
        (from..self.decisions.len() as u32).flat_map(move |at| {
            let decision = &self.decisions[at as usize];
            decision
                .others()
                .filter(move |&o| {
                    let node = Tree::child(self.nodes[at as usize], decision.key, o);
                    tree.mark(node).is_none()
                })
                .map(move |o| (at, o))
        })
    }

    /// Puts the run into the tree. Says whether its path was new: paths are told
    /// apart by what the program decided, checks and pinned addresses aside. Decisions
    /// after the fast half stopped are not marked as taken.
    pub fn enter(&self, tree: &mut Tree) -> bool {
        for &node in &self.nodes[1..=self.shown() as usize] {
            tree.set(node, Mark::Taken);
        }
        tree.end(self.path())
    }

    /// The run's path as one number; see [`Run::enter`].
    pub fn path(&self) -> u64 {
        let own = self.decisions.iter().filter(|d| !d.kind.is_check() && d.kind != Kind::Pin);
        own.fold(ROOT, |node, d| Tree::child(node, d.key, d.outcome))
    }

    fn memory(&self) -> usize {
        let words = self.nodes.len() + self.contexts.len();
        size_of_val(&self.decisions[..]) + 8 * words + size_of::<Run>() + self.weight
    }
}

/// The runs that are kept. The oldest are dropped when they become too many;
/// their inputs are still there to be traced again.
#[derive(Clone, Debug)]
pub struct Runs {
    runs: BTreeMap<RunId, Run>,
    order: VecDeque<RunId>,
    next: RunId,
    memory: usize,
    most: usize,
}

impl Runs {
    /// Keeps runs up to so many bytes.
    pub fn new(most: usize) -> Runs {
        Runs { runs: BTreeMap::new(), order: VecDeque::new(), next: 0, memory: 0, most }
    }

    /// Keeps a run. Also says which were dropped for it.
    pub fn add(&mut self, run: Run) -> (RunId, Vec<RunId>) {
        let id = self.next;
        self.next += 1;
        self.memory += run.memory();
        self.runs.insert(id, run);
        self.order.push_back(id);
        let mut dropped = Vec::new();
        while self.memory > self.most && self.order.len() > 1 {
            let Some(oldest) = self.order.pop_front() else { break };
            self.drop(oldest);
            dropped.push(oldest);
        }
        (id, dropped)
    }

    /// A run, unless it was dropped.
    pub fn get(&self, id: RunId) -> Option<&Run> {
        self.runs.get(&id)
    }

    /// The runs that are kept, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Run> {
        self.runs.values()
    }

    /// True if a run was dropped.
    pub fn has_dropped(&self) -> bool {
        (self.next as usize) > self.runs.len()
    }

    /// The latest run.
    pub fn last(&self) -> Option<RunId> {
        self.order.back().copied()
    }

    pub fn len(&self) -> usize {
        self.runs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    fn drop(&mut self, id: RunId) {
        if let Some(run) = self.runs.remove(&id) {
            self.memory -= run.memory();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(outcomes: &[u32]) -> Run {
        let decide =
            |(i, &o): (usize, &u32)| Decision::new(i as u64, Kind::Branch, o, 2).at(2 * i as u32);
        Run::new(0, outcomes.iter().enumerate().map(decide).collect())
    }

    #[test]
    fn a_flip_leads_where_the_run_that_took_it_went() {
        let (a, b) = (run(&[1, 1, 0]), run(&[1, 0, 0]));
        assert_eq!(a.flipped(1, 0), Some(b.nodes[2]));
        assert_eq!(a.shared(&b), 1);
        let mut tree = Tree::default();
        assert!(a.enter(&mut tree));
        assert_eq!(a.open(&tree, 0).collect::<Vec<_>>(), [(0, 0), (1, 0), (2, 1)]);
        assert!(b.enter(&mut tree));
        assert_eq!(a.open(&tree, 1).collect::<Vec<_>>(), [(2, 1)]);
        assert!(!b.enter(&mut tree));
    }

    #[test]
    fn the_true_side_of_a_branch_comes_first() {
        let branch = Decision::new(0, Kind::Branch, 1, 2).at(10);
        assert_eq!((branch.branch(1), branch.branch(0)), (Some(10), Some(11)));
        let switch = Decision::new(0, Kind::Switch, 1, 4).at(20);
        assert_eq!(
            switch.others().map(|o| switch.branch(o)).collect::<Vec<_>>(),
            [Some(20), Some(22), Some(23)]
        );
        assert_eq!(Decision::new(0, Kind::Len, 1, 2).branch(0), None);
    }

    #[test]
    fn old_runs_are_dropped() {
        let mut runs = Runs::new(3 * run(&[0; 100]).memory());
        let dropped: Vec<_> = (0..5).flat_map(|_| runs.add(run(&[0; 100])).1).collect();
        assert_eq!((dropped, runs.len(), runs.last()), (vec![0, 1], 3, Some(4)));
        assert!(runs.get(1).is_none() && runs.get(2).is_some());
    }
}
