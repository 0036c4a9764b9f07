//! Replaces terms that earlier conditions pin to a value by that value.
//!
//! A program that has taken case 3 of `switch (rule)` computes with `rule`, but on this
//! path it computes with 3. What it computes then often reads far fewer bytes.

use super::Path;
use crate::domains::Memo;
use pleach_expr::{Code, Term};

/// Terms between a pinned term and one that depends on it alone.
const MAX_CHAIN: u32 = 6;

/// Terms with pinned terms replaced. Terms must be asked for in the order of the path: the
/// result of a term is that of the first step that asks for it.
#[derive(Default)]
pub(crate) struct PinnedTerms {
    /// By term: the number of its result + 1.
    results: Vec<u32>,
    /// By offset: the first step after which the byte has one possible value.
    byte_pins: Vec<u32>,
    stack: Vec<Term>,
    pub work: u64,
}

impl PinnedTerms {
    pub fn new(path: &mut Path, memo: &mut Memo) -> PinnedTerms {
        let offsets = 0..path.input.len() as u32;
        let byte_pins = offsets.map(|offset| path.pin_of_byte(memo, offset)).collect();
        let results = vec![0; path.pool.len()];
        PinnedTerms { results, byte_pins, stack: Vec::new(), work: 0 }
    }

    /// A term that has the same value as `root` on every input that meets the conditions
    /// before `step`.
    pub fn replace(&mut self, path: &mut Path, root: Term, step: u32) -> Term {
        self.stack.clear();
        self.stack.push(root);
        while let Some(&term) = self.stack.last() {
            if self.known(path, term, step).is_some() {
                self.stack.pop();
                continue;
            }
            self.work += 1;
            let node = path.pool.node(term);
            let before = self.stack.len();
            for operand in node.operands() {
                if self.known(path, operand, step).is_none() {
                    self.stack.push(operand);
                }
            }
            if self.stack.len() > before {
                continue;
            }
            let operands: Vec<Term> =
                node.operands().map(|o| self.known(path, o, step).unwrap_or(o)).collect();
            let result = match operands.iter().copied().eq(node.operands()) {
                true => term,
                false => path.pool.with_operands(term, &operands),
            };
            self.results[term.index()] = result.index() as u32 + 1;
            self.stack.pop();
        }
        self.known(path, root, step).unwrap_or(root)
    }

    /// The result of a term, if it needs no work.
    fn known(&self, path: &mut Path, term: Term, step: u32) -> Option<Term> {
        let node = path.pool.node(term);
        if node.code == Code::Const || node.code == Code::Len {
            return Some(term);
        }
        if self.is_pinned(path, term, step) {
            // On the input of the path, the term has the value that it is pinned to.
            let value = path.values.low(term);
            return Some(path.pool.number(value.into(), node.width.into()));
        }
        if node.code == Code::Read {
            return Some(term);
        }
        // Terms that replacing has made are results themselves.
        match self.results.get(term.index()) {
            Some(0) => None,
            Some(&result) => Some(Term::from_index(result as usize - 1)),
            None => Some(term),
        }
    }

    /// True if a term is pinned, or depends on one pinned term alone. The latter may have
    /// been used before that term was pinned: an index is extended, then the program
    /// switches on it, and then it reads a table.
    fn is_pinned(&self, path: &Path, mut term: Term, step: u32) -> bool {
        for _ in 0..MAX_CHAIN {
            let node = path.pool.node(term);
            if node.width > 64 {
                return false;
            }
            if node.code == Code::Read {
                let from = node.a as usize;
                let pins = &self.byte_pins[from..from + node.width as usize / 8];
                return pins.iter().all(|&pin| pin < step);
            }
            if path.pinned(term, step as usize).is_some() {
                return true;
            }
            let mut varying = node.operands().filter(|&o| path.pool.constant(o).is_none());
            match (varying.next(), varying.next()) {
                (Some(operand), None) => term = operand,
                _ => return false,
            }
        }
        false
    }
}
