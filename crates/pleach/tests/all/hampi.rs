//! `pleach solve`: what is printed for people and for scripts, and bad input refused.

use crate::common::refused;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn file(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pleach-template/tests/hampi");
    root.join(name).to_str().expect("a path").to_owned()
}

fn pleach(args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command.arg("solve").args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("pleach runs");
    // Who has read enough closes its end.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("pleach ends")
}

fn text(args: &[&str], input: &[u8]) -> String {
    let out = pleach(args, input);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// Status 2, nothing on standard output, one line that holds all of `parts`.
fn refuses(args: &[&str], input: &[u8], parts: &[&str]) {
    let out = pleach(args, input);
    refused(&out, args, parts);
}

#[test]
fn the_example_of_the_survey() {
    let survey = &file("good/survey.hmp");
    assert_eq!(text(&[survey], b""), "sat\nv = \")(\"\n");
    let json = text(&[survey, "--json"], b"");
    assert_eq!(json, "{\"solutions\":[{\"v\":\")(\"}],\"verdict\":\"sat\"}\n");
    assert_eq!(text(&[&file("good/survey_unsat.hmp")], b""), "unsat\n");
}

#[test]
fn all_solutions_on_request() {
    let file = &file("good/two_variables.hmp");
    let all = text(&[file, "--all", "5"], b"");
    let mut solutions: Vec<&str> = all.strip_prefix("sat\n").expect(&all).split("\n\n").collect();
    solutions.sort_unstable();
    let lines: Vec<&str> = solutions.iter().map(|s| s.trim_end()).collect();
    assert_eq!(lines, ["x = \"1\"\ny = \"2\"", "x = \"2\"\ny = \"1\""]);
    let answer = |n: &str| -> serde_json::Value {
        serde_json::from_str(&text(&[file, "--json", "--all", n], b"")).expect("JSON")
    };
    let (one, two) = (answer("1"), answer("2"));
    assert_eq!(one["solutions"].as_array().map(Vec::len), Some(1));
    assert_eq!((one["complete"].as_bool(), two["complete"].as_bool()), (Some(false), Some(true)));
    assert_eq!(two["solutions"].as_array().map(Vec::len), Some(2));
}

#[test]
fn standard_input_and_bytes_that_cannot_be_typed() {
    let constraint = b"var v : 3;\nassert v equals \"\\255\\\"\\010\";\n";
    assert_eq!(text(&["-"], constraint), "sat\nv = \"\\255\\\"\\010\"\n");
    let json: serde_json::Value =
        serde_json::from_str(&text(&["-", "--json"], constraint)).expect("JSON");
    assert_eq!(json["solutions"][0]["v"], "\u{ff}\"\n");
}

#[test]
fn bad_input_is_refused() {
    let bad = &file("bad/undefined.hmp");
    refuses(&[bad], b"", &[&format!("{bad}:2:13: R is not defined")]);
    refuses(&["-"], b"var v : 1;\nassert v in;\n", &["-:2:12: "]);
    refuses(&["/no/such/file.hmp"], b"", &["/no/such/file.hmp: "]);
    refuses(&["/"], b"", &["/: "]);
    refuses(&["/dev/zero"], b"", &["/dev/zero: ", "too large"]);
    let dir = tempfile::tempdir().expect("a directory");
    let long: PathBuf = dir.path().join("long.hmp");
    let made = std::fs::File::create(&long).and_then(|f| f.set_len(100_000_000));
    made.expect("writable");
    refuses(&[long.to_str().expect("a path")], b"", &["long.hmp: ", "too large"]);
    let good = &file("good/survey.hmp");
    assert_eq!(pleach(&[good, "--all", "0"], b"").status.code(), Some(2));
}

/// What is too much is neither sat nor unsat, and no fault of the file's form.
#[test]
fn giving_up_says_so() {
    let file =
        b"var v : 8192;\ncfg A := A A | \"a\" | \"b\";\nassert v in A;\nassert v not in A;\n";
    let out = pleach(&["-"], file);
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(out.stdout, b"unknown\n");
    let message = String::from_utf8_lossy(&out.stderr);
    assert!(message.starts_with("pleach: -: the constraints are too large"), "{message}");
}
