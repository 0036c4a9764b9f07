//! A request, which all tiers get: the goal, the path, the limits, and memory that is
//! reused.

use crate::domains::{LANES, Memo};
use crate::path::Path;
use crate::ranges::Ranges;
use crate::solver::Limits;
use pleach_automata::ByteSet;
use pleach_expr::{ChangedValues, Compiler, Frame, Term, Var};
use rustc_hash::FxHashSet;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// All tiers together may evaluate this many times what one of them may.
const WORK_FACTOR: u64 = 16;
/// If more conditions than this read an input, [`Request::holds`] follows its changes.
const MAX_SHARED: usize = 32;

/// New values of inputs, sorted by input. All others keep their values.
pub(crate) type Changes = Vec<(Var, u64)>;

/// What a tier found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Sat(Changes),
    Unsat,
    /// No answer: the next tier is asked.
    Pass,
    /// Every model is longer than [`Limits::length`].
    TooLong,
}

/// Memory that tiers reuse for each request.
#[derive(Default)]
pub(crate) struct Scratch {
    pub memo: Memo,
    pub compiler: Compiler,
    pub lanes: Frame<LANES>,
    pub changed: ChangedValues,
    /// For values under the changes that [`crate::checksum`] completes.
    pub repaired: RefCell<ChangedValues>,
    pub ranges: Ranges,
    /// The work of slicing, and of building and searching prefix graphs, besides evaluating.
    pub graph_work: u64,
}

impl Scratch {
    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        let tapes = self.compiler.memory() + self.lanes.memory();
        let values = self.changed.memory() + self.repaired.borrow().memory();
        self.memo.memory() + tapes + values
    }

    /// The operations that all requests have evaluated.
    pub fn work(&self) -> u64 {
        let evaluated = self.memo.work() + self.lanes.work + self.changed.work;
        evaluated + self.repaired.borrow().work + self.ranges.work + self.graph_work
    }
}

pub(crate) struct Request<'a> {
    pub path: &'a mut Path,
    pub scratch: &'a mut Scratch,
    pub limits: &'a Limits,
    /// The step to flip. The conditions before it must hold.
    pub at: usize,
    /// Terms of one bit that must all become true.
    pub goals: Vec<Term>,
    /// The inputs that the goals read, when they have been asked for.
    vars: OnceCell<Vec<Var>>,
    /// True to ignore conditions that read several inputs.
    pub optimistic: bool,
    /// Conditions that are ignored, because another step makes them hold.
    pub left_out: Option<Rc<LeftOut>>,
    /// The work of all requests at which this one is given up.
    pub max_work: u64,
}

impl<'a> Request<'a> {
    pub fn new(
        path: &'a mut Path,
        scratch: &'a mut Scratch,
        limits: &'a Limits,
        at: usize,
        goals: Vec<Term>,
        optimistic: bool,
    ) -> Self {
        let vars = OnceCell::new();
        let max_work = scratch.work() + WORK_FACTOR * limits.evaluations;
        Request { path, scratch, limits, at, goals, vars, optimistic, left_out: None, max_work }
    }

    /// True if the request has used up its work, or the thread must stop.
    pub fn is_over(&self) -> bool {
        self.scratch.work() > self.max_work || pleach_work::is_stopping()
    }

