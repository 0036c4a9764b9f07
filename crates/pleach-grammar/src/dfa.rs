//! Deterministic automata over bytes, for one or many expressions at once.
//!
//! Built by the subset construction over classes of bytes that no expression
//! tells apart. States from which nothing can match are left out, so a walk
//! that has not ended can still succeed; that makes counting, sampling and
//! enumerating the strings of a token simple walks.

use crate::regex::{ByteSet, Regex};
use std::collections::HashMap;

pub const DEAD: u32 = u32::MAX;
/// States of the nondeterministic automaton that expressions may need.
pub const MOST_PIECES: usize = 1 << 18;
/// States of the deterministic one.
pub const MOST_STATES: usize = 1 << 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    #[error("the expression is too large: counted repetitions make more than {MOST_PIECES} pieces")]
    Pieces,
    #[error("the expressions are too large: they need more than {MOST_STATES} states")]
    States,
}

#[derive(Clone, Debug)]
pub struct Dfa {
    classes: usize,
    class: [u8; 256],
    /// By state, then by class.
    table: Vec<u32>,
    /// By state: the expressions that match here, in rising order.
    accepts: Vec<Box<[u32]>>,
}

impl Dfa {
    pub const START: u32 = 0;

    pub fn new(patterns: &[&Regex]) -> Result<Dfa, TooLarge> {
        let mut nfa = Nfa { nodes: Vec::new() };
        let mut starts = Vec::new();
        for (i, pattern) in patterns.iter().enumerate() {
            let end = nfa.push(Node::Accept(i as u32))?;
            starts.push(nfa.compile(pattern, end)?);
        }
        nfa.determinise(&starts)
    }

    pub fn states(&self) -> usize {
        self.accepts.len()
    }

    #[inline]
    pub fn next(&self, state: u32, byte: u8) -> u32 {
        self.table[state as usize * self.classes + usize::from(self.class[usize::from(byte)])]
    }

    /// The expressions that match what has been read, in rising order.
    #[inline]
    pub fn accepts(&self, state: u32) -> &[u32] {
        &self.accepts[state as usize]
    }

    /// Where the live bytes of a state lead, by rising byte.
    pub fn moves(&self, state: u32) -> Vec<(u8, u32)> {
        let all = (0..=255).map(|b| (b, self.next(state, b)));
        all.filter(|&(_, to)| to != DEAD).collect()
    }

    /// Whether anything matches at all.
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

    /// The automaton of the strings for which `keep` says yes about their state.
    #[must_use]
    pub fn restrict(&self, keep: impl Fn(&[u32]) -> bool) -> Dfa {
        let accepts = self.accepts.iter().map(|a| if keep(a) { a.clone() } else { Box::default() });
        Dfa { accepts: accepts.collect(), ..self.clone() }.trimmed()
    }

    /// By state: the length of the shortest string from here to a match.
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

    /// A shortest string that matches: of those, the one that looks best to a
    /// person (letters, then digits, then the rest).
    pub fn shortest(&self) -> Option<Vec<u8>> {
        self.shortest_from(Dfa::START, &self.distances())
    }

    /// The same from a state on, with what [`Dfa::distances`] says.
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

