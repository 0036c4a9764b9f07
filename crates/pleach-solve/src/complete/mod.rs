//! Tier 4: a complete solver for bit-vectors.
//!
//! The conditions of a slice become a circuit, and a SAT solver looks for inputs that make
//! its outputs true. Each path has one SAT instance. A term is encoded when it is first
//! needed, and stays. A request assumes the outputs of its conditions, so all flips of a
//! path share the encoding and the learnt clauses. The conditions on one byte are encoded
//! together, as the set of values that they allow (see `encode`).
//!
//! A request has a budget of conflicts and propagations. An instance that has become too large is dropped,
//! and a request that is too large for a new instance is refused.

mod encode;
mod gates;

use crate::request::{Found, Request, Slice};
use crate::sat::{Budget, Literal, Outcome, Sat};
use encode::{Encoder, TooLarge};
use gates::Gates;
use pleach_expr::Var;

/// The circuit of one path; empty until it is first needed.
#[derive(Default)]
pub(crate) struct Circuit {
    encoder: Option<Box<Encoder>>,
}

impl Circuit {
    pub fn memory(&self) -> usize {
        self.encoder.as_ref().map_or(0, |e| e.gates.memory())
    }
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A limit of work was reached.
    Work,
    /// The circuit is too large.
    Memory,
    /// The SAT solver has panicked, or its model was wrong.
    Broken,
}

/// The costs of a conflict and of a variable, in evaluated operations.
const CONFLICT_COST: u64 = 10_000;
const VARIABLE_COST: u64 = 200;

/// Terms of one byte may be evaluated this many times the operations of another tier.
const ENCODING_FACTOR: u64 = 8;

/// Returns the answer and its cost, in evaluated operations. The cost is about `available`
/// at most.
pub(crate) fn solve(
    request: &mut Request,
    slice: &Slice,
    available: u64,
) -> (Result<Found, Refused>, u64) {
    // An instance that is too large or broken by earlier requests gets replaced.
    let is_new = request.path.circuit.encoder.is_none();
    let (answer, work) = attempt(request, slice, available);
    match answer {
        Err(Refused::Memory | Refused::Broken) if !is_new => {
            request.path.circuit.encoder = None;
            let (answer, more) = attempt(request, slice, available.saturating_sub(work));
            (answer, work + more)
        }
        answer => (answer, work),
    }
}

fn attempt(request: &mut Request, slice: &Slice, available: u64) -> (Result<Found, Refused>, u64) {
    let limits = request.limits;
    let mut encoder = match request.path.circuit.encoder.take() {
        Some(encoder) => encoder,
        None => Box::new(Encoder::new(Gates::new(Sat::default()))),
    };
    encoder.start(ENCODING_FACTOR * limits.evaluations);
    let before = encoder.gates.sat.variables();
    let max_variables = limits.variables.min(before + (available / VARIABLE_COST) as usize);
    let assumed = assumptions(request, slice, &mut encoder, max_variables);
    let encoding = VARIABLE_COST * (encoder.gates.sat.variables() - before) as u64;
    let Ok(assumed) = assumed else { return (Err(Refused::Memory), encoding) };
    let budget = Budget {
        conflicts: limits.conflicts.min(available / CONFLICT_COST),
        propagations: limits.propagations,
    };
    let outcome = encoder.gates.sat.solve(&assumed, budget);
    let work = encoding + CONFLICT_COST * encoder.gates.sat.spent().conflicts;
    let answer = match outcome {
        Outcome::Unsat => Ok(Found::Unsat),
        Outcome::Limit => Err(Refused::Work),
        Outcome::Broken => return (Err(Refused::Broken), work),
        Outcome::Sat => {
            let mut changes = Vec::new();
            for &var in &slice.vars {
                let word = encoder.input(request.path, var);
                let value = word
                    .iter()
                    .rev()
                    .fold(0u64, |v, &bit| v << 1 | u64::from(encoder.gates.sat.value(bit)));
                if value != request.path.current(var) {
                    changes.push((var, value));
                }
            }
            Ok(Found::Sat(changes))
        }
    };
    request.path.circuit.encoder = Some(encoder);
    (answer, work)
}

/// The goals, the conditions and the values of the inputs, as literals.
fn assumptions(
    request: &mut Request,
    slice: &Slice,
    encoder: &mut Encoder,
    max_variables: usize,
) -> Result<Vec<Literal>, TooLarge> {
    let mut assumed = Vec::new();
    for i in 0..request.goals.len() {
        let goal = request.goals[i];
        assumed.push(encoder.encode(request.path, goal, max_variables)?[0]);
    }
    for &atom in &slice.atoms {
        if pleach_work::spend(1) {
            return Err(TooLarge);
        }
        let term = request.path.atom(atom).term;
        assumed.push(encoder.encode(request.path, term, max_variables)?[0]);
    }
    for &var in &slice.vars {
        if let Some(offset) = var.as_byte() {
            let set = request.domain(offset);
            assumed.push(encoder.member(request.path, offset, &set));
        } else if let Some(stream) = var.as_length() {
            let (low, high) = request.path.interval(stream, request.at);
            let high = high.min(request.limits.length);
            let word = encoder.input(request.path, Var::length(stream));
            let g = &mut encoder.gates;
            let (low, high) = (g.constant(low.into(), 64), g.constant(high.into(), 64));
            let (below, above) = (g.less(&word, &low), g.less(&high, &word));
            assumed.extend([!below, !above]);
        }
    }
    Ok(assumed)
}
