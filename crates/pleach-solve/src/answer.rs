//! Answers of the solver, and the statistics over them.

use crate::model::Model;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The model satisfies every condition before the flip, and the goal.
    Sat(Model),
    /// The model satisfies the goal and the conditions on single bytes. Conditions on
    /// several inputs were left out.
    Optimistic(Model),
    /// No input satisfies the conditions before the flip, and the goal.
    Unsat,
    Unknown(Why),
}

/// Why a verdict is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The step has no such goal.
    NoGoal,
    /// The input of the path already reaches the goal, so the trace is not from this input.
    Inconsistent,
    /// A limit of work was reached.
    Work,
    /// A limit of memory was reached.
    Memory,
    /// Every model is longer than [`Limits::length`](crate::Limits::length).
    Length,
}

/// The part of the solver that gave an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Simplification alone.
    Rules,
    Domains,
    Inversion,
    Search,
    Complete,
}

impl Tier {
    pub const COUNT: usize = 5;

    /// All tiers, in the order of their numbers.
    pub const ALL: [Tier; Tier::COUNT] =
        [Tier::Rules, Tier::Domains, Tier::Inversion, Tier::Search, Tier::Complete];

    /// The name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Rules => "rules",
            Tier::Domains => "domains",
            Tier::Inversion => "inversion",
            Tier::Search => "search",
            Tier::Complete => "complete",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    pub tier: Tier,
    /// True if the answer is that of an earlier request.
    pub cached: bool,
    /// The work for this answer, in evaluated operations of about 5 ns each. The work of
    /// the SAT solver is converted to this unit.
    pub work: u64,
    /// The work by tier, in the order of [`Tier::ALL`]; `None` for tiers that were not
    /// asked.
    pub by_tier: [Option<u64>; Tier::COUNT],
}

/// All answers of a solver, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub asked: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    pub optimistic: u64,
    pub cached: u64,
    /// Answers by tier, including unknown ones.
    pub by_tier: [u64; Tier::COUNT],
    /// Models that failed their check. Each is a bug in a tier, and was dropped.
    pub rejected: u64,
    pub work: u64,
}
