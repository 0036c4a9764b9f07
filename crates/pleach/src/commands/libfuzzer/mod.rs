//! `pleach libfuzzer`: libFuzzer's command line. A fuzz target starts this when its user asks
//! it to search.
//!
//! A search is a campaign in a temporary directory. A thread copies what it keeps to where
//! users of libFuzzer expect it: new inputs into the first corpus, named by their SHA-1, and
//! failures as `crash-…`, `timeout-…` and `oom-…`.

mod corpus;
mod flags;
mod search;

use super::{inputs_in, read_input};
use crate::args::{Args, Command, LibFuzzer};
use crate::exit::{Code, Failure};
use anyhow::anyhow;
use clap::Parser;
use corpus::Corpora;
use flags::Flags;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Exit statuses of libFuzzer.
const CRASHED: u8 = 77;
const TIMED_OUT: u8 = 70;
const OUT_OF_MEMORY: u8 = 71;

pub fn run(args: LibFuzzer) -> Result<Code, Failure> {
    let (flags, warnings) = Flags::parse(&args.args);
    for warning in warnings {
        eprintln!("WARNING: {warning}");
    }
    let is_on = |name| flags.is_on(name).map_err(|why| Failure::user_error(anyhow!("{why}")));
    if is_on("help")? {
        print!("{}", flags::help(&args.program.display().to_string()));
        return Ok(Code::Ok);
    }
    if is_on("minimize_crash")? {
        return minimize(&args.program, &flags);
    }
    let corpora = Corpora::open(&flags.paths)?;
    if is_on("merge")? {
        return corpora.merge(&args.program, &flags);
    }
    search::search(&args.program, &flags, corpora)
}

/// `-minimize_crash=1`: `pleach tmin`, with the output where libFuzzer writes it.
fn minimize(program: &Path, flags: &Flags) -> Result<Code, Failure> {
    let [file] = &flags.paths[..] else {
        return Err(Failure::user_error(anyhow!("-minimize_crash=1 takes one file")));
    };
    let name = format!("minimized-from-{}", corpus::sha1(&read_input(file)?));
    let output = artifact(flags, &name);
    let mut words = words(["tmin", "-i"]);
    words.extend([file.into(), "-o".into(), output.clone().into_os_string()]);
    if let Some(runs) = number(flags, "runs")?.filter(|&runs| runs > 0) {
        words.extend(["-n".into(), runs.to_string().into()]);
    }
    add_limits(flags, &mut words)?;
    words.extend(["--".into(), program.into()]);
    let code = super::run(parse(words)?)?;
    eprintln!("CRASH_MIN: minimized crash written to {}", output.display());
    Ok(code)
}

/// Adds `-t` and `-m`, if the flags give them.
fn add_limits(flags: &Flags, words: &mut Vec<OsString>) -> Result<(), Failure> {
    if let Some(seconds) = number(flags, "timeout")?.filter(|&seconds| seconds > 0) {
        words.extend(["-t".into(), seconds.saturating_mul(1000).to_string().into()]);
    }
    if let Some(mib) = number(flags, "rss_limit_mb")? {
        words.extend(["-m".into(), mib.to_string().into()]);
    }
    Ok(())
}

/// Where a failure is written.
fn artifact(flags: &Flags, name: &str) -> PathBuf {
    match flags.text("exact_artifact_path") {
        Some(path) => path.into(),
        None => format!("{}{name}", flags.text("artifact_prefix").unwrap_or("./")).into(),
    }
}

fn number(flags: &Flags, name: &str) -> Result<Option<u64>, Failure> {
    flags.number(name).map_err(|why| Failure::user_error(anyhow!("{why}")))
}

fn words<const N: usize>(words: [&str; N]) -> Vec<OsString> {
    words.into_iter().map(OsString::from).collect()
}

/// The command of Pleach that these words are.
fn parse(words: Vec<OsString>) -> Result<Command, Failure> {
    let words = [OsString::from("pleach")].into_iter().chain(words);
    match Args::try_parse_from(words) {
        Ok(args) => Ok(args.command),
        Err(error) => Err(Failure::user_error(anyhow!("{}", error.render()))),
    }
}

/// The inputs in a campaign's directory, of one kind.
fn kept(out: &Path, kind: &str) -> Vec<PathBuf> {
    inputs_in(&out.join(kind), &[])
        .unwrap_or_default()
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("id:") && !name.ends_with(".txt")
        })
        .collect()
}
