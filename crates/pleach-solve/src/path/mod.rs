//! The conditions of one trace, prepared once for all its flips.
//!
//! Each step of a path is a decision on a term: a condition holds or not, a value is one
//! of several cases, a stream is longer than a bound. A step is split into *atoms*: terms
//! of one bit that are true on the input. For example, a conjunction is split into its
//! operands, and a comparison with a string into bytes. An atom that an earlier step has
//! is left out.
//!
//! The cost of a flip must not grow with the path before it, so atoms are indexed by
//! input. The index has for each byte the atoms that read it alone, with the values that
//! are left after each of them, and the atoms that read it together with other inputs.
//!
//! Lengths are inputs like bytes. Bounds on a length are kept as an interval. One condition
//! is implied: a byte that was read exists. So a stream is never made shorter than the
//! highest offset that any step up to the flip reads, even if that step has nothing to do
//! with the flip.

mod atoms;
mod index;
mod pins;

pub(crate) use atoms::{bound, outcome};
pub(crate) use pins::PinnedTerms;

use crate::checksum::{Sum, find_sums};
use crate::prefix::PrefixGraph;
use crate::requirement::Requirement;
use atoms::split;
use index::{ByteIndex, LengthIndex};
use pleach_expr::{Code, Compiler, Expr, Input, Pool, Reads, Term, TermValues, Users, Var};
use pleach_work::Task;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One decision of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// A live label of the trace's expressions; 0 for [`Shape::Len`].
    pub label: u32,
    pub shape: Shape,
}

/// How a step decides by the value of its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The label is a condition of one bit, which was `taken`.
    Bool { taken: bool },
    /// The label is the value of a switch. The outcome is the index of the case that
    /// equals it, or the number of cases for the default.
    Cases { cases: Arc<[u64]> },
    /// The label is a value, and every other value is another outcome.
    Value,
    /// "The stream is longer than `bound` bytes" was `taken`. There is no label.
    Len { stream: u32, bound: u64, taken: bool },
}

/// The outcome that a flip must reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The other outcome of `Bool` and `Len`.
    Not,
    /// A case of `Cases`, by index; the number of cases is the default.
    Case(u32),
    /// Any other value of `Value`.
    Other,
}

/// The values that reach a goal.
#[derive(Clone, Debug)]
pub(crate) enum WantedValues {
    One(u64),
    NoneOf(Arc<[u64]>),
}

impl WantedValues {
    pub fn contains(&self, value: u64) -> bool {
        match self {
            WantedValues::One(wanted) => value == *wanted,
            WantedValues::NoneOf(others) => !others.contains(&value),
        }
    }
}

/// A term of one bit that a step makes true.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atom {
    pub term: Term,
    pub step: u32,
}

/// What it takes to check a model on all conditions of a path.
pub(crate) struct Checks {
    pub users: Users,
    /// By term: the first step that it is a condition of; `u32::MAX` for none.
    pub steps: Vec<u32>,
}

/// The prepared conditions of one trace. Its flips may be solved in any order.
pub struct Path {
    pub(crate) pool: Pool,
    pub(crate) values: TermValues,
    input: Vec<u8>,
    lengths: Vec<u64>,
    offsets: Vec<u64>,
    steps: Vec<(Option<Term>, Shape)>,
    atoms: Vec<Atom>,
    /// By offset: the place in `bytes` + 1; 0 if no atom reads the byte.
    byte_ids: Vec<u32>,
    bytes: Vec<ByteIndex>,
    streams: Vec<LengthIndex>,
    /// Atoms that read too many inputs for an entry in the index of each. With each, the
    /// last input that it or an earlier one reads.
    broad: Vec<(u32, Var)>,
    /// Terms that an atom pins to a value: the first step that does, and the value.
    pins: FxHashMap<Term, (u32, u64)>,
    /// By term: the atoms that compare it with a constant or a set.
    comparisons: FxHashMap<Term, Vec<u32>>,
    /// Steps whose conditions are all conditions of earlier steps.
    implied: FxHashSet<u32>,
    /// A number that no other path has, for caches.
    pub(crate) serial: u64,
    inconsistent: u32,
    pub(crate) merged: crate::merge::MergedTerms,
    pub(crate) explorations: crate::layers::Explorations,
    pub(crate) circuit: crate::complete::Circuit,
    pub(crate) prefix: Option<Box<PrefixGraph>>,
    /// Made when they are first needed.
    checks: Option<Box<Checks>>,
    sums: Option<Vec<Sum>>,
    /// For conditions on lengths of holes. Its table has the size of the pool.
    pub(crate) compiler: Compiler,
}

