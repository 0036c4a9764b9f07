//! Start conditions that only collect text, folded into one expression.
//!
//! Strings and comments are often matched by several rules: one opens and says
//! `BEGIN(STRING)`, some take a piece each, one closes and returns the token. The
//! text of the whole token is regular, but it is not `open (piece)* close`: flex
//! takes the longest match at each step and the first rule among equals, so in
//! `<COMMENT>"*/"` and `<COMMENT>.` the dot never takes the star of `*/`.
//!
//! So each condition becomes a deterministic automaton whose accepting states
//! know their rule. Reading on where the automaton can is the longest match;
//! where it cannot, the rule is done and the same byte starts the next one. That
//! joins the automata of all conditions into one, without any lookahead. (A match
//! that would have to be given back after several bytes is the one thing it
//! misses.) The automaton becomes an expression by eliminating its states.

use std::collections::{BTreeMap, HashMap};

use super::pattern::size;
use crate::{ByteSet, Regex};

/// Automata larger than this are not worth an expression.
const MAX_STATES: usize = 150;
const MAX_NFA: usize = 20_000;
const MAX_SIZE: usize = 20_000;

/// What happens when a rule of a collecting condition has matched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Goes on in that condition.
    Continue(usize),
    /// Leaves, in the way of that number.
    Leave(usize),
    /// Never happens in a text that is accepted.
    Fail,
}

