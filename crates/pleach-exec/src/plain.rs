//! The program as the user runs it: by `exec`, without fork server and shared memory, and
//! without the driver's options for sanitizers. It still runs under a warden, so it has
//! limits and leaves nothing behind.
//!
//! The streams of a container become arguments, variables, standard input and a file.
//! Connections are refused, because only the runtime can deliver them.

use crate::container::{self, is_container};
use crate::executor::{End, ExecError, Outcome, TICK, TargetOptions, add_args, with_path};
use crate::files::{Capture, InputFiles};
use crate::layout::library_variable;
use crate::process::Family;
use crate::scratch::Scratch;
use crate::server::end_of_status;
use crate::terminal::Terminal;
use crate::warden::{Leftovers, Warden};
use pleach_abi::container::{ARG, ENV, FILE, SOCKET, STDIN};
use pleach_abi::shm;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub struct Plain {
    program: PathBuf,
    target: TargetOptions,
    input: InputFiles,
    /// The directory of the current run.
    scratch: Option<Scratch>,
    capture: Capture,
}

impl Plain {
    /// A run that writes more than `limit` bytes is ended.
    pub fn new(program: PathBuf, target: TargetOptions, limit: u64) -> Result<Plain, ExecError> {
        let io = |what| move |error| ExecError::Io { what, error };
        Ok(Plain {
            program,
            input: InputFiles::new(&target.extension).map_err(io("cannot make the input file"))?,
            scratch: None,
            capture: Capture::new(limit).map_err(io("cannot keep the target's output"))?,
            target,
        })
    }

    /// The file that inputs are written to: programs print its name.
    pub fn input_path(&self) -> &Path {
        self.input.path()
    }

    pub fn run(&mut self, input: &[u8], timeout: Duration) -> Result<Outcome, ExecError> {
        let io = |what| move |error| ExecError::Io { what, error };
        if self.target.scratch {
            let made = Scratch::new(self.target.workdir.as_ref());
            self.scratch = Some(made.map_err(io("cannot make a scratch directory"))?);
        }
        let mut command = self.command(input)?;
        let terminal = self.target.tty.map(Terminal::new).transpose();
        let terminal = terminal.map_err(io("cannot make a terminal"))?;
        if let Some(terminal) = &terminal {
            terminal.attach(&mut command).map_err(io("no descriptor"))?;
        }
        self.capture.clear().map_err(io("cannot keep the target's output"))?;
        let left = Leftovers {
            files: vec![self.input.path().into()],
            dirs: vec![self.input.directory().into()],
            tree: self.scratch.as_ref().map(|s| s.path().into()),
        };
        let spawn = |error| ExecError::Spawn { program: self.program.clone(), error };
        let mut warden =
            Warden::spawn(command, &[], self.target.file_kib << 10, terminal.is_some(), &left)
                .map_err(spawn)?;
        let keys = terminal.map(|terminal| Keys {
            first_modes: terminal.modes(),
            terminal,
            left: input,
            has_begun: false,
            since: Instant::now(),
        });
        let end = self.wait(&mut warden, Instant::now() + timeout, keys);
        drop(warden);
        self.scratch = None;
        let (stdout, stderr) = self.capture.read();
        Ok(Outcome { end, stdout, stderr, ..Outcome::not_run() })
    }

    fn wait(&self, warden: &mut Warden, deadline: Instant, mut keys: Option<Keys>) -> End {
        let (on_terminal, mut tick) = (keys.is_some(), TICK);
        loop {
            let now = Instant::now();
            if let Some(status) = warden.ended(deadline.min(now + tick)) {
                // The terminal is closed when all keys were read; that is no crash.
                return match end_of_status(status) {
                    End::Signal(libc::SIGHUP) if on_terminal && keys.is_none() => End::Exit(0),
                    end => end,
                };
            }
            if let Some(rest) = &mut keys {
                tick = Duration::from_millis(1);
                if !rest.type_next() {
                    (keys, tick) = (None, TICK);
                }
            }
            // There is no server: the program itself is the warden's child.
            let run = warden.server().unwrap_or(0);
            let family = Family::below(warden.pid(), 0, run, self.target.processes);
            if family.processes > self.target.processes {
                return End::Processes;
            } else if Instant::now() >= deadline {
                return End::Timeout;
            } else if self.target.memory_kib.is_some_and(|limit| family.resident_kib > limit) {
                return End::Memory;
            } else if self.capture.is_over() {
                return End::Output;
            }
        }
    }

