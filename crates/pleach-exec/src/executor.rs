//! Runs one half of a target on inputs, one at a time, through its fork server.
//!
//! The server is started when it is first needed and again after it was lost.
//! A run ends by itself, by the clock, or by a limit; whatever happened is an
//! [`End`], never an error: errors are for what the person or the machine must
//! mend. After each run what it left behind is swept away (see `process`).

mod live;

pub use live::{Events, Paused, Step};

use crate::container::{self, is_container};
use crate::files::{Capture, InputFiles};
use crate::growth::{Calls, Growth};
use crate::layout::Layout;
use crate::process::{Family, FileWatch, high_duplicate, listing, socket_pair};
use crate::scratch::{Saved, Scratch, WorkDir};
use crate::server::{Answer, Server, Word, describe};
use crate::shm::{LoadedModule, Shm, Sizes};
use crate::terminal::{Size, Terminal};
use crate::trace::{BrokenTrace, Trace};
use crate::warden::{Leftovers, Warden};
use pleach_abi::message::{self, Message};
use pleach_abi::shm::Hole;
use pleach_abi::{ABI_VERSION, shm};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Fast,
    Symbolic,
}

/// Where a target's standard output and error go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Null,
    Inherit,
    /// Kept for [`Outcome`]; a run that writes more than `limit` is ended.
    Capture {
        limit: u64,
    },
}

