//! Grammars beside their expected import: each file of `tests/good` with what
//! became of it, each of `tests/bad` with the message that it gets. A lexer lies
//! beside its parser under the same name. `UPDATE_EXPECT=1` writes what is
//! expected; the difference is then read by a person.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use pleach_grammar::{Grammar, Pattern, Precedence, Regex};
use pleach_import::{Ambiguity, Options};

#[test]
fn good_files_become_what_is_expected() {
    check("good", |path, lexer| match pleach_import::load(path, lexer) {
        Ok(grammar) => render(&grammar),
        Err(problem) => format!("error: {problem}\n"),
    });
}

#[test]
fn bad_files_get_one_message_with_a_place() {
    check("bad", |path, lexer| match pleach_import::load(path, lexer) {
        Ok(grammar) => format!("not an error:\n{}", render(&grammar)),
        Err(problem) => {
            let message = problem.to_string();
            assert_eq!(message.lines().count(), 1, "{message}");
            format!("{message}\n")
        }
    });
}

#[test]
fn precedence_becomes_part_of_the_grammar_on_request() {
    let path = dir("good").join("calc.y");
    let lexer = path.with_extension("l");
    let drop = Options { ambiguity: Ambiguity::Drop, ..Options::default() };
    let grammar = pleach_import::load_with(&path, Some(&lexer), &drop).unwrap();
    let kept = pleach_import::load(&path, Some(&lexer)).unwrap();
    assert!(grammar.rules.len() > kept.rules.len());
    compare(&path.with_file_name("calc.y.drop.expected"), &render(&grammar));
}

fn dir(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(kind)
}

fn check(kind: &str, import: impl Fn(&Path, Option<&Path>) -> String) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir(kind)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut seen = 0;
    for path in paths.iter().filter(|path| !path.to_string_lossy().ends_with(".expected")) {
        let lexer = ["l", "tokens"].map(|extension| path.with_extension(extension));
        let lexer = lexer.iter().find(|lexer| *lexer != path && lexer.is_file());
        let parser = path.extension().is_some_and(|extension| extension == "y");
        let got = import(path, lexer.filter(|_| parser && kind == "good").map(PathBuf::as_path));
        // Messages name the path as it was given; here that is nobody's business.
        let got = got.replace(&format!("{}/", dir(kind).display()), "");
        let expected = PathBuf::from(format!("{}.expected", path.display()));
        compare(&expected, &got);
        seen += 1;
    }
    assert!(seen > 10, "only {seen} files in {}", dir(kind).display());
}

fn compare(expected: &Path, got: &str) {
    let got = got.replace(&format!("{}/", dir("good").display()), "");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(expected, got).unwrap();
        return;
    }
    let wanted = fs::read_to_string(expected).unwrap_or_default();
    assert_eq!(got, wanted, "{} is not as expected", expected.display());
}

fn render(grammar: &Grammar) -> String {
    let mut out = String::new();
    writeln!(out, "{}, start {}", grammar.language, grammar.rule(grammar.start).name).unwrap();
    for token in &grammar.tokens {
        let number = token.number.map_or(String::new(), |number| format!(" {number}"));
        let precedence = show_precedence(token.precedence);
        let pattern = match &token.pattern {
            Pattern::Literal(text) => format!("\"{}\"", text.escape_ascii()),
            Pattern::Regex(regex) => show(regex),
            Pattern::Unknown => "?".into(),
        };
        writeln!(out, "token {}{number}{precedence} = {pattern}", token.name).unwrap();
    }
    for separator in &grammar.separators {
        writeln!(out, "separator {} = {}", separator.name, show(&separator.pattern)).unwrap();
    }
    for id in grammar.production_ids() {
        let production = grammar.production(id);
        let label = production.label.as_ref().map_or(String::new(), |label| format!(" #{label}"));
        let weight = match production.weight {
            1.0 => String::new(),
            weight => format!(" weight {weight}"),
        };
        let precedence = show_precedence(production.precedence);
        let place = &production.place;
        let shown = grammar.show(id);
        writeln!(out, "{}:{} {shown}{precedence}{label}{weight}", place.line, place.column)
            .unwrap();
    }
    for note in &grammar.notes {
        writeln!(out, "{note}").unwrap();
    }
    out
}

fn show_precedence(precedence: Option<Precedence>) -> String {
    precedence.map_or(String::new(), |p| format!(" <{} {:?}>", p.level, p.assoc))
}

fn show(regex: &Regex) -> String {
    match regex {
        Regex::Empty => "()".into(),
        Regex::Class(set) if set.len() > 128 => format!("^{:?}", set.complement()),
        Regex::Class(set) => format!("{set:?}"),
        Regex::Concat(parts) => parts.iter().map(show).collect(),
        Regex::Alt(parts) => {
            format!("({})", parts.iter().map(show).collect::<Vec<_>>().join("|"))
        }
        Regex::Repeat { inner, min, max } => {
            let max = max.map_or(String::new(), |max| max.to_string());
            format!("({}){{{min},{max}}}", show(inner))
        }
    }
}
