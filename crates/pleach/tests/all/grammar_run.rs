//! `pleach run -g`: the strings of a symbolic grammar, searched one by one, and
//! sentences drawn from a grammar.

use crate::common::Program;
use crate::common::campaign::Ended;
use std::collections::BTreeSet;

/// A calculator with one-character tokens, a table instead of a lexer, and no check
/// of the divisor.
const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static char in[16];
static int at;
static long sum(void);
static long unary(void) {
    int c = in[at++];
    if (c == '-') return -unary();
    if (c == '(') { long v = sum(); if (in[at++] != ')') exit(3); return v; }
    if (c >= '0' && c <= '9') return c - '0';
    exit(3);
}
static long product(void) {
    long v = unary();
    for (;;) {
        if (in[at] == '*') { at++; v *= unary(); }
        else if (in[at] == '/') { at++; v /= unary(); }
        else return v;
    }
}
static long sum(void) {
    long v = product();
    for (;;) {
        if (in[at] == '+') { at++; v += product(); }
        else return v;
    }
}
int main(void) {
    fread(in, 1, sizeof in - 1, stdin);
    long v = sum();
    if (in[at] != 0) return 3;
    if (v == 7) puts("seven");
    return 0;
}
"#;
const GRAMMAR: &str =
    "e ::= '(' e ')' | e '*' e | e '/' e | e '+' e | '-' e | digit\ndigit ::= [0-9]\n";

fn program() -> Program {
    let program = Program::new(SOURCE);
    program.file("calc.ebnf", GRAMMAR.as_bytes());
    program
}

fn cese(program: &Program, out: &str, flags: &[&str]) -> Ended {
    let flags = [&["-s", "cese", "-g", "calc.ebnf"], flags].concat();
    program.campaign(out, &flags)
}

#[test]
fn every_string_is_searched_to_its_end() {
    let program = program();
    let ended = cese(&program, "out", &["--max-length", "3"]);
    assert_eq!(ended.stop(), "exhausted", "{}", ended.stats);
    // a, -a, (a), --a, a*a, a/a, a+a
    assert_eq!(ended.count("derived"), 7, "{}", ended.stats);
    assert_eq!(ended.count("crashes"), 1, "{}", ended.stats);
    assert!(ended.crashes()[0].ends_with(b"/0"), "{:?}", ended.crashes());
    // Every input is of the grammar, and what an answer can be was found.
    for bytes in ended.files("queue").values() {
        let parsed = program.run(&["grammar", "parse", "calc.ebnf", "-"], bytes);
        assert!(parsed.status.success(), "{}", String::from_utf8_lossy(bytes));
    }
    let same = cese(&program, "again", &["--max-length", "3"]);
    assert_eq!(ended.queue(), same.queue());
}

/// All valid inputs, one by one, take the paths that the strings have: these are all of
/// the grammar, so as many are the same.
#[test]
fn the_paths_are_those_of_all_valid_inputs() {
    let program = program();
    let digits = GRAMMAR.replace("[0-9]", "[057]");
    program.file("calc.ebnf", digits.as_bytes());
    program.file("digits.ebnf", GRAMMAR.as_bytes());
    let strings = cese(&program, "out", &["--max-length", "3"]);
    let all = program.text(&["grammar", "enumerate", "calc.ebnf", "--max-length", "3"], b"");
    let inputs: Vec<&str> = all.lines().filter(|l| !l.is_empty() && l.len() <= 3).collect();
    assert_eq!(inputs.len(), 4 * 3 + 3 * 9, "{all}");
    let path = |input: &[u8]| program.text(&["explain", "-", "--", "./prog"], input);
    let paths: BTreeSet<String> = inputs.iter().map(|i| path(i.as_bytes())).collect();
    assert_eq!(strings.count("paths"), paths.len() as u64, "{paths:#?}");
    assert_eq!(strings.stop(), "exhausted", "{}", strings.stats);
    // Where a search of all bytes has found an input of the grammar, whatever digits it
    // chose, its path is one of them.
    let dfs = program.campaign("dfs", &["-s", "dfs", "--len", "3", "--max-len", "3"]);
    assert_eq!(dfs.stop(), "exhausted", "{}", dfs.stats);
    let mut valid = 0;
    for input in dfs.queue() {
        if program.run(&["grammar", "parse", "digits.ebnf", "-"], &input).status.success() {
            valid += 1;
            assert!(paths.contains(&path(&input)), "{}", String::from_utf8_lossy(&input));
        }
    }
    assert!(valid > 0, "{:?}", dfs.files("queue"));
}