/// The texts from the start of condition `entry` to each way of leaving. `rules`
/// holds the rules of each condition in order of priority. `None` if that takes
/// more than the limits.
pub fn collected(rules: &[Vec<(Regex, Outcome)>], entry: usize, ways: usize) -> Option<Vec<Regex>> {
    let automata = rules.iter().map(|r| Dfa::new(r)).collect::<Option<Vec<_>>>()?;
    let mut offsets = Vec::new();
    let mut states = 0;
    for automaton in &automata {
        offsets.push(states);
        states += automaton.states.len();
    }
    if states > MAX_STATES {
        return None;
    }
    // Ways of leaving are final nodes behind the states; then a node to start in.
    let node = |condition: usize, state: usize| offsets[condition] + state;
    let mut graph = Graph::default();
    for (condition, automaton) in automata.iter().enumerate() {
        for (from, state) in automaton.states.iter().enumerate() {
            let here = node(condition, from);
            for (set, to) in &state.edges {
                graph.add(here, node(condition, *to), Regex::Class(*set));
            }
            match state.accepts.map(|rule| rules[condition][rule].1) {
                Some(Outcome::Leave(way)) => graph.add(here, states + way, Regex::Empty),
                Some(Outcome::Continue(next)) if from != 0 => {
                    // The bytes that cannot go on here begin the next rule.
                    let taken = state.edges.iter().fold(ByteSet::EMPTY, |s, (e, _)| s.union(e));
                    for (set, to) in &automata[next].states[0].edges {
                        let set = set.difference(&taken);
                        if !set.is_empty() {
                            graph.add(here, node(next, *to), Regex::Class(set));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let start = states + ways;
    graph.add(start, node(entry, 0), Regex::Empty);
    graph.eliminate(states, start, ways)
}

#[derive(Default)]
struct Graph {
    edges: BTreeMap<(usize, usize), Regex>,
}

impl Graph {
    fn add(&mut self, from: usize, to: usize, regex: Regex) {
        let known = self.edges.remove(&(from, to));
        let regex = match known {
            Some(known) => Regex::alt([known, regex]),
            None => regex,
        };
        self.edges.insert((from, to), regex);
    }

    /// Removes every node below `states`, the one with the least text around it
    /// first: that keeps expressions short.
    fn eliminate(mut self, states: usize, start: usize, ways: usize) -> Option<Vec<Regex>> {
        let mut left: Vec<usize> = (0..states).collect();
        while !left.is_empty() {
            let mut around = vec![(0usize, 0usize); start + 1];
            let mut total = 0;
            for ((from, to), regex) in &self.edges {
                let size = size(regex);
                total += size;
                if from != to {
                    around[*from].1 += size;
                    around[*to].0 += size;
                }
            }
            if total > MAX_SIZE {
                return None;
            }
            let cost = |node: usize| around[node].0.saturating_mul(around[node].1);
            let (at, node) = left.iter().copied().enumerate().min_by_key(|(_, n)| cost(*n))?;
            left.swap_remove(at);
            let around = Regex::star(self.edges.remove(&(node, node)).unwrap_or(Regex::nothing()));
            let ins = self.edges.iter().filter(|(e, _)| e.1 == node);
            let ins: Vec<(usize, Regex)> = ins.map(|(e, r)| (e.0, r.clone())).collect();
            let outs = self.edges.iter().filter(|(e, _)| e.0 == node);
            let outs: Vec<(usize, Regex)> = outs.map(|(e, r)| (e.1, r.clone())).collect();
            self.edges.retain(|e, _| e.0 != node && e.1 != node);
            for (from, before) in &ins {
                for (to, after) in &outs {
                    let through = [before.clone(), around.clone(), after.clone()];
                    self.add(*from, *to, Regex::concat(through));
                }
            }
        }
        let mut found = |way| self.edges.remove(&(start, states + way)).unwrap_or(Regex::nothing());
        Some((0..ways).map(&mut found).collect())
    }
}

struct State {
    edges: Vec<(ByteSet, usize)>,
    /// The first rule that matches here.
    accepts: Option<usize>,
}

struct Dfa {
    states: Vec<State>,
}

impl Dfa {
    /// The automaton of several rules at once, by subsets; dead ends left out.
    fn new(rules: &[(Regex, Outcome)]) -> Option<Dfa> {
        let mut nfa = Nfa::default();
        let start = nfa.state()?;
        for (rule, (regex, _)) in rules.iter().enumerate() {
            let first = nfa.state()?;
            let last = nfa.add(regex, first)?;
            nfa.empty[start].push(first);
            nfa.accepts.insert(last, rule);
        }
        let mut dfa = Dfa { states: Vec::new() };
        let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut subsets = vec![nfa.closure(vec![start])];
        known.insert(subsets[0].clone(), 0);
        let mut at = 0;
        while at < subsets.len() {
            let subset = subsets[at].clone();
            let mut edges: BTreeMap<usize, ByteSet> = BTreeMap::new();
            for set in classes(subset.iter().flat_map(|s| nfa.bytes[*s].iter().map(|(c, _)| *c))) {
                let byte = set.iter().next()?;
                let moved = subset.iter().flat_map(|s| &nfa.bytes[*s]);
                let moved = moved.filter(|(c, _)| c.contains(byte)).map(|(_, to)| *to).collect();
                let next = nfa.closure(moved);
                let count = subsets.len();
                let to = *known.entry(next.clone()).or_insert(count);
                if to == count {
                    subsets.push(next);
                }
                if subsets.len() > MAX_STATES {
                    return None;
                }
                let edge = edges.entry(to).or_default();
                *edge = edge.union(&set);
            }
            let accepts = subset.iter().filter_map(|s| nfa.accepts.get(s)).min().copied();
            dfa.states
                .push(State { edges: edges.into_iter().map(|(t, s)| (s, t)).collect(), accepts });
            at += 1;
        }
        Some(dfa)
    }
}

/// The coarsest partition in which each of `sets` is a union of parts; bytes of
/// none of them are left out.
fn classes(sets: impl Iterator<Item = ByteSet>) -> Vec<ByteSet> {
    let mut parts: Vec<ByteSet> = Vec::new();
    for set in sets {
        let mut rest = set;
        let mut split = Vec::new();
        for part in &mut parts {
            let common = part.intersection(&set);
            if !common.is_empty() && common != *part {
                split.push(part.difference(&set));
                *part = common;
            }
            rest = rest.difference(&common);
        }
        parts.extend(split);
        if !rest.is_empty() {
            parts.push(rest);
        }
    }
    parts
}

#[derive(Default)]
struct Nfa {
    bytes: Vec<Vec<(ByteSet, usize)>>,
    empty: Vec<Vec<usize>>,
    accepts: HashMap<usize, usize>,
}

impl Nfa {
    fn state(&mut self) -> Option<usize> {
        self.bytes.push(Vec::new());
        self.empty.push(Vec::new());
        (self.bytes.len() <= MAX_NFA).then_some(self.bytes.len() - 1)
    }

    /// Adds `regex` behind state `from`; the state behind it.
    fn add(&mut self, regex: &Regex, from: usize) -> Option<usize> {
        match regex {
            Regex::Empty => Some(from),
            Regex::Class(set) => {
                let to = self.state()?;
                self.bytes[from].push((*set, to));
                Some(to)
            }
            Regex::Concat(parts) => parts.iter().try_fold(from, |at, part| self.add(part, at)),
            Regex::Alt(parts) => {
                let to = self.state()?;
                for part in parts {
                    let first = self.state()?;
                    self.empty[from].push(first);
                    let last = self.add(part, first)?;
                    self.empty[last].push(to);
                }
                Some(to)
            }
            Regex::Repeat { inner, min, max } => {
                let mut at = from;
                for _ in 0..*min {
                    at = self.add(inner, at)?;
                }
                let to = self.state()?;
                match max {
                    None => {
                        let first = self.state()?;
                        self.empty[at].push(first);
                        let last = self.add(inner, first)?;
                        self.empty[last].push(first);
                        self.empty[first].push(to);
                    }
                    Some(max) => {
                        for _ in *min..*max {
                            self.empty[at].push(to);
                            at = self.add(inner, at)?;
                        }
                        self.empty[at].push(to);
                    }
                }
                Some(to)
            }
        }
    }

    fn closure(&self, mut stack: Vec<usize>) -> Vec<usize> {
        let mut seen = std::collections::BTreeSet::new();
        while let Some(state) = stack.pop() {
            if seen.insert(state) {
                stack.extend(&self.empty[state]);
            }
        }
        seen.into_iter().collect()
    }
}
