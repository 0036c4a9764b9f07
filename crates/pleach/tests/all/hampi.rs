//! `pleach solve`: what it prints as text and as JSON, and what it refuses.

use crate::common::{PLEACH, feed, refused};
use std::path::Path;
use std::process::{Command, Output};

fn file(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pleach-template/tests/hampi");
    root.join(name).to_str().expect("a path").to_owned()
}

fn pleach(args: &[&str], input: &[u8]) -> Output {
    feed(Command::new(PLEACH).arg("solve").args(args), input)
}

fn text(args: &[&str], input: &[u8]) -> String {
    let out = pleach(args, input);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

fn refuses(args: &[&str], input: &[u8], parts: &[&str]) {
    refused(&pleach(args, input), args, parts);
}

#[test]
fn the_example_of_the_survey_is_solved() {
    let survey = &file("good/survey.hmp");
    assert_eq!(text(&[survey], b""), "sat\nv = \")(\"\n");
    let json = text(&[survey, "--json"], b"");
    assert_eq!(json, "{\"solutions\":[{\"v\":\")(\"}],\"verdict\":\"sat\"}\n");
    assert_eq!(text(&[&file("good/survey_unsat.hmp")], b""), "unsat\n");
}

#[test]
fn all_lists_every_solution_once() {
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
fn unprintable_bytes_are_escaped() {
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
    let long = dir.path().join("long.hmp");
    let made = std::fs::File::create(&long).and_then(|f| f.set_len(100_000_000));
    made.expect("writable");
    refuses(&[long.to_str().expect("a path")], b"", &["long.hmp: ", "too large"]);
    let good = &file("good/survey.hmp");
    assert_eq!(pleach(&[good, "--all", "0"], b"").status.code(), Some(2));
}

/// Such a file is correct, so the status is not 2.
#[test]
fn constraints_that_are_too_large_are_unknown() {
    let file =
        b"var v : 8192;\ncfg A := A A | \"a\" | \"b\";\nassert v in A;\nassert v not in A;\n";
    let out = pleach(&["-"], file);
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(out.stdout, b"unknown\n");
    let message = String::from_utf8_lossy(&out.stderr);
    assert!(message.starts_with("pleach: -: the constraints are too large"), "{message}");
}
