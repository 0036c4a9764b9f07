//! The live view: a few lines at the bottom of the terminal, written over every
//! time. It scrolls with everything else and leaves no trace of its own: no
//! other screen, no questions to the terminal, nothing to restore after a crash.

use crate::numbers::{percent, short, time};
use pleach_campaign::run::Snapshot;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

impl Default for Size {
    fn default() -> Size {
        Size { columns: 80, rows: 24 }
    }
}

/// Draws snapshots over each other.
pub struct Panel {
    title: String,
    colour: bool,
    size: Size,
    /// The lengths of the lines that were drawn last.
    drawn: Vec<usize>,
    /// Runs and flips at some earlier time, for the rates.
    past: Option<(Instant, u64, u64)>,
    rates: (f64, f64),
}

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

/// Which lines stay where a terminal has few rows, the most important first.
const IMPORTANCE: [&str; 8] =
    ["branches", "crashes", "runs", "time", "search", "flips", "queue", "functions"];

impl Panel {
    pub fn new(title: String, colour: bool) -> Panel {
        Panel {
            title,
            colour,
            size: Size::default(),
            drawn: Vec::new(),
            past: None,
            rates: (0.0, 0.0),
        }
    }

    /// What to write to a terminal of this size to show a snapshot in place of the last.
    ///
    /// A person may have made the terminal narrower since: then most terminals break the
    /// old lines into several rows. All rows that the old lines can take are cleared. A
    /// terminal that cuts lines instead loses a few rows above the panel.
    pub fn draw(&mut self, snapshot: &Snapshot, size: Size) -> String {
        self.size = size;
        self.measure(snapshot);
        let lines = self.lines(snapshot);
        let mut out = String::new();
        let columns = size.columns.max(1);
        let old: usize = self.drawn.iter().map(|length| length.div_ceil(columns).max(1)).sum();
        // The cursor cannot go above the first row.
        let old = old.min(size.rows.saturating_sub(1));
        if old > 0 {
            let _ = write!(out, "\x1b[{old}A");
        }
        out.push_str("\r\x1b[J");
        for (line, _) in &lines {
            let _ = writeln!(out, "{line}");
        }
        self.drawn = lines.iter().map(|(_, length)| *length).collect();
        out
    }

    fn measure(&mut self, snapshot: &Snapshot) {
        let (runs, flips) = (snapshot.stats.runs, snapshot.stats.flips.asked);
        let now = Instant::now();
        match self.past {
            Some((then, r, f)) if now - then >= Duration::from_secs(1) => {
                let seconds = (now - then).as_secs_f64();
                let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
                self.rates = (rate(runs, r), rate(flips, f));
                self.past = Some((now, runs, flips));
            }
            Some(_) => {}
            None => self.past = Some((now, runs, flips)),
        }
    }

    /// The lines that fit, with the length of each on the screen.
    fn lines(&self, snapshot: &Snapshot) -> Vec<(String, usize)> {
        let s = &snapshot.stats;
        let (b, f) = (&s.branches, &s.flips);
        let total = Duration::from_secs_f64(s.time_s.total.max(0.0));
        let pairs = [
            ("time", format!("{}, last new branch {} ago", time(total), time(snapshot.since_gain))),
            (
                "branches",
                format!(
                    "{} of {} ({}), {} of {} within reach",
                    b.covered,
                    b.total,
                    percent(b.covered, b.total),
                    percent(b.covered, b.reachable),
                    b.reachable
                ),
            ),
            ("functions", format!("{} of {} reached", s.functions.reached, s.functions.total)),
            (
                "runs",
                format!(
                    "{} ({}/s), {} traced, {} paths",
                    short(s.runs),
                    short(self.rates.0 as u64),
                    short(s.traces),
                    short(s.paths)
                ),
            ),
            (
                "flips",
                format!(
                    "{} ({}/s): {} sat, {} unsat, {} unknown, {} diverged",
                    short(f.asked),
                    short(self.rates.1 as u64),
                    short(f.sat + f.optimistic),
                    short(f.unsat),
                    short(f.unknown),
                    short(s.diverged)
                ),
            ),
            ("queue", format!("{} inputs, {} hangs", s.inputs, s.hangs)),
            ("crashes", s.crashes.to_string()),
            ("search", snapshot.doing.clone()),
        ];
        // The row behind the last line is the cursor's.
        let room = self.size.rows.saturating_sub(1).max(1);
        let mut lines = Vec::new();
        if room > pairs.len() {
            lines.push(self.measured(BOLD, &self.title));
        }
        for (name, value) in pairs {
            let rank = IMPORTANCE.iter().position(|n| *n == name);
            if rank.is_some_and(|rank| rank >= room) {
                continue;
            }
            let code = if name == "crashes" && s.crashes > 0 { RED } else { "" };
            lines.push(self.measured(code, &format!("{name:>10}  {value}")));
        }
        lines
    }

