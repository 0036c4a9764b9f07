//! The fast half: a counter for each direction of each branch and each case of each
//! switch, in the program's own data. An increment is one instruction with a memory
//! operand relative to the instruction pointer. Under a driver, shared memory is
//! mapped over the counters (see the runtime's `cover.rs`).
//!
//! Counters are inserted before the optimiser runs, because only then every decision
//! of the source is still there. They must not hinder the optimiser:
//! - **32 bits.** AFL's 8-bit counters skip zero when they wrap, which takes four
//!   instructions and a register. No run reaches a count of 2^32, so a plain
//!   increment is enough. The driver reduces counts to 8 bits.
//! - **No aliases.** The optimiser does not know that the program's pointers never
//!   point to a counter. After each increment it would load again what it had in
//!   registers. Scoped `noalias` metadata tells it.
//! - **No motion.** The accesses are relaxed atomics. On x86-64 these are ordinary
//!   instructions, threads may share the counters, and LICM does not move them. A
//!   plain counter would stay in a register during a loop, and a run that crashes or
//!   times out in the loop would not show it.
//! - **No inlining cost.** The inliner counts the increments as code, so each small
//!   function gets a bonus for its counters. Large functions get none: plain clang
//!   does not inline them either, unless they have one caller. With a bonus, expat's
//!   parser grew by a third and took 60 % longer to compile, and was no faster.
//!   Recursive functions get none, because the bonus defeats the inliner's limits for
//!   recursion: mujs's expression parser, ten functions deep, grew to 1.6 million
//!   lines.

use super::llvm::{Builder, Context, Module, Opcode, Value};
use super::recursion::recursive_functions;
use super::sites::{self, Sites};
use pleach_abi::section::{self, Counter, SiteKind};

const COUNTERS_NAME: &str = "__pleach_counters";
const COUNTER_BYTES: u64 = size_of::<Counter>() as u64;
/// The inliner's cost of one increment: a load, an addition and a store.
const INLINE_COST_PER_COUNTER: u32 = 15;
/// A function with more counters gets no bonus for inlining.
const MAX_COUNTERS_FOR_BONUS: u32 = 20;

pub fn instrument(ctx: &Context, module: &Module, all: &[Sites]) {
    let marks = AccessMarks::new(ctx);
    let recursive = recursive_functions(module);
    let counting = CounterEmitter { ctx, builder: ctx.builder(), marks: &marks };
    for f in all {
        let total: u32 = f.sites.iter().map(|s| s.counters).sum();
        if total == 0 {
            continue;
        }
        marks.mark_program_accesses(f.function);
        let zeros = ctx.int(Counter::BITS).array(total.into()).null();
        let counters = module.add_data(COUNTERS_NAME, zeros, Some(section::COUNTERS), false);
        counters.set_alignment(COUNTER_BYTES as u32);
        module.share_by_name(counters, COUNTERS_NAME, f.function, sites::hash_kinds(&f.sites));
        module.keep(counters);
        if total <= MAX_COUNTERS_FOR_BONUS && !recursive.contains(&f.function) {
            let bonus = (total * INLINE_COST_PER_COUNTER).to_string();
            f.function.add_attribute(ctx.text_attribute("call-threshold-bonus", &bonus));
        }
        let mut next = 0;
        for site in &f.sites {
            let first = counters.offset_by(ctx, next * COUNTER_BYTES);
            match site.kind {
                SiteKind::Branch => counting.count_branch(site.at, first),
                SiteKind::Switch => counting.count_switch(site.at, first),
                SiteKind::Jump => counting.count_jump(site.at, first),
                SiteKind::Select => {
                    counting.builder.before(site.at);
                    counting.count_condition(first, site.at.operand(0));
                }
                SiteKind::Entry | SiteKind::Called => {
                    counting.builder.before(site.at);
                    counting.increment(first);
                }
                _ => {}
            }
            next += u64::from(site.counters);
        }
    }
}

struct CounterEmitter<'a> {
    ctx: &'a Context,
    builder: Builder,
    marks: &'a AccessMarks,
}

