//! The fast half with sanitizers, under the driver: a report is a crash.

use crate::common::{NO_HURRY, Program, feed};
use pleach_exec::{End, Half, Outcome};
use std::process::Command;

/// `h`: heap overflow, `o`: signed overflow, `n`: null pointer, `a`: abort,
/// `m`: an allocation that is too large, `l`: a leak, `e`: exit 9.
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
    p.executor(half).run(input.as_bytes(), NO_HURRY).expect("it runs")
}

#[test]
fn reports_are_crashes() {
    let p = Program::with(SOURCE, &["-fsanitize=address,undefined"]);
    for (input, end, report) in [
        ("hx", End::Signal(6), "AddressSanitizer: heap-buffer-overflow"),
        ("ox", End::Signal(6), "runtime error: signed integer overflow"),
        ("nx", End::Signal(6), "runtime error: store to null pointer"),
        // The sanitizer does not change signals of the program itself.
        ("a.", End::Signal(6), ""),
        ("n\x10", End::Signal(11), ""),
        ("m\x40", End::Exit(4), ""),
        ("l.", End::Exit(0), ""),
        ("e.", End::Exit(9), ""),
        ("h\x03", End::Exit(0), ""),
    ] {
        let outcome = run(&p, Half::Fast, input);
        let stderr = String::from_utf8_lossy(&outcome.stderr);
        assert_eq!(outcome.end, end, "{input}: {stderr}");
        assert!(stderr.contains(report), "{input}: {stderr}");
        assert!(!stderr.contains("LeakSanitizer"), "{stderr}");
    }
}

#[test]
fn the_symbolic_half_has_checks_instead_of_sanitizers() {
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
fn cover_shows_the_first_line_of_a_sanitizers_report() {
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
    let report = json["inputs"][0]["said"].as_str().expect("a report");
    assert!(report.contains("runtime error: signed integer overflow"), "{json}");
    assert!(json["inputs"][1]["said"].is_null(), "{json}");
}

#[test]
fn the_users_own_sanitizer_options_count() {
    let p = Program::with(SOURCE, &["-fsanitize=undefined"]);
    p.file("ox", b"ox");
    let mut command = p.command(&["cover", "ox", "--", "./prog"]);
    let out = command.env("UBSAN_OPTIONS", "halt_on_error=0").output().expect("pleach runs");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("branches") && !text.contains("SIGABRT"), "{text}");
}

#[test]
fn by_hand_sanitizers_have_their_own_defaults() {
    let p = Program::with(SOURCE, &["-fsanitize=address"]);
    let mut command = Command::new(p.path("prog"));
    let out = feed(command.env_remove("ASAN_OPTIONS"), b"hx");
    // The status that ASan uses without any options.
    assert_eq!(out.status.code(), Some(1), "{out:?}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("heap-buffer-overflow"));
}

/// A report has up to three stacks: the access, who freed the memory, who allocated it.
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
    for report in [stack, &replayed.stderr] {
        let report = String::from_utf8_lossy(report);
        for (title, name, line) in [
            ("READ of size 1", "use", 5),
            ("freed by thread", "drop", 4),
            ("previously allocated by", "make", 3),
        ] {
            let text = report.split_once(title).map_or("", |(_, rest)| rest);
            let lines = text.lines().take_while(|l| !l.trim().is_empty());
            let mut frames = lines.filter(|l| l.trim_start().starts_with('#'));
            let is_there = frames.any(|l| {
                l.contains(&format!(" in {name} ")) && l.ends_with(&format!("prog.c:{line}"))
            });
            assert!(is_there, "{name}: {report}");
        }
        assert!(report.contains("heap-use-after-free"), "{report}");
        let summary = report.lines().find(|l| l.starts_with("SUMMARY: ")).unwrap_or_default();
        assert!(summary.ends_with("prog.c:5 in use"), "{report}");
    }
}
