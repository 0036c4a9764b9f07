//! Shared libraries with twins, and files that were stripped.

use crate::common::campaign::run_campaign;
use crate::common::{PLEACH, Program, feed, refused};
use std::path::Path;
use std::process::Command;

const MAIN: &str = r#"#include <stdio.h>
int outer(char);
int main(void) {
    static char b[8];
    if (!fgets(b, sizeof b, stdin)) return 1;
    return outer(b[0]);
}
"#;
const OUTER: &str =
    "int inner(char); int outer(char c) { if (c == 'o') return 2; return inner(c); }";
const INNER: &str = "int inner(char c) { switch (c) { case 'i': return 3; } return 4; }";

/// `prog` needs lib/libouter.so, which needs lib/libinner.so. Both are found by `$ORIGIN`.
fn chain() -> Program {
    let p = Program::empty();
    p.make_dir("lib");
    let shared = ["-shared", "-fPIC"];
    p.compile(INNER, &[&shared[..], &["-o", "lib/libinner.so"]].concat());
    let origin = ["-Llib", "-linner", "-Wl,-rpath,$ORIGIN", "-o", "lib/libouter.so"];
    p.compile(OUTER, &[&shared[..], &origin].concat());
    p.compile(MAIN, &["-Llib", "-louter", "-Wl,-rpath,$ORIGIN/lib", "-o", "prog"]);
    p
}

/// Compiles a source with the plain compiler to a shared library.
fn compile_plain_library(p: &Program, source: &str, library: &str) {
    p.file("plain.c", source.as_bytes());
    let mut cc = Command::new("cc");
    cc.current_dir(p.dir.path()).args(["-shared", "-fPIC", "-o", library, "plain.c"]);
    assert!(cc.status().expect("cc is installed").success());
}

