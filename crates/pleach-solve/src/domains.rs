//! Tier 1: the values that a byte may have.
//!
//! A condition on one byte is a set of 256 bits, which is found by evaluating the condition
//! on all values. Nearly all conditions of a parser are of this kind: `in[7] != ' '`,
//! `isdigit(in[7])`, `kinds[in[7]] == 4`. The sets of the goal and of all conditions before
//! it are intersected. The result is exact if no condition reads the byte together with
//! other inputs. The set of a condition is cached by the shape of its term, without the
//! offset: a lexer has the same conditions on every byte, in this trace and the next.
//!
//! If a condition does read several bytes, all values of one byte are tried while the
//! other bytes keep theirs: 256 evaluations of the conditions that read that byte. This
//! finds most models, because most decisions are on the byte that was read last. If it
//! finds none, it has proved nothing, and the next tier is asked.
//!
//! The values of a length are an interval: see [`crate::path`].

use crate::ranges;
use crate::request::{Found, Request};
use pleach_automata::ByteSet;
use pleach_expr::{Compiler, Frame, Pool, Tape, Term, TermValues, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Values that are tried at once.
pub(crate) const LANES: usize = 64;
/// A cache with this many sets is cleared.
const MAX_SETS: usize = 1 << 18;
/// Operations that are evaluated with all lanes. Each has a register of 512 bytes.
const MAX_TAPE: usize = 1 << 17;
const FEW_LANES: usize = 8;
/// Bytes that [`solve_few`] reads, and conditions that read one of them.
const MAX_FEW: usize = 8;
const MAX_FEW_TIES: usize = 32;
/// Bytes that one request tries one at a time.
const MAX_TRIED_BYTES: usize = 24;
/// Conditions that read a byte together with others, if they are evaluated for all its
/// values at once.
const MAX_TIES: usize = 256;
/// Values of a byte with more conditions that are tried.
const MAX_TRIED_VALUES: usize = 64;

/// The sets of conditions on one byte, by the shape of the condition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    sets: FxHashMap<u64, ByteSet>,
    compiler: Compiler,
    frame: Frame<LANES>,
}

impl Memo {
    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        let sets = self.sets.capacity() * (size_of::<(u64, ByteSet)>() + 1);
        sets + self.compiler.memory() + self.frame.memory()
    }

    /// Forgets the sets.
    pub fn clear(&mut self) {
        self.sets = FxHashMap::default();
    }

    /// The values of the byte at `offset` that make `term` true. The term reads no other
    /// input.
    pub fn set(&mut self, pool: &Pool, values: &TermValues, term: Term, offset: u32) -> ByteSet {
        let shape = pool.shape(term);
        if let Some(&cached) = self.sets.get(&shape) {
            return cached;
        }
        let tape = self.compiler.compile(pool, values, &[term], &[Var::byte(offset)]);
        self.frame.load(&tape);
        let set = sweep(pool, &tape, &mut self.frame, &ByteSet::ALL);
        if self.sets.len() >= MAX_SETS {
            self.sets.clear();
        }
        self.sets.insert(shape, set);
        set
    }

    /// As [`Memo::set`], for many terms of one byte. Terms that are made of each other are
    /// evaluated together: `x = 31 * x + byte` in a loop makes a term for each round, and to
    /// evaluate them one by one would take quadratic time.
    pub fn sets(
        &mut self,
        pool: &Pool,
        values: &TermValues,
        terms: &[Term],
        offset: u32,
    ) -> Vec<ByteSet> {
        if self.sets.len() + terms.len() > MAX_SETS {
            self.sets.clear();
        }
        let mut missing: FxHashMap<u64, Term> = FxHashMap::default();
        for &term in terms {
            let shape = pool.shape(term);
            if !self.sets.contains_key(&shape) {
                missing.insert(shape, term);
            }
        }
        if !missing.is_empty() {
            let (shapes, roots): (Vec<u64>, Vec<Term>) = missing.into_iter().unzip();
            let tape = self.compiler.compile(pool, values, &roots, &[Var::byte(offset)]);
            // A long tape gets fewer lanes, so that its registers need not more memory.
            let sets = match tape.len() <= MAX_TAPE {
                true => sweep_each(pool, &tape, &mut self.frame),
                false => {
                    let mut frame: Frame<FEW_LANES> = Frame::default();
                    let sets = sweep_each(pool, &tape, &mut frame);
                    self.frame.work += frame.work;
                    sets
                }
            };
            // The thread must stop.
            let Some(sets) = sets else { return vec![ByteSet::ALL; terms.len()] };
            self.sets.extend(shapes.into_iter().zip(sets));
        }
        terms.iter().map(|&term| self.set(pool, values, term, offset)).collect()
    }

    pub fn work(&self) -> u64 {
        self.frame.work
    }
}

