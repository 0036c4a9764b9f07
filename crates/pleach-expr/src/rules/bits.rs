//! Rules for operations that move bits: shifts, extensions, extracts, concatenations.

use super::arithmetic::{zero_absorbs, zero_right};
use super::{Operation, Rule, constant_choice, node_if, zext_operand};
use crate::eval::{mask, sign_extend};
use crate::pool::{Code, Pool, Term};

pub(super) const SHL: &[Rule] = &[
    Rule { equation: "x << 0 = x", apply: zero_right },
    Rule {
        equation: "x << c = 0 where c >= |x|",
        apply: |p, op| (p.constant(op.y())? >= op.width.into()).then(|| p.number(0, op.width)),
    },
    Rule {
        equation: "x << c = x[0..|x|-c]:0",
        apply: |p, op| {
            let by = p.constant(op.y()).filter(|c| (1..op.width.into()).contains(c))? as u32;
            let zeros = p.number(0, by);
            let rest = p.extract(op.x(), 0, op.width - by);
            Some(p.concat(zeros, rest))
        },
    },
];

pub(super) const LSHR: &[Rule] = &[
    Rule { equation: "x >> 0 = x", apply: zero_right },
    Rule {
        equation: "x >> c = 0 where c >= |x|",
        apply: |p, op| (p.constant(op.y())? >= op.width.into()).then(|| p.number(0, op.width)),
    },
    Rule {
        equation: "x >> c = zext(x[c..])",
        apply: |p, op| {
            let by = p.constant(op.y()).filter(|c| (1..op.width.into()).contains(c))? as u32;
            let rest = p.extract(op.x(), by, op.width - by);
            Some(p.zext(rest, op.width))
        },
    },
];

pub(super) const ASHR: &[Rule] = &[
    Rule { equation: "x >> 0 = x", apply: zero_right },
    Rule {
        equation: "x >> c (signed) = sext(x[c..])",
        apply: |p, op| {
            let by = p.constant(op.y())?.min(u128::from(op.width) - 1) as u32;
            let rest = p.extract(op.x(), by, op.width - by);
            Some(p.sext(rest, op.width))
        },
    },
];

pub(super) const ZEXT: &[Rule] = &[
    Rule { equation: "zext(x) = x where |x| is enough", apply: same_width },
    Rule {
        equation: "zext(zext(x)) = zext(x)",
        apply: |p, op| {
            let x = zext_operand(p, op.x())?;
            Some(p.zext(x, op.width))
        },
    },
    Rule {
        equation: "zext(x[0..k]) = x, zext(x) or x[0..n] where x has no bits from k on",
        apply: |p, op| {
            let n = node_if(p, op.x(), Code::Extract).filter(|n| n.b == 0)?;
            let x = Term::from_number(n.a);
            (p.bits(x) <= n.width()).then_some(())?;
            Some(match p.width(x) {
                w if w < op.width => p.zext(x, op.width),
                _ => p.extract(x, 0, op.width),
            })
        },
    },
    Rule {
        equation: "zext(b ? c : d) = b ? zext(c) : zext(d)",
        apply: |p, op| {
            let (bit, yes, no) = constant_choice(p, op.x())?;
            let (yes, no) = (p.zext(yes, op.width), p.zext(no, op.width));
            Some(p.ite(bit, yes, no))
        },
    },
];

pub(super) const SEXT: &[Rule] = &[
    Rule { equation: "sext(x) = x where |x| is enough", apply: same_width },
    Rule {
        equation: "sext(x) = zext(x) where x is not negative",
        apply: |p, op| (p.bits(op.x()) < p.width(op.x())).then(|| p.zext(op.x(), op.width)),
    },
    Rule {
        equation: "sext(sext(x)) = sext(x)",
        apply: |p, op| {
            let n = node_if(p, op.x(), Code::SExt)?;
            Some(p.sext(Term::from_number(n.a), op.width))
        },
    },
    Rule {
        equation: "sext(b ? c : d) = b ? sext(c) : sext(d)",
        apply: |p, op| {
            let (bit, yes, no) = constant_choice(p, op.x())?;
            let (yes, no) = (p.sext(yes, op.width), p.sext(no, op.width));
            Some(p.ite(bit, yes, no))
        },
    },
];

