//! Bits moved about: shifts, extensions, parts and concatenations.

use super::arithmetic::{zero_absorbs, zero_right};
use super::{Made, Rule, choice, extended, is, with_constant};
use crate::eval::{mask, sign_extend};
use crate::pool::{Code, Pool, Term};

pub(super) const SHL: &[Rule] = &[
    Rule { equation: "x << 0 = x", apply: zero_right },
    Rule {
        equation: "x << c = 0 where c >= |x|",
        apply: |p, m| (p.constant(m.y())? >= m.width.into()).then(|| p.number(0, m.width)),
    },
    Rule {
        equation: "x << c = x[0..|x|-c]:0",
        apply: |p, m| {
            let by = p.constant(m.y()).filter(|c| (1..m.width.into()).contains(c))? as u32;
            let zeros = p.number(0, by);
            let rest = p.extract(m.x(), 0, m.width - by);
            Some(p.concat(zeros, rest))
        },
    },
];

pub(super) const LSHR: &[Rule] = &[
    Rule { equation: "x >> 0 = x", apply: zero_right },
    Rule {
        equation: "x >> c = 0 where c >= |x|",
        apply: |p, m| (p.constant(m.y())? >= m.width.into()).then(|| p.number(0, m.width)),
    },
    Rule {
        equation: "x >> c = zext(x[c..])",
        apply: |p, m| {
            let by = p.constant(m.y()).filter(|c| (1..m.width.into()).contains(c))? as u32;
            let rest = p.extract(m.x(), by, m.width - by);
            Some(p.zext(rest, m.width))
        },
    },
];

pub(super) const ASHR: &[Rule] = &[
    Rule { equation: "x >> 0 = x", apply: zero_right },
    Rule {
        equation: "x >> c (signed) = sext(x[c..])",
        apply: |p, m| {
            let by = p.constant(m.y())?.min(u128::from(m.width) - 1) as u32;
            let rest = p.extract(m.x(), by, m.width - by);
            Some(p.sext(rest, m.width))
        },
    },
];

pub(super) const ZEXT: &[Rule] = &[
    Rule { equation: "zext(x) = x where |x| is enough", apply: same_width },
    Rule {
        equation: "zext(zext(x)) = zext(x)",
        apply: |p, m| {
            let x = extended(p, m.x())?;
            Some(p.zext(x, m.width))
        },
    },
    Rule {
        equation: "zext(x[0..k]) = x, zext(x) or x[0..n] where x has no bits from k on",
        apply: |p, m| {
            let n = is(p, m.x(), Code::Extract).filter(|n| n.b == 0)?;
            let x = Term::from_number(n.a);
            (p.bits(x) <= n.width()).then_some(())?;
            Some(match p.width(x) {
                w if w < m.width => p.zext(x, m.width),
                _ => p.extract(x, 0, m.width),
            })
        },
    },
    Rule {
        equation: "zext(b ? c : d) = b ? zext(c) : zext(d)",
        apply: |p, m| {
            let (bit, yes, no) = choice(p, m.x())?;
            let (yes, no) = (p.zext(yes, m.width), p.zext(no, m.width));
            Some(p.ite(bit, yes, no))
        },
    },
];

pub(super) const SEXT: &[Rule] = &[
    Rule { equation: "sext(x) = x where |x| is enough", apply: same_width },
    Rule {
        equation: "sext(x) = zext(x) where x is not negative",
        apply: |p, m| (p.bits(m.x()) < p.width(m.x())).then(|| p.zext(m.x(), m.width)),
    },
    Rule {
        equation: "sext(sext(x)) = sext(x)",
        apply: |p, m| {
            let n = is(p, m.x(), Code::SExt)?;
            Some(p.sext(Term::from_number(n.a), m.width))
        },
    },
    Rule {
        equation: "sext(b ? c : d) = b ? sext(c) : sext(d)",
        apply: |p, m| {
            let (bit, yes, no) = choice(p, m.x())?;
            let (yes, no) = (p.sext(yes, m.width), p.sext(no, m.width));
            Some(p.ite(bit, yes, no))
        },
    },
];

