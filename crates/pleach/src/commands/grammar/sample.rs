//! `pleach grammar sample`

use super::{Source, detokenizer};
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::anyhow;
use pleach_grammar::count::Unit;
use pleach_grammar::sample::{Sentence, Uniform, Weighted, paths};
use std::io::Write;
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
    /// How many
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// Same seed, same sentences
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// A line a sentence. Without a length, productions are chosen by weight.
pub fn run(args: &Sample) -> Result<Code, Failure> {
    let grammar = args.source.load()?;
    let mut out = show::out();
    let detokenizer = detokenizer(&grammar)?;
    let joined = |sentence: &Sentence| {
        let pieces: Vec<_> = sentence.pieces().collect();
        detokenizer.join(&pieces)
    };
    if let Some(k) = args.cover {
        for tree in paths::cover(&grammar, k).map_err(Failure::person)? {
            out.write_all(&detokenizer.sentence(&tree))?;
            out.write_all(b"\n")?;
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
            out.write_all(&joined(&sentence))?;
            out.write_all(b"\n")?;
        }
    } else {
        let mut weighted = Weighted::new(&grammar, args.seed).map_err(Failure::person)?;
        let mut sentence = Sentence::default();
        for _ in 0..args.count {
            sentence.clear();
            weighted.sentence(args.limit, &mut sentence);
            out.write_all(&joined(&sentence))?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(Code::Ok)
}
