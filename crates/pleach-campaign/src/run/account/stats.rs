//! What a campaign counts: `stats.json`, and a line a second in `plot_data`.

use pleach_template::solve::{Answer, TOKENS, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stats {
    /// Executions of the fast half.
    pub runs: u64,
    /// Executions of the symbolic half.
    pub traces: u64,
    pub flips: Flips,
    /// Inputs that the grammar derived.
    pub derived: u64,
    /// Strings of a symbolic grammar from the first on that need not be derived again.
    pub strings_done: u64,
    /// Inputs that were put together from parts of others.
    pub grafted: u64,
    /// Inputs whose tokens are not what the grammar says, the first case, and by cause.
    pub mismatched: u64,
    pub mismatch: Option<String>,
    pub mismatched_by: BTreeMap<String, u64>,
    /// Runs on tokens, and what the grammar had to do with them.
    pub tokens: Tokens,
    /// What traces were made of.
    pub symbolic: Symbolic,
    /// Solved flips whose run left the predicted path.
    pub diverged: u64,
    /// The same by the kind of decision where the run left it.
    pub diverged_at: BTreeMap<String, u64>,
    /// Decisions of traced runs that the fast half does not show on the same input: its
    /// optimiser folded the branch.
    pub folded: u64,
    /// The same by file and line.
    pub folded_at: BTreeMap<String, u64>,
    pub branches: Branches,
    pub functions: Functions,
    /// Files in the queue.
    pub inputs: u64,
    pub crashes: u64,
    pub hangs: u64,
    /// Distinct paths among the traced runs.
    pub paths: u64,
    /// Branches that came out differently when the same input ran again.
    pub unstable: u64,
    /// Inputs that took another path when they were traced again.
    pub unstable_paths: u64,
    /// Traces that were refused.
    pub broken_traces: u64,
    /// What keeps a search from being exhaustive, and how often it was met.
    pub partial: BTreeMap<String, u64>,
    /// Functions of libraries without a model that labelled data went into.
    pub unmodelled: Vec<String>,
    /// By source file: what is covered of it, and the runs that reach it.
    pub modules: BTreeMap<String, Module>,
    /// What people should know, as soon as it is known.
    pub notes: Vec<String>,
    /// What live runs did; all zero for other strategies.
    pub hybrid: Hybrid,
    pub time_s: Time,
    pub stop: Option<Stop>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flips {
    pub asked: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    pub optimistic: u64,
    /// Inputs that keep only some conditions of an infeasible flip, and those of them that
    /// took its branch.
    pub relaxed: u64,
    pub relaxed_taken: u64,
    /// Answered from the cache, whatever the answer.
    pub cached: u64,
    pub by_tier: BTreeMap<String, u64>,
    /// Seconds by tier.
    pub time_by_tier: BTreeMap<String, f64>,
}

/// Runs on tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Traces whose tokens were the grammar's own.
    pub read: u64,
    /// Of these, sentences of which the program took every token.
    pub accepted: u64,
    /// Sentences that the program did not take to their end, and where it gave up.
    pub rejected: u64,
    pub rejected_at: BTreeMap<String, u64>,
    /// What the program takes and the grammar does not have, each with an example.
    pub hints: BTreeMap<String, String>,
    /// Questions to the context-free solver, and those without an answer.
    pub asked: u64,
    pub unsat: u64,
}

/// What traces were made of: the measures of Godefroid, Kiezun and Levin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Symbolic {
    /// Bytes that were read, or tokens in runs on them, of all traces.
    pub variables: u64,
    /// Decisions of all traces that the search was given, and those of long traces that
    /// were left out.
    pub constraints: u64,
    pub left_out: u64,
    /// The same by source file; those of libc models and the like are under none.
    pub by_module: BTreeMap<String, u64>,
}

/// A source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Module {
    pub branches: u64,
    pub covered: u64,
    /// Runs that took a branch of it.
    pub reached: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hybrid {
    /// Events that live runs took, searches aside.
    pub events: u64,
    /// Searches from live states, those that found something, and snapshots
    /// that were kept for it.
    pub searches: u64,
    pub found: u64,
    pub snapshots: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Branches {
    pub total: u64,
    pub covered: u64,
    /// Branches of functions that some run reached.
    pub reachable: u64,
}

/// Functions with a branch in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Functions {
    pub total: u64,
    pub reached: u64,
}

