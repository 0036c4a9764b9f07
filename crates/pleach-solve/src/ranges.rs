//! Tier 1, proofs: the values that a term can have.
//!
//! One pass over the goal, from the inputs up, computes the possible values of each term
//! from those of its operands. A byte has the values of its domain. A goal that can only be
//! 0 is infeasible. Up to [`MAX_VALUES`] values are listed; more are kept as a range. This
//! proves facts that are common in parsers: ten digits do not overflow 64 bits, a character
//! is in one class only, a state of a generated parser has no such successor.
//!
//! Conditions before the flip that compare a term with a constant restrict the term
//! further, and `x == c` pins it. Programs pin terms often: every pointer to an object that
//! the input chose is pinned, so what they read from the object cannot change on this path,
//! although it depends on the input. A condition is itself a term, with the value 1.
//!
//! Operands are treated as independent, so the result may have too many values, but never
//! too few. A term wider than 64 bits can have any value.

use crate::request::Request;
use pleach_expr::{Code, Node, Pool, Term, compute64, mask64, sign64};
use std::sync::Arc;

/// Terms whose values are computed for one goal.
const MAX_TERMS: u64 = 20_000;
/// Entries of a table that are read for one lookup.
const MAX_ENTRIES: u64 = 512;

/// Values that are listed.
const MAX_VALUES: usize = 256;
/// Pairs of operands that are computed for one operation.
const MAX_PAIRS: usize = 1024;

/// The least and the greatest value. The range is empty if the first is larger.
type Range = (u64, u64);

/// The values that a term can have.
#[derive(Clone, Debug, Default)]
struct Values {
    range: Range,
    /// Sorted; `None` for one value, or if only the range is known.
    list: Option<Arc<[u64]>>,
}

impl Values {
    fn one(value: u64) -> Values {
        Values { range: (value, value), list: None }
    }

    fn range(range: Range) -> Values {
        Values { range, list: None }
    }

    /// Some values, in any order.
    fn of(mut values: Vec<u64>) -> Values {
        values.sort_unstable();
        values.dedup();
        let range = match (values.first(), values.last()) {
            (Some(&low), Some(&high)) => (low, high),
            _ => (1, 0),
        };
        let list = (values.len() <= MAX_VALUES && values.len() > 1).then(|| values.into());
        Values { range, list }
    }

    fn is_empty(&self) -> bool {
        self.range.0 > self.range.1
    }

    /// The listed values; `None` if only the range is known.
    fn list(&self) -> Option<&[u64]> {
        match &self.list {
            Some(list) => Some(list),
            None if self.range.0 == self.range.1 => Some(std::slice::from_ref(&self.range.0)),
            None => None,
        }
    }
}

/// The values of terms at one step. They are kept for the next request: the cases of a
/// switch are many requests on the same value.
#[derive(Default)]
pub(crate) struct Ranges {
    /// By term: the round in which they were computed, and the values. Each step is one
    /// round.
    known: Vec<(u32, Values)>,
    round: u32,
    /// The path, the step, and which conditions are ignored in this round.
    step: (u64, usize, [bool; 2]),
    stack: Vec<Term>,
    pub work: u64,
}

/// True if a goal cannot hold.
pub(crate) fn refute(request: &mut Request) -> bool {
    let mut ranges = std::mem::take(&mut request.scratch.ranges);
    let ignored = [request.optimistic, request.left_out.is_some()];
    let step = (request.path.serial, request.at, ignored);
    if ranges.step != step || ranges.round == 0 {
        ranges.step = step;
        ranges.round = ranges.round.wrapping_add(1).max(1);
    }
    let terms = request.path.pool.len().max(ranges.known.len());
    ranges.known.resize_with(terms, Default::default);
    let refuted = (0..request.goals.len()).any(|i| {
        let goal = request.goals[i];
        ranges.values_of(request, goal).is_some_and(|v| v.is_empty() || v.range == (0, 0))
    });
    request.scratch.ranges = ranges;
    refuted
}

impl Ranges {
    /// The values of a term; `None` if that is too much work.
    fn values_of(&mut self, request: &mut Request, root: Term) -> Option<Values> {
        self.stack.clear();
        self.stack.push(root);
        let mut count = 0;
        while let Some(&term) = self.stack.last() {
            if self.known[term.index()].0 == self.round {
                self.stack.pop();
                continue;
            }
            let node = request.path.pool.node(term);
            let mut found = None;
            if let Some(value) = request.pinned(term) {
                found = Some(Values::one(value));
            } else if node.code.arity() == 0 {
                found = Some(leaf_values(request, term, &node));
            } else {
                let before = self.stack.len();
                let missing = node.operands().filter(|o| self.known[o.index()].0 != self.round);
                self.stack.extend(missing);
                if self.stack.len() == before {
                    let values = self.operation_values(&request.path.pool, &node);
                    found = Some(self.restrict(request, term, values));
                }
            }
            if let Some(values) = found {
                self.known[term.index()] = (self.round, values);
                self.stack.pop();
                count += 1;
                if count > MAX_TERMS {
                    return None;
                }
            }
        }
        self.work += count;
        Some(self.known[root.index()].1.clone())
    }

