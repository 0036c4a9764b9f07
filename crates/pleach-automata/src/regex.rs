//! Regular expressions over bytes, as trees. Tokens and separators of grammars are
//! such trees.
//!
//! This module has no syntax. Each importer parses the syntax of its files and builds
//! a tree with the constructors below, which flatten it and drop empty parts. Code
//! points become the byte sequences of their UTF-8 form. Functions walk the tree by
//! recursion, so importers limit how deep a file may nest.

use crate::ByteSet;
use regex_syntax::utf8::Utf8Sequences;

/// Longer expressions are not treated as literals.
const MAX_LITERAL_BYTES: usize = 1 << 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Regex {
    /// The empty string.
    Empty,
    /// One byte of the set. The empty set matches nothing.
    Class(ByteSet),
    Concat(Vec<Regex>),
    Alt(Vec<Regex>),
    Repeat {
        inner: Box<Regex>,
        min: u32,
        max: Option<u32>,
    },
}

impl Regex {
    /// Matches nothing at all.
    pub fn nothing() -> Regex {
        Regex::Class(ByteSet::EMPTY)
    }

    pub fn byte(byte: u8) -> Regex {
        Regex::Class(ByteSet::of(byte))
    }

    pub fn literal(bytes: &[u8]) -> Regex {
        Regex::concat(bytes.iter().map(|&b| Regex::byte(b)))
    }

    /// Letters in either case.
    pub fn literal_any_case(bytes: &[u8]) -> Regex {
        Regex::concat(bytes.iter().map(|&b| {
            let mut set = ByteSet::of(b.to_ascii_lowercase());
            set.insert(b.to_ascii_uppercase());
            Regex::Class(set)
        }))
    }

