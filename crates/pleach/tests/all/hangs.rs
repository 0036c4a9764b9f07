//! Hangs: what a campaign keeps as one is one in every report, although the program would end
//! if it had more time.

use crate::common::Program;
use crate::common::campaign::inputs;
use serde_json::Value;
use std::process::Command;

/// On `!`, it computes for longer than the campaign's limit, and ends within that of others.
const SOURCE: &str = r#"#include <stdio.h>
#include <time.h>
static void compute(void) {
    volatile int i;
    do {
        for (i = 0; i < 1000000; i++) ;
    } while (clock() < CLOCKS_PER_SEC * 6 / 5);
}
int main(void) {
    int c = getchar();
    if (c == '!') { compute(); puts("late"); }
    else puts(c == 'a' ? "a" : "other");
    return 0;
}
"#;
const LIMIT: [&str; 2] = ["-t", "300"];

fn campaign() -> Program {
    let program = Program::new(SOURCE);
    program.seeds([("a", &b"a"[..]), ("long", &b"!xxxx"[..])]);
    let ended = program.campaign("out", &[&["-n", "100", "-i", "seeds"], &LIMIT[..]].concat());
    assert!(ended.count("hangs") > 0, "{}", ended.stats);
    program
}

#[test]
fn a_hang_of_a_campaign_is_replayed_with_its_limit() {
    let program = campaign();
    let hangs = inputs(&program.path("out/hangs"));
    let path = format!("out/hangs/{}", hangs.keys().next().unwrap());
    let out = program.run(&["replay", &path, "--", "./prog"], b"");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.code() == Some(1) && text.contains("hang in "), "{text}");
    assert!(text.contains("compute"), "{text}");
    // The user's own limit wins.
    let text = program.text(&["replay", "-t", "20000", &path, "--", "./prog"], b"");
    assert!(text.contains("exit 0"), "{text}");
    // No suite expects what it would print later.
    let text = program.text(&["export", "--to", "sh", "--all", "suite", "out"], b"");
    assert!(text.contains("that crash or hang"), "{text}");
    let late = Command::new("grep").args(["-r", "late"]).arg(program.path("suite/cases")).status();
    assert_eq!(late.unwrap().code(), Some(1));
    program.text(&["export", "--to", "junit", "junit.xml", "out"], b"");
    let junit = String::from_utf8(program.read("junit.xml")).unwrap();
    assert!(junit.contains("compute"), "{junit}");
}

#[test]
fn ci_reports_a_hang_once() {
    let program = Program::new(SOURCE);
    program.make_dir("corpus");
    program.file("corpus/long", b"!xxxx");
    let ci = |flags: &[&str]| {
        let args = ["ci", "-n", "100", "--corpus", "corpus", "--fail-on-hang"];
        let out = program.run(&[&args[..], &LIMIT, flags, &["--", "./prog"]].concat(), b"");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        (out.status.code(), text)
    };
    let (code, text) = ci(&["--accept-answers"]);
    assert!(code == Some(1) && text.contains(" hang"), "{code:?}: {text}");
    let (code, text) = ci(&["--check-answers"]);
    assert!(code == Some(0) && text.contains(" hang"), "{code:?}: {text}");
    // The hang has no answer, although the program prints one later.
    let answers = String::from_utf8(program.read("corpus/.pleach/answers.json")).unwrap();
    assert!(!answers.contains("5 "), "{answers}");
}

#[test]
fn the_page_shows_where_an_input_hangs() {
    let program = campaign();
    program.text(&["report", "out", "-o", "page"], b"");
    let page = String::from_utf8(program.read("page/index.html")).unwrap();
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let hang = &data["crashes"][0];
    assert_eq!(hang["title"], "hang", "{hang}");
    let frames = hang["frames"].as_array().unwrap();
    assert!(frames.iter().any(|f| f[0] == "compute" && f[2].as_u64() > Some(0)), "{hang}");
    // Its input is as small as it can be, and the command replays it.
    assert_eq!(hang["length"], 1, "{hang}");
    assert_eq!(hang["marks"], serde_json::json!([[0, 1]]), "{hang}");
    let replay = hang["replay"].as_str().unwrap().strip_prefix("pleach ").unwrap();
    let words: Vec<&str> = replay.split(' ').map(|word| word.trim_matches('\'')).collect();
    let text = String::from_utf8(program.run(&words, b"").stdout).unwrap();
    assert!(text.contains("1 hung"), "{text}");
}

#[test]
fn a_hang_that_asks_for_the_time_has_a_stack() {
    let program = Program::new(
        r#"#include <stdio.h>
#include <time.h>
static void wait_until(clock_t end) {
    while (clock() < end) ;
}
int main(void) {
    if (getchar() == '!') wait_until(CLOCKS_PER_SEC * 20);
    return 0;
}
"#,
    );
    program.file("long", b"!");
    let out = program.run(&["replay", "-t", "300", "long", "--", "./prog"], b"");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("wait_until (prog.c:4)"), "{text}");
}
