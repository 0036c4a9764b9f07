//! Token functions: what is recorded on tokens and without them, and what is reported. The
//! programs are in `tests/tokens`.

use crate::common::Program;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

fn source(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/tokens").join(name)
}

/// A program of `tests/tokens`, compiled as `prog`, and an input for it.
fn build(name: &str, flags: &[&str], input: &str) -> Program {
    let p = Program::empty();
    p.file("input", input.as_bytes());
    p.file(name, &std::fs::read(source(name)).expect("it exists"));
    let compiler = if name.ends_with(".cc") { "c++" } else { "cc" };
    p.text(&[&[compiler, "-g", "-O1", name, "-o", "prog"], flags].concat(), b"");
    p
}

/// A trace on tokens. Every expression in it must have the value that the program had.
fn trace(p: &Program) -> Value {
    let args = ["trace", "--tokens", "--json", "--check", "input", "--", "./prog"];
    let json = p.json(&args, b"");
    assert_eq!(json["disagreements"], 0, "{json}");
    json
}

fn numbers(json: &Value) -> Vec<i64> {
    let tokens = json["tokens"].as_array().expect("a list");
    tokens.iter().filter_map(|t| t["number"].as_i64()).collect()
}

fn names(json: &Value) -> Vec<String> {
    let tokens = json["tokens"].as_array().expect("a list");
    tokens.iter().map(|t| t["name"].as_str().unwrap_or("?").to_string()).collect()
}

/// The conditions of an input, without places, marks and notes.
fn conditions(p: &Program) -> Vec<String> {
    let text = p.text(&["explain", "--tokens", "input", "--", "./prog"], b"");
    let lines = text.lines().filter(|l| l.starts_with("  "));
    lines
        .map(|l| l.split("  ").filter(|w| !w.is_empty()).last().unwrap_or("").trim().into())
        .collect()
}

#[test]
fn conditions_are_on_tokens_and_bytes_keep_their_labels() {
    let p = build("statements.c", &[], "x = secret ; print 12");
    let json = trace(&p);
    let expected = ["T_NAME", "T_ASSIGN", "T_NAME", "T_END", "T_PRINT", "T_NUMBER", "T_EOF"];
    assert_eq!(names(&json), expected, "{json}");
    assert_eq!(json["status"], 1);
    let all = conditions(&p);
    let text = all.join("\n");
    assert!(all[0] == "tok[0] != T_EOF", "{text}");
    for condition in ["tok[0] == T_NAME", "tok[1] == T_ASSIGN", "tok[4] == T_PRINT"] {
        assert!(all.iter().any(|c| c == condition), "{condition}:\n{text}");
    }
    // The parser compares the text of a name, so conditions on its bytes are recorded.
    assert!(text.contains("in[4] == 's'"), "{text}");
    // Decisions of the lexer are not recorded.
    assert!(!text.contains("in[0]") && !text.contains("in[14]"), "{text}");
    // How many bytes were read for each token. This lexer reads one character ahead.
    let read: Vec<_> =
        json["tokens"].as_array().expect("a list").iter().map(|t| &t["read"]).collect();
    assert_eq!(read, [2, 3, 11, 12, 19, 21, 21], "{json}");
}

#[test]
fn a_run_without_tokens_is_not_changed_by_token_functions() {
    let input = "x = secret ; print 12";
    let (with, without) =
        (build("statements.c", &[], input), build("statements.c", &["-fno-pleach-token"], input));
    let plain = |p: &Program| p.text(&["explain", "input", "--", "./prog"], b"");
    assert_eq!(plain(&with), plain(&without));
    assert!(plain(&with).contains("in[0]"));
    let json = with.json(&["trace", "--json", "input", "--", "./prog"], b"");
    assert!(json.get("tokens").is_none());
    let message = "no function is known to return tokens";
    without.refuses(&["trace", "--tokens", "input", "--", "./prog"], &[message]);
}

