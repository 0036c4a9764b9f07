//! Campaigns from the command line, and what they leave in their directories.

use super::Program;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A campaign that has ended.
pub struct Ended {
    pub stats: Value,
    pub stderr: String,
    pub out: PathBuf,
}

impl Program {
    /// The command `pleach run` on the program, with the output directory `out`.
    pub fn campaign_command(&self, out: &str, flags: &[&str]) -> Command {
        let mut command = self.command(&["run", "-o", out, "--json"]);
        command.args(flags).args(["--", "./prog"]);
        command
    }

    /// Runs a campaign, which must succeed.
    pub fn campaign(&self, out: &str, flags: &[&str]) -> Ended {
        self.campaign_with_args(out, flags, &[])
    }

    /// Runs a campaign on the program with arguments.
    pub fn campaign_with_args(&self, out: &str, flags: &[&str], args: &[&str]) -> Ended {
        let out = self.path(out);
        let mut command = self.campaign_command(out.to_str().expect("a plain path"), flags);
        run_campaign(command.args(args), &out)
    }

    /// Resumes a campaign, given nothing but its directory and these flags.
    pub fn resume(&self, out: &str, flags: &[&str]) -> Ended {
        let out = self.path(out);
        let mut command = self.command(&["run", "-i", "-", "--json", "-o"]);
        run_campaign(command.arg(&out).args(flags), &out)
    }
}

/// Runs a command that prints its statistics as the last line.
pub fn run_campaign(command: &mut Command, out: &Path) -> Ended {
    let done = super::feed(command, b"");
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{command:?}: {:?}: {stderr}", done.status);
    let text = String::from_utf8(done.stdout).expect("text");
    let stats = serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON");
    Ended { stats, stderr, out: out.into() }
}

/// The statistics in the directory of a campaign, which writes them soon after its start.
pub fn stats_on_disk(out: &Path) -> Value {
    super::process::wait_until("there are statistics", || out.join("stats.json").exists());
    let stats = std::fs::read(out.join("stats.json")).expect("the campaign wrote it");
    serde_json::from_slice(&stats).expect("JSON")
}

impl Ended {
    /// Why the campaign stopped.
    pub fn stop(&self) -> &str {
        self.stats["stop"].as_str().unwrap_or("nothing")
    }

    /// A number of the statistics, by its path, such as `flips.asked`.
    pub fn count(&self, path: &str) -> u64 {
        let value = path.split('.').fold(&self.stats, |value, key| &value[key]);
        value.as_u64().unwrap_or_else(|| panic!("{path}: {}", self.stats))
    }

    /// What keeps the search from being exhaustive.
    pub fn partial(&self) -> Vec<&str> {
        let causes = self.stats["partial"].as_object().expect("an object");
        causes.keys().map(String::as_str).collect()
    }

    pub fn files(&self, kind: &str) -> BTreeMap<String, Vec<u8>> {
        files(&self.out.join(kind))
    }

    /// The inputs that were kept in `queue`, `crashes` or `hangs`, by the name of their file.
    pub fn inputs(&self, kind: &str) -> BTreeMap<String, Vec<u8>> {
        inputs(&self.out.join(kind))
    }

    /// The inputs of the queue in the order of their numbers.
    pub fn queue(&self) -> Vec<Vec<u8>> {
        self.files("queue").into_values().collect()
    }

    pub fn crashes(&self) -> Vec<Vec<u8>> {
        self.inputs("crashes").into_values().collect()
    }
}

/// The files of a directory by name; none if it does not exist.
pub fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|e| {
            let name = e.file_name().to_str()?.to_string();
            Some((name, std::fs::read(e.path()).ok()?))
        })
        .collect()
}

/// The inputs among the files of a directory, without reports and temporary files.
pub fn inputs(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let is_input = |name: &str| name.starts_with("id:") && !name.ends_with(".txt");
    files(dir).into_iter().filter(|(name, _)| is_input(name)).collect()
}

/// Every file and directory below a directory, with its size. Two of these show whether
/// anything was touched in between.
pub fn tree(dir: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().expect("it exists"));
        if meta.is_dir() {
            found.extend(tree(&path));
        }
        found.insert(path, meta.len());
    }
    found
}

/// Reads a journal. After its first line it has records: a length, a checksum, and that many
/// bytes, of which the first is the kind of the record.
pub mod journal {
    use std::collections::BTreeSet;
    use std::path::Path;

    const FLIP: u8 = 1;
    const TRACED: u8 = 3;

    /// The nodes of all flips, in order.
    pub fn flips(out: &Path) -> Vec<u64> {
        numbers(out, FLIP, 0)
    }

    /// The paths of all traces.
    pub fn paths(out: &Path) -> BTreeSet<u64> {
        numbers(out, TRACED, 8).into_iter().collect()
    }

    /// The number at an offset in all records of a kind.
    fn numbers(out: &Path, kind: u8, offset: usize) -> Vec<u64> {
        let journal = std::fs::read(out.join("journal")).expect("there is a journal");
        let line = journal.iter().position(|&b| b == b'\n').expect("a first line");
        let (mut rest, mut found) = (&journal[line + 1..], Vec::new());
        while let Some((length, tail)) = rest.split_first_chunk::<4>() {
            let record = &tail[4..][..u32::from_le_bytes(*length) as usize];
            if record[0] == kind {
                let eight = record[1 + offset..].first_chunk().expect("eight bytes");
                found.push(u64::from_le_bytes(*eight));
            }
            rest = &tail[4 + record.len()..];
        }
        found
    }
}
