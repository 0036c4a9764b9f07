//! Unroll and prune: Algorithm 2 of Godefroid, Kieżun and Levin, "Grammar-based Whitebox
//! Fuzzing" (2008). It is for tests and comparisons only, because it is exponential and
//! does not terminate for left recursion. Use [`crate::Chart`].

use crate::grammar::{Grammar, RuleId, Symbol};
use crate::shortest::{Items, NEVER, Shortest};
use crate::token_set::TokenSet;

/// The limit on forms was exceeded.
#[derive(Debug, PartialEq, Eq)]
pub struct TooMuch;

/// The length of a shortest sentence whose first tokens are in the sets, if there is
/// one. Productions of the start are unrolled until their first symbols are tokens, and
/// pruned if these are not in the sets.
pub fn shortest(
    grammar: &Grammar,
    sets: &[TokenSet],
    max_forms: usize,
) -> Result<Option<u64>, TooMuch> {
    let shortest = Shortest::new(grammar, &Items::new(grammar), |_| 1);
    let is_productive = |body: &&Vec<Symbol>| body.iter().all(|&s| shortest.symbol(s) != NEVER);
    let bodies = |rule: RuleId| {
        let productions = grammar.rule(rule).productions.iter();
        productions.map(|&p| &grammar.production(p).symbols).filter(is_productive)
    };
    let mut forms: Vec<Vec<Symbol>> = bodies(grammar.start).cloned().collect();
    let mut count = forms.len();
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
                    count += forms.len() - before;
                }
                Some(Symbol::Token(t)) if set.contains(*t) => kept.push(form),
                Some(Symbol::Token(_)) => {}
            }
            if count > max_forms {
                return Err(TooMuch);
            }
        }
        forms = kept;
    }
    let length = |form: &Vec<Symbol>| form.iter().map(|&s| shortest.symbol(s)).sum::<u64>();
    Ok(forms.iter().map(length).min())
}
