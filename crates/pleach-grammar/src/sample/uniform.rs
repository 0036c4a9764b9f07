//! Samples derivations of one length with exactly equal probability.
//!
//! The recursive method: for a rule and a length, a production is drawn with a
//! probability proportional to the number of derivations of that length that begin with
//! it. The length is then split among its symbols in the same way, and so are the bytes
//! of a token's text. The tables of these choices ([`Pick`]) are built at their first use
//! and cached.

use super::Sentence;
use super::pick::Pick;
use crate::count::{CountError, Counts, Unit, count_strings_from};
use crate::grammar::{Grammar, Pattern, ProductionId, Symbol, TokenId};
use crate::lexer::Lexer;
use num_bigint::BigUint;
use num_traits::Zero;
use pleach_automata::dfa::Dfa;
use std::sync::Arc;

pub struct Uniform {
    grammar: Arc<Grammar>,
    counts: Counts,
    texts: Vec<Texts>,
    random: fastrand::Rng,
    /// By rule and length: the production.
    rules: Vec<Option<Box<Pick>>>,
    /// By item and length: the length of the first symbol behind the dot.
    splits: Vec<Option<Box<Pick>>>,
    stack: Vec<(u32, u32)>,
}

enum Texts {
    Fixed(Vec<u8>),
    Pattern {
        dfa: Box<Dfa>,
        /// By length and state: the number of texts.
        counts: Vec<Vec<BigUint>>,
        /// By length and state: the next byte.
        picks: Vec<Option<Box<Pick>>>,
    },
}

impl Uniform {
    /// For lengths up to `longest`. If lengths are in tokens, every token gets its
    /// shortest text.
    pub fn new(
        grammar: Arc<Grammar>,
        unit: Unit,
        longest: usize,
        seed: u64,
    ) -> Result<Uniform, CountError> {
        let counts = Counts::new(&grammar, unit, longest)?;
        let lexer = Lexer::new(&grammar)?;
        let texts = grammar.token_ids().map(|id| match (&grammar.token(id).pattern, unit) {
            (Pattern::Literal(bytes), _) => Texts::Fixed(bytes.clone()),
            (Pattern::Unknown, _) => Texts::Fixed(grammar.token(id).name.clone().into_bytes()),
            (Pattern::Regex(_), Unit::Tokens) => {
                Texts::Fixed(lexer.language(id).shortest().unwrap_or_default())
            }
            (Pattern::Regex(_), Unit::Bytes) => {
                let dfa = Box::new(lexer.language(id));
                let counts = count_strings_from(&dfa, longest);
                let picks = (0..counts.len() * dfa.states()).map(|_| None).collect();
                Texts::Pattern { dfa, counts, picks }
            }
        });
        let texts = texts.collect();
        let none = |n: usize| (0..n * (longest + 1)).map(|_| None).collect();
        Ok(Uniform {
            texts,
            random: fastrand::Rng::with_seed(seed),
            rules: none(grammar.rules.len()),
            splits: none(counts.items.len()),
            stack: Vec::new(),
            counts,
            grammar,
        })
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Draws a sentence of exactly this length into `out`. False if there is none.
    pub fn sample(&mut self, length: usize, out: &mut Sentence) -> bool {
        out.clear();
        if self.counts.of_length(length).is_zero() {
            return false;
        }
        self.stack.clear();
        let start = Symbol::Rule(self.grammar.start);
        self.symbol(start, length, out);
        while let Some((item, length)) = self.stack.pop() {
            let Some(symbol) = self.counts.items.next(&self.grammar, item) else { continue };
            let part = self.split(item, symbol, length as usize);
            if self.counts.items.next(&self.grammar, item + 1).is_some() {
                self.stack.push((item + 1, length - part as u32));
            }
            self.symbol(symbol, part, out);
        }
        true
    }

    /// Draws the length of the first symbol behind a dot.
    fn split(&mut self, item: u32, symbol: Symbol, length: usize) -> usize {
        if self.counts.items.next(&self.grammar, item + 1).is_none() {
            return length;
        }
        if let Symbol::Token(t) = symbol
            && let Texts::Fixed(text) = &self.texts[t.index()]
        {
            return if self.counts.unit == Unit::Bytes { text.len() } else { 1 };
        }
        let at = item as usize * (self.counts.longest + 1) + length;
        let first = self.counts.symbol(symbol);
        let rest = &self.counts.rests[item as usize + 1];
        let weights = || (0..=length).map(|k| (k as u32, &first[k] * &rest[length - k]));
        if self.splits[at].is_none() {
            self.splits[at] = Pick::new(weights()).map(Box::new);
        }
        let random = &mut self.random;
        let pick = self.splits[at].as_ref();
        pick.map_or(0, |pick| pick.draw(|| random.u64(..), weights) as usize)
    }

    fn symbol(&mut self, symbol: Symbol, length: usize, out: &mut Sentence) {
        match symbol {
            Symbol::Token(token) => self.text(token, length, out),
            Symbol::Rule(rule) => {
                let at = rule.index() * (self.counts.longest + 1) + length;
                let (grammar, counts) = (&self.grammar, &self.counts);
                let weights = || {
                    grammar.rule(rule).productions.iter().map(|&p| {
                        let item = counts.items.item(p, 0) as usize;
                        (p.0, counts.rests[item][length].clone())
                    })
                };
                if self.rules[at].is_none() {
                    self.rules[at] = Pick::new(weights()).map(Box::new);
                }
                let random = &mut self.random;
                if let Some(pick) = &self.rules[at] {
                    let production = ProductionId(pick.draw(|| random.u64(..), weights));
                    self.stack.push((self.counts.items.item(production, 0), length as u32));
                }
            }
        }
    }

    fn text(&mut self, token: TokenId, length: usize, out: &mut Sentence) {
        match &mut self.texts[token.index()] {
            Texts::Fixed(text) => out.emit(token, text),
            Texts::Pattern { dfa, counts, picks } => {
                let mut state = Dfa::START;
                for left in (0..length).rev() {
                    let at = (left + 1) * dfa.states() + state as usize;
                    let weights = || {
                        let moves = dfa.moves(state).into_iter();
                        moves.map(|(b, to)| (u32::from(b), counts[left][to as usize].clone()))
                    };
                    if picks[at].is_none() {
                        picks[at] = Pick::new(weights()).map(Box::new);
                    }
                    let Some(pick) = &picks[at] else { break };
                    let byte = pick.draw(|| self.random.u64(..), weights) as u8;
                    out.bytes.push(byte);
                    state = dfa.next(state, byte);
                }
                out.emit(token, b"");
            }
        }
    }
}
