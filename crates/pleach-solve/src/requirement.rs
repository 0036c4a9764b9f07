//! What an answer must meet that no decision of the trace says.
//!
//! Where an input is a template, most of its bytes are to stay, and what fills a
//! hole must be of the hole's language. Said as terms, both are conditions like any
//! other: a byte is one of a set, which the domains decide; a stretch of bytes
//! leads an automaton into a state that accepts, which is a chain of table lookups
//! like a lexer's own, and goes by layers.

use crate::words::Lengths;
use pleach_expr::{Code, Pool, Table, Term};
use std::sync::{Arc, OnceLock};

/// One requirement.
#[derive(Clone, Debug)]
pub enum Requirement {
    /// The byte at an offset is one of these.
    Byte { offset: u32, allowed: Vec<u8> },
    /// The bytes from an offset on are a word of the automaton's language.
    Word { offset: u32, length: u32, automaton: Arc<Automaton> },
}

/// A deterministic automaton over bytes as tables. State 0 is the first.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// Entries of 16 bits: the next state, by state and byte.
    moves: Table,
    /// One byte a state: whether it accepts.
    accepts: Table,
    next: Vec<u16>,
    accepting: Vec<bool>,
    lengths: OnceLock<Lengths>,
}

/// More states than tables can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an automaton of more than {} states", Automaton::MOST)]
pub struct TooManyStates;

impl Automaton {
    /// One more is taken for the state from which nothing is accepted.
    pub const MOST: usize = 4096;

    /// `next` says where a byte leads from a state, or nothing.
    pub fn new(
        states: usize,
        next: impl Fn(usize, u8) -> Option<usize>,
        accepts: impl Fn(usize) -> bool,
    ) -> Result<Automaton, TooManyStates> {
        if states > Automaton::MOST {
            return Err(TooManyStates);
        }
        let mut moves = Vec::with_capacity(256 * (states + 1));
        for state in 0..states {
            moves.extend((0..=255).map(|byte| next(state, byte).map_or(states, |s| s) as u16));
        }
        moves.extend([states as u16; 256]);
        let accepting: Vec<bool> = (0..=states).map(|s| s < states && accepts(s)).collect();
        let bytes: Vec<u8> = moves.iter().flat_map(|m| m.to_le_bytes()).collect();
        let flags: Vec<u8> = accepting.iter().map(|&a| a.into()).collect();
        Ok(Automaton {
            moves: Table::new(&bytes),
            accepts: Table::new(&flags),
            next: moves,
            accepting,
            lengths: OnceLock::new(),
        })
    }

    pub fn accepts(&self, word: &[u8]) -> bool {
        self.accepting[word.iter().fold(0, |state, &byte| self.step(state, byte))]
    }

    /// A word of just this length, each byte the first of `order` that will do.
    pub fn word(&self, length: usize, order: impl Fn() -> Vec<u8>) -> Option<Vec<u8>> {
        // By bytes to go: the states from which that many lead to acceptance.
        let mut live = vec![self.accepting.clone()];
        for _ in 0..length {
            let last = &live[live.len() - 1];
            let lives = |state| (0..=255).any(|byte| last[self.step(state, byte)]);
            live.push((0..self.accepting.len()).map(lives).collect());
        }
        let (mut state, mut word) = (0, Vec::with_capacity(length));
        if !live[length][0] {
            return None;
        }
        for to_go in (0..length).rev() {
            let byte = order().into_iter().find(|&b| live[to_go][self.step(state, b)])?;
            state = self.step(state, byte);
            word.push(byte);
        }
        Some(word)
    }

    /// Of which lengths there are words.
    pub fn lengths(&self) -> &Lengths {
        self.lengths.get_or_init(|| self.find_lengths())
    }

    pub(crate) fn step(&self, state: usize, byte: u8) -> usize {
        self.next[state << 8 | usize::from(byte)].into()
    }

    /// States, without the one from which nothing is accepted. It comes after them.
    pub(crate) fn states(&self) -> usize {
        self.accepting.len() - 1
    }

    pub(crate) fn is_final(&self, state: usize) -> bool {
        self.accepting[state]
    }
}

impl Requirement {
    /// The term of one bit that says so.
    pub(crate) fn term(&self, pool: &mut Pool) -> Term {
        match self {
            Requirement::Byte { offset, allowed } => {
                let byte = pool.read(*offset, 1);
                let values: Vec<u64> = allowed.iter().map(|&b| b.into()).collect();
                match values[..] {
                    [one] => {
                        let one = pool.number(one.into(), 8);
                        pool.pair(Code::Eq, byte, one)
                    }
                    _ => pool.member(byte, &values),
                }
            }
            Requirement::Word { offset, length, automaton } => {
                let mut state = pool.number(0, 16);
                let zero = pool.number(0, 1);
                for at in *offset..*offset + *length {
                    let byte = pool.read(at, 1);
                    // An entry is two bytes wide.
                    let index = pool.concat(byte, state);
                    let place = pool.concat(zero, index);
                    state = pool.lookup(place, &automaton.moves, 16);
                }
                let accepted = pool.lookup(state, &automaton.accepts, 8);
                let no = pool.number(0, 8);
                pool.pair(Code::Ne, accepted, no)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identifiers: a letter, then letters and digits; not `if`.
    fn identifiers() -> Automaton {
        let (letter, digit) = (|b: u8| b.is_ascii_lowercase(), |b: u8| b.is_ascii_digit());
        Automaton::new(
            4,
            |state, byte| match (state, byte) {
                (0, b'i') => Some(2),
                (2, b'f') => Some(3),
                (0, b) if letter(b) => Some(1),
                (1..=3, b) if letter(b) || digit(b) => Some(1),
                _ => None,
            },
            |state| matches!(state, 1 | 2),
        )
        .unwrap()
    }

    #[test]
    fn words_are_of_the_language_and_of_the_length() {
        let all = || (0..=255).collect::<Vec<u8>>();
        let a = identifiers();
        assert!(a.accepts(b"i") && a.accepts(b"ifs") && !a.accepts(b"if") && !a.accepts(b"1"));
        assert_eq!(a.word(0, all), None);
        assert_eq!(a.word(3, all), Some(b"a00".to_vec()));
        assert_eq!(a.word(2, || b"if".to_vec()), Some(b"ii".to_vec()));
    }

    #[test]
    fn the_term_says_what_the_automaton_says() {
        let automaton = Arc::new(identifiers());
        let word = Requirement::Word { offset: 1, length: 2, automaton: automaton.clone() };
        let byte = Requirement::Byte { offset: 0, allowed: b"xy".to_vec() };
        let mut pool = Pool::default();
        let terms = [word.term(&mut pool), byte.term(&mut pool)];
        for input in ["xif", "xis", "x1a", "zab", "yi9"].map(str::as_bytes) {
            let mut values = pleach_expr::TermValues::default();
            values.extend(&pool, &pleach_expr::Input::streams(input, vec![3]));
            let said = terms.map(|t| values.low(t) != 0);
            assert_eq!(said, [automaton.accepts(&input[1..]), b"xy".contains(&input[0])]);
        }
    }
}
