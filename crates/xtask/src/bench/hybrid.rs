//! `./x bench hybrid`: compares hybrid search with random and with concolic search, on the
//! examples that read many events, with the same time and seeds, on one core.
//!
//! The goal is a number of crashes at different places; for the red-black tree it is
//! branches. Times come from the campaign: from the names of its files and from
//! `plot_data`. The benchmark also measures the cost of a snapshot and of a path from it,
//! and how many events each half processes per second. The fast half is faster, which is
//! why hybrid search drives it and the symbolic half follows.
//!
//! Real programs on a terminal are the subjects whose recipes define `keys`. They are
//! downloaded and built, so they run only if they are named.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use pleach_exec::{End, Events, Executor, Half, Layout, Step, TargetOptions};
use serde::Serialize;

use super::stats::{median, micros};
use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe, ensure_built, stage_output};

#[derive(clap::Args)]
pub struct Args {
    /// Examples (testme, rbtree, editor, server), or the real program vim, which is downloaded
    /// and built [default: all examples]
    programs: Vec<String>,
    /// Number of seeds of the random numbers; the first is 1
    #[arg(long, default_value_t = 2)]
    seeds: u64,
    /// Seconds for each campaign
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Run 5 seeds and 60 seconds, as docs/benchmarks.md does
    #[arg(long)]
    full: bool,
    /// Run only hybrid search, not the other strategies
    #[arg(long)]
    alone: bool,
}

/// An example and how to build it.
struct Example {
    name: &'static str,
    sources: &'static [&'static str],
    flags: &'static [&'static str],
    /// Number of crashes to find; 0 if branches count instead.
    crashes: usize,
}

const EXAMPLES: [Example; 4] = [
    Example { name: "testme", sources: &["testme.c"], flags: &[], crashes: 1 },
    Example { name: "rbtree", sources: &["driver.c", "rbtree.c"], flags: &[], crashes: 0 },
    Example {
        name: "editor",
        sources: &["editor.c", "text.c", "search.c", "command.c"],
        flags: &[],
        crashes: 2,
    },
    Example { name: "server", sources: &["server.c"], flags: &["--socket"], crashes: 1 },
];

/// The strategies to compare with. Random inputs are long, so that they get as deep as
/// they can; a search of all paths starts from a short input.
const RIVALS: [(&str, &[&str]); 3] =
    [("random", &["--len", "8192"]), ("dfs", &["--len", "64"]), ("generational", &["--len", "64"])];

#[derive(Debug, Serialize)]
struct Row {
    program: String,
    strategy: String,
    seed: u64,
    seconds: u64,
    covered: u64,
    total: u64,
    /// Seconds and branches covered, over time.
    curve: Vec<(f64, u64)>,
    crashes: usize,
    /// Seconds until all crashes were found.
    found_after: Option<f64>,
    events: u64,
    searches: u64,
    found: u64,
}

#[derive(Debug, Serialize)]
struct Speed {
    program: String,
    /// Random events per second in each half, without labels.
    fast_events: f64,
    symbolic_events: f64,
    /// Microseconds for a path from a snapshot in each half, and for a new snapshot with
    /// one path in the fast half.
    fast_path: f64,
    symbolic_path: f64,
    snapshot: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    rows: Vec<Row>,
    speed: Vec<Speed>,
}

/// The strategies to compare with on a terminal. There every run is a live run, and a key
/// takes as long as a thousand events elsewhere.
const RIVALS_ON_TERMINALS: [(&str, &[&str]); 2] =
    [("random", &["--len", "256"]), ("generational", &["--len", "64"])];

/// A program to run campaigns on.
struct Subject {
    name: String,
    command: Vec<OsString>,
    flags: Vec<&'static str>,
    crashes: usize,
}

