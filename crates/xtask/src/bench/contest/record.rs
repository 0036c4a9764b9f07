//! The finished runs of a contest, one line of JSON for each, in `target/bench/NAME.jsonl`.
//!
//! Each run is appended as soon as it has ended. So a contest that was interrupted
//! continues with the runs that are missing, and tables are made from the lines alone.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bench::machine::Machine;

/// What was run. Two runs with equal keys measure the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    pub program: String,
    pub contestant: String,
    /// The options that distinguish the contestant.
    pub knobs: String,
    /// The seed of the random numbers.
    pub seed: u64,
    pub seconds: u64,
}

/// One finished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    #[serde(flatten)]
    pub key: Key,
    /// All branches that gcov counts.
    pub total: u64,
    /// The branches that the seed takes.
    pub begin: u64,
    /// The branches that the queue takes.
    pub branches: u64,
    /// How often the program was run.
    pub runs: u64,
    pub crashes: u64,
    /// The statistics of `pleach run`.
    pub stats: Value,
    pub commit: String,
    pub machine: Machine,
    pub date: String,
    pub core: u32,
    /// What ran on the other cores at the same time.
    pub beside: Vec<String>,
    /// The load of the machine just before.
    pub load: f64,
    /// The largest memory of the fuzzer's own process.
    #[serde(default)]
    pub memory_mib: u64,
    /// The seconds that it really took.
    #[serde(default)]
    pub elapsed: f64,
}

/// The file of a contest. Only the records of one commit count, or all.
pub struct Records {
    commit: Option<String>,
    file: JsonLines<Record>,
}

impl Records {
    /// Reads the file, if it exists. `commit`: the only commit that counts.
    pub fn open(path: PathBuf, commit: Option<String>, fresh: bool) -> Result<Records> {
        if fresh && path.exists() {
            // Hours of work may be in it.
            fs::rename(&path, path.with_extension("jsonl.old"))?;
        }
        Ok(Records { commit, file: JsonLines::open(path)? })
    }

    pub fn path(&self) -> &PathBuf {
        &self.file.path
    }

    /// Appends a record to the file.
    pub fn add(&mut self, record: Record) -> Result<()> {
        self.file.add(record)
    }

    pub fn has(&self, key: &Key) -> bool {
        self.find(key).is_some()
    }

    /// The last record of a run.
    pub fn find(&self, key: &Key) -> Option<&Record> {
        let counts = |r: &&Record| self.commit.as_ref().is_none_or(|c| *c == r.commit);
        self.file.all.iter().rev().filter(counts).find(|r| r.key == *key)
    }
}

/// A file with one line of JSON for each result. Lines are only appended.
pub struct JsonLines<T> {
    path: PathBuf,
    pub all: Vec<T>,
}

impl<T: Serialize + DeserializeOwned> JsonLines<T> {
    /// Reads the file, if it exists. A last line that was cut off by an interruption is
    /// dropped.
    pub fn open(path: PathBuf) -> Result<JsonLines<T>> {
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut all = Vec::new();
        for (number, line) in text[..whole].lines().enumerate() {
            let parsed = serde_json::from_str(line);
            all.push(parsed.with_context(|| format!("{}, line {}", path.display(), number + 1))?);
        }
        if whole < text.len() {
            OpenOptions::new().write(true).open(&path)?.set_len(whole as u64)?;
        }
        Ok(JsonLines { path, all })
    }

    /// Appends a line to the file.
    pub fn add(&mut self, value: T) -> Result<()> {
        let mut file: File = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .with_context(|| self.path.display().to_string())?;
        let mut line = serde_json::to_string(&value)?;
        line.push('\n');
        file.write_all(line.as_bytes())?;
        file.sync_data()?;
        self.all.push(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u64) -> Key {
        Key {
            program: "bc".into(),
            contestant: "pleach".into(),
            knobs: "-s auto".into(),
            seed,
            seconds: 60,
        }
    }

    fn record(seed: u64, commit: &str) -> Record {
        Record {
            key: key(seed),
            total: 100,
            begin: 10,
            branches: 50 + seed,
            runs: 1000,
            crashes: 0,
            stats: serde_json::json!({"runs": 1000}),
            commit: commit.into(),
            machine: Machine {
                processor: "a processor".into(),
                cores: 2,
                memory_mib: 1024,
                kernel: "6.1".into(),
            },
            date: "2026-01-31T12:00:00Z".into(),
            core: 0,
            beside: vec!["AFL++ on bc, seed 1".into()],
            load: 0.5,
            memory_mib: 64,
            elapsed: 60.1,
        }
    }

    #[test]
    fn a_contest_continues_with_the_runs_of_its_commit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.jsonl");
        let open = |commit: Option<&str>| {
            Records::open(path.clone(), commit.map(String::from), false).unwrap()
        };
        let mut records = open(Some("a"));
        assert!(!records.has(&key(1)));
        records.add(record(1, "a")).unwrap();
        records.add(record(2, "b")).unwrap();
        assert!(records.has(&key(1)) && !records.has(&key(2)));
        let again = open(Some("a"));
        assert!(again.has(&key(1)) && !again.has(&key(2)) && !again.has(&key(3)));
        assert_eq!(again.find(&key(1)).unwrap().branches, 51);
        let any = open(None);
        assert!(any.has(&key(1)) && any.has(&key(2)));
        let other = Key { knobs: "-s dfs".into(), ..key(1) };
        assert!(!any.has(&other));
    }

    #[test]
    fn a_line_that_was_cut_off_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.jsonl");
        let open = || Records::open(path.clone(), None, false).unwrap();
        open().add(record(1, "a")).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"program\": \"bc\", \"cont").unwrap();
        open().add(record(2, "a")).unwrap();
        let records = open();
        assert!(records.has(&key(1)) && records.has(&key(2)));
    }

    #[test]
    fn a_fresh_contest_keeps_the_old_file_under_another_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.jsonl");
        Records::open(path.clone(), None, false).unwrap().add(record(1, "a")).unwrap();
        assert!(!Records::open(path.clone(), None, true).unwrap().has(&key(1)));
        assert!(dir.path().join("run.jsonl.old").exists());
    }
}
