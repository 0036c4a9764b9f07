//! Inputs as templates: fixed bytes, and holes.
//!
//! A hole is a range of bytes that may be any word of a language. A plain byte string is a
//! template with one hole for everything. A sentence of a grammar has few small holes. The
//! rest of the input is fixed: decisions that depend on it alone cannot be flipped, and the
//! solver does not change it.
//!
//! The length of a hole is a variable of its own. A hole is made longer at one place
//! ([`Dfa::grows_at`](pleach_automata::Dfa::grows_at)), and the bytes that are added there
//! are its *filling*. The bytes of a hole with filling are fixed, too, until its length
//! changes again. Otherwise the decisions of a lexer on a thousand bytes of filling would
//! all be offered for flips, and none of them says more than those on the short word.

use pleach_hash::Hash;
use pleach_solve::{HoleLanguage, Requirement};
use std::sync::Arc;

/// This many equal bytes in a row are taken for filling.
const MIN_FILLING: usize = 32;

#[derive(Clone, Debug)]
pub struct Hole {
    pub start: u32,
    pub end: u32,
    pub language: Arc<HoleLanguage>,
    /// The range of the filling; empty if there is none. The hole grows at its end.
    pub filling: (u32, u32),
}

/// The holes of an input, in order. They do not overlap.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub holes: Vec<Hole>,
}

impl Hole {
    /// A hole that contains a word of its language.
    pub(crate) fn new(start: u32, word: &[u8], language: Arc<HoleLanguage>) -> Hole {
        let grows = start + language.dfa().grows_at(word) as u32;
        Hole { start, end: start + word.len() as u32, language, filling: (grows, grows) }
    }

    /// The same in an input of unknown origin: if the byte before the place where the hole
    /// grows is repeated often, the repetitions are taken for filling.
    pub(crate) fn with_guessed_filling(
        start: u32,
        word: &[u8],
        language: Arc<HoleLanguage>,
    ) -> Hole {
        let mut hole = Hole::new(start, word, language);
        let before = &word[..(hole.filling.1 - start) as usize];
        let same = before.iter().rev().take_while(|&b| Some(b) == before.last()).count();
        if same >= MIN_FILLING {
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

    /// True if it can have more than one length.
    pub fn is_elastic(&self) -> bool {
        !self.language.lengths().is_single()
    }

    fn word<'a>(&self, input: &'a [u8]) -> &'a [u8] {
        input.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// True if it has filling.
    pub fn has_filling(&self) -> bool {
        self.filling.0 < self.filling.1
    }
}

impl Template {
    /// True if a byte may change.
    pub fn is_free(&self, offset: u32) -> bool {
        let after = self.holes.partition_point(|h| h.start <= offset);
        let hole = after.checked_sub(1).map(|i| &self.holes[i]);
        hole.is_some_and(|h| offset < h.end && !h.has_filling())
    }

