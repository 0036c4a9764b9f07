//! One regular expression for what several lexer rules match together.
//!
//! Strings and comments are often matched by several rules of flex: one opens the
//! token and does `BEGIN(STRING)`, some match a piece each, one closes the token and
//! returns it. The texts of the whole token are regular, but they are not those of
//! `open (piece)* close`. At each step flex takes the longest match, and the first
//! rule among equals. With the rules `<COMMENT>"*/"` and `<COMMENT>.`, the dot never
//! matches the star of `*/`.
//!
//! So each condition becomes a deterministic automaton whose accepting states know
//! their rule, and the automata run as flex does. A match continues as long as it can.
//! When it fails, flex goes back to the last accepting state, and the next rule reads
//! the bytes since then again. Here both attempts run at the same time. A
//! *configuration* is the state of the current match, then the state of the rule that
//! would be reading if this match failed, and so on. Configurations are the states of
//! one automaton. Eliminating its states gives the expression.

use std::collections::{BTreeMap, HashMap};

use pleach_automata::{ByteSet, DEAD, Dfa, Regex, State, partition};

/// States of a condition's automaton, and of the joined one after minimisation.
const MAX_STATES: usize = 150;
/// Configurations, before minimisation.
const MAX_CONFIGURATIONS: usize = 2_000;
/// Attempts that run at the same time. Further ones are dropped.
const MAX_ATTEMPTS: usize = 8;
/// Nodes of all expressions while states are eliminated.
const MAX_NODES: usize = 20_000;

/// What happens after a rule of a condition has matched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The condition of this number reads on.
    Continue(usize),
    /// The text ends here, by the exit of this number.
    Leave(usize),
    /// The text is not accepted.
    Fail,
}

/// The texts that lead from the start of condition `entry` to each of `exits` exits.
/// `rules` has the rules of each condition, by falling priority. `None` if a limit is
/// exceeded.
pub fn collect_texts(
    rules: &[Vec<(Regex, Outcome)>],
    entry: usize,
    exits: usize,
) -> Option<Vec<Regex>> {
    let automata = rules.iter().map(|rules| automaton_of(rules)).collect::<Option<Vec<_>>>()?;
    let machine = Machine { rules, automata }.join(entry)?;
    let states = machine.states();
    // The nodes of the graph: the states, the exits, and one to start in.
    let start = states + exits;
    let mut graph = Graph::default();
    graph.add(start, 0, Regex::Empty);
    for from in 0..states {
        for (set, to) in machine.edges(from as u32) {
            graph.add(from, to as usize, Regex::Class(set));
        }
        for &exit in machine.accepts(from as u32) {
            graph.add(from, states + exit as usize, Regex::Empty);
        }
    }
    graph.eliminate(states, start, exits)
}

/// The automaton of the rules of one condition. flex ignores empty matches. Of the
/// rules that match, the first wins.
fn automaton_of(rules: &[(Regex, Outcome)]) -> Option<Dfa> {
    let patterns: Vec<&Regex> = rules.iter().map(|(regex, _)| regex).collect();
    let dfa = Dfa::new(&patterns).ok()?.without_empty();
    let dfa = dfa.minimised(|matching| matching.first().map(|&rule| rules[rule as usize].1));
    (dfa.states() <= MAX_STATES).then_some(dfa)
}

/// The current match, then the attempts that take over if it fails: each a condition
/// and a state of its automaton.
type Configuration = Vec<(usize, u32)>;

struct Machine<'r> {
    rules: &'r [Vec<(Regex, Outcome)>],
    automata: Vec<Dfa>,
}

