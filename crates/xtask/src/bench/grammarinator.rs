//! Generates sentences with Grammarinator, for any grammar that Pleach reads.
//!
//! Grammarinator reads ANTLR's format, so the grammar is converted first, without the
//! parts that need tokens of unknown text. pip installs Grammarinator under `target/`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use pleach_grammar::convert::{Form, convert};
use pleach_grammar::{Grammar, analysis};

use crate::process;
use crate::project;

const LIMIT: Duration = Duration::from_secs(600);
/// Maximum depth of a tree and maximum number of tokens. Without them, recursive rules may
/// never end.
const SIZE_LIMITS: [&str; 4] = ["-d", "20", "--max-tokens", "100"];

/// Writes at most `count` different sentences to files in a directory. Grammarinator often
/// repeats sentences, above all the empty one, so it generates four times as many.
pub fn write_sentences(grammar: &Grammar, count: usize, seed: u64, to: &Path) -> Result<()> {
    let tool = install()?;
    let known = analysis::writable(grammar)
        .context("every sentence contains a token whose text is unknown")?;
    let (text, _) = convert(&known, Form::G4)?;
    let dir = tempfile::tempdir()?;
    let (source, generated) = (dir.path().join("converted.g4"), dir.path().join("drawn"));
    fs::write(&source, text)?;
    let mut process = python(&tool, "grammarinator-process");
    process.arg(&source).arg("--no-actions").arg("-o").arg(dir.path());
    run(&mut process, "grammarinator-process")?;
    let mut generate = python(&tool, "grammarinator-generate");
    generate.arg("convertedGenerator.convertedGenerator").args(SIZE_LIMITS);
    generate.arg("--random-seed").arg(seed.to_string()).arg("-n").arg((4 * count).to_string());
    generate.args(["-s", "grammarinator.runtime.simple_space_serializer", "--sys-path"]);
    generate.arg(dir.path()).arg("-o").arg(generated.join("%d"));
    run(&mut generate, "grammarinator-generate")?;
    let mut seen = HashSet::from([Vec::new()]);
    for at in 0..4 * count {
        let Ok(text) = fs::read(generated.join(at.to_string())) else { continue };
        if seen.insert(text.trim_ascii().to_vec()) {
            fs::write(to.join(format!("sentence-{at:04}")), text)?;
        }
        if seen.len() > count {
            return Ok(());
        }
    }
    if seen.len() == 1 {
        bail!("Grammarinator generated only the empty sentence");
    }
    Ok(())
}

/// Installs Grammarinator if needed, and returns its directory.
fn install() -> Result<PathBuf> {
    let (dir, new) = (project::target("grammarinator"), project::target("grammarinator.new"));
    if !dir.exists() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(&new).arg("grammarinator");
        run(&mut pip, "pip install grammarinator")?;
        fs::rename(&new, &dir)?;
    }
    Ok(dir)
}

fn python(tool: &Path, program: &str) -> Command {
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", tool).arg(tool.join("bin").join(program));
    command
}

fn run(command: &mut Command, what: &str) -> Result<()> {
    process::succeed(command.stdin(Stdio::null()), LIMIT, what).map(drop)
}
