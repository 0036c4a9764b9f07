//! `pleach cover`: which branches of the program some inputs take. A branch has
//! two sides, a switch one for each case and the default; each side counts.

use super::{executor, read_input};
use crate::args::Cover;
use crate::exit::{Code, Failure};
use crate::show;
use pleach_campaign::executor::ModuleCounters;
use pleach_campaign::{End, Half, Image, Layout, Output};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

/// The most output of a crash that is kept.
const CAPTURE: u64 = 16 << 20;

/// Sides taken and sides there are.
#[derive(Clone, Copy, Default)]
struct Tally {
    covered: usize,
    total: usize,
}

pub fn run(args: Cover) -> Result<Code, Failure> {
    let inputs = args.inputs.iter().map(|i| read_input(i)).collect::<Result<Vec<_>, _>>()?;
    let mut executor = executor(Half::Fast, &args.run, &args.inputs[0], Output::Null)?;
    executor.start()?;
    let mut all: Vec<ModuleCounters> = Vec::new();
    let mut ends = Vec::new();
    for input in &inputs {
        let outcome = executor.run(input, Duration::from_millis(args.run.timeout))?;
        merge(&mut all, executor.counters()?);
        ends.push(outcome.end);
    }
    let words = replay(&args, &inputs, &ends)?;
    let functions = functions(executor.layout(), &all);
    let sum = functions.values().fold(Tally::default(), |a, b| Tally {
        covered: a.covered + b.covered,
        total: a.total + b.total,
    });

    let mut out = show::out();
    if args.json {
        let functions: Vec<_> = functions
            .iter()
            .map(|((file, line, name), t)| {
                json!({ "name": name, "file": file, "line": line,
                        "covered": t.covered, "total": t.total })
            })
            .collect();
        let runs: Vec<_> = args
            .inputs
            .iter()
            .zip(&ends)
            .zip(&words)
            .map(|((path, end), words)| {
                json!({ "input": path.to_string_lossy(), "status": show::status(end),
                        "end": show::end(end), "said": words })
            })
            .collect();
        let line = json!({ "covered": sum.covered, "total": sum.total, "inputs": runs,
                           "functions": functions });
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    } else {
        for ((file, line, name), t) in &functions {
            writeln!(out, "{:>5}/{:<5} {name}  {file}:{line}", t.covered, t.total)?;
        }
        let percent = 100.0 * sum.covered as f64 / sum.total.max(1) as f64;
        writeln!(out, "{:>5}/{:<5} branches ({percent:.1}%)", sum.covered, sum.total)?;
        for ((path, end), words) in args.inputs.iter().zip(&ends).zip(&words) {
            if !matches!(end, End::Exit(_)) {
                let words = words.as_ref().map_or(String::new(), |w| format!(": {w}"));
                let line = format!("{}: {}{words}", path.display(), show::end(end));
                writeln!(out, "{}", show::cut(&line, show::columns()))?;
            }
        }
    }
    out.flush()?;
    let lost = ends.iter().any(|e| matches!(e, End::Lost(_)));
    Ok(if lost { Code::Wanting } else { Code::Ok })
}

/// Crashes, once more, each in a process of its own and with its output kept:
/// what was said of each. In a persistent loop a crash may be due to the inputs
/// before it; then that is what is said.
fn replay(args: &Cover, inputs: &[Vec<u8>], ends: &[End]) -> Result<Vec<Option<String>>, Failure> {
    let mut words = vec![None; ends.len()];
    if !ends.iter().any(|e| matches!(e, End::Signal(_))) {
        return Ok(words);
    }
    let output = Output::Capture { limit: CAPTURE };
    let mut executor = executor(Half::Fast, &args.run, &args.inputs[0], output)?;
    for ((input, end), words) in inputs.iter().zip(ends).zip(&mut words) {
        if !matches!(end, End::Signal(_)) {
            continue;
        }
        executor.stop();
        let outcome = executor.run(input, Duration::from_millis(args.run.timeout))?;
        *words = match outcome.end == *end {
            true => last_words(&outcome.stderr),
            false => Some(format!(
                "not in a process of its own ({} there): the program keeps state between inputs",
                show::end(&outcome.end)
            )),
        };
    }
    Ok(words)
}

/// What a program said of its own end: a sanitizer's verdict, or the last line.
fn last_words(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let lines = || text.lines().map(str::trim).filter(|l| !l.is_empty());
    let verdict = lines().find(|l| l.contains("Sanitizer: ") || l.contains(": runtime error: "));
    let line = verdict.or_else(|| lines().next_back())?;
    let line = line.split_once("ERROR: ").map_or(line, |(_, rest)| rest);
    Some(line.chars().filter(|c| !c.is_control()).collect())
}

fn merge(all: &mut Vec<ModuleCounters>, more: Vec<ModuleCounters>) {
    for new in more {
        match all.iter_mut().find(|m| m.module.path == new.module.path) {
            Some(old) => {
                old.counters.iter_mut().zip(&new.counters).for_each(|(a, b)| *a = (*a).max(*b));
            }
            None => all.push(new),
        }
    }
}

/// What each function has, in the order of files and lines.
fn functions(layout: &Layout, all: &[ModuleCounters]) -> BTreeMap<(String, u32, String), Tally> {
    let mut functions = BTreeMap::new();
    for m in all {
        if let Some(image) = layout.module(&m.module, Half::Fast) {
            tally(image, &m.counters, &mut functions);
        }
    }
    functions
}

fn tally(image: &Image, counters: &[u8], functions: &mut BTreeMap<(String, u32, String), Tally>) {
    let mut at = 0;
    for (i, site) in image.sites.iter().enumerate() {
        let count = site.counters as usize;
        let sides = counters.get(at..).map_or(&[][..], |c| &c[..count.min(c.len())]);
        at += count;
        let Some((function, _)) = image.describe(i) else { continue };
        if count == 0 {
            continue;
        }
        let key = (function.file.clone(), function.line, show::name(function));
        let entry = functions.entry(key).or_default();
        entry.total += count;
        entry.covered += sides.iter().filter(|&&c| c != 0).count();
    }
}
