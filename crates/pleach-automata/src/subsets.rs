//! From regular expressions to a deterministic automaton: Thompson's construction, then
//! the subset construction. Bytes that no expression distinguishes form one class.

use crate::dfa::{DEAD, Dfa, MAX_PIECES, MAX_STATES, TooLarge};
use crate::{ByteSet, Regex, partition};
use std::collections::{BTreeSet, HashMap};

pub(crate) fn build(patterns: &[&Regex]) -> Result<Dfa, TooLarge> {
    let mut nfa = Nfa { nodes: Vec::new() };
    let mut starts = Vec::new();
    for (i, pattern) in patterns.iter().enumerate() {
        let end = nfa.push(Node::Accept(i as u32))?;
        starts.push(nfa.compile(pattern, end)?);
    }
    nfa.determinise(&starts)
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
        if self.nodes.len() >= MAX_PIECES {
            return Err(TooLarge::Pieces);
        }
        self.nodes.push(node);
        Ok(self.nodes.len() as u32 - 1)
    }

    /// Thompson's construction, from the end backwards: the start of nodes that match
    /// `regex` and continue at `next`. Recurses as deep as the expression nests.
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
                // An inner expression without nodes never reaches the limit, so a count
                // in the millions would take long.
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
                        if sets.len() >= MAX_STATES {
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

    /// The class of each byte, and one byte of each class.
    fn classes(&self) -> ([u8; 256], Vec<u8>) {
        let sets = self.nodes.iter().filter_map(|node| match node {
            Node::Byte(set, _) => Some(*set),
            _ => None,
        });
        let distinct: BTreeSet<ByteSet> = sets.collect();
        let mut class = [0u8; 256];
        let parts = partition(ByteSet::ALL, distinct);
        for (number, part) in parts.iter().enumerate() {
            part.iter().for_each(|byte| class[usize::from(byte)] = number as u8);
        }
        (class, parts.iter().filter_map(|part| part.iter().next()).collect())
    }
}