    /// A request for the values of a term. It has no goal.
    pub fn on_term(
        path: &'a mut Path,
        scratch: &'a mut Scratch,
        (limits, max_work): (&'a Limits, u64),
        at: usize,
        term: Term,
    ) -> Self {
        let vars = OnceCell::from(path.pool.vars(term).collect::<Vec<Var>>());
        let goals = Vec::new();
        let (optimistic, left_out) = (false, None);
        Request { path, scratch, limits, at, goals, vars, optimistic, left_out, max_work }
    }

    /// The inputs that the goals read, sorted. They may be all inputs, and many flips are
    /// answered without them.
    pub fn vars(&self) -> &[Var] {
        self.vars.get_or_init(|| {
            let pool = &self.path.pool;
            let mut vars: Vec<Var> = self.goals.iter().flat_map(|&g| pool.vars(g)).collect();
            vars.sort_unstable();
            vars.dedup();
            vars
        })
    }

    /// True if the goals read more than `most` inputs.
    pub fn reads_more_than(&self, most: usize) -> bool {
        let pool = &self.path.pool;
        // Without those that two goals share, which only [`Request::vars`] knows.
        let reads = self.goals.iter().map(|&g| pool.vars(g).take(most + 1).count()).max();
        reads.is_some_and(|reads| reads > most) || self.vars().len() > most
    }

    /// The offsets of the bytes that the goals read.
    pub fn bytes(&self) -> Vec<u32> {
        self.vars().iter().filter_map(|v| v.as_byte()).collect()
    }

    /// The values that a byte may have, by the conditions and goals that read it alone.
    pub fn allowed(&mut self, offset: u32) -> ByteSet {
        let domain = self.domain(offset);
        let (pool, values) = (&self.path.pool, &self.path.values);
        let is_alone = |goal: &Term| pool.reads(*goal).single() == Some(Var::byte(offset));
        let goals: Vec<Term> = self.goals.iter().copied().filter(is_alone).collect();
        let sets = self.scratch.memo.sets(pool, values, &goals, offset);
        sets.iter().fold(domain, |all, set| all.intersection(set))
    }

    /// The values that a byte may have, by the conditions that read it alone.
    pub fn domain(&mut self, offset: u32) -> ByteSet {
        self.path.domain(&mut self.scratch.memo, offset, self.at)
    }

    /// True if no condition before the flip is ignored.
    pub fn keeps_all(&self) -> bool {
        !self.optimistic && self.left_out.is_none()
    }

    fn is_left_out(&self, atom: u32) -> bool {
        self.left_out.as_ref().is_some_and(|l| l.atoms.contains(&atom))
    }

    /// True if a term is a condition that is ignored.
    pub fn is_ignored(&self, term: Term) -> bool {
        self.left_out.as_ref().is_some_and(|l| l.terms.contains(&term))
    }

    /// The value that a condition pins a term to.
    pub fn pinned(&self, term: Term) -> Option<u64> {
        let is_ignored = self.optimistic || self.is_ignored(term);
        if is_ignored { None } else { self.path.pinned(term, self.at) }
    }

    /// The conditions that read this input together with others, as numbers of atoms.
    pub fn ties(&self, var: Var) -> impl Iterator<Item = u32> + '_ {
        let shared = (!self.optimistic).then(|| self.path.shared(var, self.at));
        shared.into_iter().flatten().filter(|&atom| !self.is_left_out(atom))
    }

    /// True if a condition reads this input together with others.
    pub fn is_tied(&self, var: Var) -> bool {
        self.ties(var).next().is_some()
    }

    /// The conditions that read one of `vars` together with other inputs.
    pub fn neighbours(&self, vars: &[Var]) -> Vec<Term> {
        let mut atoms: Vec<u32> = vars.iter().flat_map(|&v| self.ties(v)).collect();
        if vars.len() > 1 {
            atoms.sort_unstable();
            atoms.dedup();
        }
        atoms.into_iter().map(|a| self.path.atom(a).term).collect()
    }

    /// The conditions and inputs that are connected with the goals through shared inputs.
    /// `None` if these are more than `max_conditions`.
    pub fn slice(&mut self, max_conditions: usize) -> Option<Slice> {
        let slice = self.find_slice(max_conditions);
        let size = slice.as_ref().map_or(max_conditions, |s| s.atoms.len());
        self.scratch.graph_work += size as u64;
        slice
    }

