//! Where a call or jump through a pointer may go: the entries of the table that the pointer was
//! read from, and the counters that they move.

use crate::executor::Half;
use crate::layout::Layout;
use crate::trace::Trace;
use pleach_expr::PointerTable;
use std::sync::Arc;

/// One target of a call or jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The site of its counter (a hash), and the counter among those of the site. `None` if
    /// the target is not counted, such as a function of libc.
    pub site: Option<(u64, u32)>,
    /// Its address.
    pub value: u64,
}

/// The targets in the tables of one trace. Those of a table are found once.
pub struct Targets<'a> {
    layout: &'a Layout,
    trace: &'a Trace,
    found: Vec<(PointerTable, Option<Arc<[Target]>>)>,
}

/// A call that may have more targets is held to the one of the run.
const MAX_TARGETS: usize = 1024;
/// Of a table with more values, only those that are known to be targets count. The others may
/// be numbers that lie beside the pointers.
const MAX_UNKNOWN: usize = 64;
/// No code lies below this address, or above the other.
const FIRST_ADDRESS: u64 = 1 << 16;
const LAST_ADDRESS: u64 = 1 << 47;

impl<'a> Targets<'a> {
    pub fn new(layout: &'a Layout, trace: &'a Trace) -> Targets<'a> {
        Targets { layout, trace, found: Vec::new() }
    }

    /// The targets that the table of a pointer has, each once. They depend on nothing but the
    /// contents of the table, so two runs that came the same way find the same. `None` if the
    /// pointer is not read from a table, or if there are too many.
    pub fn find(&mut self, label: u32) -> Option<Arc<[Target]>> {
        let table = PointerTable::of(&self.trace.expr, label)?;
        if let Some((_, known)) = self.found.iter().find(|(known, _)| known.is_same(&table)) {
            return known.clone();
        }
        let targets = self.read(&table);
        self.found.push((table, targets.clone()));
        targets
    }

    fn read(&self, table: &PointerTable) -> Option<Arc<[Target]>> {
        let mut values: Vec<u64> = table.values(&self.trace.expr).collect();
        pleach_work::count(values.len() as u64);
        values.sort_unstable();
        values.dedup();
        // A call of a null pointer is a crash that is worth finding.
        values.retain(|&v| v == 0 || (FIRST_ADDRESS..LAST_ADDRESS).contains(&v));
        let mut targets: Vec<Target> =
            values.into_iter().map(|value| Target { site: self.site_of(value), value }).collect();
        if targets.len() > MAX_UNKNOWN {
            targets.retain(|t| t.site.is_some());
        }
        // The same order in all runs, wherever the modules lie.
        targets.sort_unstable();
        let is_some = !targets.is_empty() && targets.len() <= MAX_TARGETS;
        is_some.then(|| targets.into())
    }

    /// The site that counts calls or jumps to an address (a hash), and the counter.
    pub fn site_of(&self, address: u64) -> Option<(u64, u32)> {
        self.trace.modules.iter().find_map(|m| {
            let image = self.layout.module(m, Half::Symbolic)?;
            image.targets.get(&address.checked_sub(m.bias)?).copied()
        })
    }
}
