//! Emits the runtime calls that make the node of one operation. They are in cold
//! blocks, which run only if some label is not 0. The runtime returns 0 if none of the
//! operation's own operands is labelled.

use super::emit::Emitter;
use super::float;
use super::intrinsics::{self, Intrinsic};
use super::shape::scalar_bits;
use crate::instrument::llvm::{IntPredicate, Opcode, TypeKind, Value};
use pleach_abi::node::Op;

/// A value and its label.
pub type Labelled = (Value, Value);

pub fn width(v: Value) -> u32 {
    scalar_bits(v.ty()).unwrap_or(64)
}

impl Emitter<'_> {
    /// True if the label of an operation can stay pending: operands and result are
    /// scalars.
    pub fn can_be_pending(&self, i: Value) -> bool {
        use Opcode::*;
        if scalar_bits(i.ty()).is_none() {
            return false;
        }
        match i.opcode() {
            LLVMZExt | LLVMSExt | LLVMTrunc | LLVMPtrToInt | LLVMPtrToAddr | LLVMIntToPtr
            | LLVMICmp | LLVMFreeze => scalar_bits(i.operand(0).ty()).is_some(),
            LLVMBitCast => scalar_bits(i.operand(0).ty()).is_some(),
            LLVMSelect => i.operand(0).ty().int_width() == Some(1),
            LLVMGetElementPtr => true,
            LLVMCall => intrinsics::of_call(i).is_some(),
            op => binary_op(op).is_some() || float::has_node(i),
        }
    }

    /// Makes the node of a pending operation and returns its label.
    pub fn emit_node(&mut self, i: Value) -> Value {
        use Opcode::*;
        let with = |e: &Self, n: u32| (i.operand(n), e.cold_label(i.operand(n)));
        match i.opcode() {
            LLVMICmp => {
                let (op, swap) = comparison_op(i.predicate());
                let (a, b) = (with(self, 0), with(self, 1));
                if swap { self.binary_node(op, b, a, i) } else { self.binary_node(op, a, b, i) }
            }
            LLVMZExt => self.unary_node(Op::ZExt, with(self, 0), i),
            LLVMSExt => self.unary_node(Op::SExt, with(self, 0), i),
            LLVMTrunc => self.unary_node(Op::Trunc, with(self, 0), i),
            LLVMPtrToInt | LLVMPtrToAddr | LLVMIntToPtr => self.resize_node(with(self, 0), i),
            LLVMFreeze | LLVMBitCast => self.cold_label(i.operand(0)),
            LLVMSelect => self.ite_node(with(self, 0), with(self, 1), with(self, 2), i),
            LLVMGetElementPtr => self.address_node(i),
            LLVMCall => match intrinsics::of_call(i) {
                Some(Intrinsic::Same) => self.cold_label(i.operand(0)),
                Some(which) => self.intrinsic_node(i, which),
                None => self.zero(),
            },
            op => match binary_op(op) {
                Some(op) => self.binary_node(op, with(self, 0), with(self, 1), i),
                None if float::has_node(i) => self.float_node(i),
                None => self.zero(),
            },
        }
    }

    pub fn binary_node(
        &mut self,
        op: Op,
        (a, la): Labelled,
        (b, lb): Labelled,
        result: Value,
    ) -> Value {
        if la.is_null() && lb.is_null() {
            return self.zero();
        }
        if width(a) > 64 || width(result) > 64 {
            return self.general_node(op, &[(a, la), (b, lb)], result);
        }
        let imm = match (la.is_null(), lb.is_null()) {
            (_, true) => self.bits64(b),
            (true, false) => self.bits64(a),
            (false, false) => {
                let concrete = self.builder.compare(IntPredicate::LLVMIntEQ, la, la.ty().null());
                let (wa, wb) = (self.bits64(a), self.bits64(b));
                self.builder.select(concrete, wa, wb)
            }
        };
        let desc = self.const32(op as u32 | width(result) << 8);
        let val = self.bits64(result);
        let entry = if op.touches_float() { self.rt.float } else { self.rt.bin };
        self.builder.call(entry, &[desc, la, lb, imm, val])
    }

    pub fn unary_node(&mut self, op: Op, (a, la): Labelled, result: Value) -> Value {
        if la.is_null() {
            return la;
        }
        if width(a) > 64 || width(result) > 64 {
            return self.general_node(op, &[(a, la)], result);
        }
        let desc = self.const32(op as u32 | width(result) << 8);
        let val = self.bits64(result);
        if op.touches_float() {
            let (none, no_value) = (self.zero(), self.const64(0));
            return self.builder.call(self.rt.float, &[desc, la, none, no_value, val]);
        }
        self.builder.call(self.rt.un, &[desc, la, val])
    }

    /// A cast between pointers and integers of any width.
    fn resize_node(&mut self, from: Labelled, to: Value) -> Value {
        match width(from.0).cmp(&width(to)) {
            std::cmp::Ordering::Equal => from.1,
            std::cmp::Ordering::Less => self.unary_node(Op::ZExt, from, to),
            std::cmp::Ordering::Greater => self.unary_node(Op::Trunc, from, to),
        }
    }

    /// `c ? a : b`. The runtime also gets the value of the condition.
    pub fn ite_node(&mut self, c: Labelled, a: Labelled, b: Labelled, result: Value) -> Value {
        if c.1.is_null() {
            return self.builder.select(c.0, a.1, b.1);
        }
        if width(result) > 64 {
            return self.general_node(Op::Ite, &[c, a, b], result);
        }
        let bit = self.builder.cast(Opcode::LLVMZExt, c.0, self.ctx.int(32));
        let bit = self.builder.op(Opcode::LLVMShl, bit, self.const32(8));
        let desc = self.builder.or(bit, self.const32(width(result)));
        let (va, vb) = (self.bits64(a.0), self.bits64(b.0));
        self.builder.call(self.rt.ite, &[desc, c.1, a.1, b.1, va, vb])
    }

    /// An operation that passes its operands in memory, because it has three or they are
    /// wider than 64 bits.
    pub fn general_node(&mut self, op: Op, operands: &[Labelled], result: Value) -> Value {
        let Some(room) = self.scratch else { return self.zero() };
        for (n, &(v, l)) in operands.iter().enumerate() {
            self.store_operand(room, n as u64, v, l);
        }
        let zero = self.zero();
        self.store_operand(room, operands.len() as u64, result, zero);
        let (op, n) = (self.const32(op as u32), self.const32(operands.len() as u32));
        self.builder.call(self.rt.general, &[op, n, room])
    }

    /// Writes operand `n`, in the layout of the runtime's `Operand`.
    pub fn store_operand(&mut self, room: Value, n: u64, v: Value, label: Value) {
        const SIZE: u64 = 24;
        let at = |e: &Self, o: u64| e.builder.offset(e.ctx, room, e.const64(n * SIZE + o));
        self.builder.store(label, at(self, 0));
        self.builder.store(self.const32(width(v)), at(self, 4));
        let low = self.bits64(v);
        self.builder.store(low, at(self, 8));
        let high = match v.ty().int_width() {
            Some(w) if w > 64 => {
                let shifted = self.builder.op(Opcode::LLVMLShr, v, self.ctx.constant(w, 64));
                self.builder.cast(Opcode::LLVMTrunc, shifted, self.ctx.int(64))
            }
            _ => self.const64(0),
        };
        self.builder.store(high, at(self, 16));
    }

    /// Address arithmetic: `base + Σ index × scale + constant`.
    fn address_node(&mut self, i: Value) -> Value {
        let base = i.operand(0);
        let (steps, constant) = self.address_steps(i);
        let (mut label, mut at) = (self.cold_label(base), self.bits64(base));
        for (index, scale) in steps {
            let l = self.cold_label(index);
            let width = width(index);
            let wide = match width {
                64 => index,
                w if w < 64 => self.builder.cast(Opcode::LLVMSExt, index, self.ctx.int(64)),
                _ => self.builder.cast(Opcode::LLVMTrunc, index, self.ctx.int(64)),
            };
            let (scale, width) = (self.const64(scale), self.const32(width));
            label = self.builder.call(self.rt.gep, &[label, l, at, wide, scale, width]);
            let step = self.builder.op(Opcode::LLVMMul, wide, scale);
            at = self.builder.add(at, step);
        }
        if constant != 0 {
            let (zero, one, k) = (self.zero(), self.const64(1), self.const64(constant as u64));
            let width = self.const32(64);
            label = self.builder.call(self.rt.gep, &[label, zero, at, k, one, width]);
        }
        label
    }

    /// The variable indices of address arithmetic with their scales, and the sum of the
    /// constant offsets.
    pub fn address_steps(&self, i: Value) -> (Vec<(Value, u64)>, i64) {
        let (mut steps, mut constant) = (Vec::new(), 0i64);
        let mut t = i.source_element();
        for n in 1..i.operand_count() {
            let index = i.operand(n);
            let scale = if n == 1 {
                self.module.size_of(t)
            } else if t.kind() == TypeKind::LLVMStructTypeKind {
                let field = index.constant_int().unwrap_or(0) as u32;
                constant += self.module.field_offset(t, field) as i64;
                t = t.fields()[field as usize];
                continue;
            } else {
                t = t.element();
                self.module.size_of(t)
            };
            match index.signed_int() {
                Some(k) => constant = constant.wrapping_add(k.wrapping_mul(scale as i64)),
                None => steps.push((index, scale)),
            }
        }
        (steps, constant)
    }
}

