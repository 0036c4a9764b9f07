//! `pleach run -g`: the strings of a symbolic grammar, searched one by one, and sentences
//! that are derived from a grammar.

use crate::common::Program;
use crate::common::campaign::Ended;
use std::collections::BTreeSet;

/// A calculator with one-character tokens and no lexer. It does not check divisors.
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

fn assert_sentences(program: &Program, inputs: &[Vec<u8>], grammar: &str) {
    for input in inputs {
        assert!(program.is_sentence(grammar, input), "{}", String::from_utf8_lossy(input));
    }
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
    assert_sentences(&program, &ended.queue(), "calc.ebnf");
    let same = cese(&program, "again", &["--max-length", "3"]);
    assert_eq!(ended.queue(), same.queue());
}

/// The search runs only valid inputs. So if it has as many paths as all valid inputs
/// together, these are the same paths.
#[test]
fn the_search_of_strings_finds_the_paths_of_all_valid_inputs() {
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
    // If a search of all bytes finds an input of the grammar, with any digits, its path is
    // one of these.
    let dfs = program.campaign("dfs", &["-s", "dfs", "--len", "3", "--max-len", "3"]);
    assert_eq!(dfs.stop(), "exhausted", "{}", dfs.stats);
    let mut valid = 0;
    for input in dfs.queue() {
        if program.is_sentence("digits.ebnf", &input) {
            valid += 1;
            assert!(paths.contains(&path(&input)), "{}", String::from_utf8_lossy(&input));
        }
    }
    assert!(valid > 0, "{:?}", dfs.files("queue"));
}

#[test]
fn a_resumed_search_of_strings_ends_like_an_uninterrupted_one() {
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
    // Each string is derived once, or again if an interruption came while it was searched.
    let (derived, once) = (ended.count("derived"), whole.count("derived"));
    assert!(derived >= once && derived <= once + parts, "{derived} of {once}");
    assert_sentences(&program, &ended.queue(), "calc.ebnf");
}

/// A seed is parsed, and the tokens that are holes in a string may change. Nothing changes in
/// a seed that is no sentence.
#[test]
fn seeds_become_strings_if_the_grammar_has_them() {
    let program = program();
    program.seeds([("good", &b"((4))/(2+3)"[..]), ("no sentence", b"4//2")]);
    let ended = cese(&program, "out", &["-i", "seeds", "--max-length", "1"]);
    let notes = ended.stats["notes"].to_string();
    assert!(notes.contains("grammar does not derive one of the seeds"), "{notes}");
    assert_eq!(ended.stop(), "exhausted", "{}", ended.stats);
    let crash = ended.crashes().into_iter().next().expect("a division by zero");
    assert_eq!((crash.len(), &crash[..2], &crash[3..7]), (11, &b"(("[..], &b"))/("[..]));
    let mut queue = ended.queue();
    queue.retain(|input| input != b"4//2");
    assert_sentences(&program, &queue, "calc.ebnf");
}

#[test]
fn flags_bound_the_strings_and_choose_their_holes() {
    let program = program();
    let derived = |out: &str, flags: &[&str]| {
        let ended = cese(&program, out, flags);
        assert_eq!(ended.stop(), "exhausted", "{flags:?}: {}", ended.stats);
        ended.count("derived")
    };
    let all = derived("all", &["--max-length", "3"]);
    assert_eq!(derived("tokens", &["--max-length", "3", "--tokens"]), all);
    assert!(derived("low", &["--max-length", "3", "--max-height", "2"]) < all);
    // One hole for each digit is the default. With `--many` a hole has any number of digits,
    // of which the program reads one.
    assert_eq!(derived("one", &["--max-length", "3", "--one", "digit"]), all);
    assert!(derived("many", &["--max-length", "3", "--many", "digit"]) > all);
    // Each digit makes another string.
    assert!(derived("keep", &["--max-length", "1", "--keep", "digit"]) == 10);
}

#[test]
fn per_string_bounds_the_search_of_a_string() {
    let program = program();
    let ended = cese(&program, "out", &["--max-length", "3", "--per-string", "1"]);
    assert_eq!(ended.stop(), "exhausted-partial", "{}", ended.stats);
    assert!(ended.stats["partial"]["left out"].as_u64() > Some(0), "{}", ended.stats);
}

#[test]
fn without_a_bound_strings_grow_until_the_run_limit() {
    let program = program();
    let ended = cese(&program, "out", &["-n", "300"]);
    assert_eq!(ended.stop(), "runs", "{}", ended.stats);
    assert!(ended.count("derived") > 7, "{}", ended.stats);
}

#[test]
fn sentences_are_used_as_seeds_and_by_gbb_and_auto_later() {
    let program = program();
    for strategy in ["gbb", "blackbox", "generational", "auto"] {
        let flags = ["-s", strategy, "-g", "calc.ebnf", "-n", "1500"];
        let ended = program.campaign(strategy, &flags);
        let derived = ended.count("derived") > 0;
        assert_eq!(derived, ["gbb", "auto"].contains(&strategy), "{strategy}: {}", ended.stats);
        let queue = ended.queue();
        let valid = queue.iter().filter(|input| program.is_sentence("calc.ebnf", input));
        let (valid, all) = (valid.count(), queue.len());
        assert!(valid > 0 && (strategy != "gbb" || valid == all), "{strategy}: {valid} of {all}");
    }
}