/// The values among `allowed` of the first input of a tape with which all its roots are
/// true.
pub(crate) fn sweep(
    pool: &Pool,
    tape: &Tape,
    frame: &mut Frame<LANES>,
    allowed: &ByteSet,
) -> ByteSet {
    let mut set = ByteSet::EMPTY;
    for block in 0..4 {
        if allowed.0[block] == 0 {
            continue;
        }
        frame.set(tape, 0, std::array::from_fn(|i| (block * LANES + i) as u64));
        frame.run(pool, tape);
        let mut word = allowed.0[block];
        for root in 0..tape.roots() {
            let values = frame.root(tape, root);
            let holds = (0..LANES).fold(0u64, |w, i| w | u64::from(values[i] != 0) << i);
            word &= holds;
        }
        set.0[block] = word;
    }
    set
}

/// By root of a tape: the values of its first input with which the root is true. `None` if
/// the thread must stop.
fn sweep_each<const N: usize>(
    pool: &Pool,
    tape: &Tape,
    frame: &mut Frame<N>,
) -> Option<Vec<ByteSet>> {
    let mut sets = vec![ByteSet::EMPTY; tape.roots()];
    frame.load(tape);
    for first in (0..256).step_by(N) {
        if pleach_work::is_stopping() {
            return None;
        }
        frame.set(tape, 0, std::array::from_fn(|i| (first + i) as u64));
        frame.run(pool, tape);
        for (root, set) in sets.iter_mut().enumerate() {
            let values = frame.root(tape, root);
            let holds = (0..N).fold(0u64, |w, i| w | u64::from(values[i] != 0) << i);
            set.0[first / 64] |= holds << (first % 64);
        }
    }
    Some(sets)
}

/// Solves a goal on one byte, if the value that is nearest breaks no condition.
pub(crate) fn solve_byte(request: &mut Request) -> Found {
    let reads = |goal: &Term| request.path.pool.reads(*goal).single().and_then(|v| v.as_byte());
    let mut bytes = request.goals.iter().map(reads);
    let Some(Some(offset)) = bytes.next() else { return Found::Pass };
    if !bytes.all(|b| b == Some(offset)) {
        return Found::Pass;
    }
    let set = request.allowed(offset);
    let current = request.path.byte(offset);
    let Some(value) = set.nearest(current) else { return Found::Unsat };
    let changes = vec![(Var::byte(offset), value.into())];
    if !request.is_tied(Var::byte(offset)) || request.holds(&changes) {
        return Found::Sat(changes);
    }
    Found::Pass
}

/// As [`solve`], if that is cheap: the goals read few bytes, and few conditions read these.
pub(crate) fn solve_few(request: &mut Request) -> Found {
    let is_tied_often = |&var: &Var| request.ties(var).nth(MAX_FEW_TIES).is_some();
    if request.reads_more_than(MAX_FEW) || request.vars().iter().any(is_tied_often) {
        return Found::Pass;
    }
    solve(request)
}

pub(crate) fn solve(request: &mut Request) -> Found {
    let lengths: Vec<u32> = request.vars().iter().filter_map(|v| v.as_length()).collect();
    if let ([stream], true) = (&lengths[..], request.vars().len() == 1) {
        return solve_length(request, *stream);
    }
    let mut allowed: Vec<(u32, ByteSet)> = Vec::new();
    for offset in request.bytes() {
        let set = request.allowed(offset);
        if set.is_empty() {
            return Found::Unsat;
        }
        allowed.push((offset, set));
    }
    let reads_one = |&goal| request.path.pool.reads(goal).single().is_some();
    if request.goals.iter().all(reads_one) && lengths.is_empty() {
        let changes: Vec<(Var, u64)> = allowed
            .iter()
            .filter_map(|(offset, set)| {
                let current = request.path.byte(*offset);
                let value = set.nearest(current)?;
                (value != current).then(|| (Var::byte(*offset), value.into()))
            })
            .collect();
        let is_tied = changes.iter().any(|c| request.is_tied(c.0));
        if !is_tied || request.holds(&changes) {
            return Found::Sat(changes);
        }
    }
    if ranges::refute(request) {
        return Found::Unsat;
    }
    try_single_bytes(request, &allowed)
}

