//! The builder: inserts new instructions.

use super::{Block, Context, IntPredicate, Opcode, RealPredicate, Type, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::*;

pub struct Builder(pub(super) LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}

impl Builder {
    pub(super) fn new(builder: LLVMBuilderRef) -> Builder {
        Builder(builder)
    }

    pub fn before(&self, i: Value) {
        unsafe { LLVMPositionBuilderBefore(self.0, i.0) }
    }

    pub fn at_end(&self, b: Block) {
        unsafe { LLVMPositionBuilderAtEnd(self.0, b.0) }
    }

    pub fn block(&self) -> Block {
        Block(unsafe { LLVMGetInsertBlock(self.0) })
    }

    /// Gives all later instructions this instruction's source location.
    pub fn locate_as(&self, i: Value) {
        unsafe {
            LLVMSetCurrentDebugLocation2(
                self.0,
                llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(i.0),
            )
        }
    }

    pub fn no_location(&self) {
        unsafe { LLVMSetCurrentDebugLocation2(self.0, std::ptr::null_mut()) }
    }

    /// Inserts a detached instruction.
    pub fn insert(&self, i: Value) {
        unsafe { LLVMInsertIntoBuilder(self.0, i.0) }
    }

    pub fn call(&self, function: Value, args: &[Value]) -> Value {
        self.call_value(function.value_type(), function, args)
    }

    pub fn call_value(&self, t: Type, callee: Value, args: &[Value]) -> Value {
        let mut a: Vec<_> = args.iter().map(|v| v.0).collect();
        unsafe {
            let c =
                LLVMBuildCall2(self.0, t.0, callee.0, a.as_mut_ptr(), a.len() as u32, c"".as_ptr());
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

    pub fn compare_floats(&self, p: RealPredicate, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildFCmp(self.0, p, a.0, b.0, c"".as_ptr()) })
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

    /// A copy of the value that is a different `Value`.
    pub fn freeze(&self, v: Value) -> Value {
        Value(unsafe { LLVMBuildFreeze(self.0, v.0, c"".as_ptr()) })
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
