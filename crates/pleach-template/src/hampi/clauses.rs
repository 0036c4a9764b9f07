//! Encodes circuits for the SAT solver.
//!
//! The solver chooses one class of bytes for each cell (see [`classes`]). So a model is a
//! *box*: each cell may have any byte of its class. To find all solutions, the strings of a
//! box are enumerated, and then the box is excluded.
//!
//! A gate is encoded only in the direction in which it is needed (Plaisted and Greenbaum). If
//! a root must be true, the clauses say what follows from a gate being true; if it must be
//! false, what follows from a gate being false.

use super::HampiError;
use super::circuit::{Circuit, Gate, GateId};
use super::classes::classes;
use super::show::{most_readable, rank};
use pleach_automata::ByteSet;
use pleach_solve::sat::{Budget, Literal, Outcome, Sat};

/// What one call of the SAT solver may cost: a few minutes at most.
const BUDGET: Budget = Budget { conflicts: 2_000_000, propagations: 400_000_000 };

/// The classes of a cell. If there are several, each has a literal.
type Classes = Vec<(ByteSet, Option<Literal>)>;

pub(super) struct Instance {
    sat: Sat,
    cells: Vec<Classes>,
    /// All solutions are wanted.
    all: bool,
    done: bool,
}

impl Instance {
    pub fn new(
        circuit: Circuit,
        roots: &[(GateId, bool)],
        all: bool,
    ) -> Result<Instance, HampiError> {
        let reached = circuit.reached(roots.iter().map(|r| r.0));
        let classes = classes(&circuit, &reached, all);
        let mut sat = Sat::default();
        let cells: Vec<Classes> =
            classes.into_iter().map(|classes| encode_choice(&mut sat, classes)).collect();
        let mut encoder = Encoder { circuit: &circuit, cells: &cells, sat: &mut sat };
        encoder.encode(roots, &reached);
        Ok(Instance { sat, cells, all, done: false })
    }

    /// Finds the next box.
    pub fn next(&mut self) -> Result<Option<SolutionBox>, HampiError> {
        if self.done {
            return Ok(None);
        }
        match self.sat.solve(&[], BUDGET) {
            Outcome::Sat => {}
            Outcome::Unsat => return Ok(None),
            Outcome::Limit | Outcome::Broken => return Err(HampiError::TooHard),
        }
        let (mut sets, mut exclusion) = (Vec::new(), Vec::new());
        for classes in &self.cells {
            let chosen = classes.iter().find(|(_, lit)| lit.is_none_or(|l| self.sat.value(l)));
            let (set, literal) = chosen.copied().unwrap_or_default();
            sets.push(set);
            exclusion.extend(literal.map(|l| !l));
        }
        self.done = !self.all || exclusion.is_empty();
        if !self.done {
            self.sat.add(&exclusion);
        }
        Ok(Some(if self.all { SolutionBox::all(&sets) } else { SolutionBox::one(&sets) }))
    }
}

/// Solutions: each cell may have any of its bytes.
pub(super) struct SolutionBox {
    choices: Vec<Vec<u8>>,
    /// The choice of each cell in the next solution. `None` after the last one.
    next: Option<Vec<usize>>,
}

impl SolutionBox {
    fn all(sets: &[ByteSet]) -> SolutionBox {
        let mut choices: Vec<Vec<u8>> = sets.iter().map(|set| set.iter().collect()).collect();
        choices.iter_mut().for_each(|choice| choice.sort_by_key(|&b| rank(b)));
        SolutionBox { next: Some(vec![0; choices.len()]), choices }
    }

    /// Only the most readable solution.
    pub fn one(sets: &[ByteSet]) -> SolutionBox {
        let choices: Vec<Vec<u8>> = sets.iter().map(|set| vec![most_readable(set)]).collect();
        SolutionBox { next: Some(vec![0; choices.len()]), choices }
    }

    pub fn next(&mut self) -> Option<Vec<u8>> {
        let next = self.next.as_mut()?;
        let bytes = next.iter().zip(&self.choices).map(|(&i, c)| c[i]).collect();
        for cell in (0..next.len()).rev() {
            next[cell] += 1;
            if next[cell] < self.choices[cell].len() {
                return Some(bytes);
            }
            next[cell] = 0;
        }
        self.next = None;
        Some(bytes)
    }
}

