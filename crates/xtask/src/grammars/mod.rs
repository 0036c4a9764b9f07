//! `./x grammars`: imports real grammars and checks them with the programs that they
//! belong to.
//!
//! `tools/grammars/list` names the grammars. Each is downloaded and imported. Then three
//! shares are measured: how many sampled sentences our parser parses back, how many the
//! program accepts, and how many real inputs our parser accepts. These shares must agree
//! with what the importer reports about the language:
//! - *same* or *smaller* than the original: the program accepts every sentence;
//! - *same* or *larger*: our parser accepts every real input;
//! - anything but *unknown*: our parser parses every sentence back.
//!
//! A grammar over tokens does not contain the state of its lexer; the importer must report
//! that.

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
    /// Check only grammars whose source or file name contains this text
    only: Option<String>,
    /// Number of sentences to sample from each grammar
    #[arg(long, default_value_t = 200)]
    count: usize,
    /// Maximum length of a sentence, in tokens
    #[arg(long, default_value_t = 12)]
    tokens: usize,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print every text that is rejected
    #[arg(long)]
    verbose: bool,
}

/// A line of `tools/grammars/list`.
struct Entry {
    source: String,
    grammar: String,
    lexer: Option<String>,
    accepts: Option<String>,
    inputs: Option<String>,
}

/// A count and the total that it is part of.
#[derive(Clone, Copy, Default)]
struct Share(usize, usize);

impl Share {
    fn is_complete(self) -> bool {
        self.0 == self.1
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.1 {
            0 => f.pad("-"),
            total => f.pad(&format!("{}/{total}", self.0)),
        }
    }
}

pub use fetch::fetch;

/// The result of one grammar.
struct Row {
    parsed_back: Share,
    accepted: Share,
    inputs: Share,
    /// True if the shares agree with what the importer reports.
    agrees: bool,
}

/// True if all grammars were imported and agree with what their importers report.
pub fn run(args: &Args) -> Result<bool> {
    let entries = read_list()?;
    let is_selected = |entry: &&Entry| {
        let only = args.only.as_deref().unwrap_or_default();
        entry.source.contains(only) || entry.grammar.contains(only)
    };
    println!(
        "{:52} {:>6} {:>6} {:>7} {:>5} {:>8} {:>9} {:>9} {:>9}  language",
        "grammar", "rules", "tokens", "unknown", "notes", "ms", "read back", "accepted", "inputs"
    );
    let (mut passed, mut failed) = (0, 0);
    let mut summary = Summary::default();
    for entry in entries.iter().filter(is_selected) {
        let row = examine(entry, args);
        summary.add(entry, row.as_ref().ok());
        match row {
            Ok(Row { agrees: true, .. }) => passed += 1,
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

fn read_list() -> Result<Vec<Entry>> {
    let path = project::root().join("tools/grammars/list");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [source, grammar, lexer, accepts, inputs] = words[..] else {
                bail!("{}: this line does not have five words: {line}", path.display());
            };
            let optional = |word: &str| (word != "-").then(|| word.to_owned());
            Ok(Entry {
                source: source.into(),
                grammar: grammar.into(),
                lexer: optional(lexer),
                accepts: optional(accepts),
                inputs: optional(inputs),
            })
        })
        .collect()
}

/// Imports one grammar, measures its shares and prints its row.
fn examine(entry: &Entry, args: &Args) -> Result<Row> {
    let dir = fetch(&entry.source)?;
    let path = dir.join(&entry.grammar);
    let lexer = entry.lexer.as_ref().map(|lexer| dir.join(lexer));
    let start = Instant::now();
    let grammar = import::load(&path, lexer.as_deref())?;
    let import_time = start.elapsed();
    let samples = sample::sample(&grammar, args);
    let (texts, parsed_back) = match &samples {
        Ok(samples) => (samples.texts.as_slice(), samples.parsed_back),
        Err(problem) => {
            println!("{} {}: not sampled: {problem:#}", entry.source, entry.grammar);
            (&[][..], Share::default())
        }
    };
    let mut is_checked = true;
    let accepted = match &entry.accepts {
        Some(program) => {
            let start = &grammar.rule(grammar.start).name;
            match accept::check(&entry.source, program, (&path, start), texts) {
                Ok(verdicts) => count_accepted(&verdicts, texts, args.verbose),
                // The other shares are still measured and printed.
                Err(problem) => {
                    println!("{} {}: not checked: {problem:#}", entry.source, entry.grammar);
                    is_checked = false;
                    Share::default()
                }
            }
        }
        None => Share::default(),
    };
    let inputs = match &entry.inputs {
        Some(patterns) => {
            let (crlf, patterns) = match patterns.strip_prefix("crlf:") {
                Some(patterns) => (true, patterns),
                None => (false, patterns.as_str()),
            };
            let paths = find_files(&dir, patterns)?;
            sample::parse_inputs(&grammar, &paths, crlf, args.verbose)?
        }
        None => Share::default(),
    };
    let name = format!("{} {}", entry.source, shorten(&entry.grammar));
    println!(
        "{name:52} {:>6} {:>6} {:>7} {:>5} {:>8.1} {parsed_back:>9} {accepted:>9} {inputs:>9}  {}",
        grammar.rules.len(),
        grammar.tokens.len(),
        count_unknown(&grammar),
        grammar.notes.len(),
        import_time.as_secs_f64() * 1000.0,
        grammar.language
    );
    let is_subset = matches!(grammar.language, Language::Same | Language::Smaller);
    let is_superset = matches!(grammar.language, Language::Same | Language::Larger);
    let agrees = is_checked
        && (grammar.language == Language::Unknown || parsed_back.is_complete())
        && (!is_subset || accepted.is_complete())
        && (!is_superset || inputs.is_complete());
    if !agrees {
        println!("  ^ this contradicts the reported language \"{}\"", grammar.language);
    }
    Ok(Row { parsed_back, accepted, inputs, agrees })
}

fn count_accepted(verdicts: &[bool], texts: &[Vec<u8>], verbose: bool) -> Share {
    let rejected = texts.iter().zip(verdicts).filter(|(_, accepted)| !**accepted);
    if verbose {
        rejected.for_each(|(text, _)| println!("  rejected: {}", text.escape_ascii()));
    }
    Share(verdicts.iter().filter(|accepted| **accepted).count(), verdicts.len())
}

/// The number of tokens whose text is unknown.
fn count_unknown(grammar: &Grammar) -> usize {
    grammar.tokens.iter().filter(|token| token.pattern == Pattern::Unknown).count()
}

/// The last two parts of a path.
fn shorten(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// The files that match patterns such as `Test/*.b,x.b`: all files in `Test` that end in
/// `.b`, and `x.b`.
fn find_files(dir: &Path, patterns: &str) -> Result<Vec<PathBuf>> {
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
