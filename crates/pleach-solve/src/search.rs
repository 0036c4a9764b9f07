//! Tier 3: from the input at hand downhill.
//!
//! Each condition that does not hold has a distance from holding: the difference
//! of the two sides of an equation or an order, and one where nothing better is
//! known. The sum over the goals and the conditions that share inputs with them
//! is what goes down. A step takes one byte and tries all its values at once (256
//! evaluations of a compiled form), keeping the best; when no byte makes it
//! better, a byte of a condition that does not hold gets a value at random, and
//! it goes on from there. This is what search-based test generators do (Korel's
//! alternating variable method), with the difference that here a byte's every
//! value costs next to nothing.
//!
//! It finds models where several bytes must change together and no single
//! operation can be undone: sums, hashes of few bytes, comparisons of two fields.
//! It proves nothing. Work is bounded, and chance is a fixed sequence.

use crate::domains::LANES;
use crate::request::{Found, Request};
use pleach_automata::ByteSet;
use pleach_expr::{Code, Frame, Pool, Tape, Term, Var};

/// Bytes that may change.
const MOST_VARS: usize = 48;
/// Conditions that are watched.
const MOST_CONDITIONS: usize = 200;
/// Values at random after which it gives up.
const MOST_JUMPS: u32 = 12;

/// How far a condition is from holding, from the registers of a tape.
struct Distance {
    code: Code,
    width: u32,
    /// The condition itself, and its two sides if it is a comparison.
    root: usize,
    sides: Option<(usize, usize)>,
}

pub(crate) fn solve(request: &mut Request) -> Found {
    let mut vars: Vec<Var> =
        request.vars.iter().copied().filter(|v| v.as_byte().is_some()).collect();
    vars.truncate(MOST_VARS);
    let mut conditions = request.goals.clone();
    conditions.extend(request.neighbours(&vars));
    if vars.is_empty() || conditions.len() > MOST_CONDITIONS {
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
                let scores = scores(&tape, &scratch.lanes, &distances);
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
                let place = next(&mut random) as usize % vars.len();
                let allowed: Vec<u8> = sets[place].iter().collect();
                point[place] = allowed[next(&mut random) as usize % allowed.len().max(1)];
                best = u64::MAX;
            }
        }
        if best == 0 {
            let changes = vars.iter().zip(&point).map(|(&var, &value)| (var, value.into()));
            return Found::Sat(
                changes.filter(|&(var, value)| value != path.current(var)).collect(),
            );
        }
        if jumps > MOST_JUMPS || scratch.lanes.work > budget {
            return Found::Pass;
        }
    }
}

fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random >> 8
}

/// The terms to compile, and how to read them.
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

/// The distances of all conditions together, in each lane.
fn scores(tape: &Tape, frame: &Frame<LANES>, distances: &[Distance]) -> [u64; LANES] {
    // A condition that fails costs this much and more, so that two that nearly
    // hold are worse than one that is far off.
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
                apart(distance, x, y)
            });
            // Large distances count by their magnitude.
            let far =
                if far < 1 << 20 { far } else { (1 << 20) + u64::from(64 - far.leading_zeros()) };
            *sum += FAILED + far;
        }
    }
    sum
}

fn apart(distance: &Distance, x: u64, y: u64) -> u64 {
    match distance.code {
        Code::Slt | Code::Sle => {
            let sign = 1u64 << (distance.width.clamp(1, 64) - 1);
            (x ^ sign).abs_diff(y ^ sign)
        }
        _ => x.abs_diff(y),
    }
}
