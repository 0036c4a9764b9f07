//! Flips of conditions on the lengths of holes.
//!
//! A hole of another length has other bytes, so the conditions on its bytes are dropped,
//! and the language of the hole replaces them. Conditions on lengths alone are kept, except
//! pinned addresses: those move with the length.
//!
//! Such conditions have few variables, each with few values. So lengths are tried one after
//! the other, the nearest first, 64 at once. The first one that reaches the goal is the
//! boundary. If none does, there is none. Bugs are on both sides of a boundary, so the
//! *edge* is returned too: the last length before it, with which the decision stays.
//!
//! A pointer that the program advances byte by byte has no label. Compared with a labelled
//! one, such as the end of the input, it seems to fix the length: with one byte more the
//! comparison would differ. But the pointer would be one byte further as well. So such a
//! *tight* comparison of addresses is not kept ([`Path::find_tight`]).
//!
//! If no single hole reaches the goal, the holes are resized one after the other, each as
//! far as the conditions before the flip allow. This finds large or small sums. It proves
//! nothing.
//!
//! Trying all lengths of many conditions is expensive, so a request may evaluate at most
//! [`MAX_WORK`] operations. If it needs more, its answer is unknown.

use crate::path::{Goal, Path};
use pleach_automata::Lengths;
use pleach_expr::{Frame, Tape, Term, Var};
use pleach_hash::Hash;
use std::collections::BTreeMap;
use std::ops::Range;

/// The holes of an input.
pub struct Holes<'a> {
    /// The offset of the first length, after the input. Each length has four bytes.
    pub first: u32,
    /// The possible lengths of each hole.
    pub possible: Vec<&'a Lengths>,
    /// The length that a hole may have at most.
    pub most: u32,
}

/// The answer to a flip of lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resized {
    /// By hole.
    Lengths {
        lengths: Vec<u32>,
        /// The last lengths before the boundary, if they differ from the current ones.
        edge: Option<Vec<u32>>,
    },
    /// No lengths reach the goal.
    Never,
    Unknown,
}

/// Holes that one request may resize.
const MAX_HOLES: usize = 16;
const LANES: usize = 64;
/// Operations times lanes that one request may evaluate.
const MAX_WORK: u64 = 1 << 26;

impl Holes<'_> {
    /// The offsets of all lengths in the extended input.
    pub fn range(&self) -> Range<u32> {
        self.first..self.first + 4 * self.possible.len() as u32
    }

    fn vars(&self, hole: usize) -> impl Iterator<Item = Var> + use<> {
        let at = self.first + 4 * hole as u32;
        (at..at + 4).map(Var::byte)
    }
}

impl Path {
    /// True if a step depends on bytes in a range of offsets, and on nothing else.
    pub fn is_within(&self, at: usize, range: &Range<u32>) -> bool {
        self.step(at).and_then(|(term, _)| *term).is_some_and(|t| self.reads_within(t, range))
    }

    fn reads_within(&self, term: Term, range: &Range<u32>) -> bool {
        let reads = self.pool.var_ranges(term);
        !reads.is_empty() && reads.iter().all(|r| range.start <= r.0 && r.1 <= range.end)
    }

    /// A hash of the condition of a step and of the inputs that it reads.
    pub fn print(&self, at: usize) -> u64 {
        let Some((Some(term), _)) = self.step(at) else { return 0 };
        let ranges = self.pool.var_ranges(*term).iter();
        ranges.fold(self.pool.shape(*term), |hash, r| {
            Hash::from(hash).add(u64::from(r.0) << 32 ^ u64::from(r.1)).finish()
        })
    }

