//! What one assertion by itself says of each byte.
//!
//! A *way* through a circuit takes one input of every *or* and all of every *and*.
//! A root that must be true is true by one of its ways. If all of them mention a
//! cell, the cell is in one of the sets that they mention; if one of them does not,
//! the cell may be anything. On a chart this is exact: what is left of a cell is
//! what some derivation puts there.

use super::HampiError;
use super::circuit::{Circuit, Gate, GateId};
use super::work::Work;
use pleach_automata::ByteSet;

/// Words of the table of mentions; a larger circuit goes to the SAT solver as it is.
const MOST_WORDS: usize = 1 << 23;

pub(super) struct Narrowing<'a> {
    circuit: &'a Circuit,
    /// Words of a gate's set of cells.
    words: usize,
    /// By gate: the cells that all its ways mention. Empty if it would be too large.
    mentions: Vec<u64>,
    /// By gate: the last root that it was seen under.
    seen: Vec<u32>,
}

impl<'a> Narrowing<'a> {
    pub fn new(circuit: &'a Circuit, work: &mut Work) -> Result<Narrowing<'a>, HampiError> {
        let words = circuit.domains.len().div_ceil(64);
        let mut mentions = Vec::new();
        if words * circuit.gates.len() <= MOST_WORDS {
            work.spend(words * circuit.gates.len())?;
            mentions = mentioned(circuit, words);
        }
        Ok(Narrowing { circuit, words, mentions, seen: vec![0; circuit.gates.len()] })
    }

    pub fn all(
        &mut self,
        roots: &[(GateId, bool)],
        domains: &mut [ByteSet],
        work: &mut Work,
    ) -> Result<(), HampiError> {
        let mut found: Vec<ByteSet> = vec![ByteSet::EMPTY; domains.len()];
        for (number, &(root, wanted)) in roots.iter().enumerate() {
            if !wanted {
                self.must_be_false(root, domains);
            } else if !self.mentions.is_empty() {
                let cells = self.below(root, number as u32 + 1, &mut found, work)?;
                for cell in cells {
                    let set = std::mem::take(&mut found[cell]);
                    if self.mentions[root as usize * self.words + cell / 64] >> (cell % 64) & 1 != 0
                    {
                        domains[cell] = domains[cell].intersection(&set);
                    }
                }
            }
        }
        Ok(())
    }

    /// Collects the sets that are mentioned under a root, and says of which cells.
    fn below(
        &mut self,
        root: GateId,
        number: u32,
        found: &mut [ByteSet],
        work: &mut Work,
    ) -> Result<Vec<usize>, HampiError> {
        let mut cells = Vec::new();
        let mut stack = vec![root];
        while let Some(gate) = stack.pop() {
            if std::mem::replace(&mut self.seen[gate as usize], number) == number {
                continue;
            }
            work.spend(1)?;
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

    /// An *or* that must be false has no true input.
    fn must_be_false(&self, root: GateId, domains: &mut [ByteSet]) {
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

fn mentioned(circuit: &Circuit, words: usize) -> Vec<u64> {
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
