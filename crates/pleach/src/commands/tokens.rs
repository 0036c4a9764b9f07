//! `pleach tokens`: the functions that return tokens, and the tokens of an input.

use super::{read_input, tracer};
use crate::args::{Run, Tokens};
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::anyhow;
use pleach_abi::token::{How, TokenFunction};
use pleach_exec::triage::readable;
use pleach_exec::{End, Layout, Output, TokenSeen, Trace};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

pub fn run(args: Tokens) -> Result<Code, Failure> {
    match &args.input {
        None => list(&args),
        Some(input) => tokens_of(&args, input),
    }
}

/// Says what to do where a program has no token function.
pub fn require(layout: &Layout) -> Result<(), Failure> {
    if borders(layout).next().is_some() {
        return Ok(());
    }
    let candidates: Vec<_> = functions(layout).map(|f| readable(&f.name)).collect();
    let program = layout.fast.path.display();
    let hint = match candidates.is_empty() {
        true => "name one with -fpleach-token=NAME when compiling".into(),
        false => format!(
            "the result of {} is no number: say where the token is, \
             -fpleach-token=NAME:WHERE when compiling",
            candidates.join(", ")
        ),
    };
    let what = anyhow!("{program}: no function is known to return tokens; {hint} (docs/tokens.md)");
    Err(Failure::person(what))
}

/// The token functions of a program and its libraries, candidates included.
fn functions(layout: &Layout) -> impl Iterator<Item = &TokenFunction> {
    let mut libraries: Vec<_> = layout.libraries.iter().collect();
    libraries.sort_by_key(|(name, _)| *name);
    let images = libraries.into_iter().map(|(_, l)| &l.symbolic);
    std::iter::once(&layout.symbolic).chain(images).flat_map(|i| i.tokens.iter().map(|(_, f)| f))
}

fn borders(layout: &Layout) -> impl Iterator<Item = &TokenFunction> {
    functions(layout).filter(|f| f.how != How::Candidate)
}

fn list(args: &Tokens) -> Result<Code, Failure> {
    let layout = Layout::private(&args.program)?;
    let all: Vec<_> = functions(&layout).collect();
    let mut out = show::out();
    if args.json {
        let lines: Vec<_> = all.iter().map(|f| function_as_json(f)).collect();
        serde_json::to_writer(&mut out, &json!({ "functions": lines }))?;
        writeln!(out)?;
    } else {
        for f in &all {
            let (place, how) = match f.how {
                How::Name => (f.place.as_str(), "by its name"),
                How::Flag => (f.place.as_str(), "by -fpleach-token"),
                How::Source => ("-", "by pleach_token in its source"),
                How::Candidate => ("?", "not a border: its result is no number"),
            };
            let names = match f.names.len() {
                0 => String::new(),
                n => format!(", {n} names"),
            };
            let at = source_place(f);
            let line = format!("{:<20} {at:<22} {place:<16} {how}{names}", readable(&f.name));
            writeln!(out, "{line}")?;
        }
    }
    out.flush()?;
    drop(out);
    require(&layout)?;
    Ok(Code::Ok)
}

fn source_place(f: &TokenFunction) -> String {
    let short = f.file.rsplit('/').next().unwrap_or(&f.file);
    if f.line == 0 { short.into() } else { format!("{short}:{}", f.line) }
}

fn function_as_json(f: &TokenFunction) -> Value {
    let how = match f.how {
        How::Name => "name",
        How::Flag => "flag",
        How::Source => "source",
        How::Candidate => "candidate",
    };
    let names: Vec<_> =
        f.names.iter().map(|(n, name)| json!({ "number": n, "name": name })).collect();
    json!({
        "name": f.name, "file": f.file, "line": f.line, "place": f.place, "how": how,
        "names": names,
    })
}

