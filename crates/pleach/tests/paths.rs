//! Every program of `tests/paths`: depth-first search runs each of its feasible
//! paths once, says that it is done, and there are as many as the comment at
//! the program's top says. Where the input is a single byte, all inputs are run
//! besides, so that the number does not rest on the search that it judges.

mod common;

use common::Program;
use libtest_mimic::{Arguments, Trial};
use pleach_abi::event::Kind;
use pleach_exec::trace::kind;
use pleach_exec::{Executor, Half, Layout, TargetOptions, Trace};
use pleach_expr::case_of;
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/paths");
    let mut trials = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("tests/paths is there").flatten() {
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
    // A path is run once: every trace but the first is the answer to a flip,
    // and found a path of its own.
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

/// How many paths all inputs of up to one byte take.
fn brute_force(program: &Program) -> Result<u64, String> {
    let layout = Layout::private(&program.dir.path().join("prog")).map_err(|e| e.to_string())?;
    let layout = Arc::new(layout);
    let target = TargetOptions::new(Half::Symbolic, vec![OsString::from("prog")]);
    let mut executor = Executor::new(layout.clone(), target).map_err(|e| e.to_string())?;
    let inputs = (0..=255).map(|byte| vec![byte]).chain([Vec::new()]);
    let mut seen = HashSet::new();
    for input in inputs {
        let outcome = executor.run(&input, Duration::from_secs(10)).map_err(|e| e.to_string())?;
        // Of a search such an input would have grown.
        if outcome.calls.ended {
            continue;
        }
        let trace = executor.trace().map_err(|e| e.to_string())?;
        seen.insert(path(&trace, &layout));
    }
    Ok(seen.len() as u64)
}

/// What a program decided: site, bound and outcome, checks aside.
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
