//! The live view: a few lines at the bottom of the terminal that are overwritten each time.
//! It uses no alternate screen and asks the terminal nothing, so nothing must be restored
//! after a crash.

use crate::numbers::{percent, short, time};
use crate::summary::{describe_fleet, describe_stall};
use pleach_campaign::run::{Snapshot, Stall};
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

/// Draws snapshots, each over the last.
pub struct Panel {
    title: String,
    colour: bool,
    size: Size,
    /// The lengths of the lines that were drawn last.
    drawn: Vec<usize>,
    /// The number of runs and flips at some earlier time, for the rates.
    past: Option<(Instant, u64, u64)>,
    /// Runs and flips per second.
    rates: (f64, f64),
    /// The last worker that did not come back, and when that was noticed.
    stall: Option<(Instant, String)>,
}

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

/// How long a worker that has not come back is shown.
const STALL_SHOWN: Duration = Duration::from_secs(10);
/// The lines, the most important first. If the terminal has few rows, the last are left out.
const IMPORTANCE: [&str; 9] =
    ["branches", "crashes", "runs", "time", "search", "flips", "queue", "functions", "fleet"];

impl Panel {
    pub fn new(title: String, colour: bool) -> Panel {
        Panel {
            title,
            colour,
            size: Size::default(),
            drawn: Vec::new(),
            past: None,
            rates: (0.0, 0.0),
            stall: None,
        }
    }

    /// Shows a worker that has not come back in the next pictures.
    pub fn show_stall(&mut self, stall: &Stall) {
        self.stall = Some((Instant::now(), describe_stall(stall)));
    }

    /// The text that shows a snapshot in place of the last, on a terminal of this size.
    ///
    /// If the user made the terminal narrower, most terminals break the old lines into
    /// several rows. All rows that the old lines can take are cleared. On a terminal that
    /// cuts lines instead, a few rows above the panel are lost.
    pub fn draw(&mut self, snapshot: &Snapshot, size: Size) -> String {
        self.size = size;
        self.update_rates(snapshot);
        let lines = self.lines(snapshot);
        let mut out = String::new();
        let columns = size.columns.max(1);
        let old: usize = self.drawn.iter().map(|length| length.div_ceil(columns).max(1)).sum();
        // The cursor cannot move above the first row.
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

    fn update_rates(&mut self, snapshot: &Snapshot) {
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

    /// The lines that fit, and the length of each on the screen.
    fn lines(&self, snapshot: &Snapshot) -> Vec<(String, usize)> {
        let s = &snapshot.stats;
        let (b, f) = (&s.branches, &s.flips);
        let total = Duration::from_secs_f64(s.time_s.total.max(0.0));
        let mut pairs = vec![
            ("time", format!("{}, last new branch {} ago", time(total), time(snapshot.since_gain))),
            (
                "branches",
                format!(
                    "{} of {} ({}), {} of {} reachable",
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
            ("search", self.recent_stall().unwrap_or(&snapshot.doing).to_owned()),
        ];
        pairs.extend(s.fleet.as_ref().map(|fleet| ("fleet", describe_fleet(fleet))));
        // The cursor is in the row below the last line.
        let room = self.size.rows.saturating_sub(1).max(1);
        let mut lines = Vec::new();
        if room > pairs.len() {
            lines.push(self.formatted(BOLD, &self.title));
        }
        for (name, value) in pairs {
            let rank = IMPORTANCE.iter().position(|n| *n == name);
            if rank.is_some_and(|rank| rank >= room) {
                continue;
            }
            let code = if name == "crashes" && s.crashes > 0 { RED } else { "" };
            lines.push(self.formatted(code, &format!("{name:>10}  {value}")));
        }
        lines
    }

    fn recent_stall(&self) -> Option<&str> {
        let (when, text) = self.stall.as_ref()?;
        (when.elapsed() < STALL_SHOWN).then_some(text)
    }

    /// A line in a colour, and its length on the screen.
    fn formatted(&self, code: &str, line: &str) -> (String, usize) {
        let line = self.cut(line);
        let length = line.chars().count();
        (if code.is_empty() { line } else { self.paint(code, &line) }, length)
    }

    /// Cuts a line to one row; longer lines would break the drawing.
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
        Snapshot {
            stats,
            doing: "depth 4\x1b[2J, 17 flips open".into(),
            since_gain,
            edges: 0,
            stalls: vec![],
        }
    }

    /// A terminal that breaks long lines into rows when its width changes, as most do. It
    /// understands only what the panel writes.
    struct Terminal {
        size: Size,
        rows: Vec<String>,
        row: usize,
    }

    impl Terminal {
        fn new(size: Size) -> Terminal {
            Terminal { size, rows: vec![String::new()], row: 0 }
        }

        /// Removes rows that do not fit at the top.
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
    fn each_line_is_shown_once_after_a_resize() {
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
    fn colour_is_optional() {
        let draw = |colour| Panel::new("t".into(), colour).draw(&snapshot(), Size::default());
        assert!(draw(true).contains(RED) && !draw(false).contains(RED));
    }
}
