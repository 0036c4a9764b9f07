//! `./x bench grammar-run`: what a grammar brings a campaign.
//!
//! Four parts. The calculator's symbolic strings, to their end. The path with the
//! off-by-one, until it crashes. The script engine, where grammar-based whitebox fuzzing
//! runs against its four rivals and `auto` by `pleach compare`. And real programs, where
//! `auto` with a grammar runs against `auto` without one, against AFL++, and against
//! AFL++ from sentences that Grammarinator draws from the same grammar; who covered how many branches is asked of
//! gcov, as in `./x bench run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use pleach_import as import;
use serde::Serialize;
use serde_json::Value;

use super::{grammarinator, race};
use crate::grammars::fetched;
use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe};

#[derive(clap::Args)]
pub struct Args {
    /// Parts: calc, realpath, tinyjs, and the subjects mujs, lua, bc, jq; all if none is
    /// named
    parts: Vec<String>,
    /// Seconds for each campaign
    #[arg(long, default_value_t = 40)]
    seconds: u64,
    /// Seeds of the random numbers
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Ten minutes and three seeds, as the bars ask
    #[arg(long)]
    full: bool,
    /// Leave AFL++ out
    #[arg(long)]
    alone: bool,
    /// The core on which everything runs
    #[arg(long, default_value_t = 0)]
    core: u32,
}

/// A real program and the grammar of its input.
struct Subject {
    name: &'static str,
    /// Where the grammar comes from; none: this checkout.
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
/// Sentences that AFL++ gets at most.
const SENTENCES: usize = 200;

#[derive(Debug, Default, Serialize)]
struct Report {
    seconds: u64,
    strings: Vec<Strings>,
    crash: Vec<Crash>,
    tinyjs: Option<Value>,
    real: Vec<Real>,
}

/// A run of `cese` to its end.
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

/// Branches that gcov counts, by who made the inputs.
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
    /// What `pleach run` with the grammar says of itself.
    stats: Value,
}

pub fn run(args: &Args) -> Result<bool> {
    let (seconds, seeds) = if args.full { (600, 3) } else { (args.seconds, args.seeds) };
    let known = |name: &String| {
        ["calc", "realpath", "tinyjs"].contains(&name.as_str())
            || SUBJECTS.iter().any(|s| s.name == name)
    };
    if let Some(name) = args.parts.iter().find(|n| !known(n)) {
        bail!("{name}: there is no such part");
    }
    let wants = |name: &str| args.parts.is_empty() || args.parts.iter().any(|p| p == name);
    let mut report = Report { seconds, ..Report::default() };
    if wants("calc") {
        for max_length in [4, 6] {
            report.strings.push(strings(args.core, max_length)?);
        }
    }
    if wants("realpath") {
        for seed in 0..seeds {
            for (strategy, grammar) in [("cese", true), ("generational", false), ("auto", false)] {
                report.crash.push(crash(args.core, strategy, grammar, seed, seconds)?);
            }
        }
    }
    if wants("tinyjs") {
        report.tinyjs = Some(tinyjs(args.core, seconds, seeds)?);
    }
    for subject in SUBJECTS.iter().filter(|s| wants(s.name)) {
        for seed in 0..seeds {
            report.real.push(real(subject, seed, seconds, args)?);
        }
    }
    println!("{}", markdown(&report));
    super::keep("grammar-run", &report)?;
    Ok(true)
}

