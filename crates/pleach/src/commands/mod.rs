//! One file a command.

mod campaign;
mod cmin;
pub mod compare;
mod cover;
mod coverage;
mod exec;
mod explain;
mod extract;
pub mod grammar;
mod pack;
mod record;
mod replay;
mod sites;
mod solve;
mod solve_trace;
mod tmin;
mod tokens;
mod trace;
mod try_out;
mod z3;

use crate::args::{Command, Run};
use crate::exit::{Code, Failure};
use anyhow::Context;
use pleach_abi::shm::{HOLES_MAX, Hole};
use pleach_exec::{Executor, Half, Layout, Output, TargetOptions, WorkDir, container};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn run(command: Command) -> Result<Code, Failure> {
    match command {
        // `main` has passed these on already.
        Command::Cc(_) | Command::Cxx(_) => Ok(Code::Ours),
        Command::Exec(args) => exec::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Trace(args) => trace::run(args),
        Command::SolveTrace(args) => solve_trace::run(args),
        Command::Solve(args) => solve::run(&args),
        Command::Explain(args) => explain::run(args),
        Command::Cover(args) => cover::run(args),
        Command::Campaign(args) => campaign::run(*args),
        Command::Replay(args) => replay::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Cmin(args) => cmin::run(args),
        Command::Tmin(args) => tmin::run(args),
        Command::Pack(args) => pack::run(args),
        Command::Sites(args) => sites::run(args),
        Command::Tokens(args) => tokens::run(args),
        Command::Grammar(command) => grammar::run(command),
    }
}

/// Reads a file that a person named; `-` is standard input.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes).context("standard input")
    } else {
        std::fs::read(path).with_context(|| path.display().to_string())
    };
    bytes.map_err(Failure::person)
}

/// Reads an input; a container must be whole.
fn read_input(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = read(path)?;
    if container::is_container(&bytes) {
        container::parse(&bytes)
            .with_context(|| path.display().to_string())
            .map_err(Failure::person)?;
    }
    Ok(bytes)
}

/// The files of a directory that are inputs, in the order of their names. In the
/// directory of a campaign these are those of `parts` (`queue`, …).
fn inputs_in(dir: &Path, parts: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let campaign = dir.join("queue").is_dir();
    let dirs: Vec<PathBuf> = match campaign {
        true => parts.iter().map(|p| dir.join(p)).filter(|d| d.is_dir()).collect(),
        false => vec![dir.into()],
    };
    let mut found = Vec::new();
    for dir in dirs {
        let named = |e| anyhow::Error::from(e).context(dir.display().to_string());
        for entry in std::fs::read_dir(&dir).map_err(|e| Failure::person(named(e)))? {
            let path = entry.map_err(|e| Failure::person(named(e)))?.path();
            let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
            // Beside a campaign's inputs are texts about them.
            let ours = if campaign { name.starts_with("id:") } else { !name.starts_with('.') };
            let text = name == "README.txt" || name.ends_with(".stack.txt");
            if ours && !text && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The inputs that a person named: files, and those of directories. There is at least
/// one.
fn named_inputs(given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for path in given {
        match path.is_dir() {
            true => paths.extend(inputs_in(path, &["queue", "crashes", "hangs"])?),
            false => paths.push(path.clone()),
        }
    }
    match (paths.is_empty(), given.first()) {
        (true, Some(first)) => {
            let first = first.display();
            Err(Failure::person(anyhow::anyhow!("{first}: there are no inputs in it")))
        }
        _ => Ok(paths),
    }
}

/// An argument that names a file from here, or `--option=` one, with its path from the
/// root: runs work in a directory of their own. One that names a file in the directory
/// that runs get a copy of, and any other, is as it is.
fn resolved(arg: &OsStr, workdir: Option<&Path>) -> OsString {
    let bytes = arg.as_bytes();
    let equals = bytes.iter().position(|&b| b == b'=').filter(|_| bytes.starts_with(b"-"));
    let (option, name) = bytes.split_at(equals.map_or(0, |at| at + 1));
    let path = Path::new(OsStr::from_bytes(name));
    let copied = workdir.is_some_and(|dir| dir.join(path).exists());
    let absolute = match path.is_relative() && !name.is_empty() && !copied && path.exists() {
        true => std::path::absolute(path).ok(),
        false => None,
    };
    match absolute {
        Some(path) => {
            let mut out = OsStr::from_bytes(option).to_os_string();
            out.push(path);
            out
        }
        None => arg.into(),
    }
}

/// The target that a person named, run as a campaign runs it.
fn target(half: Half, run: &Run, input: &Path, output: Output) -> Result<TargetOptions, Failure> {
    let workdir = run.cwd.as_deref();
    let mut args: Vec<_> = run.program.iter().map(|a| resolved(a, workdir)).collect();
    args[0] = run.program[0].clone();
    let mut target = TargetOptions::new(half, args);
    target.output = output;
    target.socket = run.socket;
    target.tty = run.tty;
    target.memory_kib = (run.memory > 0).then(|| run.memory.saturating_mul(1024));
    target.scratch = true;
    target.workdir = workdir.map(WorkDir::read).transpose().map_err(Failure::person)?;
    if let Some(extension) = input.extension() {
        target.extension.push(".");
        target.extension.push(extension);
    }
    Ok(target)
}

/// An executor for the symbolic half, with or without the token border. With it, a
/// program that has no token function is refused.
fn tracer(run: &Run, input: &Path, output: Output, with_tokens: bool) -> Result<Executor, Failure> {
    let layout = Arc::new(Layout::private(Path::new(&run.program[0]))?);
    if with_tokens {
        tokens::require(&layout)?;
    }
    let mut target = target(Half::Symbolic, run, input, output)?;
    target.tokens = with_tokens;
    Ok(Executor::new(layout, target)?)
}

/// Holes as a person gives them: `OFFSET:LEN`, in order. Each grows at its end.
fn holes(given: &[String], input: &[u8]) -> Result<Vec<Hole>, Failure> {
    let mut holes: Vec<Hole> = Vec::new();
    for text in given {
        let refused = |why: &str| Failure::person(anyhow::anyhow!("--hole {text}: {why}"));
        let numbers = text.split_once(':').and_then(|(start, len)| {
            Some((start.parse::<u32>().ok()?, len.parse::<u32>().ok().filter(|&n| n > 0)?))
        });
        let (start, len) = numbers.ok_or_else(|| refused("not an offset and a length"))?;
        let grows = start.checked_add(len).filter(|&end| end as usize <= input.len());
        let grows = grows.ok_or_else(|| refused("not inside the input"))?;
        if holes.last().is_some_and(|h| h.start + h.len > start) {
            return Err(refused("not behind the one before"));
        }
        holes.push(Hole { start, len, grows, filling: grows });
    }
    if holes.len() > HOLES_MAX {
        return Err(Failure::person(anyhow::anyhow!("--hole: there can be {HOLES_MAX} of them")));
    }
    Ok(holes)
}

/// An executor for the target that a person named.
fn executor(half: Half, run: &Run, input: &Path, output: Output) -> Result<Executor, Failure> {
    let layout = Arc::new(Layout::private(Path::new(&run.program[0]))?);
    Ok(Executor::new(layout, target(half, run, input, output)?)?)
}

/// Refuses a directory that has something in it.
fn require_vacant(dir: &Path) -> Result<(), Failure> {
    let named = || dir.display().to_string();
    match std::fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Failure::person(anyhow::anyhow!("{}: is not empty", named()))),
        },
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Failure::person(anyhow::Error::from(e).context(named()))),
    }
}
