//! `pleach grammar sample`

use super::{Source, detokenizer};
use crate::commands::require_vacant;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context, anyhow};
use pleach_grammar::analysis::writable;
use pleach_grammar::count::Unit;
use pleach_grammar::sample::{Sentence, Uniform, Weighted, paths};
use pleach_grammar::{Grammar, Pattern};
use std::io::{BufWriter, IsTerminal, StdoutLock, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
pub struct Sample {
    #[command(flatten)]
    source: Source,
    /// Uniformly among derivations of so many bytes (separators not counted)
    #[arg(long, value_name = "BYTES")]
    length: Option<usize>,
    /// Uniformly among derivations of so many tokens
    #[arg(long, value_name = "N", conflicts_with = "length")]
    tokens: Option<usize>,
    /// Few sentences that cover every path of K steps down the grammar
    #[arg(long, value_name = "K", conflicts_with_all = ["length", "tokens"])]
    cover: Option<usize>,
    /// Sentences chosen by weight end after so many bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1000)]
    limit: usize,
    /// Number of sentences
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// Write each sentence to a file of its own in this directory, without a newline
    /// behind it; the directory must be empty or not exist. On standard output a newline
    /// stands between two sentences
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Same seed, same sentences
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Without a length, productions are chosen by weight.
pub fn run(args: &Sample) -> Result<Code, Failure> {
    let grammar = leave_out_unknown(args.source.load()?);
    let detokenizer = detokenizer(&grammar)?;
    let mut sink = Sink::new(args.output.as_deref())?;
    let joined = |sentence: &Sentence| {
        let pieces: Vec<_> = sentence.pieces().collect();
        detokenizer.join(&pieces)
    };
    if let Some(k) = args.cover {
        for tree in paths::cover(&grammar, k).map_err(Failure::person)? {
            sink.write(&detokenizer.sentence(&tree))?;
        }
    } else if let Some(length) = args.length.or(args.tokens) {
        let unit = if args.length.is_some() { Unit::Bytes } else { Unit::Tokens };
        let mut uniform =
            Uniform::new(Arc::clone(&grammar), unit, length, args.seed).map_err(Failure::person)?;
        let mut sentence = Sentence::default();
        for _ in 0..args.count {
            if !uniform.sample(length, &mut sentence) {
                let unit = if unit == Unit::Bytes { "bytes" } else { "tokens" };
                return Err(Failure::person(anyhow!("no sentence has exactly {length} {unit}")));
            }
            sink.write(&joined(&sentence))?;
        }
    } else {
        let mut weighted = Weighted::new(&grammar, args.seed).map_err(Failure::person)?;
        let mut sentence = Sentence::default();
        for _ in 0..args.count {
            sentence.clear();
            weighted.sentence(args.limit, &mut sentence);
            sink.write(&joined(&sentence))?;
        }
    }
    sink.finish()?;
    Ok(Code::Ok)
}

/// A grammar without the tokens that are known by name only, where something is left.
fn leave_out_unknown(grammar: Arc<Grammar>) -> Arc<Grammar> {
    let unknown = grammar.tokens.iter().filter(|t| t.pattern == Pattern::Unknown).count();
    match writable(&grammar).filter(|_| unknown > 0) {
        Some(rest) => {
            eprintln!(
                "pleach: {unknown} tokens are known by name only; no sentence has them. --lexer \
                 and --keywords say what tokens look like"
            );
            Arc::new(rest)
        }
        None => grammar,
    }
}

/// Where sentences go. A newline may be a token, so none is put behind a sentence: one
/// stands between two of them, and one before the prompt of a terminal.
enum Sink<'a> {
    Files { dir: &'a Path, count: usize },
    Stdout { out: BufWriter<StdoutLock<'static>>, count: usize },
}

impl<'a> Sink<'a> {
    fn new(dir: Option<&'a Path>) -> Result<Sink<'a>, Failure> {
        let Some(dir) = dir else { return Ok(Sink::Stdout { out: show::out(), count: 0 }) };
        require_vacant(dir)?;
        let made = std::fs::create_dir_all(dir).with_context(|| dir.display().to_string());
        made.map_err(Failure::person)?;
        Ok(Sink::Files { dir, count: 0 })
    }

    fn write(&mut self, sentence: &[u8]) -> Result<(), Failure> {
        match self {
            Sink::Files { dir, count } => {
                let path = dir.join(format!("{count:06}"));
                let written = std::fs::write(&path, sentence);
                let written = written.with_context(|| path.display().to_string());
                written.map_err(Failure::person)?;
                *count += 1;
            }
            Sink::Stdout { out, count } => {
                if *count > 0 {
                    out.write_all(b"\n")?;
                }
                out.write_all(sentence)?;
                *count += 1;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        if let Sink::Stdout { mut out, count } = self {
            if count > 0 && std::io::stdout().is_terminal() {
                out.write_all(b"\n")?;
            }
            out.flush()?;
        }
        Ok(())
    }
}
