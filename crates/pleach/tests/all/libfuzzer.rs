//! Fuzz targets with libFuzzer's command line.

use crate::common::campaign::files;
use crate::common::{Program, feed};
use std::process::{Command, Output};

/// Includes a custom mutator, which must link.
const TARGET: &str = r#"#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return LLVMFuzzerMutate(data, size, max);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 4 && !memcmp(data, "BUG", 3)) {
        if (data[3] == '1' && data[4] == '?') abort();
        if (data[3] == '2') for (;;);
        if (data[3] == '3') exit(3);
    }
    return size > 2 && data[0] == 'x' && data[1] == 'y';
}
"#;

struct Target {
    program: Program,
}

impl Target {
    fn new() -> Target {
        Target { program: Program::with(TARGET, &["-fsanitize=fuzzer"]) }
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(self.program.path("prog"));
        feed(command.current_dir(self.program.dir.path()).args(args), b"")
    }

    /// Runs it, and checks its exit status. Returns what it prints on standard error.
    fn exits(&self, args: &[&str], status: i32) -> String {
        let out = self.run(args);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(status), "{args:?}: {text}");
        text
    }

    /// The files in a directory whose names begin with this.
    fn named(&self, dir: &str, head: &str) -> Vec<(String, Vec<u8>)> {
        let all = files(&self.program.path(dir)).into_iter();
        all.filter(|(name, _)| name.starts_with(head)).collect()
    }
}

#[test]
fn files_are_run_with_the_statuses_of_libfuzzer() {
    let target = Target::new();
    let p = &target.program;
    for (name, text) in [("fine", "fine"), ("crash", "BUG1?"), ("hang", "BUG2?"), ("exit", "BUG3?")]
    {
        p.file(name, text.as_bytes());
    }
    let text = target.exits(&["fine", "fine", "-runs=3"], 0);
    assert!(text.contains("Running: fine\nExecuted fine in "), "{text}");
    assert!(target.exits(&["fine", "crash"], 77).contains("libFuzzer: deadly signal"));
    assert!(target.exits(&["exit"], 77).contains("fuzz target exited"));
    assert!(target.exits(&["-timeout=1", "hang"], 70).contains("timeout after 1 seconds"));
    assert!(target.exits(&["nothing"], 1).contains("cannot open nothing"));
}

#[test]
fn a_search_writes_new_inputs_and_failures_where_libfuzzer_does() {
    let target = Target::new();
    let p = &target.program;
    for dir in ["new", "old", "old/deep", "bad"] {
        p.make_dir(dir);
    }
    p.file("old/deep/seed", b"BUG0 seed");
    let args = ["-runs=20000", "-max_total_time=60", "-max_len=16", "-seed=1", "-nonsense=1"];
    let more = ["-close_fd_mask=3", "-print_final_stats=1", "-artifact_prefix=bad/", "new", "old"];
    let text = target.exits(&[&args[..], &more].concat(), 77);
    assert!(text.contains("WARNING: unrecognized flag '-nonsense=1'"), "{text}");
    assert!(text.contains("stat::number_of_executed_units: "), "{text}");
    let crashes = target.named("bad", "crash-");
    assert_eq!(crashes.len(), 1, "{text}");
    let (name, bytes) = &crashes[0];
    assert!(bytes.starts_with(b"BUG1?") && bytes.len() <= 16);
    assert!(text.contains(&format!("Test unit written to bad/{name}")), "{text}");
    // The crash is a file that the target runs.
    target.exits(&[&format!("bad/{name}")], 77);
    let new = target.named("new", "");
    let is_sha1 = |name: &str| name.len() == 40 && name.chars().all(|c| c.is_ascii_hexdigit());
    assert!(new.iter().all(|(name, bytes)| is_sha1(name) && bytes != b"BUG0 seed"));
    assert!(new.iter().any(|(_, bytes)| bytes.starts_with(b"BUG")), "{new:?}");
}

#[test]
fn a_timeout_ends_a_search_if_it_is_asked_for() {
    let target = Target::new();
    target.program.make_dir("corpus");
    target.program.file("corpus/seed", b"BUG2 a seed that hangs");
    let text = target.exits(&["-timeout=1", "-max_total_time=60", "corpus"], 70);
    assert!(!target.named(".", "timeout-").is_empty(), "{text}");
}

#[test]
fn without_runs_the_corpus_runs_once() {
    let target = Target::new();
    let p = &target.program;
    p.make_dir("corpus");
    p.file("corpus/one", b"one");
    let text = target.exits(&["-runs=0", "corpus"], 0);
    assert!(text.contains("Done 1 runs"), "{text}");
    p.file("corpus/two", b"BUG1?");
    let text = target.exits(&["-runs=0", "-exact_artifact_path=it", "corpus"], 77);
    assert!(text.contains("Test unit written to it"), "{text}");
    assert_eq!(p.read("it"), b"BUG1?");
}

#[test]
fn merge_minimize_and_help_work() {
    let target = Target::new();
    let p = &target.program;
    for dir in ["main", "more"] {
        p.make_dir(dir);
    }
    for (name, text) in [("main/a", "fine"), ("more/b", "xy and more"), ("more/c", "other")] {
        p.file(name, text.as_bytes());
    }
    p.file("more/d", b"BUG1? crashes");
    let text = target.exits(&["-merge=1", "main", "more"], 0);
    assert!(text.contains("MERGE-OUTER: 1 new files"), "{text}");
    assert!(target.named("main", "").iter().any(|(_, bytes)| bytes == b"xy and more"));
    assert_eq!(target.named("main", "").len(), 2);

    p.file("long", b"BUG1? and much that does not matter");
    target.exits(&["-minimize_crash=1", "-exact_artifact_path=short", "long"], 0);
    assert_eq!(p.read("short"), b"BUG1?");

    let help = target.run(&["-help=1"]);
    assert!(help.status.success());
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.contains(" max_total_time ") && help.contains(" dict "), "{help}");
    assert!(target.exits(&["nowhere/"], 1).contains("nowhere"));
    assert!(target.exits(&["-runs=many", "main"], 2).contains("-runs=many"));
}

#[test]
fn a_wrong_name_of_pleach_does_no_harm() {
    let target = Target::new();
    let pleach = target.program.path("none");
    let mut command = Command::new(target.program.path("prog"));
    command.current_dir(target.program.dir.path()).env("PLEACH", &pleach).env("PATH", "");
    // The one beside the compiler is found.
    let out = feed(command.args(["-help=1"]), b"");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}
