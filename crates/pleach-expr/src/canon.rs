//! A hash of a set of conditions, its *name*, that depends neither on the offsets that
//! they read nor on the trace that they come from.
//!
//! Terms and inputs are numbered in the order of a fixed walk. The operations with
//! these numbers are hashed. Two sets with the same name differ only in their offsets,
//! so a model of one is a model of the other. A name has 128 bits: among a million
//! names, the chance that two different sets share one is below 10^-26.

use crate::pool::{Code, Pool, Term, mix};
use crate::reads::Var;
use std::collections::HashMap;

/// Computes the name of a set of conditions.
#[derive(Clone, Debug)]
pub struct Canon {
    low: u64,
    high: u64,
    /// The numbers of terms and of inputs.
    terms: HashMap<Term, u32>,
    vars: HashMap<Var, u32>,
    /// Inputs by number.
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
    pub fn add_condition(&mut self, pool: &Pool, root: Term) {
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
            self.add_word((node.code as u64) << 8 | u64::from(node.width));
            for operand in node.operands() {
                self.add_word(self.terms[&operand].into());
            }
            match node.code {
                Code::Const => {
                    let value = pool.constant(term).unwrap_or(0);
                    self.add_word(value as u64);
                    self.add_word((value >> 64) as u64);
                }
                Code::Read | Code::Len => {
                    let vars: Vec<Var> = pool.vars(term).collect();
                    for var in vars {
                        let number = self.number_input(var);
                        self.add_word(number.into());
                    }
                }
                Code::Extract => self.add_word(node.b.into()),
                Code::Lookup => self.add_word(pool.table(&node).hash()),
                Code::Member => self.add_word(pool.set(&node).hash()),
                _ => {}
            }
            self.terms.insert(term, self.terms.len() as u32);
            self.stack.pop();
        }
        self.add_word(!u64::from(self.terms[&root]));
    }

    /// Makes the name depend on one more number.
    pub fn add_word(&mut self, word: u64) {
        self.low = mix(self.low, word);
        self.high = mix(self.high.rotate_left(17), word ^ self.low);
    }

    /// The inputs of all conditions, by number.
    pub fn vars(&self) -> &[Var] {
        &self.order
    }

    pub fn name(&self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    fn number_input(&mut self, var: Var) -> u32 {
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
        canon.add_condition(&pool, term);
        (canon.name(), canon.vars().to_vec())
    }

    #[test]
    fn names_depend_on_everything_but_offsets() {
        let less = |first: u32, second: u32| {
            move |pool: &mut Pool, at: u32| {
                let (x, y) = (pool.read(at + first, 1), pool.read(at + second, 1));
                pool.pair(Code::Ult, x, y)
            }
        };
        let (here, vars) = name(less(0, 7), 0);
        // The second operand is numbered first.
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
