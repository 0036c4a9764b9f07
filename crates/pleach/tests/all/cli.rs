//! Mistakes on the command line: one message that says what to do, exit status 2, and
//! nothing is written.

use crate::common::refused;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a temporary directory"))
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("writable");
        path
    }

    /// A plain executable, from the system's compiler.
    fn compiled(&self, flags: &[&str]) -> PathBuf {
        let source = self.file("main.c", b"int main(void) { return 0; }\n");
        let path = self.0.path().join("plain");
        let done = Command::new("cc").args(flags).arg("-o").args([&path, &source]).status();
        assert!(done.expect("cc is there").success());
        path
    }
}

fn pleach(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pleach")).args(args).output().expect("pleach runs")
}

/// Checks for status 2, no output, and one line on standard error with all of `parts`.
fn refuses(args: &[&str], parts: &[&str]) {
    let out = pleach(args);
    refused(&out, args, parts);
}

/// Checks that every command refuses a program with the same message.
fn refuses_program(program: &Path, parts: &[&str]) {
    let place = Place::new();
    let (program, input) = (program.to_str().unwrap(), place.file("input", b"x"));
    let (input, out) = (input.to_str().unwrap(), place.0.path().join("out"));
    let named: Vec<_> = parts.iter().chain(&[program]).copied().collect();
    refuses(&["trace", input, "--", program], &named);
    refuses(&["explain", input, "--", program, "@@"], &named);
    refuses(&["cover", input, "--", program], &named);
    refuses(&["replay", input, "--", program], &named);
    refuses(&["tmin", "-i", input, "-o", out.to_str().unwrap(), "--", program], &named);
    let dir = place.0.path().to_str().unwrap();
    refuses(&["cmin", "-i", dir, "-o", out.to_str().unwrap(), "--", program], &named);
    refuses(&["exec", "--half", "fast", "--", program], &named);
    refuses(&["exec", "--half", "symbolic", "--", program], &named);
    refuses(&["extract", program, "-o", out.to_str().unwrap()], &named);
    refuses(&["sites", program], &named);
    assert!(!out.exists());
}

