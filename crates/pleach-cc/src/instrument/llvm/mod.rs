//! A thin wrapper of LLVM's C API with short names and types.
//!
//! All values belong to one [`Context`] that outlives them: a compilation creates a
//! context, works on its modules and ends. Every `unsafe` block below relies on
//! this, and on LLVM's rule that a reference stays valid until its object is erased.
//! The passes erase only objects that they no longer refer to.

mod builder;
mod context;
mod debug;
mod module;
mod promises;
mod value;

use llvm_sys::prelude::*;
use std::ffi::CString;

pub use builder::Builder;
pub use context::{Context, TargetMachine};
pub use debug::{Debug, Shape};
pub use llvm_sys::LLVMIntPredicate as IntPredicate;
pub use llvm_sys::LLVMLinkage as Linkage;
pub use llvm_sys::LLVMOpcode as Opcode;
pub use llvm_sys::LLVMRealPredicate as RealPredicate;
pub use llvm_sys::LLVMTypeKind as TypeKind;
pub use module::Module;
pub use promises::AttributeKinds;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub LLVMValueRef);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type(pub LLVMTypeRef);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block(pub LLVMBasicBlockRef);
#[derive(Clone, Copy)]
pub struct Attribute(pub LLVMAttributeRef);

pub fn c_string(s: &str) -> CString {
    CString::new(s.replace('\0', "")).unwrap_or_default()
}

fn text(p: *const libc::c_char, n: usize) -> String {
    if p.is_null() {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(p.cast::<u8>(), n) };
    String::from_utf8_lossy(bytes).into_owned()
}
