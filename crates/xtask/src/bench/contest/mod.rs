//! Fuzzers in a contest: each runs on each program for the same time, from the same seed
//! input, with several seeds of its random numbers.
//!
//! As many contestants run side by side as there are cores, usually two, one on each core.
//! Their places change with the seed, so that no contestant always has the better core. The
//! programs are built before the contestants start, and the branches are counted after
//! they have ended.

pub mod afl;
mod gcov;
pub mod program;
pub mod record;
mod table;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::machine::{self, Machine};
use crate::project;
use crate::subjects::Flavour;
use program::Program;
use record::{Key, Record, Records};

/// The options that all contests have.
#[derive(Clone, Debug, clap::Args)]
pub struct ContestArgs {
    /// Number of seeds of the random numbers; the first is 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// Only these contestants
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub only: Vec<String>,
    /// The cores to use: as many contestants run side by side [default: 0,1]
    #[arg(long, value_delimiter = ',', value_name = "N,...")]
    pub cores: Vec<u32>,
    /// Also use results of other commits
    #[arg(long)]
    pub any_commit: bool,
    /// Start anew, and keep the old results in a file that ends in .old
    #[arg(long)]
    pub fresh: bool,
    /// Print the results so far, and run nothing
    #[arg(long)]
    pub show: bool,
}

impl ContestArgs {
    /// The cores to use.
    pub fn cores(&self) -> Result<Vec<u32>> {
        if !self.cores.is_empty() {
            return Ok(self.cores.clone());
        }
        default_cores()
    }

    /// The contestants that were chosen with `--only`.
    pub fn choose(&self, contestants: Vec<Contestant>) -> Result<Vec<Contestant>> {
        let known: Vec<&str> = contestants.iter().map(|c| c.name.as_str()).collect();
        if let Some(name) = self.only.iter().find(|n| !known.contains(&n.as_str())) {
            bail!("there is no contestant {name}; there are {}", known.join(", "));
        }
        let is_chosen = |c: &Contestant| self.only.is_empty() || self.only.contains(&c.name);
        Ok(contestants.into_iter().filter(is_chosen).collect())
    }
}

/// The first two cores, if there are two.
pub fn default_cores() -> Result<Vec<u32>> {
    let count = std::thread::available_parallelism()?.get();
    Ok((0..count.min(2) as u32).collect())
}

/// A fuzzer and how it is run.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// Its name in the table, the file and `--only`.
    pub name: String,
    pub tool: Tool,
    /// The options that distinguish it, for the file.
    pub knobs: String,
    /// The same as flags of `pleach run`.
    pub flags: Vec<String>,
    /// True if it starts from sentences of the grammar instead of the seed.
    pub sentences: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Pleach,
    Afl,
    /// AFL++ with comparison logging (`-c`).
    AflCmplog,
}

impl Contestant {
    /// `pleach run` with these flags, which are also its knobs.
    pub fn pleach(name: &str, flags: &[&str]) -> Contestant {
        Contestant {
            name: name.into(),
            tool: Tool::Pleach,
            knobs: flags.join(" "),
            flags: flags.iter().map(|f| f.to_string()).collect(),
            sentences: false,
        }
    }

    /// AFL++ with its defaults.
    pub fn afl() -> Contestant {
        let (tool, flags) = (Tool::Afl, Vec::new());
        Contestant { name: "afl".into(), tool, knobs: String::new(), flags, sentences: false }
    }

    /// AFL++ with comparison logging.
    pub fn cmplog() -> Contestant {
        let (tool, flags) = (Tool::AflCmplog, Vec::new());
        Contestant { name: "cmplog".into(), tool, knobs: "-c".into(), flags, sentences: false }
    }
}

/// A program and the contestants that run on it.
pub struct Entry<'a> {
    pub program: &'a Program,
    pub contestants: Vec<Contestant>,
    /// Writes the sentences for a seed of the random numbers to an empty directory.
    pub write_sentences: &'a dyn Fn(u64, &Path) -> Result<()>,
}

/// One run that is missing.
struct Job<'a> {
    entry: &'a Entry<'a>,
    contestant: &'a Contestant,
    key: Key,
    /// Its place: contestants take turns on the cores.
    place: u64,
}

