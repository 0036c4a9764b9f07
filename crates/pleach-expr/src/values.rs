//! The values of all terms of a pool on one input ([`TermValues`]), and of some terms on
//! an input that differs in a few places ([`ChangedValues`]).

use crate::input::Input;
use crate::pool::{Code, Pool, Term};
use crate::reads::Var;
use crate::word::{compute64, compute128};
use std::collections::HashMap;

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
            if self.computed[term.index()].0 == self.round {
                self.stack.pop();
                continue;
            }
            if !differs(term) {
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
                let value = compute(pool, term, &leaf, &|t| value_of(t) as u64, &value_of);
                self.computed[term.index()] = (self.round, value);
                self.work += 1;
                self.stack.pop();
            }
        }
        self.computed[root.index()].1
    }
}
