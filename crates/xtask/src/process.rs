//! Running programs that may crash, hang or leave children behind, and saying
//! what they did and what it cost.
//!
//! Output goes to unnamed files and not to pipes: nobody has to read along, and a
//! grandchild that keeps the descriptor open cannot hold us up. Every run is a
//! process group of its own, killed as a whole when its time is over.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
}

impl Exit {
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }

    /// As a shell would show it.
    pub fn shell_status(self) -> Option<i32> {
        match self {
            Exit::Code(code) => Some(code),
            Exit::Signal(signal) => Some(128 + signal),
            Exit::TimedOut => None,
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Exit {
        match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(0)),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit status {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
            Exit::TimedOut => write!(f, "time limit"),
        }
    }
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub exit: Exit,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// What two runs of the same program must agree on.
    pub fn behaviour(&self) -> (Exit, &[u8]) {
        (self.exit, &self.stdout)
    }

    /// The last lines of what it said, for a message.
    pub fn complaint(&self) -> String {
        let said = if self.stderr.is_empty() { &self.stdout } else { &self.stderr };
        let said = String::from_utf8_lossy(said);
        let lines: Vec<&str> = said.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

/// Runs `command` to its end, or to the end of its time.
pub fn run(command: &mut Command, limit: Duration) -> Result<Outcome> {
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdout(out.try_clone()?).stderr(err.try_clone()?);
    let (exit, _) = wait(command, limit)?;
    Ok(Outcome { exit, stdout: contents(&mut out)?, stderr: contents(&mut err)? })
}

/// As [`run`], of a command that must succeed; the error says `what` it was for.
pub fn succeed(command: &mut Command, limit: Duration, what: &str) -> Result<Outcome> {
    let done = run(command, limit)?;
    if !done.exit.success() {
        bail!("{what}: {}: {}", done.exit, done.complaint());
    }
    Ok(done)
}

/// As [`run`], with all output at the end of `log`.
pub fn run_logged(command: &mut Command, log: &File, limit: Duration) -> Result<(Exit, Duration)> {
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
    wait(command, limit)
}

/// Processor and elapsed time of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub cpu: Duration,
    pub wall: Duration,
}

/// Runs `command` to its end and says what it and its descendants cost. No time
/// limit and no polling: waiting must not disturb what is measured. Only one may
/// be measured at a time: the kernel adds up what all children used.
pub fn cost(command: &mut Command) -> Result<(Exit, Cost)> {
    let (start, before) = (Instant::now(), children_cpu()?);
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))?;
    let wall = start.elapsed();
    Ok((status.into(), Cost { cpu: children_cpu()?.saturating_sub(before), wall }))
}

/// Processor time of all children that were waited for so far.
pub fn children_cpu() -> Result<Duration> {
    cpu(UsageWho::RUSAGE_CHILDREN)
}

/// Processor time of this process itself.
pub fn own_cpu() -> Result<Duration> {
    cpu(UsageWho::RUSAGE_SELF)
}

fn cpu(who: UsageWho) -> Result<Duration> {
    let usage = getrusage(who)?;
    let (user, system) = (usage.user_time(), usage.system_time());
    let micros = (user.tv_sec() + system.tv_sec()) * 1_000_000 + user.tv_usec() + system.tv_usec();
    Ok(Duration::from_micros(micros.try_into().unwrap_or(0)))
}

fn wait(command: &mut Command, limit: Duration) -> Result<(Exit, Duration)> {
    let start = Instant::now();
    let mut child = command
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))?;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.into(), start.elapsed()));
        }
        if start.elapsed() > limit {
            kill(&mut child);
            return Ok((Exit::TimedOut, start.elapsed()));
        }
        sleep(pause);
        pause = (pause * 3 / 2).min(Duration::from_millis(20));
    }
}

fn kill(child: &mut Child) {
    // The group may be gone already; then there is nothing to kill.
    let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    let _ = child.wait();
}

fn contents(file: &mut File) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_status_and_signal_are_told_apart() {
        let limit = Duration::from_secs(20);
        let said = run(&mut shell("echo out; echo err >&2; exit 3"), limit).unwrap();
        assert_eq!(said.behaviour(), (Exit::Code(3), &b"out\n"[..]));
        assert_eq!(said.complaint(), "err");
        assert_eq!(run(&mut shell("kill -8 $$"), limit).unwrap().exit, Exit::Signal(8));
    }

    #[test]
    fn a_run_that_outstays_its_limit_is_killed_with_its_children() {
        let start = Instant::now();
        let outcome = run(&mut shell("sleep 60 & sleep 60"), Duration::from_millis(100)).unwrap();
        assert_eq!(outcome.exit, Exit::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn processor_time_of_a_busy_child_is_seen() {
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let (exit, cost) = cost(&mut shell(busy)).unwrap();
        assert!(exit.success());
        assert!(cost.cpu > Duration::from_millis(20), "{cost:?}");
    }
}