/// Runs what is missing in the file `target/bench/NAME.jsonl`, and prints the tables.
pub fn hold(name: &str, entries: &[Entry], seconds: u64, args: &ContestArgs) -> Result<()> {
    let commit = machine::commit()?;
    let path = project::target("bench").join(format!("{name}.jsonl"));
    let only = (!args.any_commit).then(|| commit.clone());
    let mut records = Records::open(path, only, args.fresh)?;
    let cores = args.cores()?;
    let mut jobs = Vec::new();
    for entry in entries {
        for seed in 1..=args.seeds {
            for (at, contestant) in entry.contestants.iter().enumerate() {
                let key = key_of(entry, contestant, seed, seconds);
                jobs.push(Job { entry, contestant, key, place: at as u64 + seed });
            }
        }
    }
    let (done, missing): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|j| records.has(&j.key));
    if !args.show {
        let batches = missing.len().div_ceil(cores.len());
        eprintln!(
            "{} runs are recorded, {} are missing: about {} minutes",
            done.len(),
            missing.len(),
            (batches as u64 * seconds).div_ceil(60)
        );
        for batch in missing.chunks(cores.len()) {
            run_batch(batch, &cores, &commit, &mut |record, _| records.add(record))?;
        }
    }
    println!("{}", table::render(entries, args.seeds, seconds, &records));
    println!("All numbers are in {}.", records.path().display());
    Ok(())
}

/// Runs all contestants of one entry once, side by side. `done` gets the record of each,
/// and the directory of its campaign, which is removed afterwards.
pub fn run_once(
    entry: &Entry,
    seconds: u64,
    cores: &[u32],
    done: &mut dyn FnMut(Record, &Path) -> Result<()>,
) -> Result<()> {
    let seed = 1;
    let jobs: Vec<Job> = entry
        .contestants
        .iter()
        .enumerate()
        .map(|(at, contestant)| Job {
            entry,
            contestant,
            key: key_of(entry, contestant, seed, seconds),
            place: at as u64,
        })
        .collect();
    let commit = machine::commit()?;
    for batch in jobs.chunks(cores.len()) {
        run_batch(batch, cores, &commit, done)?;
    }
    Ok(())
}

fn key_of(entry: &Entry, contestant: &Contestant, seed: u64, seconds: u64) -> Key {
    Key {
        program: entry.program.name.clone(),
        contestant: contestant.name.clone(),
        knobs: contestant.knobs.clone(),
        seed,
        seconds,
    }
}

impl Job<'_> {
    fn describe(&self) -> String {
        format!("{} on {}, seed {}", self.key.contestant, self.key.program, self.key.seed)
    }

    /// Builds what it needs.
    fn build(&self) -> Result<()> {
        let flavours: &[Flavour] = match self.contestant.tool {
            Tool::Pleach => &[Flavour::Pleach],
            Tool::Afl => &[Flavour::Afl],
            Tool::AflCmplog => &[Flavour::Afl, Flavour::AflCmplog],
        };
        for flavour in flavours {
            self.entry.program.build(*flavour)?;
        }
        Ok(())
    }

    /// Writes the inputs to start from.
    fn write_seeds(&self, to: &Path) -> Result<()> {
        fs::create_dir(to)?;
        match self.contestant.sentences {
            true => (self.entry.write_sentences)(self.key.seed, to),
            false => self.entry.program.write_seeds(to),
        }
    }

    fn start(&self, dir: &Path, core: u32) -> Result<Child> {
        let (seeds, out) = (dir.join("seeds"), dir.join("out"));
        let program = self.entry.program;
        let Key { seconds, seed, .. } = self.key;
        if self.contestant.tool != Tool::Pleach {
            let cmplog = match self.contestant.tool {
                Tool::AflCmplog => Some(program.build(Flavour::AflCmplog)?),
                _ => None,
            };
            let built = program.build(Flavour::Afl)?;
            return afl::start(&built, cmplog.as_ref(), &seeds, &out, (seconds, seed, core));
        }
        let built = program.build(Flavour::Pleach)?;
        let mut command = on_core(core, &project::tool("pleach")?);
        command.args(["run", "--json", "-V", &seconds.to_string(), "--seed", &seed.to_string()]);
        command.args(&self.contestant.flags).arg("-i").arg(&seeds).arg("-o").arg(&out);
        command.arg("--").args(&built.command).current_dir(&built.directory);
        command.stdin(Stdio::null()).stdout(File::create(dir.join("stdout"))?);
        command.stderr(File::create(dir.join("stderr"))?);
        command.spawn().context("pleach run")
    }

    /// Reads what the contestant reports, and counts the branches of its queue.
    fn finish(&self, dir: &Path) -> Result<Finished> {
        let out = dir.join("out");
        let (begin, total) = self.entry.program.count_seed_branches()?;
        let mut done = Finished { total, begin, ..Finished::default() };
        let queue = match self.contestant.tool {
            Tool::Pleach => {
                let stdout = fs::read_to_string(dir.join("stdout"))?;
                let Some(stats) = stdout.lines().last() else {
                    bail!("pleach run: {}", fs::read_to_string(dir.join("stderr"))?.trim());
                };
                done.stats =
                    serde_json::from_str(stats).with_context(|| format!("pleach run: {stats}"))?;
                done.runs = done.stats["runs"].as_u64().unwrap_or(0);
                done.crashes = done.stats["crashes"].as_u64().unwrap_or(0);
                out.join("queue")
            }
            Tool::Afl | Tool::AflCmplog => {
                afl::check_run_time(&out, self.key.seconds)?;
                done.runs = afl::read_stat(&out, "execs_done")?;
                done.crashes = afl::read_stat(&out, "saved_crashes")?;
                out.join("default/queue")
            }
        };
        done.branches = self.entry.program.count_branches(&queue)?.0;
        Ok(done)
    }
}

