//! Numbers of tokens by their names in the program: its enumeration, as the debug
//! information has it.
//!
//! What runs show is certain, and what a name means is not: so names only fill in what
//! no run has shown, and where the two differ, somebody is told. A name fits a token if
//! it is the same but for case and for what stands before its first words: `T_WHILE`,
//! `TOK_WHILE`, `KW_while` and `WHILE` all fit `'while'` and `WHILE`.

use crate::tokens::Vocabulary;
use pleach_grammar::{Grammar, Pattern, TokenId};

/// A token whose name in the program has another number than runs have shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differ {
    pub token: String,
    pub number: i32,
    pub name: String,
    pub named: i32,
}

impl Vocabulary {
    /// Takes numbers from names where none is known; says where they differ.
    pub fn by_names(&mut self, names: &[(i32, &str)]) -> Vec<Differ> {
        let mut differ = Vec::new();
        let grammar = self.grammar().clone();
        for token in grammar.token_ids() {
            let mut fitting = names.iter().filter(|(_, name)| fits(&grammar, token, name));
            // Of two that fit nobody knows which.
            let (Some(&(named, name)), None) = (fitting.next(), fitting.next()) else { continue };
            match self.number(token) {
                None => self.set_number(token, named),
                Some(number) if number != named => differ.push(Differ {
                    token: grammar.token(token).name.clone(),
                    number,
                    name: name.into(),
                    named,
                }),
                Some(_) => {}
            }
        }
        differ
    }
}

fn fits(grammar: &Grammar, token: TokenId, name: &str) -> bool {
    let token = grammar.token(token);
    let word = match &token.pattern {
        Pattern::Literal(text) => std::str::from_utf8(text).ok(),
        _ => None,
    };
    // A sign is named in too many ways.
    let is_word =
        |w: &&str| w.len() > 1 && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let words = [Some(token.name.as_str()), word];
    words.into_iter().flatten().filter(is_word).any(|word| same(word, name))
}

/// Whether a name is a word, be it with something before it.
fn same(word: &str, name: &str) -> bool {
    let ends = name.len() >= word.len()
        && name.is_char_boundary(name.len() - word.len())
        && name[name.len() - word.len()..].eq_ignore_ascii_case(word);
    ends && (name.len() == word.len() || name[..name.len() - word.len()].ends_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_import as import;
    use std::sync::Arc;

    #[test]
    fn names_fill_in_what_runs_did_not_show_and_differences_are_told() {
        let text = "s ::= 'if' NAME | 'else' NAME | 'do' NAME\nNAME ::= [a-z]+ '!'\n\
                    space ::= ' '+\n@skip space\n";
        let grammar = Arc::new(import::from_bytes("n.ebnf", text.as_bytes(), None).unwrap());
        let mut vocabulary = Vocabulary::new(&grammar).unwrap();
        vocabulary.align(b"if a!", &[5, 7]).unwrap();
        let names = [(5, "T_IF"), (6, "T_ELSE"), (8, "T_NAME"), (9, "T_DO"), (10, "K_DO")];
        let differ = vocabulary.by_names(&names);
        assert_eq!(differ.len(), 1, "{differ:?}");
        assert_eq!((differ[0].number, differ[0].named, &differ[0].name[..]), (7, 8, "T_NAME"));
        let number = |text: &str| vocabulary.number(grammar.find_token(text).unwrap());
        assert_eq!((number("if"), number("else"), number("do")), (Some(5), Some(6), None));
    }
}
