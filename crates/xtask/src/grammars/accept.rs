//! Asking programs whether they accept a text. Only syntax counts: a name that is
//! not defined, or a division by zero, is accepted.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::fetch;
use crate::process::{self, Exit};
use crate::project;

/// What takes longer has been parsed, and runs.
const LIMIT: Duration = Duration::from_secs(2);
const ALL_LIMIT: Duration = Duration::from_secs(600);

/// Where Debian's package antlr4 puts ANTLR and what it is made of.
const JARS: &[&str] =
    &["antlr4", "antlr4-runtime", "antlr3-runtime", "stringtemplate4", "treelayout"];

/// The verdict on each text, by a program that a source names, for the grammar in
/// a file that begins with a rule.
pub fn ask(
    source: &str,
    program: &str,
    grammar: (&Path, &str),
    texts: &[Vec<u8>],
) -> Result<Vec<bool>> {
    if source.starts_with("crate:tree-sitter-") {
        return many(Command::new(fetch::tree_sitter_program()?).arg(program), texts);
    }
    if program == "antlr" {
        let jars: Vec<String> =
            JARS.iter().map(|jar| format!("/usr/share/java/{jar}.jar")).collect();
        let mut command = Command::new("java");
        command.arg("-cp").arg(jars.join(":"));
        command.arg(project::root().join("tools/grammars/antlr/Accept.java"));
        return many(command.arg(grammar.0).arg(grammar.1), texts);
    }
    if program == "abnf" {
        let mut command = Command::new("python3");
        command.arg(project::root().join("tools/grammars/abnf.py")).arg(fetch::fetched(source)?);
        return many(command.arg(grammar.0).arg(grammar.1), texts);
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

/// Asks a program that takes all texts at once.
fn many(command: &mut Command, texts: &[Vec<u8>]) -> Result<Vec<bool>> {
    let input = tempfile::NamedTempFile::new()?;
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
    }
    fs::write(input.path(), bytes)?;
    let done = process::run(command.stdin(fs::File::open(input.path())?), ALL_LIMIT)?;
    if !done.exit.success() {
        bail!("the program that is asked: {}: {}", done.exit, done.complaint());
    }
    let said = String::from_utf8_lossy(&done.stdout);
    let verdicts: Vec<bool> = said.lines().map(|line| line == "yes").collect();
    ensure!(verdicts.len() == texts.len(), "{} verdicts on {}", verdicts.len(), texts.len());
    Ok(verdicts)
}
