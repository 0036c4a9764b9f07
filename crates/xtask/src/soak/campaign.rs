//! One campaign: it is searched, interrupted by a fault, checked, and resumed.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pleach_campaign::run::Dir;
use serde_json::Value;

use super::check::{self, HighWater, Inputs};
use super::family;
use super::fault::{End, Fault};
use super::place::Place;
use super::programs::{MAX_MEMORY, Searched};
use crate::bench::machine;
use crate::{process, project};

const SIGHUP: i32 = Signal::SIGHUP as i32;
const SIGINT: i32 = Signal::SIGINT as i32;
const SIGTERM: i32 = Signal::SIGTERM as i32;

/// The environment variable that marks all processes of a campaign.
const MARK: &str = "PLEACH_SOAK";
const POLL: Duration = Duration::from_millis(5);
/// How long a driver may take to start, and to run an input after a fault that it survives.
const PROGRESS_LIMIT: Duration = Duration::from_secs(90);
/// How long a victim is looked for.
const VICTIM_LIMIT: Duration = Duration::from_secs(2);
const REPLAY_LIMIT: Duration = Duration::from_secs(600);
/// A directory that a driver left when it was killed at its start is removed by a later
/// driver when it is this old.
const ABANDONED_AGE: Duration = Duration::from_secs(120);
/// An address space that has room for little more than the driver has now.
const MEMORY_ROOM: u64 = 1 << 20;
/// A limit on the size of files that a log does not reach.
const FILE_SIZE: u64 = 32 << 10;
/// How long a warden may take to remove the files of a driver that was killed. Later, they
/// are left for the next driver.
const WARDEN_TIME: Duration = Duration::from_secs(3);

/// The result of a fault.
#[derive(Default)]
pub struct Report {
    pub problems: Vec<String>,
    /// The fault took place: there was a process to kill.
    pub took_place: bool,
    /// From the signal to the end of the driver.
    pub answer_time: Option<Duration>,
    /// Directories that a killed driver left, and the next one has to remove.
    pub left_for_next: usize,
}

pub struct Campaign<'a> {
    searched: &'a Searched,
    /// Dropped before the place where it works.
    driver: Option<Driver>,
    place: Place,
    /// The arguments of the first driver.
    arguments: Vec<String>,
    mark: String,
    drivers: u64,
    /// All inputs that were seen in the directory.
    known: Inputs,
    water: HighWater,
    /// The largest resident set of a driver, in KiB.
    pub peak_kib: u64,
    /// The search has nothing left to do.
    pub is_exhausted: bool,
}

struct Driver {
    child: Child,
    log: PathBuf,
    /// The runs of the campaign when it was started.
    runs: u64,
}

