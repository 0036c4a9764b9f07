//! Start conditions that only collect text, folded into one expression.
//!
//! Strings and comments are often matched by several rules: one opens and says
//! `BEGIN(STRING)`, some take a piece each, one closes and returns the token. The
//! text of the whole token is regular, but it is not `open (piece)* close`: flex
//! takes the longest match at each step and the first rule among equals, so in
//! `<COMMENT>"*/"` and `<COMMENT>.` the dot never takes the star of `*/`.
//!
//! So each condition becomes a deterministic automaton whose accepting states
//! know their rule, and the automata are run the way flex does. A match is tried
//! for as long as it can go on. When it cannot, the last accepting state is what
//! was matched, and the bytes since then are read again by the next rule. Both
//! attempts can be carried at once: a configuration is the state of the match
//! under way, then that of the rule that would be reading if this match came to
//! nothing, and so on. Configurations are the states of one automaton, which
//! becomes an expression by eliminating its states.

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
    let machine = Machine { rules, automata }.joined(entry)?;
    let states = machine.states.len();
    // Behind the states come the ways of leaving, then a node to start in.
    let start = states + ways;
    let mut graph = Graph::default();
    graph.add(start, 0, Regex::Empty);
    for (from, state) in machine.states.iter().enumerate() {
        for (set, to) in &state.edges {
            graph.add(from, *to, Regex::Class(*set));
        }
        if let Some(way) = state.accepts {
            graph.add(from, states + way, Regex::Empty);
        }
    }
    graph.eliminate(states, start, ways)
}

/// The match under way, and after it what reads if that comes to nothing: each a
/// condition and a state of its automaton.
type Configuration = Vec<(usize, usize)>;

/// So many attempts are carried at once; what would need more is given up.
const MAX_ATTEMPTS: usize = 8;

struct Machine<'r> {
    rules: &'r [Vec<(Regex, Outcome)>],
    automata: Vec<Dfa>,
}

impl Machine<'_> {
    /// One automaton of all conditions, from the start of `entry`; it accepts
    /// where one is left, with the way.
    fn joined(&self, entry: usize) -> Option<Dfa> {
        let mut known: HashMap<Configuration, usize> = HashMap::new();
        let mut waiting = vec![vec![(entry, 0)]];
        known.insert(waiting[0].clone(), 0);
        let mut dfa = Dfa { states: Vec::new() };
        let mut at = 0;
        while at < waiting.len() {
            let here = waiting[at].clone();
            let mut edges: BTreeMap<usize, ByteSet> = BTreeMap::new();
            // A byte is read by the attempts, or by a rule that begins.
            let begins = (0..self.automata.len()).map(|condition| (condition, 0));
            let readers = here.iter().copied().chain(begins);
            let sets = readers.flat_map(|(c, q)| self.automata[c].states[q].edges.iter());
            for set in classes(sets.map(|(set, _)| *set)) {
                let Some(next) = self.step(&here, set.iter().next()?) else { continue };
                let count = waiting.len();
                let to = *known.entry(next.clone()).or_insert(count);
                if to == count {
                    waiting.push(next);
                }
                if waiting.len() > MAX_STATES {
                    return None;
                }
                let edge = edges.entry(to).or_default();
                *edge = edge.union(&set);
            }
            let accepts = match self.outcome(here[0]) {
                Some(Outcome::Leave(way)) => Some(way),
                _ => None,
            };
            dfa.states
                .push(State { edges: edges.into_iter().map(|(t, s)| (s, t)).collect(), accepts });
            at += 1;
        }
        Some(dfa.smallest(|way| way))
    }

    fn outcome(&self, (condition, state): (usize, usize)) -> Option<Outcome> {
        // Nothing was read in the first state: flex takes no empty match.
        let rule = self.automata[condition].states[state].accepts.filter(|_| state != 0);
        rule.map(|rule| self.rules[condition][rule].1)
    }

    fn step(&self, here: &[(usize, usize)], byte: u8) -> Option<Configuration> {
        let (&(condition, state), rest) = here.split_first()?;
        let otherwise = match self.outcome((condition, state)) {
            Some(Outcome::Continue(next)) => vec![(next, 0)],
            Some(Outcome::Leave(_) | Outcome::Fail) => Vec::new(),
            None => rest.to_vec(),
        };
        let edges = &self.automata[condition].states[state].edges;
        match edges.iter().find(|(set, _)| set.contains(byte)) {
            None => self.step(&otherwise, byte),
            Some((_, to)) => {
                let mut next = vec![(condition, *to)];
                if self.outcome(next[0]).is_none() {
                    next.extend(self.step(&otherwise, byte).unwrap_or_default());
                    next.truncate(MAX_ATTEMPTS);
                }
                Some(next)
            }
        }
    }
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
        Some(dfa.smallest(|rule| rules[rule].1))
    }

    /// States that cannot be told apart become one: the ends of all the forms that
    /// a character has in UTF-8, for example. Parts are split until none splits.
    fn smallest<K: PartialEq>(self, kind: impl Fn(usize) -> K) -> Dfa {
        let outcome = |state: &State| state.accepts.map(&kind);
        let mut part: Vec<usize> = Vec::new();
        let mut kinds = Vec::new();
        for (at, state) in self.states.iter().enumerate() {
            // The start stays alone, and first: to have read nothing is special.
            let kind = (at == 0, outcome(state));
            let known = kinds.iter().position(|known| *known == kind);
            part.push(known.unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            }));
        }
        let mut parts = kinds.len();
        loop {
            let mut seen: HashMap<(usize, Vec<(usize, ByteSet)>), usize> = HashMap::new();
            let mut finer = Vec::new();
            for (at, state) in self.states.iter().enumerate() {
                let count = seen.len();
                let looks = (part[at], merged(state, &part));
                finer.push(*seen.entry(looks).or_insert(count));
            }
            let count = seen.len();
            part = finer;
            if count == parts {
                break;
            }
            parts = count;
        }
        let mut states: Vec<Option<State>> = (0..parts).map(|_| None).collect();
        for (at, state) in self.states.iter().enumerate() {
            let edges = merged(state, &part).into_iter().map(|(to, set)| (set, to)).collect();
            states[part[at]].get_or_insert(State { edges, accepts: state.accepts });
        }
        Dfa { states: states.into_iter().flatten().collect() }
    }
}

