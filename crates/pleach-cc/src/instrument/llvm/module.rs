//! Modules: reading their contents, adding to them, and running passes.

use super::context::take_message;
use super::{Context, Linkage, TargetMachine, Type, Value, c_string, text};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::cell::RefCell;
use std::ffi::CStr;
use std::path::Path;

pub struct Module {
    raw: LLVMModuleRef,
    /// What [`Module::keep`] named and [`Module::keep_all`] has not added yet.
    kept: RefCell<Vec<Value>>,
}

impl Drop for Module {
    fn drop(&mut self) {
        unsafe { LLVMDisposeModule(self.raw) }
    }
}

impl Module {
    pub(super) fn new(module: LLVMModuleRef) -> Module {
        Module { raw: module, kept: RefCell::default() }
    }

    pub fn duplicate(&self) -> Module {
        Module::new(unsafe { LLVMCloneModule(self.raw) })
    }

    pub fn write(&self, path: &Path) -> Result<(), String> {
        let c = c_string(&path.to_string_lossy());
        match unsafe { llvm_sys::bit_writer::LLVMWriteBitcodeToFile(self.raw, c.as_ptr()) } {
            0 => Ok(()),
            _ => Err(format!("cannot write {}", path.display())),
        }
    }

    pub fn source_name(&self) -> String {
        let mut n = 0;
        unsafe { text(LLVMGetSourceFileName(self.raw, &mut n), n) }
    }

    pub fn triple(&self) -> String {
        unsafe { CStr::from_ptr(LLVMGetTarget(self.raw)) }.to_string_lossy().into_owned()
    }

    pub fn functions(&self) -> Vec<Value> {
        let mut all = Vec::new();
        unsafe {
            let mut f = LLVMGetFirstFunction(self.raw);
            while !f.is_null() {
                all.push(Value(f));
                f = LLVMGetNextFunction(f);
            }
        }
        all
    }

    pub fn globals(&self) -> Vec<Value> {
        let mut all = Vec::new();
        unsafe {
            let mut g = LLVMGetFirstGlobal(self.raw);
            while !g.is_null() {
                all.push(Value(g));
                g = LLVMGetNextGlobal(g);
            }
        }
        all
    }

    pub fn function(&self, name: &str) -> Option<Value> {
        let c = c_string(name);
        let f = unsafe { LLVMGetNamedFunction(self.raw, c.as_ptr()) };
        (!f.is_null()).then_some(Value(f))
    }

    pub fn global(&self, name: &str) -> Option<Value> {
        let c = c_string(name);
        let g = unsafe { LLVMGetNamedGlobal(self.raw, c.as_ptr()) };
        (!g.is_null()).then_some(Value(g))
    }

    /// The nodes of a named metadata list.
    pub fn named_metadata(&self, name: &str) -> Vec<Value> {
        let name = c_string(name);
        unsafe {
            let n = LLVMGetNamedMetadataNumOperands(self.raw, name.as_ptr());
            let mut all = vec![std::ptr::null_mut(); n as usize];
            LLVMGetNamedMetadataOperands(self.raw, name.as_ptr(), all.as_mut_ptr());
            all.into_iter().map(Value).collect()
        }
    }