pub(super) const EXTRACT: &[Rule] = &[
    Rule { equation: "x[0..|x|] = x", apply: same_width },
    Rule {
        equation: "x[i..j] = 0 where x has no bits there",
        apply: |p, op| (p.bits(op.x()) <= op.b).then(|| p.number(0, op.width)),
    },
    Rule {
        equation: "x[i..j][k..l] = x[i+k..i+l]",
        apply: |p, op| {
            let n = node_if(p, op.x(), Code::Extract)?;
            Some(p.extract(Term::from_number(n.a), n.b + op.b, op.width))
        },
    },
    Rule {
        equation: "read(i, n)[8j..8k] = read(i + j, k - j)",
        apply: |p, op| {
            let n = node_if(p, op.x(), Code::Read)?;
            (op.b % 8 == 0 && op.width % 8 == 0).then(|| p.read(n.a + op.b / 8, op.width / 8))
        },
    },
    Rule {
        equation: "zext(x)[i..j] = x[i..j], or zext(x[i..])",
        apply: |p, op| {
            let x = zext_operand(p, op.x())?;
            let width = p.width(x);
            if op.b + op.width <= width {
                return Some(p.extract(x, op.b, op.width));
            }
            (op.b < width).then_some(())?;
            let rest = p.extract(x, op.b, width - op.b);
            Some(p.zext(rest, op.width))
        },
    },
    Rule {
        equation: "sext(x)[i..j] = x[i..j], or sext(x[i..])",
        apply: |p, op| {
            let n = node_if(p, op.x(), Code::SExt)?;
            let x = Term::from_number(n.a);
            let width = p.width(x);
            if op.b + op.width <= width {
                return Some(p.extract(x, op.b, op.width));
            }
            let from = op.b.min(width - 1);
            let rest = p.extract(x, from, width - from);
            Some(p.sext(rest, op.width))
        },
    },
    Rule {
        equation: "(y:x)[i..j] = the parts of y and x",
        apply: |p, op| {
            let n = node_if(p, op.x(), Code::Concat)?;
            let (low, high) = (Term::from_number(n.a), Term::from_number(n.b));
            let (from, to, cut) = (op.b, op.b + op.width, p.width(low));
            if to <= cut {
                return Some(p.extract(low, from, op.width));
            }
            if from >= cut {
                return Some(p.extract(high, from - cut, op.width));
            }
            let low = p.extract(low, from, cut - from);
            let high = p.extract(high, 0, to - cut);
            Some(p.concat(low, high))
        },
    },
    Rule {
        equation: "(x ∘ c)[0..k] = x[0..k] ∘ c where ∘ goes from low bits to high",
        apply: |p, op| {
            (op.b == 0).then_some(())?;
            let n = p.node(op.x());
            matches!(n.code, Code::Add | Code::Sub | Code::Mul).then_some(())?;
            let (x, y) = (Term::from_number(n.a), Term::from_number(n.b));
            // Only if both extracts simplify. Otherwise two extracts would replace one.
            let cheap = |t: Term| {
                p.constant(t).is_some()
                    || matches!(p.node(t).code, Code::ZExt | Code::SExt | Code::Concat)
            };
            (cheap(x) && cheap(y)).then_some(())?;
            let (x, y) = (p.extract(x, 0, op.width), p.extract(y, 0, op.width));
            Some(p.pair(n.code, x, y))
        },
    },
    Rule {
        equation: "(x ∘ y)[i..j] = x[i..j] ∘ y[i..j] where ∘ is & | ^ and y a constant",
        apply: |p, op| {
            let n = p.node(op.x());
            matches!(n.code, Code::And | Code::Or | Code::Xor).then_some(())?;
            p.constant(Term::from_number(n.b))?;
            let x = p.extract(Term::from_number(n.a), op.b, op.width);
            let y = p.extract(Term::from_number(n.b), op.b, op.width);
            Some(p.pair(n.code, x, y))
        },
    },
    Rule {
        equation: "(b ? c : d)[i..j] = b ? c[i..j] : d[i..j]",
        apply: |p, op| {
            let (bit, yes, no) = constant_choice(p, op.x())?;
            let (yes, no) = (p.extract(yes, op.b, op.width), p.extract(no, op.b, op.width));
            Some(p.ite(bit, yes, no))
        },
    },
];

