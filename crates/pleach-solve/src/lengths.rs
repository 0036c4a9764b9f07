//! Flips of conditions over the lengths of holes.
//!
//! A hole of another length has other bytes, so what the path says about its bytes
//! says nothing any more: the hole's language takes its place, and only conditions
//! over lengths alone are kept. Addresses that were held fast are not: they move with
//! the length, which is what they are for.
//!
//! Such conditions have few variables with few values each. So they are not solved
//! but tried: one length after another, the nearest first, 64 at once. What comes out
//! is the boundary itself, and where nothing comes out there is nothing. Bugs sit on
//! either side of a boundary; the *edge* is the last length before it, where the
//! decision still goes as it went.
//!
//! A pointer that the program moves byte by byte has no label, and compared with one
//! that has (where the input ends, say) it seems to fix the length: one byte more, and
//! it would come out differently. But the pointer would have moved on as well. So a
//! comparison with an address that is that tight is not kept ([`Path::find_tight`]).
//!
//! Where one hole alone cannot do it, the others are moved as far as the conditions
//! before allow, one by one. That finds sums that must be large or small. It proves
//! nothing.
//!
//! Trying all lengths of many conditions is expensive, so a request may evaluate at most
//! [`MAX_WORK`] operations. A request that needs more is not answered.

use crate::path::{Goal, Path};
use pleach_automata::Lengths;
use pleach_expr::{Frame, Tape, Term, Var};
use std::collections::BTreeMap;
use std::ops::Range;

/// The holes of an input.
pub struct Holes<'a> {
    /// Offset of the first length behind the input; four bytes each.
    pub first: u32,
    /// What each may be.
    pub possible: Vec<&'a Lengths>,
    /// No hole becomes longer than this.
    pub most: u32,
}

/// The answer: lengths, by hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resized {
    Lengths {
        lengths: Vec<u32>,
        /// The last lengths before the boundary, if they are not those at hand.
        edge: Option<Vec<u32>>,
    },
    /// No lengths do it.
    Never,
    Unknown,
}

/// Holes that one condition may depend on.
const MOST_HOLES: usize = 16;
const LANES: usize = 64;
/// Operations that one request may evaluate, each in all its lanes.
const MAX_WORK: u64 = 1 << 26;

impl Holes<'_> {
    /// The variables behind the input that lengths are.
    pub fn range(&self) -> Range<u32> {
        self.first..self.first + 4 * self.possible.len() as u32
    }

    fn vars(&self, hole: usize) -> impl Iterator<Item = Var> + use<> {
        let at = self.first + 4 * hole as u32;
        (at..at + 4).map(Var::byte)
    }
}

impl Path {
    /// Whether a step depends on inputs in a range, and on no others.
    pub fn is_within(&self, at: usize, range: &Range<u32>) -> bool {
        self.step(at).and_then(|(term, _)| *term).is_some_and(|t| self.reads_within(t, range))
    }

    fn reads_within(&self, term: Term, range: &Range<u32>) -> bool {
        let reads = self.pool.var_ranges(term);
        !reads.is_empty() && reads.iter().all(|r| range.start <= r.0 && r.1 <= range.end)
    }

    /// What a step says, as a number that is the same for the same condition on the
    /// same inputs.
    pub fn print(&self, at: usize) -> u64 {
        let Some((Some(term), _)) = self.step(at) else { return 0 };
        let ranges = self.pool.var_ranges(*term).iter();
        ranges.fold(self.pool.shape(*term), |hash, r| {
            (hash ^ u64::from(r.0) << 32 ^ u64::from(r.1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        })
    }

    /// Those of `steps`, which depend on lengths alone, that compare addresses and
    /// would come out differently were a hole one byte longer or shorter.
    ///
    /// All conditions on one hole are evaluated together, so the work grows with the
    /// terms that they have in common and not with the number of steps.
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
            let now = self.length_of(hole, &holes);
            let roots: Vec<Term> = compared.iter().map(|c| c.1).collect();
            let tape = self.compiler.compile(&self.pool, &self.values, &roots, &vary);
            let mut frame: Frame<4> = Frame::default();
            frame.load(&tape);
            let tried = [now, now.wrapping_add(1), now.wrapping_sub(1), now];
            for byte in 0..4 {
                frame.set(&tape, byte, tried.map(|n| u64::from(n >> (8 * byte) & 0xff)));
            }
            frame.run(&self.pool, &tape);
            for (root, (at, _)) in compared.into_iter().enumerate() {
                let [was, longer, shorter, _] = *frame.root(&tape, root);
                if longer != was || shorter != was {
                    tight.push(at);
                }
            }
        }
        tight.sort_unstable();
        tight
    }

