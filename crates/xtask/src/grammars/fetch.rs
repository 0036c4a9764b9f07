//! Downloads the files of a source, if they are not there yet.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;
use crate::project;

const FETCH_LIMIT: Duration = Duration::from_secs(900);
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

/// Downloads `debian:NAME`, `pypi:NAME` or `crate:NAME` and returns its directory.
pub fn fetch(source: &str) -> Result<PathBuf> {
    if let Some(name) = source.strip_prefix("crate:") {
        return crate_dir(name);
    }
    let dir = project::target("grammars").join(source.replace(':', "-"));
    let script = project::root().join("tools/grammars/fetch.sh");
    let mut command = Command::new("bash");
    command.arg(script).arg(source).arg(&dir).env("SUBJECTS", project::target("subjects"));
    process::succeed(&mut command, FETCH_LIMIT, &format!("cannot download {source}"))?;
    Ok(dir)
}

/// The directory of a crate that the helper program depends on.
fn crate_dir(name: &str) -> Result<PathBuf> {
    let mut command = cargo("metadata");
    command.args(["--format-version", "1"]);
    let done = process::succeed(&mut command, FETCH_LIMIT, "cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&done.stdout)?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let package = packages.iter().find(|package| package["name"] == name);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let manifest = PathBuf::from(manifest.with_context(|| {
        format!("tools/grammars/tree-sitter/Cargo.toml does not depend on {name}")
    })?);
    Ok(manifest.parent().context("a manifest is in a directory")?.to_owned())
}

/// Builds the program that runs the parsers of tree-sitter.
pub fn tree_sitter_program() -> Result<PathBuf> {
    let mut command = cargo("build");
    let target = project::target("grammars").join("tree-sitter");
    command.args(["--quiet", "--release", "--target-dir"]).arg(&target);
    process::succeed(&mut command, BUILD_LIMIT, "cargo build")?;
    Ok(target.join("release/accept"))
}

fn cargo(subcommand: &str) -> Command {
    let mut command = Command::new("cargo");
    let manifest = project::root().join("tools/grammars/tree-sitter/Cargo.toml");
    command.arg(subcommand).arg("--manifest-path").arg(manifest);
    command
}
