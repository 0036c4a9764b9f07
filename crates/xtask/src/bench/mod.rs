//! The benchmarks. `solve`, `race` (`./x bench run`), `runs`, `prices`, `hybrid`, `fleet`, `grammar`
//! and `grammar_run` have their own files, and `contest` lets fuzzers compete. The others
//! belong to `./x bench trace`, which measures the cost of instrumented programs as ratios to
//! the plain `-O2` program.
//!
//! In each round all variants run in turn, and the median of the rounds counts. So other
//! load on the machine affects all variants in the same way.

mod compile;
mod constraints;
pub mod contest;
mod cpu;
mod fleet;
mod fleet_sim;
mod fzero;
mod grammar;
mod grammar_run;
mod grammarinator;
mod hybrid;
mod inputs;
pub mod machine;
mod one_input;
mod prices;
mod race;
mod report;
mod runs;
mod solve;
pub mod stats;
mod toward;

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
    /// Measure the cost of traces, of both halves, and of compiling
    Trace(TraceArgs),
    /// Compare the runs a second of the fast half with those of AFL++ and of libFuzzer, on
    /// one list of mutants
    Runs(runs::Args),
    /// Count the branches that pleach run and AFL++ cover from the same seed in the same
    /// time; continues a run that was interrupted
    Run(race::Args),
    /// Compare hybrid search with random and concolic search on programs that read many
    /// events
    Hybrid(hybrid::Args),
    /// Measure the speed of grammar operations: sampling, enumerating, completing, parsing,
    /// solving constraints
    Grammar(grammar::GrammarArgs),
    /// Compare campaigns with a grammar, campaigns without one, and AFL++
    GrammarRun(grammar_run::Args),
    /// Compare the costs that the strategy auto estimates with the time that they take
    Prices(prices::Args),
    /// Measure how long the workers of a campaign wait for each other, on a target that sleeps
    Locks(LocksArgs),
    /// Measure how long --toward takes to get to places that auto finds late; continues a run
    /// that was interrupted
    Toward(toward::Args),
    /// Measure what members of a campaign on several machines are worth, and what they cost
    Fleet(fleet::Args),
    /// Measure what many members of a fleet cost their server: recorded finds are told again
    FleetSim(fleet_sim::Args),
    /// Measure how fast the flips of recorded traces are solved, and compare with Z3
    Solve(solve::SolveArgs),
}

#[derive(clap::Args)]
pub struct LocksArgs {
    /// Seconds for each number of workers
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Time of a run of the target, in microseconds
    #[arg(long, default_value_t = 600.0)]
    run_us: f64,
    /// Time of a run that the prediction is for, in microseconds
    #[arg(long, default_value_t = 12.0)]
    predict_us: f64,
}

#[derive(clap::Args)]
pub struct TraceArgs {
    /// Programs for the CPU-bound part (see `./x subjects list`) [default: all]
    programs: Vec<String>,
    /// Skip these parts: one-input, cpu, compile
    #[arg(long, value_delimiter = ',', value_name = "PART,...")]
    skip: Vec<String>,
    /// Number of rounds; the median counts
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Number of runs on one input in each round
    #[arg(long, default_value_t = 300)]
    runs: u32,
    /// Measure your own program: its plain build; needs --pleach and --input
    #[arg(long, value_name = "FILE", requires_all = ["pleach", "input"])]
    plain: Option<PathBuf>,
    /// The same program, compiled by pleach-cc
    #[arg(long, value_name = "FILE")]
    pleach: Option<PathBuf>,
    /// The input of your program, passed as `@@` in its arguments or on standard input
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The arguments of your program
    #[arg(last = true)]
    args: Vec<String>,
}

pub fn run(bench: &Bench) -> Result<bool> {
    match bench {
        Bench::Trace(args) => trace(args),
        Bench::Solve(args) => solve::run(args),
        Bench::FleetSim(args) => fleet_sim::run(args),
        Bench::Run(args) => race::run(args),
        Bench::Runs(args) => runs::run(args),
        Bench::Prices(args) => prices::run(args),
        Bench::Locks(args) => measure_locks(args),
        Bench::Grammar(args) => grammar::run(args),
        Bench::GrammarRun(args) => grammar_run::run(args),
        Bench::Toward(args) => toward::run(args),
        Bench::Hybrid(args) => hybrid::run(args),
        Bench::Fleet(args) => fleet::run(args),
    }
}

