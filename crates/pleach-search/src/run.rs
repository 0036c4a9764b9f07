//! Runs as the search sees them: the decisions of a trace, without expressions.

use crate::program::BranchId;
use crate::targets;
use crate::tree::{Mark, ROOT, Table, Tree};
use pleach_abi::event::Kind;
use pleach_hash::mix;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// An input that was executed.
pub type InputId = u32;
/// A traced run of an input.
pub type RunId = u32;

/// One decision of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// A hash of site and kind, and of the bound for a length. The same decision in another
    /// run has the same key.
    pub key: u64,
    pub kind: Kind,
    /// 0 or 1, or the index of a switch's case or of a call's target (the last is any other
    /// value). For a value without cases, 0 means "the value that the run had".
    pub outcome: u32,
    /// The number of possible outcomes.
    pub outcomes: u32,
    /// The first side of the branch, if the decision is a branch of the program; for a call
    /// through a table, the number of the list of its branches.
    first: BranchId,
    /// True if it depends only on the fixed part of a template.
    frozen: bool,
}

/// So many decisions of a run are read from the tree at once.
const READ_AHEAD: usize = 32;

const NO_BRANCH: BranchId = BranchId::MAX;

impl Decision {
    /// A decision that is not a branch of the program: a check, a length, a pin.
    pub fn new(key: u64, kind: Kind, outcome: u32, outcomes: u32) -> Decision {
        Decision { key, kind, outcome, outcomes, first: NO_BRANCH, frozen: false }
    }

    /// Makes it a branch of the program. Its sides are numbered from `first` on.
    pub fn at(self, first: BranchId) -> Decision {
        Decision { first, ..self }
    }

    /// A call or jump through a pointer that was read from a table. Each target is an outcome,
    /// and any other value is the last. `branches`: what shows that a target was reached.
    /// `None` if that cannot be kept.
    pub fn through_table(
        key: u64,
        outcome: u32,
        branches: impl ExactSizeIterator<Item = Option<BranchId>>,
    ) -> Option<Decision> {
        let outcomes = branches.len() as u32 + 1;
        let first = targets::number(branches)?;
        Some(Decision { first, ..Decision::new(key, Kind::Indirect, outcome, outcomes) })
    }

    /// True if it holds an address, or the target of a call or jump, to its value.
    pub fn is_pin(&self) -> bool {
        match self.kind {
            Kind::Pin => true,
            Kind::Indirect => self.first == NO_BRANCH,
            _ => false,
        }
    }

    /// True for a call through a table that went to something that is not in the table.
    pub fn has_left_table(&self) -> bool {
        self.kind == Kind::Indirect && !self.is_pin() && self.outcome + 1 == self.outcomes
    }

    /// Marks it as depending only on the fixed part of a template: it cannot be flipped.
    pub fn freeze(&mut self) {
        self.frozen = true;
    }

    /// Undoes [`Decision::freeze`].
    pub fn unfreeze(&mut self) {
        self.frozen = false;
    }

    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// The hash of the site that holds an address; `None` for other decisions.
    pub fn pin_site(&self) -> Option<u64> {
        let site = (self.key ^ self.kind as u64).rotate_right(8);
        (self.kind == Kind::Pin).then_some(site)
    }

    /// The branch that an outcome takes.
    pub fn branch(&self, outcome: u32) -> Option<BranchId> {
        if self.first == NO_BRANCH || outcome >= self.outcomes {
            return None;
        }
        if self.kind == Kind::Indirect {
            return targets::branch(self.first, outcome);
        }
        // The true side of a branch comes first.
        let side = if self.kind == Kind::Switch { outcome } else { 1 - outcome.min(1) };
        Some(self.first + side)
    }

    /// The outcomes that the run did not have here. None if the decision is frozen.
    pub fn others(&self) -> impl Iterator<Item = u32> + use<> {
        let seen = self.outcome;
        let outcomes = if self.frozen { 0 } else { self.outcomes };
        (0..outcomes).filter(move |&o| o != seen)
    }
}

