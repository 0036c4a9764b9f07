//! Downloads and builds a subject, once for each compiler.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::recipe::{Flavour, Recipe};
use crate::process::{self, Cost};
use crate::project;

const FETCH_LIMIT: Duration = Duration::from_secs(900);
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

/// The times of a build. Compare processor times: elapsed time depends on what else the
/// machine does.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Built {
    pub cpu_seconds: f64,
    pub wall_seconds: f64,
}

/// A file beside a build. The build is repeated only if the key changes.
#[derive(Serialize, Deserialize)]
struct Stamp {
    key: u64,
    built: Built,
}

/// Builds `recipe`, unless the same compiler has built it already.
pub fn ensure_built(recipe: &Recipe, flavour: Flavour, rebuild: bool) -> Result<Built> {
    let stamp_path = recipe.dir().join(format!("{}.built", flavour.name()));
    let key = build_key(recipe, flavour)?;
    let stamp = fs::read(&stamp_path).ok().and_then(|s| serde_json::from_slice::<Stamp>(&s).ok());
    if let Some(stamp) = stamp.filter(|stamp| stamp.key == key && !rebuild) {
        return Ok(stamp.built);
    }

    let here = recipe.build_dir(flavour);
    match fs::remove_dir_all(&here) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
        _ => fs::create_dir_all(&here)?,
    }
    run_stage(recipe, "fetch", flavour, FETCH_LIMIT)?;
    run_stage(recipe, "unpack", flavour, FETCH_LIMIT)?;
    let cost = run_stage(recipe, "build", flavour, BUILD_LIMIT)?;
    let built =
        Built { cpu_seconds: cost.cpu.as_secs_f64(), wall_seconds: cost.wall.as_secs_f64() };
    fs::write(&stamp_path, serde_json::to_vec(&Stamp { key, built })?)?;
    Ok(built)
}

fn run_stage(recipe: &Recipe, name: &str, flavour: Flavour, limit: Duration) -> Result<Cost> {
    let (path, log) = recipe.log(&format!("{}-{name}", flavour.name()))?;
    let mut command = recipe.stage(name, flavour)?;
    let before = process::children_cpu()?;
    let (exit, wall) = process::run_logged(&mut command, &log, limit)?;
    if !exit.success() {
        let output = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let lines: Vec<&str> = output.lines().collect();
        bail!(
            "{}: {name} ({}) failed: {exit}; the log is {}\n{}",
            recipe.name,
            flavour.name(),
            path.display(),
            lines[lines.len().saturating_sub(15)..].join("\n")
        );
    }
    Ok(Cost { cpu: process::children_cpu()?.saturating_sub(before), wall })
}

/// A hash of everything that a build depends on: the recipe, the stages, the compiler.
fn build_key(recipe: &Recipe, flavour: Flavour) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    recipe.build_sources().hash(&mut hasher);
    fs::read(project::root().join("tools/subjects/lib.sh"))?.hash(&mut hasher);
    if flavour.is_pleach() {
        let compiler = fs::metadata(project::tool("pleach-cc")?)?;
        compiler.len().hash(&mut hasher);
        compiler.modified()?.duration_since(SystemTime::UNIX_EPOCH)?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}
