//! Measures the cost of one run on one small input.
//!
//! Three ways to run are compared. The first starts the plain program for each input, as
//! without any tool; most of its cost is `exec` and the loader. The second is the fast half
//! under a fork server, which saves both: no tool can be much cheaper. The third is a
//! trace: the symbolic half under a fork server, with a label on every byte.
//!
//! The start of a fork server is not part of a run. So each measurement under a server is
//! done with few repetitions and with many, and the difference is divided by the number of
//! additional runs. The result contains the fork, the run and the driver's part, for
//! processor time and for elapsed time.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use pleach_exec::{End, Executor, Half, Layout, TargetOptions};
use serde::Serialize;
use serde_json::Value;

use super::stats::{median, micros};
use crate::process::{self, Cost, Exit, children_cpu, own_cpu};
use crate::project;

/// A program in two builds, and its arguments.
pub struct Program {
    pub name: String,
    pub plain: PathBuf,
    pub pleach: PathBuf,
    /// `@@` is replaced by the input's file. Without it, the input is on standard input.
    pub args: Vec<String>,
}

/// Microseconds for one run, medians of the rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Micros {
    /// Processor time of the run's own process, as `wait4` reports it.
    pub run_cpu: f64,
    /// The same, plus the processor time of the parent or server.
    pub all_cpu: f64,
    pub wall: f64,
}

#[derive(Debug, Serialize)]
pub struct OneInput {
    pub program: String,
    pub input_bytes: u64,
    pub plain_exec: Micros,
    pub fast_server: Micros,
    pub trace: Micros,
    pub events: u64,
    pub nodes: u64,
    pub trace_rss_kib: u64,
}

/// Measures all ways in turn, `rounds` times, with `runs` runs each time.
pub fn measure(program: &Program, input: &Path, rounds: u32, runs: u32) -> Result<OneInput> {
    let (mut exec, mut fast, mut trace) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = Value::Null;
    for _ in 0..rounds {
        exec.push(measure_plain(program, input, runs)?);
        fast.push(measure_fast(program, input, runs)?);
        let (cost, report) = measure_trace(program, input, runs)?;
        trace.push(cost);
        last = report;
    }
    let number = |key: &str| {
        last[key].as_u64().with_context(|| format!("pleach trace --json has no number `{key}`"))
    };
    Ok(OneInput {
        program: program.name.clone(),
        input_bytes: std::fs::metadata(input)?.len(),
        plain_exec: medians(&exec),
        fast_server: medians(&fast),
        trace: medians(&trace),
        events: number("events")?,
        nodes: number("nodes")?,
        trace_rss_kib: number("rss_kib")?,
    })
}

/// Starts the plain program for each run. (The standard library uses `posix_spawn`, which
/// does not copy our address space.)
fn measure_plain(program: &Program, input: &Path, runs: u32) -> Result<Micros> {
    let (own, children, start) = (own_cpu()?, children_cpu()?, Instant::now());
    for _ in 0..runs {
        let mut command = Command::new(&program.plain);
        command.args(arguments(program, input)).stdout(Stdio::null()).stderr(Stdio::null());
        if has_file_argument(program) {
            command.stdin(Stdio::null());
        } else {
            command.stdin(File::open(input)?);
        }
        // The exit status does not matter here.
        command.status().with_context(|| format!("cannot run {}", program.plain.display()))?;
    }
    let (wall, run) = (start.elapsed(), children_cpu()? - children);
    let all = run + (own_cpu()? - own);
    let each = |d| micros(d) / f64::from(runs);
    Ok(Micros { run_cpu: each(run), all_cpu: each(all), wall: each(wall) })
}

/// Runs the symbolic half under its fork server, with every byte labelled and nothing
/// solved.
fn measure_trace(program: &Program, input: &Path, runs: u32) -> Result<(Micros, Value)> {
    let few = few_runs(runs);
    let (less, _) = run_traces(program, input, few)?;
    let (more, report) = run_traces(program, input, few + runs)?;
    let cpu_ms = report["cpu_ms"].as_f64().context("pleach trace --json has no `cpu_ms`")?;
    Ok((cost_per_run(cpu_ms * 1e3, less, more, runs), report))
}

fn run_traces(program: &Program, input: &Path, times: u32) -> Result<(Cost, Value)> {
    let mut command = Command::new(project::tool("pleach")?);
    command.args(["trace", "--json", "--repeat"]).arg(times.to_string());
    command.arg(input).arg("--").arg(&program.pleach).args(&program.args);
    let out = tempfile::NamedTempFile::new()?;
    command.stdin(Stdio::null()).stdout(out.reopen()?);
    let (exit, cost) = process::measure(&mut command)?;
    if exit != Exit::Code(0) {
        bail!("pleach trace --repeat {times}: {exit}");
    }
    let json = std::fs::read(out.path())?;
    Ok((cost, serde_json::from_slice(&json).context("pleach trace --json wrote no JSON")?))
}

/// Runs the fast half under its fork server. No command repeats such runs, so this uses the
/// executor directly.
fn measure_fast(program: &Program, input: &Path, runs: u32) -> Result<Micros> {
    let few = few_runs(runs);
    let (_, less) = run_fast(program, input, few)?;
    let (run_cpu, more) = run_fast(program, input, few + runs)?;
    Ok(cost_per_run(run_cpu, less, more, runs))
}

fn run_fast(program: &Program, input: &Path, times: u32) -> Result<(f64, Cost)> {
    let bytes = std::fs::read(input)?;
    let mut args = vec![program.pleach.clone().into_os_string()];
    args.extend(program.args.iter().map(OsString::from));
    let (own, children, start) = (own_cpu()?, children_cpu()?, Instant::now());
    let layout = Arc::new(Layout::private(&program.pleach)?);
    let mut executor = Executor::new(layout, TargetOptions::new(Half::Fast, args))?;
    let mut cpu = Duration::ZERO;
    for _ in 0..times {
        let outcome = executor.run(&bytes, Duration::from_secs(60))?;
        if let End::Timeout | End::Lost(_) = outcome.end {
            bail!("the fast half under its fork server: {:?}", outcome.end);
        }
        cpu += outcome.cpu;
    }
    drop(executor);
    let all = (children_cpu()? - children) + (own_cpu()? - own);
    Ok((micros(cpu) / f64::from(times), Cost { cpu: all, wall: start.elapsed() }))
}

fn few_runs(runs: u32) -> u32 {
    (runs / 10).max(1)
}

fn cost_per_run(run_cpu: f64, less: Cost, more: Cost, runs: u32) -> Micros {
    let each = |more, less| (micros(more) - micros(less)) / f64::from(runs);
    Micros { run_cpu, all_cpu: each(more.cpu, less.cpu), wall: each(more.wall, less.wall) }
}

fn has_file_argument(program: &Program) -> bool {
    program.args.iter().any(|arg| arg == "@@")
}

fn arguments<'a>(program: &'a Program, input: &'a Path) -> impl Iterator<Item = &'a OsStr> {
    let swap = move |arg: &'a String| if arg == "@@" { input.as_os_str() } else { arg.as_ref() };
    program.args.iter().map(swap)
}

fn medians(rounds: &[Micros]) -> Micros {
    let middle = |field: fn(&Micros) -> f64| median(&rounds.iter().map(field).collect::<Vec<_>>());
    Micros {
        run_cpu: middle(|m| m.run_cpu),
        all_cpu: middle(|m| m.all_cpu),
        wall: middle(|m| m.wall),
    }
}