#[test]
fn files_that_are_not_targets_are_refused() {
    let place = Place::new();
    refuses_program(&place.0.path().join("nothing"), &["No such file"]);
    refuses_program(place.0.path(), &["directory"]);
    refuses_program(&place.file("empty", b""), &["not an ELF file"]);
    refuses_program(&place.file("script", b"#!/bin/sh\necho no\n"), &["a script", ".libs/"]);
    refuses_program(
        &place.file("cut", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0"),
        &["damaged ELF file", "build it again"],
    );
}

#[test]
fn executables_without_a_symbolic_half_are_refused() {
    let place = Place::new();
    let plain = place.compiled(&[]);
    refuses_program(&plain, &["no symbolic half", "pleach cc"]);
    let mut bytes = std::fs::read(&plain).unwrap();
    bytes[4] = 1;
    refuses_program(&place.file("narrow", &bytes), &["32-bit", "-m32"]);
    (bytes[4], bytes[18]) = (2, 183);
    refuses_program(&place.file("arm", &bytes), &["another machine", "x86-64"]);
    (bytes[18], bytes[16]) = (62, 1);
    refuses_program(&place.file("object", &bytes), &["link it with `pleach cc`"]);
    refuses_program(&place.compiled(&["-static"]), &["statically", "glibc"]);
}

#[test]
fn missing_inputs_and_outputs_are_refused() {
    let place = Place::new();
    let plain = place.compiled(&[]);
    let plain = plain.to_str().unwrap();
    refuses(&["trace", "/no/such/input", "--", plain], &["/no/such/input", "No such file"]);
    refuses(&["export", "--to", "lcov", "x", "/no/such/input"], &["/no/such/input", "not exist"]);
    refuses(&["cover", "/no/such/input", "--", plain], &["/no/such/input"]);
    refuses(&["replay", "/no/such/input", "--", plain], &["/no/such/input"]);
    refuses(&["cmin", "-i", "/no/such/dir", "-o", "/no/such/out", "--", plain], &["/no/such/dir"]);
    refuses(&["tmin", "-i", "/no/such/input", "-o", "/no", "--", plain], &["/no/such/input"]);
    let (empty, full) = (place.0.path().join("empty"), place.0.path().join("full"));
    for dir in [&empty, &full] {
        std::fs::create_dir(dir).unwrap();
    }
    let inside = place.file("full/one", b"1");
    let (inside, empty, full) =
        (inside.to_str().unwrap(), empty.to_str().unwrap(), full.to_str().unwrap());
    refuses(&["replay", empty, "--", plain], &[empty, "no inputs"]);
    refuses(&["report", empty, "-o", "/no/such/dir/out"], &[empty, "holds no campaign"]);
    refuses(&["report", inside, "-o", "/no/such/dir/out"], &[inside, "holds no campaign"]);
    refuses(&["cmin", "-i", empty, "-o", full, "--", plain], &[empty, "no inputs"]);
    refuses(&["cmin", "-i", full, "-o", full, "--", plain], &[full, "not empty"]);
    refuses(&["tmin", "-i", inside, "-o", full, "--", plain], &[full, "cannot be written"]);
    let nowhere = ["tmin", "-i", inside, "-o", "/no/such/dir/out", "--", plain];
    refuses(&nowhere, &["/no/such/dir/out", "cannot be written"]);
    refuses(&["pack", "--stdin", "/no/such/input", "-o", "/dev/null"], &["/no/such/input"]);
    refuses(&["pack", "--env", "NOVALUE", "-o", "/dev/null"], &["NOVALUE", "NAME=VALUE"]);
    refuses(&["pack", "--arg", "x", "-o", "/no/such/dir/out"], &["/no/such/dir/out"]);
    refuses(&["pack", "-o", "/dev/null"], &["nothing to pack"]);
    let many: Vec<&str> = ["--arg", "x"].into_iter().cycle().take(130).collect();
    let pack = [&["pack", "-o", "/dev/null"], &many[..]].concat();
    refuses(&pack, &["at most 64 streams"]);
    let cut = place.file("cut", b"PLEACH-INPUT-1\ni\0\0\0\x09\0\0\0four");
    let cut = cut.to_str().unwrap();
    for command in ["trace", "explain", "cover", "replay"] {
        refuses(&[command, cut, "--", plain], &[cut, "record 0 is cut off at byte 15"]);
    }
}

#[test]
fn unknown_options_are_refused() {
    for (args, part) in [
        (&["trace", "--no-such-flag", "x", "--", "y"][..], "--no-such-flag"),
        (&["trace", "x"], "PROGRAM"),
        (&["trace", "x", "y"], "tip: the program and its arguments come after --"),
        (&["exec", "--half", "fast", "y"], "come after --"),
        (&["trace", "x", "--repeat", "0", "--", "y"], "--repeat"),
        (&["trace", "x", "-t", "soon", "--", "y"], "soon"),
        (&["exec", "--half", "slow", "--", "y"], "slow"),
        (&["replay", "--half", "slow", "x", "--", "y"], "slow"),
        (&["tmin", "-i", "x", "-o", "y", "-n", "0", "--", "z"], "--runs"),
        (&["cmin", "-i", "x", "--", "z"], "--output"),
        (&["cmin", "-i", "x", "-o", "y", "z"], "come after --"),
        (&["exec", "--", "y"], "--half"),
        (&["nonsense"], "nonsense"),
        (&[], "Usage: pleach"),
    ] {
        let out = pleach(args);
        let message = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(message.contains(part) && message.contains("--help"), "{args:?}: {message}");
    }
}

#[test]
fn help_and_version_are_not_errors() {
    for args in [&["--help"][..], &["--version"], &["trace", "--help"], &["pack", "--help"]] {
        let out = pleach(args);
        assert!(out.status.success() && out.stderr.is_empty(), "{args:?}");
    }
}

/// The help of `pleach`, of its commands and of their subcommands: the words before the
/// `flag` (`-h` or `--help`), and the text. `cc` and `c++` have no help, because they pass
/// all options to clang.
pub fn all_help(flag: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    collect_help(&[], flag, &mut all);
    all
}

fn collect_help(command: &[String], flag: &str, all: &mut Vec<(String, String)>) {
    let args: Vec<&str> = command.iter().map(String::as_str).chain([flag]).collect();
    let out = pleach(&args);
    assert!(out.status.success(), "{command:?}");
    let text = String::from_utf8(out.stdout).expect("the help is text");
    all.push((command.join(" "), text.clone()));
    for name in subcommands(&text).filter(|name| !["cc", "c++"].contains(name)) {
        collect_help(&[command, &[name.to_owned()]].concat(), flag, all);
    }
}

/// The names in the section `Commands:`.
fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let section = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next())
}

#[test]
fn help_fits_a_terminal() {
    for (command, text) in all_help("-h").into_iter().chain(all_help("--help")) {
        let longest = text.lines().map(|l| l.chars().count()).max();
        assert!(longest <= Some(80), "{command}: {text}");
    }
}

#[test]
fn streams_are_packed_in_order() {
    let place = Place::new();
    let (file, out) = (place.file("f", b"hello"), place.0.path().join("packed"));
    let done = pleach(&[
        "pack",
        "--arg",
        "-x",
        "--env",
        "A=b",
        "--stdin",
        file.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ]);
    assert!(done.status.success());
    let expected = b"PLEACH-INPUT-1\ni\0\0\0\x05\0\0\0helloa\0\0\0\x02\0\0\0-xe\0\0\0\x03\0\0\0A=b";
    assert_eq!(std::fs::read(&out).unwrap(), expected);
}
