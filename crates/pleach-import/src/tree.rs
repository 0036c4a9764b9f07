//! What stands on the right side of a rule in ANTLR, EBNF and their like.
//!
//! These formats differ in how they are written, and agree in what can be said:
//! texts, characters of a set, names, sequences, choices, repetitions. Each
//! importer reads its own syntax into a [`Tree`]; from there it either becomes an
//! expression over bytes (a token) or goes to the builder (a rule). Trees are
//! walked by recursion: importers limit how deep a file may nest.

use std::collections::HashMap;

use crate::ImportError;
use crate::scanner::{self, Outcome, size};
use crate::text::Source;
use pleach_grammar::{
    ByteSet, Ebnf, GrammarBuilder, Language, Pattern, Regex, Severity, Symbol, Token,
};

/// Ranges of code points, both ends included.
pub(crate) type Ranges = Vec<(u32, u32)>;

pub(crate) const LAST_CHAR: u32 = 0x10_ffff;

/// Nodes that names in one token may expand to.
const MAX_EXPANSION: usize = 200_000;

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
    /// One byte of a set, in formats that count in bytes.
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
    /// One character, or token, that `inner` is not.
    Not {
        inner: Box<Tree>,
        at: usize,
    },
    /// What the first matches and the second does not.
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

    /// Calls `f` on this tree and all in it.
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

/// The ranges that are not in a set.
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

/// Upper and lower case of all letters in a set. (Only the letters of ASCII have
/// one byte for each case; the others are few, and looked up one by one.)
pub(crate) fn either_case(set: &Ranges) -> Ranges {
    const MOST: u32 = 0x3000;
    let mut both = set.clone();
    for &(low, high) in set {
        for code in (low..=high.min(MOST)).filter_map(char::from_u32) {
            both.extend(
                code.to_lowercase().chain(code.to_uppercase()).map(|c| (c as u32, c as u32)),
            );
        }
    }
    both.sort_unstable();
    both.dedup();
    both
}

/// Makes expressions of trees, with the rules that they may refer to.
pub(crate) struct Expander<'a> {
    pub source: &'a Source<'a>,
    rules: HashMap<&'a str, &'a Tree>,
    done: HashMap<&'a str, (Regex, usize)>,
    /// The names that are being expanded, and how often each may be.
    open: Vec<&'a str>,
    nesting: usize,
    budget: usize,
    /// The token under work.
    at: usize,
    /// What was found on the way: place, change, words.
    pub found: Vec<(usize, Language, String)>,
}