/// Seconds; with several workers the parts add up to more than the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Time {
    pub total: f64,
    pub fast: f64,
    pub symbolic: f64,
    pub solve: f64,
    /// Of which for flips over tokens.
    pub tokens: f64,
    /// By the context-free solver: completing sentences, and finding what tokens are
    /// nested in.
    pub grammar: f64,
    /// Parsing inputs to make others of their parts, making them, and deriving sentences.
    pub parse: f64,
}

/// Why a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Every feasible path within the bound was explored.
    Exhausted,
    /// The same, but for what `partial` lists.
    ExhaustedPartial,
    Time,
    Runs,
    Crash,
    Interrupted,
    /// As much is covered as was asked for.
    Enough,
    /// A live run ended without asking for input.
    ReadsNothing,
    /// Live runs end after an event or two.
    EndsAtOnce,
    /// Live runs take events without end, and nothing depends on them.
    NothingDepends,
}

impl Stop {
    pub fn name(self) -> &'static str {
        match self {
            Stop::Exhausted => "exhausted",
            Stop::ExhaustedPartial => "exhausted-partial",
            Stop::Time => "time",
            Stop::Runs => "runs",
            Stop::Crash => "crash",
            Stop::Interrupted => "interrupted",
            Stop::Enough => "enough",
            Stop::ReadsNothing => "reads-nothing",
            Stop::EndsAtOnce => "ends-at-once",
            Stop::NothingDepends => "nothing-depends",
        }
    }
}

impl Stats {
    /// Head of `plot_data`; gnuplot and AFL's tools skip it.
    pub const PLOT_HEAD: &str = "# seconds, runs, traces, covered, reachable, total, inputs, \
         crashes, hangs, asked, sat, unsat, unknown, diverged\n";

    /// Counts an answer of the solver, and the time that it took.
    pub fn count_answer(&mut self, answer: &Answer, spent: Duration) {
        let (flips, seconds) = (&mut self.flips, spent.as_secs_f64());
        flips.asked += 1;
        *match answer.verdict {
            Verdict::Sat => &mut flips.sat,
            Verdict::Optimistic => &mut flips.optimistic,
            Verdict::Unsat => &mut flips.unsat,
            Verdict::Unknown => &mut flips.unknown,
        } += 1;
        flips.cached += u64::from(answer.cached);
        *flips.by_tier.entry(answer.tier.into()).or_default() += 1;
        *flips.time_by_tier.entry(answer.tier.into()).or_default() += seconds;
        self.time_s.solve += seconds;
        if answer.tier == TOKENS {
            self.time_s.tokens += seconds;
        }
        self.tokens.asked += answer.grammar_work.requests;
        self.tokens.unsat += answer.grammar_work.unsat;
        self.time_s.grammar += answer.grammar_work.time.as_secs_f64();
    }

    /// A line of `plot_data`.
    pub fn plot_line(&self) -> String {
        let (f, b) = (&self.flips, &self.branches);
        format!(
            "{:.1}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}\n",
            self.time_s.total,
            self.runs,
            self.traces,
            b.covered,
            b.reachable,
            b.total,
            self.inputs,
            self.crashes,
            self.hangs,
            f.asked,
            f.sat,
            f.unsat,
            f.unknown,
            self.diverged
        )
    }

    pub fn json(&self) -> String {
        // Numbers, strings and maps with string keys: nothing that can fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plot_lines_have_as_many_columns_as_the_head() {
        let columns = |text: &str| text.split(',').count();
        assert_eq!(columns(&Stats::default().plot_line()), columns(Stats::PLOT_HEAD));
    }

    #[test]
    fn names_of_stops_are_those_of_the_json() {
        for stop in [
            Stop::Exhausted,
            Stop::ExhaustedPartial,
            Stop::Time,
            Stop::Interrupted,
            Stop::ReadsNothing,
            Stop::EndsAtOnce,
            Stop::NothingDepends,
        ] {
            assert_eq!(serde_json::to_value(stop).unwrap(), stop.name());
        }
    }
}
