//! Turns each branch so that its first side is the one that the source calls true.
//!
//! For `if (!x)`, the front end emits no negation: it branches on `x` and swaps the
//! targets. The same happens to the last operand of `if (!(a && b))`. Then the side that is
//! taken when the written condition holds would be called `false`, in every report. So this
//! pass swaps the targets back, and inverts the comparison, which costs nothing.
//!
//! The front end emits the block of one outcome directly behind the branch, and the name of
//! the block says which outcome it is. IR without names keeps its branches as they are.

use super::llvm::{Block, Context, IntPredicate, Module, Opcode, RealPredicate, Value};

/// Names of blocks that run when the condition before them was true.
const AFTER_TRUE: [&str; 8] = [
    "if.then",
    "land.lhs.true",
    "land.rhs",
    "cond.true",
    "while.body",
    "for.body",
    "do.body",
    "lor.end",
];
/// Names of blocks that run when it was false.
const AFTER_FALSE: [&str; 10] = [
    "if.else",
    "if.end",
    "lor.lhs.false",
    "lor.rhs",
    "cond.false",
    "while.end",
    "for.end",
    "for.cond.cleanup",
    "do.end",
    "land.end",
];

pub fn orient_branches(ctx: &Context, module: &Module) {
    for function in module.functions() {
        let blocks = function.blocks();
        for (i, block) in blocks.iter().enumerate() {
            let Some(branch) = block.terminator().filter(|b| b.is_conditional()) else { continue };
            if blocks.get(i + 1).is_some_and(|next| is_swapped(branch, *next)) {
                swap_sides(ctx, branch);
            }
        }
    }
}

/// True if the side of the branch that the source calls true is its second one. `next`: the
/// block behind the branch.
fn is_swapped(branch: Value, next: Block) -> bool {
    let [yes, no] = branch.successors()[..] else { return false };
    if yes == no {
        return false;
    }
    let name = next.name();
    // The front end numbers names that it uses again.
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (next == no && AFTER_TRUE.contains(&name)) || (next == yes && AFTER_FALSE.contains(&name))
}

fn swap_sides(ctx: &Context, branch: Value) {
    let condition = branch.condition();
    let builder = ctx.builder();
    let is_for_branch = condition.is_instruction() && condition.users().len() == 1;
    builder.before(if is_for_branch { condition } else { branch });
    builder.locate_as(if is_for_branch { condition } else { branch });
    let operand = |i| condition.operand(i);
    let inverse = match is_for_branch.then(|| condition.opcode()) {
        Some(Opcode::LLVMICmp) => {
            builder.compare(inverse_of(condition.predicate()), operand(0), operand(1))
        }
        Some(Opcode::LLVMFCmp) => builder.compare_floats(
            inverse_of_real(condition.real_predicate()),
            operand(0),
            operand(1),
        ),
        _ => {
            builder.before(branch);
            builder.op(Opcode::LLVMXor, condition, condition.ty().all_ones())
        }
    };
    branch.swap_sides(inverse);
    if is_for_branch && condition.users().is_empty() {
        condition.erase();
    }
    // Weights from a profile would be those of the other side.
    branch.remove_metadata(ctx.metadata_kind("prof"));
}

fn inverse_of(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate::*;
    match predicate {
        LLVMIntEQ => LLVMIntNE,
        LLVMIntNE => LLVMIntEQ,
        LLVMIntUGT => LLVMIntULE,
        LLVMIntULE => LLVMIntUGT,
        LLVMIntUGE => LLVMIntULT,
        LLVMIntULT => LLVMIntUGE,
        LLVMIntSGT => LLVMIntSLE,
        LLVMIntSLE => LLVMIntSGT,
        LLVMIntSGE => LLVMIntSLT,
        LLVMIntSLT => LLVMIntSGE,
    }
}

/// A comparison of floating point is either ordered, and false if an operand is not a number,
/// or unordered, and true then. So the inverse of one is the other.
fn inverse_of_real(predicate: RealPredicate) -> RealPredicate {
    use RealPredicate::*;
    match predicate {
        LLVMRealPredicateFalse => LLVMRealPredicateTrue,
        LLVMRealPredicateTrue => LLVMRealPredicateFalse,
        LLVMRealOEQ => LLVMRealUNE,
        LLVMRealUNE => LLVMRealOEQ,
        LLVMRealOGT => LLVMRealULE,
        LLVMRealULE => LLVMRealOGT,
        LLVMRealOGE => LLVMRealULT,
        LLVMRealULT => LLVMRealOGE,
        LLVMRealOLT => LLVMRealUGE,
        LLVMRealUGE => LLVMRealOLT,
        LLVMRealOLE => LLVMRealUGT,
        LLVMRealUGT => LLVMRealOLE,
        LLVMRealONE => LLVMRealUEQ,
        LLVMRealUEQ => LLVMRealONE,
        LLVMRealORD => LLVMRealUNO,
        LLVMRealUNO => LLVMRealORD,
    }
}
