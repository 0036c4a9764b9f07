//! Folded decisions: the symbolic half takes a branch that the fast half of the same
//! input does not show.
//!
//! The fast half is optimised with the user's own options. Above `-O0` its optimiser
//! may rely on undefined behaviour and remove one side of a branch, with its counter.
//! The symbolic half assumes nothing of the kind, so traces still decide there, and
//! flips are solved as predicted; but no run of the fast half can show the result. That
//! is no divergence, since the trace follows its prediction. It does mean that the
//! traced paths are not those of the program as the user built it, so the campaign
//! is not exhausted.
//!
//! A run counts only if the fast half ran it to its end: a crash, a sanitizer or a limit
//! stops the fast half early, and the trace continues. The counters of single runs are
//! not kept. A branch is missing from a run for certain if no run of the campaign has
//! ever taken it, and the worker checks the branch that a flip asked for when it runs
//! the result.

use super::candidate::FastEnd;
use crate::run::account::{Entry, Gap};
use crate::run::state::State;
use pleach_search::{BranchId, Run};

impl State {
    /// Counts the folded decisions of a traced run.
    pub fn record_folded(&mut self, run: &Run) {
        let candidate = self.corpus.store.get(run.input);
        let Some(candidate) = candidate.filter(|c| c.fast == FastEnd::Complete) else { return };
        if run.diverged {
            return;
        }
        let taken = run.decisions.iter().filter_map(|d| d.branch(d.outcome));
        let mut folded: Vec<BranchId> = taken.filter(|&b| !self.covered.kept.has(b)).collect();
        folded.extend(candidate.uncounted);
        folded.sort_unstable();
        folded.dedup();
        for branch in folded {
            self.record_branch(Entry::Folded(branch));
            self.account.stats.folded += 1;
            let place = self.map.place(branch).map(|(file, line)| format!("{file}:{line}"));
            *self.account.stats.folded_at.entry(place.unwrap_or_default()).or_default() += 1;
            self.record_gap(Gap::Folded);
        }
    }
}
