//! Running a subject's suite on each build and each half.
//!
//! The symbolic half is tested by putting the symbolic executable in the place of
//! the program, so that the suite runs it as it would run the program. The one
//! with both halves waits beside it and always comes back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::recipe::{Flavour, Recipe};
use crate::process;
use crate::project;

/// Test and whether it passed.
pub type Results = BTreeMap<String, bool>;

/// For a whole suite; labels on can make one much slower.
const CHECK_LIMIT: Duration = Duration::from_secs(3600);
const EXTRACT_LIMIT: Duration = Duration::from_secs(60);

/// Checks the plain build, and records what it prints as right.
pub fn plain(recipe: &Recipe) -> Result<Results> {
    suite(recipe, Flavour::Plain, "plain", false)
}

pub fn fast(recipe: &Recipe) -> Result<Results> {
    suite(recipe, Flavour::Pleach, "fast", false)
}

/// Labels off, and labels on.
pub fn symbolic(recipe: &Recipe) -> Result<(Results, Results)> {
    let _swapped = Swapped::all(recipe)?;
    Ok((
        suite(recipe, Flavour::Pleach, "symbolic", false)?,
        suite(recipe, Flavour::Pleach, "labels", true)?,
    ))
}

/// Writes the symbolic executable of `program` to `to`.
pub fn symbolic_executable(program: &Path, to: &Path) -> Result<()> {
    let mut extract = Command::new(project::tool("pleach")?);
    extract.arg("extract").arg(program).arg("-o").arg(to).stdin(Stdio::null());
    let done = process::run(&mut extract, EXTRACT_LIMIT)?;
    if !done.exit.success() {
        bail!("pleach extract {}: {}: {}", program.display(), done.exit, done.complaint());
    }
    Ok(())
}

fn suite(recipe: &Recipe, flavour: Flavour, mode: &str, labels: bool) -> Result<Results> {
    let (path, log) = recipe.log(&format!("check-{mode}"))?;
    let mut command = recipe.stage("check", flavour)?;
    if labels {
        command.env("PLEACH_LABEL", "1");
    }
    let (exit, _) = process::run_logged(&mut command, &log, CHECK_LIMIT)?;
    let said = fs::read(&path)?;
    let mut results = parse(&String::from_utf8_lossy(&said));
    if !exit.success() {
        // What did run still counts; that it stopped is one more failure.
        results.insert(format!("the suite itself ({exit}, see {})", path.display()), false);
    } else if results.is_empty() {
        bail!("{}: no test ran; the log is {}", recipe.name, path.display());
    }
    Ok(results)
}

fn parse(said: &str) -> Results {
    let mut results = Results::new();
    for line in said.lines() {
        if let Some(name) = line.strip_prefix("ok ") {
            // A name that occurs twice passes only if both do.
            results.entry(name.to_string()).or_insert(true);
        } else if let Some(name) = line.strip_prefix("not ok ") {
            results.insert(name.to_string(), false);
        }
    }
    results
}

/// Programs whose symbolic half stands in their place until this is dropped.
struct Swapped(Vec<PathBuf>);

impl Swapped {
    fn all(recipe: &Recipe) -> Result<Swapped> {
        let listed = process::run(&mut recipe.stage("programs", Flavour::Pleach)?, EXTRACT_LIMIT)?;
        if !listed.exit.success() {
            bail!("{}: programs: {}: {}", recipe.name, listed.exit, listed.complaint());
        }
        let mut swapped = Swapped(Vec::new());
        for name in String::from_utf8_lossy(&listed.stdout).lines() {
            let program = recipe.here(Flavour::Pleach).join(name);
            let aside = aside(&program);
            // Left by a run that was interrupted.
            if aside.exists() {
                fs::rename(&aside, &program)?;
            }
            fs::rename(&program, &aside)
                .with_context(|| format!("{} was not built", program.display()))?;
            swapped.0.push(program.clone());
            symbolic_executable(&aside, &program)?;
        }
        Ok(swapped)
    }
}

impl Drop for Swapped {
    fn drop(&mut self) {
        for program in &self.0 {
            if let Err(problem) = fs::rename(aside(program), program) {
                eprintln!("cannot put {} back: {problem}", program.display());
            }
        }
    }
}

fn aside(program: &Path) -> PathBuf {
    let mut name = program.as_os_str().to_owned();
    name.push(".both");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_fails_once_has_failed() {
        let results = parse("ok a\nnoise\nnot ok b\n# why\nok b\nok c\nnot ok c\n");
        let expected = [("a", true), ("b", false), ("c", false)];
        assert_eq!(results, expected.map(|(name, ok)| (name.to_string(), ok)).into());
    }
}
