//! Tier 1, several bytes: tries all values of one byte after the other, and merges states
//! that no remaining condition distinguishes.
//!
//! The bytes of a slice are taken in the order of the file. After the first `k` bytes, the
//! remaining conditions depend on these bytes only through the values of a few terms, the
//! *frontier*: terms that depend on the first `k` bytes alone and are used by a term that
//! depends on a later byte. Two choices of the first `k` bytes with the same values at the
//! frontier have the same future, so one of them is enough. For a state machine with a
//! table (flex, bison, a UTF-8 decoder), `state = T[state][byte]`, the frontier is the
//! state. For `isdigit(a) && isdigit(b) && 10 * a + b < 64` it has the ten values of `a`. A
//! condition is evaluated at the last byte that it reads. Values of one byte are merged in
//! the same way if all terms of this byte alone are equal: a lexer sees only the class of a
//! character.
//!
//! The search is exact: it finds a model that changes the fewest bytes, or proves that
//! there is none. It passes if there are too many different frontiers. This is variable
//! elimination in constraint networks (Dechter's bucket elimination), with values found by
//! evaluating the conditions.
//!
//! The next flip of a path often has the same conditions on the first bytes, and one more on
//! the last. So the states after each byte are kept ([`Explorations`]), and the search starts
//! behind the bytes that it has in common with an earlier one.

use crate::domains::LANES;
use crate::path::Path;
use crate::request::{Changes, Found, Request, Scratch, Slice};
use pleach_automata::ByteSet;
use pleach_expr::{Code, Frame, Pool, Tape, Term, Var};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// States after one byte.
const MAX_STATES: usize = 4096;
/// Terms and bytes in all frontiers together.
const MAX_FRONTIER: usize = 4096;
/// Searches that a path keeps.
const MAX_EXPLORATIONS: usize = 4;
/// States and words of frontiers that one of them keeps.
const MAX_KEPT: usize = 1 << 19;

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

/// All values that a term can have on this path, each with changes that lead to it; `None`
/// if there is too much to try.
pub(crate) fn values(
    request: &mut Request,
    slice: &Slice,
    term: Term,
) -> Option<Vec<(u64, Changes)>> {
    // Lengths keep their values here, so values that need other lengths would be missing.
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
    /// Changes with which all conditions hold: one for each value of the kept term, or
    /// just one without such a term.
    Ways(Vec<(u64, Changes)>),
    Refuted,
    Pass,
}

fn explore(request: &mut Request, slice: &Slice, kept: Option<Term>) -> Explored {
    // Lengths keep their values, so a slice with lengths cannot be refuted.
    let is_exact = slice.vars.iter().all(|v| v.as_byte().is_some());
    let refuted = if is_exact { Explored::Refuted } else { Explored::Pass };
    let mut free: Vec<Var> = Vec::new();
    let mut sets: Vec<ByteSet> = Vec::new();
    for &var in &slice.vars {
        let Some(offset) = var.as_byte() else { continue };
        let set = request.allowed(offset);
        if set.is_empty() {
            return Explored::Refuted;
        }
        // A byte with one possible value is a constant.
        if set != ByteSet::of(request.path.byte(offset)) {
            free.push(var);
            sets.push(set);
        }
    }
    let pool = &request.path.pool;
    // The sets include the conditions on one byte.
    let is_in_set = |t: &Term| pool.reads(*t).single().is_some_and(|v| v.as_byte().is_some());
    let mut conditions: Vec<Term> =
        request.goals.iter().copied().filter(|goal| !is_in_set(goal)).collect();
    conditions.extend(slice.atoms.iter().map(|&a| request.path.atom(a).term));
    let is_fixed_and_false =
        |t: &Term| last_layer(pool, &free, *t).is_none() && request.path.values.low(*t) == 0;
    if conditions.iter().any(is_fixed_and_false) {
        return refuted;
    }
    if let Some(term) = kept
        && last_layer(pool, &free, term).is_none()
    {
        // The term reads no free byte, so it has one value.
        return Explored::Ways(vec![(request.path.values.low(term), Vec::new())]);
    }
    let Some(layers) = build_layers(pool, &free, &conditions, kept) else { return Explored::Pass };
    let max_work = request.scratch.lanes.work + request.limits.evaluations;
    let known = request.path.explorations.common(&free, &sets, &layers);
    let (path, scratch) = (&*request.path, &mut *request.scratch);
    let mut states = States::new(path, scratch, &free, &sets, &layers, max_work);
    states.history = known;
    let is_finished = (states.history.len()..layers.len())
        .all(|place| states.count() > 0 && states.add_byte(place).is_some());
    let is_refuted = states.count() == 0;
    let found = match (is_refuted, is_finished) {
        (true, _) => refuted,
        (_, false) => Explored::Pass,
        _ => states.ways(),
    };
    let history = states.history;
    request.path.explorations.keep(free, sets, layers, history);
    found
}

