//! Checks one program at one optimisation level, and reports what was wrong.

use super::expectation::{Ending, Program, Run};
use super::mutation::{Random, mutate};
use super::prediction::Path;
use super::workshop::{Behaviour, Workshop};
use pleach_abi::event::{Event, Kind};
use pleach_exec::trace::{TargetSymbols, kind};
use pleach_exec::{End, Executor, Half, Layout, Output, TargetOptions, Trace, container, oracle};
use pleach_expr::Printer;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

const MUTATIONS: usize = 20;
/// Only a run that hangs takes this long.
const TIMEOUT: Duration = Duration::from_secs(20);
/// A comment has at most this much of a path: lines, and characters in each.
const MAX_LINES: usize = 24;
const MAX_COLUMNS: usize = 150;
/// Losses that every program may have: a label is dropped, or an address becomes a
/// condition, but no condition is wrong.
const HARMLESS_LOSSES: [&str; 2] = ["healed", "pinned"];

/// The result of checking a program at one level.
#[derive(Default)]
pub struct Report {
    pub failures: Vec<String>,
    /// The path condition of each run, as comments show it.
    pub paths: Vec<Vec<String>>,
}

/// Builds the program and checks everything. An error means that a check could not be made.
pub fn examine(program: &Program, level: &str) -> Result<Report, String> {
    let shop = Workshop::new(program, level)?;
    let layout = Arc::new(Layout::private(&shop.both).map_err(|e| e.to_string())?);
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    // The comment has the paths of the last level.
    let compare = !update && program.levels.last() == Some(&level);
    let mut report = Report::default();
    for (number, run) in program.runs.iter().enumerate() {
        let mut bench = Bench { program, run, layout: &layout, failures: Vec::new() };
        if !program.socket {
            bench.check_behaviour(&shop)?;
        }
        let path = bench.check_traces(compare)?;
        report.paths.push(path);
        let with_number = |f: String| format!("run {}: {f}", number + 1);
        report.failures.extend(bench.failures.into_iter().map(with_number));
    }
    Ok(report)
}

struct Bench<'a> {
    program: &'a Program,
    run: &'a Run,
    layout: &'a Arc<Layout>,
    failures: Vec<String>,
}

