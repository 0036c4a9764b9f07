//! The conditions of one trace, prepared once for all its flips.
//!
//! Each step of a path says something about a term: a condition holds or not, a
//! value is one of the cases, a stream is longer than so many bytes. A step is
//! taken apart into *atoms*, terms of one bit that are all true on the input: the
//! parts of a conjunction, the bytes of a comparison with a string. An atom that
//! was there before is left out.
//!
//! A flip at any place must not cost time in proportion to the path before it. So
//! there is an index: for each byte the atoms that read it alone, with what they
//! leave of the byte's 256 values after each of them, and the atoms that read it
//! together with others. Both are in the order of the path, so the part before a
//! step is found by bisection. What one byte may be is computed when it is first
//! asked for.
//!
//! Lengths are inputs like bytes. What conditions say about a length alone is
//! kept as an interval. There is one condition that no step says: a byte that was
//! read must be there. So a stream cannot be shorter than the highest offset that
//! any condition before the flip reads, whether or not that condition has
//! anything to do with the flip.

use crate::domains::Memo;
use crate::interrupt::Interrupt;
use crate::ranges;
use crate::requirement::Requirement;
use pleach_abi::node::Op;
use pleach_automata::ByteSet;
use pleach_expr::{Code, Compiler, Expr, Input, Pool, Reads, Term, TermValues, Var, mask};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One decision of a trace in solver terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// A live label of the trace's expressions; 0 for [`Shape::Len`].
    pub label: u32,
    pub shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The label is a condition of one bit; `taken` is what was seen.
    Bool { taken: bool },
    /// The label is a value; the outcome is the index of the case that equals it,
    /// or the number of cases for the default.
    Cases { cases: Arc<[u64]> },
    /// The label is a value; another value is another way.
    Value,
    /// "The stream is longer than `bound` bytes" was decided as `taken`.
    Len { stream: u32, bound: u64, taken: bool },
}

/// What a flip asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The contrary, of `Bool` and `Len`.
    Not,
    /// Another case of `Cases`, by index; their number is the default.
    Case(u32),
    /// Any other value, of `Value`.
    Other,
}

/// What a goal wants of a value.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    One(u64),
    NoneOf(Arc<[u64]>),
}

impl Wanted {
    pub fn allows(&self, value: u64) -> bool {
        match self {
            Wanted::One(wanted) => value == *wanted,
            Wanted::NoneOf(others) => !others.contains(&value),
        }
    }
}

/// A term of one bit that holds from a step on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atom {
    pub term: Term,
    pub step: u32,
}

/// What is known of one byte along the path.
#[derive(Clone, Debug, Default)]
struct ByteIndex {
    /// Atoms that read this byte alone.
    own: Vec<u32>,
    /// Atoms that read it with others.
    shared: Vec<u32>,
    /// The values left after the step, where a step changed them; found late.
    domains: Option<Vec<(u32, ByteSet)>>,
}

/// What is known of one length along the path.
#[derive(Clone, Debug, Default)]
struct LengthIndex {
    /// The interval after the step, where a step changed it.
    bounds: Vec<(u32, u64, u64)>,
    /// Atoms about the length that are no bound.
    shared: Vec<u32>,
    /// How many bytes of the stream the conditions up to the step read.
    reach: Vec<(u32, u64)>,
}

/// The prepared conditions of one trace. Flips may be asked in any order.
pub struct Path {
    pub(crate) pool: Pool,
    pub(crate) values: TermValues,
    input: Vec<u8>,
    lengths: Vec<u64>,
    offsets: Vec<u64>,
    steps: Vec<(Option<Term>, Shape)>,
    atoms: Vec<Atom>,
    /// By offset: the place in `bytes` + 1.
    byte_ids: Vec<u32>,
    bytes: Vec<ByteIndex>,
    streams: Vec<LengthIndex>,
    /// Atoms that read more inputs than are worth an entry for each.
    broad: Vec<u32>,
    /// Terms that a condition says the value of: that value, from a step on.
    pins: FxHashMap<Term, (u32, u64)>,
    /// Conditions that compare a term with a constant, by term.
    said: FxHashMap<Term, Vec<u32>>,
    /// Tells paths apart.
    pub(crate) serial: u64,
    inconsistent: u32,
    pub(crate) circuit: crate::complete::Circuit,
    /// For conditions over lengths; its table is as long as the pool.
    pub(crate) compiler: Compiler,
}

