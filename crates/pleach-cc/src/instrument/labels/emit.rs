//! Rebuilds a function's body with code for its labels.
//!
//! LLVM's C API cannot split a block. So every block's instructions are taken
//! out and put back one by one, into a chain of blocks that starts with the
//! original (branches to it stay right) and grows where a test is needed; phi
//! nodes are made anew, because the block that jumps is now the chain's end.
//!
//! Blocks are visited in reverse post-order: a value's label exists before it
//! is asked for, except through phi nodes, whose labels are phi nodes too.
//!
//! A test for every operation would make several times as many blocks as the
//! program has. So labels of plain operations are *pending* until something
//! with an effect wants them (a store, a call, a marker) or the block ends;
//! then one test of the labels that they all start from guards the calls for
//! the whole tree. (`nodes` makes those calls.)

use super::flow;
use super::markers::{Mark, mark_of};
use super::runtime::Runtime;
use super::shape::{is_float, label_type, scalar_bits};
use crate::instrument::llvm::{Block, Builder, Context, Module, Opcode, Type, Value};
use crate::instrument::sites::{self, Extra};
use pleach_abi::section::{SITES, Site, SiteKind};
use pleach_abi::shm::Loss;
use std::collections::{HashMap, HashSet};

pub struct Emitter<'a> {
    pub ctx: &'a Context,
    pub module: &'a Module,
    pub rt: &'a Runtime,
    pub b: Builder,
    pub function: Value,
    pub labelled: HashSet<Value>,
    /// Labels that exist.
    labels: HashMap<Value, Value>,
    /// Values of the current block whose labels have not been asked for.
    pending: HashSet<Value>,
    /// How many users may ask for a value's label, and which values are used
    /// beyond their block, before any code was added.
    uses: HashMap<Value, usize>,
    outgoing: HashSet<Value>,
    /// Conditions that a marker holds on to.
    marked: HashSet<Value>,
    /// Labels made in the cold block that is being written.
    memo: HashMap<Value, Value>,
    /// Last block of each original block's chain.
    ends: HashMap<Block, Block>,
    extra: Extra,
    /// Stands for the extra sites' records until their number is known.
    extra_records: Option<Value>,
    /// Room for operands that do not fit registers.
    pub scratch: Option<Value>,
    /// Labels of variadic arguments until `va_start`.
    pub saved: Option<Value>,
    prof: u32,
    unlikely: Value,
}

impl<'a> Emitter<'a> {
    pub fn new(
        ctx: &'a Context,
        module: &'a Module,
        rt: &'a Runtime,
        function: Value,
        source: &str,
    ) -> Self {
        let labelled = flow::labelled(ctx, function);
        let (uses, outgoing) = uses(function, &labelled);
        Emitter {
            ctx,
            module,
            rt,
            b: ctx.builder(),
            function,
            labelled,
            uses,
            outgoing,
            marked: marked(function),
            labels: HashMap::new(),
            pending: HashSet::new(),
            memo: HashMap::new(),
            ends: HashMap::new(),
            extra: Extra::new(function, source),
            extra_records: None,
            scratch: None,
            saved: None,
            prof: ctx.metadata_kind("prof"),
            unlikely: ctx.unlikely(),
        }
    }

    pub fn run(mut self) {
        let order = reverse_post_order(self.function);
        let reached: HashSet<Block> = order.iter().copied().collect();
        let mut phis: Vec<(Value, Value, Option<Value>)> = Vec::new();
        let mut invokes: HashMap<Block, Value> = HashMap::new();
        for (n, &block) in order.iter().enumerate() {
            let all = block.instructions();
            all.iter().for_each(|i| i.detach());
            self.b.no_location();
            self.b.at_end(block);
            let (heads, rest): (Vec<Value>, Vec<Value>) =
                all.into_iter().partition(|i| i.opcode() == Opcode::LLVMPHI);
            for old in heads {
                phis.push(self.start_phi(old));
            }
            if n == 0 {
                self.enter(&rest);
            }
            if let Some(&invoke) = invokes.get(&block) {
                self.after_call(invoke);
            }
            for &i in &rest {
                if n == 0 && is_static_alloca(i) {
                    continue;
                }
                self.b.locate_as(i);
                if is_terminator(i) {
                    self.force_outgoing(&rest);
                }
                self.instruction(i);
                if i.opcode() == Opcode::LLVMInvoke {
                    invokes.insert(i.normal_destination(), i);
                }
            }
            self.pending.clear();
            self.ends.insert(block, self.b.block());
        }
        self.finish_phis(phis, &reached);
        self.finish_sites();
    }

