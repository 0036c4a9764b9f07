//! JUnit's XML: each input is a test case, and a crash or a hang is a failure.

use super::xml::{escape, escape_bytes};
use super::{Context, Outcome};
use std::fmt::{self, Write};

/// At most this much of the output of a failure is written.
const MAX_OUTPUT: usize = 64 << 10;

pub fn write(outcomes: &[Outcome], context: &Context) -> Vec<u8> {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string cannot fail.
    let _ = write_suite(&mut out, outcomes, context);
    out.into_bytes()
}

fn write_suite(out: &mut String, outcomes: &[Outcome], context: &Context) -> fmt::Result {
    let failures = outcomes.iter().filter(|o| !o.has_passed && !o.is_known).count();
    let skipped = outcomes.iter().filter(|o| !o.has_passed && o.is_known).count();
    let time: f64 = outcomes.iter().map(|o| o.time.as_secs_f64()).sum();
    let (name, tests) = (escape(&context.program), outcomes.len());
    let counts = format!(
        r#"name="{name}" tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}" time="{time:.3}""#
    );
    writeln!(out, "<testsuites {counts}>\n<testsuite {counts}>")?;
    for outcome in outcomes {
        let case = escape(&outcome.name);
        let time = outcome.time.as_secs_f64();
        write!(out, r#"<testcase classname="{name}" name="{case}" time="{time:.3}""#)?;
        if outcome.has_passed {
            writeln!(out, "/>")?;
            continue;
        }
        writeln!(out, ">")?;
        write_failure(out, outcome)?;
        for (element, bytes) in [("system-out", &outcome.stdout), ("system-err", &outcome.stderr)] {
            if !bytes.is_empty() {
                let end = &bytes[bytes.len().saturating_sub(MAX_OUTPUT)..];
                writeln!(out, "<{element}>{}</{element}>", escape_bytes(end))?;
            }
        }
        writeln!(out, "</testcase>")?;
    }
    writeln!(out, "</testsuite>\n</testsuites>")
}

fn write_failure(out: &mut String, outcome: &Outcome) -> fmt::Result {
    let kind = outcome.crash.as_ref().map_or(outcome.end.as_str(), |c| c.kind.as_str());
    let message = match &outcome.crash {
        Some(crash) => format!("{}: {crash}", outcome.end),
        None => outcome.end.clone(),
    };
    // A known crash does not fail the build.
    if outcome.is_known {
        return writeln!(out, r#"<skipped message="known: {}"/>"#, escape(&message));
    }
    write!(out, r#"<failure message="{}" type="{}">"#, escape(&message), escape(kind))?;
    writeln!(out, "{}", escape(&format!("input: {}", outcome.path)))?;
    for (i, frame) in outcome.crash.iter().flat_map(|c| &c.frames).enumerate() {
        writeln!(out, "{}", escape(&format!("#{i} {frame}")))?;
    }
    writeln!(out, "</failure>")
}
