//! How much was compared so far: `docs/differential.jsonl` has a line for each continuation.
//! So seeds are taken once, and the totals are those of all commits together. A line says
//! which seeds failed; a fixed defect has a regression test, and the line stays.

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::verdict::Tally;
use crate::bench::contest::record::JsonLines;
use crate::bench::machine;
use crate::{process, project};

const FLIPS_LIMIT: Duration = Duration::from_secs(6 * 3600);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
enum Line {
    Programs(Programs),
    Flips(Flips),
}

/// Programs of a kind: seeds `first` to `last`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Programs {
    kind: Kind,
    first: u64,
    last: u64,
    passed: u64,
    failed: u64,
    skipped: u64,
    traces: u64,
    events: u64,
    commit: String,
    date: String,
}

/// Flips of random paths: cases `first` to `last` of each test in
/// `crates/pleach-solve/tests/z3.rs`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Flips {
    first: u64,
    last: u64,
    flips: u64,
    refuted: u64,
    open: u64,
    commit: String,
    date: String,
}

pub struct Counts(JsonLines<Line>);

impl Counts {
    pub fn open() -> Result<Counts> {
        Ok(Counts(JsonLines::open(project::root().join("docs/differential.jsonl"))?))
    }

    fn programs(&self, kind: Kind) -> impl Iterator<Item = &Programs> {
        self.0.all.iter().filter_map(move |line| match line {
            Line::Programs(programs) if programs.kind == kind => Some(programs),
            _ => None,
        })
    }

    fn flips(&self) -> impl Iterator<Item = &Flips> {
        self.0.all.iter().filter_map(|line| match line {
            Line::Flips(flips) => Some(flips),
            Line::Programs(_) => None,
        })
    }

    /// The first seed that was not taken.
    pub fn next_seed(&self, kind: Kind) -> u64 {
        self.programs(kind).map(|p| p.last + 1).max().unwrap_or(1)
    }

    pub fn add_programs(&mut self, kind: Kind, first: u64, tally: &Tally) -> Result<()> {
        self.0.add(Line::Programs(Programs {
            kind,
            first,
            last: first + tally.programs() - 1,
            passed: tally.passed,
            failed: tally.failed(),
            skipped: tally.skipped,
            traces: tally.traces,
            events: tally.events,
            commit: machine::commit()?,
            date: machine::now()?,
        }))
    }

    /// Runs the next cases of the tests that compare with Z3. False if they fail.
    pub fn add_flips(&mut self, cases: u64) -> Result<bool> {
        if cases == 0 {
            bail!("--flips 0: give a number above 0");
        }
        let first = self.flips().map(|f| f.last + 1).max().unwrap_or(0);
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--release", "-p", "pleach-solve", "--test", "z3", "--"]);
        cargo.args(["--nocapture", "proofs_on"]).current_dir(project::root());
        cargo.env("PLEACH_CASES", cases.to_string()).env("PLEACH_FIRST_CASE", first.to_string());
        let done = process::run(cargo.stdin(Stdio::null()), FLIPS_LIMIT)?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        if !done.exit.success() {
            println!("{said}\n{}", String::from_utf8_lossy(&done.stdout));
            println!("the comparison with Z3 failed: {}", done.exit);
            return Ok(false);
        }
        let sums = sum_flips(&said).context("the tests print no numbers of flips")?;
        let [flips, refuted, open] = sums;
        let (commit, date) = (machine::commit()?, machine::now()?);
        let last = first + cases - 1;
        self.0.add(Line::Flips(Flips { first, last, flips, refuted, open, commit, date }))?;
        println!("{flips} flips, {refuted} refuted by both, {open} open\n{}", self.totals());
        Ok(true)
    }

    /// A line for each kind, and one for the flips.
    pub fn totals(&self) -> String {
        let mut out = String::new();
        for kind in Kind::ALL {
            let sum = |number: fn(&Programs) -> u64| self.programs(kind).map(number).sum::<u64>();
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "so far: {} programs of {}, {} failed, {} skipped; {} traces, {} events",
                sum(|p| p.passed),
                kind.name(),
                sum(|p| p.failed),
                sum(|p| p.skipped),
                sum(|p| p.traces),
                sum(|p| p.events)
            );
        }
        let sum = |number: fn(&Flips) -> u64| self.flips().map(number).sum::<u64>();
        let (flips, refuted) = (sum(|f| f.flips), sum(|f| f.refuted));
        let open = sum(|f| f.open);
        out + &format!("so far: {flips} flips, {refuted} refuted by both, {open} open")
    }
}

/// Adds up lines like `12 flips, 3 refuted by both, 0 open`.
fn sum_flips(text: &str) -> Option<[u64; 3]> {
    let mut sums = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        // The harness may print the name of a test on the same line before.
        let Some(at) = words.iter().position(|w| *w == "flips,").filter(|at| *at > 0) else {
            continue;
        };
        let [flips, "flips,", refuted, "refuted", "by", "both,", open, "open"] = words[at - 1..]
        else {
            continue;
        };
        let sums = sums.get_or_insert([0; 3]);
        for (sum, word) in sums.iter_mut().zip([flips, refuted, open]) {
            *sum += word.parse::<u64>().ok()?;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_are_added_up() {
        let text = "running 3 tests\ntest a ... 12 flips, 3 refuted by both, 0 open\n\
                    5 flips, 2 refuted by both, 1 open\ntest result: ok\n";
        assert_eq!(sum_flips(text), Some([17, 5, 1]));
        assert_eq!(sum_flips("test result: ok"), None);
    }

    #[test]
    fn the_next_seeds_are_those_after_all_others() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("differential.jsonl");
        let mut counts = Counts(JsonLines::open(file.clone()).unwrap());
        assert_eq!(counts.next_seed(Kind::Loops), 1);
        let mut tally = Tally::default();
        for _ in 0..3 {
            tally.add(&Default::default());
        }
        counts.add_programs(Kind::Loops, 1, &tally).unwrap();
        let counts = Counts(JsonLines::open(file).unwrap());
        assert_eq!((counts.next_seed(Kind::Loops), counts.next_seed(Kind::Cxx)), (4, 1));
        assert!(counts.totals().contains("3 programs of loops, 0 failed"), "{}", counts.totals());
    }
}
