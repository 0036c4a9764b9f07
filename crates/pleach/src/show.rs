//! How places in the source, conditions and ends of runs are printed.

use crate::args::Run;
use pleach_abi::event::{Event, Kind};
use pleach_abi::function::{Function, SiteInfo};
use pleach_abi::section::SiteKind;
use pleach_exec::executor::Half;
use pleach_exec::image::side_name;
use pleach_exec::targets::Targets;
use pleach_exec::trace::{TargetSymbols, Trace, kind};
use pleach_exec::triage::readable;
use pleach_exec::{End, Executor, Layout};
use pleach_expr::{Printer, Symbols};
use std::io::{BufWriter, IsTerminal, StdoutLock};
use std::os::unix::ffi::OsStrExt;

pub use pleach_report::end_words as end;

/// A place in the source: `calc.c:41:9`. Of a long path, only the file name is printed.
pub fn place(function: &Function, site: &SiteInfo) -> String {
    let file = function.file_of(site);
    let short = match file.rsplit_once('/') {
        Some((_, name)) if file.starts_with('/') || file.len() > 28 => name,
        _ => file.strip_prefix("./").unwrap_or(file),
    };
    match (site.line, site.column) {
        (0, _) => short.to_string(),
        (line, 0) => format!("{short}:{line}"),
        (line, column) => format!("{short}:{line}:{column}"),
    }
}

/// A function's name, demangled.
pub fn name(function: &Function) -> String {
    readable(&function.name)
}

/// The word for a kind of decision.
pub fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Branch => "branch",
        Kind::Switch => "switch",
        Kind::Select => "select",
        Kind::Pin => "pin",
        Kind::CheckDiv => "check divisor",
        Kind::CheckIndex => "check index",
        Kind::CheckSize => "check size",
        Kind::CheckOverflow => "check overflow",
        Kind::Len => "length",
        Kind::Assume => "assume",
        Kind::Indirect => "jump",
        Kind::Model => "model",
    }
}

/// The condition of an event, as C.
pub fn condition(trace: &Trace, layout: &Layout, printer: &Printer, event: &Event) -> String {
    let recorded = || trace.expr.recorded(event.label);
    match kind(event) {
        Kind::Len => Printer::longer(event.stream, event.aux, event.dir == 1),
        Kind::Switch => printer.case(event.label, recorded(), trace.cases(layout, event)),
        Kind::Indirect => match target_name(trace, layout, recorded() as u64) {
            Some(name) => printer.equals_name(event.label, &name),
            None => printer.equals(event.label, recorded()),
        },
        _ => printer.condition(event.label, event.dir == 1),
    }
}

/// The name of a function, or the line of a label that a computed goto goes to.
fn target_name(trace: &Trace, layout: &Layout, address: u64) -> Option<String> {
    if let Some((site, side)) = Targets::new(layout, trace).site_of(address) {
        let images = trace.modules.iter().filter_map(|m| layout.module(m, Half::Symbolic));
        let (function, info) = images.into_iter().find_map(|image| image.describe_hash(site))?;
        if info.kind != SiteKind::Jump {
            return Some(name(function));
        }
        // The fast half has the lines of blocks.
        let images = trace.modules.iter().filter_map(|m| layout.module(m, Half::Fast));
        let (function, info) = images.into_iter().find_map(|image| image.describe_hash(site))?;
        return Some(side_name(function, info, side as usize).replace("to line", "line"));
    }
    let found = symbols(layout, trace).symbol(address).filter(|(_, inside)| *inside == 0)?;
    Some(readable(&found.0))
}

pub fn symbols<'a>(layout: &'a Layout, trace: &'a Trace) -> TargetSymbols<'a> {
    TargetSymbols { layout, trace }
}

/// What a program printed about its end: a sanitizer's report, or the last line.
pub fn last_words(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let lines = || text.lines().map(str::trim).filter(|l| !l.is_empty());
    let report = lines().find(|l| l.contains("Sanitizer: ") || l.contains(": runtime error: "));
    let line = report.or_else(|| lines().next_back())?;
    let line = line.split_once("ERROR: ").map_or(line, |(_, rest)| rest);
    Some(line.chars().filter(|c| !c.is_control()).collect())
}

/// The last lines of a program's output, on one line.
pub fn last_lines(output: &[u8]) -> Option<String> {
    const MAX_LINES: usize = 3;
    const MAX_CHARS: usize = 300;
    let text = String::from_utf8_lossy(output);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(MAX_LINES)..].join(" / ");
    let clean: Vec<char> = last.chars().filter(|c| !c.is_control()).collect();
    let clean: String = clean[clean.len().saturating_sub(MAX_CHARS)..].iter().collect();
    (!clean.is_empty()).then_some(clean)
}

/// A message for a program that read nothing of its input.
pub fn unread(trace: &Trace, input: &[u8], run: &Run) -> Option<&'static str> {
    if trace.input_read > 0 || input.is_empty() {
        return None;
    }
    let by_path = run.program.iter().skip(1).any(|a| a.as_bytes().windows(2).any(|w| w == b"@@"));
    Some(match by_path {
        _ if run.socket => "the program read none of the input from a connection",
        true => "the program read none of the input, neither from the file @@ nor by calls",
        false => {
            "the program read none of the input; if it reads a file, put @@ where the name goes"
        }
    })
}

/// A message that names the loaded libraries without a symbolic half.
pub fn plain_libraries(symbolic: &Executor) -> Option<String> {
    let plain = symbolic.layout().without_symbolic_half(&symbolic.loaded_files());
    if plain.is_empty() {
        return None;
    }
    let names: Vec<_> = plain.iter().map(|p| p.display().to_string()).collect();
    let them = if names.len() == 1 { "this library has" } else { "these libraries have" };
    Some(format!(
        "{them} no symbolic half, so decisions in there are not recorded: {}; if you compiled \
         one with `pleach cc`, set LD_LIBRARY_PATH to its directory, or link with \
         -Wl,-rpath,DIR",
        names.join(", ")
    ))
}

/// The status as a shell reports it. A run that a limit ended counts as killed by SIGKILL.
pub fn status(end: &End) -> i32 {
    match end {
        End::Exit(status) => *status,
        End::Signal(signal) => 128 + signal,
        _ => 137,
    }
}

/// Standard output, buffered. The caller must flush it, so that errors are reported.
pub fn out() -> BufWriter<StdoutLock<'static>> {
    BufWriter::new(std::io::stdout().lock())
}

/// The width of the terminal, if standard output is one.
pub fn columns() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(stdout).map(|(w, _)| usize::from(w.0))
}

/// Cuts a line to the width of the terminal, if there is one.
pub fn cut(line: &str, columns: Option<usize>) -> String {
    match columns {
        Some(n) if line.chars().count() > n && n > 1 => {
            line.chars().take(n - 1).chain(['…']).collect()
        }
        _ => line.to_string(),
    }
}

/// Breaks text at spaces into lines of at most `width` characters.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in text.split(' ') {
        let last = lines.last().map_or(0, |l| l.chars().count());
        if last > 0 && last + 1 + part.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(part);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_at_spaces() {
        assert_eq!(wrap("in[0] == 'a' && in[1] < 10", 12), ["in[0] == 'a'", "&& in[1] <", "10"]);
        assert_eq!(wrap("averylongword x", 5), ["averylongword", "x"]);
        assert_eq!(cut("abcdef", Some(4)), "abc…");
        assert_eq!(cut("abcd", Some(4)), "abcd");
        assert_eq!(cut("abcdef", None), "abcdef");
    }
}
