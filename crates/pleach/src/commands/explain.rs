//! `pleach explain`: the path condition of an input, for people to read.
//!
//! One condition a line under the function that it is in, with its place in
//! the source. What is not a branch of the program is marked: `length` for
//! where the input ends, `pin` for an address that was held fast, `check` for
//! what must hold lest the program goes wrong, `model` for a decision inside a
//! function of libc.

use super::{read_input, tokens, tracer};
use crate::args::Explain;
use crate::exit::{Code, Failure};
use crate::show;
use pleach_abi::container::{ARG, ENV, FILE, SOCKET, STDIN};
use pleach_abi::event::Kind;
use pleach_campaign::container::{Stream, is_container, parse};
use pleach_campaign::trace::kind;
use pleach_campaign::{End, Output};
use pleach_expr::Printer;
use std::io::Write;
use std::time::Duration;

/// Readable in a window of this many columns.
const COLUMNS: usize = 80;

pub fn run(args: Explain) -> Result<Code, Failure> {
    let input = read_input(&args.input)?;
    let mut executor = tracer(&args.run, &args.input, Output::Null, args.tokens)?;
    let holes = super::holes(&args.holes, &input)?;
    let patience = Duration::from_millis(args.run.timeout);
    let outcome = executor.run_with(&input, &holes, patience)?;
    let trace = executor.trace()?;
    let layout = executor.layout();
    let symbols = show::symbols(layout, &trace);
    let printer = Printer::new(&trace.expr, &symbols);

    let lines: Vec<_> = trace
        .events
        .iter()
        .map(|event| {
            let (place, function) = match trace.place(layout, event) {
                Some((f, s)) => (show::place(f, s), show::name(f)),
                None => ("?".into(), "?".into()),
            };
            (place, function, mark(kind(event)), show::condition(&trace, layout, &printer, event))
        })
        .collect();
    let place_width = lines.iter().map(|l| l.0.chars().count()).max().unwrap_or(0).min(26);
    let mark_width = lines.iter().map(|l| l.2.len()).max().unwrap_or(0);
    let indent = 2 + place_width + 2 + if mark_width > 0 { mark_width + 2 } else { 0 };

    let mut out = show::out();
    let mut inside = String::new();
    for (place, function, mark, condition) in lines {
        if function != inside {
            writeln!(out, "{function}:")?;
            inside = function;
        }
        let head = if mark_width > 0 {
            format!("  {place:<place_width$}  {mark:<mark_width$}  ")
        } else {
            format!("  {place:<place_width$}  ")
        };
        for (i, text) in show::wrap(&condition, COLUMNS - indent).iter().enumerate() {
            match i {
                0 => writeln!(out, "{head}{text}")?,
                _ => writeln!(out, "{:indent$}{text}", "")?,
            }
        }
    }
    let count = trace.events.len();
    let plural = if count == 1 { "" } else { "s" };
    writeln!(out, "// {count} condition{plural}; {}", show::end(&outcome.end))?;
    if let Some(words) = show::unread(&trace, &input, &args.run) {
        writeln!(out, "// {words}")?;
        if let Some(libraries) = show::plain_libraries(&executor) {
            writeln!(out, "// {libraries}")?;
        }
    }
    for (number, hole) in holes.iter().enumerate() {
        let (from, to) = (hole.start, hole.start + hole.len);
        writeln!(out, "// len[{number}]: {} bytes, in[{from}..{to}]", hole.len)?;
    }
    if args.tokens {
        writeln!(out, "// tokens: {}", tokens::in_a_row(&trace, layout))?;
        for line in tokens::never_called(&trace, layout) {
            writeln!(out, "// {line}")?;
        }
    }
    for (number, stream) in streams(&input).iter().enumerate() {
        let what = match stream.kind {
            STDIN => "standard input",
            FILE => "the file @@",
            ARG => "an argument",
            ENV => "a variable",
            SOCKET => "a connection",
            _ => "unknown",
        };
        let (from, len) = (stream.offset, stream.bytes.len());
        writeln!(out, "// stream {number}: {what}, {len} bytes from in[{from}]")?;
    }
    if trace.cut != 0 {
        let cut: Vec<_> = trace.cut_by().collect();
        writeln!(out, "// cut off: no room for more {}", cut.join(", "))?;
    }
    out.flush()?;
    Ok(if matches!(outcome.end, End::Lost(_)) { Code::Wanting } else { Code::Ok })
}

/// The streams of a container; none for a plain input.
fn streams(input: &[u8]) -> Vec<Stream<'_>> {
    if is_container(input) { parse(input).unwrap_or_default() } else { Vec::new() }
}

/// Branches of the program have no mark.
fn mark(kind: Kind) -> &'static str {
    match kind {
        Kind::Branch => "",
        other if other.is_check() => "check",
        other => show::word(other),
    }
}
