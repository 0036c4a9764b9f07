//! Evaluates a file, as it was written, on values of its variables.
//!
//! This shares nothing with how solutions are found: no normal form, no chart, no circuit, no
//! solver. For each name and each start in the text it finds the set of ends up to which the
//! name matches, from the last start to the first. Names may depend on each other at the same
//! start, so they are evaluated until no set grows.

use super::HampiError;
use super::budget::Budget;
use super::problem::{Claim, Definition, Piece, Problem, Variable, reg_names};
use pleach_import::hampi::{Cfg, Name, NameId, Reg};
use std::collections::HashMap;

/// How many words the table of ends may have.
const MAX_WORDS: usize = 1 << 26;

impl Problem {
    /// True if values, one for each variable, satisfy every assertion.
    pub fn holds(&self, values: &[Vec<u8>]) -> Result<bool, HampiError> {
        self.holds_within(values, &mut Budget::new())
    }

    pub(super) fn holds_within(
        &self,
        values: &[Vec<u8>],
        budget: &mut Budget,
    ) -> Result<bool, HampiError> {
        let has_size = |(value, variable): (&Vec<u8>, &Variable)| {
            (variable.min_size..=variable.max_size).contains(&value.len())
        };
        let mut pairs = values.iter().zip(&self.variables);
        if values.len() != self.variables.len() || !pairs.all(has_size) {
            return Ok(false);
        }
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for pieces in &self.values {
            let mut text = Vec::new();
            for piece in pieces {
                match piece {
                    Piece::Text(bytes) => text.extend_from_slice(bytes),
                    Piece::Variable(v) => text.extend_from_slice(&values[*v]),
                    Piece::Value(v) => text.extend_from_slice(&texts[*v]),
                    Piece::Part { of, offset, length } => {
                        match texts[*of].get(*offset..offset + length) {
                            Some(part) => text.extend_from_slice(part),
                            None => return Ok(false),
                        }
                    }
                }
            }
            texts.push(text);
        }
        for assertion in &self.assertions {
            let text = &texts[assertion.left];
            let holds = match &assertion.claim {
                Claim::In { written, .. } => Matcher::matches(self, text, written, budget)?,
                Claim::Contains(inner) if inner.is_empty() => true,
                Claim::Contains(inner) => text.windows(inner.len()).any(|w| w == &inner[..]),
                Claim::Equals(right) => text == &texts[*right],
            };
            if holds == assertion.is_denied {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A set of places in a text.
#[derive(Clone, PartialEq, Eq)]
struct Places(Vec<u64>);

impl Places {
    fn none(words: usize) -> Places {
        Places(vec![0; words])
    }

    fn one(words: usize, at: usize) -> Places {
        let mut places = Places::none(words);
        places.insert(at);
        places
    }

    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// Adds all places of another set. True if this set grew.
    fn add(&mut self, other: &[u64]) -> bool {
        let mut grown = false;
        for (mine, theirs) in self.0.iter_mut().zip(other) {
            grown |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        grown
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| i * 64 + bit)
        })
    }
}

struct Matcher<'a> {
    text: &'a [u8],
    words: usize,
    /// The names that the language depends on. A name mostly comes after those that it is
    /// made of.
    names: Vec<NameId>,
    /// The place of each name in `names`.
    place: HashMap<NameId, usize>,
    /// The set of ends for each name and start.
    ends: Vec<u64>,
    budget: &'a mut Budget,
}

impl<'a> Matcher<'a> {
    fn matches(
        problem: &Problem,
        text: &'a [u8],
        reg: &Reg,
        budget: &'a mut Budget,
    ) -> Result<bool, HampiError> {
        let names = names_below(problem, reg);
        let words = (text.len() + 1).div_ceil(64);
        let size = (names.len() * (text.len() + 1)).saturating_mul(words);
        if size > MAX_WORDS {
            return Err(HampiError::TooLarge);
        }
        let place = names.iter().enumerate().map(|(i, &name)| (name, i)).collect();
        let mut matcher = Matcher { text, words, names, place, ends: vec![0; size], budget };
        for start in (0..=text.len()).rev() {
            matcher.fill(problem, start)?;
        }
        Ok(matcher.reg(reg, 0)?.contains(text.len()))
    }

    /// Finds the ends of all names at one start.
    fn fill(&mut self, problem: &Problem, start: usize) -> Result<(), HampiError> {
        loop {
            let mut grown = false;
            for at in 0..self.names.len() {
                let mut found = Places::none(self.words);
                match problem.definition(self.names[at]) {
                    Some(Definition::Reg(reg)) => found = self.reg(reg, start)?,
                    Some(Definition::Cfg(bodies)) => {
                        for body in bodies {
                            found.add(&self.cfg(body, start)?.0);
                        }
                    }
                    None => {}
                }
                let row = self.row(at, start);
                let mut known = Places(self.ends[row.clone()].to_vec());
                grown |= known.add(&found.0);
                self.ends[row].copy_from_slice(&known.0);
            }
            if !grown {
                return Ok(());
            }
        }
    }

    fn row(&self, name: usize, start: usize) -> std::ops::Range<usize> {
        let from = (name * (self.text.len() + 1) + start) * self.words;
        from..from + self.words
    }

    fn named(&self, name: Name, start: usize) -> Places {
        match self.place.get(&name.id) {
            Some(&at) => Places(self.ends[self.row(at, start)].to_vec()),
            None => Places::none(self.words),
        }
    }