/// A search of strings that was interrupted ends as one that was not.
#[test]
fn strings_are_gone_on_with() {
    let program = program();
    let whole = cese(&program, "whole", &["--max-length", "6"]);
    assert_eq!(whole.stop(), "exhausted", "{}", whole.stats);
    let mut ended = cese(&program, "out", &["--max-length", "6", "-n", "25"]);
    let mut parts = 0;
    while ended.stop() == "runs" {
        parts += 1;
        let runs = (ended.count("runs") + 150).to_string();
        ended = program.resume("out", &["-n", &runs]);
    }
    assert!(parts > 2, "it ended too early: {}", ended.stats);
    assert_eq!(ended.stop(), "exhausted", "{}", ended.stats);
    for what in ["paths", "crashes", "branches.covered"] {
        assert_eq!(ended.count(what), whole.count(what), "{what}: {}", ended.stats);
    }
    // Each is derived once, but for those under way when it ended.
    let (derived, once) = (ended.count("derived"), whole.count("derived"));
    assert!(derived >= once && derived <= once + parts, "{derived} of {once}");
    for bytes in ended.queue() {
        let parsed = program.run(&["grammar", "parse", "calc.ebnf", "-"], &bytes);
        assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&bytes));
    }
}

/// Of a seed the tokens that are holes elsewhere may change, and nothing of one that the
/// grammar does not have.
#[test]
fn seeds_among_strings_are_parsed() {
    let program = program();
    std::fs::create_dir(program.dir.path().join("seeds")).expect("a directory");
    program.file("seeds/good", b"((4))/(2+3)");
    program.file("seeds/no sentence", b"4//2");
    let ended = cese(&program, "out", &["-i", "seeds", "--max-length", "1"]);
    let notes = ended.stats["notes"].to_string();
    assert!(notes.contains("grammar does not derive one of the seeds"), "{notes}");
    assert_eq!(ended.stop(), "exhausted", "{}", ended.stats);
    let crash = ended.crashes().into_iter().next().expect("a division by zero");
    assert_eq!((crash.len(), &crash[..2], &crash[3..7]), (11, &b"(("[..], &b"))/("[..]));
    for bytes in ended.queue().iter().filter(|q| &q[..] != b"4//2") {
        let parsed = program.run(&["grammar", "parse", "calc.ebnf", "-"], bytes);
        assert!(parsed.status.success(), "{}", String::from_utf8_lossy(bytes));
    }
}

/// What people can say of the strings.
#[test]
fn strings_are_bounded_and_made_as_told() {
    let program = program();
    let derived = |out: &str, flags: &[&str]| {
        let ended = cese(&program, out, flags);
        assert_eq!(ended.stop(), "exhausted", "{flags:?}: {}", ended.stats);
        ended.count("derived")
    };
    let all = derived("all", &["--max-length", "3"]);
    assert_eq!(derived("tokens", &["--max-length", "3", "--tokens"]), all);
    assert!(derived("low", &["--max-length", "3", "--max-height", "2"]) < all);
    // A hole for each digit, as without a word; and any number of digits, of which the
    // program takes one.
    assert_eq!(derived("one", &["--max-length", "3", "--one", "digit"]), all);
    assert!(derived("many", &["--max-length", "3", "--many", "digit"]) > all);
    // Each digit a string of its own.
    assert!(derived("keep", &["--max-length", "1", "--keep", "digit"]) == 10);
}

#[test]
fn a_string_can_be_given_up() {
    let program = program();
    let ended = cese(&program, "out", &["--max-length", "3", "--per-string", "1"]);
    assert_eq!(ended.stop(), "exhausted-partial", "{}", ended.stats);
    assert!(ended.stats["partial"]["left out"].as_u64() > Some(0), "{}", ended.stats);
}

#[test]
fn without_a_bound_strings_grow_until_the_budget_ends() {
    let program = program();
    let ended = cese(&program, "out", &["-n", "300"]);
    assert_eq!(ended.stop(), "runs", "{}", ended.stats);
    assert!(ended.count("derived") > 7, "{}", ended.stats);
}

#[test]
fn sentences_are_drawn_as_seeds_and_on_their_own() {
    let program = program();
    for strategy in ["gbb", "blackbox", "generational", "auto"] {
        let flags = ["-s", strategy, "-g", "calc.ebnf", "-n", "3000"];
        let ended = program.campaign(strategy, &flags);
        let derived = ended.count("derived") > 0;
        assert_eq!(derived, ["gbb", "auto"].contains(&strategy), "{strategy}: {}", ended.stats);
        let queue = ended.queue();
        let valid = queue.iter().filter(|bytes| {
            program.run(&["grammar", "parse", "calc.ebnf", "-"], bytes).status.success()
        });
        let (valid, all) = (valid.count(), queue.len());
        assert!(valid > 0 && (strategy != "gbb" || valid == all), "{strategy}: {valid} of {all}");
    }
}

