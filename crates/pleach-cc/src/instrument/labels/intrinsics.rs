//! LLVM's intrinsics: bit tricks, overflow, minimum and maximum, memory.

use super::emit::Emitter;
use super::nodes::comparison_op;
use super::shape::{label_type, scalar_bits};
use crate::instrument::llvm::{IntPredicate, Opcode, Value};
use pleach_abi::node::Op;
use pleach_abi::section::SiteKind;
use pleach_abi::shm::Loss;

/// Intrinsics whose result has an exact expression.
#[derive(Clone, Copy)]
pub enum Intrinsic {
    /// The result is the first operand.
    Same,
    One(Op),
    Two(Op),
    Funnel(Op),
    /// The comparison under which the first operand is the result.
    Extreme(IntPredicate),
    Absolute,
    /// -1, 0 or 1, by this order.
    ThreeWay(Op),
    /// Operation and overflow.
    Saturating(Op, Op),
    /// The value and the overflow flag, in a structure.
    Overflowing(Op, Op),
}

pub fn of(name: &str) -> Option<Intrinsic> {
    use IntPredicate::*;
    use Intrinsic::*;
    let name = name.strip_prefix("llvm.").unwrap_or(name);
    Some(match family(name) {
        "ctpop" => One(Op::Popcnt),
        "ctlz" => One(Op::Ctlz),
        "cttz" => One(Op::Cttz),
        "bswap" => One(Op::Bswap),
        "bitreverse" => One(Op::BitRev),
        "ptrmask" => Two(Op::And),
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
        "expect" | "launder.invariant.group" | "strip.invariant.group" | "ssa.copy" => Same,
        _ => return None,
    })
}

