//! Grammars that others wrote, imported and held against the programs that they
//! came from.
//!
//! `tools/grammars/list` names them. Each is fetched and imported; sentences are
//! drawn from it and parsed back by our own parser; where a program can be asked,
//! it is: which share of our sentences does it accept? Real inputs go the other
//! way. Each share is reported, and held against what the importer says of the
//! language: if it is the same or smaller, the program accepts every sentence; if
//! it is the same or larger, we accept every real input; and unless nothing is
//! certain, we parse every sentence back. A grammar over tokens does not know what
//! its lexer remembers, and then its importer must say so.

mod accept;
mod fetch;
mod sample;
mod summary;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use pleach_grammar::{Grammar, Language, Pattern};
use pleach_import as import;

use self::summary::Summary;
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

impl Share {
    fn all(self) -> bool {
        self.0 == self.1
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.1 {
            0 => f.pad("-"),
            all => f.pad(&format!("{}/{all}", self.0)),
        }
    }
}

pub use fetch::fetched;

/// What came of one grammar.
struct Row {
    back: Share,
    accepted: Share,
    inputs: Share,
    /// It is what its importer says.
    good: bool,
}

/// True when all were imported, and are what their importers say.
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
    let mut summary = Summary::default();
    for entry in entries.iter().filter(wanted) {
        let row = examine(entry, args);
        summary.add(entry, row.as_ref().ok());
        match row {
            Ok(Row { good: true, .. }) => passed += 1,
            Ok(_) => failed += 1,
            Err(problem) => {
                failed += 1;
                println!("{} {}: {problem:#}", entry.source, entry.grammar);
            }
        }
    }
    println!("\n{summary}");
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

/// Prints a row.
fn examine(entry: &Entry, args: &Args) -> Result<Row> {
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
    let mut asked = true;
    let accepted = match &entry.accepts {
        Some(program) => {
            let start = &grammar.rule(grammar.start).name;
            let verdicts = accept::ask(&entry.source, program, (&path, start), texts);
            // A program that cannot be asked is no reason to say nothing else.
            match verdicts {
                Ok(verdicts) => accepted(&verdicts, texts, args.verbose),
                Err(problem) => {
                    println!("{} {}: not asked: {problem:#}", entry.source, entry.grammar);
                    asked = false;
                    Share::default()
                }
            }
        }
        None => Share::default(),
    };
    let inputs = match &entry.inputs {
        Some(patterns) => {
            let (network, patterns) = match patterns.strip_prefix("crlf:") {
                Some(patterns) => (true, patterns),
                None => (false, patterns.as_str()),
            };
            let paths = matching(&dir, patterns)?;
            sample::real_inputs(&grammar, &paths, network, args.verbose)?
        }
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
    // What the importer says of the language is held against the program.
    let inside = matches!(grammar.language, Language::Same | Language::Smaller);
    let around = matches!(grammar.language, Language::Same | Language::Larger);
    let good = asked
        && (grammar.language == Language::Unknown || back.all())
        && (!inside || accepted.all())
        && (!around || inputs.all());
    if !good {
        println!("  ^ this is not what \"{}\" says", grammar.language);
    }
    Ok(Row { back, accepted, inputs, good })
}

fn accepted(verdicts: &[bool], texts: &[Vec<u8>], verbose: bool) -> Share {
    let refused = texts.iter().zip(verdicts).filter(|(_, accepted)| !**accepted);
    if verbose {
        refused.for_each(|(text, _)| println!("  refused: {}", text.escape_ascii()));
    }
    Share(verdicts.iter().filter(|accepted| **accepted).count(), verdicts.len())
}

fn unknown(grammar: &Grammar) -> usize {
    grammar.tokens.iter().filter(|token| token.pattern == Pattern::Unknown).count()
}

fn shortened(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// `Test/*.b,x.b`: the files of a directory that end so, and one more.
fn matching(dir: &Path, patterns: &str) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for pattern in patterns.split(',') {
        let Some((folder, end)) = pattern.rsplit_once("/*") else {
            paths.push(dir.join(pattern));
            continue;
        };
        let folder = dir.join(folder);
        for file in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = file?.path();
            if path.is_file() && path.to_string_lossy().ends_with(end) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths)
}
