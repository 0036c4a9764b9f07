//! The result of one program, and the totals.

use std::fmt;

#[derive(Default)]
pub struct Verdict {
    /// Why the program was skipped, if it was.
    pub skipped: Option<&'static str>,
    /// A short description of each difference.
    pub problems: Vec<String>,
    /// Number of inputs that were traced and checked.
    pub traces: u64,
    /// Events in those traces.
    pub events: u64,
    /// Inputs on which the adapted program has undefined behaviour or does not end.
    pub skipped_inputs: u64,
}

#[derive(Default)]
pub struct Tally {
    pub passed: u64,
    failed: u64,
    pub skipped: u64,
    pub traces: u64,
    pub events: u64,
    skipped_inputs: u64,
}

impl Tally {
    pub fn add(&mut self, verdict: &Verdict) {
        match (verdict.problems.is_empty(), verdict.skipped) {
            (false, _) => self.failed += 1,
            (true, Some(_)) => self.skipped += 1,
            (true, None) => self.passed += 1,
        }
        self.traces += verdict.traces;
        self.events += verdict.events;
        self.skipped_inputs += verdict.skipped_inputs;
    }

    pub fn programs(&self) -> u64 {
        self.passed + self.failed + self.skipped
    }

    pub fn failed(&self) -> u64 {
        self.failed
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(
            f,
            "traces: {} inputs, {} events evaluated, {} inputs skipped (undefined or endless)",
            self.traces, self.events, self.skipped_inputs
        )?;
        write!(
            f,
            "differential: {} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}
