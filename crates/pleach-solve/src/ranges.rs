//! Tier 1, proofs: what a value can be at least and at most.
//!
//! One pass over the goal, from the inputs up: each byte has the range of its
//! domain, each operation makes a range from those of its operands, and a goal
//! whose range is 0 alone cannot hold. What this proves is what parsers are full
//! of: that ten digits do not overflow 64 bits, that a class of characters has no
//! second meaning.
//!
//! A condition before the flip that says `x == c` pins the term `x`: its range is
//! `c`, whatever it is computed from. Programs pin all the time, with every
//! pointer that they follow to an object chosen by the input; what they then read
//! from the object depends on the input, and yet cannot change on this path. A
//! condition that holds is itself a term with the value 1, wherever it occurs.
//!
//! Ranges are of unsigned numbers of up to 64 bits; what is wider or wraps around
//! is not known.

use crate::request::Request;
use pleach_expr::{Code, Node, Pool, Term, compute64, mask64, sign64};

/// Operations that are looked at for one goal.
const MOST_TERMS: usize = 20_000;
/// Entries of a table that are looked at for one lookup.
const MOST_ENTRIES: u64 = 512;

/// From, to.
type Range = (u64, u64);

/// Ranges that are known, kept from request to request for the room.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// By term: the round in which it was found, and its range.
    known: Vec<(u32, Range)>,
    round: u32,
    stack: Vec<Term>,
    pub work: u64,
}

/// Whether the ranges of the inputs leave no way for the goals.
pub(crate) fn refute(request: &mut Request) -> bool {
    let mut ranges = std::mem::take(&mut request.scratch.ranges);
    ranges.round += 1;
    ranges.known.resize(request.path.pool.len().max(ranges.known.len()), (0, (0, 0)));
    let refuted = (0..request.goals.len()).any(|i| {
        let goal = request.goals[i];
        ranges.of(request, goal) == Some((0, 0))
    });
    request.scratch.ranges = ranges;
    refuted
}

impl Ranges {
    /// The range of a term, or nothing if that is too much work.
    fn of(&mut self, request: &mut Request, root: Term) -> Option<Range> {
        self.stack.clear();
        self.stack.push(root);
        let mut count = 0;
        while let Some(&term) = self.stack.last() {
            if self.known[term.index()].0 == self.round {
                self.stack.pop();
                continue;
            }
            let node = request.path.pool.node(term);
            let mut range = None;
            if let Some(value) = request.pinned(term) {
                range = Some((value, value));
            } else if node.code.arity() == 0 {
                range = Some(leaf(request, term, &node));
            } else {
                let before = self.stack.len();
                let missing = node.operands().filter(|o| self.known[o.index()].0 != self.round);
                self.stack.extend(missing);
                if self.stack.len() == before {
                    range = Some(self.step(&request.path.pool, &node));
                }
            }
            if let Some(range) = range {
                self.known[term.index()] = (self.round, range);
                self.stack.pop();
                count += 1;
                if count > MOST_TERMS {
                    return None;
                }
            }
        }
        self.work += count as u64;
        Some(self.known[root.index()].1)
    }

    fn step(&self, pool: &Pool, node: &Node) -> Range {
        let mut operands = node.operands();
        let mut next = || operands.next().map(|t| (self.known[t.index()].1, pool.width(t)));
        let (Some((a, operand)), second, third) = (next(), next(), next()) else {
            return full(node.width());
        };
        if node.width > 64 || operand > 64 {
            return full(node.width());
        }
        let b = second.map_or((0, 0), |s| s.0);
        let c = third.map_or((0, 0), |t| t.0);
        if a.0 == a.1 && b.0 == b.1 && c.0 == c.1 {
            let value = compute64(pool, node, operand, a.0, b.0, c.0);
            return (value, value);
        }
        transfer(pool, node, operand, a, b, c).unwrap_or_else(|| full(node.width()))
    }
}