    pub fn concat(parts: impl IntoIterator<Item = Regex>) -> Regex {
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Regex::Empty => {}
                Regex::Concat(inner) => flat.extend(inner),
                part if part.is_nothing() => return Regex::nothing(),
                part => flat.push(part),
            }
        }
        match flat.len() {
            0 => Regex::Empty,
            1 => flat.remove(0),
            _ => Regex::Concat(flat),
        }
    }

    /// Joins all classes among the alternatives into one class.
    pub fn alt(parts: impl IntoIterator<Item = Regex>) -> Regex {
        let mut flat = Vec::new();
        let mut class: Option<usize> = None;
        let mut add = |part: Regex| match (&part, class) {
            (Regex::Class(set), _) if set.is_empty() => {}
            (Regex::Class(set), Some(at)) => {
                if let Regex::Class(all) = &mut flat[at] {
                    *all = all.union(set);
                }
            }
            (Regex::Class(_), None) => {
                class = Some(flat.len());
                flat.push(part);
            }
            _ => flat.push(part),
        };
        for part in parts {
            match part {
                Regex::Alt(inner) => inner.into_iter().for_each(&mut add),
                part => add(part),
            }
        }
        match flat.len() {
            0 => Regex::nothing(),
            1 => flat.remove(0),
            _ => Regex::Alt(flat),
        }
    }

    pub fn repeat(inner: Regex, min: u32, max: Option<u32>) -> Regex {
        match (inner, min, max) {
            (_, _, Some(0)) => Regex::Empty,
            (inner, 1, Some(1)) => inner,
            (Regex::Empty, _, _) => Regex::Empty,
            (inner, 0, _) if inner.is_nothing() => Regex::Empty,
            (inner, min, max) => Regex::Repeat { inner: Box::new(inner), min, max },
        }
    }

    pub fn star(inner: Regex) -> Regex {
        Regex::repeat(inner, 0, None)
    }

    pub fn plus(inner: Regex) -> Regex {
        Regex::repeat(inner, 1, None)
    }

    pub fn optional(inner: Regex) -> Regex {
        Regex::repeat(inner, 0, Some(1))
    }

    /// One code point of the ranges (both ends included), as UTF-8. Surrogates
    /// have no UTF-8 form and are left out.
    pub fn code_points(ranges: impl IntoIterator<Item = (u32, u32)>) -> Regex {
        let mut sequences = Vec::new();
        for (low, high) in ranges {
            for (low, high) in [(low, high.min(0xd7ff)), (low.max(0xe000), high.min(0x10_ffff))] {
                let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high)) else {
                    continue;
                };
                if low <= high {
                    sequences.extend(Utf8Sequences::new(low, high));
                }
            }
        }
        Regex::alt(sequences.iter().map(|sequence| {
            Regex::concat(
                sequence.as_slice().iter().map(|r| Regex::Class(ByteSet::range(r.start, r.end))),
            )
        }))
    }

    /// True for the empty class. Other trees that match nothing return false.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Regex::Class(set) if set.is_empty())
    }

    /// The only string that the tree matches, if the tree has no choices and the string
    /// at most 65,536 bytes. Nested counted repetitions could make it far longer.
    pub fn as_literal(&self) -> Option<Vec<u8>> {
        match self {
            Regex::Empty => Some(Vec::new()),
            Regex::Class(set) if set.len() == 1 => Some(set.iter().collect()),
            Regex::Class(_) | Regex::Alt(_) => None,
            Regex::Concat(parts) => {
                let mut text = Vec::new();
                for part in parts {
                    text.extend(part.as_literal()?);
                    if text.len() > MAX_LITERAL_BYTES {
                        return None;
                    }
                }
                Some(text)
            }
            Regex::Repeat { inner, min, max } if Some(*min) == *max => {
                let (text, times) = (inner.as_literal()?, *min as usize);
                let is_short = text.len().saturating_mul(times) <= MAX_LITERAL_BYTES;
                is_short.then(|| text.repeat(times))
            }
            Regex::Repeat { .. } => None,
        }
    }

    /// The number of classes with all repetitions written out: roughly the size of the
    /// automaton.
    pub fn pieces(&self) -> usize {
        match self {
            Regex::Empty => 0,
            Regex::Class(_) => 1,
            Regex::Concat(parts) | Regex::Alt(parts) => {
                parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.pieces()))
            }
            Regex::Repeat { inner, min, max } => {
                let times = max.unwrap_or(*min).max(1) as usize;
                inner.pieces().saturating_mul(times)
            }
        }
    }

    pub fn matches_empty(&self) -> bool {
        match self {
            Regex::Empty => true,
            Regex::Class(_) => false,
            Regex::Concat(parts) => parts.iter().all(Regex::matches_empty),
            Regex::Alt(parts) => parts.iter().any(Regex::matches_empty),
            Regex::Repeat { inner, min, .. } => *min == 0 || inner.matches_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_keep_trees_flat() {
        let ab = Regex::literal(b"ab");
        assert_eq!(
            Regex::concat([ab.clone(), Regex::Empty, Regex::byte(b'c')]),
            Regex::literal(b"abc")
        );
        assert_eq!(
            Regex::alt([Regex::byte(b'a'), Regex::alt([Regex::byte(b'b'), Regex::byte(b'c')])]),
            Regex::Class(ByteSet::range(b'a', b'c'))
        );
        assert!(Regex::concat([ab.clone(), Regex::nothing()]).is_nothing());
        assert_eq!(Regex::repeat(ab.clone(), 2, Some(2)).as_literal(), Some(b"abab".to_vec()));
        assert!(Regex::star(ab.clone()).matches_empty());
        assert!(!Regex::plus(ab).matches_empty());
    }

    /// `((a{1000}){1000}){1000}` is a literal of a gigabyte.
    #[test]
    fn long_literals_are_refused() {
        let thousand = |inner| Regex::repeat(inner, 1000, Some(1000));
        assert_eq!(thousand(Regex::byte(b'a')).as_literal(), Some(vec![b'a'; 1000]));
        let deep = (0..6).fold(Regex::byte(b'a'), |inner, _| thousand(inner));
        assert_eq!(deep.as_literal(), None);
        assert!(deep.pieces() >= 1_000_000_000, "{}", deep.pieces());
        let wide = Regex::concat((0..100).map(|_| thousand(Regex::byte(b'a'))));
        assert_eq!(wide.as_literal(), None);
        // The empty string a million times is the empty string.
        let empty = Regex::Repeat { inner: Box::new(Regex::Empty), min: 9, max: Some(9) };
        assert_eq!(thousand(empty).as_literal(), Some(Vec::new()));
    }

    #[test]
    fn code_points_are_utf8() {
        assert_eq!(Regex::code_points([(0x41, 0x43)]), Regex::Class(ByteSet::range(b'A', b'C')));
        assert_eq!(Regex::code_points([(0xe9, 0xe9)]).as_literal(), Some("é".into()));
        // Surrogates have no UTF-8 form.
        assert!(Regex::code_points([(0xd800, 0xdfff)]).is_nothing());
        assert_eq!(Regex::code_points([(0x1f600, 0x1f600)]).as_literal(), Some("😀".into()));
    }
}
