//! Labels of LLVM's intrinsics: bit operations, overflow, minimum and maximum, memory.

use super::emit::Emitter;
use super::float::{self, FloatIntrinsic};
use super::nodes::comparison_op;
use super::shape::{label_type, scalar_bits};
use crate::instrument::llvm::{IntPredicate, Opcode, Value};
use pleach_abi::node::Op;
use pleach_abi::section::SiteKind;
use pleach_abi::shm::Loss;

/// For a larger object the runtime is always called: inlined code checks only the first
/// and the last byte of the dirty map, and the object may cover more.
const MAX_INLINE_CHECK: u64 = 256;

/// Intrinsics whose result has an exact expression.
#[derive(Clone, Copy)]
pub enum Intrinsic {
    /// The result is the first operand.
    Same,
    Unary(Op),
    Binary(Op),
    Funnel(Op),
    /// The first operand is the result if this comparison holds.
    Extreme(IntPredicate),
    Absolute,
    /// -1, 0 or 1, with this comparison for "less".
    ThreeWay(Op),
    /// The operation and its overflow test.
    Saturating(Op, Op),
    /// The operation and its overflow test, in a structure.
    Overflowing(Op, Op),
    Float(FloatIntrinsic),
}

/// Finds an intrinsic by its full name.
pub fn find(name: &str) -> Option<Intrinsic> {
    use IntPredicate::*;
    use Intrinsic::*;
    let name = name.strip_prefix("llvm.").unwrap_or(name);
    Some(match family(name) {
        "ctpop" => Unary(Op::Popcnt),
        "ctlz" => Unary(Op::Ctlz),
        "cttz" => Unary(Op::Cttz),
        "bswap" => Unary(Op::Bswap),
        "bitreverse" => Unary(Op::BitRev),
        "ptrmask" => Binary(Op::And),
        "fshl" => Funnel(Op::FShl),
        "fshr" => Funnel(Op::FShr),
        "umin" => Extreme(LLVMIntULT),
        "umax" => Extreme(LLVMIntUGT),
        "smin" => Extreme(LLVMIntSLT),
        "smax" => Extreme(LLVMIntSGT),
        "abs" => Absolute,
        "ucmp" => ThreeWay(Op::Ult),
        "scmp" => ThreeWay(Op::Slt),
        "uadd.sat" => Saturating(Op::Add, Op::UAddO),
        "usub.sat" => Saturating(Op::Sub, Op::USubO),
        "sadd.sat" => Saturating(Op::Add, Op::SAddO),
        "ssub.sat" => Saturating(Op::Sub, Op::SSubO),
        "sadd.with.overflow" => Overflowing(Op::Add, Op::SAddO),
        "uadd.with.overflow" => Overflowing(Op::Add, Op::UAddO),
        "ssub.with.overflow" => Overflowing(Op::Sub, Op::SSubO),
        "usub.with.overflow" => Overflowing(Op::Sub, Op::USubO),
        "smul.with.overflow" => Overflowing(Op::Mul, Op::SMulO),
        "umul.with.overflow" => Overflowing(Op::Mul, Op::UMulO),
        "canonicalize"
        | "arithmetic.fence"
        | "expect"
        | "launder.invariant.group"
        | "strip.invariant.group"
        | "ssa.copy" => Same,
        other => Float(float::find(other)?),
    })
}

/// The expression of a call's result, if it calls an intrinsic or a function of libm that
/// has one.
pub fn of_call(call: Value) -> Option<Intrinsic> {
    match call.callee().intrinsic() {
        Some(name) => find(&name),
        None => float::math_call(call).map(Intrinsic::Float),
    }
}

