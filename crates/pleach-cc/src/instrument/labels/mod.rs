//! The symbolic half: labels for every value that may depend on the input.
//!
//! 1. Markers: a call at every site that names the condition and the site's
//!    record. It has no effect that the optimiser knows of, so conditions
//!    survive even where branches do not.
//! 2. What only undefined behaviour justifies is dropped (`undefined`).
//! 3. Optimisation at O2, without vectorisers and unrolling, then scalars for
//!    what vectors the source had.
//! 4. For each function, `flow` finds the values that may carry a label, and
//!    `emit` rebuilds the body with code for the labels beside the code for
//!    the values. All of it is a test and a branch to a cold call.
//! 5. A light clean-up.

mod access;
mod calls;
mod emit;
mod flow;
mod intrinsics;
mod markers;
mod nodes;
mod poison;
mod runtime;
mod shape;
mod tokens;
mod undefined;

use super::llvm::{Context, Module, TargetMachine, Value};
use super::{Error, Options, program, sites};
use emit::Emitter;
use runtime::Runtime;

const OPTIMISE: &str = "strip-nonlinetable-debuginfo,default<O2>,function(scalarizer<load-store>,instsimplify,adce,break-crit-edges)";
const CLEAN_UP: &str = "function(early-cse,simplifycfg,instsimplify,adce,simplifycfg)";

pub fn instrument(
    ctx: &Context,
    module: &Module,
    machine: &TargetMachine,
    opts: &Options,
) -> Result<(), Error> {
    let internal = |stage| move |why| Error::Internal { stage, why };
    let check = |stage| match opts.verify {
        true => module.verify().map_err(internal(stage)),
        false => Ok(()),
    };
    let source = module.source_name();
    without_sanitizers(module);
    let numbered = sites::number(ctx, module);
    markers::insert(ctx, module, &numbered);
    undefined::drop_promises(ctx, module);
    super::tokens::mark(ctx, module, &opts.tokens)?;
    module.keep_all(ctx);
    check("markers")?;
    module.run_passes(OPTIMISE, machine).map_err(internal("optimiser"))?;
    program::redirect(module, &opts.symbolic_models);
    let untouched: Vec<Value> = module.resolvers();
    let rt = Runtime::declare(ctx, module).map_err(internal("runtime declarations"))?;
    let functions: Vec<Value> = module
        .functions()
        .into_iter()
        .filter(|f| !f.is_declaration() && !untouched.contains(f) && !f.has_attribute("naked"))
        .collect();
    for &f in &functions {
        forget_effects(f);
    }
    for f in functions {
        poison::define(ctx, f);
        Emitter::new(ctx, module, &rt, f, &source).run();
    }
    globals(ctx, module);
    module.keep_all(ctx);
    // The records have the lines; nobody debugs this half by its source.
    module.strip_debug();
    check("labels")?;
    module.run_passes(CLEAN_UP, machine).map_err(internal("clean-up"))?;
    Ok(())
}

/// Sanitizers and profiles are the fast half's; here UBSan's branches become
/// checks, and nothing is counted.
fn without_sanitizers(module: &Module) {
    for f in module.functions() {
        if f.intrinsic().is_some_and(|n| n.starts_with("llvm.instrprof.")) {
            f.users().into_iter().for_each(Value::erase);
        }
        for a in ["sanitize_address", "sanitize_memory", "sanitize_thread", "sanitize_hwaddress"] {
            f.remove_attribute(a);
        }
    }
}

/// An instrumented function reads and writes labels: what was inferred of its
/// effects on memory no longer holds.
fn forget_effects(f: Value) {
    for a in ["memory", "speculatable", "nosync", "nofree", "nocallback"] {
        f.remove_attribute(a);
    }
    for b in f.blocks() {
        for i in b.instructions() {
            if i.is_call() && i.callee().intrinsic().is_none() {
                i.forget_call_effects();
            }
        }
    }
}

/// A table of the module's variables, for bounds of table reads.
fn globals(ctx: &Context, module: &Module) {
    use pleach_abi::section::GLOBALS;
    let t = ctx.structure(&[ctx.pointer(), ctx.int(32), ctx.int(32)]);
    let entries: Vec<Value> = module
        .globals()
        .into_iter()
        .filter(|g| {
            g.initializer().is_some()
                && !g.is_thread_local()
                && g.section().is_empty()
                && !g.name().starts_with("llvm.")
                && !sites::is_ours(&g.name())
                && !g.is_available_externally()
                && !(g.is_local() && module.has_comdat(*g))
        })
        .filter_map(|g| {
            let size = module.size_of(g.value_type());
            (2..=u64::from(u32::MAX)).contains(&size).then(|| {
                let constant = g.is_constant_global();
                ctx.constant_struct(&[g, ctx.constant(32, size), ctx.constant(32, constant.into())])
            })
        })
        .collect();
    if entries.is_empty() {
        return;
    }
    let table =
        module.add_data("__pleach_globals", t.constant_array(&entries), Some(GLOBALS), false);
    table.set_alignment(8);
    module.keep(table);
}
