//! Inputs as templates: bytes that stay, and holes.
//!
//! A hole is a stretch of bytes that may be any word of a language, of the length
//! that it has now. A flat byte string is the template that is one hole for
//! everything; what a grammar derives has few and small ones. The rest of the
//! input is as good as a constant: decisions that depend on it alone cannot be
//! flipped, and no answer of the solver touches it.

use pleach_solve::{Automaton, Requirement};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Hole {
    pub start: u32,
    pub end: u32,
    pub language: Arc<Automaton>,
}

/// The holes of an input, in order, apart from each other.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub holes: Vec<Hole>,
}

impl Template {
    /// Whether a byte may change.
    pub fn is_free(&self, offset: u32) -> bool {
        let after = self.holes.partition_point(|h| h.start <= offset);
        after > 0 && offset < self.holes[after - 1].end
    }

    /// What every input of the template meets, said of one of them.
    pub fn requirements(&self, input: &[u8]) -> Vec<Requirement> {
        let fixed = (0..input.len() as u32).filter(|&at| !self.is_free(at));
        let fixed =
            fixed.map(|offset| Requirement::Byte { offset, allowed: vec![input[offset as usize]] });
        let words = self.holes.iter().map(|hole| match hole.end - hole.start {
            1 => {
                let allowed = (0..=255).filter(|&b| hole.language.accepts(&[b])).collect();
                Requirement::Byte { offset: hole.start, allowed }
            }
            length => {
                let automaton = hole.language.clone();
                Requirement::Word { offset: hole.start, length, automaton }
            }
        });
        fixed.chain(words).collect()
    }

    /// Whether an input is one of the template, given another that is.
    pub fn covers(&self, one: &[u8], other: &[u8]) -> bool {
        one.len() == other.len()
            && (0..one.len()).all(|i| one[i] == other[i] || self.is_free(i as u32))
            && self.holes.iter().all(|hole| {
                let word = other.get(hole.start as usize..hole.end as usize);
                word.is_some_and(|w| hole.language.accepts(w))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_holes_may_change_and_only_within_their_language() {
        let digits = Automaton::new(1, |_, b| b.is_ascii_digit().then_some(0), |_| true);
        let language = Arc::new(digits.unwrap());
        let hole = |start, end| Hole { start, end, language: language.clone() };
        let template = Template { holes: vec![hole(0, 1), hole(2, 4)] };
        let free: Vec<u32> = (0..6).filter(|&i| template.is_free(i)).collect();
        assert_eq!(free, [0, 2, 3]);
        let covers = |other: &[u8]| template.covers(b"1+23;", other);
        assert!(covers(b"9+00;") && covers(b"1+23;"));
        assert!(!covers(b"9-00;") && !covers(b"a+00;") && !covers(b"1+2a;") && !covers(b"1+2;"));
        assert_eq!(template.requirements(b"1+23;").len(), 4);
    }
}
