//! The checks after a fault. Each returns what is wrong, as lines for people.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::family;

/// How long others may take to clean up after a driver that was killed.
pub const CLEANING_TIME: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(10);

/// At most this many lost inputs are named.
const MAX_NAMED: usize = 5;

/// The inputs that a campaign has kept: directory and name of each file, and its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs(BTreeMap<PathBuf, Vec<u8>>);

impl Inputs {
    /// Reads the inputs of a campaign directory, without reports and unfinished files.
    pub fn read(out: &Path) -> Inputs {
        let mut found = BTreeMap::new();
        for kind in ["queue", "crashes", "hangs"] {
            for entry in fs::read_dir(out.join(kind)).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with("id:") && !name.ends_with(".txt") {
                    // A file that disappears here is missed by the next comparison.
                    let bytes = fs::read(entry.path()).unwrap_or_default();
                    found.insert(Path::new(kind).join(name), bytes);
                }
            }
        }
        Inputs(found)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Which of these inputs `later` does not have, or has with other contents.
    pub fn lost_in(&self, later: &Inputs) -> Vec<String> {
        let describe = |(name, bytes): (&PathBuf, &Vec<u8>)| match later.0.get(name) {
            None => Some(format!("{} is gone", name.display())),
            Some(now) if now != bytes => Some(format!("{} has changed", name.display())),
            Some(_) => None,
        };
        at_most(self.0.iter().filter_map(describe).collect())
    }

    /// Which inputs of this queue no file of another queue has, whatever the names.
    pub fn missing_from_queue(&self, other: &Inputs) -> Vec<String> {
        let queue = |inputs: &Inputs| -> Vec<(PathBuf, Vec<u8>)> {
            let in_queue = |(name, _): &(&PathBuf, &Vec<u8>)| name.starts_with("queue");
            inputs.0.iter().filter(in_queue).map(|(n, b)| (n.clone(), b.clone())).collect()
        };
        let there: Vec<Vec<u8>> = queue(other).into_iter().map(|(_, bytes)| bytes).collect();
        let missing = queue(self).into_iter().filter(|(_, bytes)| !there.contains(bytes));
        at_most(missing.map(|(name, _)| format!("{} is not known", name.display())).collect())
    }
}

