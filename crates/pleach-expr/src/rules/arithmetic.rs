//! Rules for sums, products and quotients, and for tests of their overflow.

use super::{Operation, Rule, into_choice, node_if, split_low_zeros, with_constant, zext_operand};
use crate::eval::mask;
use crate::pool::{Code, Pool, Term};

pub(super) const ADD: &[Rule] = &[
    Rule { equation: "x + 0 = x", apply: zero_right },
    Rule {
        equation: "(x + c) + d = x + (c + d)",
        apply: |p, op| {
            let d = p.constant(op.y())?;
            let (x, c) = with_constant(p, op.x(), Code::Add)?;
            let sum = p.number(c.wrapping_add(d), op.width);
            Some(p.pair(Code::Add, x, sum))
        },
    },
    Rule {
        equation: "(c - x) + d = (c + d) - x",
        apply: |p, op| {
            let d = p.constant(op.y())?;
            let n = node_if(p, op.x(), Code::Sub)?;
            let c = p.constant(Term::from_number(n.a))?;
            let sum = p.number(c.wrapping_add(d), op.width);
            Some(p.pair(Code::Sub, sum, Term::from_number(n.b)))
        },
    },
    Rule {
        equation: "(x + c) + y = (x + y) + c",
        apply: |p, op| {
            let (x, y) = (op.x(), op.y());
            let (inner, other) = [(x, y), (y, x)]
                .into_iter()
                .find(|(i, _)| with_constant(p, *i, Code::Add).is_some())?;
            p.constant(other).is_none().then_some(())?;
            let (x, c) = with_constant(p, inner, Code::Add)?;
            let sum = p.pair(Code::Add, x, other);
            let c = p.number(c, op.width);
            Some(p.pair(Code::Add, sum, c))
        },
    },
    Rule { equation: "zext(x) + y:0 = y:x where they share no bit", apply: concat_disjoint },
    Rule { equation: "(b ? c : d) + e = b ? (c + e) : (d + e)", apply: into_choice },
];

pub(super) const SUB: &[Rule] = &[
    Rule {
        equation: "x - c = x + (-c)",
        apply: |p, op| {
            let c = p.constant(op.y())?;
            let minus = p.number(c.wrapping_neg(), op.width);
            Some(p.pair(Code::Add, op.x(), minus))
        },
    },
    Rule { equation: "x - x = 0", apply: |p, op| (op.a == op.b).then(|| p.number(0, op.width)) },
    Rule {
        equation: "(x + c) - y = (x - y) + c",
        apply: |p, op| {
            let (x, c) = with_constant(p, op.x(), Code::Add)?;
            let difference = p.pair(Code::Sub, x, op.y());
            let c = p.number(c, op.width);
            Some(p.pair(Code::Add, difference, c))
        },
    },
    Rule {
        equation: "x - (y + c) = (x - y) + (-c)",
        apply: |p, op| {
            let (y, c) = with_constant(p, op.y(), Code::Add)?;
            let difference = p.pair(Code::Sub, op.x(), y);
            let minus = p.number(c.wrapping_neg(), op.width);
            Some(p.pair(Code::Add, difference, minus))
        },
    },
    Rule { equation: "c - (b ? d : e) = b ? (c - d) : (c - e)", apply: into_choice },
];

pub(super) const MUL: &[Rule] = &[
    Rule { equation: "x * 0 = 0", apply: zero_absorbs },
    Rule { equation: "x * 1 = x", apply: one_right },
    Rule {
        equation: "x * 2^k = x << k",
        apply: |p, op| {
            let c = p.constant(op.y())?;
            c.is_power_of_two().then_some(())?;
            let by = p.number(c.trailing_zeros().into(), op.width);
            Some(p.pair(Code::Shl, op.x(), by))
        },
    },
    Rule {
        equation: "(x * c) * d = x * (c * d)",
        apply: |p, op| {
            let d = p.constant(op.y())?;
            let (x, c) = with_constant(p, op.x(), Code::Mul)?;
            let product = p.number(c.wrapping_mul(d), op.width);
            Some(p.pair(Code::Mul, x, product))
        },
    },
    Rule { equation: "(b ? c : d) * e = b ? (c * e) : (d * e)", apply: into_choice },
];

pub(super) const UDIV: &[Rule] = &[
    Rule { equation: "x / 1 = x", apply: one_right },
    Rule { equation: "x / 0 = 0", apply: zero_absorbs },
    Rule {
        equation: "x / 2^k = x >> k",
        apply: |p, op| {
            let c = p.constant(op.y())?;
            c.is_power_of_two().then_some(())?;
            let by = p.number(c.trailing_zeros().into(), op.width);
            Some(p.pair(Code::LShr, op.x(), by))
        },
    },
    Rule { equation: "zext(x) / c = zext(x / c) where c fits", apply: narrow },
];

pub(super) const SDIV: &[Rule] = &[
    Rule {
        equation: "x / 1 = x",
        apply: |p, op| (op.width > 1).then(|| one_right(p, op)).flatten(),
    },
    Rule { equation: "x / 0 = 0", apply: zero_absorbs },
    Rule {
        equation: "x / y (signed) = x / y (unsigned) where neither is negative",
        apply: |p, op| as_unsigned(p, op, Code::UDiv),
    },
];

