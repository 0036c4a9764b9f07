//! Sums, products, quotients, and when they overflow.

use super::{Made, Rule, extended, into_choice, is, shifted, with_constant};
use crate::eval::mask;
use crate::pool::{Code, Pool, Term};

pub(super) const ADD: &[Rule] = &[
    Rule { equation: "x + 0 = x", apply: zero_right },
    Rule {
        equation: "(x + c) + d = x + (c + d)",
        apply: |p, m| {
            let d = p.constant(m.y())?;
            let (x, c) = with_constant(p, m.x(), Code::Add)?;
            let sum = p.number(c.wrapping_add(d), m.width);
            Some(p.pair(Code::Add, x, sum))
        },
    },
    Rule {
        equation: "(c - x) + d = (c + d) - x",
        apply: |p, m| {
            let d = p.constant(m.y())?;
            let n = is(p, m.x(), Code::Sub)?;
            let c = p.constant(Term::from_number(n.a))?;
            let sum = p.number(c.wrapping_add(d), m.width);
            Some(p.pair(Code::Sub, sum, Term::from_number(n.b)))
        },
    },
    Rule {
        equation: "(x + c) + y = (x + y) + c",
        apply: |p, m| {
            let (x, y) = (m.x(), m.y());
            let (inner, other) = [(x, y), (y, x)]
                .into_iter()
                .find(|(i, _)| with_constant(p, *i, Code::Add).is_some())?;
            p.constant(other).is_none().then_some(())?;
            let (x, c) = with_constant(p, inner, Code::Add)?;
            let sum = p.pair(Code::Add, x, other);
            let c = p.number(c, m.width);
            Some(p.pair(Code::Add, sum, c))
        },
    },
    Rule { equation: "zext(x) + y:0 = y:x where they do not meet", apply: beside },
    Rule { equation: "(b ? c : d) + e = b ? (c + e) : (d + e)", apply: into_choice },
];

