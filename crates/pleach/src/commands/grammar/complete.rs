//! `pleach grammar complete`: completes the beginning of a sentence.

use super::{Source, find_token};
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::anyhow;
use pleach_grammar::{Automaton, Chart, Grammar, TokenSet};
use std::io::Write;
use std::sync::Arc;

#[derive(clap::Args)]
pub struct Complete {
    #[command(flatten)]
    source: Source,
    /// The first tokens of the sentence, separated by spaces. Each is a token by name or
    /// text, a set {a,b}, any other token than a (!a), or any token (a dot)
    #[arg(long, value_name = "ITEMS", allow_hyphen_values = true)]
    tokens: String,
    /// Choose a completion that is similar to these tokens
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    near: Option<String>,
}

/// Prints a sentence with the fewest tokens, or `unsat`.
pub fn run(args: &Complete) -> Result<Code, Failure> {
    let grammar = args.source.load()?;
    let automaton = Automaton::new(Arc::clone(&grammar)).map_err(Failure::user_error)?;
    let sets: Result<Vec<TokenSet>, Failure> =
        args.tokens.split_whitespace().map(|item| parse_set(&grammar, item)).collect();
    let sets = sets?;
    let near = args.near.as_deref().unwrap_or_default().split_whitespace();
    let near: Result<Vec<_>, Failure> = near.map(|name| find_token(&grammar, name)).collect();
    let near = near?;
    let mut chart = Chart::new(Arc::new(automaton));
    let mut out = show::out();
    let found = sets.iter().all(|s| chart.push(s)).then(|| match args.near {
        Some(_) => chart.complete_near(&near),
        None => chart.complete(),
    });
    match found.flatten() {
        None => writeln!(out, "unsat")?,
        Some(found) => {
            let names: Vec<_> = found.tokens.iter().map(|&t| grammar.token(t).shown()).collect();
            writeln!(out, "{}", names.join(" "))?;
        }
    }
    out.flush()?;
    Ok(Code::Ok)
}

/// Parses the set of one position. If a token has just this name or text, it is meant, and
/// the signs have no meaning.
fn parse_set(grammar: &Grammar, item: &str) -> Result<TokenSet, Failure> {
    let universe = grammar.tokens.len();
    if let Ok(token) = find_token(grammar, item) {
        return Ok(TokenSet::of(universe, [token]));
    }
    if item == "." {
        return Ok(TokenSet::all(universe));
    }
    if let Some(name) = item.strip_prefix('!') {
        return Ok(TokenSet::of(universe, [find_token(grammar, name)?]).complement());
    }
    let Some(inner) = item.strip_prefix('{').and_then(|i| i.strip_suffix('}')) else {
        return Err(Failure::user_error(anyhow!("the grammar has no token {item}")));
    };
    let mut set = TokenSet::empty(universe);
    let mut names = inner.split(',').peekable();
    while let Some(name) = names.next() {
        // Two commas in a row stand for the token `,`.
        if name.is_empty() && names.peek() == Some(&"") {
            names.next();
            set.insert(find_token(grammar, ",")?);
        } else {
            set.insert(find_token(grammar, name)?);
        }
    }
    Ok(set)
}
