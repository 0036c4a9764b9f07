//! Bounds of the values of labels: from their expressions, and from the decisions so far.
//!
//! They say where an access at a labelled address can be. After `if (n < 16)`, `table[n]` is
//! one of the first 16 elements, and a flip of a later decision keeps that one as it is.

use super::arena::{mask, node};
use pleach_abi::node::{FLAG_DECIDED, Op};

const MAX_DEPTH: u32 = 6;
const SLOTS: usize = 256;
const WAYS: usize = 2;

/// A decision that bounds a value: the condition has the outcome `dir`. A condition on
/// `x - 48`, or on a wider copy of `x`, is one on `x`.
#[derive(Clone, Copy)]
struct Decision {
    of: u32,
    condition: u32,
    dir: bool,
}

const NONE: Decision = Decision { of: 0, condition: 0, dir: false };

/// The last decisions of this run, by the label that they bound.
static mut DECISIONS: [[Decision; WAYS]; SLOTS] = [[NONE; WAYS]; SLOTS];

fn slot(label: u32) -> &'static mut [Decision; WAYS] {
    // Safety: plain numbers. Threads that race for a slot can mix up two decisions; the
    // driver checks what it computes from a trace in any case.
    unsafe { &mut *&raw mut DECISIONS[label as usize % SLOTS] }
}

pub fn begin_run() {
    // Safety: only this thread runs.
    unsafe { DECISIONS = [[NONE; WAYS]; SLOTS] };
}

/// Notes a decision: the condition `label` has the outcome `dir` on the rest of the path.
/// This is on the path of every decision, so it only finds what is compared.
#[inline]
pub fn learn(label: u32, dir: bool) {
    let n = node(label);
    let bounds = match Op::from_u8(n.op) {
        Some(Op::Eq) => dir,
        Some(Op::Ne) => !dir,
        Some(Op::Ult | Op::Ule | Op::Slt | Op::Sle) => true,
        _ => false,
    };
    // One operand is labelled and the other is `imm`.
    if !bounds || (n.a != 0 && n.b != 0) {
        return;
    }
    let compared = n.a | n.b;
    let mut of = compared;
    for _ in 0..MAX_DEPTH {
        match moved(of) {
            Some((inner, _)) => of = inner,
            None => break,
        }
    }
    note(Decision { of, condition: label, dir });
    // The bounds of `x + 3` can be none of `x`, which is signed.
    if of != compared {
        note(Decision { of: compared, condition: label, dir });
    }
}

/// Keeps a decision. A value that is known says more than later decisions.
#[inline]
fn note(d: Decision) {
    let ways = slot(d.of);
    let fixes = |w: &Decision| {
        w.of == d.of && matches!(Op::from_u8(node(w.condition).op), Some(Op::Eq | Op::Ne))
    };
    if !ways.iter().any(fixes) {
        ways.copy_within(..WAYS - 1, 1);
        ways[0] = d;
    }
}

/// If a value is another one, or that plus a constant: the other, and the constant.
#[inline]
fn moved(label: u32) -> Option<(u32, u64)> {
    let n = node(label);
    match Op::from_u8(n.op) {
        Some(Op::ZExt | Op::SExt) => Some((n.a, 0)),
        Some(Op::Add) if (n.a == 0) != (n.b == 0) => Some((n.a | n.b, n.imm)),
        Some(Op::Sub) if n.a != 0 && n.b == 0 => Some((n.a, n.imm.wrapping_neg())),
        _ => None,
    }
}

/// Lower and upper bound of the value of a label, unsigned, from a few nodes. This shows
/// for most bytes that index a table that they are in bounds.
pub fn bounds(label: u32) -> (u64, u64) {
    within(label, MAX_DEPTH)
}

fn within(label: u32, depth: u32) -> (u64, u64) {
    let (mut low, mut high) = of_expression(label, depth);
    let ways = *slot(label);
    // A later decision can need an earlier one: `x < 10`, after `x >= 0`.
    for d in ways.iter().rev().filter(|d| d.of == label) {
        if let Some((l, h)) = decided(d, (low, high))
            && l.max(low) <= h.min(high)
        {
            (low, high) = (l.max(low), h.min(high));
        }
    }
    (low, high)
}

/// The bounds of a value by one decision; `now` are those that are known.
fn decided(d: &Decision, now: (u64, u64)) -> Option<(u64, u64)> {
    let n = *node(d.condition);
    let op = Op::from_u8(n.op)?;
    let mut label = n.a | n.b;
    let width = u32::from(node(label).width);
    if !(2..=64).contains(&width) {
        return None;
    }
    let c = n.imm & mask(width);
    let (mut low, mut high) = match op {
        Op::Eq | Op::Ne => (c, c),
        _ => {
            let is_strict = matches!(op, Op::Ult | Op::Slt);
            let is_signed = matches!(op, Op::Slt | Op::Sle);
            let is_left = n.b == 0;
            let sign = 1u64 << (width - 1);
            let is_positive = label == d.of && now.1 < sign;
            let signed = is_signed.then_some(is_positive);
            compared(width, c, is_left == d.dir, is_strict == d.dir, signed)?
        }
    };
    // From the value that is compared down to the one that was asked for.
    while label != d.of {
        let (inner, constant) = moved(label)?;
        let is = node(label);
        let mask = mask(is.width.into());
        (low, high) = (low.wrapping_sub(constant) & mask, high.wrapping_sub(constant) & mask);
        let width = u32::from(node(inner).width).clamp(1, 64);
        let fits = match Op::from_u8(is.op) {
            Some(Op::SExt) => high < 1 << (width - 1),
            _ => true,
        };
        if low > high || !fits {
            return None;
        }
        label = inner;
    }
    Some((low, high))
}

