//! The results of packages, one line of JSON each in `docs/packages.jsonl`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::crash::Crash;
use super::slowdown::Slowdown;
use crate::bench::contest::record::Record;
use crate::bench::machine::Machine;

/// A campaign that ends this much later than asked has stalled.
const MAX_DELAY_SECONDS: f64 = 2.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Line {
    Tests(Tests),
    Campaign(Campaign),
}

/// A package was built and tested.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tests {
    pub package: String,
    pub version: String,
    pub commit: String,
    pub machine: Machine,
    pub date: String,
    /// Why Pleach could not build it.
    pub problem: Option<String>,
    /// The tests that the plain build passes.
    pub passed: usize,
    /// Of these, how many pass in the fast half, in the symbolic half, and there with labels.
    pub in_halves: [usize; 3],
    pub slowdown: Option<Slowdown>,
}

impl Tests {
    /// True if Pleach builds it, and every test of the plain build passes in both halves.
    pub fn behaves(&self) -> bool {
        self.problem.is_none() && self.in_halves.iter().all(|count| *count == self.passed)
    }

    pub fn describe(&self) -> String {
        match &self.problem {
            Some(problem) => problem.clone(),
            None => format!("tests {} of {}", join(&self.in_halves), self.passed),
        }
    }
}

/// Numbers with slashes between them.
pub fn join(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join("/")
}

/// `pleach run` and AFL++ searched a package side by side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Campaign {
    pub package: String,
    pub version: String,
    pub commit: String,
    pub machine: Machine,
    pub date: String,
    pub seconds: u64,
    /// Options of `pleach run` besides the common ones.
    pub options: String,
    /// The branches of the program by gcov, and those that the seeds take.
    pub total: u64,
    pub begin: u64,
    pub branches: u64,
    pub runs: u64,
    pub flips: u64,
    pub traces: u64,
    pub stalls: u64,
    /// The largest memory of the driver.
    pub memory_mib: u64,
    /// How often each kind of symbolic knowledge was lost.
    pub partial: BTreeMap<String, u64>,
    /// Functions without a model that got input bytes.
    pub unmodelled: Vec<String>,
    pub diverged: u64,
    pub afl: Rival,
    /// Crashes that happen in the plain build with ASan, told apart by place.
    pub crashes: Vec<Crash>,
}

/// The same numbers of AFL++.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rival {
    pub branches: u64,
    pub runs: u64,
    pub crashes: u64,
}

impl Campaign {
    pub fn new(version: String, pleach: Record, afl: Rival, crashes: Vec<Crash>) -> Campaign {
        let stats = &pleach.stats;
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let counts = |value: &Value| -> BTreeMap<String, u64> {
            let entries = value.as_object().into_iter().flatten();
            entries.map(|(name, count)| (name.clone(), number(count))).collect()
        };
        let late = pleach.elapsed > pleach.key.seconds as f64 + MAX_DELAY_SECONDS;
        let names = stats["unmodelled"].as_array().into_iter().flatten();
        Campaign {
            package: pleach.key.program.clone(),
            version,
            seconds: pleach.key.seconds,
            options: pleach.key.knobs.clone(),
            total: pleach.total,
            begin: pleach.begin,
            branches: pleach.branches,
            runs: pleach.runs,
            flips: number(&stats["flips"]["asked"]),
            traces: number(&stats["traces"]),
            stalls: number(&stats["stalls"]) + u64::from(late),
            memory_mib: pleach.memory_mib,
            partial: counts(&stats["partial"]),
            unmodelled: names.filter_map(|n| Some(n.as_str()?.to_string())).collect(),
            diverged: number(&stats["diverged"]),
            commit: pleach.commit.clone(),
            machine: pleach.machine.clone(),
            date: pleach.date.clone(),
            afl,
            crashes,
        }
    }

    pub fn describe(&self) -> String {
        format!(
            "{} branches, AFL++ {}; {} runs, {} flips, {} MiB, {} crashes",
            self.branches,
            self.afl.branches,
            self.runs,
            self.flips,
            self.memory_mib,
            self.crashes.len()
        )
    }
}

/// The newest results of a package.
#[derive(Default)]
pub struct Latest<'a> {
    pub tests: Option<&'a Tests>,
    pub campaign: Option<&'a Campaign>,
}

pub fn latest<'a>(lines: &'a [Line], package: &str) -> Latest<'a> {
    let mut latest = Latest::default();
    for line in lines {
        match line {
            Line::Tests(tests) if tests.package == package => latest.tests = Some(tests),
            Line::Campaign(campaign) if campaign.package == package => {
                latest.campaign = Some(campaign);
            }
            _ => {}
        }
    }
    latest
}
