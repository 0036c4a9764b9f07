//! Deterministic automata over bytes, for one or many expressions at once.
//!
//! Every state but the start can still reach a match, so a walk that has not ended can
//! succeed. That makes counting, sampling and enumerating the strings of a token simple
//! walks.

use crate::{ByteSet, Regex};
use std::collections::{BTreeMap, HashMap};

/// In place of a state: no string from here on matches.
pub const DEAD: u32 = u32::MAX;
/// States of the nondeterministic automaton that the expressions are compiled to.
pub const MAX_PIECES: usize = 1 << 18;
/// States of a deterministic automaton.
pub const MAX_STATES: usize = 1 << 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    #[error("the expression is too large: counted repetitions make more than {MAX_PIECES} pieces")]
    Pieces,
    #[error("the expressions are too large: they need more than {MAX_STATES} states")]
    States,
}

#[derive(Clone, Debug)]
pub struct Dfa {
    pub(crate) classes: usize,
    /// By byte. From every state, all bytes of one class lead to the same state.
    pub(crate) class: [u8; 256],
    /// By state, then by class.
    pub(crate) table: Vec<u32>,
    /// By state: the numbers of the expressions that match here, in ascending order.
    pub(crate) accepts: Vec<Box<[u32]>>,
}

/// One state, for [`Dfa::from_states`].
pub struct State {
    /// Bytes, and the state that they lead to. No byte is in two sets.
    pub edges: Vec<(ByteSet, u32)>,
    /// The numbers of the expressions that match here, in ascending order.
    pub accepts: Vec<u32>,
}

impl Dfa {
    pub const START: u32 = 0;

    /// One automaton for several expressions. Its states say which of them match.
    pub fn new(patterns: &[&Regex]) -> Result<Dfa, TooLarge> {
        crate::subsets::build(patterns)
    }

    /// The automaton of these states, the start first.
    pub fn from_states(states: &[State]) -> Dfa {
        let mut table = vec![DEAD; states.len() * 256];
        for (number, state) in states.iter().enumerate() {
            for (set, to) in &state.edges {
                set.iter().for_each(|byte| table[number * 256 + usize::from(byte)] = *to);
            }
        }
        let accepts = states.iter().map(|state| state.accepts.as_slice().into()).collect();
        Dfa::from_table(&table, accepts)
    }

    /// As [`Dfa::from_states`], from a table with 256 entries for each state.
    pub(crate) fn from_table(full: &[u32], accepts: Vec<Box<[u32]>>) -> Dfa {
        let states = accepts.len();
        let mut class = [0u8; 256];
        let mut columns: HashMap<Vec<u32>, u8> = HashMap::new();
        let mut representatives = Vec::new();
        for byte in 0..256 {
            let column = (0..states).map(|state| full[state * 256 + byte]).collect();
            class[byte] = *columns.entry(column).or_insert_with(|| {
                representatives.push(byte);
                (representatives.len() - 1) as u8
            });
        }
        let row = |state: usize| representatives.iter().map(move |byte| full[state * 256 + byte]);
        let table = (0..states).flat_map(row).collect();
        Dfa { classes: columns.len(), class, table, accepts }.trimmed()
    }

    pub fn states(&self) -> usize {
        self.accepts.len()
    }

    #[inline]
    pub fn next(&self, state: u32, byte: u8) -> u32 {
        self.table[state as usize * self.classes + usize::from(self.class[usize::from(byte)])]
    }

    /// The numbers of the expressions that match the bytes read so far, in ascending
    /// order.
    #[inline]
    pub fn accepts(&self, state: u32) -> &[u32] {
        &self.accepts[state as usize]
    }

    /// The bytes that do not lead to [`DEAD`], in ascending order, with their states.
    pub fn moves(&self, state: u32) -> Vec<(u8, u32)> {
        let all = (0..=255).map(|b| (b, self.next(state, b)));
        all.filter(|&(_, to)| to != DEAD).collect()
    }

    /// As [`Dfa::moves`], with one set of bytes for each state, in ascending order.
    pub fn edges(&self, state: u32) -> Vec<(ByteSet, u32)> {
        let mut edges: BTreeMap<u32, ByteSet> = BTreeMap::new();
        for (byte, to) in self.moves(state) {
            edges.entry(to).or_default().insert(byte);
        }
        edges.into_iter().map(|(to, set)| (set, to)).collect()
    }

    /// True if no string matches.
    pub fn is_nothing(&self) -> bool {
        self.accepts.iter().all(|a| a.is_empty())
    }

    pub fn matches(&self, bytes: &[u8]) -> bool {
        let mut state = Dfa::START;
        for &byte in bytes {
            state = self.next(state, byte);
            if state == DEAD {
                return false;
            }
        }
        !self.accepts(state).is_empty()
    }

