//! Finds solutions for one combination of sizes after the other: by narrowing and a walk
//! through the circuits, or by the SAT solver.

use super::budget::Budget;
use super::chart::{self, Cell};
use super::circuit::{Circuit, Gate, GateId};
use super::clauses::{Instance, SolutionBox};
use super::layout::{self, Layout};
use super::narrow::Narrowing;
use super::normal::NormalForm;
use super::problem::{Claim, Problem};
use super::show::most_readable;
use super::{HampiError, Solution};
use pleach_automata::ByteSet;

/// The solutions of a problem, each once.
pub struct Solutions<'a> {
    problem: &'a Problem,
    normal: NormalForm,
    budget: Budget,
    sizes: Option<std::vec::IntoIter<Vec<usize>>>,
    /// One solution is enough.
    only_one: bool,
    current: Option<Current>,
}

/// The solutions for the current sizes.
struct Current {
    layout: Layout,
    instance: Option<Box<Instance>>,
    current_box: Option<SolutionBox>,
}

/// All assertions, for one combination of sizes.
struct Formula {
    circuit: Circuit,
    /// Gates, and the values that they must have.
    roots: Vec<(GateId, bool)>,
}

impl<'a> Solutions<'a> {
    pub(super) fn first(problem: &'a Problem) -> Solutions<'a> {
        let (normal, budget) = (NormalForm::new(&problem.parts), Budget::new());
        Solutions { problem, normal, budget, sizes: None, only_one: true, current: None }
    }

    pub(super) fn all(problem: &'a Problem) -> Solutions<'a> {
        Solutions { only_one: false, ..Solutions::first(problem) }
    }

    fn find(&mut self) -> Result<Option<Solution>, HampiError> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(solution) = current.next()? {
                    let is_right = self.problem.holds_within(&solution, &mut self.budget)?;
                    return if is_right {
                        Ok(Some(solution))
                    } else {
                        Err(HampiError::WrongSolution)
                    };
                }
                self.current = None;
            }
            let sizes = match &mut self.sizes {
                Some(sizes) => sizes,
                None => self.sizes.insert(layout::sizes(self.problem).into_iter()),
            };
            let Some(sizes) = sizes.next() else { return Ok(None) };
            self.current = self.try_sizes(&sizes)?;
        }
    }

    fn try_sizes(&mut self, sizes: &[usize]) -> Result<Option<Current>, HampiError> {
        let Some(layout) = Layout::new(self.problem, sizes)? else { return Ok(None) };
        let mut formula = self.formula(&layout)?;
        if !formula.narrow(&mut self.budget)? {
            return Ok(None);
        }
        if self.only_one && self.is_independent(&layout, &formula) {
            let found = SolutionBox::one(&formula.walk());
            return Ok(Some(Current { layout, instance: None, current_box: Some(found) }));
        }
        let instance = Instance::new(formula.circuit, &formula.roots, !self.only_one)?;
        Ok(Some(Current { layout, instance: Some(Box::new(instance)), current_box: None }))
    }

    /// Turns the assertions into circuits.
    fn formula(&mut self, layout: &Layout) -> Result<Formula, HampiError> {
        let parts = &self.problem.parts;
        let mut circuit = Circuit::new(layout.domains.clone());
        let mut roots = Vec::new();
        for assertion in &self.problem.assertions {
            let left = &layout.values[assertion.left];
            let root = match &assertion.claim {
                Claim::In { language, .. } => {
                    self.normal.find_lengths(parts, left.len(), &mut self.budget)?;
                    let budget = &mut self.budget;
                    let gate =
                        chart::member(parts, &self.normal, *language, left, &mut circuit, budget)?;
                    (gate, !assertion.is_denied)
                }
                Claim::Contains(text) => {
                    let gate = chart::contains(left, text, &mut circuit, &mut self.budget)?;
                    (gate, !assertion.is_denied)
                }
                Claim::Equals(right) if assertion.is_denied => {
                    (differ(left, &layout.values[*right], &mut circuit)?, true)
                }
                // The layout has made the cells the same.
                Claim::Equals(_) => continue,
            };
            // If one cannot hold, the others do not matter.
            if root == (Circuit::FALSE, true) || root == (Circuit::TRUE, false) {
                return Ok(Formula { circuit, roots: vec![root] });
            }
            roots.push(root);
        }
        Ok(Formula { circuit, roots })
    }

    /// True if no cell is in two places of the remaining assertions, and none of them is
    /// denied. Then the circuits can be walked.
    fn is_independent(&self, layout: &Layout, formula: &Formula) -> bool {
        let mut used = vec![false; layout.domains.len()];
        let mut roots = formula.roots.iter();
        for assertion in &self.problem.assertions {
            if matches!(assertion.claim, Claim::Equals(_)) && !assertion.is_denied {
                continue;
            }
            let Some(&(root, wanted)) = roots.next() else { return false };
            if root == GateId::from(wanted) {
                continue;
            }
            if !wanted {
                return false;
            }
            let right = match assertion.claim {
                Claim::Equals(right) => &layout.values[right][..],
                _ => &[],
            };
            for cell in layout.values[assertion.left].iter().chain(right) {
                if let Cell::Open(cell) = cell
                    && std::mem::replace(&mut used[*cell as usize], true)
                {
                    return false;
                }
            }
        }
        true
    }
}

