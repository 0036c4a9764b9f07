//! `./x bench solve`: measures how fast flips of real traces are solved, how many need
//! tier 4, and how fast Z3 solves the same requests.
//!
//! Each program is traced once on one input, and the trace is recorded. `pleach
//! solve-trace` then solves all its flips: every event with every outcome but its own. Only
//! flips with a model or a proof count as answers, and flips that cannot be answered are not
//! tried again with fewer conditions. Z3 gets only a sample, because all flips would take it
//! hours; its answers are compared.

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
    /// Number of flips of each trace that Z3 solves, too; 0 does not run Z3. Traces of inputs
    /// with more than 1 KiB are not given to Z3
    #[arg(long, default_value_t = 30)]
    sample: usize,
    /// Number of times to solve each trace; the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// Bytes of the longest input whose flips Z3 gets. The conditions of longer ones are hundreds
/// of megabytes of text.
const MAX_Z3_INPUT: u64 = 1024;

/// A program and its input.
struct Case {
    name: &'static str,
    program: Program,
    args: &'static [&'static str],
    /// The contents of the file `@@`, or of standard input.
    input: Source,
}

enum Program {
    Calculator,
    /// A directory in examples/, and the program that its Makefile builds.
    Example(&'static str),
    /// A subject, and the program in its build directory.
    Subject(&'static str, &'static str),
}

enum Source {
    Text(&'static str),
    Calculations(usize),
    /// A file in examples/.
    File(&'static str),
    /// A text, repeated up to a length, and what comes after it.
    Repeated(&'static str, usize, &'static str),
}

const CASES: [Case; 18] = [
    Case {
        name: "calc-48",
        program: Program::Calculator,
        args: &[],
        input: Source::Calculations(48),
    },
    Case {
        name: "calc-4096",
        program: Program::Calculator,
        args: &[],
        input: Source::Calculations(4096),
    },
    Case {
        name: "cjson",
        program: Program::Subject("cjson", "out/echo"),
        args: &["@@", "yes"],
        input: Source::Text(
            "bf{\"name\": \"pleach\", \"list\": [1, -2.5e3, true, null, \"a\\n\\u00e9\"], \"o\": {\"k\": {}}}\n",
        ),
    },
    Case {
        name: "expat",
        program: Program::Subject("expat", "expat/xmlwf/xmlwf"),
        args: &["@@"],
        input: Source::Text(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE a [<!ENTITY e \"v\">]>\n<a x=\"1\"><!-- c --><b>t &amp; &e; &#65;</b><![CDATA[raw]]><c/></a>\n",
        ),
    },
    Case {
        name: "mujs",
        program: Program::Subject("mujs", "build/release/mujs"),
        args: &["@@"],
        input: Source::Text(
            "var a = 1, b = \"two\"; function f(x) { if (x > 2) return x * 2; else return x + b.length; }\nfor (var i = 0; i < 3; ++i) { a += f(i); }\nvar o = {p: [1,2,/re+/g]}; print(a, o.p[1] === 2 ? \"y\" : 'n');\n",
        ),
    },
    Case {
        name: "lua",
        program: Program::Subject("lua", "src/lua"),
        args: &["@@"],
        input: Source::Text(
            "local t = {1, 2, x = \"s\"}\nlocal function f(a, ...) if a > 1 and not t[a] then return a .. \"k\" else return 0x1F // 2 end end\nfor i = 1, 3 do print(f(i), #t, t.x) end -- end\n",
        ),
    },
    Case {
        name: "jq-data",
        program: Program::Subject("jq", "jq/jq"),
        args: &["-c", ".", "@@"],
        input: Source::Text("{\"a\":[1,2,{\"b\":\"x\\u00e9\"}],\"c\":null,\"d\":-1.5e2}\n"),
    },
    Case {
        name: "jq-program",
        program: Program::Subject("jq", "jq/jq"),
        args: &["-n", "-c", "-f", "@@"],
        input: Source::Text(".a | map(. + 1) | .[0:2] as [$x, $y] | {x: $x}"),
    },
    Case {
        name: "bc",
        program: Program::Subject("bc", "bc/bc"),
        args: &["@@"],
        input: Source::Text(
            "/* a */\ndefine f (x) {\n auto i\n for (i=0;i<3;i++) { if (x>=i && i!=2) x += 2*i^2 else print \"k\" }\n return (x/7)\n}\nscale=3; a[1]=f(4.5); a[1]\nwhile (1) { break }\n",
        ),
    },
    Case {
        name: "libpcap",
        program: Program::Subject("libpcap", "filter"),
        args: &[],
        input: Source::Text("tcp port 80 and (host 10.0.0.1 or udp[4]>7)\n"),
    },
    Case {
        name: "cue-broken",
        program: Program::Example("cue"),
        args: &[],
        input: Source::File("cue/samples/broken.cue"),
    },
    Case {
        name: "cue-album",
        program: Program::Example("cue"),
        args: &[],
        input: Source::File("cue/samples/album.cue"),
    },
    Case {
        name: "simplecalc",
        program: Program::Example("simplecalc"),
        args: &[],
        input: Source::Repeated("(1*a-3)+", 240, "1\n"),
    },
    // Pairs with short and long input: the cost of a flip must not depend on it.
    Case {
        name: "simplecalc-256",
        program: Program::Example("simplecalc"),
        args: &[],
        input: Source::Repeated("(1*a-3)+", 256, "1\n"),
    },
    Case {
        name: "simplecalc-4k",
        program: Program::Example("simplecalc"),
        args: &[],
        input: Source::Repeated("(1*a-3)+", 4096, "1\n"),
    },
    Case {
        name: "bc-256",
        program: Program::Subject("bc", "bc/bc"),
        args: &["@@"],
        input: Source::Repeated("x = (y+3)*z-1; if (x>2) x\n", 256, ""),
    },
    Case {
        name: "bc-4k",
        program: Program::Subject("bc", "bc/bc"),
        args: &["@@"],
        input: Source::Repeated("x = (y+3)*z-1; if (x>2) x\n", 4096, ""),
    },
    Case {
        name: "calc-256",
        program: Program::Calculator,
        args: &[],
        input: Source::Calculations(256),
    },
];

#[derive(Serialize)]
struct Row {
    name: &'static str,
    flips: u64,
    sat: u64,
    unsat: u64,
    /// Flips with a model or a proof, per second.
    answers_per_s: f64,
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
    /// Flips that both answered. They agree.
    z3_compared: Option<usize>,
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
        Program::Calculator => build_calculator()?.pleach,
        Program::Example(name) => build_example(name)?,
        Program::Subject(subject, program) => {
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
        Source::File(path) => {
            fs::copy(project::root().join("examples").join(path), &input)?;
        }
        Source::Repeated(text, length, end) => {
            fs::write(&input, text.repeat(length / text.len()) + end)?;
        }
    }
    let recording = dir.join(format!("{}.recording", case.name));
    record_trace(&program, case.args, &input, &recording)?;

    let mut replays = Vec::new();
    for _ in 0..args.rounds.max(1) {
        replays.push(solve_trace(&recording, &["--no-retries"])?);
    }
    let middle = |field: &str| {
        let values: Vec<f64> = replays.iter().filter_map(|r| r[field].as_f64()).collect();
        median(&values)
    };
    let is_long = fs::metadata(&input)?.len() > MAX_Z3_INPUT;
    let (sample_per_s, z3_per_s, z3_compared) = match args.sample {
        _ if is_long => (None, None, None),
        0 => (None, None, None),
        n => {
            let n = n.to_string();
            let tiers = solve_trace(&recording, &["--sample", &n])?;
            let z3 = solve_trace(&recording, &["--sample", &n, "--solver", "z3"])?;
            let compared = compare_answers(case.name, &tiers["answers"], &z3["answers"])?;
            (tiers["flips_per_s"].as_f64(), z3["flips_per_s"].as_f64(), Some(compared))
        }
    };
    let first = &replays[0];
    let count = |verdict: &str| first["verdicts"][verdict].as_u64().unwrap_or(0);
    Ok(Row {
        name: case.name,
        flips: first["flips"].as_u64().unwrap_or(0),
        sat: count("sat"),
        unsat: count("unsat"),
        answers_per_s: middle("answers_per_s"),
        prepare_ms: middle("prepare_ms"),
        solve_ms: middle("cpu_ms"),
        slowest_ms: middle("slowest_ms"),
        without_tier_4: middle("without_tier_4"),
        unanswered: count("unknown"),
        sample_per_s,
        z3_per_s,
        z3_compared,
    })
}

/// Builds an example with its own Makefile, in a private directory.
fn build_example(name: &str) -> Result<PathBuf> {
    let dir = project::target("bench").join("examples").join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(&dir)?;
    for entry in fs::read_dir(project::root().join("examples").join(name))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), dir.join(entry.file_name()))?;
        }
    }
    let mut make = Command::new("make");
    make.arg(format!("CC={}", project::tool("pleach-cc")?.display())).current_dir(&dir);
    let done = process::run(&mut make, Duration::from_secs(300))?;
    if !done.exit.success() {
        bail!("building {name}: {}", done.last_lines());
    }
    Ok(dir.join(name))
}

