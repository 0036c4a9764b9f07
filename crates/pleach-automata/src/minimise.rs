//! Minimal automata: states that no string distinguishes become one.
//!
//! Moore's algorithm starts with one part for each kind of acceptance. It splits parts
//! until in each part, all states lead to the same parts by the same bytes.

use crate::dfa::{DEAD, Dfa};
use std::collections::HashMap;

impl Dfa {
    /// The smallest automaton that accepts the same strings with the same `kind`.
    #[must_use]
    pub fn minimised<K: PartialEq>(&self, kind: impl Fn(&[u32]) -> K) -> Dfa {
        let mut kinds: Vec<K> = Vec::new();
        let mut part: Vec<u32> = Vec::new();
        for state in 0..self.states() as u32 {
            let kind = kind(self.accepts(state));
            let seen = kinds.iter().position(|seen| *seen == kind);
            part.push(seen.unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            }) as u32);
        }
        let mut parts = kinds.len();
        loop {
            let mut seen: HashMap<(u32, Vec<u32>), u32> = HashMap::new();
            let mut finer = Vec::new();
            for state in 0..self.states() {
                let count = seen.len() as u32;
                finer.push(*seen.entry((part[state], self.row(state, &part))).or_insert(count));
            }
            let count = seen.len();
            part = finer;
            if count == parts {
                break;
            }
            parts = count;
        }
        let mut first: Vec<Option<usize>> = vec![None; parts];
        for (state, &part) in part.iter().enumerate() {
            first[part as usize].get_or_insert(state);
        }
        let first: Vec<usize> = first.into_iter().flatten().collect();
        Dfa {
            classes: self.classes,
            class: self.class,
            table: first.iter().flat_map(|&state| self.row(state, &part)).collect(),
            accepts: first.iter().map(|&state| self.accepts[state].clone()).collect(),
        }
    }

    /// The parts that a state leads to, by class of bytes.
    fn row(&self, state: usize, part: &[u32]) -> Vec<u32> {
        let row = &self.table[state * self.classes..(state + 1) * self.classes];
        row.iter().map(|&to| if to == DEAD { DEAD } else { part[to as usize] }).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{ByteSet, Dfa, Regex};

    #[test]
    fn equivalent_states_become_one() {
        // `ca` and `ra` both lack a `t`.
        let words = Regex::alt(["cat", "cow", "rat"].map(|w| Regex::literal(w.as_bytes())));
        let dfa = Dfa::new(&[&words]).unwrap();
        let small = dfa.minimised(|accepts| !accepts.is_empty());
        assert_eq!((dfa.states(), small.states()), (7, 6));
        for (word, matches) in [("cat", true), ("rat", true), ("ro", false), ("cow", true)] {
            assert_eq!(small.matches(word.as_bytes()), matches, "{word}");
        }
    }

    #[test]
    fn the_empty_string_can_be_left_out() {
        let digits = Regex::star(Regex::Class(ByteSet::range(b'0', b'9')));
        let dfa = Dfa::new(&[&digits]).unwrap().without_empty();
        assert_eq!(dfa.edges(Dfa::START), [(ByteSet::range(b'0', b'9'), 1)]);
        assert!(!dfa.matches(b"") && dfa.matches(b"4") && dfa.matches(b"42"));
    }
}