impl Bench<'_> {
    fn fail(&mut self, text: String) {
        self.failures.push(text);
    }

    fn check_behaviour(&mut self, shop: &Workshop) -> Result<(), String> {
        for (name, words) in shop.processes() {
            let seen = shop.behaviour(&words, self.run)?;
            self.compare_behaviour(name, &seen);
        }
        Ok(())
    }

    fn compare_behaviour(&mut self, name: &str, seen: &Behaviour) {
        if seen.end != self.run.end {
            let end = |e: Option<Ending>| e.map_or("a timeout".into(), |e| format!("{e:?}"));
            self.fail(format!(
                "behaviour: {name} ends by {}, not {}",
                end(seen.end),
                end(self.run.end)
            ));
        }
        if seen.stdout != self.run.stdout {
            let text = seen.stdout.escape_ascii();
            self.fail(format!(
                "behaviour: {name} prints \"{text}\", not \"{}\"",
                self.run.stdout.escape_ascii()
            ));
        }
    }

    /// Traces the input of the run and checks the trace. Returns the lines of its path.
    fn check_traces(&mut self, compare: bool) -> Result<Vec<String>, String> {
        let mut executor = self.executor()?;
        let file = self.run.streams.file();
        let (seen, trace, _) = trace(&mut executor, &file)?;
        self.compare_behaviour("symbolic half under the driver", &seen);
        for wrong in oracle::check(&trace, &container::view(&file), 3) {
            self.fail(format!("oracle: {wrong}"));
        }
        self.check_losses(&trace);
        let path = self.path_lines(&trace);
        if compare && path != self.run.path {
            self.fail(format!("path: it is\n    {}", path.join("\n    ")));
        }
        self.check_bytes(&trace, &file);
        self.check_predictions(&trace, &file, &mut executor)?;
        Ok(path)
    }

    fn executor(&self) -> Result<Executor, String> {
        let mut args = vec![OsString::from("program")];
        args.extend(self.run.args.iter().map(OsString::from));
        let mut target = TargetOptions::new(Half::Symbolic, args);
        target.output = Output::Capture { limit: 1 << 20 };
        target.socket = self.program.socket;
        Executor::new(self.layout.clone(), target).map_err(|e| e.to_string())
    }

    fn check_losses(&mut self, trace: &Trace) {
        if trace.cut != 0 {
            let what: Vec<_> = trace.cut_by().collect();
            self.fail(format!("losses: the trace is cut: {}", what.join(", ")));
        }
        let allowed = |name: &str| {
            HARMLESS_LOSSES.contains(&name) || self.run.losses.iter().any(|l| l == name)
        };
        let lost: Vec<_> = trace
            .named_losses()
            .filter(|(name, _)| !allowed(name))
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        if !lost.is_empty() {
            let names = trace.unmodelled.join(", ");
            self.fail(format!("losses: {} {names}", lost.join(", ")));
        }
    }

    /// The path condition as a comment shows it; nothing if it depends on the order in which
    /// threads run.
    fn path_lines(&self, trace: &Trace) -> Vec<String> {
        if self.run.diverges.as_ref().is_some_and(|d| d.contains("threads")) {
            return Vec::new();
        }
        let mut lines: Vec<_> =
            trace.events.iter().take(MAX_LINES).map(|e| self.event_line(trace, e)).collect();
        for line in &mut lines {
            *line = hide_addresses(line);
            if line.chars().count() > MAX_COLUMNS {
                *line = line.chars().take(MAX_COLUMNS).chain(['…']).collect();
            }
        }
        if trace.events.len() > MAX_LINES {
            lines.push("…".into());
        }
        lines
    }

    fn event_line(&self, trace: &Trace, event: &Event) -> String {
        let symbols = TargetSymbols { layout: self.layout, trace };
        let printer = Printer::new(&trace.expr, &symbols);
        let mark = match kind(event) {
            Kind::Branch => "",
            Kind::Switch => "switch: ",
            Kind::Select => "select: ",
            Kind::Len => "length: ",
            Kind::Pin => "pin: ",
            Kind::Model => "model: ",
            Kind::Assume => "assume: ",
            Kind::Indirect => "jump: ",
            _ => "check: ",
        };
        let condition = match kind(event) {
            Kind::Len => Printer::longer(event.stream, event.aux, event.dir == 1),
            Kind::Switch => {
                let cases = trace.cases(self.layout, event);
                printer.case(event.label, trace.expr.recorded(event.label), cases)
            }
            Kind::Indirect => printer.equals(event.label, trace.expr.recorded(event.label)),
            _ => printer.condition(event.label, event.dir == 1),
        };
        format!("{mark}{condition}")
    }

    /// An event for a message: its number, kind, source line and condition.
    fn describe_event(&self, trace: &Trace, at: Option<usize>) -> String {
        let Some(at) = at else { return "nowhere".into() };
        let Some(event) = trace.events.get(at) else {
            return format!("at the end, after {at} events");
        };
        let place = trace.place(self.layout, event);
        let line = place.map_or(String::new(), |(f, s)| {
            format!(" at {}:{}", if s.file.is_empty() { &f.file } else { &s.file }, s.line)
        });
        let mut text = self.event_line(trace, event);
        text = text.chars().take(MAX_COLUMNS).collect();
        format!("at event {at} ({:?}{line}: {text})", kind(event))
    }

    /// Checks `must:` and `free:` with every value of one byte while the other bytes stay.
    fn check_bytes(&mut self, trace: &Trace, file: &[u8]) {
        let path = Path::new(trace, self.layout, file);
        let stays = |offset: usize, byte: u8| {
            let mut other = file.to_vec();
            if let Some(b) = other.get_mut(offset) {
                *b = byte;
            }
            path.predict(&other).is_none()
        };
        let mut wrong = Vec::new();
        for must in &self.run.must {
            if let Some(byte) = (0..=255).find(|&b| !must.holds(b) && stays(must.offset, b)) {
                wrong.push(format!("must: in[{}] may be {byte:#x} on this path", must.offset));
            }
        }
        for &offset in &self.run.free {
            if let Some(byte) = (0..=255).find(|&b| !stays(offset, b)) {
                wrong.push(format!("free: in[{offset}] may not be {byte:#x} on this path"));
            }
        }
        self.failures.extend(wrong);
    }

    fn check_predictions(
        &mut self,
        trace_here: &Trace,
        file: &[u8],
        executor: &mut Executor,
    ) -> Result<(), String> {
        let path = Path::new(trace_here, self.layout, file);
        let run = self.run;
        let places = payload_offsets(file);
        let resize = !container::is_container(file);
        let mut random = Random::from_name(&format!("{:?}{file:?}", self.program.file.file_name()));
        let mut inputs: Vec<(Option<bool>, Vec<u8>)> = Vec::new();
        inputs.extend(run.same.iter().map(|i| (Some(true), i.clone())));
        inputs.extend(run.other.iter().map(|i| (Some(false), i.clone())));
        inputs.extend((0..MUTATIONS).map(|_| (None, mutate(file, &places, resize, &mut random))));
        for (same, input) in inputs {
            let predicted = path.predict(&input);
            let (_, there, ended) = trace(executor, &input)?;
            // The input is too short for its typed calls. Where such a run ends is no
            // decision.
            if ended && there.events.len() < trace_here.events.len() {
                continue;
            }
            let other = Path::new(&there, self.layout, &input);
            let parting = path.leaves(&other);
            let left = parting.map(|p| p.here);
            let text = input.escape_ascii();
            if same.is_some_and(|s| s != predicted.is_none()) {
                let should = if same == Some(true) { "same: stay on" } else { "other: leave" };
                let at = self.describe_event(trace_here, predicted);
                self.fail(format!(
                    "{should} the path, should \"{text}\"; its conditions fail {at}"
                ));
            }
            if !path.agrees(&other, parting) && run.diverges.is_none() {
                let (should, did) = (
                    self.describe_event(trace_here, predicted),
                    self.describe_event(trace_here, left),
                );
                let instead = self.describe_event(&there, parting.map(|p| p.there));
                self.fail(format!(
                    "prediction: \"{text}\" should leave {should}, it left {did}, for {instead}"
                ));
            }
        }
        Ok(())
    }
}

