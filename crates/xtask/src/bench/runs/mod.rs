//! `./x bench runs`: how many runs a second Pleach's fast half makes, compared with AFL++'s
//! build and with libFuzzer, on one recorded list of mutants and on one core.
//!
//! Pleach runs the list through its executor, AFL++ through its fork server (`forkserver`).
//! Both put each input in place, run it under a time limit, look for new coverage, and clear
//! the coverage. A libFuzzer target runs in one process for many inputs in all three. In
//! libFuzzer itself that is the process of the fuzzer, and the list takes the place of its
//! mutants (`tools/fuzz-targets/replay.c`).
//!
//! All have real-time priority if the system permits it, so that other load on the core does not
//! count. In each round all take turns for a few seconds. The median of the ratios of the rounds
//! counts.

mod fast;
mod forkserver;
mod inputs;
pub mod programs;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use serde::Serialize;

use super::contest::program::Built;
use super::machine::{self, Machine};
use super::stats::median;
use crate::process;
use crate::subjects::Flavour;
use fast::FastHalf;
use forkserver::ForkServer;
use programs::{Mode, Runnable};

#[derive(clap::Args)]
pub struct Args {
    /// Programs: calc, examples (cue, simplecalc, tinyjs), subjects (see `./x subjects
    /// list`), and libFuzzer targets (see tools/fuzz-targets) [default: calc, the examples,
    /// three subjects, and the targets]
    programs: Vec<String>,
    /// Number of rounds; the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of each turn
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// The core that everything runs on
    #[arg(long, default_value_t = 0)]
    core: usize,
    /// Share the core with other processes, even if the system permits real-time priority
    #[arg(long)]
    time_sharing: bool,
    /// Record the inputs anew
    #[arg(long)]
    fresh: bool,
}

/// The number of mutants that are made for a program. Some are dropped.
const MUTANTS: usize = 2000;
/// Mutants that run longer in either build are dropped: they would only measure the limit.
const SLOWEST: Duration = Duration::from_millis(100);
/// The time limit of a run when the time is measured.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The part of AFL++'s and of libFuzzer's runs a second that Pleach should reach.
const AFL_BAR: f64 = 1.0;
const LIBFUZZER_BAR: f64 = 0.5;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Well,
    Crash,
    Timeout,
}

#[derive(Debug, Serialize)]
struct Report {
    commit: String,
    machine: Machine,
    date: String,
    /// False if other processes on the core had to wait.
    time_sharing: bool,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    program: String,
    persistent: bool,
    inputs: usize,
    crashing: usize,
    /// Inputs that only one of both builds crashes on.
    disagreements: usize,
    counters: usize,
    afl_map: usize,
    /// Runs a second in each round.
    pleach: Vec<f64>,
    afl: Vec<f64>,
    libfuzzer: Vec<f64>,
}

pub fn run(args: &Args) -> Result<bool> {
    let mut rows = Vec::new();
    let chosen = Runnable::choose(&args.programs)?;
    // Builds may use all cores.
    for program in &chosen {
        eprintln!("{}: building", program.name);
        program.build(Flavour::Pleach)?;
        program.build(Flavour::Afl)?;
        if program.mode == Mode::Persistent {
            program.build(Flavour::LibFuzzer)?;
        }
    }
    let mut core = CpuSet::new();
    core.set(args.core).context("--core")?;
    sched_setaffinity(Pid::from_raw(0), &core).context("--core")?;
    let time_sharing = args.time_sharing || !take_precedence();
    if time_sharing {
        eprintln!("other processes on core {} take part of the time", args.core);
    }
    for program in &chosen {
        let row = measure(program, args).with_context(|| program.name.clone())?;
        eprintln!("{}", row.summary());
        rows.push(row);
    }
    println!("{}", table(&rows));
    let (commit, date) = (machine::commit()?, machine::now()?);
    let machine = Machine::here()?;
    super::write_numbers("runs", &Report { commit, machine, date, time_sharing, rows })?;
    Ok(true)
}

