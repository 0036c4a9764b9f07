//! Requirements on models, besides the decisions of the trace.
//!
//! If the input is a template, most of its bytes must stay, and the bytes of a hole must be
//! a word of the language of the hole. Both are expressed as terms and become conditions
//! like any other: a byte is in a set, which `domains` solves; some bytes lead an automaton
//! to an accepting state. The latter is a chain of table lookups, as in a lexer, which
//! `layers` solves.

use pleach_automata::{Dfa, Lengths};
use pleach_expr::{Code, Pool, Table, Term};
use std::sync::{Arc, OnceLock};

/// One requirement.
#[derive(Clone, Debug)]
pub enum Requirement {
    /// The byte at an offset is one of these.
    Byte { offset: u32, allowed: Vec<u8> },
    /// The `length` bytes from an offset on are a word of the language.
    Word { offset: u32, length: u32, language: Arc<HoleLanguage> },
}

/// The regular language of a hole, with its automaton as tables for the solver.
#[derive(Clone, Debug)]
pub struct HoleLanguage {
    dfa: Dfa,
    lengths: OnceLock<Lengths>,
    /// The next state, by state and byte, in entries of 16 bits. The last state is dead.
    moves: Table,
    /// One byte for each state: 1 if it accepts.
    accepts: Table,
}

/// The automaton has too many states for the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an automaton of more than {} states", HoleLanguage::MAX_STATES)]
pub struct TooManyStates;

impl HoleLanguage {
    /// States of the automaton. The tables have one more, the dead state.
    pub const MAX_STATES: usize = 4096;

    pub fn new(dfa: Dfa) -> Result<HoleLanguage, TooManyStates> {
        let states = dfa.states();
        if states > HoleLanguage::MAX_STATES {
            return Err(TooManyStates);
        }
        let mut moves: Vec<u8> = Vec::with_capacity(512 * (states + 1));
        for state in 0..states as u32 {
            let next = (0..=255).map(|byte| dfa.next(state, byte).min(states as u32) as u16);
            moves.extend(next.flat_map(u16::to_le_bytes));
        }
        moves.extend([states as u16; 256].into_iter().flat_map(u16::to_le_bytes));
        let accepting = (0..states as u32).map(|state| u8::from(!dfa.accepts(state).is_empty()));
        let accepts: Vec<u8> = accepting.chain([0]).collect();
        let (moves, accepts) = (Table::new(&moves), Table::new(&accepts));
        Ok(HoleLanguage { dfa, lengths: OnceLock::new(), moves, accepts })
    }

    pub fn dfa(&self) -> &Dfa {
        &self.dfa
    }

    /// The lengths for which there are words.
    pub fn lengths(&self) -> &Lengths {
        self.lengths.get_or_init(|| self.dfa.lengths())
    }
}

impl Requirement {
    /// The requirement as a term of one bit.
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
            Requirement::Word { offset, length, language } => {
                let mut state = pool.number(0, 16);
                let zero = pool.number(0, 1);
                for at in *offset..*offset + *length {
                    let byte = pool.read(at, 1);
                    // Entries have two bytes, so the index is doubled.
                    let index = pool.concat(byte, state);
                    let place = pool.concat(zero, index);
                    state = pool.lookup(place, &language.moves, 16);
                }
                let accepted = pool.lookup(state, &language.accepts, 8);
                let zero = pool.number(0, 8);
                pool.pair(Code::Ne, accepted, zero)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_automata::{ByteSet, Regex};

    #[test]
    fn the_term_agrees_with_the_automaton() {
        let letters = Regex::Class(ByteSet::range(b'a', b'z'));
        let digits = Regex::Class(ByteSet::range(b'0', b'9'));
        let name = Regex::concat([letters.clone(), Regex::star(Regex::alt([letters, digits]))]);
        let keyword = Regex::literal(b"if");
        let names = Dfa::new(&[&name, &keyword]).unwrap().restrict(|matching| matching == [0]);
        let language = Arc::new(HoleLanguage::new(names).unwrap());
        let word = Requirement::Word { offset: 1, length: 2, language: language.clone() };
        let byte = Requirement::Byte { offset: 0, allowed: b"xy".to_vec() };
        let mut pool = Pool::default();
        let terms = [word.term(&mut pool), byte.term(&mut pool)];
        for input in ["xif", "xis", "x1a", "zab", "yi9"].map(str::as_bytes) {
            let mut values = pleach_expr::TermValues::default();
            values.extend(&pool, &pleach_expr::Input::streams(input, vec![3]));
            let holds = terms.map(|t| values.low(t) != 0);
            assert_eq!(holds, [language.dfa().matches(&input[1..]), b"xy".contains(&input[0])]);
        }
    }
}
