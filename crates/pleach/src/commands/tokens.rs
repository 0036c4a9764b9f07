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
        None => list_functions(&args),
        Some(input) => list_tokens(&args, input),
    }
}

/// Refuses a program without a token function, and says what to do.
pub fn require(layout: &Layout) -> Result<(), Failure> {
    if usable_functions(layout).next().is_some() {
        return Ok(());
    }
    let candidates: Vec<_> = all_functions(layout).map(|f| readable(&f.name)).collect();
    let program = layout.fast.path.display();
    let hint = match candidates.is_empty() {
        true => "name one with -fpleach-token=NAME when you compile".into(),
        false => format!(
            "the result of {} is not a number: say where the token is with \
             -fpleach-token=NAME:WHERE when you compile",
            candidates.join(", ")
        ),
    };
    let what = anyhow!("{program}: no function is known to return tokens; {hint} (docs/tokens.md)");
    Err(Failure::user_error(what))
}

/// The token functions of a program and its libraries, also those that cannot be used.
fn all_functions(layout: &Layout) -> impl Iterator<Item = &TokenFunction> {
    let mut libraries: Vec<_> = layout.libraries.iter().collect();
    libraries.sort_by_key(|(name, _)| *name);
    let images = libraries.into_iter().map(|(_, l)| &l.symbolic);
    std::iter::once(&layout.symbolic).chain(images).flat_map(|i| i.tokens.iter().map(|(_, f)| f))
}

/// Token functions whose result is a number, or whose token was named by the user.
fn usable_functions(layout: &Layout) -> impl Iterator<Item = &TokenFunction> {
    all_functions(layout).filter(|f| f.how != How::Candidate)
}

fn list_functions(args: &Tokens) -> Result<Code, Failure> {
    let layout = Layout::private(&args.program)?;
    let all: Vec<_> = all_functions(&layout).collect();
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
                How::Candidate => ("?", "not used: its result is not a number"),
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

fn list_tokens(args: &Tokens, path: &Path) -> Result<Code, Failure> {
    let input = read_input(path)?;
    let mut program = vec![args.program.clone().into_os_string()];
    program.extend(args.args.iter().cloned());
    let (timeout, cwd) = (Some(args.timeout), args.cwd.clone());
    let run = Run { timeout, memory: 4096, socket: false, tty: None, cwd, program };
    let mut executor = tracer(&run, path, Output::Null, true)?;
    let outcome = executor.run(&input, Duration::from_millis(args.timeout))?;
    let trace = executor.trace()?;
    let layout = executor.layout();
    let mut out = show::out();
    if args.json {
        let line = json!({
            "tokens": seen_as_json(&trace, layout),
            "never_called": functions_without_token(&trace, layout).map(|f| &f.name).collect::<Vec<_>>(),
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
            let name = token_text(&trace, layout, k, t.number);
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
    Ok(if matches!(outcome.end, End::Lost(_)) { Code::Failed } else { Code::Ok })
}

/// Token functions that returned no token in a run. If there are several marks in the
/// source, a token of one counts for all, because a token does not tell its mark.
fn functions_without_token<'a>(
    trace: &'a Trace,
    layout: &'a Layout,
) -> impl Iterator<Item = &'a TokenFunction> + use<'a> {
    let sources: Vec<_> =
        (0..trace.tokens.len()).map(|k| trace.token_function(layout, k)).collect();
    usable_functions(layout).filter(move |f| match f.how {
        How::Source => !sources.contains(&None),
        _ => !sources.iter().flatten().any(|s| std::ptr::eq(*s, *f)),
    })
}

/// A line for each token function that returned no token.
pub fn never_called(trace: &Trace, layout: &Layout) -> Vec<String> {
    let others_returned = !trace.tokens.is_empty();
    let line = |f: &TokenFunction| {
        let name = readable(&f.name);
        match f.how {
            How::Source => format!("the mark in {name} ({}) was never reached", source_place(f)),
            _ => {
                let called = match others_returned {
                    true => "never called, or only by another token function",
                    false => "never called",
                };
                format!("{name} ({}) returned no token: it was {called}", source_place(f))
            }
        }
    };
    functions_without_token(trace, layout).map(line).collect()
}

/// A token number by its name, as a character, or as a number.
fn token_text(trace: &Trace, layout: &Layout, token: usize, number: i32) -> String {
    match (trace.token_name(layout, token, number), u8::try_from(number)) {
        (Some(name), _) => name.into(),
        (None, Ok(byte)) if byte.is_ascii_graphic() => {
            format!("'{}'", std::ascii::escape_default(byte))
        }
        _ => number.to_string(),
    }
}

/// All tokens of a run on one line.
pub fn one_line(trace: &Trace, layout: &Layout) -> String {
    const MAX_TOKENS: usize = 40;
    let words = trace.tokens.iter().enumerate().take(MAX_TOKENS);
    let mut words: Vec<_> = words.map(|(k, t)| token_text(trace, layout, k, t.number)).collect();
    if trace.tokens.len() > MAX_TOKENS {
        words.push("…".into());
    }
    if words.is_empty() { "none".into() } else { words.join(" ") }
}

/// The line for a token between the events of a trace.
pub fn event_line(trace: &Trace, layout: &Layout, token: usize, seen: &TokenSeen) -> String {
    let function = trace.token_function(layout, token);
    let (place, name) = match function {
        Some(f) => (source_place(f), readable(&f.name)),
        None => ("-".into(), "pleach_token".into()),
    };
    let what = token_text(trace, layout, token, seen.number);
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