static NEXT_SERIAL: AtomicU64 = AtomicU64::new(1);

impl Path {
    /// `input` is the whole file. `lengths` are the lengths of its streams, and
    /// `stream_offsets` the offsets of their first bytes in the file.
    pub fn new(
        expr: &Expr,
        steps: Vec<Step>,
        input: &[u8],
        lengths: &[u64],
        stream_offsets: &[u64],
    ) -> Path {
        let streams = (lengths, stream_offsets);
        Path::under(&[], expr, steps, input, streams)
    }

    /// A path whose models must also meet requirements. These count as conditions of step
    /// 0 and apply to flips of later steps, so callers put an empty step first. If
    /// the thread must stop, the path is left unfinished.
    pub fn under(
        requirements: &[Requirement],
        expr: &Expr,
        steps: Vec<Step>,
        input: &[u8],
        (lengths, stream_offsets): (&[u64], &[u64]),
    ) -> Path {
        let imported = Pool::import(expr);
        let _preparing = pleach_work::enter(Task::Prepare);
        let labels: Vec<u32> = steps.iter().map(|s| s.label).collect();
        let terms: Vec<Option<Term>> = steps.iter().map(|s| imported.term(s.label)).collect();
        let steps = terms.into_iter().zip(steps).map(|(t, s)| (t, s.shape)).collect();
        let streams = lengths.iter().map(|_| LengthIndex::default()).collect();
        let mut path = Path {
            pool: imported.pool,
            values: TermValues::default(),
            input: input.to_vec(),
            lengths: lengths.to_vec(),
            offsets: stream_offsets.to_vec(),
            steps,
            atoms: Vec::new(),
            byte_ids: vec![0; input.len()],
            bytes: Vec::new(),
            streams,
            broad: Vec::new(),
            pins: FxHashMap::default(),
            comparisons: FxHashMap::default(),
            implied: FxHashSet::default(),
            serial: NEXT_SERIAL.fetch_add(1, Ordering::Relaxed),
            inconsistent: 0,
            merged: Default::default(),
            explorations: Default::default(),
            circuit: Default::default(),
            prefix: None,
            checks: None,
            sums: None,
            compiler: Compiler::default(),
        };
        path.refresh();
        if !pleach_work::is_stopping() {
            path.record_reach(expr, &labels);
            path.prepare(requirements);
        }
        path
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How many steps and requirements do not hold on the input. They are left out.
    pub fn inconsistent(&self) -> u32 {
        self.inconsistent
    }

    pub(crate) fn step(&self, at: usize) -> Option<&(Option<Term>, Shape)> {
        self.steps.get(at)
    }

    /// The inputs that a step depends on.
    pub fn support(&self, at: usize) -> Vec<Var> {
        match self.steps.get(at) {
            Some((_, Shape::Len { stream, .. })) => vec![Var::length(*stream)],
            Some((Some(term), _)) => self.pool.vars(*term).collect(),
            _ => Vec::new(),
        }
    }

    /// The last of the steps `others` that shares inputs with step `at`, directly or through
    /// steps before `at`: the conditions that a proof about `at` may use. If the path is too
    /// long to tell, it is the last one.
    pub fn last_joined(&self, at: usize, others: &[usize]) -> Option<usize> {
        const MAX_INPUTS: usize = 1 << 18;
        let mut groups = Groups::default();
        let mut inputs = 0;
        for step in 0..=at.min(self.steps.len().saturating_sub(1)) {
            let support = self.support(step);
            inputs += support.len();
            if inputs > MAX_INPUTS {
                return others.last().copied();
            }
            let Some(&first) = support.first() else { continue };
            support.iter().for_each(|&var| groups.join(first, var));
        }
        let group = groups.of(*self.support(at).first()?);
        let shares =
            |&step: &usize| self.support(step).first().map(|&v| groups.of(v)) == Some(group);
        others.iter().copied().rev().find(shares)
    }

    /// The last byte that a step depends on.
    pub fn last_byte(&self, at: usize) -> Option<u32> {
        let (term, shape) = self.steps.get(at)?;
        let term = term.filter(|_| !matches!(shape, Shape::Len { .. }))?;
        self.pool.var_ranges(term).iter().rev().find_map(|r| Var(r.1 - 1).as_byte())
    }

    /// Calls `make` with the inputs of each step, as ranges of [`Var`] (the end excluded),
    /// but only once for steps with the same inputs: a table-driven parser decides on all
    /// tokens so far, again and again.
    pub fn by_support<T: Clone>(&self, mut make: impl FnMut(&[(u32, u32)]) -> T) -> Vec<T> {
        let mut made: FxHashMap<Reads, T> = FxHashMap::default();
        let mut of = |(term, shape): &(Option<Term>, Shape)| match (term, shape) {
            (_, Shape::Len { stream, .. }) => {
                let length = Var::length(*stream).0;
                make(&[(length, length + 1)])
            }
            (Some(term), _) => {
                let make = || make(self.pool.var_ranges(*term));
                made.entry(self.pool.reads(*term)).or_insert_with(make).clone()
            }
            (None, _) => make(&[]),
        };
        self.steps.iter().map(&mut of).collect()
    }

    /// True if a step depends on an input for which `predicate` is true.
    pub fn depends(&self, at: usize, predicate: impl Fn(Var) -> bool) -> bool {
        match self.steps.get(at) {
            Some((_, Shape::Len { stream, .. })) => predicate(Var::length(*stream)),
            Some((Some(term), _)) => self.pool.vars(*term).any(predicate),
            _ => false,
        }
    }

    /// The goals of a step: every outcome but the one of the trace.
    pub fn goals(&self, at: usize) -> Vec<Goal> {
        match self.steps.get(at) {
            Some((Some(_), Shape::Bool { .. })) | Some((_, Shape::Len { .. })) => vec![Goal::Not],
            Some((Some(term), Shape::Cases { cases })) => {
                let seen = outcome(cases, self.values.get(*term));
                (0..=cases.len()).filter(|&i| i != seen).map(|i| Goal::Case(i as u32)).collect()
            }
            Some((Some(_), Shape::Value)) => vec![Goal::Other],
            _ => Vec::new(),
        }
    }

    /// The shape and the term of a step as text, to debug the solver.
    pub fn show(&self, at: usize) -> String {
        match self.steps.get(at) {
            Some((Some(term), shape)) => format!("{shape:?} {}", self.pool.show(*term, 12)),
            Some((None, shape)) => format!("{shape:?}"),
            None => String::new(),
        }
    }

    /// Bytes of memory, roughly.
    pub fn memory(&self) -> usize {
        let bytes: usize = self
            .bytes
            .iter()
            .map(|b| {
                let domains = b.domains.as_ref().map_or(0, Vec::capacity);
                4 * (b.own.capacity() + b.shared.capacity()) + 40 * domains + 96
            })
            .sum();
        self.pool.memory()
            + self.values.memory()
            + self.input.len() * 5
            + self.steps.capacity() * size_of::<(Option<Term>, Shape)>()
            + self.atoms.capacity() * size_of::<Atom>()
            + bytes
            + self.circuit.memory()
            + self.merged.memory()
            + self.explorations.memory()
            + self.prefix.as_ref().map_or(0, |p| p.memory())
            + self.checks.as_ref().map_or(0, |c| c.users.memory() + 4 * c.steps.capacity())
            + self.compiler.memory()
    }

    pub(crate) fn input(&self) -> Input<'_> {
        Input::streams(&self.input, self.lengths.clone())
    }