    /// What the solver must keep in an input of the template: the fixed bytes, and a word of
    /// its language in each hole.
    pub(crate) fn requirements(&self, input: &[u8]) -> Vec<Requirement> {
        let fixed = (0..input.len() as u32).filter(|&at| !self.is_free(at));
        let fixed =
            fixed.map(|offset| Requirement::Byte { offset, allowed: vec![input[offset as usize]] });
        let words = self.holes.iter().filter(|h| !h.has_filling()).map(|hole| match hole.len() {
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

    /// True if another template has the same holes. Filling does not count.
    pub fn has_same_holes(&self, other: &Template) -> bool {
        let alike = |(a, b): (&Hole, &Hole)| {
            (a.start, a.end) == (b.start, b.end) && Arc::ptr_eq(&a.language, &b.language)
        };
        self.holes.len() == other.holes.len() && self.holes.iter().zip(&other.holes).all(alike)
    }

    /// True if `new` is an input of the template, given that `old` is one.
    pub(crate) fn covers(&self, old: &[u8], new: &[u8]) -> bool {
        old.len() == new.len()
            && (0..old.len()).all(|i| old[i] == new[i] || self.is_free(i as u32))
            && self.holes.iter().all(|hole| {
                let word = new.get(hole.start as usize..hole.end as usize);
                word.is_some_and(|w| hole.language.dfa().matches(w))
            })
    }

    /// The input with new lengths of its holes. `preferred` has all bytes, in the order in
    /// which new bytes are chosen. `None` if a hole cannot have its new length.
    pub(crate) fn resized(
        &self,
        input: &[u8],
        lengths: &[u32],
        preferred: &[u8],
    ) -> Option<(Vec<u8>, Template)> {
        let mut bytes = Vec::with_capacity(input.len());
        let (mut template, mut copied) = (Template::default(), 0);
        for (hole, &length) in self.holes.iter().zip(lengths) {
            bytes.extend_from_slice(input.get(copied..hole.start as usize)?);
            let start = bytes.len() as u32;
            let (old, grows_at) = (hole.word(input), (hole.filling.1 - hole.start) as usize);
            let before_filling = (hole.filling.0 - hole.start) as usize;
            let (word, grows_at) = match length == hole.len() {
                true => (old.to_vec(), grows_at),
                false => hole.language.dfa().resized(old, grows_at, length as usize, preferred)?,
            };
            let filling = (start + before_filling.min(grows_at) as u32, start + grows_at as u32);
            bytes.extend_from_slice(&word);
            let (end, language) = (bytes.len() as u32, hole.language.clone());
            template.holes.push(Hole { start, end, language, filling });
            copied = hole.end as usize;
        }
        bytes.extend_from_slice(input.get(copied..)?);
        Some((bytes, template))
    }

    /// A hash of the fixed bytes and the places of the holes, without their contents and
    /// lengths.
    pub fn frame_hash(&self, input: &[u8]) -> u64 {
        let mut hash = Hash::new();
        let mut holes = self.holes.iter().peekable();
        for (at, &byte) in (0u32..).zip(input) {
            while holes.next_if(|h| h.end <= at).is_some() {}
            let item = match holes.peek() {
                Some(hole) if hole.start == at => 256,
                Some(hole) if hole.start < at => continue,
                _ => byte.into(),
            };
            hash = hash.add(item);
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
    fn only_holes_may_change_and_they_keep_their_language() {
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
    fn many_equal_bytes_are_taken_for_filling() {
        let word = [&b"12"[..], &[b'3'; 40]].concat();
        let hole = Hole::with_guessed_filling(5, &word, digits());
        assert_eq!((hole.start, hole.end, hole.filling), (5, 47, (8, 47)));
        let template = Template { holes: vec![hole] };
        assert!(!template.is_free(5));
        assert!(!Hole::with_guessed_filling(5, &word[..30], digits()).has_filling());
        assert!(!Hole::with_guessed_filling(5, b"", digits()).has_filling());
    }

    #[test]
    fn holes_grow_and_shrink_and_filled_holes_are_fixed() {
        let language = digits();
        let hole = |start, word| Hole::new(start, word, language.clone());
        let template = Template { holes: vec![hole(0, b"1"), hole(2, b"23")] };
        let preferred: Vec<u8> = (0..=255).collect();
        let resized = |t: &Template, input: &[u8], lengths: &[u32]| {
            let (bytes, new) = t.resized(input, lengths, &preferred).unwrap();
            assert!(new.covers(&bytes, &bytes));
            assert_eq!(new.frame_hash(&bytes), template.frame_hash(b"1+23;"));
            let free: Vec<u32> = (0..bytes.len() as u32).filter(|&i| new.is_free(i)).collect();
            (bytes, new, free)
        };
        let (bytes, longer, free) = resized(&template, b"1+23;", &[3, 4]);
        assert_eq!((&bytes[..], &free[..]), (&b"111+2333;"[..], &[][..]));
        let (bytes, _, free) = resized(&longer, &bytes, &[2, 2]);
        assert_eq!((&bytes[..], &free[..]), (&b"11+23;"[..], &[3, 4][..]));
        let (bytes, _, free) = resized(&template, b"1+23;", &[1, 1]);
        assert_eq!((&bytes[..], &free[..]), (&b"1+2;"[..], &[0, 2][..]));
        assert_ne!(template.frame_hash(b"1+23;"), template.frame_hash(b"1-23;"));
    }
}