/// What to run and how.
#[derive(Clone, Debug)]
pub struct TargetOptions {
    pub half: Half,
    /// The program's name for itself, then its arguments. In each, `@@` stands
    /// for the path of the input file; without any, the input is standard input.
    pub args: Vec<OsString>,
    pub output: Output,
    /// Connections that the program makes or accepts deliver the input.
    pub socket: bool,
    /// The program runs on a terminal of this size, whose keys are the input.
    pub tty: Option<Size>,
    /// Label the input (symbolic half).
    pub label: bool,
    /// Token functions are a border (symbolic half); see docs/tokens.md.
    pub tokens: bool,
    pub sizes: Sizes,
    /// From start to the server's first message.
    pub startup: Duration,
    /// A run that grows beyond this, all its processes together, is ended.
    pub memory_kib: Option<u64>,
    /// A run that writes a longer file is ended, or more into its scratch
    /// directory.
    pub file_kib: u64,
    /// A run with more processes is ended.
    pub processes: u32,
    /// Runs have a directory of their own to work in, the same each time. Without
    /// it they work where the driver does.
    pub scratch: bool,
    /// What is in that directory; without it, nothing.
    pub workdir: Option<WorkDir>,
    /// The input file's name ends like this (`.json`), for programs that look.
    pub extension: OsString,
    /// When it is set, a run is ended at once, as if its time were up.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl TargetOptions {
    pub fn new(half: Half, args: Vec<OsString>) -> TargetOptions {
        TargetOptions {
            half,
            args,
            output: Output::Null,
            socket: false,
            tty: None,
            label: true,
            tokens: false,
            sizes: Sizes::default(),
            startup: Duration::from_secs(10),
            memory_kib: Some(4 << 20),
            file_kib: 1 << 20,
            processes: 256,
            scratch: false,
            workdir: None,
            extension: OsString::new(),
            cancel: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
    /// It took longer than it may, by the clock or in CPU time, and was killed.
    Timeout,
    /// It grew beyond the memory it may use, and was killed.
    Memory,
    /// It wrote more than is kept, or than it may, and was killed.
    Output,
    /// It started more processes than it may, and was killed with them.
    Processes,
    /// The fork server is gone or no longer answers; the next run starts it anew.
    Lost(String),
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub end: End,
    /// CPU time of the run, user and system.
    pub cpu: Duration,
    pub rss_kib: u64,
    /// Processes that the run left behind (they are gone now).
    pub strays: u32,
    /// How many inputs its process has seen, this one included. More than 1 only
    /// for a program with a persistent loop: then what happened may be due to
    /// the inputs before.
    pub round: u32,
    /// What typed calls did at the end of the input.
    pub calls: Calls,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// Of a run that never was.
    pub(crate) fn nothing() -> Outcome {
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

#[derive(Debug, Error)]
pub enum ExecError {
    #[error("{what}: {error}")]
    Io { what: &'static str, error: io::Error },
    #[error("{}: cannot be started: {error}", program.display())]
    Spawn { program: PathBuf, error: io::Error },
    #[error("{}: does not start: {why}", program.display())]
    Start { program: PathBuf, why: String },
    #[error(
        "{}: built by another version of Pleach (its layout is {theirs}, this one's {ours}); \
         build it again with this `pleach cc`",
        program.display()
    )]
    Version { program: PathBuf, theirs: u32, ours: u32 },
    #[error(
        "connections deliver the input only under the fork server: the plain program \
         cannot be given it (use another half)"
    )]
    Connections,
    #[error("a zero byte cannot be in an argument or a variable of the plain program")]
    ZeroByte,
}

/// Branch counters of one module after a run.
#[derive(Clone, Debug)]
pub struct ModuleCounters {
    pub module: LoadedModule,
    pub counters: Vec<u8>,
}

pub struct Executor {
    // The server goes first: nothing may run when the files go.
    server: Option<Server>,
    target: TargetOptions,
    layout: Arc<Layout>,
    shm: Shm,
    input: InputFiles,
    /// Made when it is first needed.
    scratch: Option<Scratch>,
    capture: Option<Capture>,
    terminal: Option<Terminal>,
    input_len: u64,
    /// Holes of the next run, and the lengths of those of the last.
    holes: Vec<Hole>,
    lengths: Vec<u32>,
    cpu_limit: Option<Duration>,
    growth: Growth,
    /// The next run has a process that saw no input before.
    fresh: bool,
    /// The scratch directory of the live run that stands.
    saved: Option<Saved>,
    /// Paths changed it, and that could not be undone.
    spoiled: bool,
}

/// What sanitizers in the fast half must do under a driver: end a bad run by a
/// signal, at once. Names for addresses and leaks at exit cost more than a run
/// does; a signal of the program's own stays the signal that it is.
const SANITIZERS: [(&str, &str); 2] = [
    (
        "ASAN_OPTIONS",
        "abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1:\
         handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0",
    ),
    (
        "UBSAN_OPTIONS",
        "halt_on_error=1:abort_on_error=1:symbolize=0:print_stacktrace=0:\
         handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0",
    ),
];

/// Keys that a run on a terminal may get.
const KEYS: u64 = 16 << 20;

/// How often limits are looked at.
pub(crate) const TICK: Duration = Duration::from_millis(20);
const LEAST_TICK: Duration = Duration::from_millis(2);

/// How much more CPU time a run may use than time by the clock: threads and
/// children add up, and some programs mean it.
pub(crate) const CPU_SHARE: u32 = 4;

impl Executor {
    pub fn new(layout: Arc<Layout>, mut target: TargetOptions) -> Result<Executor, ExecError> {
        let io = |what| move |error| ExecError::Io { what, error };
        let capture = match target.output {
            Output::Capture { limit } => {
                Some(Capture::new(limit).map_err(io("cannot keep the target's output"))?)
            }
            _ => None,
        };
        let terminal = target.tty.map(Terminal::new).transpose();
        let terminal = terminal.map_err(io("cannot make a terminal"))?;
        if terminal.is_some() && target.sizes.live == 0 {
            target.sizes.live = KEYS;
        }
        Ok(Executor {
            server: None,
            shm: Shm::new(target.sizes).map_err(io("cannot make the shared memory"))?,
            input: InputFiles::new(&target.extension).map_err(io("cannot make the input file"))?,
            scratch: None,
            capture,
            terminal,
            target,
            layout,
            input_len: 0,
            holes: Vec::new(),
            lengths: Vec::new(),
            cpu_limit: None,
            growth: Growth::default(),
            fresh: false,
            saved: None,
            spoiled: false,
        })
    }

    /// Starts the server if it is not running, so that its errors come now.
    pub fn start(&mut self) -> Result<(), ExecError> {
        if self.server.is_none() {
            self.server = Some(self.start_server(false)?);
        }
        Ok(())
    }

    /// Ends the server: the next run begins with a fresh process, whatever the
    /// program kept from the inputs before.
    pub fn stop(&mut self) {
        self.server = None;
    }

