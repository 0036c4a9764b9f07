//! `pleach replay`: how inputs end, which crash each has, what they cover.

use crate::common::{Program, SEVERAL_INPUTS};
use serde_json::Value;
use std::collections::BTreeSet;

/// The time limit in milliseconds where an input hangs. All others must end within it, too.
const TIMEOUT: &str = "1000";

/// A parser of lists with a bug for each of some letters.
const BUGGY: &str = r#"#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *p;
static int value(int depth);
__attribute__((noinline)) static int list(int depth) {
    int n = 0;
    p++;
    while (*p && *p != ')')
        n += value(depth + 1);
    if (*p == ')')
        p++;
    return n;
}
__attribute__((noinline)) static void store(int at) {
    char *volatile q = malloc(4);
    q[at] = 1;
    free(q);
}
__attribute__((noinline)) static int forever(volatile int n) {
    volatile char room[200];
    room[0] = n;
    return forever(n + 1) + room[0];
}
static void (*volatile nowhere)(void);
static char *volatile nothing;
static int value(int depth) {
    switch (*p) {
    case '(':
        return list(depth);
    case 'n':
        *(volatile int *)8 = 1;
        return 1;
    case 'N':
        *(volatile int *)16 = 1;
        return 2;
    case 'a':
        assert(depth > 100);
        return 3;
    case 'j':
        nowhere();
        return 4;
    case 'l':
        return strlen(nothing);
    case 'r':
        return forever(0);
    case 's':
        store(5);
        p++;
        return 5;
    case 'w':
        for (;;)
            usleep(100);
    case 'o':
        return *p + 0x7fffffff + depth;
    }
    p++;
    return 1;
}
int main(void) {
    static char b[256];
    if (!fgets(b, sizeof b, stdin))
        return 1;
    p = b;
    int n = 0;
    while (*p)
        n += value(0);
    printf("%d values\n", n);
    return 0;
}
"#;

/// The report of a replay, which may have found crashes.
fn replay(p: &Program, args: &[&str]) -> Value {
    let out = p.run(&[&["replay", "--json"], args, &["--", "./prog"]].concat(), b"");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(matches!(out.status.code(), Some(0 | 1)), "{out:?}");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text} {out:?}"))
}

fn functions(input: &Value) -> Vec<String> {
    let frames = input["crash"]["frames"].as_array().expect("frames");
    let name = |f: &Value| match f["line"].as_u64() {
        Some(0) | None => f["function"].as_str().unwrap_or_default().to_string(),
        Some(line) => format!("{}:{line}", f["function"].as_str().unwrap_or_default()),
    };
    frames.iter().map(name).collect()
}

#[test]
fn crashes_have_a_kind_and_a_stack() {
    let p = Program::new(BUGGY);
    for (input, end, kind, stack) in [
        ("(n)", "SIGSEGV", "SIGSEGV", &["value:34", "list:12", "main:69"][..]),
        ("a", "SIGABRT", "SIGABRT", &["value:40", "main:69"]),
        ("xj", "SIGSEGV", "SIGSEGV", &["", "value:43", "main:69"]),
        ("w", "timeout", "hang", &["value:55", "main:69"]),
    ] {
        p.file("input", input.as_bytes());
        let json = replay(&p, &["-t", TIMEOUT, "input"]);
        let row = &json["inputs"][0];
        assert_eq!((row["end"].as_str(), row["crash"]["kind"].as_str()), (Some(end), Some(kind)));
        let mut found = functions(row);
        // The frames in the C library, where it sleeps, vary.
        found.retain(|f| kind != "hang" || f.contains(':'));
        assert_eq!(found, stack, "{input}: {row}");
    }
    // In a function of the C library, the line of the caller is shown.
    p.file("input", b"l");
    let row = &replay(&p, &["input"])["inputs"][0];
    assert_eq!(functions(row)[1..], ["value:46", "main:69"], "{row}");
    p.file("input", b"(((r");
    let row = &replay(&p, &["input"])["inputs"][0];
    assert_eq!(row["crash"]["kind"], "stack-overflow", "{row}");
    assert!(functions(row)[..50].iter().all(|f| f.starts_with("forever:")), "{row}");
}

