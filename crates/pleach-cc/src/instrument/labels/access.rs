//! Labels of memory: loads, stores and atomics.
//!
//! Every access reads the dirty map. It calls the runtime only if the byte there is
//! set, or if the address itself is labelled. The label code comes before the access,
//! so that a check is already in the trace if the access faults.

use super::emit::Emitter;
use super::flow::{base_of, reads_constant};
use super::nodes::binary_op;
use super::shape::{label_type, leaves, scalar_bits};
use crate::instrument::llvm::{IntPredicate, Opcode, Type, Value};
use pleach_abi::layout::{DIRTY_BASE, DIRTY_SHIFT, TLS_WRITTEN};
use pleach_abi::node::Op;
use pleach_abi::section::SiteKind;

impl Emitter<'_> {
    pub fn emit_load(&mut self, i: Value) {
        let address = i.operand(0);
        if !self.labelled.contains(&i) {
            self.builder.insert(i);
            return;
        }
        let label = match scalar_bits(i.ty()) {
            Some(bits) => self.load_scalar(i, address, bits),
            None => {
                self.pin_address(i, address, self.module.store_size(i.ty()));
                self.load_parts(address, i.ty())
            }
        };
        self.set_label(i, label);
        self.builder.insert(i);
    }

    fn load_scalar(&mut self, i: Value, address: Value, bits: u32) -> Value {
        let pointer = self.address_label(address);
        let at = self.bits64(address);
        let dirty = (!reads_constant(i)).then(|| self.dirty_flag(at, u64::from(bits.div_ceil(8))));
        let mut reasons: Vec<Value> = dirty.into_iter().collect();
        reasons.push(pointer);
        let Some(any) = self.or_labels(&reasons) else { return self.zero() };
        let needed = self.builder.is_set(any);
        let site = (!pointer.is_null()).then(|| self.extra_site(i, SiteKind::Access));
        let zero = self.zero();
        self.guarded(needed, &[zero], |e| match site {
            None => vec![e.call_load(at, bits)],
            Some(site) => {
                let (base, size) = e.object_of(address);
                let (bits, size) = (e.const32(bits), e.const64(size));
                vec![e.builder.call(e.rt.load_in, &[site, pointer, at, bits, base, size])]
            }
        })[0]
    }

    /// The label of an address, without constant offsets at its end. The runtime finds
    /// the offset itself, from the address and the label's value.
    pub fn address_label(&mut self, address: Value) -> Value {
        let mut at = address;
        while at.is_instruction() && at.opcode() == Opcode::LLVMGetElementPtr {
            if !self.has_label(at) || !self.address_steps(at).0.is_empty() {
                break;
            }
            at = at.operand(0);
        }
        self.label(at)
    }

    fn call_load(&mut self, at: Value, bits: u32) -> Value {
        match bits {
            8 => self.builder.call(self.rt.load1, &[at]),
            16 => self.builder.call(self.rt.load2, &[at]),
            32 => self.builder.call(self.rt.load4, &[at]),
            64 => self.builder.call(self.rt.load8, &[at]),
            _ => self.builder.call(self.rt.loadn, &[at, self.const32(bits)]),
        }
    }

    fn call_store(&mut self, at: Value, label: Value, bits: u32) {
        match bits {
            8 => self.builder.call(self.rt.store1, &[at, label]),
            16 => self.builder.call(self.rt.store2, &[at, label]),
            32 => self.builder.call(self.rt.store4, &[at, label]),
            64 => self.builder.call(self.rt.store8, &[at, label]),
            _ => self.builder.call(self.rt.storen, &[at, label, self.const32(bits)]),
        };
    }

    /// Not 0 if a block that the access touches may contain labels. It is a number and
    /// not a bit, so that it can be or-ed with labels for one common test.
    pub fn dirty_flag(&mut self, at: Value, bytes: u64) -> Value {
        let first = self.dirty_map_byte(at);
        if bytes <= 16 {
            return first;
        }
        let end = self.builder.add(at, self.const64(bytes - 1));
        let last = self.dirty_map_byte(end);
        self.builder.or(first, last)
    }

    fn dirty_map_byte(&mut self, at: Value) -> Value {
        let block = self.builder.op(Opcode::LLVMLShr, at, self.const64(DIRTY_SHIFT.into()));
        let place = self.builder.add(block, self.const64(DIRTY_BASE));
        let place = self.builder.cast(Opcode::LLVMIntToPtr, place, self.ctx.pointer());
        let flag = self.builder.load(self.ctx.int(8), place);
        self.builder.cast(Opcode::LLVMZExt, flag, self.ctx.int(32))
    }

    fn is_dirty(&mut self, at: Value, bytes: u64) -> Value {
        let dirty = self.dirty_flag(at, bytes);
        self.builder.is_set(dirty)
    }

    /// Loads the labels of a structure or vector, scalar by scalar.
    fn load_parts(&mut self, address: Value, t: Type) -> Value {
        let Some(lt) = label_type(self.ctx, t) else { return self.zero() };
        let parts = leaves(self.module, t);
        if parts.iter().any(|p| p.bits % 8 != 0 && p.in_vector) {
            return lt.null();
        }
        let at = self.bits64(address);
        let dirty = self.is_dirty(at, self.module.store_size(t));
        self.guarded(dirty, &[lt.null()], |e| {
            let mut whole = lt.null();
            for p in &parts {
                let place = e.builder.add(at, e.const64(p.offset));
                let l = e.call_load(place, p.bits);
                whole = e.put_leaf(whole, l, &p.path, p.in_vector);
            }
            vec![whole]
        })[0]
    }

    pub fn emit_store(&mut self, i: Value) {
        let (value, address) = (i.operand(0), i.operand(1));
        match scalar_bits(value.ty()) {
            Some(bits) => self.store_scalar(i, value, address, bits),
            None => {
                let size = self.module.store_size(value.ty());
                self.pin_address(i, address, size);
                let at = self.bits64(address);
                self.store_parts(at, value, size);
            }
        }
        self.builder.insert(i);
    }

    fn store_scalar(&mut self, i: Value, value: Value, address: Value, bits: u32) {
        let pointer = self.address_label(address);
        let at = self.bits64(address);
        let mut needed = self.dirty_flag(at, u64::from(bits.div_ceil(8)));
        let mut site = None;
        if !pointer.is_null() {
            needed = self.builder.or(needed, pointer);
            site = Some(self.extra_site(i, SiteKind::Access));
        }
        self.if_labelled(&[value], Some(needed), |e| {
            let label = e.cold_label(value);
            match site {
                None => e.call_store(at, label, bits),
                Some(site) => {
                    let (base, size) = e.object_of(address);
                    // A pointer that was written to one of many places would have a label
                    // wherever it is read, and so would all that is reached through it.
                    let follow = bits <= 64 && value.ty() != e.ctx.pointer();
                    if follow {
                        let (written, place) = (e.bits64(value), e.tls(TLS_WRITTEN));
                        e.builder.store(written, place);
                    }
                    let packed = u64::from(bits) | u64::from(follow) << 8 | size << 16;
                    let packed = e.const64(packed);
                    e.builder.call(e.rt.store_in, &[site, pointer, at, label, packed, base]);
                }
            }
        });
    }

    /// Stores a label that is ready.
    fn store_label(&mut self, at: Value, label: Value, bits: u32) {
        let dirty = self.dirty_flag(at, u64::from(bits.div_ceil(8)));
        let any = if label.is_null() { dirty } else { self.builder.or(dirty, label) };
        let needed = self.builder.is_set(any);
        self.guarded(needed, &[], |e| {
            e.call_store(at, label, bits);
            vec![]
        });
    }

    fn store_parts(&mut self, at: Value, value: Value, size: u64) {
        let label = self.label(value);
        let mut any = self.dirty_flag(at, size);
        let parts = leaves(self.module, value.ty());
        let mut labels = Vec::new();
        if self.has_label(value) && parts.iter().all(|p| p.bits % 8 == 0 || !p.in_vector) {
            for p in &parts {
                labels.push(self.get_leaf(label, &p.path, p.in_vector));
            }
            if let Some(some) = self.or_labels(&labels) {
                any = self.builder.or(any, some);
            }
        }
        let needed = self.builder.is_set(any);
        self.guarded(needed, &[], |e| {
            if labels.is_empty() {
                let (zero, size) = (e.zero(), e.const64(size));
                e.builder.call(e.rt.fill, &[at, zero, size]);
            }
            for (p, &l) in parts.iter().zip(&labels) {
                let place = e.builder.add(at, e.const64(p.offset));
                e.call_store(place, l, p.bits);
            }
            vec![]
        });
    }

    /// Pins a labelled address of an access that cannot be a lookup.
    pub fn pin_address(&mut self, i: Value, address: Value, size: u64) {
        let pointer = self.address_label(address);
        if pointer.is_null() {
            return;
        }
        let at = self.bits64(address);
        let site = self.extra_site(i, SiteKind::Access);
        let set = self.builder.is_set(pointer);
        self.guarded(set, &[], |e| {
            let (base, room) = e.object_of(address);
            let (size, room) = (e.const64(size), e.const64(room));
            e.builder.call(e.rt.pin, &[site, pointer, at, size, base, room]);
            vec![]
        });
    }

    /// The pointer that an address is computed from, and the size of its object, if the
    /// pointer is the start of a variable. Otherwise the size is 0, and the object is the one
    /// that the pointer lies in.
    pub fn object_of(&mut self, address: Value) -> (Value, u64) {
        let base = base_of(address);
        let size = if base.is_instruction() && base.opcode() == Opcode::LLVMAlloca {
            let count = base.operand(0).constant_int();
            count.map_or(0, |n| n.saturating_mul(self.module.size_of(base.allocated_type())))
        } else if base.is_global_variable() && !base.is_declaration() {
            self.module.size_of(base.value_type())
        } else {
            0
        };
        let fits = size < 1 << 32;
        (self.bits64(base), if fits { size } else { 0 })
    }

    /// Read-modify-write: the result is the old value.
    pub fn emit_atomic_update(&mut self, i: Value) {
        let (address, operand) = (i.operand(0), i.operand(1));
        let Some(bits) = scalar_bits(i.ty()) else {
            self.builder.insert(i);
            return;
        };
        self.pin_address(i, address, u64::from(bits / 8));
        let at = self.bits64(address);
        let dirty = self.is_dirty(at, u64::from(bits / 8));
        let zero = self.zero();
        let old = self.guarded(dirty, &[zero], |e| vec![e.call_load(at, bits)])[0];
        self.builder.insert(i);
        self.set_label(i, old);
        use llvm_sys::LLVMAtomicRMWBinOp::*;
        let node = match i.atomic_operation() {
            LLVMAtomicRMWBinOpAdd => Some(Opcode::LLVMAdd),
            LLVMAtomicRMWBinOpSub => Some(Opcode::LLVMSub),
            LLVMAtomicRMWBinOpAnd => Some(Opcode::LLVMAnd),
            LLVMAtomicRMWBinOpOr => Some(Opcode::LLVMOr),
            LLVMAtomicRMWBinOpXor => Some(Opcode::LLVMXor),
            _ => None,
        };
        let new = match (node, i.atomic_operation()) {
            (Some(op), _) => {
                let result = self.builder.op(op, i, operand);
                let node = binary_op(op).unwrap_or(Op::Add);
                let value = self.label(operand);
                self.if_any(&[old, value], |e| {
                    e.binary_node(node, (i, old), (operand, value), result)
                })
            }
            (None, LLVMAtomicRMWBinOpXchg) => self.label(operand),
            _ => self.zero(),
        };
        self.store_label(at, new, bits);
    }

    /// Compare-exchange: the result is the old value, and true if it was equal.
    pub fn emit_atomic_exchange(&mut self, i: Value) {
        let (address, expected, desired) = (i.operand(0), i.operand(1), i.operand(2));
        let (Some(bits), Some(lt)) = (scalar_bits(expected.ty()), label_type(self.ctx, i.ty()))
        else {
            self.builder.insert(i);
            return;
        };
        self.pin_address(i, address, u64::from(bits / 8));
        let at = self.bits64(address);
        let dirty = self.is_dirty(at, u64::from(bits / 8));
        let zero = self.zero();
        let old = self.guarded(dirty, &[zero], |e| vec![e.call_load(at, bits)])[0];
        self.builder.insert(i);
        let value = self.builder.extract_value(i, 0);
        let success = self.builder.extract_value(i, 1);
        let le = self.label(expected);
        let equal = self.builder.compare(IntPredicate::LLVMIntEQ, value, expected);
        let ls =
            self.if_any(&[old, le], |e| e.binary_node(Op::Eq, (value, old), (expected, le), equal));
        let whole = self.builder.insert_value(lt.null(), old, 0);
        let whole = self.builder.insert_value(whole, ls, 1);
        self.set_label(i, whole);
        let ld = self.label(desired);
        let new = self.builder.select(success, ld, old);
        self.store_label(at, new, bits);
    }
}
