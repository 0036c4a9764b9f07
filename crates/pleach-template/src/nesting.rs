//! Where in a sentence a token stands: what it is nested in.
//!
//! Whatever the parser is, at every token it is inside of something: a block, of a
//! `try`, in a function. A flip that was asked a hundred times elsewhere is another one
//! there, for what comes behind the parser. The nesting of a token is what of the
//! derivation tree has begun before it and ends behind it, as far as it shows in the
//! text: productions with tokens of their own, and how far each has come. A few of the
//! innermost count, and a production within itself counts once: deeper ones differ in
//! nothing that programs tell apart, and there is no end to them.

use pleach_grammar::tree::Kind;
use pleach_grammar::{Grammar, Symbol, Tree};
use pleach_hash::hash_words;

/// Productions that count, from the inside.
const DEPTH: usize = 4;

/// By leaf of a tree: its nesting, as a number.
pub(crate) fn nestings(grammar: &Grammar, tree: &Tree) -> Vec<u64> {
    let shows: Vec<bool> = grammar
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
                shows: shows[production.index()],
                end: at + node.size as usize,
                first: nestings.len(),
                children: 0,
            }),
            Kind::Token(..) => {
                let leaf = nestings.len();
                // What begins with this token may go with it.
                let around = open.iter().rev().filter(|o| o.shows && o.first < leaf);
                let mut inner: Vec<(u32, u32)> =
                    around.map(|o| (o.production, o.children)).collect();
                inner.dedup();
                inner.truncate(DEPTH);
                let items = inner.iter().map(|&(production, child)| {
                    u64::from(production) << 16 | u64::from(child.min(0xffff))
                });
                nestings.push(if inner.is_empty() { 0 } else { hash_words(items) });
            }
        }
    }
    nestings
}

struct Open {
    production: u32,
    shows: bool,
    end: usize,
    /// Its first leaf.
    first: usize,
    /// Children that have begun.
    children: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_grammar::{Automaton, Lexer, Parser};
    use pleach_import as import;
    use std::sync::Arc;

    #[test]
    fn what_a_token_is_nested_in_counts_and_not_what_stands_beside_it() {
        let text = "s ::= item*\nitem ::= 'try' block | 'fun' block | 'ret' ';' | ';'\n\
                    block ::= '{' item* '}'\nspace ::= ' '+\n@skip space\n";
        let grammar = Arc::new(import::from_bytes("n.ebnf", text.as_bytes(), None).unwrap());
        let lexer = Lexer::new(&grammar).unwrap();
        let parser = Parser::new(Arc::new(Automaton::new(grammar.clone()).unwrap()), lexer);
        // The nesting of the first `ret`, or of what stands there.
        let nesting = |input: &str, leaf: usize| {
            let tree = parser.parse(input.as_bytes()).unwrap().tree;
            nestings(&grammar, &tree)[leaf]
        };
        let in_try = nesting("try { ret ; }", 2);
        assert_eq!(in_try, nesting("try { ; }", 2), "whatever stands there");
        assert_eq!(in_try, nesting("; try { ; ret ; }", 4), "whatever came before");
        assert_ne!(in_try, nesting("fun { ret ; }", 2));
        assert_ne!(in_try, nesting("fun { try { ret ; } }", 4));
        assert_ne!(nesting("ret ;", 0), nesting("ret ;", 1));
    }
}
