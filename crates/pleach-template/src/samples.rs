//! Sentences drawn from a grammar: seeds, and what grammar-based blackbox fuzzing
//! runs (Godefroid, Kiezun and Levin, "Grammar-based Whitebox Fuzzing", 2008).
//!
//! The tokens are drawn uniformly among the derivations of a number of tokens. A
//! token with many texts gets its shortest as often as another one: parsers rarely
//! care, and what is behind them often does.

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
    /// By token: its texts, if it has more than one.
    texts: Vec<Option<Dfa>>,
    random: fastrand::Rng,
    /// Lengths for which there are sentences.
    lengths: Vec<usize>,
    sentence: Sentence,
}

/// Other texts than the shortest are at most this long, if they can be.
const TEXT: usize = 12;

impl Samples {
    /// Of up to `longest` tokens.
    pub fn new(grammar: &Arc<Grammar>, longest: usize, seed: u64) -> Result<Samples, StringsError> {
        let uniform = Uniform::new(grammar.clone(), Unit::Tokens, longest, seed)?;
        let detokenizer = Detokenizer::new(grammar)?;
        let texts = grammar.token_ids().map(|id| match grammar.token(id).pattern {
            Pattern::Regex(_) => Some(detokenizer.lexer().language(id)),
            _ => None,
        });
        let any = |&n: &usize| uniform.counts().of_length(n) > Default::default();
        Ok(Samples {
            lengths: (1..=longest).filter(any).collect(),
            texts: texts.collect(),
            random: fastrand::Rng::with_seed(seed),
            sentence: Sentence::default(),
            detokenizer,
            uniform,
        })
    }

    /// A sentence whose number of tokens is in the range, or near it if there is
    /// none such; nothing if there is none at all.
    pub fn draw(&mut self, shortest: usize, longest: usize) -> Option<Vec<u8>> {
        let within: Vec<usize> =
            self.lengths.iter().copied().filter(|n| (shortest..=longest).contains(n)).collect();
        let length = match self.random.choice(&within) {
            Some(&length) => length,
            None => *self.lengths.iter().min_by_key(|n| n.abs_diff(longest))?,
        };
        self.uniform.sample(length, &mut self.sentence);
        let (texts, random) = (&self.texts, &mut self.random);
        let pieces = self.sentence.pieces().map(|(token, text)| {
            let other = match &texts[token.index()] {
                Some(dfa) if random.bool() => word(dfa, random),
                _ => None,
            };
            (token, other.unwrap_or_else(|| text.to_vec()))
        });
        let pieces: Vec<_> = pieces.collect();
        let pieces: Vec<_> = pieces.iter().map(|(token, text)| (*token, &text[..])).collect();
        Some(self.detokenizer.join(&pieces))
    }

    /// A sentence of any length.
    pub fn any(&mut self) -> Option<Vec<u8>> {
        let length = *self.random.choice(&self.lengths)?;
        self.draw(length, length)
    }
}

/// A walk through the automaton that ends where it may, sooner or later.
pub(crate) fn word(dfa: &Dfa, random: &mut fastrand::Rng) -> Option<Vec<u8>> {
    let (mut state, mut word) = (Dfa::START, Vec::new());
    let stop = random.usize(1..=TEXT);
    for _ in 0..8 * TEXT {
        if word.len() >= stop && !dfa.accepts(state).is_empty() {
            return Some(word);
        }
        let moves = dfa.moves(state);
        // Most people write what can be read.
        let plain: Vec<_> = moves.iter().filter(|(b, _)| b.is_ascii_graphic()).collect();
        let (byte, next) = match random.choice(&plain) {
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
    fn every_sample_is_of_the_language_and_most_differ() {
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
        assert!(samples.any().is_some());
        let mut again = Samples::new(&grammar, 30, 7).unwrap();
        assert!(all.contains(&again.draw(15, 20).unwrap()));
    }
}
