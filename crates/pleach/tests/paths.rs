//! Every program of `tests/paths`: depth-first search runs each feasible path once and ends
//! `exhausted`. The comment at the top of the program has the number of paths. Where the
//! input is a single byte, all inputs are run as well, so that this number does not depend
//! on the search that it checks.

mod common;

use common::{NO_HURRY, Program};
use libtest_mimic::{Arguments, Trial};
use pleach_abi::event::Kind;
use pleach_exec::trace::kind;
use pleach_exec::{Half, Layout, Trace};
use pleach_expr::case_of;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/paths");
    let mut trials = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("tests/paths exists").flatten() {
        let file = entry.path();
        if file.extension().is_some_and(|e| e == "c") {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            trials.push(Trial::test(name, move || Ok(check(&file)?)));
        }
    }
    assert!(!trials.is_empty(), "no programs in {}", folder.display());
    trials.sort_by(|a, b| a.name().cmp(b.name()));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn check(file: &PathBuf) -> Result<(), String> {
    let source = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let (paths, len) = (number(&source, "paths:")?, number(&source, "len:")?);
    let program = Program::new(&source);
    let ended = program.campaign("out", &["-s", "dfs", "--len", &len.to_string()]);
    let found = (ended.stop(), ended.count("paths"));
    if found != ("exhausted", paths) {
        return Err(format!("{found:?}, not {paths} paths: {}", ended.stats));
    }
    // Each path is traced once: every trace but the first is the answer to a flip, and takes
    // a new path.
    if ended.count("traces") != paths || ended.count("diverged") != 0 {
        return Err(format!("{} traces for {paths} paths", ended.count("traces")));
    }
    if len == 1 {
        let all = brute_force(&program)?;
        if all != paths {
            return Err(format!("all inputs together take {all} paths, not {paths}"));
        }
    }
    Ok(())
}

/// The number after a key in the comment.
fn number(source: &str, key: &str) -> Result<u64, String> {
    let rest = source.split(key).nth(1).ok_or_else(|| format!("there is no `{key}`"))?;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().map_err(|_| format!("no number after `{key}`"))
}

/// The number of paths that all inputs of at most one byte take.
fn brute_force(program: &Program) -> Result<u64, String> {
    let mut executor = program.executor(Half::Symbolic);
    let layout = program.layout();
    let inputs = (0..=255).map(|byte| vec![byte]).chain([Vec::new()]);
    let mut seen = HashSet::new();
    for input in inputs {
        let outcome = executor.run(&input, NO_HURRY).map_err(|e| e.to_string())?;
        // In a search, an input that is too short grows.
        if outcome.calls.ended {
            continue;
        }
        let trace = executor.trace().map_err(|e| e.to_string())?;
        seen.insert(path(&trace, &layout));
    }
    Ok(seen.len() as u64)
}

/// The decisions of a program: site, bound and outcome, without checks.
fn path(trace: &Trace, layout: &Layout) -> Vec<(u32, u32, u128)> {
    let decided = trace.events.iter().filter(|e| !kind(e).is_check() && kind(e) != Kind::Pin);
    decided
        .map(|e| {
            let outcome = match kind(e) {
                Kind::Switch => {
                    let value = trace.expr.recorded(e.label);
                    let case = trace.cases(layout, e).map(|c| case_of(c, value));
                    case.map_or(value, |c| c.map_or(u128::MAX, |i| i as u128))
                }
                _ => e.dir.into(),
            };
            (e.site, e.aux, outcome)
        })
        .collect()
}