    /// The length of the longest string that matches; `None` if there is none
    /// such: a circle among live states.
    pub fn longest(&self) -> Option<u32> {
        // A topological order exists exactly if there is no circle.
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

    /// Without states that cannot be reached or from which nothing matches. The
    /// start stays.
    fn trimmed(&self) -> Dfa {
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

enum Node {
    Accept(u32),
    Byte(ByteSet, u32),
    Split(Vec<u32>),
}

struct Nfa {
    nodes: Vec<Node>,
}

impl Nfa {
    fn push(&mut self, node: Node) -> Result<u32, TooLarge> {
        if self.nodes.len() >= MOST_PIECES {
            return Err(TooLarge::Pieces);
        }
        self.nodes.push(node);
        Ok(self.nodes.len() as u32 - 1)
    }

    /// Thompson's construction, from the end backwards: what matches `regex` and
    /// goes on at `next`. Recurses as deep as expressions nest, which importers
    /// limit.
    fn compile(&mut self, regex: &Regex, next: u32) -> Result<u32, TooLarge> {
        match regex {
            Regex::Empty => Ok(next),
            Regex::Class(set) => self.push(Node::Byte(*set, next)),
            Regex::Concat(parts) => {
                parts.iter().rev().try_fold(next, |next, part| self.compile(part, next))
            }
            Regex::Alt(parts) => {
                let starts: Result<_, _> = parts.iter().map(|p| self.compile(p, next)).collect();
                let starts = starts?;
                self.push(Node::Split(starts))
            }
            Regex::Repeat { inner, min, max } => {
                let mut at = next;
                match max {
                    None => {
                        let split = self.push(Node::Split(vec![next]))?;
                        let body = self.compile(inner, split)?;
                        if let Node::Split(to) = &mut self.nodes[split as usize] {
                            to.push(body);
                        }
                        at = split;
                    }
                    Some(max) => {
                        for _ in *min..*max {
                            let body = self.compile(inner, at)?;
                            at = self.push(Node::Split(vec![next, body]))?;
                        }
                    }
                }
                // Counts in the millions must fail at the limit, not run for long
                // on an inner expression that adds nothing.
                for _ in 0..*min {
                    let before = at;
                    at = self.compile(inner, at)?;
                    if at == before {
                        break;
                    }
                }
                Ok(at)
            }
        }
    }

    fn determinise(&self, starts: &[u32]) -> Result<Dfa, TooLarge> {
        let (class, representatives) = self.classes();
        let classes = representatives.len();
        let mut seen = vec![0u32; self.nodes.len()];
        let mut mark = 0;
        let mut close = |from: &[u32]| -> Box<[u32]> {
            mark += 1;
            let mut stack = from.to_vec();
            let mut found = Vec::new();
            while let Some(node) = stack.pop() {
                if std::mem::replace(&mut seen[node as usize], mark) == mark {
                    continue;
                }
                match &self.nodes[node as usize] {
                    Node::Split(to) => stack.extend(to),
                    _ => found.push(node),
                }
            }
            found.sort_unstable();
            found.into()
        };
        let start = close(starts);
        let mut numbers: HashMap<Box<[u32]>, u32> = HashMap::from([(start.clone(), 0)]);
        let mut sets = vec![start];
        let mut table = Vec::new();
        let mut at = 0;
        while at < sets.len() {
            let set = sets[at].clone();
            for &byte in &representatives {
                let moved: Vec<u32> = set
                    .iter()
                    .filter_map(|&node| match &self.nodes[node as usize] {
                        Node::Byte(bytes, next) if bytes.contains(byte) => Some(*next),
                        _ => None,
                    })
                    .collect();
                if moved.is_empty() {
                    table.push(DEAD);
                    continue;
                }
                let moved = close(&moved);
                let number = match numbers.get(&moved) {
                    Some(&number) => number,
                    None => {
                        let number = sets.len() as u32;
                        if sets.len() >= MOST_STATES {
                            return Err(TooLarge::States);
                        }
                        numbers.insert(moved.clone(), number);
                        sets.push(moved);
                        number
                    }
                };
                table.push(number);
            }
            at += 1;
        }
        let accepts = sets.iter().map(|set| {
            let accepted = set.iter().filter_map(|&n| match self.nodes[n as usize] {
                Node::Accept(i) => Some(i),
                _ => None,
            });
            let mut accepted: Vec<u32> = accepted.collect();
            accepted.sort_unstable();
            accepted.into()
        });
        Ok(Dfa { classes, class, accepts: accepts.collect(), table }.trimmed())
    }

    /// Bytes that all expressions treat alike, and one byte of each class.
    fn classes(&self) -> ([u8; 256], Vec<u8>) {
        let mut class = [0u8; 256];
        let mut count = 1;
        let mut done: Vec<ByteSet> = Vec::new();
        for node in &self.nodes {
            let Node::Byte(set, _) = node else { continue };
            if done.contains(set) || count == 256 {
                continue;
            }
            done.push(*set);
            let mut split: HashMap<u8, u8> = HashMap::new();
            for old in 0..count {
                let members = (0..=255u8).filter(|&b| u16::from(class[usize::from(b)]) == old);
                let inside = members.clone().filter(|&b| set.contains(b)).count();
                if inside > 0 && inside < members.count() {
                    split.insert(old as u8, 0);
                }
            }
            for (old, new) in &mut split {
                *new = count as u8;
                count += 1;
                for byte in
                    set.iter().filter(|&b| class[usize::from(b)] == *old).collect::<Vec<_>>()
                {
                    class[usize::from(byte)] = *new;
                }
            }
        }
        let first = |c: u16| (0..=255u8).find(|&b| u16::from(class[usize::from(b)]) == c);
        let representatives = (0..count).filter_map(first).collect();
        (class, representatives)
    }
}
