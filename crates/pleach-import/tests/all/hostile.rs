//! Importers on hostile files: random bytes, real files with pieces cut, doubled and
//! moved, deep nesting, endless expansion. They must end soon, with a grammar or with
//! one message, and never panic.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pleach_grammar::count::{Counts, Unit};
use pleach_import::{FORMATS, Format, ImportError, MAX_FILE};
use proptest::prelude::*;

/// File names that select each importer, and one for which the text decides.
fn names() -> Vec<String> {
    let extensions = FORMATS.iter().flat_map(|format| format.extensions);
    extensions.map(|extension| format!("x.{extension}")).chain(["unknown".into()]).collect()
}

/// For one file of a few kilobytes, in a debug build on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(60);

fn check_ends(name: &str, bytes: &[u8], lexer: Option<(&str, &[u8])>) {
    let start = Instant::now();
    let done = pleach_import::from_bytes(name, bytes, lexer);
    assert!(start.elapsed() < TIME_LIMIT, "{name}: {:?}", start.elapsed());
    match done {
        Ok(grammar) => {
            for production in &grammar.productions {
                assert!(production.rule.index() < grammar.rules.len());
            }
        }
        Err(problem) => {
            let message = problem.to_string();
            assert!(!message.is_empty() && message.lines().count() == 1, "{message:?}");
        }
    }
}

fn good_files() -> Vec<(String, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let paths = paths.into_iter().filter(|path| !path.to_string_lossy().ends_with(".expected"));
    let files = paths.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read(path).unwrap())
    });
    files.collect()
}

/// A change to a file; numbers are taken modulo its length.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize, usize),
    Double(usize, usize),
    Move(usize, usize, usize),
    Insert(usize, Vec<u8>),
    Truncate(usize),
}

fn apply(mut bytes: Vec<u8>, change: &Change) -> Vec<u8> {
    let length = bytes.len().max(1);
    let span = |at: usize, size: usize| {
        let start = at % length;
        start..(start + size % 40).min(bytes.len()).max(start.min(bytes.len()))
    };
    match change {
        Change::Cut(at, size) => drop(bytes.drain(span(*at, *size))),
        Change::Double(at, size) => {
            let span = span(*at, *size);
            let piece = bytes[span.clone()].to_vec();
            bytes.splice(span.start..span.start, piece);
        }
        Change::Move(at, size, to) => {
            let piece: Vec<u8> = bytes.drain(span(*at, *size)).collect();
            let to = to % (bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
        Change::Insert(at, piece) => {
            let at = at % (bytes.len() + 1);
            bytes.splice(at..at, piece.iter().copied());
        }
        Change::Truncate(at) => bytes.truncate(at % length),
    }
    bytes
}

fn change() -> impl Strategy<Value = Change> {
    // Words and characters that have a meaning in some format.
    let words = prop::sample::select(vec![
        &b"%%"[..],
        b"%{",
        b"%}",
        b"{",
        b"}",
        b"(",
        b")",
        b"[",
        b"]",
        b"[^",
        b"\"",
        b"'",
        b"\\",
        b"/*",
        b"*/",
        b"<",
        b">",
        b"::=",
        b"=",
        b"|",
        b"*",
        b"+?",
        b"{9999}",
        b"{,",
        b"->",
        b"more",
        b"#if",
        b"#endif",
        b"@token",
        b"%x41-",
        b"%prec",
        b"~",
        b"..",
        b"\xff",
        b"\0",
        b"\n",
        b";",
        b"\\u{",
        b"\\p{",
        b"-",
        b"999999999999999999999",
    ]);
    prop_oneof![
        any::<(usize, usize)>().prop_map(|(at, size)| Change::Cut(at, size)),
        any::<(usize, usize)>().prop_map(|(at, size)| Change::Double(at, size)),
        any::<(usize, usize, usize)>().prop_map(|(at, size, to)| Change::Move(at, size, to)),
        (any::<usize>(), words).prop_map(|(at, word)| Change::Insert(at, word.to_vec())),
        any::<usize>().prop_map(Change::Truncate),
    ]
}

proptest! {
    // The environment variable PROPTEST_CASES sets the number of cases.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_bytes(name in prop::sample::select(names()), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_ends(&name, &bytes, None);
    }

    #[test]
    fn random_words_of_grammars(
        name in prop::sample::select(names()),
        text in "(%%\n|%\\{|grammar x;|a|b|A|B|\"|'|:|;|=|::=|\\||\\(|\\)|\\[|\\]|\\{|\\}|<|>|\\*|\\+|-|/|\\\\|\n| |#|%x|[0-9]){0,80}",
    ) {
        check_ends(&name, text.as_bytes(), None);
    }

    #[test]
    fn real_files_with_changes(which in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..6)) {
        let files = good_files();
        let (name, bytes) = &files[which.index(files.len())];
        let bytes = changes.iter().fold(bytes.clone(), apply);
        check_ends(name, &bytes, None);
    }

    #[test]
    fn lexers_with_changes(changes in prop::collection::vec(change(), 1..6), tokens in any::<bool>()) {
        let files = good_files();
        let file = |name: &str| files.iter().find(|(other, _)| other == name).unwrap().1.clone();
        let (parser, name) = if tokens { ("hand.y", "hand.tokens") } else { ("calc.y", "calc.l") };
        let lexer = changes.iter().fold(file(name), apply);
        check_ends(parser, &file(parser), Some((name, &lexer)));
    }
}