    fn command(&mut self, input: &[u8]) -> Result<Command, ExecError> {
        let io = |what| move |error| ExecError::Io { what, error };
        let given = Given::of(input, self.target.socket)?;
        let args = &self.target.args;
        let names_input = args.iter().skip(1).any(|a| with_path(a, &self.program).is_some());
        let visible = if names_input { given.file } else { given.stdin };
        self.input.put(visible, None).map_err(io("cannot write the input"))?;
        let program = std::path::absolute(&self.program).map_err(io("no current directory"))?;
        let mut command = Command::new(program);
        add_args(&mut command, args, self.input.path());
        crate::process::hide_secrets(&mut command);
        if let Some(scratch) = &self.scratch {
            command.current_dir(scratch.path());
            let libraries = std::env::join_paths(library_variable()).unwrap_or_default();
            if !libraries.is_empty() {
                command.env("LD_LIBRARY_PATH", libraries);
            }
        }
        command.args(given.args).envs(given.variables).env_remove(shm::ENV);
        command.env(shm::PLAIN_ENV.to_str().unwrap_or_default(), "1");
        let stdin = match names_input {
            false => self.input.stdin().map(Stdio::from),
            true if given.stdin.is_empty() => Ok(Stdio::null()),
            true => temporary_file(given.stdin),
        };
        command.stdin(stdin.map_err(io("cannot write the input"))?);
        let (stdout, stderr) = self.capture.handles().map_err(io("no descriptor"))?;
        command.stdout(stdout).stderr(stderr);
        Ok(command)
    }
}

/// The keys that are still to be typed on the terminal. They are typed at most a line at a
/// time, and only when the program has read all keys before. Programs drop waiting keys when
/// they set up the terminal, so typing first waits for that, for a limited time.
struct Keys<'a> {
    terminal: Terminal,
    /// The modes of the terminal before the program started.
    first_modes: Vec<u8>,
    left: &'a [u8],
    has_begun: bool,
    /// When typing began to wait, or when the last key was typed.
    since: Instant,
}

impl Keys<'_> {
    /// Types the next keys, if it is time. False when all keys were read.
    fn type_next(&mut self) -> bool {
        const MAX_AT_ONCE: usize = 64;
        const MAX_WAIT: Duration = Duration::from_millis(300);
        if !self.has_begun {
            let has_changed = self.terminal.modes() != self.first_modes;
            self.has_begun = has_changed || self.since.elapsed() > MAX_WAIT;
            return true;
        }
        // The kernel does not report whether a line without its end was read.
        if !self.terminal.is_read() || self.left.is_empty() && self.since.elapsed() < MAX_WAIT {
            return true;
        }
        self.since = Instant::now();
        let line = self.left.iter().position(|&b| b == b'\n').map_or(self.left.len(), |at| at + 1);
        let (now, rest) = self.left.split_at(line.min(MAX_AT_ONCE));
        self.left = rest;
        !now.is_empty() && self.terminal.type_keys(now).is_ok()
    }
}

/// An input, in the parts that the program gets.
#[derive(Default)]
struct Given<'a> {
    stdin: &'a [u8],
    file: &'a [u8],
    args: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

impl<'a> Given<'a> {
    fn of(input: &'a [u8], socket: bool) -> Result<Given<'a>, ExecError> {
        if socket {
            return Err(ExecError::Connections);
        }
        if !is_container(input) {
            return Ok(Given { stdin: input, file: input, ..Given::default() });
        }
        let mut given = Given::default();
        for stream in container::parse(input).unwrap_or_default() {
            let text = |bytes: &[u8]| match bytes.contains(&0) {
                true => Err(ExecError::ZeroByte),
                false => Ok(OsString::from_vec(bytes.to_vec())),
            };
            match stream.kind {
                STDIN => given.stdin = stream.bytes,
                FILE => given.file = stream.bytes,
                ARG => given.args.push(text(stream.bytes)?),
                ENV => {
                    let at = stream.bytes.iter().position(|&b| b == b'=').unwrap_or(0);
                    let (name, value) = stream.bytes.split_at(at);
                    if !name.is_empty() {
                        given.variables.push((text(name)?, text(&value[1..])?));
                    }
                }
                SOCKET => return Err(ExecError::Connections),
                _ => {}
            }
        }
        Ok(given)
    }
}

/// A file without a name, for standard input beside an input file.
fn temporary_file(bytes: &[u8]) -> io::Result<Stdio> {
    use std::io::Seek;
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}
