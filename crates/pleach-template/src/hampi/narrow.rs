//! What one assertion alone says about each byte.
//!
//! A *way* through a circuit takes one input of every *or* and all inputs of every *and*. A
//! root that must be true is true by one of its ways. If every way mentions a cell, the cell
//! is in one of the sets that they mention. If some way does not, the cell may have any byte.
//! For a chart this is exact: the bytes that remain are those of some derivation.

use super::HampiError;
use super::budget::Budget;
use super::circuit::{Circuit, Gate, GateId};
use pleach_automata::ByteSet;

/// How many words the table of mentions may have. A circuit with a larger one is not
/// narrowed.
const MAX_WORDS: usize = 1 << 23;

pub(super) struct Narrowing<'a> {
    circuit: &'a Circuit,
    /// How many words a set of cells has.
    words: usize,
    /// For each gate, the cells that all its ways mention. Empty if it would be too large.
    mentions: Vec<u64>,
    /// For each gate, the last root that it was visited for.
    visited_for: Vec<u32>,
}

impl<'a> Narrowing<'a> {
    pub fn new(circuit: &'a Circuit, budget: &mut Budget) -> Result<Narrowing<'a>, HampiError> {
        let words = circuit.domains.len().div_ceil(64);
        let mut mentions = Vec::new();
        if words * circuit.gates.len() <= MAX_WORDS {
            budget.spend(words * circuit.gates.len())?;
            mentions = find_mentions(circuit, words);
        }
        Ok(Narrowing { circuit, words, mentions, visited_for: vec![0; circuit.gates.len()] })
    }

    /// Restricts the domains by each root alone.
    pub fn narrow_all(
        &mut self,
        roots: &[(GateId, bool)],
        domains: &mut [ByteSet],
        budget: &mut Budget,
    ) -> Result<(), HampiError> {
        let mut found: Vec<ByteSet> = vec![ByteSet::EMPTY; domains.len()];
        for (number, &(root, wanted)) in roots.iter().enumerate() {
            if !wanted {
                self.narrow_false(root, domains);
            } else if !self.mentions.is_empty() {
                let cells = self.collect_sets(root, number as u32 + 1, &mut found, budget)?;
                for cell in cells {
                    let set = std::mem::take(&mut found[cell]);
                    let mentions = self.mentions[root as usize * self.words + cell / 64];
                    if mentions >> (cell % 64) & 1 != 0 {
                        domains[cell] = domains[cell].intersection(&set);
                    }
                }
            }
        }
        Ok(())
    }

    /// Collects the sets that are mentioned under a root. Returns their cells.
    fn collect_sets(
        &mut self,
        root: GateId,
        number: u32,
        found: &mut [ByteSet],
        budget: &mut Budget,
    ) -> Result<Vec<usize>, HampiError> {
        let mut cells = Vec::new();
        let mut stack = vec![root];
        while let Some(gate) = stack.pop() {
            if std::mem::replace(&mut self.visited_for[gate as usize], number) == number {
                continue;
            }
            budget.spend(1)?;
            match self.circuit.gates[gate as usize] {
                Gate::In(cell, set) => {
                    let all = &mut found[cell as usize];
                    if all.is_empty() {
                        cells.push(cell as usize);
                    }
                    *all = all.union(&set);
                }
                Gate::And(from, to) | Gate::Or(from, to) => {
                    stack.extend(self.circuit.inputs(from, to));
                }
                Gate::Constant(_) | Gate::Differ(..) => {}
            }
        }
        Ok(cells)
    }

    /// Restricts the domains by a root that must be false: an *or* then has no true input.
    fn narrow_false(&self, root: GateId, domains: &mut [ByteSet]) {
        let direct = match self.circuit.gates[root as usize] {
            Gate::Or(from, to) => self.circuit.inputs(from, to),
            _ => &[root],
        };
        for &gate in direct {
            if let Gate::In(cell, set) = self.circuit.gates[gate as usize] {
                domains[cell as usize] = domains[cell as usize].difference(&set);
            }
        }
    }
}

/// For each gate, the cells that all its ways mention.
fn find_mentions(circuit: &Circuit, words: usize) -> Vec<u64> {
    let mut mentions = vec![0u64; words * circuit.gates.len()];
    for (id, gate) in circuit.gates.iter().enumerate() {
        let (before, here) = mentions.split_at_mut(id * words);
        let here = &mut here[..words];
        let of = |gate: GateId| &before[gate as usize * words..][..words];
        match *gate {
            Gate::In(cell, _) => here[cell as usize / 64] |= 1 << (cell % 64),
            Gate::And(from, to) => {
                for &input in circuit.inputs(from, to) {
                    here.iter_mut().zip(of(input)).for_each(|(h, o)| *h |= o);
                }
            }
            Gate::Or(from, to) => {
                here.fill(u64::MAX);
                for &input in circuit.inputs(from, to) {
                    here.iter_mut().zip(of(input)).for_each(|(h, o)| *h &= o);
                }
            }
            Gate::Constant(_) | Gate::Differ(..) => {}
        }
    }
    mentions
}