#[test]
fn the_kind_of_a_crash_comes_from_the_sanitizer() {
    let p = Program::with(BUGGY, &["-fsanitize=address"]);
    p.file("input", b"((s))");
    let json = replay(&p, &["input"]);
    let row = &json["inputs"][0];
    assert_eq!(row["end"], "SIGABRT", "{row}");
    assert_eq!(row["crash"]["kind"], "heap-buffer-overflow", "{row}");
    assert_eq!(functions(row)[..3], ["store:19", "value:50", "list:12"], "{row}");
    assert!(row["said"].as_str().is_some_and(|s| s.contains("heap-buffer-overflow")), "{row}");
    // By hand the status is that of the sanitizer, so the crash comes from its report.
    let plain = &replay(&p, &["--half", "plain", "input"])["inputs"][0];
    assert_eq!((&plain["end"], &plain["crash"]["id"]), (&"exit 1".into(), &row["crash"]["id"]));

    let p = Program::with(BUGGY, &["-fsanitize=undefined"]);
    p.file("input", b"n");
    let row = &replay(&p, &["input"])["inputs"][0];
    // UBSan does not handle signals.
    assert_eq!(row["crash"]["kind"], "SIGSEGV", "{row}");
    assert_eq!(functions(row)[0], "value:34", "{row}");
    p.file("input", b"(o)");
    let row = &replay(&p, &["input"])["inputs"][0];
    assert_eq!(row["crash"]["kind"], "runtime error: signed integer overflow", "{row}");
    assert_eq!(functions(row)[..2], ["value:57", "list:12"], "{row}");
}