impl Machine<'_> {
    /// One automaton of all conditions, from the start of `entry`. It accepts where the
    /// text ends, with the exit.
    fn join(&self, entry: usize) -> Option<Dfa> {
        let mut numbers: HashMap<Configuration, u32> = HashMap::new();
        let mut configurations = vec![vec![(entry, Dfa::START)]];
        numbers.insert(configurations[0].clone(), 0);
        let mut states = Vec::new();
        while states.len() < configurations.len() {
            let here = configurations[states.len()].clone();
            let mut edges = Vec::new();
            // A byte is read by one of the attempts, or by a new match in any condition.
            let starts = (0..self.automata.len()).map(|condition| (condition, Dfa::START));
            let readers = here.iter().copied().chain(starts);
            let sets = readers.flat_map(|(c, q)| self.automata[c].edges(q));
            for set in partition(ByteSet::ALL, sets.map(|(set, _)| set)) {
                let Some(next) = self.step(&here, set.iter().next()?) else { continue };
                let count = configurations.len() as u32;
                let to = *numbers.entry(next.clone()).or_insert(count);
                if to == count {
                    configurations.push(next);
                }
                if configurations.len() > MAX_CONFIGURATIONS {
                    return None;
                }
                edges.push((set, to));
            }
            let accepts = match self.outcome(here[0]) {
                Some(Outcome::Leave(exit)) => vec![exit as u32],
                _ => Vec::new(),
            };
            states.push(State { edges, accepts });
        }
        let joined = Dfa::from_states(&states).minimised(<[u32]>::to_vec);
        (joined.states() <= MAX_STATES).then_some(joined)
    }

    fn outcome(&self, (condition, state): (usize, u32)) -> Option<Outcome> {
        let rule = self.automata[condition].accepts(state).first();
        rule.map(|&rule| self.rules[condition][rule as usize].1)
    }

    fn step(&self, here: &[(usize, u32)], byte: u8) -> Option<Configuration> {
        let (&(condition, state), rest) = here.split_first()?;
        let otherwise = match self.outcome((condition, state)) {
            Some(Outcome::Continue(next)) => vec![(next, Dfa::START)],
            Some(Outcome::Leave(_) | Outcome::Fail) => Vec::new(),
            None => rest.to_vec(),
        };
        match self.automata[condition].next(state, byte) {
            DEAD => self.step(&otherwise, byte),
            to => {
                let mut next = vec![(condition, to)];
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
        let regex = match self.edges.remove(&(from, to)) {
            Some(other) => Regex::alt([other, regex]),
            None => regex,
        };
        self.edges.insert((from, to), regex);
    }

    /// Removes every node below `states`. The node with the smallest expressions on its
    /// edges goes first, which keeps the result short.
    fn eliminate(mut self, states: usize, start: usize, exits: usize) -> Option<Vec<Regex>> {
        let mut left: Vec<usize> = (0..states).collect();
        while !left.is_empty() {
            // Of each node: sizes of the expressions that lead to it and from it.
            let mut sizes = vec![(0usize, 0usize); start + 1];
            let mut total = 0;
            for ((from, to), regex) in &self.edges {
                let nodes = count_nodes(regex);
                total += nodes;
                if from != to {
                    sizes[*from].1 += nodes;
                    sizes[*to].0 += nodes;
                }
            }
            if total > MAX_NODES {
                return None;
            }
            let cost = |node: usize| sizes[node].0.saturating_mul(sizes[node].1);
            let (at, node) = left.iter().copied().enumerate().min_by_key(|(_, n)| cost(*n))?;
            left.swap_remove(at);
            let own = self.edges.remove(&(node, node)).unwrap_or(Regex::nothing());
            let own = Regex::star(own);
            let ins = self.edges.iter().filter(|(e, _)| e.1 == node);
            let ins: Vec<(usize, Regex)> = ins.map(|(e, r)| (e.0, r.clone())).collect();
            let outs = self.edges.iter().filter(|(e, _)| e.0 == node);
            let outs: Vec<(usize, Regex)> = outs.map(|(e, r)| (e.1, r.clone())).collect();
            self.edges.retain(|e, _| e.0 != node && e.1 != node);
            for (from, before) in &ins {
                for (to, after) in &outs {
                    let through = [before.clone(), own.clone(), after.clone()];
                    self.add(*from, *to, Regex::concat(through));
                }
            }
        }
        let texts = |exit| self.edges.remove(&(start, states + exit)).unwrap_or(Regex::nothing());
        Some((0..exits).map(texts).collect())
    }
}

/// How many nodes an expression has.
pub fn count_nodes(regex: &Regex) -> usize {
    match regex {
        Regex::Empty | Regex::Class(_) => 1,
        Regex::Concat(parts) | Regex::Alt(parts) => {
            1 + parts.iter().map(count_nodes).sum::<usize>()
        }
        Regex::Repeat { inner, .. } => 1 + count_nodes(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dfa(regex: &Regex) -> Dfa {
        Dfa::new(&[regex]).unwrap()
    }

    /// What flex does, step by step: the exit by which all of `text` is matched.
    fn simulate(rules: &[(Dfa, Outcome)], mut text: &[u8]) -> Option<usize> {
        loop {
            let longest = (1..=text.len()).rev().find_map(|length| {
                let rule = rules.iter().find(|(dfa, _)| dfa.matches(&text[..length]))?;
                Some((length, rule.1))
            });
            let (length, outcome) = longest?;
            text = &text[length..];
            match outcome {
                Outcome::Leave(exit) => return text.is_empty().then_some(exit),
                Outcome::Continue(_) => {}
                Outcome::Fail => return None,
            }
        }
    }

    fn all_texts(alphabet: &[u8], max_length: usize) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..max_length {
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
    fn the_expression_matches_what_the_rules_match_step_by_step() {
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
            // `*x` may be the start of an end, and must be read again if it is not.
            vec![
                (Regex::literal(b"**/"), Outcome::Leave(0)),
                (Regex::literal(b"*xx*x/"), Outcome::Leave(1)),
                (any(), Outcome::Continue(0)),
            ],
        ];
        for rules in cases {
            let exits = collect_texts(std::slice::from_ref(&rules), 0, 2).unwrap();
            let exits: Vec<Dfa> = exits.iter().map(dfa).collect();
            let rules: Vec<_> = rules.iter().map(|(regex, o)| (dfa(regex), *o)).collect();
            for text in all_texts(br"*/x\", 6).into_iter().filter(|text| !text.is_empty()) {
                let found: Vec<usize> = (0..2).filter(|exit| exits[*exit].matches(&text)).collect();
                let expected: Vec<usize> = simulate(&rules, &text).into_iter().collect();
                assert_eq!(found, expected, "{}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn characters_of_several_bytes_keep_the_expression_small() {
        let any = Regex::code_points([(0, 0x10_ffff)]);
        let rules = vec![(Regex::literal(b"*/"), Outcome::Leave(0)), (any, Outcome::Continue(0))];
        let texts = collect_texts(&[rules], 0, 1).unwrap();
        assert!(count_nodes(&texts[0]) < 1000, "{}", count_nodes(&texts[0]));
        assert!(dfa(&texts[0]).matches("é*😀**/".as_bytes()));
        assert!(!dfa(&texts[0]).matches(b"*/*/"));
    }
}
