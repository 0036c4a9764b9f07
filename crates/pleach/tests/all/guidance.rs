//! Output that guides the user: selected conditions, warnings about seeds, advice for flags
//! of other tools, totals without system headers.

use crate::common::{Program, refused};

/// Two functions make one decision for each byte.
const DECIDES: &str = r#"#include <stdio.h>
static int is_digit(int c) { return c >= '0' && c <= '9'; }
static int count_signs(const char *b, int n) {
    int signs = 0;
    for (int i = 0; i < n; i++)
        if (b[i] == '-')
            signs++;
    return signs;
}
int main(void) {
    static char b[8];
    int n = fread(b, 1, sizeof b, stdin), digits = 0;
    for (int i = 0; i < n; i++)
        if (is_digit(b[i]))
            digits++;
    return digits + count_signs(b, n);
}
"#;

#[test]
fn explain_selects_and_limits_conditions() {
    let p = Program::new(DECIDES);
    p.file("input", b"1-2x");
    let explain = |flags: &[&str]| {
        let args = [&["explain"], flags, &["input", "--", "./prog"]].concat();
        p.text(&args, b"")
    };
    let conditions = |text: &str| text.lines().filter(|l| l.contains("prog.c:")).count();
    let all = explain(&[]);
    let signs = explain(&["--function", "count_signs"]);
    assert!(signs.contains("count_signs:") && !signs.contains("main:"), "{signs}");
    assert!(conditions(&signs) > 0 && conditions(&signs) < conditions(&all), "{signs}");
    assert!(signs.contains("match --function"), "{signs}");
    let line = explain(&["--file", "prog.c", "--line", "6-7"]);
    assert!(conditions(&line) > 0 && line.contains("prog.c:6:"), "{line}");
    assert!(!line.contains("main:"), "{line}");
    assert_eq!(conditions(&explain(&["--file", "other.c"])), 0);
    let third = explain(&["--bytes", "2"]);
    assert!(conditions(&third) > 0 && third.contains("in[2]"), "{third}");
    assert!(!third.contains("in[1]") && !third.contains("in[3]"), "{third}");
    let first = explain(&["--limit", "1"]);
    assert_eq!(conditions(&first), 1, "{first}");
    assert!(first.contains("the first 1 are shown; --limit 0 shows all"), "{first}");
    assert!(!all.contains("--limit"), "{all}");
    assert_eq!(explain(&["--limit", "0"]), all);
}

#[test]
fn cover_takes_directories() {
    let p = Program::new(DECIDES);
    std::fs::create_dir(p.dir.path().join("inputs")).expect("writable");
    p.file("inputs/a", b"1");
    p.file("inputs/b", b"-");
    let files = p.json(&["cover", "--json", "inputs/a", "inputs/b", "--", "./prog"], b"");
    let directory = p.json(&["cover", "--json", "inputs", "--", "./prog"], b"");
    assert_eq!(directory, files);
    std::fs::create_dir(p.dir.path().join("empty")).expect("writable");
    let args = ["cover", "empty", "--", "./prog"];
    refused(&p.run(&args, b""), &args, &["empty: no inputs in it"]);
}

#[test]
fn tmin_reports_what_it_keeps() {
    let p = Program::new(DECIDES);
    p.file("input", b"1-2x");
    let out = p.run(&["tmin", "-i", "input", "-o", "small", "-n", "40", "--", "./prog"], b"");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(said.starts_with("4 bytes, at most 40 runs; keeps "), "{said}");
}

#[test]
fn there_are_warnings_for_subdirectories_and_large_seeds() {
    let p = Program::new(DECIDES);
    std::fs::create_dir_all(p.dir.path().join("seeds/more")).expect("writable");
    let args = ["run", "-i", "seeds", "-o", "out", "-n", "3", "--", "./prog"];
    refused(&p.run(&args, b""), &args, &["no seeds in it; 1 subdirectory is not read"]);
    p.file("one", b"1");
    let file = ["run", "-i", "one", "-o", "out", "-n", "3", "--", "./prog"];
    refused(&p.run(&file, b""), &file, &["one: is a file", "a directory"]);
    p.file("seeds/a", b"1");
    p.file("seeds/large", &vec![b'-'; (1 << 20) + 1]);
    let out = p.run(&args, b"");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(said.contains("warning: seeds: 1 subdirectory is not read\n"), "{said}");
    assert!(said.contains("seeds/large: this seed has 1048577 bytes; large seeds"), "{said}");
}

#[test]
fn flags_of_other_fuzzers_get_advice() {
    let p = Program::empty();
    let run = |flags: &[&str]| {
        let args = [&["run", "-o", "out"], flags, &["--", "./prog"]].concat();
        (p.run(&args, b""), format!("{args:?}"))
    };
    for (flags, advice) in [
        (&["-Q"][..], "-Q of afl-fuzz: there is no emulation of binaries"),
        (&["-E", "100"], "-E of afl-fuzz: -n N stops after N runs"),
        (&["-max_len=100"], "-max_len=100 is a flag of libFuzzer; here it is --max-len 100"),
        (&["-seed=7"], "here it is --seed 7"),
        (&["-timeout=2"], "here it is -t 2000"),
        (&["-dict=words"], "here it is -x FILE"),
        (&["-entropic=1"], "has no counterpart here"),
    ] {
        let (out, args) = run(flags);
        refused(&out, &[&args], &[advice]);
    }
}

#[test]
fn flags_of_libfuzzer_behind_the_program_get_a_warning() {
    let source = r#"#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    return size > 0 && data[0] == 'q' ? -1 : 0;
}
"#;
    let p = Program::with(source, &["-fsanitize=fuzzer"]);
    let args = ["run", "-o", "out", "-n", "5", "--", "./prog", "-max_len=8"];
    let said = String::from_utf8(p.run(&args, b"").stderr).expect("text");
    assert!(said.contains("the program ignores its flags: -max_len=8"), "{said}");
}

#[test]
fn totals_do_not_count_system_headers() {
    let source = r#"#include <cstdio>
#include <map>
#include <string>
int main() {
    std::map<std::string, int> words;
    int c;
    while ((c = getchar()) != EOF)
        if (c == 'x') words[std::string(3, 'a')]++;
    return words.size();
}
"#;
    let p = Program::empty();
    p.file("prog.cc", source.as_bytes());
    p.text(&["c++", "-O0", "prog.cc", "-o", "prog"], b"");
    p.file("input", b"ax");
    let cover = |flags: &[&str]| {
        p.json(&[&["cover", "--json"], flags, &["input", "--", "./prog"]].concat(), b"")
    };
    let (own, all) = (cover(&[]), cover(&["--system"]));
    assert_eq!((&own["total"], &own["covered"]), (&4.into(), &4.into()), "{own}");
    assert!(all["total"].as_u64() > own["total"].as_u64(), "{all}");
    let run = ["run", "-o", "out", "-n", "20", "--json", "--", "./prog"];
    let stats = p.text(&run, b"");
    let stats: serde_json::Value =
        serde_json::from_str(stats.lines().last().expect("a line")).expect("JSON");
    assert_eq!(stats["branches"]["total"], own["total"], "{stats}");
    let files = stats["modules"].as_object().expect("files");
    assert!(files.keys().all(|file| file.ends_with("prog.cc")), "{files:?}");
    let lines = |args: &[&str]| p.text(args, b"").lines().count();
    assert!(lines(&["sites", "prog"]) < lines(&["sites", "--system", "prog"]));
}
