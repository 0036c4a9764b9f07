//! Reads debug information: the types of functions and variables.
//!
//! LLVM's C API gives a node's kind, tag, size and offset, and its operands without
//! names. The order of operands has changed between versions, so they are found by
//! their kind where possible.

use super::{Context, Module, Value, text};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use std::ffi::CStr;

/// A node of debug information.
#[derive(Clone, Copy)]
pub struct Debug<'a> {
    node: LLVMMetadataRef,
    ctx: &'a Context,
}

/// The kind of a type, without typedefs and qualifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Integer {
        signed: bool,
    },
    Enumeration,
    Pointer,
    /// A structure, class or union.
    Structure,
    Other,
}

const TAG_ENUMERATION: u16 = 0x04;
const TAG_MEMBER: u16 = 0x0d;
const TAG_POINTERS: [u16; 3] = [0x0f, 0x10, 0x42];
const TAG_STRUCTURES: [u16; 3] = [0x02, 0x13, 0x17];
/// Typedef, const, volatile, restrict, atomic.
const TAG_QUALIFIERS: [u16; 5] = [0x16, 0x26, 0x35, 0x37, 0x47];
const TAG_INHERITANCE: u16 = 0x1c;
/// Index of the name: in every node that has them, the first operands are file, scope
/// and name.
const NAME_OPERAND: usize = 2;

