//! Runs the campaigns of a comparison as processes, one after another or several at a time,
//! and reads their results.

use super::Compare;
use crate::exit::Failure;
use anyhow::{Context, anyhow};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pleach_campaign::run::{Dir, PlotPoint, Stats, Stop};
use pleach_exec::affinity::{self, Affinity};
use pleach_report::Progress;
use pleach_report::compare::{Campaign, Measures, Point};
use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub struct Job {
    pub strategy: String,
    pub seed: u64,
}

/// A campaign that has ended.
pub struct Finished {
    pub dir: PathBuf,
    pub campaign: Campaign,
    pub stats: Stats,
}

/// The pause between two checks for campaigns that have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

struct Running {
    job: usize,
    child: Child,
    /// Its processor, as an index into [`Pool::processors`].
    slot: usize,
    /// Its standard error, for the message if it fails.
    stderr: File,
}

/// Runs all campaigns. If one fails before any has succeeded, the comparison stops, because
/// the others would most likely fail, too. Later failures are reported, and the campaign is
/// left out.
pub fn run(args: &Compare, jobs: &[Job]) -> Result<Vec<Option<Finished>>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    let is_new = !args.output.exists();
    std::fs::create_dir_all(&args.output)
        .with_context(|| args.output.display().to_string())
        .map_err(Failure::user_error)?;
    // Choose all processors now: a campaign that starts cannot see where others will run.
    let processors = affinity::processors(args.jobs);
    let pool = Pool {
        args,
        jobs,
        processors,
        running: Vec::new(),
        failed: HashSet::new(),
        has_succeeded: false,
        progress: Progress::new("campaigns", jobs.len() as u64),
    };
    pool.progress.show();
    let done = pool.run(&stop);
    if done.is_err() && is_new {
        // A refused campaign has written nothing, so remove the empty directory, too.
        let _ = std::fs::remove_dir(&args.output);
    }
    let failed = done?;
    let ended =
        |(i, job)| (!failed.contains(&i)).then(|| read_results(&dir_of(args, job))).transpose();
    jobs.iter().enumerate().map(ended).collect()
}

fn dir_of(args: &Compare, job: &Job) -> PathBuf {
    args.output.join(format!("{}-{}", job.strategy, job.seed))
}

struct Pool<'a> {
    args: &'a Compare,
    jobs: &'a [Job],
    /// One for each campaign that runs at a time; empty if they cannot be bound.
    processors: Vec<Affinity>,
    running: Vec<Running>,
    /// The jobs that failed.
    failed: HashSet<usize>,
    has_succeeded: bool,
    progress: Progress,
}

impl Pool<'_> {
    /// Runs all jobs. Returns those that failed.
    fn run(mut self, stop: &AtomicBool) -> Result<HashSet<usize>, Failure> {
        let mut waiting: VecDeque<usize> = (0..self.jobs.len()).collect();
        while !(waiting.is_empty() && self.running.is_empty()) {
            if stop.load(Ordering::Relaxed) {
                let dir = self.args.output.display();
                return Err(Failure::user_error(anyhow!(
                    "interrupted; the campaigns so far are in {dir}"
                )));
            }
            while self.running.len() < self.args.jobs {
                let Some(job) = waiting.pop_front() else { break };
                let running = self.start(job)?;
                self.running.push(running);
            }
            std::thread::sleep(POLL_INTERVAL);
            let mut i = 0;
            while i < self.running.len() {
                match self.running[i].child.try_wait()? {
                    Some(status) => {
                        let ended = self.running.swap_remove(i);
                        self.finish(ended, status)?;
                    }
                    None => i += 1,
                }
            }
        }
        Ok(std::mem::take(&mut self.failed))
    }

    fn start(&self, number: usize) -> Result<Running, Failure> {
        let (args, job) = (self.args, &self.jobs[number]);
        let stderr = tempfile::tempfile()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("run").args(&args.passed).arg("-o").arg(dir_of(args, job));
        command.args(["-s", &job.strategy, "-j", "1", "--seed", &job.seed.to_string()]);
        if let Some(seconds) = args.seconds {
            command.args(["-V", &seconds.to_string()]);
        }
        if let Some(runs) = args.runs {
            command.args(["-n", &runs.to_string()]);
        }
        command.arg("--").args(&args.program);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr.try_clone()?);
        let is_free = |slot: &usize| self.running.iter().all(|r| r.slot != *slot);
        let slot = (0..).find(is_free).unwrap_or_default();
        let own = self.processors.get(slot).and_then(|own| Some((own, Affinity::current()?)));
        own.iter().for_each(|(own, _)| own.bind());
        let child = command.spawn();
        own.iter().for_each(|(_, before)| before.bind());
        Ok(Running { job: number, child: child?, slot, stderr })
    }

    fn finish(&mut self, mut ended: Running, status: ExitStatus) -> Result<(), Failure> {
        self.progress.inc();
        let job = &self.jobs[ended.job];
        let name = format!("{}, seed {}", job.strategy, job.seed);
        if !status.success() {
            let why = error_message(&mut ended.stderr, status);
            if !self.has_succeeded {
                return Err(Failure::user_error(anyhow!("{name}: {why}")));
            }
            self.progress.suspend(|| eprintln!("{name}: {why}; left out of the comparison"));
            self.failed.insert(ended.job);
            return Ok(());
        }
        self.has_succeeded = true;
        let campaign = read_results(&dir_of(self.args, job))?.campaign;
        let Campaign { covered, runs, crashes, stop, .. } = campaign;
        self.progress.suspend(|| {
            eprintln!("{name}: {covered} branches, {runs} runs, {crashes} crashes ({stop})");
        });
        Ok(())
    }
}