/// The searches of a path that later ones can continue.
#[derive(Default)]
pub(crate) struct Explorations {
    all: Vec<Exploration>,
    /// The one that is replaced next.
    next: usize,
}

struct Exploration {
    free: Vec<Var>,
    sets: Vec<ByteSet>,
    layers: Vec<Layer>,
    /// By byte: the states after it. It may have fewer bytes than the others.
    history: Vec<Arc<After>>,
}

impl Exploration {
    /// The number of first bytes whose states are those of another search.
    fn in_common(&self, free: &[Var], sets: &[ByteSet], layers: &[Layer]) -> usize {
        let most = self.history.len().min(free.len());
        let is_same = |&k: &usize| {
            self.free[k] == free[k] && self.sets[k] == sets[k] && self.layers[k] == layers[k]
        };
        (0..most).take_while(is_same).count()
    }
}

impl Explorations {
    /// Bytes of memory, roughly.
    pub fn memory(&self) -> usize {
        let of_layer = |l: &Layer| {
            size_of::<Layer>()
                + 8 * (l.conditions.capacity() + l.bytes.capacity() + l.terms.capacity())
        };
        let of_one = |e: &Exploration| {
            let layers: usize = e.layers.iter().map(of_layer).sum();
            layers + e.history.iter().map(|after| 8 * after.size()).sum::<usize>()
        };
        self.all.iter().map(of_one).sum()
    }

    /// The states after the first bytes, as far as an earlier search has them.
    fn common(&self, free: &[Var], sets: &[ByteSet], layers: &[Layer]) -> Vec<Arc<After>> {
        let lengths = self.all.iter().map(|e| e.in_common(free, sets, layers));
        let best = self.all.iter().zip(lengths).max_by_key(|&(_, length)| length);
        best.map_or(Vec::new(), |(e, length)| e.history[..length].to_vec())
    }

    /// Keeps a search. It replaces one that has most of its bytes in common.
    fn keep(
        &mut self,
        free: Vec<Var>,
        sets: Vec<ByteSet>,
        layers: Vec<Layer>,
        mut history: Vec<Arc<After>>,
    ) {
        let mut size = 0;
        let fits = |after: &&Arc<After>| {
            size += after.size();
            size <= MAX_KEPT
        };
        let kept = history.iter().take_while(fits).count();
        history.truncate(kept);
        let is_like = |e: &Exploration| 2 * e.in_common(&free, &sets, &layers) >= e.history.len();
        let place = self.all.iter().position(is_like);
        let new = Exploration { free, sets, layers, history };
        match place {
            Some(place) => self.all[place] = new,
            None if self.all.len() < MAX_EXPLORATIONS => self.all.push(new),
            None => {
                self.all[self.next] = new;
                self.next = (self.next + 1) % MAX_EXPLORATIONS;
            }
        }
    }
}

/// What is evaluated when a byte gets its value.
#[derive(Default, PartialEq, Eq)]
struct Layer {
    /// Conditions that read no later byte.
    conditions: Vec<Term>,
    /// The frontier after this byte: bytes, by place among the free ones, and terms.
    bytes: Vec<usize>,
    terms: Vec<Term>,
    /// Terms of this byte alone that other terms use. Values of the byte for which all of
    /// them are equal are equivalent.
    seen_as: Vec<Term>,
    /// True if a term with other bytes reads the byte itself.
    is_seen: bool,
}