fn full(width: u32) -> Range {
    (0, mask64(width))
}

fn leaf(request: &mut Request, term: Term, node: &Node) -> Range {
    match node.code {
        Code::Const => {
            let value = request.path.pool.constant(term).unwrap_or(0);
            u64::try_from(value).map_or(full(node.width()), |v| (v, v))
        }
        Code::Len => {
            let (low, high) = request.path.interval(node.a, request.at);
            (low, high.min(request.limits.length).max(low))
        }
        Code::Read if node.width <= 64 => (0..node.width() / 8).fold((0, 0), |range, i| {
            let (low, high) = byte_range(request, node.a + i);
            (range.0 | low << (8 * i), range.1 | high << (8 * i))
        }),
        _ => full(node.width()),
    }
}

fn byte_range(request: &mut Request, offset: u32) -> Range {
    let set = request.allowed(offset);
    let (low, high) = (set.iter().next(), set.iter().last());
    (low.unwrap_or(0).into(), high.unwrap_or(255).into())
}

/// The range of an operation; nothing if only its width is known.
fn transfer(pool: &Pool, n: &Node, operand: u32, a: Range, b: Range, c: Range) -> Option<Range> {
    let ones = mask64(n.width());
    let bit = |yes: bool, no: bool| match (yes, no) {
        (true, _) => Some((1, 1)),
        (_, true) => Some((0, 0)),
        _ => None,
    };
    let turned = |r: Option<Range>| r.map(|(v, _)| (1 - v, 1 - v));
    // With the sign bit turned round, signed order is unsigned order; a range that
    // spans the turn is everything.
    let signed = |r: Range| {
        let sign = 1u64 << (operand - 1);
        match (r.0 & sign, r.1 & sign) {
            (x, y) if x == y => (r.0 ^ sign, r.1 ^ sign),
            _ => full(operand),
        }
    };
    let less = |a: Range, b: Range| bit(a.1 < b.0, a.0 >= b.1);
    let equal = |a: Range, b: Range| {
        bit(a.0 == a.1 && a == b, a.1 < b.0 || b.1 < a.0)
    };
    // Both ends wrap, or neither.
    let wrapped = |low: u128, high: u128| {
        let turn = u128::from(ones) + 1;
        (low / turn == high / turn).then_some((low as u64 & ones, high as u64 & ones))
    };
    let wide = |v: u64| u128::from(v);
    match n.code {
        Code::Add => wrapped(wide(a.0) + wide(b.0), wide(a.1) + wide(b.1)),
        Code::Sub => {
            let turn = wide(ones) + 1;
            wrapped(turn + wide(a.0) - wide(b.1), turn + wide(a.1) - wide(b.0))
        }
        Code::Mul => wrapped(wide(a.0) * wide(b.0), wide(a.1) * wide(b.1)),
        Code::UDiv if b.0 > 0 => Some((a.0 / b.1, a.1 / b.0)),
        Code::UDiv => Some((0, a.1)),
        Code::URem if b.0 > 0 && a.1 < b.0 => Some(a),
        Code::URem if b.1 > 0 => Some((0, a.1.min(b.1 - 1))),
        Code::And => Some((0, a.1.min(b.1))),
        Code::Or => {
            let top = u64::BITS - (a.1 | b.1).leading_zeros();
            Some((a.0.max(b.0), mask64(top)))
        }
        Code::Xor => {
            let top = u64::BITS - (a.1 | b.1).leading_zeros();
            Some((0, mask64(top)))
        }
        Code::LShr if b.0 == b.1 && b.0 < n.width.into() => Some((a.0 >> b.0, a.1 >> b.0)),
        Code::LShr => Some((0, a.1)),
        Code::Eq => equal(a, b),
        Code::Ne => turned(equal(a, b)),
        Code::Ult | Code::USubO => less(a, b),
        Code::Ule => turned(less(b, a)),
        Code::Slt => less(signed(a), signed(b)),
        Code::Sle => turned(less(signed(b), signed(a))),
        Code::UAddO => {
            let most = wide(mask64(operand));
            bit(wide(a.0) + wide(b.0) > most, wide(a.1) + wide(b.1) <= most)
        }
        Code::UMulO => {
            let most = wide(mask64(operand));
            bit(wide(a.0) * wide(b.0) > most, wide(a.1) * wide(b.1) <= most)
        }
        Code::SAddO | Code::SSubO | Code::SMulO => no_signed_overflow(n.code, operand, a, b),
        Code::ZExt => Some(a),
        Code::SExt => {
            let sign = 1u64 << (operand - 1);
            let extend = |v: u64| sign64(v, operand) as u64 & ones;
            (a.0 & sign == a.1 & sign).then(|| (extend(a.0), extend(a.1)))
        }
        Code::Extract => {
            let (low, high) = (a.0 >> n.b, a.1 >> n.b);
            (low & !ones == high & !ones).then_some((low & ones, high & ones))
        }
        Code::Concat => {
            // The low part is free only where the high part is one number.
            match b.0 == b.1 {
                true => Some((a.0 | b.0 << operand, a.1 | b.0 << operand)),
                false => Some((a.0 | b.0 << operand, a.1 | b.1 << operand)),
            }
        }
        Code::Ite => match a {
            (1, _) => Some(b),
            (_, 0) => Some(c),
            _ => Some((b.0.min(c.0), b.1.max(c.1))),
        },
        Code::Lookup if a.1 - a.0 < MOST_ENTRIES => {
            let entries = (a.0..=a.1).map(|at| pool.table(n).get64(at, n.width()));
            entries.fold(None, |r: Option<Range>, e| {
                Some(r.map_or((e, e), |(low, high)| (low.min(e), high.max(e))))
            })
        }
        Code::Member => {
            let values = &pool.set(n).values;
            let inside = values.partition_point(|&v| v < a.0);
            let none = values.get(inside).is_none_or(|&v| v > a.1);
            bit(false, none)
        }
        Code::Ctlz | Code::Cttz | Code::Popcnt => Some((0, n.width.into())),
        _ => None,
    }
}

