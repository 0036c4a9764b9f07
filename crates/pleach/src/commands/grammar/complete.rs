//! `pleach grammar complete`

use super::{Source, find};
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
    /// What the first positions allow, separated by spaces: a token by name or
    /// text, a set {a,b}, anything but one !a, or anything at all (a single dot)
    #[arg(long, value_name = "ITEMS", allow_hyphen_values = true)]
    tokens: String,
    /// Tokens that would follow: stay near them
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true)]
    near: Option<String>,
}

/// Prints a shortest sentence, or `unsat`.
pub fn run(args: &Complete) -> Result<Code, Failure> {
    let grammar = args.source.load()?;
    let automaton = Automaton::new(Arc::clone(&grammar)).map_err(Failure::person)?;
    let sets: Result<Vec<TokenSet>, Failure> =
        args.tokens.split_whitespace().map(|item| set(&grammar, item)).collect();
    let sets = sets?;
    let near = args.near.as_deref().unwrap_or_default().split_whitespace();
    let near: Result<Vec<_>, Failure> = near.map(|name| find(&grammar, name)).collect();
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

/// One position. A token of just that name or text comes before any meaning of
/// the signs.
fn set(grammar: &Grammar, item: &str) -> Result<TokenSet, Failure> {
    let universe = grammar.tokens.len();
    if let Ok(token) = find(grammar, item) {
        return Ok(TokenSet::of(universe, [token]));
    }
    if item == "." {
        return Ok(TokenSet::all(universe));
    }
    if let Some(name) = item.strip_prefix('!') {
        return Ok(TokenSet::of(universe, [find(grammar, name)?]).complement());
    }
    let Some(inner) = item.strip_prefix('{').and_then(|i| i.strip_suffix('}')) else {
        return Err(Failure::person(anyhow!("the grammar has no token {item}")));
    };
    let mut set = TokenSet::empty(universe);
    let mut names = inner.split(',').peekable();
    while let Some(name) = names.next() {
        // Two commas in a row stand for the token `,`.
        if name.is_empty() && names.peek() == Some(&"") {
            names.next();
            set.insert(find(grammar, ",")?);
        } else {
            set.insert(find(grammar, name)?);
        }
    }
    Ok(set)
}
