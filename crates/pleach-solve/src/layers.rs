//! Tier 1, several bytes: try everything, one byte after the other, and merge what
//! cannot be told apart.
//!
//! Take the bytes of a slice in the order of the file. After the first `k` of
//! them, what the rest of the conditions can still see of these bytes is the
//! values of a few terms: the *frontier*, the terms that depend on those bytes
//! alone and are used by something that depends on a later one. Two ways to
//! choose the first `k` bytes with the same values at the frontier have the same
//! future, so one of them is enough. Of a state machine driven by a table (flex,
//! bison, a decoder of UTF-8), `state = T[state][byte]`, the frontier is the
//! state; of `isdigit(a) && isdigit(b) && 10 * a + b < 64` it is ten values of
//! `a`. A condition is evaluated at the byte that completes it.
//!
//! This is exact: it finds a model that changes the fewest bytes, or there is
//! none. It is bounded by the number of different frontiers, and passes when
//! there are too many. Checking two bytes by 65,536 evaluations is a special case,
//! and so is a byte that others hold in place. It is variable elimination as in
//! constraint networks (Dechter's bucket elimination), with values found by
//! running the conditions.

use crate::byteset::ByteSet;
use crate::domains::LANES;
use crate::request::{Found, Request, Slice};
use pleach_expr::{Code, Pool, Term, Var};
use rustc_hash::FxHashMap;

/// Different frontiers after one byte.
const MOST_STATES: usize = 4096;
/// Terms and bytes in all frontiers together.
const MOST_FRONTIER: usize = 4096;

/// A way to get to a frontier.
struct State {
    parent: u32,
    value: u8,
    /// How many bytes it changes.
    changed: u16,
}

/// What is evaluated when a byte gets its value.
#[derive(Default)]
struct Layer {
    /// Conditions that this byte completes.
    conditions: Vec<Term>,
    /// What the layers behind see: earlier bytes, by place, and terms.
    bytes: Vec<usize>,
    terms: Vec<Term>,
}

pub(crate) fn solve(request: &mut Request, slice: &Slice) -> Found {
    // Lengths stay as they are, so nothing can be proved where they matter.
    let exact = slice.vars.iter().all(|v| v.as_byte().is_some());
    let refuted = if exact { Found::Unsat } else { Found::Pass };
    let mut free: Vec<Var> = Vec::new();
    let mut sets: Vec<ByteSet> = Vec::new();
    for &var in &slice.vars {
        let Some(offset) = var.as_byte() else { continue };
        let set = request.allowed(offset);
        if set.is_empty() {
            return Found::Unsat;
        }
        // A byte that must stay as it is, is a constant.
        if set != ByteSet::one(request.path.byte(offset)) {
            free.push(var);
            sets.push(set);
        }
    }
    let pool = &request.path.pool;
    // What is said of one byte alone is in its set.
    let several = |t: &Term| pool.reads(*t).single().is_none_or(|v| v.as_byte().is_none());
    let mut conditions: Vec<Term> = request.goals.iter().copied().filter(several).collect();
    conditions.extend(slice.atoms.iter().map(|&a| request.path.atom(a).term));
    let fixed_and_false =
        |t: &Term| layer_of(pool, &free, *t).is_none() && request.path.values.low(*t) == 0;
    if conditions.iter().any(fixed_and_false) {
        return refuted;
    }
    let Some(layers) = layers(pool, &free, &conditions) else { return Found::Pass };
    match run(request, &free, &sets, &layers) {
        Some(Some(values)) => {
            let changes = free
                .iter()
                .zip(values)
                .map(|(&var, value)| (var, u64::from(value)))
                .filter(|&(var, value)| value != request.path.current(var));
            Found::Sat(changes.collect())
        }
        Some(None) => refuted,
        None => Found::Pass,
    }
}

/// The place of the last free input that a term reads.
fn layer_of(pool: &Pool, free: &[Var], term: Term) -> Option<usize> {
    pool.var_ranges(term).iter().rev().find_map(|&(from, to)| {
        let place = free.partition_point(|v| v.0 < to).checked_sub(1)?;
        (free[place].0 >= from).then_some(place)
    })
}

/// What belongs to each byte, or nothing if the frontiers are too large.
fn layers(pool: &Pool, free: &[Var], conditions: &[Term]) -> Option<Vec<Layer>> {
    let mut layers: Vec<Layer> = free.iter().map(|_| Layer::default()).collect();
    // The last layer that uses a byte, or a term.
    let mut byte_use: Vec<usize> = (0..free.len()).collect();
    let mut term_use: FxHashMap<Term, usize> = FxHashMap::default();
    let mut seen: FxHashMap<Term, usize> = FxHashMap::default();
    let mut stack: Vec<Term> = Vec::new();
    for &condition in conditions {
        let Some(layer) = layer_of(pool, free, condition) else { continue };
        layers[layer].conditions.push(condition);
        if seen.insert(condition, layer).is_none() {
            stack.push(condition);
        }
    }
    while let Some(term) = stack.pop() {
        let layer = seen[&term];
        let node = pool.node(term);
        if node.code == Code::Read {
            for var in pool.vars(term) {
                if let Ok(place) = free.binary_search(&var) {
                    byte_use[place] = byte_use[place].max(layer);
                }
            }
            continue;
        }
        for operand in node.operands() {
            let Some(below) = layer_of(pool, free, operand) else { continue };
            if pool.node(operand).code == Code::Read && pool.width(operand) == 8 {
                byte_use[below] = byte_use[below].max(layer);
                continue;
            }
            if below < layer {
                let last = term_use.entry(operand).or_insert(layer);
                *last = (*last).max(layer);
            }
            if seen.insert(operand, below).is_none() {
                stack.push(operand);
            }
        }
    }
    let mut size = 0;
    for (place, &last) in byte_use.iter().enumerate() {
        size += last - place;
        if size > MOST_FRONTIER {
            return None;
        }
        (place..last).for_each(|k| layers[k].bytes.push(place));
    }
    let mut terms: Vec<(Term, usize)> = term_use.into_iter().collect();
    terms.sort_unstable();
    for (term, last) in terms {
        let from = seen[&term];
        size += last - from;
        // A frontier is compared by words.
        if size > MOST_FRONTIER || pool.width(term) > 64 {
            return None;
        }
        (from..last).for_each(|k| layers[k].terms.push(term));
    }
    Some(layers)
}