/// 0 where no two numbers of the ranges overflow.
fn no_signed_overflow(code: Code, operand: u32, a: Range, b: Range) -> Option<Range> {
    let sign = 1u64 << (operand - 1);
    let ends = |r: Range| {
        let same = r.0 & sign == r.1 & sign;
        let (low, high) = if same { r } else { (sign, sign - 1) };
        (i128::from(sign64(low, operand)), i128::from(sign64(high, operand)))
    };
    let ((a0, a1), (b0, b1)) = (ends(a), ends(b));
    let corners = match code {
        Code::SAddO => [a0 + b0, a1 + b1, a0 + b0, a1 + b1],
        Code::SSubO => [a0 - b1, a1 - b0, a0 - b1, a1 - b0],
        _ => [a0 * b0, a0 * b1, a1 * b0, a1 * b1],
    };
    let (least, most) = (-(i128::from(sign)), i128::from(sign) - 1);
    corners.iter().all(|c| (least..=most).contains(c)).then_some((0, 0))
}

/// The value that a condition before `at` pins a term to.
pub(crate) fn pins(pool: &Pool, atom: Term) -> impl Iterator<Item = (Term, u64)> {
    let node = pool.node(atom);
    let mut operands = node.operands();
    let (x, y) = (operands.next(), operands.next());
    let constant = |t: Option<Term>| {
        t.and_then(|t| pool.constant(t)).and_then(|c| u64::try_from(c).ok())
    };
    let pinned = match (node.code, x, constant(y)) {
        (Code::Eq, Some(x), Some(c)) => Some((x, c)),
        // Not x.
        (Code::Xor, Some(x), Some(1)) if node.width == 1 => Some((x, 0)),
        _ => None,
    };
    [(atom, 1)].into_iter().chain(pinned)
}