pub(super) const SUB: &[Rule] = &[
    Rule {
        equation: "x - c = x + (-c)",
        apply: |p, m| {
            let c = p.constant(m.y())?;
            let minus = p.number(c.wrapping_neg(), m.width);
            Some(p.pair(Code::Add, m.x(), minus))
        },
    },
    Rule { equation: "x - x = 0", apply: |p, m| (m.a == m.b).then(|| p.number(0, m.width)) },
    Rule {
        equation: "(x + c) - y = (x - y) + c",
        apply: |p, m| {
            let (x, c) = with_constant(p, m.x(), Code::Add)?;
            let difference = p.pair(Code::Sub, x, m.y());
            let c = p.number(c, m.width);
            Some(p.pair(Code::Add, difference, c))
        },
    },
    Rule {
        equation: "x - (y + c) = (x - y) + (-c)",
        apply: |p, m| {
            let (y, c) = with_constant(p, m.y(), Code::Add)?;
            let difference = p.pair(Code::Sub, m.x(), y);
            let minus = p.number(c.wrapping_neg(), m.width);
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
        apply: |p, m| {
            let c = p.constant(m.y())?;
            c.is_power_of_two().then_some(())?;
            let by = p.number(c.trailing_zeros().into(), m.width);
            Some(p.pair(Code::Shl, m.x(), by))
        },
    },
    Rule {
        equation: "(x * c) * d = x * (c * d)",
        apply: |p, m| {
            let d = p.constant(m.y())?;
            let (x, c) = with_constant(p, m.x(), Code::Mul)?;
            let product = p.number(c.wrapping_mul(d), m.width);
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
        apply: |p, m| {
            let c = p.constant(m.y())?;
            c.is_power_of_two().then_some(())?;
            let by = p.number(c.trailing_zeros().into(), m.width);
            Some(p.pair(Code::LShr, m.x(), by))
        },
    },
    Rule { equation: "zext(x) / c = zext(x / c) where c fits", apply: narrow },
];

pub(super) const SDIV: &[Rule] = &[
    Rule { equation: "x / 1 = x", apply: |p, m| (m.width > 1).then(|| one_right(p, m)).flatten() },
    Rule { equation: "x / 0 = 0", apply: zero_absorbs },
    Rule {
        equation: "x / y (signed) = x / y (unsigned) where neither is negative",
        apply: |p, m| unsigned(p, m, Code::UDiv),
    },
];

pub(super) const UREM: &[Rule] = &[
    Rule { equation: "x % 0 = 0", apply: zero_absorbs },
    Rule {
        equation: "x % 2^k = x & (2^k - 1)",
        apply: |p, m| {
            let c = p.constant(m.y())?;
            c.is_power_of_two().then_some(())?;
            let low = p.number(c - 1, m.width);
            Some(p.pair(Code::And, m.x(), low))
        },
    },
    Rule { equation: "zext(x) % c = zext(x % c) where c fits", apply: narrow },
];

pub(super) const SREM: &[Rule] = &[
    Rule { equation: "x % 0 = 0", apply: zero_absorbs },
    Rule {
        equation: "x % y (signed) = x % y (unsigned) where neither is negative",
        apply: |p, m| unsigned(p, m, Code::URem),
    },
];

pub(super) const UADDO: &[Rule] = &[
    Rule {
        equation: "x + y overflows = 0 where there is a bit to spare",
        apply: |p, m| never(p, m, p.bits(m.x()).max(p.bits(m.y())) + 1, 0),
    },
    Rule {
        equation: "x + c overflows = -c - 1 < x",
        apply: |p, m| {
            let c = p.constant(m.y())?;
            let width = p.width(m.x());
            let last = p.number(mask(width) - c, width);
            Some(p.pair(Code::Ult, last, m.x()))
        },
    },
];

pub(super) const SADDO: &[Rule] = &[Rule {
    equation: "x + y overflows (signed) = 0 where there are bits to spare",
    apply: |p, m| never(p, m, p.bits(m.x()).max(p.bits(m.y())) + 1, 1),
}];

pub(super) const USUBO: &[Rule] = &[Rule {
    equation: "x - y overflows = x < y",
    apply: |p, m| Some(p.pair(Code::Ult, m.x(), m.y())),
}];

pub(super) const SSUBO: &[Rule] = &[Rule {
    equation: "x - y overflows (signed) = 0 where neither is negative",
    apply: |p, m| never(p, m, p.bits(m.x()).max(p.bits(m.y())), 1),
}];

pub(super) const UMULO: &[Rule] = &[
    Rule {
        equation: "x * y overflows = 0 where there are bits to spare",
        apply: |p, m| never(p, m, p.bits(m.x()) + p.bits(m.y()), 0),
    },
    Rule {
        equation: "x * c overflows = ones / c < x",
        apply: |p, m| {
            let (c, width) = (p.constant(m.y())?, p.width(m.x()));
            let most = mask(width).checked_div(c)?;
            let most = p.number(most, width);
            Some(p.pair(Code::Ult, most, m.x()))
        },
    },
];

pub(super) const SMULO: &[Rule] = &[Rule {
    equation: "x * y overflows (signed) = 0 where there are bits to spare",
    apply: |p, m| never(p, m, p.bits(m.x()) + p.bits(m.y()), 1),
}];

/// No overflow where the result needs `bits` and there are `spare` more.
fn never(pool: &mut Pool, m: &Made, bits: u32, spare: u32) -> Option<Term> {
    (bits + spare <= pool.width(m.x())).then(|| pool.bit(false))
}

pub(super) fn zero_right(pool: &mut Pool, m: &Made) -> Option<Term> {
    (pool.constant(m.y())? == 0).then(|| m.x())
}

pub(super) fn zero_absorbs(pool: &mut Pool, m: &Made) -> Option<Term> {
    (pool.constant(m.y())? == 0).then(|| m.y())
}

fn one_right(pool: &mut Pool, m: &Made) -> Option<Term> {
    (pool.constant(m.y())? == 1).then(|| m.x())
}

fn unsigned(pool: &mut Pool, m: &Made, code: Code) -> Option<Term> {
    let positive = pool.bits(m.x()) < m.width && pool.bits(m.y()) < m.width;
    positive.then(|| pool.pair(code, m.x(), m.y()))
}

/// `zext(x) ∘ c = zext(x ∘ c)`: a quotient and a remainder are no larger than what
/// is divided; with a divisor that does not fit they are 0 and `x`.
fn narrow(pool: &mut Pool, m: &Made) -> Option<Term> {
    let (x, c) = (extended(pool, m.x())?, pool.constant(m.y())?);
    let width = pool.width(x);
    if c > mask(width) {
        return Some(if m.code == Code::UDiv { pool.number(0, m.width) } else { m.x() });
    }
    let c = pool.number(c, width);
    let small = pool.pair(m.code, x, c);
    Some(pool.zext(small, m.width))
}

/// Two parts that share no bit, one above the other: adding, or-ing and xor-ing
/// them is putting them side by side.
pub(super) fn beside(pool: &mut Pool, m: &Made) -> Option<Term> {
    let (low, (high, at)) = [(m.x(), m.y()), (m.y(), m.x())]
        .into_iter()
        .find_map(|(low, high)| Some((low, shifted(pool, high)?)))?;
    (pool.bits(low) <= at && pool.constant(low).is_none()).then_some(())?;
    let low = pool.extract(low, 0, at);
    Some(pool.concat(low, high))
}
