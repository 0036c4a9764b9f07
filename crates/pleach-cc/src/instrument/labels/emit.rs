//! Rebuilds a function's body with code for its labels.
//!
//! LLVM's C API cannot split a block. So the instructions of a block are removed and
//! inserted again one by one, into a chain of blocks. The chain starts with the
//! original block, so branches to it stay valid, and it grows where a test is needed.
//! Phi nodes are replaced, because the edges now come from the ends of the chains.
//!
//! Blocks are visited in reverse post-order, so a label exists before it is used. The
//! exception are phi nodes; their labels are phi nodes, too.
//!
//! `pending` makes labels and cold blocks; this module decides for each instruction
//! what to emit.

use super::flow;
use super::markers::{Mark, mark_of};
use super::runtime::Runtime;
use super::shape::{is_float, label_type, scalar_bits};
use super::stack::is_lifetime_marker;
use crate::instrument::llvm::{Block, Builder, Context, Module, Opcode, Value};
use crate::instrument::sites::{self, ExtraSites};
use pleach_abi::layout::TLS_LOSSES;
use pleach_abi::section::{SITES, Site, SiteKind};
use pleach_abi::shm::Loss;
use std::collections::{HashMap, HashSet};

pub struct Emitter<'a> {
    pub ctx: &'a Context,
    pub module: &'a Module,
    pub rt: &'a Runtime,
    pub builder: Builder,
    pub function: Value,
    pub labelled: HashSet<Value>,
    /// Labels that are ready.
    pub(super) labels: HashMap<Value, Value>,
    /// Values of the current block whose labels are pending.
    pub(super) pending: HashSet<Value>,
    /// How many users may need a value's label, counted before any code was added.
    pub(super) uses: HashMap<Value, usize>,
    /// Values that other blocks use.
    pub(super) outgoing: HashSet<Value>,
    /// Conditions that have a marker.
    marked: HashSet<Value>,
    /// Branches of the module that always go the same way.
    proved: &'a HashSet<Value>,
    /// Labels made in the current cold block.
    pub(super) cold_labels: HashMap<Value, Value>,
    /// Last block of each original block's chain.
    ends: HashMap<Block, Block>,
    extra_sites: ExtraSites,
    /// Placeholder for the extra sites' records until their number is known.
    extra_records: Option<Value>,
    /// Memory for operands that are not passed in registers.
    pub scratch: Option<Value>,
    /// Arrays on the stack that the runtime is told.
    pub(super) stack_arrays: Vec<Value>,
    /// Memory for the labels of variadic arguments until `va_start`.
    pub va_labels: Option<Value>,
    /// True if the target has fused multiply-add in this function.
    pub(super) fuses: bool,
    pub(super) prof: u32,
    pub(super) unlikely: Value,
}

impl<'a> Emitter<'a> {
    pub fn new(
        ctx: &'a Context,
        module: &'a Module,
        rt: &'a Runtime,
        function: Value,
        source: &str,
        proved: &'a HashSet<Value>,
    ) -> Self {
        let labelled = flow::find_labelled(ctx, function);
        let (uses, outgoing) = count_uses(function, &labelled);
        Emitter {
            ctx,
            module,
            rt,
            builder: ctx.builder(),
            function,
            labelled,
            uses,
            outgoing,
            marked: find_marked(function),
            proved,
            labels: HashMap::new(),
            pending: HashSet::new(),
            cold_labels: HashMap::new(),
            ends: HashMap::new(),
            extra_sites: ExtraSites::new(function, source),
            extra_records: None,
            scratch: None,
            stack_arrays: Vec::new(),
            va_labels: None,
            fuses: fuses_multiply_add(function),
            prof: ctx.metadata_kind("prof"),
            unlikely: ctx.unlikely(),
        }
    }