/// Runs the benchmark of `pleach-campaign`, which uses the fake target of its tests.
fn measure_locks(args: &LocksArgs) -> Result<bool> {
    let numbers = [args.seconds, args.run_us, args.predict_us].map(|n| n.to_string());
    let mut command = Command::new("cargo");
    command.args(["bench", "--quiet", "-p", "pleach-campaign", "--bench", "locks", "--"]);
    let status = command.args(numbers).current_dir(project::root()).status();
    Ok(status.context("cannot run cargo")?.success())
}

/// Writes the numbers of a benchmark to a file and prints its path.
fn write_numbers(name: &str, numbers: &impl serde::Serialize) -> Result<()> {
    let path = project::target("bench").join(format!("{name}.json"));
    fs::create_dir_all(project::target("bench"))?;
    fs::write(&path, serde_json::to_vec_pretty(numbers)?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("All numbers are in {}.", path.display());
    Ok(())
}

fn trace(args: &TraceArgs) -> Result<bool> {
    let parts = ["one-input", "cpu", "compile"];
    if let Some(part) = args.skip.iter().find(|part| !parts.contains(&part.as_str())) {
        bail!("--skip: there is no part {part}; the parts are {}", parts.join(", "));
    }
    let mut report = Report::new()?;
    match (&args.plain, &args.pleach, &args.input) {
        (Some(plain), Some(pleach), Some(input)) => {
            trace_user_program(args, plain, pleach, input, &mut report)?;
        }
        _ => trace_known_programs(args, &mut report)?,
    }
    println!("{}", report.markdown());
    write_numbers("trace", &report)?;
    Ok(true)
}

/// Measures the user's program: a trace of its input, and its run in both halves.
fn trace_user_program(
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
    let is_selected = |part: &str| !args.skip.iter().any(|skipped| skipped == part);
    if is_selected("one-input") {
        report.one_input.push(one_input::measure(&program, &input, args.rounds, args.runs)?);
    }
    if is_selected("cpu") {
        report.cpu.push(cpu::measure_program(&program, &input, args.rounds)?);
    }
    Ok(())
}

/// Measures the calculator, the subjects, and the compilation of a few of their files.
fn trace_known_programs(args: &TraceArgs, report: &mut Report) -> Result<()> {
    let is_selected = |part: &str| !args.skip.iter().any(|skipped| skipped == part);
    let recipes = Recipe::all()?;
    if let Some(name) = args.programs.iter().find(|n| recipes.iter().all(|r| r.name != **n)) {
        bail!("there is no program {name}; ./x subjects list prints all names");
    }
    if is_selected("one-input") {
        let program = build_calculator()?;
        let dir = tempfile::tempdir()?;
        for length in [4096, 48] {
            eprintln!("one input of {length} bytes");
            let input = dir.path().join(format!("input-{length}"));
            fs::write(&input, inputs::calculations(length))?;
            report.one_input.push(one_input::measure(&program, &input, args.rounds, args.runs)?);
        }
    }
    if is_selected("cpu") {
        let is_chosen = |recipe: &&Recipe| {
            recipe.has_work() && (args.programs.is_empty() || args.programs.contains(&recipe.name))
        };
        for recipe in recipes.iter().filter(is_chosen) {
            eprintln!("CPU-bound: {}", recipe.name);
            let with_afl = is_installed("afl-clang-fast");
            report.cpu.push(cpu::measure_subject(recipe, args.rounds, with_afl)?);
        }
    }
    if is_selected("compile") {
        eprintln!("compiling");
        // Three rounds are enough: a large file takes long, and compile times vary little.
        report.compile = compile::measure(&recipes, args.rounds.min(3))?;
    }
    Ok(())
}

fn is_installed(program: &str) -> bool {
    let mut version = Command::new(program);
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Compiles the calculator of `examples/` with both compilers and the same flags.
fn build_calculator() -> Result<Program> {
    let dir = project::target("bench");
    fs::create_dir_all(&dir)?;
    let source = project::root().join("examples/calc/calc.c");
    let build = |flavour: Flavour| -> Result<PathBuf> {
        let program = dir.join(format!("calc-{}", flavour.name()));
        let mut command = Command::new(flavour.compilers()?.0);
        command.arg("-O2").arg(&source).arg("-o").arg(&program).stdin(Stdio::null());
        let done = process::run(&mut command, Duration::from_secs(120))?;
        if !done.exit.success() {
            bail!("compiling {} ({}): {}", source.display(), flavour.name(), done.last_lines());
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
