//! `./x soak`: endurance. Campaigns on several programs run side by side, and faults happen
//! to them at random moments: processes are killed or stopped, the disk fills up, memory is
//! short. After each fault the campaign is resumed. Nothing may be lost, and nothing left
//! behind (see [`check`]).
//!
//! The seed fixes which faults happen to which program in which order, and after which time.
//! What a campaign has found by then depends on the machine.
//!
//! After some faults a campaign is ended. Then its files must reproduce its statistics, its
//! journal must know all its inputs, and a new campaign begins.

mod campaign;
mod check;
mod family;
mod fault;
mod place;
mod programs;
mod tally;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{process, project};
use campaign::{Campaign, Report};
use fault::Fault;
use place::Place;
use programs::Searched;
use tally::Tally;

/// After this many faults a campaign is ended and checked, and another one begins.
const FAULTS_OF_A_CAMPAIGN: u32 = 25;
/// How campaigns search, in turn.
const VARIANTS: [&[&str]; 4] =
    [&["-s", "auto"], &["-s", "auto", "-j", "2"], &["-s", "generational"], &["-s", "cfg"]];
/// A fault happens at most this long after the one before.
const MAX_MOMENT: Duration = Duration::from_millis(2500);
/// One in four happens within this time, while a driver is still starting.
const START_MOMENT: Duration = Duration::from_millis(150);
/// Directories of failures that are kept.
const MAX_KEPT_FAILURES: usize = 20;

#[derive(clap::Args)]
pub struct Args {
    /// Programs to search: calc, cue, tinyjs, persistent, hostile, and the subjects that
    /// `./x bench run` searches [default: the first five, and bc and lua if they are built]
    names: Vec<String>,
    /// Stop after this many hours; may be a fraction
    #[arg(long, value_name = "H", default_value_t = 0.05)]
    hours: f64,
    /// Stop after this many faults [default: only after --hours]
    #[arg(long, value_name = "N")]
    kills: Option<u64>,
    /// Seed of the faults and their moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Instead, kill, stop and cut off members and server of a fleet N times
    #[arg(long, value_name = "N", conflicts_with_all = ["names", "hours", "kills"])]
    fleet: Option<u64>,
}

/// True if nothing was lost or left behind, and nothing stood still.
pub fn run(args: &Args) -> Result<bool> {
    if let Some(events) = args.fleet {
        return endure_fleet(events, args.seed);
    }
    if !args.hours.is_finite() || args.hours <= 0.0 {
        bail!("--hours {}: give a number above 0", args.hours);
    }
    let base = project::target("soak");
    let names = if args.names.is_empty() { programs::default_names() } else { args.names.clone() };
    let searched = names
        .iter()
        .map(|name| Searched::build(name, &base.join("build")))
        .collect::<Result<Vec<_>>>()?;
    let can_mount = place::enter_namespace();
    if !can_mount {
        eprintln!("no permission to mount: without a full disk and read-only directories");
    }
    let soak = Soak {
        base: &base,
        can_mount,
        seed: args.seed,
        deadline: Instant::now() + Duration::from_secs_f64(args.hours * 3600.0),
        faults_each: args.kills.map(|kills| kills.div_ceil(searched.len() as u64)),
        tally: Mutex::new(Tally::new()),
    };
    let done: Vec<Result<()>> = thread::scope(|scope| {
        let run = |(index, searched)| {
            let soak = &soak;
            scope.spawn(move || soak.endure(index, searched))
        };
        let workers: Vec<_> = searched.iter().enumerate().map(run).collect();
        let join = |worker: thread::ScopedJoinHandle<Result<()>>| match worker.join() {
            Ok(done) => done,
            Err(_) => bail!("a thread panicked"),
        };
        workers.into_iter().map(join).collect()
    });
    let tally = soak.tally.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    print!("{tally}");
    done.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(tally.failed() == 0)
}

