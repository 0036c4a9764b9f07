//! `pleach cover`: which branches of the program some inputs take. A branch has
//! two sides, a switch one for each case and the default; each side counts.

use super::{executor, read};
use crate::args::Cover;
use crate::exit::{Code, Failure};
use crate::show;
use pleach_campaign::executor::ModuleCounters;
use pleach_campaign::{End, Half, Image, Layout, Output};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

/// Sides taken and sides there are.
#[derive(Clone, Copy, Default)]
struct Tally {
    covered: usize,
    total: usize,
}

pub fn run(args: Cover) -> Result<Code, Failure> {
    let inputs = args.inputs.iter().map(|i| read(i)).collect::<Result<Vec<_>, _>>()?;
    let mut executor = executor(Half::Fast, &args.run, &args.inputs[0], Output::Null)?;
    executor.start()?;
    let mut all: Vec<ModuleCounters> = Vec::new();
    let mut ends = Vec::new();
    for input in &inputs {
        let outcome = executor.run(input, Duration::from_millis(args.run.timeout))?;
        merge(&mut all, executor.counters()?);
        ends.push(outcome.end);
    }
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
            .map(|(path, end)| {
                json!({ "input": path.to_string_lossy(), "status": show::status(end),
                        "end": show::end(end) })
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
        for (path, end) in args.inputs.iter().zip(&ends) {
            if !matches!(end, End::Exit(_)) {
                writeln!(out, "{}: {}", path.display(), show::end(end))?;
            }
        }
    }
    out.flush()?;
    let lost = ends.iter().any(|e| matches!(e, End::Lost(_)));
    Ok(if lost { Code::Wanting } else { Code::Ok })
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