fn tokens_of(args: &Tokens, path: &Path) -> Result<Code, Failure> {
    let input = read_input(path)?;
    let mut program = vec![args.program.clone().into_os_string()];
    program.extend(args.args.iter().cloned());
    let (timeout, cwd) = (args.timeout, args.cwd.clone());
    let run = Run { timeout, memory: 4096, socket: false, tty: None, cwd, program };
    let mut executor = tracer(&run, path, Output::Null, true)?;
    let outcome = executor.run(&input, Duration::from_millis(args.timeout))?;
    let trace = executor.trace()?;
    let layout = executor.layout();
    let mut out = show::out();
    if args.json {
        let line = json!({
            "tokens": seen_as_json(&trace, layout),
            "never_called": silent(&trace, layout).map(|f| &f.name).collect::<Vec<_>>(),
            "end": show::end(&outcome.end),
            "status": show::status(&outcome.end),
        });
        serde_json::to_writer(&mut out, &line)?;
        writeln!(out)?;
    } else {
        let mut from = 0;
        for (k, t) in trace.tokens.iter().enumerate() {
            let to = (t.read as usize).min(input.len());
            let bytes = input.get(from..to).unwrap_or(&[]);
            let name = number(&trace, layout, k, t.number);
            let bytes = match bytes.is_empty() {
                true => String::new(),
                false => format!("..{to} \"{}\"", bytes.escape_ascii()),
            };
            let line = format!("tok[{k}]  {:>5}  {name:<16} {bytes}", t.number);
            writeln!(out, "{}", show::cut(line.trim_end(), show::columns()))?;
            from = from.max(to);
        }
        let count = trace.tokens.len();
        let plural = if count == 1 { "" } else { "s" };
        writeln!(out, "{count} token{plural}; {}", show::end(&outcome.end))?;
        for line in never_called(&trace, layout) {
            writeln!(out, "{line}")?;
        }
        if trace.cut != 0 {
            let cut: Vec<_> = trace.cut_by().collect();
            writeln!(out, "cut off: no room for more {}", cut.join(", "))?;
        }
    }
    out.flush()?;
    Ok(if matches!(outcome.end, End::Lost(_)) { Code::Wanting } else { Code::Ok })
}

/// Token functions that gave none. Of marks in the source only the first counts: a
/// token does not say which mark it is from.
fn silent<'a>(
    trace: &'a Trace,
    layout: &'a Layout,
) -> impl Iterator<Item = &'a TokenFunction> + use<'a> {
    let sources: Vec<_> =
        (0..trace.tokens.len()).map(|k| trace.token_function(layout, k)).collect();
    borders(layout).filter(move |f| match f.how {
        How::Source => !sources.contains(&None),
        _ => !sources.iter().flatten().any(|s| std::ptr::eq(*s, *f)),
    })
}

/// A line for each token function that gave none.
pub fn never_called(trace: &Trace, layout: &Layout) -> Vec<String> {
    let others = !trace.tokens.is_empty();
    let line = |f: &TokenFunction| {
        let name = readable(&f.name);
        match f.how {
            How::Source => format!("the mark in {name} ({}) was never reached", source_place(f)),
            _ => {
                let called =
                    if others { "never called, or only by another" } else { "never called" };
                format!("{name} ({}) gave no token: it was {called}", source_place(f))
            }
        }
    };
    silent(trace, layout).map(line).collect()
}

/// A number by its name, as the character that it is, or as a number.
fn number(trace: &Trace, layout: &Layout, token: usize, number: i32) -> String {
    match (trace.token_name(layout, token, number), u8::try_from(number)) {
        (Some(name), _) => name.into(),
        (None, Ok(byte)) if byte.is_ascii_graphic() => {
            format!("'{}'", std::ascii::escape_default(byte))
        }
        _ => number.to_string(),
    }
}

/// All tokens of a run in one line.
pub fn in_a_row(trace: &Trace, layout: &Layout) -> String {
    const MOST: usize = 40;
    let words = trace.tokens.iter().enumerate().take(MOST);
    let mut words: Vec<_> = words.map(|(k, t)| number(trace, layout, k, t.number)).collect();
    if trace.tokens.len() > MOST {
        words.push("…".into());
    }
    if words.is_empty() { "none".into() } else { words.join(" ") }
}

/// A token between the events of a trace.
pub fn line(trace: &Trace, layout: &Layout, token: usize, seen: &TokenSeen) -> String {
    let function = trace.token_function(layout, token);
    let (place, name) = match function {
        Some(f) => (source_place(f), readable(&f.name)),
        None => ("-".into(), "pleach_token".into()),
    };
    let what = number(trace, layout, token, seen.number);
    format!("{:<14} {place:<18} {name:<16} - tok[{token}] is {what}", "token")
}

pub fn seen_as_json(trace: &Trace, layout: &Layout) -> Value {
    let one = |(k, t): (usize, &TokenSeen)| {
        json!({
            "number": t.number,
            "name": trace.token_name(layout, k, t.number),
            "function": trace.token_function(layout, k).map(|f| &f.name),
            "read": t.read,
            "events": t.events,
        })
    };
    trace.tokens.iter().enumerate().map(one).collect()
}