    pub fn run(mut self) {
        let order = reverse_post_order(self.function);
        let reached: HashSet<Block> = order.iter().copied().collect();
        let mut phis: Vec<(Value, Value, Option<Value>)> = Vec::new();
        let mut invokes: HashMap<Block, (Value, bool)> = HashMap::new();
        for (n, &block) in order.iter().enumerate() {
            let all = block.instructions();
            all.iter().for_each(|i| i.detach());
            self.builder.no_location();
            self.builder.at_end(block);
            let (heads, rest): (Vec<Value>, Vec<Value>) =
                all.into_iter().partition(|i| i.opcode() == Opcode::LLVMPHI);
            for old in heads {
                phis.push(self.start_phi(old));
            }
            if n == 0 {
                self.emit_entry(&rest);
                self.enter_stack_arrays(&rest);
            }
            if let Some(&(invoke, passed)) = invokes.get(&block) {
                self.load_result_label(invoke, passed);
            }
            for &i in &rest {
                if n == 0 && is_static_alloca(i) {
                    continue;
                }
                self.builder.locate_as(i);
                if is_terminator(i) {
                    self.make_outgoing_ready(&rest);
                }
                self.emit_instruction(i);
                if i.opcode() == Opcode::LLVMInvoke {
                    invokes.insert(i.normal_destination(), (i, self.may_stamp_arguments(i)));
                }
            }
            self.pending.clear();
            self.ends.insert(block, self.builder.block());
        }
        self.finish_phis(phis, &reached);
        self.finish_sites();
    }

