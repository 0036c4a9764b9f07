//! Unroll and prune: Algorithm 2 of Godefroid, Kieżun and Levin, "Grammar-based
//! Whitebox Fuzzing" (2008), as an oracle for tests and to compare with. Use
//! [`crate::Chart`]: this one is exponential, and does not end for left recursion.

use crate::grammar::{Grammar, RuleId, Symbol};
use crate::shortest::{Items, NEVER, Shortest};
use crate::token_set::TokenSet;

/// It would take more forms than the limit.
#[derive(Debug, PartialEq, Eq)]
pub struct TooMuch;

/// The length of a shortest sentence whose first tokens are in the sets, if
/// there is one: productions of the start are unrolled until their first symbols
/// are tokens, and pruned where the sets refuse those.
pub fn shortest(
    grammar: &Grammar,
    sets: &[TokenSet],
    most_forms: usize,
) -> Result<Option<u64>, TooMuch> {
    let shortest = Shortest::new(grammar, &Items::new(grammar), |_| 1);
    let ends = |body: &&Vec<Symbol>| body.iter().all(|&s| shortest.symbol(s) != NEVER);
    let bodies = |rule: RuleId| {
        let productions = grammar.rule(rule).productions.iter();
        productions.map(|&p| &grammar.production(p).symbols).filter(ends)
    };
    let mut forms: Vec<Vec<Symbol>> = bodies(grammar.start).cloned().collect();
    let mut made = forms.len();
    for (i, set) in sets.iter().enumerate() {
        let mut kept = Vec::new();
        while let Some(form) = forms.pop() {
            match form.get(i) {
                None => {}
                Some(Symbol::Rule(rule)) => {
                    let before = forms.len();
                    forms.extend(
                        bodies(*rule).map(|body| [&form[..i], body, &form[i + 1..]].concat()),
                    );
                    made += forms.len() - before;
                }
                Some(Symbol::Token(t)) if set.contains(*t) => kept.push(form),
                Some(Symbol::Token(_)) => {}
            }
            if made > most_forms {
                return Err(TooMuch);
            }
        }
        forms = kept;
    }
    let length = |form: &Vec<Symbol>| form.iter().map(|&s| shortest.symbol(s)).sum::<u64>();
    Ok(forms.iter().map(length).min())
}