    /// The value of a byte or a length in the input of the path.
    pub(crate) fn current(&self, var: Var) -> u64 {
        match (var.as_byte(), var.as_length()) {
            (Some(offset), _) => self.input.get(offset as usize).copied().unwrap_or(0).into(),
            (_, Some(stream)) => self.lengths.get(stream as usize).copied().unwrap_or(0),
            _ => 0,
        }
    }

    pub(crate) fn byte(&self, offset: u32) -> u8 {
        self.input.get(offset as usize).copied().unwrap_or(0)
    }

    /// Computes the values of new terms.
    pub(crate) fn refresh(&mut self) {
        if !self.values.is_behind(&self.pool) {
            return;
        }
        let input = Input::streams(&self.input, self.lengths.clone());
        self.values.extend(&self.pool, &input);
    }

    pub(crate) fn atom(&self, atom: u32) -> Atom {
        self.atoms[atom as usize]
    }

    /// Where changes go, and which terms are conditions.
    pub(crate) fn checks(&mut self) -> &Checks {
        let (pool, atoms) = (&self.pool, &self.atoms);
        self.checks.get_or_insert_with(|| {
            let mut steps = vec![u32::MAX; pool.len()];
            for atom in atoms {
                let step = &mut steps[atom.term.index()];
                *step = (*step).min(atom.step);
            }
            let users = Users::new(pool, atoms.iter().map(|a| (a.term, a.step)));
            Box::new(Checks { users, steps })
        })
    }

