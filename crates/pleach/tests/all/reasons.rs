//! Why branches are not taken: a program has one branch for each reason.

use crate::common::{PLEACH, Program};
use pleach_campaign::findings::Findings;
use pleach_exec::triage::readable;
use pleach_report::html::words;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = include_str!("../reasons.c");
const CXX: &str = include_str!("../reasons.cc");
const PLAIN: &str = include_str!("../reasons-plain.c");

/// Builds one of the two programs.
fn program(compiler: &str, level: &str, name: &str, source: &str) -> Program {
    let program = Program::empty();
    program.file("plain.c", PLAIN.as_bytes());
    let plain = Command::new("clang-22")
        .args(["-c", "-O1", "plain.c"])
        .current_dir(program.dir.path())
        .status();
    assert!(plain.expect("clang runs").success());
    program.file(name, source.as_bytes());
    let args = [compiler, "-g", level, name, "plain.o", "-o", "prog"];
    let done = Command::new(PLEACH).args(args).current_dir(program.dir.path()).status();
    assert!(done.expect("pleach runs").success());
    program
}

/// The comments of a source: line, side, and what the reason must say; the first word is its
/// class.
fn expected(source: &str) -> Vec<(u32, String, String)> {
    let comment = |(number, line): (u32, &str)| {
        let (_, comment) = line.rsplit_once("/* ")?;
        let (side, reason) = comment.strip_suffix(" */")?.split_once(": ")?;
        let is_side = side == "true" || side == "false" || side.starts_with("case ");
        is_side.then(|| (number, side.to_string(), reason.to_string()))
    };
    (1..).zip(source.lines()).filter_map(comment).collect()
}

/// The reasons of all branches: line, side, class and words.
fn reasons(out: &Path) -> Vec<(u32, String, String)> {
    let mut findings = Findings::open(out, None).expect("a campaign");
    findings.replay(|_, _| true).expect("the program runs");
    findings.trace_sites(|_, _| true).expect("the program runs");
    let functions = findings.functions();
    findings.with_inquiry(|inquiry| {
        let mut all = Vec::new();
        for function in &functions {
            for branch in &function.branches {
                for side in 0..branch.sides {
                    let reason = inquiry.reason(branch.first + side);
                    let found = words(&reason, &readable(&function.name));
                    let text = format!("{} {}", found.class, found.text);
                    all.push((branch.line, branch.side_name(side), text));
                }
            }
        }
        all
    })
}

#[test]
fn every_reason_is_found() {
    let program = program("cc", "-O1", "reasons.c", SOURCE);
    let expected = expected(SOURCE);
    assert!(expected.len() >= 11);
    program.campaign("out", &["-s", "dfs", "--len", "32", "-n", "500"]);
    check_reasons(&program, SOURCE, &expected);

    // A resumed campaign knows what the first one asked.
    program.resume("out", &["-n", "505"]);
    let again = reasons(&program.path("out"));
    for (line, side, reason) in &expected {
        let class = reason.split(' ').next().unwrap_or_default();
        let is_same = |(l, s, text): &&(u32, String, String)| {
            l == line && s == side && text.starts_with(class)
        };
        assert!(again.iter().any(|r| is_same(&r)), "line {line} {side}: {reason}: {again:?}");
    }
}

#[test]
fn every_reason_is_found_in_cxx() {
    for level in ["-O0", "-O2"] {
        let program = program("c++", level, "reasons.cc", CXX);
        let expected = expected(CXX);
        assert!(expected.len() >= 9);
        program.campaign("out", &["-s", "generational", "--len", "16", "-n", "1000"]);
        check_reasons(&program, CXX, &expected);
    }
}

/// Each expected reason is found, and all other branches are taken.
fn check_reasons(program: &Program, source: &str, expected: &[(u32, String, String)]) {
    let found = reasons(&program.path("out"));
    let mut wrong = Vec::new();
    for (line, side, reason) in expected {
        let (class, words) = reason.split_once(' ').unwrap_or((reason, ""));
        let of_side: Vec<_> = found.iter().filter(|(l, s, _)| l == line && s == side).collect();
        let is_right = |text: &str| text.starts_with(class) && text.contains(words);
        if !of_side.iter().any(|(_, _, text)| is_right(text)) {
            wrong.push(format!("line {line} {side}: {reason}\n   found {of_side:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // All others are taken.
    let is_expected =
        |line: &u32, side: &String| expected.iter().any(|(l, s, _)| l == line && s == side);
    let other = found.iter().filter(|(line, side, text)| {
        !is_expected(line, side)
            && text != "taken "
            && source.lines().nth(*line as usize - 1).is_some_and(|l| l.contains("if ("))
    });
    let in_reached = other.filter(|(line, _, _)| {
        !expected.iter().any(|(l, _, why)| l == line && why.starts_with("unreached"))
    });
    assert_eq!(in_reached.collect::<Vec<_>>(), Vec::<&(u32, String, String)>::new());
}

/// A flip that the search did not get to is not refuted.
#[test]
fn what_was_not_asked_is_said() {
    let source = "#include <unistd.h>\nint main(void) {\n    char in[2];\n    \
                  if (read(0, in, 2) != 2) return 1;\n    if (in[0] == 'a') return 2;\n    \
                  if (in[1] == 'b') return 3;\n    return 0;\n}\n";
    let program = Program::new(source);
    program.campaign("out", &["-s", "dfs", "--depth", "1", "--len", "2"]);
    let found = reasons(&program.path("out"));
    let text = |line: u32, side: &str| {
        let is_it = |r: &&(u32, String, String)| r.0 == line && r.1 == side;
        found.iter().find(is_it).map(|r| r.2.split(' ').next().unwrap_or_default().to_string())
    };
    let all: Vec<_> = [4, 5, 6].map(|line| text(line, "true")).into_iter().flatten().collect();
    assert!(all.contains(&"asked".to_string()), "{found:?}");
    assert!(!all.contains(&"refuted".to_string()), "{found:?}");
}
