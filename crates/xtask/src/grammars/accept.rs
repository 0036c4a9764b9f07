//! Asking programs whether they accept a text. Only syntax counts: a name that is
//! not defined, or a division by zero, is accepted.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::fetch;
use crate::process::{self, Exit};

/// What takes longer has been parsed, and runs.
const LIMIT: Duration = Duration::from_secs(2);
const ALL_LIMIT: Duration = Duration::from_secs(600);

/// The verdict on each text.
pub fn ask(source: &str, program: &str, texts: &[Vec<u8>]) -> Result<Vec<bool>> {
    if source.starts_with("crate:tree-sitter-") {
        return tree_sitter(program, texts);
    }
    texts.iter().map(|text| one(program, text)).collect()
}

fn one(program: &str, text: &[u8]) -> Result<bool> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("input.cue");
    fs::write(&file, text)?;
    let mut command = match program {
        // Compiles and does not run.
        "bc" => {
            let mut command = Command::new("bc");
            command.args(["--quiet", "--compile"]).stdin(fs::File::open(&file)?);
            command
        }
        "jq" => {
            let mut command = Command::new("jq");
            command.args(["--null-input", "--from-file"]).arg(&file).stdin(Stdio::null());
            command
        }
        "cue" => {
            let mut command = Command::new("cueprint");
            command.arg(&file).stdin(Stdio::null());
            command
        }
        _ => bail!("nobody knows how to ask {program}"),
    };
    let done = process::run(&mut command, LIMIT)
        .with_context(|| format!("{program} is asked what it accepts"))?;
    let said = String::from_utf8_lossy(&done.stderr).to_lowercase();
    let complains = ["syntax error", "parse error", "illegal character", "bad character"];
    Ok(done.exit == Exit::TimedOut || !complains.iter().any(|words| said.contains(words)))
}

fn tree_sitter(language: &str, texts: &[Vec<u8>]) -> Result<Vec<bool>> {
    let program = fetch::tree_sitter_program()?;
    let input = tempfile::NamedTempFile::new()?;
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
    }
    fs::write(input.path(), bytes)?;
    let mut command = Command::new(program);
    command.arg(language).stdin(fs::File::open(input.path())?);
    let done = process::run(&mut command, ALL_LIMIT)?;
    if !done.exit.success() {
        bail!("the parser of {language}: {}: {}", done.exit, done.complaint());
    }
    Ok(String::from_utf8_lossy(&done.stdout).lines().map(|line| line == "yes").collect())
}