pub(super) const EXTRACT: &[Rule] = &[
    Rule { equation: "x[0..|x|] = x", apply: same_width },
    Rule {
        equation: "x[i..j] = 0 where x has no bits there",
        apply: |p, m| (p.bits(m.x()) <= m.b).then(|| p.number(0, m.width)),
    },
    Rule {
        equation: "x[i..j][k..l] = x[i+k..i+l]",
        apply: |p, m| {
            let n = is(p, m.x(), Code::Extract)?;
            Some(p.extract(Term::from_number(n.a), n.b + m.b, m.width))
        },
    },
    Rule {
        equation: "read(i, n)[8j..8k] = read(i + j, k - j)",
        apply: |p, m| {
            let n = is(p, m.x(), Code::Read)?;
            (m.b % 8 == 0 && m.width % 8 == 0).then(|| p.read(n.a + m.b / 8, m.width / 8))
        },
    },
    Rule {
        equation: "zext(x)[i..j] = x[i..j], or zext(x[i..])",
        apply: |p, m| {
            let x = extended(p, m.x())?;
            let width = p.width(x);
            if m.b + m.width <= width {
                return Some(p.extract(x, m.b, m.width));
            }
            (m.b < width).then_some(())?;
            let rest = p.extract(x, m.b, width - m.b);
            Some(p.zext(rest, m.width))
        },
    },
    Rule {
        equation: "sext(x)[i..j] = x[i..j], or sext(x[i..])",
        apply: |p, m| {
            let n = is(p, m.x(), Code::SExt)?;
            let x = Term::from_number(n.a);
            let width = p.width(x);
            if m.b + m.width <= width {
                return Some(p.extract(x, m.b, m.width));
            }
            let from = m.b.min(width - 1);
            let rest = p.extract(x, from, width - from);
            Some(p.sext(rest, m.width))
        },
    },
    Rule {
        equation: "(y:x)[i..j] = the parts of y and x",
        apply: |p, m| {
            let n = is(p, m.x(), Code::Concat)?;
            let (low, high) = (Term::from_number(n.a), Term::from_number(n.b));
            let (from, to, cut) = (m.b, m.b + m.width, p.width(low));
            if to <= cut {
                return Some(p.extract(low, from, m.width));
            }
            if from >= cut {
                return Some(p.extract(high, from - cut, m.width));
            }
            let low = p.extract(low, from, cut - from);
            let high = p.extract(high, 0, to - cut);
            Some(p.concat(low, high))
        },
    },
    Rule {
        equation: "(x ∘ c)[0..k] = x[0..k] ∘ c where ∘ goes from low bits to high",
        apply: |p, m| {
            (m.b == 0).then_some(())?;
            let n = p.node(m.x());
            matches!(n.code, Code::Add | Code::Sub | Code::Mul).then_some(())?;
            let (x, y) = (Term::from_number(n.a), Term::from_number(n.b));
            // Only where it reaches something: otherwise two parts replace one.
            let cheap = |t: Term| {
                p.constant(t).is_some()
                    || matches!(p.node(t).code, Code::ZExt | Code::SExt | Code::Concat)
            };
            (cheap(x) && cheap(y)).then_some(())?;
            let (x, y) = (p.extract(x, 0, m.width), p.extract(y, 0, m.width));
            Some(p.pair(n.code, x, y))
        },
    },
    Rule {
        equation: "(x ∘ y)[i..j] = x[i..j] ∘ y[i..j] where ∘ is & | ^ and y a constant",
        apply: |p, m| {
            let n = p.node(m.x());
            matches!(n.code, Code::And | Code::Or | Code::Xor).then_some(())?;
            p.constant(Term::from_number(n.b))?;
            let x = p.extract(Term::from_number(n.a), m.b, m.width);
            let y = p.extract(Term::from_number(n.b), m.b, m.width);
            Some(p.pair(n.code, x, y))
        },
    },
    Rule {
        equation: "(b ? c : d)[i..j] = b ? c[i..j] : d[i..j]",
        apply: |p, m| {
            let (bit, yes, no) = choice(p, m.x())?;
            let (yes, no) = (p.extract(yes, m.b, m.width), p.extract(no, m.b, m.width));
            Some(p.ite(bit, yes, no))
        },
    },
];