/// Edges by the part that they lead to.
fn merged(state: &State, part: &[usize]) -> Vec<(usize, ByteSet)> {
    let mut edges: BTreeMap<usize, ByteSet> = BTreeMap::new();
    for (set, to) in &state.edges {
        let edge = edges.entry(part[*to]).or_default();
        *edge = edge.union(set);
    }
    edges.into_iter().collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn dfa(regex: &Regex) -> Dfa {
        Dfa::new(&[(regex.clone(), Outcome::Leave(0))]).unwrap()
    }

    fn matches(dfa: &Dfa, text: &[u8]) -> bool {
        let mut state = 0;
        for byte in text {
            match dfa.states[state].edges.iter().find(|(set, _)| set.contains(*byte)) {
                Some((_, to)) => state = *to,
                None => return false,
            }
        }
        dfa.states[state].accepts.is_some()
    }

    /// flex's way, step by step: the way of leaving when all of `text` is read.
    fn simulate(rules: &[(Dfa, Outcome)], mut text: &[u8]) -> Option<usize> {
        loop {
            let longest = (1..=text.len()).rev().find_map(|length| {
                let rule = rules.iter().find(|(dfa, _)| matches(dfa, &text[..length]))?;
                Some((length, rule.1))
            });
            let (length, outcome) = longest?;
            text = &text[length..];
            match outcome {
                Outcome::Leave(way) => return text.is_empty().then_some(way),
                Outcome::Continue(_) => {}
                Outcome::Fail => return None,
            }
        }
    }

    fn texts(alphabet: &[u8], longest: usize) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..longest {
            let to = all.len();
            for at in from..to {
                for byte in alphabet {
                    let mut text = all[at].clone();
                    text.push(*byte);
                    all.push(text);
                }
            }
            from = to;
        }
        all
    }

    #[test]
    fn one_expression_stands_for_what_the_rules_do_step_by_step() {
        let any = || Regex::Class(ByteSet::ALL);
        let other = Regex::Class([b'*', b'/'].into_iter().collect::<ByteSet>().complement());
        let cases = [
            vec![(Regex::literal(b"*/"), Outcome::Leave(0)), (any(), Outcome::Continue(0))],
            vec![
                (Regex::plus(other), Outcome::Continue(0)),
                (Regex::literal(b"*/"), Outcome::Leave(0)),
                (Regex::literal(b"*"), Outcome::Continue(0)),
                (Regex::literal(b"/"), Outcome::Leave(1)),
            ],
            vec![
                (Regex::concat([Regex::byte(b'\\'), any()]), Outcome::Continue(0)),
                (Regex::byte(b'/'), Outcome::Leave(0)),
                (Regex::byte(b'*'), Outcome::Fail),
                (Regex::plus(Regex::Class(ByteSet::of(b'x'))), Outcome::Continue(0)),
            ],
            // What looks like the end, and is not, has to be given back.
            vec![
                (Regex::literal(b"**/"), Outcome::Leave(0)),
                (Regex::literal(b"*xx*x/"), Outcome::Leave(1)),
                (any(), Outcome::Continue(0)),
            ],
        ];
        for rules in cases {
            let ways = collected(std::slice::from_ref(&rules), 0, 2).unwrap();
            let ways: Vec<Dfa> = ways.iter().map(dfa).collect();
            let rules: Vec<_> = rules.iter().map(|(regex, o)| (dfa(regex), *o)).collect();
            for text in texts(br"*/x\", 6).into_iter().filter(|text| !text.is_empty()) {
                let said: Vec<usize> = (0..2).filter(|way| matches(&ways[*way], &text)).collect();
                let wanted: Vec<usize> = simulate(&rules, &text).into_iter().collect();
                assert_eq!(said, wanted, "{}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn characters_of_several_bytes_do_not_blow_an_expression_up() {
        let any = Regex::code_points([(0, 0x10_ffff)]);
        let rules = vec![(Regex::literal(b"*/"), Outcome::Leave(0)), (any, Outcome::Continue(0))];
        let ways = collected(&[rules], 0, 1).unwrap();
        assert!(size(&ways[0]) < 1000, "{}", size(&ways[0]));
        assert!(matches(&dfa(&ways[0]), "é*😀**/".as_bytes()));
        assert!(!matches(&dfa(&ways[0]), b"*/*/"));
    }
}