    /// Whether token functions are a border in the runs from here on.
    pub fn on_tokens(&mut self, tokens: bool) {
        self.target.tokens = tokens;
    }

    /// Ends runs that use more CPU time than this, however little time went by
    /// on the clock; `None` for a few times what the clock allows.
    pub fn limit_cpu(&mut self, limit: Option<Duration>) {
        self.cpu_limit = limit;
    }

    /// What typed calls past the end of the input get in the runs from here on.
    pub fn set_growth(&mut self, growth: Growth) {
        self.growth = growth;
    }

    /// Runs the target once.
    pub fn run(&mut self, input: &[u8], timeout: Duration) -> Result<Outcome, ExecError> {
        self.run_with(input, &[], timeout)
    }

    /// As [`Executor::run`], with holes whose lengths are variables (symbolic half):
    /// those that lie in the input, as many as there is room for.
    pub fn run_with(
        &mut self,
        input: &[u8],
        holes: &[Hole],
        timeout: Duration,
    ) -> Result<Outcome, ExecError> {
        let inside = |h: &&Hole| {
            let end = u64::from(h.start) + u64::from(h.len);
            end <= input.len() as u64 && u64::from(h.grows) <= end
        };
        self.holes = holes.iter().filter(inside).take(shm::HOLES_MAX).copied().collect();
        self.prepare(input)?;
        let mut outcome = self.round(timeout);
        self.collect(&mut outcome);
        Ok(outcome)
    }

    /// Runs the target once, and sees whether it opens or reads its input file, be it by a
    /// library that was not built with Pleach.
    pub fn run_seeing_use(
        &mut self,
        input: &[u8],
        timeout: Duration,
    ) -> Result<(Outcome, bool), ExecError> {
        self.prepare(input)?;
        let watch = FileWatch::new(self.input.path());
        let mut outcome = self.round(timeout);
        self.collect(&mut outcome);
        // Without a watch, it may have.
        Ok((outcome, watch.map_or(true, |w| w.was_used())))
    }

    /// As [`Executor::run`], in a process that has seen no input before. The fork server
    /// stays.
    pub fn run_fresh(&mut self, input: &[u8], timeout: Duration) -> Result<Outcome, ExecError> {
        self.fresh = true;
        let outcome = self.run(input, timeout);
        self.fresh = false;
        outcome
    }

    /// What an input covers by itself: in a process that has seen no other, and, if that
    /// process waits for more, once more in it. A persistent target does in its first call
    /// what it never does again.
    pub fn cover_alone(
        &mut self,
        input: &[u8],
        timeout: Duration,
    ) -> Result<[Vec<ModuleCounters>; 2], ExecError> {
        let io = |error| ExecError::Io { what: "cannot read the counters", error };
        self.run_fresh(input, timeout)?;
        let first = self.counters().map_err(io)?;
        if !self.waits() {
            return Ok([first, Vec::new()]);
        }
        self.run(input, timeout)?;
        Ok([first, self.counters().map_err(io)?])
    }

    /// True if the process of the last run waits for its next input.
    pub fn waits(&self) -> bool {
        self.server.as_ref().is_some_and(|s| s.rounds > 0)
    }

    /// Runs the target once, in a fresh process, while `watch` is told the server
    /// that will fork the run. It says when the run may begin, and is told when
    /// the run is over.
    pub(crate) fn run_watched<T: Send>(
        &mut self,
        input: &[u8],
        timeout: Duration,
        watch: impl FnOnce(i32, &AtomicBool, &AtomicBool) -> T + Send,
    ) -> Result<(Outcome, Option<T>), ExecError> {
        self.stop();
        self.prepare(input)?;
        // What the server says of itself is not to be believed.
        let server = self.server.as_ref().and_then(Server::verified_pid);
        let (ready, done) = (AtomicBool::new(false), AtomicBool::new(false));
        let (mut outcome, seen) = std::thread::scope(|scope| {
            let (ready, done) = (&ready, &done);
            let thread = server.map(|pid| scope.spawn(move || watch(pid, ready, done)));
            while thread.as_ref().is_some_and(|t| !t.is_finished()) && !ready.load(Acquire) {
                std::thread::sleep(Duration::from_micros(100));
            }
            let outcome = self.round(timeout);
            done.store(true, Release);
            (outcome, thread.and_then(|t| t.join().ok()))
        });
        self.collect(&mut outcome);
        self.stop();
        Ok((outcome, seen))
    }