/// Without an extension, the text shows the format, if the format supports that.
/// Declarations of yacc count from the second line on.
#[test]
fn formats_are_recognised_by_their_text() {
    for (name, bytes) in &good_files() {
        let by_name = Format::detect(name, bytes).unwrap();
        if !by_name.is_found_by_text() {
            continue;
        }
        let text = [b"\n", &bytes[..]].concat();
        let by_text = Format::detect("unknown", &text).map(|format| format.name);
        assert_eq!(by_text, Some(by_name.name), "{name}");
    }
}

#[test]
fn deep_nesting_is_imported_or_refused() {
    let deep = 100_000;
    let (open, close) = ("(".repeat(deep), ")".repeat(deep));
    let files = [
        ("x.y", format!("%%\na: {}x{} ;", "{".repeat(deep), "}".repeat(deep))),
        ("x.l", format!("%%\n{open}x{close} return X;\n")),
        ("x.l", format!("%x A\n%%\n{}\n", "<A>{\n".repeat(deep))),
        ("x.l", format!("%%\nx{} return X;\n", "?".repeat(deep))),
        ("x.g4", format!("grammar x; a : {open}'x'{close} ;")),
        ("x.g4", format!("grammar x; a : A ; A : {open}'x'{close} ;")),
        ("x.g4", format!("grammar x; a : A ; A : {}'x' ;", "~".repeat(deep))),
        ("x.ebnf", format!("a ::= {open}\"x\"{close}")),
        ("x.ebnf", format!("a ::= {}\"x\"", "x - ".repeat(deep))),
        ("x.ebnf", format!("a ::= \"x\"{}", "?".repeat(deep))),
        ("x.ebnf", format!("a = {open}\"x\"{close};")),
        ("x.ebnf", format!("a = {}\"x\"{};", "[".repeat(deep), "]".repeat(deep))),
        ("x.ebnf", format!("a = {}x;", "(*".repeat(deep))),
        ("x.abnf", format!("a = {open}\"x\"{close}")),
        ("x.json", format!("{}{}", "[".repeat(deep), "]".repeat(deep))),
        ("x.json", format!("{}1{}", "{\"rules\":".repeat(deep), "}".repeat(deep))),
        (
            "x.json",
            format!(
                "{{\"rules\":{{\"a\":{{\"type\":\"PATTERN\",\"value\":\"{open}x{close}\"}}}}}}"
            ),
        ),
        ("x.hmp", format!("cfg a := {open}\"x\"{close} ;")),
        ("x.tokens", format!("A {open}x{close}")),
    ];
    for (name, text) in files {
        check_ends(name, text.as_bytes(), None);
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_rules_is_imported() {
    let many = 100_000;
    let yacc: String = (0..many).map(|n| format!("r{n}: r{} ;\n", n + 1)).collect();
    let grammar =
        pleach_import::from_bytes("x.y", format!("%%\n{yacc}r{many}: 'x' ;").as_bytes(), None);
    assert_eq!(grammar.unwrap().rules.len(), many + 1);
    let ebnf: String = (0..many).map(|n| format!("r{n} ::= r{}\n", n + 1)).collect();
    let grammar =
        pleach_import::from_bytes("x.ebnf", format!("{ebnf}r{many} ::= 'x'").as_bytes(), None);
    assert_eq!(grammar.unwrap().rules.len(), many + 1);
}

#[test]
fn exponential_expansion_is_refused() {
    // Each definition uses the previous one twice.
    let definitions: String =
        (1..60).map(|n| format!("D{n} {{D{}}}{{D{}}}\n", n - 1, n - 1)).collect();
    let lex = format!("D0 x\n{definitions}%%\n{{D59}} return X;\n");
    let problem = pleach_import::from_bytes("x.l", lex.as_bytes(), None).unwrap_err();
    assert!(problem.to_string().contains("expand to more than"), "{problem}");

    let rules: String =
        (1..60).map(|n| format!("fragment F{n} : F{} F{} ;\n", n - 1, n - 1)).collect();
    let antlr = format!("grammar x; a : A ; A : F59 ; fragment F0 : [x] ;\n{rules}");
    let problem = pleach_import::from_bytes("x.g4", antlr.as_bytes(), None).unwrap_err();
    assert!(problem.to_string().contains("expands to more than"), "{problem}");

    // A token that contains itself three times in each of its alternatives.
    let antlr = "grammar x; a : A ; A : '(' (A A A | B)* ')' ; B : '[' (A B A B)* ']' ;";
    check_ends("x.g4", antlr.as_bytes(), None);
    let counted = format!("%%\n{}x{} return X;\n", "(".repeat(60), "){10000}".repeat(60));
    check_ends("x.l", counted.as_bytes(), None);
}

/// Rules that derive themselves are imported. Counting refuses them, with their place.
#[test]
fn circular_rules_keep_their_place_in_every_format() {
    let symbol = |name: &str| format!(r#"{{"type": "SYMBOL", "name": "{name}"}}"#);
    let tree_sitter = format!(
        r#"{{"name": "x", "rules": {{"a": {{"type": "CHOICE", "members": [{}, {}]}}, "b": {}}}}}"#,
        symbol("b"),
        r#"{"type": "STRING", "value": "x"}"#,
        symbol("a"),
    );
    let files = [
        ("x.y", "%%\na: b | 'x' ;\nb: a ;"),
        ("x.g4", "grammar x;\na : b | 'x' ;\nb : a ;"),
        ("w3c.ebnf", "a ::= b | \"x\"\nb ::= a"),
        ("iso.ebnf", "a = b | \"x\" ;\nb = a ;"),
        ("x.abnf", "a = b / %x78\nb = a"),
        ("book.json", "{\"<start>\": [\"<b>\", \"x\"], \"<b>\": [\"<start>\"]}"),
        ("x.json", &tree_sitter),
        ("x.hmp", "cfg a := b | \"x\";\ncfg b := a;"),
    ];
    for (name, text) in files {
        let grammar = pleach_import::from_bytes(name, text.as_bytes(), None);
        let grammar = grammar.unwrap_or_else(|problem| panic!("{problem}"));
        let problem = Counts::new(&grammar, Unit::Tokens, 3).err();
        let problem = problem.unwrap_or_else(|| panic!("{name} can be counted")).to_string();
        assert!(problem.starts_with(&format!("{name}:")), "{problem}");
        assert!(problem.contains("infinitely many derivations"), "{problem}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (name, _) in good_files() {
        let path = dir.path().join(&name);
        // A sparse file: it has a size, but no blocks on disk.
        fs::File::create(&path).unwrap().set_len(100_000_000).unwrap();
        let problem = pleach_import::load(&path, None).unwrap_err();
        assert!(matches!(problem, ImportError::TooLarge { .. }), "{problem}");
        assert!(problem.to_string().contains(&MAX_FILE.to_string()), "{problem}");
    }
    // An endless file whose size is 0.
    let problem = pleach_import::load(Path::new("/dev/zero"), None).unwrap_err();
    assert!(matches!(problem, ImportError::TooLarge { .. }), "{problem}");
}

#[test]
fn a_missing_file_is_named() {
    let problem =
        pleach_import::load(Path::new("/no/such/grammar.y"), None).unwrap_err().to_string();
    assert!(problem.starts_with("/no/such/grammar.y: "), "{problem}");
    let directory = pleach_import::load(Path::new("/"), None).unwrap_err();
    assert!(matches!(directory, ImportError::Read { .. }), "{directory}");
}