    /// A phi node in the old one's place and one for its label, both still
    /// without incoming values.
    fn start_phi(&mut self, old: Value) -> (Value, Value, Option<Value>) {
        let new = self.b.phi(old.ty());
        let label = label_type(self.ctx, old.ty())
            .filter(|_| self.labelled.contains(&old))
            .map(|t| self.b.phi(t));
        if let Some(l) = label {
            self.labels.insert(old, l);
        }
        (old, new, label)
    }

    fn finish_phis(&mut self, phis: Vec<(Value, Value, Option<Value>)>, reached: &HashSet<Block>) {
        for (old, new, label) in &phis {
            for (v, from) in old.incoming() {
                if !reached.contains(&from) {
                    continue;
                }
                let end = self.ends[&from];
                new.add_incoming(v, end);
                if let Some(label) = label {
                    label.add_incoming(self.ready(v), end);
                }
            }
        }
        for (old, new, _) in phis {
            old.replace_with(new);
            old.discard();
        }
    }

    /// The label of a value: zero unless it may carry one.
    pub fn label(&mut self, v: Value) -> Value {
        self.force(&[v]);
        self.ready(v)
    }

    /// The label of a value that is not pending.
    fn ready(&self, v: Value) -> Value {
        match self.labels.get(&v) {
            Some(&l) => l,
            None => label_type(self.ctx, v.ty()).unwrap_or(self.ctx.int(32)).null(),
        }
    }

    /// A label inside a cold block, after [`Self::compute`].
    pub fn cold(&self, v: Value) -> Value {
        self.memo.get(&v).copied().unwrap_or_else(|| self.ready(v))
    }

    pub fn has_label(&self, v: Value) -> bool {
        self.labels.contains_key(&v) || self.pending.contains(&v)
    }

    pub fn set_label(&mut self, v: Value, label: Value) {
        if !label.is_null() {
            self.labels.insert(v, label);
        }
    }

    /// The pending operations under some values, operands first, and the
    /// labels that these start from.
    fn tree(&self, values: &[Value]) -> (Vec<Value>, Vec<Value>) {
        let (mut order, mut leaves) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        // Each value is met twice: on the way down, and when its operands are done.
        let mut stack: Vec<(Value, bool)> = values.iter().rev().map(|&v| (v, false)).collect();
        while let Some((v, done)) = stack.pop() {
            if done {
                order.push(v);
            } else if let Some(&l) = self.labels.get(&v) {
                if seen.insert(v) {
                    leaves.push(l);
                }
            } else if self.pending.contains(&v) && seen.insert(v) {
                stack.push((v, true));
                stack.extend(operands(v).into_iter().map(|o| (o, false)));
            }
        }
        (order, leaves)
    }

    /// Makes the labels of pending values, in a cold block.
    fn compute(&mut self, order: &[Value]) {
        for &v in order {
            let l = self.node(v);
            self.memo.insert(v, l);
        }
    }

    /// Runs `cold`, with the labels of `values` at hand through
    /// [`Self::cold`], if any of them is labelled or `also` is not 0.
    pub fn sink(&mut self, values: &[Value], also: Option<Value>, cold: impl FnOnce(&mut Self)) {
        let (order, mut leaves) = self.tree(values);
        leaves.extend(also);
        let Some(any) = self.any(&leaves) else { return };
        let condition = self.b.is_set(any);
        let shared: Vec<Value> = order.iter().copied().filter(|v| self.is_shared(v)).collect();
        self.guard_tree(condition, &order, &shared, cold);
    }

    /// Makes pending labels ready.
    pub fn force(&mut self, values: &[Value]) {
        let (order, leaves) = self.tree(values);
        if order.is_empty() {
            return;
        }
        let kept: Vec<Value> =
            order.iter().copied().filter(|v| values.contains(v) || self.is_shared(v)).collect();
        match self.any(&leaves) {
            Some(any) => {
                let set = self.b.is_set(any);
                self.guard_tree(set, &order, &kept, |_| {});
            }
            None => kept.iter().for_each(|v| {
                self.pending.remove(v);
            }),
        }
    }