    /// Puts the input and everything else in place for a run.
    fn prepare(&mut self, input: &[u8]) -> Result<(), ExecError> {
        if self.terminal.is_none() {
            return self.place(input, 0);
        }
        let labels = self.target.label && self.target.half == Half::Symbolic;
        let label = if labels { shm::RUN_LABEL } else { 0 };
        self.place(input, shm::RUN_LIVE | shm::RUN_ENDS | label)?;
        self.live_whole(input)
    }

    fn place(&mut self, input: &[u8], more: u32) -> Result<(), ExecError> {
        let io = |what| move |error| ExecError::Io { what, error };
        let container = is_container(input);
        let visible = if container { file_of(input) } else { input };
        let intact = self.input.put(visible, container.then_some(input));
        let intact = intact.map_err(io("cannot write the input"))?;
        self.make_scratch()?;
        let tidy = match &mut self.scratch {
            Some(scratch) => scratch.clear().map_err(io("cannot make a scratch directory"))?,
            None => true,
        };
        if !intact || !tidy || self.server.as_ref().is_some_and(|s| s.container != container) {
            self.server = None;
        }
        if self.server.is_none() {
            self.server = Some(self.start_server(container)?);
        }
        self.input_len = input.len() as u64;
        let mut flags = more;
        for (set, flag) in [
            (self.target.label && self.target.half == Half::Symbolic && more == 0, shm::RUN_LABEL),
            (container, shm::RUN_CONTAINER),
            (self.target.socket, shm::RUN_SOCKET),
            (self.fresh, shm::RUN_FRESH),
            (self.target.tokens && self.target.half == Half::Symbolic, shm::RUN_TOKENS),
            (self.growth.fixed, shm::RUN_FIXED),
        ] {
            flags |= if set { flag } else { 0 };
        }
        let shared = io("cannot write the shared memory");
        let holes = std::mem::take(&mut self.holes);
        self.lengths = holes.iter().map(|h| h.len).collect();
        let growth = self.growth.prepare(input);
        self.shm.prepare_run(self.input_len, flags, &holes, growth).map_err(shared)?;
        self.clear_counters()?;
        if let Some(capture) = &self.capture {
            capture.clear().map_err(io("cannot keep the target's output"))?;
        }
        Ok(())
    }

    fn clear_counters(&self) -> Result<(), ExecError> {
        let io = |error| ExecError::Io { what: "cannot write the shared memory", error };
        let modules = self.server.iter().flat_map(|s| &s.modules);
        modules
            .into_iter()
            .try_for_each(|m| self.shm.clear_counters(m.cover_at, m.counters).map_err(io))
    }

    fn collect(&self, outcome: &mut Outcome) {
        outcome.calls = self.shm.growth().map(Calls::from).unwrap_or_default();
        if let Some(capture) = &self.capture {
            (outcome.stdout, outcome.stderr) = capture.read();
        }
    }

    /// The trace of the last run (symbolic half).
    pub fn trace(&self) -> Result<Trace, BrokenTrace> {
        Trace::read(&self.shm, self.input_len, &self.lengths)
    }

    /// As much of the trace of the last run as a search can use.
    pub fn bounded_trace(&self) -> Result<Trace, BrokenTrace> {
        let never = AtomicBool::new(false);
        let stop = self.target.cancel.as_deref().unwrap_or(&never);
        Trace::read_bounded(&self.shm, self.input_len, &self.lengths, stop)
    }

    /// Branch counters after the last run, with what the start covered (fast half).
    pub fn counters(&self) -> io::Result<Vec<ModuleCounters>> {
        let Some(server) = &self.server else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for (m, startup) in server.modules.iter().zip(&server.startup) {
            let mut counters = self.shm.counters(m.cover_at, m.counters)?.unwrap_or_default();
            counters.iter_mut().zip(startup).for_each(|(c, s)| *c = (*c).max(*s));
            all.push(ModuleCounters { module: m.clone(), counters });
        }
        Ok(all)
    }

