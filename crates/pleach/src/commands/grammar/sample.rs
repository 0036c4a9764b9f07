//! `pleach grammar sample`: prints sentences.

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
    /// Choose uniformly among the derivations of this length, without separators
    #[arg(long, value_name = "BYTES")]
    length: Option<usize>,
    /// Choose uniformly among the derivations of N tokens
    #[arg(long, value_name = "N", conflicts_with = "length")]
    tokens: Option<usize>,
    /// Print a few sentences that cover every path of K steps down the grammar
    #[arg(long, value_name = "K", conflicts_with_all = ["length", "tokens"])]
    cover: Option<usize>,
    /// Without --length, --tokens and --cover: end each sentence after about this many bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1000)]
    limit: usize,
    /// Number of sentences
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// Write each sentence to its own file in this directory, without a newline at the end.
    /// The directory must be empty or not exist. On standard output, there is a newline
    /// between two sentences
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Prints sentences. Without `--length`, `--tokens` and `--cover`, productions are chosen by
/// weight.
pub fn run(args: &Sample) -> Result<Code, Failure> {
    let grammar = drop_unknown_tokens(args.source.load()?);
    let detokenizer = detokenizer(&grammar)?;
    let mut sink = Sink::new(args.output.as_deref())?;
    let joined = |sentence: &Sentence| {
        let pieces: Vec<_> = sentence.pieces().collect();
        detokenizer.join(&pieces)
    };
    if let Some(k) = args.cover {
        for tree in paths::cover(&grammar, k).map_err(Failure::user_error)? {
            sink.write(&detokenizer.sentence(&tree))?;
        }
    } else if let Some(length) = args.length.or(args.tokens) {
        let unit = if args.length.is_some() { Unit::Bytes } else { Unit::Tokens };
        let mut uniform = Uniform::new(Arc::clone(&grammar), unit, length, args.seed)
            .map_err(Failure::user_error)?;
        let mut sentence = Sentence::default();
        for _ in 0..args.count {
            if !uniform.sample(length, &mut sentence) {
                let unit = if unit == Unit::Bytes { "bytes" } else { "tokens" };
                return Err(Failure::user_error(anyhow!(
                    "no sentence has exactly {length} {unit}"
                )));
            }
            sink.write(&joined(&sentence))?;
        }
    } else {
        let mut weighted = Weighted::new(&grammar, args.seed).map_err(Failure::user_error)?;
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

/// Removes tokens whose text is unknown, if some sentence remains.
fn drop_unknown_tokens(grammar: Arc<Grammar>) -> Arc<Grammar> {
    let unknown = grammar.tokens.iter().filter(|t| t.pattern == Pattern::Unknown).count();
    match writable(&grammar).filter(|_| unknown > 0) {
        Some(rest) => {
            eprintln!(
                "pleach: the text of {unknown} tokens is unknown, so no sentence has them; give a \
                 lexer (--lexer) or keywords (--keywords)"
            );
            Arc::new(rest)
        }
        None => grammar,
    }
}

/// Where sentences go. A newline may be a token, so none is added to a sentence. There is
/// one between two sentences, and one at the end on a terminal.
enum Sink<'a> {
    Files { dir: &'a Path, count: usize },
    Stdout { out: BufWriter<StdoutLock<'static>>, count: usize },
}

impl<'a> Sink<'a> {
    fn new(dir: Option<&'a Path>) -> Result<Sink<'a>, Failure> {
        let Some(dir) = dir else { return Ok(Sink::Stdout { out: show::out(), count: 0 }) };
        require_vacant(dir)?;
        let made = std::fs::create_dir_all(dir).with_context(|| dir.display().to_string());
        made.map_err(Failure::user_error)?;
        Ok(Sink::Files { dir, count: 0 })
    }

    fn write(&mut self, sentence: &[u8]) -> Result<(), Failure> {
        match self {
            Sink::Files { dir, count } => {
                let path = dir.join(format!("{count:06}"));
                let written = std::fs::write(&path, sentence);
                let written = written.with_context(|| path.display().to_string());
                written.map_err(Failure::user_error)?;
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
