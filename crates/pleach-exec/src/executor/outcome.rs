//! The result of a run, and the errors that prevent one.

use crate::growth::Calls;
use crate::shm::LoadedModule;
use pleach_abi::section::Counter;
use pleach_abi::shm::Line;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
    /// It was killed at its limit of time, by the clock or in CPU time.
    Timeout,
    /// It was killed at its limit of memory.
    Memory,
    /// It was killed because it wrote more than it may, or more than is kept.
    Output,
    /// It was killed because it started too many processes.
    Processes,
    /// The fork server is gone or does not answer. The next run starts a new one.
    Lost(String),
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub end: End,
    /// CPU time of the run, user and system.
    pub cpu: Duration,
    pub rss_kib: u64,
    /// Processes that the run left behind. They have been killed.
    pub strays: u32,
    /// How many inputs the process has seen, this one included. It is more than 1 only in
    /// persistent mode. Then an earlier input may be the cause of what happened.
    pub round: u32,
    /// What typed calls did at the end of the input.
    pub calls: Calls,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// The outcome of a run that did not take place.
    pub(crate) fn not_run() -> Outcome {
        Outcome {
            end: End::Lost("the fork server is gone".into()),
            cpu: Duration::ZERO,
            rss_kib: 0,
            strays: 0,
            round: 1,
            calls: Calls::default(),
            stdout: Vec::new(),
            stderr: Vec::new(),
        }
    }
}

/// Branch counters of one module after a run.
#[derive(Clone, Debug)]
pub struct ModuleCounters {
    pub module: LoadedModule,
    pub counters: Vec<u8>,
}

/// The counters that a run moved, in lines, in order. [`Line::first`] is the number of a
/// counter in the cover region.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touched<'a> {
    pub modules: &'a [LoadedModule],
    pub lines: &'a [Line],
}

impl<'a> Touched<'a> {
    /// The lines of one module.
    pub fn lines_of(&self, module: &LoadedModule) -> &'a [Line] {
        let size = size_of::<Counter>() as u64;
        let (first, count) = (module.cover_at / size, module.counters / size);
        let before = |end: u64| self.lines.partition_point(|line| u64::from(line.first) < end);
        let (from, to) = (before(first), before(first.saturating_add(count)));
        self.lines.get(from..to).unwrap_or_default()
    }

    /// All counters of each module.
    pub fn by_module(&self) -> Vec<ModuleCounters> {
        let all = |module: &LoadedModule| {
            let size = size_of::<Counter>() as u64;
            let mut counters = vec![0; (module.counters / size) as usize];
            for line in self.lines_of(module) {
                let at = line.first as usize - (module.cover_at / size) as usize;
                let to = counters[at..].iter_mut();
                to.zip(line.counts).for_each(|(to, count)| *to = count);
            }
            ModuleCounters { module: module.clone(), counters }
        };
        self.modules.iter().map(all).collect()
    }
}

/// What the user or the machine must fix. Whatever a target does in a run is an [`End`].
#[derive(Debug, Error)]
pub enum ExecError {
    #[error("{what}: {error}")]
    Io { what: &'static str, error: io::Error },
    #[error("{}: cannot be started: {error}", program.display())]
    Spawn { program: PathBuf, error: io::Error },
    #[error("{}: does not start: {why}", program.display())]
    Start {
        program: PathBuf,
        why: String,
        /// It was killed by SIGKILL, or its warden was: perhaps by somebody else.
        was_killed: bool,
    },
    #[error(
        "{}: built by another version of Pleach (its layout is {theirs}, this one's {ours}); \
         build it again with this `pleach cc`",
        program.display()
    )]
    Version { program: PathBuf, theirs: u32, ours: u32 },
    #[error(
        "the plain program cannot get its input from connections: only the fork server \
         delivers them (use another half)"
    )]
    Connections,
    #[error("a zero byte cannot be in an argument or a variable of the plain program")]
    ZeroByte,
}

impl ExecError {
    /// Names the operation that failed, for `map_err`.
    pub(crate) fn io(what: &'static str) -> impl Fn(io::Error) -> ExecError {
        move |error| ExecError::Io { what, error }
    }
}

pub(crate) const WRITE_SHM: &str = "cannot write the shared memory";
pub(crate) const READ_SHM: &str = "cannot read the shared memory";
