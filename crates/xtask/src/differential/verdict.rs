//! What came of one program, and of all of them.

use std::fmt;

#[derive(Default)]
pub struct Verdict {
    /// Why the program was not compared, if it was not.
    pub skipped: Option<&'static str>,
    /// Each difference in a few words.
    pub problems: Vec<String>,
    /// Inputs that were traced and checked.
    pub traces: u64,
    /// Events in those traces.
    pub events: u64,
    /// Inputs on which the adapted program has no defined behaviour or no end.
    pub set_aside: u64,
}

#[derive(Default)]
pub struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
    traces: u64,
    events: u64,
    set_aside: u64,
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
        self.set_aside += verdict.set_aside;
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
            "traces: {} inputs, {} events evaluated, {} inputs set aside (undefined or endless)",
            self.traces, self.events, self.set_aside
        )?;
        write!(
            f,
            "differential: {} passed, {} failed, {} skipped (endless)",
            self.passed, self.failed, self.skipped
        )
    }
}
