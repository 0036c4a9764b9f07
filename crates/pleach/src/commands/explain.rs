//! `pleach explain`: the path condition of an input.
//!
//! Each condition is on one line, under its function, with its place in the source.
//! Conditions that are not branches of the program have a mark: `length` for the end of the
//! input, `pin` for an address that is held at its value, `check` for a condition without
//! which the program fails, `model` for a decision inside a libc function.

use super::{read_input, time_limit, tokens, tracer};
use crate::args::{Explain, Span};
use crate::exit::{Code, Failure};
use crate::show;
use pleach_abi::container::{ARG, ENV, FILE, SOCKET, STDIN};
use pleach_abi::event::{Event, Kind};
use pleach_abi::node::Op;
use pleach_exec::container::{Stream, is_container, parse};
use pleach_exec::trace::{Trace, kind};
use pleach_exec::{End, Layout, Output};
use pleach_expr::{Expr, Printer};
use std::io::Write;
use std::path::Path;

/// Long conditions are wrapped at this column.
const COLUMNS: usize = 80;

pub fn run(args: Explain) -> Result<Code, Failure> {
    let input = read_input(&args.input)?;
    let mut executor = tracer(&args.run, &args.input, Output::Null, args.tokens)?;
    let holes = super::parse_holes(&args.holes, &input)?;
    let timeout = time_limit(&args.run, &args.input);
    let outcome = executor.run_with(&input, &holes, timeout)?;
    let trace = executor.trace()?;
    let layout = executor.layout();
    let symbols = show::symbols(layout, &trace);
    let printer = Printer::new(&trace.expr, &symbols);

    let filter = Filter::new(&args, &trace.expr);
    let mut selected: Vec<&Event> =
        trace.events.iter().filter(|event| filter.selects(&trace, layout, event)).collect();
    let found = selected.len();
    if args.limit > 0 {
        selected.truncate(args.limit);
    }
    let shown = selected.len();
    let lines: Vec<_> = selected
        .into_iter()
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
    let mut current_function = String::new();
    for (place, function, mark, condition) in lines {
        if function != current_function {
            writeln!(out, "{function}:")?;
            current_function = function;
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
    if filter.is_active() {
        writeln!(out, "// {found} of them match --function, --file, --line and --bytes")?;
    }
    if shown < found {
        writeln!(
            out,
            "// the first {shown} are shown; --limit 0 shows all, --function, --file, --line and \
             --bytes select some"
        )?;
    }
    if let Some(message) = show::unread(&trace, &input, &args.run) {
        writeln!(out, "// {message}")?;
        if let Some(libraries) = show::plain_libraries(&executor) {
            writeln!(out, "// {libraries}")?;
        }
    }
    for (number, hole) in holes.iter().enumerate() {
        let (from, to) = (hole.start, hole.start + hole.len);
        writeln!(out, "// len[{number}]: {} bytes, in[{from}..{to}]", hole.len)?;
    }
    if args.tokens {
        writeln!(out, "// tokens: {}", tokens::one_line(&trace, layout))?;
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
    Ok(if matches!(outcome.end, End::Lost(_)) { Code::Failed } else { Code::Ok })
}

/// Selects the conditions that the user asked for.
struct Filter<'a> {
    args: &'a Explain,
    /// For each label, true if it depends on the bytes of `--bytes`.
    depends: Option<Vec<bool>>,
}

impl<'a> Filter<'a> {
    fn new(args: &'a Explain, expr: &Expr) -> Filter<'a> {
        Filter { args, depends: args.bytes.map(|bytes| find_dependent(expr, bytes)) }
    }

    fn is_active(&self) -> bool {
        let Explain { function, file, line, bytes, .. } = self.args;
        !function.is_empty() || file.is_some() || line.is_some() || bytes.is_some()
    }

    fn selects(&self, trace: &Trace, layout: &Layout, event: &Event) -> bool {
        let by_place =
            !self.args.function.is_empty() || self.args.file.is_some() || self.args.line.is_some();
        (!by_place || self.selects_place(trace, layout, event)) && self.selects_bytes(event)
    }

    fn selects_place(&self, trace: &Trace, layout: &Layout, event: &Event) -> bool {
        let Some((function, site)) = trace.place(layout, event) else { return false };
        let Explain { function: names, file, line, .. } = self.args;
        let name = show::name(function);
        let has_name = names.is_empty()
            || names.iter().any(|n| *n == name || *n == function.name || is_method(&name, n));
        has_name
            && file.as_ref().is_none_or(|f| Path::new(function.file_of(site)).ends_with(f))
            && line.is_none_or(|l| l.contains(site.line))
    }

    fn selects_bytes(&self, event: &Event) -> bool {
        match (&self.depends, self.args.bytes, kind(event)) {
            (Some(_), Some(bytes), Kind::Len) => bytes.contains(event.aux),
            (Some(depends), ..) => depends.get(event.label as usize).is_some_and(|d| *d),
            _ => true,
        }
    }
}

/// True if a name is a method of this name: `Parser::next` is also found by `next`.
fn is_method(name: &str, wanted: &str) -> bool {
    let name = name.split(['(', '<']).next().unwrap_or(name);
    name.rsplit("::").next() == Some(wanted)
}

/// For each label, true if its expression depends on one of the bytes. One pass is enough,
/// because operands come first.
fn find_dependent(expr: &Expr, bytes: Span) -> Vec<bool> {
    let size = expr.order().iter().max().map_or(0, |&label| label as usize + 1);
    let mut depends = vec![false; size];
    for &label in expr.order() {
        let node = expr.node(label);
        depends[label as usize] = match expr.op(label) {
            Op::Input => bytes.contains(node.a),
            Op::Read => {
                let first = node.a - 1;
                first <= bytes.last && first + expr.width(label) / 8 > bytes.first
            }
            _ => expr.operands(label).any(|l| depends.get(l as usize).is_some_and(|d| *d)),
        };
    }
    depends
}

/// The streams of a container; none for a plain input.
fn streams(input: &[u8]) -> Vec<Stream<'_>> {
    if is_container(input) { parse(input).unwrap_or_default() } else { Vec::new() }
}

/// The mark of a condition; empty for branches of the program.
fn mark(kind: Kind) -> &'static str {
    match kind {
        Kind::Branch => "",
        other if other.is_check() => "check",
        other => show::word(other),
    }
}