impl<'a> Expander<'a> {
    /// `nesting` is how often a rule may be expanded inside itself.
    pub fn new(
        source: &'a Source<'a>,
        rules: HashMap<&'a str, &'a Tree>,
        nesting: usize,
    ) -> Expander<'a> {
        let (done, open, found) = (HashMap::new(), Vec::new(), Vec::new());
        Expander { source, rules, done, open, nesting, budget: MAX_EXPANSION, at: 0, found }
    }

    /// The expression of one token.
    pub fn token(&mut self, tree: &'a Tree, at: usize) -> Result<Regex, ImportError> {
        (self.budget, self.at) = (MAX_EXPANSION, at);
        self.regex(tree)
    }

    fn regex(&mut self, tree: &'a Tree) -> Result<Regex, ImportError> {
        Ok(match tree {
            Tree::Empty => Regex::Empty,
            Tree::Literal { text, any_case, .. } => literal(text, *any_case),
            Tree::Chars { set, .. } => Regex::code_points(set.iter().copied()),
            Tree::Bytes { set, .. } => Regex::Class(*set),
            Tree::Name { name, at } => self.named(name, *at)?,
            Tree::Seq(parts) => self.sequence(parts)?,
            Tree::Alt(parts) => {
                let parts = parts.iter().map(|part| self.regex(part));
                Regex::alt(parts.collect::<Result<Vec<_>, _>>()?)
            }
            Tree::Repeat { inner, min, max, .. } => Regex::repeat(self.regex(inner)?, *min, *max),
            Tree::Not { inner, at } => {
                let set = self.set(inner).ok_or_else(|| not_a_set(self.source, *at))?;
                Regex::code_points(complement(&set))
            }
            Tree::Minus { of, without, at } => match (self.set(of), self.set(without)) {
                (Some(of), Some(without)) => {
                    let outside = complement(&of).into_iter().chain(without).collect();
                    Regex::code_points(complement(&outside))
                }
                _ => {
                    let text = "an exception is left out".to_owned();
                    self.found.push((*at, Language::Larger, text));
                    self.regex(of)?
                }
            },
        })
    }

    /// A lazy repetition ends where what follows can: the automaton that tries
    /// what follows first knows how to say that as an expression.
    fn sequence(&mut self, parts: &'a [Tree]) -> Result<Regex, ImportError> {
        let lazy = |part: &Tree| matches!(part, Tree::Repeat { lazy: true, max: None, .. });
        let Some(first) = parts.iter().position(lazy) else {
            let parts = parts.iter().map(|part| self.regex(part));
            return Ok(Regex::concat(parts.collect::<Result<Vec<_>, _>>()?));
        };
        let before = self.sequence(&parts[..first])?;
        let after = self.sequence(&parts[first + 1..])?;
        let Tree::Repeat { inner, min, .. } = &parts[first] else { return Ok(before) };
        let piece = self.regex(inner)?;
        if after == Regex::Empty {
            return Ok(Regex::concat([before, Regex::repeat(piece, *min, Some(*min))]));
        }
        let rules = vec![(after.clone(), Outcome::Leave(0)), (piece.clone(), Outcome::Continue(0))];
        let rest = match scanner::collected(&[rules], 0, 1).and_then(|mut ways| ways.pop()) {
            Some(rest) => rest,
            None => {
                let text = "a lazy repetition is taken as long as possible".to_owned();
                let found = (self.at, Language::Larger, text);
                if !self.found.contains(&found) {
                    self.found.push(found);
                }
                Regex::concat([Regex::star(piece.clone()), after])
            }
        };
        Ok(Regex::concat([before, Regex::repeat(piece, *min, Some(*min)), rest]))
    }

    fn named(&mut self, name: &'a str, at: usize) -> Result<Regex, ImportError> {
        if let Some((regex, size)) = self.done.get(name) {
            let (regex, size) = (regex.clone(), *size);
            return self.spend(size, at).map(|()| regex);
        }
        let Some(&tree) = self.rules.get(name) else {
            return Err(self.source.error(at, format!("{name} is not defined")));
        };
        let inside = self.open.iter().filter(|open| **open == name).count();
        if inside > self.nesting {
            let text = format!("{name} contains itself; taken {} deep", self.nesting + 1);
            self.found.push((at, Language::Smaller, text));
            return Ok(Regex::nothing());
        }
        if self.open.len() > crate::text::MAX_NESTING {
            return Err(self.source.error(at, "rules refer to each other too deep for a token"));
        }
        self.open.push(name);
        let regex = self.regex(tree);
        self.open.pop();
        let regex = regex?;
        let size = size(&regex);
        // What was cut short inside itself is not the rule's expression.
        if !self.found.iter().any(|(_, change, _)| *change == Language::Smaller) {
            self.done.insert(name, (regex.clone(), size));
        }
        self.spend(size, at)?;
        Ok(regex)
    }

    fn spend(&mut self, size: usize, at: usize) -> Result<(), ImportError> {
        match self.budget.checked_sub(size) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                let message = format!("this token expands to more than {MAX_EXPANSION} parts");
                Err(self.source.error(at, message))
            }
        }
    }

    /// The characters of a tree that always is one character.
    fn set(&self, tree: &Tree) -> Option<Ranges> {
        self.set_within(tree, crate::text::MAX_NESTING)
    }

    fn set_within(&self, tree: &Tree, depth: usize) -> Option<Ranges> {
        let depth = depth.checked_sub(1)?;
        match tree {
            Tree::Chars { set, .. } => Some(set.clone()),
            Tree::Literal { text, any_case, .. } => {
                let text = std::str::from_utf8(text).ok()?;
                let mut chars = text.chars();
                let (one, None) = (chars.next()? as u32, chars.next()) else { return None };
                let set = vec![(one, one)];
                Some(if *any_case { either_case(&set) } else { set })
            }
            Tree::Bytes { set, .. } if set.iter().all(|b| b < 128) => {
                Some(set.ranges().iter().map(|(l, h)| (u32::from(*l), u32::from(*h))).collect())
            }
            Tree::Alt(parts) => {
                let parts: Option<Vec<_>> =
                    parts.iter().map(|part| self.set_within(part, depth)).collect();
                Some(parts?.concat())
            }
            Tree::Name { name, .. } => self.set_within(self.rules.get(name.as_str())?, depth),
            Tree::Not { inner, .. } => Some(complement(&self.set_within(inner, depth)?)),
            _ => None,
        }
    }
}

fn not_a_set(source: &Source, at: usize) -> ImportError {
    source.error(at, "only single characters can be negated")
}

fn literal(text: &[u8], any_case: bool) -> Regex {
    if any_case { Regex::literal_any_case(text) } else { Regex::literal(text) }
}

/// Hands trees of rules to a builder. Texts and sets in them become tokens,
/// named as they are written.
pub(crate) struct Lowerer<'a> {
    pub source: &'a Source<'a>,
    pub builder: GrammarBuilder,
    /// Tokens that were made here, by how they look.
    made: HashMap<String, Ebnf>,
    /// Rules that may stand for a character in an exception.
    sets: HashMap<&'a str, &'a Tree>,
}

