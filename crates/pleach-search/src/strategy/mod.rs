//! What a strategy is, and the list of strategies.
//!
//! Each strategy is one file. To add one, write the file with its `DESCRIPTOR`, and name it
//! twice below: once as a module, once in [`STRATEGIES`]. See
//! `docs/contributing/add-a-strategy.md`.

mod auto;
mod blackbox;
mod cese;
mod cfg;
mod descriptor;
mod dfs;
mod gbb;
mod gbw;
mod generational;
mod hybrid;
mod plan;
mod random;
mod random_branch;
mod toward;
mod uniform;
mod walks;

pub use descriptor::{Derives, Descriptor, FirstInputs, Needs, TokenUse};

use crate::aim::Aim;
use crate::counts::Counts;
use crate::coverage::Coverage;
use crate::program::Program;
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId, Runs};
use crate::tree::Tree;
use std::sync::Arc;
use thiserror::Error;

/// All strategies, in the order of the help. The first is the default.
pub const STRATEGIES: &[Descriptor] = &[
    auto::DESCRIPTOR,
    toward::DESCRIPTOR,
    generational::DESCRIPTOR,
    cfg::DESCRIPTOR,
    dfs::DESCRIPTOR,
    uniform::DESCRIPTOR,
    random_branch::DESCRIPTOR,
    cese::DESCRIPTOR,
    gbw::DESCRIPTOR,
    gbw::WHITEBOX_TOKENS,
    gbb::DESCRIPTOR,
    blackbox::DESCRIPTOR,
    hybrid::DESCRIPTOR,
    random::DESCRIPTOR,
];

/// One way to search.
///
/// The campaign asks for the next action, does it, and reports the result. All calls are
/// under one lock. With several workers, `next` is called again while earlier actions are
/// still under way.
pub trait Strategy: Send {
    /// Chooses the next action. A flip that is returned here has the mark
    /// [`Asked`](crate::Mark::Asked) in the tree until its verdict. [`Verdict::Gone`] removes
    /// the mark, and the flip is open again.
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action;

    /// Reports that an input was executed on the fast half: a seed, or the result of an
    /// action.
    fn record_execution(&mut self, _view: &View, _news: &ExecutionReport) {}

    /// Reports the branches that an input with a number took, before it is reported itself.
    /// `is_kept`: it is in the queue.
    fn record_counts(&mut self, _view: &View, _input: InputId, _counts: &Counts, _is_kept: bool) {}

    /// Reports that an input was traced. Its run is in the tree.
    fn record_trace(&mut self, _view: &View, _run: RunId) {}

    /// Reports that an input has no usable trace.
    fn record_trace_failure(&mut self, _view: &View, _input: InputId) {}

    /// Reports that the grammar has no more inputs to derive.
    fn record_grammar_exhausted(&mut self) {}

    /// Reports what it cost to solve a flip, in estimated microseconds. The verdict follows.
    /// If there is no result and some conditions are dropped to find one, that cost is
    /// reported after the verdict. Not called before [`Verdict::Gone`], and not in a search that `hybrid` starts.
    fn record_solver_cost(&mut self, _flip: Flip, _cost: f64) {}

    /// Reports the solver's verdict on a flip.
    fn record_verdict(&mut self, _view: &View, _flip: Flip, _verdict: Verdict) {}

    /// The cost of everything so far, in estimated microseconds, if the strategy shares its
    /// time by costs.
    fn estimated_cost(&self) -> f64 {
        0.0
    }

    /// What it is doing, for the user: one short phrase.
    fn doing(&self) -> String;

    /// The number of flips and inputs that it gave up without trying, because memory was
    /// short or a run could not be traced again. If it is not 0 at the end, the program is
    /// not exhausted.
    fn left_out(&self) -> u64 {
        0
    }
}

/// Everything that a strategy can see.
pub struct View<'a> {
    pub program: &'a Program,
    pub coverage: &'a Coverage,
    pub tree: &'a Tree,
    pub runs: &'a Runs,
}

/// What a strategy asks the campaign to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Run an input on the symbolic half.
    Trace(InputId),
    /// The same, but record decisions on the tokens that the program's lexer returns
    /// instead of decisions inside the lexer.
    TraceTokens(InputId),
    /// Solve for an input that takes the other outcome, and run it on the fast half.
    Flip(Flip),
    /// Run `count` mutants of an input on the fast half.
    Mutate { input: InputId, count: u32 },
    /// Run `count` inputs on the fast half that are made by the grammar from parts of this
    /// input and of others.
    Graft { input: InputId, count: u32 },
    /// Run an input of random bytes on the fast half.
    Random,
    /// Run the next input that the grammar derives on the fast half.
    Derive,
    /// Let the worker's live run do what its pilot chooses next.
    Live,
    /// Do nothing until an action that is under way has finished. If none is under way, the
    /// search ends.
    Wait,
}