    fn guard_tree(
        &mut self,
        condition: Value,
        order: &[Value],
        kept: &[Value],
        cold: impl FnOnce(&mut Self),
    ) {
        let zeros = vec![self.zero(); kept.len()];
        let outer = std::mem::take(&mut self.memo);
        let labels = self.guarded(condition, &zeros, |e| {
            e.compute(order);
            let kept = kept.iter().map(|&v| e.cold(v)).collect();
            cold(e);
            kept
        });
        self.memo = outer;
        for (&v, l) in kept.iter().zip(labels) {
            self.pending.remove(&v);
            self.labels.insert(v, l);
        }
    }

    fn is_shared(&self, v: &Value) -> bool {
        self.uses.get(v).is_some_and(|&n| n > 1)
    }

    /// At the end of a block: what other blocks may ask for must be ready.
    fn force_outgoing(&mut self, body: &[Value]) {
        let wanted = |v: &Value| self.pending.contains(v) && self.outgoing.contains(v);
        let outgoing: Vec<Value> = body.iter().copied().filter(wanted).collect();
        self.force(&outgoing);
    }

    pub fn zero(&self) -> Value {
        self.ctx.constant(32, 0)
    }

    pub fn number(&self, n: u32) -> Value {
        self.ctx.constant(32, n.into())
    }

    pub fn number64(&self, n: u64) -> Value {
        self.ctx.constant(64, n)
    }

    /// Some of these labels, or-ed; `None` if all are known to be zero.
    pub fn any(&self, labels: &[Value]) -> Option<Value> {
        labels.iter().copied().filter(|l| !l.is_null()).reduce(|a, b| self.b.or(a, b))
    }

    /// Runs `cold` in a block of its own if `condition` holds; its result, or
    /// `otherwise`.
    pub fn guarded(
        &mut self,
        condition: Value,
        otherwise: &[Value],
        cold: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let head = self.b.block();
        let slow = self.ctx.block(self.function, c"");
        let join = self.ctx.block(self.function, c"");
        let branch = self.b.branch(condition, slow, join);
        branch.set_metadata(self.prof, self.unlikely);
        self.b.at_end(slow);
        let values = cold(self);
        let end = self.b.block();
        self.b.jump(join);
        self.b.at_end(join);
        values
            .into_iter()
            .zip(otherwise)
            .map(|(v, &o)| {
                let p = self.b.phi(o.ty());
                p.add_incoming(o, head);
                p.add_incoming(v, end);
                p
            })
            .collect()
    }

    /// `guarded` on any of the labels, for one label.
    pub fn if_any(&mut self, labels: &[Value], cold: impl FnOnce(&mut Self) -> Value) -> Value {
        let Some(any) = self.any(labels) else { return self.zero() };
        let set = self.b.is_set(any);
        let zero = self.zero();
        self.guarded(set, &[zero], |e| vec![cold(e)])[0]
    }

    /// A record for an instruction that only this half has as a site.
    pub fn site(&mut self, i: Value, kind: SiteKind) -> Value {
        let base = *self.extra_records.get_or_insert_with(|| {
            self.module.add_external("__pleach_extra_sites", self.ctx.int(8))
        });
        let n = self.extra.add(i, kind);
        base.offset_by(self.ctx, (n * size_of::<Site>()) as u64)
    }

    fn finish_sites(&mut self) {
        let Some(standin) = self.extra_records else { return };
        let kinds: Vec<_> = self.extra.kinds.iter().map(|&k| (k, 0)).collect();
        let array = sites::site_array(self.ctx, &self.extra.record, &kinds);
        let data = self.module.add_data("__pleach_sites", array, Some(SITES), true);
        data.set_alignment(8);
        standin.replace_with(data);
        standin.delete_global();
        sites::place(self.ctx, self.module, self.extra.function, data, &self.extra.record);
    }

    /// A scalar's bits as a 64-bit number.
    pub fn bits64(&self, v: Value) -> Value {
        let (t, wide) = (v.ty(), self.ctx.int(64));
        if t == wide {
            return v;
        }
        if t.int_width().is_some_and(|w| w > 64) {
            return self.b.cast(Opcode::LLVMTrunc, v, wide);
        }
        if is_float(t) {
            let bits = self.ctx.int(scalar_bits(t).unwrap_or(64));
            return self.bits64(self.b.cast(Opcode::LLVMBitCast, v, bits));
        }
        match t.int_width() {
            Some(_) => self.b.cast(Opcode::LLVMZExt, v, wide),
            None => self.b.cast(Opcode::LLVMPtrToInt, v, wide),
        }
    }

