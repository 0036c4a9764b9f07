//! The right-hand sides of rules, for formats like EBNF.
//!
//! These formats are written differently, but express the same things: literals, sets
//! of characters, names, sequences, choices and repetitions. An importer parses its
//! own syntax into a [`Tree`]. The tree of a token becomes a regular expression over
//! bytes ([`Expander`]); the tree of a rule goes to the builder ([`Lowerer`]).
//!
//! Trees are walked by recursion. Importers limit how deep a file may nest.

mod expand;
mod lower;

pub(crate) use self::expand::Expander;
pub(crate) use self::lower::Lowerer;
use pleach_grammar::ByteSet;

/// Ranges of code points, both ends included.
pub(crate) type Ranges = Vec<(u32, u32)>;

pub(crate) const LAST_CHAR: u32 = 0x10_ffff;

/// A rule of the file. `at` is its offset in the source, for messages.
pub(crate) struct Rule {
    pub name: String,
    pub at: usize,
    pub tree: Tree,
}

/// A right-hand side, or a part of one, with its offset in the source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Empty,
    Literal {
        text: Vec<u8>,
        any_case: bool,
        at: usize,
    },
    /// One character of a set.
    Chars {
        set: Ranges,
        at: usize,
    },
    /// One byte of a set, in formats that are defined over bytes.
    Bytes {
        set: ByteSet,
        at: usize,
    },
    Name {
        name: String,
        at: usize,
    },
    Seq(Vec<Tree>),
    Alt(Vec<Tree>),
    Repeat {
        inner: Box<Tree>,
        min: u32,
        max: Option<u32>,
        lazy: bool,
    },
    /// One character, or one token, that `inner` does not match.
    Not {
        inner: Box<Tree>,
        at: usize,
    },
    /// What `of` matches and `without` does not.
    Minus {
        of: Box<Tree>,
        without: Box<Tree>,
        at: usize,
    },
}

impl Tree {
    pub fn seq(mut parts: Vec<Tree>) -> Tree {
        match parts.len() {
            0 => Tree::Empty,
            1 => parts.remove(0),
            _ => Tree::Seq(parts),
        }
    }

    pub fn alt(mut parts: Vec<Tree>) -> Tree {
        match parts.len() {
            1 => parts.remove(0),
            _ => Tree::Alt(parts),
        }
    }

    pub fn repeat(inner: Tree, min: u32, max: Option<u32>) -> Tree {
        Tree::Repeat { inner: Box::new(inner), min, max, lazy: false }
    }

    pub fn any_char(at: usize) -> Tree {
        Tree::Chars { set: vec![(0, LAST_CHAR)], at }
    }

    /// Calls `f` on this tree and on every part of it.
    pub fn visit<'t>(&'t self, f: &mut impl FnMut(&'t Tree)) {
        f(self);
        match self {
            Tree::Seq(parts) | Tree::Alt(parts) => parts.iter().for_each(|part| part.visit(f)),
            Tree::Repeat { inner, .. } | Tree::Not { inner, .. } => inner.visit(f),
            Tree::Minus { of, without, .. } => {
                of.visit(f);
                without.visit(f);
            }
            _ => {}
        }
    }
}

/// The characters that are not in `set`.
pub(crate) fn complement(set: &Ranges) -> Ranges {
    let mut sorted = set.clone();
    sorted.sort_unstable();
    let mut outside = Vec::new();
    let mut next = 0;
    for (low, high) in sorted {
        if low > next {
            outside.push((next, low - 1));
        }
        next = next.max(high.saturating_add(1));
    }
    if next <= LAST_CHAR {
        outside.push((next, LAST_CHAR));
    }
    outside
}

/// The characters of `of` that are not in `without`.
fn difference(of: &Ranges, without: Ranges) -> Ranges {
    complement(&complement(of).into_iter().chain(without).collect())
}

/// The set with the upper and the lower case of all its letters.
pub(crate) fn either_case(set: &Ranges) -> Ranges {
    /// Letters beyond this are taken as they are, to bound the work.
    const LAST_CASED: u32 = 0x3000;
    let mut both = set.clone();
    for &(low, high) in set {
        for code in (low..=high.min(LAST_CASED)).filter_map(char::from_u32) {
            both.extend(
                code.to_lowercase().chain(code.to_uppercase()).map(|c| (c as u32, c as u32)),
            );
        }
    }
    both.sort_unstable();
    both.dedup();
    both
}
