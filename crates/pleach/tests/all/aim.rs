//! `pleach run --toward`, `--toward-sarif` and `--changed`: which places are reached, by which
//! input, and what stands in the way to the others.

use crate::common::Program;
use crate::common::campaign::Ended;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The first byte chooses one of many functions, and each compares many bytes in turn. The
/// innermost line of `check_41` is line 1.
fn many_functions() -> String {
    const FUNCTIONS: usize = 64;
    const DEPTH: usize = 16;
    let mut text = String::from("#include <stdio.h>\nstatic volatile int n;\n");
    for f in 0..FUNCTIONS {
        let test = |i| format!("if (in[{i}] == {}) {{ n++; ", (7 * f + 13 * i) % 256);
        let tests: Vec<String> = (1..=DEPTH).map(test).collect();
        let line = if f == 41 { "\n#line 1 \"deep.c\"\n" } else { "" };
        let end = "}".repeat(DEPTH);
        text += &format!("void check_{f}(const unsigned char *in) {{ {}", tests.concat());
        text += &format!("{line}n += {f};\n{end} }}\n");
    }
    text += "int main(void) {\n    unsigned char in[32] = {0};\n    fread(in, 1, 32, stdin);\n";
    text += "    switch (in[0]) {\n";
    (0..FUNCTIONS).for_each(|f| text += &format!("    case {}: check_{f}(in); break;\n", 3 * f));
    text + "    }\n    return 0;\n}\n"
}

fn place(ended: &Ended, at: usize) -> &Value {
    &ended.stats["places"][at]
}

/// The bytes of the input that reached a place.
#[track_caller]
fn input_of(ended: &Ended, at: usize) -> Vec<u8> {
    let file = place(ended, at)["reached"]["file"].as_str();
    let file = file.unwrap_or_else(|| panic!("not reached: {}", ended.stats["places"]));
    std::fs::read(ended.out.join(file)).expect("the input was kept")
}

#[test]
fn a_search_towards_a_line_gets_there_before_auto() {
    let program = Program::new(&many_functions());
    let flags = ["--toward", "deep.c:1", "--len", "32", "-n", "1000"];
    let near = program.campaign("near", &flags);
    assert_eq!(near.stop(), "reached", "{}: {}", near.stats["places"], near.stats["runs"]);
    let input = input_of(&near, 0);
    assert_eq!((input[0], input[1], input[16]), (3 * 41, 44, 239), "{input:?}");
    assert_eq!(place(&near, 0)["functions"][0], "check_41");
    // The same seed and the same number of runs give the same queue.
    assert_eq!(near.files("queue").len(), program.campaign("again", &flags).files("queue").len());
    let far = program.campaign("far", &[&flags[..], &["-s", "auto"]].concat());
    assert_eq!(far.stop(), "runs", "{}", far.stats["places"]);
    assert!(place(&far, 0)["reached"].is_null() && !place(&far, 0)["obstacle"].is_null());
}

/// `hook` has no branch and is called through a pointer only; `plain` has none either.
const WAYS: &str = r#"#include <stdio.h>
#include <stdlib.h>
static volatile int n;
static void plain(void) { n++; }
static void hook(void) { n += 2; }
static void (*volatile chosen)(void);
int table[8];
void never(int x) {
    if (x > 10)
        if (table[x & 7] == 9)
            n = 9;
}
static void crash(int *p) {
    *p = 1;
}
int main(void) {
    int c = getchar();

    // no code here

    if (c == 'a') plain();
    if (c == 'b') chosen = hook;
    if (chosen) chosen();
    if (c == 'c') crash(NULL);
    never(c);
    return 0;
}
int unused(int x) { return x ? 1 : 2; }
"#;

#[test]
fn places_of_every_kind_are_reached() {
    let program = Program::with(WAYS, &["-O0"]);
    let all = ["plain", "hook", "prog.c:14", "prog.c:19", "prog.c:21:19", "crash"];
    let mut flags = vec!["-n", "4000"];
    all.iter().for_each(|place| flags.extend(["--toward", place]));
    let ended = program.campaign("out", &flags);
    assert_eq!(ended.stop(), "reached", "{}", ended.stats["places"]);
    let first: Vec<u8> = (0..all.len()).map(|at| input_of(&ended, at)[0]).collect();
    assert_eq!((first[0], first[1], first[4]), (b'a', b'b', b'a'));
    assert_eq!((first[2], first[5]), (b'c', b'c'));
    assert_eq!(place(&ended, 3)["line"], 21, "the next line with code");
    let file = place(&ended, 2)["reached"]["file"].as_str().unwrap_or_default();
    assert!(file.starts_with("crashes/id:000000,"), "{file}");
}

