//! `pleach replay`: runs inputs again on one half. Reports how each ended and what they
//! cover together. For a crash, reports its kind and stack; equal crashes count once.

use super::coverage::{SideCounts, Tally};
use super::{named_inputs, read_input, target, time_limit};
use crate::args::{Replay, ReplayHalf};
use crate::exit::{Code, Failure};
use crate::show;
use pleach_exec::triage::has_report;
use pleach_exec::{
    CrashId, End, Executor, Half, Layout, Outcome, Output, Plain, TargetOptions, Triage,
};
use pleach_report::Progress;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// At most this many bytes of a run's output are kept.
const MAX_OUTPUT: u64 = 16 << 20;
/// At most this many frames of a stack are shown.
const MAX_FRAMES: usize = 12;

/// The result of one input.
struct Row {
    path: PathBuf,
    outcome: Outcome,
    crash: Option<CrashId>,
    /// What the program printed about its end, or why the crash could not be examined.
    note: Option<String>,
}

pub fn run(args: Replay) -> Result<Code, Failure> {
    let paths = named_inputs(&args.inputs)?;
    let inputs = paths.iter().map(|p| read_input(p)).collect::<Result<Vec<_>, _>>()?;
    let layout = Arc::new(Layout::private(Path::new(&args.run.program[0]))?);
    let mut replayer = Replayer::new(&args, layout, &paths[0])?;
    let mut rows = Vec::new();
    let progress = Progress::new("running inputs", inputs.len() as u64);
    for (path, input) in paths.into_iter().zip(&inputs) {
        progress.inc();
        replayer.set_timeout(time_limit(&args.run, &path));
        let row = replayer.run(path, input)?;
        if !args.json {
            progress.suspend(|| print_row(&row))?;
        }
        if args.show_output {
            let mut err = std::io::stderr().lock();
            err.write_all(&row.outcome.stdout)?;
            err.write_all(&replayer.triage.symbolise(&row.outcome.stderr))?;
        }
        rows.push(row);
    }
    progress.finish();
    let functions = replayer.coverage.functions(&replayer.layout);
    print_summary(&args, &rows, SideCounts::sum(&functions))?;
    let has_failed =
        rows.iter().any(|r| !matches!(r.outcome.end, End::Exit(_)) || r.crash.is_some());
    Ok(if has_failed { Code::Failed } else { Code::Ok })
}

enum Runner {
    Plain(Box<Plain>),
    Served(Box<Executor>),
}

struct Replayer {
    layout: Arc<Layout>,
    runner: Runner,
    /// The fast half, for coverage, if the runner is something else.
    fast: Option<Executor>,
    triage: Triage,
    coverage: SideCounts,
    timeout: Duration,
    /// No input runs a second time in the same process.
    sequence: bool,
}

impl Replayer {
    fn new(args: &Replay, layout: Arc<Layout>, first: &Path) -> Result<Replayer, Failure> {
        let output = match args.show_output {
            true => Output::Capture { limit: MAX_OUTPUT },
            false => Output::Null,
        };
        let fast_target = target(Half::Fast, &args.run, first, Output::Null)?;
        let named = |half, output| TargetOptions { half, output, ..fast_target.clone() };
        let served = |half, output| Executor::new(layout.clone(), named(half, output));
        let mut fast = None;
        let runner = match args.half {
            ReplayHalf::Fast => Runner::Served(Box::new(served(Half::Fast, output)?)),
            other => {
                fast = Some(served(Half::Fast, Output::Null)?);
                match other {
                    ReplayHalf::Symbolic => {
                        Runner::Served(Box::new(served(Half::Symbolic, output)?))
                    }
                    _ => {
                        let path = layout.fast.path.clone();
                        let target = named(Half::Fast, Output::Null);
                        Runner::Plain(Box::new(Plain::new(path, target, MAX_OUTPUT)?))
                    }
                }
            }
        };
        let timeout = time_limit(&args.run, first);
        let triage = Triage::new(layout.clone(), &named(Half::Fast, Output::Null), timeout)?;
        let (coverage, sequence) = (SideCounts::default(), args.sequence);
        Ok(Replayer { layout, runner, fast, triage, coverage, timeout, sequence })
    }

    fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
        self.triage.set_timeout(timeout);
    }

    fn run(&mut self, path: PathBuf, input: &[u8]) -> Result<Row, Failure> {
        let outcome = match &mut self.runner {
            Runner::Plain(plain) => plain.run(input, self.timeout)?,
            Runner::Served(executor) => executor.run(input, self.timeout)?,
        };
        match (&mut self.fast, &mut self.runner) {
            (Some(fast), _) => {
                for counters in fast.cover_alone(input, self.timeout)? {
                    self.coverage.add(counters);
                }
            }
            (None, Runner::Served(fast)) if self.sequence => self.coverage.add(fast.counters()),
            (None, Runner::Served(fast)) => {
                self.coverage.add_run(fast, &outcome, input, self.timeout)?;
            }
            (None, Runner::Plain(_)) => return Ok(Row { path, outcome, crash: None, note: None }),
        }
        let (mut crash, mut note) = (None, None);
        // A plain program with a sanitizer exits after a report; there is no signal.
        let reported = matches!(self.runner, Runner::Plain(_)) && has_report(&outcome.stderr);
        if reported {
            note = show::last_words(&outcome.stderr);
            crash = self.triage.examine(input)?.crash;
        } else if !matches!(outcome.end, End::Exit(_)) {
            let again = self.triage.examine(input)?;
            let here = show::end(&again.outcome.end);
            note = match (&again.crash, again.outcome.end == outcome.end) {
                (Some(_), true) => show::last_words(&again.outcome.stderr),
                (None, _) if matches!(self.runner, Runner::Served(_)) && self.fast.is_none() => {
                    Some(format!(
                        "not in a new process ({here} there): the program keeps state between \
                         inputs"
                    ))
                }
                _ => Some(format!("{here} in the fast half")),
            };
            crash = again.crash;
        }
        Ok(Row { path, outcome, crash, note })
    }
}

/// Prints one line, and the stack of a crash below it.
fn print_row(row: &Row) -> Result<(), Failure> {
    let mut out = show::out();
    let columns = show::columns();
    let mut line = format!("{}: {}", row.path.display(), show::end(&row.outcome.end));
    if let Some(crash) = &row.crash {
        line += &format!(": {crash}");
    }
    writeln!(out, "{}", show::cut(&line, columns))?;
    if let Some(note) = &row.note {
        writeln!(out, "{}", show::cut(&format!("    {note}"), columns))?;
    }
    if let Some(crash) = &row.crash {
        for (i, frame) in crash.frames.iter().take(MAX_FRAMES).enumerate() {
            writeln!(out, "{}", show::cut(&format!("    #{i} {frame}"), columns))?;
        }
        if crash.frames.len() > MAX_FRAMES {
            writeln!(out, "    … {} more", crash.frames.len() - MAX_FRAMES)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn print_summary(args: &Replay, rows: &[Row], sum: Tally) -> Result<(), Failure> {
    let hangs = rows.iter().filter(|r| r.outcome.end == End::Timeout).count();
    let crashes = || rows.iter().filter(|r| r.outcome.end != End::Timeout);
    let ids: BTreeSet<u64> = crashes().filter_map(|r| Some(r.crash.as_ref()?.hash)).collect();
    let is_good = |r: &&Row| matches!(r.outcome.end, End::Exit(_)) && r.crash.is_none();
    let crashed = crashes().filter(|r| !is_good(r)).count();
    let mut out = show::out();
    if args.json {
        let line = json!({
            "covered": sum.covered,
            "total": sum.total,
            "crashed": crashed,
            "crashes": ids.len(),
            "hangs": hangs,
            "inputs": rows.iter().map(as_json).collect::<Vec<_>>(),
        });
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    } else {
        let of = match ids.len() {
            n if crashed > 0 => format!(" ({n} different)"),
            _ => String::new(),
        };
        writeln!(out, "{} inputs: {crashed} crashed{of}, {hangs} hung", rows.len())?;
        writeln!(out, "{sum}")?;
    }
    out.flush()?;
    Ok(())
}

fn as_json(row: &Row) -> Value {
    let crash = row.crash.as_ref().map(|crash| {
        let frames: Vec<_> = crash
            .frames
            .iter()
            .map(|f| {
                json!({ "function": f.function, "file": f.file, "line": f.line,
                             "module": f.module.to_string_lossy() })
            })
            .collect();
        json!({ "kind": crash.kind, "id": format!("{:016x}", crash.hash), "frames": frames })
    });
    json!({
        "input": row.path.to_string_lossy(),
        "status": show::status(&row.outcome.end),
        "end": show::end(&row.outcome.end),
        "crash": crash,
        "said": row.note,
    })
}
