//! Hostile files: random bytes, good files with pieces cut, copied and inserted, endless
//! nesting, huge sizes. Each must get an answer or one message, and must not panic. There is
//! no time limit, because a busy machine would look like a hang.

use pleach_template::hampi::{HampiError, Problem};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Reads and solves a file. An error must be one line, and must not be a bug of Pleach.
fn survive(bytes: &[u8]) -> Result<(), HampiError> {
    let answer = Problem::read("x.hmp", bytes).and_then(|problem| problem.solve().map(drop));
    if let Err(problem) = &answer {
        let message = problem.to_string();
        assert!(!message.is_empty() && message.lines().count() == 1, "{message:?}");
        assert!(
            !matches!(problem, HampiError::WrongSolution),
            "{}",
            String::from_utf8_lossy(bytes)
        );
    }
    answer
}

fn corpus() -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hampi");
    let files = ["good", "bad"].iter().flat_map(|kind| fs::read_dir(dir.join(kind)).unwrap());
    let mut paths: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "hmp"));
    paths.sort();
    paths.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A change of a file. Places are taken modulo its length.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize, usize),
    Copy(usize, usize, usize),
    Insert(usize, &'static str),
}

fn apply(mut bytes: Vec<u8>, change: &Change) -> Vec<u8> {
    let length = bytes.len().max(1);
    let span = |at: usize, size: usize| {
        let start = (at % length).min(bytes.len());
        start..(start + size % 30).min(bytes.len())
    };
    match change {
        Change::Cut(at, size) => drop(bytes.drain(span(*at, *size))),
        Change::Copy(at, size, to) => {
            let piece = bytes[span(*at, *size)].to_vec();
            let to = to % length.min(bytes.len() + 1);
            bytes.splice(to..to, piece);
        }
        Change::Insert(at, piece) => {
            let at = at % length.min(bytes.len() + 1);
            bytes.splice(at..at, piece.bytes());
        }
    }
    bytes
}

fn change() -> impl Strategy<Value = Change> {
    const PIECES: &[&str] = &[
        "var ",
        "cfg ",
        "reg ",
        "val ",
        "assert ",
        "fix(",
        "or(",
        "concat(",
        "star(",
        " in ",
        " not ",
        " contains ",
        " equals ",
        ":=",
        ";",
        "(",
        ")",
        "[",
        "]",
        "\"",
        "'",
        "\\",
        "\\255",
        "|",
        "*",
        "+",
        "?",
        "-",
        ",",
        ":",
        "..",
        "0",
        "9",
        "99",
        "/*",
        "//",
        "`",
        ".",
        "v",
        "E",
        "R",
        "\n",
        "é",
        "\u{0}",
    ];
    prop_oneof![
        (any::<usize>(), any::<usize>()).prop_map(|(at, size)| Change::Cut(at, size)),
        (any::<usize>(), any::<usize>(), any::<usize>())
            .prop_map(|(a, s, t)| Change::Copy(a, s, t)),
        (any::<usize>(), prop::sample::select(PIECES)).prop_map(|(at, p)| Change::Insert(at, p)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = survive(&bytes);
    }

    #[test]
    fn good_files_with_changes(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..8),
    ) {
        let files = corpus();
        let bytes = changes.iter().fold(files[which.index(files.len())].clone(), apply);
        let _ = survive(&bytes);
    }
}

#[test]
fn deep_nesting_is_refused_with_the_limit() {
    let deep = 100_000;
    let (open, close) = ("(".repeat(deep), ")".repeat(deep));
    let files = [
        format!("var v : 1; cfg A := {open}\"x\"{close}; assert v in A;"),
        format!("var v : 1; cfg A := {open}"),
        format!("var v : 1; reg A := {}\"x\"{close}; assert v in A;", "star(".repeat(deep)),
        format!("var v : 1; reg A := {}\"x\"{close}; assert v in A;", "or(".repeat(deep)),
        format!("var v : 1; val w := {}v{close}; assert w contains \"a\";", "concat(".repeat(deep)),
        format!("var v : 1; assert {}v{close} contains \"a\";", "concat(".repeat(deep)),
    ];
    for file in files {
        let problem = survive(file.as_bytes()).unwrap_err().to_string();
        assert!(problem.contains("250 deep"), "{problem}");
    }
}

#[test]
fn chains_of_a_hundred_thousand_names_are_followed() {
    let many = 100_000;
    let chain = |kind: &str, name: &str| -> String {
        let links = (0..many).map(|n| format!("{kind} {name}{n} := {name}{};\n", n + 1));
        links.collect::<String>() + &format!("{kind} {name}{many} := \"a\";\n")
    };
    for (name, file) in [("R0", chain("reg", "R")), ("C0", chain("cfg", "C"))] {
        let file = format!("var v : 1;\n{file}assert v in {name};\n");
        let problem = Problem::read("x.hmp", file.as_bytes()).unwrap();
        assert_eq!(problem.solve().unwrap(), Some(vec![b"a".to_vec()]));
    }
    // Each value refers to the next one, which is defined later.
    let vals: String = (0..many).map(|n| format!("val w{n} := w{};\n", n + 1)).collect();
    let file = format!("var v : 1;\n{vals}val w{many} := v;\nassert w0 equals \"a\";\n");
    let problem = Problem::read("x.hmp", file.as_bytes()).unwrap();
    assert_eq!(problem.solve().unwrap(), Some(vec![b"a".to_vec()]));
}

#[test]
fn repeated_doubling_is_handled_without_expansion() {
    let doubling = |kind: &str, name: &str, join: fn(&str) -> String| -> String {
        (1..200)
            .map(|n| format!("{kind} {name}{n} := {};\n", join(&format!("{name}{}", n - 1))))
            .collect()
    };
    let twice = |name: &str| format!("concat({name}, {name})");
    let regs = doubling("reg", "R", twice);
    let file = format!("var v : 9;\nreg R0 := \"a\";\n{regs}assert v in R199;\n");
    assert!(survive(file.as_bytes()).is_ok());
    let cfgs = doubling("cfg", "C", |name| format!("{name} {name}"));
    let file = format!("var v : 9;\ncfg C0 := \"a\" | \"\";\n{cfgs}assert v in C199;\n");
    assert!(survive(file.as_bytes()).is_ok());
    let vals = doubling("val", "w", twice);
    let file = format!("var v : 9;\nval w0 := v;\n{vals}assert w199 contains \"a\";\n");
    let problem = survive(file.as_bytes()).unwrap_err().to_string();
    assert!(problem.contains("more than 8192 bytes"), "{problem}");
}

#[test]
fn too_much_is_refused() {
    let long = vec![b' '; 100_000_000];
    assert!(matches!(survive(&long), Err(HampiError::File(_))));
    let parts = format!("var v : 1;\ncfg A := {};\nassert v in A;\n", "A ".repeat(2_200_000));
    let problem = survive(parts.as_bytes()).unwrap_err().to_string();
    assert!(problem.starts_with("x.hmp:2:5: ") && problem.contains("2097152 parts"), "{problem}");
    // Every span of a long text can be split everywhere.
    let cubic = "var v : 8192;\ncfg A := A A | 'a' | \"b\";\nassert v in A;\nassert v not in A;\n";
    assert!(matches!(survive(cubic.as_bytes()), Err(HampiError::TooLarge)));
}
