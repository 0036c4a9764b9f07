//! Rules for comparisons: each becomes a comparison of narrower terms.

use super::bits::{fits_signed, sext_operand};
use super::{
    Operation, Rule, constant_choice, into_choice, is_negative, node_if, signed_max,
    split_low_zeros, with_constant, zext_operand,
};
use crate::eval::{mask, sign_extend};
use crate::pool::{Code, Pool, Term};

pub(super) const EQ: &[Rule] = &[
    Rule { equation: "x == x = 1", apply: |p, op| (op.a == op.b).then(|| p.bit(true)) },
    Rule {
        equation: "b == 1 = b, b == 0 = b ^ 1",
        apply: |p, op| {
            let c = p.constant(op.y()).filter(|_| p.width(op.x()) == 1)?;
            Some(if c == 1 { op.x() } else { p.not(op.x()) })
        },
    },
    Rule {
        equation: "x == c = 0 where x has too few bits",
        apply: |p, op| (p.constant(op.y())? > mask(p.bits(op.x()))).then(|| p.bit(false)),
    },
    Rule { equation: "zext(x) == c = (x == c)", apply: narrow_constant },
    Rule { equation: "zext(x) == zext(y) = (x == y)", apply: narrow_both },
    Rule {
        equation: "sext(x) == c = (x == c), or 0",
        apply: |p, op| {
            let (x, c) = (sext_operand(p, op.x())?, p.constant(op.y())?);
            let (from, width) = (p.width(op.x()), p.width(x));
            if !fits_signed(c, from, width) {
                return Some(p.bit(false));
            }
            let c = p.number(c, width);
            Some(p.pair(Code::Eq, x, c))
        },
    },
    Rule {
        equation: "x + c == d = (x == d - c)",
        apply: |p, op| {
            let d = p.constant(op.y())?;
            let (x, c) = with_constant(p, op.x(), Code::Add)?;
            let d = p.number(d.wrapping_sub(c), p.width(x));
            Some(p.pair(Code::Eq, x, d))
        },
    },
    Rule {
        equation: "c - x == d = (x == c - d)",
        apply: |p, op| {
            let d = p.constant(op.y())?;
            let n = node_if(p, op.x(), Code::Sub)?;
            let (c, x) = (p.constant(Term::from_number(n.a))?, Term::from_number(n.b));
            let d = p.number(c.wrapping_sub(d), p.width(x));
            Some(p.pair(Code::Eq, x, d))
        },
    },
    Rule {
        equation: "x ^ c == d = (x == c ^ d)",
        apply: |p, op| {
            let d = p.constant(op.y())?;
            let (x, c) = with_constant(p, op.x(), Code::Xor)?;
            let d = p.number(c ^ d, p.width(x));
            Some(p.pair(Code::Eq, x, d))
        },
    },
    Rule {
        equation: "x * c == d = (x == d / c) where c is odd",
        apply: |p, op| {
            let d = p.constant(op.y())?;
            let (x, c) = with_constant(p, op.x(), Code::Mul)?;
            (c & 1 == 1).then_some(())?;
            let d = p.number(d.wrapping_mul(inverse(c)), p.width(x));
            Some(p.pair(Code::Eq, x, d))
        },
    },
    Rule {
        equation: "x - y == 0 = (x == y), x ^ y == 0 = (x == y)",
        apply: |p, op| {
            (p.constant(op.y())? == 0).then_some(())?;
            let n = p.node(op.x());
            matches!(n.code, Code::Sub | Code::Xor).then_some(())?;
            Some(p.pair(Code::Eq, Term::from_number(n.a), Term::from_number(n.b)))
        },
    },
    Rule {
        equation: "x:0 == c = (x == c >> k), or 0",
        apply: |p, op| {
            let c = p.constant(op.y())?;
            let (x, low) = split_low_zeros(p, op.x())?;
            if c & mask(low) != 0 {
                return Some(p.bit(false));
            }
            let c = p.number(c >> low, p.width(x));
            Some(p.pair(Code::Eq, x, c))
        },
    },
    Rule {
        equation: "(b ? c : d) == e = b, b ^ 1, 0 or 1",
        apply: |p, op| {
            let e = p.constant(op.y())?;
            let (bit, yes, no) = constant_choice(p, op.x())?;
            let (yes, no) = (p.constant(yes)? == e, p.constant(no)? == e);
            Some(match (yes, no) {
                (true, true) => p.bit(true),
                (false, false) => p.bit(false),
                (true, false) => bit,
                (false, true) => p.not(bit),
            })
        },
    },
    Rule {
        equation: "(b ? x : y) == c = b & (x == c) | (b ^ 1) & (y == c) where a part is decided",
        apply: |p, op| {
            p.constant(op.y())?;
            let n = node_if(p, op.x(), Code::Ite)?;
            let (bit, x, y) =
                (Term::from_number(n.a), Term::from_number(n.b), Term::from_number(n.c));
            // The model of `strcmp` makes such choices: the first difference that is not 0.
            if let Some(cached) = p.choice_result(op) {
                return cached;
            }
            let (yes, no) = (p.pair(Code::Eq, x, op.y()), p.pair(Code::Eq, y, op.y()));
            let not = p.not(bit);
            let both = |p: &mut Pool, a, b| Some(p.pair(Code::And, a, b));
            let either = |p: &mut Pool, a, b| Some(p.pair(Code::Or, a, b));
            let out = match (p.constant(yes), p.constant(no)) {
                (Some(0), _) => both(p, not, no),
                (Some(_), _) => either(p, bit, no),
                (_, Some(0)) => both(p, bit, yes),
                (_, Some(_)) => either(p, not, yes),
                _ if yes == not => both(p, not, no),
                _ if no == bit => both(p, bit, yes),
                _ => None,
            };
            p.cache_choice_result(op, out);
            out
        },
    },
    Rule {
        equation: "x[0..k] == c = (x == c) where x, a length, has no bits from k on",
        apply: whole_length,
    },
];

