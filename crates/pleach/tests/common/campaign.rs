//! Campaigns from the command line, and what they leave behind.

use super::Program;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a campaign ended.
pub struct Ended {
    pub stats: Value,
    pub stderr: String,
    pub out: PathBuf,
}

impl Program {
    /// `pleach run` on the program, into a directory of this name.
    pub fn campaign_command(&self, out: &str, flags: &[&str]) -> Command {
        let mut command = self.command(&["run", "-o", out, "--json"]);
        command.args(flags).args(["--", "./prog"]);
        command
    }

    /// Runs a campaign, which must end in order.
    pub fn campaign(&self, out: &str, flags: &[&str]) -> Ended {
        let out = self.dir.path().join(out);
        ended(&mut self.campaign_command(out.to_str().expect("a plain path"), flags), &out)
    }

    /// Goes on with a campaign, with nothing said but where it is.
    pub fn resume(&self, out: &str, flags: &[&str]) -> Ended {
        let out = self.dir.path().join(out);
        let mut command = self.command(&["run", "-i", "-", "--json", "-o"]);
        ended(command.arg(&out).args(flags), &out)
    }
}

/// Runs a command that prints its statistics as the last line.
pub fn ended(command: &mut Command, out: &Path) -> Ended {
    let done = super::feed(command, b"");
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{command:?}: {:?}: {stderr}", done.status);
    let text = String::from_utf8(done.stdout).expect("text");
    let stats = serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON");
    Ended { stats, stderr, out: out.into() }
}

impl Ended {
    pub fn stop(&self) -> &str {
        self.stats["stop"].as_str().unwrap_or("nothing")
    }

    /// A number of the statistics, by its place: `flips.asked`.
    pub fn count(&self, place: &str) -> u64 {
        let value = place.split('.').fold(&self.stats, |value, key| &value[key]);
        value.as_u64().unwrap_or_else(|| panic!("{place}: {}", self.stats))
    }

    pub fn files(&self, kind: &str) -> BTreeMap<String, Vec<u8>> {
        files(&self.out.join(kind))
    }

    /// The inputs of the queue in the order of their numbers.
    pub fn queue(&self) -> Vec<Vec<u8>> {
        self.files("queue").into_values().collect()
    }

    /// The inputs among the crashes, without what is said of them.
    pub fn crashes(&self) -> Vec<Vec<u8>> {
        let files = self.files("crashes").into_iter();
        files
            .filter(|(name, _)| name.starts_with("id:") && !name.ends_with(".txt"))
            .map(|f| f.1)
            .collect()
    }
}

/// The files of a directory by name; none if it is not there.
pub fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|e| {
            let name = e.file_name().to_str()?.to_string();
            Some((name, std::fs::read(e.path()).ok()?))
        })
        .collect()
}

/// Every file and directory below a directory, with its size: to see whether
/// anything was touched.
pub fn tree(dir: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().expect("it is there"));
        if meta.is_dir() {
            found.extend(tree(&path));
        }
        found.insert(path, meta.len());
    }
    found
}

/// What tests look for in a journal: after its first line, records of a length, a
/// checksum and as many bytes, of which the first tells the kind.
pub mod journal {
    use std::collections::BTreeSet;
    use std::path::Path;

    const FLIP: u8 = 1;
    const TRACED: u8 = 3;

    /// The nodes that were asked for, in order.
    pub fn flips(out: &Path) -> Vec<u64> {
        numbers(out, FLIP, 0)
    }

    /// The paths of all traces.
    pub fn paths(out: &Path) -> BTreeSet<u64> {
        numbers(out, TRACED, 8).into_iter().collect()
    }

    /// The number at a place in all records of a kind.
    fn numbers(out: &Path, kind: u8, at: usize) -> Vec<u64> {
        let journal = std::fs::read(out.join("journal")).expect("there is a journal");
        let line = journal.iter().position(|&b| b == b'\n').expect("a first line");
        let (mut rest, mut found) = (&journal[line + 1..], Vec::new());
        while let Some((length, tail)) = rest.split_first_chunk::<4>() {
            let record = &tail[4..][..u32::from_le_bytes(*length) as usize];
            if record[0] == kind {
                let eight = record[1 + at..].first_chunk().expect("eight bytes");
                found.push(u64::from_le_bytes(*eight));
            }
            rest = &tail[4 + record.len()..];
        }
        found
    }
}
