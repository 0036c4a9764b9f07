//! The tokens of an input, as the grammar and the program see them.
//!
//! The grammar has names for its tokens, and the program has numbers. A [`Vocabulary`]
//! connects the two. It learns the numbers from runs: the tokens that the grammar's lexer
//! finds in an input and the tokens that the program saw come in the same order.
//!
//! `flip` solves flips of decisions on tokens. `names` fills in numbers from the program's
//! names for its tokens. `nesting` says which rules of the grammar a token lies inside.

mod flip;
mod names;
mod nesting;

pub use flip::{GrammarWork, TokenEdit};
pub(crate) use flip::{TokenFlip, TokenRun};
pub use names::NameConflict;

use crate::template::{Hole, Template};
use pleach_automata::dfa;
use pleach_grammar::chart;
use pleach_grammar::detokenize::{Detokenizer, Piece};
use pleach_grammar::{Automaton, Chart, Grammar, Lexeme, Pattern, TokenId};
use pleach_solve::HoleLanguage;
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    #[error("the lexer of the grammar is too large: {0}")]
    Lexer(#[from] dfa::TooLarge),
    #[error("the grammar is too large: {0}")]
    Grammar(#[from] chart::TooLarge),
}

/// A grammar, prepared for flips, and the program's numbers for its tokens.
pub struct Vocabulary {
    grammar: Arc<Grammar>,
    automaton: Arc<Automaton>,
    detokenizer: Detokenizer,
    numbers: HashMap<TokenId, i32>,
    /// The texts of each token that was in a hole so far. `None` if its automaton is too
    /// large.
    holes: HashMap<TokenId, Option<Arc<HoleLanguage>>>,
    /// The number that the program's lexer returns at the end of the input.
    end: i32,
}

/// The tokens of an input. The program saw the same ones.
#[derive(Clone, Debug)]
pub struct Sentence {
    pub lexemes: Vec<Lexeme>,
}

/// Why the tokens of an input cannot be flipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The grammar's lexer cannot read the input.
    NotLexed,
    /// The program saw another token at this place than the grammar says.
    Token { at: usize, token: TokenId, number: i32 },
}

/// A chart with more entries is too large. A long input of an ambiguous grammar has as many
/// entries as the square of its number of tokens.
const MAX_ENTRIES: usize = 1_000_000;

impl Sentence {
    fn tokens(&self) -> Vec<TokenId> {
        self.lexemes.iter().map(|lexeme| lexeme.token).collect()
    }

    /// The same tokens, after the holes of `from` were resized to those of `to`.
    pub(crate) fn after_resizing(&self, from: &Template, to: &Template) -> Sentence {
        let pairs = || from.holes.iter().zip(&to.holes);
        let moved = |offset: usize| {
            let before = pairs().filter(|(old, _)| old.end as usize <= offset);
            before.fold(offset, |at, (old, new)| at + new.len() as usize - old.len() as usize)
        };
        let lexeme = |l: &Lexeme| Lexeme { span: (moved(l.span.0), moved(l.span.1)), ..l.clone() };
        Sentence { lexemes: self.lexemes.iter().map(lexeme).collect() }
    }
}

impl Vocabulary {
    pub fn new(grammar: &Arc<Grammar>) -> Result<Vocabulary, TokensError> {
        // Numbers in the grammar file are a first guess.
        let number = |id: TokenId| Some((id, i32::try_from(grammar.token(id).number?).ok()?));
        Ok(Vocabulary {
            automaton: Arc::new(Automaton::new(grammar.clone())?),
            detokenizer: Detokenizer::new(grammar)?,
            numbers: grammar.token_ids().filter_map(number).collect(),
            holes: HashMap::new(),
            end: 0,
            grammar: grammar.clone(),
        })
    }

    /// Finds the tokens of an input. `seen` has the numbers that the program saw, in order.
    /// Learns the numbers of tokens that had none.
    pub fn align(&mut self, input: &[u8], seen: &[i32]) -> Result<Sentence, Mismatch> {
        let lexer = self.detokenizer.lexer();
        let mut lexemes = lexer.lex(input).map_err(|_| Mismatch::NotLexed)?;
        for (at, (lexeme, &number)) in lexemes.iter_mut().zip(seen).enumerate() {
            let known = self.numbers.get(&lexeme.token).copied();
            if known == Some(number) {
                continue;
            }
            // The same text may be another token for the program.
            let others = lexer.alternatives(lexeme).iter();
            let other = others.into_iter().find(|t| self.numbers.get(t) == Some(&number));
            match (other, known) {
                (Some(other), _) => lexeme.token = other,
                (None, None) => _ = self.numbers.insert(lexeme.token, number),
                (None, Some(_)) => {
                    return Err(Mismatch::Token { at, token: lexeme.token, number });
                }
            }
        }
        if let Some(&end) = seen.get(lexemes.len()) {
            self.end = end;
        }
        Ok(Sentence { lexemes })
    }

