//! What a chart says, as a circuit: gates over "this byte is in that set".
//!
//! There is no negation inside: whether a span derives is an *or* of *ands* of
//! smaller spans, down to single bytes. A gate comes after those it is made of, so
//! one pass from first to last evaluates, folds or encodes everything.

use super::HampiError;
use pleach_automata::ByteSet;
use rustc_hash::FxHashMap;

/// Inputs of all gates of a circuit together.
const MOST_INPUTS: usize = 1 << 26;

pub(super) type CellId = u32;
pub(super) type GateId = u32;

#[derive(Clone, Copy, Debug)]
pub(super) enum Gate {
    Constant(bool),
    /// A byte is in a set.
    In(CellId, ByteSet),
    /// Two bytes are not the same.
    Differ(CellId, CellId),
    /// Inputs from here to there.
    And(u32, u32),
    Or(u32, u32),
}

pub(super) struct Circuit {
    pub gates: Vec<Gate>,
    inputs: Vec<GateId>,
    /// What each byte may be at all.
    pub domains: Vec<ByteSet>,
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

    /// `neutral` inputs are left out, and one that `decides` is the result.
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
        if self.inputs.len() > MOST_INPUTS {
            return Err(HampiError::Work);
        }
        let to = self.inputs.len() as u32;
        Ok(self.push(gate(from as u32, to)))
    }

    /// Gates that the roots are made of.
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

    /// The same circuit over other domains, folded, with what the roots became.
    pub fn restricted(
        &self,
        domains: Vec<ByteSet>,
        roots: &[GateId],
    ) -> Result<(Circuit, Vec<GateId>), HampiError> {
        let reached = self.reached(roots.iter().copied());
        let mut new = Circuit::new(domains);
        let mut became = vec![Circuit::FALSE; self.gates.len()];
        let mut of = Vec::new();
        for (id, gate) in self.gates.iter().enumerate().filter(|(id, _)| reached[*id]) {
            became[id] = match *gate {
                Gate::Constant(value) => GateId::from(value),
                Gate::In(cell, set) => new.within(cell, &set),
                Gate::Differ(a, b) => new.differ(a, b),
                Gate::And(from, to) | Gate::Or(from, to) => {
                    of.clear();
                    of.extend(self.inputs(from, to).iter().map(|&g| became[g as usize]));
                    match gate {
                        Gate::And(..) => new.and(&of)?,
                        _ => new.or(&of)?,
                    }
                }
            };
        }
        let roots = roots.iter().map(|&root| became[root as usize]).collect();
        Ok((new, roots))
    }
}
