//! LLVM's C API with names and types that read well.
//!
//! All values live in one [`Context`] that outlives them: a compilation makes
//! a context, works on its modules and ends. Every `unsafe` block below rests
//! on that, and on LLVM's own rule that a reference it hands out stays valid
//! until the thing is erased; the passes erase only what they no longer hold.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::path::Path;

pub use llvm_sys::LLVMIntPredicate as IntPredicate;
pub use llvm_sys::LLVMLinkage as Linkage;
pub use llvm_sys::LLVMOpcode as Opcode;
pub use llvm_sys::LLVMTypeKind as TypeKind;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub LLVMValueRef);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type(pub LLVMTypeRef);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block(pub LLVMBasicBlockRef);
#[derive(Clone, Copy)]
pub struct Attribute(pub LLVMAttributeRef);

pub struct Context(LLVMContextRef);

impl Context {
    pub fn new() -> Context {
        Context(unsafe { LLVMContextCreate() })
    }

    pub fn int(&self, bits: u32) -> Type {
        Type(unsafe { LLVMIntTypeInContext(self.0, bits) })
    }

    pub fn pointer(&self) -> Type {
        Type(unsafe { LLVMPointerTypeInContext(self.0, 0) })
    }

    pub fn void(&self) -> Type {
        Type(unsafe { LLVMVoidTypeInContext(self.0) })
    }

    pub fn structure(&self, fields: &[Type]) -> Type {
        let mut f: Vec<_> = fields.iter().map(|t| t.0).collect();
        Type(unsafe { LLVMStructTypeInContext(self.0, f.as_mut_ptr(), f.len() as u32, 0) })
    }

    pub fn constant(&self, bits: u32, n: u64) -> Value {
        Value(unsafe { LLVMConstInt(self.int(bits).0, n, 0) })
    }

    pub fn bytes(&self, bytes: &[u8]) -> Value {
        Value(unsafe {
            LLVMConstStringInContext2(self.0, bytes.as_ptr().cast(), bytes.len(), 1)
        })
    }

    pub fn constant_struct(&self, fields: &[Value]) -> Value {
        let mut f: Vec<_> = fields.iter().map(|v| v.0).collect();
        Value(unsafe { LLVMConstStructInContext(self.0, f.as_mut_ptr(), f.len() as u32, 0) })
    }

    pub fn builder(&self) -> Builder {
        Builder(unsafe { LLVMCreateBuilderInContext(self.0) })
    }

    pub fn block(&self, function: Value, name: &CStr) -> Block {
        Block(unsafe { LLVMAppendBasicBlockInContext(self.0, function.0, name.as_ptr()) })
    }

    pub fn metadata_kind(&self, name: &str) -> u32 {
        unsafe { LLVMGetMDKindIDInContext(self.0, name.as_ptr().cast(), name.len() as u32) }
    }

    /// `!prof` weights: the first target of the branch is unlikely.
    pub fn unlikely(&self) -> Value {
        unsafe {
            let text = "branch_weights";
            let name = LLVMMDStringInContext2(self.0, text.as_ptr().cast(), text.len());
            let weight = |n| LLVMValueAsMetadata(self.constant(32, n).0);
            let mut parts = [name, weight(1), weight(2000)];
            let node = LLVMMDNodeInContext2(self.0, parts.as_mut_ptr(), parts.len());
            Value(LLVMMetadataAsValue(self.0, node))
        }
    }

    pub fn attribute(&self, name: &str) -> Attribute {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            Attribute(LLVMCreateEnumAttribute(self.0, kind, 0))
        }
    }

    pub fn read_bitcode(&self, path: &Path) -> Result<Module, String> {
        let path = c_string(&path.to_string_lossy());
        let (mut buffer, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        unsafe {
            if LLVMCreateMemoryBufferWithContentsOfFile(path.as_ptr(), &mut buffer, &mut message) != 0 {
                return Err(take_message(message));
            }
            self.parse(buffer)
        }
    }

    pub fn parse_text(&self, text: &str) -> Result<Module, String> {
        let text = c_string(text);
        unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                text.as_ptr(),
                text.as_bytes().len(),
                c"text".as_ptr(),
            );
            self.parse(buffer)
        }
    }

    /// Bitcode or text; the buffer is used up.
    unsafe fn parse(&self, buffer: LLVMMemoryBufferRef) -> Result<Module, String> {
        let (mut message, mut module) = (std::ptr::null_mut(), std::ptr::null_mut());
        unsafe {
            let bad = llvm_sys::ir_reader::LLVMParseIRInContext2(self.0, buffer, &mut module, &mut message);
            LLVMDisposeMemoryBuffer(buffer);
            if bad != 0 {
                return Err(take_message(message));
            }
        }
        Ok(Module(module, RefCell::default()))
    }
}

