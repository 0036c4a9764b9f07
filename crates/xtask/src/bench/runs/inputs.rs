//! The recorded inputs of a program: mutants of a small queue, as a fuzzer runs them.
//!
//! The queue is that of a short campaign with a fixed number of runs. Its inputs are mutated
//! as `pleach run` does. The list is recorded once, and then it stays the same for all
//! fuzzers and all commits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use pleach_campaign::mutate::{Dictionary, Mutator};
use pleach_search::Rng;

use crate::bench::contest::program::{Built, files_in};
use crate::process;
use crate::project;

/// The number of runs of the campaign.
const CAMPAIGN_RUNS: &str = "3000";
const CAMPAIGN_LIMIT: Duration = Duration::from_secs(120);
/// The longest mutant.
const MAX_LENGTH: usize = 4096;

/// Makes `count` mutants for a program.
pub fn make(built: &Built, seeds: &Path, count: usize) -> Result<Vec<Vec<u8>>> {
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("out");
    let mut command = std::process::Command::new(project::tool("pleach")?);
    command.args(["run", "-n", CAMPAIGN_RUNS, "-V", "60", "--seed", "1", "-i"]).arg(seeds);
    command.arg("-o").arg(&out).arg("--").args(&built.command);
    command.current_dir(&built.directory).stdin(Stdio::null());
    process::succeed(&mut command, CAMPAIGN_LIMIT, "pleach run")?;
    let mut queue = Vec::new();
    for path in files_in(&out.join("queue"))? {
        queue.push(fs::read(path)?);
    }
    let (mut rng, mut mutator, words) = (Rng::new(1), Mutator::new(), Dictionary::default());
    let mut mutants = Vec::new();
    while mutants.len() < count {
        let parent = rng.pick(&queue).context("the queue is empty")?.clone();
        let other = rng.pick(&queue).map(Vec::as_slice);
        let mut mutant = Vec::new();
        mutator.mutate(&mut rng, &parent, other, &words, &mut mutant, MAX_LENGTH);
        // libFuzzer runs the empty input only once.
        if !mutant.is_empty() {
            mutants.push(mutant);
        }
    }
    Ok(mutants)
}

/// The file of a program's list.
pub fn path_of(program: &str) -> PathBuf {
    project::target("bench").join("runs").join(format!("{program}.inputs"))
}

/// Writes a list: for each input its length, in four bytes with the lowest first, and its
/// bytes.
pub fn write(path: &Path, inputs: &[Vec<u8>]) -> Result<()> {
    let mut bytes = Vec::new();
    for input in inputs {
        bytes.extend(u32::try_from(input.len())?.to_le_bytes());
        bytes.extend(input);
    }
    fs::create_dir_all(path.parent().context("a file has a directory")?)?;
    fs::write(path, bytes).with_context(|| path.display().to_string())
}

/// Reads a list; `None` if it has not been recorded.
pub fn read(path: &Path) -> Result<Option<Vec<Vec<u8>>>> {
    if !path.exists() {
        return Ok(None);
    }
    let bytes = fs::read(path)?;
    let (mut inputs, mut rest) = (Vec::new(), &bytes[..]);
    while !rest.is_empty() {
        let broken = || format!("{}: is cut off", path.display());
        let (head, tail) = rest.split_first_chunk::<4>().with_context(broken)?;
        let length = u32::from_le_bytes(*head) as usize;
        let (input, tail) = tail.split_at_checked(length).with_context(broken)?;
        inputs.push(input.to_vec());
        rest = tail;
    }
    Ok(Some(inputs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs/calc.inputs");
        assert_eq!(read(&path).unwrap(), None);
        let inputs = vec![b"1+2\n".to_vec(), vec![], vec![0xff; 300]];
        write(&path, &inputs).unwrap();
        assert_eq!(read(&path).unwrap(), Some(inputs));
        fs::write(&path, [9, 0, 0, 0, 1]).unwrap();
        assert!(read(&path).is_err());
    }
}