#[test]
fn lexers_of_flex_and_parsers_of_bison_work_on_tokens() {
    let p = Program::empty();
    let tool = |name: &str, args: &[&str]| {
        let done = Command::new(name).args(args).current_dir(p.dir.path()).output();
        let done = done.expect("flex and bison are installed");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    for file in ["sum.l", "sum.y"] {
        p.file(file, &std::fs::read(source(file)).expect("it exists"));
    }
    tool("bison", &["-d", "-o", "sum.tab.c", "sum.y"]);
    tool("flex", &["-o", "sum.lex.c", "sum.l"]);
    p.text(&["cc", "-g", "-O2", "sum.tab.c", "sum.lex.c", "-o", "prog"], b"");
    p.file("input", b"let a = 2 + b; 40+2;");
    let json = trace(&p);
    let numbers = numbers(&json);
    assert_eq!(names(&json)[..2], ["LET", "NAME"], "{json}");
    assert_eq!(numbers[2], i64::from(b'='));
    assert_eq!(numbers.len(), 11 + 1, "{json}");
    assert_eq!(numbers.last(), Some(&0));
    let all = conditions(&p);
    let text = all.join("\n");
    assert!(text.contains("tok[0]") && text.contains("tok[10]"), "{text}");
    // Conditions on the value of a number are recorded, although atoi runs in the lexer.
    assert!(all.iter().any(|c| c.contains("in[15]") && c.contains("in[18]")), "{text}");
    let listed = p.text(&["tokens", "./prog", "input"], b"");
    assert!(listed.contains("LET") && listed.contains("12 tokens; exit 0"), "{listed}");
    let functions = p.text(&["tokens", "./prog"], b"");
    assert!(functions.contains("yylex") && functions.contains("by its name"), "{functions}");
}

#[test]
fn tokens_in_memory_are_found_by_types() {
    let places = [
        "by_field:arg0->t.token",
        "by_pointers:arg0->self->t.token",
        "by_argument:*arg0",
        "by_global:@global",
        "by_registers:ret.kind",
        "by_memory:ret.kind",
        "by_pointer:ret->t.token",
    ];
    let flags: Vec<String> = places.iter().map(|p| format!("-fpleach-token={p}")).collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    // Types are found whether or not the user wants debug information.
    for more in [&[][..], &["-g0"]] {
        let p = build("places.c", &[&flags[..], more].concat(), "a1+b2-c");
        let json = trace(&p);
        assert_eq!(numbers(&json), [1, 2, 3, 1, 2, 3, 1], "{json}");
        assert_eq!(json["status"], 1 + 2 + 3 + 1 + 2 + 3 + 1);
        // One condition for a word, two for every other token.
        assert_eq!(json["events"], 1 + 2 + 2 + 1 + 2 + 2 + 1, "{json}");
        let functions = p.json(&["tokens", "--json", "./prog"], b"");
        let listed = functions["functions"].as_array().expect("a list");
        let found: Vec<String> = listed
            .iter()
            .map(|f| format!("{}:{}", f["name"].as_str().unwrap(), f["place"].as_str().unwrap()))
            .collect();
        assert_eq!(found, places);
        assert_eq!(listed[0]["names"][1]["name"], "WORD", "{functions}");
    }
}

#[test]
fn places_that_do_not_exist_are_refused() {
    let p = Program::empty();
    p.file("places.c", &std::fs::read(source("places.c")).expect("it exists"));
    for (flag, message) in [
        ("by_field:arg0->t.tokens", "has no member tokens"),
        ("by_field:arg3", "has no arg3"),
        ("by_field", "is not an integer"),
        ("by_field:ret", "is not an integer"),
        ("by_field:arg0.t", "not a structure in memory"),
        ("by_argument:arg1", "a copy that the caller never sees"),
        ("by_global:@nothing", "no global nothing"),
        ("by_field:arg0->t", "neither an integer nor an enumeration"),
        ("by_field:there", "is not a place"),
        (":ret", "name of the function is missing"),
    ] {
        let flag = format!("-fpleach-token={flag}");
        let out = p.run(&["cc", "-g", &flag, "places.c", "-o", "prog"], b"");
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{flag}: {stderr}");
        assert!(stderr.contains(message) && stderr.contains(&flag), "{flag}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn marks_in_the_source_make_tokens() {
    let p = build("marked.c", &[], "()");
    let json = trace(&p);
    assert_eq!(numbers(&json), [1, -2], "{json}");
    // No marks enclose the bytes of the second token, so decisions on them are recorded.
    let all = conditions(&p).join("\n");
    assert!(all.contains("tok[0] == 1") && all.contains("tok[1] == -2"), "{all}");
    assert!(!all.contains("in[0]") && all.contains("in[1] == ')'"), "{all}");
    let functions = p.text(&["tokens", "./prog"], b"");
    assert!(functions.contains("by pleach_token in its source"), "{functions}");
    // The header also works with another compiler.
    let done = Command::new("clang-22")
        .args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/../pleach-rt/include"), "marked.c"])
        .current_dir(p.dir.path())
        .output();
    assert!(done.is_ok_and(|d| d.status.success()));
}

#[test]
fn a_jump_or_an_exception_out_of_a_lexer_ends_its_token() {
    // Of nested token functions only the outermost counts: "  A" is one token.
    let p = build("jump.c", &[], "  A!yb");
    let json = trace(&p);
    assert_eq!(numbers(&json), [2, 3, 0], "{json}");
    let all = conditions(&p).join("\n");
    // After the jump, decisions of the program are recorded again.
    assert!(all.contains("in[4] != 'x'") && !all.contains("in[3]"), "{all}");

    let p = build("throw.cc", &[], "a!yA");
    let json = trace(&p);
    assert_eq!(numbers(&json), [1, 200], "{json}");
    assert_eq!(names(&json), ["Word", "Other"], "{json}");
    let all = conditions(&p).join("\n");
    assert!(all.contains("in[2] != 'x'") && !all.contains("in[1]"), "{all}");
}

#[test]
fn tokens_of_all_threads_are_numbered_together() {
    let p = build("threads.c", &["-pthread"], "abcabcabcabcabcabcabcabcabcabcabcabc");
    let json = trace(&p);
    assert_eq!(numbers(&json).len(), 32, "{json}");
    assert_eq!(json["status"], 11);
    // One condition for each token, and one for the length.
    assert_eq!(json["events"], 32 + 1, "{json}");
}

#[test]
fn a_program_without_tokens_gets_advice() {
    let p = Program::with("#include <stdio.h>\nint main(void) { return getchar(); }\n", &[]);
    p.file("input", b"a");
    for args in [&["tokens", "./prog"][..], &["tokens", "./prog", "input"]] {
        p.refuses(args, &["-fpleach-token=NAME"]);
    }
    let source = "#include <stdio.h>\nint scan(void) { return getchar(); }\n\
                  const char *token(void) { return \"\"; }\n\
                  int main(int n, char **v) { return n > 1 ? scan() : !token(); }\n";
    let p = Program::with(source, &[]);
    p.file("input", b"a");
    let listed = p.text(&["tokens", "./prog"], b"");
    assert!(listed.contains("not used: its result is not a number"), "{listed}");
    let never = p.text(&["tokens", "./prog", "input"], b"");
    assert!(never.contains("scan (prog.c:2) returned no token: it was never called"), "{never}");
    let called = p.text(&["tokens", "./prog", "input", "--", "x"], b"");
    assert!(called.contains("tok[0]     97  'a'") && !called.contains("never"), "{called}");
}
