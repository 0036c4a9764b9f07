//! Bounds of the values of labels: from their expressions, and from the decisions so far.
//!
//! They say where an access at a labelled address can be. After `if (n < 16)`, `table[n]` is
//! one of the first 16 elements, and a flip of a later decision keeps that one as it is.

use super::arena::{mask, node};
use pleach_abi::node::Op;

const MAX_DEPTH: u32 = 6;
const SLOTS: usize = 256;

/// What the decisions of this run say about a label.
#[derive(Clone, Copy)]
struct Decided {
    label: u32,
    low: u64,
    high: u64,
}

const NOTHING: Decided = Decided { label: 0, low: 0, high: u64::MAX };

/// By label; a newer label replaces an older one.
static mut DECIDED: [Decided; SLOTS] = [NOTHING; SLOTS];

fn slot(label: u32) -> &'static mut Decided {
    // Safety: plain numbers. Threads that race for a slot can mix up two decisions; the
    // driver checks what it computes from a trace in any case.
    unsafe { &mut *&raw mut DECIDED[label as usize % SLOTS] }
}

pub fn begin_run() {
    // Safety: only this thread runs.
    unsafe { DECIDED = [NOTHING; SLOTS] };
}

fn decided(label: u32) -> (u64, u64) {
    let s = *slot(label);
    if s.label == label { (s.low, s.high) } else { (0, u64::MAX) }
}

/// Lower and upper bound of the value of a label, unsigned, from a few nodes. This shows
/// for most bytes that index a table that they are in bounds.
pub fn bounds(label: u32) -> (u64, u64) {
    within(label, MAX_DEPTH)
}

fn within(label: u32, depth: u32) -> (u64, u64) {
    let (low, high) = of_expression(label, depth);
    let known = decided(label);
    (low.max(known.0), high.min(known.1))
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
    match Op::from_u8(n.op) {
        Some(Op::ZExt) => of(n.a),
        Some(Op::SExt) => {
            let (low, high) = of(n.a);
            let sign = 1u64 << (u32::from(node(n.a).width).clamp(1, 64) - 1);
            if high < sign { (low, high) } else { all }
        }
        Some(Op::And) if single => (0, of(one).1.min(n.imm)),
        Some(Op::URem) if n.b == 0 && n.imm != 0 => (0, of(n.a).1.min(n.imm - 1)),
        Some(Op::Add) if single => {
            let (low, high) = of(one);
            fit(low.checked_add(n.imm), high.checked_add(n.imm))
        }
        Some(Op::Sub) if n.b == 0 => {
            let (low, high) = of(n.a);
            fit(low.checked_sub(n.imm), high.checked_sub(n.imm))
        }
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
        Some(Op::Ite) => match decided(n.a) {
            (1, _) if n.b != 0 => of(n.b),
            (_, 0) if n.c != 0 => of(n.c),
            _ if n.b != 0 && n.c != 0 => {
                let (yes, no) = (of(n.b), of(n.c));
                (yes.0.min(no.0), yes.1.max(no.1))
            }
            _ => all,
        },
        _ => all,
    }
}

/// Learns from a decision: the condition `label` has the outcome `dir` on the rest of the path.
pub fn learn(label: u32, dir: bool) {
    *slot(label) = Decided { label, low: dir.into(), high: dir.into() };
    let n = *node(label);
    use Op::{Eq, Ne, Sle, Slt, Ule, Ult};
    let Some(op @ (Eq | Ne | Ult | Ule | Slt | Sle)) = Op::from_u8(n.op) else { return };
    // One operand is labelled and the other is `imm`.
    let (of, is_left) = (n.a | n.b, n.b == 0);
    if of == 0 || (n.a != 0 && n.b != 0) {
        return;
    }
    let width = u32::from(node(of).width);
    let c = n.imm & mask(width);
    match op {
        Eq | Ne if width == 1 => learn(of, dir == ((op == Eq) == (c == 1))),
        _ if width == 1 || width > 64 => {}
        Eq | Ne if dir == (op == Eq) => narrow(of, c, c),
        Eq | Ne => {}
        _ => {
            let is_strict = matches!(op, Ult | Slt);
            let is_signed = matches!(op, Slt | Sle);
            compare(of, width, c, is_left == dir, is_strict == dir, is_signed);
        }
    }
}

/// Learns that a value is at most `c`, or at least; one less or more if `c` is excluded.
fn compare(of: u32, width: u32, c: u64, at_most: bool, excluded: bool, is_signed: bool) {
    let sign = 1 << (width - 1);
    let bound = match (excluded, at_most) {
        (false, _) => c,
        (true, true) => c.wrapping_sub(1) & mask(width),
        (true, false) => c.wrapping_add(1) & mask(width),
    };
    if is_signed {
        // Only what is not negative has one range.
        let is_positive = !at_most || bounds(of).1 < sign;
        if bound < sign && is_positive {
            let (low, high) = if at_most { (0, bound) } else { (bound, sign - 1) };
            narrow(of, low, high);
        }
        return;
    }
    match at_most {
        true if !excluded || c != 0 => narrow(of, 0, bound),
        false if !excluded || c != mask(width) => narrow(of, bound, mask(width)),
        _ => {}
    }
}

/// Keeps the bounds of a value, and of the value that it is made of.
fn narrow(mut label: u32, mut low: u64, mut high: u64) {
    for _ in 0..MAX_DEPTH {
        let now = bounds(label);
        (low, high) = (low.max(now.0), high.min(now.1));
        if low > high {
            return;
        }
        *slot(label) = Decided { label, low, high };
        let n = *node(label);
        let mask = mask(n.width.into());
        let (of, moved) = match Op::from_u8(n.op) {
            Some(Op::ZExt) => (n.a, 0),
            Some(Op::SExt) if high < 1 << (node(n.a).width.clamp(1, 64) - 1) => (n.a, 0),
            Some(Op::Add) if (n.a == 0) != (n.b == 0) => (n.a | n.b, n.imm),
            Some(Op::Sub) if n.a != 0 && n.b == 0 => (n.a, n.imm.wrapping_neg()),
            _ => return,
        };
        (low, high) = (low.wrapping_sub(moved) & mask, high.wrapping_sub(moved) & mask);
        if low > high {
            return;
        }
        label = of;
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