pub(super) const CONCAT: &[Rule] = &[
    Rule {
        equation: "0:x = zext(x)",
        apply: |p, m| (p.constant(m.y())? == 0).then(|| p.zext(m.x(), m.width)),
    },
    Rule {
        equation: "read(i + n, k):read(i, n) = read(i, n + k)",
        apply: |p, m| {
            let (low, high) = (is(p, m.x(), Code::Read)?, is(p, m.y(), Code::Read)?);
            (low.a + low.width() / 8 == high.a).then(|| p.read(low.a, m.width / 8))
        },
    },
    Rule {
        equation: "x[j..k]:x[i..j] = x[i..k]",
        apply: |p, m| {
            let (low, high) = (part(p, m.x())?, part(p, m.y())?);
            let meets = low.0 == high.0 && low.1 + p.width(m.x()) == high.1;
            meets.then(|| p.extract(low.0, low.1, m.width))
        },
    },
    Rule {
        equation: "zext(y):x = zext(y:x)",
        apply: |p, m| {
            let y = extended(p, m.y())?;
            let low = p.concat(m.x(), y);
            Some(p.zext(low, m.width))
        },
    },
    Rule {
        equation: "z:(y:x) = (z:y):x",
        apply: |p, m| {
            let n = is(p, m.x(), Code::Concat)?;
            let high = p.concat(Term::from_number(n.b), m.y());
            Some(p.concat(Term::from_number(n.a), high))
        },
    },
    Rule {
        equation: "(z:y):x = z:(y:x) where y:x is one part",
        apply: |p, m| {
            let n = is(p, m.y(), Code::Concat)?;
            let (x, y) = (m.x(), Term::from_number(n.a));
            let one = match (p.node(x), p.node(y)) {
                (low, high) if low.code == Code::Read && high.code == Code::Read => {
                    low.a + low.width() / 8 == high.a
                }
                (low, high) if low.code == Code::Const && high.code == Code::Const => true,
                _ => match (part(p, x), part(p, y)) {
                    (Some(low), Some(high)) => low.0 == high.0 && low.1 + p.width(x) == high.1,
                    _ => false,
                },
            };
            one.then_some(())?;
            let low = p.concat(x, y);
            Some(p.concat(low, Term::from_number(n.b)))
        },
    },
];

pub(super) const FSHL: &[Rule] = &[Rule {
    equation: "fshl(x, y, c) = parts of x and y",
    apply: |p, m| {
        let by = (p.constant(m.z())? % u128::from(m.width)) as u32;
        Some(funnel(p, m, by))
    },
}];

pub(super) const FSHR: &[Rule] = &[Rule {
    equation: "fshr(x, y, c) = parts of x and y",
    apply: |p, m| {
        let by = (p.constant(m.z())? % u128::from(m.width)) as u32;
        Some(funnel(p, m, m.width - by))
    },
}];

fn funnel(pool: &mut Pool, m: &Made, left: u32) -> Term {
    match left {
        0 => m.x(),
        l if l == m.width => m.y(),
        l => {
            let low = pool.extract(m.y(), m.width - l, l);
            let high = pool.extract(m.x(), 0, m.width - l);
            pool.concat(low, high)
        }
    }
}

/// A term as bits of another from a place on.
fn part(pool: &Pool, term: Term) -> Option<(Term, u32)> {
    is(pool, term, Code::Extract).map(|n| (Term::from_number(n.a), n.b))
}

fn same_width(pool: &mut Pool, m: &Made) -> Option<Term> {
    (pool.width(m.x()) == m.width).then(|| m.x())
}

/// `x & mask` for a mask of consecutive ones: those bits, in their place.
pub(super) fn masked(pool: &mut Pool, m: &Made) -> Option<Term> {
    let ones = pool.constant(m.y())?;
    if ones == 0 {
        return zero_absorbs(pool, m);
    }
    let (low, high) = (ones.trailing_zeros(), 128 - ones.leading_zeros());
    if ones != mask(high) & !mask(low) {
        return None;
    }
    let bits = pool.extract(m.x(), low, high - low);
    let above = pool.zext(bits, m.width - low);
    if low == 0 {
        return Some(above);
    }
    let zeros = pool.number(0, low);
    Some(pool.concat(zeros, above))
}

/// `c` in `width` bits, if sign extending them gives it back.
pub(super) fn fits_signed(c: u128, from: u32, width: u32) -> bool {
    sign_extend(c, from) == sign_extend(c, width)
}

/// `x` of `sext(x)`.
pub(super) fn signed(pool: &Pool, term: Term) -> Option<Term> {
    is(pool, term, Code::SExt).map(|n| Term::from_number(n.a))
}

/// The parts of `x ∘ c` for the comparison rules.
pub(super) fn operand(pool: &Pool, term: Term, code: Code) -> Option<(Term, u128)> {
    with_constant(pool, term, code)
}
