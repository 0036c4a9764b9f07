//! Corpora of libFuzzer: directories of files that are named by their SHA-1.

use super::flags::Flags;
use super::{add_limits, parse, words};
use crate::args::Command;
use crate::commands::{executor, read_input, time_limit};
use crate::exit::{Code, Failure};
use anyhow::{Context, anyhow};
use pleach_campaign::minimise::{Features, smallest_set};
use pleach_exec::{End, Executor, Half, Output};
use sha1::{Digest, Sha1};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The corpora that the command line names.
pub struct Corpora {
    /// The first directory: what is new is written there.
    pub first: Option<PathBuf>,
    /// The files of the first directory, and those of the others.
    pub files: Vec<PathBuf>,
    pub others: Vec<PathBuf>,
}

impl Corpora {
    pub fn open(paths: &[PathBuf]) -> Result<Corpora, Failure> {
        let mut found = Corpora { first: None, files: Vec::new(), others: Vec::new() };
        for path in paths {
            if !path.is_dir() {
                return Err(Failure::user_error(anyhow!(
                    "The required directory \"{}\" does not exist",
                    path.display()
                )));
            }
            let to = match &found.first {
                None => &mut found.files,
                Some(_) => &mut found.others,
            };
            add_files(path, to)
                .with_context(|| path.display().to_string())
                .map_err(Failure::user_error)?;
            found.first.get_or_insert(path.clone());
        }
        Ok(found)
    }

    /// `-merge=1`: adds the inputs of the other corpora that cover something new.
    pub fn merge(&self, program: &Path, flags: &Flags) -> Result<Code, Failure> {
        let Some(first) = &self.first else {
            return Err(Failure::user_error(anyhow!("-merge=1 needs corpora")));
        };
        let (mut executor, timeout) = open_target(program, flags, Output::Null)?;
        let mut features = Features::default();
        let mut covered = HashSet::new();
        let (mut runs, mut inputs) = (Vec::new(), Vec::new());
        for (path, is_first) in
            self.files.iter().map(|p| (p, true)).chain(self.others.iter().map(|p| (p, false)))
        {
            let input = read_input(path)?;
            let outcome = executor.run(&input, timeout)?;
            let found = features.of(&executor.counters());
            match (outcome.end, is_first) {
                (End::Exit(_), true) => covered.extend(found),
                (End::Exit(_), false) => {
                    runs.push((found, input.len()));
                    inputs.push(input);
                }
                _ => eprintln!("MERGE-OUTER: {} fails and is skipped", path.display()),
            }
        }
        let before = covered.len();
        runs.iter_mut().for_each(|(found, _)| found.retain(|f| !covered.contains(f)));
        let kept = smallest_set(&runs);
        for &i in &kept {
            write_new(first, &sha1(&inputs[i]), &inputs[i])?;
            covered.extend(&runs[i].0);
        }
        eprintln!(
            "MERGE-OUTER: {} new files with {} new features added",
            kept.len(),
            covered.len() - before
        );
        Ok(Code::Ok)
    }
}

/// The target, to run single inputs, and the time limit of a run.
pub fn open_target(
    program: &Path,
    flags: &Flags,
    output: Output,
) -> Result<(Executor, Duration), Failure> {
    // The options of a command that runs the target.
    let mut line = words(["replay"]);
    add_limits(flags, &mut line)?;
    line.extend(["-".into(), "--".into(), program.into()]);
    let Command::Replay(replay) = parse(line)? else {
        return Err(Failure::internal(anyhow!("this is `pleach replay`")));
    };
    let timeout = time_limit(&replay.run, Path::new("-"));
    Ok((executor(Half::Fast, &replay.run, Path::new("-"), output)?, timeout))
}

/// Adds the files below a directory, sorted by name.
fn add_files(dir: &Path, to: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        let is_hidden = path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
        // A link to a directory could lead back.
        let is_dir = path.symlink_metadata().is_ok_and(|m| m.is_dir());
        if is_dir && !is_hidden {
            add_files(&path, to)?;
        } else if !is_hidden && path.is_file() {
            to.push(path);
        }
    }
    Ok(())
}

/// Writes a file, unless it is there already. True if it was not.
pub fn write_new(dir: &Path, name: &str, bytes: &[u8]) -> Result<bool, Failure> {
    let path = dir.join(name);
    if path.exists() {
        return Ok(false);
    }
    write(&path, bytes).map(|()| true)
}

pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let done = std::fs::write(path, bytes).with_context(|| path.display().to_string());
    done.map_err(Failure::user_error)
}

pub fn sha1(bytes: &[u8]) -> String {
    Sha1::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_those_of_libfuzzer() {
        assert_eq!(super::sha1(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    }
}
