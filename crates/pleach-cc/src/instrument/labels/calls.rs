//! Passes labels across calls, through thread-local slots that are stamped with the
//! callee's address. The slots are used only if something is labelled.

use super::emit::{Emitter, is_static_alloca};
use super::flow::passes_labels;
use super::shape::{is_float, label_type, leaves, scalar_bits};
use crate::instrument::llvm::{IntPredicate, Opcode, Type, Value};
use pleach_abi::layout::{
    ARG_SLOTS, BYVAL_SLOTS, RET_SLOTS, TLS_ARG_COUNT, TLS_ARG_STAMP, TLS_ARGS, TLS_RET_STAMP,
    TLS_RETS, TLS_SITE, TLS_VA, VA_BYVAL,
};
use pleach_abi::section::SiteKind;
use pleach_abi::shm::Loss;

/// Size of the runtime's `Saved`: the labels of variadic arguments.
const VA_LABELS_SIZE: u64 = 8 + 4 * ARG_SLOTS as u64 + 8 * BYVAL_SLOTS as u64;
/// Room for the operands of general operations: at most 16, and a result.
const SCRATCH_SIZE: u64 = 24 * 17;

impl Emitter<'_> {
    pub fn tls(&self, at: u64) -> Value {
        self.rt.tls.offset_by(self.ctx, at)
    }

    /// Emits the start of the entry block: its allocas, and the labels of parameters.
    pub fn emit_entry(&mut self, body: &[Value]) {
        for &i in body.iter().filter(|&&i| is_static_alloca(i)) {
            self.builder.insert(i);
        }
        let scratch = self.builder.alloca(self.ctx.int(8).array(SCRATCH_SIZE));
        scratch.set_alignment(8);
        self.scratch = Some(scratch);
        let variadic = self.function.value_type().is_variadic();
        if variadic {
            let saved = self.builder.alloca(self.ctx.int(8).array(VA_LABELS_SIZE));
            saved.set_alignment(8);
            self.builder.store(self.const64(0), saved);
            self.va_labels = Some(saved);
        }
        self.load_parameter_labels(variadic);
    }

    fn load_parameter_labels(&mut self, variadic: bool) {
        let params = self.function.params();
        let mut slots: Vec<(Value, Type, Vec<u64>)> = Vec::new();
        let mut structures: Vec<(Value, u64, u64)> = Vec::new();
        let mut next = 0u64;
        for (n, &p) in params.iter().enumerate() {
            let Some(lt) = label_type(self.ctx, p.ty()) else { continue };
            if let Some(t) = self.function.byval_type(n as u32) {
                structures.push((p, next, self.module.size_of(t)));
                next += 1;
                continue;
            }
            let count = leaves(self.module, p.ty()).len() as u64;
            slots.push((p, lt, (next..next + count).collect()));
            next += count;
        }
        if next == 0 && !variadic {
            return;
        }
        slots.retain(|(_, _, s)| s.iter().all(|&n| n < ARG_SLOTS as u64));
        let place = self.tls(TLS_ARG_STAMP);
        let stamp = self.builder.load(self.ctx.int(64), place);
        let some = self.builder.is_set(stamp);
        let nothing: Vec<Value> = slots.iter().map(|(_, lt, _)| lt.null()).collect();
        let me = self.function;
        let saved = self.va_labels;
        let labels = self.guarded(some, &nothing, |e| {
            e.builder.store(e.const64(0), place);
            let me = e.builder.cast(Opcode::LLVMPtrToInt, me, e.ctx.int(64));
            let mine = e.builder.compare(IntPredicate::LLVMIntEQ, stamp, me);
            if !structures.is_empty() || saved.is_some() {
                e.guarded(mine, &[], |e| {
                    for (k, &(p, slot, size)) in structures.iter().enumerate() {
                        e.load_byval_labels(k as u32, p, slot, size);
                    }
                    if let Some(room) = saved {
                        e.builder.call(e.rt.va_save, &[room]);
                    }
                    vec![]
                });
            }
            let mut out = Vec::new();
            for (p, lt, slots) in &slots {
                let mut whole = lt.null();
                for (leaf, slot) in leaves(e.module, p.ty()).iter().zip(slots) {
                    let at = e.tls(TLS_ARGS + 4 * slot);
                    let l = e.builder.load(e.ctx.int(32), at);
                    let l = e.builder.select(mine, l, e.zero());
                    whole = e.put_leaf(whole, l, &leaf.path, leaf.in_vector);
                }
                out.push(whole);
            }
            out
        });
        for ((p, _, _), label) in slots.into_iter().zip(labels) {
            self.set_label(p, label);
        }
    }

    fn load_byval_labels(&mut self, k: u32, p: Value, slot: u64, size: u64) {
        let at = self.tls(TLS_ARGS + 4 * slot);
        let has = self.builder.load(self.ctx.int(32), at);
        let set = self.builder.is_set(has);
        self.guarded(set, &[], |e| {
            let to = e.bits64(p);
            e.builder.call(e.rt.byval_in, &[e.const32(k), to, e.const64(size)]);
            vec![]
        });
    }

    /// `ret`: stores the label of the result for the caller, if there is one.
    pub fn emit_return(&mut self, i: Value) {
        if i.operand_count() == 1 && self.has_label(i.operand(0)) && !self.returns_must_tail_call(i)
        {
            let v = i.operand(0);
            if scalar_bits(v.ty()).is_some() {
                self.if_labelled(&[v], None, |e| {
                    let l = e.cold_label(v);
                    e.store_result_labels(&[l]);
                });
            } else {
                let whole = self.label(v);
                let parts: Vec<Value> = leaves(self.module, v.ty())
                    .iter()
                    .take(RET_SLOTS)
                    .map(|p| self.get_leaf(whole, &p.path, p.in_vector))
                    .collect();
                if let Some(any) = self.or_labels(&parts) {
                    let set = self.builder.is_set(any);
                    self.guarded(set, &[], |e| {
                        e.store_result_labels(&parts);
                        vec![]
                    });
                }
            }
        }
        self.builder.insert(i);
    }

    fn store_result_labels(&mut self, parts: &[Value]) {
        for (n, &l) in parts.iter().enumerate() {
            let at = self.tls(TLS_RETS + 4 * n as u64);
            self.builder.store(l, at);
        }
        let me = self.builder.cast(Opcode::LLVMPtrToInt, self.function, self.ctx.int(64));
        let at = self.tls(TLS_RET_STAMP);
        self.builder.store(me, at);
    }

    fn returns_must_tail_call(&self, ret: Value) -> bool {
        let v = ret.operand(0);
        v.is_instruction() && v.is_must_tail()
    }

    pub fn emit_call(&mut self, i: Value) {
        let callee = i.callee();
        if callee.is_inline_asm() {
            self.count_lost_arguments(i, Loss::Asm);
            self.count_memory_of_assembly(i);
            self.builder.insert(i);
            return;
        }
        if let Some(name) = callee.intrinsic() {
            return self.emit_intrinsic(i, &name);
        }
        if super::float::math_call(i).is_some() {
            self.builder.insert(i);
            self.label_plain(i);
            return;
        }
        if !passes_labels(i) {
            self.builder.insert(i);
            return;
        }
        if !callee.is_function() {
            self.record_indirect_target(i, callee);
        }
        self.store_argument_labels(i);
        if may_decide(callee) {
            let site = self.extra_site(i, SiteKind::Call);
            let at = self.tls(TLS_SITE);
            self.builder.store(site, at);
        }
        self.builder.insert(i);
        if i.opcode() == Opcode::LLVMCall && !i.is_must_tail() {
            // Code for the label of the result follows, so the frame must stay.
            i.forbid_tail_call();
            let passed = self.may_stamp_arguments(i);
            self.load_result_label(i, passed);
        }
        if callee.is_function() && callee.has_attribute("returns_twice") {
            self.emit_unwound();
        }
    }

    pub fn count_lost_arguments(&mut self, i: Value, cause: Loss) {
        let values: Vec<Value> = (0..i.argument_count()).map(|n| i.operand(n)).collect();
        self.count_lost_values(&values, cause);
    }

    fn store_argument_labels(&mut self, i: Value) {
        let t = i.called_type();
        let fixed = t.param_count();
        let (mut slots, mut scalars, mut byvals) = (Vec::new(), Vec::new(), 0u32);
        let mut also = None;
        let mut first_variadic = None;
        let mut places = ArgumentPlaces::default();
        for n in 0..i.argument_count() {
            let v = i.operand(n);
            if n == fixed {
                first_variadic = Some(slots.len());
            }
            let byval = i.call_byval_type(n);
            places.add(self, v, byval, n >= fixed);
            if label_type(self.ctx, v.ty()).is_none() {
                continue;
            }
            if let Some(t) = byval {
                let (from, size) = (self.bits64(v), self.const64(self.module.size_of(t)));
                let flag =
                    self.builder.call(self.rt.byval_out, &[self.const32(byvals), from, size]);
                byvals += 1;
                also = Some(also.map_or(flag, |a| self.builder.or(a, flag)));
                slots.push(Slot::Label(flag));
            } else if scalar_bits(v.ty()).is_some() {
                if may_be_unmodelled(i.callee()) && v.ty() == self.ctx.pointer() && !v.is_null() {
                    let flag = self.points_to_labels(v, i.callee());
                    also = Some(also.map_or(flag, |a| self.builder.or(a, flag)));
                }
                scalars.push(v);
                slots.push(Slot::LabelOf(v));
            } else {
                let whole = self.label(v);
                for leaf in leaves(self.module, v.ty()) {
                    let l = self.get_leaf(whole, &leaf.path, leaf.in_vector);
                    if !l.is_null() {
                        also = Some(also.map_or(l, |a| self.builder.or(a, l)));
                    }
                    slots.push(Slot::Label(l));
                }
            }
        }
        if slots.len() > ARG_SLOTS {
            self.count_lost_values(&scalars, Loss::Slots);
            return;
        }
        let first = first_variadic.unwrap_or(slots.len()) as u32;
        let shape = t.is_variadic().then(|| places.shape(self, first));
        let callee = i.callee();
        self.if_labelled(&scalars, also, |e| {
            if let Some(shape) = shape {
                let at = e.tls(TLS_VA);
                e.builder.store(shape, at);
            }
            e.store_slots(&slots, callee);
        });
    }

    /// Not 0 if a pointer that `callee` gets points to an object with labelled bytes. The
    /// pointer may be invalid, such as `(void *)-1` or a number from a union: the runtime checks
    /// it.
    fn points_to_labels(&mut self, pointer: Value, callee: Value) -> Value {
        let at = self.bits64(pointer);
        let (base, size) = match callee.is_function() && uses_no_contents(&callee.name()) {
            true => (at, 1),
            false => self.object_of(pointer),
        };
        let size = self.const64(size);
        self.builder.call(self.rt.pointed, &[at, base, size])
    }

    /// Counts a loss if inline assembly gets a pointer to labelled memory that it may read.
    fn count_memory_of_assembly(&mut self, i: Value) {
        let (template, constraints) = i.callee().inline_assembly();
        if template.is_empty() {
            // A barrier.
            return;
        }
        let has_operand = |c: &&str| match c.strip_prefix('=') {
            Some(output) => output.contains('*'),
            None => !c.starts_with(['~', '!']),
        };
        let pointer = self.ctx.pointer();
        let operands = constraints.split(',').filter(has_operand);
        let inputs: Vec<Value> = (0..i.argument_count())
            .zip(operands)
            .filter(|(_, constraint)| !constraint.starts_with('='))
            .map(|(n, _)| i.operand(n))
            .filter(|v| v.ty() == pointer && !v.is_null())
            .collect();
        let flags: Vec<Value> =
            inputs.into_iter().map(|v| self.points_to_labels(v, i.callee())).collect();
        if !flags.is_empty() {
            self.count_loss(&flags, Loss::Asm);
        }
    }

    /// Calls a model where the program's source has no call.
    pub fn call_model(&mut self, model: Value, site: Value, args: &[Value]) {
        let slots: Vec<Slot> = args.iter().map(|&a| Slot::LabelOf(a)).collect();
        self.if_labelled(args, None, |e| e.store_slots(&slots, model));
        let at = self.tls(TLS_SITE);
        self.builder.store(site, at);
        self.builder.call(model, args);
    }

    fn store_slots(&mut self, slots: &[Slot], callee: Value) {
        for (n, slot) in slots.iter().enumerate() {
            let l = match *slot {
                Slot::Label(l) => l,
                Slot::LabelOf(v) => self.cold_label(v),
            };
            let at = self.tls(TLS_ARGS + 4 * n as u64);
            self.builder.store(l, at);
        }
        let at = self.tls(TLS_ARG_COUNT);
        self.builder.store(self.const32(slots.len() as u32), at);
        let callee = self.builder.cast(Opcode::LLVMPtrToInt, callee, self.ctx.int(64));
        let at = self.tls(TLS_ARG_STAMP);
        self.builder.store(callee, at);
    }

    /// True if a call may stamp its arguments. Call it in the call's own block: a label that is
    /// pending there is unknown in the next one, where the result of an `invoke` is loaded.
    pub fn may_stamp_arguments(&self, i: Value) -> bool {
        (0..i.argument_count()).any(|n| {
            let v = i.operand(n);
            self.has_label(v)
                || i.call_byval_type(n).is_some()
                || may_be_unmodelled(i.callee()) && v.ty() == self.ctx.pointer()
        })
    }

    /// Loads the label of a call's result and clears the slots. `passed`: see
    /// [`Self::may_stamp_arguments`].
    pub fn load_result_label(&mut self, i: Value, passed: bool) {
        if i.callee().is_inline_asm() || i.callee().intrinsic().is_some() || !passes_labels(i) {
            return;
        }
        let lt = label_type(self.ctx, i.ty()).filter(|_| self.labelled.contains(&i));
        let pointer = self.ctx.pointer();
        if lt.is_none() && !passed {
            return;
        }
        let place = self.tls(TLS_RET_STAMP);
        let mut stamp = self.builder.load(self.ctx.int(64), place);
        if passed {
            let place = self.tls(TLS_ARG_STAMP);
            let args = self.builder.load(self.ctx.int(64), place);
            stamp = self.builder.or(stamp, args);
        }
        let some = self.builder.is_set(stamp);
        let callee = i.callee();
        let nothing: Vec<Value> = lt.iter().map(|t| t.null()).collect();
        let is_verifier = callee.is_declaration() && callee.name().starts_with(VERIFIER_PREFIX);
        let width = i.ty().int_width().or((i.ty() == pointer).then_some(64));
        let declared = width.filter(|_| is_verifier);
        // An integer that an unmodelled function returns.
        let is_foreign = may_be_unmodelled(callee) || !callee.is_function();
        let lost = i.ty().int_width().filter(|&w| w <= 64 && lt.is_some() && is_foreign);
        let site = lost.map(|_| self.extra_site(i, SiteKind::Call));
        let got = self.guarded(some, &nothing, |e| {
            let callee = e.builder.cast(Opcode::LLVMPtrToInt, callee, e.ctx.int(64));
            let mut first = e.builder.call(e.rt.after_call, &[callee]);
            let Some(lt) = lt else { return vec![] };
            if let Some(width) = declared {
                let width = e.ctx.constant(32, width.into());
                first = e.builder.call(e.rt.resize_result, &[first, width]);
            }
            if let Some((site, width)) = site.zip(lost) {
                let value = e.bits64(i);
                let width = e.const32(width);
                first = e.builder.call(e.rt.lost_result, &[site, first, value, width]);
            }
            let mut whole = lt.null();
            for (n, leaf) in leaves(e.module, i.ty()).iter().take(RET_SLOTS).enumerate() {
                let l = match n {
                    0 => first,
                    _ => {
                        let at = e.tls(TLS_RETS + 4 * n as u64);
                        e.builder.load(e.ctx.int(32), at)
                    }
                };
                whole = e.put_leaf(whole, l, &leaf.path, leaf.in_vector);
            }
            vec![whole]
        });
        if let Some(&label) = got.first() {
            self.set_label(i, label);
        }
    }
}