/// The place of the last free input that a term reads.
fn last_layer(pool: &Pool, free: &[Var], term: Term) -> Option<usize> {
    pool.var_ranges(term).iter().rev().find_map(|&(from, to)| {
        let place = free.partition_point(|v| v.0 < to).checked_sub(1)?;
        (free[place].0 >= from).then_some(place)
    })
}

/// The place of the first free input that a term reads.
fn first_layer(pool: &Pool, free: &[Var], term: Term) -> Option<usize> {
    pool.var_ranges(term).iter().find_map(|&(from, to)| {
        let place = free.partition_point(|v| v.0 < from);
        free.get(place).is_some_and(|v| v.0 < to).then_some(place)
    })
}

/// The layers of all free bytes; `None` if the frontiers are too large.
fn build_layers(
    pool: &Pool,
    free: &[Var],
    conditions: &[Term],
    kept: Option<Term>,
) -> Option<Vec<Layer>> {
    let mut builder = LayerBuilder {
        pool,
        free,
        layers: free.iter().map(|_| Layer::default()).collect(),
        byte_use: (0..free.len()).collect(),
        term_use: FxHashMap::default(),
        visited: FxHashMap::default(),
        stack: Vec::new(),
    };
    for &condition in conditions {
        let Some(layer) = last_layer(pool, free, condition) else { continue };
        builder.layers[layer].conditions.push(condition);
        builder.visit(condition, layer);
    }
    if let Some(term) = kept {
        builder.keep(term)?;
    }
    builder.visit_operands()?;
    builder.finish()
}

struct LayerBuilder<'a> {
    pool: &'a Pool,
    free: &'a [Var],
    layers: Vec<Layer>,
    /// The last layer that uses a byte, by place.
    byte_use: Vec<usize>,
    /// The last layer that uses a term.
    term_use: FxHashMap<Term, usize>,
    /// The layers of all visited terms.
    visited: FxHashMap<Term, usize>,
    stack: Vec<Term>,
}

impl LayerBuilder<'_> {
    fn visit(&mut self, term: Term, layer: usize) {
        if self.visited.insert(term, layer).is_none() {
            self.stack.push(term);
        }
    }

    /// Keeps the value of a term until after the last byte.
    fn keep(&mut self, term: Term) -> Option<()> {
        let Some(layer) = last_layer(self.pool, self.free, term) else { return Some(()) };
        if self.pool.node(term).code == Code::Read || self.pool.width(term) > 64 {
            return None;
        }
        self.term_use.insert(term, self.free.len());
        if first_layer(self.pool, self.free, term) == Some(layer) {
            self.layers[layer].seen_as.push(term);
        }
        self.visit(term, layer);
        Some(())
    }

    /// Finds the last use of each byte and term, and which terms see each byte. `None` if
    /// the thread must stop.
    fn visit_operands(&mut self) -> Option<()> {
        let (pool, free) = (self.pool, self.free);
        while let Some(term) = self.stack.pop() {
            if pleach_work::spend(1) {
                return None;
            }
            let layer = self.visited[&term];
            let node = pool.node(term);
            if node.code == Code::Read {
                for var in pool.vars(term) {
                    if let Ok(place) = free.binary_search(&var) {
                        self.layers[place].is_seen = true;
                        self.byte_use[place] = self.byte_use[place].max(layer);
                    }
                }
                continue;
            }
            let reads_one_byte = first_layer(pool, free, term) == Some(layer);
            for operand in node.operands() {
                let Some(below) = last_layer(pool, free, operand) else { continue };
                if !reads_one_byte && first_layer(pool, free, operand) == Some(below) {
                    match pool.node(operand).code {
                        Code::Read => self.layers[below].is_seen = true,
                        _ => self.layers[below].seen_as.push(operand),
                    }
                }
                if pool.node(operand).code == Code::Read && pool.width(operand) == 8 {
                    self.byte_use[below] = self.byte_use[below].max(layer);
                    continue;
                }
                if below < layer {
                    let last = self.term_use.entry(operand).or_insert(layer);
                    *last = (*last).max(layer);
                }
                self.visit(operand, below);
            }
        }
        Some(())
    }

    /// Fills the frontiers.
    fn finish(mut self) -> Option<Vec<Layer>> {
        for layer in &mut self.layers {
            layer.seen_as.sort_unstable();
            layer.seen_as.dedup();
        }
        let mut size = 0;
        for (place, &last) in self.byte_use.iter().enumerate() {
            size += last - place;
            if size > MAX_FRONTIER {
                return None;
            }
            (place..last).for_each(|k| self.layers[k].bytes.push(place));
        }
        let mut terms: Vec<(Term, usize)> = self.term_use.into_iter().collect();
        terms.sort_unstable();
        for (term, last) in terms {
            let from = self.visited[&term];
            size += last - from;
            // Frontiers are compared as 64-bit words.
            if size > MAX_FRONTIER || self.pool.width(term) > 64 {
                return None;
            }
            (from..last).for_each(|k| self.layers[k].terms.push(term));
        }
        Some(self.layers)
    }
}