/// Values for the free bytes; `Some(None)` if there are none, `None` if there was
/// too much to try.
fn run(
    request: &mut Request,
    free: &[Var],
    sets: &[ByteSet],
    layers: &[Layer],
) -> Option<Option<Vec<u8>>> {
    let (path, scratch) = (&*request.path, &mut *request.scratch);
    let budget = scratch.lanes.work + request.limits.evaluations;
    let none = Layer::default();
    let mut history: Vec<Vec<State>> = Vec::with_capacity(free.len());
    // Frontier values of the states before, one after the other.
    let mut values: Vec<u64> = Vec::new();
    let mut count = 1;
    for (k, layer) in layers.iter().enumerate() {
        let before = if k == 0 { &none } else { &layers[k - 1] };
        let mut vary: Vec<Var> = before.bytes.iter().map(|&p| free[p]).collect();
        vary.push(free[k]);
        let mut roots = layer.conditions.clone();
        roots.extend(&layer.terms);
        let tape = scratch.compiler.compile_cut(
            &path.pool,
            &path.values,
            &roots,
            &vary,
            &free[..=k],
            &before.terms,
        );
        if tape.is_wide() {
            return None;
        }
        scratch.lanes.load(&tape);
        let width = before.bytes.len() + before.terms.len();
        let current = path.current(free[k]) as u8;
        // Where the bytes of the new frontier are among the inputs of the tape.
        let kept: Vec<usize> = layer
            .bytes
            .iter()
            .map(|p| before.bytes.iter().position(|b| b == p).unwrap_or(before.bytes.len()))
            .collect();
        let mut found: FxHashMap<Box<[u64]>, u32> = FxHashMap::default();
        let mut states: Vec<State> = Vec::new();
        let mut next: Vec<u64> = Vec::new();
        let mut pairs = (0..count as u32).flat_map(|s| sets[k].iter().map(move |v| (s, v)));
        let mut lanes = [(0u32, 0u8); LANES];
        let mut inputs = vec![[0u64; LANES]; width + 1];
        loop {
            let mut filled = 0;
            for (lane, pair) in pairs.by_ref().take(LANES).enumerate() {
                lanes[lane] = pair;
                let state = &values[pair.0 as usize * width..][..width];
                for (i, &value) in state.iter().enumerate() {
                    // The new byte stands between the old ones and the terms.
                    let place = if i < before.bytes.len() { i } else { i + 1 };
                    inputs[place][lane] = value;
                }
                inputs[before.bytes.len()][lane] = pair.1.into();
                filled = lane + 1;
            }
            if filled == 0 {
                break;
            }
            for (place, column) in inputs.iter().enumerate() {
                scratch.lanes.set(&tape, place, *column);
            }
            scratch.lanes.run(&path.pool, &tape);
            if scratch.lanes.work > budget {
                return None;
            }
            for (lane, &(parent, value)) in lanes.iter().enumerate().take(filled) {
                let holds = |i| scratch.lanes.root(&tape, i)[lane] != 0;
                if !(0..layer.conditions.len()).all(holds) {
                    continue;
                }
                let bytes = kept.iter().map(|&place| inputs[place][lane]);
                let terms = (layer.conditions.len()..roots.len())
                    .map(|i| scratch.lanes.root(&tape, i)[lane]);
                let key: Box<[u64]> = bytes.chain(terms).collect();
                let base = history.last().map_or(0, |h: &Vec<State>| h[parent as usize].changed);
                let changed = base + u16::from(value != current);
                let state = State { parent, value, changed };
                match found.get(&key) {
                    Some(&at) if states[at as usize].changed > changed => {
                        states[at as usize] = state;
                    }
                    Some(_) => {}
                    None => {
                        if states.len() >= MOST_STATES {
                            return None;
                        }
                        next.extend(&key);
                        found.insert(key, states.len() as u32);
                        states.push(state);
                    }
                }
            }
        }
        if states.is_empty() {
            return Some(None);
        }
        count = states.len();
        values = next;
        history.push(states);
    }
    // Nothing is behind the last byte, so at most one state is left.
    let mut at = 0;
    let mut out: Vec<u8> = history
        .iter()
        .rev()
        .map(|states| {
            let state: &State = &states[at as usize];
            at = state.parent;
            state.value
        })
        .collect();
    out.reverse();
    Some(Some(out))
}