    /// Removes values that conditions on the term exclude.
    fn restrict(&mut self, request: &Request, term: Term, values: Values) -> Values {
        if request.optimistic {
            return values;
        }
        let (path, mut values) = (&*request.path, values);
        for atom in path.comparisons(term, request.at).filter(|&a| !request.is_ignored(a)) {
            let holds = |v: u64| holds_for(&path.pool, atom, term, v);
            if let Some(list) = values.list() {
                self.work += list.len() as u64;
                if !list.iter().all(|&v| holds(v)) {
                    values = Values::of(list.iter().copied().filter(|&v| holds(v)).collect());
                }
            } else if let Some((low, high)) = bounds(&path.pool, atom, term) {
                values.range = (values.range.0.max(low), values.range.1.min(high));
            }
        }
        values
    }

    /// The values of an operation, from those of its operands.
    fn operation_values(&mut self, pool: &Pool, node: &Node) -> Values {
        let mut operands = node.operands();
        let unknown = Values::range(full_range(node.width()));
        let Some(first) = operands.next() else { return unknown };
        let operand = pool.width(first);
        if node.width > 64 || operand > 64 {
            return unknown;
        }
        let known = |t: Option<Term>| t.map(|t| &self.known[t.index()].1);
        let (a, b, c) = (known(Some(first)), known(operands.next()), known(operands.next()));
        let Some(a) = a else { return unknown };
        let zero = Values::one(0);
        let (b, c) = (b.unwrap_or(&zero), c.unwrap_or(&zero));
        // If an operand has no values, the operation has none.
        if a.is_empty() || b.is_empty() || (c.is_empty() && node.code != Code::Ite) {
            return Values::of(Vec::new());
        }
        if node.code != Code::Ite
            && let (Some(xs), Some(ys), Some([z])) = (a.list(), b.list(), c.list())
            && xs.len() * ys.len() <= MAX_PAIRS
        {
            self.work += (xs.len() * ys.len()) as u64;
            let pairs = xs.iter().flat_map(|&x| ys.iter().map(move |&y| (x, y)));
            return Values::of(
                pairs.map(|(x, y)| compute64(pool, node, operand, x, y, *z)).collect(),
            );
        }
        if node.code == Code::Ite {
            return match a.range {
                (1, _) => b.clone(),
                (_, 0) => c.clone(),
                _ => match (b.list(), c.list()) {
                    (Some(x), Some(y)) => Values::of([x, y].concat()),
                    _ => {
                        let (b, c) = (b.range, c.range);
                        Values::range((b.0.min(c.0), b.1.max(c.1)))
                    }
                },
            };
        }
        if node.code == Code::Lookup && a.range.1 - a.range.0 < MAX_ENTRIES {
            let table = pool.table(node);
            self.work += a.range.1 - a.range.0;
            return Values::of(
                (a.range.0..=a.range.1).map(|at| table.get64(at, node.width())).collect(),
            );
        }
        let range = operation_range(pool, node, operand, a.range, b.range);
        let (low, high) = range.unwrap_or_else(|| full_range(node.width()));
        match high - low < MAX_VALUES as u64 {
            true => Values::of((low..=high).collect()),
            false => Values::range((low, high)),
        }
    }
}

/// True if a condition on `term` and a constant holds for a value of `term`.
fn holds_for(pool: &Pool, atom: Term, term: Term, value: u64) -> bool {
    let node = pool.node(atom);
    let operands: Vec<Term> = node.operands().collect();
    let of = |t: &Term| match *t == term {
        true => Some(value),
        false => pool.constant(*t).map(|c| c as u64),
    };
    let width = operands.first().map_or(0, |&t| pool.width(t));
    match (operands.first().map(of), operands.get(1).map(of)) {
        (Some(Some(a)), Some(Some(b))) => compute64(pool, &node, width, a, b, 0) != 0,
        (Some(Some(a)), None) => compute64(pool, &node, width, a, 0, 0) != 0,
        // Not (term in a set).
        (Some(None), Some(Some(1))) if node.code == Code::Xor => {
            !holds_for(pool, operands[0], term, value)
        }
        _ => true,
    }
}

/// The range of `term`, if a condition is an order between it and a constant.
fn bounds(pool: &Pool, atom: Term, term: Term) -> Option<Range> {
    let node = pool.node(atom);
    let mut operands = node.operands();
    let (x, y) = (operands.next()?, operands.next()?);
    let constant = |t: Term| pool.constant(t).and_then(|c| u64::try_from(c).ok());
    match node.code {
        Code::Ult if x == term => Some((0, constant(y)?.checked_sub(1)?)),
        Code::Ult if y == term => Some((constant(x)?.checked_add(1)?, u64::MAX)),
        _ => None,
    }
}