/// The name without its types: `ctpop.i32` → `ctpop`. Some names contain dots.
fn family(name: &str) -> &str {
    const LONG: [&str; 15] = [
        "is.fpclass",
        "arithmetic.fence",
        "sadd.with.overflow",
        "uadd.with.overflow",
        "ssub.with.overflow",
        "usub.with.overflow",
        "smul.with.overflow",
        "umul.with.overflow",
        "uadd.sat",
        "usub.sat",
        "sadd.sat",
        "ssub.sat",
        "launder.invariant.group",
        "strip.invariant.group",
        "ssa.copy",
    ];
    let long = LONG.iter().find(|w| name.starts_with(**w));
    long.copied().unwrap_or_else(|| name.split('.').next().unwrap_or(name))
}

impl Emitter<'_> {
    pub fn emit_intrinsic(&mut self, i: Value, name: &str) {
        let short = family(name.strip_prefix("llvm.").unwrap_or(name));
        match short {
            "memcpy" | "memmove" => return self.emit_memory_copy(i),
            "memset" => return self.emit_memory_fill(i),
            "va_start" => {
                self.builder.insert(i);
                if let Some(saved) = self.va_labels {
                    self.builder.call(self.rt.va_start, &[i.operand(0), saved]);
                }
                return;
            }
            _ => {}
        }
        self.builder.insert(i);
        match find(name).filter(|_| self.labelled.contains(&i)) {
            Some(Intrinsic::Overflowing(op, flag)) => self.emit_overflowing(i, op, flag),
            Some(_) => self.label_plain(i),
            None if is_bookkeeping(short) => {}
            None if float::find(short).is_some() => self.count_lost_arguments(i, Loss::Float),
            None => self.count_lost_arguments(i, Loss::Shape),
        }
    }

    fn emit_overflowing(&mut self, i: Value, op: Op, flag: Op) {
        let (a, b) = (i.operand(0), i.operand(1));
        let Some(t) = label_type(self.ctx, i.ty()).filter(|_| scalar_bits(a.ty()).is_some()) else {
            return;
        };
        let (value, over) = (self.builder.extract_value(i, 0), self.builder.extract_value(i, 1));
        let (la, lb) = (self.label(a), self.label(b));
        let Some(any) = self.or_labels(&[la, lb]) else { return };
        let set = self.builder.is_set(any);
        let label = self.guarded(set, &[t.null()], |e| {
            let lv = e.binary_node(op, (a, la), (b, lb), value);
            let lo = e.binary_node(flag, (a, la), (b, lb), over);
            let whole = e.builder.insert_value(t.null(), lv, 0);
            vec![e.builder.insert_value(whole, lo, 1)]
        })[0];
        self.set_label(i, label);
    }

    /// Makes the node of an intrinsic, in a cold block.
    pub fn intrinsic_node(&mut self, i: Value, which: Intrinsic) -> Value {
        let with = |e: &Self, n: u32| (i.operand(n), e.cold_label(i.operand(n)));
        match which {
            Intrinsic::Unary(op) => self.unary_node(op, with(self, 0), i),
            Intrinsic::Binary(op) => self.binary_node(op, with(self, 0), with(self, 1), i),
            Intrinsic::Funnel(op) => {
                let all = [with(self, 0), with(self, 1), with(self, 2)];
                self.general_node(op, &all, i)
            }
            Intrinsic::Extreme(p) => self.extreme_node(i, p),
            Intrinsic::Absolute => self.absolute_node(i),
            Intrinsic::ThreeWay(less) => self.three_way_node(i, less),
            Intrinsic::Saturating(op, flag) => self.saturating_node(i, op, flag),
            Intrinsic::Float(which) => self.float_intrinsic_node(i, which),
            Intrinsic::Same | Intrinsic::Overflowing(..) => self.zero(),
        }
    }

    /// Minimum and maximum: `a < b ? a : b`, with the intrinsic's comparison.
    fn extreme_node(&mut self, i: Value, p: IntPredicate) -> Value {
        let (a, b) = (i.operand(0), i.operand(1));
        let (la, lb) = (self.cold_label(a), self.cold_label(b));
        let c = self.builder.compare(p, a, b);
        let (op, swap) = comparison_op(p);
        let (x, y) = if swap { ((b, lb), (a, la)) } else { ((a, la), (b, lb)) };
        let lc = self.binary_node(op, x, y, c);
        self.ite_node((c, lc), (a, la), (b, lb), i)
    }

    fn absolute_node(&mut self, i: Value) -> Value {
        let a = i.operand(0);
        let (la, none) = (self.cold_label(a), self.zero());
        let zero = a.ty().null();
        let negative = self.builder.compare(IntPredicate::LLVMIntSLT, a, zero);
        let opposite = self.builder.op(Opcode::LLVMSub, zero, a);
        let lc = self.binary_node(Op::Slt, (a, la), (zero, none), negative);
        let ln = self.binary_node(Op::Sub, (zero, none), (a, la), opposite);
        self.ite_node((negative, lc), (opposite, ln), (a, la), i)
    }

    /// -1, 0 or 1: `(b < a) - (a < b)`.
    fn three_way_node(&mut self, i: Value, less: Op) -> Value {
        let (a, b) = (i.operand(0), i.operand(1));
        let (la, lb) = (self.cold_label(a), self.cold_label(b));
        let p = if less == Op::Ult { IntPredicate::LLVMIntULT } else { IntPredicate::LLVMIntSLT };
        let (above, below) = (self.builder.compare(p, b, a), self.builder.compare(p, a, b));
        let l_above = self.binary_node(less, (b, lb), (a, la), above);
        let l_below = self.binary_node(less, (a, la), (b, lb), below);
        let wide_above = self.builder.cast(Opcode::LLVMZExt, above, i.ty());
        let wide_below = self.builder.cast(Opcode::LLVMZExt, below, i.ty());
        let l_above = self.unary_node(Op::ZExt, (above, l_above), wide_above);
        let l_below = self.unary_node(Op::ZExt, (below, l_below), wide_below);
        self.binary_node(Op::Sub, (wide_above, l_above), (wide_below, l_below), i)
    }

    /// `overflows ? limit : a ± b`. The limit of a signed operation has the sign of `a`.
    fn saturating_node(&mut self, i: Value, op: Op, flag: Op) -> Value {
        let (a, b) = (i.operand(0), i.operand(1));
        let (la, lb) = (self.cold_label(a), self.cold_label(b));
        let (t, none) = (a.ty(), self.zero());
        let opcode = if op == Op::Add { Opcode::LLVMAdd } else { Opcode::LLVMSub };
        let plain = self.builder.op(opcode, a, b);
        // The two results differ exactly if the operation overflowed.
        let over = self.builder.compare(IntPredicate::LLVMIntNE, plain, i);
        let lp = self.binary_node(op, (a, la), (b, lb), plain);
        let lo = self.binary_node(flag, (a, la), (b, lb), over);
        let limit = match flag {
            Op::UAddO => (t.all_ones(), none),
            Op::USubO => (t.null(), none),
            _ => {
                let width = t.int_width().unwrap_or(64);
                let minimum = self.ctx.power_of_two(width, width - 1);
                let maximum = self.builder.op(Opcode::LLVMXor, minimum, t.all_ones());
                let negative = self.builder.compare(IntPredicate::LLVMIntSLT, a, t.null());
                let ln = self.binary_node(Op::Slt, (a, la), (t.null(), none), negative);
                let value = self.builder.select(negative, minimum, maximum);
                let label = self.ite_node((negative, ln), (minimum, none), (maximum, none), value);
                (value, label)
            }
        };
        self.ite_node((over, lo), limit, (plain, lp), i)
    }

    /// A copy of constant size keeps the intrinsic. Any other copy becomes a call of the
    /// model, which also handles a labelled size.
    fn emit_memory_copy(&mut self, i: Value) {
        let (dst, src, n) = (i.operand(0), i.operand(1), i.operand(2));
        let Some(size) = n.constant_int() else {
            let name = if i.callee().name().contains("memmove") { "memmove" } else { "memcpy" };
            return self.replace_by_model_call(i, name, &[dst, src, n]);
        };
        self.pin_address(i, dst, size);
        if size > 0 {
            self.copy_labels(i, (dst, src), size);
        }
        self.builder.insert(i);
    }

    fn copy_labels(&mut self, i: Value, (dst, src): (Value, Value), size: u64) {
        let (to, from) = (self.bits64(dst), self.bits64(src));
        let pointer = self.address_label(src);
        let site = (!pointer.is_null()).then(|| self.extra_site(i, SiteKind::Access));
        let n = self.const64(size);
        let copy = |e: &mut Self| {
            let Some(site) = site else {
                e.builder.call(e.rt.copy, &[to, from, n]);
                return;
            };
            let (base, room) = e.object_of(src);
            let packed = e.const64(size.min(u32::MAX.into()) | room << 32);
            e.builder.call(e.rt.copy_from, &[site, pointer, to, from, packed, base]);
        };
        if size > MAX_INLINE_CHECK {
            return copy(self);
        }
        let (a, b) = (self.dirty_flag(to, size), self.dirty_flag(from, size));
        let mut any = self.builder.or(a, b);
        if !pointer.is_null() {
            any = self.builder.or(any, pointer);
        }
        let needed = self.builder.is_set(any);
        self.guarded(needed, &[], |e| {
            copy(e);
            vec![]
        });
    }

    fn emit_memory_fill(&mut self, i: Value) {
        let (dst, value, n) = (i.operand(0), i.operand(1), i.operand(2));
        let Some(size) = n.constant_int() else {
            let wide = self.builder.cast(Opcode::LLVMZExt, value, self.ctx.int(32));
            let narrow = self.label(value);
            let label = self.if_any(&[narrow], |e| e.unary_node(Op::ZExt, (value, narrow), wide));
            self.set_label(wide, label);
            return self.replace_by_model_call(i, "memset", &[dst, wide, n]);
        };
        self.pin_address(i, dst, size);
        if size > 0 {
            let (at, label) = (self.bits64(dst), self.label(value));
            let needed = if size > MAX_INLINE_CHECK {
                self.ctx.constant(1, 1)
            } else {
                let dirty = self.dirty_flag(at, size);
                let any = if label.is_null() { dirty } else { self.builder.or(dirty, label) };
                self.builder.is_set(any)
            };
            let n = self.const64(size);
            self.guarded(needed, &[], |e| {
                e.builder.call(e.rt.fill, &[at, label, n]);
                vec![]
            });
        }
        self.builder.insert(i);
    }

    /// Replaces an intrinsic by a call of the model of the same libc function.
    fn replace_by_model_call(&mut self, i: Value, name: &str, args: &[Value]) {
        let name = format!("__pleach_m_{name}");
        let types: Vec<_> = args.iter().map(|a| a.ty()).collect();
        let model = self.module.function(&name).unwrap_or_else(|| {
            self.module.add_function(&name, self.ctx.pointer().function(&types))
        });
        let site = self.extra_site(i, SiteKind::Call);
        self.call_model(model, site, args);
        i.discard();
    }
}

/// Intrinsics that compute nothing from their operands.
fn is_bookkeeping(family: &str) -> bool {
    matches!(
        family,
        "assume"
            | "lifetime"
            | "dbg"
            | "prefetch"
            | "invariant"
            | "experimental"
            | "eh"
            | "stacksave"
            | "stackrestore"
            | "va_end"
            | "va_copy"
            | "trap"
            | "debugtrap"
            | "donothing"
            | "pseudoprobe"
            | "threadlocal"
            | "returnaddress"
            | "frameaddress"
            | "objectsize"
            | "is"
            | "ubsantrap"
            | "fake"
    )
}
