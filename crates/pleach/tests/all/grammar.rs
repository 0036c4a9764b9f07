//! `pleach grammar …`: what it prints, and what it refuses.

use crate::common::{PLEACH, refused};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn grammars(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pleach-grammar/tests/grammars");
    root.join(name).to_str().expect("a path").to_owned()
}

fn pleach(args: &[&str]) -> Output {
    let mut command = Command::new(PLEACH);
    command.arg("grammar").args(args).output().expect("pleach runs")
}

fn text(args: &[&str]) -> String {
    let out = pleach(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

fn refuses(args: &[&str], parts: &[&str]) {
    refused(&pleach(args), args, parts);
}

struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().expect("a directory"))
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).expect("writable");
        path.to_str().expect("a path").to_owned()
    }
}

/// Counted and enumerated, with concrete and with symbolic tokens.
#[test]
fn counts_are_those_of_the_table_in_the_paper() {
    let calc = &grammars("simplecalc.ebnf");
    let last = |args: &[&str]| text(args).lines().last().expect("a line").trim().to_owned();
    assert_eq!(last(&["count", calc, "--max-length", "4"]), "4  80910  108066");
    let symbolic = ["count", calc, "--symbolic", "--max-length", "6"];
    assert_eq!(last(&symbolic), "6  652  853");
    assert_eq!(text(&symbolic).lines().next(), Some("length in bytes  derivations  up to it"));
    assert_eq!(last(&["enumerate", calc, "--max-length", "4", "--quiet"]), "108066");
    let symbolic = ["enumerate", calc, "--max-length", "6", "--symbolic", "--quiet"];
    assert_eq!(last(&symbolic), "853");
    let short = text(&["enumerate", calc, "--max-length", "2", "--symbolic"]);
    assert_eq!(short, "α\n-α\n");
}

#[test]
fn completions_are_those_of_the_paper() {
    let g = &grammars("sexpression.ebnf");
    let done = text(&["complete", g, "--tokens", "( + ( {(,num,id,let}"]);
    assert_eq!(done, "( + ( let ( ( id num ) ) num ) num )\n");
    assert_eq!(text(&["complete", g, "--tokens", "( ) ."]), "unsat\n");
    assert_eq!(text(&["complete", g, "--tokens", "!( "]), "num\n");
    assert_eq!(text(&["complete", g, "--tokens", ". + ."]), "( + num num )\n");
    refuses(&["complete", g, "--tokens", "( plus"], &["the grammar has no token plus"]);
}

