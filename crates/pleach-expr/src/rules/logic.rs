//! Bits that are combined one by one, choices, and tables.

use super::arithmetic::{beside, zero_absorbs, zero_right};
use super::bits::masked;
use super::{Made, Rule, extended, into_choice, shifted, with_constant};
use crate::eval::mask;
use crate::pool::{Code, Pool, Term};

pub(super) const AND: &[Rule] = &[
    Rule { equation: "x & 0 = 0", apply: zero_absorbs },
    Rule {
        equation: "x & ones = x",
        apply: |p, m| (p.constant(m.y())? == mask(m.width)).then(|| m.x()),
    },
    Rule { equation: "x & x = x", apply: |_, m| (m.a == m.b).then(|| m.x()) },
    Rule { equation: "(x & c) & d = x & (c & d)", apply: |p, m| associate(p, m, |c, d| c & d) },
    Rule {
        equation: "x & c = x where c has all bits that x can have",
        apply: |p, m| {
            let bits = mask(p.bits(m.x()));
            (p.constant(m.y())? & bits == bits).then(|| m.x())
        },
    },
    Rule { equation: "x & 0…01…10…0 = 0:x[i..j]:0", apply: masked },
    Rule { equation: "zext(x) & c = zext(x & c)", apply: narrow },
    Rule { equation: "(b ? c : d) & e = b ? (c & e) : (d & e)", apply: into_choice },
];

pub(super) const OR: &[Rule] = &[
    Rule { equation: "x | 0 = x", apply: zero_right },
    Rule {
        equation: "x | ones = ones",
        apply: |p, m| (p.constant(m.y())? == mask(m.width)).then(|| m.y()),
    },
    Rule { equation: "x | x = x", apply: |_, m| (m.a == m.b).then(|| m.x()) },
    Rule { equation: "(x | c) | d = x | (c | d)", apply: |p, m| associate(p, m, |c, d| c | d) },
    Rule { equation: "zext(x) | y:0 = y:x where they do not meet", apply: beside },
    Rule { equation: "(x:0) | (y:0) = (x | y):0", apply: both_shifted },
    Rule { equation: "zext(x) | c = zext(x | c) where c fits", apply: narrow },
    Rule { equation: "(b ? c : d) | e = b ? (c | e) : (d | e)", apply: into_choice },
];

pub(super) const XOR: &[Rule] = &[
    Rule { equation: "x ^ 0 = x", apply: zero_right },
    Rule { equation: "x ^ x = 0", apply: |p, m| (m.a == m.b).then(|| p.number(0, m.width)) },
    Rule { equation: "(x ^ c) ^ d = x ^ (c ^ d)", apply: |p, m| associate(p, m, |c, d| c ^ d) },
    Rule {
        equation: "(x ∘ y) ^ 1 = the comparison that says the contrary",
        apply: |p, m| {
            (m.width == 1 && p.constant(m.y())? == 1).then_some(())?;
            let n = p.node(m.x());
            let (x, y) = (Term::from_number(n.a), Term::from_number(n.b));
            Some(match n.code {
                Code::Eq => p.pair(Code::Ne, x, y),
                Code::Ne => p.pair(Code::Eq, x, y),
                Code::Ult => p.pair(Code::Ule, y, x),
                Code::Ule => p.pair(Code::Ult, y, x),
                Code::Slt => p.pair(Code::Sle, y, x),
                Code::Sle => p.pair(Code::Slt, y, x),
                _ => return None,
            })
        },
    },
    Rule { equation: "zext(x) ^ y:0 = y:x where they do not meet", apply: beside },
    Rule { equation: "zext(x) ^ c = zext(x ^ c) where c fits", apply: narrow },
    Rule { equation: "(b ? c : d) ^ e = b ? (c ^ e) : (d ^ e)", apply: into_choice },
];

pub(super) const ITE: &[Rule] = &[
    Rule {
        equation: "1 ? x : y = x, 0 ? x : y = y",
        apply: |p, m| Some(if p.constant(m.x())? == 1 { m.y() } else { m.z() }),
    },
    Rule { equation: "b ? x : x = x", apply: |_, m| (m.b == m.c).then(|| m.y()) },
    Rule {
        equation: "b ? 1 : 0 = b, b ? 0 : 1 = b ^ 1",
        apply: |p, m| {
            (m.width == 1).then_some(())?;
            match (p.constant(m.y())?, p.constant(m.z())?) {
                (1, 0) => Some(m.x()),
                (0, 1) => Some(p.not(m.x())),
                _ => None,
            }
        },
    },
    Rule {
        equation: "(b ^ 1) ? x : y = b ? y : x",
        apply: |p, m| {
            let (b, one) = with_constant(p, m.x(), Code::Xor)?;
            (one == 1).then(|| p.ite(b, m.z(), m.y()))
        },
    },
];

pub(super) const LOOKUP: &[Rule] = &[Rule {
    equation: "table[b ? c : d] = b ? table[c] : table[d]",
    apply: |p, m| {
        let (bit, yes, no) = super::choice(p, m.x())?;
        let yes = p.make(Code::Lookup, m.width, yes.number(), m.b, 0);
        let no = p.make(Code::Lookup, m.width, no.number(), m.b, 0);
        Some(p.ite(bit, yes, no))
    },
}];

fn associate(pool: &mut Pool, m: &Made, both: fn(u128, u128) -> u128) -> Option<Term> {
    let d = pool.constant(m.y())?;
    let (x, c) = with_constant(pool, m.x(), m.code)?;
    let c = pool.number(both(c, d), m.width);
    Some(pool.pair(m.code, x, c))
}

/// `zext(x) ∘ c = zext(x ∘ c)`. The high bits of `x` are 0: `&` makes them 0
/// whatever `c` is, `|` and `^` leave those of `c`, which must be 0.
fn narrow(pool: &mut Pool, m: &Made) -> Option<Term> {
    let (x, c) = (extended(pool, m.x())?, pool.constant(m.y())?);
    let width = pool.width(x);
    (m.code == Code::And || c <= mask(width)).then_some(())?;
    let c = pool.number(c, width);
    let small = pool.pair(m.code, x, c);
    Some(pool.zext(small, m.width))
}

/// Low zeros that both have stay outside.
fn both_shifted(pool: &mut Pool, m: &Made) -> Option<Term> {
    let ((_, i), (_, j)) = (shifted(pool, m.x())?, shifted(pool, m.y())?);
    let low = i.min(j);
    let x = pool.extract(m.x(), low, m.width - low);
    let y = pool.extract(m.y(), low, m.width - low);
    let high = pool.pair(m.code, x, y);
    let zeros = pool.number(0, low);
    Some(pool.concat(zeros, high))
}
