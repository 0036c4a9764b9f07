//! Entry points for operations on labelled values. The program passes its own result as
//! `val`, and the runtime computes nothing. So the oracle compares with the values that
//! the program really had.

use super::arena::{self, binary, cast, constant, mask, node, push, push_wide};
use super::events::count_loss;
use pleach_abi::node::{FLAG_DECIDED, Node, Op};
use pleach_abi::shm::Loss;

/// An operation on two values. `desc` is the operation, and from bit 8 on the width of the
/// result. If one label is 0, `imm` is the value of that operand.
pub extern "C" fn bin(desc: u32, a: u32, b: u32, imm: u64, val: u64) -> u32 {
    if a | b == 0 || is_constant(desc, a, b, imm) {
        return 0;
    }
    let width = desc >> 8;
    push(Node {
        op: desc as u8,
        width: width as u8,
        a,
        b,
        imm,
        val: val & mask(width),
        ..Node::default()
    })
}

/// True for a comparison that has the same result for every input: a widened byte never
/// equals a value that no byte has, such as the -1 of `getc(f) == EOF`.
#[inline(always)]
fn is_constant(desc: u32, a: u32, b: u32, imm: u64) -> bool {
    let op = desc as u8;
    (op == Op::Eq as u8 || op == Op::Ne as u8)
        && b == 0
        && node(a).op == Op::ZExt as u8
        && imm > mask(node(node(a).a).width.into())
}

/// An operation on one value.
pub extern "C" fn un(desc: u32, a: u32, val: u64) -> u32 {
    bin(desc, a, 0, 0, val)
}

/// An operation with a floating-point operand or result, as [`bin`]; with one operand if
/// `b` is 0 and the operation has one.
pub extern "C" fn float(desc: u32, a: u32, b: u32, imm: u64, val: u64) -> u32 {
    if a | b == 0 {
        return 0;
    }
    if !rounds_to_nearest() {
        count_loss(Loss::Float);
        return 0;
    }
    bin(desc, a, b, imm, val)
}

/// True if the thread rounds to nearest and keeps numbers below the normal ones.
pub fn rounds_to_nearest() -> bool {
    const ROUNDING: u32 = 3 << 13;
    const FLUSH: u32 = 1 << 15;
    const DENORMALS_ARE_ZERO: u32 = 1 << 6;
    let mut control = 0u32;
    // Safety: writes the control word to this variable.
    unsafe {
        core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags))
    };
    control & (ROUNDING | FLUSH | DENORMALS_ARE_ZERO) == 0
}

/// `c ? a : b`. The low 8 bits of `desc` are the width, the rest is the value of the
/// condition. If the condition is concrete, or already a decision of the trace, the
/// result is the arm that was taken.
pub extern "C" fn ite(desc: u32, c: u32, a: u32, b: u32, a_val: u64, b_val: u64) -> u32 {
    let width = desc & 0xff;
    if c == 0 {
        return if desc >> 8 != 0 { a } else { b };
    }
    let cond = *node(c);
    let taken = cond.val != 0;
    if cond.flags & FLAG_DECIDED != 0 {
        return if taken { a } else { b };
    }
    let a = if a == 0 { constant(width, a_val, 0) } else { a };
    let b = if b == 0 { constant(width, b_val, 0) } else { b };
    if a == 0 || b == 0 {
        return 0;
    }
    push(Node {
        op: Op::Ite as u8,
        width: width as u8,
        a: c,
        b: a,
        c: b,
        val: if taken { a_val } else { b_val } & mask(width),
        ..Node::default()
    })
}

/// One step of address arithmetic: `base + index * scale`.
pub extern "C" fn gep(
    base_label: u32,
    index_label: u32,
    base: u64,
    index: u64,
    scale: u64,
    index_width: u32,
) -> u32 {
    let product = index.wrapping_mul(scale);
    let sum = base.wrapping_add(product);
    let mut l = index_label;
    if l != 0 && index_width < 64 {
        l = cast(Op::SExt, l, 64, index);
    } else if l != 0 && index_width > 64 {
        l = cast(Op::Trunc, l, 64, index);
    }
    if l != 0 && scale != 1 {
        l = binary(Op::Mul, 64, l, 0, scale, product);
    }
    match (base_label, l) {
        (0, 0) => 0,
        (0, l) => binary(Op::Add, 64, 0, l, base, sum),
        (b, 0) if product == 0 => b,
        (b, l) => binary(Op::Add, 64, b, l, product, sum),
    }
}

/// An operand that is passed in memory: the operation is too wide, or has too many
/// operands, for registers.
#[repr(C)]
pub struct Operand {
    pub label: u32,
    pub width: u32,
    pub low: u64,
    pub high: u64,
}

/// Any operation: `n` operands, and then the result (its label is ignored).
pub extern "C" fn general(op: u32, n: u32, operands: *const Operand) -> u32 {
    let mut labels = [0u32; 3];
    // Safety: instrumented code passes n + 1 operands, n at most 3.
    let at = |i: u32| unsafe { &*operands.add(i as usize) };
    if (0..n.min(3)).all(|i| at(i).label == 0) {
        return 0;
    }
    for i in 0..n.min(3) {
        let o = at(i);
        labels[i as usize] = if o.label == 0 { constant(o.width, o.low, o.high) } else { o.label };
        if labels[i as usize] == 0 {
            return 0;
        }
    }
    if op == Op::FFma as u32 && !rounds_to_nearest() {
        count_loss(Loss::Float);
        return 0;
    }
    let r = at(n);
    let [a, b, c] = labels;
    if op == Op::Ite as u32 && node(a).flags & FLAG_DECIDED != 0 {
        return at(if node(a).val != 0 { 1 } else { 2 }).label;
    }
    let new = Node {
        op: op as u8,
        width: r.width as u8,
        a,
        b,
        c,
        val: r.low & mask(r.width),
        ..Node::default()
    };
    if r.width > 64 { push_wide(new, 0, r.high & mask(r.width - 64)) } else { push(new) }
}

/// Elements of a vector, or several values side by side, as one value: `n` operands of
/// equal width, the lowest first.
pub extern "C" fn concat(n: u32, operands: *const Operand) -> u32 {
    // Safety: instrumented code passes n operands.
    let at = |i: u32| unsafe { &*operands.add(i as usize) };
    let mut whole = 0;
    let (mut low, mut bits) = (0u128, 0);
    for i in 0..n {
        let o = at(i);
        let piece = if o.label == 0 { constant(o.width, o.low, 0) } else { o.label };
        let value = low | u128::from(o.low & mask(o.width)) << bits;
        let width = bits + o.width;
        if width > 128 || piece == 0 {
            return 0;
        }
        whole = if i == 0 {
            piece
        } else {
            let new = Node {
                op: Op::Concat as u8,
                width: width as u8,
                a: whole,
                b: piece,
                c: bits,
                val: value as u64,
                ..Node::default()
            };
            if width > 64 { push_wide(new, 0, (value >> 64) as u64) } else { push(new) }
        };
        (low, bits) = (value, width);
    }
    whole
}

/// `width` bits of a value, from bit `from` on.
pub extern "C" fn extract(label: u32, from: u32, width: u32) -> u32 {
    let is = node(label);
    if from == 0 && u32::from(is.width) == width {
        return label;
    }
    let val = (arena::value(label) >> from) as u64 & mask(width);
    push(Node {
        op: Op::Extract as u8,
        width: width as u8,
        a: label,
        b: from,
        val,
        ..Node::default()
    })
}