impl Iterator for Solutions<'_> {
    type Item = Result<Solution, HampiError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.find().transpose();
        if self.only_one || matches!(found, Some(Err(_))) {
            // An error ends the iteration.
            self.sizes = Some(Vec::new().into_iter());
            self.current = None;
        }
        found
    }
}

impl Current {
    fn next(&mut self) -> Result<Option<Solution>, HampiError> {
        loop {
            if let Some(current) = &mut self.current_box {
                if let Some(bytes) = current.next() {
                    return Ok(Some(self.solution(&bytes)));
                }
                self.current_box = None;
            }
            let Some(instance) = &mut self.instance else { return Ok(None) };
            self.current_box = instance.next()?;
            if self.current_box.is_none() {
                return Ok(None);
            }
        }
    }

    fn solution(&self, bytes: &[u8]) -> Solution {
        let byte = |cell: &Cell| match cell {
            Cell::Byte(byte) => *byte,
            Cell::Open(cell) => bytes[*cell as usize],
        };
        self.layout.variables.iter().map(|cells| cells.iter().map(byte).collect()).collect()
    }
}

/// Builds the gate of two rows of cells being different.
fn differ(left: &[Cell], right: &[Cell], circuit: &mut Circuit) -> Result<GateId, HampiError> {
    if left.len() != right.len() {
        return Ok(Circuit::TRUE);
    }
    let mut places = Vec::new();
    for cells in left.iter().zip(right) {
        places.push(match cells {
            (Cell::Byte(a), Cell::Byte(b)) => GateId::from(a != b),
            (Cell::Open(cell), Cell::Byte(byte)) | (Cell::Byte(byte), Cell::Open(cell)) => {
                circuit.within(*cell, &ByteSet::of(*byte).complement())
            }
            (Cell::Open(a), Cell::Open(b)) => circuit.differ(*a, *b),
        });
    }
    circuit.or(&places)
}

impl Formula {
    /// Restricts the bytes of each cell by every assertion alone, until nothing changes. False
    /// if a cell has no byte left.
    fn narrow(&mut self, budget: &mut Budget) -> Result<bool, HampiError> {
        loop {
            if self.roots.iter().any(|&(root, wanted)| root == GateId::from(!wanted)) {
                return Ok(false);
            }
            let mut domains = self.circuit.domains.clone();
            Narrowing::new(&self.circuit, budget)?.narrow_all(&self.roots, &mut domains, budget)?;
            if domains == self.circuit.domains {
                return Ok(true);
            }
            if domains.iter().any(ByteSet::is_empty) {
                return Ok(false);
            }
            let gates: Vec<GateId> = self.roots.iter().map(|r| r.0).collect();
            let (circuit, gates) = self.circuit.restricted(domains, &gates)?;
            self.circuit = circuit;
            self.roots.iter_mut().zip(gates).for_each(|(root, gate)| root.0 = gate);
        }
    }

    /// The bytes of each cell on one way through the circuits: the first input of every *or*,
    /// all inputs of every *and*. The circuits share no cell.
    fn walk(&self) -> Vec<ByteSet> {
        let mut domains = self.circuit.domains.clone();
        let mut stack: Vec<GateId> = self.roots.iter().map(|r| r.0).collect();
        while let Some(gate) = stack.pop() {
            match self.circuit.gates[gate as usize] {
                Gate::Constant(_) => {}
                Gate::In(cell, set) => {
                    let domain = &mut domains[cell as usize];
                    *domain = domain.intersection(&set);
                }
                Gate::Differ(a, b) => {
                    let byte = most_readable(&domains[a as usize]);
                    domains[a as usize] = ByteSet::of(byte);
                    domains[b as usize].remove(byte);
                }
                Gate::And(from, to) => stack.extend(self.circuit.inputs(from, to)),
                Gate::Or(from, _) => stack.extend(self.circuit.inputs(from, from + 1)),
            }
        }
        domains
    }
}
