//! Sentences of a grammar, and our own parser on them and on real inputs.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use pleach_grammar::count::Unit;
use pleach_grammar::detokenize::Detokenizer;
use pleach_grammar::sample::{Sentence, Uniform};
use pleach_grammar::{Automaton, Grammar, Lexer, Parser, analysis};

use super::{Args, Share};

pub struct Drawn {
    pub texts: Vec<Vec<u8>>,
    pub parsed_back: Share,
}

/// Draws sentences of rising lengths, uniformly among those of each, and parses
/// each back.
pub fn draw(grammar: &Grammar, args: &Args) -> Result<Drawn> {
    let Some(known) = analysis::writable(grammar) else {
        bail!("every sentence has a token that is known by name only");
    };
    let known = Arc::new(known);
    let mut uniform = Uniform::new(Arc::clone(&known), Unit::Tokens, args.tokens, args.seed)?;
    let detokenizer = Detokenizer::new(&known)?;
    let parser = parser(&known)?;
    let (mut sentence, mut texts, mut parsed) = (Sentence::default(), Vec::new(), 0);
    let lengths: Vec<usize> = (1..=args.tokens)
        .filter(|length| uniform.counts().of_length(*length) != 0u32.into())
        .collect();
    if lengths.is_empty() {
        bail!("no sentence of up to {} tokens", args.tokens);
    }
    for at in 0..args.count {
        sentence.clear();
        if !uniform.sample(lengths[at % lengths.len()], &mut sentence) {
            continue;
        }
        let pieces: Vec<_> = sentence.pieces().collect();
        let text = detokenizer.join(&pieces);
        match parser.parse(&text) {
            Ok(_) => parsed += 1,
            Err(problem) if args.verbose => {
                println!("  not read back: {}: {problem}", text.escape_ascii());
            }
            Err(_) => {}
        }
        texts.push(text);
    }
    let parsed_back = Share(parsed, texts.len());
    Ok(Drawn { texts, parsed_back })
}

/// With `network`, lines end as in what goes over a network.
pub fn real_inputs(
    grammar: &Grammar,
    paths: &[PathBuf],
    network: bool,
    verbose: bool,
) -> Result<Share> {
    let parser = parser(&Arc::new(grammar.clone()))?;
    let mut parsed = 0;
    for path in paths {
        let mut text = fs::read(path)?;
        if network {
            let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
            let lines = lines.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
            text = lines.collect::<Vec<_>>().join(&b"\r\n"[..]);
        }
        match parser.parse(&text) {
            Ok(_) => parsed += 1,
            Err(problem) if verbose => println!("  {}:{problem}", path.display()),
            Err(_) => {}
        }
    }
    Ok(Share(parsed, paths.len()))
}

fn parser(grammar: &Arc<Grammar>) -> Result<Parser> {
    let lexer = Lexer::new(grammar)?;
    Ok(Parser::new(Arc::new(Automaton::new(Arc::clone(grammar))?), lexer))
}