static SERIAL: AtomicU64 = AtomicU64::new(1);

/// An atom that reads more inputs than this is kept in a list of its own.
const BROAD: u32 = 512;

impl Path {
    /// `input` is the whole file, `lengths` are its streams', and
    /// `stream_offsets` where each stream's byte 0 is in the file.
    pub fn new(
        expr: &Expr,
        steps: Vec<Step>,
        input: &[u8],
        lengths: &[u64],
        stream_offsets: &[u64],
    ) -> Path {
        let streams = (lengths, stream_offsets);
        Path::under(&[], expr, steps, input, streams, &Interrupt::default())
    }

    /// A path whose answers must meet requirements besides. They hold from step 0
    /// on; a step that says nothing can be put there for them. An interrupt leaves the
    /// path unfinished.
    pub fn under(
        requirements: &[Requirement],
        expr: &Expr,
        steps: Vec<Step>,
        input: &[u8],
        (lengths, stream_offsets): (&[u64], &[u64]),
        interrupt: &Interrupt,
    ) -> Path {
        let imported = Pool::import_until(expr, || interrupt.is_set());
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
            said: FxHashMap::default(),
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            inconsistent: 0,
            circuit: Default::default(),
            compiler: Compiler::default(),
        };
        path.refresh();
        if !interrupt.is_set() {
            path.reach(expr, &labels);
            path.prepare(requirements, interrupt);
        }
        path
    }

    /// Steps of the path.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Steps that do not hold on the input that is said to have made them. They
    /// are left out.
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

    /// Something of the inputs that each step depends on, made once for steps that depend
    /// on the same: a parser with tables decides on all tokens before, again and again.
    pub fn by_support<T: Clone>(&self, mut make: impl FnMut(Vec<Var>) -> T) -> Vec<T> {
        let mut made: FxHashMap<Reads, T> = FxHashMap::default();
        let mut of = |at: usize| match self.steps[at] {
            (Some(term), ref shape) if !matches!(shape, Shape::Len { .. }) => {
                made.entry(self.pool.reads(term)).or_insert_with(|| make(self.support(at))).clone()
            }
            _ => make(self.support(at)),
        };
        (0..self.steps.len()).map(&mut of).collect()
    }

    /// Whether a step depends on an input that is so.
    pub fn depends(&self, at: usize, is_so: impl Fn(Var) -> bool) -> bool {
        match self.steps.get(at) {
            Some((_, Shape::Len { stream, .. })) => is_so(Var::length(*stream)),
            Some((Some(term), _)) => self.pool.vars(*term).any(is_so),
            _ => false,
        }
    }

    /// What can be asked for at a step: every outcome but the one that was seen.
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

    /// A step's term in short, for people who look into a solver.
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
            + self.compiler.memory()
    }

    pub(crate) fn input(&self) -> Input<'_> {
        Input::streams(&self.input, self.lengths.clone())
    }

    /// The value of an input in the file at hand.
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

    /// Computes the values of terms that are new.
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

    /// What is known before a step, in order.
    pub(crate) fn atoms_before(&self, at: usize) -> impl Iterator<Item = Atom> + '_ {
        self.atoms.iter().copied().filter(move |a| (a.step as usize) < at)
    }

    /// The terms that a goal asks to be true, or nothing if the step does not
    /// have such a goal.
    pub(crate) fn wanted(&mut self, at: usize, goal: Goal) -> Option<Vec<Term>> {
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

    /// The value that a step decides by, and whether one of that value reaches the
    /// goal; nothing where a step decides by a bit.
    pub(crate) fn switch(&self, at: usize, goal: Goal) -> Option<(Term, Wanted)> {
        let (term, shape) = self.steps.get(at)?;
        let term = term.filter(|&t| self.pool.width(t) <= 64)?;
        Some(match (shape, goal) {
            (Shape::Cases { cases }, Goal::Case(i)) => match cases.get(i as usize) {
                Some(&value) => (term, Wanted::One(value)),
                None => (term, Wanted::NoneOf(cases.clone())),
            },
            (Shape::Value, Goal::Other) => (term, Wanted::NoneOf([self.values.low(term)].into())),
            _ => return None,
        })
    }

    fn longer(&mut self, stream: u32, bound: u64, taken: bool) -> Term {
        let length = self.pool.length(stream);
        let bound = self.pool.number(bound.into(), 64);
        if taken {
            self.pool.pair(Code::Ult, bound, length)
        } else {
            self.pool.pair(Code::Ule, length, bound)
        }
    }

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

    /// Takes the steps apart and builds the index.
    fn prepare(&mut self, requirements: &[Requirement], interrupt: &Interrupt) {
        let mut known: FxHashSet<Term> = FxHashSet::default();
        let mut parts = Vec::new();
        for requirement in requirements {
            let holds = requirement.term(&mut self.pool);
            self.refresh();
            if self.values.low(holds) == 0 {
                self.inconsistent += 1;
            } else if self.pool.constant(holds).is_none() && known.insert(holds) {
                self.index(holds, 0);
            }
        }
        // What a step says is kept though it is required, too: another length of a hole
        // is asked for by what the steps say alone.
        known.clear();
        for step in 0..self.steps.len() {
            if interrupt.is_set() {
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
            for &part in &parts {
                if self.pool.constant(part).is_none() && known.insert(part) {
                    self.index(part, step as u32);
                }
            }
        }
    }

    fn index(&mut self, term: Term, step: u32) {
        let atom = self.atoms.len() as u32;
        self.atoms.push(Atom { term, step });
        if let Some(compared) = ranges::compared(&self.pool, term) {
            self.said.entry(compared).or_default().push(atom);
        }
        for (pinned, value) in ranges::pins(&self.pool, term) {
            self.pins.entry(pinned).or_insert((step, value));
        }
        let reads = self.pool.reads(term);
        match reads.single().map(|v| (v.as_byte(), v.as_length())) {
            Some((Some(offset), _)) => {
                let byte = self.byte_index(offset);
                self.bytes[byte].own.push(atom);
            }
            Some((_, Some(stream))) => {
                let Some(known) = self.streams.get_mut(stream as usize) else { return };
                let (_, low, high) = known.bounds.last().copied().unwrap_or((0, 0, u64::MAX));
                match bound(&self.pool, term) {
                    Some((from, to)) => {
                        let (from, to) = (from.max(low), to.min(high));
                        if (from, to) != (low, high) {
                            known.bounds.push((step, from, to));
                        }
                    }
                    None => known.shared.push(atom),
                }
            }
            _ => {
                let ranges = self.pool.var_ranges(term).to_vec();
                let count: u32 = ranges.iter().map(|r| r.1 - r.0).sum();
                if count > BROAD {
                    self.broad.push(atom);
                    return;
                }
                for var in ranges.iter().flat_map(|&(from, to)| (from..to).map(Var)) {
                    if let Some(offset) = var.as_byte() {
                        let byte = self.byte_index(offset);
                        self.bytes[byte].shared.push(atom);
                    } else if let Some(stream) = var.as_length()
                        && let Some(known) = self.streams.get_mut(stream as usize)
                    {
                        known.shared.push(atom);
                    }
                }
            }
        }
    }

    fn byte_index(&mut self, offset: u32) -> usize {
        let id = &mut self.byte_ids[offset as usize];
        if *id == 0 {
            self.bytes.push(ByteIndex::default());
            *id = self.bytes.len() as u32;
        }
        *id as usize - 1
    }

    fn known(&self, offset: u32) -> Option<&ByteIndex> {
        let id = self.byte_ids.get(offset as usize)?.checked_sub(1)?;
        self.bytes.get(id as usize)
    }

    /// Notes how far into its streams each step reads. The graph as it was
    /// written is what counts: a byte that was read and does not matter for the
    /// value was read all the same.
    fn reach(&mut self, expr: &Expr, labels: &[u32]) {
        let top = expr.order().iter().max().map_or(0, |&l| l as usize + 1);
        let mut ends: Vec<u64> = Vec::new();
        let streams = self.offsets.iter().zip(&self.lengths).zip(&mut self.streams);
        for ((&offset, &length), known) in streams {
            ends.clear();
            ends.resize(top, 0);
            for &label in expr.order() {
                let node = expr.node(label);
                let last = match expr.op(label) {
                    Op::Input => u64::from(node.a),
                    Op::Read => u64::from(node.a) + u64::from(node.width) / 8 - 2,
                    _ => {
                        let most = expr.operands(label).map(|o| ends[o as usize]).max();
                        ends[label as usize] = most.unwrap_or(0);
                        continue;
                    }
                };
                if (offset..offset + length).contains(&last) {
                    ends[label as usize] = last - offset + 1;
                }
            }
            for (step, &label) in labels.iter().enumerate() {
                let end = ends.get(label as usize).copied().unwrap_or(0);
                if known.reach.last().map_or(0, |r| r.1) < end {
                    known.reach.push((step as u32, end));
                }
            }
        }
    }

    /// What a byte may be where the steps before `at` hold that read it alone.
    pub(crate) fn domain(&mut self, memo: &mut Memo, offset: u32, at: usize) -> ByteSet {
        let id = match self.byte_ids.get(offset as usize) {
            Some(&id) if id > 0 => id as usize - 1,
            _ => return ByteSet::ALL,
        };
        if self.bytes[id].domains.is_none() {
            let mut list: Vec<(u32, ByteSet)> = Vec::new();
            let mut left = ByteSet::ALL;
            for &atom in &self.bytes[id].own {
                let Atom { term, step } = self.atoms[atom as usize];
                let now = left.intersection(&memo.set(&self.pool, &self.values, term, offset));
                if now != left {
                    left = now;
                    match list.last_mut() {
                        Some(last) if last.0 == step => last.1 = now,
                        _ => list.push((step, now)),
                    }
                }
            }
            self.bytes[id].domains = Some(list);
        }
        let list = self.bytes[id].domains.as_deref().unwrap_or(&[]);
        match list.partition_point(|d| (d.0 as usize) < at) {
            0 => ByteSet::ALL,
            n => list[n - 1].1,
        }
    }

    /// The interval of a length where the bounds before `at` hold and all that is
    /// read is there.
    pub(crate) fn interval(&self, stream: u32, at: usize) -> (u64, u64) {
        let Some(known) = self.streams.get(stream as usize) else { return (0, 0) };
        let (low, high) = match known.bounds.partition_point(|b| (b.0 as usize) < at) {
            0 => (0, u64::MAX),
            n => (known.bounds[n - 1].1, known.bounds[n - 1].2),
        };
        // The flipped step's own reads happen whichever way it goes.
        let read = match known.reach.partition_point(|r| r.0 as usize <= at) {
            0 => 0,
            n => known.reach[n - 1].1,
        };
        (low.max(read), high)
    }

    /// The value that a condition before `at` says a term has.
    pub(crate) fn pinned(&self, term: Term, at: usize) -> Option<u64> {
        self.pins.get(&term).filter(|pin| (pin.0 as usize) < at).map(|pin| pin.1)
    }

    /// Conditions before `at` that compare a term with a constant.
    pub(crate) fn said(&self, term: Term, at: usize) -> impl Iterator<Item = Term> + '_ {
        let list: &[u32] = self.said.get(&term).map_or(&[], |l| l);
        let atoms = list.iter().map(|&a| self.atoms[a as usize]);
        atoms.take_while(move |a| (a.step as usize) < at).map(|a| a.term)
    }

    /// Atoms before `at` that read `var` together with other inputs, or say more
    /// of a length than a bound.
    pub(crate) fn shared(&self, var: Var, at: usize) -> impl Iterator<Item = u32> + '_ {
        let list: &[u32] = match (var.as_byte(), var.as_length()) {
            (Some(offset), _) => self.known(offset).map_or(&[], |b| &b.shared),
            (_, Some(stream)) => self.streams.get(stream as usize).map_or(&[], |s| &s.shared),
            _ => &[],
        };
        let before =
            |atoms: &[u32]| atoms.partition_point(|&a| (self.atoms[a as usize].step as usize) < at);
        let broad = &self.broad[..before(&self.broad)];
        let broad = broad.iter().copied();
        let broad = broad.filter(move |&a| self.pool.depends_on(self.atoms[a as usize].term, var));
        list[..before(list)].iter().copied().chain(broad)
    }

    /// The atoms before `at` that read inputs of `terms`, the nearest first.
    pub(crate) fn nearest(&self, at: usize, terms: &[Term], most: usize) -> Vec<Term> {
        let mut vars: Vec<Var> = terms.iter().flat_map(|&t| self.pool.vars(t)).collect();
        vars.sort_unstable();
        vars.dedup();
        let mut atoms: Vec<u32> = Vec::new();
        for var in vars {
            atoms.extend(self.shared(var, at));
            atoms.extend(var.as_byte().map_or(&[][..], |offset| self.own(offset, at)));
        }
        atoms.sort_unstable_by(|a, b| b.cmp(a));
        atoms.dedup();
        atoms.iter().take(most).map(|&a| self.atoms[a as usize].term).collect()
    }

    /// Atoms before `at` that read this byte alone.
    pub(crate) fn own(&self, offset: u32, at: usize) -> &[u32] {
        let list: &[u32] = self.known(offset).map_or(&[], |b| &b.own);
        &list[..list.partition_point(|&a| (self.atoms[a as usize].step as usize) < at)]
    }
}