pub fn binary_op(op: Opcode) -> Option<Op> {
    use Opcode::*;
    Some(match op {
        LLVMAdd => Op::Add,
        LLVMSub => Op::Sub,
        LLVMMul => Op::Mul,
        LLVMUDiv => Op::UDiv,
        LLVMSDiv => Op::SDiv,
        LLVMURem => Op::URem,
        LLVMSRem => Op::SRem,
        LLVMShl => Op::Shl,
        LLVMLShr => Op::LShr,
        LLVMAShr => Op::AShr,
        LLVMAnd => Op::And,
        LLVMOr => Op::Or,
        LLVMXor => Op::Xor,
        _ => return None,
    })
}

/// The operation of a comparison's node, and true if its operands are swapped.
pub fn comparison_op(p: IntPredicate) -> (Op, bool) {
    use IntPredicate::*;
    match p {
        LLVMIntEQ => (Op::Eq, false),
        LLVMIntNE => (Op::Ne, false),
        LLVMIntULT => (Op::Ult, false),
        LLVMIntULE => (Op::Ule, false),
        LLVMIntUGT => (Op::Ult, true),
        LLVMIntUGE => (Op::Ule, true),
        LLVMIntSLT => (Op::Slt, false),
        LLVMIntSLE => (Op::Sle, false),
        LLVMIntSGT => (Op::Slt, true),
        LLVMIntSGE => (Op::Sle, true),
    }
}
