//! Runs a subject's test suite on each build and each half.
//!
//! To test the symbolic half, the symbolic executable temporarily replaces the program, so
//! that the suite runs it as it would run the program. The original is renamed and is
//! always restored.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::recipe::{Flavour, Recipe};
use crate::process;
use crate::project;

/// For each test, true if it passed.
pub type Results = BTreeMap<String, bool>;

/// For a whole suite; labels can make it much slower.
const CHECK_LIMIT: Duration = Duration::from_secs(3600);
const EXTRACT_LIMIT: Duration = Duration::from_secs(60);

/// Tests the plain build, and records its output as the expected one.
pub fn plain(recipe: &Recipe) -> Result<Results> {
    run_suite(recipe, Flavour::Plain, "plain", false)
}

pub fn fast(recipe: &Recipe) -> Result<Results> {
    run_suite(recipe, Flavour::Pleach, "fast", false)
}

/// Tests the symbolic half without and with labels.
pub fn symbolic(recipe: &Recipe) -> Result<(Results, Results)> {
    let _swapped = Swapped::all(recipe)?;
    Ok((
        run_suite(recipe, Flavour::Pleach, "symbolic", false)?,
        run_suite(recipe, Flavour::Pleach, "labels", true)?,
    ))
}

/// Writes the symbolic executable of `program` to `to`.
pub fn extract_symbolic(program: &Path, to: &Path) -> Result<()> {
    let mut extract = Command::new(project::tool("pleach")?);
    extract.arg("extract").arg(program).arg("-o").arg(to).stdin(Stdio::null());
    let done = process::run(&mut extract, EXTRACT_LIMIT)?;
    if !done.exit.success() {
        bail!("pleach extract {}: {}: {}", program.display(), done.exit, done.last_lines());
    }
    Ok(())
}

fn run_suite(recipe: &Recipe, flavour: Flavour, mode: &str, labels: bool) -> Result<Results> {
    let (path, log) = recipe.log(&format!("check-{mode}"))?;
    let mut command = recipe.stage("check", flavour)?;
    if labels {
        command.env("PLEACH_LABEL", "1");
    }
    let (exit, _) = process::run_logged(&mut command, &log, CHECK_LIMIT)?;
    let output = fs::read(&path)?;
    let mut results = parse(&String::from_utf8_lossy(&output));
    if !exit.success() {
        // The tests that ran still count; the failed suite is one more failure.
        results.insert(format!("the suite itself ({exit}, see {})", path.display()), false);
    } else if results.is_empty() {
        bail!("{}: no test ran; the log is {}", recipe.name, path.display());
    }
    Ok(results)
}

fn parse(output: &str) -> Results {
    let mut results = Results::new();
    for line in output.lines() {
        if let Some(name) = line.strip_prefix("ok ") {
            // If a name occurs twice, both must pass.
            results.entry(name.to_string()).or_insert(true);
        } else if let Some(name) = line.strip_prefix("not ok ") {
            results.insert(name.to_string(), false);
        }
    }
    results
}

/// Programs that are replaced by their symbolic half until this is dropped.
struct Swapped(Vec<PathBuf>);

impl Swapped {
    fn all(recipe: &Recipe) -> Result<Swapped> {
        let listed = process::run(&mut recipe.stage("programs", Flavour::Pleach)?, EXTRACT_LIMIT)?;
        if !listed.exit.success() {
            bail!("{}: programs: {}: {}", recipe.name, listed.exit, listed.last_lines());
        }
        let mut swapped = Swapped(Vec::new());
        for name in String::from_utf8_lossy(&listed.stdout).lines() {
            let program = recipe.build_dir(Flavour::Pleach).join(name);
            let original = renamed_original(&program);
            // Left by an interrupted run.
            if original.exists() {
                fs::rename(&original, &program)?;
            }
            fs::rename(&program, &original)
                .with_context(|| format!("{} was not built", program.display()))?;
            swapped.0.push(program.clone());
            extract_symbolic(&original, &program)?;
        }
        Ok(swapped)
    }
}

impl Drop for Swapped {
    fn drop(&mut self) {
        for program in &self.0 {
            if let Err(problem) = fs::rename(renamed_original(program), program) {
                eprintln!("cannot restore {}: {problem}", program.display());
            }
        }
    }
}

fn renamed_original(program: &Path) -> PathBuf {
    let mut name = program.as_os_str().to_owned();
    name.push(".both");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_fails_once_counts_as_failed() {
        let results = parse("ok a\nnoise\nnot ok b\n# why\nok b\nok c\nnot ok c\n");
        let expected = [("a", true), ("b", false), ("c", false)];
        assert_eq!(results, expected.map(|(name, ok)| (name.to_string(), ok)).into());
    }
}
