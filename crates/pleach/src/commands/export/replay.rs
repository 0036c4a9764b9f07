//! Replays inputs on the fast half, for reports: how each ended, which crash it is, how the
//! program got there, and the coverage of all.

use crate::args::Run;
use crate::commands::{extension, target, time_limit};
use crate::exit::Failure;
use crate::show;
use pleach_abi::event::Kind;
use pleach_exec::source::path_in;
use pleach_exec::trace::kind;
use pleach_exec::{End, Executor, Half, Layout, Output, TargetOptions, Triage};
use pleach_expr::Printer;
use pleach_report::coverage::{Collector, Coverage};
use pleach_report::export::{Decision, Outcome};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// At most this many bytes of a run's output are kept.
const MAX_OUTPUT: u64 = 16 << 20;
/// At most this many decisions lead to a crash in a report: the last ones.
const MAX_DECISIONS: usize = 40;
/// A condition with more characters is cut.
const MAX_CONDITION: usize = 200;

pub struct Replayer {
    pub layout: Arc<Layout>,
    pub executor: Executor,
    triage: Triage,
    options: TargetOptions,
    /// Made for the first crash.
    symbolic: Option<Executor>,
    collector: Collector,
    run: Run,
}

impl Replayer {
    /// `first` is an input: its extension is that of all. `system`: coverage includes the
    /// system's headers.
    pub fn new(run: &Run, first: &Path, system: bool) -> Result<Replayer, Failure> {
        let layout = Arc::new(Layout::private(Path::new(&run.program[0]))?);
        let output = Output::Capture { limit: MAX_OUTPUT };
        let mut options = target(Half::Fast, run, first, output)?;
        options.extension = extension(first).unwrap_or_default();
        let timeout = time_limit(run, first);
        let mut executor = Executor::new(layout.clone(), options.clone())?;
        executor.start()?;
        Ok(Replayer {
            triage: Triage::new(layout.clone(), &options, timeout)?,
            executor,
            symbolic: None,
            collector: Collector::new(layout.clone(), system),
            layout,
            options,
            run: run.clone(),
        })
    }

    /// Runs an input, and adds its coverage.
    pub fn run(&mut self, path: &Path, input: &[u8]) -> Result<Outcome, Failure> {
        self.run_within(path, input, time_limit(&self.run, path))
    }

    /// The same, with a time limit.
    pub fn run_within(
        &mut self,
        path: &Path,
        input: &[u8],
        timeout: Duration,
    ) -> Result<Outcome, Failure> {
        let outcome = self.executor.run(input, timeout)?;
        let has_exited = matches!(outcome.end, End::Exit(_));
        self.collector.add(&self.executor.counters(), has_exited);
        // The first round of a persistent process may take other branches than later ones.
        if outcome.round == 1 && self.executor.is_waiting() {
            self.executor.run(input, timeout)?;
            self.collector.add(&self.executor.counters(), has_exited);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut result = Outcome {
            name,
            path: path.display().to_string(),
            end: show::end(&outcome.end),
            has_passed: has_exited,
            time: outcome.cpu,
            stdout: outcome.stdout,
            stderr: outcome.stderr,
            crash: None,
            is_known: false,
            path_condition: Vec::new(),
        };
        if !has_exited {
            self.triage.set_timeout(timeout);
            let again = self.triage.examine(input)?;
            result.crash = again.crash;
            result.stderr = again.outcome.stderr;
            result.path_condition = self.decisions(input, timeout)?;
        }
        Ok(result)
    }

    /// The last decisions of the program on an input. None if they cannot be traced: a crash
    /// is a crash without them.
    fn decisions(&mut self, input: &[u8], timeout: Duration) -> Result<Vec<Decision>, Failure> {
        let symbolic = match &mut self.symbolic {
            Some(symbolic) => symbolic,
            None => {
                let (half, output) = (Half::Symbolic, Output::Null);
                let options = TargetOptions { half, output, ..self.options.clone() };
                self.symbolic.insert(Executor::new(self.layout.clone(), options)?)
            }
        };
        symbolic.run(input, timeout)?;
        let Ok(trace) = symbolic.bounded_trace() else { return Ok(Vec::new()) };
        let symbols = show::symbols(&self.layout, &trace);
        let printer = Printer::new(&trace.expr, &symbols);
        let is_branch =
            |k: Kind| matches!(k, Kind::Branch | Kind::Switch | Kind::Select | Kind::Len);
        let mut found = Vec::new();
        for event in trace.events.iter().rev().filter(|e| is_branch(kind(e))) {
            let Some((function, site)) = trace.place(&self.layout, event) else { continue };
            if site.line == 0 {
                continue;
            }
            let condition = show::condition(&trace, &self.layout, &printer, event);
            found.push(Decision {
                file: path_in(function, function.file_of(site)),
                line: site.line,
                column: site.column,
                condition: show::cut(&condition, Some(MAX_CONDITION)),
            });
            if found.len() == MAX_DECISIONS {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }

    /// The coverage of all runs.
    pub fn coverage(self) -> Coverage {
        self.collector.finish()
    }
}