/// Prefix of functions that each program declares itself, with any result type; see
/// `verifier.rs` of the runtime.
const VERIFIER_PREFIX: &str = "__VERIFIER_";

/// True if a callee may record decisions, which then belong to the call's site: a
/// model, called by name or through a pointer, or a function of Pleach's headers.
fn may_decide(callee: Value) -> bool {
    let of_headers = |name: &str| {
        callee.is_declaration()
            && ["pleach_", "klee_", "__Crest", VERIFIER_PREFIX].iter().any(|p| name.starts_with(p))
    };
    !callee.is_function() || {
        let name = callee.name();
        name.starts_with("__pleach_m_") || of_headers(&name)
    }
}

/// True if a callee may have neither instrumentation nor a model. Its effect on
/// labelled memory is then lost, and the statistics report it.
fn may_be_unmodelled(callee: Value) -> bool {
    callee.is_function() && callee.is_declaration() && !may_decide(callee)
}

/// True for functions that use an object, but not what the program keeps in it or behind it:
/// locks, and functions of C++ and its runtime (casts, exceptions), whose objects are mostly
/// strings and containers.
fn uses_no_contents(name: &str) -> bool {
    let prefixes = ["pthread_", "sem_", "mtx_", "cnd_", "_Z", "__cxa_", "__dynamic_cast"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// What is stored in an argument slot.
enum Slot {
    /// A label that is ready.
    Label(Value),
    /// The label of this scalar, which may be pending.
    LabelOf(Value),
}

/// Where the x86-64 calling convention puts each argument: six integer registers,
/// eight vector registers, and then the overflow area, in order.
#[derive(Default)]
struct ArgumentPlaces {
    integers: u64,
    floats: u64,
    overflow: u64,
    /// Offset and size of each variadic slot, see `VaShape`.
    variadic: Vec<(u64, u64)>,
}

impl ArgumentPlaces {
    fn add(&mut self, e: &Emitter, v: Value, byval: Option<Type>, variadic: bool) {
        const SAVED_INTEGERS: u64 = 48;
        const OVERFLOW: u64 = 192;
        let bytes = e.module.store_size(v.ty());
        let place = if let Some(t) = byval {
            let at = self.overflow;
            self.overflow += e.module.size_of(t).next_multiple_of(8);
            (OVERFLOW + at, VA_BYVAL | e.module.size_of(t).min(VA_BYVAL - 1))
        } else if is_float(v.ty()) {
            self.floats += 1;
            match self.floats {
                n if n <= 8 => (SAVED_INTEGERS + 16 * (n - 1), bytes),
                _ => self.spill(OVERFLOW, bytes),
            }
        } else if v.ty().int_width().is_some_and(|w| w <= 64) || bytes == 8 {
            self.integers += 1;
            match self.integers {
                n if n <= 6 => (8 * (n - 1), bytes),
                _ => self.spill(OVERFLOW, bytes),
            }
        } else {
            self.overflow = self.overflow.next_multiple_of(16);
            self.spill(OVERFLOW, bytes)
        };
        if variadic && label_type(e.ctx, v.ty()).is_some() {
            // The parts of vectors and structures in registers get no labels.
            let parts = leaves(e.module, v.ty()).len();
            self.variadic.push(if parts == 1 { place } else { (0, 0) });
            self.variadic.extend((1..parts).map(|_| (0, 0)));
        }
    }

    fn spill(&mut self, base: u64, bytes: u64) -> (u64, u64) {
        let at = self.overflow;
        self.overflow += bytes.next_multiple_of(8);
        (base + at, bytes)
    }

    /// Emits the call's `VaShape` as constant data.
    fn shape(&self, e: &Emitter, first: u32) -> Value {
        let mut bytes = Vec::new();
        bytes.extend(first.to_le_bytes());
        bytes.extend((self.variadic.len() as u32).to_le_bytes());
        for &(offset, size) in &self.variadic {
            bytes.extend((offset as u16).to_le_bytes());
            bytes.extend((size as u16).to_le_bytes());
        }
        let data = e.module.add_data("__pleach_shape", e.ctx.bytes(&bytes), None, true);
        data.set_alignment(8);
        data
    }
}
