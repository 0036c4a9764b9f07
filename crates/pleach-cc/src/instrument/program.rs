//! Changes that both halves need: removing `optnone`, the hook in `main`, the mark of
//! a deferred fork server, and calls that go to the runtime's models.

use super::llvm::{Context, Linkage, Module, Value};

/// If a program calls one of these, its fork server starts there instead of at the
/// entry of main.
const DEFERRING_CALLS: [&str; 3] = ["pleach_ready", "__pleach_afl_init", "__pleach_afl_loop"];

pub fn prepare(ctx: &Context, module: &Module) {
    for f in module.functions() {
        if f.has_attribute("optnone") {
            f.remove_attribute("optnone");
            f.remove_attribute("noinline");
        }
    }
    if let Some(main) = module.function("main")
        && !main.is_declaration()
    {
        hook_main(ctx, module, main);
    }
    if DEFERRING_CALLS.iter().any(|name| module.function(name).is_some()) {
        let mark = module.add_data("__pleach_deferred", ctx.constant(8, 1), None, false);
        mark.set_linkage(Linkage::LLVMWeakAnyLinkage);
    }
}

/// Makes `main` get its arguments from the runtime: they may be part of the input.
fn hook_main(ctx: &Context, module: &Module, main: Value) {
    let (int, pointer) = (ctx.int(32), ctx.pointer());
    let declare =
        |name: &str, t| module.function(name).unwrap_or_else(|| module.add_function(name, t));
    let hook = declare("__pleach_main", ctx.void().function(&[int, pointer]));
    let argc = declare("__pleach_argc", int.function(&[]));
    let argv = declare("__pleach_argv", pointer.function(&[]));
    let Some(start) = main.blocks().first().and_then(|b| b.insertion_point()) else { return };
    let params = main.params();
    let builder = ctx.builder();
    builder.before(start);
    let has_arguments = params.len() >= 2 && params[0].ty() == int && params[1].ty() == pointer;
    if !has_arguments {
        builder.call(hook, &[ctx.constant(32, u64::MAX), pointer.null()]);
        return;
    }
    // The hook needs the original values, so its operands are restored after the
    // replacement.
    let call = builder.call(hook, &[params[0], params[1]]);
    let new_argc = builder.call(argc, &[]);
    let new_argv = builder.call(argv, &[]);
    params[0].replace_with(new_argc);
    params[1].replace_with(new_argv);
    call.set_operand(0, params[0]);
    call.set_operand(1, params[1]);
    if let Some(&envp) = params.get(2)
        && envp.ty() == pointer
    {
        let environ =
            module.global("environ").unwrap_or_else(|| module.add_external("environ", pointer));
        let current = builder.load(pointer, environ);
        envp.replace_with(current);
    }
}

/// Gives the declaration of each modelled function the model's name. A definition in
/// the program stays; the link redirects calls from other objects to it.
pub fn redirect_to_models(module: &Module, models: &[String]) {
    for f in module.functions() {
        if !f.is_declaration() || f.intrinsic().is_some() {
            continue;
        }
        let name = f.name();
        if models.binary_search(&name).is_err() {
            continue;
        }
        let model = format!("__pleach_m_{name}");
        match module.function(&model) {
            Some(existing) => f.replace_with(existing),
            None => f.set_name(&model),
        }
    }
}
