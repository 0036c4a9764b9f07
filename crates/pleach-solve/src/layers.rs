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
//! `a`. A condition is evaluated at the byte that completes it. In the same way
//! values of one byte are merged that look alike to everything: the machine sees
//! the class of a character.
//!
//! This is exact: it finds a model that changes the fewest bytes, or there is
//! none. It is bounded by the number of different frontiers, and passes when
//! there are too many. Checking two bytes by 65,536 evaluations is a special case,
//! and so is a byte that others hold in place. It is variable elimination as in
//! constraint networks (Dechter's bucket elimination), with values found by
//! running the conditions.

use crate::domains::LANES;
use crate::path::Path;
use crate::request::{Changes, Found, Request, Scratch, Slice};
use pleach_automata::ByteSet;
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
    /// All that anything sees of this byte: terms of it alone. Values with the
    /// same ones need not be told apart.
    seen_as: Vec<Term>,
    /// Something sees the byte itself.
    seen: bool,
}

pub(crate) fn solve(request: &mut Request, slice: &Slice) -> Found {
    match explore(request, slice, None) {
        Explored::Ways(ways) => match ways.into_iter().next() {
            Some((_, changes)) => Found::Sat(changes),
            None => Found::Unsat,
        },
        Explored::Refuted => Found::Unsat,
        Explored::Pass => Found::Pass,
    }
}

/// Every value that a term can have on this path, each with changes that bring it
/// about; nothing if there is too much to try. The cases of a switch are as many
/// requests about one term: this answers them all at once.
pub(crate) fn values(
    request: &mut Request,
    slice: &Slice,
    term: Term,
) -> Option<Vec<(u64, Changes)>> {
    // Lengths would stay as they are, and what they allow be missing.
    if slice.vars.iter().any(|v| v.as_byte().is_none()) {
        return None;
    }
    match explore(request, slice, Some(term)) {
        Explored::Ways(ways) => Some(ways),
        Explored::Refuted => Some(Vec::new()),
        Explored::Pass => None,
    }
}

enum Explored {
    /// The ways through all conditions, by the value of the term that is kept.
    Ways(Vec<(u64, Changes)>),
    Refuted,
    Pass,
}

