//! Grammars that others wrote, imported and held against the programs that they
//! came from.
//!
//! `tools/grammars/list` names them. Each is fetched and imported; sentences are
//! drawn from it and parsed back by our own parser; where a program can be asked,
//! it is: which share of our sentences does it accept? Real inputs go the other
//! way. A grammar that cannot be imported is a failure, and so are sentences that
//! we cannot parse back where the import says that the language is the same. The
//! rest is reported: a grammar over tokens does not know what its lexer remembers.

mod accept;
mod fetch;
mod sample;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use pleach_grammar::{Grammar, Language, Pattern, import};

use crate::project;

#[derive(clap::Args)]
pub struct Args {
    /// Only grammars whose source or file contains this
    only: Option<String>,
    /// Sentences to draw from each
    #[arg(long, default_value_t = 200)]
    count: usize,
    /// The longest of them, in tokens
    #[arg(long, default_value_t = 12)]
    tokens: usize,
    /// Seed of the generator
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print every sentence that is not accepted
    #[arg(long)]
    verbose: bool,
}

/// A line of the list.
struct Entry {
    source: String,
    grammar: String,
    lexer: Option<String>,
    accepts: Option<String>,
    inputs: Option<String>,
}

/// How many of how many.
#[derive(Clone, Copy, Default)]
struct Share(usize, usize);

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.1 {
            0 => f.pad("-"),
            all => f.pad(&format!("{}/{all}", self.0)),
        }
    }
}

/// True when all were imported, and what should be parsed back was.
pub fn run(args: &Args) -> Result<bool> {
    let entries = entries()?;
    let wanted = |entry: &&Entry| {
        let only = args.only.as_deref().unwrap_or_default();
        entry.source.contains(only) || entry.grammar.contains(only)
    };
    println!(
        "{:52} {:>6} {:>6} {:>7} {:>5} {:>8} {:>9} {:>9} {:>9}  language",
        "grammar", "rules", "tokens", "unknown", "notes", "ms", "read back", "accepted", "inputs"
    );
    let (mut passed, mut failed) = (0, 0);
    for entry in entries.iter().filter(wanted) {
        match examine(entry, args) {
            Ok(true) => passed += 1,
            Ok(false) => failed += 1,
            Err(problem) => {
                failed += 1;
                println!("{} {}: {problem:#}", entry.source, entry.grammar);
            }
        }
    }
    println!("grammars: {passed} passed, {failed} failed");
    Ok(failed == 0)
}

fn entries() -> Result<Vec<Entry>> {
    let path = project::root().join("tools/grammars/list");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [source, grammar, lexer, accepts, inputs] = words[..] else {
                bail!("{}: this line has not five words: {line}", path.display());
            };
            let some = |word: &str| (word != "-").then(|| word.to_owned());
            Ok(Entry {
                source: source.into(),
                grammar: grammar.into(),
                lexer: some(lexer),
                accepts: some(accepts),
                inputs: some(inputs),
            })
        })
        .collect()
}

/// Prints a row; false if sentences should have been parsed back and were not.
fn examine(entry: &Entry, args: &Args) -> Result<bool> {
    let dir = fetch::fetched(&entry.source)?;
    let path = dir.join(&entry.grammar);
    let lexer = entry.lexer.as_ref().map(|lexer| dir.join(lexer));
    let start = Instant::now();
    let grammar = import::load(&path, lexer.as_deref())?;
    let took = start.elapsed();
    let drawn = sample::draw(&grammar, args);
    let (texts, back) = match &drawn {
        Ok(drawn) => (drawn.texts.as_slice(), drawn.parsed_back),
        Err(problem) => {
            println!("{} {}: not sampled: {problem:#}", entry.source, entry.grammar);
            (&[][..], Share::default())
        }
    };
    let accepted = match &entry.accepts {
        Some(program) => accepted(entry, program, texts, args.verbose)?,
        None => Share::default(),
    };
    let inputs = match &entry.inputs {
        Some(pattern) => sample::real_inputs(&grammar, &matching(&dir, pattern)?, args.verbose)?,
        None => Share::default(),
    };
    let name = format!("{} {}", entry.source, shortened(&entry.grammar));
    println!(
        "{name:52} {:>6} {:>6} {:>7} {:>5} {:>8.1} {back:>9} {accepted:>9} {inputs:>9}  {}",
        grammar.rules.len(),
        grammar.tokens.len(),
        unknown(&grammar),
        grammar.notes.len(),
        took.as_secs_f64() * 1000.0,
        grammar.language
    );
    Ok(grammar.language != Language::Same || back.0 == back.1)
}

fn accepted(entry: &Entry, program: &str, texts: &[Vec<u8>], verbose: bool) -> Result<Share> {
    let verdicts = accept::ask(&entry.source, program, texts)?;
    let refused = texts.iter().zip(&verdicts).filter(|(_, accepted)| !**accepted);
    if verbose {
        refused.for_each(|(text, _)| println!("  refused: {}", text.escape_ascii()));
    }
    Ok(Share(verdicts.iter().filter(|accepted| **accepted).count(), verdicts.len()))
}

fn unknown(grammar: &Grammar) -> usize {
    grammar.tokens.iter().filter(|token| token.pattern == Pattern::Unknown).count()
}

fn shortened(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// `Test/*.b`: the files of a directory that end so.
fn matching(dir: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let Some((folder, end)) = pattern.rsplit_once("/*") else {
        return Ok(vec![dir.join(pattern)]);
    };
    let folder = dir.join(folder);
    let mut paths = Vec::new();
    for file in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = file?.path();
        if path.to_string_lossy().ends_with(end) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
