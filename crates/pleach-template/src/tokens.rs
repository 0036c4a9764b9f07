//! Flips over tokens (Godefroid, Kiezun and Levin, "Grammar-based whitebox fuzzing",
//! PLDI 2008).
//!
//! In a run that works on tokens, a decision of the parser is a condition on the
//! tokens that the lexer returned. Whatever C made of it (a comparison, a range, a
//! switch, bison's tables, which make it depend on earlier tokens too), it becomes a
//! set: the earlier tokens are held, and every token that the grammar has is tried in
//! the place of the last. The context-free solver then looks for a sentence that
//! begins like the input up to there, goes on with a token of the set, and stays near
//! the rest of the input; if there is none, nothing that the grammar allows takes the
//! decision the other way, and a whole subtree of the search is done with. New tokens
//! get a text, tokens that stay keep theirs.
//!
//! Which number the program has for which token is learned from its runs: the tokens
//! of our own lexer and those that the program saw come in the same order.

use crate::strings::automaton;
use crate::template::{Hole, Template};
use pleach_expr::Var;
use pleach_grammar::chart;
use pleach_grammar::detokenize::{Detokenizer, Piece};
use pleach_grammar::dfa;
use pleach_grammar::{Automaton, Chart, Grammar, Lexeme, Pattern, TokenId, TokenSet};
use pleach_solve::{self as solve, Goal, Path, Trial};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    #[error("the lexer of the grammar is too large: {0}")]
    Lexer(#[from] dfa::TooLarge),
    #[error("the grammar is too large: {0}")]
    Grammar(#[from] chart::TooLarge),
}

/// A grammar, prepared for flips, and what is known of the program's numbers.
pub struct Vocabulary {
    grammar: Arc<Grammar>,
    automaton: Arc<Automaton>,
    detokenizer: Detokenizer,
    numbers: HashMap<TokenId, i32>,
    /// By token: its texts, where they are not too many.
    holes: HashMap<TokenId, Option<Arc<solve::Automaton>>>,
    /// What the program's lexer says at the end.
    end: i32,
}

/// An input as tokens, in step with what the program saw.
#[derive(Clone, Debug)]
pub struct Sentence {
    pub lexemes: Vec<Lexeme>,
}

/// Why an input has no tokens to flip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The grammar's lexer does not read it.
    Unread,
    /// The program saw another token at this place than the grammar says.
    Token { at: usize, number: i32 },
}

/// What a flip over tokens came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flipped {
    Input(Vec<u8>),
    /// No sentence of the grammar decides so.
    None,
    /// The step does not depend on tokens.
    Bytes,
}

