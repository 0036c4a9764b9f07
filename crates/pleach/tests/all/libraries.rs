//! Shared libraries with twins, and files that were stripped.

use crate::common::campaign::ended;
use crate::common::{PLEACH, Program, feed};
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

/// prog -> lib/libouter.so -> lib/libinner.so, found by `$ORIGIN`.
fn chain() -> Program {
    let p = Program::empty();
    std::fs::create_dir(p.dir.path().join("lib")).expect("writable");
    let shared = ["-shared", "-fPIC"];
    p.compile(INNER, &[&shared[..], &["-o", "lib/libinner.so"]].concat());
    let origin = ["-Llib", "-linner", "-Wl,-rpath,$ORIGIN", "-o", "lib/libouter.so"];
    p.compile(OUTER, &[&shared[..], &origin].concat());
    p.compile(MAIN, &["-Llib", "-louter", "-Wl,-rpath,$ORIGIN/lib", "-o", "prog"]);
    p
}

/// Every library's conditions are in the trace, and its branches are covered.
fn sees_through(p: &Program, program: &str, cwd: &Path) {
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
    sees_through(&p, "./prog", p.dir.path());
    // Wherever one stands, and through a link.
    let program = p.dir.path().join("prog");
    sees_through(&p, program.to_str().unwrap(), Path::new("/"));
    let link = p.dir.path().join("lib/link");
    std::os::unix::fs::symlink(&program, &link).expect("a link");
    sees_through(&p, link.to_str().unwrap(), Path::new("/"));
}

#[test]
fn a_library_path_variable_is_followed() {
    let p = Program::empty();
    std::fs::create_dir(p.dir.path().join("lib")).expect("writable");
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
    // The loader's own words, if it does not find the library.
    let out = explain(None);
    let message = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{message}");
    assert!(message.contains("libinner.so: cannot open shared object file"), "{message}");
}

#[test]
fn a_plain_library_beside_the_program_is_found() {
    let p = Program::empty();
    p.file("plain.c", INNER.as_bytes());
    let done = Command::new("cc")
        .current_dir(p.dir.path())
        .args(["-shared", "-fPIC", "-o", "libinner.so", "plain.c"])
        .status();
    assert!(done.expect("cc is there").success());
    let main = MAIN.replace("outer", "inner");
    p.compile(&main, &["-L.", "-linner", "-Wl,-rpath,$ORIGIN", "-o", "prog"]);
    let json = p.json(&["trace", "--json", "--check", "-", "--", "./prog"], b"i\n");
    assert_eq!(json["status"], 3, "{json}");
    assert_eq!(json["unmodelled"][0], "inner", "{json}");
}

/// A library without a symbolic half is found first: the campaign says so, and what to set.
#[test]
fn libraries_without_a_symbolic_half_are_named() {
    let p = Program::empty();
    for dir in ["lib", "installed"] {
        std::fs::create_dir(p.dir.path().join(dir)).expect("writable");
    }
    // All reading is done by the library.
    let library = "#include <stdio.h>\nint inner(void) { return getchar() == 'i'; }";
    p.compile(library, &["-shared", "-fPIC", "-o", "lib/libinner.so"]);
    let done = Command::new("cc")
        .current_dir(p.dir.path())
        .args(["-shared", "-fPIC", "-o", "installed/libinner.so", "prog.c"])
        .status();
    assert!(done.expect("cc is there").success());
    let main = "int inner(void); int main(void) { return inner() ? 3 : 4; }";
    p.compile(main, &["-Llib", "-linner", "-o", "prog"]);
    let campaign = |dir: &str| {
        let mut command = p.campaign_command(&format!("out-{dir}"), &["-n", "40"]);
        // Relative to here, wherever runs work.
        ended(command.env("LD_LIBRARY_PATH", dir), &p.dir.path().join(format!("out-{dir}")))
    };
    let plain = campaign("installed");
    for part in ["/installed/libinner.so", "no symbolic half", "LD_LIBRARY_PATH"] {
        assert!(plain.stderr.contains(part), "{part}: {}", plain.stderr);
        assert!(plain.stats["notes"].to_string().contains(part), "{part}: {}", plain.stats);
    }
    for command in ["explain", "trace"] {
        let mut command = p.command(&[command, "-", "--", "./prog"]);
        let done = feed(command.env("LD_LIBRARY_PATH", "installed"), b"i");
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(said.contains("/installed/libinner.so"), "{command:?}: {said}");
    }
    // Mutation may still find something: the input is read, though nobody follows it.
    assert_eq!(plain.stop(), "runs", "{}", plain.stats);
    let built = campaign("lib");
    assert!(!built.stderr.contains("symbolic half"), "{}", built.stderr);
    assert!(built.count("symbolic.constraints") > 0, "{}", built.stats);
}

#[test]
fn memory_given_to_a_plain_library_is_listed() {
    let p = Program::empty();
    p.file("plain.c", b"int sum(const char *s) { return s[0] + s[1]; }");
    let done = Command::new("cc")
        .current_dir(p.dir.path())
        .args(["-shared", "-fPIC", "-o", "libsum.so", "plain.c"])
        .status();
    assert!(done.expect("cc is there").success());
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
fn a_library_may_call_for_input() {
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
fn what_strip_leaves() {
    let p = Program::new(
        MAIN.replace("outer(b[0])", "b[0] == 'i' ? 3 : 4").replace("int outer(char);", "").as_str(),
    );
    let strip = |tool: &[&str]| {
        std::fs::copy(p.dir.path().join("prog"), p.dir.path().join("stripped")).expect("room");
        let mut command = Command::new(tool[0]);
        let done = command.current_dir(p.dir.path()).args(&tool[1..]).arg("stripped").status();
        done.expect("a tool of the build").success().then_some(()).expect("it strips");
        p.run(&["explain", "-", "--", "./stripped"], b"i\n")
    };
    // GNU's keeps sections that it does not know; so do both without debug information only.
    for tool in [&["strip"][..], &["strip", "-g"], &[&llvm_strip(), "-g"]] {
        let out = strip(tool);
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(text.contains("prog.c:6:") && text.contains("in[0] == 'i'"), "{tool:?}: {out:?}");
    }
    let out = strip(&[&llvm_strip()]);
    let message = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{message}");
    assert!(message.contains("its symbolic half was stripped; llvm-strip drops it"), "{message}");
}

fn llvm_strip() -> String {
    match std::env::var("PLEACH_LLVM") {
        Ok(prefix) => format!("{prefix}/bin/llvm-strip"),
        Err(_) => "llvm-strip-22".into(),
    }
}
