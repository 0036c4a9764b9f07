//! Which values may carry a label. Optimistic: nothing does, except what comes
//! from parameters, memory and calls, and what is computed from such values.
//! Loop counters and constants fall out, and with them most of the tests that
//! instrumentation would cost.

use super::intrinsics;
use super::shape::label_type;
use crate::instrument::llvm::{Context, Opcode, Value};
use crate::instrument::sites::is_ours;
use crate::instrument::tokens::RESULT;
use std::collections::HashSet;

pub fn labelled(ctx: &Context, function: Value) -> HashSet<Value> {
    let mut found: HashSet<Value> = HashSet::new();
    let mut work: Vec<Value> = Vec::new();
    for (n, p) in function.params().into_iter().enumerate() {
        if label_type(ctx, p.ty()).is_some() && function.byval_type(n as u32).is_none() {
            found.insert(p);
            work.push(p);
        }
    }
    for block in function.blocks() {
        for i in block.instructions() {
            if is_source(i) && label_type(ctx, i.ty()).is_some() {
                found.insert(i);
                work.push(i);
            }
        }
    }
    while let Some(v) = work.pop() {
        for user in v.users() {
            if user.is_instruction()
                && !found.contains(&user)
                && label_type(ctx, user.ty()).is_some()
                && passes_on(user, v)
            {
                found.insert(user);
                work.push(user);
            }
        }
    }
    found
}

/// Values whose label comes from elsewhere than an operand's.
fn is_source(i: Value) -> bool {
    match i.opcode() {
        Opcode::LLVMLoad => !reads_constant(i),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => {
            is_labelling_call(i) || is_token(i)
        }
        _ => false,
    }
}

/// The call that a token passes through on its way out of its function.
pub fn is_token(i: Value) -> bool {
    let callee = i.callee();
    callee.is_function() && callee.name().starts_with(RESULT)
}

/// A call through which labels pass: not an intrinsic, not assembly, not ours.
pub fn is_labelling_call(i: Value) -> bool {
    let callee = i.callee();
    !callee.is_inline_asm()
        && callee.intrinsic().is_none()
        && !(callee.is_function() && is_silent(&callee.name()))
}

/// Functions of the runtime and of sanitizers that take and give no labels.
fn is_silent(name: &str) -> bool {
    let sanitizer =
        ["__ubsan_", "__asan_", "__sanitizer_", "__lsan_"].iter().any(|p| name.starts_with(p));
    sanitizer || is_ours(name) && !name.starts_with("__pleach_m_") && name != "__pleach_afl_len"
}

/// A load from a constant: labelled only if its address is.
pub fn reads_constant(load: Value) -> bool {
    base_of(load.operand(0)).is_constant_global()
}

/// What an address is computed from.
pub fn base_of(address: Value) -> Value {
    let mut at = address;
    for _ in 0..16 {
        let step = at.constant_opcode().or(at.is_instruction().then(|| at.opcode()));
        match step {
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast) => {
                at = at.operand(0);
            }
            _ => break,
        }
    }
    at
}

/// Whether a labelled operand makes the result labelled.
fn passes_on(user: Value, operand: Value) -> bool {
    use Opcode::*;
    match user.opcode() {
        LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl
        | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMICmp | LLVMTrunc | LLVMZExt
        | LLVMSExt => user.ty().int_width().is_some(),
        LLVMPtrToInt | LLVMPtrToAddr | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast
        | LLVMFreeze | LLVMPHI | LLVMSelect | LLVMExtractValue | LLVMInsertValue
        | LLVMShuffleVector => true,
        LLVMExtractElement => user.operand(0) == operand,
        LLVMInsertElement => user.operand(2) != operand,
        LLVMGetElementPtr => super::shape::scalar_bits(user.ty()).is_some(),
        LLVMLoad => true,
        LLVMCall => user.callee().intrinsic().is_some_and(|n| intrinsics::of(&n).is_some()),
        _ => false,
    }
}
