//! The symbolic half: adds labels for every value that may depend on the input.
//!
//! 1. `markers` inserts a call at every site, with the condition and the site's
//!    record. The optimiser does not know its effect and keeps it. So a condition
//!    remains even if its branch does not.
//! 2. `undefined` removes what only undefined behaviour justifies.
//! 3. The module is optimised at O2, without vectorisers and unrolling. Then vectors
//!    of the source are split into scalars.
//! 4. In each function, `flow` finds the values that may carry a label, and `emit`
//!    rebuilds the body with code for the labels. This code is a test and a branch to
//!    a cold block.
//! 5. A few clean-up passes run.

mod access;
mod aggregates;
mod calls;
mod emit;
mod float;
mod flow;
mod intrinsics;
mod markers;
mod nodes;
mod pending;
mod poison;
mod runtime;
mod shape;
mod stack;
mod targets;
mod tokens;
mod undefined;

use super::llvm::{Context, Module, TargetMachine, Value};
use super::{Error, Options, program, sites};
use emit::Emitter;
use runtime::Runtime;

const OPTIMISE_PASSES: &str = "strip-nonlinetable-debuginfo,default<O2>,function(scalarizer<load-store>,instsimplify,adce,break-crit-edges)";
const CLEAN_UP_PASSES: &str = "function(early-cse,simplifycfg,instsimplify,adce,simplifycfg)";

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
    remove_sanitizers(module);
    let numbered = sites::number_sites(ctx, module, false);
    markers::insert_markers(ctx, module, &numbered);
    targets::emit_tables(ctx, module, &numbered);
    undefined::drop_promises(ctx, module);
    super::tokens::insert_borders(ctx, module, &opts.tokens)?;
    module.keep_all(ctx);
    check("markers")?;
    module.run_passes(OPTIMISE_PASSES, machine).map_err(internal("optimiser"))?;
    program::redirect_to_models(module, &opts.symbolic_models);
    let resolvers: Vec<Value> = module.resolvers();
    let rt = Runtime::declare(ctx, module).map_err(internal("runtime declarations"))?;
    let functions: Vec<Value> = module
        .functions()
        .into_iter()
        .filter(|f| !f.is_declaration() && !resolvers.contains(f) && !f.has_attribute("naked"))
        .collect();
    for &f in &functions {
        remove_memory_effects(f);
    }
    let proved = markers::proved_sites(&functions);
    for f in functions {
        poison::define_results(ctx, f);
        Emitter::new(ctx, module, &rt, f, &source, &proved).run();
    }
    emit_global_table(ctx, module);
    module.keep_all(ctx);
    // The site records contain the lines; a debugger is used on the fast half only.
    module.strip_debug();
    check("labels")?;
    module.run_passes(CLEAN_UP_PASSES, machine).map_err(internal("clean-up"))?;
    Ok(())
}

/// Removes sanitizers and profiles, which only the fast half has. UBSan's branches
/// stay and become checks.
fn remove_sanitizers(module: &Module) {
    for f in module.functions() {
        if f.intrinsic().is_some_and(|n| n.starts_with("llvm.instrprof.")) {
            f.users().into_iter().for_each(Value::erase);
        }
        for a in ["sanitize_address", "sanitize_memory", "sanitize_thread", "sanitize_hwaddress"] {
            f.remove_attribute(a);
        }
    }
}

/// Removes the inferred attributes about a function's effects on memory. They are no
/// longer true, because an instrumented function reads and writes labels.
fn remove_memory_effects(f: Value) {
    for a in ["memory", "speculatable", "nosync", "nofree", "nocallback"] {
        f.remove_attribute(a);
    }
    for b in f.blocks() {
        for i in b.instructions() {
            if i.is_call() && i.callee().intrinsic().is_none() {
                i.remove_call_effects();
            }
        }
    }
}

/// Adds a table of the module's global variables. The runtime needs their bounds for
/// lookups.
fn emit_global_table(ctx: &Context, module: &Module) {
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
                && !sites::is_pleach_symbol(&g.name())
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