pub(super) const NE: &[Rule] = &[Rule {
    equation: "x != y = (x == y) ^ 1 where that is simpler",
    apply: |p, op| {
        let equality = Operation { code: Code::Eq, ..*op };
        let equal = EQ.iter().find_map(|rule| (rule.apply)(p, &equality))?;
        Some(p.not(equal))
    },
}];

pub(super) const MEMBER: &[Rule] = &[
    Rule {
        equation: "x in {} = 0, x in {c} = (x == c)",
        apply: |p, op| {
            let set = p.set_values(op.b);
            match set[..] {
                [] => Some(p.bit(false)),
                [c] => {
                    let c = p.number(c.into(), p.width(op.x()));
                    Some(p.pair(Code::Eq, op.x(), c))
                }
                _ => None,
            }
        },
    },
    Rule {
        equation: "zext(x) in C = x in {c of C that fit}",
        apply: |p, op| {
            let x = zext_operand(p, op.x())?;
            let most = mask(p.width(x));
            let set = p.set_values(op.b);
            let fit: Vec<u64> = set.iter().copied().filter(|&c| u128::from(c) <= most).collect();
            Some(p.member(x, &fit))
        },
    },
    Rule {
        equation: "sext(x) in C = x in {c of C that fit}",
        apply: |p, op| {
            let x = sext_operand(p, op.x())?;
            let (from, width) = (p.width(op.x()), p.width(x));
            (from <= 64).then_some(())?;
            let set = p.set_values(op.b);
            let fit: Vec<u64> = set
                .iter()
                .filter(|&&c| fits_signed(c.into(), from, width))
                .map(|&c| c & mask(width) as u64)
                .collect();
            Some(p.member(x, &fit))
        },
    },
    Rule {
        equation: "x + c in D = x in {d - c}",
        apply: |p, op| {
            let (x, c) = with_constant(p, op.x(), Code::Add)?;
            let width = p.width(x);
            (width <= 64).then_some(())?;
            let set = p.set_values(op.b);
            let moved: Vec<u64> = set.iter().map(|&d| d.wrapping_sub(c as u64)).collect();
            Some(p.member(x, &moved))
        },
    },
];

