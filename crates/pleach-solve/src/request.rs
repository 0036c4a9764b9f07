//! One request on its way through the tiers: what is asked for, on which path,
//! with what is kept from request to request.

use crate::domains::{LANES, Memo};
use crate::interrupt::Interrupt;
use crate::path::Path;
use crate::ranges::Ranges;
use crate::solver::{Config, Limits};
use pleach_automata::ByteSet;
use pleach_expr::{ChangedValues, Compiler, Frame, Term, Var};
use rustc_hash::FxHashSet;

/// New values of inputs, sorted; all others stay.
pub(crate) type Changes = Vec<(Var, u64)>;

/// What a tier says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Sat(Changes),
    Unsat,
    /// Nothing: the next tier's turn.
    Pass,
    /// Only an input longer than allowed could do it.
    TooLong,
}

/// Room to work in, kept from request to request.
#[derive(Default)]
pub(crate) struct Scratch {
    pub memo: Memo,
    pub compiler: Compiler,
    pub lanes: Frame<LANES>,
    pub changed: ChangedValues,
    pub ranges: Ranges,
}

impl Scratch {
    /// All operations evaluated so far.
    pub fn work(&self) -> u64 {
        self.memo.work() + self.lanes.work + self.changed.work + self.ranges.work
    }
}

pub(crate) struct Request<'a> {
    pub path: &'a mut Path,
    pub scratch: &'a mut Scratch,
    pub limits: &'a Limits,
    /// The step that is flipped; those before it must hold.
    pub at: usize,
    /// Terms of one bit that must all become true.
    pub goals: Vec<Term>,
    /// What the goals read, sorted.
    pub vars: Vec<Var>,
    /// Conditions that tie bytes together are left out: the flip alone.
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
        let Config { limits, interrupt } = config;
        let mut vars: Vec<Var> = goals.iter().flat_map(|&g| path.pool.vars(g)).collect();
        vars.sort_unstable();
        vars.dedup();
        Request { path, scratch, limits, at, goals, vars, optimistic, interrupt }
    }

    /// The bytes that the goals read.
    pub fn bytes(&self) -> Vec<u32> {
        self.vars.iter().filter_map(|v| v.as_byte()).collect()
    }

    /// What the conditions before, and the goals, that read a byte alone leave it.
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

    /// What the conditions before leave a byte that they read alone.
    pub fn domain(&mut self, offset: u32) -> ByteSet {
        self.path.domain(&mut self.scratch.memo, offset, self.at)
    }

    /// The value that a condition before says a term has.
    pub fn pinned(&self, term: Term) -> Option<u64> {
        if self.optimistic { None } else { self.path.pinned(term, self.at) }
    }

    /// Whether a condition before ties this input to others.
    pub fn is_tied(&self, var: Var) -> bool {
        !self.optimistic && self.path.shared(var, self.at).next().is_some()
    }

    /// The conditions before that read one of `vars` together with others.
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

    /// Everything that is connected with the goals through shared inputs: the
    /// conditions on several inputs, and all inputs. Nothing if that is more than
    /// the limit.
    pub fn slice(&self) -> Option<Slice> {
        let mut slice = Slice { atoms: Vec::new(), vars: self.vars.clone() };
        if self.optimistic {
            return Some(slice);
        }
        let mut atoms: FxHashSet<u32> = FxHashSet::default();
        let mut vars: FxHashSet<Var> = self.vars.iter().copied().collect();
        let mut next = 0;
        while let Some(&var) = slice.vars.get(next) {
            next += 1;
            for atom in self.path.shared(var, self.at) {
                if !atoms.insert(atom) {
                    continue;
                }
                if atoms.len() > self.limits.slice {
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

    /// Evaluates all that changes could break: every condition before that reads
    /// a changed input, and the goals.
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
        let vars: Vec<Var> = changes.iter().map(|c| c.0).collect();
        terms.extend(self.neighbours(&vars));
        let input = path.input();
        let changed = &mut self.scratch.changed;
        changed.start(&path.pool);
        terms.into_iter().all(|t| changed.eval(&path.pool, &path.values, &input, changes, t) != 0)
    }
}

/// What a proof must look at.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    /// Conditions on several inputs.
    pub atoms: Vec<u32>,
    /// All inputs that they and the goals read, sorted.
    pub vars: Vec<Var>,
}
