//! Numbers of tokens from their names in the program: its debug information has the
//! enumeration of its tokens.
//!
//! A run shows the number of a token for certain; a name is only a guess. So a name is used
//! only for a token that has no number yet, and a contradiction is reported. A name matches
//! a token if it equals the token's name or text, without regard to case and to a prefix
//! that ends with `_`: `T_WHILE`, `TOK_WHILE`, `KW_while` and `WHILE` all match `'while'` and
//! `WHILE`.

use super::Vocabulary;
use pleach_grammar::{Grammar, Pattern, TokenId};

/// A token whose known number differs from the number of its name in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameConflict {
    pub token: String,
    pub known_number: i32,
    pub name: String,
    pub number_of_name: i32,
}

impl Vocabulary {
    /// Learns the numbers of tokens that have none from names. Returns the contradictions.
    pub fn learn_names(&mut self, names: &[(i32, &str)]) -> Vec<NameConflict> {
        let mut conflicts = Vec::new();
        let grammar = self.grammar.clone();
        for token in grammar.token_ids() {
            let mut matching = names.iter().filter(|(_, name)| is_name_of(&grammar, token, name));
            // If two names match, neither is used.
            let (Some(&(number, name)), None) = (matching.next(), matching.next()) else {
                continue;
            };
            match self.numbers.get(&token) {
                None => _ = self.numbers.insert(token, number),
                Some(&known) if known != number => conflicts.push(NameConflict {
                    token: grammar.token(token).name.clone(),
                    known_number: known,
                    name: name.into(),
                    number_of_name: number,
                }),
                Some(_) => {}
            }
        }
        conflicts
    }
}

fn is_name_of(grammar: &Grammar, token: TokenId, name: &str) -> bool {
    let token = grammar.token(token);
    let text = match &token.pattern {
        Pattern::Literal(text) => std::str::from_utf8(text).ok(),
        _ => None,
    };
    // There are too many ways to name a sign such as `+`.
    let is_word =
        |w: &&str| w.len() > 1 && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let words = [Some(token.name.as_str()), text];
    words.into_iter().flatten().filter(is_word).any(|word| ends_with_word(name, word))
}

/// True if a name is the word, or a prefix that ends with `_` and the word.
fn ends_with_word(name: &str, word: &str) -> bool {
    let Some(at) = name.len().checked_sub(word.len()) else { return false };
    name.is_char_boundary(at)
        && name[at..].eq_ignore_ascii_case(word)
        && (at == 0 || name[..at].ends_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_import as import;
    use std::sync::Arc;

    #[test]
    fn names_give_numbers_that_runs_did_not_show_and_conflicts_are_reported() {
        let text = "s ::= 'if' NAME | 'else' NAME | 'do' NAME\nNAME ::= [a-z]+ '!'\n\
                    space ::= ' '+\n@skip space\n";
        let grammar = Arc::new(import::from_bytes("n.ebnf", text.as_bytes(), None).unwrap());
        let mut vocabulary = Vocabulary::new(&grammar).unwrap();
        vocabulary.align(b"if a!", &[5, 7]).unwrap();
        let names = [(5, "T_IF"), (6, "T_ELSE"), (8, "T_NAME"), (9, "T_DO"), (10, "K_DO")];
        let conflicts = vocabulary.learn_names(&names);
        let expected = NameConflict {
            token: "NAME".into(),
            known_number: 7,
            name: "T_NAME".into(),
            number_of_name: 8,
        };
        assert_eq!(conflicts, [expected]);
        let number =
            |text: &str| vocabulary.numbers.get(&grammar.find_token(text).unwrap()).copied();
        assert_eq!((number("if"), number("else"), number("do")), (Some(5), Some(6), None));
    }
}
