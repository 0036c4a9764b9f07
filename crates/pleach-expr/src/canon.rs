//! A name for a set of conditions that does not depend on where in the input they
//! read, nor on which trace they are from.
//!
//! The terms are walked in a fixed order and numbered as they are met, and so are
//! the inputs; what is hashed is the operations with these numbers. Two sets with
//! the same name are the same up to renaming of inputs, so a model of one is a
//! model of the other. 128 bits: with a million names the chance that any two
//! different sets share one is below 10^-26.

use crate::pool::{Code, Pool, Term, mix};
use crate::reads::Var;
use std::collections::HashMap;

/// Conditions on their way to a name.
#[derive(Clone, Debug)]
pub struct Canon {
    low: u64,
    high: u64,
    terms: HashMap<Term, u32>,
    vars: HashMap<Var, u32>,
    order: Vec<Var>,
    stack: Vec<Term>,
}

impl Default for Canon {
    fn default() -> Self {
        let (terms, vars) = (HashMap::new(), HashMap::new());
        let (order, stack) = (Vec::new(), Vec::new());
        Canon { low: 0x243f_6a88_85a3_08d3, high: 0x1319_8a2e_0370_7344, terms, vars, order, stack }
    }
}

impl Canon {
    /// One more condition.
    pub fn add(&mut self, pool: &Pool, root: Term) {
        self.stack.push(root);
        while let Some(&term) = self.stack.last() {
            if self.terms.contains_key(&term) {
                self.stack.pop();
                continue;
            }
            let node = pool.node(term);
            let before = self.stack.len();
            let missing = node.operands().filter(|o| !self.terms.contains_key(o));
            self.stack.extend(missing);
            if self.stack.len() > before {
                continue;
            }
            self.word((node.code as u64) << 8 | u64::from(node.width));
            for operand in node.operands() {
                self.word(self.terms[&operand].into());
            }
            match node.code {
                Code::Const => {
                    let value = pool.constant(term).unwrap_or(0);
                    self.word(value as u64);
                    self.word((value >> 64) as u64);
                }
                Code::Read | Code::Len => {
                    let vars: Vec<Var> = pool.vars(term).collect();
                    for var in vars {
                        let number = self.var(var);
                        self.word(number.into());
                    }
                }
                Code::Extract => self.word(node.b.into()),
                Code::Lookup => self.word(pool.table(&node).hash()),
                Code::Member => self.word(pool.set(&node).hash()),
                _ => {}
            }
            self.terms.insert(term, self.terms.len() as u32);
            self.stack.pop();
        }
        self.word(!u64::from(self.terms[&root]));
    }

    /// One more number that the name shall depend on.
    pub fn word(&mut self, word: u64) {
        self.low = mix(self.low, word);
        self.high = mix(self.high.rotate_left(17), word ^ self.low);
    }

    /// The inputs in the order in which they were met.
    pub fn vars(&self) -> &[Var] {
        &self.order
    }

    pub fn name(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    fn var(&mut self, var: Var) -> u32 {
        let next = self.order.len() as u32;
        let number = *self.vars.entry(var).or_insert(next);
        if number == next {
            self.order.push(var);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(build: impl Fn(&mut Pool, u32) -> Term, at: u32) -> (u128, Vec<Var>) {
        let mut pool = Pool::default();
        let term = build(&mut pool, at);
        let mut canon = Canon::default();
        canon.add(&pool, term);
        (canon.name(), canon.vars().to_vec())
    }

    #[test]
    fn places_do_not_matter_and_everything_else_does() {
        let less = |first: u32, second: u32| {
            move |pool: &mut Pool, at: u32| {
                let (x, y) = (pool.read(at + first, 1), pool.read(at + second, 1));
                pool.pair(Code::Ult, x, y)
            }
        };
        let (here, vars) = name(less(0, 7), 0);
        // Which comes first does not matter, but it is the same side for both.
        assert_eq!(vars, [Var::byte(7), Var::byte(0)]);
        assert_eq!(name(less(3, 1), 40), (here, vec![Var::byte(41), Var::byte(43)]));
        let same = |pool: &mut Pool, at: u32| {
            let x = pool.read(at, 1);
            let y = pool.number(7, 8);
            let sum = pool.pair(Code::Mul, x, y);
            pool.pair(Code::Ult, x, sum)
        };
        assert_ne!(name(same, 0).0, here);
        let twice = |pool: &mut Pool, at: u32| {
            let (x, y) = (pool.read(at, 1), pool.read(at + 1, 1));
            pool.pair(Code::Ule, x, y)
        };
        assert_ne!(name(twice, 0).0, here);
    }
}
