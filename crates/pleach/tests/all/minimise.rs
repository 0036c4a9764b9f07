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

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("readable").flatten();
    let mut names: Vec<_> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_corpus_keeps_its_coverage() {
    let p = Program::new(LISTS);
    std::fs::create_dir(p.dir.path().join("in")).expect("writable");
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
        p.json(&["cmin", "--json", "-t", "300", "-i", "in", "-o", "kept", "--", "./prog"], b"");
    assert_eq!((&json["inputs"], &json["left_out"]), (&13.into(), &2.into()), "{json}");
    let kept = names(&p.dir.path().join("kept"));
    assert_eq!(json["kept"], kept.len());
    assert!(kept.len() < 10 && kept.iter().all(|k| k != "08" && k != "09"), "{kept:?}");
    let file = |dir: &str, name: &str| std::fs::read(p.dir.path().join(dir).join(name)).unwrap();
    assert!(kept.iter().all(|k| file("kept", k) == file("in", k)));
    // The same branches, and as often: what is left cannot be made smaller.
    let cover = |dir: &str, names: &[String]| {
        let paths: Vec<String> = names.iter().map(|n| format!("{dir}/{n}")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        p.json(&[&["cover", "--json"], &paths[..], &["--", "./prog"]].concat(), b"")["covered"]
            .clone()
    };
    let all: Vec<String> =
        names(&p.dir.path().join("in")).into_iter().filter(|n| n != "08" && n != "09").collect();
    assert_eq!(cover("kept", &kept), cover("in", &all));
    let again = p.json(&["cmin", "--json", "-i", "kept", "-o", "again", "--", "./prog"], b"");
    assert_eq!(again["kept"], again["inputs"], "{again}");
    // It does not touch what is there.
    let out = p.run(&["cmin", "-i", "in", "-o", "kept", "--", "./prog"], b"");
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    assert_eq!(names(&p.dir.path().join("kept")), kept);
}

#[test]
fn a_directory_of_a_campaign_is_its_queue() {
    let p = Program::new(LISTS);
    for dir in ["out", "out/queue", "out/crashes"] {
        std::fs::create_dir(p.dir.path().join(dir)).expect("writable");
    }
    p.file("out/queue/id:000000,orig:a", b"(1)");
    p.file("out/queue/id:000001,orig:b", b"(1)");
    p.file("out/crashes/id:000000,sig:06", b"!");
    let text = p.text(&["cmin", "-i", "out", "-o", "kept", "--", "./prog"], b"");
    assert_eq!(text, "1 of 2 inputs kept\n");
    assert_eq!(names(&p.dir.path().join("kept")), ["id:000000,orig:a"]);
}

#[test]
fn an_input_shrinks_as_long_as_it_shows_the_same() {
    let p = Program::new(LISTS);
    for (input, least, kept) in [
        // A function counts once, so the lists are not needed.
        ("1(2(x)3(4 5!6)", "!", "SIGABRT in value (prog.c:16)"),
        ("xx!yy(1)", "!", "SIGABRT in value (prog.c:16)"),
        ("abc?", "?", "hang in value (prog.c:18)"),
    ] {
        p.file("input", input.as_bytes());
        let args = ["tmin", "--json", "-t", "300", "-i", "input", "-o", "small", "--", "./prog"];
        let json = p.json(&args, b"");
        let small = std::fs::read(p.dir.path().join("small")).expect("written");
        assert_eq!(String::from_utf8_lossy(&small), least, "{json}");
        assert_eq!((&json["to"], &json["finished"]), (&least.len().into(), &true.into()));
        let said = json["kept"].as_str().unwrap_or_default();
        // An endless loop has several lines.
        let (kind, _) = kept.split_once(".c").unwrap_or_default();
        assert!(said == kept || (kept.starts_with("hang") && said.starts_with(kind)), "{said}");
    }
}

#[test]
fn branches_are_kept_without_a_crash() {
    let p = Program::new(LISTS);
    let input = "((7 blah (8)) some more (x 12) words)z";
    p.file("input", input.as_bytes());
    let covered =
        |name: &str| p.json(&["cover", "--json", name, "--", "./prog"], b"")["covered"].clone();
    let text = p.text(&["tmin", "-i", "input", "-o", "small", "--", "./prog"], b"");
    let small = std::fs::read(p.dir.path().join("small")).expect("written");
    assert!(small.len() <= 6, "{}: {text}", String::from_utf8_lossy(&small));
    assert_eq!(covered("small"), covered("input"));
    // The same again, byte by byte.
    p.text(&["tmin", "-i", "input", "-o", "second", "--", "./prog"], b"");
    assert_eq!(std::fs::read(p.dir.path().join("second")).expect("written"), small);
    // With few runs it stops early, and what it has still holds.
    let json =
        p.json(&["tmin", "--json", "-n", "3", "-i", "input", "-o", "few", "--", "./prog"], b"");
    assert_eq!((&json["runs"], &json["finished"]), (&3.into(), &false.into()), "{json}");
    assert_eq!(covered("few"), covered("input"));
}
