//! The fast half: a counter for each direction of each branch and each case of
//! each switch, in data of the program's own. An increment is one instruction
//! with its memory operand relative to the instruction pointer; under a driver
//! the page below it is shared (see the runtime's `cover.rs`).
//!
//! Counters are put in before the optimiser runs, as only then every decision
//! of the source is still there. So they must not be in its way:
//! - **32 bits.** AFL's 8-bit counters skip zero when they wrap, which takes
//!   four instructions and a register. A count of 2^32 is out of reach of a run,
//!   so a plain increment will do. The driver cuts counts to 8 bits.
//! - **No aliases.** The optimiser cannot know that the program's pointers do
//!   not point to a counter, so after each increment it would read again what
//!   it had in registers. Scoped `noalias` metadata tells it.
//! - **No motion.** Relaxed atomic accesses are ordinary instructions here,
//!   which threads may share, and LICM leaves them where they are. With plain
//!   ones a counter lives in a register for the length of a loop, and a run that
//!   ends inside it, by a crash or a timeout, would not show the loop at all.
//! - **No weight.** The inliner pays for what it sees, so each small function
//!   gets a bonus of what its counters cost. A large one is not inlined in the
//!   plain program either unless it has one caller; with the bonus, expat's
//!   parser grew by a third and took 60 % longer to compile, and was no faster.
//!   Nor does one get it that calls itself, if by way of others: the inliner has
//!   its own means against growth without end there, and the bonus defeats them.
//!   mujs's parser of expressions, ten functions deep, became 1.6 million lines.

use super::llvm::{Builder, Context, Module, Opcode, Value};
use super::recursion::recursive;
use super::sites::{self, Sites};
use pleach_abi::section::{self, Counter, SiteKind};

const NAME: &str = "__pleach_counters";
const BYTES: u64 = size_of::<Counter>() as u64;
/// What the inliner takes for an increment: a load, an addition and a store.
const INLINE_COST: u32 = 15;
/// Functions with more counters than this are inlined as if all were code.
const INLINED_COUNTERS: u32 = 20;

pub fn instrument(ctx: &Context, module: &Module, all: &[Sites]) {
    let marks = Marks::new(ctx);
    let recursive = recursive(module);
    let count = Count { ctx, builder: ctx.builder(), marks: &marks };
    for f in all {
        let total: u32 = f.sites.iter().map(|s| s.counters).sum();
        if total == 0 {
            continue;
        }
        marks.program(f.function);
        let zeros = ctx.int(Counter::BITS).array(total.into()).null();
        let counters = module.add_data(NAME, zeros, Some(section::COUNTERS), false);
        counters.set_alignment(BYTES as u32);
        module.share_by_name(counters, NAME, f.function, sites::shape(&f.sites));
        module.keep(counters);
        if total <= INLINED_COUNTERS && !recursive.contains(&f.function) {
            let bonus = (total * INLINE_COST).to_string();
            f.function.add_attribute(ctx.text_attribute("call-threshold-bonus", &bonus));
        }
        let mut next = 0;
        for site in &f.sites {
            let first = counters.offset_by(ctx, next * BYTES);
            match site.kind {
                SiteKind::Branch => count.branch(site.at, first),
                SiteKind::Switch => count.switch(site.at, first),
                SiteKind::Select => {
                    count.builder.before(site.at);
                    count.by(first, site.at.operand(0));
                }
                _ => {}
            }
            next += u64::from(site.counters);
        }
    }
}

struct Count<'a> {
    ctx: &'a Context,
    builder: Builder,
    marks: &'a Marks,
}

impl Count<'_> {
    /// True counts at 0, false at 1, each on its own edge where it has one.
    fn branch(&self, branch: Value, first: Value) {
        let targets = branch.successors();
        if targets.iter().all(|t| t.incoming_edges() == 1) {
            for (i, t) in targets.iter().enumerate() {
                if let Some(place) = t.insertion_point() {
                    self.builder.before(place);
                    self.increment(first.offset_by(self.ctx, i as u64 * BYTES));
                }
            }
            return;
        }
        self.builder.before(branch);
        self.by(first, branch.condition());
    }

    /// One counter a case, the default's last. Critical edges are broken, so
    /// every case has a block of its own.
    fn switch(&self, switch: Value, first: Value) {
        let mut targets = switch.successors();
        targets.rotate_left(1);
        for (i, t) in targets.iter().enumerate() {
            if t.incoming_edges() == 1
                && let Some(place) = t.insertion_point()
            {
                self.builder.before(place);
                self.increment(first.offset_by(self.ctx, i as u64 * BYTES));
            }
        }
    }

    /// Counts in the first if the condition holds, in the second if not.
    fn by(&self, first: Value, condition: Value) {
        let (ctx, b) = (self.ctx, &self.builder);
        let holds = b.cast(Opcode::LLVMZExt, condition, ctx.int(64));
        let index = b.op(Opcode::LLVMSub, ctx.constant(64, 1), holds);
        let bytes = b.op(Opcode::LLVMMul, index, ctx.constant(64, BYTES));
        self.increment(b.offset(ctx, first, bytes));
    }

    fn increment(&self, place: Value) {
        let (ctx, b) = (self.ctx, &self.builder);
        let old = b.load(ctx.int(Counter::BITS), place);
        let store = b.store(b.add(old, ctx.constant(Counter::BITS, 1)), place);
        for access in [old, store] {
            access.make_relaxed();
            self.marks.counter(access);
        }
    }
}

/// Metadata that tells a counter's accesses from the program's.
struct Marks {
    nosanitize: u32,
    scope_kind: u32,
    noalias_kind: u32,
    empty: Value,
    scope: Value,
}

impl Marks {
    fn new(ctx: &Context) -> Marks {
        Marks {
            nosanitize: ctx.metadata_kind("nosanitize"),
            scope_kind: ctx.metadata_kind("alias.scope"),
            noalias_kind: ctx.metadata_kind("noalias"),
            empty: ctx.empty_metadata(),
            scope: ctx.alias_scope("pleach", "pleach counters"),
        }
    }

    fn counter(&self, access: Value) {
        access.set_metadata(self.nosanitize, self.empty);
        access.set_metadata(self.scope_kind, self.scope);
    }

    /// Marks what the program itself reads and writes. Other calls stay as
    /// they are: what they call counts.
    fn program(&self, function: Value) {
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
