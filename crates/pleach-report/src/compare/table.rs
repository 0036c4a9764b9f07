//! A comparison as text: tables of the campaigns, of the modules, of traces and solving, and
//! of the branches that one strategy covers and another does not.

use super::{Campaign, Comparison, InModule, Spread, Strategy};
use std::fmt::Write;

/// Numbers are means over the campaigns, followed by the smallest and the largest.
pub fn table(comparison: &Comparison) -> String {
    let mut text = format!(
        "{}: {} branches; {}\n\n",
        comparison.program, comparison.branches, comparison.budget
    );
    text += &aligned(&summary(comparison));
    if !comparison.modules.is_empty() {
        text += "\nBranches covered in each module, and runs that reach it:\n\n";
        text += &aligned(&modules(comparison));
    }
    if comparison.strategies.iter().flat_map(|s| &s.campaigns).any(|c| c.measures.traces > 0) {
        text += "\nSymbolic variables and constraints of a trace, the modules with the most \
                 constraints, and the share of time for solving:\n\n";
        text += &aligned(&symbolic(comparison));
    }
    if comparison.strategies.len() > 1 {
        text += "\nBranches that a strategy covered in some campaign and the other in none \
                 (in parentheses: all that it covered):\n\n";
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

fn symbolic(comparison: &Comparison) -> Rows {
    /// At most this many modules are listed.
    const MAX_LISTED: usize = 3;
    let heads = [
        "strategy",
        "traces",
        "variables",
        "constraints",
        "from",
        "solving",
        "context-free",
        "of its questions unsat",
    ];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let traced = |s: &&Strategy| s.campaigns.iter().any(|c| c.measures.traces > 0);
    for strategy in comparison.strategies.iter().filter(traced) {
        let each = |n: u64, c: &Campaign| n as f64 / c.measures.traces.max(1) as f64;
        let share = |seconds: f64, c: &Campaign| 100.0 * seconds / c.measures.seconds.max(1e-9);
        let sum = |i: usize| -> u64 {
            strategy.campaigns.iter().filter_map(|c| c.modules.get(i)).map(|m| m.constraints).sum()
        };
        let all: u64 = (0..comparison.modules.len()).map(sum).sum();
        let mut from: Vec<(u64, &str)> =
            comparison.modules.iter().enumerate().map(|(i, m)| (sum(i), &m.name[..])).collect();
        from.sort_by_key(|&(n, name)| (u64::MAX - n, name));
        from.retain(|(n, _)| *n > 0);
        let named = from.iter().take(MAX_LISTED);
        let named: Vec<String> =
            named.map(|&(n, name)| format!("{name} {:.0} %", percent(n, all))).collect();
        let asked: u64 = strategy.campaigns.iter().map(|c| c.measures.grammar_asked).sum();
        let unsat: u64 = strategy.campaigns.iter().map(|c| c.measures.grammar_unsat).sum();
        rows.push(vec![
            strategy.name.clone(),
            spread(strategy, |c| c.measures.traces as f64, 1, ""),
            spread(strategy, |c| each(c.measures.variables, c), 1, ""),
            spread(strategy, |c| each(c.measures.constraints, c), 1, ""),
            named.join(", "),
            mean(strategy, |c| share(c.measures.solving_s, c)),
            mean(strategy, |c| share(c.measures.grammar_s, c)),
            if asked > 0 { format!("{:.1} %", percent(unsat, asked)) } else { "–".into() },
        ]);
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

/// `61.3 (60–63)`, or only the number if all campaigns agree.
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

/// Whole numbers have no decimal point.
fn short(n: f64, digits: usize) -> String {
    if n.fract() == 0.0 { format!("{n:.0}") } else { format!("{n:.digits$}") }
}

fn stops(strategy: &Strategy) -> String {
    let mut all: Vec<&str> = strategy.campaigns.iter().map(|c| c.stop.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all.join(", ")
}

/// Aligns the columns: the first to the left, the others to the right.
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
