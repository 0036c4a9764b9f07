//! Inputs as templates: bytes that stay, and holes.
//!
//! A hole is a stretch of bytes that may be any word of a language. A flat byte
//! string is the template that is one hole for everything; what a grammar derives has
//! few and small ones. The rest of the input is as good as a constant: decisions that
//! depend on it alone cannot be flipped, and no answer of the solver touches it.
//!
//! The length of a hole is a variable of its own. A hole is made longer at one place
//! ([`Dfa::grows_at`]), and what is put there is *filling*. A hole with filling
//! stays what it is, like the bytes around it, until its length changes again: a lexer
//! that goes through a thousand bytes decides some thousand times on the first of them,
//! and nothing of that is worth a flip that was not worth one in the short name before.

use pleach_hash::Hash;
use pleach_solve::{HoleLanguage, Requirement};
use std::sync::Arc;

/// So many equal bytes are nobody's text.
const FILLING: usize = 32;

#[derive(Clone, Debug)]
pub struct Hole {
    pub start: u32,
    pub end: u32,
    pub language: Arc<HoleLanguage>,
    /// The filling, `from .. to`: behind `to` the hole grows on. Empty at first.
    pub filling: (u32, u32),
}

/// The holes of an input, in order, apart from each other.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub holes: Vec<Hole>,
}

impl Hole {
    /// A hole that is filled with a word of its language.
    pub fn new(start: u32, word: &[u8], language: Arc<HoleLanguage>) -> Hole {
        let grows = start + language.dfa().grows_at(word) as u32;
        Hole { start, end: start + word.len() as u32, language, filling: (grows, grows) }
    }

    /// The same in an input of which nobody knows how it was made: a long stretch of one
    /// byte where the hole grows is taken for filling.
    pub fn found(start: u32, word: &[u8], language: Arc<HoleLanguage>) -> Hole {
        let mut hole = Hole::new(start, word, language);
        let before = &word[..(hole.filling.1 - start) as usize];
        let same = before.iter().rev().take_while(|&b| Some(b) == before.last()).count();
        if same >= FILLING {
            hole.filling.0 = hole.filling.1 - (same as u32 - 1);
        }
        hole
    }

    pub fn len(&self) -> u32 {
        self.end - self.start
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Whether it can have more than one length.
    pub fn is_elastic(&self) -> bool {
        !self.language.lengths().is_single()
    }

    fn word<'a>(&self, input: &'a [u8]) -> &'a [u8] {
        input.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Whether it was made longer.
    pub fn is_filled(&self) -> bool {
        self.filling.0 < self.filling.1
    }
}

impl Template {
    /// Whether a byte may change.
    pub fn is_free(&self, offset: u32) -> bool {
        let after = self.holes.partition_point(|h| h.start <= offset);
        let hole = after.checked_sub(1).map(|i| &self.holes[i]);
        hole.is_some_and(|h| offset < h.end && !h.is_filled())
    }

    /// What every input of the template meets, said of one of them.
    pub fn requirements(&self, input: &[u8]) -> Vec<Requirement> {
        let fixed = (0..input.len() as u32).filter(|&at| !self.is_free(at));
        let fixed =
            fixed.map(|offset| Requirement::Byte { offset, allowed: vec![input[offset as usize]] });
        let words = self.holes.iter().filter(|h| !h.is_filled()).map(|hole| match hole.len() {
            1 => {
                let allowed = (0..=255).filter(|&b| hole.language.dfa().matches(&[b])).collect();
                Requirement::Byte { offset: hole.start, allowed }
            }
            length => {
                let language = hole.language.clone();
                Requirement::Word { offset: hole.start, length, language }
            }
        });
        fixed.chain(words).collect()
    }

    /// Whether it has the same holes as another, with whatever filling.
    pub fn is_like(&self, other: &Template) -> bool {
        let alike = |(a, b): (&Hole, &Hole)| {
            (a.start, a.end) == (b.start, b.end) && Arc::ptr_eq(&a.language, &b.language)
        };
        self.holes.len() == other.holes.len() && self.holes.iter().zip(&other.holes).all(alike)
    }

    /// Whether an input is one of the template, given another that is.
    pub fn covers(&self, one: &[u8], other: &[u8]) -> bool {
        one.len() == other.len()
            && (0..one.len()).all(|i| one[i] == other[i] || self.is_free(i as u32))
            && self.holes.iter().all(|hole| {
                let word = other.get(hole.start as usize..hole.end as usize);
                word.is_some_and(|w| hole.language.dfa().matches(w))
            })
    }