fn explore(request: &mut Request, slice: &Slice, keep: Option<Term>) -> Explored {
    // Lengths stay as they are, so nothing can be proved where they matter.
    let exact = slice.vars.iter().all(|v| v.as_byte().is_some());
    let refuted = if exact { Explored::Refuted } else { Explored::Pass };
    let mut free: Vec<Var> = Vec::new();
    let mut sets: Vec<ByteSet> = Vec::new();
    for &var in &slice.vars {
        let Some(offset) = var.as_byte() else { continue };
        let set = request.allowed(offset);
        if set.is_empty() {
            return Explored::Refuted;
        }
        // A byte that must stay as it is, is a constant.
        if set != ByteSet::of(request.path.byte(offset)) {
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
    if let Some(term) = keep
        && layer_of(pool, &free, term).is_none()
    {
        // Nothing that it depends on can change.
        return Explored::Ways(vec![(request.path.values.low(term), Vec::new())]);
    }
    let Some(layers) = layers(pool, &free, &conditions, keep) else { return Explored::Pass };
    let Some(ways) = run(request, &free, &sets, &layers) else { return Explored::Pass };
    if ways.is_empty() {
        return refuted;
    }
    let changes = |values: Vec<u8>| {
        let changes = free.iter().zip(values).map(|(&var, value)| (var, u64::from(value)));
        changes.filter(|&(var, value)| value != request.path.current(var)).collect()
    };
    Explored::Ways(ways.into_iter().map(|(kept, values)| (kept, changes(values))).collect())
}

/// The place of the last free input that a term reads.
fn layer_of(pool: &Pool, free: &[Var], term: Term) -> Option<usize> {
    pool.var_ranges(term).iter().rev().find_map(|&(from, to)| {
        let place = free.partition_point(|v| v.0 < to).checked_sub(1)?;
        (free[place].0 >= from).then_some(place)
    })
}

/// The place of the first free input that a term reads.
fn first_of(pool: &Pool, free: &[Var], term: Term) -> Option<usize> {
    pool.var_ranges(term).iter().find_map(|&(from, to)| {
        let place = free.partition_point(|v| v.0 < from);
        free.get(place).is_some_and(|v| v.0 < to).then_some(place)
    })
}

/// What belongs to each byte, or nothing if the frontiers are too large.
fn layers(
    pool: &Pool,
    free: &[Var],
    conditions: &[Term],
    keep: Option<Term>,
) -> Option<Vec<Layer>> {
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
    if let Some(term) = keep
        && let Some(layer) = layer_of(pool, free, term)
    {
        // It is used after the last byte.
        if pool.node(term).code == Code::Read || pool.width(term) > 64 {
            return None;
        }
        term_use.insert(term, free.len());
        if first_of(pool, free, term) == Some(layer) {
            layers[layer].seen_as.push(term);
        }
        if seen.insert(term, layer).is_none() {
            stack.push(term);
        }
    }
    while let Some(term) = stack.pop() {
        let layer = seen[&term];
        let node = pool.node(term);
        if node.code == Code::Read {
            for var in pool.vars(term) {
                if let Ok(place) = free.binary_search(&var) {
                    layers[place].seen = true;
                    byte_use[place] = byte_use[place].max(layer);
                }
            }
            continue;
        }
        let alone = first_of(pool, free, term) == Some(layer);
        for operand in node.operands() {
            let Some(below) = layer_of(pool, free, operand) else { continue };
            if !alone && first_of(pool, free, operand) == Some(below) {
                match pool.node(operand).code {
                    Code::Read => layers[below].seen = true,
                    _ => layers[below].seen_as.push(operand),
                }
            }
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
    for layer in &mut layers {
        layer.seen_as.sort_unstable();
        layer.seen_as.dedup();
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

/// Values for the free bytes, one for each last frontier; nothing if there was too
/// much to try.
fn run(
    request: &mut Request,
    free: &[Var],
    sets: &[ByteSet],
    layers: &[Layer],
) -> Option<Vec<(u64, Vec<u8>)>> {
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
        let current = path.current(free[k]) as u8;
        let values_of_byte = alike(path, scratch, free[k], current, &sets[k], layer)?;
        scratch.lanes.load(&tape);
        let width = before.bytes.len() + before.terms.len();
        // Where the bytes of the new frontier are among the inputs of the tape.
        let kept: Vec<usize> = layer
            .bytes
            .iter()
            .map(|p| before.bytes.iter().position(|b| b == p).unwrap_or(before.bytes.len()))
            .collect();
        let mut found: FxHashMap<Box<[u64]>, u32> = FxHashMap::default();
        let mut states: Vec<State> = Vec::new();
        let mut next: Vec<u64> = Vec::new();
        let mut pairs = (0..count as u32).flat_map(|s| values_of_byte.iter().map(move |&v| (s, v)));
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
            return Some(Vec::new());
        }
        count = states.len();
        values = next;
        history.push(states);
    }
    // Behind the last byte there is the term that is kept, or nothing.
    let width = values.len() / count.max(1);
    let ways = (0..count).map(|last| {
        let mut at = last as u32;
        let mut bytes: Vec<u8> = history
            .iter()
            .rev()
            .map(|states| {
                let state: &State = &states[at as usize];
                at = state.parent;
                state.value
            })
            .collect();
        bytes.reverse();
        (if width > 0 { values[last * width] } else { 0 }, bytes)
    });
    Some(ways.collect())
}

/// One value of each kind that can be told apart, the current one for its kind.
/// Nothing if that cannot be said in 64 bits.
fn alike(
    path: &Path,
    scratch: &mut Scratch,
    var: Var,
    current: u8,
    set: &ByteSet,
    layer: &Layer,
) -> Option<Vec<u8>> {
    if layer.seen {
        return Some(set.iter().collect());
    }
    let vary = [var];
    let tape = scratch.compiler.compile(&path.pool, &path.values, &layer.seen_as, &vary);
    if tape.is_wide() {
        return None;
    }
    scratch.lanes.load(&tape);
    let mut kinds: FxHashMap<Box<[u64]>, usize> = FxHashMap::default();
    let mut values: Vec<u8> = Vec::new();
    for block in (0..4).filter(|&b| set.0[b] != 0) {
        scratch.lanes.set(&tape, 0, std::array::from_fn(|i| (LANES * block + i) as u64));
        scratch.lanes.run(&path.pool, &tape);
        for lane in 0..LANES {
            let value = (LANES * block + lane) as u8;
            if !set.contains(value) {
                continue;
            }
            let kind: Box<[u64]> =
                (0..tape.roots()).map(|root| scratch.lanes.root(&tape, root)[lane]).collect();
            let place = *kinds.entry(kind).or_insert(values.len());
            if place == values.len() {
                values.push(value);
            } else if ByteSet::from_iter([values[place], value]).nearest(current) == Some(value) {
                values[place] = value;
            }
        }
    }
    Some(values)
}