    fn instruction(&mut self, i: Value) {
        use Opcode::*;
        match i.opcode() {
            LLVMLoad => self.load(i),
            LLVMStore => self.store(i),
            LLVMAtomicRMW => self.atomic_update(i),
            LLVMAtomicCmpXchg => self.atomic_exchange(i),
            LLVMCall if flow::is_token(i) => self.token(i),
            LLVMCall => match mark_of(i.callee()) {
                Some(mark) => self.marker(i, &mark),
                None => self.call(i),
            },
            LLVMLandingPad => {
                self.b.insert(i);
                self.unwound();
            }
            LLVMInvoke | LLVMCallBr => self.call(i),
            LLVMRet => self.leave(i),
            LLVMBr if i.is_conditional() => self.unmarked_branch(i),
            LLVMSwitch => self.unmarked_switch(i),
            LLVMIndirectBr => self.indirect_jump(i),
            _ => {
                self.b.insert(i);
                self.plain(i);
            }
        }
    }

    /// Labels of an instruction without effects, which is already in place.
    pub fn plain(&mut self, i: Value) {
        use Opcode::*;
        if !self.labelled.contains(&i) {
            self.lost_to_float(i);
            return;
        }
        if self.is_pending_kind(i) {
            if operands(i).iter().any(|&o| self.has_label(o)) {
                self.pending.insert(i);
            }
            return;
        }
        let label = match i.opcode() {
            LLVMBitCast => self.bitcast(i),
            LLVMFreeze | LLVMAddrSpaceCast => self.label(i.operand(0)),
            LLVMSelect => {
                let (la, lb) = (self.label(i.operand(1)), self.label(i.operand(2)));
                self.b.select(i.operand(0), la, lb)
            }
            LLVMExtractValue => {
                let l = self.label(i.operand(0));
                i.indices().into_iter().fold(l, |l, n| self.b.extract_value(l, n))
            }
            LLVMInsertValue => {
                let (whole, part) = (self.label(i.operand(0)), self.label(i.operand(1)));
                self.insert_at(whole, part, &i.indices())
            }
            LLVMExtractElement => {
                let l = self.label(i.operand(0));
                self.b.extract_element(l, i.operand(1))
            }
            LLVMInsertElement => {
                let (whole, part) = (self.label(i.operand(0)), self.label(i.operand(1)));
                self.b.insert_element(whole, part, i.operand(2))
            }
            LLVMShuffleVector => self.shuffle(i),
            _ => return,
        };
        self.set_label(i, label);
    }

    /// A labelled operand of a floating-point or vector operation is lost;
    /// the trace counts it.
    fn lost_to_float(&mut self, i: Value) {
        use Opcode::*;
        if matches!(
            i.opcode(),
            LLVMFAdd
                | LLVMFSub
                | LLVMFMul
                | LLVMFDiv
                | LLVMFRem
                | LLVMFNeg
                | LLVMFCmp
                | LLVMSIToFP
                | LLVMUIToFP
                | LLVMFPToSI
                | LLVMFPToUI
                | LLVMFPExt
                | LLVMFPTrunc
        ) {
            let values: Vec<Value> = (0..i.operand_count()).map(|n| i.operand(n)).collect();
            self.lose_values(&values, Loss::Float);
        }
    }

    /// Counts a loss if any of these scalars is labelled.
    pub fn lose_values(&mut self, values: &[Value], cause: Loss) {
        let scalars: Vec<Value> =
            values.iter().copied().filter(|v| scalar_bits(v.ty()).is_some()).collect();
        self.sink(&scalars, None, |e| {
            e.b.call(e.rt.loss, &[e.number(cause as u32)]);
        });
    }

    pub fn lose(&mut self, labels: &[Value], cause: Loss) {
        if let Some(any) = self.any(labels) {
            let set = self.b.is_set(any);
            self.guarded(set, &[], |e| {
                e.b.call(e.rt.loss, &[e.number(cause as u32)]);
                vec![]
            });
        }
    }