/// How many flips both have answered; an error if they disagree on one.
fn compare_answers(name: &str, ours: &Value, z3: &Value) -> Result<usize> {
    let (Some(ours), Some(z3)) = (ours.as_str(), z3.as_str()) else {
        bail!("pleach solve-trace --json has no answers");
    };
    let is_answer = |letter: char| matches!(letter, 's' | 'u');
    let mut compared = 0;
    for (flip, (ours, z3)) in ours.chars().zip(z3.chars()).enumerate() {
        if is_answer(ours) && is_answer(z3) {
            if ours != z3 {
                bail!("{name}: Z3 answers flip {flip} of the sample with {z3}, Pleach with {ours}");
            }
            compared += 1;
        }
    }
    Ok(compared)
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
        "| trace          |  flips | answers/s | sat    | unsat  | not answered | prepare  | solve     | slowest  | Z3 flips/s | ratio | Z3 agrees |\n\
         |----------------|-------:|----------:|-------:|-------:|-------------:|---------:|----------:|---------:|-----------:|------:|----------:|\n",
    );
    for r in rows {
        let (z3, ratio) = match (r.sample_per_s, r.z3_per_s) {
            (Some(ours), Some(z3)) => (format!("{z3:.0}"), format!("{:.0}×", ours / z3)),
            _ => ("-".into(), "-".into()),
        };
        out.push_str(&format!(
            "| {:14} | {:>6} | {:>9.0} | {:>6} | {:>6} | {:>12} | {:>5.1} ms | {:>6.1} ms | {:>5.2} ms | {z3:>10} | {ratio:>5} | {:>9} |\n",
            r.name,
            r.flips,
            r.answers_per_s,
            r.sat,
            r.unsat,
            r.unanswered,
            r.prepare_ms,
            r.solve_ms,
            r.slowest_ms,
            r.z3_compared.map_or("-".into(), |n| n.to_string()),
        ));
    }
    let rates: Vec<f64> = rows.iter().map(|r| r.answers_per_s).collect();
    out.push_str(&format!("\nMedian: {:.0} answers/s on one core.\n", median(&rates)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_names_an_existing_subject() {
        let recipes = Recipe::all().unwrap();
        for case in &CASES {
            if let Program::Subject(subject, _) = case.program {
                assert!(recipes.iter().any(|r| r.name == subject), "{subject}");
            }
        }
    }
}
