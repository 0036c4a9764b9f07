//! Markers: calls that keep a site's condition through optimisation.

use crate::instrument::llvm::{Context, Module, Value};
use crate::instrument::sites::Sites;
use pleach_abi::section::SiteKind;
use std::collections::{HashMap, HashSet};

/// A marker's name is one of these prefixes and the type of the value.
pub const BRANCH: &str = "__pleach_mark_branch.";
pub const SWITCH: &str = "__pleach_mark_switch.";
pub const DIVISOR: &str = "__pleach_mark_divisor.";
pub const JUMP: &str = "__pleach_mark_jump.";

/// Attributes of a marker: the optimiser must assume that it has an effect, but not on
/// the program's memory.
const OPAQUE_DECLARATION: &str = "declare void @opaque() nounwind willreturn nofree nosync nocallback memory(inaccessiblemem: readwrite)";

pub fn insert_markers(ctx: &Context, module: &Module, all: &[Sites]) {
    let Ok(text) = ctx.parse_text(OPAQUE_DECLARATION) else { return };
    let Some(opaque) = text.function("opaque") else { return };
    let builder = ctx.builder();
    for f in all {
        for (n, site) in f.sites.iter().enumerate() {
            let (prefix, value) = match site.kind {
                SiteKind::Branch | SiteKind::Sanitizer => (BRANCH, site.at.condition()),
                SiteKind::Select => (BRANCH, site.at.operand(0)),
                // A switch with only a default decides nothing.
                SiteKind::Switch if site.at.successors().len() < 2 => continue,
                SiteKind::Switch => (SWITCH, site.at.condition()),
                SiteKind::Division => (DIVISOR, site.at.operand(1)),
                SiteKind::Jump => (JUMP, site.at.operand(0)),
                SiteKind::Access | SiteKind::Call => continue,
                SiteKind::Entry | SiteKind::Called => continue,
            };
            let name = match value.ty().int_width() {
                Some(width) => format!("{prefix}i{width}"),
                None if site.kind == SiteKind::Jump => format!("{prefix}ptr"),
                None => continue,
            };
            let marker = module.function(&name).unwrap_or_else(|| {
                let t = ctx.void().function(&[value.ty(), ctx.pointer()]);
                let m = module.add_function(&name, t);
                m.copy_attributes(opaque);
                m
            });
            builder.before(site.at);
            builder.call(marker, &[value, f.record(ctx, n)]);
        }
    }
}

/// The kinds of markers.
pub enum Mark {
    Branch,
    Switch,
    Divisor,
    Jump,
}

/// The records of the branches that always go the same way, as the optimiser has proved: all
/// copies of the marker have the same constant. Where it has split a path, each copy may have
/// another constant, because an earlier branch has decided: that is no proof.
pub fn proved_sites(functions: &[Value]) -> HashSet<Value> {
    let mut conditions: HashMap<Value, HashSet<Value>> = HashMap::new();
    let blocks = functions.iter().flat_map(|f| f.blocks());
    for i in blocks.flat_map(|block| block.instructions()) {
        if i.is_call() && matches!(mark_of(i.callee()), Some(Mark::Branch)) {
            conditions.entry(i.operand(1)).or_default().insert(i.operand(0));
        }
    }
    let is_one =
        |all: &HashSet<Value>| all.len() == 1 && all.iter().all(|v| v.constant_int().is_some());
    conditions.into_iter().filter(|(_, all)| is_one(all)).map(|(site, _)| site).collect()
}

pub fn mark_of(callee: Value) -> Option<Mark> {
    let name = callee.name();
    if name.starts_with(BRANCH) {
        Some(Mark::Branch)
    } else if name.starts_with(SWITCH) {
        Some(Mark::Switch)
    } else if name.starts_with(DIVISOR) {
        Some(Mark::Divisor)
    } else if name.starts_with(JUMP) {
        Some(Mark::Jump)
    } else {
        None
    }
}
