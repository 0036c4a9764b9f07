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

use pleach_automata::{ByteSet, DEAD, Dfa, Regex, State, partition};

/// Automata larger than this are not worth an expression.
const MAX_STATES: usize = 150;
/// The most configurations of attempts before those that act alike become one.
const MAX_CONFIGURATIONS: usize = 2_000;
/// The largest expression.
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
    let automata = rules.iter().map(|r| condition(r)).collect::<Option<Vec<_>>>()?;
    let machine = Machine { rules, automata }.joined(entry)?;
    let states = machine.states();
    // Behind the states come the ways of leaving, then a node to start in.
    let start = states + ways;
    let mut graph = Graph::default();
    graph.add(start, 0, Regex::Empty);
    for from in 0..states {
        for (set, to) in machine.edges(from as u32) {
            graph.add(from, to as usize, Regex::Class(set));
        }
        for &way in machine.accepts(from as u32) {
            graph.add(from, states + way as usize, Regex::Empty);
        }
    }
    graph.eliminate(states, start, ways)
}

/// The automaton of the rules of one condition. flex takes no empty match. Of the
/// rules that match, the first wins.
fn condition(rules: &[(Regex, Outcome)]) -> Option<Dfa> {
    let patterns: Vec<&Regex> = rules.iter().map(|(regex, _)| regex).collect();
    let dfa = Dfa::new(&patterns).ok()?.without_empty();
    let dfa = dfa.minimised(|matching| matching.first().map(|&rule| rules[rule as usize].1));
    (dfa.states() <= MAX_STATES).then_some(dfa)
}

/// The match under way, and after it what reads if that comes to nothing: each a
/// condition and a state of its automaton.
type Configuration = Vec<(usize, u32)>;

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
        let mut known: HashMap<Configuration, u32> = HashMap::new();
        let mut waiting = vec![vec![(entry, Dfa::START)]];
        known.insert(waiting[0].clone(), 0);
        let mut states = Vec::new();
        while states.len() < waiting.len() {
            let here = waiting[states.len()].clone();
            let mut edges = Vec::new();
            // A byte is read by the attempts, or by a rule that begins.
            let begins = (0..self.automata.len()).map(|condition| (condition, Dfa::START));
            let readers = here.iter().copied().chain(begins);
            let sets = readers.flat_map(|(c, q)| self.automata[c].edges(q));
            for set in partition(ByteSet::ALL, sets.map(|(set, _)| set)) {
                let Some(next) = self.step(&here, set.iter().next()?) else { continue };
                let count = waiting.len() as u32;
                let to = *known.entry(next.clone()).or_insert(count);
                if to == count {
                    waiting.push(next);
                }
                if waiting.len() > MAX_CONFIGURATIONS {
                    return None;
                }
                edges.push((set, to));
            }
            let accepts = match self.outcome(here[0]) {
                Some(Outcome::Leave(way)) => vec![way as u32],
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

/// How many nodes an expression has.
pub fn size(regex: &Regex) -> usize {
    match regex {
        Regex::Empty | Regex::Class(_) => 1,
        Regex::Concat(parts) | Regex::Alt(parts) => 1 + parts.iter().map(size).sum::<usize>(),
        Regex::Repeat { inner, .. } => 1 + size(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dfa(regex: &Regex) -> Dfa {
        Dfa::new(&[regex]).unwrap()
    }

    /// flex's way, step by step: the way of leaving when all of `text` is read.
    fn simulate(rules: &[(Dfa, Outcome)], mut text: &[u8]) -> Option<usize> {
        loop {
            let longest = (1..=text.len()).rev().find_map(|length| {
                let rule = rules.iter().find(|(dfa, _)| dfa.matches(&text[..length]))?;
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
                let said: Vec<usize> = (0..2).filter(|way| ways[*way].matches(&text)).collect();
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
        assert!(dfa(&ways[0]).matches("é*😀**/".as_bytes()));
        assert!(!dfa(&ways[0]).matches(b"*/*/"));
    }
}