/// One choice of the first bytes.
struct State {
    /// The state before the last byte, and the value of that byte.
    parent: u32,
    value: u8,
    /// How many bytes differ from the current input.
    changed: u16,
}

/// The states after the first bytes: one for each different frontier.
struct States<'a> {
    path: &'a Path,
    scratch: &'a mut Scratch,
    free: &'a [Var],
    sets: &'a [ByteSet],
    layers: &'a [Layer],
    /// `scratch.lanes.work` must not exceed this.
    max_work: u64,
    /// By byte: the states after it.
    history: Vec<Arc<After>>,
}

/// The states after one byte.
#[derive(Default)]
struct After {
    states: Vec<State>,
    /// The values at the frontier of each of these states.
    frontiers: Vec<u64>,
}

impl After {
    fn size(&self) -> usize {
        self.states.len() + self.frontiers.len()
    }
}

impl<'a> States<'a> {
    /// One state, before the first byte.
    fn new(
        path: &'a Path,
        scratch: &'a mut Scratch,
        free: &'a [Var],
        sets: &'a [ByteSet],
        layers: &'a [Layer],
        max_work: u64,
    ) -> Self {
        States { path, scratch, free, sets, layers, max_work, history: Vec::new() }
    }

    /// How many states there are after the last byte.
    fn count(&self) -> usize {
        self.history.last().map_or(1, |after| after.states.len())
    }

    /// The changes that lead to each of the last states, and the value of the kept term.
    fn ways(&self) -> Explored {
        let changes = |values: Vec<u8>| {
            let changes = self.free.iter().zip(values);
            let changes = changes.map(|(&var, value)| (var, u64::from(value)));
            changes.filter(|&(var, value)| value != self.path.current(var)).collect()
        };
        let way = |last| (self.kept_value(last), changes(self.bytes(last)));
        Explored::Ways((0..self.count()).map(way).collect())
    }

