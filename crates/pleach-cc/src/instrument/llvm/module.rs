//! Modules: what is in them, what is added to them, and passes over them.

use super::context::take_message;
use super::{Context, Linkage, TargetMachine, Type, Value, c_string, text};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::cell::RefCell;
use std::ffi::CStr;
use std::path::Path;

pub struct Module(LLVMModuleRef, RefCell<Vec<Value>>);

impl Drop for Module {
    fn drop(&mut self) {
        unsafe { LLVMDisposeModule(self.0) }
    }
}

impl Module {
    pub(super) fn new(module: LLVMModuleRef) -> Module {
        Module(module, RefCell::default())
    }

    pub fn duplicate(&self) -> Module {
        Module::new(unsafe { LLVMCloneModule(self.0) })
    }

    pub fn write(&self, path: &Path) -> Result<(), String> {
        let c = c_string(&path.to_string_lossy());
        match unsafe { llvm_sys::bit_writer::LLVMWriteBitcodeToFile(self.0, c.as_ptr()) } {
            0 => Ok(()),
            _ => Err(format!("cannot write {}", path.display())),
        }
    }

    pub fn source_name(&self) -> String {
        let mut n = 0;
        unsafe { text(LLVMGetSourceFileName(self.0, &mut n), n) }
    }

    pub fn triple(&self) -> String {
        unsafe { CStr::from_ptr(LLVMGetTarget(self.0)) }.to_string_lossy().into_owned()
    }

    pub fn functions(&self) -> Vec<Value> {
        let mut all = Vec::new();
        unsafe {
            let mut f = LLVMGetFirstFunction(self.0);
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
            let mut g = LLVMGetFirstGlobal(self.0);
            while !g.is_null() {
                all.push(Value(g));
                g = LLVMGetNextGlobal(g);
            }
        }
        all
    }

    pub fn function(&self, name: &str) -> Option<Value> {
        let c = c_string(name);
        let f = unsafe { LLVMGetNamedFunction(self.0, c.as_ptr()) };
        (!f.is_null()).then_some(Value(f))
    }

    pub fn global(&self, name: &str) -> Option<Value> {
        let c = c_string(name);
        let g = unsafe { LLVMGetNamedGlobal(self.0, c.as_ptr()) };
        (!g.is_null()).then_some(Value(g))
    }

    /// Nodes of a named list.
    pub fn named_metadata(&self, name: &str) -> Vec<Value> {
        let name = c_string(name);
        unsafe {
            let n = LLVMGetNamedMetadataNumOperands(self.0, name.as_ptr());
            let mut all = vec![std::ptr::null_mut(); n as usize];
            LLVMGetNamedMetadataOperands(self.0, name.as_ptr(), all.as_mut_ptr());
            all.into_iter().map(Value).collect()
        }
    }

