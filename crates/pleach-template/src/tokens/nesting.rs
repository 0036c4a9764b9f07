//! What a token of a sentence is nested in.
//!
//! At every token the parser is inside something: a block, of a `try`, in a function. The
//! same flip may do something new elsewhere, because the code behind the parser sees another
//! context. The nesting of a token is the productions of the derivation tree that start
//! before the token and end after it, each with the child that it has reached. Only
//! productions with tokens of their own count, and only the innermost few. A production
//! directly within itself counts once: deeper nesting of the same kind hardly ever makes a
//! difference to a program, and there is no end to it.

use pleach_grammar::tree::Kind;
use pleach_grammar::{Grammar, Symbol, Tree};
use pleach_hash::hash_words;

/// How many productions count, from the inside.
const MAX_DEPTH: usize = 4;

/// A hash of the nesting of each leaf of a tree.
pub(super) fn nestings(grammar: &Grammar, tree: &Tree) -> Vec<u64> {
    let has_token: Vec<bool> = grammar
        .productions
        .iter()
        .map(|p| p.symbols.iter().any(|s| matches!(s, Symbol::Token(_))))
        .collect();
    let mut open: Vec<Open> = Vec::new();
    let mut nestings = Vec::new();
    for (at, node) in tree.nodes().iter().enumerate() {
        while open.last().is_some_and(|o| o.end <= at) {
            open.pop();
        }
        if let Some(parent) = open.last_mut() {
            parent.children += 1;
        }
        match node.kind {
            Kind::Rule(production) => open.push(Open {
                production: production.0,
                has_token: has_token[production.index()],
                end: at + node.size as usize,
                first_leaf: nestings.len(),
                children: 0,
            }),
            Kind::Token(..) => {
                let leaf = nestings.len();
                // A production that starts with this token may be replaced together with it.
                let around = open.iter().rev().filter(|o| o.has_token && o.first_leaf < leaf);
                let mut inner: Vec<(u32, u32)> =
                    around.map(|o| (o.production, o.children)).collect();
                inner.dedup();
                inner.truncate(MAX_DEPTH);
                let items = inner.iter().map(|&(production, child)| {
                    u64::from(production) << 16 | u64::from(child.min(0xffff))
                });
                nestings.push(if inner.is_empty() { 0 } else { hash_words(items) });
            }
        }
    }
    nestings
}

/// A production that the walk through the tree is inside.
struct Open {
    production: u32,
    has_token: bool,
    /// The node after its last one.
    end: usize,
    first_leaf: usize,
    /// How many of its children were reached.
    children: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_grammar::{Automaton, Lexer, Parser};
    use pleach_import as import;
    use std::sync::Arc;

    #[test]
    fn the_rules_around_a_token_count_and_its_neighbours_do_not() {
        let text = "s ::= item*\nitem ::= 'try' block | 'fun' block | 'ret' ';' | ';'\n\
                    block ::= '{' item* '}'\nspace ::= ' '+\n@skip space\n";
        let grammar = Arc::new(import::from_bytes("n.ebnf", text.as_bytes(), None).unwrap());
        let lexer = Lexer::new(&grammar).unwrap();
        let parser = Parser::new(Arc::new(Automaton::new(grammar.clone()).unwrap()), lexer);
        let nesting = |input: &str, leaf: usize| {
            let tree = parser.parse(input.as_bytes()).unwrap().tree;
            nestings(&grammar, &tree)[leaf]
        };
        let in_try = nesting("try { ret ; }", 2);
        assert_eq!(in_try, nesting("try { ; }", 2), "for any token there");
        assert_eq!(in_try, nesting("; try { ; ret ; }", 4), "for any tokens before");
        assert_ne!(in_try, nesting("fun { ret ; }", 2));
        assert_ne!(in_try, nesting("fun { try { ret ; } }", 4));
        assert_ne!(nesting("ret ;", 0), nesting("ret ;", 1));
    }
}
