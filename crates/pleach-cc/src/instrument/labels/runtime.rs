//! Declares the runtime's entry points in the module.
//!
//! Calls that only make a node are declared without effects (`memory(none)`). So the
//! optimiser removes a label that nothing uses, together with its test.

use crate::instrument::llvm::{Context, Module, Value};
use pleach_abi::layout::TLS_SIZE;

macro_rules! runtime {
    ($($field:ident: $decl:literal;)*) => {
        pub struct Runtime {
            $(pub $field: Value,)*
            pub tls: Value,
        }

        /// Declarations with type, calling convention and attributes.
        const TEXT: &str = concat!($("declare preserve_mostcc ", $decl, "\n",)*);

        impl Runtime {
            pub fn declare(ctx: &Context, module: &Module) -> Result<Runtime, String> {
                let text = ctx.parse_text(TEXT)?;
                let entry = |name: &str| {
                    let name = format!("__pleach_{name}");
                    let model = text.function(&name).ok_or(format!("{name} is not declared"))?;
                    let f = module.add_function(&name, model.value_type());
                    f.copy_attributes(model);
                    Ok::<Value, String>(f)
                };
                let tls = module.add_external("__pleach_tls", ctx.int(8).array(TLS_SIZE));
                tls.set_thread_local(llvm_sys::LLVMThreadLocalMode::LLVMInitialExecTLSModel);
                Ok(Runtime { $($field: entry(stringify!($field))?,)* tls })
            }
        }
    };
}

runtime! {
    bin: "i32 @__pleach_bin(i32, i32, i32, i64, i64) nounwind willreturn cold memory(none)";
    un: "i32 @__pleach_un(i32, i32, i64) nounwind willreturn cold memory(none)";
    float: "i32 @__pleach_float(i32, i32, i32, i64, i64) nounwind willreturn cold memory(none)";
    ite: "i32 @__pleach_ite(i32, i32, i32, i32, i64, i64) nounwind willreturn cold memory(read)";
    gep: "i32 @__pleach_gep(i32, i32, i64, i64, i64, i32) nounwind willreturn cold memory(none)";
    general: "i32 @__pleach_general(i32, i32, ptr) nounwind willreturn cold";
    concat: "i32 @__pleach_concat(i32, ptr) nounwind willreturn cold";
    extract: "i32 @__pleach_extract(i32, i32, i32) nounwind willreturn cold memory(none)";
    load_in: "i32 @__pleach_load_in(ptr, i32, i64, i32, i64, i64) nounwind willreturn cold";
    after_call: "i32 @__pleach_after_call(i64) nounwind willreturn cold";
    resize_result: "i32 @__pleach_resize_result(i32, i32) nounwind willreturn cold";
    lost_result: "i32 @__pleach_lost_result(ptr, i32, i64, i32) nounwind willreturn cold";
    byval_out: "i32 @__pleach_byval_out(i32, i64, i64) nounwind willreturn";
    pointed: "i32 @__pleach_pointed(i64, i64, i64) nounwind willreturn cold memory(read)";
    loadn: "i32 @__pleach_loadn(i64, i32) nounwind willreturn cold memory(read)";
    load1: "i32 @__pleach_load1(i64) nounwind willreturn cold memory(read)";
    load2: "i32 @__pleach_load2(i64) nounwind willreturn cold memory(read)";
    load4: "i32 @__pleach_load4(i64) nounwind willreturn cold memory(read)";
    load8: "i32 @__pleach_load8(i64) nounwind willreturn cold memory(read)";
    storen: "void @__pleach_storen(i64, i32, i32) nounwind willreturn cold";
    store1: "void @__pleach_store1(i64, i32) nounwind willreturn cold";
    store2: "void @__pleach_store2(i64, i32) nounwind willreturn cold";
    store4: "void @__pleach_store4(i64, i32) nounwind willreturn cold";
    store8: "void @__pleach_store8(i64, i32) nounwind willreturn cold";
    branch: "void @__pleach_branch(ptr, i32, i32) nounwind willreturn cold";
    switch: "void @__pleach_switch(ptr, i32) nounwind willreturn cold";
    divisor: "void @__pleach_divisor(ptr, i32) nounwind willreturn cold";
    indirect: "void @__pleach_indirect(ptr, i32) nounwind willreturn cold";
    loss: "void @__pleach_loss(i32) nounwind willreturn cold";
    lost_float: "void @__pleach_lost_float(ptr, i32) nounwind willreturn cold";
    proved: "void @__pleach_proved(ptr, i32) nounwind willreturn cold";
    store_in: "void @__pleach_store_in(ptr, i32, i64, i32, i64, i64) nounwind willreturn cold";
    pin: "void @__pleach_pin(ptr, i32, i64, i64, i64, i64) nounwind willreturn cold";
    copy_from: "void @__pleach_copy_from(ptr, i32, i64, i64, i64, i64) nounwind willreturn cold";
    va_save: "void @__pleach_va_save(ptr) nounwind willreturn cold";
    va_start: "void @__pleach_va_start(ptr, ptr) nounwind willreturn";
    byval_in: "void @__pleach_byval_in(i32, i64, i64) nounwind willreturn cold";
    copy: "void @__pleach_copy(i64, i64, i64) nounwind willreturn cold";
    fill: "void @__pleach_fill(i64, i32, i64) nounwind willreturn cold";
    token_result: "i32 @__pleach_token_result(ptr, i64, i32, i32, ptr) nounwind willreturn";
    token_unwound: "void @__pleach_token_unwound(ptr) nounwind willreturn cold";
}