/// A parser whose lexer finds keywords by a hash.
const WORDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
enum { END, NAME = 258, IF, THEN, ELSE };
static char text[64];
static unsigned hash(const char *s) {
    unsigned h = 2166136261u;
    while (*s) h = (h ^ (unsigned char)*s++) * 16777619u;
    return h;
}
int yylex(void) {
    int c = getchar(), n = 0;
    while (c == ' ') c = getchar();
    if (c == EOF) return END;
    if (c < 'a' || c > 'z') return c;
    while (c >= 'a' && c <= 'z') { if (n < 63) text[n++] = c; c = getchar(); }
    ungetc(c, stdin);
    text[n] = 0;
    switch (hash(text)) {
    case 0x39386e06u: return IF;
    case 0xe522e976u: return THEN;
    case 0xbdbf5bf0u: return ELSE;
    }
    return NAME;
}
static int token;
static void want(int t) { if (token != t) exit(1); token = yylex(); }
static void statement(void) {
    if (token == IF) {
        token = yylex();
        want(NAME);
        want(THEN);
        statement();
        if (token == ELSE) { token = yylex(); statement(); puts("both"); }
    } else {
        if (text[0] == 'q' && text[1] == 'z') puts("a name of its own");
        want(NAME);
    }
}
int main(void) { token = yylex(); statement(); return token != END; }
"#;
const SENTENCES: &str = "s ::= 'if' name 'then' s | 'if' name 'then' s 'else' s | name\n\
                         name ::= [a-z]+\nspace ::= ' '+\n@skip space\n";

#[test]
fn flips_over_tokens_are_completed_by_the_grammar() {
    let program = Program::new(WORDS);
    program.file("words.ebnf", SENTENCES.as_bytes());
    std::fs::create_dir(program.dir.path().join("seeds")).expect("a directory");
    program.file("seeds/one", b"abc");
    let run = |strategy: &str, out: &str| {
        let flags = ["-i", "seeds", "-s", strategy, "-g", "words.ebnf", "-n", "300"];
        program.campaign(out, &flags)
    };
    let ended = run("gbw", "gbw");
    assert_eq!((ended.count("mismatched"), ended.count("diverged")), (0, 0), "{}", ended.stats);
    let queue = ended.queue();
    let said = |word: &str| queue.iter().any(|q| String::from_utf8_lossy(q).contains(word));
    assert!(said("if") && said("then") && said("else"), "{:?}", ended.files("queue"));
    assert!(said("qz"), "the text of a token is solved for, too: {:?}", ended.files("queue"));
    assert!(ended.count("derived") > 0, "{}", ended.stats);
    for bytes in &queue {
        let parsed = program.run(&["grammar", "parse", "words.ebnf", "-"], bytes);
        assert!(parsed.status.success(), "{}", String::from_utf8_lossy(bytes));
        let run = program.run(&["exec", "--half", "fast", "--", "./prog"], bytes);
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(bytes));
    }
    let has = |ended: &Ended, word: &[u8]| {
        ended.queue().iter().any(|q| q.windows(word.len()).any(|w| w == word))
    };
    // Without the grammar some flips end in a syntax error.
    let plain = run("whitebox-tokens", "plain");
    assert!(has(&plain, b"if"), "{:?}", plain.files("queue"));
    let valid = |bytes: &&Vec<u8>| {
        program.run(&["grammar", "parse", "words.ebnf", "-"], bytes).status.success()
    };
    assert!(plain.queue().iter().filter(valid).count() < plain.queue().len());
}

/// Decisions on two tokens at once, and on a token and a text at once.
const TOGETHER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
enum { END, NAME = 258, UP, DOWN, LEFT, RIGHT };
static int first;
int yylex(void) {
    int c = getchar();
    if (c == EOF) return END;
    if (c == 'U') return UP;
    if (c == 'D') return DOWN;
    if (c == 'L') return LEFT;
    if (c == 'R') return RIGHT;
    first = c;
    while ((c = getchar()) >= 'a' && c <= 'z') ;
    ungetc(c, stdin);
    return NAME;
}
int main(void) {
    int name = yylex(), a = yylex(), b = yylex(), end = yylex();
    if (name != NAME || a < UP || a > RIGHT || b < UP || b > RIGHT || end != END) return 1;
    if (a * 8 + b == LEFT * 8 + RIGHT) puts("sideways");
    if ((b == DOWN) & (first == 'z')) puts("far down");
    return 0;
}
"#;

