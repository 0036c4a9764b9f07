//! Types, blocks and values: functions, globals, instructions.

use super::promises::FUNCTION;
use super::{
    Attribute, Block, Context, IntPredicate, Linkage, Opcode, RealPredicate, Type, TypeKind, Value,
    text,
};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::ffi::CStr;

impl Type {
    pub fn kind(self) -> TypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// The type as text, `i32 (ptr, i64)`.
    pub fn text(self) -> String {
        super::context::take_message(unsafe { LLVMPrintTypeToString(self.0) })
    }

    pub fn int_width(self) -> Option<u32> {
        (self.kind() == TypeKind::LLVMIntegerTypeKind)
            .then(|| unsafe { LLVMGetIntTypeWidth(self.0) })
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

    /// The return type of a function type.
    pub fn returns(self) -> Type {
        Type(unsafe { LLVMGetReturnType(self.0) })
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

    pub fn constant_vector(self, items: &[Value]) -> Value {
        let _ = self;
        let mut v: Vec<_> = items.iter().map(|i| i.0).collect();
        Value(unsafe { LLVMConstVector(v.as_mut_ptr(), v.len() as u32) })
    }

    pub fn all_ones(self) -> Value {
        Value(unsafe { LLVMConstAllOnes(self.0) })
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

    pub fn phis(self) -> Vec<Value> {
        self.instructions().into_iter().take_while(|i| i.opcode() == Opcode::LLVMPHI).collect()
    }

    pub fn name(self) -> String {
        unsafe {
            let name = LLVMGetBasicBlockName(self.0);
            text(name, if name.is_null() { 0 } else { libc::strlen(name) })
        }
    }

    pub fn terminator(self) -> Option<Value> {
        let t = unsafe { LLVMGetBasicBlockTerminator(self.0) };
        (!t.is_null()).then_some(Value(t))
    }

    pub fn successors(self) -> Vec<Block> {
        self.terminator().map(Value::successors).unwrap_or_default()
    }

    /// The first instruction before which others may be inserted.
    pub fn insertion_point(self) -> Option<Value> {
        self.instructions()
            .into_iter()
            .find(|i| !matches!(i.opcode(), Opcode::LLVMPHI | Opcode::LLVMLandingPad))
    }

    /// The number of edges from terminators to this block.
    pub fn incoming_edges(self) -> usize {
        self.predecessors().len()
    }

    /// The block of each edge to this block.
    pub fn predecessors(self) -> Vec<Block> {
        let mut all = Vec::new();
        unsafe {
            let mut u = LLVMGetFirstUse(LLVMBasicBlockAsValue(self.0));
            while !u.is_null() {
                let user = LLVMGetUser(u);
                if !LLVMIsATerminatorInst(user).is_null() {
                    all.push(Block(LLVMGetInstructionParent(user)));
                }
                u = LLVMGetNextUse(u);
            }
        }
        all
    }

    /// The constant address of a block of a function.
    pub fn address(self, function: Value) -> Value {
        Value(unsafe { LLVMBlockAddress(function.0, self.0) })
    }
}

impl Value {
    pub fn ty(self) -> Type {
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    /// The value as text: of a constant, its type and value.
    pub fn text(self) -> String {
        super::context::take_message(unsafe { LLVMPrintValueToString(self.0) })
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
            let fits_u64 = !c.is_null() && Type(LLVMTypeOf(c)).int_width()? <= 64;
            fits_u64.then(|| LLVMConstIntGetZExtValue(c))
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

    /// The instructions of inline assembly, and the constraints of its operands.
    pub fn inline_assembly(self) -> (String, String) {
        let (mut n, mut m) = (0, 0);
        unsafe {
            let template = LLVMGetInlineAsmAsmString(self.0, &mut n);
            let constraints = LLVMGetInlineAsmConstraintString(self.0, &mut m);
            (text(template, n), text(constraints, m))
        }
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

    /// The type of a global or function itself, not of its address.
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

    /// Replaces the successor `from` of a branch by `to`.
    pub fn redirect(self, from: Block, to: Block) {
        for (i, b) in self.successors().into_iter().enumerate() {
            if b == from {
                unsafe { LLVMSetSuccessor(self.0, i as u32, to.0) }
            }
        }
    }

    /// The block that an instruction is in.
    pub fn block(self) -> Block {
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    pub fn is_conditional(self) -> bool {
        self.opcode() == Opcode::LLVMBr && unsafe { LLVMIsConditional(self.0) != 0 }
    }

    /// The value that a branch or switch decides on.
    pub fn condition(self) -> Value {
        self.operand(0)
    }

    /// The predicate of a comparison of floating point.
    pub fn real_predicate(self) -> RealPredicate {
        unsafe { LLVMGetFCmpPredicate(self.0) }
    }

    pub fn predicate(self) -> IntPredicate {
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    /// Makes the branch go where it did not go, and sets the condition that it decides on.
    pub fn swap_sides(self, inverse: Value) {
        unsafe {
            let first = LLVMGetSuccessor(self.0, 0);
            LLVMSetSuccessor(self.0, 0, LLVMGetSuccessor(self.0, 1));
            LLVMSetSuccessor(self.0, 1, first);
            LLVMSetCondition(self.0, inverse.0);
        }
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

    /// All metadata nodes of one kind that a global has.
    pub fn metadata_nodes(self, kind: u32) -> Vec<LLVMMetadataRef> {
        let mut n = 0;
        unsafe {
            let all = LLVMGlobalCopyAllMetadata(self.0, &mut n);
            let found = (0..n as u32)
                .filter(|&i| LLVMValueMetadataEntriesGetKind(all, i) == kind)
                .map(|i| LLVMValueMetadataEntriesGetMetadata(all, i))
                .collect();
            LLVMDisposeValueMetadataEntries(all);
            found
        }
    }

    pub fn set_metadata(self, kind: u32, m: Value) {
        unsafe { LLVMSetMetadata(self.0, kind, m.0) }
    }

    pub fn remove_metadata(self, kind: u32) {
        unsafe { LLVMSetMetadata(self.0, kind, std::ptr::null_mut()) }
    }

    /// Makes a load or store atomic, with relaxed ordering.
    pub fn make_relaxed(self) {
        unsafe {
            LLVMSetOrdering(self.0, llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic)
        }
    }

    /// File, line and column of an instruction.
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

    /// The directory that the names of a function's files start from.
    pub fn directory(self) -> String {
        use llvm_sys::debuginfo::*;
        unsafe {
            let sp = LLVMGetSubprogram(self.0);
            let file = if sp.is_null() { sp } else { LLVMDIScopeGetFile(sp) };
            if file.is_null() {
                return String::new();
            }
            let mut n = 0;
            text(LLVMDIFileGetDirectory(file, &mut n), n as usize)
        }
    }

    pub fn has_attribute(self, name: &str) -> bool {
        self.attribute_at(FUNCTION, name).is_some()
    }

    /// The value of a text attribute of a function, such as `target-features`.
    pub fn text_attribute(self, name: &str) -> Option<String> {
        unsafe {
            let (text_of, size) = (name.as_ptr().cast(), name.len() as u32);
            let a = LLVMGetStringAttributeAtIndex(self.0, FUNCTION, text_of, size);
            if a.is_null() {
                return None;
            }
            let mut n = 0;
            let value = LLVMGetStringAttributeValue(a, &mut n);
            Some(text(value, n as usize))
        }
    }

    fn attribute_at(self, index: u32, name: &str) -> Option<LLVMAttributeRef> {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let a = LLVMGetEnumAttributeAtIndex(self.0, index, kind);
            (!a.is_null()).then_some(a)
        }
    }

    /// True if a function's result (0) or parameter (from 1) has an attribute.
    pub fn has_attribute_at(self, index: u32, name: &str) -> bool {
        self.attribute_at(index, name).is_some()
    }

    /// The type of a `byval` parameter (numbered from 0) of a function.
    pub fn byval_type(self, param: u32) -> Option<Type> {
        self.attribute_at(param + 1, "byval").map(|a| Type(unsafe { LLVMGetTypeAttributeValue(a) }))
    }

    /// The type of a `byval` argument (numbered from 0) of a call.
    pub fn call_byval_type(self, argument: u32) -> Option<Type> {
        let a = self.call_attribute_at(argument + 1, "byval");
        a.map(|a| Type(unsafe { LLVMGetTypeAttributeValue(a) }))
    }

    fn call_attribute_at(self, index: u32, name: &str) -> Option<LLVMAttributeRef> {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let a = LLVMGetCallSiteEnumAttribute(self.0, index, kind);
            (!a.is_null()).then_some(a)
        }
    }

    /// True if a call's result (0) or argument (from 1) has an attribute.
    pub fn has_call_attribute_at(self, index: u32, name: &str) -> bool {
        self.call_attribute_at(index, name).is_some()
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

    /// Gives `self` the function attributes and the calling convention of `other`.
    pub fn copy_attributes(self, other: Value) {
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

    /// The values of a switch's cases, in the order of the successors after the default.
    pub fn cases(self) -> Vec<Value> {
        let n = unsafe { LLVMGetNumSuccessors(self.0) };
        (1..n).map(|i| Value(unsafe { LLVMGetSwitchCaseValue(self.0, i) })).collect()
    }

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

    /// Removes a call site's attributes about its callee's effects on memory.
    pub fn remove_call_effects(self) {
        for name in ["memory", "nosync", "nofree", "nocallback"] {
            unsafe {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                LLVMRemoveCallSiteEnumAttribute(self.0, FUNCTION, kind);
            }
        }
    }

    /// The operation, if this is a constant expression.
    pub fn constant_opcode(self) -> Option<Opcode> {
        unsafe { (!LLVMIsAConstantExpr(self.0).is_null()).then(|| LLVMGetConstOpcode(self.0)) }
    }

    /// Deletes an instruction that is in no block.
    pub fn discard(self) {
        unsafe { LLVMDeleteInstruction(self.0) }
    }

    pub fn delete_global(self) {
        unsafe { LLVMDeleteGlobal(self.0) }
    }
}