#[test]
fn what_was_not_reached_has_a_reason() {
    let program = Program::with(WAYS, &["-O0"]);
    let flags = ["--toward", "prog.c:11", "--toward", "unused", "-n", "2000"];
    let ended = program.campaign("out", &flags);
    assert_eq!(ended.stop(), "runs");
    let obstacle = &place(&ended, 0)["obstacle"];
    assert_eq!((&obstacle["function"], &obstacle["distance"]), (&"never".into(), &0.into()));
    let reason = obstacle["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("refuted"), "{obstacle}");
    assert!(place(&ended, 1)["obstacle"].is_null(), "nothing calls it");
    // The places are those of the campaign when it is resumed.
    let resumed = program.resume("out", &["-n", "2100"]);
    assert_eq!(resumed.stats["places"].as_array().map(Vec::len), Some(2));
}

#[test]
fn wrong_places_are_refused() {
    let program = Program::new(WAYS);
    let refuse = |place: &str, parts: &[&str]| {
        program.refuses(&["run", "-o", "out", "--toward", place, "--", "./prog"], parts);
    };
    refuse("prog.c:4000", &["prog.c:4000", "no code", "near it: unused (lines"]);
    refuse("prof.c:3", &["no instrumented file", "`prof.c`", "prog.c"]);
    refuse("plian", &["no function `plian`; there is plain"]);
    refuse("prog.c:x", &["a place is FILE:LINE"]);
    program.refuses(&["run", "-o", "out", "-s", "toward", "--", "./prog"], &["needs places"]);
}

#[test]
fn the_column_of_a_result_counts() {
    let source = "#include <stdio.h>\nint main(void) {\n    int c = getchar(), n = 0;\n\
                  \x20   if (c > 'a') { n = 1; } if (c == '#') { n = 2; }\n    return n;\n}\n";
    let program = Program::with(source, &["-O0"]);
    let column = source.lines().nth(3).unwrap().find("n = 2").unwrap() + 1;
    let region = serde_json::json!({ "startLine": 4, "startColumn": column, "endColumn": column });
    let at = serde_json::json!({ "artifactLocation": { "uri": "prog.c" }, "region": region });
    let log = serde_json::json!({ "version": "2.1.0", "runs": [{ "tool": {}, "results": [
        { "ruleId": "R", "locations": [{ "physicalLocation": at }] }] }] });
    program.file("found.sarif", log.to_string().as_bytes());
    let ended = program.campaign("out", &["--toward-sarif", "found.sarif", "-n", "2000"]);
    assert_eq!(input_of(&ended, 0)[0], b'#', "{}", ended.stats["places"]);
}

#[test]
fn results_of_an_analyser_are_confirmed_one_by_one() {
    let program = Program::with(WAYS, &["-O0"]);
    let result = |uri: &str, line: u32, text: &str| {
        let region = serde_json::json!({ "startLine": line });
        let at = serde_json::json!({ "artifactLocation": { "uri": uri }, "region": region });
        serde_json::json!({ "ruleId": "R1", "message": { "text": text },
                            "locations": [{ "physicalLocation": at }] })
    };
    let absolute = format!("file://{}", program.path("prog.c").canonicalize().unwrap().display());
    let results = [
        result(&absolute, 14, "null pointer"),
        result("checkout/src/prog.c", 11, "dead store"),
        result("other.c", 3, "elsewhere"),
    ];
    let log =
        serde_json::json!({ "version": "2.1.0", "runs": [{ "tool": {}, "results": results }] });
    program.file("found.sarif", log.to_string().as_bytes());
    let ended = program.campaign("out", &["--toward-sarif", "found.sarif", "-n", "2000"]);
    assert_eq!(place(&ended, 0)["what"], "R1: null pointer");
    assert_eq!(input_of(&ended, 0)[0], b'c');
    assert!(place(&ended, 1)["reached"].is_null(), "{}", ended.stats["places"]);
    assert!(ended.stderr.contains("cannot be confirmed: other.c:3"), "{}", ended.stderr);

    program.file("cut.sarif", &log.to_string().as_bytes()[..60]);
    program.file("old.sarif", br#"{"version": "1.0.0", "runs": []}"#);
    program.file("none.sarif", br#"{"version": "2.1.0", "runs": [{"results": []}]}"#);
    for (file, part) in [
        ("cut.sarif", "not a SARIF file"),
        ("old.sarif", "must be 2.1.0"),
        ("none.sarif", "no results"),
        ("gone.sarif", "No such file"),
    ] {
        let args = ["run", "-o", "new", "--toward-sarif", file, "--", "./prog"];
        program.refuses(&args, &[file, part]);
    }
}

fn git(at: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    let author =
        ["-c", "user.name=A", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=x"];
    let out = command.arg("-C").arg(at).args(author).args(args).output().expect("git runs");
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn changed_lines_are_covered() {
    let program = Program::empty();
    let old = WAYS.replace("    *p = 1;\n", "    (void)p;\n").replace("n = 9", "n = 8");
    program.file("old.c", old.as_bytes());
    git(program.dir.path(), &["init", "-q"]);
    git(program.dir.path(), &["add", "old.c"]);
    git(program.dir.path(), &["commit", "-qm", "first"]);
    let head = ["run", "-o", "out", "--changed", "HEAD", "--", "./prog"];
    program.compile(&old, &["-O0", "-o", "prog"]);
    git(program.dir.path(), &["rm", "-q", "--cached", "old.c"]);
    std::fs::remove_file(program.path("old.c")).unwrap();
    git(program.dir.path(), &["add", "prog.c"]);
    let same = program.run(&head, b"");
    let text = String::from_utf8_lossy(&same.stdout).into_owned();
    assert!(same.status.success() && text.starts_with("nothing to do"), "{text}");
    assert!(!program.path("out").exists());

    program.compile(WAYS, &["-O0", "-o", "prog"]);
    let ended = program.campaign("out", &["--changed", "HEAD", "-n", "2000"]);
    let places = ended.stats["places"].as_array().expect("a list");
    let names: Vec<_> = places.iter().filter_map(|p| p["place"].as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].ends_with("/prog.c:11") && names[1].ends_with("/prog.c:14"), "{names:?}");
    assert!(place(&ended, 0)["reached"].is_null() && input_of(&ended, 1)[0] == b'c');

    let wrong = ["run", "-o", "new", "--changed", "nowhere", "--", "./prog"];
    program.refuses(&wrong, &["--changed nowhere", "no such revision"]);
    let elsewhere = Program::with(WAYS, &["-O0"]);
    elsewhere.refuses(&head, &["--changed", "not in a git repository"]);
}