    /// The automaton of those strings for which `keep`, given the numbers of the
    /// expressions that match them, is true.
    #[must_use]
    pub fn restrict(&self, keep: impl Fn(&[u32]) -> bool) -> Dfa {
        let accepts = self.accepts.iter().map(|a| if keep(a) { a.clone() } else { Box::default() });
        Dfa { accepts: accepts.collect(), ..self.clone() }.trimmed()
    }

    /// The same strings without the empty one. No byte leads back to the start.
    #[must_use]
    pub fn without_empty(&self) -> Dfa {
        // The new start is state 0 and has the moves of the old one.
        let renumber = |to: &u32| if *to == DEAD { DEAD } else { to + 1 };
        let rows = self.table[..self.classes].iter().chain(&self.table);
        let start = std::iter::once(Box::default());
        Dfa {
            classes: self.classes,
            class: self.class,
            table: rows.map(renumber).collect(),
            accepts: start.chain(self.accepts.iter().cloned()).collect(),
        }
        .trimmed()
    }

    /// By state: the length of the shortest string from there to a match; [`DEAD`] if
    /// there is none.
    pub fn distances(&self) -> Vec<u32> {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.states()];
        for (i, &to) in self.table.iter().enumerate().filter(|(_, to)| **to != DEAD) {
            before[to as usize].push((i / self.classes) as u32);
        }
        let mut distance = vec![DEAD; self.states()];
        let mut level: Vec<u32> =
            (0..self.states() as u32).filter(|&s| !self.accepts(s).is_empty()).collect();
        let mut now = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            for state in level {
                if distance[state as usize] == DEAD {
                    distance[state as usize] = now;
                    next.extend(&before[state as usize]);
                }
            }
            (level, now) = (next, now + 1);
        }
        distance
    }

    /// A shortest string that matches. Each byte is a lowercase letter if possible, else
    /// a digit, an uppercase letter, a printable character, or any byte.
    pub fn shortest(&self) -> Option<Vec<u8>> {
        self.shortest_from(Dfa::START, &self.distances())
    }

    /// As [`Dfa::shortest`], from a state on, given [`Dfa::distances`].
    pub fn shortest_from(&self, mut state: u32, distance: &[u32]) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        if distance[state as usize] == DEAD {
            return None;
        }
        while distance[state as usize] > 0 {
            let nearer = |&(_, to): &(u8, u32)| distance[to as usize] < distance[state as usize];
            let (byte, to) =
                self.moves(state).into_iter().filter(nearer).min_by_key(|&(b, _)| rank(b))?;
            text.push(byte);
            state = to;
        }
        Some(text)
    }

    /// The length of the longest string that matches; `None` if strings can be of any
    /// length.
    pub fn longest(&self) -> Option<u32> {
        // All states can reach a match, so strings are bounded if no cycle exists. Then
        // the states have a topological order.
        let mut waiting = vec![0u32; self.states()];
        for &to in self.table.iter().filter(|to| **to != DEAD) {
            waiting[to as usize] += 1;
        }
        let mut depth: Vec<Option<u32>> = vec![None; self.states()];
        depth[0] = Some(0);
        let mut ready: Vec<u32> =
            (0..self.states() as u32).filter(|&s| waiting[s as usize] == 0).collect();
        let (mut done, mut longest) = (0, 0);
        while let Some(state) = ready.pop() {
            done += 1;
            let here = depth[state as usize];
            if let (Some(here), false) = (here, self.accepts(state).is_empty()) {
                longest = longest.max(here);
            }
            for class in 0..self.classes {
                let to = self.table[state as usize * self.classes + class];
                if to != DEAD {
                    depth[to as usize] = depth[to as usize].max(here.map(|d| d + 1));
                    waiting[to as usize] -= 1;
                    if waiting[to as usize] == 0 {
                        ready.push(to);
                    }
                }
            }
        }
        (done == self.states()).then_some(longest)
    }

    /// Drops states that cannot be reached and states that reach no match, but not the
    /// start.
    pub(crate) fn trimmed(&self) -> Dfa {
        let distance = self.distances();
        let mut number = vec![DEAD; self.states()];
        let mut order = vec![0u32];
        number[0] = 0;
        let mut at = 0;
        let mut table = Vec::new();
        while at < order.len() {
            let from = order[at] as usize * self.classes;
            for class in 0..self.classes {
                let to = self.table[from + class];
                if to == DEAD || distance[to as usize] == DEAD {
                    table.push(DEAD);
                    continue;
                }
                if number[to as usize] == DEAD {
                    number[to as usize] = order.len() as u32;
                    order.push(to);
                }
                table.push(number[to as usize]);
            }
            at += 1;
        }
        let accepts = order.iter().map(|&s| self.accepts[s as usize].clone()).collect();
        Dfa { classes: self.classes, class: self.class, table, accepts }
    }
}

fn rank(byte: u8) -> (u8, u8) {
    let group = match byte {
        b'a'..=b'z' => 0,
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b' '..=b'~' => 3,
        _ => 4,
    };
    (group, byte)
}
