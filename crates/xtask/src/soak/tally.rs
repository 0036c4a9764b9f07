//! The totals of all campaigns.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use super::campaign::Report;
use super::fault::Fault;

#[derive(Default)]
struct Count {
    happened: u64,
    failed: u64,
    slowest_answer: Duration,
    left_for_next: usize,
}

pub struct Tally {
    start: Instant,
    /// `None`: the end of a campaign.
    counts: BTreeMap<Option<Fault>, Count>,
    /// Faults that found nobody to kill, or a campaign that had just ended.
    missed: u64,
    peak_kib: u64,
    inputs: usize,
}

impl Tally {
    pub fn new() -> Tally {
        let (counts, start) = (BTreeMap::new(), Instant::now());
        Tally { start, counts, missed: 0, peak_kib: 0, inputs: 0 }
    }

    pub fn add(&mut self, fault: Option<Fault>, report: &Report, peak_kib: u64, inputs: usize) {
        self.peak_kib = self.peak_kib.max(peak_kib);
        if fault.is_none() {
            self.inputs += inputs;
        }
        if !report.took_place && report.problems.is_empty() {
            self.missed += 1;
            return;
        }
        let count = self.counts.entry(fault).or_default();
        count.happened += 1;
        count.failed += u64::from(!report.problems.is_empty());
        count.slowest_answer = count.slowest_answer.max(report.answer_time.unwrap_or_default());
        count.left_for_next += report.left_for_next;
    }

    pub fn failed(&self) -> u64 {
        self.counts.values().map(|c| c.failed).sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (fault, count) in &self.counts {
            let name = fault.map_or("end: replay, journal", Fault::name);
            write!(f, "{name:34} {:6} times, {} failed", count.happened, count.failed)?;
            if !count.slowest_answer.is_zero() {
                write!(f, "; slowest answer {:.2} s", count.slowest_answer.as_secs_f64())?;
            }
            if count.left_for_next > 0 {
                write!(f, "; {} directories left for the next driver", count.left_for_next)?;
            }
            writeln!(f)?;
        }
        let (total, failed) =
            (self.counts.values().map(|c| c.happened).sum::<u64>(), self.failed());
        writeln!(
            f,
            "{} s, {} inputs kept, largest driver {} MiB, {} faults found nothing to hit",
            self.start.elapsed().as_secs(),
            self.inputs,
            self.peak_kib / 1024,
            self.missed
        )?;
        writeln!(f, "soak: {} passed, {failed} failed", total - failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_that_find_nothing_do_not_count_and_problems_always_do() {
        let mut tally = Tally::new();
        let report = |took_place, problems: &[&str]| Report {
            took_place,
            problems: problems.iter().map(|p| p.to_string()).collect(),
            ..Report::default()
        };
        tally.add(Some(Fault::KillRun), &report(true, &[]), 2048, 0);
        tally.add(Some(Fault::KillRun), &report(false, &[]), 1024, 0);
        assert_eq!(tally.failed(), 0);
        tally.add(Some(Fault::KillDriver), &report(false, &["lost"]), 0, 0);
        tally.add(None, &report(true, &["does not replay"]), 0, 7);
        assert_eq!(tally.failed(), 2);
        let text = tally.to_string();
        assert!(text.contains("7 inputs kept, largest driver 2 MiB, 1 faults"), "{text}");
        assert!(text.ends_with("soak: 1 passed, 2 failed\n"), "{text}");
    }
}
