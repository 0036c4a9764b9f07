//! `pleach grammar symbolic`: prints the symbolic grammar.

use super::{Source, find_token};
use crate::exit::{Code, Failure};
use crate::show;
use pleach_grammar::symbolic::{Abstraction, Symbolic as Grammar};
use pleach_grammar::{Regex, TokenId};
use pleach_import as import;
use std::collections::HashMap;
use std::io::Write;

#[derive(clap::Args)]
pub struct Symbolic {
    #[command(flatten)]
    source: Source,
    /// Do not make this token symbolic
    #[arg(long, value_name = "TOKEN")]
    keep: Vec<String>,
    /// Replace this token by one symbolic constant
    #[arg(long, value_name = "TOKEN")]
    one: Vec<String>,
    /// Replace this token by one or more symbolic constants
    #[arg(long, value_name = "TOKEN")]
    many: Vec<String>,
}

/// What the named tokens are replaced by.
pub fn parse_choices(
    grammar: &pleach_grammar::Grammar,
    keep: &[String],
    one: &[String],
    many: &[String],
) -> Result<HashMap<TokenId, Abstraction>, Failure> {
    let mut choices = HashMap::new();
    for (names, choice) in
        [(keep, Abstraction::Keep), (one, Abstraction::One), (many, Abstraction::AtLeast(1))]
    {
        for name in names {
            choices.insert(find_token(grammar, name)?, choice);
        }
    }
    Ok(choices)
}

/// Parses the user's holes: `TOKEN=WHAT`. `WHAT` is a class of characters with an optional
/// count (one or more by default), or a regular expression.
pub fn parse_holes(
    grammar: &pleach_grammar::Grammar,
    given: &[String],
) -> Result<HashMap<TokenId, Regex>, Failure> {
    let mut holes = HashMap::new();
    for text in given {
        let refused = |why: String| Failure::user_error(anyhow::anyhow!("--hole {text}: {why}"));
        let (name, what) = text
            .split_once('=')
            .filter(|(name, what)| !name.is_empty() && !what.is_empty())
            .ok_or_else(|| refused("must be TOKEN=WHAT".into()))?;
        let token = find_token(grammar, name)?;
        let regex = import::regex(&expand_class(what)).map_err(refused)?;
        if regex.is_nothing() || regex.matches_empty() {
            return Err(refused("a hole cannot be empty".into()));
        }
        if holes.insert(token, regex).is_some() {
            return Err(refused("the token has two holes".into()));
        }
    }
    Ok(holes)
}

/// Replaces the name of a class by its regular expression.
fn expand_class(what: &str) -> String {
    let (class, times) = what.split_at(what.find(['{', '+', '*', '?']).unwrap_or(what.len()));
    let class = match class {
        "digits" => "[0-9]",
        "letters" => "[A-Za-z]",
        "alnum" => "[0-9A-Za-z]",
        "any" => r"[\x00-\x7f]",
        _ => return what.into(),
    };
    format!("{class}{}", if times.is_empty() { "+" } else { times })
}

pub fn run(args: &Symbolic) -> Result<Code, Failure> {
    let grammar = args.source.load()?;
    let choices = parse_choices(&grammar, &args.keep, &args.one, &args.many)?;
    let choose = |t| choices.get(&t).copied().unwrap_or(Abstraction::Auto);
    let symbolic = Grammar::new(&grammar, choose).map_err(Failure::user_error)?;
    let mut out = show::out();
    for id in grammar.token_ids().filter(|id| symbolic.replaced[id.index()]) {
        writeln!(out, "// {} is replaced by symbolic constants", grammar.token(id).name)?;
    }
    let result = &symbolic.grammar;
    for id in result.rule_ids() {
        for &production in &result.rule(id).productions {
            writeln!(out, "{}", result.show(production))?;
        }
    }
    out.flush()?;
    Ok(Code::Ok)
}
