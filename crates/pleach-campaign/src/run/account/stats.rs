//! The statistics of a campaign: `stats.json`, and a line in `plot_data` for each second.

use crate::run::memory::Memory;
use pleach_search::Action;
use pleach_template::solve::{Answer, TOKENS, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stats {
    /// Runs of the fast half.
    pub runs: u64,
    /// Runs of the symbolic half.
    pub traces: u64,
    pub flips: Flips,
    /// Inputs that the grammar derived.
    pub derived: u64,
    /// How many strings of a symbolic grammar were run, without a gap from the first on.
    pub strings_done: u64,
    /// Inputs that were made of parts of others.
    pub grafted: u64,
    /// Inputs whose tokens in the program differ from those of the grammar.
    pub mismatched: u64,
    /// The first of these.
    pub mismatch: Option<String>,
    /// Their number, by cause.
    pub mismatched_by: BTreeMap<String, u64>,
    /// Runs on tokens.
    pub tokens: Tokens,
    /// The size of traces.
    pub symbolic: Symbolic,
    /// Runs of solved flips that left the predicted path.
    pub diverged: u64,
    /// The same, by the kind of decision where they left it.
    pub diverged_at: BTreeMap<String, u64>,
    /// Decisions of traced runs that the fast half did not take on the same input: its
    /// compiler removed that side of the branch.
    pub folded: u64,
    /// The same, by file and line.
    pub folded_at: BTreeMap<String, u64>,
    pub branches: Branches,
    pub functions: Functions,
    /// Files in the queue.
    pub inputs: u64,
    pub crashes: u64,
    pub hangs: u64,
    /// Distinct paths among the traced runs.
    pub paths: u64,
    /// Branches that an input took once and not when it ran again.
    pub unstable: u64,
    /// Inputs that took another path when they were traced again.
    pub unstable_paths: u64,
    /// Traces that could not be read.
    pub broken_traces: u64,
    /// What kept the search from being exhaustive, and how often.
    pub partial: BTreeMap<String, u64>,
    /// Library functions without a model that received symbolic data.
    pub unmodelled: Vec<String>,
    /// The coverage of each source file.
    pub modules: BTreeMap<String, Module>,
    /// The places that the search should get to, in the order of the settings.
    pub places: Vec<PlaceStats>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Live runs; all zero for other strategies.
    pub hybrid: Hybrid,
    pub time_s: Time,
    /// Files of other fuzzers, by the fuzzer.
    pub sync: BTreeMap<String, Sync>,
    /// The other machines of the campaign, if there are any.
    pub fleet: Option<FleetStats>,
    /// Time and estimated cost of each kind of action.
    pub actions: BTreeMap<String, Actions>,
    pub lock: Lock,
    /// Where the memory of the driver is.
    pub memory: Memory,
    /// How much memory the system says that the driver has, in bytes. Nothing depends on it.
    pub resident: u64,
    /// How often a worker did not come back for ten seconds.
    pub stalls: u64,
    /// The same, by what it did.
    pub stalled_in: BTreeMap<String, u64>,
    /// Counted work, by stage.
    pub work: BTreeMap<String, u64>,
    pub stop: Option<Stop>,
}

/// A campaign on several machines, as one of its members sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FleetStats {
    /// The name of this member.
    pub member: String,
    /// The campaign and its server.
    pub campaign: String,
    /// How work is split: `paths` or `finds`.
    pub split: String,
    /// The other members that were there at the end, or when these statistics were written.
    pub others: Vec<FleetMember>,
    /// Finds and tasks that this member told.
    pub told: u64,
    /// Finds of others that it heard of, and those that it ran because no find before them
    /// covered the same.
    pub heard: u64,
    pub run: u64,
    /// Answers of others to flips.
    pub answers: u64,
    /// Messages that were ignored, because something about them was wrong or too much.
    pub ignored: u64,
    /// Messages that the server has not confirmed.
    pub unsent: u64,
    pub told_bytes: u64,
    pub heard_bytes: u64,
    /// If the search was declared exhausted: the members that had nothing left, all at one
    /// position of the log.
    pub settled_by: Vec<String>,
    pub settled_at: Option<u64>,
    /// Members that were lost while they worked, and never came back.
    pub lost: Vec<String>,
}

/// Another member of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FleetMember {
    pub name: String,
    pub runs: u64,
    pub branches: u64,
    pub inputs: u64,
    pub crashes: u64,
}

/// The files of another fuzzer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sync {
    /// Files that were run.
    pub taken: u64,
    /// Those that went into the queue.
    pub kept: u64,
    /// Those that were kept as a crash or a hang.
    pub bad: u64,
    /// Files that were not run: too long, not regular, not readable.
    pub skipped: u64,
}