pub fn run(args: &Args) -> Result<bool> {
    let (seeds, seconds) = if args.full { (5, 60) } else { (args.seeds, args.seconds) };
    let recipes: Vec<_> = Recipe::all()?.into_iter().filter(Recipe::has_keys).collect();
    let mut known: Vec<&str> = EXAMPLES.iter().map(|e| e.name).collect();
    known.extend(recipes.iter().map(|r| r.name.as_str()));
    if let Some(name) = args.programs.iter().find(|n| !known.contains(&n.as_str())) {
        bail!("there is no program {name} for hybrid search; there are {}", known.join(", "));
    }
    let mut report = Report { rows: Vec::new(), speed: Vec::new() };
    for example in EXAMPLES
        .iter()
        .filter(|e| args.programs.is_empty() || args.programs.iter().any(|n| n == e.name))
    {
        let program = build(example)?;
        report.speed.push(measure_speed(example, &program)?);
        let subject = Subject {
            name: example.name.into(),
            command: vec![program.into()],
            flags: example.flags.to_vec(),
            crashes: example.crashes,
        };
        run_campaigns(args, &subject, &RIVALS, (seeds, seconds), &mut report)?;
    }
    for recipe in recipes.iter().filter(|r| args.programs.contains(&r.name)) {
        let subject = build_terminal_subject(recipe)?;
        run_campaigns(args, &subject, &RIVALS_ON_TERMINALS, (seeds, seconds), &mut report)?;
    }
    println!("{}", table(&report));
    super::write_numbers("hybrid", &report)?;
    Ok(true)
}

fn run_campaigns(
    args: &Args,
    subject: &Subject,
    rivals: &[(&str, &[&str])],
    (seeds, seconds): (u64, u64),
    report: &mut Report,
) -> Result<()> {
    let mut strategies = vec![("hybrid", &[][..])];
    if !args.alone {
        strategies.extend(rivals);
    }
    for (strategy, flags) in strategies {
        for seed in 1..=seeds {
            let row = run_campaign(subject, (strategy, flags), seed, seconds)?;
            eprintln!("{}", summary(&row));
            report.rows.push(row);
        }
    }
    Ok(())
}

fn build_terminal_subject(recipe: &Recipe) -> Result<Subject> {
    ensure_built(recipe, Flavour::Pleach, false)?;
    let command = String::from_utf8(stage_output(recipe, "keys", Flavour::Pleach)?)?;
    let mut words = command.split_whitespace();
    let program = words.next().context("the recipe's stage `keys` prints no program")?;
    let mut command = vec![recipe.build_dir(Flavour::Pleach).join(program).into()];
    command.extend(words.map(OsString::from));
    Ok(Subject { name: recipe.name.clone(), command, flags: vec!["--tty", "80x24"], crashes: 0 })
}

fn build(example: &Example) -> Result<PathBuf> {
    let dir = project::target("bench").join("hybrid");
    fs::create_dir_all(&dir)?;
    let program = dir.join(example.name);
    let mut command = Command::new(project::tool("pleach-cc")?);
    command.args(["-O2", "-g", "-o"]).arg(&program).args(example.sources);
    command.current_dir(project::root().join("examples").join(example.name));
    let done = process::run(command.stdin(Stdio::null()), Duration::from_secs(120))?;
    if !done.exit.success() {
        bail!("compiling {}: {}", example.name, done.last_lines());
    }
    Ok(program)
}

