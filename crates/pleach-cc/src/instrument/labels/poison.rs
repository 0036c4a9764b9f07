//! Defines results that LLVM leaves undefined, as the evaluators of traces define them.
//!
//! A shift by the width or more is poison, and so is the count of leading zeros of zero
//! if the intrinsic's flag says so. Any machine result is then correct, and the program
//! does not depend on it. But the trace contains the machine's value, and the
//! expression must agree with it. So before labels are added, such a shift gets the
//! result 0 (or the sign), and such a count gets the width. Shifts of the front end are
//! already defined (see `undefined`); the others come from the optimiser, or have a
//! width that no register has.

use crate::instrument::llvm::{Context, IntPredicate, Opcode, Value};

pub fn define_results(ctx: &Context, function: Value) {
    for block in function.blocks() {
        for i in block.instructions() {
            match i.opcode() {
                Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => define_shift(ctx, i),
                Opcode::LLVMCall => define_intrinsic(ctx, i),
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
    let is_in_range = b.compare(IntPredicate::LLVMIntULT, amount, limit);
    if i.opcode() == Opcode::LLVMAShr {
        let clamped = b.select(is_in_range, amount, ctx.constant(width, u64::from(width) - 1));
        i.set_operand(1, clamped);
        return;
    }
    let safe = b.select(is_in_range, amount, amount.ty().null());
    let shifted = b.op(i.opcode(), i.operand(0), safe);
    let value = b.select(is_in_range, shifted, i.ty().null());
    i.replace_with(value);
    i.erase();
}

/// True for `x & c` with a constant below the width, extended or truncated or not.
fn is_below(amount: Value, width: u32) -> bool {
    let mut v = amount;
    while v.is_instruction() && matches!(v.opcode(), Opcode::LLVMZExt | Opcode::LLVMTrunc) {
        v = v.operand(0);
    }
    let masked = v.is_instruction() && v.opcode() == Opcode::LLVMAnd;
    masked && v.operand(1).constant_int().is_some_and(|c| c < width.into())
}

/// Clears the flag by which an intrinsic leaves the result of one operand undefined:
/// the count of zeros in 0, and the absolute value of the smallest number.
pub fn define_intrinsic(ctx: &Context, i: Value) {
    const WITH_FLAG: [&str; 3] = ["llvm.ctlz.", "llvm.cttz.", "llvm.abs."];
    let name = i.callee().intrinsic().unwrap_or_default();
    if WITH_FLAG.iter().any(|prefix| name.starts_with(prefix)) {
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