    fn find_slice(&self, max_conditions: usize) -> Option<Slice> {
        let mut slice = Slice { atoms: Vec::new(), vars: self.vars().to_vec() };
        if self.optimistic {
            return Some(slice);
        }
        let mut atoms: FxHashSet<u32> = FxHashSet::default();
        let mut vars = VarSet::new(self.path.input_len());
        self.vars().iter().for_each(|v| vars.add((v.0, v.0 + 1), |_| {}));
        // Conditions that read hundreds of inputs are not in the index of each. They are
        // compared with the inputs that each new condition brings.
        let broad = self.path.broad_before(self.at);
        let mut is_found = vec![false; broad.len()];
        let mut comparisons = 0;
        let mut add_broad = |ranges: &[(u32, u32)], found: &mut Vec<u32>| {
            let Some(first) = ranges.first() else { return true };
            // Most broad conditions read all inputs up to some input: those before this
            // place read none of the ranges.
            let from = broad.partition_point(|b| b.1.0 < first.0);
            comparisons += (broad.len() - from) as u64;
            let others = broad[from..].iter().zip(&mut is_found[from..]);
            for (&(atom, _), is_found) in others.filter(|(_, is_found)| !**is_found) {
                if intersect(ranges, self.path.pool.var_ranges(self.path.atom(atom).term)) {
                    *is_found = true;
                    found.push(atom);
                }
            }
            found.len() <= max_conditions && comparisons <= self.limits.evaluations
        };
        let of_goals: Vec<(u32, u32)> = self.vars().iter().map(|v| (v.0, v.0 + 1)).collect();
        let mut found = Vec::new();
        let mut is_small = add_broad(&of_goals, &mut found);
        let mut next = 0;
        loop {
            while let Some(atom) = found.pop() {
                if self.is_left_out(atom) || !atoms.insert(atom) {
                    continue;
                }
                if !is_small || atoms.len() > max_conditions || pleach_work::is_stopping() {
                    return None;
                }
                let ranges = self.path.pool.var_ranges(self.path.atom(atom).term);
                ranges.iter().for_each(|&range| vars.add(range, |var| slice.vars.push(var)));
                is_small = add_broad(ranges, &mut found);
            }
            let Some(&var) = slice.vars.get(next) else { break };
            next += 1;
            found.extend(self.path.shared_narrowly(var, self.at));
        }
        pleach_work::count(comparisons);
        slice.atoms = atoms.into_iter().collect();
        slice.atoms.sort_unstable();
        slice.vars.sort_unstable();
        Some(slice)
    }

    /// True if the goals and all conditions hold with some changes. Conditions that read no
    /// changed input hold anyway and are not evaluated. False if the thread must stop.
    pub fn holds(&mut self, changes: &[(Var, u64)]) -> bool {
        if pleach_work::is_stopping() {
            return false;
        }
        let path = &*self.path;
        let mut terms: Vec<Term> = self.goals.clone();
        for &(var, value) in changes {
            if let Some(offset) = var.as_byte() {
                terms.extend(path.own(offset, self.at).iter().map(|&a| path.atom(a).term));
            }
            if let Some(stream) = var.as_length() {
                let (low, high) = path.interval(stream, self.at);
                if !(low..=high).contains(&value) {
                    return false;
                }
            }
        }
        if self.is_shared_often(changes) {
            return self.holds_where_changed(changes);
        }
        let vars: Vec<Var> = changes.iter().map(|c| c.0).collect();
        terms.extend(self.neighbours(&vars));
        let input = path.input();
        let changed = &mut self.scratch.changed;
        changed.start(&path.pool);
        terms.into_iter().all(|t| changed.eval(&path.pool, &path.values, &input, changes, t) != 0)
    }

    /// True if many conditions read a changed input together with others.
    fn is_shared_often(&self, changes: &[(Var, u64)]) -> bool {
        changes.iter().any(|c| self.ties(c.0).nth(MAX_SHARED).is_some())
    }