    /// Extends all states by one byte; `None` if there is too much to try.
    fn add_byte(&mut self, place: usize) -> Option<()> {
        let no_layer = Layer::default();
        let layer = &self.layers[place];
        let before = if place == 0 { &no_layer } else { &self.layers[place - 1] };
        let mut vary: Vec<Var> = before.bytes.iter().map(|&p| self.free[p]).collect();
        vary.push(self.free[place]);
        let roots = [&layer.conditions[..], &layer.terms].concat();
        let tape = self.scratch.compiler.compile_cut(
            &self.path.pool,
            &self.path.values,
            &roots,
            &vary,
            &self.free[..=place],
            &before.terms,
        );
        if tape.is_wide() {
            return None;
        }
        let current = self.path.current(self.free[place]) as u8;
        let byte_values = self.distinct_values(place, current)?;
        self.scratch.lanes.load(&tape);
        // The places of the bytes of the new frontier among the inputs of the tape. The new
        // byte is between the bytes and the terms of the old frontier.
        let new_byte = before.bytes.len();
        let place_of = |p| before.bytes.iter().position(|b| b == p).unwrap_or(new_byte);
        let kept: Vec<usize> = layer.bytes.iter().map(place_of).collect();
        let width = before.bytes.len() + before.terms.len();
        let no_states = After::default();
        let last = self.history.last().map_or(&no_states, |after| &**after);
        let mut pairs =
            (0..self.count() as u32).flat_map(|s| byte_values.iter().map(move |&v| (s, v)));
        let mut merged = MergedStates::default();
        let mut lanes = [(0u32, 0u8); LANES];
        let mut inputs = vec![[0u64; LANES]; width + 1];
        loop {
            let mut filled = 0;
            for (lane, pair) in pairs.by_ref().take(LANES).enumerate() {
                lanes[lane] = pair;
                let frontier = &last.frontiers[pair.0 as usize * width..][..width];
                for (i, &value) in frontier.iter().enumerate() {
                    inputs[if i < new_byte { i } else { i + 1 }][lane] = value;
                }
                inputs[new_byte][lane] = pair.1.into();
                filled = lane + 1;
            }
            if filled == 0 {
                break;
            }
            for (place, column) in inputs.iter().enumerate() {
                self.scratch.lanes.set(&tape, place, *column);
            }
            self.scratch.lanes.run(&self.path.pool, &tape);
            if self.scratch.lanes.work > self.max_work || pleach_work::is_stopping() {
                return None;
            }
            for (lane, &(parent, value)) in lanes.iter().enumerate().take(filled) {
                let Some(terms) = frontier_terms(&tape, &self.scratch.lanes, layer, lane) else {
                    continue;
                };
                let bytes = kept.iter().map(|&place| inputs[place][lane]);
                let changed_before = last.states.get(parent as usize).map_or(0, |s| s.changed);
                let changed = changed_before + u16::from(value != current);
                merged.insert(bytes.chain(terms).collect(), State { parent, value, changed })?;
            }
        }
        let (states, frontiers) = (merged.states, merged.frontiers);
        self.history.push(Arc::new(After { states, frontiers }));
        Some(())
    }

    /// One value of each kind that conditions distinguish; of its kind, the one to prefer
    /// over the others. `None` if a term is wider than 64 bits.
    fn distinct_values(&mut self, place: usize, current: u8) -> Option<Vec<u8>> {
        let (set, layer) = (&self.sets[place], &self.layers[place]);
        if layer.is_seen {
            return Some(set.iter().collect());
        }
        let (path, scratch) = (self.path, &mut *self.scratch);
        let vary = [self.free[place]];
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
                let at = *kinds.entry(kind).or_insert(values.len());
                if at == values.len() {
                    values.push(value);
                } else if ByteSet::from_iter([values[at], value]).nearest(current) == Some(value) {
                    values[at] = value;
                }
            }
        }
        Some(values)
    }

    /// The value of the kept term in one of the last states; 0 if there is no such term.
    fn kept_value(&self, last: usize) -> u64 {
        // Only the kept term is used after the last byte.
        let Some(after) = self.history.last() else { return 0 };
        let width = after.frontiers.len() / after.states.len().max(1);
        if width > 0 { after.frontiers[last * width] } else { 0 }
    }

    /// The values of all bytes in one of the last states.
    fn bytes(&self, last: usize) -> Vec<u8> {
        let mut at = last as u32;
        let value = |after: &Arc<After>| {
            let state = &after.states[at as usize];
            at = state.parent;
            state.value
        };
        let mut bytes: Vec<u8> = self.history.iter().rev().map(value).collect();
        bytes.reverse();
        bytes
    }
}

