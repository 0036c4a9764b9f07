//! Targets that do their worst. The driver reports what happened, runs the next input, and
//! leaves no process behind.

mod common;

use common::process::{count_processes, send_signal, unique_name, wait_until};
use common::{PLEACH, Program};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

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

/// A copy of the target under a name of its own, so that its processes can be counted.
struct Target {
    program: Program,
    name: String,
}

struct Report {
    status: Option<i32>,
    json: Option<Value>,
    stderr: String,
}

impl Target {
    fn new() -> Target {
        let (program, name) = (Program::empty(), unique_name());
        std::fs::copy(compiled(), program.path(&name)).expect("room for a copy");
        Target { program, name }
    }

    /// `pleach trace` of this input.
    fn command(&self, input: &str, flags: &[&str]) -> Command {
        self.program.file("input", input.as_bytes());
        let mut command = self.program.command(&["trace", "--json"]);
        command.args(flags).args(["input", "--"]).arg(format!("./{}", self.name));
        command
    }

    fn trace(&self, input: &str, flags: &[&str]) -> Report {
        let out = self.command(input, flags).output().expect("pleach runs");
        Report {
            status: out.status.code(),
            json: serde_json::from_slice(&out.stdout).ok(),
            stderr: String::from_utf8_lossy(&out.stderr).into_owned(),
        }
    }

    fn processes(&self) -> usize {
        count_processes(&self.name)
    }
}

/// Three runs on this input end like this, and nothing is left.
fn ends(input: &str, end: &str) {
    let target = Target::new();
    let report = target.trace(input, &["--repeat", "3"]);
    let json = report.json.unwrap_or_else(|| panic!("{input}: {}", report.stderr));
    assert_eq!(json["end"], end, "{input}: {json}");
    assert_eq!(report.status, Some(0), "{input}: {}", report.stderr);
    assert_eq!(target.processes(), 0, "{input}");
}

/// A run on this input is reported as a failure with this text. A run after it succeeds.
fn fails(input: &str, text: &str) {
    let target = Target::new();
    let report = target.trace(input, &["-t", "2000"]);
    let message = match &report.json {
        Some(json) => json["end"].as_str().unwrap_or_default().to_string(),
        None => report.stderr.clone(),
    };
    assert!(message.contains(text), "{input}: {message}");
    assert_eq!(report.status, Some(1), "{input}: {message}");
    assert_eq!(target.processes(), 0, "{input}");
    let next = target.trace("ok", &[]).json.expect("the next run succeeds");
    assert_eq!(next["end"], "exit 31");
}

#[test]
fn a_harmless_run_has_a_sound_trace() {
    let target = Target::new();
    let report = target.trace("ok", &["--check"]);
    let json = report.json.expect("it runs");
    assert_eq!((json["end"].as_str(), report.status), (Some("exit 31"), Some(0)));
    assert!(json["events"].as_u64() > Some(0), "{json}");
}

#[test]
fn overwritten_shared_memory_is_a_broken_trace() {
    fails("header", "broken trace");
    fails("arena", "broken trace");
}

#[test]
fn runs_that_start_processes_end_as_by_hand() {
    ends("fork", "exit 32");
    ends("wait", "exit 6");
    ends("vfork", "exit 29");
    ends("exec", "exit 30");
}

#[test]
fn a_run_may_close_all_descriptors() {
    ends("close", "exit 32");
}

#[test]
fn runs_may_use_memory_in_unusual_places() {
    ends("shadow", "SIGSEGV");
    ends("dirty", "exit 32");
    ends("low", "exit 21");
    ends("gigabyte", "exit 23");
    ends("stack", "exit 25");
}

#[test]
fn deep_recursion_ends_as_by_hand() {
    ends("recursion", "exit 28");
    ends("overflow", "SIGSEGV");
    ends("abort", "SIGABRT");
}

#[test]
fn runs_that_wait_for_ever_time_out() {
    for input in ["hang", "session", "group"] {
        let target = Target::new();
        let report = target.trace(input, &["-t", "300"]);
        let json = report.json.unwrap_or_else(|| panic!("{input}: {}", report.stderr));
        assert_eq!(json["end"], "timeout", "{input}");
        assert_eq!(target.processes(), 0, "{input}");
    }
}

#[test]
fn a_killed_or_stopped_fork_server_is_reported() {
    fails("parent", "the fork server is gone: it was killed by SIGKILL");
    fails("stop", "the fork server does not answer");
}

#[test]
fn a_run_over_its_memory_limit_is_ended() {
    let target = Target::new();
    let report = target.trace("gigabyte", &["-m", "200"]);
    let json = report.json.expect("it ends");
    assert_eq!(json["end"], "over its memory limit");
    assert_eq!(target.processes(), 0);
}

#[test]
fn a_driver_that_dies_leaves_no_process() {
    let target = Target::new();
    for signal in [Signal::SIGKILL, Signal::SIGINT, Signal::SIGTERM] {
        let mut command = target.command("hang", &["-t", "60000"]);
        let mut driver = command.spawn().expect("pleach runs");
        wait_until("the run does not start", || target.processes() == 2);
        send_signal(&driver, signal);
        driver.wait().expect("it is our child");
        wait_until("processes are left", || target.processes() == 0);
    }
}

#[test]
fn too_little_address_space_for_labels_is_reported() {
    let target = Target::new();
    let input = target.program.file("input", b"ok");
    let script = format!(
        "ulimit -v 4000000; exec {PLEACH} trace {} -- {}",
        input.display(),
        target.program.path(&target.name).display()
    );
    let out = Command::new("sh").args(["-c", &script]).output().expect("sh runs");
    let message = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{message}");
    assert!(message.contains("address space"), "{message}");
}

#[test]
fn a_removed_symbolic_half_is_reported() {
    let program = Program::empty();
    let section = "--remove-section=.pleach.symbolic";
    let mut objcopy = Command::new("objcopy");
    let done = objcopy.arg(section).args([compiled(), &program.path("stripped")]).status();
    assert!(done.expect("objcopy is installed").success());
    program.refuses(&["sites", "stripped"], &["was stripped"]);
}