    /// Whether a term has a constant in it that is an address.
    fn has_address(&self, term: Term) -> bool {
        const NODES: usize = 64;
        const LEAST: u128 = 1 << 40;
        const MOST: u128 = 1 << 48;
        let mut open = vec![term];
        for _ in 0..NODES {
            let Some(term) = open.pop() else { return false };
            match self.pool.constant(term) {
                Some(value) => {
                    // A difference may be written as a sum with what is negative.
                    let value = value.min((value.wrapping_neg()) & u128::from(u64::MAX));
                    if (LEAST..MOST).contains(&value) {
                        return true;
                    }
                }
                None => open.extend(self.pool.node(term).operands()),
            }
        }
        false
    }

    /// Lengths that reach a goal at a step that depends on lengths alone. `soft` says
    /// which steps need not be kept. Also returns the operations evaluated.
    pub fn resize(
        &mut self,
        at: usize,
        goal: Goal,
        holes: &Holes,
        soft: impl Fn(usize) -> bool,
    ) -> (Resized, u64) {
        let range = holes.range();
        let Some(wanted) = self.wanted(at, goal) else { return (Resized::Unknown, 0) };
        // What holds from step 0 on is what the template requires of this input.
        let kept = self.atoms_before(at).filter(|a| a.step > 0 && !soft(a.step as usize));
        let kept: Vec<Term> =
            kept.map(|a| a.term).filter(|&t| self.reads_within(t, &range)).collect();
        let Some((moving, kept)) = self.connected(&wanted, &kept, holes) else {
            return (Resized::Unknown, 0);
        };
        let current: Vec<u32> =
            (0..holes.possible.len()).map(|h| self.length_of(h, holes)).collect();
        let roots: Vec<Term> = wanted.iter().chain(&kept).copied().collect();
        let mut vary: Vec<Var> = moving.iter().flat_map(|&h| holes.vars(h)).collect();
        vary.sort_unstable();
        let tape = self.compiler.compile(&self.pool, &self.values, &roots, &vary);
        if tape.is_wide() {
            return (Resized::Unknown, tape.len() as u64);
        }
        let mut trial = Trial {
            path: self,
            tape,
            frame: Frame::default(),
            wanted: wanted.len(),
            moving: &moving,
        };
        trial.frame.load(&trial.tape);
        let found = trial.find(&current, holes);
        let found = match found {
            Resized::Never if trial.is_over() => Resized::Unknown,
            found => found,
        };
        (found, trial.frame.work)
    }

    fn length_of(&self, hole: usize, holes: &Holes) -> u32 {
        let bytes = holes.vars(hole).map(|v| self.current(v) as u32);
        bytes.enumerate().fold(0, |n, (i, b)| n | b << (8 * i))
    }

    /// The holes that a change can spread to, and the conditions on them.
    fn connected(
        &self,
        wanted: &[Term],
        kept: &[Term],
        holes: &Holes,
    ) -> Option<(Vec<usize>, Vec<Term>)> {
        let of = |term: Term| {
            let ranges = self.pool.var_ranges(term).to_vec();
            let range = holes.range();
            ranges.into_iter().flat_map(move |(from, to)| {
                (from.max(range.start)..to.min(range.end))
                    .map(move |o| (o - range.start) as usize / 4)
            })
        };
        let mut moving: Vec<usize> = wanted.iter().flat_map(|&t| of(t)).collect();
        let mut taken = vec![false; kept.len()];
        loop {
            moving.sort_unstable();
            moving.dedup();
            if moving.len() > MOST_HOLES {
                return None;
            }
            let mut more = Vec::new();
            for (i, &term) in kept.iter().enumerate().filter(|(i, _)| !taken[*i]) {
                if of(term).any(|h| moving.contains(&h)) {
                    more.push(i);
                }
            }
            if more.is_empty() {
                let kept = kept.iter().zip(&taken).filter(|(_, t)| **t).map(|(t, _)| *t);
                return Some((moving, kept.collect()));
            }
            for i in more {
                taken[i] = true;
                moving.extend(of(kept[i]));
            }
        }
    }
}

/// All lengths but one, the nearest to it first, the longer of two before the shorter.
fn outward(from: u32, most: u32) -> impl Iterator<Item = u32> {
    (1..=most.max(from)).flat_map(move |d| {
        let more = from.checked_add(d).filter(|&n| n <= most);
        [more, from.checked_sub(d)].into_iter().flatten()
    })
}

/// Conditions over lengths, to be tried.
struct Trial<'a> {
    path: &'a Path,
    tape: Tape,
    frame: Frame<LANES>,
    /// So many roots are what is asked for; the others held before.
    wanted: usize,
    moving: &'a [usize],
}

