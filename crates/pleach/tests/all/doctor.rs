//! `pleach doctor`: one line for each check, status 0 if searching and compiling work.

use crate::common::{PLEACH, Program};
use std::process::{Command, Output};

fn doctor(change: impl FnOnce(&mut Command)) -> Output {
    let mut command = Command::new(PLEACH);
    command.arg("doctor");
    change(&mut command);
    command.output().expect("it starts")
}

/// The state of a check, and its text.
fn line<'a>(out: &'a Output, what: &str) -> (&'a str, &'a str) {
    let text = std::str::from_utf8(&out.stdout).expect("text");
    let found = text.lines().find_map(|line| {
        let (state, rest) = line.split_once(' ')?;
        Some((state, rest.trim_start().strip_prefix(what)?.trim()))
    });
    found.unwrap_or_else(|| panic!("no line for {what}:\n{text}"))
}

#[test]
fn a_machine_that_runs_the_tests_is_well() {
    let out = doctor(|_| ());
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && !text.contains("missing"), "{text}");
    let (state, program) = line(&out, "program");
    assert!(state == "ok" && program.contains("both halves"), "{text}");
    for what in ["compiler", "ptrace", "C++", "ASan", "addresses", "git"] {
        assert_eq!(line(&out, what).0, "ok", "{text}");
    }
    assert!(line(&out, "ptrace").1.contains("in main (plain.c:"), "{text}");
}

#[test]
fn what_is_missing_is_reported() {
    // clang is not where PLEACH_LLVM says.
    let out = doctor(|command| _ = command.env("PLEACH_LLVM", "/no/such/llvm"));
    assert_eq!(out.status.code(), Some(1));
    let (state, text) = line(&out, "compiler");
    assert!(state == "missing" && text.contains("/no/such/llvm"), "{text}");
    // The symbolic half cannot reserve its shadow.
    let limited = format!("ulimit -v 4000000; exec '{PLEACH}' doctor");
    let out = Command::new("sh").args(["-c", &limited]).output().expect("sh");
    assert_eq!(out.status.code(), Some(1));
    let (state, text) = line(&out, "addresses");
    assert!(state == "missing" && text.contains("ulimit -v unlimited"), "{text}");
}

#[test]
fn a_machine_that_only_searches_needs_no_compiler() {
    let p = Program::new("#include <stdio.h>\nint main(void) { return getchar() == 'x'; }\n");
    let program = p.path("prog");
    let out = doctor(|command| {
        command.env("PLEACH_LLVM", "/no/such/llvm").arg(&program);
    });
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{text}");
    assert_eq!(line(&out, "compiler").0, "note", "{text}");
    assert!(line(&out, "program").1.contains("1 decision on the input"), "{text}");
    // A program without a symbolic half cannot be searched.
    let out = doctor(|command| _ = command.arg("/bin/true"));
    assert_eq!(out.status.code(), Some(1));
}