    /// True if every token that has a text has a number.
    pub fn knows_all_numbers(&self) -> bool {
        let has_number = |t: TokenId| self.numbers.contains_key(&t);
        let has_text = |t: TokenId| self.grammar.token(t).pattern != Pattern::Unknown;
        self.grammar.token_ids().all(|t| has_number(t) || !has_text(t))
    }

    /// The template of an input whose tokens must stay: the holes are the tokens that have
    /// more than one text. A hole has no text that another token would win.
    pub fn template(&mut self, input: &[u8], sentence: &Sentence) -> Template {
        let mut template = Template::default();
        for lexeme in &sentence.lexemes {
            if !matches!(self.grammar.token(lexeme.token).pattern, Pattern::Regex(_)) {
                continue;
            }
            let lexer = self.detokenizer.lexer();
            let language = self.holes.entry(lexeme.token).or_insert_with(|| {
                HoleLanguage::new(lexer.language(lexeme.token)).ok().map(Arc::new)
            });
            if let Some(language) = language {
                let (start, word) = (lexeme.span.0, &input[lexeme.span.0..lexeme.span.1]);
                let hole = Hole::with_guessed_filling(start as u32, word, language.clone());
                template.holes.push(hole);
            }
        }
        template
    }

    /// The same for an input that the program has not run yet: the grammar's lexer alone
    /// finds its tokens.
    pub fn template_before_run(&mut self, input: &[u8]) -> Option<Template> {
        let lexemes = self.detokenizer.lexer().lex(input).ok()?;
        Some(self.template(input, &Sentence { lexemes }))
    }

    /// Describes a mismatch.
    pub fn explain(&self, mismatch: &Mismatch) -> String {
        match mismatch {
            Mismatch::NotLexed => "the grammar's lexer cannot read an input".into(),
            Mismatch::Token { at, .. } => {
                format!("token {at} of an input: {}", self.cause(mismatch))
            }
        }
    }

    /// The cause of a mismatch, without its place. Mismatches are counted by cause.
    pub fn cause(&self, mismatch: &Mismatch) -> String {
        match mismatch {
            Mismatch::NotLexed => "not read by the grammar's lexer".into(),
            Mismatch::Token { token, number, .. } => {
                let known = self.numbers.iter().find(|(_, n)| *n == number);
                let name = known.map(|(&t, _)| self.name(t));
                let name = name.unwrap_or("a token that the grammar does not have");
                format!("{} is {number} in the program ({name})", self.name(*token))
            }
        }
    }

    /// A hash of what each token is nested in; `None` if the tokens are not a sentence of
    /// the grammar.
    pub fn nestings(&self, sentence: &Sentence) -> Option<Vec<u64>> {
        let mut chart = Chart::new(self.automaton.clone());
        let mut push = |l: &Lexeme| chart.push_token(l.token) && chart.entries() <= MAX_ENTRIES;
        let is_prefix = sentence.lexemes.iter().all(&mut push);
        let tree = if is_prefix { chart.tree() } else { None };
        tree.map(|tree| nesting::nestings(&self.grammar, &tree))
    }

    pub fn name(&self, token: TokenId) -> &str {
        &self.grammar.token(token).name
    }

    /// Writes the input with tokens `new` in the place of `old`. Tokens at the start and at
    /// the end that stay the same keep their texts.
    fn rewrite(
        &self,
        input: &[u8],
        lexemes: &[Lexeme],
        old: &[TokenId],
        new: &[TokenId],
    ) -> Vec<u8> {
        let same_start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let rest = old.len().min(new.len()) - same_start;
        let ends = old.iter().rev().zip(new.iter().rev());
        let same_end = ends.take(rest).take_while(|(a, b)| a == b).count();
        let pieces = new.iter().enumerate().map(|(i, &token)| {
            let kept = match i {
                i if i < same_start => Some(i),
                i if i >= new.len() - same_end => Some(i + old.len() - new.len()),
                _ => None,
            };
            Piece { token, old: kept.map(|i| i as u32) }
        });
        let pieces: Vec<Piece> = pieces.collect();
        self.detokenizer.edit(input, lexemes, &pieces)
    }
}
