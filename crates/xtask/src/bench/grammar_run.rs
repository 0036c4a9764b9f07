//! `./x bench grammar-run`: compares campaigns with and without a grammar.
//!
//! There are four parts:
//! - `calc`: all symbolic strings of the calculator's grammar, until the search is
//!   exhausted.
//! - `realpath`: the path with the off-by-one, until it crashes.
//! - `tinyjs`: grammar-based whitebox fuzzing, its four rivals and `auto` on the script
//!   engine, with `pleach compare`.
//! - Real programs: `auto` with a grammar, `auto` without one, AFL++, and AFL++ with
//!   sentences that Grammarinator generates from the same grammar. gcov counts the
//!   branches, as in `./x bench run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use pleach_import as import;
use serde::Serialize;
use serde_json::Value;

use super::{grammarinator, race};
use crate::grammars::fetch;
use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe};

#[derive(clap::Args)]
pub struct Args {
    /// Examples (calc, realpath, tinyjs) and real programs (mujs, lua, bc, jq) [default: all]
    parts: Vec<String>,
    /// Seconds for each campaign
    #[arg(long, default_value_t = 40)]
    seconds: u64,
    /// Number of seeds of the random numbers
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Run 600 seconds and 3 seeds, as docs/benchmarks.md does
    #[arg(long)]
    full: bool,
    /// Do not run AFL++
    #[arg(long)]
    alone: bool,
    /// The core that everything runs on
    #[arg(long, default_value_t = 0)]
    core: u32,
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
    real: Vec<Real>,
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

/// Branches that gcov counts for the inputs of each tool.
#[derive(Debug, Serialize)]
struct Real {
    program: String,
    seed: u64,
    total: u64,
    begin: u64,
    with_grammar: u64,
    without: u64,
    afl: Option<u64>,
    afl_with_sentences: Option<u64>,
    /// The statistics of `pleach run` with the grammar.
    stats: Value,
}

pub fn run(args: &Args) -> Result<bool> {
    let (seconds, seeds) = if args.full { (600, 3) } else { (args.seconds, args.seeds) };
    let mut known = vec!["calc", "realpath", "tinyjs"];
    known.extend(SUBJECTS.iter().map(|s| s.name));
    if let Some(name) = args.parts.iter().find(|n| !known.contains(&n.as_str())) {
        bail!("there is no part {name}; the parts are {}", known.join(", "));
    }
    let is_selected = |name: &str| args.parts.is_empty() || args.parts.iter().any(|p| p == name);
    let mut report = Report { seconds, ..Report::default() };
    if is_selected("calc") {
        for max_length in [4, 6] {
            report.strings.push(run_strings(args.core, max_length)?);
        }
    }
    if is_selected("realpath") {
        for seed in 0..seeds {
            for (strategy, grammar) in [("cese", true), ("generational", false), ("auto", false)] {
                report.crash.push(find_crash(args.core, strategy, grammar, seed, seconds)?);
            }
        }
    }
    if is_selected("tinyjs") {
        report.tinyjs = Some(compare_on_tinyjs(args.core, seconds, seeds)?);
    }
    for subject in SUBJECTS.iter().filter(|s| is_selected(s.name)) {
        for seed in 0..seeds {
            report.real.push(compare_on_real(subject, seed, seconds, args)?);
        }
    }
    println!("{}", markdown(&report));
    super::write_numbers("grammar-run", &report)?;
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
    let mut command = race::on_core(core, &project::tool("pleach")?);
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
    for path in race::inputs(&out.join("queue"))? {
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
    let mut command = race::on_core(core, &project::tool("pleach")?);
    command.args(["compare", "-s", STRATEGIES, "-V", &seconds.to_string()]);
    command.args(["--seeds", &seeds.to_string(), "-g", "tinyjs.g4", "-o"]).arg(&out);
    command.args(["--", "./tinyjs", "@@"]).current_dir(&here).stdin(Stdio::null());
    let campaigns = seeds * STRATEGIES.split(',').count() as u64;
    let limit = Duration::from_secs(campaigns * (seconds + 60));
    let done = process::succeed(&mut command, limit, "pleach compare")?;
    println!("{}", String::from_utf8_lossy(&done.stdout));
    Ok(serde_json::from_slice(&fs::read(out.join("compare.json"))?)?)
}

/// The campaigns on one real program, from one seed.
struct RealProgram<'a> {
    name: &'static str,
    runner: race::Runner,
    seed: u64,
    seconds: u64,
    core: u32,
    dir: &'a Path,
    /// The directory with the program's own seed.
    seeds: PathBuf,
}

fn compare_on_real(subject: &Subject, seed: u64, seconds: u64, args: &Args) -> Result<Real> {
    let recipes = Recipe::all()?;
    let recipe = recipes.iter().find(|r| r.name == subject.name);
    let recipe = recipe.with_context(|| format!("there is no program {}", subject.name))?;
    let runner = race::build_subject(recipe, !args.alone)?;
    let home = match subject.source {
        Some(source) => fetch(source)?,
        None => project::root(),
    };
    let (grammar, lexer) = (home.join(subject.grammar), subject.lexer.map(|l| home.join(l)));
    let dir = tempfile::tempdir()?;
    let (seeds, sentences) = (dir.path().join("seeds"), dir.path().join("sentences"));
    fs::create_dir(&seeds)?;
    fs::create_dir(&sentences)?;
    fs::write(seeds.join("seed"), &runner.seed)?;
    fs::write(sentences.join("seed"), &runner.seed)?;
    if let Some(afl) = &runner.afl {
        let grammar = import::load(&grammar, lexer.as_deref())?;
        grammarinator::write_sentences(&grammar, MAX_SENTENCES, seed, &sentences)?;
        for path in race::inputs(&sentences)? {
            if !race::is_usable_seed(afl, &path)? {
                fs::remove_file(path)?;
            }
        }
    }
    let grammar = grammar.display().to_string();
    let lexer = lexer.map(|l| l.display().to_string());
    let mut flags = vec!["-g", &grammar];
    flags.extend(lexer.iter().flat_map(|l| ["--lexer", l]));
    let (name, core) = (subject.name, args.core);
    let program = RealProgram { name, runner, seed, seconds, core, dir: dir.path(), seeds };
    let (with_grammar, total, stats) = program.run_pleach("with-grammar", &flags)?;
    let (without, _, _) = program.run_pleach("without", &[])?;
    Ok(Real {
        program: name.into(),
        seed,
        total,
        begin: program.count_branches(&program.seeds)?.0,
        with_grammar,
        without,
        afl: program.run_afl("seed", &program.seeds)?,
        afl_with_sentences: program.run_afl("sentences", &sentences)?,
        stats,
    })
}

impl RealProgram<'_> {
    /// Runs `pleach run`. Returns the branches taken, all branches, and the statistics.
    fn run_pleach(&self, name: &str, flags: &[&str]) -> Result<(u64, u64, Value)> {
        eprintln!("{}, seed {}: pleach run {name}", self.name, self.seed);
        let out = self.dir.join(name);
        let seeds = self.seeds.display().to_string();
        let (seed, limit) = (self.seed.to_string(), self.seconds.to_string());
        let flags = [&["-s", "auto", "-i", &seeds, "--seed", &seed, "-V", &limit], flags].concat();
        let built = &self.runner.pleach;
        let program: Vec<&str> = built.command.iter().map(String::as_str).collect();
        let stats =
            run_campaign(self.core, &built.directory, &out, &flags, &program, self.seconds)?;
        let (taken, total) = self.count_branches(&out.join("queue"))?;
        eprintln!("  {taken} branches");
        Ok((taken, total, stats))
    }