impl Vocabulary {
    pub fn new(grammar: &Arc<Grammar>) -> Result<Vocabulary, TokensError> {
        // Numbers that the grammar file gives are only a first guess.
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

    /// The tokens of an input, given the numbers that the program saw, in order.
    /// Numbers that were not known are from now on.
    pub fn align(&mut self, input: &[u8], seen: &[i32]) -> Result<Sentence, Mismatch> {
        let lexer = self.detokenizer.lexer();
        let mut lexemes = lexer.lex(input).map_err(|_| Mismatch::Unread)?;
        for (at, (lexeme, &number)) in lexemes.iter_mut().zip(seen).enumerate() {
            let known = self.numbers.get(&lexeme.token).copied();
            if known == Some(number) {
                continue;
            }
            // A word that is another token where the program says so.
            let others = lexer.alternatives(lexeme).iter();
            let other = others.into_iter().find(|t| self.numbers.get(t) == Some(&number));
            match (other, known) {
                (Some(other), _) => lexeme.token = other,
                (None, None) => _ = self.numbers.insert(lexeme.token, number),
                (None, Some(_)) => return Err(Mismatch::Token { at, number }),
            }
        }
        if let Some(&end) = seen.get(lexemes.len()) {
            self.end = end;
        }
        Ok(Sentence { lexemes })
    }

    /// Whether the numbers of all tokens that have a text are known.
    pub fn is_complete(&self) -> bool {
        let known = |t: TokenId| self.numbers.contains_key(&t);
        let has_text = |t: TokenId| self.grammar.token(t).pattern != Pattern::Unknown;
        self.grammar.token_ids().all(|t| known(t) || !has_text(t))
    }

    /// Whether the text of a token may change and leave it the same token.
    fn is_hole(&self, token: TokenId) -> bool {
        matches!(self.grammar.token(token).pattern, Pattern::Regex(_))
    }

    /// What of an input may change while its tokens stay: the texts of those that
    /// have more than one. Texts that another token would win are left out.
    pub fn template(&mut self, sentence: &Sentence) -> Template {
        let mut template = Template::default();
        for lexeme in &sentence.lexemes {
            if !self.is_hole(lexeme.token) {
                continue;
            }
            let lexer = self.detokenizer.lexer();
            let language = self
                .holes
                .entry(lexeme.token)
                .or_insert_with(|| automaton(&lexer.language(lexeme.token)).ok().map(Arc::new));
            let (start, end) = (lexeme.span.0 as u32, lexeme.span.1 as u32);
            if let Some(language) = language {
                template.holes.push(Hole {
                    start,
                    end,
                    language: language.clone(),
                    filling: (end, end),
                });
            }
        }
        template
    }

    /// A mismatch in words.
    pub fn explain(&self, mismatch: &Mismatch) -> String {
        match mismatch {
            Mismatch::Unread => "the grammar's lexer does not read an input".into(),
            Mismatch::Token { at, number } => {
                let known = self.numbers.iter().find(|(_, n)| *n == number);
                let name = known.map(|(&t, _)| self.grammar.token(t).name.as_str());
                let name = name.unwrap_or("a token that the grammar does not have");
                format!("token {at} of an input is {number} in the program ({name})")
            }
        }
    }

    /// A chart for the flips of one input.
    pub fn chart(&self) -> Chart {
        Chart::new(self.automaton.clone())
    }

    /// Solves a flip of a decision on tokens. `input` is the plain input, which the
    /// path has with the tokens' numbers behind it. Without `chart`, the one token
    /// is replaced and the grammar is not asked.
    pub fn flip(
        &self,
        (input, sentence): (&[u8], &Sentence),
        path: &Path,
        (at, goal): (usize, Goal),
        chart: Option<&mut Chart>,
    ) -> Flipped {
        let plain = input.len() as u32;
        let last = |step: usize| {
            let vars = path.support(step).into_iter().filter_map(|v| v.as_byte());
            vars.filter(|&o| o >= plain).map(|o| ((o - plain) / 4) as usize).max()
        };
        let Some(place) = last(at) else { return Flipped::Bytes };
        let lexemes = &sentence.lexemes;
        if place > lexemes.len() {
            return Flipped::None;
        }
        let steps: Vec<(usize, Option<Goal>)> = (0..at)
            .filter(|&s| last(s) == Some(place))
            .map(|s| (s, None))
            .chain([(at, Some(goal))])
            .collect();
        let mut trial = Trial::default();
        let mut fits = |number: i32| {
            let offset = plain + 4 * place as u32;
            let changes: Vec<(Var, u64)> = (offset..)
                .zip(number.to_le_bytes())
                .map(|(o, b)| (Var::byte(o), b.into()))
                .collect();
            trial.holds(path, &changes, steps.iter().copied())
        };
        let known = self.numbers.iter().filter(|(_, number)| fits(**number));
        let set = TokenSet::of(self.grammar.tokens.len(), known.map(|(&token, _)| token));
        let ends = fits(self.end);
        let tokens: Vec<TokenId> = lexemes.iter().map(|l| l.token).collect();
        let sentence = match chart {
            Some(chart) => self.complete(chart, &tokens, place, &set, ends),
            None => replace(&tokens, place, &set, ends),
        };
        match sentence {
            Some(sentence) => Flipped::Input(self.text(input, lexemes, &tokens, &sentence)),
            None => Flipped::None,
        }
    }

    /// A sentence that begins like the tokens before `place`, has one of the set
    /// there or ends, and goes on as the rest does where it can.
    fn complete(
        &self,
        chart: &mut Chart,
        tokens: &[TokenId],
        place: usize,
        set: &TokenSet,
        ends: bool,
    ) -> Option<Vec<TokenId>> {
        chart.truncate(place);
        while chart.len() < place {
            if !chart.push_token(tokens[chart.len()]) {
                return None;
            }
        }
        if !set.is_empty() && chart.push(set) {
            let rest = tokens.get(place + 1..).unwrap_or_default();
            let found = chart.complete_near(rest);
            chart.truncate(place);
            if let Some(found) = found {
                return Some(found.tokens);
            }
        }
        let whole = chart.complete().filter(|c| ends && c.tokens.len() == place);
        whole.map(|c| c.tokens)
    }

    /// The text of a sentence. Tokens that are the input's keep theirs.
    fn text(&self, input: &[u8], lexemes: &[Lexeme], old: &[TokenId], new: &[TokenId]) -> Vec<u8> {
        let same = |pairs: usize| pairs as u32;
        let before = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let room = old.len().min(new.len()) - before;
        let ends = old.iter().rev().zip(new.iter().rev());
        let behind = ends.take(room).take_while(|(a, b)| a == b).count();
        let pieces = new.iter().enumerate().map(|(i, &token)| {
            let old = match i {
                i if i < before => Some(same(i)),
                i if i >= new.len() - behind => Some(same(i + old.len() - new.len())),
                _ => None,
            };
            Piece { token, old }
        });
        let pieces: Vec<Piece> = pieces.collect();
        self.detokenizer.edit(input, lexemes, &pieces)
    }
}

/// The tokens with one of the set in a place, or cut off there.
fn replace(tokens: &[TokenId], place: usize, set: &TokenSet, ends: bool) -> Option<Vec<TokenId>> {
    match set.iter().next() {
        Some(token) => {
            let mut new = tokens.to_vec();
            new.truncate(place.max(tokens.len()));
            match new.get_mut(place) {
                Some(old) => *old = token,
                None => new.push(token),
            }
            Some(new)
        }
        None => ends.then(|| tokens[..place].to_vec()),
    }
}
