//! Targets that do their worst. The driver says what happened, goes on with
//! the next run, and leaves no process behind.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const PLEACH: &str = env!("CARGO_BIN_EXE_pleach");

fn compiled() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile.c");
        let done = Command::new(PLEACH)
            .args(["cc", "-O1", "-w", "-o"])
            .args([&program, Path::new(source)])
            .output()
            .expect("pleach runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        program
    })
}

/// A copy under a name of its own, so that its processes can be counted.
struct Target {
    dir: tempfile::TempDir,
    name: String,
}

struct Report {
    status: Option<i32>,
    json: Option<Value>,
    stderr: String,
}

impl Target {
    fn new(name: &str) -> Target {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let name = format!("h-{name}");
        std::fs::copy(compiled(), dir.path().join(&name)).expect("room for a copy");
        Target { dir, name }
    }

    fn trace(&self, input: &str, flags: &[&str]) -> Report {
        let file = self.dir.path().join("input");
        std::fs::write(&file, input).expect("writable");
        let out = Command::new(PLEACH)
            .args(["trace", "--json"])
            .args(flags)
            .arg(&file)
            .arg("--")
            .arg(self.dir.path().join(&self.name))
            .output()
            .expect("pleach runs");
        Report {
            status: out.status.code(),
            json: serde_json::from_slice(&out.stdout).ok(),
            stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
        }
    }

    fn processes(&self) -> usize {
        let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
        all.filter(|e| {
            let name = std::fs::read_to_string(e.path().join("comm")).unwrap_or_default();
            name.trim() == self.name
        })
        .count()
    }
}

/// The run ends like this, three times over, and nothing is left.
fn ends(input: &str, end: &str) {
    let target = Target::new(input);
    let report = target.trace(input, &["--repeat", "3"]);
    let json = report.json.unwrap_or_else(|| panic!("{input}: {}", report.stderr));
    assert_eq!(json["end"], end, "{input}: {json}");
    assert_eq!(report.status, Some(0), "{input}: {}", report.stderr);
    assert_eq!(target.processes(), 0, "{input}");
}

/// What became of the run is said in these words; a run after it goes well.
fn fails(input: &str, words: &str) {
    let target = Target::new(input);
    let report = target.trace(input, &["-t", "2000"]);
    let said = match &report.json {
        Some(json) => json["end"].as_str().unwrap_or_default().to_string(),
        None => report.stderr.clone(),
    };
    assert!(said.contains(words), "{input}: {said}");
    assert_eq!(report.status, Some(1), "{input}: {said}");
    assert_eq!(target.processes(), 0, "{input}");
    let after = target.trace("ok", &[]).json.expect("the next run goes well");
    assert_eq!(after["end"], "exit 31");
}

#[test]
fn plain_runs_are_sound() {
    let target = Target::new("plain");
    let report = target.trace("ok", &["--check"]);
    let json = report.json.expect("it runs");
    assert_eq!((json["end"].as_str(), report.status), (Some("exit 31"), Some(0)));
    assert!(json["events"].as_u64() > Some(0), "{json}");
}

#[test]
fn corrupted_shared_memory() {
    fails("header", "broken trace");
    fails("arena", "broken trace");
}

#[test]
fn processes_that_should_not_be() {
    ends("fork", "exit 32");
    ends("wait", "exit 6");
    ends("vfork", "exit 29");
    ends("exec", "exit 30");
}

#[test]
fn no_descriptors_left() {
    ends("close", "exit 32");
}

#[test]
fn memory_in_odd_places() {
    ends("shadow", "SIGSEGV");
    ends("dirty", "exit 32");
    ends("low", "exit 21");
    ends("gigabyte", "exit 23");
    ends("stack", "exit 25");
}

#[test]
fn deep_recursion() {
    ends("recursion", "exit 28");
    ends("overflow", "SIGSEGV");
    ends("abort", "SIGABRT");
}

#[test]
fn runs_that_never_end() {
    for input in ["hang", "session", "group"] {
        let target = Target::new(input);
        let report = target.trace(input, &["-t", "300"]);
        let json = report.json.unwrap_or_else(|| panic!("{input}: {}", report.stderr));
        assert_eq!(json["end"], "timeout", "{input}");
        assert_eq!(target.processes(), 0, "{input}");
    }
}

#[test]
fn a_server_that_is_killed_or_stopped() {
    fails("parent", "the fork server is gone: it was killed by SIGKILL");
    fails("stop", "the fork server does not answer");
}

#[test]
fn memory_limits_are_kept() {
    let target = Target::new("limit");
    let report = target.trace("gigabyte", &["-m", "200"]);
    let json = report.json.expect("it ends");
    assert_eq!(json["end"], "over its memory limit");
    assert_eq!(target.processes(), 0);
}

#[test]
fn a_driver_that_dies_takes_all_with_it() {
    let target = Target::new("orphan");
    let file = target.dir.path().join("input");
    std::fs::write(&file, "hang").expect("writable");
    for signal in ["-KILL", "-INT", "-TERM"] {
        let mut driver = Command::new(PLEACH)
            .args(["trace", "-t", "60000"])
            .arg(&file)
            .arg("--")
            .arg(target.dir.path().join(&target.name))
            .spawn()
            .expect("pleach runs");
        wait_until(|| target.processes() == 2);
        let kill = Command::new("kill").args([signal, &driver.id().to_string()]).status();
        assert!(kill.expect("there is kill").success());
        driver.wait().expect("it is ours");
        wait_until(|| target.processes() == 0);
    }
}

fn wait_until(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "it takes too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn no_address_space_for_labels() {
    let target = Target::new("limited");
    let file = target.dir.path().join("input");
    std::fs::write(&file, "ok").expect("writable");
    let program = target.dir.path().join(&target.name);
    let script = format!(
        "ulimit -v 4000000; exec {PLEACH} trace {} -- {}",
        file.display(),
        program.display()
    );
    let out = Command::new("sh").args(["-c", &script]).output().expect("sh runs");
    let message = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{message}");
    assert!(message.contains("address space"), "{message}");
}

#[test]
fn a_stripped_half_is_recognised() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let copy = dir.path().join("stripped");
    let section = "--remove-section=.pleach.symbolic";
    let done = Command::new("objcopy").arg(section).args([compiled(), &copy]).status();
    assert!(done.expect("there is objcopy").success());
    let out = Command::new(PLEACH).arg("sites").arg(&copy).output().expect("pleach runs");
    let message = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{message}");
    assert!(message.contains("stripped"), "{message}");
}