    fn insert_at(&mut self, whole: Value, part: Value, path: &[u32]) -> Value {
        match path {
            [] => part,
            [n, rest @ ..] => {
                let inner = self.b.extract_value(whole, *n);
                let inner = self.insert_at(inner, part, rest);
                self.b.insert_value(whole, inner, *n)
            }
        }
    }

    fn shuffle(&mut self, i: Value) -> Value {
        let (a, b) = (self.label(i.operand(0)), self.label(i.operand(1)));
        let t = self.ctx.int(32);
        let mask: Vec<Value> = i
            .mask()
            .into_iter()
            .map(|n| if n < 0 { self.number(0) } else { self.number(n as u32) })
            .collect();
        let mask = t.constant_vector(&mask);
        self.b.shuffle(a, b, mask)
    }

    /// Between scalars of one width the label stays; between a vector and a
    /// scalar it is put together or taken apart.
    fn bitcast(&mut self, i: Value) -> Value {
        let (from, to) = (i.operand(0), i);
        let label = self.label(from);
        let zero = label_type(self.ctx, to.ty()).map_or(self.zero(), Type::null);
        match (scalar_bits(from.ty()), scalar_bits(to.ty())) {
            (Some(_), Some(_)) => label,
            (None, Some(bits)) if bits <= 64 => self.join_elements(from, label),
            (Some(bits), None) if bits <= 128 => self.split_elements(from, label, to.ty(), zero),
            _ => {
                let whole = self.elements(label);
                self.lose(&whole, Loss::Shape);
                zero
            }
        }
    }

    fn elements(&mut self, label: Value) -> Vec<Value> {
        if label.ty() == self.ctx.int(32) {
            return vec![label];
        }
        if label.is_null()
            || label.ty().kind() != crate::instrument::llvm::TypeKind::LLVMVectorTypeKind
        {
            return vec![];
        }
        (0..label.ty().vector_len())
            .map(|n| self.b.extract_element(label, self.number(n)))
            .collect()
    }

    fn join_elements(&mut self, from: Value, label: Value) -> Value {
        let parts = self.elements(label);
        let Some(room) = self.scratch.filter(|_| parts.len() <= 16) else { return self.zero() };
        self.if_any(&parts.clone(), |e| {
            for (n, &l) in parts.iter().enumerate() {
                let v = e.b.extract_element(from, e.number(n as u32));
                e.put_operand(room, n as u64, v, l);
            }
            let n = e.number(parts.len() as u32);
            e.b.call(e.rt.concat, &[n, room])
        })
    }

    fn split_elements(&mut self, _from: Value, label: Value, to: Type, zero: Value) -> Value {
        let (n, bits) = (to.vector_len(), scalar_bits(to.element()).unwrap_or(8));
        if label.is_null() {
            return zero;
        }
        let set = self.b.is_set(label);
        self.guarded(set, &[zero], |e| {
            let mut whole = zero;
            for k in 0..n {
                let l = e.b.call(e.rt.extract, &[label, e.number(k * bits), e.number(bits)]);
                whole = e.b.insert_element(whole, l, e.number(k));
            }
            vec![whole]
        })[0]
    }

    fn marker(&mut self, i: Value, mark: &Mark) {
        let (v, site) = (i.operand(0), i.operand(1));
        self.sink(&[v], None, |e| {
            let l = e.cold(v);
            match mark {
                Mark::Branch => {
                    let dir = e.b.cast(Opcode::LLVMZExt, v, e.ctx.int(32));
                    e.b.call(e.rt.branch, &[site, l, dir])
                }
                Mark::Switch => e.b.call(e.rt.switch, &[site, l]),
                Mark::Divisor => e.b.call(e.rt.divisor, &[site, l]),
            };
        });
        i.discard();
    }

    /// A branch that the optimiser made, such as one of a comparison of strings
    /// written out: nobody marked it, and it decides all the same.
    fn unmarked_branch(&mut self, i: Value) {
        let c = i.condition();
        if self.has_label(c) && !self.marked.contains(&c) {
            let site = self.site(i, SiteKind::Branch);
            self.sink(&[c], None, |e| {
                let l = e.cold(c);
                let dir = e.b.cast(Opcode::LLVMZExt, c, e.ctx.int(32));
                e.b.call(e.rt.branch, &[site, l, dir]);
            });
        }
        self.b.insert(i);
    }

