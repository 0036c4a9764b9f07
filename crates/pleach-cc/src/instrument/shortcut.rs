//! Gives each operand of `while (a || b || c)` its own branch.
//!
//! For an `if`, the front end emits one branch for each operand. For a loop it emits a
//! phi and a branch on it. The phi gets `true` from `a` and from `b`, and otherwise the
//! value of `c`. Then the counters do not show whether `c` was ever true, and an input
//! that makes `c` true seems to cover nothing new. So this pass redirects an edge that
//! brings a constant to the branch's target, past the branch. The branch then depends
//! on `c` alone.

use super::llvm::{Block, Context, Module, Opcode, Value};

pub fn thread_known_operands(ctx: &Context, module: &Module) {
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        // A condition may be nested in another's phi, so this repeats until nothing
        // changes.
        let blocks = function.blocks();
        while blocks.iter().filter(|b| thread_block(ctx, **b)).count() > 0 {}
    }
}

/// The phi and the branch of a block that contains nothing else.
fn phi_and_branch(block: Block) -> Option<(Value, Value)> {
    let branch = block.terminator().filter(|b| b.is_conditional())?;
    let phi = branch.condition();
    let only = phi.is_instruction()
        && phi.opcode() == Opcode::LLVMPHI
        && block.instructions() == [phi, branch]
        && phi.users().len() == 1;
    only.then_some((phi, branch))
}

/// Redirects edges past the block. True if there was one.
fn thread_block(ctx: &Context, block: Block) -> bool {
    let Some((phi, branch)) = phi_and_branch(block) else { return false };
    let [yes, no] = branch.successors()[..] else { return false };
    if yes == no || yes == block || no == block {
        return false;
    }
    let incoming = phi.incoming();
    let known_target = |(v, from): &(Value, Block)| {
        let to = if v.constant_int()? != 0 { yes } else { no };
        let jump = from.terminator()?;
        let targets = jump.successors();
        let once = targets.iter().filter(|b| **b == block).count() == 1 && !targets.contains(&to);
        (jump.opcode() == Opcode::LLVMBr && once).then_some((jump, to))
    };
    let redirects: Vec<_> = incoming.iter().map(known_target).collect();
    let staying: Vec<_> = incoming.iter().zip(&redirects).filter(|(_, r)| r.is_none()).collect();
    let has_open_operand = staying.iter().any(|((v, _), _)| v.constant_int().is_none());
    if staying.len() == incoming.len() || !has_open_operand {
        return false;
    }
    for ((_, from), redirect) in incoming.iter().zip(&redirects) {
        let Some((jump, to)) = redirect else { continue };
        for target_phi in to.phis() {
            let values = target_phi.incoming();
            if let Some((v, _)) = values.iter().find(|(_, b)| *b == block) {
                target_phi.add_incoming(*v, *from);
            }
        }
        jump.redirect(block, *to);
    }
    let builder = ctx.builder();
    builder.before(phi);
    let new_phi = builder.phi(phi.ty());
    for ((v, from), _) in staying {
        new_phi.add_incoming(*v, *from);
    }
    phi.replace_with(new_phi);
    phi.erase();
    true
}
