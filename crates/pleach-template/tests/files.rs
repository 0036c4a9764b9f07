//! Files of constraints beside their answers. A file in `hampi/good` has its verdict and, if
//! they are few, all its solutions; a file in `hampi/bad` has its error message.
//! `UPDATE_EXPECT=1` writes the answers; check the difference by hand.

use pleach_template::hampi::{Problem, quote};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// If there are more solutions than this, the answer does not list them.
const MAX_LISTED: usize = 12;

#[test]
fn good_files_have_the_expected_solutions() {
    check("good", |name, bytes| {
        let problem = Problem::read(name, bytes).unwrap_or_else(|e| panic!("{e}"));
        let one = problem.solve().unwrap();
        let mut all: Vec<_> =
            problem.solutions().take(MAX_LISTED + 1).map(Result::unwrap).collect();
        assert_eq!(one.is_some(), !all.is_empty(), "{name}");
        if let Some(one) = &one {
            assert!(problem.holds(one).unwrap(), "{name}");
            assert!(all.len() > MAX_LISTED || all.contains(one), "{name}");
            // No smaller solution was skipped.
            let size = |values: &Vec<Vec<u8>>| values.iter().map(Vec::len).sum::<usize>();
            assert_eq!(size(one), size(&all[0]), "{name}");
        }
        if all.is_empty() {
            return "unsat\n".into();
        }
        if all.len() > MAX_LISTED {
            return format!("sat, more than {MAX_LISTED} solutions\n");
        }
        all.sort();
        let mut out = String::from("sat\n");
        for values in all {
            let named = problem.variables().zip(&values);
            let named: Vec<String> = named.map(|(n, v)| format!("{n} = {}", quote(v))).collect();
            writeln!(out, "{}", named.join(", ")).unwrap();
        }
        out
    });
}

#[test]
fn bad_files_get_one_message_with_its_place() {
    check("bad", |name, bytes| {
        let problem = match Problem::read(name, bytes) {
            Ok(problem) => problem.solve().expect_err(name),
            Err(problem) => problem,
        };
        let message = problem.to_string();
        assert_eq!(message.lines().count(), 1, "{message}");
        format!("{message}\n")
    });
}

/// A printed solution can be used in a file of constraints.
#[test]
fn a_quoted_text_reads_back_as_itself() {
    let all: Vec<u8> = (0..=255).collect();
    let file = format!("var v : 256;\nassert v equals {};\n", quote(&all));
    let problem = Problem::read("all", file.as_bytes()).unwrap();
    assert_eq!(problem.solve().unwrap(), Some(vec![all]));
}

fn check(kind: &str, answer: impl Fn(&str, &[u8]) -> String) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hampi").join(kind);
    let mut paths: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "hmp"));
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let got = answer(&name, &fs::read(&path).unwrap());
        let expected = path.with_extension("hmp.expected");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expected, &got).unwrap();
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(got, expected, "{name}");
    }
}