fn run_campaign(
    subject: &Subject,
    (strategy, flags): (&str, &[&str]),
    seed: u64,
    seconds: u64,
) -> Result<Row> {
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out");
    let mut command = Command::new("taskset");
    command.arg("-c").arg("0").arg(project::tool("pleach")?);
    command.args(["run", "--json", "-s", strategy, "--seed", &seed.to_string()]);
    command.args(["-V", &seconds.to_string(), "-o"]).arg(&out).args(flags).args(&subject.flags);
    if subject.crashes == 1 {
        command.arg("--stop-on-crash");
    }
    command.arg("--").args(&subject.command).stdin(Stdio::null());
    let done = process::run(&mut command, Duration::from_secs(seconds + 120))?;
    if !done.exit.success() {
        bail!("{} by {strategy}: {}", subject.name, done.last_lines());
    }
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    let stats: serde_json::Value =
        serde_json::from_str(stdout.lines().last().context("pleach run printed nothing")?)?;
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let crashes = read_crashes(&out)?;
    let places: BTreeSet<&String> = crashes.iter().map(|(place, _)| place).collect();
    let all_found = subject.crashes > 0 && places.len() >= subject.crashes;
    Ok(Row {
        program: subject.name.clone(),
        strategy: strategy.into(),
        seed,
        seconds,
        covered: number(&stats["branches"]["covered"]),
        total: number(&stats["branches"]["total"]),
        curve: read_curve(&out),
        crashes: places.len(),
        found_after: all_found.then(|| {
            let first_time = |place: &&String| {
                let times = crashes.iter().filter(|(p, _)| p == *place).map(|(_, time)| *time);
                times.fold(f64::INFINITY, f64::min)
            };
            places.iter().map(first_time).fold(0.0, f64::max)
        }),
        events: number(&stats["hybrid"]["events"]),
        searches: number(&stats["hybrid"]["searches"]),
        found: number(&stats["hybrid"]["found"]),
    })
}

/// The place (innermost frame) and the time in seconds of each crash.
fn read_crashes(out: &Path) -> Result<Vec<(String, f64)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(out.join("crashes"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.ends_with(".stack.txt") {
            continue;
        }
        let millis = name.split(',').find_map(|part| part.strip_prefix("time:"));
        let millis: f64 = millis.and_then(|n| n.parse().ok()).unwrap_or(f64::INFINITY);
        let text = fs::read_to_string(&path)?;
        found.push((text.lines().next().unwrap_or_default().into(), millis / 1000.0));
    }
    Ok(found)
}

/// Seconds and branches covered, from `plot_data`.
fn read_curve(out: &Path) -> Vec<(f64, u64)> {
    let text = fs::read_to_string(out.join("plot_data")).unwrap_or_default();
    let point = |line: &str| {
        let mut fields = line.split(", ");
        let seconds = fields.next()?.parse().ok()?;
        Some((seconds, fields.nth(2)?.parse().ok()?))
    };
    text.lines().filter_map(point).collect()
}

/// Measures how fast a program processes events and can be forked.
fn measure_speed(example: &Example, program: &Path) -> Result<Speed> {
    let layout = Arc::new(Layout::private(program)?);
    let live = |half| -> Result<LiveBench> {
        let mut target = TargetOptions::new(half, vec![program.as_os_str().into()]);
        target.sizes.live = 1 << 20;
        target.scratch = true;
        target.socket = example.flags.contains(&"--socket");
        Ok(LiveBench { executor: Executor::new(layout.clone(), target)?, name: example.name })
    };
    let mut fast = live(Half::Fast)?;
    let (fast_events, fast_path) = (fast.events_per_second()?, fast.path_time()?);
    let snapshot = fast.snapshot_time()?;
    drop(fast);
    let mut symbolic = live(Half::Symbolic)?;
    Ok(Speed {
        program: example.name.into(),
        fast_events,
        symbolic_events: symbolic.events_per_second()?,
        fast_path,
        symbolic_path: symbolic.path_time()?,
        snapshot,
    })
}

/// Measurements of live runs in one half.
struct LiveBench {
    executor: Executor,
    name: &'static str,
}

impl LiveBench {
    const TIMEOUT: Duration = Duration::from_secs(10);
    const PATHS: usize = 200;

    /// Random events per second, without labels: the best of five live runs.
    fn events_per_second(&mut self) -> Result<f64> {
        const EVENTS: u64 = 20_000;
        let mut best = 0f64;
        for seed in 0..5 {
            self.begin(1, seed)?;
            let start = Instant::now();
            let events = Events { bytes: &[], most: EVENTS, seed: Some(seed) };
            let events = match self.executor.live_resume(events, Self::TIMEOUT)? {
                Step::Paused(stand) => stand.events,
                Step::Ended(_) => self.executor.live_events()?,
            };
            best = best.max(events as f64 / start.elapsed().as_secs_f64());
        }
        Ok(best)
    }

