//! Values that LLVM leaves open become what evaluators say they are.
//!
//! A shift by the width or more, and the count of leading zeros of zero where
//! the intrinsic says so, are poison: whatever the machine does is right, and
//! the program does not depend on it. But the trace holds the value that the
//! machine gave, and an expression that must agree with it. So these get a
//! meaning before anything is labelled: 0 (or the sign), and the width.
//! Shifts of the front end have theirs already (see `undefined`); others come from the
//! optimiser, or have a width that no register has.

use crate::instrument::llvm::{Context, IntPredicate, Opcode, Value};

pub fn define(ctx: &Context, function: Value) {
    for block in function.blocks() {
        for i in block.instructions() {
            match i.opcode() {
                Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => define_shift(ctx, i),
                Opcode::LLVMCall => define_result(ctx, i),
                _ => {}
            }
        }
    }
}

fn define_shift(ctx: &Context, i: Value) {
    let amount = i.operand(1);
    let Some(width) = i.ty().int_width() else { return };
    if amount.is_constant() || is_below(amount, width) {
        return;
    }
    let b = ctx.builder();
    b.before(i);
    b.locate_as(i);
    let limit = ctx.constant(width, width.into());
    let fits = b.compare(IntPredicate::LLVMIntULT, amount, limit);
    if i.opcode() == Opcode::LLVMAShr {
        let most = b.select(fits, amount, ctx.constant(width, u64::from(width) - 1));
        i.set_operand(1, most);
        return;
    }
    let safe = b.select(fits, amount, amount.ty().null());
    let shifted = b.op(i.opcode(), i.operand(0), safe);
    let value = b.select(fits, shifted, i.ty().null());
    i.replace_with(value);
    i.erase();
}

/// `x & c`, widened or not, with a constant below the width.
fn is_below(amount: Value, width: u32) -> bool {
    let mut v = amount;
    while v.is_instruction() && matches!(v.opcode(), Opcode::LLVMZExt | Opcode::LLVMTrunc) {
        v = v.operand(0);
    }
    let masked = v.is_instruction() && v.opcode() == Opcode::LLVMAnd;
    masked && v.operand(1).constant_int().is_some_and(|c| c < width.into())
}

/// Results that an intrinsic leaves open for one operand: the count of leading zeros of
/// zero, and the absolute value of the smallest number.
pub fn define_result(ctx: &Context, i: Value) {
    const OPEN: [&str; 3] = ["llvm.ctlz.", "llvm.cttz.", "llvm.abs."];
    let name = i.callee().intrinsic().unwrap_or_default();
    if OPEN.iter().any(|open| name.starts_with(open)) {
        i.set_operand(1, ctx.constant(1, 0));
    }
}

/// Takes the amount of a shift modulo the width, as processors do.
pub fn wrap_shift(ctx: &Context, i: Value) {
    /// Widths of registers, and of pairs of them.
    const WIDTHS: [u32; 3] = [32, 64, 128];
    let amount = i.operand(1);
    let Some(width) = i.ty().int_width().filter(|width| WIDTHS.contains(width)) else { return };
    if amount.is_constant() || is_below(amount, width) {
        return;
    }
    let b = ctx.builder();
    b.before(i);
    b.locate_as(i);
    let wrapped = b.op(Opcode::LLVMAnd, amount, ctx.constant(width, u64::from(width) - 1));
    i.set_operand(1, wrapped);
}