#[test]
fn a_tree_can_be_unparsed_to_its_input() {
    let (files, json) = (Files::new(), &grammars("json.ebnf"));
    let input = "{\"a\":[1,true,{\"b c\":null}]}";
    let path = files.file("input", input);
    let tree = text(&["parse", json, &path]);
    assert!(tree.starts_with("value/1\n object/2\n  \"{\" = \"{\"\n"), "{tree}");
    let tree = files.file("tree", &tree);
    assert_eq!(text(&["unparse", json, &tree]), input);
    refuses(&["unparse", json, &files.file("bad", "value/9\n")], &["bad:1:1", "value"]);
    let out = pleach(&["parse", json, &files.file("wrong", "{\"a\":[1,]}")]);
    assert_eq!(out.status.code(), Some(1));
    let message = String::from_utf8_lossy(&out.stderr);
    assert!(message.contains("wrong:1:9: \"]\" is not expected here"), "{message}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("is missing"));
}

#[test]
fn samples_have_the_given_length_and_depend_on_the_seed() {
    let json = &grammars("json.ebnf");
    let args = ["sample", json, "--length", "40", "--count", "5", "--seed", "3"];
    let samples = text(&args);
    assert_eq!(samples.lines().map(str::len).collect::<Vec<_>>(), [40; 5]);
    assert_eq!(samples, text(&args));
    assert!(text(&["sample", json, "--cover", "2"]).lines().count() > 3);
    assert_eq!(text(&["sample", json, "--count", "7"]).lines().count(), 7);
    let files = Files::new();
    let even = files.file("even.ebnf", "s ::= \"aa\" | \"aa\" s\n");
    refuses(&["sample", &even, "--length", "5"], &["no sentence has exactly 5 bytes"]);
}

/// A newline is a token here, so one more at the end would make another sentence.
#[test]
fn samples_are_written_exactly() {
    let files = Files::new();
    let lines = files.file("lines.ebnf", "s ::= \"a\" #xA | \"b\"\n");
    let sentences = ["a\n", "b"];
    for seed in 0..8 {
        let one = text(&["sample", &lines, "--seed", &seed.to_string()]);
        assert!(sentences.contains(&one.as_str()), "{one:?}");
    }
    let dir = files.0.path().join("out").to_str().expect("a path").to_owned();
    let args = ["sample", &lines, "--count", "6", "-o", &dir];
    assert_eq!(text(&args), "");
    let written: Vec<String> = std::fs::read_dir(&dir)
        .expect("it exists")
        .map(|e| std::fs::read_to_string(e.expect("a file").path()).expect("text"))
        .collect();
    assert_eq!(written.len(), 6);
    assert!(written.iter().all(|s| sentences.contains(&s.as_str())), "{written:?}");
    refuses(&args, &["is not empty"]);
}

const COMMANDS: &str = "%token SHOW DROP NAME\n%%\ns: SHOW NAME | DROP NAME ';' ;\n";
const WORDS: &str = "NAME [a-z]+\n';' \";\"\n%skip [ ]+\n";

#[test]
fn keywords_are_read_from_tables_in_four_formats() {
    let files = Files::new();
    let (grammar, lexer) = (files.file("c.y", COMMANDS), files.file("c.tokens", WORDS));
    let input = files.file("input", "show shows");
    let tables = [
        ("kwlist.h", "KEYWORD(\"drop\", DROP, UNRESERVED)\nKEYWORD(\"show\", SHOW, RESERVED)\n"),
        (
            "kw.c",
            "static struct kw t[] = { {0, DROP, \"drop\"}, {1, SHOW, \"show\"}, {0, 0, 0} };\n",
        ),
        ("words", "# the two\nshow SHOW\ndrop DROP\n"),
        ("words.gperf", "struct kw { int t; };\n%%\ndrop, DROP\nshow, SHOW\n%%\nint f;\n"),
    ];
    for (name, table) in tables {
        let table = files.file(name, table);
        let args = ["parse", &grammar, "--lexer", &lexer, "--keywords", &table, &input];
        assert_eq!(text(&args), "s/1\n SHOW = \"show\"\n NAME = \"shows\"\n", "{name}");
        let loud = files.file("loud", "SHOW x");
        let args = ["parse", &grammar, "--lexer", &lexer, "--keywords", &table, &loud];
        assert_eq!(pleach(&args).status.code(), Some(1), "{name}");
        assert!(text(&[&args[..], &["--caseless-keywords"]].concat()).contains("SHOW"), "{name}");
        let check = pleach(&["check", &grammar, "--lexer", &lexer, "--keywords", &table]);
        let report = String::from_utf8_lossy(&check.stdout).into_owned();
        assert!(report.contains("this table has 2 keywords"), "{report}");
    }
    let wrong = files.file("wrong", "show SHOW\ndrop DORP\n");
    let args = ["check", &grammar, "--lexer", &lexer, "--keywords", &wrong];
    refuses(&args, &["wrong:2:1", "the grammar has no token DORP"]);
}

#[test]
fn reduce_keeps_an_input_for_which_the_command_succeeds() {
    let (files, json) = (Files::new(), &grammars("json.ebnf"));
    let input = files.file("input", "{\"a\":[1,true,{\"b\":null}],\"c\":[[]]}");
    let smaller = text(&["reduce", json, &input, "--", "grep", "-q", "null"]);
    assert_eq!(smaller, "null");
    refuses(
        &["reduce", json, &input, "--", "false"],
        &["the command fails on the unchanged input"],
    );
    refuses(&["reduce", json, &input, "--", "/no/such/command"], &["/no/such/command"]);
}

#[test]
fn check_reports_problems_and_convert_writes_every_form() {
    let (files, calc) = (Files::new(), &grammars("simplecalc.ebnf"));
    let report = text(&["check", calc]);
    assert!(report.contains("e is left-recursive") && report.contains("productions      11"));
    let bad = files.file("bad.ebnf", "s ::= s | \"a\" | t\nt ::= \"b\"\nu ::= u \"c\"\n");
    let out = pleach(&["check", &bad]);
    assert_eq!(out.status.code(), Some(1));
    let report = String::from_utf8_lossy(&out.stdout);
    assert!(report.contains("bad.ebnf:1:1: warning: s derives itself"), "{report}");
    assert!(report.contains("bad.ebnf:3:1: warning: u derives no finite text"), "{report}");
    refuses(&["count", &bad], &["bad.ebnf:1:1", "infinitely many derivations"]);
    for form in ["ebnf", "g4", "json", "hampi"] {
        assert!(!text(&["convert", calc, "--to", form]).is_empty());
    }
    assert!(text(&["symbolic", calc]).contains("e: α\n"));
}

#[test]
fn bad_grammars_are_refused() {
    let files = Files::new();
    let undefined = files.file("undefined.ebnf", "s ::= \"a\" nowhere\n");
    refuses(&["check", &undefined], &["undefined.ebnf:1:11", "nowhere"]);
    let empty = files.file("empty.ebnf", "s ::= \"a\" s\n");
    refuses(&["sample", &empty], &["empty.ebnf:1:1", "the language is empty"]);
    refuses(&["count", "/no/such/file"], &["/no/such/file"]);
    let calc = &grammars("simplecalc.ebnf");
    refuses(&["count", calc, "--max-length", "100000"], &["the limit is 4096"]);
}

#[test]
fn flags_select_precedence_distinct_strings_and_near_completions() {
    let files = Files::new();
    let sums = "%token N\n%left '+'\n%left '*'\n%%\ne: e '+' e | e '*' e | N;\n";
    let sums = &files.file("sums.y", sums);
    let count = |flags: &[&str]| {
        let args = [&["count", sums, "--max-length", "5", "--unit", "tokens"], flags].concat();
        text(&args).lines().last().expect("a line").trim().to_owned()
    };
    assert_eq!(count(&[]), "5  8  11");
    assert_eq!(count(&["--precedence", "keep"]), "5  8  11");
    assert_eq!(count(&["--precedence", "drop"]), "5  4  7");
    assert_eq!(count(&["--distinct"]), "5  4  7");
    let numbers = &files.file("numbers.ebnf", "e ::= e '+' e | 'n'\n");
    let enumerate = |flags: &[&str]| {
        let args = [&["enumerate", numbers, "--max-length", "5"], flags].concat();
        text(&args).lines().filter(|l| *l == "n+n+n").count()
    };
    assert_eq!((enumerate(&[]), enumerate(&["--distinct"])), (2, 1));
    assert_eq!(text(&["complete", sums, "--tokens", "N '+'"]), "N + N\n");
    let near = ["complete", sums, "--tokens", "N '+'", "--near", "N '*' N"];
    assert_eq!(text(&near), "N + N * N\n");
}