    /// Median time of a path from a snapshot, in microseconds. Leaves the live run paused.
    fn path_time(&mut self) -> Result<f64> {
        self.begin(500, 9)?;
        if self.executor.live_depth() == 0 {
            self.begin(1, 9)?;
        }
        let mut times = Vec::new();
        for _ in 0..Self::PATHS {
            let start = Instant::now();
            let outcome = self.executor.live_explore(&[0; 32], 8, Self::TIMEOUT)?;
            times.push(micros(start.elapsed()));
            if !matches!(outcome.end, End::Exit(_)) {
                bail!("{}: a path ended by {:?}", self.name, outcome.end);
            }
        }
        Ok(median(&times))
    }

    /// Median time of a new snapshot and one path from it, in microseconds. Needs the live
    /// run that `path_time` leaves.
    fn snapshot_time(&mut self) -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..Self::PATHS {
            let start = Instant::now();
            let none = Events { bytes: &[], most: 0, seed: None };
            self.executor.live_fork(none, Self::TIMEOUT)?;
            self.executor.live_explore(&[0; 32], 8, Self::TIMEOUT)?;
            times.push(micros(start.elapsed()));
            self.executor.live_drop_top();
        }
        Ok(median(&times))
    }

    /// Starts a live run with some random events.
    fn begin(&mut self, events: u64, seed: u64) -> Result<()> {
        let events = Events { bytes: &[], most: events, seed: Some(seed) };
        self.executor.live_begin(events, Self::TIMEOUT)?;
        Ok(())
    }
}

fn summary(row: &Row) -> String {
    let found = row.found_after.map_or("not all found".into(), |s| format!("found in {s:.1} s"));
    format!(
        "{} by {}, seed {}: {} of {} branches, {} crashes, {found}, {} events, {} searches",
        row.program,
        row.strategy,
        row.seed,
        row.covered,
        row.total,
        row.crashes,
        row.events,
        row.searches
    )
}

fn table(report: &Report) -> String {
    let mut text = String::from(
        "| program | strategy | seed | branches | crashes | all found after | events | searches | \
         of which found |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in &report.rows {
        text.push_str(&format!(
            "| {} | {} | {} | {} of {} | {} | {} | {} | {} | {} |\n",
            row.program,
            row.strategy,
            row.seed,
            row.covered,
            row.total,
            row.crashes,
            row.found_after.map_or("–".into(), |s| format!("{s:.1} s")),
            row.events,
            row.searches,
            row.found,
        ));
    }
    text.push_str(
        "\n| program | events/s fast | events/s symbolic | path fast | path symbolic | \
         snapshot and path |\n|---|---:|---:|---:|---:|---:|\n",
    );
    for s in &report.speed {
        text.push_str(&format!(
            "| {} | {:.0} | {:.0} | {:.0} µs | {:.0} µs | {:.0} µs |\n",
            s.program, s.fast_events, s.symbolic_events, s.fast_path, s.symbolic_path, s.snapshot
        ));
    }
    text.push_str(&time_to_reach_rivals(report));
    text
}

/// When hybrid search had as many branches as its best rival at the end.
fn time_to_reach_rivals(report: &Report) -> String {
    let mut text = String::new();
    for row in report.rows.iter().filter(|r| r.strategy == "hybrid") {
        let rivals = report
            .rows
            .iter()
            .filter(|r| r.program == row.program && r.seed == row.seed && r.strategy != "hybrid");
        let Some(best) = rivals.map(|r| r.covered).max() else { continue };
        let when = row.curve.iter().find(|(_, covered)| *covered >= best).map(|(s, _)| *s);
        let when = when.map_or("never".into(), |s| format!("after {s:.0} s"));
        text.push_str(&format!(
            "\n{}, seed {}: hybrid reached the {best} branches of its best rival {when}",
            row.program, row.seed
        ));
    }
    text
}