    /// As [`Request::holds`]. Follows the changes as far as they change anything.
    fn holds_where_changed(&mut self, changes: &[(Var, u64)]) -> bool {
        self.path.checks();
        let path = &*self.path;
        let Some(checks) = path.known_checks() else { return false };
        let input = path.input();
        let terms = (&path.pool, &path.values, &checks.users);
        let (last, changed) = (self.at as u32, &mut self.scratch.changed);
        let left_out = self.left_out.as_deref();
        let is_broken = |term: Term| {
            checks.steps[term.index()] < last && !left_out.is_some_and(|l| l.terms.contains(&term))
        };
        changed.propagate(terms, &input, changes, last, |t, value| value != 0 || !is_broken(t))
            && self.goals.iter().all(|&g| changed.propagated(terms, &input, changes, last, g) != 0)
    }
}

/// Conditions that a request ignores.
pub(crate) struct LeftOut {
    atoms: FxHashSet<u32>,
    terms: FxHashSet<Term>,
}

impl LeftOut {
    pub fn new(path: &Path, atoms: &[u32]) -> LeftOut {
        LeftOut {
            atoms: atoms.iter().copied().collect(),
            terms: atoms.iter().map(|&atom| path.atom(atom).term).collect(),
        }
    }
}

/// A set of inputs. To add a range takes time by the inputs that are new in it.
struct VarSet {
    /// By offset of a byte: the first offset from there on that may be missing.
    next: Vec<u32>,
    others: FxHashSet<u32>,
}

impl VarSet {
    fn new(bytes: usize) -> VarSet {
        VarSet { next: (0..=bytes as u32).collect(), others: FxHashSet::default() }
    }

    /// Adds a range, and calls `added` with each input that is new.
    fn add(&mut self, (from, to): (u32, u32), mut added: impl FnMut(Var)) {
        let bytes = self.next.len() as u32 - 1;
        let mut at = from;
        while at < to.min(bytes) {
            at = self.first_missing(at);
            if at < to.min(bytes) {
                self.next[at as usize] = at + 1;
                added(Var(at));
            }
        }
        for number in from.max(bytes)..to {
            if self.others.insert(number) {
                added(Var(number));
            }
        }
    }

    fn first_missing(&mut self, from: u32) -> u32 {
        let mut last = from;
        while self.next[last as usize] != last {
            last = self.next[last as usize];
        }
        // The next search begins there.
        let mut at = from;
        while at != last {
            at = std::mem::replace(&mut self.next[at as usize], last);
        }
        last
    }
}

/// True if two sorted lists of ranges have an input in common.
pub(crate) fn intersect(mut a: &[(u32, u32)], mut b: &[(u32, u32)]) -> bool {
    while let (Some(x), Some(y)) = (a.first(), b.first()) {
        if x.1 <= y.0 {
            a = &a[1..];
        } else if y.1 <= x.0 {
            b = &b[1..];
        } else {
            return true;
        }
    }
    false
}

/// The conditions and inputs that a proof must consider.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    /// The conditions on several inputs, as numbers of atoms. Those on one input are in
    /// [`Request::domain`] and [`Path::interval`].
    pub atoms: Vec<u32>,
    /// All inputs that these and the goals read, sorted.
    pub vars: Vec<Var>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_inputs_reports_each_once() {
        let mut set = VarSet::new(100);
        let mut added = |range| {
            let mut new = Vec::new();
            set.add(range, |var| new.push(var.0));
            new
        };
        assert_eq!(added((10, 14)), [10, 11, 12, 13]);
        assert_eq!(added((8, 16)), [8, 9, 14, 15]);
        assert_eq!(added((0, 20)).len(), 20 - 8);
        assert_eq!(added((0, 20)), []);
        assert_eq!(added((98, 103)), [98, 99, 100, 101, 102]);
        assert_eq!(added((99, 104)), [103]);
    }

    #[test]
    fn ranges_intersect_if_an_input_is_in_both() {
        assert!(intersect(&[(0, 2), (8, 9)], &[(3, 5), (8, 10)]));
        assert!(!intersect(&[(0, 2), (8, 9)], &[(2, 8), (9, 10)]));
        assert!(!intersect(&[], &[(2, 8)]));
    }
}
