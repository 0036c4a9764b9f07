//! `./x bench fleet`: what a member of a fleet is worth.
//!
//! N members with n runs each are compared with one campaign of N × n runs: the branches that
//! they cover, and the flips that more than one member asked. The members are campaigns of
//! this process in step ([`LocalFleet`]): after `--step` runs each waits for the others, and
//! what they found meanwhile is known to all. So the numbers do not depend on the processors
//! of the machine, and the same seed gives the same numbers.
//!
//! Then, in real time: the processor time that a member spends on the traffic of seven others
//! which is played to it, and the time from a find on one member to its file on another.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use pleach_campaign::findings::Findings;
use pleach_campaign::run::fleet::{
    Fleet, Heard, HeardWhat, LocalFleet, News, Report, Settled, View, owner,
};
use pleach_campaign::run::{
    Campaign, Disk, ExchangeSettings, GrammarSettings, Hybrid, Limits, MAX_HOLE, Map, Settings,
    Setup, Source, Stats, Text, asked_flips, build_of,
};
use pleach_exec::Layout;
use pleach_grammar::analysis::writable;
use pleach_hash::hash_bytes;
use pleach_import as import;
use pleach_search::{BranchId, Program};
use pleach_template::Choices;
use serde::Serialize;

use super::contest::program::files_in;
use super::runs::programs::Runnable;
use super::stats::median;
use crate::process::own_cpu;
use crate::project;
use crate::subjects::Flavour;

