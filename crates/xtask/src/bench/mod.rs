//! The benchmarks. `solve`, `race` (`./x bench run`), `hybrid`, `grammar` and
//! `grammar_run` have files of their own; the rest is `./x bench trace`: what
//! instrumented programs cost, as ratios to the plain `-O2` program, everything
//! measured in one go on one machine.
//!
//! All variants of a thing are run in turn, round after round, and the median of
//! the rounds is taken: what else the machine does then hits all of them alike.

mod compile;
mod constraints;
mod cpu;
mod fzero;
mod grammar;
mod grammar_run;
mod grammarinator;
mod hybrid;
mod inputs;
mod one_input;
mod race;
mod report;
mod solve;
mod stats;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe};
use one_input::Program;
use report::Report;

#[derive(clap::Subcommand)]
pub enum Bench {
    /// Cost of traces, of both halves, and of compiling
    Trace(TraceArgs),
    /// Branches covered by pleach run and by AFL++, from the same seed in the same time
    Run(race::Args),
    /// Programs that keep reading: hybrid search against random and concolic alone
    Hybrid(hybrid::Args),
    /// Speed of sampling, enumerating, completing, parsing and solving constraints
    Grammar(grammar::GrammarArgs),
    /// What a grammar brings a campaign: against rivals without one, and against AFL++
    GrammarRun(grammar_run::Args),
    /// Flips of recorded traces, by tier, against Z3
    Solve(solve::SolveArgs),
}

#[derive(clap::Args)]
pub struct TraceArgs {
    /// Subjects for the CPU-bound part (see `./x subjects list`); all if none is named
    programs: Vec<String>,
    /// Leave parts out: one-input, cpu, compile
    #[arg(long, value_delimiter = ',')]
    skip: Vec<String>,
    /// Rounds; the median of them counts
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Runs on one input in a round
    #[arg(long, default_value_t = 300)]
    runs: u32,
    /// A program of yours, compiled plainly; needs --pleach and --input
    #[arg(long, requires_all = ["pleach", "input"])]
    plain: Option<PathBuf>,
    /// The same program, compiled by pleach-cc
    #[arg(long)]
    pleach: Option<PathBuf>,
    /// Its input, on standard input or for `@@` among the arguments
    #[arg(long)]
    input: Option<PathBuf>,
    /// Its arguments
    #[arg(last = true)]
    args: Vec<String>,
}

pub fn run(bench: &Bench) -> Result<bool> {
    match bench {
        Bench::Trace(args) => trace(args),
        Bench::Solve(args) => solve::run(args),
        Bench::Run(args) => race::run(args),
        Bench::Grammar(args) => grammar::run(args),
        Bench::GrammarRun(args) => grammar_run::run(args),
        Bench::Hybrid(args) => hybrid::run(args),
    }
}

/// Writes a benchmark's numbers down, and says where they are.
fn keep(name: &str, numbers: &impl serde::Serialize) -> Result<()> {
    let path = project::target("bench").join(format!("{name}.json"));
    fs::create_dir_all(project::target("bench"))?;
    fs::write(&path, serde_json::to_vec_pretty(numbers)?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("All numbers are in {}.", path.display());
    Ok(())
}

fn trace(args: &TraceArgs) -> Result<bool> {
    let known = ["one-input", "cpu", "compile"];
    if let Some(part) = args.skip.iter().find(|part| !known.contains(&part.as_str())) {
        bail!("--skip: there is no part {part}; there are {}", known.join(", "));
    }
    let mut report = Report::new()?;
    match (&args.plain, &args.pleach, &args.input) {
        (Some(plain), Some(pleach), Some(input)) => own(args, plain, pleach, input, &mut report)?,
        _ => ours(args, &mut report)?,
    }
    println!("{}", report.markdown());
    keep("trace", &report)?;
    Ok(true)
}

/// A program of anyone's: a trace of its input, and its job in both halves.
fn own(
    args: &TraceArgs,
    plain: &PathBuf,
    pleach: &PathBuf,
    input: &PathBuf,
    report: &mut Report,
) -> Result<()> {
    let absolute = |path: &PathBuf| {
        path.canonicalize().with_context(|| format!("cannot find {}", path.display()))
    };
    let (plain, pleach, input) = (absolute(plain)?, absolute(pleach)?, absolute(input)?);
    let name = plain.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = Program { name, plain, pleach, args: args.args.clone() };
    let wants = |part: &str| !args.skip.iter().any(|skipped| skipped == part);
    if wants("one-input") {
        report.one_input.push(one_input::measure(&program, &input, args.rounds, args.runs)?);
    }
    if wants("cpu") {
        report.cpu.push(cpu::own(&program, &input, args.rounds)?);
    }
    Ok(())
}

/// The calculator, the subjects, and a few of their files.
fn ours(args: &TraceArgs, report: &mut Report) -> Result<()> {
    let wants = |part: &str| !args.skip.iter().any(|skipped| skipped == part);
    let recipes = Recipe::all()?;
    if let Some(name) = args.programs.iter().find(|n| recipes.iter().all(|r| r.name != **n)) {
        bail!("no subject is called {name}; ./x subjects list names them all");
    }
    if wants("one-input") {
        let program = calculator()?;
        let dir = tempfile::tempdir()?;
        for length in [4096, 48] {
            eprintln!("one input of {length} bytes");
            let input = dir.path().join(format!("input-{length}"));
            fs::write(&input, inputs::calculations(length))?;
            report.one_input.push(one_input::measure(&program, &input, args.rounds, args.runs)?);
        }
    }
    if wants("cpu") {
        let named = |recipe: &&Recipe| {
            recipe.has_work() && (args.programs.is_empty() || args.programs.contains(&recipe.name))
        };
        for recipe in recipes.iter().filter(named) {
            eprintln!("CPU-bound: {}", recipe.name);
            report.cpu.push(cpu::subject(recipe, args.rounds, has("afl-clang-fast"))?);
        }
    }
    if wants("compile") {
        eprintln!("compiling");
        // A large file takes its time, and compilers vary little.
        report.compile = compile::measure(&recipes, args.rounds.min(3))?;
    }
    Ok(())
}

fn has(program: &str) -> bool {
    let mut version = Command::new(program);
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// The calculator of `examples/`, compiled by both compilers with the same flags.
fn calculator() -> Result<Program> {
    let dir = project::target("bench");
    fs::create_dir_all(&dir)?;
    let source = project::root().join("examples/calc/calc.c");
    let build = |flavour: Flavour| -> Result<PathBuf> {
        let program = dir.join(format!("calc-{}", flavour.name()));
        let mut command = Command::new(flavour.compilers()?.0);
        command.arg("-O2").arg(&source).arg("-o").arg(&program).stdin(Stdio::null());
        let done = process::run(&mut command, Duration::from_secs(120))?;
        if !done.exit.success() {
            bail!("compiling {} ({}): {}", source.display(), flavour.name(), done.complaint());
        }
        Ok(program)
    };
    Ok(Program {
        name: "calc".into(),
        plain: build(Flavour::Plain)?,
        pleach: build(Flavour::Pleach)?,
        args: Vec::new(),
    })
}