    /// Finds the tight comparisons among `steps`, which depend on lengths alone: those that
    /// compare addresses, and would differ if a hole were one byte longer or shorter.
    ///
    /// All conditions on one hole are evaluated together, so the terms that they share are
    /// evaluated once.
    pub fn find_tight(&mut self, steps: &[usize], first: u32) -> Vec<usize> {
        let mut by_hole: BTreeMap<usize, Vec<(usize, Term)>> = BTreeMap::new();
        for &at in steps {
            let Some((Some(term), _)) = self.step(at) else { continue };
            let Some(Var(from)) = self.pool.vars(*term).next() else { continue };
            if self.has_address(*term) {
                by_hole.entry((from - first) as usize / 4).or_default().push((at, *term));
            }
        }
        let holes = Holes { first, possible: Vec::new(), most: 0 };
        let mut tight = Vec::new();
        for (hole, compared) in by_hole {
            let vary: Vec<Var> = holes.vars(hole).collect();
            let current = self.current_length(hole, &holes);
            let roots: Vec<Term> = compared.iter().map(|c| c.1).collect();
            let tape = self.compiler.compile(&self.pool, &self.values, &roots, &vary);
            let mut frame: Frame<4> = Frame::default();
            frame.load(&tape);
            let tried = [current, current.wrapping_add(1), current.wrapping_sub(1), current];
            for byte in 0..4 {
                frame.set(&tape, byte, tried.map(|n| u64::from(n >> (8 * byte) & 0xff)));
            }
            frame.run(&self.pool, &tape);
            for (root, (at, _)) in compared.into_iter().enumerate() {
                let [decided, if_longer, if_shorter, _] = *frame.root(&tape, root);
                if if_longer != decided || if_shorter != decided {
                    tight.push(at);
                }
            }
        }
        tight.sort_unstable();
        tight
    }

    /// True if a term has a constant that looks like an address.
    fn has_address(&self, term: Term) -> bool {
        const MAX_NODES: usize = 64;
        const FIRST_ADDRESS: u128 = 1 << 40;
        const ADDRESSES_END: u128 = 1 << 48;
        let mut open = vec![term];
        for _ in 0..MAX_NODES {
            let Some(term) = open.pop() else { return false };
            match self.pool.constant(term) {
                Some(value) => {
                    // A subtracted address is the addition of a negative number.
                    let value = value.min((value.wrapping_neg()) & u128::from(u64::MAX));
                    if (FIRST_ADDRESS..ADDRESSES_END).contains(&value) {
                        return true;
                    }
                }
                None => open.extend(self.pool.node(term).operands()),
            }
        }
        false
    }

    /// Lengths that reach a goal of a step that depends on lengths alone. Steps for which
    /// `soft` is true need not be kept. Also returns the work, in operations.
    pub fn resize(
        &mut self,
        at: usize,
        goal: Goal,
        holes: &Holes,
        soft: impl Fn(usize) -> bool,
    ) -> (Resized, u64) {
        let range = holes.range();
        let Some(wanted) = self.goal_terms(at, goal) else { return (Resized::Unknown, 0) };
        // The conditions of step 0 are requirements on the bytes of the template.
        let kept = self.atoms_before(at).filter(|a| a.step > 0 && !soft(a.step as usize));
        let kept: Vec<Term> =
            kept.map(|a| a.term).filter(|&t| self.reads_within(t, &range)).collect();
        let Some((moving, kept)) = self.connected(&wanted, &kept, holes) else {
            return (Resized::Unknown, 0);
        };
        let current: Vec<u32> =
            (0..holes.possible.len()).map(|h| self.current_length(h, holes)).collect();
        let roots: Vec<Term> = wanted.iter().chain(&kept).copied().collect();
        let mut vary: Vec<Var> = moving.iter().flat_map(|&h| holes.vars(h)).collect();
        vary.sort_unstable();
        let tape = self.compiler.compile(&self.pool, &self.values, &roots, &vary);
        if tape.is_wide() {
            return (Resized::Unknown, tape.len() as u64);
        }
        let mut search = LengthSearch {
            path: self,
            tape,
            frame: Frame::default(),
            goals: wanted.len(),
            holes: &moving,
        };
        search.frame.load(&search.tape);
        let found = match search.find(&current, holes) {
            Resized::Never if search.is_out_of_work() => Resized::Unknown,
            found => found,
        };
        (found, search.frame.work)
    }