impl Drop for Pool<'_> {
    /// Stops the campaigns that are still running, and waits for them.
    fn drop(&mut self) {
        for running in &self.running {
            if let Ok(id) = i32::try_from(running.child.id()) {
                let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
            }
        }
        for running in &mut self.running {
            let _ = running.child.wait();
        }
    }
}

/// The error message of a campaign that failed.
fn error_message(stderr: &mut File, status: ExitStatus) -> String {
    let mut text = String::new();
    let read = stderr.rewind().and_then(|()| stderr.read_to_string(&mut text));
    let last = text.lines().rfind(|l| l.starts_with("pleach: ") || l.starts_with("error: "));
    match (read, last) {
        (Ok(_), Some(line)) => line.split_once(": ").map_or(line, |(_, rest)| rest).to_string(),
        _ => format!("`pleach run` ended with {status}"),
    }
}

pub fn read_results(dir: &Path) -> Result<Finished, Failure> {
    let read = |name: &str| {
        let path = dir.join(name);
        std::fs::read_to_string(&path)
            .with_context(|| path.display().to_string())
            .map_err(Failure::user_error)
    };
    let stats: Stats = serde_json::from_str(&read("stats.json")?)?;
    let point = |p: PlotPoint| Point { seconds: p.seconds, runs: p.runs, covered: p.covered };
    let mut points: Vec<Point> = Dir::plot(dir).into_iter().map(point).collect();
    points.push(Point {
        seconds: stats.time_s.total,
        runs: stats.runs,
        covered: stats.branches.covered,
    });
    let campaign = Campaign {
        seed: 0,
        stop: stats.stop.map_or("interrupted", Stop::name).into(),
        covered: stats.branches.covered,
        reachable: stats.branches.reachable,
        inputs: stats.inputs,
        runs: stats.runs,
        crashes: stats.crashes,
        last_new_s: last_gain(&dir.join("queue"))?,
        modules: Vec::new(),
        measures: measures(&stats),
        points,
    };
    Ok(Finished { dir: dir.into(), campaign, stats })
}

fn measures(stats: &Stats) -> Measures {
    Measures {
        traces: stats.traces,
        variables: stats.symbolic.variables,
        constraints: stats.symbolic.constraints,
        seconds: stats.time_s.total,
        solving_s: stats.time_s.solve,
        grammar_s: stats.time_s.grammar,
        tiers_s: stats.flips.time_by_tier.clone(),
        grammar_asked: stats.tokens.asked,
        grammar_unsat: stats.tokens.unsat,
    }
}

/// The time in seconds of the last input that covered a new branch, from the file names.
fn last_gain(queue: &Path) -> Result<f64, Failure> {
    let mut last = 0u64;
    for entry in std::fs::read_dir(queue)? {
        let name: OsString = entry?.file_name();
        let name = name.to_string_lossy();
        if name.contains("+cov") {
            let time = name.split(',').find_map(|part| part.strip_prefix("time:"));
            last = last.max(time.and_then(|t| t.parse().ok()).unwrap_or(0));
        }
    }
    Ok(last as f64 / 1000.0)
}