/// A place that the search should get to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaceStats {
    /// As the user gave it.
    pub place: String,
    /// What was said about it: a result of a static analyser.
    pub what: String,
    /// The first line with code, if it is not the one that was given.
    pub line: Option<u32>,
    /// The functions that it is in.
    pub functions: Vec<String>,
    pub reached: Option<Reached>,
    /// If it is not reached: the nearest branch that was, and what stands in the way.
    pub obstacle: Option<Obstacle>,
}

/// The input that reached a place first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reached {
    /// Its file in the directory of the campaign.
    pub file: String,
    pub time_ms: u64,
    pub runs: u64,
}

/// What stands in the way to a place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Obstacle {
    /// The nearest branch that was reached, but not taken in the direction of the place.
    pub place: String,
    pub function: String,
    /// `true`, `false`, `case 7`, `default`
    pub side: String,
    /// How many branches it is from the place.
    pub distance: u32,
    /// Why it was not taken.
    pub reason: String,
}

/// The actions of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Actions {
    /// Their number; for mutation and grafts the number of inputs.
    pub count: u64,
    pub seconds: f64,
    /// What the strategy estimated, in seconds; 0 if it does not estimate costs. With
    /// several workers it is wrong, because their actions overlap.
    pub estimated: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flips {
    pub asked: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    pub optimistic: u64,
    /// Inputs that satisfy only some conditions of an infeasible flip.
    pub relaxed: u64,
    /// Those of them that took the branch of the flip.
    pub relaxed_taken: u64,
    /// Answers from the cache.
    pub cached: u64,
    /// The estimated seconds of solving, computed from the work.
    pub estimated_s: f64,
    pub by_tier: BTreeMap<String, u64>,
    /// Seconds, by tier.
    pub time_by_tier: BTreeMap<String, f64>,
}

/// Runs on tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Sentences of the grammar that were traced.
    pub read: u64,
    /// Those of which the program read every token.
    pub accepted: u64,
    /// Those that the program did not read to their end.
    pub rejected: u64,
    /// The same, by the token and the place where it stopped.
    pub rejected_at: BTreeMap<String, u64>,
    /// What the program accepts and the grammar does not have, each with an example.
    pub hints: BTreeMap<String, String>,
    /// Requests to the context-free solver, and those without a solution.
    pub asked: u64,
    pub unsat: u64,
}

/// The size of traces, as Godefroid, Kiezun and Levin measure it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Symbolic {
    /// Bytes that all traces read, or tokens in runs on tokens.
    pub variables: u64,
    /// Decisions of all traces.
    pub constraints: u64,
    /// Decisions of long traces that the search did not get.
    pub left_out: u64,
    /// Constraints by source file. Those of libc models belong to no file.
    pub by_module: BTreeMap<String, u64>,
}

/// The coverage of a source file.
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
    /// Events that live runs read, except in searches.
    pub events: u64,
    /// Searches from the state of a live run.
    pub searches: u64,
    /// Those that found something.
    pub found: u64,
    /// Snapshots that were kept for that.
    pub snapshots: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Branches {
    pub total: u64,
    pub covered: u64,
    /// Branches of the functions that some run reached.
    pub reachable: u64,
}

/// Functions that have a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Functions {
    pub total: u64,
    pub reached: u64,
}

/// Seconds. The parts add up to the time of all workers: the total, times their number.
/// `tokens` and `grammar` are included in other parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Time {
    pub total: f64,
    /// To run inputs on the fast half, and to take their counters.
    pub fast: f64,
    /// To trace inputs on the symbolic half.
    pub symbolic: f64,
    pub solve: f64,
    /// The part of `solve` for flips on tokens.
    pub tokens: f64,
    /// In the context-free solver: to complete sentences, and to find nestings.
    pub grammar: f64,
    /// To parse inputs, to make others of their parts, and to derive sentences.
    pub parse: f64,
    /// To mutate inputs.
    pub mutate: f64,
    /// To judge runs, to keep inputs, and to read traces.
    pub judge: f64,
    /// To choose what to do next.
    pub search: f64,
    /// To wait for what the workers share.
    pub lock: f64,
    /// With nothing to do.
    pub idle: f64,
}

impl Time {
    /// The sum of the parts.
    pub fn parts(&self) -> f64 {
        let Time { fast, symbolic, solve, parse, mutate, judge, search, lock, idle, .. } = self;
        [fast, symbolic, solve, parse, mutate, judge, search, lock, idle].into_iter().sum()
    }
}

