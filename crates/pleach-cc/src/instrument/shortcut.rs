//! `while (a || b || c)`: each operand decides for itself.
//!
//! The condition of an `if` comes from the front end as one branch an operand. That
//! of a loop comes as a value: a phi of what is known already (`true` from `a` and
//! from `b`) and of `c`, and a branch on the phi. Then whether `c` was ever true
//! cannot be told from the counters, and an input that makes it so seems to bring
//! nothing. So a way into such a branch that has its answer with it goes straight
//! there, and the branch is left to the operand that has none.

use super::llvm::{Block, Context, Module, Opcode, Value};

pub fn thread(ctx: &Context, module: &Module) {
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        // One condition may end in another's phi: inner ones come first.
        let blocks = function.blocks();
        while blocks.iter().filter(|b| thread_block(ctx, **b)).count() > 0 {}
    }
}

/// The phi and the branch that are all of a block.
fn decision(block: Block) -> Option<(Value, Value)> {
    let branch = block.terminator().filter(|b| b.is_conditional())?;
    let phi = branch.condition();
    let only = phi.is_instruction()
        && phi.opcode() == Opcode::LLVMPHI
        && block.instructions() == [phi, branch]
        && phi.users().len() == 1;
    only.then_some((phi, branch))
}

/// Whether some edge was led past the block.
fn thread_block(ctx: &Context, block: Block) -> bool {
    let Some((phi, branch)) = decision(block) else { return false };
    let [yes, no] = branch.successors()[..] else { return false };
    if yes == no || yes == block || no == block {
        return false;
    }
    let incoming = phi.incoming();
    let known = |(v, from): &(Value, Block)| {
        let to = if v.constant_int()? != 0 { yes } else { no };
        let jump = from.terminator()?;
        let leads = jump.successors();
        let once = leads.iter().filter(|b| **b == block).count() == 1 && !leads.contains(&to);
        (jump.opcode() == Opcode::LLVMBr && once).then_some((jump, to))
    };
    let past: Vec<_> = incoming.iter().map(known).collect();
    let stay: Vec<_> = incoming.iter().zip(&past).filter(|(_, p)| p.is_none()).collect();
    if stay.len() == incoming.len() || !stay.iter().any(|((v, _), _)| v.constant_int().is_none()) {
        return false;
    }
    for ((_, from), past) in incoming.iter().zip(&past) {
        let Some((jump, to)) = past else { continue };
        for merged in to.phis() {
            let there = merged.incoming();
            if let Some((v, _)) = there.iter().find(|(_, b)| *b == block) {
                merged.add_incoming(*v, *from);
            }
        }
        jump.redirect(block, *to);
    }
    let builder = ctx.builder();
    builder.before(phi);
    let rest = builder.phi(phi.ty());
    for ((v, from), _) in stay {
        rest.add_incoming(*v, *from);
    }
    phi.replace_with(rest);
    phi.erase();
    true
}
