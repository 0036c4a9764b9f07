//! Regression suites of real programs: exports a short campaign, runs the suite on the plain
//! build, which must pass, and on one that the recipe breaks, which must fail.

use super::check::Results;
use super::recipe::{Flavour, Recipe, stage_output};
use crate::{process, project};
use anyhow::{Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const SEARCH_RUNS: &str = "20000";
const LIMIT: Duration = Duration::from_secs(600);
/// A suite with fewer cases says nothing about the program.
const MIN_CASES: usize = 5;

/// Empty for a recipe without `broken`.
pub fn check(recipe: &Recipe) -> Result<Results> {
    let mut results = Results::new();
    if !recipe.has_broken() {
        return Ok(results);
    }
    let words = String::from_utf8(stage_output(recipe, "fuzz", Flavour::Pleach)?)?;
    let Some((program, args)) = words.trim().split_once(' ') else {
        bail!("{}: fuzz prints no arguments", recipe.name);
    };
    let dir = recipe.dir().join("suite");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(dir.join("seeds"))?;
    fs::write(dir.join("seeds/seed"), stage_output(recipe, "fuzz_seed", Flavour::Pleach)?)?;
    let build = recipe.build_dir(Flavour::Pleach);
    let pleach = project::tool("pleach")?;
    let run = |words: &[&str], what: &str| {
        let mut command = Command::new(&pleach);
        command.args(words).current_dir(&dir).stdin(Stdio::null());
        process::succeed(&mut command, LIMIT, &format!("{}: {what}", recipe.name))
    };
    let program_path = build.join(program).display().to_string();
    let mut search =
        vec!["run", "-i", "seeds", "-o", "out", "-n", SEARCH_RUNS, "--", &program_path];
    search.extend(args.split_whitespace());
    run(&search, "search")?;
    run(&["export", "--to", "sh", "suite", "out"], "export")?;

    let cases = fs::read_dir(dir.join("suite/cases"))?.count();
    results.insert(format!("suite: at least {MIN_CASES} cases"), cases >= MIN_CASES);
    let plain = recipe.build_dir(Flavour::Plain).join(program);
    results.insert("suite: passes on the plain build".into(), passes(&dir, &plain)?);
    let path = String::from_utf8(stage_output(recipe, "broken", Flavour::Plain)?)?;
    let broken = recipe.build_dir(Flavour::Plain).join(path.lines().last().unwrap_or_default());
    results.insert("suite: fails on a broken build".into(), !passes(&dir, &broken)?);
    Ok(results)
}

fn passes(dir: &Path, program: &PathBuf) -> Result<bool> {
    if !program.is_file() {
        bail!("{}: was not built", program.display());
    }
    let mut command = Command::new("sh");
    command.arg("suite/run.sh").arg(program).current_dir(dir).stdin(Stdio::null());
    Ok(process::run(&mut command, LIMIT)?.exit.success())
}
