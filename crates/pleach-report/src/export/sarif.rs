//! SARIF 2.1.0: each different crash and hang is a result. Its stack is in `stacks`. Its code
//! flow is how the input gets there: the last decisions that depend on the input, as
//! conditions on its bytes, and then the calls of the stack, outermost first.

use super::{Context, Decision, Outcome};
use pleach_exec::{CrashId, Frame};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The name under which SARIF's readers find `source`.
const ROOT: &str = "SRCROOT";

pub fn write(outcomes: &[Outcome], context: &Context) -> Vec<u8> {
    let mut crashes: Vec<(&Outcome, &CrashId, usize)> = Vec::new();
    for outcome in outcomes {
        let Some(crash) = &outcome.crash else { continue };
        match crashes.iter_mut().find(|(_, other, _)| other.hash == crash.hash) {
            Some((_, _, count)) => *count += 1,
            None => crashes.push((outcome, crash, 1)),
        }
    }
    // One rule for each kind of crash.
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    crashes.iter().for_each(|(_, crash, _)| _ = rules.insert(&crash.kind, 0));
    rules.values_mut().zip(0..).for_each(|(index, i)| *index = i);
    let descriptors: Vec<Value> = rules
        .keys()
        .map(|kind| json!({ "id": rule_id(kind), "shortDescription": { "text": kind } }))
        .collect();
    let mut sources = Sources::default();
    let results: Vec<Value> = crashes
        .iter()
        .map(|(outcome, crash, count)| {
            let rule = rules[crash.kind.as_str()];
            result(context, &mut sources, outcome, crash, *count, rule)
        })
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "pleach",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": descriptors,
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "commandLine": context.command, "executionSuccessful": true }],
            "originalUriBaseIds": { ROOT: { "uri": directory_uri(&context.source) } },
            "results": results,
        }],
    });
    let mut text = serde_json::to_vec_pretty(&log).unwrap_or_default();
    text.push(b'\n');
    text
}