    fn current_length(&self, hole: usize, holes: &Holes) -> u32 {
        let bytes = holes.vars(hole).map(|v| self.current(v) as u32);
        bytes.enumerate().fold(0, |n, (i, b)| n | b << (8 * i))
    }

    /// The holes that are connected with the goals through conditions, and these
    /// conditions.
    fn connected(
        &self,
        wanted: &[Term],
        kept: &[Term],
        holes: &Holes,
    ) -> Option<(Vec<usize>, Vec<Term>)> {
        let holes_of = |term: Term| {
            let ranges = self.pool.var_ranges(term).to_vec();
            let range = holes.range();
            ranges.into_iter().flat_map(move |(from, to)| {
                (from.max(range.start)..to.min(range.end))
                    .map(move |o| (o - range.start) as usize / 4)
            })
        };
        let mut moving: Vec<usize> = wanted.iter().flat_map(|&t| holes_of(t)).collect();
        let mut taken = vec![false; kept.len()];
        loop {
            moving.sort_unstable();
            moving.dedup();
            if moving.len() > MAX_HOLES {
                return None;
            }
            let mut more = Vec::new();
            for (i, &term) in kept.iter().enumerate().filter(|(i, _)| !taken[*i]) {
                if holes_of(term).any(|h| moving.contains(&h)) {
                    more.push(i);
                }
            }
            if more.is_empty() {
                let kept = kept.iter().zip(&taken).filter(|(_, t)| **t).map(|(t, _)| *t);
                return Some((moving, kept.collect()));
            }
            for i in more {
                taken[i] = true;
                moving.extend(holes_of(kept[i]));
            }
        }
    }
}

/// All lengths up to `max` but `from`, the nearest first, and longer ones before shorter
/// ones.
fn outward(from: u32, max: u32) -> impl Iterator<Item = u32> {
    (1..=max.max(from)).flat_map(move |d| {
        let longer = from.checked_add(d).filter(|&n| n <= max);
        [longer, from.checked_sub(d)].into_iter().flatten()
    })
}

/// The search for lengths, over a compiled form of the conditions.
struct LengthSearch<'a> {
    path: &'a Path,
    tape: Tape,
    frame: Frame<LANES>,
    /// The first roots are the goals. The others are conditions before the flip.
    goals: usize,
    /// The holes that may be resized.
    holes: &'a [usize],
}

