//! `./x bench toward`: how long `--toward` takes to get to places that `auto` finds late.
//!
//! For each program:
//! 1. *find*: a campaign of `auto` notes when it reaches each line. Places are lines that it
//!    reaches after `--short` seconds and before `--long` seconds, spread evenly over the time;
//!    of lines that were reached by the same input, only one.
//! 2. *auto*: another campaign of `auto`, with another seed of the random numbers, shows when it
//!    reaches these places. The first one would be unfair to `auto`, because it chose them.
//! 3. *toward*: one campaign for each place, with a third seed.
//!
//! Every result is a line of `target/bench/toward.jsonl`, and what is there is not run again.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use pleach_exec::{Image, is_system_file};
use serde::{Deserialize, Serialize};

use super::contest::default_cores;
use super::contest::on_core;
use super::contest::program::Program;
use super::machine;
use super::stats::median;
use crate::project;
use crate::subjects::Flavour;

#[derive(clap::Args)]
pub struct Args {
    /// Programs (see `./x subjects list`)
    #[arg(default_values = ["bc", "jq", "lua"])]
    programs: Vec<String>,
    /// Number of places of each program
    #[arg(long, default_value_t = 20)]
    places: usize,
    /// Seconds for each place
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// A place is not reached in this many seconds of `auto`
    #[arg(long, default_value_t = 60)]
    short: u64,
    /// But in this many
    #[arg(long, default_value_t = 600)]
    long: u64,
    /// Also use results of other commits
    #[arg(long)]
    any_commit: bool,
    /// Search with another strategy instead of `toward`, for comparison
    #[arg(long, default_value = "toward")]
    strategy: String,
    /// The core to use
    #[arg(long)]
    core: Option<u32>,
}

/// Seeds of the random numbers.
const FIND_SEED: u64 = 1;
const AUTO_SEED: u64 = 2;
const TOWARD_SEED: u64 = 3;

/// When a campaign reached some places.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    program: String,
    strategy: String,
    seed: u64,
    seconds: u64,
    commit: String,
    date: String,
    load: f64,
    /// By place, seconds; `None` if it was not reached.
    places: BTreeMap<String, Option<f64>>,
}

struct Bench<'a> {
    args: &'a Args,
    path: PathBuf,
    records: Vec<Record>,
    commit: String,
    core: u32,
}

pub fn run(args: &Args) -> Result<bool> {
    let path = project::target("bench").join("toward.jsonl");
    fs::create_dir_all(project::target("bench"))?;
    let text = fs::read_to_string(&path).unwrap_or_default();
    let records = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let core = args.core.or(default_cores()?.first().copied()).unwrap_or(0);
    let mut bench = Bench { args, path, records, commit: machine::commit()?, core };
    let programs = Program::all()?;
    let mut rows = Vec::new();
    for name in &args.programs {
        let Some(program) = programs.iter().find(|p| p.name == *name) else {
            bail!("there is no program {name}");
        };
        rows.push(bench.measure(program)?);
    }
    println!(
        "| program | places | reached in {} s | median time | `auto`, median time |",
        args.seconds
    );
    println!("|---|---|---|---|---|");
    rows.iter().for_each(|row| println!("{row}"));
    println!("\nAll numbers are in {}.", bench.path.display());
    Ok(true)
}