/// An example, built in a directory of its own.
fn example(name: &str) -> Result<PathBuf> {
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

/// A campaign; its statistics.
fn campaign(
    core: u32,
    here: &Path,
    out: &Path,
    flags: &[&str],
    program: &[&str],
    limit: u64,
) -> Result<Value> {
    let mut command = race::on_core(core, &project::tool("pleach")?);
    command.args(["run", "--json", "-o"]).arg(out).args(flags).arg("--").args(program);
    command.current_dir(here).stdin(Stdio::null());
    let done = process::succeed(&mut command, Duration::from_secs(limit + 120), "pleach run")?;
    let said = String::from_utf8_lossy(&done.stdout);
    let last = said.lines().last().context("pleach run said nothing")?;
    serde_json::from_str(last).with_context(|| format!("pleach run: {last}"))
}

fn strings(core: u32, max_length: u32) -> Result<Strings> {
    let here = example("simplecalc")?;
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out");
    let length = max_length.to_string();
    eprintln!("calc, strings of {length} bytes");
    let flags =
        ["-s", "cese", "-g", "calc.y", "--lexer", "calc.l", "--max-length", &length, "-V", "900"];
    let start = Instant::now();
    let stats = campaign(core, &here, &out, &flags, &["./simplecalc"], 900)?;
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

fn crash(core: u32, strategy: &str, grammar: bool, seed: u64, seconds: u64) -> Result<Crash> {
    let here = example("realpath")?;
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out");
    let (number, limit) = (seed.to_string(), seconds.to_string());
    eprintln!("realpath, {strategy}, seed {seed}");
    let mut flags = vec!["-s", strategy, "--seed", &number, "-V", &limit, "--stop-on-crash"];
    if grammar {
        flags.extend(["-g", "ftp.y", "--lexer", "ftp.l"]);
    }
    let stats = campaign(core, &here, &out, &flags, &["./realpath"], seconds)?;
    let found = stats["crashes"].as_u64() > Some(0);
    let found_after = found.then(|| stats["time_s"]["total"].as_f64().unwrap_or(f64::NAN));
    Ok(Crash { strategy: strategy.into(), seed, found_after })
}

/// `pleach compare`: what it printed goes to the terminal, what it wrote comes back.
fn tinyjs(core: u32, seconds: u64, seeds: u64) -> Result<Value> {
    let here = example("tinyjs")?;
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

fn real(subject: &Subject, seed: u64, seconds: u64, args: &Args) -> Result<Real> {
    let recipes = Recipe::all()?;
    let recipe = recipes.iter().find(|r| r.name == subject.name);
    let runner = race::subject(recipe.context("no such subject")?, !args.alone)?;
    let core = args.core;
    let home = match subject.source {
        Some(source) => fetched(source)?,
        None => project::root(),
    };
    let (grammar, lexer) = (home.join(subject.grammar), subject.lexer.map(|l| home.join(l)));
    let dir = tempfile::tempdir()?;
    let (seeds, drawn) = (dir.path().join("seeds"), dir.path().join("sentences"));
    fs::create_dir(&seeds)?;
    fs::create_dir(&drawn)?;
    fs::write(seeds.join("seed"), &runner.seed)?;
    fs::write(drawn.join("seed"), &runner.seed)?;
    if let Some(afl) = &runner.afl {
        let grammar = import::load(&grammar, lexer.as_deref())?;
        grammarinator::sentences(&grammar, SENTENCES, seed, &drawn)?;
        for path in race::inputs(&drawn)? {
            if !race::ends(afl, &path)? {
                fs::remove_file(path)?;
            }
        }
    }
    let grammar = grammar.display().to_string();
    let lexer = lexer.map(|l| l.display().to_string());
    let (number, limit) = (seed.to_string(), seconds.to_string());
    let begin = seeds.display().to_string();
    let program: Vec<&str> = runner.pleach.command.iter().map(String::as_str).collect();
    let ours = |name: &str, more: &[&str]| -> Result<(u64, u64, Value)> {
        eprintln!("{}, seed {seed}: pleach run {name}", subject.name);
        let out = dir.path().join(name);
        let flags = [&["-s", "auto", "-i", &begin, "--seed", &number, "-V", &limit], more].concat();
        let stats = campaign(core, &runner.pleach.directory, &out, &flags, &program, seconds)?;
        let (taken, total) = race::covered(&runner, &race::inputs(&out.join("queue"))?)?;
        eprintln!("  {taken} branches");
        Ok((taken, total, stats))
    };
    let theirs = |name: &str, from: &Path| -> Result<Option<u64>> {
        let Some(afl) = &runner.afl else { return Ok(None) };
        eprintln!("{}, seed {seed}: AFL++ from {name}", subject.name);
        let out = dir.path().join(format!("afl-{name}"));
        let child = race::fuzz(afl, from, &out, seconds, core)?;
        race::finish(child, Duration::from_secs(seconds + 120)).context("afl-fuzz")?;
        let ran = race::afl_stat(&out, "run_time")?;
        if ran + 5 < seconds {
            bail!("afl-fuzz ended after {ran} s");
        }
        let (taken, _) = race::covered(&runner, &race::inputs(&out.join("default/queue"))?)?;
        eprintln!("  {taken} branches");
        Ok(Some(taken))
    };
    let mut flags = vec!["-g", &grammar];
    flags.extend(lexer.iter().flat_map(|l| ["--lexer", l]));
    let (with_grammar, total, stats) = ours("with-grammar", &flags)?;
    let (without, _, _) = ours("without", &[])?;
    Ok(Real {
        program: subject.name.into(),
        seed,
        total,
        begin: race::covered(&runner, &race::inputs(&seeds)?)?.0,
        with_grammar,
        without,
        afl: theirs("seed", &seeds)?,
        afl_with_sentences: theirs("sentences", &drawn)?,
        stats,
    })
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
