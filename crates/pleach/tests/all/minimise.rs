//! `pleach cmin` and `pleach tmin`.

use crate::common::Program;
use std::path::Path;

const LISTS: &str = r#"#include <stdio.h>
#include <stdlib.h>
static const char *p;
__attribute__((noinline)) static int value(void) {
    int n = 0;
    if (*p == '(') {
        p++;
        while (*p && *p != ')')
            n += value();
        if (*p != ')')
            exit(3);
        p++;
        return n + 1;
    }
    if (*p == '!')
        abort();
    if (*p == '?')
        for (;;)
            ;
    if (*p >= '0' && *p <= '9')
        n = *p - '0';
    p++;
    return n;
}
int main(void) {
    static char b[256];
    if (!fgets(b, sizeof b, stdin))
        return 1;
    for (p = b; *p;)
        value();
    return 0;
}
"#;

/// The time limit for inputs that hang. All others must end within it, too.
const TIMEOUT: &str = "400";

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("readable").flatten();
    let mut names: Vec<_> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn cmin_keeps_the_coverage_of_a_corpus() {
    let p = Program::new(LISTS);
    p.make_dir("in");
    let inputs = [
        "1",
        "x",
        "(1)",
        "(1",
        "1(x)",
        "(((1)))",
        "xxxxxxxxxxxxxxxx",
        "",
        "(!)",
        "?",
        "11",
        "(",
        "x1",
    ];
    for (i, input) in inputs.iter().enumerate() {
        p.file(&format!("in/{i:02}"), input.as_bytes());
    }
    let json =
        p.json(&["cmin", "--json", "-t", TIMEOUT, "-i", "in", "-o", "kept", "--", "./prog"], b"");
    assert_eq!((&json["inputs"], &json["left_out"]), (&13.into(), &2.into()), "{json}");
    let kept = names(&p.path("kept"));
    assert_eq!(json["kept"], kept.len());
    assert!(kept.len() < 10 && kept.iter().all(|k| k != "08" && k != "09"), "{kept:?}");
    let file = |dir: &str, name: &str| p.read(&format!("{dir}/{name}"));
    assert!(kept.iter().all(|k| file("kept", k) == file("in", k)));
    // What is kept covers the same branches, and cannot be made smaller.
    let cover = |dir: &str, names: &[String]| {
        let paths: Vec<String> = names.iter().map(|n| format!("{dir}/{n}")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        p.json(&[&["cover", "--json"], &paths[..], &["--", "./prog"]].concat(), b"")["covered"]
            .clone()
    };
    let all: Vec<String> =
        names(&p.path("in")).into_iter().filter(|n| n != "08" && n != "09").collect();
    assert_eq!(cover("kept", &kept), cover("in", &all));
    let again = p.json(&["cmin", "--json", "-i", "kept", "-o", "again", "--", "./prog"], b"");
    assert_eq!(again["kept"], again["inputs"], "{again}");
    // An output directory that is not empty is refused.
    p.refuses(&["cmin", "-i", "in", "-o", "kept", "--", "./prog"], &["kept"]);
}

#[test]
fn cmin_takes_the_queue_of_a_campaign() {
    let p = Program::new(LISTS);
    for dir in ["out", "out/queue", "out/crashes"] {
        p.make_dir(dir);
    }
    p.file("out/queue/id:000000,orig:a", b"(1)");
    p.file("out/queue/id:000001,orig:b", b"(1)");
    p.file("out/crashes/id:000000,sig:06", b"!");
    let text = p.text(&["cmin", "-i", "out", "-o", "kept", "--", "./prog"], b"");
    assert_eq!(text, "1 of 2 inputs kept\n");
    assert_eq!(names(&p.path("kept")), ["id:000000,orig:a"]);
}

#[test]
fn tmin_keeps_the_crash_or_hang_of_an_input() {
    let p = Program::new(LISTS);
    for (input, least, kept) in [
        // Recursive calls of a function count once in a stack, so the lists are not needed.
        ("1(2(x)3(4 5!6)", "!", "SIGABRT in value (prog.c:16)"),
        ("xx!yy(1)", "!", "SIGABRT in value (prog.c:16)"),
        ("abc?", "?", "hang in value (prog.c:18)"),
    ] {
        p.file("input", input.as_bytes());
        let args = ["tmin", "--json", "-t", TIMEOUT, "-i", "input", "-o", "small", "--", "./prog"];
        let json = p.json(&args, b"");
        let small = p.read("small");
        assert_eq!(String::from_utf8_lossy(&small), least, "{json}");
        assert_eq!((&json["to"], &json["finished"]), (&least.len().into(), &true.into()));
        let shown = json["kept"].as_str().unwrap_or_default();
        // The time limit can end an endless loop in any of its lines.
        let (kind, _) = kept.split_once(".c").unwrap_or_default();
        assert!(shown == kept || (kept.starts_with("hang") && shown.starts_with(kind)), "{shown}");
    }
}

#[test]
fn tmin_keeps_the_branches_of_an_input_that_does_not_crash() {
    let p = Program::new(LISTS);
    let input = "((7 blah (8)) some more (x 12) words)z";
    p.file("input", input.as_bytes());
    let covered =
        |name: &str| p.json(&["cover", "--json", name, "--", "./prog"], b"")["covered"].clone();
    let text = p.text(&["tmin", "-i", "input", "-o", "small", "--", "./prog"], b"");
    let small = p.read("small");
    assert!(small.len() <= 6, "{}: {text}", String::from_utf8_lossy(&small));
    assert_eq!(covered("small"), covered("input"));
    // A second time gives the same input.
    p.text(&["tmin", "-i", "input", "-o", "second", "--", "./prog"], b"");
    assert_eq!(p.read("second"), small);
    // With a limit on runs it stops early, and the result still covers the same branches.
    let json =
        p.json(&["tmin", "--json", "-n", "3", "-i", "input", "-o", "few", "--", "./prog"], b"");
    assert_eq!((&json["runs"], &json["finished"]), (&3.into(), &false.into()), "{json}");
    assert_eq!(covered("few"), covered("input"));
}