    fn literal(&self, text: &[u8], start: usize) -> Places {
        let mut ends = Places::none(self.words);
        if self.text[start..].starts_with(text) {
            ends.insert(start + text.len());
        }
        ends
    }

    fn range(&self, low: u8, high: u8, start: usize) -> Places {
        let mut ends = Places::none(self.words);
        if self.text.get(start).is_some_and(|byte| (low..=high).contains(byte)) {
            ends.insert(start + 1);
        }
        ends
    }

    fn cfg(&mut self, cfg: &Cfg, start: usize) -> Result<Places, HampiError> {
        self.budget.spend(self.words)?;
        Ok(match cfg {
            Cfg::Text { text, .. } => self.literal(text, start),
            Cfg::Range { low, high, .. } => self.range(*low, *high, start),
            Cfg::Name(name) => self.named(*name, start),
            Cfg::Seq(parts) => self.sequence(parts, start, Self::cfg)?,
            Cfg::Alt(parts) => self.either(parts, start, Self::cfg)?,
            Cfg::Optional(inner) => {
                let mut ends = self.cfg(inner, start)?;
                ends.insert(start);
                ends
            }
            Cfg::Star(inner) => {
                let from = Places::one(self.words, start);
                self.repeat(&**inner, from, Self::cfg)?
            }
            Cfg::Plus(inner) => {
                let from = self.cfg(inner, start)?;
                self.repeat(&**inner, from, Self::cfg)?
            }
        })
    }

    fn reg(&mut self, reg: &Reg, start: usize) -> Result<Places, HampiError> {
        self.budget.spend(self.words)?;
        Ok(match reg {
            Reg::Text(text) => self.literal(text, start),
            Reg::Range { low, high } => self.range(*low, *high, start),
            Reg::Name(name) => self.named(*name, start),
            Reg::Fix { of, size } => {
                let end = start.saturating_add(*size as usize);
                match self.named(*of, start).contains(end) {
                    true => Places::one(self.words, end),
                    false => Places::none(self.words),
                }
            }
            Reg::Or(parts) => self.either(parts, start, Self::reg)?,
            Reg::Concat(parts) => self.sequence(parts, start, Self::reg)?,
            Reg::Star(inner) => {
                let from = Places::one(self.words, start);
                self.repeat(&**inner, from, Self::reg)?
            }
        })
    }

    fn sequence<T>(
        &mut self,
        parts: &[T],
        start: usize,
        one: fn(&mut Self, &T, usize) -> Result<Places, HampiError>,
    ) -> Result<Places, HampiError> {
        let mut ends = Places::one(self.words, start);
        for part in parts {
            let mut next = Places::none(self.words);
            for at in ends.iter() {
                next.add(&one(self, part, at)?.0);
            }
            ends = next;
        }
        Ok(ends)
    }

    fn either<T>(
        &mut self,
        parts: &[T],
        start: usize,
        one: fn(&mut Self, &T, usize) -> Result<Places, HampiError>,
    ) -> Result<Places, HampiError> {
        let mut ends = Places::none(self.words);
        for part in parts {
            ends.add(&one(self, part, start)?.0);
        }
        Ok(ends)
    }

    /// The places that are reached from some places by any number of repetitions.
    fn repeat<T>(
        &mut self,
        inner: &T,
        from: Places,
        one: fn(&mut Self, &T, usize) -> Result<Places, HampiError>,
    ) -> Result<Places, HampiError> {
        let mut ends = from;
        let mut done = Places::none(self.words);
        loop {
            let Some(at) = ends.iter().find(|&at| !done.contains(at)) else { return Ok(ends) };
            done.insert(at);
            ends.add(&one(self, inner, at)?.0);
        }
    }
}

/// The names that an expression is made of, directly or not. A name comes after those that it
/// is made of, unless they are made of each other.
fn names_below(problem: &Problem, reg: &Reg) -> Vec<NameId> {
    let direct = |name: NameId| {
        let mut names = Vec::new();
        match problem.definition(name) {
            Some(Definition::Reg(reg)) => reg_names(reg, &mut names),
            Some(Definition::Cfg(bodies)) => bodies.iter().for_each(|b| cfg_names(b, &mut names)),
            None => {}
        }
        names
    };
    let mut order = Vec::new();
    let mut seen = vec![false; problem.definitions.len()];
    let mut roots = Vec::new();
    reg_names(reg, &mut roots);
    let mut stack: Vec<(NameId, bool)> = roots.iter().map(|name| (name.id, false)).collect();
    while let Some((name, below_done)) = stack.pop() {
        if below_done {
            order.push(name);
        } else if !std::mem::replace(&mut seen[name.index()], true) {
            stack.push((name, true));
            stack.extend(direct(name).iter().map(|name| (name.id, false)));
        }
    }
    order
}

/// Collects the names that a context-free language refers to.
fn cfg_names(cfg: &Cfg, names: &mut Vec<Name>) {
    match cfg {
        Cfg::Text { .. } | Cfg::Range { .. } => {}
        Cfg::Name(name) => names.push(*name),
        Cfg::Seq(parts) | Cfg::Alt(parts) => parts.iter().for_each(|part| cfg_names(part, names)),
        Cfg::Optional(inner) | Cfg::Star(inner) | Cfg::Plus(inner) => cfg_names(inner, names),
    }
}
