//! `./x bench grammar-run`: compares campaigns with and without a grammar.
//!
//! There are four parts:
//! - `calc`: all symbolic strings of the calculator's grammar, until the search is
//!   exhausted.
//! - `realpath`: the path with the off-by-one, until it crashes.
//! - `tinyjs`: grammar-based whitebox fuzzing, its four rivals and `auto` on the script
//!   engine, with `pleach compare`.
//! - Real programs: `auto` with a grammar, `auto` without one, and AFL++ with its defaults
//!   and with comparison logging, each from the seed and from sentences that Grammarinator
//!   generates from the same grammar. This is a contest as in `./x bench run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use pleach_import as import;
use serde::Serialize;
use serde_json::Value;

use super::contest::afl::is_usable_seed;
use super::contest::program::{Program, files_in};
use super::contest::{self, ContestArgs, Contestant, Entry};
use super::grammarinator;
use crate::grammars::fetch;
use crate::process;
use crate::project;
use crate::subjects::Flavour;

#[derive(clap::Args)]
pub struct Args {
    /// Examples (calc, realpath, tinyjs) and real programs (mujs, lua, bc, jq) [default: all]
    parts: Vec<String>,
    /// Seconds for each campaign
    #[arg(long, default_value_t = 40)]
    seconds: u64,
    /// Run 600 seconds and 3 seeds, as docs/benchmarks.md does
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    contest: ContestArgs,
}

/// A real program and the grammar of its input.
struct Subject {
    name: &'static str,
    /// The source of the grammar; `None` for a file of this checkout.
    source: Option<&'static str>,
    grammar: &'static str,
    lexer: Option<&'static str>,
}

const SUBJECTS: [Subject; 4] = [
    Subject { name: "mujs", source: None, grammar: "tools/grammars/es5.g4", lexer: None },
    Subject {
        name: "lua",
        source: Some("crate:tree-sitter-lua"),
        grammar: "src/grammar.json",
        lexer: None,
    },
    Subject { name: "bc", source: Some("debian:bc"), grammar: "bc/bc.y", lexer: Some("bc/scan.l") },
    Subject {
        name: "jq",
        source: Some("debian:jq"),
        grammar: "src/parser.y",
        lexer: Some("src/lexer.l"),
    },
];

const STRATEGIES: &str = "gbw,gbb,blackbox,generational,whitebox-tokens,auto";
/// AFL++ gets at most this many sentences.
const MAX_SENTENCES: usize = 200;

#[derive(Debug, Default, Serialize)]
struct Report {
    seconds: u64,
    strings: Vec<Strings>,
    crash: Vec<Crash>,
    tinyjs: Option<Value>,
}

/// A run of `cese` until it is exhausted.
#[derive(Debug, Serialize)]
struct Strings {
    max_length: u32,
    seconds: f64,
    stop: String,
    crashes: u64,
    inputs: u64,
    valid: u64,
}

#[derive(Debug, Serialize)]
struct Crash {
    strategy: String,
    seed: u64,
    found_after: Option<f64>,
}

pub fn run(args: &Args) -> Result<bool> {
    let mut contest = args.contest.clone();
    let mut seconds = args.seconds;
    if args.full {
        (seconds, contest.seeds) = (600, 3);
    }
    let (seeds, core) = (contest.seeds, contest.cores()?[0]);
    let mut known = vec!["calc", "realpath", "tinyjs"];
    known.extend(SUBJECTS.iter().map(|s| s.name));
    if let Some(name) = args.parts.iter().find(|n| !known.contains(&n.as_str())) {
        bail!("there is no part {name}; the parts are {}", known.join(", "));
    }
    let is_selected = |name: &str| args.parts.is_empty() || args.parts.iter().any(|p| p == name);
    let mut report = Report { seconds, ..Report::default() };
    if is_selected("calc") {
        for max_length in [4, 6] {
            report.strings.push(run_strings(core, max_length)?);
        }
    }
    if is_selected("realpath") {
        for seed in 1..=seeds {
            for (strategy, grammar) in [("cese", true), ("generational", false), ("auto", false)] {
                report.crash.push(find_crash(core, strategy, grammar, seed, seconds)?);
            }
        }
    }
    if is_selected("tinyjs") {
        report.tinyjs = Some(compare_on_tinyjs(core, seconds, seeds)?);
    }
    let has_examples = report.tinyjs.is_some() || !report.strings.is_empty();
    if has_examples || !report.crash.is_empty() {
        println!("{}", markdown(&report));
        super::write_numbers("grammar-run", &report)?;
    }
    let subjects: Vec<&Subject> = SUBJECTS.iter().filter(|s| is_selected(s.name)).collect();
    if !subjects.is_empty() {
        compare_on_real(&subjects, seconds, &contest)?;
    }
    Ok(true)
}