impl LengthSearch<'_> {
    /// The nearest lengths that reach the goal, of one hole if possible.
    fn find(&mut self, current: &[u32], holes: &Holes) -> Resized {
        let mut best: Option<(u32, Vec<u32>)> = None;
        for &h in self.holes {
            let distance = |v: u32| v.abs_diff(current[h]);
            let least = best.as_ref().map_or(u32::MAX, |b| b.0);
            let near = outward(current[h], holes.most).take_while(|&v| distance(v) < least);
            let near = near.filter(|&v| holes.possible[h].contains(v));
            if let Some(found) = self.first_holding(current, h, near, true) {
                let mut lengths = current.to_vec();
                lengths[h] = found;
                best = Some((distance(found), lengths));
            }
        }
        if let Some((_, lengths)) = best {
            let edge = self.find_edge(current, &lengths, holes);
            return Resized::Lengths { lengths, edge };
        }
        // All lengths of the only hole were tried. Without holes, the goal depends on none.
        if self.holes.len() <= 1 {
            return Resized::Never;
        }
        for up in [true, false] {
            if let Some(lengths) = self.resize_several(current, holes, up) {
                return Resized::Lengths { lengths, edge: None };
            }
        }
        Resized::Unknown
    }

    fn is_out_of_work(&self) -> bool {
        self.frame.work >= MAX_WORK
    }

    /// The first of `values` as the length of `hole` with which all conditions hold, and
    /// the goals too if `with_goals`. The other holes have their `lengths`.
    fn first_holding(
        &mut self,
        lengths: &[u32],
        hole: usize,
        values: impl Iterator<Item = u32>,
        with_goals: bool,
    ) -> Option<u32> {
        let mut values = values.peekable();
        while values.peek().is_some() && !self.is_out_of_work() {
            let mut chunk = [0; LANES];
            let mut n = 0;
            for value in values.by_ref().take(LANES) {
                chunk[n] = value;
                n += 1;
            }
            for (i, &h) in self.holes.iter().enumerate() {
                let length = |lane: usize| if h == hole { chunk[lane] } else { lengths[h] };
                for byte in 0..4 {
                    let lanes = std::array::from_fn(|l| u64::from(length(l) >> (8 * byte) & 0xff));
                    self.frame.set(&self.tape, 4 * i + byte, lanes);
                }
            }
            self.frame.run(&self.path.pool, &self.tape);
            let first_root = if with_goals { 0 } else { self.goals };
            let holds = |lane: &usize| {
                (first_root..self.tape.roots())
                    .all(|r| self.frame.root(&self.tape, r)[*lane] & 1 != 0)
            };
            if let Some(lane) = (0..n).find(holds) {
                return Some(chunk[lane]);
            }
        }
        None
    }

    /// The last lengths before the boundary.
    fn find_edge(&mut self, current: &[u32], found: &[u32], holes: &Holes) -> Option<Vec<u32>> {
        let h = (0..found.len()).find(|&h| found[h] != current[h])?;
        let (from, to) = (current[h], found[h]);
        let possible = |v: &u32| holes.possible[h].contains(*v);
        let edge = match from < to {
            true => self.first_holding(current, h, (from + 1..to).rev().filter(possible), false),
            false => self.first_holding(current, h, (to + 1..from).filter(possible), false),
        };
        let mut lengths = current.to_vec();
        lengths[h] = edge?;
        Some(lengths)
    }

    /// Resizes several holes, all longer (`up`) or all shorter, until the goal is reached.
    fn resize_several(&mut self, current: &[u32], holes: &Holes, up: bool) -> Option<Vec<u32>> {
        let mut lengths = current.to_vec();
        let mut resized: Vec<usize> = Vec::new();
        for &h in self.holes {
            let possible = |v: &u32| holes.possible[h].contains(*v);
            let near = outward(current[h], holes.most).filter(possible);
            if let Some(found) = self.first_holding(&lengths, h, near, true) {
                lengths[h] = found;
                // The other holes get the lengths nearest to their current ones.
                for &other in &resized {
                    let possible = |v: &u32| holes.possible[other].contains(*v);
                    let was = current[other];
                    let near = std::iter::once(was).chain(outward(was, holes.most));
                    let near = near.filter(possible);
                    lengths[other] = self.first_holding(&lengths, other, near, true)?;
                }
                return Some(lengths);
            }
            let all = 0..=holes.most;
            let farthest = match up {
                true => self.first_holding(&lengths, h, all.rev().filter(possible), false),
                false => self.first_holding(&lengths, h, all.filter(possible), false),
            };
            if let Some(farthest) = farthest {
                lengths[h] = farthest;
                resized.push(h);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Shape, Step};
    use crate::requirement::HoleLanguage;
    use pleach_abi::node::{Node, Op};
    use pleach_automata::{ByteSet, Dfa, Regex};
    use pleach_expr::{Expr, Variables};

    /// Builds conditions on two lengths, 3 and 5. The input has one byte.
    struct Builder {
        nodes: Vec<Node>,
    }

    const LENGTHS: [u32; 2] = [3, 5];

    impl Builder {
        fn new() -> Builder {
            let input = Node { op: Op::Input as u8, width: 8, val: 7, ..Node::default() };
            let mut b = Builder { nodes: vec![Node::default(), input] };
            for h in 0..2 {
                b.add(Op::HoleLen, 32, [h, 0], 0);
            }
            b
        }

        fn add(&mut self, op: Op, width: u8, [a, b]: [u32; 2], imm: u64) -> u32 {
            self.nodes.push(Node { op: op as u8, width, a, b, imm, ..Node::default() });
            self.nodes.len() as u32 - 1
        }

        fn path(self, steps: &[(u32, bool)]) -> Path {
            let roots: Vec<u32> = steps.iter().map(|s| s.0).collect();
            let behind = Variables { lengths: 2, tokens: 0 };
            let expr = Expr::with_variables(self.nodes, Vec::new(), 1, behind, roots);
            let expr = expr.expect("the graph is valid");
            let mut input = vec![7];
            input.extend(LENGTHS.iter().flat_map(|n| n.to_le_bytes()));
            let step = |&(label, taken): &(u32, bool)| Step { label, shape: Shape::Bool { taken } };
            // The first step is empty, as for a template.
            let first = Step { label: 0, shape: Shape::Bool { taken: true } };
            let steps = std::iter::once(first).chain(steps.iter().map(step)).collect();
            Path::under(&[], &expr, steps, &input, (&[1], &[0]))
        }
    }

    fn any() -> HoleLanguage {
        let letters = Regex::star(Regex::Class(ByteSet::range(b'a', b'z')));
        HoleLanguage::new(Dfa::new(&[&letters]).expect("small")).expect("small")
    }

    fn solve(path: &mut Path, at: usize, most: u32) -> Resized {
        let a = any();
        let holes = Holes { first: 1, possible: vec![a.lengths(); 2], most };
        assert!(path.is_within(at, &holes.range()));
        path.resize(at, Goal::Not, &holes, |_| false).0
    }

    #[test]
    fn the_boundary_and_the_edge_are_found() {
        let mut b = Builder::new();
        let more = b.add(Op::Ult, 1, [0, 2], 1010); // 1010 < len[0]
        let mut path = b.path(&[(more, false)]);
        let edge = Some(vec![1010, 5]);
        assert_eq!(solve(&mut path, 1, 2000), Resized::Lengths { lengths: vec![1011, 5], edge });
        assert_eq!(solve(&mut path, 1, 1010), Resized::Never);
    }

    #[test]
    fn conditions_before_the_flip_are_kept() {
        let mut b = Builder::new();
        let more = b.add(Op::Ult, 1, [0, 2], 100);
        let sum = b.add(Op::Add, 32, [2, 3], 0);
        let large = b.add(Op::Ult, 1, [0, sum], 100);
        let mut path = b.path(&[(more, false), (large, false)]);
        let edge = Some(vec![95, 5]);
        assert_eq!(solve(&mut path, 2, 2000), Resized::Lengths { lengths: vec![96, 5], edge });
    }

    #[test]
    fn several_holes_are_resized_if_one_is_not_enough() {
        let mut b = Builder::new();
        let (one, other) = (b.add(Op::Ult, 1, [0, 2], 60), b.add(Op::Ult, 1, [0, 3], 70));
        let sum = b.add(Op::Add, 32, [2, 3], 0);
        let large = b.add(Op::Ult, 1, [0, sum], 100);
        let mut path = b.path(&[(one, false), (other, false), (large, false)]);
        let Resized::Lengths { lengths, .. } = solve(&mut path, 3, 2000) else {
            panic!("no lengths")
        };
        assert!(lengths[0] <= 60 && lengths[1] <= 70 && lengths[0] + lengths[1] == 101);
    }

    /// In a loop that advances a labelled pointer, each step has the terms of all steps
    /// before it.
    #[test]
    fn the_work_of_find_tight_is_linear_in_the_path() {
        const STEPS: u32 = 20_000;
        const ADDRESS: u64 = 0x5555_5555_0000;
        let mut b = Builder::new();
        let mut pointer = b.add(Op::ZExt, 64, [2, 0], 0);
        let mut steps = Vec::new();
        for i in 0..STEPS {
            // The multiplication prevents that the chain is simplified.
            let odd = b.add(Op::Mul, 64, [pointer, 0], 3);
            pointer = b.add(Op::Xor, 64, [odd, 0], i.into());
            let sum = b.add(Op::Xor, 64, [pointer, 0], ADDRESS);
            steps.push((b.add(Op::Ult, 1, [sum, 0], 77), false));
        }
        // 3 * length + ADDRESS: + 9 for the current length, + 12 for the next.
        let end = b.add(Op::ZExt, 64, [2, 0], 0);
        let end = b.add(Op::Mul, 64, [end, 0], 3);
        let end = b.add(Op::Xor, 64, [end, 0], ADDRESS);
        steps.push((b.add(Op::Ult, 1, [end, 0], ADDRESS + 10), true));
        let mut path = b.path(&steps);
        let all: Vec<usize> = (1..path.len()).collect();
        assert_eq!(path.find_tight(&all, 1), [STEPS as usize + 1]);
        let (work, terms) = (path.compiler.work, path.pool.len() as u64);
        assert!(work < 8 * terms, "{work} for {terms} terms");
    }

    #[test]
    fn a_request_that_needs_too_much_work_is_unknown() {
        let mut b = Builder::new();
        let mut sum = 2;
        for i in 0..5_000 {
            let odd = b.add(Op::Mul, 32, [sum, 0], 3);
            sum = b.add(Op::Xor, 32, [odd, 0], i);
        }
        let never = b.add(Op::Ult, 1, [0, sum], 0xffff_fff0);
        let mut path = b.path(&[(never, false)]);
        let a = any();
        let holes = Holes { first: 1, possible: vec![a.lengths(); 2], most: 1 << 16 };
        let (found, work) = path.resize(1, Goal::Not, &holes, |_| false);
        assert_eq!(found, Resized::Unknown);
        assert!(work < 2 * MAX_WORK, "{work}");
    }

    /// Compares the answers with all pairs of small lengths.
    #[test]
    fn lengths_reach_the_goal_and_refusals_are_correct() {
        let mut seed = 9u64;
        let mut random = move |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..400 {
            let mut b = Builder::new();
            let mut steps = Vec::new();
            let mut conditions: Vec<(Op, [u32; 2], u64)> = Vec::new();
            for _ in 0..1 + random(4) {
                let op = [Op::Ult, Op::Ule, Op::Eq, Op::Ne][random(4) as usize];
                let factors = [random(3) as u32, random(3) as u32];
                if factors == [0, 0] {
                    continue;
                }
                let bound = random(30);
                let mut sum = 0;
                for (h, &f) in factors.iter().enumerate().filter(|(_, f)| **f > 0) {
                    let term = b.add(Op::Mul, 32, [2 + h as u32, 0], f.into());
                    sum = if sum == 0 { term } else { b.add(Op::Add, 32, [sum, term], 0) };
                }
                let label = b.add(op, 1, [sum, 0], bound);
                let condition = (op, factors, bound);
                conditions.push(condition);
                steps.push((label, holds(&condition, LENGTHS)));
            }
            if steps.is_empty() {
                continue;
            }
            let mut path = b.path(&steps);
            let last = steps.len() - 1;
            // Some conditions simplify to constants.
            if !path.is_within(steps.len(), &(1..9)) {
                continue;
            }
            let good = |lengths: [u32; 2]| {
                let mut decided = conditions.iter().zip(&steps).enumerate();
                decided.all(|(i, (c, step))| holds(c, lengths) == (step.1 != (i == last)))
            };
            match solve(&mut path, steps.len(), 40) {
                Resized::Lengths { lengths, .. } => {
                    assert!(good([lengths[0], lengths[1]]), "{conditions:?} {lengths:?}");
                }
                found => {
                    let one = |n| good([n, LENGTHS[1]]) || good([LENGTHS[0], n]);
                    assert!(!(0..=40).any(one), "{conditions:?} {found:?}");
                    if found == Resized::Never {
                        assert!(
                            !(0..=40).any(|n| (0..=40).any(|m| good([n, m]))),
                            "{conditions:?}"
                        );
                    }
                }
            }
        }
    }

    fn holds((op, factors, bound): &(Op, [u32; 2], u64), lengths: [u32; 2]) -> bool {
        let sum = u64::from(factors[0] * lengths[0] + factors[1] * lengths[1]);
        match op {
            Op::Ult => sum < *bound,
            Op::Ule => sum <= *bound,
            Op::Eq => sum == *bound,
            _ => sum != *bound,
        }
    }
}
