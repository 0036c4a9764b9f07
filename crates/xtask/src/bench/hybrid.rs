//! `./x bench hybrid`: hybrid search on the examples that keep reading, against
//! random inputs and against concolic search alone, with the same budget, the
//! same seeds, on one core.
//!
//! What must be found is a crash, told apart by its place; for the red-black
//! tree it is branches. Times are the campaign's own, from the names of its files
//! and from `plot_data`. Beside these, what a snapshot and a path from it take,
//! and how many events a second each half can be driven by: the reason why the
//! fast half is driven and the symbolic one follows.
//!
//! Real programs on a terminal are those subjects whose recipes say how they take keys.
//! They are fetched and built, and so run only if they are named.

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

use super::race::stage;
use super::stats::{median, micros};
use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe, ensure_built};

#[derive(clap::Args)]
pub struct Args {
    /// Examples: testme, rbtree, editor, server, all of these if none is named; or a
    /// subject that takes keys: vim
    programs: Vec<String>,
    /// Seeds of the random numbers, from 1 on
    #[arg(long, default_value_t = 2)]
    seeds: u64,
    /// Seconds for each campaign
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Five seeds and 60 seconds, as the bars ask
    #[arg(long)]
    full: bool,
    /// Leave out the comparison with other strategies
    #[arg(long)]
    alone: bool,
}

/// An example, how it is built, and what it shows.
struct Example {
    name: &'static str,
    sources: &'static [&'static str],
    flags: &'static [&'static str],
    /// Crashes that are there to be found; 0: branches count.
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

/// What hybrid search is held against. Random inputs are long, so that they come
/// as deep as they can; a search of all paths begins with a short one.
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
    /// Branches after each second.
    curve: Vec<(f64, u64)>,
    crashes: usize,
    /// When the last crash that counts was found.
    found_after: Option<f64>,
    events: u64,
    searches: u64,
    found: u64,
}

#[derive(Debug, Serialize)]
struct Speed {
    program: String,
    /// Random events a second in each half, without labels.
    fast_events: f64,
    symbolic_events: f64,
    /// Microseconds for a path from a snapshot, in each half, and for a new
    /// snapshot with one path of the fast half.
    fast_path: f64,
    symbolic_path: f64,
    snapshot: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    rows: Vec<Row>,
    speed: Vec<Speed>,
}

/// The same where every run is a live one, and a key takes as long as a thousand events
/// elsewhere.
const RIVALS_ON_TERMINALS: [(&str, &[&str]); 2] =
    [("random", &["--len", "256"]), ("generational", &["--len", "64"])];

/// Something to run campaigns on.
struct Subject {
    name: String,
    command: Vec<OsString>,
    flags: Vec<&'static str>,
    crashes: usize,
}

pub fn run(args: &Args) -> Result<bool> {
    let (seeds, seconds) = if args.full { (5, 60) } else { (args.seeds, args.seconds) };
    let recipes: Vec<_> = Recipe::all()?.into_iter().filter(Recipe::has_keys).collect();
    let known =
        |n: &String| EXAMPLES.iter().any(|e| e.name == n) || recipes.iter().any(|r| r.name == *n);
    if let Some(name) = args.programs.iter().find(|n| !known(n)) {
        bail!("there is no example or subject {name} that keeps reading");
    }
    let mut report = Report { rows: Vec::new(), speed: Vec::new() };
    for example in EXAMPLES
        .iter()
        .filter(|e| args.programs.is_empty() || args.programs.iter().any(|n| n == e.name))
    {
        let program = build(example)?;
        report.speed.push(speed(example, &program)?);
        let subject = Subject {
            name: example.name.into(),
            command: vec![program.into()],
            flags: example.flags.to_vec(),
            crashes: example.crashes,
        };
        campaigns(args, &subject, &RIVALS, (seeds, seconds), &mut report)?;
    }
    for recipe in recipes.iter().filter(|r| args.programs.contains(&r.name)) {
        let subject = on_terminal(recipe)?;
        campaigns(args, &subject, &RIVALS_ON_TERMINALS, (seeds, seconds), &mut report)?;
    }
    println!("{}", table(&report));
    super::keep("hybrid", &report)?;
    Ok(true)
}

fn campaigns(
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
            let row = campaign(subject, (strategy, flags), seed, seconds)?;
            eprintln!("{}", line(&row));
            report.rows.push(row);
        }
    }
    Ok(())
}

fn on_terminal(recipe: &Recipe) -> Result<Subject> {
    ensure_built(recipe, Flavour::Pleach, false)?;
    let said = String::from_utf8(stage(recipe, "keys", Flavour::Pleach)?)?;
    let mut words = said.split_whitespace();
    let program = words.next().context("a recipe that names no program for keys")?;
    let mut command = vec![recipe.here(Flavour::Pleach).join(program).into()];
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
        bail!("compiling {}: {}", example.name, done.complaint());
    }
    Ok(program)
}