    /// The executable files that the server has mapped: the program and its libraries.
    pub fn loaded_files(&self) -> Vec<PathBuf> {
        let pid = self.server.as_ref().and_then(Server::verified_pid);
        let maps = pid.and_then(|pid| std::fs::read_to_string(format!("/proc/{pid}/maps")).ok());
        let mut files: Vec<PathBuf> = Vec::new();
        for line in maps.unwrap_or_default().lines() {
            let runs = line.split_whitespace().nth(1).is_some_and(|mode| mode.contains('x'));
            let path = line.find('/').map(|at| PathBuf::from(&line[at..]));
            files.extend(path.filter(|p| runs && !files.contains(p)));
        }
        files
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// One round of the protocol: from `RUN` to whatever ends it.
    fn round(&mut self, timeout: Duration) -> Outcome {
        let mut outcome = Outcome::nothing();
        if let Some(server) = self.server.as_mut().filter(|_| self.fresh) {
            server.rounds = 0;
        }
        outcome.round = self.server.as_ref().map_or(0, |s| s.rounds) + 1;
        match self.say(Word::Run, timeout, false) {
            Ok(Answer::Ended(end, done)) => self.ended(end, &done, &mut outcome),
            Ok(Answer::Paused(_)) => {
                self.server = None;
                outcome.end = End::Lost("the fork server broke its protocol".into());
            }
            Err(why) => outcome.end = self.lost(why),
        }
        outcome
    }

    /// Says a word to the server or to the live run that stands, and waits for
    /// what comes of it, with an eye on the limits. A live run that still takes
    /// events when its time is up gets as much time again.
    fn say(&mut self, word: Word, timeout: Duration, live: bool) -> Result<Answer, String> {
        let Some(server) = &mut self.server else { return Err("the fork server is gone".into()) };
        let target = &self.target;
        let (warden, own) = (server.warden.pid(), server.pid);
        let most_cpu = self.cpu_limit.unwrap_or(timeout * CPU_SHARE);
        // A process that has seen inputs before has used time before.
        let mut before = None;
        let mut taken = 0;
        let tick = TICK.min(most_cpu / 4).max(LEAST_TICK);
        server.converse(word, timeout, tick, &mut |pid, late| {
            if target.cancel.as_ref().is_some_and(|c| c.load(Relaxed)) {
                return Some(End::Timeout);
            }
            let family = Family::below(warden, own, pid, target.processes);
            let cpu_before = before.get_or_insert(family.cpu);
            if late {
                let now = self.shm.live_counts().map_or(0, |(taken, _)| taken);
                if !live || now == taken {
                    return Some(End::Timeout);
                }
                (taken, *cpu_before) = (now, family.cpu);
            }
            let written = self.scratch.as_ref().is_some_and(|s| s.is_over(target.file_kib << 10));
            if family.processes > target.processes {
                Some(End::Processes)
            } else if target.memory_kib.is_some_and(|most| family.resident_kib > most) {
                Some(End::Memory)
            } else if family.cpu.saturating_sub(*cpu_before) > most_cpu {
                Some(End::Timeout)
            } else if written || self.capture.as_ref().is_some_and(Capture::is_over) {
                Some(End::Output)
            } else {
                None
            }
        })
    }

    /// Takes in what the server says of a run that ended, and sweeps up.
    fn ended(&mut self, end: End, done: &Message, outcome: &mut Outcome) {
        let Some(server) = &mut self.server else { return };
        outcome.end = match end {
            End::Signal(libc::SIGXFSZ) => End::Output,
            end => end,
        };
        outcome.cpu = Duration::from_micros(done.b);
        outcome.rss_kib = done.c;
        if server.warden.has_strays() == Some(true) {
            match server.warden.sweep() {
                Some(strays) => outcome.strays = strays,
                // The warden takes the time it needs; not with our next run.
                None => self.server = None,
            }
        }
    }

    /// The server is gone: how, in words.
    fn lost(&mut self, why: String) -> End {
        let note = self.shm.note();
        let status = self
            .server
            .as_mut()
            .and_then(|s| s.warden.ended(Instant::now() + Duration::from_secs(1)));
        let mut text = why;
        if let Some(status) = status {
            text = format!("{text}: {}", describe(status));
        }
        if let Some(note) = note {
            text = format!("{text}: {note}");
        }
        self.server = None;
        End::Lost(text)
    }

    /// Makes the directory that runs work in, where there is none yet. Not before a warden
    /// is there to remove it whatever ends the driver.
    fn make_scratch(&mut self) -> Result<(), ExecError> {
        if self.target.scratch && self.scratch.is_none() {
            let made = Scratch::new(self.target.workdir.as_ref());
            let io = |error| ExecError::Io { what: "cannot make a scratch directory", error };
            self.scratch = Some(made.map_err(io)?);
        }
        Ok(())
    }

    fn start_server(&mut self, container: bool) -> Result<Server, ExecError> {
        self.make_scratch()?;
        let failure = match self.try_start(container, self.target.output) {
            Err(ExecError::Start { why, .. }) if self.target.output == Output::Null => why,
            other => return other,
        };
        // Its output went nowhere. Once more, to hear what it says.
        let limit = 1 << 20;
        let kept = Capture::new(limit).ok();
        let before = std::mem::replace(&mut self.capture, kept);
        let again = self.try_start(container, Output::Capture { limit });
        self.capture = before;
        match again {
            Err(error) => Err(error),
            Ok(_) => Err(ExecError::Start { program: self.program(), why: failure }),
        }
    }

    fn program(&self) -> PathBuf {
        self.layout.fast.path.clone()
    }

    fn try_start(&mut self, container: bool, output: Output) -> Result<Server, ExecError> {
        let io = |what| move |error| ExecError::Io { what, error };
        let (control, theirs) = socket_pair(libc::SOCK_STREAM).map_err(io("no socket"))?;
        let (dev, ino) = self.input.identity();
        self.shm.prepare_target(dev, ino).map_err(io("cannot write the shared memory"))?;
        let given = self.input.given(container).as_raw_fd();
        let mut fds = vec![theirs.as_raw_fd(), self.shm.file().as_raw_fd(), given];
        fds.extend(self.terminal.as_ref().map(Terminal::fd));
        let mut kept = Vec::new();
        for fd in fds {
            kept.push(high_duplicate(fd).map_err(io("no descriptor"))?);
        }
        let numbers: Vec<_> = kept.iter().map(AsRawFd::as_raw_fd).collect();
        let mut command = self.command(output).map_err(io("no descriptor"))?;
        // Functions are looked up once, in the server, and not by every run.
        let bind = std::env::var_os(shm::ENV_BIND).is_none();
        if bind {
            command.env(shm::ENV_BIND, "1");
        }
        let list = [i32::from(bind)].into_iter().chain(numbers.iter().copied());
        let list: Vec<_> = list.map(|n| n.to_string()).collect();
        command.env(shm::ENV, list.join(":"));
        let file_limit = self.target.file_kib << 10;
        let on_terminal = self.terminal.is_some();
        let warden = Warden::spawn(command, &numbers, file_limit, on_terminal, &self.leftovers())
            .map_err(|error| ExecError::Spawn { program: self.program(), error })?;
        drop((theirs, kept));
        let mut server = Server::new(warden, control, container);
        self.greet(&mut server)?;
        Ok(server)
    }

    /// Waits for the server's first message.
    fn greet(&mut self, server: &mut Server) -> Result<(), ExecError> {
        let cancel = self.target.cancel.as_deref();
        let hello = match server.first(Instant::now() + self.target.startup, TICK, cancel) {
            Ok(Some(m)) if m.kind == message::HELLO => m,
            other => return Err(self.no_start(server, other)),
        };
        if hello.a != ABI_VERSION {
            let (theirs, ours) = (hello.a, ABI_VERSION);
            return Err(ExecError::Version { program: self.program(), theirs, ours });
        }
        server.pid = i32::try_from(hello.b).unwrap_or(0);
        let io = |error| ExecError::Io { what: "cannot read the shared memory", error };
        self.shm.keep_modules().map_err(io)?;
        server.modules = self.shm.modules().map_err(io)?;
        for m in &server.modules {
            let counters = self.shm.counters(m.cover_at, m.counters).map_err(io)?;
            server.startup.push(counters.unwrap_or_default());
        }
        Ok(())
    }

    /// Why a server did not start, in words.
    fn no_start(&self, server: &mut Server, instead: Result<Option<Message>, String>) -> ExecError {
        let ended = match instead {
            Ok(None) => None,
            _ => server.warden.ended(Instant::now() + Duration::from_secs(1)),
        };
        let mut why = match (instead, ended) {
            (_, Some(status)) if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 => {
                "it ended before it was ready for input (is pleach_ready() or __AFL_INIT() \
                 reached?)"
                    .into()
            }
            (_, Some(status)) => describe(status),
            (Ok(None), None) => {
                format!("no sign of life within {} s", self.target.startup.as_secs_f32())
            }
            (Ok(Some(_)), None) => "it does not speak the fork server's protocol".into(),
            (Err(why), None) => why,
        };
        if let Some(note) = self.shm.note() {
            why = note;
        } else if let Some(said) = self.capture.as_ref().and_then(Capture::last_words) {
            why = format!("{why}; it said: {said}");
        }
        ExecError::Start { program: self.program(), why }
    }

    fn command(&self, output: Output) -> io::Result<Command> {
        let program = match self.target.half {
            Half::Fast => &self.layout.fast.path,
            Half::Symbolic => &self.layout.symbolic_path,
        };
        // A name without a slash would be looked up in PATH.
        let mut command = Command::new(std::path::absolute(program)?);
        let mut args = self.target.args.iter();
        if let Some(name) = args.next() {
            command.arg0(name);
        }
        let mut by_path = false;
        for arg in args {
            let replaced = with_path(arg, self.input.path());
            by_path |= replaced.is_some();
            command.arg(replaced.unwrap_or_else(|| arg.clone()));
        }
        let stdin =
            if by_path || self.target.socket { Stdio::null() } else { self.input.stdin()?.into() };
        command.stdin(stdin);
        if let Some(scratch) = &self.scratch {
            command.current_dir(scratch.path());
        }
        if self.target.half == Half::Fast {
            for (name, ours) in SANITIZERS {
                command.env(name, sanitizer_options(ours, std::env::var_os(name)));
            }
        }
        if let Some(path) = self.layout.library_path(self.target.half) {
            command.env("LD_LIBRARY_PATH", path);
        }
        match (output, &self.capture) {
            (Output::Inherit, _) => {}
            (Output::Capture { .. }, Some(capture)) => {
                let (stdout, stderr) = capture.handles()?;
                command.stdout(stdout).stderr(stderr);
            }
            _ => {
                command.stdout(Stdio::null()).stderr(Stdio::null());
            }
        }
        if let Some(terminal) = &self.terminal {
            terminal.attach(&mut command)?;
        }
        Ok(command)
    }

    /// Private files that must go even if the driver is killed.
    fn leftovers(&self) -> Leftovers {
        let mut left = Leftovers::default();
        if let Some(dir) = self.layout.directory() {
            (left.files, left.dirs) = listing(dir);
        }
        left.files.push(self.input.path().into());
        left.dirs.push(self.input.directory().into());
        left.tree = self.scratch.as_ref().map(|s| s.path().into());
        left
    }
}

/// Our options and then the person's own: what comes later counts.
fn sanitizer_options(ours: &str, own: Option<OsString>) -> OsString {
    let mut options = OsString::from(ours);
    if let Some(own) = own.filter(|o| !o.is_empty()) {
        options.push(":");
        options.push(own);
    }
    options
}

/// The bytes of a container's file record: what the input file holds.
fn file_of(input: &[u8]) -> &[u8] {
    let streams = container::parse(input).unwrap_or_default();
    let file = streams.iter().find(|s| s.kind == pleach_abi::container::FILE);
    file.map_or(&[], |s| s.bytes)
}

/// An argument with `@@` replaced by a path; `None` if there is none in it.
pub(crate) fn with_path(arg: &OsStr, path: &Path) -> Option<OsString> {
    let (mut rest, mut out, mut found) = (arg.as_bytes(), Vec::new(), false);
    while let Some(at) = rest.windows(2).position(|w| w == b"@@") {
        out.extend(&rest[..at]);
        out.extend(path.as_os_str().as_bytes());
        (rest, found) = (&rest[at + 2..], true);
    }
    out.extend(rest);
    found.then(|| OsString::from_vec(out))
}
