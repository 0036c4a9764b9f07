//! Sentences by Grammarinator, of any grammar that Pleach reads.
//!
//! It wants ANTLR's form, so the grammar is converted, without what only tokens of
//! unknown text can derive. It is installed below `target/`, for the python that is there.

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
/// How deep its trees are, and how many tokens they have, at most. Without limits, recursive
/// rules may never end.
const LIMITS: [&str; 4] = ["-d", "20", "--max-tokens", "100"];

/// Writes `count` different sentences into a directory, a file each. It draws the empty
/// sentence and its equals often, so more are asked for, and fewer may come.
pub fn sentences(grammar: &Grammar, count: usize, seed: u64, to: &Path) -> Result<()> {
    let tool = installed()?;
    let known = analysis::writable(grammar)
        .context("every sentence has a token that is known by name only")?;
    let (text, _) = convert(&known, Form::G4)?;
    let dir = tempfile::tempdir()?;
    let (source, drawn) = (dir.path().join("converted.g4"), dir.path().join("drawn"));
    fs::write(&source, text)?;
    let mut process = python(&tool, "grammarinator-process");
    process.arg(&source).arg("--no-actions").arg("-o").arg(dir.path());
    done(&mut process, "grammarinator-process")?;
    let mut generate = python(&tool, "grammarinator-generate");
    generate.arg("convertedGenerator.convertedGenerator").args(LIMITS);
    generate.arg("--random-seed").arg(seed.to_string()).arg("-n").arg((4 * count).to_string());
    generate.args(["-s", "grammarinator.runtime.simple_space_serializer", "--sys-path"]);
    generate.arg(dir.path()).arg("-o").arg(drawn.join("%d"));
    done(&mut generate, "grammarinator-generate")?;
    let mut seen = HashSet::from([Vec::new()]);
    for at in 0..4 * count {
        let Ok(text) = fs::read(drawn.join(at.to_string())) else { continue };
        if seen.insert(text.trim_ascii().to_vec()) {
            fs::write(to.join(format!("sentence-{at:04}")), text)?;
        }
        if seen.len() > count {
            return Ok(());
        }
    }
    if seen.len() == 1 {
        bail!("Grammarinator drew nothing but the empty sentence");
    }
    Ok(())
}

/// Where it is; pip brings it the first time.
fn installed() -> Result<PathBuf> {
    let (dir, new) = (project::target("grammarinator"), project::target("grammarinator.new"));
    if !dir.exists() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(&new).arg("grammarinator");
        done(&mut pip, "pip install grammarinator")?;
        fs::rename(&new, &dir)?;
    }
    Ok(dir)
}

fn python(tool: &Path, program: &str) -> Command {
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", tool).arg(tool.join("bin").join(program));
    command
}

fn done(command: &mut Command, what: &str) -> Result<()> {
    process::succeed(command.stdin(Stdio::null()), LIMIT, what).map(drop)
}
