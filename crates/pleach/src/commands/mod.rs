//! The commands, one file each.

mod aim;
mod campaign;
pub mod ci;
mod cmin;
pub mod compare;
mod cover;
mod coverage;
mod dict;
pub mod diff;
mod doctor;
mod exec;
mod explain;
pub mod export;
mod extract;
pub mod fleet;
pub mod grammar;
mod init;
mod join;
mod libfuzzer;
mod pack;
mod record;
mod replay;
mod report;
mod share;
mod sites;
mod solve;
mod solve_trace;
mod tmin;
mod tokens;
mod trace;
mod try_out;
mod words;
mod z3;

use crate::args::{Command, Run};
use crate::exit::{Code, Failure};
use anyhow::Context;
use pleach_abi::shm::{HOLES_MAX, Hole};
use pleach_campaign::run::{Dir, Kept};
use pleach_exec::{Executor, Half, Layout, Output, TargetOptions, WorkDir, container};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub fn run(command: Command) -> Result<Code, Failure> {
    match command {
        // `main` handles these.
        Command::Cc(_) | Command::Cxx(_) => Ok(Code::Internal),
        Command::Exec(args) => exec::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Trace(args) => trace::run(args),
        Command::SolveTrace(args) => solve_trace::run(args),
        Command::Solve(args) => solve::run(&args),
        Command::Explain(args) => explain::run(args),
        Command::Cover(args) => cover::run(args),
        Command::Dict(args) => dict::run(args),
        Command::Campaign(args) => campaign::run(*args),
        Command::Diff(args) => diff::run(&args),
        Command::Replay(args) => replay::run(args),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Cmin(args) => cmin::run(args),
        Command::Tmin(args) => tmin::run(args),
        Command::LibFuzzer(args) => libfuzzer::run(args),
        Command::Ci(args) => ci::run(args),
        Command::Export(args) => export::run(args),
        Command::Pack(args) => pack::run(args),
        Command::Fleet(command) => fleet::run(command),
        Command::Sites(args) => sites::run(args),
        Command::Tokens(args) => tokens::run(args),
        Command::Grammar(command) => grammar::run(command),
        Command::Init(args) => init::run(args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Share(args) => share::run(&args),
    }
}

/// Reads a file that the user named; `-` is standard input.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes).context("standard input")
    } else {
        std::fs::read(path).with_context(|| path.display().to_string())
    };
    bytes.map_err(Failure::user_error)
}

/// Reads an input. A damaged container is refused.
fn read_input(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = read(path)?;
    if container::is_container(&bytes) {
        container::parse(&bytes)
            .with_context(|| path.display().to_string())
            .map_err(Failure::user_error)?;
    }
    Ok(bytes)
}

/// The inputs in a directory, sorted by name. In a campaign directory, these are the inputs
/// in `subdirectories` (`queue`, …).
fn inputs_in(dir: &Path, subdirectories: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let is_campaign = dir.join("queue").is_dir() || dir.join("run.toml").is_file();
    let dirs: Vec<PathBuf> = match is_campaign {
        true => subdirectories.iter().map(|p| dir.join(p)).filter(|d| d.is_dir()).collect(),
        false => vec![dir.into()],
    };
    let mut found = Vec::new();
    for dir in dirs {
        let named = |e| anyhow::Error::from(e).context(dir.display().to_string());
        for entry in std::fs::read_dir(&dir).map_err(|e| Failure::user_error(named(e)))? {
            let path = entry.map_err(|e| Failure::user_error(named(e)))?.path();
            let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
            // A campaign directory also has texts about the inputs.
            let is_input =
                if is_campaign { name.starts_with("id:") } else { !name.starts_with('.') };
            let is_text = name == "README.txt" || name.ends_with(".stack.txt");
            if is_input && !is_text && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The inputs that the user named: files, and the inputs in directories. At least one.
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
            Err(Failure::user_error(anyhow::anyhow!("{first}: no inputs in it")))
        }
        _ => Ok(paths),
    }
}

/// Makes the path in an argument (`FILE` or `--option=FILE`) absolute, because runs have
/// another working directory. Arguments that name no existing file, or a file in `workdir`,
/// which runs get a copy of, stay as they are. So does `.`: it is more often an expression,
/// as in `jq .`, than a directory.
fn resolve_path(arg: &OsStr, workdir: Option<&Path>) -> OsString {
    let (option, path) = split_option(arg);
    let name = path.as_os_str().as_bytes();
    let is_copied = workdir.is_some_and(|dir| dir.join(path).exists());
    let absolute =
        match path.is_relative() && !matches!(name, b"" | b".") && !is_copied && path.exists() {
            true => std::path::absolute(path).ok(),
            false => None,
        };
    match absolute {
        Some(path) => {
            let mut out = option.to_os_string();
            out.push(path);
            out
        }
        None => arg.into(),
    }
}