fn take_message(message: *mut libc::c_char) -> String {
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

pub fn c_string(s: &str) -> CString {
    CString::new(s.replace('\0', "")).unwrap_or_default()
}

pub struct Module(LLVMModuleRef, RefCell<Vec<Value>>);

impl Drop for Module {
    fn drop(&mut self) {
        unsafe { LLVMDisposeModule(self.0) }
    }
}

impl Module {
    pub fn duplicate(&self) -> Module {
        Module(unsafe { LLVMCloneModule(self.0) }, RefCell::default())
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

    pub fn add_function(&self, name: &str, t: Type) -> Value {
        let c = c_string(name);
        Value(unsafe { LLVMAddFunction(self.0, c.as_ptr(), t.0) })
    }

    /// A private global with an initial value in a section of ours.
    pub fn add_data(&self, name: &str, init: Value, section: Option<&str>, constant: bool) -> Value {
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

    /// Runs a textual pass pipeline, vectorisers and unrolling off.
    pub fn run_passes(&self, passes: &str, machine: &TargetMachine) -> Result<(), String> {
        use llvm_sys::transforms::pass_builder::*;
        let passes = c_string(passes);
        vectorise_nothing();
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
}

/// Turns the vectorisers off for this process: they would spread labels over
/// lanes. `default<O2>` heeds only the command line's options here, not those
/// of the pass builder.
fn vectorise_nothing() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let words = [c"pleach-cc", c"-vectorize-slp=false", c"-vectorize-loops=false"];
        let words = words.map(CStr::as_ptr);
        let count = words.len() as i32;
        // Safety: the words are zero-terminated and live for the call.
        unsafe {
            llvm_sys::support::LLVMParseCommandLineOptions(
                count,
                words.as_ptr(),
                std::ptr::null(),
            );
        }
    });
}

/// What the optimiser may assume of the machine.
pub struct TargetMachine(llvm_sys::target_machine::LLVMTargetMachineRef);

impl TargetMachine {
    pub fn for_module(m: &Module) -> Result<TargetMachine, String> {
        use llvm_sys::target::*;
        use llvm_sys::target_machine::*;
        let triple = c_string(&m.triple());
        let (mut target, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        unsafe {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            if LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut message) != 0 {
                return Err(take_message(message));
            }
            Ok(TargetMachine(LLVMCreateTargetMachine(
                target,
                triple.as_ptr(),
                c"x86-64".as_ptr(),
                c"".as_ptr(),
                LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
                LLVMRelocMode::LLVMRelocPIC,
                LLVMCodeModel::LLVMCodeModelDefault,
            )))
        }
    }
}

impl Drop for TargetMachine {
    fn drop(&mut self) {
        unsafe { llvm_sys::target_machine::LLVMDisposeTargetMachine(self.0) }
    }
}

fn text(p: *const libc::c_char, n: usize) -> String {
    if p.is_null() {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(p.cast::<u8>(), n) };
    String::from_utf8_lossy(bytes).into_owned()
}

impl Type {
    pub fn kind(self) -> TypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }

    pub fn int_width(self) -> Option<u32> {
        (self.kind() == TypeKind::LLVMIntegerTypeKind).then(|| unsafe { LLVMGetIntTypeWidth(self.0) })
    }

    pub fn element(self) -> Type {
        Type(unsafe { LLVMGetElementType(self.0) })
    }

    pub fn array_len(self) -> u64 {
        unsafe { LLVMGetArrayLength2(self.0) }
    }

    pub fn vector_len(self) -> u32 {
        unsafe { LLVMGetVectorSize(self.0) }
    }

    pub fn vector(self, n: u32) -> Type {
        Type(unsafe { LLVMVectorType(self.0, n) })
    }

    pub fn array(self, n: u64) -> Type {
        Type(unsafe { LLVMArrayType2(self.0, n) })
    }

    pub fn fields(self) -> Vec<Type> {
        let n = unsafe { LLVMCountStructElementTypes(self.0) };
        (0..n).map(|i| Type(unsafe { LLVMStructGetTypeAtIndex(self.0, i) })).collect()
    }

    pub fn function(self, params: &[Type]) -> Type {
        let mut p: Vec<_> = params.iter().map(|t| t.0).collect();
        Type(unsafe { LLVMFunctionType(self.0, p.as_mut_ptr(), p.len() as u32, 0) })
    }

    pub fn is_variadic(self) -> bool {
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    pub fn param_count(self) -> u32 {
        unsafe { LLVMCountParamTypes(self.0) }
    }

    pub fn null(self) -> Value {
        Value(unsafe { LLVMConstNull(self.0) })
    }

    pub fn constant_array(self, items: &[Value]) -> Value {
        let mut v: Vec<_> = items.iter().map(|i| i.0).collect();
        Value(unsafe { LLVMConstArray2(self.0, v.as_mut_ptr(), v.len() as u64) })
    }
}

impl Block {
    pub fn instructions(self) -> Vec<Value> {
        let mut all = Vec::new();
        unsafe {
            let mut i = LLVMGetFirstInstruction(self.0);
            while !i.is_null() {
                all.push(Value(i));
                i = LLVMGetNextInstruction(i);
            }
        }
        all
    }

    pub fn terminator(self) -> Option<Value> {
        let t = unsafe { LLVMGetBasicBlockTerminator(self.0) };
        (!t.is_null()).then_some(Value(t))
    }

    pub fn successors(self) -> Vec<Block> {
        self.terminator().map(Value::successors).unwrap_or_default()
    }

    /// The first place where ordinary instructions may stand.
    pub fn insertion_point(self) -> Option<Value> {
        self.instructions().into_iter().find(|i| {
            !matches!(i.opcode(), Opcode::LLVMPHI | Opcode::LLVMLandingPad)
        })
    }

    /// Terminators that may jump here.
    pub fn incoming_edges(self) -> usize {
        let mut n = 0;
        unsafe {
            let mut u = LLVMGetFirstUse(LLVMBasicBlockAsValue(self.0));
            while !u.is_null() {
                let user = LLVMGetUser(u);
                if !LLVMIsATerminatorInst(user).is_null() {
                    n += 1;
                }
                u = LLVMGetNextUse(u);
            }
        }
        n
    }
}

impl Value {
    pub fn ty(self) -> Type {
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    pub fn name(self) -> String {
        let mut n = 0;
        unsafe { text(LLVMGetValueName2(self.0, &mut n), n) }
    }

    pub fn set_name(self, name: &str) {
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    pub fn opcode(self) -> Opcode {
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    pub fn operand(self, i: u32) -> Value {
        Value(unsafe { LLVMGetOperand(self.0, i) })
    }

    pub fn operand_count(self) -> u32 {
        unsafe { LLVMGetNumOperands(self.0) as u32 }
    }

    pub fn set_operand(self, i: u32, v: Value) {
        unsafe { LLVMSetOperand(self.0, i, v.0) }
    }

    pub fn is_instruction(self) -> bool {
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }

    pub fn is_constant(self) -> bool {
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    pub fn is_null(self) -> bool {
        unsafe { LLVMIsNull(self.0) != 0 }
    }

    pub fn constant_int(self) -> Option<u64> {
        unsafe {
            let c = LLVMIsAConstantInt(self.0);
            let fits = !c.is_null() && Type(LLVMTypeOf(c)).int_width()? <= 64;
            fits.then(|| LLVMConstIntGetZExtValue(c))
        }
    }

    pub fn signed_int(self) -> Option<i64> {
        self.constant_int().map(|_| unsafe { LLVMConstIntGetSExtValue(self.0) })
    }

    pub fn is_function(self) -> bool {
        unsafe { !LLVMIsAFunction(self.0).is_null() }
    }

    pub fn is_inline_asm(self) -> bool {
        unsafe { !LLVMIsAInlineAsm(self.0).is_null() }
    }

    pub fn is_global_variable(self) -> bool {
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() }
    }

    pub fn is_constant_global(self) -> bool {
        self.is_global_variable() && unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    pub fn is_thread_local(self) -> bool {
        unsafe { LLVMIsThreadLocal(self.0) != 0 }
    }

    pub fn set_thread_local(self, mode: llvm_sys::LLVMThreadLocalMode) {
        unsafe { LLVMSetThreadLocalMode(self.0, mode) }
    }

    pub fn initializer(self) -> Option<Value> {
        let i = unsafe { LLVMGetInitializer(self.0) };
        (!i.is_null()).then_some(Value(i))
    }

    pub fn section(self) -> String {
        let s = unsafe { LLVMGetSection(self.0) };
        if s.is_null() {
            return String::new();
        }
        unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned()
    }

    pub fn linkage(self) -> Linkage {
        unsafe { LLVMGetLinkage(self.0) }
    }

    pub fn set_linkage(self, l: Linkage) {
        unsafe { LLVMSetLinkage(self.0, l) }
    }

    pub fn set_alignment(self, bytes: u32) {
        unsafe { LLVMSetAlignment(self.0, bytes) }
    }

    /// Type of what a global or function is, not of its address.
    pub fn value_type(self) -> Type {
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    pub fn is_declaration(self) -> bool {
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    pub fn intrinsic(self) -> Option<String> {
        let id = unsafe { if self.is_function() { LLVMGetIntrinsicID(self.0) } else { 0 } };
        (id != 0).then(|| self.name())
    }

    pub fn params(self) -> Vec<Value> {
        let n = unsafe { LLVMCountParams(self.0) };
        (0..n).map(|i| Value(unsafe { LLVMGetParam(self.0, i) })).collect()
    }

    pub fn blocks(self) -> Vec<Block> {
        let n = unsafe { LLVMCountBasicBlocks(self.0) };
        let mut all = vec![std::ptr::null_mut(); n as usize];
        unsafe { LLVMGetBasicBlocks(self.0, all.as_mut_ptr()) };
        all.into_iter().map(Block).collect()
    }

    pub fn successors(self) -> Vec<Block> {
        let n = unsafe { LLVMGetNumSuccessors(self.0) };
        (0..n).map(|i| Block(unsafe { LLVMGetSuccessor(self.0, i) })).collect()
    }

    pub fn is_conditional(self) -> bool {
        self.opcode() == Opcode::LLVMBr && unsafe { LLVMIsConditional(self.0) != 0 }
    }

    /// What a branch or switch decides on.
    pub fn condition(self) -> Value {
        self.operand(0)
    }

    pub fn predicate(self) -> IntPredicate {
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    pub fn incoming(self) -> Vec<(Value, Block)> {
        let n = unsafe { LLVMCountIncoming(self.0) };
        (0..n)
            .map(|i| unsafe {
                (Value(LLVMGetIncomingValue(self.0, i)), Block(LLVMGetIncomingBlock(self.0, i)))
            })
            .collect()
    }

    pub fn add_incoming(self, v: Value, b: Block) {
        let (mut v, mut b) = (v.0, b.0);
        unsafe { LLVMAddIncoming(self.0, &mut v, &mut b, 1) }
    }

    pub fn replace_with(self, v: Value) {
        unsafe { LLVMReplaceAllUsesWith(self.0, v.0) }
    }

    pub fn detach(self) {
        unsafe { LLVMInstructionRemoveFromParent(self.0) }
    }

    pub fn erase(self) {
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    pub fn delete_function(self) {
        unsafe { LLVMDeleteFunction(self.0) }
    }

    pub fn users(self) -> Vec<Value> {
        let mut all = Vec::new();
        unsafe {
            let mut u = LLVMGetFirstUse(self.0);
            while !u.is_null() {
                all.push(Value(LLVMGetUser(u)));
                u = LLVMGetNextUse(u);
            }
        }
        all
    }

    pub fn callee(self) -> Value {
        Value(unsafe { LLVMGetCalledValue(self.0) })
    }

    pub fn called_type(self) -> Type {
        Type(unsafe { LLVMGetCalledFunctionType(self.0) })
    }

    pub fn argument_count(self) -> u32 {
        unsafe { LLVMGetNumArgOperands(self.0) }
    }

    pub fn is_must_tail(self) -> bool {
        self.opcode() == Opcode::LLVMCall
            && unsafe {
                LLVMGetTailCallKind(self.0) == llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail
            }
    }

    pub fn forbid_tail_call(self) {
        unsafe {
            LLVMSetTailCallKind(self.0, llvm_sys::LLVMTailCallKind::LLVMTailCallKindNone);
        }
    }

    pub fn normal_destination(self) -> Block {
        Block(unsafe { LLVMGetNormalDest(self.0) })
    }

    pub fn allocated_type(self) -> Type {
        Type(unsafe { LLVMGetAllocatedType(self.0) })
    }

    pub fn source_element(self) -> Type {
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }

    pub fn indices(self) -> Vec<u32> {
        unsafe {
            let n = LLVMGetNumIndices(self.0) as usize;
            std::slice::from_raw_parts(LLVMGetIndices(self.0), n).to_vec()
        }
    }

    pub fn mask(self) -> Vec<i32> {
        let n = unsafe { LLVMGetNumMaskElements(self.0) };
        (0..n).map(|i| unsafe { LLVMGetMaskValue(self.0, i) }).collect()
    }

    pub fn atomic_operation(self) -> llvm_sys::LLVMAtomicRMWBinOp {
        unsafe { LLVMGetAtomicRMWBinOp(self.0) }
    }

    pub fn metadata(self, kind: u32) -> Option<Value> {
        let m = unsafe { LLVMGetMetadata(self.0, kind) };
        (!m.is_null()).then_some(Value(m))
    }

    pub fn set_metadata(self, kind: u32, m: Value) {
        unsafe { LLVMSetMetadata(self.0, kind, m.0) }
    }

    /// Source line and column of an instruction, and its file.
    pub fn location(self) -> (String, u32, u32) {
        unsafe {
            let mut n = 0;
            let p = LLVMGetDebugLocFilename(self.0, &mut n);
            (text(p, n as usize), LLVMGetDebugLocLine(self.0), LLVMGetDebugLocColumn(self.0))
        }
    }

    /// File and line of a function's definition.
    pub fn definition(self) -> (String, u32) {
        use llvm_sys::debuginfo::*;
        unsafe {
            let sp = LLVMGetSubprogram(self.0);
            if sp.is_null() {
                return (String::new(), 0);
            }
            let file = LLVMDIScopeGetFile(sp);
            let mut n = 0;
            let name = if file.is_null() {
                String::new()
            } else {
                text(LLVMDIFileGetFilename(file, &mut n), n as usize)
            };
            (name, LLVMDISubprogramGetLine(sp))
        }
    }

    pub fn has_attribute(self, name: &str) -> bool {
        self.attribute_at(FUNCTION, name).is_some()
    }

    fn attribute_at(self, index: u32, name: &str) -> Option<LLVMAttributeRef> {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let a = LLVMGetEnumAttributeAtIndex(self.0, index, kind);
            (!a.is_null()).then_some(a)
        }
    }

    /// The type of a `byval` parameter (numbered from 0) of a function.
    pub fn byval_type(self, param: u32) -> Option<Type> {
        self.attribute_at(param + 1, "byval").map(|a| Type(unsafe { LLVMGetTypeAttributeValue(a) }))
    }

    /// The type of a `byval` argument (numbered from 0) of a call.
    pub fn call_byval_type(self, argument: u32) -> Option<Type> {
        unsafe {
            let name = "byval";
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let a = LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind);
            (!a.is_null()).then(|| Type(LLVMGetTypeAttributeValue(a)))
        }
    }

    pub fn add_attribute(self, a: Attribute) {
        unsafe { LLVMAddAttributeAtIndex(self.0, FUNCTION, a.0) }
    }

    pub fn remove_attribute(self, name: &str) {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMRemoveEnumAttributeAtIndex(self.0, FUNCTION, kind);
        }
    }

    /// Gives `self` the function attributes and the convention of `other`.
    pub fn imitate(self, other: Value) {
        unsafe {
            let n = LLVMGetAttributeCountAtIndex(other.0, FUNCTION);
            let mut all = vec![std::ptr::null_mut(); n as usize];
            LLVMGetAttributesAtIndex(other.0, FUNCTION, all.as_mut_ptr());
            all.into_iter().for_each(|a| LLVMAddAttributeAtIndex(self.0, FUNCTION, a));
            LLVMSetFunctionCallConv(self.0, LLVMGetFunctionCallConv(other.0));
        }
    }

    /// `self + bytes`, for a constant address.
    pub fn offset_by(self, ctx: &Context, bytes: u64) -> Value {
        let mut at = [ctx.constant(64, bytes).0];
        Value(unsafe { LLVMConstInBoundsGEP2(ctx.int(8).0, self.0, at.as_mut_ptr(), 1) })
    }
}

/// Index of a function's own attributes.
const FUNCTION: u32 = u32::MAX;

pub struct Builder(LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}

impl Builder {
    pub fn before(&self, i: Value) {
        unsafe { LLVMPositionBuilderBefore(self.0, i.0) }
    }

    pub fn at_end(&self, b: Block) {
        unsafe { LLVMPositionBuilderAtEnd(self.0, b.0) }
    }

    pub fn block(&self) -> Block {
        Block(unsafe { LLVMGetInsertBlock(self.0) })
    }

    /// Everything built from here on has this instruction's source location.
    pub fn locate_as(&self, i: Value) {
        unsafe { LLVMSetCurrentDebugLocation2(self.0, llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(i.0)) }
    }

    pub fn no_location(&self) {
        unsafe { LLVMSetCurrentDebugLocation2(self.0, std::ptr::null_mut()) }
    }

    /// Puts a detached instruction here.
    pub fn insert(&self, i: Value) {
        unsafe { LLVMInsertIntoBuilder(self.0, i.0) }
    }

    pub fn call(&self, function: Value, args: &[Value]) -> Value {
        self.call_value(function.value_type(), function, args)
    }

    pub fn call_value(&self, t: Type, callee: Value, args: &[Value]) -> Value {
        let mut a: Vec<_> = args.iter().map(|v| v.0).collect();
        unsafe {
            let c = LLVMBuildCall2(self.0, t.0, callee.0, a.as_mut_ptr(), a.len() as u32, c"".as_ptr());
            if callee.is_function() {
                LLVMSetInstructionCallConv(c, LLVMGetFunctionCallConv(callee.0));
            }
            Value(c)
        }
    }

    pub fn load(&self, t: Type, p: Value) -> Value {
        Value(unsafe { LLVMBuildLoad2(self.0, t.0, p.0, c"".as_ptr()) })
    }

    pub fn store(&self, v: Value, p: Value) -> Value {
        Value(unsafe { LLVMBuildStore(self.0, v.0, p.0) })
    }

    pub fn alloca(&self, t: Type) -> Value {
        Value(unsafe { LLVMBuildAlloca(self.0, t.0, c"".as_ptr()) })
    }

    pub fn offset(&self, ctx: &Context, p: Value, bytes: Value) -> Value {
        let mut at = [bytes.0];
        Value(unsafe { LLVMBuildGEP2(self.0, ctx.int(8).0, p.0, at.as_mut_ptr(), 1, c"".as_ptr()) })
    }

    pub fn op(&self, op: Opcode, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildBinOp(self.0, op, a.0, b.0, c"".as_ptr()) })
    }

    pub fn or(&self, a: Value, b: Value) -> Value {
        self.op(Opcode::LLVMOr, a, b)
    }

    pub fn add(&self, a: Value, b: Value) -> Value {
        self.op(Opcode::LLVMAdd, a, b)
    }

    pub fn compare(&self, p: IntPredicate, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildICmp(self.0, p, a.0, b.0, c"".as_ptr()) })
    }

    pub fn is_set(&self, v: Value) -> Value {
        self.compare(IntPredicate::LLVMIntNE, v, v.ty().null())
    }

    pub fn cast(&self, op: Opcode, v: Value, t: Type) -> Value {
        Value(unsafe { LLVMBuildCast(self.0, op, v.0, t.0, c"".as_ptr()) })
    }

    pub fn select(&self, c: Value, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildSelect(self.0, c.0, a.0, b.0, c"".as_ptr()) })
    }

    pub fn phi(&self, t: Type) -> Value {
        Value(unsafe { LLVMBuildPhi(self.0, t.0, c"".as_ptr()) })
    }

    pub fn jump(&self, to: Block) {
        unsafe { LLVMBuildBr(self.0, to.0) };
    }

    pub fn branch(&self, c: Value, yes: Block, no: Block) -> Value {
        Value(unsafe { LLVMBuildCondBr(self.0, c.0, yes.0, no.0) })
    }

    pub fn extract_value(&self, v: Value, i: u32) -> Value {
        Value(unsafe { LLVMBuildExtractValue(self.0, v.0, i, c"".as_ptr()) })
    }

    pub fn insert_value(&self, whole: Value, v: Value, i: u32) -> Value {
        Value(unsafe { LLVMBuildInsertValue(self.0, whole.0, v.0, i, c"".as_ptr()) })
    }

    pub fn extract_element(&self, v: Value, i: Value) -> Value {
        Value(unsafe { LLVMBuildExtractElement(self.0, v.0, i.0, c"".as_ptr()) })
    }

    pub fn insert_element(&self, whole: Value, v: Value, i: Value) -> Value {
        Value(unsafe { LLVMBuildInsertElement(self.0, whole.0, v.0, i.0, c"".as_ptr()) })
    }

    pub fn shuffle(&self, a: Value, b: Value, mask: Value) -> Value {
        Value(unsafe { LLVMBuildShuffleVector(self.0, a.0, b.0, mask.0, c"".as_ptr()) })
    }
}