#[derive(Default)]
struct Finished {
    total: u64,
    begin: u64,
    branches: u64,
    runs: u64,
    crashes: u64,
    stats: Value,
}

/// Runs some contestants side by side, and calls `record` for each that ended well, with
/// the directory of its campaign.
fn run_batch(
    jobs: &[Job],
    cores: &[u32],
    commit: &str,
    record: &mut dyn FnMut(Record, &Path) -> Result<()>,
) -> Result<()> {
    let mut dirs = Vec::new();
    for job in jobs {
        let dir = tempfile::tempdir()?;
        job.build()?;
        job.write_seeds(&dir.path().join("seeds"))?;
        dirs.push(dir);
    }
    let (date, load, machine) = (machine::now()?, machine::load(), Machine::here()?);
    // The first job of a batch gets the core of its place, and the others those after it.
    let first = jobs.first().map_or(0, |job| job.place) as usize;
    let core_of = |at: usize| cores[(first + at) % cores.len()];
    let names: Vec<String> = jobs.iter().map(Job::describe).collect();
    eprintln!("{date}: {}", names.join("; "));
    let mut children = Vec::new();
    for (at, (job, dir)) in jobs.iter().zip(&dirs).enumerate() {
        children.push(job.start(dir.path(), core_of(at)));
    }
    let mut problems = Vec::new();
    let ended: Vec<Option<Ended>> = children
        .into_iter()
        .zip(jobs)
        .map(|(child, job)| {
            let limit = Duration::from_secs(job.key.seconds + 120);
            let ended = child.and_then(|child| wait(child, limit));
            problems.extend(ended.as_ref().err().map(|e| format!("{}: {e:#}", job.describe())));
            ended.ok()
        })
        .collect();
    for (at, ((job, dir), ended)) in jobs.iter().zip(&dirs).zip(ended).enumerate() {
        let Some(Ended { memory_mib, seconds: elapsed }) = ended else { continue };
        let others = names.iter().enumerate().filter(|(other, _)| *other != at);
        let beside = others.map(|(_, name)| name.clone()).collect();
        match job.finish(dir.path()) {
            Ok(done) => {
                eprintln!("{}: {} of {} branches", job.describe(), done.branches, done.total);
                let Finished { total, begin, branches, runs, crashes, stats } = done;
                let record_one = Record {
                    key: job.key.clone(),
                    total,
                    begin,
                    branches,
                    runs,
                    crashes,
                    stats,
                    commit: commit.into(),
                    machine: machine.clone(),
                    date: date.clone(),
                    core: core_of(at),
                    beside,
                    load,
                    memory_mib,
                    elapsed,
                };
                record(record_one, &dir.path().join("out"))?;
            }
            Err(problem) => problems.push(format!("{}: {problem:#}", job.describe())),
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => bail!("{}", problems.join("\n")),
    }
}

/// A program that runs on one core only.
pub fn on_core(core: u32, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.arg("-c").arg(core.to_string()).arg(program);
    command
}

/// The resources that a contestant used.
struct Ended {
    /// The largest memory of its own process.
    memory_mib: u64,
    seconds: f64,
}

fn wait(mut child: Child, limit: Duration) -> Result<Ended> {
    let start = Instant::now();
    let mut memory_mib = 0;
    while child.try_wait()?.is_none() {
        memory_mib = memory_mib.max(peak_memory_mib(child.id()));
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("killed, because it did not end within {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(Ended { memory_mib, seconds: start.elapsed().as_secs_f64() })
}

/// The largest resident memory of a process so far; 0 if it has just ended.
fn peak_memory_mib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}
