//! The summary of a run in continuous integration, in Markdown.

use crate::coverage::Share;
use crate::export::Outcome;
use std::fmt::{self, Write};

/// What a run in continuous integration found.
#[derive(Default)]
pub struct Summary {
    pub program: String,
    pub failed: bool,
    pub seconds: f64,
    pub runs: u64,
    /// Inputs in the corpus before, and those that were added.
    pub corpus: usize,
    pub added: usize,
    pub lines: Share,
    pub functions: Share,
    pub branches: Share,
    /// One input for each crash or hang.
    pub new_crashes: Vec<Outcome>,
    pub known_crashes: Vec<Outcome>,
    pub hangs: Vec<Outcome>,
    /// Known crashes whose input no longer crashes.
    pub fixed: Vec<String>,
    /// Kept inputs with another answer than before, and what differs. `None` if nobody asked.
    pub changed: Option<Vec<(String, String)>>,
}

/// At most this many rows of a table are written.
const MAX_ROWS: usize = 50;

impl Summary {
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    /// The result in a few words.
    pub fn verdict(&self) -> String {
        let changed = self.changed.as_ref().map_or(0, Vec::len);
        let parts = [
            count(self.new_crashes.len(), "new crash", "new crashes"),
            count(self.known_crashes.len(), "known crash", "known crashes"),
            count(self.hangs.len(), "hang", "hangs"),
            count(changed, "changed answer", "changed answers"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "no crashes".into() } else { parts.join(", ") }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let word = if self.failed { "failed" } else { "passed" };
        writeln!(out, "## Pleach: {} {word}\n", text(&self.program))?;
        writeln!(out, "| | |\n|---|---|")?;
        writeln!(out, "| result | {} |", self.verdict())?;
        writeln!(out, "| search | {:.0} s, {} runs |", self.seconds, self.runs)?;
        writeln!(
            out,
            "| corpus | {} inputs, {} of them new |",
            self.corpus + self.added,
            self.added
        )?;
        for (name, share) in
            [("lines", self.lines), ("functions", self.functions), ("branches", self.branches)]
        {
            let Share { covered, total } = share;
            writeln!(out, "| {name} | {covered} of {total} ({:.1}%) |", share.percent())?;
        }
        crashes(out, "New crashes", &self.new_crashes)?;
        crashes(out, "Known crashes", &self.known_crashes)?;
        crashes(out, "Hangs", &self.hangs)?;
        if !self.fixed.is_empty() {
            writeln!(out, "\n### No longer crashing\n")?;
            for crash in self.fixed.iter().take(MAX_ROWS) {
                writeln!(out, "- {}", text(crash))?;
            }
        }
        if let Some(changed) = self.changed.as_ref().filter(|c| !c.is_empty()) {
            writeln!(out, "\n### Changed answers\n\n| input | what |\n|---|---|")?;
            for (input, what) in changed.iter().take(MAX_ROWS) {
                writeln!(out, "| `{}` | {} |", text(input), text(what))?;
            }
        }
        Ok(())
    }
}

fn count(n: usize, one: &str, many: &str) -> Option<String> {
    (n > 0).then(|| format!("{n} {}", if n == 1 { one } else { many }))
}

fn crashes(out: &mut String, title: &str, outcomes: &[Outcome]) -> fmt::Result {
    if outcomes.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### {title}\n\n| crash | input | stack |\n|---|---|---|")?;
    for outcome in outcomes.iter().take(MAX_ROWS) {
        let crash = outcome.crash.as_ref();
        let what = crash.map_or(outcome.end.clone(), ToString::to_string);
        let frames = crash.map(|c| c.frames.iter().take(6)).into_iter().flatten();
        let stack: Vec<String> = frames.map(|f| text(&f.to_string())).collect();
        writeln!(out, "| {} | `{}` | {} |", text(&what), text(&outcome.path), stack.join("<br>"))?;
    }
    if outcomes.len() > MAX_ROWS {
        writeln!(out, "\n{} more are in the reports.", outcomes.len() - MAX_ROWS)?;
    }
    Ok(())
}

/// Text in a cell of a table: a program may have any names.
fn text(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' => out.push_str("&#124;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '`' => out.push('\''),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_without_crashes_is_short() {
        let summary = Summary {
            program: "a|b".into(),
            seconds: 12.4,
            runs: 7,
            corpus: 3,
            added: 2,
            lines: Share { covered: 1, total: 4 },
            ..Summary::default()
        };
        let expected = "## Pleach: a&#124;b passed\n\n| | |\n|---|---|\n| result | no crashes |\n\
            | search | 12 s, 7 runs |\n| corpus | 5 inputs, 2 of them new |\n\
            | lines | 1 of 4 (25.0%) |\n| functions | 0 of 0 (0.0%) |\n\
            | branches | 0 of 0 (0.0%) |\n";
        assert_eq!(summary.markdown(), expected);
    }

    #[test]
    fn the_verdict_counts() {
        let changed = Some(vec![("a".into(), "b".into())]);
        let summary = Summary { changed, failed: true, ..Summary::default() };
        assert_eq!(summary.verdict(), "1 changed answer");
        assert!(summary.markdown().contains("| `a` | b |"));
    }
}