fn campaign(
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
        bail!("{} by {strategy}: {}", subject.name, done.complaint());
    }
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let stats: serde_json::Value =
        serde_json::from_str(said.lines().last().context("pleach run said nothing")?)?;
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let crashes = crashes(&out)?;
    let places: BTreeSet<&String> = crashes.iter().map(|(place, _)| place).collect();
    let all = subject.crashes > 0 && places.len() >= subject.crashes;
    Ok(Row {
        program: subject.name.clone(),
        strategy: strategy.into(),
        seed,
        seconds,
        covered: number(&stats["branches"]["covered"]),
        total: number(&stats["branches"]["total"]),
        curve: curve(&out),
        crashes: places.len(),
        found_after: all.then(|| {
            let first = |place: &&String| {
                let times = crashes.iter().filter(|(p, _)| p == *place).map(|(_, time)| *time);
                times.fold(f64::INFINITY, f64::min)
            };
            places.iter().map(first).fold(0.0, f64::max)
        }),
        events: number(&stats["hybrid"]["events"]),
        searches: number(&stats["hybrid"]["searches"]),
        found: number(&stats["hybrid"]["found"]),
    })
}

/// Where each crash happened, by its innermost frame, and after how many seconds.
fn crashes(out: &Path) -> Result<Vec<(String, f64)>> {
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

fn curve(out: &Path) -> Vec<(f64, u64)> {
    let text = fs::read_to_string(out.join("plot_data")).unwrap_or_default();
    let point = |line: &str| {
        let mut fields = line.split(", ");
        let seconds = fields.next()?.parse().ok()?;
        Some((seconds, fields.nth(2)?.parse().ok()?))
    };
    text.lines().filter_map(point).collect()
}

/// How fast a program can be driven and forked.
fn speed(example: &Example, program: &Path) -> Result<Speed> {
    const EVENTS: u64 = 20_000;
    const PATHS: usize = 200;
    let layout = Arc::new(Layout::private(program)?);
    let timeout = Duration::from_secs(10);
    let executor = |half| -> Result<Executor> {
        let mut target = TargetOptions::new(half, vec![program.as_os_str().into()]);
        target.sizes.live = 1 << 20;
        target.scratch = true;
        target.socket = example.flags.contains(&"--socket");
        Ok(Executor::new(layout.clone(), target)?)
    };
    let mut driven = [0.0; 2];
    let mut paths = [0.0; 2];
    let mut snapshot = 0.0;
    for (i, half) in [Half::Fast, Half::Symbolic].into_iter().enumerate() {
        let mut executor = executor(half)?;
        let mut rates = Vec::new();
        for seed in 0..5 {
            executor.live_begin(Events { bytes: &[], most: 1, seed: Some(seed) }, timeout)?;
            let start = Instant::now();
            let step =
                executor.live_go(Events { bytes: &[], most: EVENTS, seed: Some(seed) }, timeout)?;
            let events = match step {
                Step::Paused(stand) => stand.events,
                Step::Ended(_) => executor.live_events()?,
            };
            rates.push(events as f64 / start.elapsed().as_secs_f64());
        }
        driven[i] = rates.iter().copied().fold(0.0, f64::max);
        executor.live_begin(Events { bytes: &[], most: 500, seed: Some(9) }, timeout)?;
        if executor.live_depth() == 0 {
            executor.live_begin(Events { bytes: &[], most: 1, seed: Some(9) }, timeout)?;
        }
        let mut times = Vec::new();
        for _ in 0..PATHS {
            let start = Instant::now();
            let outcome = executor.live_explore(&[0; 32], 8, timeout)?;
            times.push(micros(start.elapsed()));
            if !matches!(outcome.end, End::Exit(_)) {
                bail!("{}: a path ended by {:?}", example.name, outcome.end);
            }
        }
        paths[i] = median(&times);
        if half == Half::Fast {
            let mut times = Vec::new();
            for _ in 0..PATHS {
                let start = Instant::now();
                executor.live_fork(Events { bytes: &[], most: 0, seed: None }, timeout)?;
                executor.live_explore(&[0; 32], 8, timeout)?;
                times.push(micros(start.elapsed()));
                executor.live_drop();
            }
            snapshot = median(&times);
        }
    }
    Ok(Speed {
        program: example.name.into(),
        fast_events: driven[0],
        symbolic_events: driven[1],
        fast_path: paths[0],
        symbolic_path: paths[1],
        snapshot,
    })
}

fn line(row: &Row) -> String {
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
    text.push_str(&reached(report));
    text
}

/// When hybrid search had what its best rival had in the end.
fn reached(report: &Report) -> String {
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
            "\n{}, seed {}: the best rival's {best} branches {when}",
            row.program, row.seed
        ));
    }
    text
}