fn at_most(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > MAX_NAMED {
        let more = lines.len() - MAX_NAMED;
        lines.truncate(MAX_NAMED);
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Waits until no process with this mark, or in this directory, is left.
pub fn left_processes(mark: &str, dir: &Path) -> Vec<String> {
    left_processes_after(mark, dir, CLEANING_TIME)
}

fn left_processes_after(mark: &str, dir: &Path, patience: Duration) -> Vec<String> {
    let left = wait_for_none(patience, || family::marked(mark, dir));
    left.iter().map(|p| format!("process {} ({}) is left", p.pid, p.name)).collect()
}

/// Waits until a list is empty. Returns what is left in the end.
pub fn wait_for_none<T>(patience: Duration, mut list: impl FnMut() -> Vec<T>) -> Vec<T> {
    let start = Instant::now();
    loop {
        let left = list();
        if left.is_empty() || start.elapsed() > patience {
            return left;
        }
        sleep(POLL);
    }
}

/// The numbers of a campaign that may never fall, and those that must stay 0.
#[derive(Clone, Debug, Default)]
pub struct HighWater {
    covered: u64,
    inputs: u64,
    pub runs: u64,
    pub traces: u64,
    pub stalls: u64,
}

impl HighWater {
    /// Compares the statistics with all that were seen before.
    pub fn observe(&mut self, stats: &Value) -> Vec<String> {
        let number = |path: &str| stats.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let mut problems = Vec::new();
        let mut rise = |what: &str, before: &mut u64, now: u64| {
            if now < *before {
                problems.push(format!("{what} fell from {before} to {now}"));
            }
            *before = now;
        };
        rise("branches.covered", &mut self.covered, number("/branches/covered"));
        rise("inputs", &mut self.inputs, number("/inputs"));
        self.runs = number("/runs");
        self.traces = number("/traces");
        let stalls = number("/stalls");
        if stalls > self.stalls {
            problems.push(format!("a worker stood still: {}", stats["stalled_in"]));
        }
        self.stalls = stalls;
        let (total, limit) = (number("/memory/total"), number("/memory/limit"));
        if total > limit {
            problems
                .push(format!("{total} bytes of memory are accounted for, with {limit} allowed"));
        }
        problems
    }

    /// Compares the coverage of the kept files with the statistics.
    pub fn check_replay(&self, replayed: &Value) -> Vec<String> {
        let covered = replayed["covered"].as_u64().unwrap_or(0);
        let mut problems = Vec::new();
        if covered < self.covered {
            let counted = self.covered;
            problems.push(format!("stats.json counts {counted} branches, the files {covered}"));
        }
        let rows = replayed["inputs"].as_array().into_iter().flatten();
        for row in rows {
            let name = row["input"].as_str().unwrap_or_default();
            let is_known_crash = name.contains("/crashes/") && row["crash"].is_null();
            if is_known_crash {
                problems.push(format!("{name} does not crash: {}", row["end"]));
            }
        }
        at_most(problems)
    }
}

/// What a driver may use besides the memory that it accounts for: its code, its threads, and
/// what one trace needs.
const UNACCOUNTED_KIB: u64 = 512 << 10;

/// Compares the largest resident set of a driver with the memory that it was allowed.
pub fn check_memory(peak_kib: u64, allowed: u64) -> Option<String> {
    let most = allowed / 1024 + UNACCOUNTED_KIB;
    (peak_kib > most).then(|| format!("the driver used {} MiB", peak_kib / 1024))
}

/// Signs of a defect in what a driver has printed.
pub fn suspicious_lines(log: &str) -> Vec<String> {
    let signs = ["panicked at", "internal error", "did not come back"];
    log.lines().filter(|line| signs.iter().any(|s| line.contains(s))).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::process::{Command, Stdio};

    fn campaign(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn a_lost_a_changed_and_an_empty_input_are_found() {
        let out = campaign(&[
            ("queue/id:000000,op:seed", "one"),
            ("crashes/id:000000,sig:06", "two"),
            ("crashes/id:000000,sig:06.stack.txt", "no input"),
            ("hangs/id:000000", "three"),
            ("queue/.id:000001.tmp", "not finished"),
        ]);
        let before = Inputs::read(out.path());
        assert_eq!(before.count(), 3);
        assert!(before.lost_in(&Inputs::read(out.path())).is_empty());
        fs::remove_file(out.path().join("hangs/id:000000")).unwrap();
        fs::write(out.path().join("crashes/id:000000,sig:06"), "").unwrap();
        fs::write(out.path().join("queue/id:000001,op:flip"), "new").unwrap();
        let lost = before.lost_in(&Inputs::read(out.path()));
        assert_eq!(lost, ["crashes/id:000000,sig:06 has changed", "hangs/id:000000 is gone"]);
    }

    #[test]
    fn an_input_that_the_journal_does_not_know_is_found() {
        let out = campaign(&[("queue/id:000000,op:seed", "one"), ("queue/id:000001", "two")]);
        let recovered = campaign(&[("queue/id:000000,op:recovered", "one")]);
        let (all, some) = (Inputs::read(out.path()), Inputs::read(recovered.path()));
        assert_eq!(all.missing_from_queue(&some), ["queue/id:000001 is not known"]);
        assert!(some.missing_from_queue(&all).is_empty());
    }

    #[test]
    fn a_process_is_found_by_its_mark_and_by_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let mark = format!("SOAK_MARK=test-{}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        let sleeper = |configure: &dyn Fn(&mut Command)| {
            let mut command = Command::new("sleep");
            configure(command.arg("600").stdin(Stdio::null()));
            command.spawn().unwrap()
        };
        let find = || left_processes_after(&mark, &home, Duration::ZERO);
        assert!(find().is_empty());
        let by_mark = sleeper(&|c| _ = c.env(name, value));
        let in_dir = sleeper(&|c| _ = c.env_clear().current_dir(&home));
        for mut child in [by_mark, in_dir] {
            let line = format!("process {} (sleep) is left", child.id());
            let found = wait_for_some(&find, &line);
            assert!(found.contains(&line), "{found:?}");
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!find().contains(&line));
        }
    }

    /// A process has its environment and its directory only when it has started.
    fn wait_for_some(find: &dyn Fn() -> Vec<String>, line: &String) -> Vec<String> {
        let start = Instant::now();
        loop {
            let found = find();
            if found.contains(line) || start.elapsed() > Duration::from_secs(20) {
                return found;
            }
            sleep(POLL);
        }
    }

    #[test]
    fn a_file_that_is_left_is_found() {
        let dir = campaign(&[("pleach-run-1/input", "left")]);
        let list = || fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(wait_for_none(Duration::ZERO, list), [dir.path().join("pleach-run-1")]);
        fs::remove_dir_all(dir.path().join("pleach-run-1")).unwrap();
        assert!(wait_for_none(Duration::ZERO, list).is_empty());
    }

    #[test]
    fn falling_numbers_and_stalls_are_found() {
        let stats = |covered: u64, inputs: u64, stalls: u64| {
            json!({
                "branches": { "covered": covered }, "inputs": inputs, "runs": 7,
                "stalls": stalls, "stalled_in": { "sat": stalls },
            })
        };
        let mut water = HighWater::default();
        assert!(water.observe(&stats(10, 3, 0)).is_empty());
        assert!(water.observe(&stats(10, 4, 0)).is_empty());
        assert_eq!(water.runs, 7);
        assert_eq!(water.observe(&stats(9, 4, 0)), ["branches.covered fell from 10 to 9"]);
        assert_eq!(water.observe(&stats(9, 3, 0)), ["inputs fell from 4 to 3"]);
        assert_eq!(water.observe(&stats(9, 3, 1)), [r#"a worker stood still: {"sat":1}"#]);
        assert!(water.observe(&stats(9, 3, 1)).is_empty(), "it is reported once");
        let over = json!({
            "branches": { "covered": 9 }, "inputs": 3, "stalls": 1,
            "memory": { "total": 200, "limit": 100 },
        });
        assert_eq!(water.observe(&over).len(), 1);
    }

    #[test]
    fn files_that_cover_less_and_crashes_that_do_not_crash_are_found() {
        let water = HighWater { covered: 10, ..HighWater::default() };
        let replayed = |covered: u64, crash: Value| {
            let row = json!({ "input": "out/crashes/id:000000", "end": "exit 0", "crash": crash });
            json!({ "covered": covered, "inputs": [row] })
        };
        assert!(water.check_replay(&replayed(10, json!({ "kind": "abort" }))).is_empty());
        let problems = water.check_replay(&replayed(9, Value::Null));
        assert_eq!(problems.len(), 2, "{problems:?}");
    }

    #[test]
    fn a_driver_that_uses_too_much_memory_is_found() {
        assert_eq!(check_memory(500 << 10, 1 << 20), None);
        assert!(check_memory(600 << 10, 1 << 20).is_some());
    }

    #[test]
    fn a_panic_in_the_log_is_found() {
        assert!(suspicious_lines("searching\n12 branches\n").is_empty());
        let log = "searching\nthread 'main' panicked at src/a.rs:1:2:\nno\n";
        assert_eq!(suspicious_lines(log), ["thread 'main' panicked at src/a.rs:1:2:"]);
    }
}