/// The lock on what the workers share. `time_s.lock` is the time that they waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lock {
    /// How often it was taken.
    pub taken: u64,
    /// The CPU time of those that held it, in seconds, from samples.
    pub held_s: f64,
}

/// Why a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Every feasible path within the bound was run.
    Exhausted,
    /// The same, except for what `partial` lists.
    ExhaustedPartial,
    Time,
    Runs,
    Crash,
    Interrupted,
    /// The coverage that the user asked for was reached.
    Enough,
    /// All places that the search should get to were reached.
    Reached,
    /// The program reads no input.
    ReadsNothing,
    /// Live runs end after an event or two.
    EndsAtOnce,
    /// Live runs read events, and nothing depends on them.
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
            Stop::Reached => "reached",
            Stop::ReadsNothing => "reads-nothing",
            Stop::EndsAtOnce => "ends-at-once",
            Stop::NothingDepends => "nothing-depends",
        }
    }
}

/// A line of `plot_data`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlotPoint {
    pub seconds: f64,
    pub runs: u64,
    pub covered: u64,
    pub crashes: u64,
}

impl PlotPoint {
    /// Reads a line; `None` for the first one.
    pub fn parse(line: &str) -> Option<PlotPoint> {
        let mut fields = line.split(", ");
        let seconds = fields.next()?.parse().ok()?;
        let numbers: Vec<u64> = fields.map_while(|field| field.trim().parse().ok()).collect();
        let number = |at: usize| numbers.get(at).copied();
        let (runs, covered, crashes) = (number(0)?, number(2)?, number(6)?);
        Some(PlotPoint { seconds, runs, covered, crashes })
    }
}

impl Stats {
    /// The first line of `plot_data`. gnuplot and the tools of AFL++ skip it.
    pub const PLOT_HEAD: &str = "# seconds, runs, traces, covered, reachable, total, inputs, \
         crashes, hangs, asked, sat, unsat, unknown, diverged\n";

    /// Counts an action, the time that it took, and its estimated cost in microseconds.
    pub fn count_action(&mut self, action: Action, spent: Duration, cost: f64) {
        let (kind, count) = match action {
            Action::Trace(_) => ("trace", 1),
            Action::TraceTokens(_) => ("trace-tokens", 1),
            Action::Flip(_) => ("flip", 1),
            Action::Mutate { count, .. } => ("mutate", count),
            Action::Graft { count, .. } => ("graft", count),
            Action::Random => ("random", 1),
            Action::Derive => ("derive", 1),
            Action::Live => ("live", 1),
            Action::Wait => return,
        };
        self.count_actions(kind, u64::from(count), spent, cost);
    }

    /// Counts actions of one kind.
    pub fn count_actions(&mut self, kind: &str, count: u64, spent: Duration, cost: f64) {
        let actions = match self.actions.get_mut(kind) {
            Some(actions) => actions,
            None => self.actions.entry(kind.into()).or_default(),
        };
        actions.count += count;
        actions.seconds += spent.as_secs_f64();
        actions.estimated += cost / 1e6;
    }

    /// Counts an answer of the solver, and the time that it took.
    pub fn count_answer(&mut self, answer: &Answer, spent: Duration) {
        let (flips, seconds) = (&mut self.flips, spent.as_secs_f64());
        flips.asked += 1;
        flips.estimated_s += answer.cost / 1e6;
        *match answer.verdict {
            Verdict::Sat => &mut flips.sat,
            Verdict::Optimistic => &mut flips.optimistic,
            Verdict::Unsat => &mut flips.unsat,
            Verdict::Unknown => &mut flips.unknown,
        } += 1;
        flips.cached += u64::from(answer.cached);
        *flips.by_tier.entry(answer.tier.into()).or_default() += 1;
        *flips.time_by_tier.entry(answer.tier.into()).or_default() += seconds;
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
        // This cannot fail: there are only numbers, strings and maps with string keys.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plot_lines_have_the_columns_of_the_first_line() {
        let columns = |text: &str| text.split(',').count();
        assert_eq!(columns(&Stats::default().plot_line()), columns(Stats::PLOT_HEAD));
    }

    #[test]
    fn plot_lines_can_be_read() {
        let mut stats = Stats { runs: 7, crashes: 2, ..Stats::default() };
        (stats.time_s.total, stats.branches.covered) = (1.5, 40);
        let point = PlotPoint { seconds: 1.5, runs: 7, covered: 40, crashes: 2 };
        assert_eq!(PlotPoint::parse(&stats.plot_line()), Some(point));
        assert_eq!(PlotPoint::parse(Stats::PLOT_HEAD.trim_end()), None);
    }

    #[test]
    fn stops_have_the_same_names_in_json() {
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
