//! Comparisons, taken down to the narrowest terms that decide them.

use super::bits::{fits_signed, operand, signed};
use super::{Made, Rule, choice, extended, into_choice, is, is_negative, shifted, signed_max};
use crate::eval::{mask, sign_extend};
use crate::pool::{Code, Pool, Term};

pub(super) const EQ: &[Rule] = &[
    Rule { equation: "x == x = 1", apply: |p, m| (m.a == m.b).then(|| p.bit(true)) },
    Rule {
        equation: "b == 1 = b, b == 0 = b ^ 1",
        apply: |p, m| {
            let c = p.constant(m.y()).filter(|_| p.width(m.x()) == 1)?;
            Some(if c == 1 { m.x() } else { p.not(m.x()) })
        },
    },
    Rule {
        equation: "x == c = 0 where x has too few bits",
        apply: |p, m| (p.constant(m.y())? > mask(p.bits(m.x()))).then(|| p.bit(false)),
    },
    Rule { equation: "zext(x) == c = (x == c)", apply: narrow_constant },
    Rule { equation: "zext(x) == zext(y) = (x == y)", apply: narrow_both },
    Rule {
        equation: "sext(x) == c = (x == c), or 0",
        apply: |p, m| {
            let (x, c) = (signed(p, m.x())?, p.constant(m.y())?);
            let (from, width) = (p.width(m.x()), p.width(x));
            if !fits_signed(c, from, width) {
                return Some(p.bit(false));
            }
            let c = p.number(c, width);
            Some(p.pair(Code::Eq, x, c))
        },
    },
    Rule {
        equation: "x + c == d = (x == d - c)",
        apply: |p, m| {
            let d = p.constant(m.y())?;
            let (x, c) = operand(p, m.x(), Code::Add)?;
            let d = p.number(d.wrapping_sub(c), p.width(x));
            Some(p.pair(Code::Eq, x, d))
        },
    },
    Rule {
        equation: "c - x == d = (x == c - d)",
        apply: |p, m| {
            let d = p.constant(m.y())?;
            let n = is(p, m.x(), Code::Sub)?;
            let (c, x) = (p.constant(Term::from_number(n.a))?, Term::from_number(n.b));
            let d = p.number(c.wrapping_sub(d), p.width(x));
            Some(p.pair(Code::Eq, x, d))
        },
    },
    Rule {
        equation: "x ^ c == d = (x == c ^ d)",
        apply: |p, m| {
            let d = p.constant(m.y())?;
            let (x, c) = operand(p, m.x(), Code::Xor)?;
            let d = p.number(c ^ d, p.width(x));
            Some(p.pair(Code::Eq, x, d))
        },
    },
    Rule {
        equation: "x * c == d = (x == d / c) where c is odd",
        apply: |p, m| {
            let d = p.constant(m.y())?;
            let (x, c) = operand(p, m.x(), Code::Mul)?;
            (c & 1 == 1).then_some(())?;
            let d = p.number(d.wrapping_mul(inverse(c)), p.width(x));
            Some(p.pair(Code::Eq, x, d))
        },
    },
    Rule {
        equation: "x - y == 0 = (x == y), x ^ y == 0 = (x == y)",
        apply: |p, m| {
            (p.constant(m.y())? == 0).then_some(())?;
            let n = p.node(m.x());
            matches!(n.code, Code::Sub | Code::Xor).then_some(())?;
            Some(p.pair(Code::Eq, Term::from_number(n.a), Term::from_number(n.b)))
        },
    },
    Rule {
        equation: "x:0 == c = (x == c >> k), or 0",
        apply: |p, m| {
            let c = p.constant(m.y())?;
            let (x, low) = shifted(p, m.x())?;
            if c & mask(low) != 0 {
                return Some(p.bit(false));
            }
            let c = p.number(c >> low, p.width(x));
            Some(p.pair(Code::Eq, x, c))
        },
    },
    Rule {
        equation: "(b ? c : d) == e = b, b ^ 1, 0 or 1",
        apply: |p, m| {
            let e = p.constant(m.y())?;
            let (bit, yes, no) = choice(p, m.x())?;
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
        apply: |p, m| {
            p.constant(m.y())?;
            let n = is(p, m.x(), Code::Ite)?;
            let (bit, x, y) =
                (Term::from_number(n.a), Term::from_number(n.b), Term::from_number(n.c));
            // A comparison of strings byte by byte: each difference that is 0 is
            // no difference.
            if let Some(known) = p.recall(m) {
                return known;
            }
            let (yes, no) = (p.pair(Code::Eq, x, m.y()), p.pair(Code::Eq, y, m.y()));
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
            p.remember(m, out);
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
    apply: |p, m| {
        let made = Made { code: Code::Eq, ..*m };
        let equal = EQ.iter().find_map(|rule| (rule.apply)(p, &made))?;
        Some(p.not(equal))
    },
}];

pub(super) const MEMBER: &[Rule] = &[
    Rule {
        equation: "x in {} = 0, x in {c} = (x == c)",
        apply: |p, m| {
            let set = p.set_values(m.b);
            match set[..] {
                [] => Some(p.bit(false)),
                [c] => {
                    let c = p.number(c.into(), p.width(m.x()));
                    Some(p.pair(Code::Eq, m.x(), c))
                }
                _ => None,
            }
        },
    },
    Rule {
        equation: "zext(x) in C = x in {c of C that fit}",
        apply: |p, m| {
            let x = extended(p, m.x())?;
            let most = mask(p.width(x));
            let set = p.set_values(m.b);
            let fit: Vec<u64> = set.iter().copied().filter(|&c| u128::from(c) <= most).collect();
            Some(p.member(x, &fit))
        },
    },
    Rule {
        equation: "sext(x) in C = x in {c of C that fit}",
        apply: |p, m| {
            let x = signed(p, m.x())?;
            let (from, width) = (p.width(m.x()), p.width(x));
            (from <= 64).then_some(())?;
            let set = p.set_values(m.b);
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
        apply: |p, m| {
            let (x, c) = operand(p, m.x(), Code::Add)?;
            let width = p.width(x);
            (width <= 64).then_some(())?;
            let set = p.set_values(m.b);
            let moved: Vec<u64> = set.iter().map(|&d| d.wrapping_sub(c as u64)).collect();
            Some(p.member(x, &moved))
        },
    },
];

pub(super) const ULT: &[Rule] = &[
    Rule { equation: "x < x = 0", apply: |p, m| (m.a == m.b).then(|| p.bit(false)) },
    Rule {
        equation: "x < 0 = 0, ones < x = 0",
        apply: |p, m| {
            let ones = mask(p.width(m.x()));
            let never = p.constant(m.y()) == Some(0) || p.constant(m.x()) == Some(ones);
            never.then(|| p.bit(false))
        },
    },
    Rule {
        equation: "x < c = 1, c < x = 0 where x has too few bits",
        apply: |p, m| {
            if let Some(c) = p.constant(m.y()) {
                return (c > mask(p.bits(m.x()))).then(|| p.bit(true));
            }
            (p.constant(m.x())? >= mask(p.bits(m.y()))).then(|| p.bit(false))
        },
    },
    Rule {
        equation: "x < 1 = (x == 0), 0 < x = (x != 0)",
        apply: |p, m| {
            let (x, code) = match (p.constant(m.x()), p.constant(m.y())) {
                (_, Some(1)) => (m.x(), Code::Eq),
                (Some(0), _) => (m.y(), Code::Ne),
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
        apply: |p, m| {
            let (x, c, d, left) = sum_side(p, m)?;
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
    Rule { equation: "x <= x = 1", apply: |p, m| (m.a == m.b).then(|| p.bit(true)) },
    Rule {
        equation: "x <= c = x < c + 1, or 1",
        apply: |p, m| {
            let (c, width) = (p.constant(m.y())?, p.width(m.x()));
            if c == mask(width) {
                return Some(p.bit(true));
            }
            let c = p.number(c + 1, width);
            Some(p.pair(Code::Ult, m.x(), c))
        },
    },
    Rule {
        equation: "c <= x = c - 1 < x, or 1",
        apply: |p, m| {
            let (c, width) = (p.constant(m.x())?, p.width(m.x()));
            let Some(c) = c.checked_sub(1) else { return Some(p.bit(true)) };
            let c = p.number(c, width);
            Some(p.pair(Code::Ult, c, m.y()))
        },
    },
    Rule { equation: "zext(x) <= zext(y) = x <= y", apply: narrow_both },
];

pub(super) const SLT: &[Rule] = &[
    Rule { equation: "x < x (signed) = 0", apply: |p, m| (m.a == m.b).then(|| p.bit(false)) },
    Rule {
        equation: "x < y (signed) = x < y where neither is negative",
        apply: |p, m| {
            let width = p.width(m.x());
            let positive = p.bits(m.x()) < width && p.bits(m.y()) < width;
            positive.then(|| p.pair(Code::Ult, m.x(), m.y()))
        },
    },
    Rule {
        equation: "x < c, c < x (signed) = 0, 1 where only c is negative",
        apply: |p, m| {
            let width = p.width(m.x());
            let negative = |p: &Pool, t| p.constant(t).is_some_and(|c| is_negative(c, width));
            let positive = |p: &Pool, t| p.bits(t) < width;
            if positive(p, m.x()) && negative(p, m.y()) {
                return Some(p.bit(false));
            }
            (negative(p, m.x()) && positive(p, m.y())).then(|| p.bit(true))
        },
    },
    Rule {
        equation: "sext(x) < c, c < sext(x) (signed) = x < c, c < x (signed), 0 or 1",
        apply: |p, m| {
            let width = p.width(m.x());
            let (x, c, left) = match (p.constant(m.x()), p.constant(m.y())) {
                (_, Some(c)) => (signed(p, m.x())?, c, true),
                (Some(c), _) => (signed(p, m.y())?, c, false),
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
        apply: |p, m| {
            let (x, y) = (signed(p, m.x())?, signed(p, m.y())?);
            (p.width(x) == p.width(y)).then(|| p.pair(Code::Slt, x, y))
        },
    },
    Rule {
        equation: "x < min, max < x (signed) = 0",
        apply: |p, m| {
            let width = p.width(m.x());
            let never = p.constant(m.y()) == Some(signed_max(width) + 1)
                || p.constant(m.x()) == Some(signed_max(width));
            never.then(|| p.bit(false))
        },
    },
    Rule {
        equation: "x + c < d = x < d - c, d < x + c = d - c < x (signed) where nothing overflows",
        apply: |p, m| {
            let (x, c, d, left) = sum_side(p, m)?;
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
    Rule { equation: "x <= x (signed) = 1", apply: |p, m| (m.a == m.b).then(|| p.bit(true)) },
    Rule {
        equation: "x <= c (signed) = x < c + 1 (signed), or 1",
        apply: |p, m| {
            let (c, width) = (p.constant(m.y())?, p.width(m.x()));
            if c == signed_max(width) {
                return Some(p.bit(true));
            }
            let c = p.number(c.wrapping_add(1), width);
            Some(p.pair(Code::Slt, m.x(), c))
        },
    },
    Rule {
        equation: "c <= x (signed) = c - 1 < x (signed), or 1",
        apply: |p, m| {
            let (c, width) = (p.constant(m.x())?, p.width(m.x()));
            if c == signed_max(width) + 1 {
                return Some(p.bit(true));
            }
            let c = p.number(c.wrapping_sub(1), width);
            Some(p.pair(Code::Slt, c, m.y()))
        },
    },
    Rule {
        equation: "x <= y (signed) = x <= y where neither is negative",
        apply: |p, m| {
            let width = p.width(m.x());
            let positive = p.bits(m.x()) < width && p.bits(m.y()) < width;
            positive.then(|| p.pair(Code::Ule, m.x(), m.y()))
        },
    },
];

/// A choice between words, compared with a constant, is a choice between bits:
/// less to keep in mind for whoever looks at it byte by byte. What is asked of one
/// choice is remembered, since choices share parts.
fn into_any_choice(pool: &mut Pool, m: &Made) -> Option<Term> {
    let (chosen, left) = match (pool.constant(m.x()), pool.constant(m.y())) {
        (_, Some(_)) => (m.x(), true),
        (Some(_), _) => (m.y(), false),
        _ => return None,
    };
    let n = is(pool, chosen, Code::Ite)?;
    if let Some(known) = pool.recall(m) {
        return known;
    }
    let (bit, x, y) = (Term::from_number(n.a), Term::from_number(n.b), Term::from_number(n.c));
    let (yes, no) = match left {
        true => (pool.pair(m.code, x, m.y()), pool.pair(m.code, y, m.y())),
        false => (pool.pair(m.code, m.x(), x), pool.pair(m.code, m.x(), y)),
    };
    let out = Some(pool.ite(bit, yes, no));
    pool.remember(m, out);
    out
}

/// A comparison of the low part of a length with a constant, where the low part is
/// all there is of it: then it is a bound.
fn whole_length(pool: &mut Pool, m: &Made) -> Option<Term> {
    let (part, c, left) = match (pool.constant(m.x()), pool.constant(m.y())) {
        (_, Some(c)) => (m.x(), c, true),
        (Some(c), _) => (m.y(), c, false),
        _ => return None,
    };
    let n = is(pool, part, Code::Extract).filter(|n| n.b == 0)?;
    let x = Term::from_number(n.a);
    let is_length = pool.node(x).code == Code::Len && pool.bits(x) <= n.width();
    is_length.then_some(())?;
    let c = pool.number(c, pool.width(x));
    Some(if left { pool.pair(m.code, x, c) } else { pool.pair(m.code, c, x) })
}

/// `x`, `c` and `d` of `x + c < d`, or of `d < x + c`, and whether it was the first.
fn sum_side(pool: &Pool, m: &Made) -> Option<(Term, u128, u128, bool)> {
    let (sum, d, left) = match (pool.constant(m.x()), pool.constant(m.y())) {
        (_, Some(d)) => (m.x(), d, true),
        (Some(d), _) => (m.y(), d, false),
        _ => return None,
    };
    let (x, c) = operand(pool, sum, Code::Add)?;
    Some((x, c, d, left))
}

/// A comparison of an extended term with a constant, at the term's own width. The
/// rules before have seen to constants that do not fit.
fn narrow_constant(pool: &mut Pool, m: &Made) -> Option<Term> {
    let (x, c, left) = match (pool.constant(m.x()), pool.constant(m.y())) {
        (_, Some(c)) => (extended(pool, m.x())?, c, true),
        (Some(c), _) => (extended(pool, m.y())?, c, false),
        _ => return None,
    };
    let width = pool.width(x);
    (c <= mask(width)).then_some(())?;
    let c = pool.number(c, width);
    Some(if left { pool.pair(m.code, x, c) } else { pool.pair(m.code, c, x) })
}

fn narrow_both(pool: &mut Pool, m: &Made) -> Option<Term> {
    let (x, y) = (extended(pool, m.x())?, extended(pool, m.y())?);
    let width = pool.width(x).max(pool.width(y));
    (width < pool.width(m.x())).then_some(())?;
    let (x, y) = (pool.zext(x, width), pool.zext(y, width));
    Some(pool.pair(m.code, x, y))
}

/// The number that an odd one must be multiplied with to give 1, modulo any power
/// of two up to 2^128.
pub fn inverse(odd: u128) -> u128 {
    // Each step doubles the number of right bits; `odd` itself is right in three.
    (0..6).fold(odd, |x, _| x.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(x))))
}
