//! The values of all terms of a pool on one input ([`TermValues`]), and of some terms on
//! an input that differs in a few places ([`ChangedValues`]).

use crate::input::Input;
use crate::pool::{Code, Pool, Term};
use crate::reads::Var;
use crate::word::{compute64, compute128};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The values of all terms on one input.
#[derive(Clone, Debug, Default)]
pub struct TermValues {
    low: Vec<u64>,
    /// The high halves that are not 0, of terms wider than 64 bits.
    high: HashMap<Term, u64>,
}

impl TermValues {
    pub fn get(&self, term: Term) -> u128 {
        let low = u128::from(self.low[term.index()]);
        match self.high.is_empty() {
            true => low,
            false => low | self.high.get(&term).map_or(0, |&h| u128::from(h) << 64),
        }
    }

    /// The low 64 bits.
    pub fn low(&self, term: Term) -> u64 {
        self.low[term.index()]
    }

    pub fn memory(&self) -> usize {
        self.low.capacity() * 8 + self.high.capacity() * 16
    }

    /// True if the pool has terms whose values are not computed yet.
    pub fn is_behind(&self, pool: &Pool) -> bool {
        self.low.len() < pool.len()
    }

    /// Computes the values of terms that are new in the pool.
    pub fn extend(&mut self, pool: &Pool, input: &Input) {
        for number in self.low.len()..pool.len() {
            let term = Term::from_number(number as u32);
            let leaf = |var: Var| match (var.as_byte(), var.as_length()) {
                (Some(offset), _) => input.byte(offset as usize).into(),
                (_, Some(stream)) => input.length(stream),
                _ => 0,
            };
            let value = compute(pool, term, &leaf, &|t| self.low(t), &|t| self.get(t));
            self.low.push(value as u64);
            if value >> 64 != 0 {
                self.high.insert(term, (value >> 64) as u64);
            }
        }
    }
}

/// The value of a term, from the values of its operands.
fn compute(
    pool: &Pool,
    term: Term,
    leaf: &impl Fn(Var) -> u64,
    low: &impl Fn(Term) -> u64,
    full: &impl Fn(Term) -> u128,
) -> u128 {
    let node = pool.node(term);
    match node.code {
        Code::Const => pool.constant(term).unwrap_or(0),
        Code::Len => leaf(Var::length(node.a)).into(),
        Code::Read => (0..node.width() / 8)
            .rev()
            .fold(0, |v, i| v << 8 | u128::from(leaf(Var::byte(node.a + i)))),
        code => {
            let operand = pool.width(Term::from_number(node.a));
            let arity = code.arity();
            let arg = |n: usize, number: u32| (n < arity).then(|| Term::from_number(number));
            let args = [arg(0, node.a), arg(1, node.b), arg(2, node.c)];
            // No operand after the first is wider than both the first and the result.
            if node.width <= 64 && operand <= 64 {
                let [a, b, c] = args.map(|t| t.map_or(0, low));
                compute64(pool, &node, operand, a, b, c).into()
            } else {
                let [a, b, c] = args.map(|t| t.map_or(0, full));
                compute128(pool, &node, operand, a, b, c)
            }
        }
    }
}

/// The value of an input with some changes (sorted).
fn changed_leaf(input: &Input, changes: &[(Var, u64)], var: Var) -> u64 {
    match changes.binary_search_by_key(&var, |c| c.0) {
        Ok(at) => changes[at].1,
        Err(_) => match (var.as_byte(), var.as_length()) {
            (Some(offset), _) => input.byte(offset as usize).into(),
            (_, Some(stream)) => input.length(stream),
            _ => 0,
        },
    }
}

/// The users of each term, and the terms that read each input: where a change goes.
///
/// A change of a byte rarely goes far. The next state of a lexer is often the same, and
/// what depends on the state alone is then the same, too.
#[derive(Clone, Debug, Default)]
pub struct Users {
    /// By term, the end of its users in `users`.
    ends: Vec<u32>,
    users: Vec<Term>,
    /// Each input with a term that reads it, sorted.
    readers: Vec<(Var, Term)>,
    /// By term: the first step of a root that depends on it; `u32::MAX` for none.
    first_steps: Vec<u32>,
}

impl Users {
    /// The users of all terms that `roots` depend on. Each root has a step.
    pub fn new(pool: &Pool, roots: impl Iterator<Item = (Term, u32)>) -> Users {
        let mut first_steps = vec![u32::MAX; pool.len()];
        for (root, step) in roots {
            let first = &mut first_steps[root.index()];
            *first = (*first).min(step);
        }
        let mut ends = vec![0u32; pool.len() + 1];
        let mut readers = Vec::new();
        for term in pool.terms().rev() {
            let step = first_steps[term.index()];
            if step == u32::MAX {
                continue;
            }
            let node = pool.node(term);
            if node.code.arity() == 0 {
                readers.extend(pool.vars(term).map(|var| (var, term)));
            }
            for operand in node.operands() {
                let first = &mut first_steps[operand.index()];
                *first = (*first).min(step);
                ends[operand.index() + 1] += 1;
            }
        }
        readers.sort_unstable();
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let mut next = ends.clone();
        let mut users = vec![Term::from_number(0); *ends.last().unwrap_or(&0) as usize];
        for term in pool.terms().filter(|t| first_steps[t.index()] != u32::MAX) {
            for operand in pool.node(term).operands() {
                users[next[operand.index()] as usize] = term;
                next[operand.index()] += 1;
            }
        }
        Users { ends, users, readers, first_steps }
    }