impl<'a> Debug<'a> {
    /// The node of a function.
    pub fn of_function(ctx: &'a Context, f: Value) -> Option<Debug<'a>> {
        // Safety: a function of a live module.
        let node = unsafe { LLVMGetSubprogram(f.0) };
        (!node.is_null()).then_some(Debug { node, ctx })
    }

    /// The type of a global variable.
    pub fn of_global(ctx: &'a Context, g: Value) -> Option<Debug<'a>> {
        let node = g.metadata_nodes(ctx.metadata_kind("dbg")).into_iter().next()?;
        let expression = Debug { node, ctx };
        // The expression contains the variable, and the variable contains its type.
        expression.operands().into_iter().flatten().find_map(Debug::inner_type)
    }

    /// The enumerations that a module uses.
    pub fn enumerations(ctx: &'a Context, module: &Module) -> Vec<Debug<'a>> {
        let units = module.named_metadata("llvm.dbg.cu");
        let lists = units.into_iter().flat_map(|v| Debug::of_value(ctx, v).operands()).flatten();
        let listed = lists.filter(|l| l.is(LLVMMetadataKind::LLVMMDTupleMetadataKind));
        listed
            .flat_map(Debug::operands)
            .flatten()
            .filter(|t| t.is_type() && t.shape() == Shape::Enumeration)
            .collect()
    }

    fn of_value(ctx: &'a Context, v: Value) -> Debug<'a> {
        // Safety: a value that represents a node.
        Debug { node: unsafe { LLVMValueAsMetadata(v.0) }, ctx }
    }

    /// A function's name in the source.
    pub fn name(self) -> String {
        self.operands().get(NAME_OPERAND).copied().flatten().map(Debug::string).unwrap_or_default()
    }

    /// The types of a function's result (`None`: void) and arguments. If the debug
    /// information has no types, there is neither.
    pub fn signature(self) -> Option<(Option<Debug<'a>>, Vec<Option<Debug<'a>>>)> {
        use LLVMMetadataKind::*;
        let parts = |node: Debug<'a>| node.operands().into_iter().flatten();
        let of_function = parts(self).find(|o| o.is(LLVMDISubroutineTypeMetadataKind))?;
        let types = parts(of_function).find(|o| o.is(LLVMMDTupleMetadataKind))?;
        let mut types = types.operands().into_iter();
        let result = types.next().flatten();
        Some((result, types.collect()))
    }

    /// The kind of a type.
    pub fn shape(self) -> Shape {
        let plain = self.unqualified();
        match plain.tag() {
            TAG_ENUMERATION => Shape::Enumeration,
            tag if TAG_POINTERS.contains(&tag) => Shape::Pointer,
            tag if TAG_STRUCTURES.contains(&tag) => Shape::Structure,
            _ if plain.is(LLVMMetadataKind::LLVMDIBasicTypeMetadataKind) => {
                let name = plain.type_name();
                match name.contains("float") || name.contains("double") {
                    true => Shape::Other,
                    false => Shape::Integer { signed: !is_unsigned(&name) },
                }
            }
            _ => Shape::Other,
        }
    }

    /// The size of a type in bits.
    pub fn bits(self) -> u64 {
        // Safety: a node of a type.
        unsafe { LLVMDITypeGetSizeInBits(self.unqualified().node) }
    }

    /// The type that a pointer points to.
    pub fn target(self) -> Option<Debug<'a>> {
        self.unqualified().inner_type()
    }

    /// A member of a structure, or of its unnamed members and base classes: its offset in
    /// bytes, and its type.
    pub fn member(self, name: &str) -> Option<(u64, Debug<'a>)> {
        let plain = self.unqualified();
        let lists = plain.operands().into_iter().skip(NAME_OPERAND + 1).flatten();
        let elements = lists
            .filter(|l| l.is(LLVMMetadataKind::LLVMMDTupleMetadataKind))
            .flat_map(Debug::operands)
            .flatten();
        for e in elements.filter(|e| e.is_type()) {
            // Safety: a node of a type.
            let bits = unsafe { LLVMDITypeGetOffsetInBits(e.node) };
            let (offset, member_name) = (bits / 8, e.type_name());
            match e.tag() {
                TAG_MEMBER if member_name == name && bits % 8 == 0 => {
                    return Some((offset, e.inner_type()?));
                }
                TAG_MEMBER | TAG_INHERITANCE if member_name.is_empty() => {
                    if let Some((inner_offset, t)) = e.inner_type()?.member(name) {
                        return Some((offset + inner_offset, t));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The names and numbers of an enumeration.
    pub fn enumerators(self) -> Vec<(i64, String)> {
        let plain = self.unqualified();
        let lists = plain.operands().into_iter().skip(NAME_OPERAND + 1).flatten();
        lists
            .filter(|l| l.is(LLVMMetadataKind::LLVMMDTupleMetadataKind))
            .flat_map(Debug::operands)
            .flatten()
            .filter(|e| e.is(LLVMMetadataKind::LLVMDIEnumeratorMetadataKind))
            .filter_map(|e| {
                let name = e.operands().into_iter().flatten().next()?.string();
                Some((e.enumerator_value()?, name))
            })
            .collect()
    }

    /// An enumerator's number. The C API shows it only in the node's text.
    fn enumerator_value(self) -> Option<i64> {
        // Safety: the message is ours to free.
        let line = unsafe {
            let v = LLVMMetadataAsValue(self.ctx.raw(), self.node);
            let line = LLVMPrintValueToString(v);
            let text = CStr::from_ptr(line).to_string_lossy().into_owned();
            LLVMDisposeMessage(line);
            text
        };
        let (_, number) = line.rsplit_once("value: ")?;
        let end = number.find(|c: char| c != '-' && !c.is_ascii_digit())?;
        number[..end].parse().ok()
    }

    pub fn type_name(self) -> String {
        let mut n = 0;
        // Safety: a node of a type.
        unsafe { text(LLVMDITypeGetName(self.node, &mut n), n) }
    }

    /// Without typedefs and qualifiers.
    fn unqualified(self) -> Debug<'a> {
        let mut at = self;
        for _ in 0..64 {
            match at.inner_type() {
                Some(inner) if TAG_QUALIFIERS.contains(&at.tag()) => at = inner,
                _ => break,
            }
        }
        at
    }

    /// The type that a typedef, pointer, member or variable refers to.
    fn inner_type(self) -> Option<Debug<'a>> {
        self.operands().into_iter().skip(NAME_OPERAND + 1).flatten().find(|o| o.is_type())
    }

    fn is_type(self) -> bool {
        use LLVMMetadataKind::*;
        matches!(
            self.kind(),
            LLVMDIBasicTypeMetadataKind
                | LLVMDIDerivedTypeMetadataKind
                | LLVMDICompositeTypeMetadataKind
                | LLVMDISubroutineTypeMetadataKind
        )
    }

    fn is(self, kind: LLVMMetadataKind) -> bool {
        self.kind() as u32 == kind as u32
    }

    fn kind(self) -> LLVMMetadataKind {
        // Safety: a live node.
        unsafe { LLVMGetMetadataKind(self.node) }
    }

    fn tag(self) -> u16 {
        // Safety: a live node; a node that is not debug information has the tag 0.
        unsafe { LLVMGetDINodeTag(self.node) }
    }

    fn string(self) -> String {
        // Safety: a live node; for a node that is not a string the result is null.
        unsafe {
            let v = LLVMMetadataAsValue(self.ctx.raw(), self.node);
            let mut n = 0;
            let p = LLVMGetMDString(v, &mut n);
            if p.is_null() { String::new() } else { text(p, n as usize) }
        }
    }

    fn operands(self) -> Vec<Option<Debug<'a>>> {
        use LLVMMetadataKind::*;
        if matches!(self.kind(), LLVMMDStringMetadataKind | LLVMConstantAsMetadataMetadataKind) {
            return Vec::new();
        }
        // Safety: a live node, and room for all its operands.
        let all = unsafe {
            let v = LLVMMetadataAsValue(self.ctx.raw(), self.node);
            let mut all = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(v) as usize];
            LLVMGetMDNodeOperands(v, all.as_mut_ptr());
            all
        };
        all.into_iter()
            .map(|o| (!o.is_null()).then(|| Debug::of_value(self.ctx, Value(o))))
            .collect()
    }
}

/// The C API does not give the sign of a type, but the names of basic types contain it.
fn is_unsigned(name: &str) -> bool {
    name.starts_with("unsigned") || ["bool", "_Bool", "char8_t", "char16_t"].contains(&name)
}