fn result(
    context: &Context,
    sources: &mut Sources,
    outcome: &Outcome,
    crash: &CrashId,
    count: usize,
    rule: usize,
) -> Value {
    let places: Vec<Value> = crash.frames.iter().map(|f| frame_location(context, f)).collect();
    let input = json!({ "uri": uri(Path::new(&outcome.path)) });
    // A result needs a place, even if the stack has no known source.
    let place = crash.frames.iter().position(|f| !f.file.is_empty() && f.line > 0);
    let place = match place {
        Some(at) => places[at].clone(),
        None => json!({ "physicalLocation": { "artifactLocation": input } }),
    };
    let frames: Vec<Value> = places.iter().map(|p| json!({ "location": p })).collect();
    let mut value = json!({
        "ruleId": rule_id(&crash.kind),
        "ruleIndex": rule,
        "level": if crash.kind == "hang" { "warning" } else { "error" },
        "message": { "text": format!(
            "{crash}. The input {} shows it{}.",
            outcome.name,
            if count > 1 { format!(", and {} more", count - 1) } else { String::new() },
        )},
        "locations": [place],
        "partialFingerprints": { "pleachCrashId/v1": format!("{:016x}", crash.hash) },
        "baselineState": if outcome.is_known { "unchanged" } else { "new" },
        "properties": { "input": outcome.path, "end": outcome.end, "inputs": count },
    });
    let steps = steps(context, sources, &outcome.path_condition, crash);
    if !steps.is_empty() {
        value["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    if !frames.is_empty() {
        let message = format!("{} on the input {}", crash.kind, outcome.name);
        value["stacks"] = json!([{ "message": { "text": message }, "frames": frames }]);
    }
    value
}

fn steps(
    context: &Context,
    sources: &mut Sources,
    decisions: &[Decision],
    crash: &CrashId,
) -> Vec<Value> {
    let decisions = decisions.iter().map(|d| {
        let column = sources.code_points(context, &d.file, d.line, d.column);
        let mut location = physical(context, &d.file, d.line, column);
        location["message"] = json!({ "text": d.condition });
        json!({ "location": location, "kinds": ["branch"] })
    });
    let located = crash.frames.iter().rev().filter(|f| !f.file.is_empty() && f.line > 0);
    let calls = located.map(|f| {
        let mut location = frame_location(context, f);
        location["message"] = json!({ "text": format!("in {}", f.function_key()) });
        json!({ "location": location, "kinds": ["call"] })
    });
    let mut all: Vec<Value> = decisions.chain(calls).collect();
    if let Some(last) = all.last_mut().filter(|_| !crash.frames.is_empty()) {
        last["kinds"] = json!(["danger"]);
        last["importance"] = json!("essential");
        let place = crash.frames.first().map(|f| format!(" in {}", f.function_key()));
        let text = format!("{}{}", crash.kind, place.unwrap_or_default());
        last["location"]["message"] = json!({ "text": text });
    }
    all
}

fn frame_location(context: &Context, frame: &Frame) -> Value {
    let mut location = match frame.file.is_empty() || frame.line == 0 {
        true => json!({}),
        false => physical(context, &frame.file, frame.line, 0),
    };
    location["logicalLocations"] =
        json!([{ "fullyQualifiedName": frame.function_key(), "kind": "function" }]);
    location
}

fn physical(context: &Context, file: &str, line: u32, column: u32) -> Value {
    let path = context.relative(file);
    let mut artifact = json!({ "uri": uri(&path) });
    if path.is_relative() {
        artifact["uriBaseId"] = json!(ROOT);
    }
    let mut region = json!({ "startLine": line.max(1) });
    if column > 0 {
        region["startColumn"] = json!(column);
    }
    json!({ "physicalLocation": { "artifactLocation": artifact, "region": region } })
}

/// The sources that columns are counted in.
#[derive(Default)]
struct Sources(HashMap<String, Vec<u8>>);

impl Sources {
    /// The compiler counts columns in bytes, from 1. SARIF's readers count characters.
    fn code_points(&mut self, context: &Context, file: &str, line: u32, column: u32) -> u32 {
        let read = || std::fs::read(context.locate(file)).unwrap_or_default();
        let text = self.0.entry(file.into()).or_insert_with(read);
        let text = text.split(|&b| b == b'\n').nth(line.saturating_sub(1) as usize);
        let before = text.and_then(|t| t.get(..column.saturating_sub(1) as usize));
        match before {
            Some(before) if column > 0 => {
                String::from_utf8_lossy(before).chars().count() as u32 + 1
            }
            _ => column,
        }
    }
}

/// `runtime error: index 5 out of bounds` becomes `runtime-error-index-5-out-of-bounds`.
fn rule_id(kind: &str) -> String {
    let words = kind.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn directory_uri(path: &Path) -> String {
    let uri = uri(path);
    if uri.ends_with('/') { uri } else { uri + "/" }
}

/// A path as a URI, or a relative reference.
fn uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut out = String::from(if path.is_absolute() { "file://" } else { "" });
    let bytes = path.as_os_str().as_bytes();
    for (i, &b) in bytes.iter().enumerate() {
        // A colon in the first part of a relative reference would end a scheme.
        let is_plain =
            b.is_ascii_alphanumeric() || b"/-_.~".contains(&b) || b"+,=@".contains(&b) && i > 0;
        match is_plain {
            true => out.push(b.into()),
            false => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri(Path::new("/a b/c.c")), "file:///a%20b/c.c");
        assert_eq!(uri(Path::new("src/c.c")), "src/c.c");
        assert_eq!(uri(Path::new("id:1,op:x")), "id%3A1,op%3Ax");
        assert_eq!(directory_uri(Path::new("/a")), "file:///a/");
    }

    #[test]
    fn columns_count_characters() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.c"), "/* äöü */ if (x) y();\n\tif (x) z();\n").unwrap();
        let context = Context { source: dir.path().into(), ..Context::default() };
        let mut sources = Sources::default();
        // Three characters have two bytes.
        assert_eq!(sources.code_points(&context, "a.c", 1, 18), 15);
        assert_eq!(sources.code_points(&context, "a.c", 2, 6), 6);
        // Nothing is changed where there is no such column, or no source.
        for (file, line, column) in [("a.c", 1, 99), ("a.c", 9, 3), ("b.c", 1, 5), ("a.c", 1, 0)] {
            assert_eq!(sources.code_points(&context, file, line, column), column);
        }
    }

    #[test]
    fn kinds_become_rules() {
        assert_eq!(
            rule_id("runtime error: index out of bounds"),
            "runtime-error-index-out-of-bounds"
        );
    }
}