pub(super) const ULT: &[Rule] = &[
    Rule { equation: "x < x = 0", apply: |p, op| (op.a == op.b).then(|| p.bit(false)) },
    Rule {
        equation: "x < 0 = 0, ones < x = 0",
        apply: |p, op| {
            let ones = mask(p.width(op.x()));
            let never = p.constant(op.y()) == Some(0) || p.constant(op.x()) == Some(ones);
            never.then(|| p.bit(false))
        },
    },
    Rule {
        equation: "x < c = 1, c < x = 0 where x has too few bits",
        apply: |p, op| {
            if let Some(c) = p.constant(op.y()) {
                return (c > mask(p.bits(op.x()))).then(|| p.bit(true));
            }
            (p.constant(op.x())? >= mask(p.bits(op.y()))).then(|| p.bit(false))
        },
    },
    Rule {
        equation: "x < 1 = (x == 0), 0 < x = (x != 0)",
        apply: |p, op| {
            let (x, code) = match (p.constant(op.x()), p.constant(op.y())) {
                (_, Some(1)) => (op.x(), Code::Eq),
                (Some(0), _) => (op.y(), Code::Ne),
                _ => return None,
            };
            let zero = p.number(0, p.width(x));
            Some(p.pair(code, x, zero))
        },
    },
    Rule { equation: "zext(x) < c = x < c, c < zext(x) = c < x", apply: narrow_constant },
    Rule { equation: "zext(x) < zext(y) = x < y", apply: narrow_both },
    Rule {
        equation: "x[0..k] < c = x < c where x, a length, has no bits from k on",
        apply: whole_length,
    },
    Rule {
        equation: "x + c < d = x < d - c, d < x + c = d - c < x where x + c does not overflow",
        apply: |p, op| {
            let (x, c, d, left) = sum_side(p, op)?;
            mask(p.bits(x)).checked_add(c).filter(|&most| most <= mask(p.width(x)))?;
            let Some(d) = d.checked_sub(c) else { return Some(p.bit(!left)) };
            let d = p.number(d, p.width(x));
            Some(if left { p.pair(Code::Ult, x, d) } else { p.pair(Code::Ult, d, x) })
        },
    },
    Rule { equation: "(b ? c : d) < e = b ? (c < e) : (d < e)", apply: into_choice },
    Rule { equation: "(b ? x : y) < c = b ? (x < c) : (y < c)", apply: into_any_choice },
];

pub(super) const ULE: &[Rule] = &[
    Rule { equation: "x <= x = 1", apply: |p, op| (op.a == op.b).then(|| p.bit(true)) },
    Rule {
        equation: "x <= c = x < c + 1, or 1",
        apply: |p, op| {
            let (c, width) = (p.constant(op.y())?, p.width(op.x()));
            if c == mask(width) {
                return Some(p.bit(true));
            }
            let c = p.number(c + 1, width);
            Some(p.pair(Code::Ult, op.x(), c))
        },
    },
    Rule {
        equation: "c <= x = c - 1 < x, or 1",
        apply: |p, op| {
            let (c, width) = (p.constant(op.x())?, p.width(op.x()));
            let Some(c) = c.checked_sub(1) else { return Some(p.bit(true)) };
            let c = p.number(c, width);
            Some(p.pair(Code::Ult, c, op.y()))
        },
    },
    Rule { equation: "zext(x) <= zext(y) = x <= y", apply: narrow_both },
];