impl CounterEmitter<'_> {
    /// Counter 0 is for true, counter 1 for false. Each increment is in the target
    /// block, if both targets have no other predecessor.
    fn count_branch(&self, branch: Value, first: Value) {
        let targets = branch.successors();
        if targets.iter().all(|t| t.incoming_edges() == 1) {
            for (i, t) in targets.iter().enumerate() {
                if let Some(place) = t.insertion_point() {
                    self.builder.before(place);
                    self.increment(first.offset_by(self.ctx, i as u64 * COUNTER_BYTES));
                }
            }
            return;
        }
        self.builder.before(branch);
        self.count_condition(first, branch.condition());
    }

    /// One counter for each case, the last for the default. Critical edges are broken,
    /// so every case has its own block.
    fn count_switch(&self, switch: Value, first: Value) {
        let mut targets = switch.successors();
        targets.rotate_left(1);
        for (i, t) in targets.iter().enumerate() {
            if t.incoming_edges() == 1
                && let Some(place) = t.insertion_point()
            {
                self.builder.before(place);
                self.increment(first.offset_by(self.ctx, i as u64 * COUNTER_BYTES));
            }
        }
    }

    /// One counter for each label. Edges of a computed goto cannot be broken, so a label that
    /// is reached in other ways, too, adds 1 only if the goto was before it.
    fn count_jump(&self, jump: Value, first: Value) {
        let (ctx, b) = (self.ctx, &self.builder);
        let from = jump.block();
        for (i, target) in sites::jump_targets(jump).into_iter().enumerate() {
            let counter = first.offset_by(ctx, i as u64 * COUNTER_BYTES);
            let sources = target.predecessors();
            let Some(place) = target.insertion_point() else { continue };
            if sources.iter().all(|&s| s == from) {
                b.before(place);
                self.increment(counter);
                continue;
            }
            let Some(start) = target.instructions().first().copied() else { continue };
            b.before(start);
            let came = b.phi(ctx.int(Counter::BITS));
            for source in sources {
                came.add_incoming(ctx.constant(Counter::BITS, (source == from).into()), source);
            }
            b.before(place);
            self.add(counter, came);
        }
    }

    /// Increments the first counter if the condition holds, the second if not.
    fn count_condition(&self, first: Value, condition: Value) {
        let (ctx, b) = (self.ctx, &self.builder);
        let holds = b.cast(Opcode::LLVMZExt, condition, ctx.int(64));
        let index = b.op(Opcode::LLVMSub, ctx.constant(64, 1), holds);
        let bytes = b.op(Opcode::LLVMMul, index, ctx.constant(64, COUNTER_BYTES));
        self.increment(b.offset(ctx, first, bytes));
    }

    fn increment(&self, place: Value) {
        self.add(place, self.ctx.constant(Counter::BITS, 1));
    }

    fn add(&self, place: Value, count: Value) {
        let (ctx, b) = (self.ctx, &self.builder);
        let old = b.load(ctx.int(Counter::BITS), place);
        let store = b.store(b.add(old, count), place);
        for access in [old, store] {
            access.make_relaxed();
            self.marks.mark_counter_access(access);
        }
    }
}

/// Metadata that distinguishes accesses to counters from the program's accesses.
struct AccessMarks {
    nosanitize: u32,
    scope_kind: u32,
    noalias_kind: u32,
    empty: Value,
    scope: Value,
}

impl AccessMarks {
    fn new(ctx: &Context) -> AccessMarks {
        AccessMarks {
            nosanitize: ctx.metadata_kind("nosanitize"),
            scope_kind: ctx.metadata_kind("alias.scope"),
            noalias_kind: ctx.metadata_kind("noalias"),
            empty: ctx.empty_metadata(),
            scope: ctx.alias_scope("pleach", "pleach counters"),
        }
    }

    fn mark_counter_access(&self, access: Value) {
        access.set_metadata(self.nosanitize, self.empty);
        access.set_metadata(self.scope_kind, self.scope);
    }

    /// Marks the loads, stores and memory intrinsics of the program. Other calls are not
    /// marked, because their callees increment counters.
    fn mark_program_accesses(&self, function: Value) {
        for i in function.blocks().into_iter().flat_map(|b| b.instructions()) {
            let reads_or_writes = match i.opcode() {
                Opcode::LLVMLoad | Opcode::LLVMStore => true,
                Opcode::LLVMCall => {
                    i.callee().intrinsic().is_some_and(|name| name.starts_with("llvm.mem"))
                }
                _ => false,
            };
            if reads_or_writes && i.metadata(self.noalias_kind).is_none() {
                i.set_metadata(self.noalias_kind, self.scope);
            }
        }
    }
}
