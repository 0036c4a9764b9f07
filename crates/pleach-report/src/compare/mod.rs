//! Strategies side by side on one program: the numbers of several campaigns each,
//! as a table and as pictures. Where they come from is not known here.

mod plot;
mod table;

pub use plot::{Axis, plot};
pub use table::table;

use serde::Serialize;
use std::collections::BTreeMap;

/// All that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub program: String,
    /// What each campaign was given, in words.
    pub budget: String,
    /// Branches of the program.
    pub branches: u64,
    pub modules: Vec<Module>,
    pub strategies: Vec<Strategy>,
    /// For each strategy, for each other: branches that campaigns of the first
    /// covered and none of the second did. A strategy beside itself: all it covered.
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
    /// Branches of the functions that it reached.
    pub reachable: u64,
    pub inputs: u64,
    pub runs: u64,
    pub crashes: u64,
    /// When the last branch was covered for the first time.
    pub last_new_s: f64,
    /// In the order of the comparison's modules.
    pub modules: Vec<InModule>,
    pub measures: Measures,
    pub points: Vec<Point>,
}

/// What traces and solving were made of.
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
    /// Questions to the context-free solver, and those without an answer.
    pub grammar_asked: u64,
    pub grammar_unsat: u64,
}

/// What a campaign has of a module.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct InModule {
    pub covered: u64,
    /// Runs that took a branch of it.
    pub reached: u64,
    /// Of so many.
    pub of: u64,
    /// Constraints of traces that come from it.
    pub constraints: u64,
}

/// Where a campaign stood at some time.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Point {
    pub seconds: f64,
    pub runs: u64,
    pub covered: u64,
}

/// Mean, smallest and largest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    mean: f64,
    min: f64,
    max: f64,
}

impl Spread {
    /// Of nothing there is none.
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