#[test]
fn one_flip_may_change_an_earlier_token_or_tokens_and_texts_together() {
    let program = Program::new(TOGETHER);
    program.file(
        "moves.ebnf",
        b"s ::= name dir dir\ndir ::= 'U' | 'D' | 'L' | 'R'\nname ::= [a-z]+\n",
    );
    std::fs::create_dir(program.dir.path().join("seeds")).expect("a directory");
    program.file("seeds/one", b"abUR");
    let flags = ["-i", "seeds", "-s", "gbw", "-g", "moves.ebnf", "-n", "200"];
    let ended = program.campaign("out", &flags);
    let queue = ended.queue();
    let text: Vec<_> = queue.iter().map(|q| String::from_utf8_lossy(q).into_owned()).collect();
    assert!(text.iter().any(|t| t.ends_with("LR")), "{text:?} {}", ended.stats);
    let far_down = |t: &String| t.starts_with('z') && t.ends_with('D');
    assert!(text.iter().any(far_down), "{text:?} {}", ended.stats);
    assert_eq!(ended.count("diverged"), 0, "{}", ended.stats);
}

#[test]
fn what_the_program_rejects_and_what_the_grammar_lacks_is_said() {
    let program = Program::new(WORDS);
    // It derives a sum, which the program does not take; it has `else` only where the
    // program does not.
    let grammar = "s ::= 'if' name 'then' s | name | name '+' name | 'else' name\n\
                   name ::= [a-z]+\nspace ::= ' '+\n@skip space\n";
    program.file("near.ebnf", grammar.as_bytes());
    let ended = program.campaign("out", &["-s", "gbw", "-g", "near.ebnf", "-n", "400"]);
    let tokens = &ended.stats["tokens"];
    let places = tokens["rejected_at"].as_object().expect("places");
    assert!(places.keys().any(|p| p.contains("+")), "{}", ended.stats);
    assert!(tokens["accepted"].as_u64() > Some(0), "{}", ended.stats);
    let hints = tokens["hints"].as_object().expect("hints");
    let lacks = |(what, example): (&String, &serde_json::Value)| {
        what.contains("else") && example.as_str().is_some_and(|e| e.contains("then"))
    };
    assert!(hints.iter().any(lacks), "{}", ended.stats);
    assert_eq!(ended.stats["notes"].as_array().map(Vec::len), Some(0), "{}", ended.stats);
}

/// None of its sentences is one of the program's.
const OTHER: &str = "s ::= name 'if' s | name 'then' name 'else' name\n\
                     name ::= [a-z]+\nspace ::= ' '+\n@skip space\n";

#[test]
fn a_grammar_that_does_not_fit_is_told_from_one_that_does() {
    let program = Program::new(WORDS);
    program.file("other.ebnf", OTHER.as_bytes());
    let ended = program.campaign("out", &["-s", "gbw", "-g", "other.ebnf", "-n", "300"]);
    let notes = ended.stats["notes"].to_string();
    assert!(notes.contains("does not fit") && notes.contains("gave up after"), "{notes}");
}

/// Also by searches that do not work on tokens.
#[test]
fn a_grammar_is_tried_before_sentences_are_derived_from_it() {
    let program = Program::new(WORDS);
    program.file("other.ebnf", OTHER.as_bytes());
    program.file("words.ebnf", SENTENCES.as_bytes());
    for strategy in ["cese", "gbb"] {
        let notes = |grammar: &str| {
            let out = format!("{strategy}-{grammar}");
            let ended = program.campaign(&out, &["-s", strategy, "-g", grammar, "-n", "20"]);
            ended.stats["notes"].to_string()
        };
        let other = notes("other.ebnf");
        assert!(other.contains("does not fit") && other.contains("nothing after"), "{other}");
        assert_eq!(notes("words.ebnf"), "[]");
    }
}