/// Gives this process and all that it starts real-time priority, so that other processes on the
/// core wait. Otherwise, on a busy machine, the scheduler decides in each run how long it takes:
/// ratios of single rounds were between 0.3 and 2. False if the system does not permit it.
fn take_precedence() -> bool {
    let lowest = libc::sched_param { sched_priority: 1 };
    // Safety: only reads the parameter.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &lowest) == 0 }
}

fn measure(program: &Runnable, args: &Args) -> Result<Row> {
    let (pleach, afl) = (program.build(Flavour::Pleach)?, program.build(Flavour::Afl)?);
    let path = inputs::path_of(&program.name);
    let list = match inputs::read(&path)?.filter(|_| !args.fresh) {
        Some(list) => list,
        None => {
            let list = record(program, &pleach, &afl)?;
            inputs::write(&path, &list)?;
            list
        }
    };
    let mut fast = FastHalf::start(&pleach, TIMEOUT)?;
    let mut server = ForkServer::start(&afl, TIMEOUT)?;
    // The first pass warms up: it covers what is new.
    let (ours, theirs) = (ends_of_fast(&mut fast, &list)?, ends_of_server(&mut server, &list)?);
    let is_persistent = program.mode == Mode::Persistent;
    if fast.is_persistent() != is_persistent || server.is_persistent() != is_persistent {
        bail!("one of the builds does not run as it should: by fork, or in persistent mode");
    }
    let crashing = theirs.iter().filter(|e| **e == Ended::Crash).count();
    let disagreements = ours.iter().zip(&theirs).filter(|(a, b)| a != b).count();
    let mut row = Row {
        program: program.name.clone(),
        persistent: is_persistent,
        inputs: list.len(),
        crashing,
        disagreements,
        counters: fast.counters(),
        afl_map: server.map_size(),
        pleach: Vec::new(),
        afl: Vec::new(),
        libfuzzer: Vec::new(),
    };
    let libfuzzer = match program.mode {
        Mode::Persistent => Some(program.build(Flavour::LibFuzzer)?),
        Mode::Fork => None,
    };
    for round in 0..args.rounds {
        let mut ours =
            || pace(args.seconds, list.len(), &mut || fast.run_all(&list, &mut |_, _, _| {}));
        let mut theirs = || {
            pace(args.seconds, list.len(), &mut || {
                list.iter().try_for_each(|input| server.run(input).map(drop))
            })
        };
        // Who is first changes from round to round.
        if round % 2 == 0 {
            row.pleach.push(ours()?);
            row.afl.push(theirs()?);
        } else {
            row.afl.push(theirs()?);
            row.pleach.push(ours()?);
        }
        if let Some(built) = &libfuzzer {
            row.libfuzzer.push(pace_of_libfuzzer(built, &path, args.seconds)?);
        }
    }
    Ok(row)
}

/// Makes the list of inputs. Those that are slow in either build are dropped, and for a
/// libFuzzer target also those that crash: they would end libFuzzer.
fn record(program: &Runnable, pleach: &Built, afl: &Built) -> Result<Vec<Vec<u8>>> {
    let (seeds, _kept) = program.seeds()?;
    let list = inputs::make(pleach, &seeds, MUTANTS)?;
    let ours = ends_of_fast(&mut FastHalf::start(pleach, SLOWEST)?, &list)?;
    let theirs = ends_of_server(&mut ForkServer::start(afl, SLOWEST)?, &list)?;
    let is_usable = |end: Ended| match end {
        Ended::Well => true,
        Ended::Crash => program.mode == Mode::Fork,
        Ended::Timeout => false,
    };
    let both = ours.into_iter().zip(theirs);
    let usable = list.into_iter().zip(both).filter(|(_, (a, b))| is_usable(*a) && is_usable(*b));
    let usable: Vec<Vec<u8>> = usable.map(|(input, _)| input).collect();
    eprintln!("{}: {} of {MUTANTS} mutants are usable", program.name, usable.len());
    if usable.len() < MUTANTS / 10 {
        bail!("too few mutants are usable");
    }
    Ok(usable)
}

fn ends_of_fast(fast: &mut FastHalf, list: &[Vec<u8>]) -> Result<Vec<Ended>> {
    let mut ends = Vec::new();
    fast.run_all(list, &mut |_, ended, _| ends.push(ended))?;
    Ok(ends)
}