pub(super) const SLT: &[Rule] = &[
    Rule { equation: "x < x (signed) = 0", apply: |p, op| (op.a == op.b).then(|| p.bit(false)) },
    Rule {
        equation: "x < y (signed) = x < y where neither is negative",
        apply: |p, op| {
            let width = p.width(op.x());
            let positive = p.bits(op.x()) < width && p.bits(op.y()) < width;
            positive.then(|| p.pair(Code::Ult, op.x(), op.y()))
        },
    },
    Rule {
        equation: "x < c, c < x (signed) = 0, 1 where only c is negative",
        apply: |p, op| {
            let width = p.width(op.x());
            let negative = |p: &Pool, t| p.constant(t).is_some_and(|c| is_negative(c, width));
            let positive = |p: &Pool, t| p.bits(t) < width;
            if positive(p, op.x()) && negative(p, op.y()) {
                return Some(p.bit(false));
            }
            (negative(p, op.x()) && positive(p, op.y())).then(|| p.bit(true))
        },
    },
    Rule {
        equation: "sext(x) < c, c < sext(x) (signed) = x < c, c < x (signed), 0 or 1",
        apply: |p, op| {
            let width = p.width(op.x());
            let (x, c, left) = match (p.constant(op.x()), p.constant(op.y())) {
                (_, Some(c)) => (sext_operand(p, op.x())?, c, true),
                (Some(c), _) => (sext_operand(p, op.y())?, c, false),
                _ => return None,
            };
            let narrow = p.width(x);
            if !fits_signed(c, width, narrow) {
                // Every value of x is on the same side of c.
                return Some(p.bit(is_negative(c, width) != left));
            }
            let c = p.number(c, narrow);
            Some(if left { p.pair(Code::Slt, x, c) } else { p.pair(Code::Slt, c, x) })
        },
    },
    Rule {
        equation: "sext(x) < sext(y) (signed) = x < y (signed)",
        apply: |p, op| {
            let (x, y) = (sext_operand(p, op.x())?, sext_operand(p, op.y())?);
            (p.width(x) == p.width(y)).then(|| p.pair(Code::Slt, x, y))
        },
    },
    Rule {
        equation: "x < min, max < x (signed) = 0",
        apply: |p, op| {
            let width = p.width(op.x());
            let never = p.constant(op.y()) == Some(signed_max(width) + 1)
                || p.constant(op.x()) == Some(signed_max(width));
            never.then(|| p.bit(false))
        },
    },
    Rule {
        equation: "x + c < d = x < d - c, d < x + c = d - c < x (signed) where nothing overflows",
        apply: |p, op| {
            let (x, c, d, left) = sum_side(p, op)?;
            let width = p.width(x);
            let room = width.checked_sub(2).filter(|&room| room > 0 && p.bits(x) <= room)?;
            fits_signed(c, width, room + 1).then_some(())?;
            let (c, d) = (sign_extend(c, width), sign_extend(d, width));
            let d = d.checked_sub(c).filter(|&d| sign_extend(d as u128, width) == d)?;
            let d = p.number(d as u128, width);
            Some(if left { p.pair(Code::Slt, x, d) } else { p.pair(Code::Slt, d, x) })
        },
    },
    Rule { equation: "(b ? c : d) < e (signed) = b ? (c < e) : (d < e)", apply: into_choice },
    Rule { equation: "(b ? x : y) < c (signed) = b ? (x < c) : (y < c)", apply: into_any_choice },
];

pub(super) const SLE: &[Rule] = &[
    Rule { equation: "x <= x (signed) = 1", apply: |p, op| (op.a == op.b).then(|| p.bit(true)) },
    Rule {
        equation: "x <= c (signed) = x < c + 1 (signed), or 1",
        apply: |p, op| {
            let (c, width) = (p.constant(op.y())?, p.width(op.x()));
            if c == signed_max(width) {
                return Some(p.bit(true));
            }
            let c = p.number(c.wrapping_add(1), width);
            Some(p.pair(Code::Slt, op.x(), c))
        },
    },
    Rule {
        equation: "c <= x (signed) = c - 1 < x (signed), or 1",
        apply: |p, op| {
            let (c, width) = (p.constant(op.x())?, p.width(op.x()));
            if c == signed_max(width) + 1 {
                return Some(p.bit(true));
            }
            let c = p.number(c.wrapping_sub(1), width);
            Some(p.pair(Code::Slt, c, op.y()))
        },
    },
    Rule {
        equation: "x <= y (signed) = x <= y where neither is negative",
        apply: |p, op| {
            let width = p.width(op.x());
            let positive = p.bits(op.x()) < width && p.bits(op.y()) < width;
            positive.then(|| p.pair(Code::Ule, op.x(), op.y()))
        },
    },
];

