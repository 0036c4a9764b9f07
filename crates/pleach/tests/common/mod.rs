//! Small programs, compiled and run by the `pleach` under test.
#![allow(dead_code, reason = "each test executable uses only some of the helpers")]

pub mod browser;
pub mod campaign;
pub mod process;

use campaign::tree;
use pleach_exec::{Executor, Half, Layout, TargetOptions};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

pub const PLEACH: &str = env!("CARGO_BIN_EXE_pleach");

/// A time limit for runs that end by themselves: only a run that is stuck reaches it.
pub const NO_HURRY: Duration = Duration::from_secs(60);

/// Checks that `pleach` refused a command: status 2, nothing on standard output, and one
/// line of its own that contains all of `parts`.
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
    /// Compiles a source with `pleach cc` as `prog`.
    pub fn new(source: &str) -> Program {
        Program::with(source, &[])
    }

    /// Compiles a source with more flags.
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
        self.text(&[&["cc", "-g", "-O1", "prog.c"], args].concat(), b"");
    }

    /// The path of something in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("the directory is writable");
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn make_dir(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir(&path).expect("the directory is writable");
        path
    }

    /// Makes the directory `seeds` with these files.
    pub fn seeds<'a>(&self, seeds: impl IntoIterator<Item = (&'a str, &'a [u8])>) {
        self.make_dir("seeds");
        for (name, bytes) in seeds {
            self.file(&format!("seeds/{name}"), bytes);
        }
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

    /// Checks that a command is refused, and that it touches nothing in the directory.
    pub fn refuses(&self, args: &[&str], parts: &[&str]) {
        let before = tree(self.dir.path());
        refused(&self.run(args, b""), args, parts);
        assert_eq!(tree(self.dir.path()), before, "{args:?}");
    }

    /// Checks that a wrong flag is refused, and that nothing is touched. The message comes
    /// from the parser of the command line, and has more than one line.
    pub fn refuses_flag(&self, args: &[&str], part: &str) {
        let before = tree(self.dir.path());
        let out = self.run(args, b"");
        let message = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {message}");
        assert!(out.stdout.is_empty() && message.contains(part), "{args:?}: {message}");
        assert_eq!(tree(self.dir.path()), before, "{args:?}");
    }

    /// True if an input is a sentence of a grammar.
    pub fn is_sentence(&self, grammar: &str, input: &[u8]) -> bool {
        self.run(&["grammar", "parse", grammar, "-"], input).status.success()
    }

    pub fn layout(&self) -> Arc<Layout> {
        Arc::new(Layout::private(&self.path("prog")).expect("`pleach cc` made it"))
    }

    /// Runs one half through the library; what it prints is captured.
    pub fn executor(&self, half: Half) -> Executor {
        let mut target = TargetOptions::new(half, vec!["prog".into()]);
        target.output = pleach_exec::Output::Capture { limit: 1 << 20 };
        Executor::new(self.layout(), target).expect("an executor")
    }
}

/// Runs a command with this standard input.
pub fn feed(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // A program may end without reading its input; then writing fails.
    let _ = child.stdin.take().expect("piped").write_all(stdin);
    child.wait_with_output().expect("it ends")
}

/// Reads an argument, a variable, standard input and a file. Its status has a bit for each
/// of them that it recognises; if it recognises all and the argument has a `!`, it aborts.
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
