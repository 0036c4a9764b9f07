//! Circuits for the SAT solver.
//!
//! A cell has 256 values, but the assertions tell few of them apart. For each cell
//! the bytes that no set at it separates are one *class*, and the solver chooses a
//! class. So a model is a *box*: any byte of its class at each cell. To find all
//! solutions boxes are counted out and then forbidden.
//!
//! Where two cells must differ, bytes of one class are not alike any more. There the
//! classes are single bytes, the same for all cells that such a condition connects.
//! Of each class as many bytes are needed as there are such cells: more could not
//! all be used, and which ones they are does not matter, unless all solutions are
//! wanted.
//!
//! Gates are encoded in the direction in which they are wanted only (Plaisted and
//! Greenbaum): a root that must be true says what follows from a gate, one that must
//! be false says what a gate follows from.

use super::HampiError;
use super::circuit::{Circuit, Gate, GateId};
use pleach_automata::{ByteSet, partition};
use pleach_solve::Interrupt;
use pleach_solve::sat::{Literal, Outcome, Sat};
use std::time::Duration;

/// Conflicts that one question may cost, and what bounds them on the clock.
const CONFLICTS: u64 = 2_000_000;
const TIME: Duration = Duration::from_secs(120);

pub(super) struct Instance {
    sat: Sat,
    /// By cell: its classes, each with its literal where there is a choice.
    cells: Vec<Vec<(ByteSet, Option<Literal>)>>,
    all: bool,
    done: bool,
}

impl Instance {
    /// `all` if every solution is wanted.
    pub fn new(
        circuit: Circuit,
        roots: &[(GateId, bool)],
        all: bool,
    ) -> Result<Instance, HampiError> {
        let reached = circuit.reached(roots.iter().map(|r| r.0));
        let classes = classes(&circuit, &reached, all);
        let mut sat = Sat::new(TIME, Interrupt::default());
        let cells = classes.into_iter().map(|classes| choice(&mut sat, classes)).collect();
        let mut encoder = Encoder { circuit: &circuit, cells: &cells, sat: &mut sat };
        encoder.encode(roots, &reached);
        Ok(Instance { sat, cells, all, done: false })
    }

    /// The next box.
    pub fn next(&mut self) -> Result<Option<Boxed>, HampiError> {
        if self.done {
            return Ok(None);
        }
        match self.sat.solve(&[], CONFLICTS) {
            Outcome::Sat => {}
            Outcome::Unsat => return Ok(None),
            Outcome::Limit | Outcome::Broken => return Err(HampiError::Hard),
        }
        let (mut sets, mut block) = (Vec::new(), Vec::new());
        for classes in &self.cells {
            let chosen = classes.iter().find(|(_, lit)| lit.is_none_or(|l| self.sat.value(l)));
            let (set, literal) = chosen.copied().unwrap_or_default();
            sets.push(set);
            block.extend(literal.map(|l| !l));
        }
        self.done = !self.all || block.is_empty();
        if !self.done {
            self.sat.add(&block);
        }
        Ok(Some(if self.all { Boxed::new(&sets) } else { Boxed::one(sets) }))
    }
}

/// Strings that differ only in what makes no difference.
pub(super) struct Boxed {
    choices: Vec<Vec<u8>>,
    /// By cell, which choice comes next; `None` when all have been.
    at: Option<Vec<usize>>,
}

impl Boxed {
    fn new(sets: &[ByteSet]) -> Boxed {
        let mut choices: Vec<Vec<u8>> = sets.iter().map(|set| set.iter().collect()).collect();
        choices.iter_mut().for_each(|choice| choice.sort_by_key(|&b| super::show::rank(b)));
        Boxed { at: Some(vec![0; choices.len()]), choices }
    }

    /// The best of them alone.
    pub fn one(sets: Vec<ByteSet>) -> Boxed {
        let choices: Vec<Vec<u8>> = sets.iter().map(|set| vec![super::show::best(set)]).collect();
        Boxed { at: Some(vec![0; choices.len()]), choices }
    }

    pub fn next(&mut self) -> Option<Vec<u8>> {
        let at = self.at.as_mut()?;
        let bytes = at.iter().zip(&self.choices).map(|(&i, c)| c[i]).collect();
        for cell in (0..at.len()).rev() {
            at[cell] += 1;
            if at[cell] < self.choices[cell].len() {
                return Some(bytes);
            }
            at[cell] = 0;
        }
        self.at = None;
        Some(bytes)
    }
}