pub(super) const CONCAT: &[Rule] = &[
    Rule {
        equation: "0:x = zext(x)",
        apply: |p, op| (p.constant(op.y())? == 0).then(|| p.zext(op.x(), op.width)),
    },
    Rule {
        equation: "read(i + n, k):read(i, n) = read(i, n + k)",
        apply: |p, op| {
            let (low, high) = (node_if(p, op.x(), Code::Read)?, node_if(p, op.y(), Code::Read)?);
            (low.a + low.width() / 8 == high.a).then(|| p.read(low.a, op.width / 8))
        },
    },
    Rule {
        equation: "x[j..k]:x[i..j] = x[i..k]",
        apply: |p, op| {
            let (low, high) = (extract_operand(p, op.x())?, extract_operand(p, op.y())?);
            let meets = low.0 == high.0 && low.1 + p.width(op.x()) == high.1;
            meets.then(|| p.extract(low.0, low.1, op.width))
        },
    },
    Rule {
        equation: "zext(y):x = zext(y:x)",
        apply: |p, op| {
            let y = zext_operand(p, op.y())?;
            let low = p.concat(op.x(), y);
            Some(p.zext(low, op.width))
        },
    },
    Rule {
        equation: "z:(y:x) = (z:y):x",
        apply: |p, op| {
            let n = node_if(p, op.x(), Code::Concat)?;
            let high = p.concat(Term::from_number(n.b), op.y());
            Some(p.concat(Term::from_number(n.a), high))
        },
    },
    Rule {
        equation: "(z:y):x = z:(y:x) where y:x is one part",
        apply: |p, op| {
            let n = node_if(p, op.y(), Code::Concat)?;
            let (x, y) = (op.x(), Term::from_number(n.a));
            let one = match (p.node(x), p.node(y)) {
                (low, high) if low.code == Code::Read && high.code == Code::Read => {
                    low.a + low.width() / 8 == high.a
                }
                (low, high) if low.code == Code::Const && high.code == Code::Const => true,
                _ => match (extract_operand(p, x), extract_operand(p, y)) {
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
    apply: |p, op| {
        let by = (p.constant(op.z())? % u128::from(op.width)) as u32;
        Some(funnel(p, op, by))
    },
}];

pub(super) const FSHR: &[Rule] = &[Rule {
    equation: "fshr(x, y, c) = parts of x and y",
    apply: |p, op| {
        let by = (p.constant(op.z())? % u128::from(op.width)) as u32;
        Some(funnel(p, op, op.width - by))
    },
}];

fn funnel(pool: &mut Pool, op: &Operation, left: u32) -> Term {
    match left {
        0 => op.x(),
        l if l == op.width => op.y(),
        l => {
            let low = pool.extract(op.y(), op.width - l, l);
            let high = pool.extract(op.x(), 0, op.width - l);
            pool.concat(low, high)
        }
    }
}

/// `x` and `i`, if `term` is `x[i..]`.
fn extract_operand(pool: &Pool, term: Term) -> Option<(Term, u32)> {
    node_if(pool, term, Code::Extract).map(|n| (Term::from_number(n.a), n.b))
}

fn same_width(pool: &mut Pool, op: &Operation) -> Option<Term> {
    (pool.width(op.x()) == op.width).then(|| op.x())
}

/// `x & c` for a `c` with consecutive ones: an extract with zeros around it.
pub(super) fn masked(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let ones = pool.constant(op.y())?;
    if ones == 0 {
        return zero_absorbs(pool, op);
    }
    let (low, high) = (ones.trailing_zeros(), 128 - ones.leading_zeros());
    if ones != mask(high) & !mask(low) {
        return None;
    }
    let bits = pool.extract(op.x(), low, high - low);
    let above = pool.zext(bits, op.width - low);
    if low == 0 {
        return Some(above);
    }
    let zeros = pool.number(0, low);
    Some(pool.concat(zeros, above))
}

/// True if `c`, of `from` bits, is the sign extension of its low `width` bits.
pub(super) fn fits_signed(c: u128, from: u32, width: u32) -> bool {
    sign_extend(c, from) == sign_extend(c, width)
}

/// `x`, if `term` is `sext(x)`.
pub(super) fn sext_operand(pool: &Pool, term: Term) -> Option<Term> {
    node_if(pool, term, Code::SExt).map(|n| Term::from_number(n.a))
}
