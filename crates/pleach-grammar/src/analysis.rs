//! What can be said of a grammar by looking at it.

use crate::grammar::{Grammar, Symbol};

/// For each rule, whether some derivation of it ends.
pub fn productive(grammar: &Grammar) -> Vec<bool> {
    // Each production waits for so many of its rules; a rule that turns out
    // productive wakes the productions that it occurs in. Linear.
    let mut waiting: Vec<usize> = Vec::with_capacity(grammar.productions.len());
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); grammar.rules.len()];
    let mut productive = vec![false; grammar.rules.len()];
    let mut ready = Vec::new();
    for (index, production) in grammar.productions.iter().enumerate() {
        let mut count = 0;
        for symbol in &production.symbols {
            if let Symbol::Rule(rule) = symbol {
                uses[rule.index()].push(index);
                count += 1;
            }
        }
        waiting.push(count);
        if count == 0 {
            ready.push(index);
        }
    }
    while let Some(production) = ready.pop() {
        let rule = grammar.productions[production].rule.index();
        if !std::mem::replace(&mut productive[rule], true) {
            for &user in &uses[rule] {
                waiting[user] -= 1;
                if waiting[user] == 0 {
                    ready.push(user);
                }
            }
        }
    }
    productive
}
