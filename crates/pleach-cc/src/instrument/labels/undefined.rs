//! Removes promises that only undefined behaviour justifies.
//!
//! The front end tells the optimiser what a defined program cannot do: a sum does not
//! overflow, a pointer that is read is not null, a loop ends. The symbolic half is
//! always optimised, so it would fold `a + 1 < a` to false. A user who compiles at
//! `-O0` gets wrapping arithmetic. The traces would then lack that decision, and no
//! search could flip it. So all such promises are removed before optimisation:
//! - Flags, attributes and metadata are dropped, `llvm.assume` is erased, and the null
//!   pointer may be valid.
//! - A trap is inserted before `unreachable`, so that the branch to it remains.
//! - A shift takes its amount modulo the width, as the machine does at `-O0`.
//! - LLVM infers attributes for library functions that it knows as builtins. So their
//!   declarations get `no-builtins`. For some, the builtin itself implies promises:
//!   memory from `malloc` aliases nothing, `abs` does not overflow. These are no
//!   builtins in their callers either.
//!
//! `docs/architecture.md` lists the differences that have no flag to drop.

use super::{float, poison};
use crate::instrument::llvm::{AttributeKinds, Context, Module, Opcode, Value};
use crate::instrument::sites;

/// Dropped attributes of parameters, arguments and results.
const VALUE_ATTRIBUTES: [&str; 16] = [
    "nonnull",
    "noundef",
    "dereferenceable",
    "dereferenceable_or_null",
    "noalias",
    "range",
    "nofpclass",
    "captures",
    "nofree",
    "readonly",
    "readnone",
    "writeonly",
    "writable",
    "initializes",
    "dead_on_return",
    "dead_on_unwind",
];
/// The alignment of a parameter that is passed in memory is part of the calling
/// convention and stays.
const ALIGN: &str = "align";
const PASSED_IN_MEMORY: [&str; 2] = ["byval", "sret"];
/// Dropped attributes of functions and calls.
const FUNCTION_ATTRIBUTES: [&str; 8] = [
    "mustprogress",
    "willreturn",
    "memory",
    "speculatable",
    "norecurse",
    "nofree",
    "allocsize",
    "allockind",
];
/// Attributes that `-ffast-math` adds to a function.
const FAST_MATH_ATTRIBUTES: [&str; 4] =
    ["no-infs-fp-math", "no-nans-fp-math", "no-signed-zeros-fp-math", "unsafe-fp-math"];
/// Calls that only inform the optimiser. An end is erased before its start, because it
/// uses the start's result.
const HINT_CALLS: [&str; 4] = [
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.invariant.end.p0",
    "llvm.invariant.start.p0",
];
/// Metadata that promises nothing and stays.
const KEPT_METADATA: [&str; 5] = ["dbg", "nosanitize", "prof", "srcloc", "coro.outside.frame"];
/// Library functions that must not be builtins for the optimiser.
const NO_BUILTINS: [&str; 29] = [
    "abs",
    "labs",
    "llabs",
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
    "valloc",
    "strdup",
    "strndup",
    "free",
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvSt11align_val_t",
];

/// Removes all promises of the front end.
pub fn drop_promises(ctx: &Context, module: &Module) {
    let promises = Promises {
        ctx,
        of_values: AttributeKinds::new(&VALUE_ATTRIBUTES),
        align: AttributeKinds::new(&[ALIGN]),
        of_functions: AttributeKinds::new(&FUNCTION_ATTRIBUTES),
        metadata: KEPT_METADATA.map(|name| ctx.metadata_kind(name)),
        trap: module.intrinsic("llvm.trap", &[]),
    };
    for name in HINT_CALLS {
        let hint = module.function(name);
        let calls = hint.map(Value::users).unwrap_or_default();
        calls.into_iter().filter(|call| call.users().is_empty()).for_each(Value::erase);
    }
    for f in module.functions() {
        if f.intrinsic().is_none() && !sites::is_pleach_symbol(&f.name()) {
            promises.drop_of_function(f);
        }
    }
}

struct Promises<'a> {
    ctx: &'a Context,
    of_values: AttributeKinds,
    align: AttributeKinds,
    of_functions: AttributeKinds,
    metadata: [u32; KEPT_METADATA.len()],
    trap: Value,
}