/// By cell, the bytes of its domain that need not be told apart.
fn classes(circuit: &Circuit, reached: &[bool], all: bool) -> Vec<Vec<ByteSet>> {
    let cells = circuit.domains.len();
    let mut group: Vec<usize> = (0..cells).collect();
    let mut sets: Vec<Vec<ByteSet>> = vec![Vec::new(); cells];
    let mut differ = vec![false; cells];
    let mut links = Vec::new();
    for (gate, _) in circuit.gates.iter().zip(reached).filter(|(_, reached)| **reached) {
        match *gate {
            Gate::In(cell, set) => sets[cell as usize].push(set),
            Gate::Differ(a, b) => {
                (differ[a as usize], differ[b as usize]) = (true, true);
                links.push((a as usize, b as usize));
            }
            _ => {}
        }
    }
    // Small numbers spread along the links until none is left to.
    loop {
        let mut changed = false;
        for &(a, b) in &links {
            let least = group[a].min(group[b]);
            changed |= group[a] != least || group[b] != least;
            (group[a], group[b]) = (least, least);
        }
        if !changed {
            break;
        }
    }
    let mut shared: Vec<Vec<ByteSet>> = vec![Vec::new(); cells];
    let mut members = vec![0; cells];
    for cell in (0..cells).filter(|&cell| differ[cell]) {
        members[group[cell]] += 1;
        let mut own = std::mem::take(&mut sets[cell]);
        own.push(circuit.domains[cell]);
        shared[group[cell]].append(&mut own);
    }
    // Of the cells that are connected, one partition for all.
    let shared: Vec<Vec<ByteSet>> = shared
        .iter()
        .enumerate()
        .map(|(first, sets)| {
            let enough = if all { 256 } else { members[first] };
            let single = |class: &ByteSet| class.iter().take(enough).map(ByteSet::of).collect();
            match members[first] {
                0 => Vec::new(),
                _ => partition(ByteSet::ALL, sets.iter().copied())
                    .iter()
                    .flat_map(|c| -> Vec<_> { single(c) })
                    .collect(),
            }
        })
        .collect();
    (0..cells)
        .map(|cell| {
            let domain = circuit.domains[cell];
            match differ[cell] {
                false => partition(domain, sets[cell].iter().copied()),
                true => {
                    let inside = |class: &&ByteSet| !class.intersection(&domain).is_empty();
                    shared[group[cell]].iter().filter(inside).copied().collect()
                }
            }
        })
        .collect()
}

/// Literals of which exactly one is true. The number of the class is written in
/// bits: two numbers cannot be right at once, so no pair of literals needs a clause.
fn choice(sat: &mut Sat, classes: Vec<ByteSet>) -> Vec<(ByteSet, Option<Literal>)> {
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
    cells: &'a Vec<Vec<(ByteSet, Option<Literal>)>>,
    sat: &'a mut Sat,
}

impl Encoder<'_> {
    fn encode(&mut self, roots: &[(GateId, bool)], reached: &[bool]) {
        let circuit = self.circuit;
        let count = circuit.gates.len();
        // Whether a gate is wanted true, and whether it is wanted false.
        let (mut up, mut down) = (vec![false; count], vec![false; count]);
        for &(root, wanted) in roots {
            let direction = if wanted { &mut up } else { &mut down };
            direction[root as usize] = true;
        }
        for id in (0..count).rev() {
            if let Gate::And(from, to) | Gate::Or(from, to) = circuit.gates[id] {
                for &input in circuit.inputs(from, to) {
                    up[input as usize] |= up[id];
                    down[input as usize] |= down[id];
                }
            }
        }
        let yes = self.sat.variable(Some(true));
        self.sat.add(&[yes]);
        let mut literals = vec![yes; count];
        literals[Circuit::FALSE as usize] = !yes;
        let mut clause = Vec::new();
        for id in (0..count).filter(|&id| reached[id]) {
            literals[id] = match circuit.gates[id] {
                Gate::Constant(value) => {
                    if value {
                        yes
                    } else {
                        !yes
                    }
                }
                Gate::In(cell, set) => self.within(cell as usize, &set),
                Gate::Differ(a, b) => self.differ(a as usize, b as usize),
                gate @ (Gate::And(from, to) | Gate::Or(from, to)) => {
                    let gate_literal = self.sat.variable(None);
                    // An *or* is an *and* with everything turned round.
                    let (is_and, me) = match gate {
                        Gate::And(..) => (true, gate_literal),
                        _ => (false, !gate_literal),
                    };
                    let (each, together) =
                        if is_and { (up[id], down[id]) } else { (down[id], up[id]) };
                    clause.clear();
                    clause.push(me);
                    for &input in circuit.inputs(from, to) {
                        let input = literals[input as usize];
                        let input = if is_and { input } else { !input };
                        if each {
                            self.sat.add(&[!me, input]);
                        }
                        clause.push(!input);
                    }
                    if together {
                        self.sat.add(&clause);
                    }
                    gate_literal
                }
            };
        }
        for &(root, wanted) in roots {
            let literal = literals[root as usize];
            self.sat.add(&[if wanted { literal } else { !literal }]);
        }
    }

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

    /// Only ever wanted true.
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
