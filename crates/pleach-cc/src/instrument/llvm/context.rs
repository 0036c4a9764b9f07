//! Contexts: make types and constants, and read IR. Also the target machine.

use super::{Attribute, Block, Builder, Module, Type, Value, c_string};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::ffi::CStr;
use std::path::Path;

pub struct Context(LLVMContextRef);

impl Context {
    pub fn create() -> Context {
        Context(unsafe { LLVMContextCreate() })
    }

    pub(super) fn raw(&self) -> LLVMContextRef {
        self.0
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
        Value(unsafe { LLVMConstStringInContext2(self.0, bytes.as_ptr().cast(), bytes.len(), 1) })
    }

    pub fn constant_struct(&self, fields: &[Value]) -> Value {
        let mut f: Vec<_> = fields.iter().map(|v| v.0).collect();
        Value(unsafe { LLVMConstStructInContext(self.0, f.as_mut_ptr(), f.len() as u32, 0) })
    }

    pub fn builder(&self) -> Builder {
        Builder::new(unsafe { LLVMCreateBuilderInContext(self.0) })
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

    /// An attribute with a name and a value as text.
    pub fn text_attribute(&self, name: &str, value: &str) -> Attribute {
        let size = |text: &str| text.len() as u32;
        Attribute(unsafe {
            LLVMCreateStringAttribute(
                self.0,
                name.as_ptr().cast(),
                size(name),
                value.as_ptr().cast(),
                size(value),
            )
        })
    }

    pub fn read_bitcode(&self, path: &Path) -> Result<Module, String> {
        let path = c_string(&path.to_string_lossy());
        let (mut buffer, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
        unsafe {
            if LLVMCreateMemoryBufferWithContentsOfFile(path.as_ptr(), &mut buffer, &mut message)
                != 0
            {
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

    /// Parses bitcode or text, and frees the buffer.
    unsafe fn parse(&self, buffer: LLVMMemoryBufferRef) -> Result<Module, String> {
        let (mut message, mut module) = (std::ptr::null_mut(), std::ptr::null_mut());
        unsafe {
            let bad = llvm_sys::ir_reader::LLVMParseIRInContext2(
                self.0,
                buffer,
                &mut module,
                &mut message,
            );
            LLVMDisposeMemoryBuffer(buffer);
            if bad != 0 {
                return Err(take_message(message));
            }
        }
        Ok(Module::new(module))
    }

    /// A list of one scope, for `!alias.scope` and `!noalias`. Scopes with the same name
    /// are the same scope, in every module.
    pub fn alias_scope(&self, domain: &str, name: &str) -> Value {
        unsafe {
            let text = |t: &str| LLVMMDStringInContext2(self.0, t.as_ptr().cast(), t.len());
            let node = |parts: &mut [LLVMMetadataRef]| {
                LLVMMDNodeInContext2(self.0, parts.as_mut_ptr(), parts.len())
            };
            let domain = node(&mut [text(domain)]);
            let scope = node(&mut [text(name), domain]);
            Value(LLVMMetadataAsValue(self.0, node(&mut [scope])))
        }
    }

    /// `!{}`, the value of marks such as `!nosanitize`.
    pub fn empty_metadata(&self) -> Value {
        unsafe {
            let node = LLVMMDNodeInContext2(self.0, std::ptr::null_mut(), 0);
            Value(LLVMMetadataAsValue(self.0, node))
        }
    }

    /// `1 << bit`, at any width.
    pub fn power_of_two(&self, width: u32, bit: u32) -> Value {
        let words: Vec<u64> = (0..width.div_ceil(64))
            .map(|w| if bit / 64 == w { 1 << (bit % 64) } else { 0 })
            .collect();
        let t = self.int(width);
        Value(unsafe { LLVMConstIntOfArbitraryPrecision(t.0, words.len() as u32, words.as_ptr()) })
    }
}

pub fn take_message(message: *mut libc::c_char) -> String {
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// What the optimiser may assume about the machine. It is not told that the code will
/// be position independent: it would make tables of relative addresses, and a
/// labelled index into such a table is lost.
pub struct TargetMachine(pub(super) llvm_sys::target_machine::LLVMTargetMachineRef);

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
                LLVMRelocMode::LLVMRelocStatic,
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