/// Where an input came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Seed,
    Flip(Flip),
    Mutant(InputId),
    /// Made by the grammar from parts of this input and of others.
    Graft(InputId),
    Random,
    Derived,
    /// The events of a live run.
    Live,
    /// Made before the campaign was resumed. It gained nothing, and it was not traced yet or
    /// its run has open flips.
    Recalled,
    /// Made by another fuzzer, or found by another member of a fleet, while the campaign runs.
    Imported,
    /// The result of a flip that this or another member of a fleet asked, in a search that
    /// splits paths.
    Task,
}

impl Origin {
    /// True if the input must be traced because no other input leads to it.
    pub fn is_start(self) -> bool {
        matches!(self, Origin::Seed | Origin::Recalled | Origin::Imported | Origin::Task)
    }
}

/// The result of executing an input on the fast half.
#[derive(Clone, Copy, Debug)]
pub struct ExecutionReport {
    /// The input's number. Seeds, results of flips and strings of a symbolic grammar always
    /// have one; other inputs only if they gained something.
    pub input: Option<InputId>,
    pub origin: Origin,
    /// The number of branches that no earlier run took.
    pub branches: u32,
    /// The number of other branches with a hit count that no earlier run had.
    pub buckets: u32,
    /// True if the run crashed, timed out or hit another limit.
    pub bad: bool,
    /// True if the run timed out or hit another limit. Its trace would take as long.
    pub hung: bool,
    /// The input's length in bytes.
    pub size: u32,
    pub cost: RunCost,
}

/// What a run costs, in estimated microseconds. No clock is read, so equal runs have equal
/// costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCost {
    /// The program's own work, computed from the branches that it took.
    pub work: u32,
    /// Everything else: a process, or what one of many inputs of a process costs.
    pub fixed: u32,
}

impl RunCost {
    pub fn total(self) -> u32 {
        self.work.saturating_add(self.fixed)
    }
}

/// The solver's answer to a flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is an input. Its `ExecutionReport` follows. For a flip of a length, the report
    /// of a second input can follow: the last length before the boundary.
    Sat,
    /// The same, but only some conditions of the path were solved.
    Optimistic,
    /// There is no input. If the descriptor has `relaxes`, reports of inputs that satisfy
    /// only some conditions can follow.
    Unsat,
    Unknown,
    /// The run was dropped from memory. Its input must be traced again first.
    Gone,
}

/// The user's options for strategies.
#[derive(Clone, Debug)]
pub struct Options {
    /// `--depth`: depth-first search flips this many decisions of a path, from its start.
    pub depth: u32,
    /// `--per-string`: the most flips for one string of a symbolic grammar.
    pub per_string: u32,
    /// True if there is a grammar to derive inputs from.
    pub grammar: bool,
    /// True if the program has a token function, so that tokens can be traced.
    pub tokens: bool,
    /// `--flip-share`: the share of flips in `auto` is multiplied by this, relative to the
    /// share of everything else.
    pub flip_share: f64,
    /// The most inputs that may wait to be traced.
    pub max_waiting: usize,
    /// The places that the search should get to, if there are any.
    pub aim: Option<Arc<Aim>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            depth: u32::MAX,
            per_string: u32::MAX,
            grammar: false,
            tokens: false,
            flip_share: 1.0,
            max_waiting: usize::MAX,
            aim: None,
        }
    }
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown strategy `{name}`; the strategies are {}", names())]
pub struct UnknownStrategy {
    name: String,
}

fn names() -> String {
    STRATEGIES.iter().map(|s| s.name).collect::<Vec<_>>().join(", ")
}

/// Finds a strategy by its name.
pub fn find(name: &str) -> Result<&'static Descriptor, UnknownStrategy> {
    let found = STRATEGIES.iter().find(|s| s.name == name);
    found.ok_or_else(|| UnknownStrategy { name: name.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_descriptor_is_complete_and_its_name_is_unique() {
        let mut names = HashSet::new();
        for strategy in STRATEGIES {
            assert!(names.insert(strategy.name), "{} is listed twice", strategy.name);
            for text in [strategy.name, strategy.about, strategy.use_for] {
                assert!(!text.is_empty() && !text.contains('|'), "{}: {text:?}", strategy.name);
            }
            assert!(!strategy.make(Options::default()).doing().is_empty(), "{}", strategy.name);
        }
    }
}
