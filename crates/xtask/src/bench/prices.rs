//! `./x bench prices`: compares the costs that `auto` estimates with the time that actions
//! really take.
//!
//! `auto` reads no clock. It shares its time by estimated costs, which it computes from
//! constants and from counted work. If one kind of action is estimated too high, it gets
//! less time than it earned. So the constants should be set again when runs, traces or
//! flips become faster or slower. A common factor of all kinds changes nothing, because only
//! the ratios between costs count.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contest::on_core;
use super::runs::programs::Runnable;
use super::stats::geometric_mean;
use crate::process;
use crate::project;
use crate::subjects::Flavour;

#[derive(clap::Args)]
pub struct Args {
    /// Programs, as in `./x bench runs` [default: as there]
    programs: Vec<String>,
    /// Seconds for each program
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// The core that everything runs on
    #[arg(long, default_value_t = 0)]
    core: u32,
}

/// The actions of one kind in a campaign, as `stats.json` has them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Actions {
    count: u64,
    seconds: f64,
    estimated: f64,
}

#[derive(Debug, Serialize)]
struct Row {
    program: String,
    total_seconds: f64,
    actions: BTreeMap<String, Actions>,
    /// Solving alone: a part of the flips.
    solving: Actions,
    /// Decisions of all traces.
    decisions: u64,
}

impl Actions {
    /// How many times too high the estimate is.
    fn ratio(self) -> f64 {
        self.estimated / self.seconds
    }
}

pub fn run(args: &Args) -> Result<bool> {
    let mut rows = Vec::new();
    for program in &Runnable::choose(&args.programs)? {
        eprintln!("{}: {} s", program.name, args.seconds);
        rows.push(measure(program, args).with_context(|| program.name.clone())?);
    }
    println!("{}", table(&rows));
    super::write_numbers("prices", &rows)?;
    Ok(true)
}

fn measure(program: &Runnable, args: &Args) -> Result<Row> {
    let built = program.build(Flavour::Pleach)?;
    let (seeds, _kept) = program.seeds()?;
    let dir = tempfile::tempdir()?;
    let mut command = on_core(args.core, &project::tool("pleach")?);
    command.args(["run", "--json", "--seed", "1", "-V", &args.seconds.to_string(), "-i"]);
    command.arg(&seeds).arg("-o").arg(dir.path().join("out")).arg("--").args(&built.command);
    command.current_dir(&built.directory).stdin(Stdio::null());
    let limit = Duration::from_secs(args.seconds + 120);
    let done = process::succeed(&mut command, limit, "pleach run")?;
    let text = String::from_utf8_lossy(&done.stdout);
    let stats: Value = serde_json::from_str(text.lines().last().unwrap_or_default())?;
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    Ok(Row {
        program: program.name.clone(),
        total_seconds: number(&stats["time_s"]["total"]),
        actions: serde_json::from_value(stats["actions"].clone()).context("stats: actions")?,
        solving: Actions {
            count: stats["flips"]["asked"].as_u64().unwrap_or(0),
            seconds: number(&stats["time_s"]["solve"]),
            estimated: number(&stats["flips"]["estimated_s"]),
        },
        decisions: ["constraints", "left_out"]
            .iter()
            .filter_map(|name| stats["symbolic"][name].as_u64())
            .sum(),
    })
}

/// For each program and kind: the time of one action, its estimate, and the estimate as a
/// multiple of the time. Then the mean multiple of each kind.
fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| program | action | number | share of time | µs each | estimated | estimate / time |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
    );
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows {
        let kinds = row.actions.iter().map(|(kind, actions)| (kind.as_str(), *actions));
        for (kind, actions) in kinds.chain([("(solving)", row.solving)]) {
            if actions.count == 0 || actions.seconds <= 0.0 {
                continue;
            }
            let each = |seconds: f64| 1e6 * seconds / actions.count as f64;
            text += &format!(
                "| {} | {kind} | {} | {:.1} % | {:.1} | {:.1} | {:.2} |\n",
                row.program,
                actions.count,
                100.0 * actions.seconds / row.total_seconds,
                each(actions.seconds),
                each(actions.estimated),
                actions.ratio(),
            );
            if actions.ratio() > 0.0 {
                ratios.entry(kind).or_default().push(actions.ratio());
            }
        }
    }
    text += "\n| program | traces | decisions each | µs each |\n|---|---:|---:|---:|\n";
    for row in rows {
        let Some(traces) = row.actions.get("trace").filter(|t| t.count > 0) else { continue };
        let count = traces.count as f64;
        let (decisions, micros) = (row.decisions as f64 / count, 1e6 * traces.seconds / count);
        text += &format!("| {} | {} | {decisions:.0} | {micros:.0} |\n", row.program, traces.count);
    }
    text += "\n| action | estimate / time, mean of the programs | smallest | largest |\n\
             |---|---:|---:|---:|\n";
    for (kind, ratios) in ratios {
        let (min, max) =
            ratios.iter().fold((f64::MAX, 0.0), |(a, b), &r| (f64::min(a, r), f64::max(b, r)));
        text += &format!("| {kind} | {:.2} | {min:.2} | {max:.2} |\n", geometric_mean(&ratios));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_compared_for_each_kind() {
        let of = |count, seconds, estimated| Actions { count, seconds, estimated };
        let row = |program: &str, estimated| Row {
            program: program.into(),
            total_seconds: 10.0,
            actions: [("mutate".to_string(), of(1000, 5.0, estimated))].into(),
            solving: of(0, 0.0, 0.0),
            decisions: 0,
        };
        let text = table(&[row("a", 2.5), row("b", 10.0)]);
        assert!(text.contains("| a | mutate | 1000 | 50.0 % | 5000.0 | 2500.0 | 0.50 |"), "{text}");
        assert!(text.contains("| mutate | 1.00 | 0.50 | 2.00 |"), "{text}");
        assert!(!text.contains("solving"), "{text}");
    }
}