impl Driver {
    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// What it has printed.
    fn output(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    fn last_line(&self) -> String {
        self.output().lines().last().unwrap_or_default().into()
    }

    fn signal(&self, signal: Signal) {
        // It may have ended.
        let _ = kill(Pid::from_raw(self.pid()), signal);
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl<'a> Campaign<'a> {
    pub fn new(
        searched: &'a Searched,
        place: Place,
        seed: u64,
        variant: &[&str],
    ) -> Result<Campaign<'a>> {
        searched.copy_to(&place.home)?;
        let arguments = searched.arguments(&place.home, seed, variant);
        let mark = format!("{}-{seed}", place.home.display());
        Ok(Campaign {
            searched,
            arguments,
            mark,
            place,
            driver: None,
            drivers: 0,
            known: Inputs::default(),
            water: HighWater::default(),
            peak_kib: 0,
            is_exhausted: false,
        })
    }

    pub fn home(&self) -> &Path {
        &self.place.home
    }

    /// How many inputs the campaign has kept.
    pub fn inputs(&self) -> usize {
        self.known.count()
    }

    /// Lets the campaign search for `moment`, and then the fault happens.
    pub fn endure(&mut self, fault: Fault, moment: Duration) -> Result<Report> {
        let mut report = Report::default();
        let mut driver = match self.driver.take() {
            Some(driver) => driver,
            None => self.start()?,
        };
        if let Some(status) = self.watch(&mut driver, moment, &mut report) {
            self.judge_early_end(&driver, status, &mut report);
            self.check_after_end(driver, &mut report, status.signal().is_some());
            return Ok(report);
        }
        self.see_inputs(&mut report);
        match fault.end() {
            Some(end) => self.end_by(fault, end, driver, &mut report)?,
            None => self.survive(fault, driver, &mut report)?,
        }
        Ok(report)
    }

    /// Ends the campaign, and compares its files with its statistics and its journal.
    pub fn finish(&mut self) -> Result<Report> {
        let mut report = Report { took_place: true, ..Report::default() };
        if !self.is_exhausted {
            let mut driver = match self.driver.take() {
                Some(driver) => driver,
                None => self.start()?,
            };
            // A resumed campaign has a journal of all inputs when it has run some of its own.
            match self.wait_for_progress(&mut driver, &mut report) {
                Some(status) => {
                    self.judge_early_end(&driver, status, &mut report);
                    self.check_after_end(driver, &mut report, status.signal().is_some());
                }
                None => self.end_by(Fault::Terminate, End::Interrupted, driver, &mut report)?,
            }
        }
        self.see_inputs(&mut report);
        report.problems.extend(check::check_memory(self.peak_kib, MAX_MEMORY));
        report.problems.extend(self.replay()?);
        report.problems.extend(self.recover_from_journal()?);
        Ok(report)
    }

    /// Starts or resumes the campaign.
    fn start(&mut self) -> Result<Driver> {
        let out = self.place.out();
        let is_first = !out.join("run.toml").exists();
        let mut command = self.pleach("run")?;
        command.arg("-o").arg(&out);
        match is_first {
            true => command.args(&self.arguments),
            false => command.args(["-i", "-"]),
        };
        let log = self.place.log(self.drivers);
        self.drivers += 1;
        let _ = fs::remove_file(&log);
        let file = File::options().create(true).append(true).open(&log)?;
        command.stdout(file.try_clone()?).stderr(file);
        let child = command.spawn().context("cannot start pleach")?;
        let driver = Driver { child, log, runs: self.water.runs };
        // Helpers become the driver.
        let pleach = fs::canonicalize(project::tool("pleach")?)?;
        let start = Instant::now();
        while fs::read_link(format!("/proc/{}/exe", driver.pid())).is_ok_and(|exe| exe != pleach) {
            if start.elapsed() > PROGRESS_LIMIT {
                bail!("pleach does not start: {}", driver.output());
            }
            sleep(Duration::from_millis(1));
        }
        Ok(driver)
    }

    fn pleach(&self, command: &str) -> Result<Command> {
        let mut whole = self.place.command();
        whole.arg(project::tool("pleach")?).arg(command);
        whole.env(MARK, &self.mark).env_remove("RUST_BACKTRACE").stdin(Stdio::null());
        Ok(whole)
    }

    /// Watches a driver for some time. Returns its status if it ends.
    fn watch(
        &mut self,
        driver: &mut Driver,
        time: Duration,
        report: &mut Report,
    ) -> Option<ExitStatus> {
        let start = Instant::now();
        let mut looked = start;
        while start.elapsed() < time {
            if let Ok(Some(status)) = driver.child.try_wait() {
                return Some(status);
            }
            sleep(POLL.min(time.saturating_sub(start.elapsed())));
            if looked.elapsed() > Duration::from_millis(200) {
                looked = Instant::now();
                self.look_at(driver, report);
            }
        }
        self.look_at(driver, report);
        None
    }

    /// Reads the memory of the driver and its statistics.
    fn look_at(&mut self, driver: &Driver, report: &mut Report) {
        let peak = family::status_number(driver.pid(), "VmHWM").unwrap_or(0);
        self.peak_kib = self.peak_kib.max(peak);
        self.read_stats(report);
    }

    fn read_stats(&mut self, report: &mut Report) -> Option<Value> {
        let stats = fs::read(self.place.out().join("stats.json")).ok()?;
        match serde_json::from_slice(&stats) {
            Ok(stats) => {
                report.problems.extend(self.water.observe(&stats));
                Some(stats)
            }
            Err(error) => {
                report.problems.push(format!("stats.json: {error}"));
                None
            }
        }
    }

    /// Compares the inputs in the directory with those that were seen before.
    fn see_inputs(&mut self, report: &mut Report) {
        let now = Inputs::read(&self.place.out());
        report.problems.extend(self.known.lost_in(&now));
        self.known = now;
    }

    /// Causes a fault that ends the driver, and checks how it ends and what it leaves.
    fn end_by(
        &mut self,
        fault: Fault,
        end: End,
        mut driver: Driver,
        report: &mut Report,
    ) -> Result<()> {
        let start = Instant::now();
        let mut ballast = None;
        match fault {
            Fault::DiskFull => ballast = Some(self.place.fill_disk()?),
            Fault::ReadOnly => self.place.protect_from(driver.pid())?,
            Fault::FileSize => {
                let journal = fs::metadata(self.place.out().join("journal"));
                let size = journal.map_or(0, |m| m.len());
                set_limit(&driver, "fsize", size.max(FILE_SIZE))?;
            }
            Fault::Memory => {
                let now = family::status_number(driver.pid(), "VmSize").unwrap_or(0);
                set_limit(&driver, "as", now * 1024 + MEMORY_ROOM)?;
            }
            Fault::StopServer => {
                if !self.signal_victim(&driver, family::Role::Server, Signal::SIGSTOP) {
                    self.driver = Some(driver);
                    return Ok(());
                }
                driver.signal(Signal::SIGTERM);
            }
            _ => {
                // A driver installs its handlers first of all, but not before it runs.
                driver.signal(fault.signal().context("a signal")?);
            }
        }
        report.took_place = true;
        let limit = end.limit().mul_f64(slowness());
        let status = loop {
            if let Some(status) = driver.child.try_wait()? {
                break Some(status);
            }
            // Whatever the limit says, the campaign has to end for the next fault.
            if start.elapsed() > limit + PROGRESS_LIMIT {
                break None;
            }
            if end.is_optional() && start.elapsed() > limit {
                break None;
            }
            sleep(POLL);
        };
        if fault.signal().is_some() || fault == Fault::StopServer {
            report.answer_time = Some(start.elapsed());
        }
        let is_killed = status.is_none_or(|s| s.signal().is_some());
        match status {
            Some(status) => {
                let last = driver.last_line();
                // Before a driver searches, a signal kills it as any program.
                let is_plain_death = self.water.runs == driver.runs
                    && status.signal().is_some_and(|s| [SIGHUP, SIGINT, SIGTERM].contains(&s));
                if !is_plain_death {
                    report.problems.extend(end.check(status.code(), status.signal(), &last));
                }
                if start.elapsed() > limit {
                    report.problems.push(format!("the driver took {:.1?}", start.elapsed()));
                }
            }
            None if end.is_optional() => driver.signal(Signal::SIGKILL),
            None => report.problems.push("the driver does not end".into()),
        }
        // Without memory, the standard library panics when it starts a thread.
        if fault != Fault::Memory || !is_abort(status) {
            report.problems.extend(check::suspicious_lines(&driver.output()));
        }
        drop(ballast);
        self.check_after_end(driver, report, is_killed);
        Ok(())
    }

    /// Causes a fault that the driver survives.
    fn survive(&mut self, fault: Fault, mut driver: Driver, report: &mut Report) -> Result<()> {
        match fault {
            Fault::StopDriver => {
                report.took_place = true;
                driver.signal(Signal::SIGSTOP);
                sleep(Duration::from_millis(500));
                driver.signal(Signal::SIGCONT);
            }
            Fault::SecondDriver => {
                // The first driver may still be starting.
                let start = Instant::now();
                while !Dir::is_in_use(&self.place.out()) && start.elapsed() < PROGRESS_LIMIT {
                    sleep(POLL);
                }
                report.took_place = true;
                let mut second = self.pleach("run")?;
                second.args(["-i", "-", "-o"]).arg(self.place.out());
                let done = process::run(&mut second, PROGRESS_LIMIT)?;
                let said = done.last_lines();
                let is_refused = done.exit.shell_status() == Some(2)
                    && (said.contains("another pleach is at work") || said.contains("run.toml"));
                if !is_refused {
                    report.problems.push(format!("second driver: {}: {said}", done.exit));
                }
            }
            _ => {
                let role = fault.victim().context("a victim")?;
                report.took_place = self.signal_victim(&driver, role, Signal::SIGKILL);
            }
        }
        match self.wait_for_progress(&mut driver, report) {
            None => self.driver = Some(driver),
            Some(status) => {
                self.judge_early_end(&driver, status, report);
                self.check_after_end(driver, report, status.signal().is_some());
            }
        }
        Ok(())
    }

    /// Sends a signal to a process below the driver. False if there is none for some time.
    fn signal_victim(&self, driver: &Driver, role: family::Role, signal: Signal) -> bool {
        let start = Instant::now();
        while start.elapsed() < VICTIM_LIMIT {
            // A run may have ended meanwhile.
            let victim = family::of_role(driver.pid(), role).pop();
            if victim.is_some_and(|v| kill(Pid::from_raw(v.pid), signal).is_ok()) {
                return true;
            }
        }
        false
    }

    /// Waits until the campaign has run or traced something. Returns the status if the driver ends.
    fn wait_for_progress(
        &mut self,
        driver: &mut Driver,
        report: &mut Report,
    ) -> Option<ExitStatus> {
        self.read_stats(report);
        // A campaign that is resumed may trace many old inputs first.
        let done = |water: &HighWater| (water.runs, water.traces);
        let (start, before) = (Instant::now(), done(&self.water));
        while start.elapsed() < PROGRESS_LIMIT {
            if let Some(status) = self.watch(driver, Duration::from_millis(50), report) {
                return Some(status);
            }
            self.read_stats(report);
            if done(&self.water) != before {
                return None;
            }
        }
        report.problems.push(format!("no run and no trace within {PROGRESS_LIMIT:?}"));
        None
    }

    /// The driver has ended without a reason that we gave it.
    fn judge_early_end(&mut self, driver: &Driver, status: ExitStatus, report: &mut Report) {
        let stop = self.read_stats(report).and_then(|s| Some(s["stop"].as_str()?.to_string()));
        let is_exhausted = stop.as_deref().is_some_and(|stop| stop.starts_with("exhausted"));
        self.is_exhausted = status.success() && is_exhausted;
        if !self.is_exhausted {
            let last = driver.last_line();
            report.problems.push(format!("the driver ended: {status}, {stop:?}: {last}"));
        }
    }

    /// Checks what an ended driver has left. One that was killed may leave directories that
    /// a later one removes; this makes them old enough for that.
    fn check_after_end(&mut self, driver: Driver, report: &mut Report, is_killed: bool) {
        let runs = driver.runs;
        drop(driver);
        let mark = format!("{MARK}={}", self.mark);
        report.problems.extend(check::left_processes(&mark, &self.place.home));
        self.read_stats(report);
        self.see_inputs(report);
        if !self.place.is_mounted {
            return;
        }
        let patience = if is_killed { WARDEN_TIME } else { check::CLEANING_TIME };
        for path in check::wait_for_none(patience, || self.place.left_files()) {
            let age = || fs::metadata(&path)?.modified()?.elapsed().map_err(io::Error::other);
            let was_there = age().is_ok_and(|age| age >= ABANDONED_AGE);
            // A driver that has run something has looked for such directories before.
            let is_allowed = if was_there { self.water.runs == runs } else { is_killed };
            if !is_allowed {
                report.problems.push(format!("{} is left", path.display()));
                let _ = fs::remove_dir_all(path);
            } else if !was_there {
                report.left_for_next += 1;
                let old = SystemTime::now() - 2 * ABANDONED_AGE;
                let _ = File::open(path).and_then(|dir| dir.set_modified(old));
            }
        }
    }

    /// Runs all files again, and compares what they cover with the statistics.
    fn replay(&self) -> Result<Vec<String>> {
        let mut command = self.pleach("replay")?;
        command.arg("--json").args(&self.searched.limits).arg(self.place.out());
        command.args(self.searched.program_words(&self.place.home));
        let done = process::run(&mut command, REPLAY_LIMIT)?;
        match serde_json::from_slice(&done.stdout) {
            Ok(replayed) => Ok(self.water.check_replay(&replayed)),
            Err(_) => Ok(vec![format!("replay: {}: {}", done.exit, done.last_lines())]),
        }
    }

    /// Removes all files of the queue, and lets a driver write them again from the journal.
    fn recover_from_journal(&self) -> Result<Vec<String>> {
        let out = self.place.out();
        let queue = out.join("queue");
        fs::remove_dir_all(&queue).with_context(|| queue.display().to_string())?;
        fs::create_dir(&queue)?;
        let mut command = self.pleach("run")?;
        command.args(["-i", "-", "-V", "0", "-o"]).arg(&out);
        let done = process::run(&mut command, REPLAY_LIMIT)?;
        if !done.exit.success() {
            return Ok(vec![format!("without its queue: {}: {}", done.exit, done.last_lines())]);
        }
        let missing = self.known.missing_from_queue(&Inputs::read(&out));
        Ok(missing.into_iter().map(|line| format!("journal: {line}")).collect())
    }
}

fn is_abort(status: Option<ExitStatus>) -> bool {
    status.and_then(|status| status.signal()) == Some(Signal::SIGABRT as i32)
}

/// Limits a resource of a driver that is running.
fn set_limit(driver: &Driver, resource: &str, value: u64) -> Result<()> {
    let mut command = Command::new("prlimit");
    command.args(["--pid", &driver.pid().to_string(), &format!("--{resource}={value}")]);
    // The driver may have ended.
    process::run(&mut command, Duration::from_secs(20)).map(drop)
}

/// How many times longer than on an idle machine things may take here, now.
fn slowness() -> f64 {
    let cores = std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
    (2.0 * machine::load() / cores).max(1.0)
}