/// The parts of an argument that may name a file: `--option=`, or nothing, and the path.
fn split_option(arg: &OsStr) -> (&OsStr, &Path) {
    let bytes = arg.as_bytes();
    let equals = bytes.iter().position(|&b| b == b'=').filter(|_| bytes.starts_with(b"-"));
    let (option, path) = bytes.split_at(equals.map_or(0, |at| at + 1));
    (OsStr::from_bytes(option), Path::new(OsStr::from_bytes(path)))
}

/// The options for a target that the user named, as in a campaign.
fn target(half: Half, run: &Run, input: &Path, output: Output) -> Result<TargetOptions, Failure> {
    let workdir = run.cwd.as_deref();
    let mut args: Vec<_> = run.program.iter().map(|a| resolve_path(a, workdir)).collect();
    args[0] = run.program[0].clone();
    let mut target = TargetOptions::new(half, args);
    target.output = output;
    target.socket = run.socket;
    target.tty = run.tty;
    target.memory_kib = (run.memory > 0).then(|| run.memory.saturating_mul(1024));
    target.scratch = true;
    target.workdir = workdir.map(WorkDir::read).transpose().map_err(Failure::user_error)?;
    target.extension = extension(input).unwrap_or_default();
    Ok(target)
}

/// The time limit of a run on an input: the user's, or that of the campaign which kept the input
/// as a hang. With more time it might end, and would not be a hang.
fn time_limit(run: &Run, input: &Path) -> Duration {
    const DEFAULT_MS: u64 = 10_000;
    let ms = run.timeout.or_else(|| limit_of_hang(input)).unwrap_or(DEFAULT_MS);
    Duration::from_millis(ms)
}

/// The time limit of the campaign that has an input in `hangs/`, in milliseconds.
fn limit_of_hang(input: &Path) -> Option<u64> {
    let path = std::path::absolute(input).ok()?;
    let dir = path.parent().filter(|dir| dir.ends_with(Kept::Hang.dir()))?;
    Some(Dir::settings(dir.parent()?).ok()?.timeout_ms)
}

/// The extension of an input's name with its dot (`.json`), for programs that check it. The
/// name of a file in a campaign (`id:000012,op:flip,site:calc.c:41`) has none.
fn extension(input: &Path) -> Option<OsString> {
    let extension = input.extension()?.to_str()?;
    let is_plain = extension.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    is_plain.then(|| format!(".{extension}").into())
}

/// An executor for the symbolic half. With `with_tokens`, it records decisions on tokens,
/// and a program without a token function is refused.
fn tracer(run: &Run, input: &Path, output: Output, with_tokens: bool) -> Result<Executor, Failure> {
    let layout = Arc::new(Layout::private(Path::new(&run.program[0]))?);
    if with_tokens {
        tokens::require(&layout)?;
    }
    let mut target = target(Half::Symbolic, run, input, output)?;
    target.tokens = with_tokens;
    Ok(Executor::new(layout, target)?)
}

/// Parses the user's holes: `OFFSET:LEN`, in order. Each grows at its end.
fn parse_holes(given: &[String], input: &[u8]) -> Result<Vec<Hole>, Failure> {
    let mut holes: Vec<Hole> = Vec::new();
    for text in given {
        let refused = |why: &str| Failure::user_error(anyhow::anyhow!("--hole {text}: {why}"));
        let numbers = text.split_once(':').and_then(|(start, len)| {
            Some((start.parse::<u32>().ok()?, len.parse::<u32>().ok().filter(|&n| n > 0)?))
        });
        let (start, len) =
            numbers.ok_or_else(|| refused("must be OFFSET:LEN, with a length of at least 1"))?;
        let grows = start.checked_add(len).filter(|&end| end as usize <= input.len());
        let grows = grows.ok_or_else(|| refused("is not inside the input"))?;
        if holes.last().is_some_and(|h| h.start + h.len > start) {
            return Err(refused("must come after the hole before it"));
        }
        holes.push(Hole { start, len, grows, filling: grows });
    }
    if holes.len() > HOLES_MAX {
        return Err(Failure::user_error(anyhow::anyhow!(
            "--hole: at most {HOLES_MAX} holes are possible"
        )));
    }
    Ok(holes)
}

/// An executor for a target that the user named.
fn executor(half: Half, run: &Run, input: &Path, output: Output) -> Result<Executor, Failure> {
    let layout = Arc::new(Layout::private(Path::new(&run.program[0]))?);
    Ok(Executor::new(layout, target(half, run, input, output)?)?)
}

/// Refuses a directory that is not empty.
fn require_vacant(dir: &Path) -> Result<(), Failure> {
    let named = || dir.display().to_string();
    match std::fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => {
                Err(Failure::user_error(anyhow::anyhow!("{}: the directory is not empty", named())))
            }
        },
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Failure::user_error(anyhow::Error::from(e).context(named()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_campaign_has_no_extension() {
        let of = |name: &str| extension(Path::new(name)).unwrap_or_default();
        assert_eq!(of("dir.d/a.json"), ".json");
        assert_eq!(of("id:000012,src:000003,time:9,op:flip,site:calc.c:41,+cov"), "");
        assert_eq!(of("id:000012,time:9,op:seed,site:calc.c:41"), "");
        assert_eq!(of("plain"), "");
    }
}