    /// The conditions that compare checksums, in their order.
    pub(crate) fn sums(&mut self) -> &[Sum] {
        if self.sums.is_none() {
            self.sums = Some(find_sums(self));
        }
        self.sums.as_deref().unwrap_or_default()
    }

    /// [`Path::checks`], if they are made.
    pub(crate) fn known_checks(&self) -> Option<&Checks> {
        self.checks.as_deref()
    }

    /// All conditions, in the order of the path.
    pub(crate) fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// The conditions that a step adds, as a range of [`Path::atoms`].
    pub(crate) fn atoms_of_step(&self, at: usize) -> std::ops::Range<usize> {
        let first = |step: usize| self.atoms.partition_point(|a| (a.step as usize) < step);
        first(at)..first(at + 1)
    }

    /// True if the conditions before a step determine its outcome, because they include
    /// its own.
    pub(crate) fn is_implied(&self, at: usize) -> bool {
        self.implied.contains(&(at as u32))
    }

    pub(crate) fn input_len(&self) -> usize {
        self.input.len()
    }

    /// The term that decides a step with more than two outcomes.
    pub(crate) fn switch_term(&self, at: usize) -> Option<Term> {
        let (term, shape) = self.steps.get(at)?;
        term.filter(|_| matches!(shape, Shape::Cases { .. }))
    }

