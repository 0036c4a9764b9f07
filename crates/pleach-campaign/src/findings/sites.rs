//! Traces that find out on what conditions depend, where the ledger does not say.
//!
//! Only sites matter that inputs reach, and of which a side is not covered that the search has
//! neither asked for nor seen as a condition over the input. Few inputs reach most of them.
//! A condition may depend on the input in one run and not in another, so a site where nothing
//! was found is tried twice.

use super::{Findings, FindingsError};
use pleach_exec::executor::End;
use pleach_exec::growth::Growth;
use pleach_exec::{Target, TraceOptions};
use pleach_search::BranchId;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// How many inputs are traced at most.
const MAX_TRACES: usize = 64;
/// How many traces may pass a site without finding on what it depends.
const MAX_TRIES: u32 = 2;
/// The symbolic half may take this many times as long as the fast one.
const SYMBOLIC_FACTOR: u32 = 20;

impl Findings {
    /// Traces inputs to find out on what conditions depend.
    pub fn trace_sites(
        &mut self,
        mut progress: impl FnMut(usize, usize) -> bool,
    ) -> Result<(), FindingsError> {
        let mut tries: HashMap<BranchId, u32> = HashMap::new();
        let mut traced: HashSet<usize> = HashSet::new();
        let timeout = Duration::from_millis(self.settings.timeout_ms) * SYMBOLIC_FACTOR;
        while traced.len() < MAX_TRACES && progress(traced.len(), MAX_TRACES) {
            let open: HashSet<BranchId> = self
                .unknown_sites()
                .into_iter()
                .filter(|site| tries.get(site).copied().unwrap_or(0) < MAX_TRIES)
                .collect();
            let Some(i) = self.best_for(&open, &traced) else { break };
            traced.insert(i);
            for site in self.sites_of(i) {
                *tries.entry(site).or_default() += 1;
            }
            let Ok(bytes) = self.inputs[i].read() else { continue };
            let options = TraceOptions {
                timeout,
                cpu_limit: None,
                tokens: false,
                holes: &[],
                growth: Growth::default(),
                losses: true,
            };
            let traced = self.target()?.trace(&bytes, &options)?;
            if let Ok(trace) = traced.trace {
                let Findings { sights, map, layout, inputs, .. } = self;
                sights.add(map, layout, &trace);
                if trace.cut == 0 && matches!(traced.outcome.end, End::Exit(_) | End::Signal(_)) {
                    sights.add_reached(map, &inputs[i].counts);
                }
            }
        }
        Ok(())
    }

    /// The first branches of sites of which nothing explains a side that is not covered.
    fn unknown_sites(&self) -> Vec<BranchId> {
        let sites = self.map.program.functions().iter().flat_map(|f| &f.sites);
        let is_unknown = |branch: BranchId| {
            let tally = self.ledger.of(branch);
            let is_known = tally.asked > 0 || tally.conditional || tally.fixed || tally.folded;
            !self.is_covered(branch) && !is_known
        };
        let mut found = Vec::new();
        for site in sites {
            let sides = || site.first..site.first + site.sides;
            let sight = self.sights.of(site.first);
            let is_seen =
                sight.is_some_and(|s| s.conditional || s.decided || s.proved || s.lost.is_some());
            if !is_seen && sides().any(is_unknown) && sides().any(|b| self.is_covered(b)) {
                found.push(site.first);
            }
        }
        found
    }

    /// The input that reaches most of these sites, a short one if there are several.
    fn best_for(&self, open: &HashSet<BranchId>, traced: &HashSet<usize>) -> Option<usize> {
        let reached = |i: usize| self.sites_of(i).filter(|site| open.contains(site)).count();
        let waiting = (0..self.inputs.len()).filter(|i| !traced.contains(i));
        let counted = waiting.map(|i| (reached(i), i)).filter(|(n, _)| *n > 0);
        counted.max_by_key(|&(n, i)| (n, usize::MAX - self.inputs[i].len)).map(|(_, i)| i)
    }

    /// The first branches of the sites that an input reaches, each once.
    fn sites_of(&self, input: usize) -> impl Iterator<Item = BranchId> + '_ {
        let mut last = None;
        let taken = self.inputs[input].counts.taken();
        taken.filter_map(move |(branch, _)| {
            let first = self.map.program.site_of(branch)?.first;
            (last.replace(first) != Some(first)).then_some(first)
        })
    }
}
