//! The type of a value's label: 32 bits for a scalar, a vector of labels for a vector,
//! a structure of labels for a structure.

use crate::instrument::llvm::{Context, Module, Type, TypeKind};

/// A wider integer has no label.
const MAX_LABELLED_BITS: u32 = 128;

/// The width of a scalar that can have a label.
pub fn scalar_bits(t: Type) -> Option<u32> {
    match t.kind() {
        TypeKind::LLVMIntegerTypeKind => t.int_width().filter(|&w| w <= MAX_LABELLED_BITS),
        TypeKind::LLVMPointerTypeKind => Some(64),
        TypeKind::LLVMFloatTypeKind => Some(32),
        TypeKind::LLVMDoubleTypeKind => Some(64),
        _ => None,
    }
}

pub fn is_float(t: Type) -> bool {
    matches!(t.kind(), TypeKind::LLVMFloatTypeKind | TypeKind::LLVMDoubleTypeKind)
}

/// The type of the label of a value of type `t`; `None` if such a value has no label.
pub fn label_type(ctx: &Context, t: Type) -> Option<Type> {
    if scalar_bits(t).is_some() {
        return Some(ctx.int(32));
    }
    match t.kind() {
        TypeKind::LLVMVectorTypeKind => {
            scalar_bits(t.element()).map(|_| ctx.int(32).vector(t.vector_len()))
        }
        TypeKind::LLVMArrayTypeKind if t.array_len() <= 64 => {
            Some(label_type(ctx, t.element())?.array(t.array_len()))
        }
        TypeKind::LLVMStructTypeKind => {
            let fields: Option<Vec<Type>> =
                t.fields().iter().map(|&f| label_type(ctx, f)).collect();
            Some(ctx.structure(&fields.filter(|f| !f.is_empty())?))
        }
        _ => None,
    }
}

/// A scalar inside a value: the path to it, and its offset in memory.
#[derive(Clone)]
pub struct Leaf {
    pub path: Vec<u32>,
    pub offset: u64,
    pub bits: u32,
    /// True if the last step of the path is a vector element.
    pub in_vector: bool,
}

/// The scalars of a value, in order.
pub fn leaves(module: &Module, t: Type) -> Vec<Leaf> {
    let mut out = Vec::new();
    collect_leaves(module, t, &mut Vec::new(), 0, &mut out);
    out
}

fn collect_leaves(module: &Module, t: Type, path: &mut Vec<u32>, offset: u64, out: &mut Vec<Leaf>) {
    if let Some(bits) = scalar_bits(t) {
        out.push(Leaf { path: path.clone(), offset, bits, in_vector: false });
        return;
    }
    match t.kind() {
        TypeKind::LLVMVectorTypeKind => {
            let bits = scalar_bits(t.element()).unwrap_or(0);
            for i in 0..t.vector_len() {
                let mut path = path.clone();
                path.push(i);
                let at = offset + u64::from(i) * u64::from(bits / 8);
                out.push(Leaf { path, offset: at, bits, in_vector: true });
            }
        }
        TypeKind::LLVMArrayTypeKind => {
            let size = module.size_of(t.element());
            for i in 0..t.array_len() {
                path.push(i as u32);
                collect_leaves(module, t.element(), path, offset + i * size, out);
                path.pop();
            }
        }
        TypeKind::LLVMStructTypeKind => {
            for (i, f) in t.fields().into_iter().enumerate() {
                path.push(i as u32);
                collect_leaves(module, f, path, offset + module.field_offset(t, i as u32), out);
                path.pop();
            }
        }
        _ => {}
    }
}