/// The values of the terms of the frontier in one lane; `None` if a condition fails.
fn frontier_terms<'a>(
    tape: &'a Tape,
    frame: &'a Frame<LANES>,
    layer: &Layer,
    lane: usize,
) -> Option<impl Iterator<Item = u64> + use<'a>> {
    let value = move |root: usize| frame.root(tape, root)[lane];
    let first_term = layer.conditions.len();
    let holds = (0..first_term).all(|root| value(root) != 0);
    holds.then(|| (first_term..tape.roots()).map(value))
}

/// New states, merged by frontier.
#[derive(Default)]
struct MergedStates {
    by_frontier: FxHashMap<Box<[u64]>, u32>,
    states: Vec<State>,
    frontiers: Vec<u64>,
}

impl MergedStates {
    /// Adds a state. Of several with the same frontier, keeps the one with the fewest
    /// changes. `None` if there are too many states.
    fn insert(&mut self, frontier: Box<[u64]>, state: State) -> Option<()> {
        match self.by_frontier.get(&frontier) {
            Some(&at) => {
                let best = &mut self.states[at as usize];
                if best.changed > state.changed {
                    *best = state;
                }
            }
            None => {
                if self.states.len() >= MAX_STATES {
                    return None;
                }
                self.frontiers.extend(&frontier);
                self.by_frontier.insert(frontier, self.states.len() as u32);
                self.states.push(state);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Goal;
    use crate::solver::Config;
    use crate::test_trace::TestTrace;
    use pleach_abi::node::Op;

    /// A hash of the bytes so far, whose last bits decide twice after each byte. The second
    /// decision follows from the first.
    fn hash_trace(bytes: u32) -> TestTrace {
        let mut trace = TestTrace::new(bytes);
        let mut hash = trace.add(Op::ZExt, 32, [1, 0], 0);
        for byte in 2..=bytes {
            let wide = trace.add(Op::ZExt, 32, [byte, 0], 0);
            let product = trace.add(Op::Mul, 32, [hash, 0], 31);
            let sum = trace.add(Op::Add, 32, [product, wide], 0);
            hash = trace.add(Op::And, 32, [sum, 0], 0x3f);
            for factor in [5, 13] {
                let product = trace.add(Op::Mul, 32, [hash, 0], factor);
                let last = trace.add(Op::And, 32, [product, 0], 3);
                trace.require(Op::Ult, [last, 0], 2);
            }
        }
        trace
    }

    /// Answers all flips of a path in some order, on one path or on a new one each. Returns the
    /// answers, by flip, and the work.
    fn ask(trace: &TestTrace, order: &[usize], is_one_path: bool) -> (Vec<Found>, u64) {
        let input = b"abcdefghijklmnopqrstuvwxyz";
        let (mut scratch, config) = (Scratch::default(), Config::default());
        let mut path = trace.path(input);
        let mut answers = vec![Found::Pass; order.len()];
        for &at in order {
            if !is_one_path {
                path = trace.path(input);
            }
            let goals = path.goal_terms(at, Goal::Not).expect("a goal");
            let mut request =
                Request::new(&mut path, &mut scratch, &config.limits, at, goals, false);
            let slice = request.slice(1000).expect("a slice");
            answers[at] = solve(&mut request, &slice);
            if let Found::Sat(changes) = &answers[at] {
                assert!(request.holds(changes), "step {at}: {changes:?}");
            }
        }
        (answers, scratch.lanes.work)
    }

    #[test]
    fn searches_continue_where_an_earlier_one_had_the_same_conditions() {
        let trace = hash_trace(26);
        let forward: Vec<usize> = (0..50).collect();
        let (alone, work_alone) = ask(&trace, &forward, false);
        assert!(alone.iter().step_by(2).all(|found| matches!(found, Found::Sat(_))));
        assert!(alone.iter().skip(1).step_by(2).all(|found| *found == Found::Unsat));
        let backward: Vec<usize> = forward.iter().rev().copied().collect();
        let mixed: Vec<usize> = forward.iter().map(|at| at * 7 % 50).collect();
        for order in [forward, backward, mixed] {
            let (answers, work) = ask(&trace, &order, true);
            assert_eq!(answers, alone);
            assert!(4 * work < work_alone, "{work} {work_alone}");
        }
    }
}
