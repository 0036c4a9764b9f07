//! `pleach trace`: the decisions of the symbolic half on an input, and the cost of the run.

use super::{read_input, record, time_limit, tokens, tracer};
use crate::args;
use crate::exit::{Code, Failure};
use crate::show;
use pleach_exec::container::view;
use pleach_exec::trace::kind;
use pleach_exec::{End, Executor, Outcome, Output, Trace, oracle};
use pleach_expr::Printer;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::time::Duration;

/// At most this many bytes of the target's output are shown.
const MAX_OUTPUT: u64 = 16 << 20;
/// At most this many differences are shown.
const MAX_DIFFERENCES: usize = 10;

pub fn run(args: args::Trace) -> Result<Code, Failure> {
    let input = read_input(&args.input)?;
    let output = if args.capture { Output::Capture { limit: MAX_OUTPUT } } else { Output::Null };
    let mut executor = tracer(&args.run, &args.input, output, args.tokens)?;
    let holes = super::parse_holes(&args.holes, &input)?;
    let timeout = time_limit(&args.run, &args.input);
    let mut cpu = Duration::ZERO;
    let mut last = None;
    for _ in 0..args.repeat {
        let outcome = executor.run_with(&input, &holes, timeout)?;
        cpu += outcome.cpu;
        last = Some(outcome);
    }
    let Some(outcome) = last else { return Ok(Code::Internal) };
    let trace = executor.trace()?;
    if let Some(file) = &args.record {
        record::write(file, executor.layout(), &trace, &input)?;
    }
    let differences = match args.check {
        true => oracle::check(&trace, &view(&input), MAX_DIFFERENCES),
        false => Vec::new(),
    };
    let mean = cpu / args.repeat;
    let mut out = show::out();
    if args.json {
        let mut line = as_json(&args, &trace, &outcome, mean, input.len(), differences.len());
        if args.tokens {
            line["tokens"] = tokens::seen_as_json(&trace, executor.layout());
        }
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    } else {
        print_events(&mut out, &executor, &trace)?;
        print_summary(&mut out, &args, &trace, &outcome, mean, &input)?;
        let is_unread = trace.input_read == 0 && !input.is_empty();
        if let Some(libraries) = show::plain_libraries(&executor).filter(|_| is_unread) {
            writeln!(out, "{libraries}")?;
        }
    }
    out.flush()?;
    if args.capture {
        std::io::stderr().write_all(&outcome.stdout)?;
        std::io::stderr().write_all(&outcome.stderr)?;
    }
    for difference in &differences {
        eprintln!("pleach: {difference}");
    }
    let lost = matches!(outcome.end, End::Lost(_));
    Ok(if differences.is_empty() && !lost { Code::Ok } else { Code::Failed })
}

fn print_events(out: &mut impl Write, executor: &Executor, trace: &Trace) -> Result<(), Failure> {
    let layout = executor.layout();
    let symbols = show::symbols(layout, trace);
    let printer = Printer::new(&trace.expr, &symbols);
    let columns = show::columns();
    let mut tokens = trace.tokens.iter().enumerate().peekable();
    for (n, event) in trace.events.iter().enumerate() {
        while let Some((k, t)) = tokens.next_if(|(_, t)| t.events as usize <= n) {
            writeln!(out, "{}", tokens::event_line(trace, layout, k, t))?;
        }
        let (place, function) = match trace.place(layout, event) {
            Some((f, s)) => (show::place(f, s), show::name(f)),
            None => ("?".into(), "?".into()),
        };
        let condition = show::condition(trace, layout, &printer, event);
        let word = show::word(kind(event));
        let line = format!("{word:<14} {place:<18} {function:<16} {} {condition}", event.dir);
        writeln!(out, "{}", show::cut(&line, columns))?;
    }
    for (k, t) in tokens {
        writeln!(out, "{}", tokens::event_line(trace, layout, k, t))?;
    }
    Ok(())
}

fn print_summary(
    out: &mut impl Write,
    args: &args::Trace,
    trace: &Trace,
    outcome: &Outcome,
    mean: Duration,
    input: &[u8],
) -> Result<(), Failure> {
    let mean_of = match args.repeat {
        1 => String::new(),
        n => format!(" (mean of {n} runs)"),
    };
    writeln!(
        out,
        "{} events, {} nodes, {} bytes of snapshots; {} of {} input bytes read",
        trace.events.len(),
        trace.nodes.saturating_sub(1),
        trace.snapshot_bytes,
        trace.input_read,
        input.len(),
    )?;
    if let Some(message) = show::unread(trace, input, &args.run) {
        writeln!(out, "{message}")?;
    }
    if args.tokens {
        let count = trace.tokens.len();
        writeln!(out, "{count} token{}", if count == 1 { "" } else { "s" })?;
    }
    writeln!(
        out,
        "{}; {:.3} ms CPU{mean_of}, {} KiB resident",
        show::end(&outcome.end),
        mean.as_secs_f64() * 1e3,
        outcome.rss_kib,
    )?;
    let losses: Vec<_> = trace.named_losses().map(|(name, n)| format!("{name} {n}")).collect();
    if !losses.is_empty() {
        writeln!(out, "labels lost: {}", losses.join(", "))?;
    }
    if !trace.unmodelled.is_empty() {
        writeln!(out, "functions without a model: {}", trace.unmodelled.join(", "))?;
    }
    let cut: Vec<_> = trace.cut_by().collect();
    if !cut.is_empty() {
        writeln!(out, "the trace is cut: no room for more {}", cut.join(", "))?;
    }
    Ok(())
}

fn as_json(
    args: &args::Trace,
    trace: &Trace,
    outcome: &Outcome,
    mean: Duration,
    input: usize,
    differences: usize,
) -> Value {
    let losses: Map<String, Value> =
        trace.named_losses().map(|(name, n)| (name.to_string(), n.into())).collect();
    let mut line = json!({
        "events": trace.events.len(),
        "nodes": trace.nodes.saturating_sub(1),
        "input_bytes": input,
        "input_read": trace.input_read,
        "cpu_ms": mean.as_secs_f64() * 1e3,
        "runs": args.repeat,
        "rss_kib": outcome.rss_kib,
        "status": show::status(&outcome.end),
        "end": show::end(&outcome.end),
        "losses": losses,
        "unmodelled": trace.unmodelled,
        "cut": trace.cut_by().collect::<Vec<_>>(),
        "snapshot_bytes": trace.snapshot_bytes,
    });
    if args.check {
        line["disagreements"] = differences.into();
    }
    line
}
