//! Rules for bitwise operations, choices and lookups.

use super::arithmetic::{concat_disjoint, zero_absorbs, zero_right};
use super::bits::masked;
use super::{Operation, Rule, into_choice, split_low_zeros, with_constant, zext_operand};
use crate::eval::mask;
use crate::pool::{Code, Pool, Term};

pub(super) const AND: &[Rule] = &[
    Rule { equation: "x & 0 = 0", apply: zero_absorbs },
    Rule {
        equation: "x & ones = x",
        apply: |p, op| (p.constant(op.y())? == mask(op.width)).then(|| op.x()),
    },
    Rule { equation: "x & x = x", apply: |_, op| (op.a == op.b).then(|| op.x()) },
    Rule { equation: "(x & c) & d = x & (c & d)", apply: |p, op| associate(p, op, |c, d| c & d) },
    Rule {
        equation: "x & c = x where c has all bits that x can have",
        apply: |p, op| {
            let bits = mask(p.bits(op.x()));
            (p.constant(op.y())? & bits == bits).then(|| op.x())
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
        apply: |p, op| (p.constant(op.y())? == mask(op.width)).then(|| op.y()),
    },
    Rule { equation: "x | x = x", apply: |_, op| (op.a == op.b).then(|| op.x()) },
    Rule { equation: "(x | c) | d = x | (c | d)", apply: |p, op| associate(p, op, |c, d| c | d) },
    Rule { equation: "zext(x) | y:0 = y:x where they share no bit", apply: concat_disjoint },
    Rule { equation: "(x:0) | (y:0) = (x | y):0", apply: share_low_zeros },
    Rule { equation: "zext(x) | c = zext(x | c) where c fits", apply: narrow },
    Rule { equation: "(b ? c : d) | e = b ? (c | e) : (d | e)", apply: into_choice },
];

pub(super) const XOR: &[Rule] = &[
    Rule { equation: "x ^ 0 = x", apply: zero_right },
    Rule { equation: "x ^ x = 0", apply: |p, op| (op.a == op.b).then(|| p.number(0, op.width)) },
    Rule { equation: "(x ^ c) ^ d = x ^ (c ^ d)", apply: |p, op| associate(p, op, |c, d| c ^ d) },
    Rule {
        equation: "(x ∘ y) ^ 1 = the opposite comparison",
        apply: |p, op| {
            (op.width == 1 && p.constant(op.y())? == 1).then_some(())?;
            let n = p.node(op.x());
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
    Rule { equation: "zext(x) ^ y:0 = y:x where they share no bit", apply: concat_disjoint },
    Rule { equation: "zext(x) ^ c = zext(x ^ c) where c fits", apply: narrow },
    Rule { equation: "(b ? c : d) ^ e = b ? (c ^ e) : (d ^ e)", apply: into_choice },
];

pub(super) const ITE: &[Rule] = &[
    Rule {
        equation: "1 ? x : y = x, 0 ? x : y = y",
        apply: |p, op| Some(if p.constant(op.x())? == 1 { op.y() } else { op.z() }),
    },
    Rule { equation: "b ? x : x = x", apply: |_, op| (op.b == op.c).then(|| op.y()) },
    Rule {
        equation: "b ? 1 : 0 = b, b ? 0 : 1 = b ^ 1",
        apply: |p, op| {
            (op.width == 1).then_some(())?;
            match (p.constant(op.y())?, p.constant(op.z())?) {
                (1, 0) => Some(op.x()),
                (0, 1) => Some(p.not(op.x())),
                _ => None,
            }
        },
    },
    Rule {
        equation: "(b ^ 1) ? x : y = b ? y : x",
        apply: |p, op| {
            let (b, one) = with_constant(p, op.x(), Code::Xor)?;
            (one == 1).then(|| p.ite(b, op.z(), op.y()))
        },
    },
];

pub(super) const LOOKUP: &[Rule] = &[Rule {
    equation: "table[b ? c : d] = b ? table[c] : table[d]",
    apply: |p, op| {
        let (bit, yes, no) = super::constant_choice(p, op.x())?;
        let yes = p.make(Code::Lookup, op.width, yes.number(), op.b, 0);
        let no = p.make(Code::Lookup, op.width, no.number(), op.b, 0);
        Some(p.ite(bit, yes, no))
    },
}];

fn associate(pool: &mut Pool, op: &Operation, both: fn(u128, u128) -> u128) -> Option<Term> {
    let d = pool.constant(op.y())?;
    let (x, c) = with_constant(pool, op.x(), op.code)?;
    let c = pool.number(both(c, d), op.width);
    Some(pool.pair(op.code, x, c))
}

/// `zext(x) ∘ c = zext(x ∘ c)`. The high bits of the result must be 0. With `&` they are,
/// with `|` and `^` they are those of `c`.
fn narrow(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let (x, c) = (zext_operand(pool, op.x())?, pool.constant(op.y())?);
    let width = pool.width(x);
    (op.code == Code::And || c <= mask(width)).then_some(())?;
    let c = pool.number(c, width);
    let small = pool.pair(op.code, x, c);
    Some(pool.zext(small, op.width))
}

/// `(x:0) ∘ (y:0)`: the zeros that both operands end with are the end of the result.
fn share_low_zeros(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let ((_, i), (_, j)) = (split_low_zeros(pool, op.x())?, split_low_zeros(pool, op.y())?);
    let low = i.min(j);
    let x = pool.extract(op.x(), low, op.width - low);
    let y = pool.extract(op.y(), low, op.width - low);
    let high = pool.pair(op.code, x, y);
    let zeros = pool.number(0, low);
    Some(pool.concat(zeros, high))
}
