//! Starting a fork server: its command line, environment and descriptors, and its first
//! message.

use super::limits::TICK;
use super::outcome::{READ_SHM, WRITE_SHM};
use super::setup::Setup;
use super::{ExecError, Half, Output, sanitizers};
use crate::files::Capture;
use crate::process::{hide_secrets, high_duplicate, socket_pair};
use crate::server::{Server, describe};
use crate::shm::CounterRanges;
use crate::terminal::Terminal;
use crate::warden::Warden;
use pleach_abi::message::{self, Message};
use pleach_abi::{ABI_VERSION, shm};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How much of the output is kept of a server that does not start.
const MAX_LAST_WORDS: u64 = 1 << 20;
/// How often a server is started that is killed before it is ready.
const MAX_STARTS: usize = 4;

impl Setup {
    /// Starts the fork server. `container`: the input is a container.
    pub fn start_server(&mut self, container: bool) -> Result<Server, ExecError> {
        self.run_dir.make()?;
        let failure = match self.start_patiently(container) {
            Err(ExecError::Start { why, .. }) if self.options.output == Output::Null => why,
            other => return other,
        };
        // Its output is lost. It is started once more, for what it writes before it ends.
        let limit = MAX_LAST_WORDS;
        let before = std::mem::replace(&mut self.capture, Capture::new(limit).ok());
        let again = self.try_start(container, Output::Capture { limit });
        self.capture = before;
        match again {
            Err(error) => Err(error),
            Ok(_) => {
                let program = self.program();
                Err(ExecError::Start { program, why: failure, was_killed: false })
            }
        }
    }

    /// Starts the server. One that somebody kills is started again a few times.
    fn start_patiently(&mut self, container: bool) -> Result<Server, ExecError> {
        let is_cancelled = |cancel: &AtomicBool| cancel.load(Ordering::Relaxed);
        for _ in 1..MAX_STARTS {
            let started = self.try_start(container, self.options.output);
            let was_killed = matches!(&started, Err(ExecError::Start { was_killed: true, .. }));
            if !was_killed || self.options.cancel.as_deref().is_some_and(is_cancelled) {
                return started;
            }
        }
        self.try_start(container, self.options.output)
    }

    fn try_start(&mut self, container: bool, output: Output) -> Result<Server, ExecError> {
        let (control, theirs) =
            socket_pair(libc::SOCK_STREAM).map_err(ExecError::io("no socket"))?;
        let (dev, ino) = self.input.identity();
        self.shm.prepare_target(dev, ino).map_err(ExecError::io(WRITE_SHM))?;
        let no_descriptor = ExecError::io("no descriptor");
        let inherited = self.inherited(&theirs, container).map_err(&no_descriptor)?;
        let numbers: Vec<_> = inherited.iter().map(AsRawFd::as_raw_fd).collect();
        let mut command = self.command(output).map_err(&no_descriptor)?;
        pass_descriptors(&mut command, &numbers);
        let file_limit = self.options.file_kib << 10;
        let on_terminal = self.terminal.is_some();
        let warden = Warden::spawn(command, &numbers, file_limit, on_terminal, &self.leftovers())
            .map_err(|error| ExecError::Spawn { program: self.program(), error })?;
        drop((theirs, inherited));
        let mut server = Server::new(warden, control, container);
        self.greet(&mut server)?;
        Ok(server)
    }

    /// The descriptors that the runtime gets, in the order of `PLEACH_CTL`.
    fn inherited(&self, control: &OwnedFd, container: bool) -> io::Result<Vec<OwnedFd>> {
        let input = self.input.given(container);
        let mut fds = vec![control.as_raw_fd(), self.shm.file().as_raw_fd(), input.as_raw_fd()];
        fds.extend(self.terminal.as_ref().map(Terminal::fd));
        fds.into_iter().map(high_duplicate).collect()
    }

