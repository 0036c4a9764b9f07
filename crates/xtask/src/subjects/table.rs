//! The results of all programs as one table.

use std::fmt::Write;

use super::build::Built;
use super::check::Results;

/// At most this many failed tests are named; the others are counted.
const MAX_NAMED_TESTS: usize = 12;

pub struct Row {
    name: String,
    plain: Built,
    expected: Results,
    pub pleach: Option<Built>,
    pub build_problem: Option<String>,
    pub fast: Results,
    pub symbolic: Results,
    pub labels: Results,
    /// What became of an exported regression suite.
    pub suite: Results,
}

impl Row {
    pub fn new(name: String, plain: Built, expected: Results) -> Row {
        Row {
            name,
            plain,
            expected,
            pleach: None,
            build_problem: None,
            fast: Results::new(),
            symbolic: Results::new(),
            labels: Results::new(),
            suite: Results::new(),
        }
    }

    pub fn passed(&self) -> usize {
        let suite = self.suite.values().filter(|passed| **passed).count();
        self.counts().1.iter().sum::<usize>() + suite
    }

    pub fn failed(&self) -> usize {
        match self.build_problem {
            Some(_) => 1,
            None => {
                self.modes().len() * self.counted_tests().count() + self.suite.len() - self.passed()
            }
        }
    }

    /// How many tests the plain build passes, and how many of these each half passes: the
    /// fast half, the symbolic half, the symbolic half with labels.
    pub fn counts(&self) -> (usize, [usize; 3]) {
        let passed = |got: &Results| self.counted_tests().filter(|test| passes(got, test)).count();
        (self.counted_tests().count(), self.modes().map(|(_, got)| passed(got)))
    }

    /// The tests that count: those that the plain build passes.
    fn counted_tests(&self) -> impl Iterator<Item = &String> {
        self.expected.iter().filter(|(_, passed)| **passed).map(|(test, _)| test)
    }

    fn modes(&self) -> [(&'static str, &Results); 3] {
        [("fast", &self.fast), ("symbolic", &self.symbolic), ("symbolic with labels", &self.labels)]
    }

    /// Prints which tests failed in which half, and which fail in the plain build.
    pub fn print_problems(&self) {
        if let Some(problem) = &self.build_problem {
            println!("{problem}");
            return;
        }
        let failed_in_plain: Vec<&str> =
            self.expected.iter().filter(|(_, ok)| !**ok).map(|(test, _)| test.as_str()).collect();
        self.print_names("not counted, because it fails in the plain build", &failed_in_plain);
        for (mode, got) in self.modes() {
            let mut failed: Vec<&str> = self
                .counted_tests()
                .filter(|test| !passes(got, test))
                .map(String::as_str)
                .collect();
            let unexpected =
                got.iter().filter(|(test, ok)| !**ok && !self.expected.contains_key(*test));
            failed.extend(unexpected.map(|(test, _)| test.as_str()));
            self.print_names(&format!("fails in {mode}"), &failed);
        }
        let failed = self.suite.iter().filter(|(_, passed)| !**passed);
        self.print_names("fails", &failed.map(|(test, _)| test.as_str()).collect::<Vec<_>>());
    }

    fn print_names(&self, what: &str, tests: &[&str]) {
        for test in tests.iter().take(MAX_NAMED_TESTS) {
            println!("{}: {what}: {test}", self.name);
        }
        if tests.len() > MAX_NAMED_TESTS {
            println!("{}: {what}: {} more", self.name, tests.len() - MAX_NAMED_TESTS);
        }
    }
}

fn passes(results: &Results, test: &str) -> bool {
    results.get(test).copied().unwrap_or(false)
}

/// Markdown, aligned for a terminal.
pub fn render(rows: &[Row]) -> String {
    let mut out = String::from(
        "| subject  | build, plain | build, Pleach | plain     | fast      | symbolic  | with labels |\n\
         |----------|-------------:|--------------:|----------:|----------:|----------:|------------:|\n",
    );
    for row in rows {
        let total = row.expected.len();
        let cell = |got: &Results| match row.build_problem {
            Some(_) => "-".to_string(),
            None => format!(
                "{}/{}",
                row.counted_tests().filter(|t| passes(got, t)).count(),
                row.counted_tests().count()
            ),
        };
        let pleach =
            row.pleach.map_or("failed".to_string(), |built| format!("{:.1} s", built.cpu_seconds));
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| {:8} | {:>10.1} s | {:>13} | {:>9} | {:>9} | {:>9} | {:>11} |",
            row.name,
            row.plain.cpu_seconds,
            pleach,
            format!("{}/{total}", row.counted_tests().count()),
            cell(&row.fast),
            cell(&row.symbolic),
            cell(&row.labels),
        );
    }
    out.push_str("\nBuild times are processor seconds, configure scripts included.\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(tests: &[(&str, bool)]) -> Results {
        tests.iter().map(|(name, ok)| (name.to_string(), *ok)).collect()
    }

    #[test]
    fn only_tests_that_pass_in_the_plain_build_count_and_a_missing_test_has_failed() {
        let built = Built { cpu_seconds: 1.0, wall_seconds: 1.0 };
        let expected = results(&[("a", true), ("b", true), ("plain-bug", false)]);
        let mut row = Row::new("x".into(), built, expected);
        row.pleach = Some(built);
        row.fast = results(&[("a", true), ("b", true), ("plain-bug", false)]);
        row.symbolic = results(&[("a", true), ("b", false)]);
        row.labels = results(&[("a", true), ("plain-bug", true)]);
        assert_eq!((row.passed(), row.failed()), (4, 2));
        let table = render(&[row]);
        assert!(table.contains("|       2/3 |       2/2 |       1/2 |         1/2 |"), "{table}");
    }
}