    /// The function behind the intrinsic of a name, for these types.
    pub fn intrinsic(&self, name: &str, types: &[Type]) -> Value {
        let mut types: Vec<_> = types.iter().map(|t| t.0).collect();
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            Value(LLVMGetIntrinsicDeclaration(self.0, id, types.as_mut_ptr(), types.len()))
        }
    }

    pub fn add_function(&self, name: &str, t: Type) -> Value {
        let c = c_string(name);
        Value(unsafe { LLVMAddFunction(self.0, c.as_ptr(), t.0) })
    }

    /// A private global with an initial value in a section of ours.
    pub fn add_data(
        &self,
        name: &str,
        init: Value,
        section: Option<&str>,
        constant: bool,
    ) -> Value {
        let c = c_string(name);
        unsafe {
            let g = LLVMAddGlobal(self.0, LLVMTypeOf(init.0), c.as_ptr());
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
        Value(unsafe { LLVMAddGlobal(self.0, t.0, c.as_ptr()) })
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

    /// As [`Module::follow_comdat`], for an array that code refers to: where
    /// the function was inlined, the code stays when the linker drops this
    /// group for another object's, so it must find that object's array by name.
    /// `shape` is part of the name, and the group is the array's own: objects
    /// that disagree about the function (`-DNDEBUG` in one of them) each keep
    /// an array that fits. Arrays of one shape are kept or dropped together, so
    /// sites and counters stay in one order.
    pub fn share_by_name(&self, data: Value, kind: &str, function: Value, shape: u64) {
        unsafe {
            if llvm_sys::comdat::LLVMGetComdat(function.0).is_null() {
                return;
            }
            data.set_name(&format!("{kind}.{}.{shape:x}", function.name()));
            LLVMSetLinkage(data.0, Linkage::LLVMLinkOnceODRLinkage);
            LLVMSetVisibility(data.0, llvm_sys::LLVMVisibility::LLVMHiddenVisibility);
            let group = c_string(&data.name());
            let group = llvm_sys::comdat::LLVMGetOrInsertComdat(self.0, group.as_ptr());
            llvm_sys::comdat::LLVMSetComdat(data.0, group);
        }
    }

    /// Neither optimiser nor linker may drop this; takes effect with
    /// [`Module::keep_all`].
    pub fn keep(&self, data: Value) {
        self.1.borrow_mut().push(data);
    }

    /// Adds what [`Module::keep`] named to `llvm.used`.
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
            all.extend(self.1.borrow_mut().drain(..).map(|v| v.0));
            if all.is_empty() {
                return;
            }
            let list = LLVMConstArray2(ctx.pointer().0, all.as_mut_ptr(), all.len() as u64);
            let g = LLVMAddGlobal(self.0, LLVMTypeOf(list), c"llvm.used".as_ptr());
            LLVMSetInitializer(g, list);
            LLVMSetLinkage(g, Linkage::LLVMAppendingLinkage);
            LLVMSetSection(g, c"llvm.metadata".as_ptr());
        }
    }

    /// Functions that choose the target of an `ifunc`: they run before anything else.
    pub fn resolvers(&self) -> Vec<Value> {
        let mut all = Vec::new();
        unsafe {
            let mut i = LLVMGetFirstGlobalIFunc(self.0);
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
        unsafe { llvm_sys::target::LLVMGetModuleDataLayout(self.0) }
    }

    /// Runs a textual pass pipeline, vectorisers and unrolling off, little inlined.
    pub fn run_passes(&self, passes: &str, machine: &TargetMachine) -> Result<(), String> {
        use llvm_sys::transforms::pass_builder::*;
        let passes = c_string(passes);
        restrain();
        unsafe {
            let o = LLVMCreatePassBuilderOptions();
            LLVMPassBuilderOptionsSetLoopInterleaving(o, 0);
            LLVMPassBuilderOptionsSetLoopUnrolling(o, 0);
            LLVMPassBuilderOptionsSetMergeFunctions(o, 0);
            let e = LLVMRunPasses(self.0, passes.as_ptr(), machine.0, o);
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
                self.0,
                LLVMVerifierFailureAction::LLVMReturnStatusAction,
                &mut message,
            );
            let said = take_message(message);
            if bad == 0 { Ok(()) } else { Err(said) }
        }
    }

    /// The module as text.
    #[cfg(test)]
    pub fn text(&self) -> String {
        take_message(unsafe { LLVMPrintModuleToString(self.0) })
    }

    pub fn strip_debug(&self) {
        unsafe { llvm_sys::debuginfo::LLVMStripModuleDebugInfo(self.0) };
    }

    pub fn has_comdat(&self, v: Value) -> bool {
        unsafe { !llvm_sys::comdat::LLVMGetComdat(v.0).is_null() }
    }
}

/// Options of the optimiser for this process; `default<O2>` heeds only the
/// command line's here, not those of the pass builder.
///
/// The vectorisers are off: they would spread labels over lanes. Only small
/// functions are inlined (225 is O2's threshold): every copy gets code for its
/// labels, several times its own size, and all of that has to be compiled.
/// sqlite3.c is smaller by a third so, before labels.
fn restrain() {
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