/// Solves a goal that reads the length of one stream and nothing else.
fn solve_length(request: &mut Request, stream: u32) -> Found {
    let (mut low, mut high) = request.path.interval(stream, request.at);
    let var = Var::length(stream);
    let is_tied = request.is_tied(var);
    let mut bounds_only = !is_tied;
    for &goal in &request.goals {
        match crate::path::bound(&request.path.pool, goal) {
            Some((from, to)) => (low, high) = (low.max(from), high.min(to)),
            None => bounds_only = false,
        }
    }
    if low > high {
        return Found::Unsat;
    }
    if low > request.limits.length {
        return Found::TooLong;
    }
    let high = high.min(request.limits.length);
    let near = request.path.current(var).clamp(low, high);
    // If a condition reads bytes and the length, a model may have other bytes.
    if low == high && !is_tied && !request.holds(&[(var, low)]) {
        return Found::Unsat;
    }
    if bounds_only {
        return Found::Sat(vec![(var, near)]);
    }
    match nearest_length(near, (low, high), |value| request.holds(&[(var, value)])) {
        Some(value) => Found::Sat(vec![(var, value)]),
        None if ranges::refute(request) => Found::Unsat,
        None => Found::Pass,
    }
}

/// A length in a range for which `holds` is true, near to `near`. Steps from `near` double
/// until one holds, then bisection goes back: a stream should not be longer than needed.
fn nearest_length(
    near: u64,
    (low, high): (u64, u64),
    mut holds: impl FnMut(u64) -> bool,
) -> Option<u64> {
    let steps = || std::iter::once(0).chain((0..u64::BITS - 1).map(|bit| 1u64 << bit));
    let ups = steps().map(|step| near.saturating_add(step).min(high));
    let downs = steps().map(|step| near.saturating_sub(step).max(low));
    let mut tried = FxHashSet::default();
    for value in ups.zip(downs).flat_map(|(up, down)| [up, down]) {
        if !tried.insert(value) || !holds(value) {
            continue;
        }
        let (mut good, mut bad) = (value, near);
        while good.abs_diff(bad) > 1 {
            let middle = good.min(bad) + good.abs_diff(bad) / 2;
            if holds(middle) { good = middle } else { bad = middle }
        }
        return Some(good);
    }
    None
}

/// Tries all values of one byte at a time.
fn try_single_bytes(request: &mut Request, allowed: &[(u32, ByteSet)]) -> Found {
    let mut roots = Vec::new();
    // The last byte first: most decisions are on it.
    for &(offset, set) in allowed.iter().rev().take(MAX_TRIED_BYTES) {
        if request.is_over() {
            break;
        }
        let is_tied_often = request.ties(Var::byte(offset)).nth(MAX_TIES).is_some();
        roots.clear();
        roots.extend(&request.goals);
        if !is_tied_often {
            roots.extend(request.neighbours(&[Var::byte(offset)]));
        }
        let path = &*request.path;
        let scratch = &mut *request.scratch;
        let vary = [Var::byte(offset)];
        let tape = scratch.compiler.compile(&path.pool, &path.values, &roots, &vary);
        scratch.lanes.load(&tape);
        let mut left = sweep(&path.pool, &tape, &mut scratch.lanes, &set);
        let current = path.byte(offset);
        // To evaluate all its conditions for all values costs as much as the path is long.
        // Most values break one of the first.
        for _ in 0..MAX_TRIED_VALUES {
            let Some(value) = left.nearest(current) else { break };
            let changes = vec![(Var::byte(offset), value.into())];
            if !is_tied_often || request.holds(&changes) {
                return Found::Sat(changes);
            }
            left.remove(value);
        }
    }
    Found::Pass
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_length_is_found() {
        let range = (0, 1 << 20);
        assert_eq!(nearest_length(1, range, |n| n > 3), Some(4));
        assert_eq!(nearest_length(1, range, |n| n >= 70_000), Some(70_000));
        assert_eq!(nearest_length(100, range, |n| n < 17), Some(16));
        assert_eq!(nearest_length(7, range, |n| n == 7), Some(7));
        assert_eq!(nearest_length(5, (5, 9), |n| n == 9), Some(9));
        assert_eq!(nearest_length(5, (5, 9), |_| false), None);
        // 0 - 1 wraps to a large number.
        assert_eq!(nearest_length(1, range, |n| n.wrapping_sub(1) >= 3), Some(0));
    }
}
