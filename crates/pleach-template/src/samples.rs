//! Random sentences of a grammar: for seeds, and for grammar-based blackbox fuzzing
//! (Godefroid, Kiezun and Levin, "Grammar-based Whitebox Fuzzing", 2008).
//!
//! All derivations with the same number of tokens are equally likely. A token with many
//! texts gets its shortest text half of the time, and a random one otherwise: parsers seldom
//! depend on the text, but the code behind them often does.

use crate::strings::StringsError;
use pleach_automata::dfa::Dfa;
use pleach_grammar::count::Unit;
use pleach_grammar::detokenize::Detokenizer;
use pleach_grammar::sample::{Sentence, Uniform};
use pleach_grammar::{Grammar, Pattern};
use std::sync::Arc;

pub struct Samples {
    uniform: Uniform,
    detokenizer: Detokenizer,
    /// For each token that has more than one text, all its texts.
    texts: Vec<Option<Dfa>>,
    random: fastrand::Rng,
    /// The numbers of tokens for which there are sentences.
    lengths: Vec<usize>,
    sentence: Sentence,
}

/// A random text ends as soon as it can after at most this many bytes.
const TEXT_GOAL: usize = 12;

impl Samples {
    /// Sentences of at most `max_tokens` tokens.
    pub fn new(
        grammar: &Arc<Grammar>,
        max_tokens: usize,
        seed: u64,
    ) -> Result<Samples, StringsError> {
        let uniform = Uniform::new(grammar.clone(), Unit::Tokens, max_tokens, seed)?;
        let detokenizer = Detokenizer::new(grammar)?;
        let texts = grammar.token_ids().map(|id| match grammar.token(id).pattern {
            Pattern::Regex(_) => Some(detokenizer.lexer().language(id)),
            _ => None,
        });
        let is_possible = |&n: &usize| uniform.counts().of_length(n) > Default::default();
        Ok(Samples {
            lengths: (1..=max_tokens).filter(is_possible).collect(),
            texts: texts.collect(),
            random: fastrand::Rng::with_seed(seed),
            sentence: Sentence::default(),
            detokenizer,
            uniform,
        })
    }

    /// Draws a sentence of `min` to `max` tokens. If there is none of that length, the
    /// length is the possible one nearest to `max`. `None` if there are no sentences.
    pub fn draw(&mut self, min: usize, max: usize) -> Option<Vec<u8>> {
        let within: Vec<usize> =
            self.lengths.iter().copied().filter(|n| (min..=max).contains(n)).collect();
        let length = match self.random.choice(&within) {
            Some(&length) => length,
            None => *self.lengths.iter().min_by_key(|n| n.abs_diff(max))?,
        };
        self.uniform.sample(length, &mut self.sentence);
        let (texts, random) = (&self.texts, &mut self.random);
        let pieces = self.sentence.pieces().map(|(token, text)| {
            let other = match &texts[token.index()] {
                Some(dfa) if random.bool() => draw_word(dfa, random),
                _ => None,
            };
            (token, other.unwrap_or_else(|| text.to_vec()))
        });
        let pieces: Vec<_> = pieces.collect();
        let pieces: Vec<_> = pieces.iter().map(|(token, text)| (*token, &text[..])).collect();
        Some(self.detokenizer.join(&pieces))
    }

    /// Draws a sentence of any length.
    pub fn draw_any(&mut self) -> Option<Vec<u8>> {
        let length = *self.random.choice(&self.lengths)?;
        self.draw(length, length)
    }
}

/// Draws a word of a language by a random walk through its automaton. `None` if the walk
/// does not end in time.
pub(crate) fn draw_word(dfa: &Dfa, random: &mut fastrand::Rng) -> Option<Vec<u8>> {
    let (mut state, mut word) = (Dfa::START, Vec::new());
    let stop = random.usize(1..=TEXT_GOAL);
    for _ in 0..8 * TEXT_GOAL {
        if word.len() >= stop && !dfa.accepts(state).is_empty() {
            return Some(word);
        }
        let moves = dfa.moves(state);
        // Mostly bytes that people type.
        let printable: Vec<_> = moves.iter().filter(|(b, _)| b.is_ascii_graphic()).collect();
        let (byte, next) = match random.choice(&printable) {
            Some(step) if random.u8(..) > 8 => **step,
            _ => *random.choice(&moves)?,
        };
        word.push(byte);
        state = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_grammar::{Automaton, Lexer, Parser};
    use pleach_import as import;

    #[test]
    fn every_sample_is_a_sentence_and_most_differ() {
        let text = "s ::= 'let' name '=' sum ';'\nsum ::= name | number | sum '+' sum\n\
                    name ::= [a-z]+\nnumber ::= [0-9]+\nspace ::= ' '+\n@skip space\n";
        let grammar = import::from_bytes("let.ebnf", text.as_bytes(), None).unwrap();
        let grammar = Arc::new(grammar);
        let lexer = Lexer::new(&grammar).unwrap();
        let parser = Parser::new(Arc::new(Automaton::new(grammar.clone()).unwrap()), lexer);
        let mut samples = Samples::new(&grammar, 30, 7).unwrap();
        let mut all = std::collections::HashSet::new();
        for _ in 0..200 {
            let sample = samples.draw(15, 20).unwrap();
            assert!(parser.parse(&sample).is_ok(), "{}", String::from_utf8_lossy(&sample));
            all.insert(sample);
        }
        assert!(all.len() > 190, "{}", all.len());
        assert!(samples.draw_any().is_some());
        let mut same_seed = Samples::new(&grammar, 30, 7).unwrap();
        assert!(all.contains(&same_seed.draw(15, 20).unwrap()));
    }
}