/// Runs the test of `pleach-fleet` with more events.
fn endure_fleet(events: u64, seed: u64) -> Result<bool> {
    let mut command = Command::new("cargo");
    command.args(["test", "--release", "--quiet", "-p", "pleach-fleet", "--test", "all", "--"]);
    command.args(["--exact", "chaos::nothing_is_lost_whatever_happens", "--nocapture"]);
    command.env("PLEACH_CHAOS", events.to_string()).env("PLEACH_CHAOS_SEED", seed.to_string());
    let status = command.current_dir(project::root()).status();
    Ok(status.context("cannot run cargo")?.success())
}

struct Soak<'a> {
    base: &'a Path,
    can_mount: bool,
    seed: u64,
    deadline: Instant,
    /// For each program.
    faults_each: Option<u64>,
    tally: Mutex<Tally>,
}

impl Soak<'_> {
    /// Searches one program, campaign after campaign.
    fn endure(&self, index: usize, searched: &Searched) -> Result<()> {
        let mut random = fastrand::Rng::with_seed(self.seed ^ ((index as u64) << 32));
        let (mut faults, mut number) = (0, 0);
        while !self.is_over(faults) {
            let home = self.base.join("work").join(&searched.name);
            let place = Place::new(home, self.can_mount)?;
            let variant = VARIANTS[number % VARIANTS.len()];
            let seed = self.seed + number as u64;
            let mut campaign = Campaign::new(searched, place, seed, variant)?;
            for _ in 0..FAULTS_OF_A_CAMPAIGN {
                if self.is_over(faults) || campaign.is_exhausted {
                    break;
                }
                let fault = self.draw(&mut random);
                let moment = match random.u8(0..4) {
                    0 => START_MOMENT,
                    _ => MAX_MOMENT,
                };
                let report = campaign.endure(fault, moment.mul_f64(random.f64()))?;
                faults += 1;
                let failure = format!("{}-{}-{faults}", searched.name, self.seed);
                self.record(Some(fault), &campaign, report, &failure)?;
            }
            let report = campaign.finish()?;
            let failure = format!("{}-{}-end-{number}", searched.name, self.seed);
            self.record(None, &campaign, report, &failure)?;
            number += 1;
        }
        Ok(())
    }

    fn is_over(&self, faults: u64) -> bool {
        Instant::now() > self.deadline || self.faults_each.is_some_and(|n| faults >= n)
    }

    fn draw(&self, random: &mut fastrand::Rng) -> Fault {
        let possible: Vec<Fault> =
            Fault::ALL.into_iter().filter(|f| self.can_mount || !f.needs_mounts()).collect();
        let mut at = random.u32(0..possible.iter().map(|f| f.weight()).sum());
        for fault in possible {
            match at.checked_sub(fault.weight()) {
                Some(rest) => at = rest,
                None => return fault,
            }
        }
        Fault::KillDriver
    }

    /// Counts a result. The directory of a failure is kept.
    fn record(
        &self,
        fault: Option<Fault>,
        campaign: &Campaign,
        report: Report,
        failure: &str,
    ) -> Result<()> {
        let mut tally = self.tally.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        tally.add(fault, &report, campaign.peak_kib, campaign.inputs());
        if report.problems.is_empty() {
            return Ok(());
        }
        let what = fault.map_or("end of the campaign", Fault::name);
        for problem in &report.problems {
            println!("{failure}: {what}: {problem}");
        }
        if tally.failed() <= MAX_KEPT_FAILURES as u64 {
            let kept = self.base.join("failures").join(failure);
            keep(campaign.home(), &kept, what, &report.problems)?;
            println!("    its files: {}", kept.display());
        }
        Ok(())
    }
}

fn keep(home: &Path, to: &Path, what: &str, problems: &[String]) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to).with_context(|| format!("cannot write to {}", to.display()))?;
    let mut copy = Command::new("cp");
    // Files may vanish meanwhile: the next driver is not started, but others clean up.
    copy.arg("-r").arg(home.join(".")).arg(to);
    process::run(&mut copy, Duration::from_secs(60))?;
    Ok(fs::write(to.join("problems.txt"), format!("{what}\n{}\n", problems.join("\n")))?)
}
