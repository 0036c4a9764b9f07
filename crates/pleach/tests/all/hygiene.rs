//! Whatever ends the driver, it leaves no process and no file behind.

use crate::common::process::{count_processes, send_signal, unique_name, wait_until};
use crate::common::{PLEACH, Program, feed};
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

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

/// A target with a process name and a temporary directory of its own, so that what it
/// leaves behind can be seen.
struct Watched {
    program: Program,
    name: String,
}

impl Watched {
    fn new() -> Watched {
        let (program, name) = (Program::new(SOURCE), unique_name());
        std::fs::rename(program.path("prog"), program.path(&name)).expect("writable");
        program.make_dir("temporary");
        Watched { program, name }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program.command(args);
        command.arg("--").arg(self.program.path(&self.name));
        command.env("TMPDIR", self.program.path("temporary"));
        command
    }

    fn temporary_files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.program.path("temporary"));
        entries.into_iter().flatten().flatten().map(|e| e.path()).collect()
    }

    fn processes(&self) -> usize {
        count_processes(&self.name)
    }

    /// Nothing is left at the moment when a command has ended.
    fn assert_clean(&self, when: &str) {
        assert_eq!(self.temporary_files(), Vec::<PathBuf>::new(), "{when}");
        assert_eq!(self.processes(), 0, "{when}");
    }

    /// Nothing is left soon after a driver was killed: others have to clean up.
    fn becomes_clean(&self) {
        wait_until("processes are left", || self.processes() == 0);
        wait_until("files are left", || self.temporary_files().is_empty());
    }
}

/// The directories of the input files that the targets below a driver read.
fn input_directories(driver: u32) -> Vec<PathBuf> {
    let children = |pid: &str| -> Vec<String> {
        let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        list.unwrap_or_default().split_whitespace().map(String::from).collect()
    };
    let wardens = children(&driver.to_string());
    let servers = wardens.iter().flat_map(|warden| children(warden));
    let stdin = |server: String| std::fs::read_link(format!("/proc/{server}/fd/0")).ok();
    servers.filter_map(stdin).filter_map(|p| p.parent().map(Path::to_path_buf)).collect()
}

#[test]
fn commands_that_end_leave_nothing() {
    let w = Watched::new();
    for i in 0..24 {
        let args: &[&str] = if i % 2 == 0 { &["trace", "-"] } else { &["cover", "-"] };
        assert!(feed(&mut w.command(args), b"x").status.success());
        w.assert_clean(&format!("after run {i}"));
    }
    let out = feed(&mut w.command(&["trace", "--repeat", "25", "-"]), b"x");
    assert!(out.status.success());
    let out = feed(&mut w.command(&["trace", "-t", "100", "--repeat", "3", "-"]), b"h");
    assert!(String::from_utf8_lossy(&out.stdout).contains("timeout"), "{out:?}");
    w.program.file("input", b"h");
    for half in ["plain", "fast", "symbolic"] {
        // In this time the program has to reach the place where it hangs.
        let out = feed(&mut w.command(&["replay", "--half", half, "-t", "300", "input"]), b"");
        assert!(String::from_utf8_lossy(&out.stdout).contains("timeout: hang in main"), "{out:?}");
        w.assert_clean(half);
    }
}

/// Starts a command on an input that hangs, and waits until it does. No time limit ends the
/// run for a minute.
fn start_hanging(w: &Watched, command: &str) -> (Child, Vec<PathBuf>) {
    w.program.file("input", b"h");
    let mut command = w.command(&[command, "-t", "60000", "input"]);
    let driver = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // The server, the run, and the process that the run started.
    wait_until("the run does not start", || w.processes() == 3);
    let inputs = input_directories(driver.id());
    assert!(!inputs.is_empty() && inputs.iter().all(|d| d.is_dir()), "{inputs:?}");
    (driver, inputs)
}

/// True if this process ignores a signal, and so does every command that it starts. A shell
/// starts background jobs like that.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("there is /proc");
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:")).expect("a mask");
    let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask");
    mask >> (signal as i32 - 1) & 1 == 1
}

#[test]
fn commands_ended_by_a_signal_leave_nothing() {
    let w = Watched::new();
    let signals = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGKILL, Signal::SIGTERM];
    for command in ["trace", "cover", "explain", "replay"] {
        for signal in signals.into_iter().filter(|&s| !is_ignored(s)) {
            let (mut driver, inputs) = start_hanging(&w, command);
            send_signal(&driver, signal);
            driver.wait().expect("it is our child");
            w.becomes_clean();
            wait_until("the input is left", || inputs.iter().all(|d| !d.exists()));
        }
    }
}

#[test]
fn a_killed_exec_leaves_nothing() {
    let w = Watched::new();
    let mut command = w.command(&["exec", "--half", "symbolic"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    // The process of `pleach` becomes the program, which then waits for its input.
    let executable = format!("/proc/{}/exe", child.id());
    let pleach = std::fs::canonicalize(PLEACH).expect("it exists");
    let tests = std::env::current_exe().expect("a path");
    wait_until("the program does not start", || {
        std::fs::read_link(&executable).is_ok_and(|e| e != pleach && e != tests)
    });
    child.kill().expect("it is our child");
    child.wait().expect("it is our child");
    w.becomes_clean();
}