fn ends_of_server(server: &mut ForkServer, list: &[Vec<u8>]) -> Result<Vec<Ended>> {
    list.iter().map(|input| server.run(input).map(|(ended, _)| ended)).collect()
}

/// Runs the list again and again for some seconds. Returns the runs a second.
fn pace(seconds: f64, inputs: usize, pass: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let (start, mut runs) = (Instant::now(), 0);
    while start.elapsed().as_secs_f64() < seconds {
        pass()?;
        runs += inputs;
    }
    Ok(runs as f64 / start.elapsed().as_secs_f64())
}

/// The runs a second of libFuzzer in its own process.
fn pace_of_libfuzzer(built: &Built, list: &std::path::Path, seconds: f64) -> Result<f64> {
    let dir = tempfile::tempdir()?;
    let mut command = Command::new(built.program()?);
    command.args(["-len_control=0", "-max_len=65536", "-seed=1"]).current_dir(dir.path());
    command.env("REPLAY_INPUTS", list).env("REPLAY_SECONDS", seconds.to_string());
    let limit = Duration::from_secs_f64(seconds + 60.0);
    let done = process::succeed(command.stdin(Stdio::null()), limit, "libFuzzer")?;
    let text = String::from_utf8_lossy(&done.stdout);
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(runs)), Some(Ok(seconds))) => Ok(runs / seconds),
        _ => bail!("libFuzzer printed {text:?}"),
    }
}

impl Row {
    /// The median of the rounds' ratios of Pleach to another.
    fn ratio(&self, other: &[f64]) -> Option<f64> {
        let ratios: Vec<f64> = self.pleach.iter().zip(other).map(|(a, b)| a / b).collect();
        (!ratios.is_empty()).then(|| median(&ratios))
    }

    fn summary(&self) -> String {
        let ratio = self.ratio(&self.afl).unwrap_or(f64::NAN);
        let (ours, theirs) = (median(&self.pleach), median(&self.afl));
        format!("{}: {ours:.0} runs/s, AFL++ {theirs:.0}: {ratio:.2}×", self.program)
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| program | mode | inputs | crash | counters | AFL++ map | Pleach, runs/s | AFL++ | ratio | \
         libFuzzer | ratio |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let ratio = |other: &[f64], bar: f64| match row.ratio(other) {
            Some(ratio) if ratio < bar => format!("{ratio:.2}, **not {bar:.1}**"),
            Some(ratio) => format!("{ratio:.2}"),
            None => "–".into(),
        };
        let pace = |paces: &[f64]| match paces {
            [] => "–".into(),
            paces => format!("{:.0}", median(paces)),
        };
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            row.program,
            if row.persistent { "persistent" } else { "fork" },
            row.inputs,
            row.crashing,
            row.counters,
            row.afl_map,
            pace(&row.pleach),
            pace(&row.afl),
            ratio(&row.afl, AFL_BAR),
            pace(&row.libfuzzer),
            ratio(&row.libfuzzer, LIBFUZZER_BAR),
        );
    }
    for row in rows.iter().filter(|row| row.disagreements > 0) {
        let (program, count) = (&row.program, row.disagreements);
        text += &format!("\n{program}: {count} inputs end differently in the two builds.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_the_ratios_counts_and_a_missed_bar_is_named() {
        let row = Row {
            program: "x".into(),
            persistent: true,
            inputs: 10,
            crashing: 0,
            disagreements: 2,
            counters: 100,
            afl_map: 64,
            pleach: vec![90.0, 100.0, 300.0],
            afl: vec![100.0, 100.0, 100.0],
            libfuzzer: vec![300.0, 400.0, 600.0],
        };
        assert_eq!(row.ratio(&row.afl), Some(1.0));
        assert_eq!(row.ratio(&[]), None);
        let text = table(&[row]);
        assert!(text.contains("| 100 | 100 | 1.00 | 400 | 0.30, **not 0.5** |"), "{text}");
        assert!(text.contains("x: 2 inputs end differently"), "{text}");
    }
}
