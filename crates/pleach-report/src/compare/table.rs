//! A comparison as text: one table of the campaigns, one of the modules, one of
//! what strategies have that others lack.

use super::{Campaign, Comparison, InModule, Spread, Strategy};
use std::fmt::Write;

/// Numbers are means over the seeds, with the smallest and the largest behind them.
pub fn table(comparison: &Comparison) -> String {
    let mut text = format!(
        "{}: {} branches; {}\n\n",
        comparison.program, comparison.branches, comparison.budget
    );
    text += &aligned(&summary(comparison));
    if !comparison.modules.is_empty() {
        text += "\nBranches covered of each module, and kept inputs that reach it:\n\n";
        text += &aligned(&modules(comparison));
    }
    if comparison.strategies.len() > 1 {
        text += "\nBranches that a strategy covered in some campaign and the other in none \
                 (beside itself: all):\n\n";
        text += &aligned(&overlap(comparison));
    }
    text
}

type Rows = Vec<Vec<String>>;

fn summary(comparison: &Comparison) -> Rows {
    let heads = [
        "strategy",
        "branches",
        "of reachable",
        "inputs",
        "runs",
        "crashes",
        "last new branch",
        "ended by",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for strategy in &comparison.strategies {
        let whole = |f: fn(&Campaign) -> u64| spread(strategy, |c| f(c) as f64, 1, "");
        rows.push(vec![
            strategy.name.clone(),
            whole(|c| c.covered),
            spread(strategy, |c| percent(c.covered, c.reachable), 1, " %"),
            whole(|c| c.inputs),
            whole(|c| c.runs),
            whole(|c| c.crashes),
            spread(strategy, |c| c.last_new_s, 1, " s"),
            stops(strategy),
        ]);
    }
    rows
}

fn modules(comparison: &Comparison) -> Rows {
    let mut head = vec!["module".to_string(), "branches".into()];
    head.extend(comparison.strategies.iter().map(|s| s.name.clone()));
    let mut rows = vec![head];
    for (i, module) in comparison.modules.iter().enumerate() {
        let mut row = vec![module.name.clone(), module.branches.to_string()];
        for strategy in &comparison.strategies {
            let of = |c: &Campaign| c.modules.get(i).copied().unwrap_or_default();
            let reach = |m: InModule| percent(m.reached, m.of);
            let covered = mean(strategy, |c| percent(of(c).covered, module.branches));
            let reached = mean(strategy, |c| reach(of(c)));
            row.push(format!("{covered}, {reached}"));
        }
        rows.push(row);
    }
    rows
}

fn overlap(comparison: &Comparison) -> Rows {
    let mut head = vec![String::new()];
    head.extend(comparison.strategies.iter().map(|s| format!("not {}", s.name)));
    let mut rows = vec![head];
    for (i, (strategy, numbers)) in
        comparison.strategies.iter().zip(&comparison.overlap).enumerate()
    {
        let mut row = vec![strategy.name.clone()];
        let cell = |(j, n): (usize, &u64)| if i == j { format!("({n})") } else { n.to_string() };
        row.extend(numbers.iter().enumerate().map(cell));
        rows.push(row);
    }
    rows
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// `61.3 (60–63)`, or the number alone where all campaigns agree.
fn spread(strategy: &Strategy, f: impl Fn(&Campaign) -> f64, digits: usize, unit: &str) -> String {
    let Some(s) = Spread::of(strategy.campaigns.iter().map(f)) else { return "–".into() };
    let [mean, min, max] = [s.mean, s.min, s.max].map(|n| short(n, digits));
    match min == max {
        true => format!("{mean}{unit}"),
        false => format!("{mean}{unit} ({min}–{max})"),
    }
}

fn mean(strategy: &Strategy, f: impl Fn(&Campaign) -> f64) -> String {
    Spread::of(strategy.campaigns.iter().map(f))
        .map_or("–".into(), |s| format!("{:.1} %", s.mean))
}

/// Whole numbers without a point.
fn short(n: f64, digits: usize) -> String {
    if n.fract() == 0.0 { format!("{n:.0}") } else { format!("{n:.digits$}") }
}

fn stops(strategy: &Strategy) -> String {
    let mut all: Vec<&str> = strategy.campaigns.iter().map(|c| c.stop.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all.join(", ")
}

/// Columns as wide as their widest cell; the first to the left, the others to the
/// right.
fn aligned(rows: &Rows) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match i {
                0 => write!(line, "{cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
