//! The comparison of several strategies on one program, as a table and as plots. Each
//! strategy has the results of several campaigns.

mod plot;
mod table;

pub use plot::{Axis, plot};
pub use table::table;

use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub program: String,
    /// The limits of each campaign, as text.
    pub budget: String,
    /// The number of branches of the program.
    pub branches: u64,
    pub modules: Vec<Module>,
    pub strategies: Vec<Strategy>,
    /// `overlap[a][b]` is the number of branches that some campaign of strategy `a` covered
    /// and no campaign of strategy `b`. `overlap[a][a]` is all that `a` covered.
    pub overlap: Vec<Vec<u64>>,
}

/// A source file, or several under one name.
#[derive(Clone, Debug, Serialize)]
pub struct Module {
    pub name: String,
    pub branches: u64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Strategy {
    pub name: String,
    pub campaigns: Vec<Campaign>,
}

/// One campaign of a strategy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Campaign {
    pub seed: u64,
    /// Why it ended.
    pub stop: String,
    pub covered: u64,
    /// The number of branches in functions that it reached.
    pub reachable: u64,
    pub inputs: u64,
    pub runs: u64,
    pub crashes: u64,
    /// The time of the last new branch, in seconds.
    pub last_new_s: f64,
    /// In the order of the comparison's modules.
    pub modules: Vec<InModule>,
    pub measures: Measures,
    pub points: Vec<Point>,
}

/// The size of traces, and the cost of solving.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Measures {
    pub traces: u64,
    /// Symbolic variables and constraints of all traces.
    pub variables: u64,
    pub constraints: u64,
    /// Seconds: of the campaign, for solving, for context-free solving, and by tier.
    pub seconds: f64,
    pub solving_s: f64,
    pub grammar_s: f64,
    pub tiers_s: BTreeMap<String, f64>,
    /// Questions to the context-free solver, and how many were unsatisfiable.
    pub grammar_asked: u64,
    pub grammar_unsat: u64,
}

/// The results of a campaign in one module.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct InModule {
    pub covered: u64,
    /// The number of runs that took a branch of it.
    pub reached: u64,
    /// The number of all runs.
    pub of: u64,
    /// The number of constraints in traces that come from it.
    pub constraints: u64,
}

/// The state of a campaign at some time.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Point {
    pub seconds: f64,
    pub runs: u64,
    pub covered: u64,
}

/// The mean, the smallest and the largest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    mean: f64,
    min: f64,
    max: f64,
}

impl Spread {
    /// `None` if there are no numbers.
    fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let (mut sum, mut count) = (0.0, 0.0);
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for n in numbers {
            sum += n;
            count += 1.0;
            min = n.min(min);
            max = n.max(max);
        }
        (count > 0.0).then(|| Spread { mean: sum / count, min, max })
    }
}
