//! Runs programs that may crash, hang or leave children behind, and measures them.
//!
//! Output goes to unnamed files, not to pipes: nobody has to read it during the run, and
//! a grandchild that keeps the descriptor open cannot block us. Every run has its own
//! process group, which is killed as a whole when the run times out.

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

    /// The status as a shell reports it.
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
            Exit::TimedOut => write!(f, "timed out"),
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
    /// What must be the same in two runs of a program.
    pub fn behaviour(&self) -> (Exit, &[u8]) {
        (self.exit, &self.stdout)
    }

    /// The last lines of its error output, or of its output if there is none.
    pub fn last_lines(&self) -> String {
        let output = if self.stderr.is_empty() { &self.stdout } else { &self.stderr };
        let output = String::from_utf8_lossy(output);
        let lines: Vec<&str> = output.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

/// Runs `command` until it ends or times out.
pub fn run(command: &mut Command, limit: Duration) -> Result<Outcome> {
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdout(out.try_clone()?).stderr(err.try_clone()?);
    let (exit, _) = wait(command, limit)?;
    Ok(Outcome { exit, stdout: contents(&mut out)?, stderr: contents(&mut err)? })
}

/// As [`run`], for a command that must succeed. `what` names it in the error.
pub fn succeed(command: &mut Command, limit: Duration, what: &str) -> Result<Outcome> {
    let done = run(command, limit)?;
    if !done.exit.success() {
        bail!("{what}: {}: {}", done.exit, done.last_lines());
    }
    Ok(done)
}

/// As [`run`], with all output appended to `log`.
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

/// Runs `command` to its end and measures it and its descendants. There is no time limit
/// and no polling, because polling would disturb the measurement. Only one command can be
/// measured at a time: the kernel adds up the time of all children.
pub fn measure(command: &mut Command) -> Result<(Exit, Cost)> {
    let (start, before) = (Instant::now(), children_cpu()?);
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))?;
    let wall = start.elapsed();
    Ok((status.into(), Cost { cpu: children_cpu()?.saturating_sub(before), wall }))
}

/// Processor time of all children that have been waited for.
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
    // Fails if the group has already ended.
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
    fn output_status_and_signal_are_reported() {
        let limit = Duration::from_secs(20);
        let outcome = run(&mut shell("echo out; echo err >&2; exit 3"), limit).unwrap();
        assert_eq!(outcome.behaviour(), (Exit::Code(3), &b"out\n"[..]));
        assert_eq!(outcome.last_lines(), "err");
        assert_eq!(run(&mut shell("kill -8 $$"), limit).unwrap().exit, Exit::Signal(8));
    }

    #[test]
    fn a_run_that_times_out_is_killed_with_its_children() {
        let start = Instant::now();
        let outcome = run(&mut shell("sleep 60 & sleep 60"), Duration::from_millis(100)).unwrap();
        assert_eq!(outcome.exit, Exit::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn the_processor_time_of_a_busy_child_is_measured() {
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let (exit, cost) = measure(&mut shell(busy)).unwrap();
        assert!(exit.success());
        assert!(cost.cpu > Duration::from_millis(20), "{cost:?}");
    }
}