    /// Bytes of memory, roughly.
    pub fn memory(&self) -> usize {
        4 * (2 * self.ends.capacity() + self.users.capacity()) + 8 * self.readers.capacity()
    }

    fn of(&self, term: Term) -> &[Term] {
        let at = term.index();
        if at + 1 >= self.ends.len() {
            return &[];
        }
        &self.users[self.ends[at] as usize..self.ends[at + 1] as usize]
    }

    /// True if a root of a step up to `last` depends on a term.
    fn is_used(&self, term: Term, last: u32) -> bool {
        self.first_steps.get(term.index()).is_some_and(|&step| step <= last)
    }

    /// The terms that read an input.
    fn readers(&self, var: Var) -> impl Iterator<Item = Term> + '_ {
        let from = self.readers.partition_point(|r| r.0 < var);
        self.readers[from..].iter().take_while(move |r| r.0 == var).map(|r| r.1)
    }
}

/// Evaluates terms on an input that differs from the base input in a few places. Only
/// terms that depend on those places are computed; the others have their base values.
#[derive(Clone, Debug, Default)]
pub struct ChangedValues {
    /// By term: the round in which it was computed, and its value. Each set of changes is
    /// one round.
    computed: Vec<(u32, u128)>,
    round: u32,
    stack: Vec<Term>,
    /// Operations computed, in all rounds.
    pub work: u64,
}

impl ChangedValues {
    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.computed.capacity() * size_of::<(u32, u128)>()
    }

    /// Forgets all values. Must be called before [`ChangedValues::eval`] with new changes.
    pub fn start(&mut self, pool: &Pool) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.computed.clear();
            self.round = 1;
        }
        if self.computed.len() < pool.len() {
            self.computed.resize(pool.len(), (0, 0));
        }
    }

    /// Computes the terms that have other values with the new inputs `changes` (sorted) and
    /// that a root of a step up to `last` depends on. Calls `accept` with each, operands
    /// first, and with its value, until it returns false. Returns false then.
    pub fn propagate(
        &mut self,
        terms: (&Pool, &TermValues, &Users),
        input: &Input,
        changes: &[(Var, u64)],
        last: u32,
        mut accept: impl FnMut(Term, u128) -> bool,
    ) -> bool {
        let (pool, base, users) = terms;
        self.start(pool);
        let leaf = |var: Var| changed_leaf(input, changes, var);
        let mut open: BinaryHeap<Reverse<Term>> = BinaryHeap::new();
        open.extend(changes.iter().flat_map(|c| users.readers(c.0)).map(Reverse));
        while let Some(Reverse(term)) = open.pop() {
            if self.computed[term.index()].0 == self.round || !users.is_used(term, last) {
                continue;
            }
            let value_of = |t: Term| match self.computed[t.index()] {
                (round, value) if round == self.round => value,
                _ => base.get(t),
            };
            let value = compute(pool, term, &leaf, &|t| value_of(t) as u64, &value_of);
            self.computed[term.index()] = (self.round, value);
            self.work += 1;
            if value == base.get(term) {
                continue;
            }
            if !accept(term, value) {
                return false;
            }
            open.extend(users.of(term).iter().copied().map(Reverse));
        }
        true
    }

    /// After [`ChangedValues::propagate`] with the same arguments: the value of any term.
    pub fn propagated(
        &mut self,
        terms: (&Pool, &TermValues, &Users),
        input: &Input,
        changes: &[(Var, u64)],
        last: u32,
        root: Term,
    ) -> u128 {
        let (pool, base, users) = terms;
        let leaf = |var: Var| changed_leaf(input, changes, var);
        // A term that was not computed has not changed.
        self.compute_missing(pool, base, &leaf, |term| users.is_used(term, last), root)
    }

    /// The value of `root` with the new inputs `changes` (sorted); all other inputs are as
    /// in `base`.
    pub fn eval(
        &mut self,
        pool: &Pool,
        base: &TermValues,
        input: &Input,
        changes: &[(Var, u64)],
        root: Term,
    ) -> u128 {
        if self.computed.len() < pool.len() {
            self.computed.resize(pool.len(), (0, 0));
        }
        let differs = |term: Term| {
            pool.var_ranges(term).iter().any(|&(from, to)| {
                let at = changes.partition_point(|c| c.0.0 < from);
                changes.get(at).is_some_and(|c| c.0.0 < to)
            })
        };
        let leaf = |var: Var| changed_leaf(input, changes, var);
        self.compute_missing(pool, base, &leaf, |term| !differs(term), root)
    }

    /// The value of `root`, from what this round has computed. Terms for which `is_base`
    /// is true have the value of the base input.
    fn compute_missing(
        &mut self,
        pool: &Pool,
        base: &TermValues,
        leaf: &impl Fn(Var) -> u64,
        is_base: impl Fn(Term) -> bool,
        root: Term,
    ) -> u128 {
        self.stack.clear();
        self.stack.push(root);
        while let Some(&term) = self.stack.last() {
            if self.computed[term.index()].0 == self.round {
                self.stack.pop();
                continue;
            }
            if is_base(term) {
                self.computed[term.index()] = (self.round, base.get(term));
                self.stack.pop();
                continue;
            }
            let before = self.stack.len();
            let missing =
                pool.node(term).operands().filter(|o| self.computed[o.index()].0 != self.round);
            self.stack.extend(missing);
            if self.stack.len() == before {
                let value_of = |t: Term| self.computed[t.index()].1;
                let value = compute(pool, term, leaf, &|t| value_of(t) as u64, &value_of);
                self.computed[term.index()] = (self.round, value);
                self.work += 1;
                self.stack.pop();
            }
        }
        self.computed[root.index()].1
    }
}