/// A decision of a run that is to have another outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flip {
    pub run: RunId,
    /// The position of the decision in the run.
    pub at: u32,
    /// The outcome that it is to have.
    pub outcome: u32,
}

/// The decisions of a traced run.
#[derive(Clone, Debug)]
pub struct Run {
    pub input: InputId,
    /// The first decision that its parent did not have. Flips before it belong to the
    /// parent.
    pub bound: u32,
    /// True if the run left the path that its input was solved for.
    pub diverged: bool,
    /// The fast half stopped before this decision (a sanitizer ended it), but the symbolic
    /// half continued. So the fast half has not shown the decisions from here on.
    pub stopped: Option<u32>,
    /// True if its decisions are on tokens and not on the bytes that the lexer reads.
    pub tokens: bool,
    /// True if all members of a fleet know its input.
    pub shared: bool,
    /// Flips before this decision are asked by other members of a fleet.
    pub own_from: u32,
    /// True if members of a fleet may know its path, or the beginning of it, though this one
    /// has not traced what they know: only flips that it owns are open.
    pub is_common: bool,
    pub decisions: Vec<Decision>,
    /// The number of decisions before the first gap. A long trace has gaps where decisions
    /// were left out; after a gap the solver does not have all conditions.
    pub complete: u32,
    /// The number of decisions of the trace that were left out.
    pub left_out: u64,
    /// The tree's node before each decision, and at the end.
    pub nodes: Vec<u64>,
    /// A hash of its path: all decisions except checks and pinned addresses.
    pub path: u64,
    /// Bytes that are held elsewhere for this run.
    pub weight: usize,
    /// For each decision, a hash of the constructs of the grammar that its token is nested
    /// in. The same decision in another context counts as another. Empty if unknown.
    pub contexts: Vec<u64>,
    /// The decisions that hold an address or a jump to its value, in order.
    pub pins: Vec<u32>,
}

impl Run {
    pub fn new(input: InputId, decisions: Vec<Decision>) -> Run {
        let mut node = ROOT;
        let mut nodes = Vec::with_capacity(decisions.len() + 1);
        nodes.push(ROOT);
        nodes.extend(decisions.iter().map(|d| {
            node = Tree::child(node, d.key, d.outcome);
            node
        }));
        let of_program = decisions.iter().filter(|d| !d.kind.is_check() && d.kind != Kind::Pin);
        let path = of_program.fold(ROOT, |node, d| Tree::child(node, d.key, d.outcome));
        let pins = (0..).zip(&decisions).filter(|(_, d)| d.is_pin()).map(|(at, _)| at).collect();
        Run {
            input,
            pins,
            bound: 0,
            diverged: false,
            stopped: None,
            tokens: false,
            shared: false,
            own_from: 0,
            is_common: false,
            complete: decisions.len() as u32,
            left_out: 0,
            decisions,
            nodes,
            path,
            weight: 0,
            contexts: Vec::new(),
        }
    }

    /// The number of decisions that the fast half has shown, too.
    pub fn shown(&self) -> u32 {
        let all = self.decisions.len() as u32;
        self.stopped.map_or(all, |stopped| stopped.min(all))
    }

    /// The context of a decision; 0 if unknown.
    pub fn context(&self, at: u32) -> u64 {
        self.contexts.get(at as usize).copied().unwrap_or(0)
    }

    /// The node that a flip leads to.
    pub fn flipped(&self, at: u32, outcome: u32) -> Option<u64> {
        let decision = self.decisions.get(at as usize)?;
        Some(Tree::child(self.nodes[at as usize], decision.key, outcome))
    }