    /// Creates a phi node that replaces the old one, and one for its label. Both get
    /// their incoming values later.
    fn start_phi(&mut self, old: Value) -> (Value, Value, Option<Value>) {
        let new = self.builder.phi(old.ty());
        let label = label_type(self.ctx, old.ty())
            .filter(|_| self.labelled.contains(&old))
            .map(|t| self.builder.phi(t));
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
                    label.add_incoming(self.ready_label(v), end);
                }
            }
        }
        for (old, new, _) in phis {
            old.replace_with(new);
            old.discard();
        }
    }

    pub fn zero(&self) -> Value {
        self.ctx.constant(32, 0)
    }

    pub fn const32(&self, n: u32) -> Value {
        self.ctx.constant(32, n.into())
    }

    pub fn const64(&self, n: u64) -> Value {
        self.ctx.constant(64, n)
    }

    /// The record of an instruction that is a site only in this half.
    pub fn extra_site(&mut self, i: Value, kind: SiteKind) -> Value {
        let base = *self.extra_records.get_or_insert_with(|| {
            self.module.add_external("__pleach_extra_sites", self.ctx.int(8))
        });
        let n = self.extra_sites.add(i, kind);
        base.offset_by(self.ctx, (n * size_of::<Site>()) as u64)
    }

    fn finish_sites(&mut self) {
        let Some(placeholder) = self.extra_records else { return };
        let ExtraSites { function, record, kinds, .. } = &self.extra_sites;
        let kinds: Vec<_> = kinds.iter().map(|&k| (k, 0)).collect();
        let array = sites::site_array(self.ctx, record, &kinds);
        let data = self.module.add_data("__pleach_sites", array, Some(SITES), true);
        data.set_alignment(8);
        placeholder.replace_with(data);
        placeholder.delete_global();
        sites::emit_function_record(self.ctx, self.module, *function, data, record);
    }

    /// The low 64 bits of a scalar, as an integer.
    pub fn bits64(&self, v: Value) -> Value {
        let (t, wide) = (v.ty(), self.ctx.int(64));
        if t == wide {
            return v;
        }
        if t.int_width().is_some_and(|w| w > 64) {
            return self.builder.cast(Opcode::LLVMTrunc, v, wide);
        }
        if is_float(t) {
            let bits = self.ctx.int(scalar_bits(t).unwrap_or(64));
            return self.bits64(self.builder.cast(Opcode::LLVMBitCast, v, bits));
        }
        match t.int_width() {
            Some(_) => self.builder.cast(Opcode::LLVMZExt, v, wide),
            None => self.builder.cast(Opcode::LLVMPtrToInt, v, wide),
        }
    }

    fn emit_instruction(&mut self, i: Value) {
        use Opcode::*;
        match i.opcode() {
            LLVMLoad => self.emit_load(i),
            LLVMStore => self.emit_store(i),
            LLVMAtomicRMW => self.emit_atomic_update(i),
            LLVMAtomicCmpXchg => self.emit_atomic_exchange(i),
            LLVMCall if flow::is_token_result(i) => self.emit_token_result(i),
            LLVMCall => match mark_of(i.callee()) {
                Some(mark) => self.emit_marker(i, &mark),
                None if is_lifetime_marker(i) => {
                    self.builder.insert(i);
                    self.emit_lifetime_marker(i);
                }
                None => self.emit_call(i),
            },
            LLVMLandingPad => {
                self.builder.insert(i);
                self.emit_unwound();
            }
            LLVMInvoke | LLVMCallBr => self.emit_call(i),
            LLVMRet => {
                self.leave_stack_arrays();
                self.emit_return(i);
            }
            LLVMBr if i.is_conditional() => self.emit_branch(i),
            LLVMSwitch => self.emit_switch(i),
            LLVMIndirectBr => self.emit_indirect_jump(i),
            _ => {
                self.builder.insert(i);
                self.label_plain(i);
            }
        }
    }

    /// Labels an instruction without effects, which is already inserted.
    pub fn label_plain(&mut self, i: Value) {
        use Opcode::*;
        if !self.labelled.contains(&i) {
            self.count_lost_to_float(i);
            return;
        }
        if self.can_be_pending(i) {
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
                self.builder.select(i.operand(0), la, lb)
            }
            LLVMExtractValue => {
                let l = self.label(i.operand(0));
                i.indices().into_iter().fold(l, |l, n| self.builder.extract_value(l, n))
            }
            LLVMInsertValue => {
                let (whole, part) = (self.label(i.operand(0)), self.label(i.operand(1)));
                self.put_leaf(whole, part, &i.indices(), false)
            }
            LLVMExtractElement => {
                let l = self.label(i.operand(0));
                self.builder.extract_element(l, i.operand(1))
            }
            LLVMInsertElement => {
                let (whole, part) = (self.label(i.operand(0)), self.label(i.operand(1)));
                self.builder.insert_element(whole, part, i.operand(2))
            }
            LLVMShuffleVector => self.shuffle(i),
            _ => return,
        };
        self.set_label(i, label);
    }

    /// Counts a loss if a floating-point operation has a labelled operand.
    fn count_lost_to_float(&mut self, i: Value) {
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
            self.count_lost_values(&values, Loss::Float);
        }
    }

    /// Counts a loss if any of these scalars is labelled.
    pub fn count_lost_values(&mut self, values: &[Value], cause: Loss) {
        let scalars: Vec<Value> =
            values.iter().copied().filter(|v| scalar_bits(v.ty()).is_some()).collect();
        self.if_labelled(&scalars, None, |e| {
            e.builder.call(e.rt.loss, &[e.const32(cause as u32)]);
        });
    }

    /// Counts a loss if any of these labels is set.
    pub fn count_loss(&mut self, labels: &[Value], cause: Loss) {
        if let Some(any) = self.or_labels(labels) {
            let set = self.builder.is_set(any);
            self.guarded(set, &[], |e| {
                e.builder.call(e.rt.loss, &[e.const32(cause as u32)]);
                vec![]
            });
        }
    }

    fn emit_marker(&mut self, i: Value, mark: &Mark) {
        let (v, site) = (i.operand(0), i.operand(1));
        if matches!(mark, Mark::Branch) && !self.has_label(v) {
            if self.proved.contains(&site) {
                self.emit_for_losses(v, site, self.rt.proved);
            } else if depends_on_float(v, FLOAT_DEPTH) {
                self.emit_for_losses(v, site, self.rt.lost_float);
            }
        }
        self.if_labelled(&[v], None, |e| {
            let l = e.cold_label(v);
            match mark {
                Mark::Branch => {
                    let dir = e.builder.cast(Opcode::LLVMZExt, v, e.ctx.int(32));
                    e.builder.call(e.rt.branch, &[site, l, dir])
                }
                Mark::Switch => e.builder.call(e.rt.switch, &[site, l]),
                Mark::Divisor => e.builder.call(e.rt.divisor, &[site, l]),
                Mark::Jump => e.builder.call(e.rt.indirect, &[site, l]),
            };
        });
        i.discard();
    }

    /// In a run that records losses: calls `entry` for a branch whose condition has no label,
    /// because it is on floating point or because the compiler knows it.
    fn emit_for_losses(&mut self, condition: Value, site: Value, entry: Value) {
        let at = self.tls(TLS_LOSSES);
        let are_recorded = self.builder.load(self.ctx.int(32), at);
        let are_recorded = self.builder.is_set(are_recorded);
        self.guarded(are_recorded, &[], |e| {
            let dir = e.builder.cast(Opcode::LLVMZExt, condition, e.ctx.int(32));
            e.builder.call(entry, &[site, dir]);
            vec![]
        });
    }

    /// A branch. If it has no marker, the optimiser made it, for example by expanding a
    /// comparison of strings. Then its decisions are recorded here.
    fn emit_branch(&mut self, i: Value) {
        let c = i.condition();
        if self.has_label(c) && !self.marked.contains(&c) {
            let site = self.extra_site(i, SiteKind::Branch);
            self.if_labelled(&[c], None, |e| {
                let l = e.cold_label(c);
                let dir = e.builder.cast(Opcode::LLVMZExt, c, e.ctx.int(32));
                e.builder.call(e.rt.branch, &[site, l, dir]);
            });
        }
        self.builder.insert(i);
    }

    /// A switch. Its decisions are recorded here if it has no marker.
    fn emit_switch(&mut self, i: Value) {
        let c = i.condition();
        let decides = i.successors().len() > 1;
        if decides && self.has_label(c) && !self.marked.contains(&c) {
            let site = self.extra_site(i, SiteKind::Switch);
            self.if_labelled(&[c], None, |e| {
                let l = e.cold_label(c);
                e.builder.call(e.rt.switch, &[site, l]);
            });
        }
        self.builder.insert(i);
    }

    fn emit_indirect_jump(&mut self, i: Value) {
        if !self.marked.contains(&i.operand(0)) {
            self.record_indirect_target(i, i.operand(0));
        }
        self.builder.insert(i);
    }

    pub fn record_indirect_target(&mut self, i: Value, target: Value) {
        if !self.has_label(target) {
            return;
        }
        let site = self.extra_site(i, SiteKind::Call);
        self.if_labelled(&[target], None, |e| {
            let l = e.cold_label(target);
            e.builder.call(e.rt.indirect, &[site, l]);
        });
    }
}

