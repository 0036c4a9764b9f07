//! `pleach grammar parse` and `unparse`.
//!
//! A tree is printed from the top down, one node per line. `rule/2` is the second
//! production of a rule, `token = "text"` is a leaf. The indentation is only for readers;
//! `unparse` ignores it.

use super::{Source, detokenizer};
use crate::commands::read;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context, anyhow};
use pleach_grammar::tree::Kind;
use pleach_grammar::{Grammar, ParseError, Symbol, TokenId, Tree};
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Parse {
    #[command(flatten)]
    source: Source,
    /// Input file; - for standard input
    input: PathBuf,
    /// Print no tree; only check the input
    #[arg(long)]
    quiet: bool,
}

#[derive(clap::Args)]
pub struct Unparse {
    #[command(flatten)]
    source: Source,
    /// File with a tree that `pleach grammar parse` printed; - for standard input
    tree: PathBuf,
}

/// Ends with status 1 if the input is not a sentence, and prints the tree up to the error.
pub fn run(args: &Parse) -> Result<Code, Failure> {
    let parser = args.source.parser()?;
    let input = read(&args.input)?;
    let grammar = parser.grammar();
    let mut out = show::out();
    match parser.parse(&input) {
        Ok(parsed) => {
            if !args.quiet {
                print_tree(&mut out, grammar, &parsed.tree, |leaf| {
                    let span = parsed.lexemes.get(leaf)?.span;
                    Some(&input[span.0..span.1])
                })?;
            }
            out.flush()?;
            Ok(Code::Ok)
        }
        Err(error @ ParseError::TooLarge(_)) => Err(Failure::user_error(error)),
        Err(error) => {
            if let (ParseError::Syntax { partial, read, .. }, false) = (&error, args.quiet) {
                let lexemes = parser.lexer().lex(&input).unwrap_or_default();
                print_tree(&mut out, grammar, partial, |leaf| {
                    let lexeme = lexemes.get(leaf).filter(|_| leaf < *read)?;
                    Some(&input[lexeme.span.0..lexeme.span.1])
                })?;
            }
            out.flush()?;
            eprintln!("pleach: {}:{error}", args.input.display());
            Ok(Code::Failed)
        }
    }
}

/// Prints a tree. Leaves without a text are marked as missing.
fn print_tree<'a>(
    out: &mut impl Write,
    grammar: &Grammar,
    tree: &Tree,
    text: impl Fn(usize) -> Option<&'a [u8]>,
) -> Result<(), Failure> {
    // A limit, so that the output of a deep tree stays linear in its size.
    const MAX_INDENT: usize = 60;
    let mut ends: Vec<usize> = Vec::new();
    for (at, node) in tree.nodes().iter().enumerate() {
        while ends.last().is_some_and(|&end| end <= at) {
            ends.pop();
        }
        write!(out, "{:1$}", "", ends.len().min(MAX_INDENT))?;
        match node.kind {
            Kind::Token(token, leaf) => {
                let name = &grammar.token(token).name;
                match text(leaf as usize) {
                    Some(text) => writeln!(out, "{name} = \"{}\"", text.escape_ascii())?,
                    None => writeln!(out, "{name} is missing")?,
                }
            }
            Kind::Rule(p) => {
                let rule = grammar.rule(grammar.production(p).rule);
                let number = rule.productions.iter().position(|q| *q == p).unwrap_or(0) + 1;
                writeln!(out, "{}/{number}", rule.name)?;
                ends.push(at + node.size as usize);
            }
        }
    }
    Ok(())
}

pub fn unparse(args: &Unparse) -> Result<Code, Failure> {
    let grammar = args.source.load()?;
    let bytes = read(&args.tree)?;
    let file = args.tree.display();
    let text = String::from_utf8(bytes).with_context(|| file.to_string());
    let text = text.map_err(Failure::user_error)?;
    let names = grammar.tokens_by_name();
    let mut leaves: Vec<(TokenId, Vec<u8>)> = Vec::new();
    // The symbols that the productions so far still need, the next on top.
    let mut expected_symbols = vec![Symbol::Rule(grammar.start)];
    for (number, line) in text.lines().enumerate() {
        let wrong = |why: &str| Failure::user_error(anyhow!("{file}:{}:1: {why}", number + 1));
        let line = line.trim_start();
        let next = expected_symbols.pop().ok_or_else(|| wrong("the tree has ended already"))?;
        match next {
            Symbol::Token(token) => {
                let (name, text) = line
                    .rsplit_once(" = \"")
                    .ok_or_else(|| wrong("a leaf is expected: token = \"text\""))?;
                if names.get(name) != Some(&token) {
                    let expected = &grammar.token(token).name;
                    return Err(wrong(&format!("{expected} is expected, not {name}")));
                }
                let text = text.strip_suffix('"').and_then(unescape);
                leaves.push((
                    token,
                    text.ok_or_else(|| wrong("the text has no closing quote, or a wrong escape"))?,
                ));
            }
            Symbol::Rule(rule) => {
                let rule = grammar.rule(rule);
                let expected = || wrong(&format!("a production of {} is expected", rule.name));
                let (name, index) = line.rsplit_once('/').ok_or_else(expected)?;
                let index = index.parse::<usize>().ok().and_then(|i| i.checked_sub(1));
                let production = index.and_then(|i| rule.productions.get(i));
                let (Some(&p), true) = (production, name == rule.name) else {
                    return Err(expected());
                };
                expected_symbols.extend(grammar.production(p).symbols.iter().rev());
            }
        }
    }
    if let Some(&symbol) = expected_symbols.last() {
        let name = grammar.name(symbol);
        return Err(Failure::user_error(anyhow!("{file}: the tree ends where {name} is expected")));
    }
    let pieces: Vec<(TokenId, &[u8])> = leaves.iter().map(|(t, b)| (*t, b.as_slice())).collect();
    let mut out = show::out();
    out.write_all(&detokenizer(&grammar)?.join(&pieces))?;
    out.flush()?;
    Ok(Code::Ok)
}

/// Undoes `escape_ascii`.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'x' => {
                    let digit = |b: u8| (b as char).to_digit(16);
                    (digit(rest.next()?)? * 16 + digit(rest.next()?)?) as u8
                }
                c => c,
            },
            byte => byte,
        });
    }
    Some(bytes)
}
