//! Building test programs and running them as plain processes.

use super::expectation::{Ending, Program, Run, Streams};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Only a program that hangs takes this long.
const TIMEOUT: Duration = Duration::from_secs(20);

/// One program at one optimisation level, built by clang and by Pleach.
pub struct Workshop {
    dir: tempfile::TempDir,
    pub plain: Option<PathBuf>,
    /// Made by `pleach-cc`: both halves.
    pub both: PathBuf,
}

/// What a user sees of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Behaviour {
    pub stdout: Vec<u8>,
    pub end: Option<Ending>,
}

impl Workshop {
    pub fn new(program: &Program, level: &str) -> Result<Workshop, String> {
        let dir = tempfile::tempdir().map_err(|e| format!("no temporary directory: {e}"))?;
        let cxx = program.file.extension().is_some_and(|e| e == "cc");
        let folder = program.file.parent().unwrap_or(Path::new("."));
        let mut objects = Vec::new();
        for (number, source) in program.objects.iter().enumerate() {
            let object = dir.path().join(format!("plain{number}.o"));
            let mut cc = Command::new(clang(false));
            cc.args(["-O1", "-fPIC", "-c"]).arg(folder.join(source)).arg("-o").arg(&object);
            compile(&mut cc)?;
            objects.push(object);
        }
        let build = |mut cc: Command, name: &str| -> Result<PathBuf, String> {
            let to = dir.path().join(name);
            cc.args(["-g", "-Wall", "-Werror", level]).args(&program.flags).arg(&program.file);
            cc.args(program.parts.iter().map(|p| folder.join(p))).args(&objects);
            compile(cc.arg("-o").arg(&to))?;
            Ok(to)
        };
        let plain = program.plain.then(|| build(Command::new(clang(cxx)), "plain")).transpose()?;
        // Its name decides whether it compiles C or C++.
        let mut ours = Command::new(tool("pleach-cc"));
        ours.arg0(if cxx { "pleach-c++" } else { "pleach-cc" });
        let both = build(ours, "program")?;
        Ok(Workshop { plain, both, dir })
    }

    /// All builds that can run as a process: a name, and the command line.
    pub fn processes(&self) -> Vec<(&'static str, Vec<OsString>)> {
        let exec = |labels: bool| -> Vec<OsString> {
            let mut words = vec![tool("pleach").into(), "exec".into()];
            words.extend(["--half", "symbolic"].map(OsString::from));
            words.extend(labels.then(|| "--label".into()));
            words.extend(["--".into(), self.both.clone().into()]);
            words
        };
        let mut all = Vec::new();
        all.extend(self.plain.iter().map(|p| ("plain program", vec![p.clone().into()])));
        all.push(("fast half", vec![self.both.clone().into()]));
        all.push(("symbolic half", exec(false)));
        all.push(("symbolic half with labels", exec(true)));
        all
    }

    /// Runs one of them as a user would.
    pub fn behaviour(&self, words: &[OsString], run: &Run) -> Result<Behaviour, String> {
        let fault = |e: std::io::Error| format!("cannot run {:?}: {e}", words[0]);
        let input = self.dir.path().join("input");
        std::fs::write(&input, run.streams.input.as_deref().unwrap_or(b"")).map_err(fault)?;
        let output = self.dir.path().join("stdout");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
            .args(run.args.iter().map(|a| if a == "@@" { input.as_os_str() } else { a.as_ref() }));
        command.args(run.streams.args.iter().map(|a| OsString::from_vec(a.clone())));
        command.envs(run.streams.env.iter().filter_map(|e| variable(e)));
        command.current_dir(self.dir.path());
        command.stdin(File::open(&input).map_err(fault)?);
        command.stdout(File::create(&output).map_err(fault)?).stderr(Stdio::null());
        let mut child = command.spawn().map_err(fault)?;
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            match child.try_wait().map_err(fault)? {
                Some(status) => break Some(status),
                None if Instant::now() > deadline => break None,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        if status.is_none() {
            child.kill().and_then(|()| child.wait().map(drop)).map_err(fault)?;
        }
        let end = status.and_then(|s| match s.signal() {
            Some(signal) => Some(Ending::Signal(signal)),
            None => s.code().map(Ending::Exit),
        });
        Ok(Behaviour { stdout: std::fs::read(&output).map_err(fault)?, end })
    }
}

impl Streams {
    /// The input as one file, as the driver takes it.
    pub fn file(&self) -> Vec<u8> {
        use pleach_abi::container::{ARG, ENV, STDIN};
        if self.args.is_empty() && self.env.is_empty() {
            return self.input.clone().unwrap_or_default();
        }
        let args = self.args.iter().map(|a| (ARG, a.as_slice()));
        let env = self.env.iter().map(|e| (ENV, e.as_slice()));
        let input = self.input.iter().map(|i| (STDIN, i.as_slice()));
        pleach_exec::container::build(args.chain(env).chain(input)).unwrap_or_default()
    }
}

fn variable(text: &[u8]) -> Option<(OsString, OsString)> {
    let eq = text.iter().position(|&b| b == b'=')?;
    Some((OsString::from_vec(text[..eq].to_vec()), OsString::from_vec(text[eq + 1..].to_vec())))
}

fn compile(cc: &mut Command) -> Result<(), String> {
    let out = cc.stdin(Stdio::null()).output().map_err(|e| format!("cannot run {cc:?}: {e}"))?;
    let text = String::from_utf8_lossy(&out.stderr);
    match out.status.success() {
        true if text.is_empty() => Ok(()),
        true => Err(format!("{cc:?} prints:\n{text}")),
        false => Err(format!("{cc:?} fails:\n{text}")),
    }
}

/// One of our own programs; all are in the same directory.
fn tool(name: &str) -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_pleach")).with_file_name(name)
}

/// The plain compiler that `pleach-cc` uses, too.
fn clang(cxx: bool) -> PathBuf {
    match std::env::var_os("PLEACH_LLVM") {
        Some(prefix) => Path::new(&prefix).join("bin").join(if cxx { "clang++" } else { "clang" }),
        None => if cxx { "clang++-22" } else { "clang-22" }.into(),
    }
}