pub(super) const UREM: &[Rule] = &[
    Rule { equation: "x % 0 = 0", apply: zero_absorbs },
    Rule {
        equation: "x % 2^k = x & (2^k - 1)",
        apply: |p, op| {
            let c = p.constant(op.y())?;
            c.is_power_of_two().then_some(())?;
            let low = p.number(c - 1, op.width);
            Some(p.pair(Code::And, op.x(), low))
        },
    },
    Rule { equation: "zext(x) % c = zext(x % c) where c fits", apply: narrow },
];

pub(super) const SREM: &[Rule] = &[
    Rule { equation: "x % 0 = 0", apply: zero_absorbs },
    Rule {
        equation: "x % y (signed) = x % y (unsigned) where neither is negative",
        apply: |p, op| as_unsigned(p, op, Code::URem),
    },
];

pub(super) const UADDO: &[Rule] = &[
    Rule {
        equation: "x + y overflows = 0 where there is a bit to spare",
        apply: |p, op| no_overflow(p, op, p.bits(op.x()).max(p.bits(op.y())) + 1, 0),
    },
    Rule {
        equation: "x + c overflows = -c - 1 < x",
        apply: |p, op| {
            let c = p.constant(op.y())?;
            let width = p.width(op.x());
            let last = p.number(mask(width) - c, width);
            Some(p.pair(Code::Ult, last, op.x()))
        },
    },
];

pub(super) const SADDO: &[Rule] = &[Rule {
    equation: "x + y overflows (signed) = 0 where there are bits to spare",
    apply: |p, op| no_overflow(p, op, p.bits(op.x()).max(p.bits(op.y())) + 1, 1),
}];

pub(super) const USUBO: &[Rule] = &[Rule {
    equation: "x - y overflows = x < y",
    apply: |p, op| Some(p.pair(Code::Ult, op.x(), op.y())),
}];

pub(super) const SSUBO: &[Rule] = &[Rule {
    equation: "x - y overflows (signed) = 0 where neither is negative",
    apply: |p, op| no_overflow(p, op, p.bits(op.x()).max(p.bits(op.y())), 1),
}];

pub(super) const UMULO: &[Rule] = &[
    Rule {
        equation: "x * y overflows = 0 where there are bits to spare",
        apply: |p, op| no_overflow(p, op, p.bits(op.x()) + p.bits(op.y()), 0),
    },
    Rule {
        equation: "x * c overflows = ones / c < x",
        apply: |p, op| {
            let (c, width) = (p.constant(op.y())?, p.width(op.x()));
            let most = mask(width).checked_div(c)?;
            let most = p.number(most, width);
            Some(p.pair(Code::Ult, most, op.x()))
        },
    },
];

pub(super) const SMULO: &[Rule] = &[Rule {
    equation: "x * y overflows (signed) = 0 where there are bits to spare",
    apply: |p, op| no_overflow(p, op, p.bits(op.x()) + p.bits(op.y()), 1),
}];

/// 0, if the result has at most `bits` bits and the width has `spare` more.
fn no_overflow(pool: &mut Pool, op: &Operation, bits: u32, spare: u32) -> Option<Term> {
    (bits + spare <= pool.width(op.x())).then(|| pool.bit(false))
}

pub(super) fn zero_right(pool: &mut Pool, op: &Operation) -> Option<Term> {
    (pool.constant(op.y())? == 0).then(|| op.x())
}

pub(super) fn zero_absorbs(pool: &mut Pool, op: &Operation) -> Option<Term> {
    (pool.constant(op.y())? == 0).then(|| op.y())
}

fn one_right(pool: &mut Pool, op: &Operation) -> Option<Term> {
    (pool.constant(op.y())? == 1).then(|| op.x())
}

fn as_unsigned(pool: &mut Pool, op: &Operation, code: Code) -> Option<Term> {
    let positive = pool.bits(op.x()) < op.width && pool.bits(op.y()) < op.width;
    positive.then(|| pool.pair(code, op.x(), op.y()))
}

/// `zext(x) ∘ c = zext(x ∘ c)`, because no quotient or remainder is larger than `x`. If
/// `c` has more bits than `x`, the quotient is 0 and the remainder is `x`.
fn narrow(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let (x, c) = (zext_operand(pool, op.x())?, pool.constant(op.y())?);
    let width = pool.width(x);
    if c > mask(width) {
        return Some(if op.code == Code::UDiv { pool.number(0, op.width) } else { op.x() });
    }
    let c = pool.number(c, width);
    let small = pool.pair(op.code, x, c);
    Some(pool.zext(small, op.width))
}

/// A sum, or, or xor of two operands without common bits is their concatenation.
pub(super) fn concat_disjoint(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let (low, (high, at)) = [(op.x(), op.y()), (op.y(), op.x())]
        .into_iter()
        .find_map(|(low, high)| Some((low, split_low_zeros(pool, high)?)))?;
    (pool.bits(low) <= at && pool.constant(low).is_none()).then_some(())?;
    let low = pool.extract(low, 0, at);
    Some(pool.concat(low, high))
}