/// A parser. Its lexer recognises keywords by a hash.
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
    program.seeds([("one", &b"abc"[..])]);
    let run = |strategy: &str, out: &str| {
        let flags = ["-i", "seeds", "-s", strategy, "-g", "words.ebnf", "-n", "300"];
        program.campaign(out, &flags)
    };
    let ended = run("gbw", "gbw");
    assert_eq!((ended.count("mismatched"), ended.count("diverged")), (0, 0), "{}", ended.stats);
    let queue = ended.queue();
    let has = |queue: &[Vec<u8>], word: &str| {
        queue.iter().any(|input| String::from_utf8_lossy(input).contains(word))
    };
    for keyword in ["if", "then", "else"] {
        assert!(has(&queue, keyword), "{keyword}: {:?}", ended.files("queue"));
    }
    assert!(has(&queue, "qz"), "no text of a token was solved for: {:?}", ended.files("queue"));
    assert!(ended.count("derived") > 0, "{}", ended.stats);
    assert_sentences(&program, &queue, "words.ebnf");
    for bytes in &queue {
        let run = program.run(&["exec", "--half", "fast", "--", "./prog"], bytes);
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(bytes));
    }
    // Without the grammar, some flips lead to syntax errors.
    let plain = run("whitebox-tokens", "plain").queue();
    assert!(has(&plain, "if"), "{plain:?}");
    let valid = plain.iter().filter(|input| program.is_sentence("words.ebnf", input));
    assert!(valid.count() < plain.len());
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
    program.seeds([("one", &b"abUR"[..])]);
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
fn differences_between_grammar_and_program_are_reported() {
    let program = Program::new(WORDS);
    // The program rejects the sum, and has `else` only where the grammar does not.
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

/// The program accepts none of its sentences.
const OTHER: &str = "s ::= name 'if' s | name 'then' name 'else' name\n\
                     name ::= [a-z]+\nspace ::= ' '+\n@skip space\n";

#[test]
fn a_grammar_of_another_language_gets_a_warning() {
    let program = Program::new(WORDS);
    program.file("other.ebnf", OTHER.as_bytes());
    let ended = program.campaign("out", &["-s", "gbw", "-g", "other.ebnf", "-n", "300"]);
    let notes = ended.stats["notes"].to_string();
    assert!(notes.contains("does not fit") && notes.contains("gave up after"), "{notes}");
}

/// Searches that do not use tokens try the grammar as well.
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

/// For words of three letters, the lexer returns another token than the grammar has.
#[test]
fn mismatched_tokens_are_counted_by_cause() {
    let source = WORDS.replace("return NAME;\n}", "return n == 3 ? IF : NAME;\n}");
    let program = Program::new(&source);
    program.file("words.ebnf", SENTENCES.as_bytes());
    program.seeds([("one", &b"a"[..]), ("three", b"abc")]);
    let flags = ["-i", "seeds", "-s", "gbw", "-g", "words.ebnf", "-n", "100"];
    let ended = program.campaign("out", &flags);
    let causes = ended.stats["mismatched_by"].as_object().expect("causes");
    assert!(ended.count("mismatched") > 0, "{}", ended.stats);
    assert!(causes.keys().any(|c| c.contains("name is 259")), "{causes:?}");
}

#[test]
fn a_token_function_that_is_never_called_gets_a_warning() {
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
fn auto_with_a_grammar_flips_tokens_and_grafts_parts() {
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
fn mistakes_with_grammars_are_refused() {
    let program = program();
    program.file("broken.ebnf", b"e ::= f 'x'\n");
    for (flags, message) in [
        (&["-s", "cese"][..], "needs -g FILE"),
        (&["-s", "gbb"], "needs -g FILE"),
        (&["-s", "gbw", "-g", "calc.ebnf"], "known to return tokens"),
        (&["-s", "cese", "-g", "no-such.y"], "no-such.y"),
        (&["-s", "cese", "-g", "calc.ebnf", "--keep", "WORD"], "no token WORD"),
        (&["-s", "cese", "-g", "broken.ebnf"], "broken.ebnf:1"),
    ] {
        program.refuses(&[&["run", "-o", "never"], flags, &["--", "./prog"]].concat(), &[message]);
    }
    let flags = ["-s", "cese", "-g", "calc.ebnf", "--max-length", "0"];
    let args = [&["run", "-o", "never"], &flags[..], &["--", "./prog"]].concat();
    program.refuses_flag(&args, "--max-length");
}

/// The scanner has its keywords in a table, which a file gives to Pleach.
#[test]
fn keywords_from_a_file_are_in_every_sentence() {
    let p = Program::new(
        "#include <stdio.h>\nint main(void) { int c = getchar(); return c == 's' || c == 'd'; }\n",
    );
    p.file("c.y", b"%token SHOW DROP NAME\n%%\ns: SHOW NAME | DROP NAME ';' ;\n");
    p.file("c.tokens", b"NAME [a-z]+\n';' \";\"\n%skip [ ]+\n");
    p.file("words", b"show SHOW\ndrop DROP\n");
    let grammar = ["-g", "c.y", "--lexer", "c.tokens", "--keywords", "words"];
    let ended = p.campaign("out", &[&["-s", "gbb", "-n", "12"], &grammar[..]].concat());
    let inputs = ended.queue();
    let is_sentence = |bytes: &Vec<u8>| bytes.starts_with(b"show ") || bytes.starts_with(b"drop ");
    assert!(!inputs.is_empty() && inputs.iter().all(is_sentence), "{inputs:?}");
    // A resumed campaign still has them.
    assert!(p.resume("out", &["-n", "14"]).queue().iter().all(is_sentence));
}
