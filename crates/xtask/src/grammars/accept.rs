//! Checks whether programs accept a text. Only syntax counts: a text with an undefined
//! name or a division by zero is accepted.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::fetch;
use crate::process::{self, Exit};
use crate::project;

/// For one text. If a program takes longer, it has parsed the text and is running it.
const LIMIT: Duration = Duration::from_secs(2);
/// For a program that gets all texts at once.
const ALL_LIMIT: Duration = Duration::from_secs(600);

/// The libraries of ANTLR, as Debian's package antlr4 names them.
const JARS: &[&str] =
    &["antlr4", "antlr4-runtime", "antlr3-runtime", "stringtemplate4", "treelayout"];

/// For each text, true if the program accepts it. `grammar` is the grammar's file and its
/// start rule.
pub fn check(
    source: &str,
    program: &str,
    grammar: (&Path, &str),
    texts: &[Vec<u8>],
) -> Result<Vec<bool>> {
    if source.starts_with("crate:tree-sitter-") {
        return check_all(Command::new(fetch::tree_sitter_program()?).arg(program), texts);
    }
    if program == "antlr" {
        let jars: Vec<String> =
            JARS.iter().map(|jar| format!("/usr/share/java/{jar}.jar")).collect();
        let mut command = Command::new("java");
        command.arg("-cp").arg(jars.join(":"));
        command.arg(project::root().join("tools/grammars/antlr/Accept.java"));
        return check_all(command.arg(grammar.0).arg(grammar.1), texts);
    }
    if program == "abnf" {
        let mut command = Command::new("python3");
        command.arg(project::root().join("tools/grammars/abnf.py"));
        command.arg(fetch::fetch(source)?);
        return check_all(command.arg(grammar.0).arg(grammar.1), texts);
    }
    texts.iter().map(|text| check_one(program, text)).collect()
}

fn check_one(program: &str, text: &[u8]) -> Result<bool> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("input.cue");
    fs::write(&file, text)?;
    let mut command = match program {
        // Compiles the text and does not run it.
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
        _ => bail!("tools/grammars/list names {program}, which is not supported"),
    };
    let done = process::run(&mut command, LIMIT)
        .with_context(|| format!("cannot check a text with {program}"))?;
    let errors = String::from_utf8_lossy(&done.stderr).to_lowercase();
    let syntax_errors = ["syntax error", "parse error", "illegal character", "bad character"];
    Ok(done.exit == Exit::TimedOut || !syntax_errors.iter().any(|words| errors.contains(words)))
}

/// Runs a program that checks all texts at once.
fn check_all(command: &mut Command, texts: &[Vec<u8>]) -> Result<Vec<bool>> {
    let input = tempfile::NamedTempFile::new()?;
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
    }
    fs::write(input.path(), bytes)?;
    let done = process::run(command.stdin(fs::File::open(input.path())?), ALL_LIMIT)?;
    if !done.exit.success() {
        bail!("the program that checks the texts: {}: {}", done.exit, done.last_lines());
    }
    let output = String::from_utf8_lossy(&done.stdout);
    let verdicts: Vec<bool> = output.lines().map(|line| line == "yes").collect();
    ensure!(
        verdicts.len() == texts.len(),
        "the program answered for {} of {} texts",
        verdicts.len(),
        texts.len()
    );
    Ok(verdicts)
}
