//! The values of all terms of a pool on one input, and of some on one that
//! differs from it in a few places.

use crate::input::Input;
use crate::pool::{Code, Pool, Term};
use crate::reads::Var;
use crate::word::{compute64, compute128};
use std::collections::HashMap;

/// Values on one input. New terms of the pool are added by [`TermValues::extend`].
#[derive(Clone, Debug, Default)]
pub struct TermValues {
    low: Vec<u64>,
    /// High halves of terms above 64 bits, where not zero.
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

    /// Whether the pool has terms that are not computed yet.
    pub fn lacks(&self, pool: &Pool) -> bool {
        self.low.len() < pool.len()
    }

    /// Computes what the pool has got since.
    pub fn extend(&mut self, pool: &Pool, input: &Input) {
        for number in self.low.len()..pool.len() {
            let term = Term::from_number(number as u32);
            let leaf = |var: Var| match (var.as_byte(), var.as_length()) {
                (Some(offset), _) => input.byte(offset as usize).into(),
                (_, Some(stream)) => input.length(stream),
                _ => 0,
            };
            let value = step(pool, term, &leaf, &|t| self.low(t), &|t| self.get(t));
            self.low.push(value as u64);
            if value >> 64 != 0 {
                self.high.insert(term, (value >> 64) as u64);
            }
        }
    }
}

/// One term's value from those of its operands.
fn step(
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
            // Operands of `Ite` after the first have the result's width; those of
            // a `Concat` are narrower than it.
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

/// Evaluates terms on an input that differs from another in a few places. Only
/// what depends on those places is computed; the rest is known.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    /// By term: the round in which it was computed, and its value.
    known: Vec<(u32, u128)>,
    round: u32,
    stack: Vec<Term>,
    /// Operations computed since the beginning.
    pub work: u64,
}

impl Changed {
    /// A new difference: what was computed is forgotten.
    pub fn start(&mut self, pool: &Pool) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.known.clear();
            self.round = 1;
        }
        if self.known.len() < pool.len() {
            self.known.resize(pool.len(), (0, 0));
        }
    }

    /// The value of `root` where the inputs in `changes` (sorted) are as they
    /// say, and all others as in `base`.
    pub fn eval(
        &mut self,
        pool: &Pool,
        base: &TermValues,
        input: &Input,
        changes: &[(Var, u64)],
        root: Term,
    ) -> u128 {
        if self.known.len() < pool.len() {
            self.known.resize(pool.len(), (0, 0));
        }
        let differs = |term: Term| {
            pool.var_ranges(term).iter().any(|&(from, to)| {
                let at = changes.partition_point(|c| c.0.0 < from);
                changes.get(at).is_some_and(|c| c.0.0 < to)
            })
        };
        let leaf = |var: Var| match changes.binary_search_by_key(&var, |c| c.0) {
            Ok(at) => changes[at].1,
            Err(_) => match (var.as_byte(), var.as_length()) {
                (Some(offset), _) => input.byte(offset as usize).into(),
                (_, Some(stream)) => input.length(stream),
                _ => 0,
            },
        };
        self.stack.clear();
        self.stack.push(root);
        while let Some(&term) = self.stack.last() {
            if self.known[term.index()].0 == self.round {
                self.stack.pop();
                continue;
            }
            if !differs(term) {
                self.known[term.index()] = (self.round, base.get(term));
                self.stack.pop();
                continue;
            }
            let before = self.stack.len();
            let missing =
                pool.node(term).operands().filter(|o| self.known[o.index()].0 != self.round);
            self.stack.extend(missing);
            if self.stack.len() == before {
                let known = |t: Term| self.known[t.index()].1;
                let value = step(pool, term, &leaf, &|t| known(t) as u64, &known);
                self.known[term.index()] = (self.round, value);
                self.work += 1;
                self.stack.pop();
            }
        }
        self.known[root.index()].1
    }
}