/// `ctpop.i32` → `ctpop`; some names have more words.
fn family(name: &str) -> &str {
    const LONG: [&str; 13] = [
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
    pub fn intrinsic(&mut self, i: Value, name: &str) {
        let short = family(name.strip_prefix("llvm.").unwrap_or(name));
        match short {
            "memcpy" | "memmove" => return self.memory_copy(i),
            "memset" => return self.memory_fill(i),
            "va_start" => {
                self.b.insert(i);
                if let Some(saved) = self.saved {
                    self.b.call(self.rt.va_start, &[i.operand(0), saved]);
                }
                return;
            }
            _ => {}
        }
        self.b.insert(i);
        match of(name).filter(|_| self.labelled.contains(&i)) {
            Some(Intrinsic::Overflowing(op, flag)) => self.overflowing(i, op, flag),
            Some(_) => self.plain(i),
            None if is_bookkeeping(short) => {}
            None => self.lose_arguments(i, Loss::Shape),
        }
    }

    fn overflowing(&mut self, i: Value, op: Op, flag: Op) {
        let (a, b) = (i.operand(0), i.operand(1));
        let Some(t) = label_type(self.ctx, i.ty()).filter(|_| scalar_bits(a.ty()).is_some()) else {
            return;
        };
        let (value, over) = (self.b.extract_value(i, 0), self.b.extract_value(i, 1));
        let (la, lb) = (self.label(a), self.label(b));
        let Some(any) = self.any(&[la, lb]) else { return };
        let set = self.b.is_set(any);
        let label = self.guarded(set, &[t.null()], |e| {
            let lv = e.binary_node(op, (a, la), (b, lb), value);
            let lo = e.binary_node(flag, (a, la), (b, lb), over);
            let whole = e.b.insert_value(t.null(), lv, 0);
            vec![e.b.insert_value(whole, lo, 1)]
        })[0];
        self.set_label(i, label);
    }

    /// The node of an intrinsic, in a cold block.
    pub fn intrinsic_node(&mut self, i: Value, which: Intrinsic) -> Value {
        let with = |e: &Self, n: u32| (i.operand(n), e.cold(i.operand(n)));
        match which {
            Intrinsic::One(op) => self.unary_node(op, with(self, 0), i),
            Intrinsic::Two(op) => self.binary_node(op, with(self, 0), with(self, 1), i),
            Intrinsic::Funnel(op) => {
                let all = [with(self, 0), with(self, 1), with(self, 2)];
                self.general(op, &all, i)
            }
            Intrinsic::Extreme(p) => self.extreme(i, p),
            Intrinsic::Absolute => self.absolute(i),
            Intrinsic::ThreeWay(less) => self.three_way(i, less),
            Intrinsic::Saturating(op, flag) => self.saturating(i, op, flag),
            Intrinsic::Same | Intrinsic::Overflowing(..) => self.zero(),
        }
    }

    /// `a < b ? a : b` and its like, as an expression.
    fn extreme(&mut self, i: Value, p: IntPredicate) -> Value {
        let (a, b) = (i.operand(0), i.operand(1));
        let (la, lb) = (self.cold(a), self.cold(b));
        let c = self.b.compare(p, a, b);
        let (op, swap) = comparison_op(p);
        let (x, y) = if swap { ((b, lb), (a, la)) } else { ((a, la), (b, lb)) };
        let lc = self.binary_node(op, x, y, c);
        self.ite_node((c, lc), (a, la), (b, lb), i)
    }

    fn absolute(&mut self, i: Value) -> Value {
        let a = i.operand(0);
        let (la, none) = (self.cold(a), self.zero());
        let zero = a.ty().null();
        let negative = self.b.compare(IntPredicate::LLVMIntSLT, a, zero);
        let opposite = self.b.op(Opcode::LLVMSub, zero, a);
        let lc = self.binary_node(Op::Slt, (a, la), (zero, none), negative);
        let ln = self.binary_node(Op::Sub, (zero, none), (a, la), opposite);
        self.ite_node((negative, lc), (opposite, ln), (a, la), i)
    }

    /// -1, 0 or 1: `(b < a) - (a < b)`.
    fn three_way(&mut self, i: Value, less: Op) -> Value {
        let (a, b) = (i.operand(0), i.operand(1));
        let (la, lb) = (self.cold(a), self.cold(b));
        let p = if less == Op::Ult { IntPredicate::LLVMIntULT } else { IntPredicate::LLVMIntSLT };
        let (above, below) = (self.b.compare(p, b, a), self.b.compare(p, a, b));
        let l_above = self.binary_node(less, (b, lb), (a, la), above);
        let l_below = self.binary_node(less, (a, la), (b, lb), below);
        let wide_above = self.b.cast(Opcode::LLVMZExt, above, i.ty());
        let wide_below = self.b.cast(Opcode::LLVMZExt, below, i.ty());
        let l_above = self.unary_node(Op::ZExt, (above, l_above), wide_above);
        let l_below = self.unary_node(Op::ZExt, (below, l_below), wide_below);
        self.binary_node(Op::Sub, (wide_above, l_above), (wide_below, l_below), i)
    }

    /// `overflows ? limit : a ± b`. The limit of a signed operation is on the
    /// side that `a` is on.
    fn saturating(&mut self, i: Value, op: Op, flag: Op) -> Value {
        let (a, b) = (i.operand(0), i.operand(1));
        let (la, lb) = (self.cold(a), self.cold(b));
        let (t, none) = (a.ty(), self.zero());
        let opcode = if op == Op::Add { Opcode::LLVMAdd } else { Opcode::LLVMSub };
        let plain = self.b.op(opcode, a, b);
        // The result is the plain one except where it was cut.
        let over = self.b.compare(IntPredicate::LLVMIntNE, plain, i);
        let lp = self.binary_node(op, (a, la), (b, lb), plain);
        let lo = self.binary_node(flag, (a, la), (b, lb), over);
        let limit = match flag {
            Op::UAddO => (t.all_ones(), none),
            Op::USubO => (t.null(), none),
            _ => {
                let width = t.int_width().unwrap_or(64);
                let least = self.ctx.power_of_two(width, width - 1);
                let most = self.b.op(Opcode::LLVMXor, least, t.all_ones());
                let negative = self.b.compare(IntPredicate::LLVMIntSLT, a, t.null());
                let ln = self.binary_node(Op::Slt, (a, la), (t.null(), none), negative);
                let value = self.b.select(negative, least, most);
                let label = self.ite_node((negative, ln), (least, none), (most, none), value);
                (value, label)
            }
        };
        self.ite_node((over, lo), limit, (plain, lp), i)
    }

    /// Copies of constant size keep the intrinsic; others go to the model,
    /// which also looks at a labelled size.
    fn memory_copy(&mut self, i: Value) {
        let (dst, src, n) = (i.operand(0), i.operand(1), i.operand(2));
        let Some(size) = n.constant_int() else {
            let name = if i.callee().name().contains("memmove") { "memmove" } else { "memcpy" };
            return self.model_call(i, name, &[dst, src, n]);
        };
        for at in [dst, src] {
            self.pin_address(i, at, size);
        }
        if size > 0 {
            let (to, from) = (self.bits64(dst), self.bits64(src));
            self.copy_labels(to, from, size);
        }
        self.b.insert(i);
    }

    fn copy_labels(&mut self, to: Value, from: Value, size: u64) {
        let n = self.number64(size);
        if size > 256 {
            // The runtime walks the dirty map; two looks would not cover it.
            self.b.call(self.rt.copy, &[to, from, n]);
            return;
        }
        let (a, b) = (self.dirty(to, size), self.dirty(from, size));
        let either = self.b.or(a, b);
        let dirty = self.b.is_set(either);
        self.guarded(dirty, &[], |e| {
            e.b.call(e.rt.copy, &[to, from, n]);
            vec![]
        });
    }

    fn memory_fill(&mut self, i: Value) {
        let (dst, value, n) = (i.operand(0), i.operand(1), i.operand(2));
        let Some(size) = n.constant_int() else {
            let wide = self.b.cast(Opcode::LLVMZExt, value, self.ctx.int(32));
            let narrow = self.label(value);
            let label = self.if_any(&[narrow], |e| e.unary_node(Op::ZExt, (value, narrow), wide));
            self.set_label(wide, label);
            return self.model_call(i, "memset", &[dst, wide, n]);
        };
        self.pin_address(i, dst, size);
        if size > 0 {
            let (at, label) = (self.bits64(dst), self.label(value));
            let needed = if size > 256 {
                // The runtime walks the dirty map; two looks would not cover it.
                self.ctx.constant(1, 1)
            } else {
                let dirty = self.dirty(at, size);
                let any = if label.is_null() { dirty } else { self.b.or(dirty, label) };
                self.b.is_set(any)
            };
            let n = self.number64(size);
            self.guarded(needed, &[], |e| {
                e.b.call(e.rt.fill, &[at, label, n]);
                vec![]
            });
        }
        self.b.insert(i);
    }

    /// Replaces an intrinsic by a call of the model of the function it is.
    fn model_call(&mut self, i: Value, name: &str, args: &[Value]) {
        let name = format!("__pleach_m_{name}");
        let types: Vec<_> = args.iter().map(|a| a.ty()).collect();
        let model = self.module.function(&name).unwrap_or_else(|| {
            self.module.add_function(&name, self.ctx.pointer().function(&types))
        });
        let site = self.site(i, SiteKind::Call);
        self.model_with_labels(model, site, args);
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