    /// True if the flip of a decision is open: it has no mark in the tree, and no other member
    /// of a fleet asks it.
    pub fn is_open(&self, tree: &Tree, at: u32, outcome: u32) -> bool {
        let flipped = self.flipped(at, outcome).filter(|_| at >= self.own_from);
        let question = || self.question(at as usize, outcome);
        flipped.is_some_and(|node| match self.is_common {
            true => tree.mark(node).is_none() && tree.owns(question),
            false => tree.is_open(self.nodes[at as usize], node, question),
        })
    }

    /// What decides which member of a fleet asks a flip: the decision, its outcome, how often
    /// in a row the run took it, and the decision before that. It is the same after all
    /// prefixes that end so. If each prefix had an owner of its own, all members would at once
    /// ask for one uncovered branch, each after another prefix.
    fn question(&self, at: usize, outcome: u32) -> u64 {
        const MAX_ROW: usize = 16;
        let key = self.decisions[at].key;
        let mut before = self.decisions[..at].iter().rev();
        let row = before.clone().take(MAX_ROW).take_while(|d| d.key == key).count();
        let context = before.nth(row).map_or(0, |d| Tree::child(0, d.key, d.outcome));
        mix(Tree::child(context, key, outcome) ^ row as u64)
    }

    /// The number of decisions that two runs have in common, from the start.
    pub fn shared(&self, other: &Run) -> u32 {
        let pairs = self.decisions.iter().zip(&other.decisions);
        pairs.take_while(|(a, b)| a.key == b.key && a.outcome == b.outcome).count() as u32
    }

    /// The open flips from decision `from` on.
    pub fn open<'a>(&'a self, tree: &'a Tree, from: u32) -> impl Iterator<Item = (u32, u32)> + 'a {
        (from..self.decisions.len() as u32).flat_map(move |at| {
            let decision = &self.decisions[at as usize];
            let open = decision.others().filter(move |&o| self.is_open(tree, at, o));
            open.map(move |o| (at, o))
        })
    }

    /// Marks the run's decisions in the tree as taken, up to where the fast half stopped.
    pub fn enter(&self, tree: &mut Tree) -> Entered {
        let marked = self.mark_taken(tree.share(self.decisions.len()));
        self.finish_entering(tree, marked)
    }

    /// Marks the run's decisions as taken in the table of a tree, which has room for them
    /// ([`Tree::share`]). Others may use the tree meanwhile. [`Run::finish_entering`] must
    /// follow.
    pub fn mark_taken(&self, table: Arc<Table>) -> Marked {
        let (shown, mut added, mut open) = (self.shown() as usize, 0, 0);
        let mut was_new = false;
        let mark = if self.shared { Mark::Shared } else { Mark::Taken };
        for (at, decision) in self.decisions.iter().enumerate() {
            if at.is_multiple_of(READ_AHEAD) {
                self.read_ahead(&table, at);
            }
            let is_new = at < shown && table.set(self.nodes[at + 1], mark);
            added += usize::from(is_new);
            let others = decision.others();
            let is_open =
                |o: &u32| self.flipped(at as u32, *o).is_some_and(|n| table.mark(n).is_none());
            // Nobody took the other side of a branch where nobody was before, and whoever
            // asked for it took this side. Then the tree need not be searched for it.
            open += match was_new && is_new && decision.outcomes == 2 {
                true => others.count(),
                false => others.filter(is_open).count(),
            };
            was_new = is_new;
        }
        Marked { table, added, open: open as u32 }
    }

    /// Adds to the tree what it has to know of a run that was marked in its table.
    pub fn finish_entering(&self, tree: &mut Tree, marked: Marked) -> Entered {
        let Marked { table, added, mut open } = marked;
        if !tree.count_added(&table, added, self.decisions.len()) {
            // The tree has grown meanwhile.
            let again = self.mark_taken(tree.share(self.decisions.len()));
            tree.count_added(&again.table, again.added, self.decisions.len());
            open = again.open;
        }
        Entered { path: self.path, is_new: tree.end(self.path), open }
    }