/// The index of the case that a value is, or their number.
pub(crate) fn outcome(cases: &[u64], value: u128) -> usize {
    cases.iter().position(|&c| u128::from(c) == value).unwrap_or(cases.len())
}

/// `from ..= to` if `term` says that of a length.
pub(crate) fn bound(pool: &Pool, term: Term) -> Option<(u64, u64)> {
    let node = pool.node(term);
    if !matches!(node.code, Code::Ult | Code::Ule | Code::Eq) {
        return None;
    }
    let mut sides = node.operands();
    let (x, y) = (sides.next()?, sides.next()?);
    let is_length = |t: Term| pool.node(t).code == Code::Len;
    match (pool.constant(x), pool.constant(y), node.code) {
        (None, Some(c), Code::Eq) if is_length(x) => Some((c as u64, c as u64)),
        (None, Some(c), Code::Ult) if is_length(x) => Some((0, (c as u64).checked_sub(1)?)),
        (None, Some(c), Code::Ule) if is_length(x) => Some((0, c as u64)),
        (Some(c), None, Code::Ult) if is_length(y) => Some(((c as u64).checked_add(1)?, u64::MAX)),
        (Some(c), None, Code::Ule) if is_length(y) => Some((c as u64, u64::MAX)),
        _ => None,
    }
}