/// A comparison of a choice between words becomes a choice between bits: then the solver
/// that goes byte by byte has fewer values to store. Results are cached, because choices
/// share operands.
fn into_any_choice(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let (chosen, left) = match (pool.constant(op.x()), pool.constant(op.y())) {
        (_, Some(_)) => (op.x(), true),
        (Some(_), _) => (op.y(), false),
        _ => return None,
    };
    let n = node_if(pool, chosen, Code::Ite)?;
    if let Some(cached) = pool.choice_result(op) {
        return cached;
    }
    let (bit, x, y) = (Term::from_number(n.a), Term::from_number(n.b), Term::from_number(n.c));
    let (yes, no) = match left {
        true => (pool.pair(op.code, x, op.y()), pool.pair(op.code, y, op.y())),
        false => (pool.pair(op.code, op.x(), x), pool.pair(op.code, op.x(), y)),
    };
    let out = Some(pool.ite(bit, yes, no));
    pool.cache_choice_result(op, out);
    out
}

/// A comparison of the low part of a length with a constant is a bound on the length, if
/// the other bits of the length are 0.
fn whole_length(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let (part, c, left) = match (pool.constant(op.x()), pool.constant(op.y())) {
        (_, Some(c)) => (op.x(), c, true),
        (Some(c), _) => (op.y(), c, false),
        _ => return None,
    };
    let n = node_if(pool, part, Code::Extract).filter(|n| n.b == 0)?;
    let x = Term::from_number(n.a);
    let is_length = pool.node(x).code == Code::Len && pool.bits(x) <= n.width();
    is_length.then_some(())?;
    let c = pool.number(c, pool.width(x));
    Some(if left { pool.pair(op.code, x, c) } else { pool.pair(op.code, c, x) })
}

/// `x`, `c`, `d` and true for `x + c < d`; `x`, `c`, `d` and false for `d < x + c`.
fn sum_side(pool: &Pool, op: &Operation) -> Option<(Term, u128, u128, bool)> {
    let (sum, d, left) = match (pool.constant(op.x()), pool.constant(op.y())) {
        (_, Some(d)) => (op.x(), d, true),
        (Some(d), _) => (op.y(), d, false),
        _ => return None,
    };
    let (x, c) = with_constant(pool, sum, Code::Add)?;
    Some((x, c, d, left))
}

/// A comparison of `zext(x)` with a constant, at the width of `x`. Earlier rules handle
/// constants that have more bits than `x`.
fn narrow_constant(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let (x, c, left) = match (pool.constant(op.x()), pool.constant(op.y())) {
        (_, Some(c)) => (zext_operand(pool, op.x())?, c, true),
        (Some(c), _) => (zext_operand(pool, op.y())?, c, false),
        _ => return None,
    };
    let width = pool.width(x);
    (c <= mask(width)).then_some(())?;
    let c = pool.number(c, width);
    Some(if left { pool.pair(op.code, x, c) } else { pool.pair(op.code, c, x) })
}

fn narrow_both(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let (x, y) = (zext_operand(pool, op.x())?, zext_operand(pool, op.y())?);
    let width = pool.width(x).max(pool.width(y));
    (width < pool.width(op.x())).then_some(())?;
    let (x, y) = (pool.zext(x, width), pool.zext(y, width));
    Some(pool.pair(op.code, x, y))
}

/// The multiplicative inverse of an odd number modulo 2^128, and so modulo every smaller
/// power of two.
pub fn inverse(odd: u128) -> u128 {
    // Newton's iteration: each step doubles the correct bits, and `odd` has three.
    (0..6).fold(odd, |x, _| x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x))))
}