/// How many operations back a branch is searched for floating point.
const FLOAT_DEPTH: u32 = 5;

/// True if an integer is computed from floating point.
fn depends_on_float(v: Value, depth: u32) -> bool {
    use Opcode::*;
    if !v.is_instruction() || depth == 0 {
        return false;
    }
    match v.opcode() {
        LLVMFCmp | LLVMFPToSI | LLVMFPToUI => true,
        LLVMAnd | LLVMOr | LLVMXor | LLVMAdd | LLVMSub | LLVMMul | LLVMICmp | LLVMSelect
        | LLVMZExt | LLVMSExt | LLVMTrunc | LLVMFreeze | LLVMPHI => {
            operands(v).into_iter().any(|o| depends_on_float(o, depth - 1))
        }
        _ => false,
    }
}

/// True if a function is compiled for a processor with fused multiply-add.
fn fuses_multiply_add(function: Value) -> bool {
    let features = function.text_attribute("target-features").unwrap_or_default();
    features.split(',').any(|f| f == "+fma" || f == "+fma4")
}

/// The operands that an operation's label depends on.
pub(super) fn operands(v: Value) -> Vec<Value> {
    let n = if v.is_call() { v.argument_count() } else { v.operand_count() };
    (0..n).map(|k| v.operand(k)).collect()
}

/// The values that have a marker, and freezes of them.
fn find_marked(function: Value) -> HashSet<Value> {
    let mut all = HashSet::new();
    for block in function.blocks() {
        for i in block.instructions() {
            if i.is_call() && mark_of(i.callee()).is_some() {
                let v = i.operand(0);
                all.insert(v);
                let is_freeze = |u: &Value| u.is_instruction() && u.opcode() == Opcode::LLVMFreeze;
                all.extend(v.users().into_iter().filter(is_freeze));
                // The optimiser may rewrite the condition of a switch or of a loop's exit,
                // but the terminator stays in the marker's block. If only markers use a
                // condition, it was rewritten, and the terminator's new condition counts as
                // marked.
                let kind = match mark_of(i.callee()) {
                    Some(Mark::Switch) => Some(Opcode::LLVMSwitch),
                    Some(Mark::Jump) => Some(Opcode::LLVMIndirectBr),
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

/// For each labelled value, the number of users that may need its label; and the values
/// that other blocks use.
fn count_uses(
    function: Value,
    labelled: &HashSet<Value>,
) -> (HashMap<Value, usize>, HashSet<Value>) {
    let (mut uses, mut outgoing) = (HashMap::new(), HashSet::new());
    for block in function.blocks() {
        let body = block.instructions();
        let here: HashSet<Value> = body.iter().copied().collect();
        for &v in body.iter().filter(|v| labelled.contains(v)) {
            let users = v.users();
            let needs_label =
                |u: &&Value| !matches!(u.opcode(), Opcode::LLVMBr | Opcode::LLVMSwitch);
            uses.insert(v, users.iter().filter(needs_label).count().max(1));
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
    // Not recursive: real functions have paths of tens of thousands of blocks.
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
