//! The fast half: an 8-bit counter for each direction of each branch and each
//! case of each switch, in data of the program's own. An increment is one
//! memory operand relative to the instruction pointer; under a driver the page
//! below it is shared (see the runtime's `cover.rs`).
//!
//! Counters wrap past zero, as AFL's do, so that a count of 256 is not "never".

use super::llvm::{Builder, Context, IntPredicate, Module, Opcode, Type, Value};
use super::sites::{self, Sites};
use pleach_abi::section::{self, SiteKind};

const NAME: &str = "__pleach_counters";

pub fn instrument(ctx: &Context, module: &Module, all: &[Sites]) {
    let builder = ctx.builder();
    for f in all {
        let total: u32 = f.sites.iter().map(|s| s.counters).sum();
        if total == 0 {
            continue;
        }
        let zeros = ctx.int(8).array(total.into()).null();
        let counters = module.add_data(NAME, zeros, Some(section::COUNTERS), false);
        counters.set_alignment(1);
        module.share_by_name(counters, NAME, f.function, sites::shape(&f.sites));
        module.keep(counters);
        let mut next = 0u64;
        for site in &f.sites {
            let here = counters.offset_by(ctx, next);
            match site.kind {
                SiteKind::Branch => count_branch(ctx, &builder, site.at, counters, next),
                SiteKind::Switch => count_switch(ctx, &builder, site.at, counters, next),
                SiteKind::Select => {
                    builder.before(site.at);
                    count_by(ctx, &builder, here, site.at.operand(0));
                }
                _ => {}
            }
            next += u64::from(site.counters);
        }
    }
}

/// True counts at 0, false at 1, each on its own edge where it has one.
fn count_branch(ctx: &Context, b: &Builder, branch: Value, counters: Value, at: u64) {
    let targets = branch.successors();
    if targets.iter().all(|t| t.incoming_edges() == 1) {
        for (i, t) in targets.iter().enumerate() {
            if let Some(place) = t.insertion_point() {
                b.before(place);
                increment(ctx, b, counters.offset_by(ctx, at + i as u64));
            }
        }
        return;
    }
    b.before(branch);
    count_by(ctx, b, counters.offset_by(ctx, at), branch.condition());
}

/// One counter a case, the default's last. Critical edges are broken, so
/// every case has a block of its own.
fn count_switch(ctx: &Context, b: &Builder, switch: Value, counters: Value, at: u64) {
    let mut targets = switch.successors();
    targets.rotate_left(1);
    for (i, t) in targets.iter().enumerate() {
        if t.incoming_edges() == 1
            && let Some(place) = t.insertion_point()
        {
            b.before(place);
            increment(ctx, b, counters.offset_by(ctx, at + i as u64));
        }
    }
}

/// Counts at `base` if the condition holds, one further if not.
fn count_by(ctx: &Context, b: &Builder, base: Value, condition: Value) {
    let wide: Type = ctx.int(64);
    let one = ctx.constant(64, 1);
    let holds = b.cast(Opcode::LLVMZExt, condition, wide);
    let index = b.op(Opcode::LLVMSub, one, holds);
    let place = b.offset(ctx, base, index);
    increment(ctx, b, place);
}

fn increment(ctx: &Context, b: &Builder, place: Value) {
    let byte = ctx.int(8);
    let nosanitize = ctx.metadata_kind("nosanitize");
    let old = b.load(byte, place);
    let new = b.add(old, ctx.constant(8, 1));
    let wrapped = b.compare(IntPredicate::LLVMIntEQ, new, byte.null());
    let carry = b.cast(Opcode::LLVMZExt, wrapped, byte);
    let new = b.add(new, carry);
    let store = b.store(new, place);
    let empty = ctx.empty_metadata();
    old.set_metadata(nosanitize, empty);
    store.set_metadata(nosanitize, empty);
}