/// Takes a condition apart into conditions that must all hold.
pub(crate) fn split(pool: &mut Pool, term: Term, parts: &mut Vec<Term>) {
    // Most conditions are one comparison with a byte.
    let node = pool.node(term);
    if !matches!(node.code, Code::And | Code::Xor | Code::Eq) || pool.reads(term).single().is_some()
    {
        parts.push(term);
        return;
    }
    let mut open = vec![term];
    while let Some(term) = open.pop() {
        let node = pool.node(term);
        let mut sides = node.operands();
        let (x, y) = (sides.next(), sides.next());
        match (node.code, x, y) {
            (Code::And, Some(x), Some(y)) if node.width == 1 => open.extend([y, x]),
            // Not (x or y).
            (Code::Xor, Some(x), Some(y))
                if node.width == 1
                    && pool.constant(y) == Some(1)
                    && pool.node(x).code == Code::Or =>
            {
                let either: Vec<Term> = pool.node(x).operands().collect();
                for side in either.into_iter().rev() {
                    let not = pool.not(side);
                    open.push(not);
                }
            }
            (Code::Eq, Some(x), Some(y)) if pool.constant(y).is_some() => {
                let value = pool.constant(y).unwrap_or(0);
                let inner = pool.node(x);
                let pieces: Vec<(u32, Term)> = match inner.code {
                    Code::Read if inner.width > 8 => {
                        (0..inner.width() / 8).map(|i| (8 * i, pool.read(inner.a + i, 1))).collect()
                    }
                    Code::Concat => {
                        let mut sides = inner.operands();
                        match (sides.next(), sides.next()) {
                            (Some(low), Some(high)) => vec![(0, low), (pool.width(low), high)],
                            _ => Vec::new(),
                        }
                    }
                    _ => Vec::new(),
                };
                if pieces.is_empty() {
                    parts.push(term);
                }
                for (shift, piece) in pieces.into_iter().rev() {
                    let width = pool.width(piece);
                    let wanted = pool.number((value >> shift) & mask(width), width);
                    let equal = pool.pair(Code::Eq, piece, wanted);
                    open.push(equal);
                }
            }
            _ => parts.push(term),
        }
    }
}