impl Value {
    /// Values of a switch's cases, zero-extended, in successor order after the default.
    pub fn cases(self) -> Vec<Value> {
        let n = unsafe { LLVMGetNumSuccessors(self.0) };
        (1..n).map(|i| Value(unsafe { LLVMGetSwitchCaseValue(self.0, i) })).collect()
    }
}

impl Context {
    /// `!{}`, for marks such as `!nosanitize`.
    pub fn empty_metadata(&self) -> Value {
        unsafe {
            let node = LLVMMDNodeInContext2(self.0, std::ptr::null_mut(), 0);
            Value(LLVMMetadataAsValue(self.0, node))
        }
    }
}

impl Module {
    pub fn strip_debug(&self) {
        unsafe { llvm_sys::debuginfo::LLVMStripModuleDebugInfo(self.0) };
    }
}

impl Module {
    pub fn has_comdat(&self, v: Value) -> bool {
        unsafe { !llvm_sys::comdat::LLVMGetComdat(v.0).is_null() }
    }
}

impl Value {
    pub fn is_call(self) -> bool {
        self.is_instruction()
            && matches!(self.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr)
    }

    pub fn is_available_externally(self) -> bool {
        self.linkage() == Linkage::LLVMAvailableExternallyLinkage
    }

    pub fn is_local(self) -> bool {
        matches!(self.linkage(), Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage)
    }

