//! Nothing is left behind: no process, no file, whatever ends the driver.

use crate::common::{Program, feed};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `h` hangs, after starting a process that hangs in a session of its own.
const SOURCE: &str = r#"#include <unistd.h>
int main(void) {
    static char b[4];
    if (read(0, b, 1) == 1 && b[0] == 'h') {
        if (!fork()) setsid();
        for (;;) pause();
    }
    return 3;
}
"#;

/// A target whose processes and files can be told from all others.
struct Watched {
    program: Program,
    name: String,
}

impl Watched {
    fn new(name: &str) -> Watched {
        let program = Program::new(SOURCE);
        let name = format!("w-{name}");
        let path = |n: &str| program.dir.path().join(n);
        std::fs::rename(path("prog"), path(&name)).expect("writable");
        std::fs::create_dir(path("temporary")).expect("writable");
        Watched { program, name }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program.command(args);
        command.arg("--").arg(self.program.dir.path().join(&self.name));
        command.env("TMPDIR", self.program.dir.path().join("temporary"));
        command
    }

    /// Files in the temporary directory, and input files of our processes.
    fn files(&self) -> Vec<PathBuf> {
        let list = |dir: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
            entries.map(|e| e.path()).collect()
        };
        list(&self.program.dir.path().join("temporary"))
    }

    fn processes(&self) -> usize {
        let all = std::fs::read_dir("/proc").expect("there is /proc").flatten();
        let ours = |comm: String| comm.trim() == self.name;
        all.filter(|e| ours(std::fs::read_to_string(e.path().join("comm")).unwrap_or_default()))
            .count()
    }

    fn clean(&self) {
        wait_until("processes are left", || self.processes() == 0);
        wait_until("files are left", || self.files().is_empty());
    }
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Directories of inputs that a run has in memory.
fn in_memory(pid: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    for child in children.unwrap_or_default().split_whitespace() {
        let maps = format!("/proc/{child}/task/{child}/children");
        for server in std::fs::read_to_string(maps).unwrap_or_default().split_whitespace() {
            let stdin = std::fs::read_link(format!("/proc/{server}/fd/0"));
            found.extend(stdin.ok().and_then(|p| p.parent().map(Path::to_path_buf)));
        }
    }
    found
}

#[test]
fn fifty_runs_leave_nothing() {
    let w = Watched::new("fifty");
    for i in 0..25 {
        let args: &[&str] = if i % 2 == 0 { &["trace", "-"] } else { &["cover", "-"] };
        assert!(feed(&mut w.command(args), b"x").status.success());
        assert!(w.files().is_empty(), "after run {i}: {:?}", w.files());
        assert_eq!(w.processes(), 0, "after run {i}");
    }
    let out = feed(&mut w.command(&["trace", "--repeat", "25", "-"]), b"x");
    assert!(out.status.success());
    let out = feed(&mut w.command(&["trace", "-t", "100", "--repeat", "5", "-"]), b"h");
    assert!(String::from_utf8_lossy(&out.stdout).contains("timeout"), "{out:?}");
    w.program.file("input", b"h");
    for half in ["plain", "fast", "symbolic"] {
        let out = feed(&mut w.command(&["replay", "--half", half, "-t", "100", "input"]), b"");
        assert!(String::from_utf8_lossy(&out.stdout).contains("timeout: hang in main"), "{out:?}");
        assert_eq!(w.processes(), 0, "{half}");
    }
    assert!(w.files().is_empty());
    assert_eq!(w.processes(), 0);
}

/// A driver in the middle of a run that never ends.
fn hanging(w: &Watched, args: &[&str]) -> (Child, Vec<PathBuf>) {
    w.program.file("input", b"h");
    let mut command = w.command(&[args, &["-t", "60000", "input"]].concat());
    let driver = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // The server, the run, and what the run started.
    wait_until("it does not start", || w.processes() == 3);
    let inputs = in_memory(driver.id());
    assert!(!inputs.is_empty() && inputs.iter().all(|d| d.is_dir()), "{inputs:?}");
    (driver, inputs)
}

#[test]
fn signals_in_the_middle_leave_nothing() {
    let w = Watched::new("signals");
    // Who runs the tests in the background may have them ignore some.
    let status = std::fs::read_to_string("/proc/self/status").expect("there is /proc");
    let ignored = status.lines().find_map(|l| l.strip_prefix("SigIgn:")).expect("a mask");
    let ignored = u64::from_str_radix(ignored.trim(), 16).expect("a mask");
    let signals = [("-HUP", 1), ("-INT", 2), ("-KILL", 9), ("-TERM", 15)];
    let signals = signals.into_iter().filter(|(_, n)| ignored >> (n - 1) & 1 == 0);
    for command in ["trace", "cover", "explain", "replay"] {
        for (signal, _) in signals.clone() {
            let (mut driver, inputs) = hanging(&w, &[command]);
            let kill = Command::new("kill").args([signal, &driver.id().to_string()]).status();
            assert!(kill.expect("there is kill").success());
            driver.wait().expect("it is ours");
            w.clean();
            wait_until("the input is left", || inputs.iter().all(|d| !d.exists()));
        }
    }
}

#[test]
fn a_killed_exec_leaves_nothing() {
    let w = Watched::new("exec");
    let mut command = w.command(&["exec", "--half", "symbolic"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(200));
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    w.clean();
}