/// A negative number with at least this many digits is a distance from an address to zero.
const NEGATIVE_ADDRESS_DIGITS: usize = 14;

/// Replaces addresses, which differ from machine to machine, by `…`. Those of the program,
/// its libraries and stack have twelve digits. Names of tables without a symbol contain
/// addresses, too.
fn hide_addresses(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((at, mark)) =
        ["0x", "table_", "-"].iter().filter_map(|m| Some((rest.find(m)?, m.len()))).min()
    {
        let (before, number) = rest.split_at(at + mark);
        let digits = number.bytes().take_while(u8::is_ascii_hexdigit).count();
        let (number, after) = number.split_at(digits);
        let hexadecimal = digits == 12 && number.starts_with(['5', '7']);
        let address = hexadecimal || (before.ends_with('-') && digits >= NEGATIVE_ADDRESS_DIGITS);
        out.extend([before, if address { "…" } else { number }]);
        rest = after;
    }
    out + rest
}

/// Runs an input: its behaviour, its trace, and true if a typed call past the end of the
/// input ended it.
fn trace(executor: &mut Executor, input: &[u8]) -> Result<(Behaviour, Trace, bool), String> {
    let outcome = executor.run(input, TIMEOUT).map_err(|e| e.to_string())?;
    let end = match outcome.end {
        End::Exit(status) => Some(Ending::Exit(status)),
        End::Signal(signal) => Some(Ending::Signal(signal)),
        End::Timeout => None,
        other => return Err(format!("the run on \"{}\" ended by {other:?}", input.escape_ascii())),
    };
    let trace = executor.trace().map_err(|e| format!("on \"{}\": {e}", input.escape_ascii()))?;
    Ok((Behaviour { stdout: outcome.stdout, end }, trace, outcome.calls.ended))
}

/// The offsets of bytes that mutations may change: all, or those in the streams of a
/// container. The name of an environment variable is no input.
fn payload_offsets(file: &[u8]) -> Vec<usize> {
    if !container::is_container(file) {
        return (0..file.len()).collect();
    }
    let streams = container::parse(file).unwrap_or_default();
    let places = |s: &container::Stream| {
        let name = match s.kind {
            pleach_abi::container::ENV => {
                s.bytes.iter().position(|&b| b == b'=').map_or(0, |eq| eq + 1)
            }
            _ => 0,
        };
        s.offset + name..s.offset + s.bytes.len()
    };
    streams.iter().flat_map(places).collect()
}
