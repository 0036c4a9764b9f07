//! All languages of a file as one set of parts that refer to each other.
//!
//! A `cfg` and a `reg` differ in what they may refer to. Both are made of texts, ranges,
//! sequences, alternatives, and `fix`, which keeps the strings of one size. A star is a part
//! that refers to itself. So nothing is expanded: a definition that is used a thousand times
//! is one part.

use pleach_automata::ByteSet;
use pleach_import::hampi::NameId;

/// How many parts the languages of a file may have together.
pub(super) const MAX_PARTS: usize = 1 << 21;

pub(super) type PartId = u32;

#[derive(Clone, Debug)]
pub(super) enum Part {
    /// The empty string.
    Empty,
    /// One string, not empty.
    Text(Box<[u8]>),
    Range(u8, u8),
    Pair(PartId, PartId),
    Either(Vec<PartId>),
    /// The strings of one size.
    Fix(PartId, u32),
}

impl Part {
    /// The length, if the part is a run: a fixed number of bytes, each from a set.
    pub fn run_length(&self) -> Option<usize> {
        match self {
            Part::Text(text) => Some(text.len()),
            Part::Range(..) => Some(1),
            _ => None,
        }
    }

    /// The bytes that a run may have at a place.
    pub fn byte_set(&self, at: usize) -> ByteSet {
        match self {
            Part::Text(text) => ByteSet::of(text[at]),
            Part::Range(low, high) => ByteSet::range(*low, *high),
            _ => ByteSet::EMPTY,
        }
    }
}

pub(super) struct LanguageBuilder {
    parts: Vec<Part>,
    /// The part of each name, by the number of the name.
    named: Vec<Option<PartId>>,
}

impl LanguageBuilder {
    pub fn new(names: usize) -> LanguageBuilder {
        LanguageBuilder { parts: Vec::new(), named: vec![None; names] }
    }

    pub fn finish(self) -> Vec<Part> {
        self.parts
    }

    /// True if there are too many parts. The languages are then incomplete.
    pub fn is_full(&self) -> bool {
        self.parts.len() >= MAX_PARTS
    }

    fn push(&mut self, part: Part) -> PartId {
        if !self.is_full() {
            self.parts.push(part);
        }
        self.parts.len() as PartId - 1
    }

    /// The part of a name, which may be defined later.
    pub fn named(&mut self, name: NameId) -> PartId {
        if let Some(id) = self.named[name.index()] {
            return id;
        }
        let id = self.push(Part::Either(Vec::new()));
        self.named[name.index()] = Some(id);
        id
    }

    /// Adds a part to the alternatives of a name.
    pub fn define(&mut self, name: NameId, part: PartId) {
        let id = self.named(name);
        if let Part::Either(parts) = &mut self.parts[id as usize] {
            parts.push(part);
        }
    }

    pub fn empty(&mut self) -> PartId {
        self.push(Part::Empty)
    }

    pub fn text(&mut self, text: &[u8]) -> PartId {
        match text.is_empty() {
            true => self.empty(),
            false => self.push(Part::Text(text.into())),
        }
    }

    pub fn range(&mut self, low: u8, high: u8) -> PartId {
        self.push(Part::Range(low, high))
    }

    pub fn sequence(&mut self, parts: &[PartId]) -> PartId {
        let Some((&last, before)) = parts.split_last() else { return self.empty() };
        before.iter().rev().fold(last, |rest, &part| self.push(Part::Pair(part, rest)))
    }

    pub fn either(&mut self, parts: Vec<PartId>) -> PartId {
        self.push(Part::Either(parts))
    }

    pub fn star(&mut self, inner: PartId) -> PartId {
        let empty = self.empty();
        let star = self.either(vec![empty]);
        let more = self.push(Part::Pair(inner, star));
        if let Part::Either(parts) = &mut self.parts[star as usize] {
            parts.push(more);
        }
        star
    }

    pub fn fix(&mut self, inner: PartId, size: u32) -> PartId {
        self.push(Part::Fix(inner, size))
    }
}
