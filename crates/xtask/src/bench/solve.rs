//! `./x bench solve`: measures how fast flips of real traces are solved, how many need
//! tier 4, and how fast Z3 solves the same requests.
//!
//! Each program is traced once on one input, and the trace is recorded. `pleach
//! solve-trace` then solves all its flips: every event with every outcome but its own. Z3
//! gets only a sample, because all flips would take it hours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::stats::median;
use super::{build_calculator, inputs};
use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe, ensure_built};

#[derive(clap::Args)]
pub struct SolveArgs {
    /// Traces to measure, such as calc-48 or cjson [default: all]
    names: Vec<String>,
    /// Number of flips of each trace that Z3 solves, too; 0 does not run Z3
    #[arg(long, default_value_t = 30)]
    sample: usize,
    /// Number of times to solve each trace; the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// A program and its input.
struct Case {
    name: &'static str,
    /// The subject and the program in its build directory; `None` for the calculator.
    program: Option<(&'static str, &'static str)>,
    args: &'static [&'static str],
    /// The contents of the file `@@`, or of standard input.
    input: Source,
}

enum Source {
    Text(&'static str),
    Calculations(usize),
}

const CASES: [Case; 8] = [
    Case { name: "calc-48", program: None, args: &[], input: Source::Calculations(48) },
    Case { name: "calc-4096", program: None, args: &[], input: Source::Calculations(4096) },
    Case {
        name: "cjson",
        program: Some(("cjson", "out/echo")),
        args: &["@@", "yes"],
        input: Source::Text(
            "bf{\"name\": \"pleach\", \"list\": [1, -2.5e3, true, null, \"a\\n\\u00e9\"], \"o\": {\"k\": {}}}\n",
        ),
    },
    Case {
        name: "expat",
        program: Some(("expat", "expat/xmlwf/xmlwf")),
        args: &["@@"],
        input: Source::Text(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE a [<!ENTITY e \"v\">]>\n<a x=\"1\"><!-- c --><b>t &amp; &e; &#65;</b><![CDATA[raw]]><c/></a>\n",
        ),
    },
    Case {
        name: "mujs",
        program: Some(("mujs", "build/release/mujs")),
        args: &["@@"],
        input: Source::Text(
            "var a = 1, b = \"two\"; function f(x) { if (x > 2) return x * 2; else return x + b.length; }\nfor (var i = 0; i < 3; ++i) { a += f(i); }\nvar o = {p: [1,2,/re+/g]}; print(a, o.p[1] === 2 ? \"y\" : 'n');\n",
        ),
    },
    Case {
        name: "lua",
        program: Some(("lua", "src/lua")),
        args: &["@@"],
        input: Source::Text(
            "local t = {1, 2, x = \"s\"}\nlocal function f(a, ...) if a > 1 and not t[a] then return a .. \"k\" else return 0x1F // 2 end end\nfor i = 1, 3 do print(f(i), #t, t.x) end -- end\n",
        ),
    },
    Case {
        name: "jq-data",
        program: Some(("jq", "jq/jq")),
        args: &["-c", ".", "@@"],
        input: Source::Text("{\"a\":[1,2,{\"b\":\"x\\u00e9\"}],\"c\":null,\"d\":-1.5e2}\n"),
    },
    Case {
        name: "jq-program",
        program: Some(("jq", "jq/jq")),
        args: &["-n", "-c", "-f", "@@"],
        input: Source::Text(".a | map(. + 1) | .[0:2] as [$x, $y] | {x: $x}"),
    },
];

#[derive(Serialize)]
struct Row {
    name: &'static str,
    flips: u64,
    flips_per_s: f64,
    prepare_ms: f64,
    /// Processor time of all flips.
    solve_ms: f64,
    slowest_ms: f64,
    /// Share of the answered flips that did not need tier 4.
    without_tier_4: f64,
    unanswered: u64,
    /// Speed on the same sample of the tiers and of Z3.
    sample_per_s: Option<f64>,
    z3_per_s: Option<f64>,
}

pub fn run(args: &SolveArgs) -> Result<bool> {
    let known: Vec<&str> = CASES.iter().map(|c| c.name).collect();
    if let Some(name) = args.names.iter().find(|n| !known.contains(&n.as_str())) {
        bail!("there is no trace {name}; there are {}", known.join(", "));
    }
    let is_selected =
        |case: &&Case| args.names.is_empty() || args.names.iter().any(|n| n == case.name);
    let mut rows = Vec::new();
    for case in CASES.iter().filter(is_selected) {
        eprintln!("{}", case.name);
        rows.push(measure(case, args)?);
    }
    println!("{}", table(&rows));
    super::write_numbers("solve", &rows)?;
    Ok(true)
}

fn measure(case: &Case, args: &SolveArgs) -> Result<Row> {
    let dir = project::target("bench");
    fs::create_dir_all(&dir)?;
    let program = match case.program {
        None => build_calculator()?.pleach,
        Some((subject, program)) => {
            let recipes = Recipe::all()?;
            let recipe = recipes.iter().find(|r| r.name == subject);
            let recipe = recipe.with_context(|| format!("there is no program {subject}"))?;
            ensure_built(recipe, Flavour::Pleach, false)?;
            recipe.build_dir(Flavour::Pleach).join(program)
        }
    };
    let input = dir.join(format!("{}.input", case.name));
    match case.input {
        Source::Text(text) => fs::write(&input, text)?,
        Source::Calculations(length) => fs::write(&input, inputs::calculations(length))?,
    }
    let recording = dir.join(format!("{}.recording", case.name));
    record_trace(&program, case.args, &input, &recording)?;

    let mut replays = Vec::new();
    for _ in 0..args.rounds.max(1) {
        replays.push(solve_trace(&recording, &[])?);
    }
    let middle = |field: &str| {
        let values: Vec<f64> = replays.iter().filter_map(|r| r[field].as_f64()).collect();
        median(&values)
    };
    let (sample_per_s, z3_per_s) = match args.sample {
        0 => (None, None),
        n => {
            let n = n.to_string();
            let tiers = solve_trace(&recording, &["--sample", &n])?;
            let z3 = solve_trace(&recording, &["--sample", &n, "--solver", "z3"])?;
            (tiers["flips_per_s"].as_f64(), z3["flips_per_s"].as_f64())
        }
    };
    let first = &replays[0];
    let count = |verdict: &str| first["verdicts"][verdict].as_u64().unwrap_or(0);
    Ok(Row {
        name: case.name,
        flips: first["flips"].as_u64().unwrap_or(0),
        flips_per_s: middle("flips_per_s"),
        prepare_ms: middle("prepare_ms"),
        solve_ms: middle("cpu_ms"),
        slowest_ms: middle("slowest_ms"),
        without_tier_4: middle("without_tier_4"),
        unanswered: count("unknown") + count("optimistic"),
        sample_per_s,
        z3_per_s,
    })
}

fn record_trace(program: &Path, args: &[&str], input: &Path, recording: &PathBuf) -> Result<()> {
    let mut command = Command::new(project::tool("pleach")?);
    command.arg("trace").arg("--json").arg("--record").arg(recording).arg(input);
    command.arg("--").arg(program).args(args).stdin(Stdio::null());
    let done = process::run(&mut command, Duration::from_secs(120))?;
    if !done.exit.success() {
        bail!("tracing {}: {}", program.display(), done.last_lines());
    }
    Ok(())
}

fn solve_trace(recording: &Path, more: &[&str]) -> Result<Value> {
    let mut command = Command::new(project::tool("pleach")?);
    command.arg("solve-trace").arg("--json").args(more).arg(recording).stdin(Stdio::null());
    let done = process::run(&mut command, Duration::from_secs(3600))?;
    if !done.exit.success() {
        bail!("solving {}: {}", recording.display(), done.last_lines());
    }
    serde_json::from_slice(&done.stdout).context("pleach solve-trace --json")
}

fn table(rows: &[Row]) -> String {
    let mut out = String::from(
        "| trace      |  flips | flips/s | prepare | solve    | slowest  | without tier 4 | unanswered | Z3 flips/s | ratio |\n\
         |------------|-------:|--------:|--------:|---------:|---------:|---------------:|-----------:|-----------:|------:|\n",
    );
    for r in rows {
        let (z3, ratio) = match (r.sample_per_s, r.z3_per_s) {
            (Some(ours), Some(z3)) => (format!("{z3:.0}"), format!("{:.0}×", ours / z3)),
            _ => ("-".into(), "-".into()),
        };
        out.push_str(&format!(
            "| {:10} | {:>6} | {:>7.0} | {:>4.1} ms | {:>5.1} ms | {:>5.2} ms | {:>12.1} % | {:>10} | {z3:>10} | {ratio:>5} |\n",
            r.name,
            r.flips,
            r.flips_per_s,
            r.prepare_ms,
            r.solve_ms,
            r.slowest_ms,
            100.0 * r.without_tier_4,
            r.unanswered,
        ));
    }
    let rates: Vec<f64> = rows.iter().map(|r| r.flips_per_s).collect();
    out.push_str(&format!("\nMedian: {:.0} flips/s on one core.\n", median(&rates)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_names_an_existing_subject() {
        let recipes = Recipe::all().unwrap();
        for case in &CASES {
            if let Some((subject, _)) = case.program {
                assert!(recipes.iter().any(|r| r.name == subject), "{subject}");
            }
        }
    }
}