    /// The same for a switch.
    fn unmarked_switch(&mut self, i: Value) {
        let c = i.condition();
        let decides = i.successors().len() > 1;
        if decides && self.has_label(c) && !self.marked.contains(&c) {
            let site = self.site(i, SiteKind::Switch);
            self.sink(&[c], None, |e| {
                let l = e.cold(c);
                e.b.call(e.rt.switch, &[site, l]);
            });
        }
        self.b.insert(i);
    }

    fn indirect_jump(&mut self, i: Value) {
        self.indirect_target(i, i.operand(0));
        self.b.insert(i);
    }

    pub fn indirect_target(&mut self, i: Value, target: Value) {
        if !self.has_label(target) {
            return;
        }
        let site = self.site(i, SiteKind::Call);
        self.sink(&[target], None, |e| {
            let l = e.cold(target);
            e.b.call(e.rt.indirect, &[site, l]);
        });
    }
}

/// The operands that an operation's label depends on.
fn operands(v: Value) -> Vec<Value> {
    let n = if v.is_call() { v.argument_count() } else { v.operand_count() };
    (0..n).map(|k| v.operand(k)).collect()
}

/// The values that markers mark, freezes of them included.
fn marked(function: Value) -> HashSet<Value> {
    let mut all = HashSet::new();
    for block in function.blocks() {
        for i in block.instructions() {
            if i.is_call() && mark_of(i.callee()).is_some() {
                let v = i.operand(0);
                all.insert(v);
                let frozen = |u: &Value| u.is_instruction() && u.opcode() == Opcode::LLVMFreeze;
                all.extend(v.users().into_iter().filter(frozen));
                // The optimiser rewrites what a switch or a loop's exit goes by,
                // but leaves it behind its marker. A condition that only markers
                // still use is one that was rewritten.
                let kind = match mark_of(i.callee()) {
                    Some(Mark::Switch) => Some(Opcode::LLVMSwitch),
                    Some(Mark::Branch) if is_rewritten(v) => Some(Opcode::LLVMBr),
                    _ => None,
                };
                let end = block.terminator().filter(|t| kind == Some(t.opcode()));
                all.extend(end.filter(|t| t.operand_count() > 1).map(Value::condition));
            }
        }
    }
    all
}

fn is_rewritten(v: Value) -> bool {
    !v.is_constant() && v.users().iter().all(|u| u.is_call() && mark_of(u.callee()).is_some())
}

/// For each labelled value the number of users that may ask for its label, and
/// the values that some other block uses.
fn uses(function: Value, labelled: &HashSet<Value>) -> (HashMap<Value, usize>, HashSet<Value>) {
    let (mut uses, mut outgoing) = (HashMap::new(), HashSet::new());
    for block in function.blocks() {
        let body = block.instructions();
        let here: HashSet<Value> = body.iter().copied().collect();
        for &v in body.iter().filter(|v| labelled.contains(v)) {
            let users = v.users();
            let asking = |u: &&Value| !matches!(u.opcode(), Opcode::LLVMBr | Opcode::LLVMSwitch);
            uses.insert(v, users.iter().filter(asking).count().max(1));
            if users.iter().any(|u| !here.contains(u) || u.opcode() == Opcode::LLVMPHI) {
                outgoing.insert(v);
            }
        }
    }
    (uses, outgoing)
}

fn is_terminator(i: Value) -> bool {
    use Opcode::*;
    matches!(
        i.opcode(),
        LLVMRet
            | LLVMBr
            | LLVMSwitch
            | LLVMIndirectBr
            | LLVMInvoke
            | LLVMUnreachable
            | LLVMCallBr
            | LLVMResume
    )
}

pub fn is_static_alloca(i: Value) -> bool {
    i.opcode() == Opcode::LLVMAlloca && i.operand(0).is_constant()
}

fn reverse_post_order(function: Value) -> Vec<Block> {
    let Some(&entry) = function.blocks().first() else { return Vec::new() };
    let mut seen = HashSet::from([entry]);
    let mut out = Vec::new();
    // Iterative: real functions have graphs tens of thousands of blocks deep.
    let mut stack = vec![(entry, entry.successors().into_iter())];
    while let Some((block, rest)) = stack.last_mut() {
        match rest.next() {
            Some(next) if seen.insert(next) => stack.push((next, next.successors().into_iter())),
            Some(_) => {}
            None => {
                out.push(*block);
                stack.pop();
            }
        }
    }
    out.reverse();
    out
}
