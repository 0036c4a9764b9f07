//! The token border: what is recorded with it, what without it, and what people
//! are told. The programs are in `tests/tokens`.

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
    let text = std::fs::read(source(name)).expect("it is there");
    p.file(name, &text);
    let compiler = if name.ends_with(".cc") { "c++" } else { "cc" };
    let done = p.command(&[compiler, "-g", "-O1", name, "-o", "prog"]).args(flags).output();
    let done = done.expect("pleach runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    p
}

/// A trace on tokens; every expression in it is true of what the program saw.
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

/// The conditions of an input, without places, marks and what is said below them.
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
    // The parser compares the text of a name: bytes of the input, through the border.
    assert!(text.contains("in[4] == 's'"), "{text}");
    // What the lexer did with the others is not there.
    assert!(!text.contains("in[0]") && !text.contains("in[14]"), "{text}");
    // How far the input was looked at never goes back, and is right for a lexer that
    // looks one character ahead.
    let read: Vec<_> =
        json["tokens"].as_array().expect("a list").iter().map(|t| &t["read"]).collect();
    assert_eq!(read, [2, 3, 11, 12, 19, 21, 21], "{json}");
}

#[test]
fn without_the_flag_nothing_changes() {
    let input = "x = secret ; print 12";
    let (with, without) =
        (build("statements.c", &[], input), build("statements.c", &["-fno-pleach-token"], input));
    let plain = |p: &Program| p.text(&["explain", "input", "--", "./prog"], b"");
    assert_eq!(plain(&with), plain(&without));
    assert!(plain(&with).contains("in[0]"));
    let json = with.json(&["trace", "--json", "input", "--", "./prog"], b"");
    assert!(json.get("tokens").is_none());
    let refused = without.run(&["trace", "--tokens", "input", "--", "./prog"], b"");
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("no function is known to return tokens"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn flex_and_bison() {
    let p = Program::empty();
    let tool = |name: &str, args: &[&str]| {
        let done = Command::new(name).args(args).current_dir(p.dir.path()).output();
        let done = done.expect("flex and bison are installed");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    for file in ["sum.l", "sum.y"] {
        p.file(file, &std::fs::read(source(file)).expect("it is there"));
    }
    tool("bison", &["-d", "-o", "sum.tab.c", "sum.y"]);
    tool("flex", &["-o", "sum.lex.c", "sum.l"]);
    let done = p.command(&["cc", "-g", "-O2", "sum.tab.c", "sum.lex.c", "-o", "prog"]).output();
    assert!(done.expect("pleach runs").status.success());
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
    // The value of a number can be asked for, through atoi inside the lexer.
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
        // Two conditions for what is no word, one for a word.
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
fn places_that_are_not_there_are_refused() {
    let p = Program::empty();
    p.file("places.c", &std::fs::read(source("places.c")).expect("it is there"));
    for (flag, says) in [
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
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{flag}: {said}");
        assert!(said.contains(says) && said.contains(&flag), "{flag}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn marks_in_the_source() {
    let p = build("marked.c", &[], "()");
    let json = trace(&p);
    assert_eq!(numbers(&json), [1, -2], "{json}");
    // The bytes of the second are not bracketed: what was decided on them is there.
    let all = conditions(&p).join("\n");
    assert!(all.contains("tok[0] == 1") && all.contains("tok[1] == -2"), "{all}");
    assert!(!all.contains("in[0]") && all.contains("in[1] == ')'"), "{all}");
    let functions = p.text(&["tokens", "./prog"], b"");
    assert!(functions.contains("by pleach_token in its source"), "{functions}");
    // The header works with another compiler too.
    let done = Command::new("clang-22")
        .args(["-I", concat!(env!("CARGO_MANIFEST_DIR"), "/../pleach-rt/include"), "marked.c"])
        .current_dir(p.dir.path())
        .output();
    assert!(done.is_ok_and(|d| d.status.success()));
}

#[test]
fn a_jump_or_an_exception_out_of_a_lexer_ends_it() {
    // Of nested token functions the outermost counts: one token for "  A".
    let p = build("jump.c", &[], "  A!yb");
    let json = trace(&p);
    assert_eq!(numbers(&json), [2, 3, 0], "{json}");
    let all = conditions(&p).join("\n");
    // After the jump, the program's own look at the input is recorded again.
    assert!(all.contains("in[4] != 'x'") && !all.contains("in[3]"), "{all}");

    let p = build("throw.cc", &[], "a!yA");
    let json = trace(&p);
    assert_eq!(numbers(&json), [1, 200], "{json}");
    assert_eq!(names(&json), ["Word", "Other"], "{json}");
    let all = conditions(&p).join("\n");
    assert!(all.contains("in[2] != 'x'") && !all.contains("in[1]"), "{all}");
}

#[test]
fn threads_have_one_numbering() {
    let p = build("threads.c", &["-pthread"], "abcabcabcabcabcabcabcabcabcabcabcabc");
    let json = trace(&p);
    assert_eq!(numbers(&json).len(), 32, "{json}");
    assert_eq!(json["status"], 11);
    // One condition a token, and how much was read.
    assert_eq!(json["events"], 32 + 1, "{json}");
}

#[test]
fn people_are_told_what_is_missing() {
    let p = Program::with("#include <stdio.h>\nint main(void) { return getchar(); }\n", &[]);
    p.file("input", b"a");
    for args in [&["tokens", "./prog"][..], &["tokens", "./prog", "input"]] {
        let out = p.run(args, b"");
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains("-fpleach-token=NAME"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
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
