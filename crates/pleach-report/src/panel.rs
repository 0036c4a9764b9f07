//! The live view: a few lines at the bottom of the terminal, written over every
//! time. It scrolls with everything else and leaves no trace of its own: no
//! other screen, no questions to the terminal, nothing to restore after a crash.

use crate::numbers::{percent, short, time};
use pleach_campaign::run::Snapshot;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// How a panel may look.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub colour: bool,
    pub columns: usize,
}

/// Draws snapshots over each other.
pub struct Panel {
    title: String,
    style: Style,
    drawn: usize,
    /// Runs and flips at some earlier time, for the rates.
    past: Option<(Instant, u64, u64)>,
    rates: (f64, f64),
}

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[0m";

impl Panel {
    pub fn new(title: String, style: Style) -> Panel {
        Panel { title, style, drawn: 0, past: None, rates: (0.0, 0.0) }
    }

    /// What to write to the terminal to show a snapshot in place of the last.
    pub fn draw(&mut self, snapshot: &Snapshot) -> String {
        self.measure(snapshot);
        let lines = self.lines(snapshot);
        let mut out = String::new();
        if self.drawn > 0 {
            let _ = write!(out, "\x1b[{}A", self.drawn);
        }
        for line in &lines {
            let _ = write!(out, "\r\x1b[K{line}\n");
        }
        self.drawn = lines.len();
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

    fn lines(&self, snapshot: &Snapshot) -> Vec<String> {
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
        let mut lines = vec![self.paint(BOLD, &self.cut(&self.title))];
        for (name, value) in pairs {
            let line = self.cut(&format!("{name:>10}  {value}"));
            let alarm = name == "crashes" && s.crashes > 0;
            lines.push(if alarm { self.paint(RED, &line) } else { line });
        }
        lines
    }

    /// One row of the terminal; what is longer would break the drawing.
    fn cut(&self, line: &str) -> String {
        let room = self.style.columns.saturating_sub(1).max(20);
        let clean = line.chars().filter(|c| !c.is_control());
        if clean.clone().count() <= room {
            return clean.collect();
        }
        clean.take(room - 1).chain(['…']).collect()
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.style.colour { format!("{code}{text}{PLAIN}") } else { text.into() }
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

    #[test]
    fn every_line_fits_the_terminal_and_is_drawn_over() {
        let mut panel = Panel::new("x".repeat(300), Style { colour: false, columns: 40 });
        let first = panel.draw(&snapshot());
        let text = first.replace("\r\x1b[K", "");
        assert!(text.lines().all(|l| l.chars().count() < 40), "{text}");
        assert!(!text.contains('\x1b'), "{text:?}");
        assert!(text.contains("  branches  50 of 200 (25.0 %)"), "{text}");
        let again = panel.draw(&snapshot());
        assert!(again.starts_with(&format!("\x1b[{}A", first.lines().count())));
    }

    #[test]
    fn colour_only_where_it_is_wanted() {
        let draw = |colour| Panel::new("t".into(), Style { colour, columns: 80 }).draw(&snapshot());
        assert!(draw(true).contains(RED) && !draw(false).contains(RED));
    }
}