fn full_range(width: u32) -> Range {
    (0, mask64(width))
}

/// The values of an input or a constant.
fn leaf_values(request: &mut Request, term: Term, node: &Node) -> Values {
    match node.code {
        Code::Const => {
            let value = request.path.pool.constant(term).unwrap_or(0);
            u64::try_from(value).map_or(Values::range(full_range(node.width())), Values::one)
        }
        Code::Len => {
            let (low, high) = request.path.interval(node.a, request.at);
            Values::range((low, high.min(request.limits.length).max(low)))
        }
        Code::Read if node.width == 8 => {
            Values::of(request.domain(node.a).iter().map(u64::from).collect())
        }
        Code::Read if node.width <= 64 => {
            let range = (0..node.width() / 8).fold((0, 0), |range, i| {
                let set = request.domain(node.a + i);
                let (low, high) = (set.iter().next(), set.iter().last());
                let low = u64::from(low.unwrap_or(0)) << (8 * i);
                let high = u64::from(high.unwrap_or(255)) << (8 * i);
                (range.0 | low, range.1 | high)
            });
            Values::range(range)
        }
        _ => Values::range(full_range(node.width())),
    }
}

/// The range of an operation; `None` if it can have any value.
fn operation_range(pool: &Pool, n: &Node, operand: u32, a: Range, b: Range) -> Option<Range> {
    let ones = mask64(n.width());
    // Both ends wrap equally often, or the result is not a range.
    let wrapped = |low: u128, high: u128| {
        let modulus = u128::from(ones) + 1;
        (low / modulus == high / modulus).then_some((low as u64 & ones, high as u64 & ones))
    };
    let wide = |v: u64| u128::from(v);
    match n.code {
        Code::Add => wrapped(wide(a.0) + wide(b.0), wide(a.1) + wide(b.1)),
        Code::Sub => {
            let modulus = wide(ones) + 1;
            wrapped(modulus + wide(a.0) - wide(b.1), modulus + wide(a.1) - wide(b.0))
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
        Code::Concat => Some((a.0 | b.0 << operand, a.1 | b.1 << operand)),
        Code::Member => {
            let values = &pool.set(n).values;
            let first = values.partition_point(|&v| v < a.0);
            let is_excluded = values.get(first).is_none_or(|&v| v > a.1);
            truth(false, is_excluded)
        }
        Code::Ctlz | Code::Cttz | Code::Popcnt => Some((0, n.width.into())),
        code => comparison_range(code, operand, a, b),
    }
}

/// The range of a bit: 1 if it is always set, 0 if it is never set, `None` otherwise.
fn truth(always: bool, never: bool) -> Option<Range> {
    match (always, never) {
        (true, _) => Some((1, 1)),
        (_, true) => Some((0, 0)),
        _ => None,
    }
}

/// The range of a comparison; `None` if it can have both values.
fn comparison_range(code: Code, operand: u32, a: Range, b: Range) -> Option<Range> {
    let negated = |r: Option<Range>| r.map(|(v, _)| (1 - v, 1 - v));
    // With the sign bit flipped, signed order is unsigned order. A range with both signs
    // becomes the full range.
    let signed = |r: Range| {
        let sign = 1u64 << (operand - 1);
        match (r.0 & sign, r.1 & sign) {
            (x, y) if x == y => (r.0 ^ sign, r.1 ^ sign),
            _ => full_range(operand),
        }
    };
    let less = |a: Range, b: Range| truth(a.1 < b.0, a.0 >= b.1);
    let equal = |a: Range, b: Range| truth(a.0 == a.1 && a == b, a.1 < b.0 || b.1 < a.0);
    let overflows = |low: u128, high: u128| {
        let largest = u128::from(mask64(operand));
        truth(low > largest, high <= largest)
    };
    let wide = |v: u64| u128::from(v);
    match code {
        Code::Eq => equal(a, b),
        Code::Ne => negated(equal(a, b)),
        Code::Ult | Code::USubO => less(a, b),
        Code::Ule => negated(less(b, a)),
        Code::Slt => less(signed(a), signed(b)),
        Code::Sle => negated(less(signed(b), signed(a))),
        Code::UAddO => overflows(wide(a.0) + wide(b.0), wide(a.1) + wide(b.1)),
        Code::UMulO => overflows(wide(a.0) * wide(b.0), wide(a.1) * wide(b.1)),
        Code::SAddO | Code::SSubO | Code::SMulO => no_signed_overflow(code, operand, a, b),
        _ => None,
    }
}

/// 0 if no two numbers of the ranges overflow.
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
