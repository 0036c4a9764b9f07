//! Small programs, compiled and run by the `pleach` under test.
#![allow(dead_code, reason = "each test uses its part")]

pub mod campaign;

use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub const PLEACH: &str = env!("CARGO_BIN_EXE_pleach");

/// Status 2, nothing on standard output, one line of ours that holds all of `parts`.
pub fn refused(out: &Output, args: &[&str], parts: &[&str]) {
    let message = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{args:?}: {message}");
    assert!(out.stdout.is_empty(), "{args:?}");
    assert_eq!(message.lines().count(), 1, "{args:?}: {message}");
    assert!(message.starts_with("pleach: "), "{message}");
    for part in parts {
        assert!(message.contains(part), "{args:?}: {message}");
    }
}

/// A directory with a program in it.
pub struct Program {
    pub dir: TempDir,
}

impl Program {
    /// Compiled by `pleach cc` as `prog`.
    pub fn new(source: &str) -> Program {
        Program::with(source, &[])
    }

    /// Compiled with more flags.
    pub fn with(source: &str, flags: &[&str]) -> Program {
        let program = Program::empty();
        program.compile(source, &[flags, &["-o", "prog"]].concat());
        program
    }

    pub fn empty() -> Program {
        Program { dir: tempfile::tempdir().expect("a temporary directory") }
    }

    pub fn compile(&self, source: &str, args: &[&str]) {
        self.file("prog.c", source.as_bytes());
        let done = self.command(&["cc", "-g", "-O1", "prog.c"]).args(args).output();
        let done = done.expect("pleach runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, bytes).expect("writable");
        path
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PLEACH);
        command.current_dir(self.dir.path()).args(args);
        command
    }

    pub fn run(&self, args: &[&str], stdin: &[u8]) -> Output {
        feed(&mut self.command(args), stdin)
    }

    /// What a command prints; it must succeed.
    pub fn text(&self, args: &[&str], stdin: &[u8]) -> String {
        let out = self.run(args, stdin);
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("text")
    }

    /// The one line of JSON that a command prints.
    pub fn json(&self, args: &[&str], stdin: &[u8]) -> Value {
        serde_json::from_str(&self.text(args, stdin)).expect("JSON")
    }
}

pub fn feed(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // It may end without reading.
    let _ = child.stdin.take().expect("piped").write_all(stdin);
    child.wait_with_output().expect("it ends")
}

/// Reads an argument, a variable, standard input and a file, and says by its status which
/// of them it knows; aborts if it knows all and the argument has a `!`.
pub const SEVERAL_INPUTS: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    static char b[16], c[16];
    const char *mode = getenv("MODE");
    int found = 0;
    if (argv[argc - 1][1] == 'x') found |= 1;
    if (mode && mode[0] == 'f') found |= 2;
    if (fread(b, 1, 2, stdin) == 2 && b[0] == 's') found |= 4;
    FILE *f = fopen(argv[1], "r");
    if (f && fread(c, 1, 2, f) == 2 && c[1] == 'i') found |= 8;
    if (found == 15 && argv[argc - 1][2] == '!') abort();
    return found;
}
"#;