impl Bench<'_> {
    fn measure(&mut self, program: &Program) -> Result<String> {
        let found = self.campaign(program, "auto", FIND_SEED, self.args.long, &lines(program)?)?;
        let places = choose(&found, self.args.short as f64, self.args.places);
        if places.is_empty() {
            return Ok(format!("| {} | 0 | | | |", program.name));
        }
        let auto = self.campaign(program, "auto", AUTO_SEED, self.args.long, &places)?;
        let (mut near, mut far) = (Vec::new(), Vec::new());
        let strategy = self.args.strategy.clone();
        for place in &places {
            let one = [place.clone()];
            let seconds = self.args.seconds;
            let reached = self.campaign(program, &strategy, TOWARD_SEED, seconds, &one)?;
            near.push(reached.get(place).copied().flatten());
            far.push(auto.get(place).copied().flatten());
            let show = |time: Option<&Option<f64>>| match time.copied().flatten() {
                Some(time) => format!("{time:.1} s"),
                None => "not reached".into(),
            };
            let (toward, auto) = (show(near.last()), show(far.last()));
            eprintln!("{}: {place}: {toward} (auto: {auto})", program.name);
        }
        let reached = near.iter().flatten().count();
        let middle = |times: &[Option<f64>], limit: u64| {
            let times: Vec<f64> = times.iter().map(|t| t.unwrap_or(limit as f64)).collect();
            median(&times)
        };
        Ok(format!(
            "| {} | {} | {reached} | {:.1} s | {:.1} s |",
            program.name,
            places.len(),
            middle(&near, self.args.seconds),
            middle(&far, self.args.long),
        ))
    }

    /// When a campaign reaches places; from the file, if it has run.
    fn campaign(
        &mut self,
        program: &Program,
        strategy: &str,
        seed: u64,
        seconds: u64,
        places: &[String],
    ) -> Result<BTreeMap<String, Option<f64>>> {
        let is_it = |r: &&Record| {
            r.program == program.name
                && (&*r.strategy, r.seed, r.seconds) == (strategy, seed, seconds)
                && (self.args.any_commit || r.commit == self.commit)
                && places.iter().all(|place| r.places.contains_key(place))
        };
        if let Some(known) = self.records.iter().find(is_it) {
            return Ok(known.places.clone());
        }
        let (date, load) = (machine::now()?, machine::load());
        let dir = tempfile::tempdir()?;
        let (seeds, out) = (dir.path().join("seeds"), dir.path().join("out"));
        fs::create_dir(&seeds)?;
        program.write_seeds(&seeds)?;
        let built = program.build(Flavour::Pleach)?;
        let mut command = on_core(self.core, &project::tool("pleach")?);
        command.args(["run", "--json", "-s", strategy, "-V", &seconds.to_string()]);
        command.args(["--seed", &seed.to_string()]).arg("-i").arg(&seeds).arg("-o").arg(&out);
        places.iter().for_each(|place| {
            command.args(["--toward", place]);
        });
        command.arg("--").args(&built.command).current_dir(&built.directory);
        let done = command.stdin(Stdio::null()).output().context("pleach run")?;
        let stdout = String::from_utf8_lossy(&done.stdout);
        let Some(line) = stdout.lines().last() else {
            bail!("pleach run: {}", String::from_utf8_lossy(&done.stderr).trim());
        };
        let stats: serde_json::Value = serde_json::from_str(line).context("pleach run")?;
        let reached = stats["places"].as_array().into_iter().flatten().filter_map(|place| {
            let time = place["reached"]["time_ms"].as_u64().map(|ms| ms as f64 / 1000.0);
            Some((place["place"].as_str()?.to_string(), time))
        });
        let record = Record {
            program: program.name.clone(),
            strategy: strategy.into(),
            seed,
            seconds,
            commit: self.commit.clone(),
            date,
            load,
            places: reached.collect(),
        };
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        writeln!(file, "{}", serde_json::to_string(&record)?)?;
        self.records.push(record.clone());
        Ok(record.places)
    }
}

/// All lines of a program that have code, as places.
fn lines(program: &Program) -> Result<Vec<String>> {
    let image = Image::open(&program.build(Flavour::Pleach)?.program()?)?;
    let mut lines = Vec::new();
    for function in image.functions.iter().filter(|f| !is_system_file(&f.file)) {
        for place in function.places.iter().flatten() {
            let file = PathBuf::from(&function.directory).join(function.file_of_place(place));
            lines.push(format!("{}:{}", file.display(), place.line));
        }
    }
    lines.sort();
    lines.dedup();
    Ok(lines)
}

/// Some of the places that were reached after a time, spread evenly over the later time.
fn choose(found: &BTreeMap<String, Option<f64>>, after: f64, count: usize) -> Vec<String> {
    let mut late: Vec<(f64, &String)> = found
        .iter()
        .filter_map(|(place, time)| Some((time.filter(|t| *t > after)?, place)))
        .collect();
    late.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
    late.dedup_by_key(|(time, _)| *time);
    let step = late.len() as f64 / count.min(late.len()).max(1) as f64;
    let chosen = (0..count.min(late.len())).map(|i| late[(i as f64 * step) as usize].1.clone());
    chosen.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_places_are_spread_over_the_time() {
        let found = [("a", Some(5.0)), ("b", None), ("c", Some(70.0)), ("d", Some(70.0))];
        let later = (0..8).map(|i| (["e", "f", "g", "h", "i", "j", "k", "l"][i], 100.0 + i as f64));
        let found = found.into_iter().chain(later.map(|(p, t)| (p, Some(t))));
        let found: BTreeMap<String, Option<f64>> = found.map(|(p, t)| (p.into(), t)).collect();
        assert_eq!(choose(&found, 60.0, 3), ["c", "g", "j"]);
        assert_eq!(choose(&found, 60.0, 100).len(), 9);
        assert_eq!(choose(&found, 600.0, 3).len(), 0);
    }
}
