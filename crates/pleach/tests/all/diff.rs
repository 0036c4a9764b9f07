//! `pleach diff`: two builds of one program, with a planted difference.

use crate::common::Program;
use serde_json::Value;

/// Reads a line and classifies it. `LIMIT` and `WORD` differ between the builds.
const SOURCE: &str = r#"#include <stdio.h>
#include <string.h>
static int limit(int n) { return n > LIMIT ? 3 : 1; }
static volatile int times = 1;
static void greet(void) { for (int i = 0; i < times; i++) puts("hello"); }
int main(void) {
    char line[64] = "";
    if (!fgets(line, sizeof line, stdin)) return 9;
    if (strncmp(line, WORD, 4) == 0) greet();
    printf("%zu\n", strlen(line));
    return limit(line[0]);
}
"#;

/// `old` and `new`, built by Pleach, and `plain`, which is `new` without it.
fn builds(old: &[&str], new: &[&str]) -> Program {
    let program = Program::empty();
    program.compile(SOURCE, &[old, &["-o", "old"]].concat());
    program.compile(SOURCE, &[new, &["-o", "new"]].concat());
    let mut plain = std::process::Command::new("clang-22");
    plain.current_dir(program.dir.path()).args(new).args(["prog.c", "-o", "plain"]);
    assert!(plain.status().expect("clang runs").success());
    program.seeds([("a", &b"a\n"[..]), ("b", b"open sesame\n"), ("c", b"~\n")]);
    program
}

const OPEN: &str = "-DWORD=\"open\"";
const SHUT: &str = "-DWORD=\"shut\"";

/// The report of a comparison, and its exit status.
fn diff(program: &Program, args: &[&str]) -> (Value, Option<i32>) {
    let out = program.run(&[&["diff", "--json"], args].concat(), b"");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&out.stderr);
    (serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{stderr}")), out.status.code())
}

#[test]
fn equal_builds_have_no_difference() {
    let program = builds(&["-DLIMIT=100", OPEN], &["-DLIMIT=100", OPEN]);
    let (report, status) = diff(&program, &["old", "new", "-i", "seeds"]);
    assert_eq!((status, &report["different"], &report["inputs"]), (Some(0), &0.into(), &3.into()));
    assert_eq!(report["changed_functions"], serde_json::json!([]));
}

#[test]
fn output_status_and_path_are_compared() {
    let program = builds(&["-DLIMIT=120", OPEN], &["-DLIMIT=200", SHUT]);
    let (report, status) = diff(&program, &["old", "new", "-i", "seeds"]);
    assert_eq!((status, &report["different"]), (Some(1), &2.into()), "{report}");
    assert_eq!(report["changed_functions"], serde_json::json!(["limit", "main"]));
    let [word, limit] = [&report["differences"][0], &report["differences"][1]];
    assert!(word["input"].as_str().is_some_and(|i| i.ends_with("seeds/b")), "{report}");
    assert_eq!(word["output"], "line 1: \"hello\" became \"12\"");
    assert!(word["status"].is_null() && word["path"][0] == "no longer executes greet", "{word}");
    assert_eq!(limit["status"], serde_json::json!(["exit 3", "exit 1"]));
    assert!(limit["output"].is_null(), "{limit}");
    let (report, _) = diff(&program, &["old", "new", "-i", "seeds", "--only", "status"]);
    assert_eq!(report["different"], 1);
    // An executable without Pleach has output and status.
    let (report, status) = diff(&program, &["old", "plain", "-i", "seeds"]);
    assert_eq!((status, &report["different"]), (Some(1), &2.into()), "{report}");
    let (report, status) = diff(&program, &["new", "plain", "-i", "seeds"]);
    assert_eq!((status, &report["different"]), (Some(0), &0.into()), "{report}");
}

#[test]
fn inputs_with_a_difference_are_found() {
    let program = builds(&["-DLIMIT=110", OPEN], &["-DLIMIT=111", SHUT]);
    std::fs::remove_file(program.path("seeds/b")).unwrap();
    std::fs::remove_file(program.path("seeds/c")).unwrap();
    let search = ["old", "new", "-i", "seeds", "-o", "found", "-n", "3000"];
    let (report, status) = diff(&program, &search);
    assert_eq!((status, &report["different_given"]), (Some(1), &0.into()), "{report}");
    let found = report["differences"].as_array().expect("a list");
    let is_found = |key: &str| found.iter().any(|d| !d[key].is_null());
    assert!(is_found("output") && is_found("status"), "{report}");
    for difference in found {
        let input = difference["input"].as_str().expect("a path");
        let (again, _) = diff(&program, &["old", "new", "-i", input]);
        assert_eq!(again["different"], 1, "{input}");
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let program = builds(&["-DLIMIT=1", OPEN], &["-DLIMIT=1", OPEN]);
    program.refuses(&["diff", "old", "gone", "-i", "seeds"], &["gone"]);
    program.refuses(&["diff", "old", "new", "-i", "none"], &["none"]);
    program.refuses(&["diff", "old", "prog.c", "-i", "seeds"], &["prog.c: not an ELF file"]);
    let search = ["diff", "old", "plain", "-i", "seeds", "-o", "out", "-n", "9"];
    program.refuses(&search, &["plain: not built by pleach-cc"]);
}
