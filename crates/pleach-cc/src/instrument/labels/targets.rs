//! Tables of what pointers may lead to: the functions whose entries are counted, and the labels
//! of computed gotos. The driver finds in them which counter a call or jump moves.
//!
//! They are made before the optimiser runs, which keeps the addresses in them right.

use crate::instrument::llvm::{Context, Module, Value};
use crate::instrument::sites::{Sites, jump_targets};
use pleach_abi::section::{SiteKind, TARGETS};

pub fn emit_tables(ctx: &Context, module: &Module, all: &[Sites]) {
    let t = ctx.structure(&[ctx.pointer(), ctx.int(64), ctx.int(32), ctx.int(32)]);
    for f in all.iter().filter(|f| !f.function.is_available_externally()) {
        let mut entries = Vec::new();
        let mut add = |address: Value, site: u64, side: u32| {
            let (site, side) = (ctx.constant(64, site), ctx.constant(32, side.into()));
            entries.push(ctx.constant_struct(&[address, site, side, ctx.constant(32, 0)]));
        };
        for site in &f.sites {
            match site.kind {
                SiteKind::Entry | SiteKind::Called => add(f.function, site.hash, 0),
                SiteKind::Jump => {
                    for (side, label) in (0..).zip(jump_targets(site.at)) {
                        add(label.address(f.function), site.hash, side);
                    }
                }
                _ => {}
            }
        }
        if entries.is_empty() {
            continue;
        }
        let array = t.constant_array(&entries);
        let table = module.add_data("__pleach_targets", array, Some(TARGETS), false);
        table.set_alignment(8);
        module.follow_comdat(table, f.function);
        module.keep(table);
    }
}
