//! From sizes to solutions: narrowing, the walk, and the SAT solver behind them.

use super::chart::{self, Cell};
use super::circuit::{Circuit, Gate, GateId};
use super::clauses::{Boxed, Instance};
use super::layout::{self, Layout};
use super::narrow::Narrowing;
use super::normal::Normal;
use super::problem::{Claim, Problem};
use super::show::best;
use super::work::Work;
use super::{HampiError, Solution};
use pleach_automata::ByteSet;

/// The solutions of a problem, each once.
pub struct Solutions<'a> {
    problem: &'a Problem,
    normal: Normal,
    work: Work,
    sizes: Option<std::vec::IntoIter<Vec<usize>>>,
    /// One solution will do.
    one: bool,
    current: Option<Current>,
}

/// What is left of the sizes that were tried last.
struct Current {
    layout: Layout,
    instance: Option<Box<Instance>>,
    boxed: Option<Boxed>,
}

/// Assertions of one choice of sizes.
struct Formula {
    circuit: Circuit,
    /// Gates, and whether they must be true or false.
    roots: Vec<(GateId, bool)>,
}

impl<'a> Solutions<'a> {
    pub(super) fn first(problem: &'a Problem) -> Solutions<'a> {
        let (normal, work) = (Normal::new(&problem.parts), Work::new());
        Solutions { problem, normal, work, sizes: None, one: true, current: None }
    }

    pub(super) fn all(problem: &'a Problem) -> Solutions<'a> {
        Solutions { one: false, ..Solutions::first(problem) }
    }

    fn find(&mut self) -> Result<Option<Solution>, HampiError> {
        loop {
            if let Some(current) = &mut self.current {
                if let Some(solution) = current.next()? {
                    let right = self.problem.holds_within(&solution, &mut self.work)?;
                    return if right { Ok(Some(solution)) } else { Err(HampiError::Wrong) };
                }
                self.current = None;
            }
            let sizes = match &mut self.sizes {
                Some(sizes) => sizes,
                None => self.sizes.insert(layout::sizes(self.problem).into_iter()),
            };
            let Some(sizes) = sizes.next() else { return Ok(None) };
            self.current = self.attempt(&sizes)?;
        }
    }

    fn attempt(&mut self, sizes: &[usize]) -> Result<Option<Current>, HampiError> {
        let Some(layout) = Layout::new(self.problem, sizes)? else { return Ok(None) };
        let mut formula = self.formula(&layout)?;
        if !formula.narrow(&mut self.work)? {
            return Ok(None);
        }
        if self.one && self.independent(&layout, &formula) {
            let boxed = Boxed::one(formula.walk());
            return Ok(Some(Current { layout, instance: None, boxed: Some(boxed) }));
        }
        let instance = Instance::new(formula.circuit, &formula.roots, !self.one)?;
        Ok(Some(Current { layout, instance: Some(Box::new(instance)), boxed: None }))
    }

    fn formula(&mut self, layout: &Layout) -> Result<Formula, HampiError> {
        let parts = &self.problem.parts;
        let mut circuit = Circuit::new(layout.domains.clone());
        let mut roots = Vec::new();
        for assertion in &self.problem.assertions {
            let left = &layout.values[assertion.left];
            let root = match &assertion.claim {
                Claim::In { language, .. } => {
                    self.normal.grow(parts, left.len(), &mut self.work)?;
                    let work = &mut self.work;
                    let gate =
                        chart::member(parts, &self.normal, *language, left, &mut circuit, work)?;
                    (gate, !assertion.not)
                }
                Claim::Contains(text) => {
                    let gate = chart::contains(left, text, &mut circuit, &mut self.work)?;
                    (gate, !assertion.not)
                }
                Claim::Equals(right) if assertion.not => {
                    (differ(left, &layout.values[*right], &mut circuit)?, true)
                }
                // The layout has seen to it.
                Claim::Equals(_) => continue,
            };
            // One that cannot hold saves the others.
            if root == (Circuit::FALSE, true) || root == (Circuit::TRUE, false) {
                return Ok(Formula { circuit, roots: vec![root] });
            }
            roots.push(root);
        }
        Ok(Formula { circuit, roots })
    }

    /// Whether no cell is in two places of what is left of the assertions, and
    /// nothing is denied. Then the circuits can be walked.
    fn independent(&self, layout: &Layout, formula: &Formula) -> bool {
        let mut used = vec![false; layout.domains.len()];
        let mut open = formula.roots.iter();
        for assertion in &self.problem.assertions {
            if matches!(assertion.claim, Claim::Equals(_)) && !assertion.not {
                continue;
            }
            let Some(&(root, wanted)) = open.next() else { return false };
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
        if self.one || matches!(found, Some(Err(_))) {
            // Nothing comes after an error.
            self.sizes = Some(Vec::new().into_iter());
            self.current = None;
        }
        found
    }
}

impl Current {
    fn next(&mut self) -> Result<Option<Solution>, HampiError> {
        loop {
            if let Some(boxed) = &mut self.boxed {
                if let Some(bytes) = boxed.next() {
                    return Ok(Some(self.solution(&bytes)));
                }
                self.boxed = None;
            }
            let Some(instance) = &mut self.instance else { return Ok(None) };
            self.boxed = instance.next()?;
            if self.boxed.is_none() {
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

/// The gate of two rows not being the same.
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
    /// Leaves each cell only what every assertion by itself can do with; false if
    /// there is nothing left for one.
    fn narrow(&mut self, work: &mut Work) -> Result<bool, HampiError> {
        loop {
            if self.roots.iter().any(|&(root, wanted)| root == GateId::from(!wanted)) {
                return Ok(false);
            }
            let mut domains = self.circuit.domains.clone();
            Narrowing::new(&self.circuit, work)?.all(&self.roots, &mut domains, work)?;
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

    /// What each cell may be on one way through circuits that share no cell: of
    /// every *or* the first input, of every *and* all.
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
                    let of_a = best(&domains[a as usize]);
                    domains[a as usize] = ByteSet::of(of_a);
                    domains[b as usize].remove(of_a);
                }
                Gate::And(from, to) => stack.extend(self.circuit.inputs(from, to)),
                Gate::Or(from, _) => stack.extend(self.circuit.inputs(from, from + 1)),
            }
        }
        domains
    }
}
