//! Tier 3: local search from the current input.
//!
//! A condition that does not hold has a distance: the difference of the two sides of an
//! equality or an order, and 1 for all others. The search minimises the sum of the
//! distances of the goals and of the conditions that share inputs with them. A step tries
//! all 256 values of each byte and makes the best change. If no change is an improvement,
//! a random byte gets a random value. This is the alternating variable method of
//! search-based test generators (Korel 1990). Here, all values of a byte are evaluated at
//! once and cost little.
//!
//! It finds models in which several bytes must change together and no operation can be
//! inverted: sums, hashes of few bytes, comparisons of two fields. It proves nothing. Its
//! work is bounded, and its random numbers are a fixed sequence.

use crate::domains::LANES;
use crate::request::{Found, Request};
use pleach_automata::ByteSet;
use pleach_expr::{Code, Frame, Pool, Tape, Term, Var};

/// Bytes that may change.
const MAX_VARS: usize = 48;
/// Conditions that are evaluated.
const MAX_CONDITIONS: usize = 200;
/// Random changes after which the search gives up.
const MAX_JUMPS: u32 = 12;

/// How to compute the distance of a condition from the roots of a tape.
struct Distance {
    code: Code,
    width: u32,
    /// The root of the condition, and the roots of its two sides if it is a comparison.
    root: usize,
    sides: Option<(usize, usize)>,
}

pub(crate) fn solve(request: &mut Request) -> Found {
    let mut vars: Vec<Var> =
        request.vars().iter().copied().filter(|v| v.as_byte().is_some()).collect();
    vars.truncate(MAX_VARS);
    let mut conditions = request.goals.clone();
    conditions.extend(request.neighbours(&vars));
    if vars.is_empty() || conditions.len() > MAX_CONDITIONS {
        return Found::Pass;
    }
    let mut sets: Vec<ByteSet> = Vec::new();
    for var in &vars {
        sets.push(request.allowed(var.as_byte().unwrap_or(0)));
    }
    let (path, scratch) = (&*request.path, &mut *request.scratch);
    let (roots, distances) = distances(&path.pool, &conditions);
    let tape = scratch.compiler.compile(&path.pool, &path.values, &roots, &vars);
    if tape.is_wide() {
        return Found::Pass;
    }
    scratch.lanes.load(&tape);
    let budget = scratch.lanes.work + request.limits.evaluations / 32;
    let mut point: Vec<u8> = vars.iter().map(|v| path.current(*v) as u8).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15u64 ^ request.at as u64;
    let mut jumps = 0;
    let mut best = u64::MAX;
    loop {
        // The best single change.
        let mut step: Option<(usize, u8)> = None;
        for (place, set) in sets.iter().enumerate() {
            for (i, &value) in point.iter().enumerate() {
                scratch.lanes.set(&tape, i, [value.into(); LANES]);
            }
            for block in (0..4).filter(|&b| set.0[b] != 0) {
                let values = std::array::from_fn(|i| (LANES * block + i) as u64);
                scratch.lanes.set(&tape, place, values);
                scratch.lanes.run(&path.pool, &tape);
                let scores = sum_distances(&tape, &scratch.lanes, &distances);
                for (lane, &score) in scores.iter().enumerate() {
                    let value = (LANES * block + lane) as u8;
                    if score < best && set.contains(value) {
                        (best, step) = (score, Some((place, value)));
                    }
                }
            }
            if best == 0 || scratch.lanes.work > budget {
                break;
            }
        }
        match step {
            Some((place, value)) => point[place] = value,
            None => {
                jumps += 1;
                let place = next_random(&mut random) as usize % vars.len();
                let allowed: Vec<u8> = sets[place].iter().collect();
                point[place] = allowed[next_random(&mut random) as usize % allowed.len().max(1)];
                best = u64::MAX;
            }
        }
        if best == 0 {
            let changes = vars.iter().zip(&point).map(|(&var, &value)| (var, value.into()));
            return Found::Sat(
                changes.filter(|&(var, value)| value != path.current(var)).collect(),
            );
        }
        if jumps > MAX_JUMPS || scratch.lanes.work > budget || pleach_work::is_stopping() {
            return Found::Pass;
        }
    }
}

fn next_random(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random >> 8
}

/// The terms to compile, and the distances to compute from their values.
fn distances(pool: &Pool, conditions: &[Term]) -> (Vec<Term>, Vec<Distance>) {
    let mut roots = conditions.to_vec();
    let distances = conditions
        .iter()
        .enumerate()
        .map(|(root, &condition)| {
            let node = pool.node(condition);
            let mut operands = node.operands();
            let (x, y) = (operands.next(), operands.next());
            let width = x.map_or(1, |x| pool.width(x));
            let sides = match (node.code, x, y) {
                (Code::Eq | Code::Ult | Code::Ule | Code::Slt | Code::Sle, Some(x), Some(y)) => {
                    roots.extend([x, y]);
                    Some((roots.len() - 2, roots.len() - 1))
                }
                _ => None,
            };
            Distance { code: node.code, width, root, sides }
        })
        .collect();
    (roots, distances)
}

/// The sum of all distances, in each lane.
fn sum_distances(tape: &Tape, frame: &Frame<LANES>, distances: &[Distance]) -> [u64; LANES] {
    // Added for each condition that fails: two that nearly hold are worse than one that
    // is far from holding.
    const FAILED: u64 = 1 << 40;
    let mut sum = [0u64; LANES];
    for distance in distances {
        let holds = frame.root(tape, distance.root);
        for (lane, sum) in sum.iter_mut().enumerate() {
            if holds[lane] != 0 {
                continue;
            }
            let far = distance.sides.map_or(1, |(x, y)| {
                let (x, y) = (frame.root(tape, x)[lane], frame.root(tape, y)[lane]);
                difference(distance, x, y)
            });
            // Of large distances, only the number of bits counts.
            let far =
                if far < 1 << 20 { far } else { (1 << 20) + u64::from(64 - far.leading_zeros()) };
            *sum += FAILED + far;
        }
    }
    sum
}

fn difference(distance: &Distance, x: u64, y: u64) -> u64 {
    match distance.code {
        Code::Slt | Code::Sle => {
            let sign = 1u64 << (distance.width.clamp(1, 64) - 1);
            (x ^ sign).abs_diff(y ^ sign)
        }
        _ => x.abs_diff(y),
    }
}
