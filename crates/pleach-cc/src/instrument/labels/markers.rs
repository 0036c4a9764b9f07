//! Markers: calls that hold on to a site's condition through optimisation.

use crate::instrument::llvm::{Context, Module, Value};
use crate::instrument::sites::Sites;
use pleach_abi::section::SiteKind;

/// Markers are named by what they mark and the width of the value.
pub const BRANCH: &str = "__pleach_mark_branch.";
pub const SWITCH: &str = "__pleach_mark_switch.";
pub const DIVISOR: &str = "__pleach_mark_divisor.";

/// To the optimiser a marker writes something that nobody else sees.
const LIKE: &str = "declare void @like() nounwind willreturn nofree nosync nocallback memory(inaccessiblemem: readwrite)";

pub fn insert(ctx: &Context, module: &Module, all: &[Sites]) {
    let Ok(like) = ctx.parse_text(LIKE) else { return };
    let Some(like) = like.function("like").map(|f| (f, like)) else { return };
    let builder = ctx.builder();
    for f in all {
        for (n, site) in f.sites.iter().enumerate() {
            let (family, value) = match site.kind {
                SiteKind::Branch | SiteKind::Sanitizer => (BRANCH, site.at.condition()),
                SiteKind::Select => (BRANCH, site.at.operand(0)),
                // With nothing but a default it decides nothing.
                SiteKind::Switch if site.at.successors().len() < 2 => continue,
                SiteKind::Switch => (SWITCH, site.at.condition()),
                SiteKind::Division => (DIVISOR, site.at.operand(1)),
                SiteKind::Access | SiteKind::Call => continue,
            };
            let Some(width) = value.ty().int_width() else { continue };
            let name = format!("{family}i{width}");
            let marker = module.function(&name).unwrap_or_else(|| {
                let t = ctx.void().function(&[value.ty(), ctx.pointer()]);
                let m = module.add_function(&name, t);
                m.imitate(like.0);
                m
            });
            builder.before(site.at);
            builder.call(marker, &[value, f.record(ctx, n)]);
        }
    }
}

/// What a marker marks.
pub enum Mark {
    Branch,
    Switch,
    Divisor,
}

pub fn mark_of(callee: Value) -> Option<Mark> {
    let name = callee.name();
    if name.starts_with(BRANCH) {
        Some(Mark::Branch)
    } else if name.starts_with(SWITCH) {
        Some(Mark::Switch)
    } else if name.starts_with(DIVISOR) {
        Some(Mark::Divisor)
    } else {
        None
    }
}
