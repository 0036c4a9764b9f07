//! `pleach cover`: the branches that some inputs take.

use super::coverage::{Missing, SideCounts};
use super::{executor, named_inputs, read_input, time_limit};
use crate::args::Cover;
use crate::exit::{Code, Failure};
use crate::show;
use pleach_exec::{End, Half, Output};
use pleach_report::Progress;
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// At most this many bytes of a crashing run's output are kept.
const MAX_OUTPUT: u64 = 16 << 20;

pub fn run(args: Cover) -> Result<Code, Failure> {
    let paths = named_inputs(&args.inputs)?;
    let inputs = paths.iter().map(|i| read_input(i)).collect::<Result<Vec<_>, _>>()?;
    let mut executor = executor(Half::Fast, &args.run, &paths[0], Output::Null)?;
    executor.start()?;
    let mut coverage = SideCounts::new(args.system);
    let mut ends = Vec::new();
    let progress = Progress::new("running inputs", inputs.len() as u64);
    for (path, input) in paths.iter().zip(&inputs) {
        progress.inc();
        let timeout = time_limit(&args.run, path);
        let outcome = executor.run(input, timeout)?;
        coverage.add_run(&mut executor, &outcome, input, timeout)?;
        ends.push(outcome.end);
    }
    progress.finish();
    let messages = crash_messages(&args, &paths[0], &inputs, &ends)?;
    let functions = coverage.functions(executor.layout());
    let sum = SideCounts::sum(&functions);
    let missing = if args.missing { coverage.missing(executor.layout()) } else { Vec::new() };

    let mut out = show::out();
    if args.json {
        let functions: Vec<_> = functions
            .iter()
            .map(|((file, line, name), t)| {
                json!({ "name": name, "file": file, "line": line,
                        "covered": t.covered, "total": t.total })
            })
            .collect();
        let runs: Vec<_> = paths
            .iter()
            .zip(&ends)
            .zip(&messages)
            .map(|((path, end), message)| {
                json!({ "input": path.to_string_lossy(), "status": show::status(end),
                        "end": show::end(end), "said": message })
            })
            .collect();
        let mut line = json!({ "covered": sum.covered, "total": sum.total, "inputs": runs,
                               "functions": functions });
        if args.missing {
            let side =
                |m: &Missing| json!({ "place": m.place, "function": m.function, "side": m.side });
            line["missing"] = missing.iter().map(side).collect();
        }
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    } else {
        for ((file, line, name), t) in &functions {
            writeln!(out, "{:>5}/{:<5} {name}  {file}:{line}", t.covered, t.total)?;
        }
        for m in &missing {
            writeln!(out, "{}: {} in {}", m.place, m.side, m.function)?;
        }
        writeln!(out, "{sum}")?;
        for ((path, end), message) in paths.iter().zip(&ends).zip(&messages) {
            if !matches!(end, End::Exit(_)) {
                let message = message.as_ref().map_or(String::new(), |m| format!(": {m}"));
                let line = format!("{}: {}{message}", path.display(), show::end(end));
                writeln!(out, "{}", show::cut(&line, show::columns()))?;
            }
        }
    }
    out.flush()?;
    let lost = ends.iter().any(|e| matches!(e, End::Lost(_)));
    Ok(if lost { Code::Failed } else { Code::Ok })
}

/// What the program printed about each crash. Each crashing input runs again, in a new
/// process. If it does not crash there, an earlier input in the persistent loop is the
/// cause, and the message says so.
fn crash_messages(
    args: &Cover,
    first: &Path,
    inputs: &[Vec<u8>],
    ends: &[End],
) -> Result<Vec<Option<String>>, Failure> {
    let mut messages = vec![None; ends.len()];
    if !ends.iter().any(|e| matches!(e, End::Signal(_))) {
        return Ok(messages);
    }
    let output = Output::Capture { limit: MAX_OUTPUT };
    let mut executor = executor(Half::Fast, &args.run, first, output)?;
    for ((input, end), message) in inputs.iter().zip(ends).zip(&mut messages) {
        if !matches!(end, End::Signal(_)) {
            continue;
        }
        executor.stop();
        let outcome = executor.run(input, time_limit(&args.run, first))?;
        *message = match outcome.end == *end {
            true => show::last_words(&outcome.stderr),
            false => Some(format!(
                "not in a new process ({} there): the program keeps state between inputs",
                show::end(&outcome.end)
            )),
        };
    }
    Ok(messages)
}
