//! Finds the values that may carry a label: those that come from parameters, memory
//! and calls, and those that are computed from them. Loop counters and constants carry
//! none. This saves most of the tests that the instrumentation would add.

use super::shape::label_type;
use super::{float, intrinsics};
use crate::instrument::llvm::{Context, Opcode, Value};
use crate::instrument::sites::is_pleach_symbol;
use crate::instrument::tokens::RESULT_CALL;
use std::collections::HashSet;

pub fn find_labelled(ctx: &Context, function: Value) -> HashSet<Value> {
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
                && propagates_label(user, v)
            {
                found.insert(user);
                work.push(user);
            }
        }
    }
    found
}

/// True if the label of a value does not come from its operands.
fn is_source(i: Value) -> bool {
    match i.opcode() {
        Opcode::LLVMLoad => !reads_constant(i),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => {
            passes_labels(i) || is_token_result(i)
        }
        _ => false,
    }
}

/// True for the call that a token passes through when it leaves its function.
pub fn is_token_result(i: Value) -> bool {
    let callee = i.callee();
    callee.is_function() && callee.name().starts_with(RESULT_CALL)
}

/// True if a call passes labels: it is no intrinsic, no assembly, and not a call of the
/// runtime.
pub fn passes_labels(i: Value) -> bool {
    let callee = i.callee();
    !callee.is_inline_asm()
        && callee.intrinsic().is_none()
        && !(callee.is_function() && is_without_labels(&callee.name()))
        && float::math_call(i).is_none()
}

/// True for functions of the runtime and of sanitizers that neither take nor return
/// labels.
fn is_without_labels(name: &str) -> bool {
    let is_sanitizer =
        ["__ubsan_", "__asan_", "__sanitizer_", "__lsan_"].iter().any(|p| name.starts_with(p));
    is_sanitizer
        || is_pleach_symbol(name) && !name.starts_with("__pleach_m_") && name != "__pleach_afl_len"
}

/// True if a load reads a constant global. Its result is labelled only if its address
/// is.
pub fn reads_constant(load: Value) -> bool {
    base_of(load.operand(0)).is_constant_global()
}

/// The value that an address is computed from.
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

/// True if the result is labelled when this operand is.
fn propagates_label(user: Value, operand: Value) -> bool {
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
        LLVMCall => intrinsics::of_call(user).is_some(),
        _ => float::has_node(user),
    }
}
