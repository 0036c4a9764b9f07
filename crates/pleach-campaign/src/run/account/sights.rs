//! What traces show of the sites that they pass: on what their conditions depend.
//!
//! A search records only conditions over the input. For a report, inputs are traced once
//! more, and the symbolic half also records where the dependence on the input was lost
//! ([`pleach_exec::TraceOptions::losses`]): at a function without a model, at a value that was
//! held, at floating point. So a condition that depends on nothing can be told from one that
//! depends on something that was lost.

use super::Place;
use crate::run::search::Map;
use pleach_abi::event::Kind;
use pleach_abi::node::Op;
use pleach_exec::layout::Layout;
use pleach_exec::trace::{LostValue, Trace, kind};
use pleach_search::{BranchId, Counts};
use std::collections::{HashMap, HashSet};

/// Where the dependence on the input was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The cause: `unmodelled`, `pinned`, `float`, `healed`; see `LOSS_NAMES` of the ABI.
    pub cause: &'static str,
    /// The function without a model.
    pub function: Option<String>,
    pub place: Option<Place>,
}

/// What traces show of one site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// A condition depended on the input.
    pub conditional: bool,
    /// A condition was one that the run had decided on before.
    pub decided: bool,
    /// The compiler has proved what a condition is.
    pub proved: bool,
    /// A condition depended on something that was lost.
    pub lost: Option<Loss>,
}

/// What traces show, by the first branch of each site that they reached.
#[derive(Clone, Debug, Default)]
pub struct Sights {
    sites: HashMap<BranchId, Sight>,
}

/// What a value is computed from.
#[derive(Clone, Copy, Default)]
struct Roots {
    input: bool,
    lost: Option<u32>,
}

impl Sights {
    pub fn of(&self, first: BranchId) -> Option<&Sight> {
        self.sites.get(&first)
    }

    /// Adds the sites that an input reached on the fast half. Its trace must be whole: a site
    /// that it does not have then has a condition that depends on nothing.
    pub fn add_reached(&mut self, map: &Map, counts: &Counts) {
        for (branch, _) in counts.taken() {
            if let Some(site) = map.program.site_of(branch) {
                self.sites.entry(site.first).or_default();
            }
        }
    }

    /// Adds what a trace with its losses shows.
    pub fn add(&mut self, map: &Map, layout: &Layout, trace: &Trace) {
        let roots = roots_of(trace);
        let mut decided = HashSet::new();
        for event in &trace.events {
            let is_branch = matches!(kind(event), Kind::Branch | Kind::Switch | Kind::Select);
            let is_first = decided.insert(event.label) || kind(event) == Kind::Switch;
            let site = trace.site_hash(layout, event.site);
            let Some(site) = site.and_then(|hash| map.program.site(hash)) else { continue };
            if !is_branch {
                continue;
            }
            let sight = self.sites.entry(site.first).or_default();
            let roots = roots.get(event.label as usize).copied().unwrap_or_default();
            if roots.input {
                sight.conditional |= is_first;
                sight.decided |= !is_first;
            } else if trace.is_proved(event.label) {
                sight.proved = true;
            } else if let Some(lost) = roots.lost.filter(|_| sight.lost.is_none()) {
                sight.lost = trace.lost_value(layout, lost).map(loss);
            }
        }
    }
}

fn loss(lost: LostValue) -> Loss {
    let place = lost.place.map(|(function, site)| Place {
        function: function.name.clone(),
        file: function.file_of(site).to_string(),
        line: site.line,
    });
    Loss { cause: lost.cause, function: lost.function, place }
}

/// For each label, what it is computed from. One pass is enough, because operands come first.
fn roots_of(trace: &Trace) -> Vec<Roots> {
    let expr = &trace.expr;
    let size = expr.order().iter().max().map_or(0, |&label| label as usize + 1);
    let mut roots = vec![Roots::default(); size];
    for &label in expr.order() {
        roots[label as usize] = match expr.op(label) {
            Op::Input | Op::InputLen | Op::Read => Roots { input: true, lost: None },
            Op::Const if trace.is_lost(label) => Roots { input: false, lost: Some(label) },
            _ => expr.operands(label).fold(Roots::default(), |all, operand| {
                let of = roots.get(operand as usize).copied().unwrap_or_default();
                Roots { input: all.input | of.input, lost: all.lost.or(of.lost) }
            }),
        };
    }
    roots
}
