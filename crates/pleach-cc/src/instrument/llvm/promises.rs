//! Removes what instructions, calls and functions promise in addition to their
//! operation: flags, attributes and metadata. This never changes what a program
//! without undefined behaviour does.

use super::{Builder, Opcode, Value};
use llvm_sys::core::*;

/// Index of a function's own attributes.
pub(super) const FUNCTION: u32 = u32::MAX;

/// A set of attributes, by LLVM's numbers.
pub struct AttributeKinds(Vec<u32>);

impl AttributeKinds {
    pub fn new(names: &[&str]) -> AttributeKinds {
        let kind = |name: &&str| unsafe {
            LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len())
        };
        AttributeKinds(names.iter().map(kind).collect())
    }
}

impl Value {
    /// Clears the flags of an instruction that make its result poison in some cases.
    pub fn clear_flags(self) {
        use Opcode::*;
        unsafe {
            match self.opcode() {
                LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMTrunc => {
                    LLVMSetNSW(self.0, 0);
                    LLVMSetNUW(self.0, 0);
                }
                LLVMUDiv | LLVMSDiv | LLVMLShr | LLVMAShr => LLVMSetExact(self.0, 0),
                LLVMZExt | LLVMUIToFP => LLVMSetNNeg(self.0, 0),
                LLVMOr => LLVMSetIsDisjoint(self.0, 0),
                LLVMICmp => LLVMSetICmpSameSign(self.0, 0),
                LLVMGetElementPtr => LLVMGEPSetNoWrapFlags(self.0, 0),
                _ => {}
            }
        }
    }

    /// True if an operation or comparison has flags of `-ffast-math`. LLVM's C API can
    /// add such flags but not clear them: see [`Builder::rebuild_float`].
    pub fn has_fast_math(self) -> bool {
        use Opcode::*;
        let floats = matches!(
            self.opcode(),
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem | LLVMFNeg | LLVMFCmp
        );
        floats && unsafe { LLVMGetFastMathFlags(self.0) != 0 }
    }

    /// Removes the metadata of an instruction, except for these kinds.
    pub fn keep_metadata(self, kinds: &[u32]) {
        let mut n = 0;
        unsafe {
            let all = LLVMInstructionGetAllMetadataOtherThanDebugLoc(self.0, &mut n);
            let found = (0..n as u32).map(|i| LLVMValueMetadataEntriesGetKind(all, i));
            for kind in found.filter(|kind| !kinds.contains(kind)) {
                LLVMSetMetadata(self.0, kind, std::ptr::null_mut());
            }
            LLVMDisposeValueMetadataEntries(all);
        }
    }

    /// Removes attributes of the function itself, not of its result or parameters.
    pub fn remove_attributes(self, kinds: &AttributeKinds) {
        for &kind in &kinds.0 {
            unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, FUNCTION, kind) }
        }
    }

    pub fn remove_text_attribute(self, name: &str) {
        unsafe {
            LLVMRemoveStringAttributeAtIndex(
                self.0,
                FUNCTION,
                name.as_ptr().cast(),
                name.len() as u32,
            );
        }
    }

    /// Removes attributes of a function's result (0) or a parameter (from 1).
    pub fn remove_attributes_at(self, index: u32, kinds: &AttributeKinds) {
        unsafe {
            if LLVMGetAttributeCountAtIndex(self.0, index) == 0 {
                return;
            }
            for &kind in &kinds.0 {
                LLVMRemoveEnumAttributeAtIndex(self.0, index, kind);
            }
        }
    }

    /// Removes attributes of a call site that describe its callee.
    pub fn remove_call_attributes(self, kinds: &AttributeKinds) {
        self.remove_call_attributes_at(FUNCTION, kinds);
    }

    /// Removes attributes of a call's result (0) or an argument (from 1).
    pub fn remove_call_attributes_at(self, index: u32, kinds: &AttributeKinds) {
        unsafe {
            if LLVMGetCallSiteAttributeCount(self.0, index) == 0 {
                return;
            }
            for &kind in &kinds.0 {
                LLVMRemoveCallSiteEnumAttribute(self.0, index, kind);
            }
        }
    }
}

impl Builder {
    /// Replaces a floating point operation or comparison by a copy without flags.
    pub fn rebuild_float(&self, i: Value) {
        let plain = unsafe {
            let (a, name) = (i.operand(0).0, c"".as_ptr());
            match i.opcode() {
                Opcode::LLVMFNeg => LLVMBuildFNeg(self.0, a, name),
                Opcode::LLVMFCmp => {
                    LLVMBuildFCmp(self.0, LLVMGetFCmpPredicate(i.0), a, i.operand(1).0, name)
                }
                op => LLVMBuildBinOp(self.0, op, a, i.operand(1).0, name),
            }
        };
        i.replace_with(Value(plain));
        i.erase();
    }
}
