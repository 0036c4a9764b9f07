//! Grammar files beside their expected import, one test a file.
//!
//! `tests/good/x.y` becomes the grammar in `tests/good/x.y.expected`; `tests/bad/x.y`
//! gets the message in `tests/bad/x.y.expected`. To add a test, add a file.
//! `UPDATE_EXPECT=1` writes the expected text; read the difference before you commit it.
//!
//! A yacc file of `tests/good` is read with the lexer beside it: `x.l` or `x.tokens`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use pleach_grammar::{Grammar, Pattern, Precedence, Regex};
use pleach_import::{Ambiguity, ImportError, Options};

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for path in grammar_files("good") {
        trials.push(trial("good", &path, check_good));
    }
    for path in grammar_files("bad") {
        trials.push(trial("bad", &path, check_bad));
    }
    trials.push(Trial::test("good/calc.y with precedence dropped", check_drop));
    trials.sort_by(|a, b| a.name().cmp(b.name()));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(kind: &str, path: &Path, check: fn(&Path) -> Result<(), Failed>) -> Trial {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let path = path.to_owned();
    Trial::test(format!("{kind}/{name}"), move || check(&path))
}

fn check_good(path: &Path) -> Result<(), Failed> {
    let lexer = ["l", "tokens"].map(|extension| path.with_extension(extension));
    let lexer = lexer.iter().find(|lexer| lexer.is_file());
    let is_parser = path.extension().is_some_and(|extension| extension == "y");
    let lexer = lexer.filter(|_| is_parser).map(PathBuf::as_path);
    let grammar = pleach_import::load(path, lexer).map_err(|problem| shown(path, &problem))?;
    compare(path, ".expected", &render(&grammar))
}

fn check_bad(path: &Path) -> Result<(), Failed> {
    match pleach_import::load(path, None) {
        Ok(_) => Err("the file is imported, and should be refused".into()),
        Err(problem) => {
            let message = shown(path, &problem);
            if message.lines().count() != 1 {
                return Err(format!("the message is not one line: {message}").into());
            }
            compare(path, ".expected", &format!("{message}\n"))
        }
    }
}

/// `--precedence drop`: the operators of `calc.y` become rules of their own.
fn check_drop() -> Result<(), Failed> {
    let path = folder("good").join("calc.y");
    let lexer = path.with_extension("l");
    let drop = Options { ambiguity: Ambiguity::Drop, ..Options::default() };
    let grammar = pleach_import::load_with(&path, Some(&lexer), &drop)?;
    let kept = pleach_import::load(&path, Some(&lexer))?;
    assert!(grammar.rules.len() > kept.rules.len());
    compare(&path, ".drop.expected", &render(&grammar))
}

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(kind)
}

fn grammar_files(kind: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(kind)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let paths: Vec<PathBuf> =
        paths.filter(|path| !path.to_string_lossy().ends_with(".expected")).collect();
    assert!(paths.len() > 10, "only {} files in {}", paths.len(), folder(kind).display());
    paths
}

/// A message without the folder that the file is in.
fn shown(path: &Path, problem: &ImportError) -> String {
    without_folder(path, &problem.to_string())
}

fn without_folder(path: &Path, text: &str) -> String {
    let folder = path.parent().expect("a folder");
    text.replace(&format!("{}/", folder.display()), "")
}

/// Compares with the file that is named as `path` and ends in `suffix`, or writes it.
fn compare(path: &Path, suffix: &str, got: &str) -> Result<(), Failed> {
    let got = without_folder(path, got);
    let expected = PathBuf::from(format!("{}{suffix}", path.display()));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(expected, got)?;
        return Ok(());
    }
    let wanted = fs::read_to_string(&expected).unwrap_or_default();
    if got == wanted {
        return Ok(());
    }
    let name = expected.display();
    Err(format!("{name} differs.\nexpected:\n{wanted}\ngot:\n{got}").into())
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
