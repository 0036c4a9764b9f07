//! Results of a static analyser in SARIF 2.1.0: each of their locations is a place.

use super::Aim;
use crate::exit::Failure;
use anyhow::{Context, anyhow};
use pleach_campaign::run::{PlaceError, Places, Toward};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Log {
    version: String,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    #[serde(default)]
    artifacts: Vec<Artifact>,
    #[serde(default)]
    results: Option<Vec<Report>>,
}

#[derive(Deserialize)]
struct Artifact {
    location: Option<ArtifactLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    #[serde(default)]
    rule_id: Option<String>,
    #[serde(default)]
    rule: Option<Rule>,
    #[serde(default)]
    message: Message,
    #[serde(default)]
    locations: Vec<Location>,
}

#[derive(Deserialize)]
struct Rule {
    id: Option<String>,
}

#[derive(Default, Deserialize)]
struct Message {
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Option<ArtifactLocation>,
    region: Option<Region>,
}

#[derive(Deserialize)]
struct ArtifactLocation {
    uri: Option<String>,
    index: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: Option<u32>,
    /// The first column is 1.
    start_column: Option<u32>,
}

/// Adds the places of a file's results. A result with no code in the program gets a note.
pub fn add_results(path: &Path, places: &Places, aim: &mut Aim) -> Result<(), Failure> {
    let shown = path.display();
    let text = std::fs::read(path).with_context(|| shown.to_string());
    let text = text.map_err(Failure::user_error)?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let log: Log = serde_json::from_slice(text)
        .with_context(|| format!("{shown}: not a SARIF file"))
        .map_err(Failure::user_error)?;
    if !log.version.starts_with("2.") {
        let version = log.version;
        return Err(Failure::user_error(anyhow!("{shown}: SARIF {version}; it must be 2.1.0")));
    }
    let (before, mut results) = (aim.toward.len(), 0);
    for run in &log.runs {
        for result in run.results.iter().flatten() {
            results += 1;
            let rule = result.rule.as_ref().and_then(|r| r.id.as_ref());
            let rule = result.rule_id.as_ref().or(rule).map(|id| format!("{id}: "));
            let text = result.message.text.as_deref().unwrap_or("");
            let first_line = text.lines().next().unwrap_or_default();
            let what = format!("{}{first_line}", rule.unwrap_or_default());
            if result.locations.is_empty() {
                aim.notes.push(format!("{shown}: a result without a location: {what}"));
            }
            for location in &result.locations {
                match place_of(run, location) {
                    Some(place) => add_place(place, &what, places, aim),
                    None => {
                        aim.notes.push(format!("{shown}: a result without file and line: {what}"));
                    }
                }
            }
        }
    }
    if aim.toward.len() == before {
        let why = match results {
            0 => "it has no results".to_string(),
            _ => format!("none of its {results} results is in code of the program"),
        };
        let first = aim.notes.first().map(|n| format!(" ({n})")).unwrap_or_default();
        return Err(Failure::user_error(anyhow!("{shown}: {why}{first}")));
    }
    Ok(())
}

fn add_place(place: String, what: &str, places: &Places, aim: &mut Aim) {
    // Analysers name files as their build did, or from the root of the repository.
    let mut name = place.as_str();
    loop {
        match places.find(name) {
            Ok(_) => {
                aim.toward.push(Toward { place: name.into(), what: what.into() });
                return;
            }
            Err(PlaceError::NoFile { .. }) if name.contains('/') => {
                name = name.split_once('/').map_or("", |(_, rest)| rest);
            }
            Err(error) => {
                aim.notes.push(format!("cannot be confirmed: {error}: {what}"));
                return;
            }
        }
    }
}

/// `FILE:LINE` or `FILE:LINE:COLUMN` of a location.
fn place_of(run: &Run, location: &Location) -> Option<String> {
    let physical = location.physical_location.as_ref()?;
    let artifact = physical.artifact_location.as_ref()?;
    let by_index = || {
        let index = usize::try_from(artifact.index?).ok()?;
        run.artifacts.get(index)?.location.as_ref()?.uri.as_ref()
    };
    let uri = artifact.uri.as_ref().or_else(by_index)?;
    let region = physical.region.as_ref()?;
    let (path, line) = (path_of(uri), region.start_line?);
    Some(match region.start_column.filter(|column| *column > 0) {
        Some(column) => format!("{path}:{line}:{column}"),
        None => format!("{path}:{line}"),
    })
}

/// The path in a URI: `file:///a%20b.c` is `/a b.c`.
fn path_of(uri: &str) -> String {
    let path = match uri.strip_prefix("file://") {
        // A host may come before the path.
        Some(rest) => rest.find('/').map_or(rest, |at| &rest[at..]),
        None => uri.strip_prefix("file:").unwrap_or(uri),
    };
    let (mut out, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail.get(..2).filter(|_| first == b'%');
        let byte = digits.and_then(|d| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok());
        out.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_become_paths() {
        for (uri, path) in [
            ("file:///src/a%20b.c", "/src/a b.c"),
            ("file://host/src/a.c", "/src/a.c"),
            ("file:/src/a.c", "/src/a.c"),
            ("src/a.c", "src/a.c"),
            ("100%.c", "100%.c"),
        ] {
            assert_eq!(path_of(uri), path);
        }
    }
}