#[derive(clap::Args)]
pub struct Args {
    /// Programs: calc, tinyjs (with its grammar), and subjects such as mujs
    /// [default: calc tinyjs mujs]
    programs: Vec<String>,
    /// Runs of all members together
    #[arg(long, default_value_t = 16_000)]
    runs: u64,
    /// Numbers of members
    #[arg(long, value_delimiter = ',', default_values_t = [2, 4, 8, 16])]
    members: Vec<u64>,
    /// How many seeds of the random generator
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Number of runs after which members tell each other what they found
    #[arg(long, default_value_t = 100)]
    step: u64,
    /// Seconds of each measurement in real time; 0 for none
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Row {
    program: String,
    members: u64,
    seed: u64,
    /// Branches of one campaign, and of all members together.
    one: u64,
    all: u64,
    flips: u64,
    /// Flips that more than one member asked.
    asked_twice: u64,
    /// Runs of inputs that others had found.
    imported: u64,
    messages: u64,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Real {
    program: String,
    /// Of a member to which the traffic of seven others is played.
    runs: u64,
    heard: u64,
    /// Processor time of telling and hearing, for a run, and that of a run.
    post_us: f64,
    run_us: f64,
    /// Milliseconds from the file of a find to its file on another member.
    latency_ms: f64,
    slowest_ms: f64,
    finds: usize,
}

#[derive(Debug, Default, Serialize)]
struct Numbers {
    runs: u64,
    step: u64,
    rows: Vec<Row>,
    real: Vec<Real>,
}

pub fn run(args: &Args) -> Result<bool> {
    let mut names = args.programs.clone();
    if names.is_empty() {
        names = ["calc", "tinyjs", "mujs"].map(String::from).into();
    }
    let mut numbers = Numbers { runs: args.runs, step: args.step, ..Numbers::default() };
    for program in &Runnable::choose(&names)? {
        let subject = Subject::new(program).with_context(|| program.name.clone())?;
        for seed in 1..=args.seeds {
            let one = subject.search_alone(seed, args.runs)?;
            for &members in &args.members {
                let row = subject.measure(members, seed, args, one)?;
                eprintln!("{row:?}");
                numbers.rows.push(row);
            }
        }
        if args.seconds > 0.0 {
            numbers.real.push(subject.measure_time(args)?);
        }
    }
    println!("{}", table(&numbers));
    super::write_numbers("fleet", &numbers)?;
    Ok(true)
}

/// A program, and what its campaigns begin with.
struct Subject {
    name: String,
    directory: PathBuf,
    layout: Arc<Layout>,
    settings: Settings,
    grammar: Option<Source>,
    seeds: Vec<Vec<u8>>,
    program: Program,
}

impl Subject {
    fn new(program: &Runnable) -> Result<Subject> {
        let built = program.build(Flavour::Pleach)?;
        let executable = built.program()?;
        let (dir, _kept) = program.seeds()?;
        let mut seeds: Vec<Vec<u8>> =
            files_in(&dir)?.iter().map(fs::read).collect::<std::io::Result<_>>()?;
        let mut grammar = None;
        if program.name == "tinyjs" {
            let file = project::root().join("examples/tinyjs/tinyjs.g4");
            let loaded = import::load(&file, None).map_err(|error| anyhow::anyhow!("{error}"))?;
            let loaded = writable(&loaded).map(Arc::new).context("the grammar has no words")?;
            let source = Source { grammar: loaded, choices: Choices::default() };
            seeds.extend(source.covering()?);
            grammar = Some((file, source));
        }
        let mut words: Vec<Text> = built.command.iter().map(|w| Text::new(OsStr::new(w))).collect();
        words[0] = Text::new(executable.as_os_str());
        let settings = Settings {
            version: env!("CARGO_PKG_VERSION").into(),
            program: words,
            build: build_of(&executable)?,
            strategy: "auto".into(),
            seed: 0,
            timeout_ms: 1000,
            // The time that runs take must not decide.
            adaptive: false,
            memory_mib: 2048,
            max_memory: 1 << 30,
            len: 16,
            max_len: 64 << 10,
            calls_len: None,
            endless_len: None,
            depth: u32::MAX,
            flip_share_percent: 100,
            socket: false,
            tty: None,
            extension: Text::default(),
            cwd: None,
            grammar: grammar.as_ref().map(|(file, _)| grammar_settings(file)),
            hybrid: Hybrid::default(),
            exchange: ExchangeSettings::default(),
            dictionary: None,
            toward: Vec::new(),
        };
        let layout = Arc::new(Layout::private(&executable)?);
        Ok(Subject {
            name: program.name.clone(),
            directory: built.directory,
            program: Map::new(layout.clone()).program,
            layout,
            settings,
            grammar: grammar.map(|(_, source)| source),
            seeds,
        })
    }

    /// A campaign of this many runs, or this long. Only the first member has the seeds.
    fn campaign(&self, out: &Path, seed: u64, limits: Limits, is_first: bool) -> Result<Campaign> {
        let setup = Setup {
            layout: self.layout.clone(),
            settings: Settings { seed, ..self.settings.clone() },
            limits,
            jobs: 1,
            grammar: self.grammar.clone(),
            workdir: None,
            words: Vec::new(),
            notes: Vec::new(),
        };
        let seeds = if is_first { self.seeds.clone() } else { Vec::new() };
        Ok(Campaign::begin(setup, seeds, out, Disk::default())?)
    }

    /// The branches that one campaign covers.
    fn search_alone(&self, seed: u64, runs: u64) -> Result<u64> {
        std::env::set_current_dir(&self.directory)?;
        let dir = tempfile::tempdir()?;
        let limits = Limits { runs: Some(runs), ..Limits::default() };
        let out = dir.path().join("out");
        self.campaign(&out, seed, limits, true)?.run(|_| {})?;
        self.count_branches(&[out])
    }

    fn measure(&self, members: u64, seed: u64, args: &Args, one: u64) -> Result<Row> {
        let start = Instant::now();
        let dir = tempfile::tempdir()?;
        let limits = Limits { runs: Some(args.runs / members), ..Limits::default() };
        let fleet = LocalFleet::in_step(args.step);
        let (outs, stats) = self.search(&fleet, members, (seed, limits), dir.path())?;
        let (flips, asked_twice) = count_flips(&outs)?;
        let told = fleet.told();
        Ok(Row {
            program: self.name.clone(),
            members,
            seed,
            one,
            all: self.count_branches(&outs)?,
            flips,
            asked_twice,
            imported: stats.iter().filter_map(|s| Some(s.fleet.as_ref()?.run)).sum(),
            messages: told.len() as u64,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Runs all members of a fleet to their end. Returns their directories and statistics.
    fn search(
        &self,
        fleet: &Arc<LocalFleet>,
        members: u64,
        (seed, limits): (u64, Limits),
        dir: &Path,
    ) -> Result<(Vec<PathBuf>, Vec<Stats>)> {
        let name = |member| format!("m{member:02}");
        let joined: Vec<_> = (0..members).map(|member| fleet.join(&name(member))).collect();
        let outs: Vec<PathBuf> = (0..members).map(|member| dir.join(name(member))).collect();
        let mut campaigns = Vec::new();
        for (member, (fleet, out)) in (0..).zip(joined.into_iter().zip(&outs)) {
            // Each draws other random numbers.
            let seed = 1000 * seed + member;
            campaigns.push(self.campaign(out, seed, limits, member == 0)?.join(fleet));
        }
        let ended = std::thread::scope(|scope| {
            let run = |campaign: Campaign| scope.spawn(move || campaign.run(|_| {}));
            let threads: Vec<_> = campaigns.into_iter().map(run).collect();
            threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
        });
        let mut stats = Vec::new();
        for ended in ended {
            stats.push(ended.map_err(|_| anyhow::anyhow!("a member has panicked"))??);
        }
        Ok((outs, stats))
    }

    /// The branches that all inputs in these directories cover together. What members say that
    /// they cover does not count: every input runs again. The first directory gets the inputs
    /// of the others.
    fn count_branches(&self, outs: &[PathBuf]) -> Result<u64> {
        let Some((first, others)) = outs.split_first() else { return Ok(0) };
        let mut known: HashSet<u64> = HashSet::new();
        for path in files_in(&first.join("queue"))? {
            known.insert(hash_bytes(&fs::read(&path)?));
        }
        let mut number = known.len();
        for other in others {
            for path in files_in(&other.join("queue"))? {
                if known.insert(hash_bytes(&fs::read(&path)?)) {
                    number += 1;
                    fs::copy(
                        &path,
                        first.join(format!("queue/id:{:06},op:sync", 500_000 + number)),
                    )?;
                }
            }
        }
        let mut findings = Findings::open(first, None)?;
        findings.replay(|_, _| true)?;
        let taken = findings.inputs.iter().flat_map(|input| input.counts.taken());
        let covered: HashSet<BranchId> = taken.map(|(branch, _)| branch).collect();
        Ok(covered.into_iter().filter(|&branch| self.program.counts(branch)).count() as u64)
    }

    /// What a fleet costs in real time, and how long a find takes.
    fn measure_time(&self, args: &Args) -> Result<Real> {
        let dir = tempfile::tempdir()?;
        let time = Duration::from_secs_f64(args.seconds);
        let limits = Limits { time: Some(time), ..Limits::default() };
        // Two members, as many as a small machine has processors.
        let fleet = LocalFleet::new();
        let (outs, _) = self.search(&fleet, 2, (1, limits), &dir.path().join("two"))?;
        let mut latencies = latencies(&outs)?;
        latencies.sort_by(f64::total_cmp);
        // The traffic of eight, of which seven are played to the last one.
        let eight = LocalFleet::in_step(args.step);
        let runs = Limits { runs: Some(args.runs / 8), ..Limits::default() };
        self.search(&eight, 8, (1, runs), &dir.path().join("eight"))?;
        let messages: Vec<Heard> = eight
            .told()
            .into_iter()
            .filter(|(from, _)| &**from != "m00")
            .map(|(from, news)| Heard { from, what: HeardWhat::News(news) })
            .collect();
        let heard = messages.len() as u64;
        let played = Arc::new(Played::new(messages, time));
        let cpu = own_and_children_cpu()?;
        let out = dir.path().join("played");
        let stats = self.campaign(&out, 1000, limits, true)?.join(played.clone()).run(|_| {})?;
        let all = own_and_children_cpu()? - cpu;
        let each = |time: Duration| 1e6 * time.as_secs_f64() / stats.runs.max(1) as f64;
        Ok(Real {
            program: self.name.clone(),
            runs: stats.runs,
            heard,
            post_us: each(played.cpu()),
            run_us: each(all),
            latency_ms: if latencies.is_empty() { 0.0 } else { median(&latencies) },
            slowest_ms: latencies.last().copied().unwrap_or_default(),
            finds: latencies.len(),
        })
    }
}

fn grammar_settings(file: &Path) -> GrammarSettings {
    GrammarSettings {
        file: Text::new(file.as_os_str()),
        lexer: None,
        keywords: Vec::new(),
        caseless_keywords: false,
        build: String::new(),
        max_length: None,
        max_height: None,
        tokens: false,
        per_string: u32::MAX,
        keep: Vec::new(),
        one: Vec::new(),
        many: Vec::new(),
        holes: Vec::new(),
        relaxed: false,
        max_hole: MAX_HOLE,
    }
}

/// The flips that all members asked, and those that more than one asked.
fn count_flips(outs: &[PathBuf]) -> Result<(u64, u64)> {
    let mut members: HashMap<u64, u32> = HashMap::new();
    for out in outs {
        let asked: HashSet<u64> = asked_flips(out)?.into_iter().collect();
        asked.into_iter().for_each(|flip| *members.entry(flip).or_default() += 1);
    }
    let twice = members.values().filter(|&&count| count > 1).count();
    Ok((members.len() as u64, twice as u64))
}

/// Milliseconds from the first file with some contents in any queue to its files in others.
fn latencies(outs: &[PathBuf]) -> Result<Vec<f64>> {
    let mut written: BTreeMap<u64, Vec<SystemTime>> = BTreeMap::new();
    for out in outs {
        for path in files_in(&out.join("queue"))? {
            let time = fs::metadata(&path)?.modified()?;
            written.entry(hash_bytes(&fs::read(&path)?)).or_default().push(time);
        }
    }
    let after = |times: Vec<SystemTime>| {
        let first = times.iter().min().copied();
        let later = times.into_iter().filter(move |&time| Some(time) != first);
        later.filter_map(move |time| time.duration_since(first?).ok())
    };
    Ok(written.into_values().flat_map(after).map(|time| 1e3 * time.as_secs_f64()).collect())
}

fn own_and_children_cpu() -> Result<Duration> {
    Ok(own_cpu()? + crate::process::children_cpu()?)
}

/// The processor time of the calling thread.
fn thread_cpu() -> Duration {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(Duration::ZERO, Duration::from)
}

/// A fleet whose other seven members are a record, which is played evenly over some time.
struct Played {
    messages: Vec<Heard>,
    time: Duration,
    began: Instant,
    position: Mutex<usize>,
    /// Processor time of the thread that tells and hears.
    cpu: Mutex<Duration>,
}

impl Played {
    fn new(messages: Vec<Heard>, time: Duration) -> Played {
        let (position, cpu) = (Mutex::new(0), Mutex::new(Duration::ZERO));
        Played { messages, time, began: Instant::now(), position, cpu }
    }

    fn cpu(&self) -> Duration {
        *self.cpu.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fleet for Played {
    fn tell(&self, _news: News) {}

    fn hear(&self, max: usize) -> Vec<Heard> {
        // One thread calls this and nothing else.
        *self.cpu.lock().unwrap_or_else(PoisonError::into_inner) = thread_cpu();
        let share = self.began.elapsed().as_secs_f64() / self.time.as_secs_f64();
        let until = (self.messages.len() as f64 * share.min(1.0)) as usize;
        let mut position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        let from = *position;
        *position = until.min(from + max);
        self.messages[from..*position].to_vec()
    }

    fn owns(&self, hash: u64) -> bool {
        owner(hash, 0..8) == Some(0)
    }

    fn generation(&self) -> u64 {
        0
    }

    fn members(&self) -> usize {
        8
    }

    fn set_idle(&self, _idle: bool) {}

    fn settled(&self) -> Option<Settled> {
        None
    }

    fn report(&self, _report: Report) {}

    fn view(&self) -> View {
        View { name: "m00".into(), connected: true, ..View::default() }
    }

    fn leave(&self) {}
}

fn table(numbers: &Numbers) -> String {
    let mut text = String::from(
        "| program | members | branches of one | of all | worth | flips asked twice | imported runs |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut groups: BTreeMap<(&str, u64), Vec<&Row>> = BTreeMap::new();
    for row in &numbers.rows {
        groups.entry((&row.program, row.members)).or_default().push(row);
    }
    for ((program, members), rows) in groups {
        let mean = |value: &dyn Fn(&Row) -> f64| {
            rows.iter().map(|row| value(row)).sum::<f64>() / rows.len() as f64
        };
        let (one, all) = (mean(&|row| row.one as f64), mean(&|row| row.all as f64));
        text += &format!(
            "| {program} | {members} | {one:.0} | {all:.0} | {:.1} % | {:.1} % | {:.1} % |\n",
            100.0 * mean(&|row| row.all as f64 / row.one.max(1) as f64),
            100.0 * mean(&|row| row.asked_twice as f64 / row.flips.max(1) as f64),
            100.0 * mean(&|row| row.imported as f64 / numbers.runs as f64),
        );
    }
    text += "\n| program | messages heard | telling and hearing, µs a run | a run, µs | share | \
             find to find, median ms | slowest ms |\n|---|---:|---:|---:|---:|---:|---:|\n";
    for real in &numbers.real {
        text += &format!(
            "| {} | {} | {:.2} | {:.1} | {:.2} % | {:.0} | {:.0} |\n",
            real.program,
            real.heard,
            real.post_us,
            real.run_us,
            100.0 * real.post_us / real.run_us,
            real.latency_ms,
            real.slowest_ms,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_find_is_late_by_the_time_between_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let outs = ["a", "b"].map(|name| dir.path().join(name));
        let begin = SystemTime::now();
        for (out, late_ms) in outs.iter().zip([0, 250]) {
            fs::create_dir_all(out.join("queue")).unwrap();
            for (name, contents) in [("1", "same"), ("2", &*out.to_string_lossy())] {
                let path = out.join("queue").join(name);
                fs::write(&path, contents).unwrap();
                let time = begin + Duration::from_millis(late_ms);
                fs::File::open(&path).unwrap().set_modified(time).unwrap();
            }
        }
        let found = latencies(&outs).unwrap();
        assert!(found.len() == 1 && (found[0] - 250.0).abs() < 1.0, "{found:?}");
    }
}