/// The bounds of a value that is at most `c`, or at least; one less or more if `c` is
/// excluded. `signed` says for a signed comparison if the value is known not to be negative.
fn compared(
    width: u32,
    c: u64,
    at_most: bool,
    excluded: bool,
    signed: Option<bool>,
) -> Option<(u64, u64)> {
    let all = mask(width);
    let bound = match (excluded, at_most) {
        (false, _) => c,
        (true, true) => c.wrapping_sub(1) & all,
        (true, false) => c.wrapping_add(1) & all,
    };
    let sign = 1 << (width - 1);
    match signed {
        // Only what is not negative has one range.
        Some(_) if bound >= sign => None,
        Some(is_positive) if at_most => is_positive.then_some((0, bound)),
        Some(_) => Some((bound, sign - 1)),
        None if at_most => (!excluded || c != 0).then_some((0, bound)),
        None => (!excluded || c != all).then_some((bound, all)),
    }
}

fn of_expression(label: u32, depth: u32) -> (u64, u64) {
    let n = node(label);
    let all = (0, mask(n.width.into()));
    if depth == 0 || n.width > 64 {
        return (0, u64::MAX);
    }
    let of = |l| within(l, depth - 1);
    // One operand is labelled and the other is `imm`.
    let one = n.a | n.b;
    let single = n.a == 0 || n.b == 0;
    let fit = |low: Option<u64>, high: Option<u64>| match (low, high) {
        (Some(l), Some(h)) if h <= all.1 => (l, h),
        _ => all,
    };
    let shift = |(low, high): (u64, u64), by: u64| {
        let (low, high) = (low.wrapping_add(by) & all.1, high.wrapping_add(by) & all.1);
        if low <= high { (low, high) } else { all }
    };
    match Op::from_u8(n.op) {
        Some(Op::ZExt) => of(n.a),
        Some(Op::SExt) => {
            let (low, high) = of(n.a);
            let sign = 1u64 << (u32::from(node(n.a).width).clamp(1, 64) - 1);
            if high < sign { (low, high) } else { all }
        }
        Some(Op::And) if single => (0, of(one).1.min(n.imm)),
        Some(Op::URem) if n.b == 0 && n.imm != 0 => (0, of(n.a).1.min(n.imm - 1)),
        Some(Op::Add) if single => shift(of(one), n.imm),
        Some(Op::Sub) if n.b == 0 => shift(of(n.a), n.imm.wrapping_neg()),
        Some(Op::Mul) if single => {
            let (low, high) = of(one);
            fit(low.checked_mul(n.imm), high.checked_mul(n.imm))
        }
        Some(Op::Shl) if n.b == 0 && n.imm < 32 => {
            let (low, high) = of(n.a);
            fit(low.checked_mul(1 << n.imm), high.checked_mul(1 << n.imm))
        }
        Some(Op::LShr) if n.b == 0 && n.imm < 64 => {
            let (low, high) = of(n.a);
            (low >> n.imm, high >> n.imm)
        }
        Some(Op::Ite) => match node(n.a) {
            is if is.flags & FLAG_DECIDED != 0 && is.val != 0 && n.b != 0 => of(n.b),
            is if is.flags & FLAG_DECIDED != 0 && is.val == 0 && n.c != 0 => of(n.c),
            _ if n.b != 0 && n.c != 0 => {
                let (yes, no) = (of(n.b), of(n.c));
                (yes.0.min(no.0), yes.1.max(no.1))
            }
            _ => all,
        },
        _ => all,
    }
}

/// True if a value depends on the length of the input and on nothing else.
pub fn is_length(label: u32) -> bool {
    is_length_within(label, MAX_DEPTH)
}

fn is_length_within(label: u32, depth: u32) -> bool {
    if label == 0 {
        return true;
    }
    let n = *node(label);
    let of = |l| is_length_within(l, depth - 1);
    match Op::from_u8(n.op) {
        Some(Op::InputLen | Op::Const) => true,
        _ if depth == 0 => false,
        Some(Op::ZExt | Op::SExt | Op::Trunc) => of(n.a),
        Some(Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::LShr | Op::And) => of(n.a) && of(n.b),
        Some(Op::Ite) => of(n.b) && of(n.c),
        _ => false,
    }
}