/// Copies an example to its own directory and builds it there.
fn build_example(name: &str) -> Result<PathBuf> {
    let (from, to) =
        (project::root().join("examples").join(name), project::target("bench").join(name));
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(&from)? {
        let path = entry?.path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().context("a file has a name")?))?;
        }
    }
    let mut make = Command::new("make");
    make.arg(format!("CC={}", Flavour::Pleach.compilers()?.0.display())).current_dir(&to);
    let what = format!("building {}", from.display());
    process::succeed(make.stdin(Stdio::null()), Duration::from_secs(300), &what)?;
    Ok(to)
}

/// Runs a campaign and returns its statistics.
fn run_campaign(
    core: u32,
    directory: &Path,
    out: &Path,
    flags: &[&str],
    program: &[&str],
    limit: u64,
) -> Result<Value> {
    let mut command = contest::on_core(core, &project::tool("pleach")?);
    command.args(["run", "--json", "-o"]).arg(out).args(flags).arg("--").args(program);
    command.current_dir(directory).stdin(Stdio::null());
    let done = process::succeed(&mut command, Duration::from_secs(limit + 120), "pleach run")?;
    let stdout = String::from_utf8_lossy(&done.stdout);
    let last = stdout.lines().last().context("pleach run printed nothing")?;
    serde_json::from_str(last).with_context(|| format!("pleach run: {last}"))
}

fn run_strings(core: u32, max_length: u32) -> Result<Strings> {
    let here = build_example("simplecalc")?;
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out");
    let length = max_length.to_string();
    eprintln!("calc, strings of {length} bytes");
    let flags =
        ["-s", "cese", "-g", "calc.y", "--lexer", "calc.l", "--max-length", &length, "-V", "900"];
    let start = Instant::now();
    let stats = run_campaign(core, &here, &out, &flags, &["./simplecalc"], 900)?;
    let seconds = start.elapsed().as_secs_f64();
    let (mut inputs, mut valid) = (0, 0);
    for path in files_in(&out.join("queue"))? {
        let mut parse = Command::new(project::tool("pleach")?);
        parse.args(["grammar", "parse", "calc.y", "--lexer", "calc.l"]).arg(&path);
        let done =
            process::run(parse.current_dir(&here).stdin(Stdio::null()), Duration::from_secs(60))?;
        inputs += 1;
        valid += u64::from(done.exit.success());
    }
    Ok(Strings {
        max_length,
        seconds,
        stop: stats["stop"].as_str().unwrap_or_default().into(),
        crashes: stats["crashes"].as_u64().unwrap_or(0),
        inputs,
        valid,
    })
}

fn find_crash(core: u32, strategy: &str, grammar: bool, seed: u64, seconds: u64) -> Result<Crash> {
    let here = build_example("realpath")?;
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out");
    let (number, limit) = (seed.to_string(), seconds.to_string());
    eprintln!("realpath, {strategy}, seed {seed}");
    let mut flags = vec!["-s", strategy, "--seed", &number, "-V", &limit, "--stop-on-crash"];
    if grammar {
        flags.extend(["-g", "ftp.y", "--lexer", "ftp.l"]);
    }
    let stats = run_campaign(core, &here, &out, &flags, &["./realpath"], seconds)?;
    let found = stats["crashes"].as_u64() > Some(0);
    let found_after = found.then(|| stats["time_s"]["total"].as_f64().unwrap_or(f64::NAN));
    Ok(Crash { strategy: strategy.into(), seed, found_after })
}

