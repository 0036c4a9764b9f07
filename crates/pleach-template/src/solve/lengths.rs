//! Decisions on the lengths of holes.
//!
//! In a run of a template the lengths of its holes are variables. A decision that depends
//! on lengths alone is flipped by other lengths: the input is built again, and conditions
//! on the bytes of a hole that changed no longer apply, because the hole's language says
//! which bytes may be there. So the path of such an input is predicted for its decisions
//! on lengths only: all before the flipped one as they were, then the flipped one.

use crate::template::{Hole, Template};
use pleach_abi::event::Kind;
use pleach_automata::{ByteSet, Dfa, Lengths, Regex};
use pleach_solve::{HoleLanguage, Path};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// What a run will decide on lengths, in order: the key of each decision and its outcome.
pub type LengthPath = Arc<[(u64, u32)]>;

/// One decision of a run: what is needed to find the decisions on lengths.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    pub kind: Kind,
    pub key: u64,
    pub outcome: u32,
}

/// One decision on lengths alone.
#[derive(Clone, Copy, Debug)]
pub struct LengthDecision {
    /// Its place among the decisions of the run.
    pub at: u32,
    pub key: u64,
    pub outcome: u32,
}

/// What a run decided on the lengths of holes alone.
#[derive(Debug, Default)]
pub struct LengthDecisions {
    /// The lengths as variables: offsets behind the input.
    pub variables: Range<u32>,
    /// The decisions, in order.
    pub decided: Vec<LengthDecision>,
    /// Places of conditions on addresses. They need not hold when a length changes.
    pub soft: HashSet<u32>,
}

impl LengthDecisions {
    /// Finds them among the decisions of a run whose input has `holes` holes.
    pub fn find(
        path: &mut Path,
        decided: impl ExactSizeIterator<Item = Decided>,
        input_len: u32,
        holes: usize,
    ) -> LengthDecisions {
        let variables = input_len..input_len + 4 * holes as u32;
        let mut lengths = LengthDecisions { variables, ..LengthDecisions::default() };
        if holes == 0 {
            return lengths;
        }
        let on_lengths = decided.enumerate().filter(|(at, _)| {
            let variables = &lengths.variables;
            path.is_within(*at, variables)
        });
        let (pins, others): (Vec<_>, Vec<_>) = on_lengths.partition(|(_, d)| d.kind == Kind::Pin);
        let places: Vec<usize> = others.iter().map(|(at, _)| *at).collect();
        let tight = path.find_tight(&places, input_len);
        let pinned = pins.iter().map(|(at, _)| *at);
        lengths.soft = pinned.chain(tight.iter().copied()).map(|at| at as u32).collect();
        for (at, Decided { kind, key, outcome }) in others {
            // An assumption is a limit, not a decision.
            if kind != Kind::Assume && tight.binary_search(&at).is_err() {
                lengths.decided.push(LengthDecision { at: at as u32, key, outcome });
            }
        }
        lengths
    }

    /// True if a decision depends on lengths alone.
    pub(super) fn contains(&self, at: u32) -> bool {
        self.decided.binary_search_by_key(&at, |d| d.at).is_ok()
    }

    /// Predicts what a run will decide on lengths up to a place, with this outcome there.
    pub(super) fn predict(&self, at: u32, outcome: u32) -> LengthPath {
        let before = self.decided.iter().filter(|d| d.at < at).map(|d| (d.key, d.outcome));
        let here = self.decided.iter().filter(|d| d.at == at).map(|d| (d.key, outcome));
        before.chain(here).collect()
    }

    pub(super) fn outcome(&self, at: u32) -> u32 {
        self.decided.iter().find(|d| d.at == at).map_or(0, |d| d.outcome)
    }
}

/// Adds the lengths of its holes to a template: each is a hole of four bytes, from the offset
/// `first` on, that may hold the length of any word of its hole's language up to `max_hole`.
pub(super) fn add_length_holes(template: &Template, first: u32, max_hole: u32) -> Option<Template> {
    let mut joint = template.clone();
    for (start, hole) in (first..).step_by(4).zip(&template.holes) {
        let language = Arc::new(length_words(hole.language.lengths(), max_hole)?);
        let end = start + 4;
        joint.holes.push(Hole { start, end, language, filling: (end, end) });
    }
    Some(joint)
}

/// The lengths that a hole may have, as words of four bytes.
fn length_words(lengths: &Lengths, max_hole: u32) -> Option<HoleLanguage> {
    let words = (0..=max_hole / 256).map(|high| {
        let mut low = ByteSet::default();
        let is_possible = |n: &u32| *n <= max_hole && lengths.contains(*n);
        let possible = (256 * high..256 * high + 256).filter(is_possible);
        possible.for_each(|n| low.insert(n as u8));
        let rest = (high.to_le_bytes()).map(Regex::byte);
        Regex::concat([Regex::Class(low)].into_iter().chain(rest.into_iter().take(3)))
    });
    HoleLanguage::new(Dfa::new(&[&Regex::alt(words)]).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_words_are_the_lengths_of_a_language() {
        // Words of 3, 5, 7 and so on letters.
        let pair = Regex::literal(b"ab");
        let odd = Regex::concat([Regex::literal(b"abc"), Regex::star(pair)]);
        let lengths = Dfa::new(&[&odd]).unwrap().lengths();
        let words = length_words(&lengths, 700).unwrap();
        for n in 0..1000u32 {
            let expected = (3..=700).contains(&n) && n % 2 == 1;
            assert_eq!(words.dfa().matches(&n.to_le_bytes()), expected, "{n}");
        }
    }
}
