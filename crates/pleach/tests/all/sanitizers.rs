//! The fast half with sanitizers, under the driver: a report is a crash.

use crate::common::{Program, feed};
use pleach_exec::{End, Executor, Half, Layout, Outcome, Output, TargetOptions};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// `h`: heap overflow, `o`: signed overflow, `n`: null pointer, `a`: abort,
/// `m`: an allocation that cannot be, `l`: a leak, `e`: exit 9.
const SOURCE: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    static char b[8];
    static void *volatile kept;
    if (read(0, b, 2) != 2) return 1;
    char *p = malloc(4);
    switch (b[0]) {
    case 'h': p[(unsigned char)b[1]] = 1; break;
    case 'o': printf("%d\n", 0x7fffffff + b[1]); break;
    case 'n': free(p); p = (char *)(long)(b[1] - 'x'); *p = 1; return 2;
    case 'a': abort();
    case 'm': kept = malloc((size_t)b[1] << 56); free(p); return kept == NULL ? 4 : 5;
    case 'l': p = NULL; break;
    case 'e': free(p); return 9;
    }
    free(p);
    return 0;
}
"#;

fn run(p: &Program, half: Half, input: &str) -> Outcome {
    let layout = Layout::private(&p.dir.path().join("prog")).expect("it is ours");
    let mut target = TargetOptions::new(half, vec!["prog".into()]);
    target.output = Output::Capture { limit: 1 << 20 };
    let mut executor = Executor::new(Arc::new(layout), target).expect("an executor");
    executor.run(input.as_bytes(), Duration::from_secs(20)).expect("it runs")
}

#[test]
fn reports_are_crashes() {
    let p = Program::with(SOURCE, &["-fsanitize=address,undefined"]);
    for (input, end, report) in [
        ("hx", End::Signal(6), "AddressSanitizer: heap-buffer-overflow"),
        ("ox", End::Signal(6), "runtime error: signed integer overflow"),
        ("nx", End::Signal(6), "runtime error: store to null pointer"),
        // A signal of the program's own stays what it is.
        ("a.", End::Signal(6), ""),
        ("n\x10", End::Signal(11), ""),
        ("m\x40", End::Exit(4), ""),
        ("l.", End::Exit(0), ""),
        ("e.", End::Exit(9), ""),
        ("h\x03", End::Exit(0), ""),
    ] {
        let outcome = run(&p, Half::Fast, input);
        let said = String::from_utf8_lossy(&outcome.stderr);
        assert_eq!(outcome.end, end, "{input}: {said}");
        assert!(said.contains(report), "{input}: {said}");
        assert!(!said.contains("LeakSanitizer"), "{said}");
    }
}

#[test]
fn the_symbolic_half_has_checks_instead() {
    let p = Program::with(SOURCE, &["-fsanitize=address,undefined"]);
    let text = p.text(&["explain", "-", "--", "./prog"], b"ox");
    assert!(text.contains("check") && text.contains("sadd_overflow32"), "{text}");
    assert_eq!(run(&p, Half::Symbolic, "e.").end, End::Exit(9));
    for input in ["ox", "h\x03", "hx", "l."] {
        let json = p.json(&["trace", "--json", "--check", "-", "--", "./prog"], input.as_bytes());
        assert_eq!(json["disagreements"], 0, "{json}");
    }
}

#[test]
fn a_crash_is_reported_with_its_verdict() {
    let p = Program::with(SOURCE, &["-fsanitize=address,undefined"]);
    for name in ["hx", "ox", "e."] {
        p.file(name, name.as_bytes());
    }
    let text = p.text(&["cover", "hx", "ox", "e.", "--", "./prog"], b"");
    let lines: Vec<_> = text.lines().skip_while(|l| !l.contains("branches")).skip(1).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("hx: SIGABRT: AddressSanitizer: heap-buffer-overflow"), "{text}");
    assert!(lines[1].starts_with("ox: SIGABRT: prog.c:11:"), "{text}");
    let json = p.json(&["cover", "--json", "ox", "e.", "--", "./prog"], b"");
    let said = json["inputs"][0]["said"].as_str().expect("it said something");
    assert!(said.contains("runtime error: signed integer overflow"), "{json}");
    assert!(json["inputs"][1]["said"].is_null(), "{json}");
}

#[test]
fn the_persons_own_options_count() {
    let p = Program::with(SOURCE, &["-fsanitize=undefined"]);
    p.file("ox", b"ox");
    let mut command = p.command(&["cover", "ox", "--", "./prog"]);
    let out = command.env("UBSAN_OPTIONS", "halt_on_error=0").output().expect("pleach runs");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("branches") && !text.contains("SIGABRT"), "{text}");
}

#[test]
fn by_hand_nothing_is_changed() {
    let p = Program::with(SOURCE, &["-fsanitize=address"]);
    let mut command = Command::new(p.dir.path().join("prog"));
    let out = feed(command.env_remove("ASAN_OPTIONS"), b"hx");
    // A sanitizer's own status, without any options.
    assert_eq!(out.status.code(), Some(1), "{out:?}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("heap-buffer-overflow"));
}

/// Who allocated it, who freed it: all of a report has names, wherever it is shown.
#[test]
fn every_stack_of_a_report_has_names() {
    let source = "#include <stdio.h>\n\
        #include <stdlib.h>\n\
        __attribute__((noinline)) static char *make(void) { return malloc(10); }\n\
        __attribute__((noinline)) static void drop(char *p) { free(p); }\n\
        __attribute__((noinline)) static int use(char *p) { return p[3]; }\n\
        int main(void) {\n\
            if (getchar() != 'u') return 0;\n\
            char *p = make();\n\
            drop(p);\n\
            return use(p);\n\
        }\n";
    let p = Program::with(source, &["-O0", "-fsanitize=address"]);
    let ended = p.campaign("out", &["-s", "dfs", "--len", "1"]);
    let files = ended.files("crashes");
    let stack = files.iter().find(|(name, _)| name.ends_with(".stack.txt")).expect("a crash").1;
    p.file("u", b"u");
    let replayed = p.run(&["replay", "--show-output", "u", "--", "./prog"], b"");
    for said in [stack, &replayed.stderr] {
        let said = String::from_utf8_lossy(said);
        let after = |title: &str| said.split_once(title).map_or("", |(_, rest)| rest);
        let names = |text: &str, name: &str, line: u32| {
            let lines = text.lines().take_while(|l| !l.trim().is_empty());
            let all: Vec<_> = lines.filter(|l| l.trim_start().starts_with('#')).collect();
            assert!(
                all.iter().any(|l| l.contains(&format!(" in {name} "))
                    && l.ends_with(&format!("prog.c:{line}"))),
                "{name}: {said}"
            );
        };
        names(after("READ of size 1"), "use", 5);
        names(after("freed by thread"), "drop", 4);
        names(after("previously allocated by"), "make", 3);
        assert!(said.contains("heap-use-after-free"), "{said}");
        let summary = said.lines().find(|l| l.starts_with("SUMMARY: ")).unwrap_or_default();
        assert!(summary.ends_with("prog.c:5 in use"), "{said}");
    }
}