    /// Runs AFL++ from these seeds. Returns the branches taken; `None` without AFL++.
    fn run_afl(&self, name: &str, seeds: &Path) -> Result<Option<u64>> {
        let Some(afl) = &self.runner.afl else { return Ok(None) };
        eprintln!("{}, seed {}: AFL++ from {name}", self.name, self.seed);
        let out = self.dir.join(format!("afl-{name}"));
        let child = race::start_afl(afl, seeds, &out, self.seconds, self.core)?;
        race::wait(child, Duration::from_secs(self.seconds + 120)).context("afl-fuzz")?;
        let run_time = race::afl_stat(&out, "run_time")?;
        if run_time + 5 < self.seconds {
            bail!("afl-fuzz ended after {run_time} s instead of {} s", self.seconds);
        }
        let (taken, _) = self.count_branches(&out.join("default/queue"))?;
        eprintln!("  {taken} branches");
        Ok(Some(taken))
    }

    fn count_branches(&self, inputs: &Path) -> Result<(u64, u64)> {
        race::count_branches(&self.runner, &race::inputs(inputs)?)
    }
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
    if !report.real.is_empty() {
        text += "\n| program | seed | branches | begin | auto, grammar | auto | AFL++ | AFL++, \
                 sentences | context-free solving | parsing, deriving |\n\
                 |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    }
    for r in &report.real {
        let maybe = |n: Option<u64>| n.map_or("–".into(), |n| n.to_string());
        let time = |what: &str| r.stats["time_s"][what].as_f64().unwrap_or(0.0);
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {:.1} % | {:.1} % |\n",
            r.program,
            r.seed,
            r.total,
            r.begin,
            r.with_grammar,
            r.without,
            maybe(r.afl),
            maybe(r.afl_with_sentences),
            100.0 * time("grammar") / time("total").max(1e-9),
            100.0 * time("parse") / time("total").max(1e-9),
        );
    }
    text
}