    /// Removes what a call site says of its callee's effects on memory.
    pub fn forget_call_effects(self) {
        for name in ["memory", "nosync", "nofree", "nocallback"] {
            unsafe {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                LLVMRemoveCallSiteEnumAttribute(self.0, FUNCTION, kind);
            }
        }
    }
}

impl Value {
    /// The operation of a constant expression.
    pub fn constant_opcode(self) -> Option<Opcode> {
        unsafe {
            (!LLVMIsAConstantExpr(self.0).is_null()).then(|| LLVMGetConstOpcode(self.0))
        }
    }
}

impl Value {
    /// Deletes an instruction that is in no block.
    pub fn discard(self) {
        unsafe { LLVMDeleteInstruction(self.0) }
    }

    pub fn delete_global(self) {
        unsafe { LLVMDeleteGlobal(self.0) }
    }
}

impl Type {
    pub fn constant_vector(self, items: &[Value]) -> Value {
        let _ = self;
        let mut v: Vec<_> = items.iter().map(|i| i.0).collect();
        Value(unsafe { LLVMConstVector(v.as_mut_ptr(), v.len() as u32) })
    }
}

impl Type {
    pub fn all_ones(self) -> Value {
        Value(unsafe { LLVMConstAllOnes(self.0) })
    }
}

impl Context {
    /// `1 << bit`, at any width.
    pub fn power_of_two(&self, width: u32, bit: u32) -> Value {
        let words: Vec<u64> = (0..width.div_ceil(64))
            .map(|w| if bit / 64 == w { 1 << (bit % 64) } else { 0 })
            .collect();
        let t = self.int(width);
        Value(unsafe { LLVMConstIntOfArbitraryPrecision(t.0, words.len() as u32, words.as_ptr()) })
    }
}