impl<'a> Lowerer<'a> {
    pub fn new(source: &'a Source<'a>) -> Lowerer<'a> {
        let (made, sets) = (HashMap::new(), HashMap::new());
        Lowerer { source, builder: GrammarBuilder::new(), made, sets }
    }

    pub fn with_sets(self, sets: HashMap<&'a str, &'a Tree>) -> Lowerer<'a> {
        Lowerer { sets, ..self }
    }

    pub fn note(&mut self, at: usize, change: Language, text: impl Into<String>) {
        let severity = if change == Language::Same { Severity::Info } else { Severity::Warning };
        self.builder.note(self.source.place(at), severity, text);
        self.builder.language(change);
    }

    pub fn lower(&mut self, tree: &Tree) -> Result<Ebnf, ImportError> {
        Ok(match tree {
            Tree::Empty => self.builder.empty(),
            Tree::Literal { text, .. } if text.is_empty() => self.builder.empty(),
            Tree::Literal { text, any_case: true, at }
                if text.iter().any(u8::is_ascii_alphabetic) =>
            {
                let name = format!("%i\"{}\"", text.escape_ascii());
                self.anonymous(name, Regex::literal_any_case(text), *at)
            }
            Tree::Literal { text, at, .. } => {
                let token = self.builder.literal(text, self.source.place(*at));
                self.builder.symbol(Symbol::Token(token))
            }
            Tree::Chars { set, at } => {
                self.anonymous(show_set(set), Regex::code_points(set.iter().copied()), *at)
            }
            Tree::Bytes { set, at } => self.anonymous(format!("{set:?}"), Regex::Class(*set), *at),
            Tree::Name { name, at } => self.builder.name(name, self.source.place(*at)),
            Tree::Seq(parts) => {
                let parts = self.all(parts)?;
                self.builder.sequence(parts)
            }
            Tree::Alt(parts) => {
                let parts = self.all(parts)?;
                self.builder.choice(parts)
            }
            Tree::Repeat { inner, min, max, .. } => {
                let inner = self.lower(inner)?;
                self.builder.repeat(inner, *min, *max)
            }
            Tree::Not { inner, at } => {
                let expander = Expander::new(self.source, self.sets.clone(), 0);
                let set = expander.set(inner).ok_or_else(|| not_a_set(self.source, *at))?;
                let set = complement(&set);
                self.anonymous(show_set(&set), Regex::code_points(set.iter().copied()), *at)
            }
            Tree::Minus { of, without, at } => {
                let expander = Expander::new(self.source, self.sets.clone(), 0);
                match (expander.set(of), expander.set(without)) {
                    (Some(of), Some(without)) => {
                        let outside = complement(&of).into_iter().chain(without).collect();
                        let set = complement(&outside);
                        let regex = Regex::code_points(set.iter().copied());
                        self.anonymous(show_set(&set), regex, *at)
                    }
                    _ => {
                        self.note(*at, Language::Larger, "an exception is left out");
                        self.lower(of)?
                    }
                }
            }
        })
    }

    fn all(&mut self, parts: &[Tree]) -> Result<Vec<Ebnf>, ImportError> {
        parts.iter().map(|part| self.lower(part)).collect()
    }

    /// The token of a set or text without a name.
    fn anonymous(&mut self, look: String, regex: Regex, at: usize) -> Ebnf {
        if let Some(known) = self.made.get(&look) {
            return *known;
        }
        const LONGEST: usize = 40;
        let mut name: String = look.chars().take(LONGEST).collect();
        if name.len() < look.len() {
            name.push_str(&format!("…{}", self.made.len()));
        }
        let pattern = crate::lexicon::pattern_of(regex);
        let token = match pattern {
            Pattern::Literal(text) => self.builder.literal(&text, self.source.place(at)),
            pattern => self.builder.token(Token {
                name,
                pattern,
                number: None,
                place: self.source.place(at),
                precedence: None,
                priority: u32::MAX,
            }),
        };
        let symbol = self.builder.symbol(Symbol::Token(token));
        self.made.insert(look, symbol);
        symbol
    }
}

/// A set as people write a class.
fn show_set(set: &Ranges) -> String {
    let mut text = String::from("[");
    let show = |code: u32, text: &mut String| match char::from_u32(code) {
        Some(c @ ('-' | ']' | '\\' | '^' | '[')) => text.extend(['\\', c]),
        Some(c) if c == ' ' || c.is_ascii_graphic() => text.push(c),
        _ => text.push_str(&format!("\\u{{{code:x}}}")),
    };
    for &(low, high) in set {
        show(low, &mut text);
        if high > low {
            text.push('-');
            show(high, &mut text);
        }
    }
    text.push(']');
    text
}
