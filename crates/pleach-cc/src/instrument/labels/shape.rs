//! What the label of a value looks like: 32 bits for a scalar, a vector of
//! them for a vector, a structure of them for a structure.

use crate::instrument::llvm::{Context, Module, Type, TypeKind};

/// The widest value that has a label, in bits.
pub const WIDEST: u32 = 128;

/// Bits of a scalar that can have a label.
pub fn scalar_bits(t: Type) -> Option<u32> {
    match t.kind() {
        TypeKind::LLVMIntegerTypeKind => t.int_width().filter(|&w| w <= WIDEST),
        TypeKind::LLVMPointerTypeKind => Some(64),
        TypeKind::LLVMFloatTypeKind => Some(32),
        TypeKind::LLVMDoubleTypeKind => Some(64),
        _ => None,
    }
}

pub fn is_float(t: Type) -> bool {
    matches!(t.kind(), TypeKind::LLVMFloatTypeKind | TypeKind::LLVMDoubleTypeKind)
}

/// The type of the labels of a value of type `t`; `None`: it never has any.
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

/// A scalar inside a value: the path to it and where it lies in memory.
#[derive(Clone)]
pub struct Leaf {
    pub path: Vec<u32>,
    pub offset: u64,
    pub bits: u32,
    /// The last step of the path is a vector element.
    pub in_vector: bool,
}

/// The scalars of a value, in order.
pub fn leaves(module: &Module, t: Type) -> Vec<Leaf> {
    let mut out = Vec::new();
    collect(module, t, &mut Vec::new(), 0, &mut out);
    out
}

fn collect(module: &Module, t: Type, path: &mut Vec<u32>, offset: u64, out: &mut Vec<Leaf>) {
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
                collect(module, t.element(), path, offset + i * size, out);
                path.pop();
            }
        }
        TypeKind::LLVMStructTypeKind => {
            for (i, f) in t.fields().into_iter().enumerate() {
                path.push(i as u32);
                collect(module, f, path, offset + module.field_offset(t, i as u32), out);
                path.pop();
            }
        }
        _ => {}
    }
}