impl Trial<'_> {
    /// The nearest lengths that do it: of one hole, or else of several.
    fn find(&mut self, current: &[u32], holes: &Holes) -> Resized {
        let moving = self.moving;
        let mut best: Option<(u32, Vec<u32>)> = None;
        for &h in moving {
            let away = |v: u32| v.abs_diff(current[h]);
            let least = best.as_ref().map_or(u32::MAX, |b| b.0);
            let near = outward(current[h], holes.most).take_while(|&v| away(v) < least);
            let near = near.filter(|&v| holes.possible[h].contains(v));
            if let Some(found) = self.first(current, h, near, true) {
                let mut lengths = current.to_vec();
                lengths[h] = found;
                best = Some((away(found), lengths));
            }
        }
        if let Some((_, lengths)) = best {
            let edge = self.edge(current, &lengths, holes);
            return Resized::Lengths { lengths, edge };
        }
        // Without any, it comes out the same for all lengths.
        if moving.len() <= 1 {
            return Resized::Never;
        }
        for up in [true, false] {
            if let Some(lengths) = self.together(current, holes, up) {
                return Resized::Lengths { lengths, edge: None };
            }
        }
        Resized::Unknown
    }

    /// True if the request has used up its work.
    fn is_over(&self) -> bool {
        self.frame.work >= MAX_WORK
    }

    /// The first of some lengths of a hole with which everything holds, or, without
    /// `goal`, everything that held before.
    fn first(
        &mut self,
        lengths: &[u32],
        hole: usize,
        values: impl Iterator<Item = u32>,
        goal: bool,
    ) -> Option<u32> {
        let mut values = values.peekable();
        while values.peek().is_some() && !self.is_over() {
            let mut chunk = [0; LANES];
            let mut n = 0;
            for value in values.by_ref().take(LANES) {
                chunk[n] = value;
                n += 1;
            }
            for (i, &h) in self.moving.iter().enumerate() {
                let of = |lane: usize| if h == hole { chunk[lane] } else { lengths[h] };
                for byte in 0..4 {
                    let lanes = std::array::from_fn(|l| u64::from(of(l) >> (8 * byte) & 0xff));
                    self.frame.set(&self.tape, 4 * i + byte, lanes);
                }
            }
            self.frame.run(&self.path.pool, &self.tape);
            let from = if goal { 0 } else { self.wanted };
            let holds = |lane: &usize| {
                (from..self.tape.roots()).all(|r| self.frame.root(&self.tape, r)[*lane] & 1 != 0)
            };
            if let Some(lane) = (0..n).find(holds) {
                return Some(chunk[lane]);
            }
        }
        None
    }

    /// Lengths on this side of the boundary, as near to it as there are.
    fn edge(&mut self, current: &[u32], found: &[u32], holes: &Holes) -> Option<Vec<u32>> {
        let h = (0..found.len()).find(|&h| found[h] != current[h])?;
        let (from, to) = (current[h], found[h]);
        let possible = |v: &u32| holes.possible[h].contains(*v);
        let edge = match from < to {
            true => self.first(current, h, (from + 1..to).rev().filter(possible), false),
            false => self.first(current, h, (to + 1..from).filter(possible), false),
        };
        let mut lengths = current.to_vec();
        lengths[h] = edge?;
        Some(lengths)
    }

    /// Several holes at once, all longer or all shorter.
    fn together(&mut self, current: &[u32], holes: &Holes, up: bool) -> Option<Vec<u32>> {
        let mut lengths = current.to_vec();
        let mut moved: Vec<usize> = Vec::new();
        for &h in self.moving {
            let possible = |v: &u32| holes.possible[h].contains(*v);
            let near = outward(current[h], holes.most).filter(possible);
            if let Some(found) = self.first(&lengths, h, near, true) {
                lengths[h] = found;
                // Others go back as far as they can.
                for &other in &moved {
                    let possible = |v: &u32| holes.possible[other].contains(*v);
                    let to = current[other];
                    let back = std::iter::once(to).chain(outward(to, holes.most));
                    let back = back.filter(possible);
                    lengths[other] = self.first(&lengths, other, back, true)?;
                }
                return Some(lengths);
            }
            let far = match up {
                true => self.first(&lengths, h, (0..=holes.most).rev().filter(possible), false),
                false => self.first(&lengths, h, (0..=holes.most).filter(possible), false),
            };
            if let Some(far) = far {
                lengths[h] = far;
                moved.push(h);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use crate::path::{Shape, Step};
    use crate::requirement::HoleLanguage;
    use pleach_abi::node::{Node, Op};
    use pleach_automata::{ByteSet, Dfa, Regex};
    use pleach_expr::{Expr, Variables};

    /// Conditions over two lengths that are 3 and 5, behind an input of one byte.
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
            let expr = expr.expect("it is sound");
            let mut input = vec![7];
            input.extend(LENGTHS.iter().flat_map(|n| n.to_le_bytes()));
            let step = |&(label, taken): &(u32, bool)| Step { label, shape: Shape::Bool { taken } };
            // Nothing is said by the first, as under a template.
            let first = Step { label: 0, shape: Shape::Bool { taken: true } };
            let steps = std::iter::once(first).chain(steps.iter().map(step)).collect();
            Path::under(&[], &expr, steps, &input, (&[1], &[0]), &Interrupt::default())
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
    fn the_boundary_and_the_last_length_before_it() {
        let mut b = Builder::new();
        let more = b.add(Op::Ult, 1, [0, 2], 1010); // 1010 < len[0]
        let mut path = b.path(&[(more, false)]);
        let edge = Some(vec![1010, 5]);
        assert_eq!(solve(&mut path, 1, 2000), Resized::Lengths { lengths: vec![1011, 5], edge });
        assert_eq!(solve(&mut path, 1, 1010), Resized::Never);
    }

    #[test]
    fn conditions_before_are_kept() {
        let mut b = Builder::new();
        let more = b.add(Op::Ult, 1, [0, 2], 100);
        let sum = b.add(Op::Add, 32, [2, 3], 0);
        let large = b.add(Op::Ult, 1, [0, sum], 100);
        let mut path = b.path(&[(more, false), (large, false)]);
        let edge = Some(vec![95, 5]);
        assert_eq!(solve(&mut path, 2, 2000), Resized::Lengths { lengths: vec![96, 5], edge });
    }

    #[test]
    fn several_holes_where_one_is_not_enough() {
        let mut b = Builder::new();
        let (one, other) = (b.add(Op::Ult, 1, [0, 2], 60), b.add(Op::Ult, 1, [0, 3], 70));
        let sum = b.add(Op::Add, 32, [2, 3], 0);
        let large = b.add(Op::Ult, 1, [0, sum], 100);
        let mut path = b.path(&[(one, false), (other, false), (large, false)]);
        let Resized::Lengths { lengths, .. } = solve(&mut path, 3, 2000) else { panic!("none") };
        assert!(lengths[0] <= 60 && lengths[1] <= 70 && lengths[0] + lengths[1] == 101);
    }

    /// A loop that moves a labelled pointer: each step compares the sum of all steps
    /// before it with an address.
    #[test]
    fn finding_tight_comparisons_is_linear_in_the_path() {
        const STEPS: u32 = 20_000;
        const ADDRESS: u64 = 0x5555_5555_0000;
        let mut b = Builder::new();
        let mut pointer = b.add(Op::ZExt, 64, [2, 0], 0);
        let mut steps = Vec::new();
        for i in 0..STEPS {
            // Multiplying keeps the chain from being folded.
            let odd = b.add(Op::Mul, 64, [pointer, 0], 3);
            pointer = b.add(Op::Xor, 64, [odd, 0], i.into());
            let sum = b.add(Op::Xor, 64, [pointer, 0], ADDRESS);
            steps.push((b.add(Op::Ult, 1, [sum, 0], 77), false));
        }
        // 3 * length + ADDRESS: 9 for the length at hand, 12 for the next.
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
    fn a_request_that_needs_too_much_work_is_not_answered() {
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

    /// Against all pairs of small lengths.
    #[test]
    fn whatever_comes_out_holds_and_nothing_is_missed_by_one_hole() {
        let mut seed = 9u64;
        let mut random = move |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..400 {
            let mut b = Builder::new();
            let mut steps = Vec::new();
            let mut meaning: Vec<(Op, [u32; 2], u64)> = Vec::new();
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
                meaning.push((op, factors, bound));
                steps.push((label, holds(&meaning[meaning.len() - 1], LENGTHS)));
            }
            if steps.is_empty() {
                continue;
            }
            let mut path = b.path(&steps);
            let last = steps.len() - 1;
            // Some come out the same for all lengths, and are known to.
            if !path.is_within(steps.len(), &(1..9)) {
                continue;
            }
            let good = |lengths: [u32; 2]| {
                let said = meaning.iter().zip(&steps).enumerate();
                said.into_iter().all(|(i, (m, s))| holds(m, lengths) == (s.1 != (i == last)))
            };
            match solve(&mut path, steps.len(), 40) {
                Resized::Lengths { lengths, .. } => {
                    assert!(good([lengths[0], lengths[1]]), "{meaning:?} {lengths:?}");
                }
                found => {
                    let one = |n| good([n, LENGTHS[1]]) || good([LENGTHS[0], n]);
                    assert!(!(0..=40).any(one), "{meaning:?} {found:?}");
                    if found == Resized::Never {
                        assert!(!(0..=40).any(|n| (0..=40).any(|m| good([n, m]))), "{meaning:?}");
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
