//! Decisions on the lengths of holes.
//!
//! In a run of a template the lengths of its holes are variables. A decision that depends
//! on lengths alone is flipped by other lengths: the input is built again, and conditions
//! on the bytes of a hole that changed no longer apply, because the hole's language says
//! which bytes may be there. So the path of such an input is predicted for its decisions
//! on lengths only: all before the flipped one as they were, then the flipped one.

use pleach_abi::event::Kind;
use pleach_solve::Path;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// What a run will decide on lengths, in order: the key of each decision and its outcome.
pub type LengthPath = Arc<[(u64, u32)]>;

/// One decision of a run, as far as lengths are concerned.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    pub kind: Kind,
    pub key: u64,
    pub outcome: u32,
}

/// One decision on lengths alone.
#[derive(Clone, Copy, Debug)]
pub struct LengthDecision {
    /// Its place among the decisions of the run.
    pub at: u32,
    pub key: u64,
    pub outcome: u32,
}

/// What a run decided on the lengths of holes alone.
#[derive(Debug, Default)]
pub struct LengthDecisions {
    /// The lengths as variables: offsets behind the input.
    pub variables: Range<u32>,
    /// In order.
    pub decided: Vec<LengthDecision>,
    /// Places of conditions that need not hold when a length changes: addresses.
    pub soft: HashSet<u32>,
}

impl LengthDecisions {
    /// Finds them among the decisions of a run whose input has `holes` holes.
    pub fn find(
        path: &mut Path,
        decided: impl ExactSizeIterator<Item = Decided>,
        input_len: u32,
        holes: usize,
    ) -> LengthDecisions {
        let variables = input_len..input_len + 4 * holes as u32;
        let mut lengths = LengthDecisions { variables, ..LengthDecisions::default() };
        if holes == 0 {
            return lengths;
        }
        let on_lengths = decided.enumerate().filter(|(at, _)| {
            let variables = &lengths.variables;
            path.is_within(*at, variables)
        });
        let (pins, others): (Vec<_>, Vec<_>) = on_lengths.partition(|(_, d)| d.kind == Kind::Pin);
        let places: Vec<usize> = others.iter().map(|(at, _)| *at).collect();
        let tight = path.find_tight(&places, input_len);
        let pinned = pins.iter().map(|(at, _)| *at);
        lengths.soft = pinned.chain(tight.iter().copied()).map(|at| at as u32).collect();
        for (at, Decided { kind, key, outcome }) in others {
            // An assumption limits what can be asked, and is no decision.
            if kind != Kind::Assume && tight.binary_search(&at).is_err() {
                lengths.decided.push(LengthDecision { at: at as u32, key, outcome });
            }
        }
        lengths
    }

    /// True if a decision depends on lengths alone.
    pub fn contains(&self, at: u32) -> bool {
        self.decided.binary_search_by_key(&at, |d| d.at).is_ok()
    }

    /// Predicts what a run will decide on lengths up to a place, with this outcome there.
    pub(super) fn predict(&self, at: u32, outcome: u32) -> LengthPath {
        let before = self.decided.iter().filter(|d| d.at < at).map(|d| (d.key, d.outcome));
        let here = self.decided.iter().filter(|d| d.at == at).map(|d| (d.key, outcome));
        before.chain(here).collect()
    }

    pub(super) fn outcome(&self, at: u32) -> u32 {
        self.decided.iter().find(|d| d.at == at).map_or(0, |d| d.outcome)
    }
}
