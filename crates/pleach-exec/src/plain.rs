//! The program as a person runs it: by `exec`, with no fork server, no driver's
//! options for sanitizers and no shared memory. It stands below a warden all the
//! same: it has limits, and leaves nothing behind.
//!
//! A container becomes what it stands for: arguments, variables, standard input,
//! a file. Connections need the runtime to deliver them, so they are refused.

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
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub struct Plain {
    program: PathBuf,
    target: TargetOptions,
    input: InputFiles,
    /// Of the run that is under way.
    scratch: Option<Scratch>,
    capture: Capture,
}

impl Plain {
    /// Output beyond `limit` ends a run.
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
            first: terminal.modes(),
            terminal,
            left: input,
            since: Instant::now(),
            began: false,
        });
        let end = self.wait(&mut warden, Instant::now() + timeout, keys);
        drop(warden);
        self.scratch = None;
        let (stdout, stderr) = self.capture.read();
        Ok(Outcome { end, stdout, stderr, ..Outcome::nothing() })
    }

    fn wait(&self, warden: &mut Warden, deadline: Instant, mut keys: Option<Keys>) -> End {
        let (on_terminal, mut tick) = (keys.is_some(), TICK);
        loop {
            let now = Instant::now();
            if let Some(status) = warden.ended(deadline.min(now + tick)) {
                // Whoever is left without a terminal has read all there was.
                return match end_of_status(status) {
                    End::Signal(libc::SIGHUP) if on_terminal && keys.is_none() => End::Exit(0),
                    end => end,
                };
            }
            if let Some(rest) = &mut keys {
                tick = Duration::from_millis(1);
                if !rest.press() {
                    (keys, tick) = (None, TICK);
                }
            }
            let (most, run) = (self.target.processes, warden.server().unwrap_or(0));
            // There is no server: the program itself is the warden's child.
            let family = Family::below(warden.pid(), 0, run, most);
            let grown = self.target.memory_kib.is_some_and(|most| family.resident_kib > most);
            match () {
                () if family.processes > most => return End::Processes,
                () if Instant::now() >= deadline => return End::Timeout,
                () if grown => return End::Memory,
                () if self.capture.is_over() => return End::Output,
                () => {}
            }
        }
    }

    fn command(&mut self, input: &[u8]) -> Result<Command, ExecError> {
        let io = |what| move |error| ExecError::Io { what, error };
        let given = Given::of(input, self.target.socket)?;
        let named = self.target.args.iter().skip(1).any(|a| with_path(a, &self.program).is_some());
        let visible = if named { given.file } else { given.stdin };
        self.input.put(visible, None).map_err(io("cannot write the input"))?;
        let program = std::path::absolute(&self.program).map_err(io("no current directory"))?;
        let mut command = Command::new(program);
        add_args(&mut command, &self.target.args, self.input.path());
        if let Some(scratch) = &self.scratch {
            command.current_dir(scratch.path());
            let libraries = std::env::join_paths(library_variable()).unwrap_or_default();
            if !libraries.is_empty() {
                command.env("LD_LIBRARY_PATH", libraries);
            }
        }
        command.args(given.args).envs(given.variables).env_remove(shm::ENV);
        let stdin = match named {
            false => self.input.stdin().map(Stdio::from),
            true if given.stdin.is_empty() => Ok(Stdio::null()),
            true => spooled(given.stdin),
        };
        command.stdin(stdin.map_err(io("cannot write the input"))?);
        let (stdout, stderr) = self.capture.handles().map_err(io("no descriptor"))?;
        command.stdout(stdout).stderr(stderr);
        Ok(command)
    }
}

/// What is still to be typed. It is typed a line at a time at most, and only when
/// the program has read what came before. Programs throw away what they find when
/// they set up the terminal, so typing waits for that, for a while.
struct Keys<'a> {
    terminal: Terminal,
    first: Vec<u8>,
    left: &'a [u8],
    began: bool,
    /// When typing began to wait, or something was typed last.
    since: Instant,
}

impl Keys<'_> {
    /// Types some more; false when all has been read.
    fn press(&mut self) -> bool {
        const MOST: usize = 64;
        const WHILE: Duration = Duration::from_millis(300);
        if !self.began {
            self.began = self.terminal.modes() != self.first || self.since.elapsed() > WHILE;
            return true;
        }
        // Of half a line the kernel does not say whether it was read.
        if !self.terminal.is_read() || self.left.is_empty() && self.since.elapsed() < WHILE {
            return true;
        }
        self.since = Instant::now();
        let line = self.left.iter().position(|&b| b == b'\n').map_or(self.left.len(), |at| at + 1);
        let (now, rest) = self.left.split_at(line.min(MOST));
        self.left = rest;
        !now.is_empty() && self.terminal.type_keys(now).is_ok()
    }
}

/// An input as the program will meet it.
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

/// Standard input beside a file: a file without a name.
fn spooled(bytes: &[u8]) -> io::Result<Stdio> {
    use std::io::Seek;
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}