/// The lexer takes a word for another token than the grammar does.
#[test]
fn tokens_that_are_others_are_counted_by_cause() {
    let source = WORDS.replace("return NAME;\n}", "return n == 3 ? IF : NAME;\n}");
    let program = Program::new(&source);
    program.file("words.ebnf", SENTENCES.as_bytes());
    std::fs::create_dir(program.dir.path().join("seeds")).expect("a directory");
    program.file("seeds/one", b"a");
    program.file("seeds/three", b"abc");
    let flags = ["-i", "seeds", "-s", "gbw", "-g", "words.ebnf", "-n", "100"];
    let ended = program.campaign("out", &flags);
    let causes = ended.stats["mismatched_by"].as_object().expect("causes");
    assert!(ended.count("mismatched") > 0, "{}", ended.stats);
    assert!(causes.keys().any(|c| c.contains("name is 259")), "{causes:?}");
}

#[test]
fn a_token_function_that_nobody_calls_is_said_at_once() {
    let source = WORDS.replace(
        "int main(void) {",
        "int main(void) { if (getchar() != 7) return 1; ungetc('a', stdin);",
    );
    let program = Program::new(&source);
    program.file("words.ebnf", SENTENCES.as_bytes());
    let ended = program.campaign("out", &["-s", "gbw", "-g", "words.ebnf", "-n", "10"]);
    let notes = ended.stats["notes"].to_string();
    assert!(notes.contains("yylex returned no token"), "{notes}");
}

#[test]
fn auto_with_a_grammar_works_on_tokens_and_on_parts_too() {
    let program = Program::new(WORDS);
    program.file("words.ebnf", SENTENCES.as_bytes());
    let run = |out: &str| program.campaign(out, &["-g", "words.ebnf", "-n", "4000"]);
    let ended = run("one");
    let tokens = ended.stats["flips"]["by_tier"]["tokens"].as_u64();
    assert!(tokens > Some(0) && ended.count("grafted") > 0, "{}", ended.stats);
    assert!(ended.count("derived") > 0, "{}", ended.stats);
    let reached: u64 = ended.stats["modules"]
        .as_object()
        .and_then(|m| m.values().next()?["reached"].as_u64())
        .expect("a module");
    assert_eq!(reached, ended.count("runs"), "{}", ended.stats);
    assert_eq!(ended.queue(), run("two").queue(), "the same seed gives the same queue");
}

#[test]
fn what_a_person_gets_wrong() {
    let program = program();
    let refused = |flags: &[&str], message: &str| {
        let mut command = program.command(&["run", "-o", "never"]);
        let done = command.args(flags).args(["--", "./prog"]).output().expect("it runs");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains(message), "{said}");
        assert!(!program.dir.path().join("never").exists());
    };
    refused(&["-s", "cese"], "needs -g");
    refused(&["-s", "gbb"], "needs -g");
    refused(&["-s", "gbw", "-g", "calc.ebnf"], "known to return tokens");
    refused(&["-s", "cese", "-g", "no-such.y"], "no-such.y");
    refused(&["-s", "cese", "-g", "calc.ebnf", "--keep", "WORD"], "no token WORD");
    refused(&["-s", "cese", "-g", "calc.ebnf", "--max-length", "0"], "--max-length");
    program.file("broken.ebnf", b"e ::= f 'x'\n");
    refused(&["-s", "cese", "-g", "broken.ebnf"], "broken.ebnf:1");
}

/// The scanner looks its keywords up; a file says which they are.
#[test]
fn keywords_that_are_given_are_in_every_sentence() {
    let p = Program::new(
        "#include <stdio.h>\nint main(void) { int c = getchar(); return c == 's' || c == 'd'; }\n",
    );
    p.file("c.y", b"%token SHOW DROP NAME\n%%\ns: SHOW NAME | DROP NAME ';' ;\n");
    p.file("c.tokens", b"NAME [a-z]+\n';' \";\"\n%skip [ ]+\n");
    p.file("words", b"show SHOW\ndrop DROP\n");
    let grammar = ["-g", "c.y", "--lexer", "c.tokens", "--keywords", "words"];
    let how = ["run", "-s", "gbb", "-o", "out", "-n", "12"];
    p.text(&[&how[..], &grammar, &["--", "./prog"]].concat(), b"");
    let queue = std::fs::read_dir(p.dir.path().join("out/queue")).expect("a queue");
    let inputs: Vec<_> = queue
        .map(|entry| std::fs::read(entry.expect("a file").path()).expect("readable"))
        .collect();
    let is_sentence = |bytes: &Vec<u8>| bytes.starts_with(b"show ") || bytes.starts_with(b"drop ");
    assert!(!inputs.is_empty() && inputs.iter().all(is_sentence), "{inputs:?}");
    // A campaign that is resumed has them, too.
    p.text(&["run", "-i", "-", "-o", "out", "-n", "14"], b"");
}
