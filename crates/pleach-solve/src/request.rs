//! A request, which all tiers get: the goal, the path, the limits, and memory that is
//! reused.

use crate::domains::{LANES, Memo};
use crate::interrupt::Interrupt;
use crate::path::Path;
use crate::ranges::Ranges;
use crate::solver::{Config, Limits};
use pleach_automata::ByteSet;
use pleach_expr::{ChangedValues, Compiler, Frame, Term, Var};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

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
    pub ranges: Ranges,
    /// The work of slicing, and of building and searching prefix graphs, besides evaluating.
    pub graph_work: u64,
}

impl Scratch {
    /// The operations that all requests have evaluated.
    pub fn work(&self) -> u64 {
        let evaluated = self.memo.work() + self.lanes.work + self.changed.work;
        evaluated + self.ranges.work + self.graph_work
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
    pub interrupt: &'a Interrupt,
}

impl<'a> Request<'a> {
    pub fn new(
        path: &'a mut Path,
        scratch: &'a mut Scratch,
        config: &'a Config,
        at: usize,
        goals: Vec<Term>,
        optimistic: bool,
    ) -> Self {
        let Config { limits, interrupt, .. } = config;
        let vars = OnceCell::new();
        Request { path, scratch, limits, at, goals, vars, optimistic, interrupt }
    }

    /// A request for the values of a term. It has no goal.
    pub fn on_term(
        path: &'a mut Path,
        scratch: &'a mut Scratch,
        (limits, interrupt): (&'a Limits, &'a Interrupt),
        at: usize,
        term: Term,
    ) -> Self {
        let vars = OnceCell::from(path.pool.vars(term).collect::<Vec<Var>>());
        let goals = Vec::new();
        Request { path, scratch, limits, at, goals, vars, optimistic: false, interrupt }
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
        let mut set = self.domain(offset);
        for &goal in &self.goals {
            if self.path.pool.reads(goal).single() == Some(Var::byte(offset)) {
                let (pool, values) = (&self.path.pool, &self.path.values);
                set = set.intersection(&self.scratch.memo.set(pool, values, goal, offset));
            }
        }
        set
    }

    /// The values that a byte may have, by the conditions that read it alone.
    pub fn domain(&mut self, offset: u32) -> ByteSet {
        self.path.domain(&mut self.scratch.memo, offset, self.at)
    }

    /// The value that a condition pins a term to.
    pub fn pinned(&self, term: Term) -> Option<u64> {
        if self.optimistic { None } else { self.path.pinned(term, self.at) }
    }

    /// True if a condition reads this input together with others.
    pub fn is_tied(&self, var: Var) -> bool {
        !self.optimistic && self.path.shared(var, self.at).next().is_some()
    }

    /// The conditions that read one of `vars` together with other inputs.
    pub fn neighbours(&self, vars: &[Var]) -> Vec<Term> {
        if self.optimistic {
            return Vec::new();
        }
        let mut atoms: Vec<u32> = vars.iter().flat_map(|&v| self.path.shared(v, self.at)).collect();
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
        let mut vars: FxHashSet<Var> = self.vars().iter().copied().collect();
        let mut next = 0;
        while let Some(&var) = slice.vars.get(next) {
            next += 1;
            for atom in self.path.shared(var, self.at) {
                if !atoms.insert(atom) {
                    continue;
                }
                if atoms.len() > max_conditions {
                    return None;
                }
                let term = self.path.atom(atom).term;
                slice.vars.extend(self.path.pool.vars(term).filter(|v| vars.insert(*v)));
            }
        }
        slice.atoms = atoms.into_iter().collect();
        slice.atoms.sort_unstable();
        slice.vars.sort_unstable();
        Some(slice)
    }

    /// True if the goals and all conditions hold with some changes. Conditions that read no
    /// changed input hold anyway and are not evaluated.
    pub fn holds(&mut self, changes: &[(Var, u64)]) -> bool {
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
        let is_shared = |c: &(Var, u64)| self.path.shared(c.0, self.at).nth(MAX_SHARED).is_some();
        !self.optimistic && changes.iter().any(is_shared)
    }

    /// As [`Request::holds`]. Follows the changes as far as they change anything.
    fn holds_where_changed(&mut self, changes: &[(Var, u64)]) -> bool {
        self.path.checks();
        let path = &*self.path;
        let Some(checks) = path.known_checks() else { return false };
        let input = path.input();
        let terms = (&path.pool, &path.values, &checks.users);
        let (last, changed) = (self.at as u32, &mut self.scratch.changed);
        let is_broken = |term: Term| checks.steps[term.index()] < last;
        changed.propagate(terms, &input, changes, last, |t, value| value != 0 || !is_broken(t))
            && self.goals.iter().all(|&g| changed.propagated(terms, &input, changes, last, g) != 0)
    }
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
