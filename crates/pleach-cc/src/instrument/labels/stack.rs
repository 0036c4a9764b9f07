//! Tells the runtime which arrays lie on the stack.
//!
//! An access in the function of an array names the array itself. Elsewhere the runtime has
//! only a pointer, so it looks the object up in the heap map, as it does for the heap. An
//! array whose address leaves its function is in the map as long as it lives: this costs
//! a store at the start and one at the end. An exception or a `longjmp` leaves
//! entries behind. They can only make an object seem smaller than it is.

use super::emit::{Emitter, is_static_alloca};
use crate::instrument::llvm::{Opcode, TypeKind, Value};
use pleach_abi::layout::{ADDR_MASK, HEAP_BASE};
use std::collections::HashSet;

/// Smaller variables are no arrays that an index could choose from.
const MIN_SIZE: u64 = 4;
/// A function with more of them would spend too much.
const MAX_ARRAYS: usize = 16;
/// The granule of the heap map.
const ALIGNMENT: u32 = 16;

impl Emitter<'_> {
    /// Enters the arrays of the function whose addresses leave it, at the end of the code for
    /// its entry. Those with lifetime markers are entered there.
    pub fn enter_stack_arrays(&mut self, body: &[Value]) {
        let has_must_tail = self
            .function
            .blocks()
            .iter()
            .flat_map(|b| b.instructions())
            .chain(body.iter().copied())
            .any(|i| i.opcode() == Opcode::LLVMCall && i.is_must_tail());
        if has_must_tail {
            return;
        }
        let arrays = body.iter().copied().filter(|&i| is_static_alloca(i));
        let arrays: Vec<Value> = arrays
            .filter(|&i| self.array_size(i).is_some() && escapes(i))
            .take(MAX_ARRAYS)
            .collect();
        for &array in &arrays {
            array.set_alignment(ALIGNMENT);
            if !array.users().into_iter().any(is_lifetime_marker) {
                self.set_stack_array(array, true);
            }
        }
        self.stack_arrays = arrays;
    }

    /// At a lifetime marker of an entered array.
    pub fn emit_lifetime_marker(&mut self, i: Value) {
        let array = i.operand(i.argument_count() - 1);
        let starts = i.callee().name().contains("lifetime.start");
        if self.stack_arrays.contains(&array) {
            self.set_stack_array(array, starts);
        }
    }

    /// Before the function returns.
    pub fn leave_stack_arrays(&mut self) {
        for array in self.stack_arrays.clone() {
            self.set_stack_array(array, false);
        }
    }

    fn set_stack_array(&mut self, array: Value, lives: bool) {
        let size = if lives { self.array_size(array).map_or(0, |s| s + 1) } else { 0 };
        let at = self.bits64(array);
        let index = self.builder.op(Opcode::LLVMLShr, at, self.const64(2));
        let place = self.builder.op(Opcode::LLVMAnd, index, self.const64((ADDR_MASK >> 4) << 2));
        let place = self.builder.add(place, self.const64(HEAP_BASE));
        let place = self.builder.cast(Opcode::LLVMIntToPtr, place, self.ctx.pointer());
        self.builder.store(self.const32(size as u32), place);
    }

    /// The size of a variable with more than one element or field.
    fn array_size(&self, alloca: Value) -> Option<u64> {
        let t = alloca.allocated_type();
        let count = alloca.operand(0).constant_int()?;
        let is_compound =
            matches!(t.kind(), TypeKind::LLVMArrayTypeKind | TypeKind::LLVMStructTypeKind);
        let size = self.module.size_of(t).checked_mul(count)?;
        let fits = (MIN_SIZE..u64::from(u32::MAX)).contains(&size);
        ((is_compound || count > 1) && fits).then_some(size)
    }
}

/// True for `llvm.lifetime.start` and `llvm.lifetime.end`.
pub fn is_lifetime_marker(i: Value) -> bool {
    i.is_instruction()
        && i.opcode() == Opcode::LLVMCall
        && i.callee().intrinsic().is_some_and(|n| n.starts_with("llvm.lifetime."))
}

/// True if the address of a variable may be known outside of its function.
fn escapes(alloca: Value) -> bool {
    let mut seen = HashSet::from([alloca]);
    let mut open = vec![alloca];
    while let Some(address) = open.pop() {
        for user in address.users() {
            let escapes = match user.opcode() {
                Opcode::LLVMLoad | Opcode::LLVMICmp => false,
                Opcode::LLVMStore => user.operand(0) == address,
                Opcode::LLVMCall => user.callee().intrinsic().is_none(),
                Opcode::LLVMGetElementPtr
                | Opcode::LLVMBitCast
                | Opcode::LLVMPHI
                | Opcode::LLVMSelect => {
                    if seen.insert(user) {
                        open.push(user);
                    }
                    false
                }
                _ => true,
            };
            if escapes {
                return true;
            }
        }
    }
    false
}