/// Runs `pleach compare`, prints its output, and returns its numbers.
fn compare_on_tinyjs(core: u32, seconds: u64, seeds: u64) -> Result<Value> {
    let here = build_example("tinyjs")?;
    let out = project::target("bench").join("tinyjs.compare");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    eprintln!("tinyjs: {STRATEGIES}, {seconds} s and {seeds} seeds each");
    let mut command = contest::on_core(core, &project::tool("pleach")?);
    command.args(["compare", "-s", STRATEGIES, "-V", &seconds.to_string()]);
    command.args(["--seeds", &seeds.to_string(), "-g", "tinyjs.g4", "-o"]).arg(&out);
    command.args(["--", "./tinyjs", "@@"]).current_dir(&here).stdin(Stdio::null());
    let campaigns = seeds * STRATEGIES.split(',').count() as u64;
    let limit = Duration::from_secs(campaigns * (seconds + 60));
    let done = process::succeed(&mut command, limit, "pleach compare")?;
    println!("{}", String::from_utf8_lossy(&done.stdout));
    Ok(serde_json::from_slice(&fs::read(out.join("compare.json"))?)?)
}

/// A contest on real programs.
fn compare_on_real(subjects: &[&Subject], seconds: u64, contest: &ContestArgs) -> Result<()> {
    let programs = Program::all()?;
    let find = |name: &str| {
        let found = programs.iter().find(|p| p.name == name);
        found.with_context(|| format!("there is no program {name} to fuzz"))
    };
    let mut fields = Vec::new();
    for subject in subjects {
        let home = match subject.source {
            Some(source) => fetch(source)?,
            None => project::root(),
        };
        let lexer = subject.lexer.map(|l| home.join(l));
        fields.push((find(subject.name)?, home.join(subject.grammar), lexer));
    }
    let writers: Vec<_> = fields
        .iter()
        .map(|(program, grammar, lexer)| {
            move |seed: u64, to: &Path| {
                write_sentences(program, grammar, lexer.as_deref(), seed, to)
            }
        })
        .collect();
    let mut entries = Vec::new();
    for ((subject, (program, grammar, lexer)), writer) in subjects.iter().zip(&fields).zip(&writers)
    {
        let contestants = contest.choose(contestants(subject, grammar, lexer.as_deref()))?;
        entries.push(Entry { program, contestants, write_sentences: writer });
    }
    contest::hold("grammar-run", &entries, seconds, contest)
}

fn contestants(subject: &Subject, grammar: &Path, lexer: Option<&Path>) -> Vec<Contestant> {
    // The file must not depend on where this checkout is.
    let mut knobs = format!("-s auto -g {}", subject.grammar);
    let mut flags = vec!["-s".into(), "auto".into(), "-g".into(), grammar.display().to_string()];
    if let (Some(name), Some(path)) = (subject.lexer, lexer) {
        knobs += &format!(" --lexer {name}");
        flags.extend(["--lexer".into(), path.display().to_string()]);
    }
    let without = Contestant::pleach("auto", &["-s", "auto"]);
    let with = Contestant { name: "grammar".into(), knobs, flags, ..without.clone() };
    let from_sentences =
        |c: Contestant| Contestant { name: format!("{}-sentences", c.name), sentences: true, ..c };
    let (afl, cmplog) = (Contestant::afl(), Contestant::cmplog());
    let (more, most) = (from_sentences(afl.clone()), from_sentences(cmplog.clone()));
    vec![with, without, afl, cmplog, more, most]
}

/// Writes the seed and sentences of the grammar, without those that AFL++ refuses.
fn write_sentences(
    program: &Program,
    grammar: &Path,
    lexer: Option<&Path>,
    seed: u64,
    to: &Path,
) -> Result<()> {
    let afl = program.build(Flavour::Afl)?;
    let grammar = import::load(grammar, lexer)?;
    program.write_seeds(to)?;
    grammarinator::write_sentences(&grammar, MAX_SENTENCES, seed, to)?;
    for path in files_in(to)? {
        if !is_usable_seed(&afl, &path)? {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn markdown(report: &Report) -> String {
    let mut text = String::new();
    if !report.strings.is_empty() {
        text += "| calc, strings of | seconds | ended | crashes | inputs | of the grammar |\n\
                 |---|---:|---|---:|---:|---:|\n";
    }
    for s in &report.strings {
        let Strings { max_length, seconds, stop, crashes, inputs, valid } = s;
        text += &format!(
            "| {max_length} bytes | {seconds:.1} | {stop} | {crashes} | {inputs} | {valid} |\n"
        );
    }
    if !report.crash.is_empty() {
        text += "\n| realpath | seed | crash after |\n|---|---:|---:|\n";
    }
    for c in &report.crash {
        let after = c.found_after.map_or("–".into(), |s| format!("{s:.1} s"));
        text += &format!("| {} | {} | {after} |\n", c.strategy, c.seed);
    }
    text
}
