//! The texts that tokens have in children.

use super::tree::{Node, NodeKind};
use crate::samples::draw_word;
use pleach_automata::dfa::{self, Dfa};
use pleach_grammar::detokenize::Detokenizer;
use pleach_grammar::{Grammar, Pattern, TokenId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// When there are this many texts, no new ones are drawn at random.
const MAX_TEXTS: usize = 1 << 18;
/// How many texts are remembered for one token.
const MAX_TEXTS_OF_TOKEN: usize = 512;

/// All texts of tokens, numbered.
pub(super) struct Texts {
    pub detokenizer: Detokenizer,
    all: Vec<Box<[u8]>>,
    numbers: FxHashMap<Box<[u8]>, u32>,
    /// For each token that has more than one text: those that were seen, and the language of
    /// all.
    by_token: Vec<Option<(Vec<u32>, Dfa)>>,
}

impl Texts {
    pub fn new(grammar: &Arc<Grammar>) -> Result<Texts, dfa::TooLarge> {
        let detokenizer = Detokenizer::new(grammar)?;
        let by_token = grammar.token_ids().map(|id| match grammar.token(id).pattern {
            Pattern::Regex(_) => Some((Vec::new(), detokenizer.lexer().language(id))),
            _ => None,
        });
        let by_token = by_token.collect();
        Ok(Texts { detokenizer, all: Vec::new(), numbers: FxHashMap::default(), by_token })
    }

    /// The text with a number.
    pub fn get(&self, number: u32) -> &[u8] {
        &self.all[number as usize]
    }

    /// True if a token has more than one text.
    pub fn is_variable(&self, token: TokenId) -> bool {
        self.by_token[token.index()].is_some()
    }

    /// Remembers a text of a token. Returns its number.
    pub fn learn(&mut self, token: TokenId, text: &[u8]) -> u32 {
        let number = self.number(text);
        if let Some((seen, _)) = &mut self.by_token[token.index()]
            && seen.len() < MAX_TEXTS_OF_TOKEN
            && !seen.contains(&number)
        {
            seen.push(number);
        }
        number
    }

    /// Draws a text for a token of a tree: one that the token has in this tree, one that was
    /// seen elsewhere, or the usual text of new tokens; seldom a random one.
    pub fn draw(&mut self, token: TokenId, nodes: &[Node], random: &mut fastrand::Rng) -> u32 {
        let usual = self.detokenizer.text(token).to_vec();
        let Some((seen, language)) = &self.by_token[token.index()] else {
            return self.number(&usual);
        };
        let in_tree = || {
            let texts = nodes.iter().filter_map(|n| match n.kind {
                NodeKind::Leaf(t, text) if t == token => Some(text),
                _ => None,
            });
            texts.collect::<Vec<u32>>()
        };
        let found = match random.u32(0..16) {
            0..7 => random.choice(&in_tree()).copied(),
            7..13 => random.choice(seen).copied(),
            13 if self.all.len() < MAX_TEXTS => {
                draw_word(language, random).map(|word| self.number(&word))
            }
            _ => None,
        };
        found.unwrap_or_else(|| self.number(&usual))
    }

    fn number(&mut self, text: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }
}