    /// Marks the run's decisions as those of an input that all members of a fleet know.
    pub fn share(&mut self, tree: &mut Tree) {
        self.shared = true;
        let shown = self.shown() as usize;
        self.nodes[1..=shown].iter().for_each(|&node| _ = tree.set(node, Mark::Shared));
    }

    /// Reads what the table has of the next decisions, and of their flips.
    fn read_ahead(&self, table: &Table, from: usize) {
        let next = &self.decisions[from..self.decisions.len().min(from + READ_AHEAD)];
        let taken = &self.nodes[from + 1..];
        table.read_ahead(taken.iter().copied().take(next.len()));
        let flips = next.iter().zip(&self.nodes[from..]).flat_map(|(decision, &node)| {
            decision.others().map(move |outcome| Tree::child(node, decision.key, outcome))
        });
        table.read_ahead(flips);
    }

    fn memory_bytes(&self) -> usize {
        let words = self.nodes.capacity() + self.contexts.capacity();
        let decisions = self.decisions.capacity() * size_of::<Decision>();
        let pins = self.pins.capacity() * size_of::<u32>();
        decisions + 8 * words + pins + size_of::<Run>() + self.weight
    }
}

/// A run whose decisions were marked in the table of a tree.
#[derive(Debug)]
pub struct Marked {
    table: Arc<Table>,
    /// The number of edges that were not there before.
    added: usize,
    open: u32,
}

/// A run that was entered into the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The path of the run.
    pub path: u64,
    /// True if no run took this path before.
    pub is_new: bool,
    /// The number of its open flips.
    pub open: u32,
}

/// The runs that are kept in memory. The oldest are dropped when the limit is reached.
/// Their inputs can be traced again.
#[derive(Clone, Debug)]
pub struct Runs {
    runs: BTreeMap<RunId, Run>,
    order: VecDeque<RunId>,
    next: RunId,
    bytes: usize,
    max_bytes: usize,
}

impl Runs {
    /// Keeps at most `max_bytes` of runs, but at least one run.
    pub fn new(max_bytes: usize) -> Runs {
        Runs { runs: BTreeMap::new(), order: VecDeque::new(), next: 0, bytes: 0, max_bytes }
    }

    /// The bytes that the runs take.
    pub fn memory(&self) -> usize {
        self.bytes
    }

    /// Keeps a run. Returns its number, and the runs that were dropped for it.
    pub fn add(&mut self, run: Run) -> (RunId, Vec<(RunId, Run)>) {
        let id = self.next;
        self.next += 1;
        self.bytes += run.memory_bytes();
        self.runs.insert(id, run);
        self.order.push_back(id);
        let mut dropped = Vec::new();
        while self.bytes > self.max_bytes && self.order.len() > 1 {
            let Some(oldest) = self.order.pop_front() else { break };
            dropped.extend(self.remove(oldest).map(|run| (oldest, run)));
        }
        (id, dropped)
    }

    /// A run, unless it was dropped.
    pub fn get(&self, id: RunId) -> Option<&Run> {
        self.runs.get(&id)
    }

    /// Marks the runs of an input as known to all members of a fleet.
    pub fn share(&mut self, input: InputId, tree: &mut Tree) {
        let runs = self.runs.values_mut().filter(|run| run.input == input);
        runs.for_each(|run| run.share(tree));
    }