/// Checks that the conditions of every library are in the trace, and that its branches are
/// covered.
fn assert_libraries_are_traced(p: &Program, program: &str, cwd: &Path) {
    let run = |args: &[&str], stdin: &[u8]| {
        let out = feed(Command::new(PLEACH).current_dir(cwd).args(args), stdin);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("text")
    };
    let text = run(&["explain", "-", "--", program], b"i\n");
    for part in ["outer:", "in[0] != 'o'", "inner:", "in[0] == 'i'", "exit 3"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let input = p.file("input", b"i\n");
    let text = run(&["cover", "--json", &input.to_string_lossy(), "--", program], b"");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let names: Vec<_> = json["functions"].as_array().unwrap().iter().map(|f| &f["name"]).collect();
    assert_eq!(names.len(), 3, "{json}");
    assert_eq!(json["covered"], 3, "{json}");
    assert_eq!(json["total"], 2 + 2 + 2, "{json}");
}

#[test]
fn libraries_of_libraries_have_twins() {
    let p = chain();
    assert_libraries_are_traced(&p, "./prog", p.dir.path());
    // From another directory, and through a link.
    let program = p.path("prog");
    assert_libraries_are_traced(&p, program.to_str().unwrap(), Path::new("/"));
    let link = p.path("lib/link");
    std::os::unix::fs::symlink(&program, &link).expect("a link");
    assert_libraries_are_traced(&p, link.to_str().unwrap(), Path::new("/"));
}

#[test]
fn libraries_are_found_by_ld_library_path() {
    let p = Program::empty();
    p.make_dir("lib");
    p.compile(INNER, &["-shared", "-fPIC", "-o", "lib/libinner.so"]);
    let main = MAIN.replace("outer", "inner");
    p.compile(&main, &["-Llib", "-linner", "-o", "prog"]);
    let explain = |variable: Option<&str>| {
        let mut command = p.command(&["explain", "-", "--", "./prog"]);
        command.env_remove("LD_LIBRARY_PATH").envs(variable.map(|v| ("LD_LIBRARY_PATH", v)));
        feed(&mut command, b"i\n")
    };
    let text = String::from_utf8(explain(Some("lib")).stdout).expect("text");
    assert!(text.contains("in[0] == 'i'"), "{text}");
    // Without the variable, the message of the loader is shown.
    let message = "libinner.so: cannot open shared object file";
    refused(&explain(None), &["explain"], &[message]);
}

#[test]
fn a_plain_library_beside_the_program_is_found() {
    let p = Program::empty();
    compile_plain_library(&p, INNER, "libinner.so");
    let main = MAIN.replace("outer", "inner");
    p.compile(&main, &["-L.", "-linner", "-Wl,-rpath,$ORIGIN", "-o", "prog"]);
    let json = p.json(&["trace", "--json", "--check", "-", "--", "./prog"], b"i\n");
    assert_eq!(json["status"], 3, "{json}");
    assert_eq!(json["unmodelled"][0], "inner", "{json}");
}

/// The loader finds a library without a symbolic half. The campaign names it, and the
/// variable to set.
#[test]
fn libraries_without_a_symbolic_half_get_a_warning() {
    let p = Program::empty();
    for dir in ["lib", "installed"] {
        p.make_dir(dir);
    }
    // Only the library reads input.
    let library = "#include <stdio.h>\nint inner(void) { return getchar() == 'i'; }";
    p.compile(library, &["-shared", "-fPIC", "-o", "lib/libinner.so"]);
    compile_plain_library(&p, library, "installed/libinner.so");
    let main = "int inner(void); int main(void) { return inner() ? 3 : 4; }";
    p.compile(main, &["-Llib", "-linner", "-o", "prog"]);
    let campaign = |dir: &str| {
        let out = format!("out-{dir}");
        let mut command = p.campaign_command(&out, &["-n", "40"]);
        // The path is relative to this directory, not to the scratch directory of a run.
        run_campaign(command.env("LD_LIBRARY_PATH", dir), &p.path(&out))
    };
    let plain = campaign("installed");
    for part in ["/installed/libinner.so", "no symbolic half", "LD_LIBRARY_PATH"] {
        assert!(plain.stderr.contains(part), "{part}: {}", plain.stderr);
        assert!(plain.stats["notes"].to_string().contains(part), "{part}: {}", plain.stats);
    }
    for command in ["explain", "trace"] {
        let mut command = p.command(&[command, "-", "--", "./prog"]);
        let done = feed(command.env("LD_LIBRARY_PATH", "installed"), b"i");
        let stdout = String::from_utf8_lossy(&done.stdout);
        assert!(stdout.contains("/installed/libinner.so"), "{command:?}: {stdout}");
    }
    // The search does not stop: the input is read, and mutation may still find something.
    assert_eq!(plain.stop(), "runs", "{}", plain.stats);
    let built = campaign("lib");
    assert!(!built.stderr.contains("symbolic half"), "{}", built.stderr);
    assert!(built.count("symbolic.constraints") > 0, "{}", built.stats);
}

#[test]
fn a_plain_library_that_gets_labelled_memory_is_listed_as_unmodelled() {
    let p = Program::empty();
    compile_plain_library(&p, "int sum(const char *s) { return s[0] + s[1]; }", "libsum.so");
    let main = r#"#include <stdio.h>
int sum(const char *);
int main(void) {
    static char b[8], quiet[600] = "ab";
    if (!fgets(b, sizeof b, stdin)) return 1;
    return sum(TEXT) == 'a' + 'b' ? 3 : 4;
}"#;
    let unmodelled = |text: &str| {
        let main = main.replace("TEXT", text);
        p.compile(&main, &["-L.", "-lsum", "-Wl,-rpath,$ORIGIN", "-o", "prog"]);
        let json = p.json(&["trace", "--json", "--check", "-", "--", "./prog"], b"ab\n");
        assert_eq!(json["status"], 3, "{json}");
        json["unmodelled"].as_array().expect("a list").clone()
    };
    assert_eq!(unmodelled("b"), ["sum"]);
    assert!(unmodelled("quiet").is_empty());
}

#[test]
fn a_library_may_make_typed_calls_for_input() {
    let p = Program::empty();
    let library = r#"#include <pleach.h>
#include <klee/klee.h>
int pick(void) {
    unsigned char c = pleach_u8(), d;
    klee_make_symbolic(&d, sizeof d, "d");
    pleach_assume(d != 7);
    return c == 'x' && d == 'y' ? 3 : 4;
}"#;
    p.compile(library, &["-shared", "-fPIC", "-o", "libpick.so"]);
    let main = "int pick(void); int main(void) { return pick(); }";
    p.compile(main, &["-L.", "-lpick", "-Wl,-rpath,$ORIGIN", "-o", "prog"]);
    let text = p.text(&["explain", "-", "--", "./prog"], b"xy");
    for part in ["in[0] == 'x'", "in[1] == 'y'", "in[1] != 7", "exit 3"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for half in ["fast", "symbolic"] {
        let out = p.run(&["exec", "--half", half, "--", "./prog"], b"xy");
        assert_eq!(out.status.code(), Some(3), "{half}: {out:?}");
    }
}

#[test]
fn a_stripped_program_works_or_is_refused() {
    let main = MAIN.replace("outer(b[0])", "b[0] == 'i' ? 3 : 4").replace("int outer(char);", "");
    let p = Program::new(&main);
    let explain_stripped = |strip: &[&str]| {
        std::fs::copy(p.path("prog"), p.path("stripped")).expect("room for a copy");
        let mut command = Command::new(strip[0]);
        let done = command.current_dir(p.dir.path()).args(&strip[1..]).arg("stripped").status();
        assert!(done.expect("binutils and LLVM are installed").success());
        p.run(&["explain", "-", "--", "./stripped"], b"i\n")
    };
    // GNU strip keeps sections that it does not know. With -g both keep them.
    for strip in [&["strip"][..], &["strip", "-g"], &[&llvm_strip(), "-g"]] {
        let out = explain_stripped(strip);
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(text.contains("prog.c:6:") && text.contains("in[0] == 'i'"), "{strip:?}: {out:?}");
    }
    let message = "its symbolic half was stripped; llvm-strip drops it";
    refused(&explain_stripped(&[&llvm_strip()]), &["explain"], &[message]);
}

fn llvm_strip() -> String {
    match std::env::var("PLEACH_LLVM") {
        Ok(prefix) => format!("{prefix}/bin/llvm-strip"),
        Err(_) => "llvm-strip-22".into(),
    }
}
