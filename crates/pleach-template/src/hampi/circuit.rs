//! A circuit of *and* and *or* gates over conditions "this byte is in that set".
//!
//! There is no negation inside: a span is derived if two smaller spans are, in one of several
//! ways, down to single bytes. A gate comes after its inputs, so one pass from the first gate
//! to the last evaluates, folds or encodes the circuit.

use super::HampiError;
use pleach_automata::ByteSet;
use rustc_hash::FxHashMap;

/// How many inputs all gates of a circuit may have together.
const MAX_INPUTS: usize = 1 << 26;

pub(super) type CellId = u32;
pub(super) type GateId = u32;

#[derive(Clone, Copy, Debug)]
pub(super) enum Gate {
    Constant(bool),
    /// A byte is in a set.
    In(CellId, ByteSet),
    /// Two bytes are not the same.
    Differ(CellId, CellId),
    /// The range of its inputs in the list of all inputs.
    And(u32, u32),
    Or(u32, u32),
}

pub(super) struct Circuit {
    pub gates: Vec<Gate>,
    inputs: Vec<GateId>,
    /// The bytes that each cell may have.
    pub domains: Vec<ByteSet>,
    /// The gates of conditions on one cell.
    sets: FxHashMap<(CellId, ByteSet), GateId>,
}

impl Circuit {
    pub const FALSE: GateId = 0;
    pub const TRUE: GateId = 1;

    pub fn new(domains: Vec<ByteSet>) -> Circuit {
        let gates = vec![Gate::Constant(false), Gate::Constant(true)];
        Circuit { gates, inputs: Vec::new(), domains, sets: FxHashMap::default() }
    }

    pub fn inputs(&self, from: u32, to: u32) -> &[GateId] {
        &self.inputs[from as usize..to as usize]
    }

    fn push(&mut self, gate: Gate) -> GateId {
        self.gates.push(gate);
        self.gates.len() as GateId - 1
    }

    /// The gate of a cell having a byte of a set.
    pub fn within(&mut self, cell: CellId, set: &ByteSet) -> GateId {
        let domain = &self.domains[cell as usize];
        let set = set.intersection(domain);
        if set.is_empty() {
            return Circuit::FALSE;
        }
        if set == *domain {
            return Circuit::TRUE;
        }
        if let Some(&gate) = self.sets.get(&(cell, set)) {
            return gate;
        }
        let gate = self.push(Gate::In(cell, set));
        self.sets.insert((cell, set), gate);
        gate
    }

    /// The gate of two cells having different bytes.
    pub fn differ(&mut self, a: CellId, b: CellId) -> GateId {
        let (of_a, of_b) = (self.domains[a as usize], self.domains[b as usize]);
        if a == b {
            Circuit::FALSE
        } else if of_a.intersection(&of_b).is_empty() {
            Circuit::TRUE
        } else if of_a.len() == 1 {
            self.within(b, &of_a.complement())
        } else if of_b.len() == 1 {
            self.within(a, &of_b.complement())
        } else {
            self.push(Gate::Differ(a.min(b), a.max(b)))
        }
    }

    pub fn and(&mut self, of: &[GateId]) -> Result<GateId, HampiError> {
        self.join(of, Circuit::TRUE, Circuit::FALSE, Gate::And)
    }

    pub fn or(&mut self, of: &[GateId]) -> Result<GateId, HampiError> {
        self.join(of, Circuit::FALSE, Circuit::TRUE, Gate::Or)
    }

    /// Inputs that are `neutral` are left out. If one is `decides`, it is the result.
    fn join(
        &mut self,
        of: &[GateId],
        neutral: GateId,
        decides: GateId,
        gate: fn(u32, u32) -> Gate,
    ) -> Result<GateId, HampiError> {
        if of.contains(&decides) {
            return Ok(decides);
        }
        let from = self.inputs.len();
        self.inputs.extend(of.iter().filter(|&&g| g != neutral));
        let added = &self.inputs[from..];
        if let [] | [_] = added {
            let only = added.first().copied();
            self.inputs.truncate(from);
            return Ok(only.unwrap_or(neutral));
        }
        if self.inputs.len() > MAX_INPUTS {
            return Err(HampiError::TooLarge);
        }
        let to = self.inputs.len() as u32;
        Ok(self.push(gate(from as u32, to)))
    }

    /// True for each gate that the roots depend on.
    pub fn reached(&self, roots: impl IntoIterator<Item = GateId>) -> Vec<bool> {
        let mut reached = vec![false; self.gates.len()];
        roots.into_iter().for_each(|root| reached[root as usize] = true);
        for id in (0..self.gates.len()).rev() {
            if let (true, Gate::And(from, to) | Gate::Or(from, to)) = (reached[id], self.gates[id])
            {
                self.inputs(from, to).iter().for_each(|&g| reached[g as usize] = true);
            }
        }
        reached
    }

    /// The same circuit over smaller domains, folded. Also returns the new roots.
    pub fn restricted(
        &self,
        domains: Vec<ByteSet>,
        roots: &[GateId],
    ) -> Result<(Circuit, Vec<GateId>), HampiError> {
        let reached = self.reached(roots.iter().copied());
        let mut new = Circuit::new(domains);
        let mut new_ids = vec![Circuit::FALSE; self.gates.len()];
        let mut of = Vec::new();
        for (id, gate) in self.gates.iter().enumerate().filter(|(id, _)| reached[*id]) {
            new_ids[id] = match *gate {
                Gate::Constant(value) => GateId::from(value),
                Gate::In(cell, set) => new.within(cell, &set),
                Gate::Differ(a, b) => new.differ(a, b),
                Gate::And(from, to) | Gate::Or(from, to) => {
                    of.clear();
                    of.extend(self.inputs(from, to).iter().map(|&g| new_ids[g as usize]));
                    match gate {
                        Gate::And(..) => new.and(&of)?,
                        _ => new.or(&of)?,
                    }
                }
            };
        }
        let roots = roots.iter().map(|&root| new_ids[root as usize]).collect();
        Ok((new, roots))
    }
}
