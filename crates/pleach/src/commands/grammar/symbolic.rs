//! `pleach grammar symbolic`

use super::{Source, find};
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
    /// Leave this token as it is
    #[arg(long, value_name = "TOKEN")]
    keep: Vec<String>,
    /// Make this token one symbolic constant
    #[arg(long, value_name = "TOKEN")]
    one: Vec<String>,
    /// Make this token any number of symbolic constants from 1 on
    #[arg(long, value_name = "TOKEN")]
    many: Vec<String>,
}

/// What is to become of the tokens that are named.
pub fn choices(
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
            choices.insert(find(grammar, name)?, choice);
        }
    }
    Ok(choices)
}

/// Holes as a person gives them: `TOKEN=WHAT`, where `WHAT` is a class of characters,
/// one or more of them or as many as it says, or a regular expression.
pub fn holes(
    grammar: &pleach_grammar::Grammar,
    given: &[String],
) -> Result<HashMap<TokenId, Regex>, Failure> {
    let mut holes = HashMap::new();
    for text in given {
        let refused = |why: String| Failure::person(anyhow::anyhow!("--hole {text}: {why}"));
        let (name, what) = text
            .split_once('=')
            .filter(|(name, what)| !name.is_empty() && !what.is_empty())
            .ok_or_else(|| refused("not of the form TOKEN=WHAT".into()))?;
        let token = find(grammar, name)?;
        let regex = import::regex(&pattern(what)).map_err(refused)?;
        if regex.is_nothing() || regex.matches_empty() {
            return Err(refused("a hole cannot be empty".into()));
        }
        if holes.insert(token, regex).is_some() {
            return Err(refused("said twice".into()));
        }
    }
    Ok(holes)
}

/// A class by its name becomes the expression that it stands for.
fn pattern(what: &str) -> String {
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
    let choices = choices(&grammar, &args.keep, &args.one, &args.many)?;
    let choose = |t| choices.get(&t).copied().unwrap_or(Abstraction::Auto);
    let symbolic = Grammar::new(&grammar, choose).map_err(Failure::person)?;
    let mut out = show::out();
    for id in grammar.token_ids().filter(|id| symbolic.replaced[id.index()]) {
        writeln!(out, "// {} gave way to symbolic constants", grammar.token(id).name)?;
    }
    let it = &symbolic.grammar;
    for id in it.rule_ids() {
        for &production in &it.rule(id).productions {
            writeln!(out, "{}", it.show(production))?;
        }
    }
    out.flush()?;
    Ok(Code::Ok)
}