    /// The declaration of an intrinsic for these types.
    pub fn intrinsic(&self, name: &str, types: &[Type]) -> Value {
        let mut types: Vec<_> = types.iter().map(|t| t.0).collect();
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            Value(LLVMGetIntrinsicDeclaration(self.raw, id, types.as_mut_ptr(), types.len()))
        }
    }

    pub fn add_function(&self, name: &str, t: Type) -> Value {
        let c = c_string(name);
        Value(unsafe { LLVMAddFunction(self.raw, c.as_ptr(), t.0) })
    }

    /// Adds a private global with an initial value, in a section if one is given.
    pub fn add_data(
        &self,
        name: &str,
        init: Value,
        section: Option<&str>,
        constant: bool,
    ) -> Value {
        let c = c_string(name);
        unsafe {
            let g = LLVMAddGlobal(self.raw, LLVMTypeOf(init.0), c.as_ptr());
            LLVMSetInitializer(g, init.0);
            LLVMSetLinkage(g, Linkage::LLVMPrivateLinkage);
            LLVMSetGlobalConstant(g, constant.into());
            if let Some(s) = section {
                LLVMSetSection(g, c_string(s).as_ptr());
            }
            Value(g)
        }
    }

    pub fn add_external(&self, name: &str, t: Type) -> Value {
        let c = c_string(name);
        Value(unsafe { LLVMAddGlobal(self.raw, t.0, c.as_ptr()) })
    }

    /// Puts `data` into the comdat group that `function` is in, if any.
    pub fn follow_comdat(&self, data: Value, function: Value) {
        unsafe {
            let c = llvm_sys::comdat::LLVMGetComdat(function.0);
            if !c.is_null() {
                llvm_sys::comdat::LLVMSetComdat(data.0, c);
            }
        }
    }

    /// As [`Module::follow_comdat`], for an array that code refers to.
    ///
    /// If the function was inlined, its code stays even when the linker drops this
    /// object's comdat group in favour of another object's. Then the code must find the
    /// other object's array by name. The name contains `shape`, and the array has its
    /// own group: if two objects compile the function differently (for example one with
    /// `-DNDEBUG`), each keeps its own array. Arrays of the same shape are kept or
    /// dropped together, so sites and counters stay in the same order.
    pub fn share_by_name(&self, data: Value, kind: &str, function: Value, shape: u64) {
        unsafe {
            if llvm_sys::comdat::LLVMGetComdat(function.0).is_null() {
                return;
            }
            data.set_name(&format!("{kind}.{}.{shape:x}", function.name()));
            LLVMSetLinkage(data.0, Linkage::LLVMLinkOnceODRLinkage);
            LLVMSetVisibility(data.0, llvm_sys::LLVMVisibility::LLVMHiddenVisibility);
            let group = c_string(&data.name());
            let group = llvm_sys::comdat::LLVMGetOrInsertComdat(self.raw, group.as_ptr());
            llvm_sys::comdat::LLVMSetComdat(data.0, group);
        }
    }

    /// Keeps the optimiser and the linker from dropping a global. Takes effect with
    /// [`Module::keep_all`].
    pub fn keep(&self, data: Value) {
        self.kept.borrow_mut().push(data);
    }

    /// Adds the globals given to [`Module::keep`] to `llvm.used`.
    pub fn keep_all(&self, ctx: &Context) {
        let mut all: Vec<LLVMValueRef> = Vec::new();
        unsafe {
            if let Some(old) = self.global("llvm.used") {
                let init = LLVMGetInitializer(old.0);
                for i in 0..LLVMGetNumOperands(init) {
                    all.push(LLVMGetOperand(init, i as u32));
                }
                LLVMDeleteGlobal(old.0);
            }
            all.extend(self.kept.borrow_mut().drain(..).map(|v| v.0));
            if all.is_empty() {
                return;
            }
            let list = LLVMConstArray2(ctx.pointer().0, all.as_mut_ptr(), all.len() as u64);
            let g = LLVMAddGlobal(self.raw, LLVMTypeOf(list), c"llvm.used".as_ptr());
            LLVMSetInitializer(g, list);
            LLVMSetLinkage(g, Linkage::LLVMAppendingLinkage);
            LLVMSetSection(g, c"llvm.metadata".as_ptr());
        }
    }

    /// Functions that choose the target of an `ifunc`. They run before anything else.
    pub fn resolvers(&self) -> Vec<Value> {
        let mut all = Vec::new();
        unsafe {
            let mut i = LLVMGetFirstGlobalIFunc(self.raw);
            while !i.is_null() {
                all.push(Value(LLVMGetGlobalIFuncResolver(i)));
                i = LLVMGetNextGlobalIFunc(i);
            }
        }
        all
    }

    pub fn size_of(&self, t: Type) -> u64 {
        unsafe { llvm_sys::target::LLVMABISizeOfType(self.layout(), t.0) }
    }

    pub fn store_size(&self, t: Type) -> u64 {
        unsafe { llvm_sys::target::LLVMStoreSizeOfType(self.layout(), t.0) }
    }

    pub fn field_offset(&self, t: Type, field: u32) -> u64 {
        unsafe { llvm_sys::target::LLVMOffsetOfElement(self.layout(), t.0, field) }
    }

    fn layout(&self) -> llvm_sys::target::LLVMTargetDataRef {
        unsafe { llvm_sys::target::LLVMGetModuleDataLayout(self.raw) }
    }

    /// Runs a textual pass pipeline, without vectorising and unrolling, and with less
    /// inlining.
    pub fn run_passes(&self, passes: &str, machine: &TargetMachine) -> Result<(), String> {
        use llvm_sys::transforms::pass_builder::*;
        let passes = c_string(passes);
        limit_optimiser();
        unsafe {
            let o = LLVMCreatePassBuilderOptions();
            LLVMPassBuilderOptionsSetLoopInterleaving(o, 0);
            LLVMPassBuilderOptionsSetLoopUnrolling(o, 0);
            LLVMPassBuilderOptionsSetMergeFunctions(o, 0);
            let e = LLVMRunPasses(self.raw, passes.as_ptr(), machine.0, o);
            LLVMDisposePassBuilderOptions(o);
            if e.is_null() {
                return Ok(());
            }
            let m = llvm_sys::error::LLVMGetErrorMessage(e);
            let text = CStr::from_ptr(m).to_string_lossy().into_owned();
            llvm_sys::error::LLVMDisposeErrorMessage(m);
            Err(text)
        }
    }

    pub fn verify(&self) -> Result<(), String> {
        use llvm_sys::analysis::*;
        let mut message = std::ptr::null_mut();
        unsafe {
            let bad = LLVMVerifyModule(
                self.raw,
                LLVMVerifierFailureAction::LLVMReturnStatusAction,
                &mut message,
            );
            let report = take_message(message);
            if bad == 0 { Ok(()) } else { Err(report) }
        }
    }

    /// The module as text.
    #[cfg(test)]
    pub fn text(&self) -> String {
        take_message(unsafe { LLVMPrintModuleToString(self.raw) })
    }

    pub fn strip_debug(&self) {
        unsafe { llvm_sys::debuginfo::LLVMStripModuleDebugInfo(self.raw) };
    }

    pub fn has_comdat(&self, v: Value) -> bool {
        unsafe { !llvm_sys::comdat::LLVMGetComdat(v.0).is_null() }
    }
}

/// Sets options of the optimiser for this process. `default<O2>` reads these only from
/// LLVM's command line, not from the pass builder.
///
/// The vectorisers are off: they would spread labels over lanes. Only small functions
/// are inlined (O2's threshold is 225), because every inlined copy gets label code of
/// several times its own size. This makes sqlite3.c smaller by a third, before labels.
fn limit_optimiser() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let words = [
            c"pleach-cc",
            c"-vectorize-slp=false",
            c"-vectorize-loops=false",
            c"-inline-threshold=50",
        ];
        let words = words.map(CStr::as_ptr);
        let count = words.len() as i32;
        // Safety: the words are zero-terminated and live for the call.
        unsafe {
            llvm_sys::support::LLVMParseCommandLineOptions(count, words.as_ptr(), std::ptr::null());
        }
    });
}