impl Promises<'_> {
    fn drop_of_function(&self, f: Value) {
        f.remove_attributes(&self.of_functions);
        FAST_MATH_ATTRIBUTES.iter().for_each(|name| f.remove_text_attribute(name));
        for index in 0..=f.params().len() as u32 {
            f.remove_attributes_at(index, &self.of_values);
            if !PASSED_IN_MEMORY.iter().any(|name| f.has_attribute_at(index, name)) {
                f.remove_attributes_at(index, &self.align);
            }
        }
        if f.is_declaration() {
            f.add_attribute(self.ctx.text_attribute("no-builtins", ""));
            return;
        }
        f.add_attribute(self.ctx.attribute("null_pointer_is_valid"));
        let names = NO_BUILTINS.iter().map(|name| name.to_string());
        for name in names.chain(float::function_names()) {
            f.add_attribute(self.ctx.text_attribute(&format!("no-builtin-{name}"), ""));
        }
        for block in f.blocks() {
            for i in block.instructions() {
                self.drop_of_instruction(i);
            }
        }
    }

    fn drop_of_instruction(&self, i: Value) {
        i.clear_flags();
        i.keep_metadata(&self.metadata);
        if i.has_fast_math() {
            let b = self.ctx.builder();
            b.before(i);
            b.locate_as(i);
            b.rebuild_float(i);
            return;
        }
        match i.opcode() {
            Opcode::LLVMUnreachable => {
                let b = self.ctx.builder();
                b.before(i);
                b.locate_as(i);
                b.call(self.trap, &[]);
            }
            Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => {
                poison::wrap_shift(self.ctx, i)
            }
            _ if i.is_call() => self.drop_of_call(i),
            _ => {}
        }
    }

    fn drop_of_call(&self, call: Value) {
        poison::define_intrinsic(self.ctx, call);
        let is_intrinsic = call.callee().intrinsic().is_some();
        if !is_intrinsic {
            call.remove_call_attributes(&self.of_functions);
        }
        for index in 0..=call.argument_count() {
            call.remove_call_attributes_at(index, &self.of_values);
            let in_memory =
                PASSED_IN_MEMORY.iter().any(|name| call.has_call_attribute_at(index, name));
            if !is_intrinsic && !in_memory {
                call.remove_call_attributes_at(index, &self.align);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::llvm::TargetMachine;

    const HEAD: &str = r#"
        target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
        target triple = "x86_64-pc-linux-gnu"
    "#;

    /// The text of a module after its promises were dropped and these passes ran.
    fn after(passes: Option<&str>, body: &str) -> String {
        let ctx = Context::create();
        let module = ctx.parse_text(&format!("{HEAD}{body}")).unwrap();
        drop_promises(&ctx, &module);
        module.verify().unwrap();
        if let Some(passes) = passes {
            let machine = TargetMachine::for_module(&module).unwrap();
            module.run_passes(passes, &machine).unwrap();
        }
        module.text()
    }

    fn check_words(text: &str, absent: &[&str], present: &[&str]) {
        let words = || text.split(|c: char| !(c.is_alphanumeric() || "_.-".contains(c)));
        for word in absent {
            assert!(!words().any(|w| w == *word), "{word} in {text}");
        }
        for word in present {
            assert!(words().any(|w| w == *word), "no {word} in {text}");
        }
    }

    #[test]
    fn flags_are_dropped() {
        let text = after(
            None,
            r"
            define i64 @f(i64 %a, i32 %b, ptr %p, double %d) {
              %1 = add nuw nsw i64 %a, 1
              %2 = sub nsw i64 %1, 7
              %3 = mul nuw i64 %2, 3
              %4 = shl nuw nsw i64 %3, 2
              %5 = lshr exact i64 %4, 1
              %6 = sdiv exact i64 %5, 3
              %7 = or disjoint i64 %6, 1
              %8 = zext nneg i32 %b to i64
              %9 = icmp samesign ult i64 %7, %8
              %10 = getelementptr inbounds nuw i32, ptr %p, i64 %7
              %11 = load i32, ptr %10
              %12 = trunc nuw nsw i64 %7 to i32
              %13 = fadd fast double %d, 1.0
              %14 = fcmp nnan ninf olt double %13, %d
              %15 = uitofp nneg i64 %7 to double
              %16 = fadd double %15, %13
              ret i64 %7
            }",
        );
        let dropped = [
            "nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "inbounds", "fast", "nnan",
            "ninf",
        ];
        check_words(&text, &dropped, &["null_pointer_is_valid"]);
    }

    #[test]
    fn attributes_and_metadata_are_dropped() {
        let text = after(
            None,
            r#"
            declare noundef nonnull align 8 dereferenceable(8) ptr @g(ptr noalias noundef readonly) #1
            declare void @by_value(ptr byval(i64) align 8)
            define noundef range(i32 0, 9) i32 @f(ptr noalias noundef nonnull align 4 dereferenceable(4) %p) #0 {
              %1 = load ptr, ptr %p, !nonnull !0, !noundef !0, !align !1, !dereferenceable !1, !tbaa !4
              %2 = load i8, ptr %1, !range !2, !invariant.load !0
              %3 = call noundef nonnull align 8 dereferenceable(8) ptr @g(ptr noundef nonnull %1) #1
              call void @by_value(ptr byval(i64) align 8 %3)
              br label %loop
            loop:
              %4 = icmp eq i8 %2, 0
              br i1 %4, label %loop, label %end, !llvm.loop !3, !prof !7
            end:
              ret i32 0
            }
            attributes #0 = { mustprogress willreturn norecurse "no-nans-fp-math"="true" }
            attributes #1 = { willreturn memory(read) allocsize(0) }
            !0 = !{}
            !1 = !{i64 8}
            !2 = !{i8 0, i8 2}
            !3 = distinct !{!3, !8}
            !4 = !{!5, !5, i64 0}
            !5 = !{!"int", !6, i64 0}
            !6 = !{!"root"}
            !7 = !{!"branch_weights", i32 1, i32 9}
            !8 = !{!"llvm.loop.mustprogress"}
            "#,
        );
        let dropped = [
            "noundef",
            "nonnull",
            "dereferenceable",
            "noalias",
            "range",
            "readonly",
            "mustprogress",
            "willreturn",
            "norecurse",
            "allocsize",
            "no-nans-fp-math",
            "tbaa",
            "invariant.load",
            "llvm.loop",
        ];
        check_words(&text, &dropped, &["byval", "prof", "no-builtins"]);
        assert!(!text.contains("memory(read)"), "{text}");
        assert_eq!(text.matches("ptr byval(i64) align 8").count(), 2, "{text}");
    }

    #[test]
    fn assumptions_are_erased_and_unreachable_code_traps() {
        let text = after(
            None,
            r"
            declare void @llvm.assume(i1)
            declare i32 @llvm.abs.i32(i32, i1)
            define i32 @f(i32 %a) {
              %c = icmp sgt i32 %a, 0
              call void @llvm.assume(i1 %c)
              %b = call i32 @llvm.abs.i32(i32 %a, i1 true)
              %s = shl i32 %b, %a
              br i1 %c, label %yes, label %no
            yes:
              ret i32 %s
            no:
              unreachable
            }",
        );
        assert!(!text.contains("call void @llvm.assume"), "{text}");
        assert!(text.contains("call void @llvm.trap()\n  unreachable"), "{text}");
        assert!(text.contains("@llvm.abs.i32(i32 %a, i1 false)"), "{text}");
        assert!(text.contains("and i32 %a, 31"), "{text}");
    }

    #[test]
    fn nothing_is_inferred_for_library_functions() {
        let text = after(
            Some(super::super::OPTIMISE_PASSES),
            r"
            declare ptr @malloc(i64)
            declare void @free(ptr)
            declare i64 @strlen(ptr)
            define i64 @f(i64 %n, ptr %s) {
              %p = call ptr @malloc(i64 %n)
              %c = icmp eq ptr %p, null
              br i1 %c, label %none, label %some
            none:
              ret i64 0
            some:
              call void @free(ptr %p)
              %l = call i64 @strlen(ptr %s)
              ret i64 %l
            }",
        );
        let declared = text.lines().filter(|line| line.starts_with("declare"));
        let declared: String = declared.collect::<Vec<_>>().join("\n");
        check_words(
            &declared,
            &["noundef", "noalias", "captures", "nonnull"],
            &["malloc", "strlen"],
        );
        assert!(text.contains("icmp eq ptr"), "{text}");
    }
}
