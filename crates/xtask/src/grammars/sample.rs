//! Samples sentences of a grammar, and runs our parser on them and on real inputs.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use pleach_grammar::count::Unit;
use pleach_grammar::detokenize::Detokenizer;
use pleach_grammar::sample::{Sentence, Uniform};
use pleach_grammar::{Automaton, Grammar, Lexer, Parser, analysis};

use super::{Args, Share};

pub struct Samples {
    pub texts: Vec<Vec<u8>>,
    pub parsed_back: Share,
}

/// Samples sentences of each length in turn, uniformly among those of the same length, and
/// parses each.
pub fn sample(grammar: &Grammar, args: &Args) -> Result<Samples> {
    let Some(known) = analysis::writable(grammar) else {
        bail!("every sentence contains a token whose text is unknown");
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
        bail!("the grammar has no sentence of at most {} tokens", args.tokens);
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
    Ok(Samples { texts, parsed_back })
}

/// Parses real inputs. With `crlf`, their line ends are converted to CR LF first.
pub fn parse_inputs(
    grammar: &Grammar,
    paths: &[PathBuf],
    crlf: bool,
    verbose: bool,
) -> Result<Share> {
    let parser = parser(&Arc::new(grammar.clone()))?;
    let mut parsed = 0;
    for path in paths {
        let mut text = fs::read(path)?;
        if crlf {
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
