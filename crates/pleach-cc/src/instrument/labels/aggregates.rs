//! Labels of vectors and structures: taking them apart and putting them together.

use super::emit::Emitter;
use super::shape::{label_type, scalar_bits};
use crate::instrument::llvm::{Type, TypeKind, Value};
use pleach_abi::shm::Loss;

impl Emitter<'_> {
    /// Inserts a scalar's label into the label of a whole value.
    pub fn put_leaf(&mut self, whole: Value, part: Value, path: &[u32], in_vector: bool) -> Value {
        match path {
            [] => part,
            [n] if in_vector => self.builder.insert_element(whole, part, self.const32(*n)),
            [n, rest @ ..] => {
                let inner = self.builder.extract_value(whole, *n);
                let inner = self.put_leaf(inner, part, rest, in_vector);
                self.builder.insert_value(whole, inner, *n)
            }
        }
    }

    /// Extracts a scalar's label from the label of a whole value.
    pub fn get_leaf(&mut self, whole: Value, path: &[u32], in_vector: bool) -> Value {
        match path {
            [] => whole,
            _ if whole.is_null() => self.zero(),
            [n] if in_vector => self.builder.extract_element(whole, self.const32(*n)),
            [n, rest @ ..] => {
                let inner = self.builder.extract_value(whole, *n);
                self.get_leaf(inner, rest, in_vector)
            }
        }
    }

    pub(super) fn shuffle(&mut self, i: Value) -> Value {
        let (a, b) = (self.label(i.operand(0)), self.label(i.operand(1)));
        let t = self.ctx.int(32);
        let mask: Vec<Value> = i
            .mask()
            .into_iter()
            .map(|n| if n < 0 { self.const32(0) } else { self.const32(n as u32) })
            .collect();
        let mask = t.constant_vector(&mask);
        self.builder.shuffle(a, b, mask)
    }

    /// A cast between scalars keeps the label. A cast between a vector and a scalar joins
    /// or splits it.
    pub(super) fn bitcast(&mut self, i: Value) -> Value {
        let (from, to) = (i.operand(0), i);
        let label = self.label(from);
        let zero = label_type(self.ctx, to.ty()).map_or(self.zero(), Type::null);
        match (scalar_bits(from.ty()), scalar_bits(to.ty())) {
            (Some(_), Some(_)) => label,
            (None, Some(bits)) if bits <= 64 => self.join_elements(from, label),
            (Some(bits), None) if bits <= 128 => self.split_elements(label, to.ty(), zero),
            _ => {
                let whole = self.elements(label);
                self.count_loss(&whole, Loss::Shape);
                zero
            }
        }
    }

    fn elements(&mut self, label: Value) -> Vec<Value> {
        if label.ty() == self.ctx.int(32) {
            return vec![label];
        }
        if label.is_null() || label.ty().kind() != TypeKind::LLVMVectorTypeKind {
            return vec![];
        }
        (0..label.ty().vector_len())
            .map(|n| self.builder.extract_element(label, self.const32(n)))
            .collect()
    }

    fn join_elements(&mut self, from: Value, label: Value) -> Value {
        let parts = self.elements(label);
        let Some(room) = self.scratch.filter(|_| parts.len() <= 16) else { return self.zero() };
        self.if_any(&parts.clone(), |e| {
            for (n, &l) in parts.iter().enumerate() {
                let v = e.builder.extract_element(from, e.const32(n as u32));
                e.store_operand(room, n as u64, v, l);
            }
            let n = e.const32(parts.len() as u32);
            e.builder.call(e.rt.concat, &[n, room])
        })
    }

    fn split_elements(&mut self, label: Value, to: Type, zero: Value) -> Value {
        let (n, bits) = (to.vector_len(), scalar_bits(to.element()).unwrap_or(8));
        if label.is_null() {
            return zero;
        }
        let set = self.builder.is_set(label);
        self.guarded(set, &[zero], |e| {
            let mut whole = zero;
            for k in 0..n {
                let l =
                    e.builder.call(e.rt.extract, &[label, e.const32(k * bits), e.const32(bits)]);
                whole = e.builder.insert_element(whole, l, e.const32(k));
            }
            vec![whole]
        })[0]
    }
}