    /// The kept runs, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Run> {
        self.runs.values()
    }

    /// True if any run was dropped.
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

    fn remove(&mut self, id: RunId) -> Option<Run> {
        let run = self.runs.remove(&id)?;
        self.bytes -= run.memory_bytes();
        Some(run)
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
        let entered = a.enter(&mut tree);
        assert_eq!((entered.is_new, entered.open), (true, 3));
        assert_eq!(a.open(&tree, 0).collect::<Vec<_>>(), [(0, 0), (1, 0), (2, 1)]);
        let entered = b.enter(&mut tree);
        assert_eq!((entered.is_new, entered.open), (true, 2));
        assert_eq!(a.open(&tree, 1).collect::<Vec<_>>(), [(2, 1)]);
        assert!(!b.enter(&mut tree).is_new);
    }

    /// Several threads mark their runs while others have the tree grow. Nothing is lost, and
    /// every edge is counted once.
    #[test]
    fn runs_are_marked_while_the_tree_grows() {
        let make = |number: u64| {
            let bit = |i: u64| (pleach_hash::mix((number << 8) | (i / 16)) & 1) as u32;
            let decide = |i: u64| Decision::new(i, Kind::Branch, bit(i), 2).at(2 * i as u32);
            Run::new(0, (0..200).map(decide).collect())
        };
        let runs: Vec<Run> = (0..400).map(make).collect();
        let mut alone = Tree::default();
        let new_paths = runs.iter().filter(|run| run.enter(&mut alone).is_new).count();
        let tree = std::sync::Mutex::new(Tree::default());
        std::thread::scope(|scope| {
            for part in runs.chunks(50) {
                let tree = &tree;
                scope.spawn(move || {
                    for run in part {
                        let table = tree.lock().unwrap().share(run.decisions.len());
                        let marked = run.mark_taken(table);
                        run.finish_entering(&mut tree.lock().unwrap(), marked);
                    }
                });
            }
        });
        let tree = tree.into_inner().unwrap();
        assert_eq!((tree.edges(), tree.paths()), (alone.edges(), new_paths));
        for run in &runs {
            assert!(run.nodes[1..].iter().all(|&node| tree.mark(node) == Some(Mark::Taken)));
            assert_eq!(run.open(&tree, 0).count(), run.open(&alone, 0).count());
        }
    }

    #[test]
    fn entering_a_run_counts_its_open_flips() {
        let outcomes = [2, 2, 5, 2, 3, 2, 2];
        let make = |choices: u64| {
            let mut choices = choices;
            let decide = |(i, &n): (usize, &u32)| {
                let outcome = (choices % u64::from(n)) as u32;
                choices /= u64::from(n);
                Decision::new(i as u64, Kind::Switch, outcome, n).at(8 * i as u32)
            };
            Run::new(0, outcomes.iter().enumerate().map(decide).collect())
        };
        let mut tree = Tree::default();
        for number in 0..300u64 {
            let run = make(pleach_hash::mix(number));
            let entered = run.enter(&mut tree);
            assert_eq!(entered.open as usize, run.open(&tree, 0).count(), "run {number}");
            // Answers a few of its flips.
            let open: Vec<_> = run.open(&tree, 0).collect();
            for (at, outcome) in open.into_iter().skip(number as usize % 3).step_by(4) {
                run.flipped(at, outcome).map(|node| tree.set(node, Mark::Unsat));
            }
        }
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
        let branches = [Some(7), None, Some(3)];
        let call = Decision::through_table(0, 0, branches.into_iter()).expect("there is room");
        let sides: Vec<_> = (0..call.outcomes + 1).map(|o| call.branch(o)).collect();
        assert_eq!(sides, [Some(7), None, Some(3), None, None]);
        assert!(!call.is_pin() && !call.has_left_table());
        assert!(Decision { outcome: 3, ..call }.has_left_table());
        assert!(Decision::new(0, Kind::Indirect, 0, 2).is_pin());
    }

    #[test]
    fn old_runs_are_dropped() {
        let mut runs = Runs::new(3 * run(&[0; 100]).memory_bytes());
        let dropped: Vec<_> = (0..5).flat_map(|_| runs.add(run(&[0; 100])).1).collect();
        let dropped: Vec<_> = dropped.into_iter().map(|(id, _)| id).collect();
        assert_eq!((dropped, runs.len(), runs.last()), (vec![0, 1], 3, Some(4)));
        assert!(runs.get(1).is_none() && runs.get(2).is_some());
    }
}