/// Gives the classes literals of which exactly one is true. The number of the true class is
/// encoded in bits. Two literals that are both true would contradict each other there, so no
/// pair of literals needs a clause.
fn encode_choice(sat: &mut Sat, classes: Vec<ByteSet>) -> Classes {
    if classes.len() < 2 {
        return classes.into_iter().map(|class| (class, None)).collect();
    }
    if let [a, b] = classes[..] {
        let literal = sat.variable(None);
        return vec![(a, Some(literal)), (b, Some(!literal))];
    }
    let width = usize::BITS - (classes.len() - 1).leading_zeros();
    let bits: Vec<Literal> = (0..width).map(|_| sat.variable(None)).collect();
    let mut literals = Vec::new();
    for number in 0..classes.len() {
        let literal = sat.variable(None);
        let mut back = vec![literal];
        for (i, &bit) in bits.iter().enumerate() {
            let bit = if number >> i & 1 != 0 { bit } else { !bit };
            sat.add(&[!literal, bit]);
            back.push(!bit);
        }
        sat.add(&back);
        literals.push(literal);
    }
    sat.add(&literals);
    classes.into_iter().zip(literals.into_iter().map(Some)).collect()
}

struct Encoder<'a> {
    circuit: &'a Circuit,
    cells: &'a [Classes],
    sat: &'a mut Sat,
}

impl Encoder<'_> {
    fn encode(&mut self, roots: &[(GateId, bool)], reached: &[bool]) {
        let circuit = self.circuit;
        let count = circuit.gates.len();
        // For each gate, the directions in which it is needed.
        let (mut if_true, mut if_false) = (vec![false; count], vec![false; count]);
        for &(root, wanted) in roots {
            let direction = if wanted { &mut if_true } else { &mut if_false };
            direction[root as usize] = true;
        }
        for id in (0..count).rev() {
            if let Gate::And(from, to) | Gate::Or(from, to) = circuit.gates[id] {
                for &input in circuit.inputs(from, to) {
                    if_true[input as usize] |= if_true[id];
                    if_false[input as usize] |= if_false[id];
                }
            }
        }
        let yes = self.sat.variable(Some(true));
        self.sat.add(&[yes]);
        let mut literals = vec![yes; count];
        literals[Circuit::FALSE as usize] = !yes;
        for id in (0..count).filter(|&id| reached[id]) {
            literals[id] = match circuit.gates[id] {
                Gate::Constant(true) => yes,
                Gate::Constant(false) => !yes,
                Gate::In(cell, set) => self.within(cell as usize, &set),
                Gate::Differ(a, b) => self.differ(a as usize, b as usize),
                Gate::And(from, to) => {
                    let gate = self.sat.variable(None);
                    let inputs = circuit.inputs(from, to).iter().map(|&g| literals[g as usize]);
                    self.add_and(gate, inputs, if_true[id], if_false[id]);
                    gate
                }
                // The negation of an *or* is the *and* of its negated inputs.
                Gate::Or(from, to) => {
                    let gate = self.sat.variable(None);
                    let inputs = circuit.inputs(from, to).iter().map(|&g| !literals[g as usize]);
                    self.add_and(!gate, inputs, if_false[id], if_true[id]);
                    gate
                }
            };
        }
        for &(root, wanted) in roots {
            let literal = literals[root as usize];
            self.sat.add(&[if wanted { literal } else { !literal }]);
        }
    }

    /// Adds the clauses of an *and*: what follows if it is true, and if it is false.
    fn add_and(
        &mut self,
        and: Literal,
        inputs: impl Iterator<Item = Literal>,
        if_true: bool,
        if_false: bool,
    ) {
        let mut clause = vec![and];
        for input in inputs {
            if if_true {
                self.sat.add(&[!and, input]);
            }
            clause.push(!input);
        }
        if if_false {
            self.sat.add(&clause);
        }
    }

    /// The literal of a cell having a byte of a set.
    fn within(&mut self, cell: usize, set: &ByteSet) -> Literal {
        let inside = |(class, _): &&(ByteSet, _)| !class.intersection(set).is_empty();
        let literals = self.cells[cell].iter().filter(inside).filter_map(|(_, literal)| *literal);
        let mut literals: Vec<Literal> = literals.collect();
        if let [only] = literals[..] {
            return only;
        }
        let literal = self.sat.variable(None);
        for &class in &literals {
            self.sat.add(&[!class, literal]);
        }
        literals.push(!literal);
        self.sat.add(&literals);
        literal
    }

    /// The literal of two cells having different bytes. It is only needed to be true.
    fn differ(&mut self, a: usize, b: usize) -> Literal {
        let literal = self.sat.variable(None);
        for (class, of_a) in &self.cells[a] {
            for (_, of_b) in self.cells[b].iter().filter(|(other, _)| other == class) {
                let mut clause = vec![!literal];
                clause.extend(of_a.map(|l| !l));
                clause.extend(of_b.map(|l| !l));
                self.sat.add(&clause);
            }
        }
        literal
    }
}