    fn command(&self, output: Output) -> io::Result<Command> {
        let program = match self.options.half {
            Half::Fast => &self.layout.fast.path,
            Half::Symbolic => &self.layout.symbolic_path,
        };
        // A name without a slash would be looked up in PATH.
        let mut command = Command::new(std::path::absolute(program)?);
        let names_input = add_args(&mut command, &self.options.args, self.input.path());
        hide_secrets(&mut command);
        command.stdin(match names_input || self.options.socket {
            true => Stdio::null(),
            false => self.input.stdin()?.into(),
        });
        if let Some(dir) = self.run_dir.path() {
            command.current_dir(dir);
        }
        if self.options.half == Half::Fast {
            sanitizers::set_options(&mut command);
        }
        if let Some(path) = self.layout.library_path(self.options.half) {
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

    /// Waits for the server's first message, and reads what the server reports of itself.
    fn greet(&mut self, server: &mut Server) -> Result<(), ExecError> {
        let cancel = self.options.cancel.as_deref();
        let hello = match server.first(Instant::now() + self.options.startup, TICK, cancel) {
            Ok(Some(m)) if m.kind == message::HELLO => m,
            other => return Err(self.explain_failure(server, other)),
        };
        if hello.a != ABI_VERSION {
            let (theirs, ours) = (hello.a, ABI_VERSION);
            return Err(ExecError::Version { program: self.program(), theirs, ours });
        }
        server.pid = i32::try_from(hello.b).unwrap_or(0);
        let unreadable = ExecError::io(READ_SHM);
        self.shm.keep_modules().map_err(&unreadable)?;
        let mut modules = self.shm.modules().map_err(&unreadable)?;
        server.ranges = CounterRanges::new(&mut modules, self.options.sizes.cover);
        server.modules = modules.into();
        self.shm.take_counters(&server.ranges, &mut server.startup);
        Ok(())
    }

    /// Says why a server did not start. `instead`: what came in place of its first message.
    fn explain_failure(
        &self,
        server: &mut Server,
        instead: Result<Option<Message>, String>,
    ) -> ExecError {
        let status = match instead {
            Ok(None) => None,
            _ => server.warden.ended(Instant::now() + Duration::from_secs(1)),
        };
        // Without a status, the warden is gone.
        let was_killed = match status {
            Some(status) => libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL,
            None => instead.is_err(),
        };
        let mut why = match (instead, status) {
            (_, Some(status)) if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 => {
                "it ended before it was ready for input (is pleach_ready() or __AFL_INIT() \
                 reached?)"
                    .into()
            }
            (_, Some(status)) => describe(status),
            (Ok(None), None) => {
                format!("it sent no message within {} s", self.options.startup.as_secs_f32())
            }
            (Ok(Some(_)), None) => "it does not speak the fork server's protocol".into(),
            (Err(why), None) => why,
        };
        if let Some(note) = self.shm.note() {
            why = note;
        } else if let Some(text) = self.capture.as_ref().and_then(Capture::last_words) {
            why = format!("{why}; it said: {text}");
        }
        ExecError::Start { program: self.program(), why, was_killed }
    }
}

/// Tells the runtime the numbers of its descriptors, and adds what makes runs cheaper.
fn pass_descriptors(command: &mut Command, numbers: &[i32]) {
    let mut added = 0;
    for (i, (name, value)) in shm::ADDED_ENV.iter().enumerate() {
        let (name, value) = (OsStr::from_bytes(name.to_bytes()), value.to_bytes());
        if std::env::var_os(name).is_none() {
            command.env(name, OsStr::from_bytes(value));
            added |= 1 << i;
        }
    }
    let list = [added].into_iter().chain(numbers.iter().copied());
    let list: Vec<_> = list.map(|n| n.to_string()).collect();
    command.env(shm::ENV, list.join(":"));
}

/// Adds the arguments of a program, with the path of the input in place of `@@`. True if
/// there was a `@@`.
pub(crate) fn add_args(command: &mut Command, args: &[OsString], input: &Path) -> bool {
    let mut args = args.iter();
    if let Some(name) = args.next() {
        command.arg0(name);
    }
    let mut names_input = false;
    for arg in args {
        let replaced = with_path(arg, input);
        names_input |= replaced.is_some();
        command.arg(replaced.unwrap_or_else(|| arg.clone()));
    }
    names_input
}

/// An argument with a path in place of `@@`; `None` if it has no `@@`.
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