    /// The conditions before a step, in order.
    pub(crate) fn atoms_before(&self, at: usize) -> impl Iterator<Item = Atom> + '_ {
        self.atoms.iter().copied().filter(move |a| (a.step as usize) < at)
    }

    /// The terms that must be true to reach a goal; `None` if the step has no such goal.
    pub(crate) fn goal_terms(&mut self, at: usize, goal: Goal) -> Option<Vec<Term>> {
        let (term, shape) = self.steps.get(at)?.clone();
        let term = match (shape, goal) {
            (Shape::Bool { taken }, Goal::Not) => {
                let term = term?;
                if taken { self.pool.not(term) } else { term }
            }
            (Shape::Len { stream, bound, taken }, Goal::Not) => self.longer(stream, bound, !taken),
            (Shape::Cases { cases }, Goal::Case(i)) => {
                let term = term?;
                (i as usize <= cases.len()).then_some(())?;
                self.in_case(term, &cases, i as usize)
            }
            (Shape::Value, Goal::Other) => {
                let term = term?;
                let seen = self.values.get(term);
                let seen = self.pool.number(seen, self.pool.width(term));
                self.pool.pair(Code::Ne, term, seen)
            }
            _ => return None,
        };
        let mut parts = Vec::new();
        split(&mut self.pool, term, &mut parts);
        self.refresh();
        Some(parts)
    }

    /// The value that a step decides on, and the values that reach a goal; `None` if the
    /// step decides on one bit or on a wide value.
    pub(crate) fn switch_values(&self, at: usize, goal: Goal) -> Option<(Term, WantedValues)> {
        let (term, shape) = self.steps.get(at)?;
        let term = term.filter(|&t| self.pool.width(t) <= 64)?;
        Some(match (shape, goal) {
            (Shape::Cases { cases }, Goal::Case(i)) => match cases.get(i as usize) {
                Some(&value) => (term, WantedValues::One(value)),
                None => (term, WantedValues::NoneOf(cases.clone())),
            },
            (Shape::Value, Goal::Other) => {
                (term, WantedValues::NoneOf([self.values.low(term)].into()))
            }
            _ => return None,
        })
    }

    /// The condition that a stream is longer than `bound` bytes, or its negation unless
    /// `taken`.
    fn longer(&mut self, stream: u32, bound: u64, taken: bool) -> Term {
        let length = self.pool.length(stream);
        let bound = self.pool.number(bound.into(), 64);
        if taken {
            self.pool.pair(Code::Ult, bound, length)
        } else {
            self.pool.pair(Code::Ule, length, bound)
        }
    }

    /// The condition that a switch takes a case.
    fn in_case(&mut self, term: Term, cases: &[u64], case: usize) -> Term {
        match cases.get(case) {
            Some(&value) => {
                let value = self.pool.number(value.into(), self.pool.width(term));
                self.pool.pair(Code::Eq, term, value)
            }
            None => {
                let any = self.pool.member(term, cases);
                self.pool.not(any)
            }
        }
    }

    /// Pins the term of a step that has taken a case of a switch. The atoms of the step
    /// need not mention the term: `table[i] == 3` is simplified to a condition on `i`.
    fn pin_step(&mut self, step: usize) {
        let (Some(first), shape) = &self.steps[step] else { return };
        let mut term = *first;
        let has_one_value = match shape {
            Shape::Cases { cases } => outcome(cases, self.values.get(term)) < cases.len(),
            Shape::Value => true,
            _ => false,
        };
        while has_one_value && self.pool.width(term) <= 64 {
            self.pins.entry(term).or_insert((step as u32, self.values.low(term)));
            let node = self.pool.node(term);
            match (node.code, node.operands().next()) {
                (Code::ZExt | Code::SExt, Some(inner)) => term = inner,
                _ => return,
            }
        }
    }

    /// Splits the steps into atoms and builds the index.
    fn prepare(&mut self, requirements: &[Requirement]) {
        let mut indexed: FxHashSet<Term> = FxHashSet::default();
        let mut parts = Vec::new();
        for requirement in requirements {
            let holds = requirement.term(&mut self.pool);
            self.refresh();
            if self.values.low(holds) == 0 {
                self.inconsistent += 1;
            } else if self.pool.constant(holds).is_none() && indexed.insert(holds) {
                self.index(holds, 0);
            }
        }
        // Steps are indexed even if they are required too, because flips of lengths of
        // holes keep the steps and drop the requirements.
        indexed.clear();
        for step in 0..self.steps.len() {
            if pleach_work::spend(1 + parts.len() as u64) {
                return;
            }
            let (term, shape) = self.steps[step].clone();
            let holds = match (term, shape) {
                (Some(term), Shape::Bool { taken }) => {
                    if taken {
                        term
                    } else {
                        self.pool.not(term)
                    }
                }
                (Some(term), Shape::Cases { cases }) => {
                    let seen = outcome(&cases, self.values.get(term));
                    self.in_case(term, &cases, seen)
                }
                (Some(term), Shape::Value) => {
                    let seen = self.values.get(term);
                    let seen = self.pool.number(seen, self.pool.width(term));
                    self.pool.pair(Code::Eq, term, seen)
                }
                (_, Shape::Len { stream, bound, taken }) => self.longer(stream, bound, taken),
                (None, _) => continue,
            };
            parts.clear();
            split(&mut self.pool, holds, &mut parts);
            self.refresh();
            if parts.iter().any(|&p| self.values.low(p) == 0) {
                self.inconsistent += 1;
                continue;
            }
            let before = self.atoms.len();
            for &part in &parts {
                if self.pool.constant(part).is_none() && indexed.insert(part) {
                    self.index(part, step as u32);
                }
            }
            if self.atoms.len() == before {
                self.implied.insert(step as u32);
            }
            self.pin_step(step);
        }
    }
}

/// Inputs that conditions have in common.
#[derive(Default)]
struct Groups {
    parents: FxHashMap<Var, Var>,
}

impl Groups {
    fn of(&mut self, var: Var) -> Var {
        let parent = *self.parents.entry(var).or_insert(var);
        if parent == var {
            return var;
        }
        let mut root = parent;
        while let Some(&next) = self.parents.get(&root).filter(|&&next| next != root) {
            root = next;
        }
        self.parents.insert(var, root);
        root
    }

    fn join(&mut self, a: Var, b: Var) {
        let (a, b) = (self.of(a), self.of(b));
        self.parents.insert(b, a);
    }
}