    fn measured(&self, code: &str, line: &str) -> (String, usize) {
        let line = self.cut(line);
        let length = line.chars().count();
        (if code.is_empty() { line } else { self.paint(code, &line) }, length)
    }

    /// One row of the terminal; what is longer would break the drawing.
    fn cut(&self, line: &str) -> String {
        let room = self.size.columns.saturating_sub(1).max(1);
        let clean = line.chars().filter(|c| !c.is_control());
        if clean.clone().count() <= room {
            return clean.collect();
        }
        clean.take(room - 1).chain(['…']).collect()
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("{code}{text}{PLAIN}") } else { text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_campaign::run::{Branches, Stats};

    fn snapshot() -> Snapshot {
        let branches = Branches { total: 200, covered: 50, reachable: 100 };
        let stats = Stats { branches, runs: 12_345, crashes: 2, ..Stats::default() };
        let since_gain = Duration::from_secs(3);
        Snapshot { stats, doing: "depth 4\x1b[2J, 17 flips open".into(), since_gain, edges: 0 }
    }

    /// A terminal that breaks long lines into rows again when its width changes, as most
    /// do. It knows what the panel writes.
    struct Terminal {
        size: Size,
        rows: Vec<String>,
        row: usize,
    }

    impl Terminal {
        fn new(size: Size) -> Terminal {
            Terminal { size, rows: vec![String::new()], row: 0 }
        }

        /// What does not fit scrolls away at the top and does not come back.
        fn scroll(&mut self) {
            let gone = self.rows.len().saturating_sub(self.size.rows);
            self.rows.drain(..gone);
            self.row = self.row.saturating_sub(gone);
        }

        fn write(&mut self, text: &str) {
            let mut rest = text;
            while let Some(c) = rest.chars().next() {
                rest = &rest[c.len_utf8()..];
                match c {
                    '\x1b' => {
                        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                        let number = rest[1..end].parse::<usize>().unwrap_or(0);
                        match &rest[end..=end] {
                            "A" => self.row = self.row.saturating_sub(number),
                            "J" => {
                                self.rows.truncate(self.row);
                                self.rows.push(String::new());
                            }
                            "m" => {}
                            other => panic!("{other}"),
                        }
                        rest = &rest[end + 1..];
                    }
                    '\r' => {}
                    '\n' => {
                        self.row += 1;
                        if self.row == self.rows.len() {
                            self.rows.push(String::new());
                            self.scroll();
                        }
                    }
                    c => {
                        self.rows[self.row].push(c);
                        assert!(self.rows[self.row].chars().count() <= self.size.columns);
                    }
                }
            }
        }

        fn resize(&mut self, size: Size) {
            let rows = std::mem::take(&mut self.rows);
            for row in rows {
                let chars: Vec<char> = row.chars().collect();
                match chars.is_empty() {
                    true => self.rows.push(String::new()),
                    false => self.rows.extend(chars.chunks(size.columns).map(String::from_iter)),
                }
            }
            self.size = size;
            self.row = self.rows.len() - 1;
            self.scroll();
        }

        fn count(&self, text: &str) -> usize {
            self.rows.iter().filter(|row| row.contains(text)).count()
        }
    }

    #[test]
    fn every_line_fits_the_terminal() {
        let mut panel = Panel::new("x".repeat(300), false);
        let size = Size { columns: 40, rows: 24 };
        let text = panel.draw(&snapshot(), size).replace("\r\x1b[J", "");
        assert!(text.lines().all(|l| l.chars().count() < 40), "{text}");
        assert!(!text.contains('\x1b'), "{text:?}");
        assert!(text.contains("  branches  50 of 200 (25.0 %)"), "{text}");
    }

    #[test]
    fn a_terminal_that_changes_its_size_shows_each_line_once() {
        let sizes =
            [(80, 24), (33, 24), (33, 7), (20, 7), (12, 3), (120, 7), (80, 24), (41, 10), (80, 2)];
        let mut terminal = Terminal::new(Size { columns: 80, rows: 24 });
        terminal.write("$ pleach run\n");
        let mut panel = Panel::new("pleach  program".into(), true);
        for (columns, rows) in sizes {
            let size = Size { columns, rows };
            terminal.resize(size);
            for _ in 0..3 {
                let text = panel.draw(&snapshot(), size);
                terminal.write(&text);
                assert_eq!(terminal.count("branche"), 1, "{columns}x{rows}: {:#?}", terminal.rows);
                let expected = usize::from(rows > 2);
                assert_eq!(terminal.count("crashes"), expected, "{columns}x{rows}");
            }
        }
    }

    #[test]
    fn colour_only_where_it_is_wanted() {
        let draw = |colour| Panel::new("t".into(), colour).draw(&snapshot(), Size::default());
        assert!(draw(true).contains(RED) && !draw(false).contains(RED));
    }
}