#[test]
fn equal_crashes_are_counted_once() {
    let p = Program::new(BUGGY);
    let all = ["n", "xxn", "(n)", "((n))", "(x((n)x", "N", "a", "(a", "12", "w"];
    for (i, input) in all.iter().enumerate() {
        p.file(&format!("i{i}"), input.as_bytes());
    }
    let names: Vec<String> = (0..all.len()).map(|i| format!("i{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let json = replay(&p, &[&["-t", TIMEOUT], &names[..]].concat());
    // `n` and `a`, each called from `main` and from a list, and `N`.
    assert_eq!((&json["crashed"], &json["hangs"]), (&8.into(), &1.into()), "{json}");
    assert_eq!(json["crashes"], 5, "{json}");
    let id = |i: usize| json["inputs"][i]["crash"]["id"].as_str().map(String::from);
    assert_eq!(id(0), id(1));
    assert_eq!((id(2), id(2)), (id(3), id(4)));
    let different: BTreeSet<_> = [0, 2, 5, 6, 7, 9].map(id).into();
    assert_eq!(different.len(), 6);
    assert_eq!(id(8), None);
}

#[test]
fn every_half_can_replay() {
    let p = Program::new(BUGGY);
    p.make_dir("in");
    for (name, input) in [("in/1", "1(2 3)"), ("in/2", "n"), ("in/README.txt", "text")] {
        p.file(name, input.as_bytes());
    }
    for half in ["plain", "fast", "symbolic"] {
        let args = ["replay", "--show-output", "--half", half, "in", "--", "./prog"];
        let out = p.run(&args, b"");
        let (text, output) =
            (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert_eq!(out.status.code(), Some(1), "{out:?}");
        for part in [
            "in/1: exit 0\nin/2: SIGSEGV: SIGSEGV in value (prog.c:34)\n",
            "    #1 main (prog.c:69)\n2 inputs: 1 crashed (1 different), 0 hung\n",
        ] {
            assert!(text.contains(part), "{half}: {text}");
        }
        assert!(text.contains(" branches ("), "{text}");
        assert_eq!(output, "4 values\n");
    }
    // Without crashes and hangs the status is 0.
    let text = p.text(&["replay", "in/1", "--", "./prog"], b"");
    assert!(text.starts_with("in/1: exit 0\n1 inputs: 0 crashed, 0 hung\n"), "{text}");
}

/// A run finds what the plain program finds, whatever the server does to make it cheap: the
/// user's environment, a heap that nobody has used, and no handler of a fork was called.
#[test]
fn a_run_does_not_notice_its_server() {
    let p = Program::new(
        r#"#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int forks;
static void forked(void) { forks++; }
__attribute__((constructor)) static void start(void) { pthread_atfork(forked, 0, forked); }
static const char *variable(const char *name) { return getenv(name) ? getenv(name) : "unset"; }
int main(void) {
    unsigned long small = (unsigned long)malloc(24), large = (unsigned long)malloc(5000);
    printf("heap %lx %lx, ", small & 0xfff, large & 0xfff);
    printf("%d forks, %s, ", forks, variable("LD_BIND_NOW"));
    printf("%s, %s\n", variable("GLIBC_TUNABLES"), variable("PLEACH_CTL"));
    return getchar() == 'x';
}
"#,
    );
    p.file("input", b"abc");
    for tunables in [None, Some("glibc.malloc.tcache_count=5")] {
        let said = ["plain", "fast", "symbolic"].map(|half| {
            let args = ["replay", "--show-output", "--half", half, "input", "--", "./prog"];
            let mut command = p.command(&args);
            tunables.map(|value| command.env("GLIBC_TUNABLES", value));
            let out = command.output().expect("pleach runs");
            assert_eq!(out.status.code(), Some(0), "{out:?}");
            String::from_utf8_lossy(&out.stderr).into_owned()
        });
        let rest = format!("0 forks, unset, {}, unset\n", tunables.unwrap_or("unset"));
        assert!(said.iter().all(|text| text.ends_with(&rest)), "{said:?}");
        assert_eq!(said[0], said[1]);
    }
}

#[test]
fn replaying_a_campaign_runs_its_queue_crashes_and_hangs() {
    let p = Program::new(BUGGY);
    for dir in ["out", "out/queue", "out/crashes", "out/hangs"] {
        p.make_dir(dir);
    }
    for (name, input) in [
        ("out/queue/id:000000,orig:one", "1"),
        ("out/crashes/id:000000,sig:11", "n"),
        ("out/crashes/README.txt", "nnn"),
        ("out/hangs/id:000000", "w"),
        ("out/stats.json", "{}"),
    ] {
        p.file(name, input.as_bytes());
    }
    let json = replay(&p, &["-t", TIMEOUT, "out"]);
    let ends: Vec<_> = json["inputs"].as_array().unwrap().iter().map(|i| &i["end"]).collect();
    assert_eq!(ends, ["SIGSEGV", "timeout", "exit 0"], "{json}");
}

/// A short run may end before the warden waits for its end.
#[test]
fn the_end_of_a_short_run_is_not_missed() {
    let p = Program::new("int main(void) { return 3; }\n");
    p.file("input", b"x");
    let inputs = ["input"; 100];
    // The warden checks again after a second, so a missed end takes longer than this limit.
    let args = ["replay", "--json", "-t", "900", "--half", "plain"];
    let args = [&args[..], &inputs[..], &["--", "./prog"]].concat();
    let json = p.json(&args, b"");
    let rows = json["inputs"].as_array().expect("rows");
    assert!(rows.len() == 100 && rows.iter().all(|r| r["end"] == "exit 3"), "{json}");
}

#[test]
fn a_container_becomes_arguments_variables_and_files_in_every_half() {
    let p = Program::new(SEVERAL_INPUTS);
    p.file("stdin", b"stdin");
    p.file("file", b"file");
    for (arg, name) in [("--arg=-xyz", "packed"), ("--arg=-x!", "fatal")] {
        let pack = ["pack", "--stdin", "stdin", "--file", "file", arg, "--env", "MODE=fast"];
        p.text(&[&pack[..], &["-o", name]].concat(), b"");
    }
    for half in ["plain", "fast", "symbolic"] {
        let args = ["replay", "--json", "--half", half, "packed", "fatal", "--", "./prog", "@@"];
        let out = p.run(&args, b"");
        let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let end = |i: usize| json["inputs"][i]["end"].as_str();
        assert_eq!((end(0), end(1)), (Some("exit 15"), Some("SIGABRT")), "{half}: {json}");
        assert_eq!(json["inputs"][1]["crash"]["frames"][0]["function"], "main", "{json}");
    }
    p.text(&["pack", "--socket", "stdin", "-o", "connection"], b"");
    let args = ["replay", "--half", "plain", "connection", "--", "./prog", "@@"];
    p.refuses(&args, &["connections"]);
}
