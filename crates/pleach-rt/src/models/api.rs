//! The interface for models: values with their labels, decisions, labels of memory.
//!
//! A [`V`] computes concretely and, if an operand has a label, also builds the expression.
//! So a model reads like the C function, and costs little where nothing is labelled.

use crate::symbolic::tls::{set_result, take_arguments, tls};
use crate::symbolic::{arena, events, ops, shadow};
use pleach_abi::event::Kind;
use pleach_abi::node::Op;

pub use crate::symbolic::shadow::{clear, copy, is_clean, next_labelled};

/// The labels of the first `N` arguments of a model. A model calls this once, at its start.
pub fn enter<const N: usize>(model: usize) -> [u32; N] {
    take_arguments(model)
}

/// Leaves the label of a result of at most 64 bits for the caller, and returns its value.
pub fn leave(model: usize, v: V) -> u64 {
    set_result(model, v.label);
    v.val
}

/// A value of up to 64 bits with its label.
#[derive(Clone, Copy, Debug)]
pub struct V {
    pub label: u32,
    pub width: u32,
    pub val: u64,
}

impl V {
    pub const fn new(width: u32, val: u64) -> V {
        V { label: 0, width, val: if width >= 64 { val } else { val & ((1 << width) - 1) } }
    }

    /// A value with its label, such as an argument.
    pub const fn arg(label: u32, width: u32, val: u64) -> V {
        V { label, ..V::new(width, val) }
    }

    /// The value in memory, little endian; `width` is at most 64. A byte that a longer input
    /// would have filled is concrete, and a decision records that the input ends before it.
    pub fn load(addr: u64, width: u32) -> V {
        let label = if is_clean(addr, (width / 8).into()) { 0 } else { shadow::load(addr, width) };
        let mut val = 0u64;
        for i in 0..width / 8 {
            // Safety: the C function reads these bytes, too.
            val |= u64::from(unsafe { *((addr + u64::from(i)) as *const u8) }) << (8 * i);
        }
        V { label, width, val }
    }

    /// One byte of memory.
    pub fn byte(addr: u64) -> V {
        V::load(addr, 8)
    }

    /// Writes the value and its label to memory.
    pub fn store(self, addr: u64) {
        for i in 0..self.width / 8 {
            // Safety: the C function writes these bytes, too.
            unsafe { *((addr + u64::from(i)) as *mut u8) = (self.val >> (8 * i)) as u8 };
        }
        self.store_label(addr);
    }

    /// Writes only the label: the bytes are already there.
    pub fn store_label(self, addr: u64) {
        shadow::store(addr, self.label, self.width);
    }

    fn signed(self) -> i64 {
        let up = 64 - self.width;
        ((self.val << up) as i64) >> up
    }

    fn binary(self, op: Op, width: u32, o: V, val: u64) -> V {
        let mut r = V::new(width, val);
        if self.label | o.label != 0 {
            let imm = if self.label == 0 { self.val } else { o.val };
            r.label = arena::binary(op, width, self.label, o.label, imm, val);
        }
        r
    }

    fn compare(self, op: Op, o: V, holds: bool) -> V {
        self.binary(op, 1, o, holds.into())
    }

    pub fn add(self, o: V) -> V {
        self.binary(Op::Add, self.width, o, self.val.wrapping_add(o.val))
    }
    pub fn sub(self, o: V) -> V {
        self.binary(Op::Sub, self.width, o, self.val.wrapping_sub(o.val))
    }
    /// `self + n`. For 0 it adds no node.
    pub fn add_constant(self, n: u64) -> V {
        if n == 0 { self } else { self.add(V::new(self.width, n)) }
    }
    /// `self - n`. For 0, as with most reads, it adds no node.
    pub fn sub_constant(self, n: u64) -> V {
        if n == 0 { self } else { self.sub(V::new(self.width, n)) }
    }
    pub fn mul(self, o: V) -> V {
        self.binary(Op::Mul, self.width, o, self.val.wrapping_mul(o.val))
    }
    pub fn and(self, o: V) -> V {
        self.binary(Op::And, self.width, o, self.val & o.val)
    }
    pub fn or(self, o: V) -> V {
        self.binary(Op::Or, self.width, o, self.val | o.val)
    }
    pub fn xor(self, o: V) -> V {
        self.binary(Op::Xor, self.width, o, self.val ^ o.val)
    }
    /// `self >> n`, with zeros from the left.
    pub fn shift_right(self, n: u32) -> V {
        self.binary(Op::LShr, self.width, V::new(self.width, n.into()), self.val >> n)
    }
    /// The quotient of unsigned numbers; `o` is not 0.
    pub fn quotient(self, o: V) -> V {
        self.binary(Op::UDiv, self.width, o, self.val / o.val.max(1))
    }
    /// The remainder of unsigned numbers; `o` is not 0.
    pub fn remainder(self, o: V) -> V {
        self.binary(Op::URem, self.width, o, self.val % o.val.max(1))
    }
    pub fn eq(self, o: V) -> V {
        self.compare(Op::Eq, o, self.val == o.val)
    }
    pub fn ne(self, o: V) -> V {
        self.compare(Op::Ne, o, self.val != o.val)
    }
    pub fn ult(self, o: V) -> V {
        self.compare(Op::Ult, o, self.val < o.val)
    }
    pub fn ule(self, o: V) -> V {
        self.compare(Op::Ule, o, self.val <= o.val)
    }
    pub fn slt(self, o: V) -> V {
        self.compare(Op::Slt, o, self.signed() < o.signed())
    }
    pub fn sle(self, o: V) -> V {
        self.compare(Op::Sle, o, self.signed() <= o.signed())
    }

    pub fn zext(self, width: u32) -> V {
        self.cast(Op::ZExt, width, self.val)
    }
    pub fn sext(self, width: u32) -> V {
        self.cast(Op::SExt, width, self.signed() as u64)
    }
    pub fn trunc(self, width: u32) -> V {
        self.cast(Op::Trunc, width, self.val)
    }

    fn cast(self, op: Op, width: u32, val: u64) -> V {
        if width == self.width {
            return self;
        }
        let mut r = V::new(width, val);
        if self.label != 0 {
            r.label = arena::cast(op, self.label, width, val);
        }
        r
    }

    /// `self ? a : b` as an expression: no decision is recorded.
    pub fn choose(self, a: V, b: V) -> V {
        let taken = if self.val != 0 { a } else { b };
        if self.label == 0 {
            return taken;
        }
        let label = ops::ite(a.width, self.label, a.label, b.label, a.val, b.val);
        V { label, ..taken }
    }

    /// Records the decision of a model on a 1-bit value, and returns its outcome.
    pub fn decide(self) -> bool {
        if self.label != 0 {
            events::decide(tls().site, self.label, Kind::Model, self.val != 0, 0);
        }
        self.val != 0
    }

    /// Pins a value (a size, a base, a pointer): the rest of the trace holds for this
    /// value only.
    pub fn pin(self) -> u64 {
        if self.label != 0 {
            crate::symbolic::objects::pin(tls().site, self.label, self.val);
        }
        self.val
    }

    /// Records a check: a condition that holds if the program is right, but that no branch
    /// of the program tests. `size` is that of the object, in bytes.
    pub fn check(self, kind: Kind, size: u64) {
        if self.label != 0 {
            let aux = size.min(u32::MAX.into()) as u32;
            events::decide(tls().site, self.label, kind, self.val != 0, aux);
        }
    }
}