    /// The input with its holes made as long as said. `order` has all bytes, those
    /// that are preferred first. `None` if a hole cannot have its length.
    pub fn resized(
        &self,
        input: &[u8],
        lengths: &[u32],
        order: &[u8],
    ) -> Option<(Vec<u8>, Template)> {
        let mut bytes = Vec::with_capacity(input.len());
        let (mut template, mut done) = (Template::default(), 0);
        for (hole, &length) in self.holes.iter().zip(lengths) {
            bytes.extend_from_slice(input.get(done..hole.start as usize)?);
            let start = bytes.len() as u32;
            let (old, place) = (hole.word(input), (hole.filling.1 - hole.start) as usize);
            let kept = (hole.filling.0 - hole.start) as usize;
            let (word, place) = match length == hole.len() {
                true => (old.to_vec(), place),
                false => hole.language.dfa().resized(old, place, length as usize, order)?,
            };
            let filling = (start + kept.min(place) as u32, start + place as u32);
            bytes.extend_from_slice(&word);
            let (end, language) = (bytes.len() as u32, hole.language.clone());
            template.holes.push(Hole { start, end, language, filling });
            done = hole.end as usize;
        }
        bytes.extend_from_slice(input.get(done..)?);
        Some((bytes, template))
    }

    /// What all inputs of a template have in common, whatever is in their holes.
    pub fn frame(&self, input: &[u8]) -> u64 {
        let mut hash = Hash::new();
        let mut holes = self.holes.iter().peekable();
        for (at, &byte) in (0u32..).zip(input) {
            while holes.next_if(|h| h.end <= at).is_some() {}
            let word = match holes.peek() {
                Some(hole) if hole.start == at => 256,
                Some(hole) if hole.start < at => continue,
                _ => byte.into(),
            };
            hash = hash.add(word);
        }
        hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_automata::{ByteSet, Dfa, Regex};

    fn digits() -> Arc<HoleLanguage> {
        let digits = Regex::star(Regex::Class(ByteSet::range(b'0', b'9')));
        let digits = HoleLanguage::new(Dfa::new(&[&digits]).unwrap());
        Arc::new(digits.unwrap())
    }

    #[test]
    fn only_holes_may_change_and_only_within_their_language() {
        let language = digits();
        let hole = |start, word| Hole::new(start, word, language.clone());
        let template = Template { holes: vec![hole(0, b"1"), hole(2, b"23")] };
        let free: Vec<u32> = (0..6).filter(|&i| template.is_free(i)).collect();
        assert_eq!(free, [0, 2, 3]);
        let covers = |other: &[u8]| template.covers(b"1+23;", other);
        assert!(covers(b"9+00;") && covers(b"1+23;"));
        assert!(!covers(b"9-00;") && !covers(b"a+00;") && !covers(b"1+2a;") && !covers(b"1+2;"));
        assert_eq!(template.requirements(b"1+23;").len(), 4);
    }

    #[test]
    fn filling_is_known_by_its_looks() {
        let word = [&b"12"[..], &[b'3'; 40]].concat();
        let hole = Hole::found(5, &word, digits());
        assert_eq!((hole.start, hole.end, hole.filling), (5, 47, (8, 47)));
        let template = Template { holes: vec![hole] };
        assert!(!template.is_free(5));
        assert!(!Hole::found(5, &word[..30], digits()).is_filled());
        assert!(!Hole::found(5, b"", digits()).is_filled());
    }

    #[test]
    fn holes_grow_and_shrink_and_what_is_filled_stays() {
        let language = digits();
        let hole = |start, word| Hole::new(start, word, language.clone());
        let template = Template { holes: vec![hole(0, b"1"), hole(2, b"23")] };
        let order: Vec<u8> = (0..=255).collect();
        let resized = |t: &Template, input: &[u8], lengths: &[u32]| {
            let (bytes, new) = t.resized(input, lengths, &order).unwrap();
            assert!(new.covers(&bytes, &bytes));
            assert_eq!(new.frame(&bytes), template.frame(b"1+23;"));
            let free: Vec<u32> = (0..bytes.len() as u32).filter(|&i| new.is_free(i)).collect();
            (bytes, new, free)
        };
        let (bytes, longer, free) = resized(&template, b"1+23;", &[3, 4]);
        assert_eq!((&bytes[..], &free[..]), (&b"111+2333;"[..], &[][..]));
        let (bytes, _, free) = resized(&longer, &bytes, &[2, 2]);
        assert_eq!((&bytes[..], &free[..]), (&b"11+23;"[..], &[3, 4][..]));
        let (bytes, _, free) = resized(&template, b"1+23;", &[1, 1]);
        assert_eq!((&bytes[..], &free[..]), (&b"1+2;"[..], &[0, 2][..]));
        assert_ne!(template.frame(b"1+23;"), template.frame(b"1-23;"));
    }
}
