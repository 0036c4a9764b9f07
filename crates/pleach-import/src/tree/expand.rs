//! From the tree of a token to a regular expression: names in it are replaced by the
//! expressions of their rules.

use std::collections::HashMap;

use super::{Ranges, Tree, complement, difference, either_case};
use crate::ImportError;
use crate::scanner::{self, Outcome, count_nodes};
use crate::text::{MAX_NESTING, Source};
use pleach_grammar::{Language, Regex};

/// Nodes that the names in one token may expand to.
const MAX_EXPANSION: usize = 200_000;

pub(crate) struct Expander<'a> {
    pub source: &'a Source<'a>,
    rules: HashMap<&'a str, &'a Tree>,
    /// Rules that were expanded already, with the node counts of their expressions.
    expanded: HashMap<&'a str, (Regex, usize)>,
    /// Names that are being expanded, outermost first.
    open: Vec<&'a str>,
    max_self_nesting: usize,
    /// Nodes that the current token may still expand to.
    budget: usize,
    /// The offset of the current token.
    at: usize,
    /// How expressions differ from the file: offset, change and message.
    pub changes: Vec<(usize, Language, String)>,
}

impl<'a> Expander<'a> {
    /// A rule may be expanded inside itself up to `max_self_nesting` times.
    pub fn new(
        source: &'a Source<'a>,
        rules: HashMap<&'a str, &'a Tree>,
        max_self_nesting: usize,
    ) -> Expander<'a> {
        Expander {
            source,
            rules,
            expanded: HashMap::new(),
            open: Vec::new(),
            max_self_nesting,
            budget: MAX_EXPANSION,
            at: 0,
            changes: Vec::new(),
        }
    }

    /// The expression of one token, which is at offset `at`.
    pub fn token(&mut self, tree: &'a Tree, at: usize) -> Result<Regex, ImportError> {
        (self.budget, self.at) = (MAX_EXPANSION, at);
        self.regex(tree)
    }

    fn regex(&mut self, tree: &'a Tree) -> Result<Regex, ImportError> {
        Ok(match tree {
            Tree::Empty => Regex::Empty,
            Tree::Literal { text, any_case: false, .. } => Regex::literal(text),
            Tree::Literal { text, any_case: true, .. } => Regex::literal_any_case(text),
            Tree::Chars { set, .. } => Regex::code_points(set.iter().copied()),
            Tree::Bytes { set, .. } => Regex::Class(*set),
            Tree::Name { name, at } => self.expand_name(name, *at)?,
            Tree::Seq(parts) => self.sequence(parts)?,
            Tree::Alt(parts) => {
                let parts = parts.iter().map(|part| self.regex(part));
                Regex::alt(parts.collect::<Result<Vec<_>, _>>()?)
            }
            Tree::Repeat { inner, min, max, .. } => Regex::repeat(self.regex(inner)?, *min, *max),
            Tree::Not { inner, at } => {
                let set = self.char_set(inner).ok_or_else(|| not_a_set(self.source, *at))?;
                Regex::code_points(complement(&set))
            }
            Tree::Minus { of, without, at } => match (self.char_set(of), self.char_set(without)) {
                (Some(of), Some(without)) => Regex::code_points(difference(&of, without)),
                _ => {
                    self.changes.push((*at, Language::Larger, EXCEPTION_IGNORED.to_owned()));
                    self.regex(of)?
                }
            },
        })
    }

    /// A lazy repetition stops at the first place where the rest can match. The
    /// scanner, which tries the rest first at each step, finds an expression for that.
    fn sequence(&mut self, parts: &'a [Tree]) -> Result<Regex, ImportError> {
        let is_lazy = |part: &Tree| matches!(part, Tree::Repeat { lazy: true, max: None, .. });
        let Some(first) = parts.iter().position(is_lazy) else {
            let parts = parts.iter().map(|part| self.regex(part));
            return Ok(Regex::concat(parts.collect::<Result<Vec<_>, _>>()?));
        };
        let before = self.sequence(&parts[..first])?;
        let after = self.sequence(&parts[first + 1..])?;
        let Tree::Repeat { inner, min, .. } = &parts[first] else { return Ok(before) };
        let piece = self.regex(inner)?;
        if after == Regex::Empty {
            return Ok(Regex::concat([before, Regex::repeat(piece, *min, Some(*min))]));
        }
        let rules = vec![(after.clone(), Outcome::Leave(0)), (piece.clone(), Outcome::Continue(0))];
        let rest = match scanner::collect_texts(&[rules], 0, 1).and_then(|mut exits| exits.pop()) {
            Some(rest) => rest,
            None => {
                let text = "the lazy repetition is treated as greedy".to_owned();
                let change = (self.at, Language::Larger, text);
                if !self.changes.contains(&change) {
                    self.changes.push(change);
                }
                Regex::concat([Regex::star(piece.clone()), after])
            }
        };
        Ok(Regex::concat([before, Regex::repeat(piece, *min, Some(*min)), rest]))
    }

    fn expand_name(&mut self, name: &'a str, at: usize) -> Result<Regex, ImportError> {
        if let Some((regex, nodes)) = self.expanded.get(name) {
            let (regex, nodes) = (regex.clone(), *nodes);
            return self.charge(nodes, at).map(|()| regex);
        }
        let Some(&tree) = self.rules.get(name) else {
            return Err(self.source.error(at, format!("{name} is not defined")));
        };
        let self_nesting = self.open.iter().filter(|open| **open == name).count();
        if self_nesting > self.max_self_nesting {
            let levels = self.max_self_nesting + 1;
            let text = format!("{name} contains itself; its nesting is limited to {levels} levels");
            self.changes.push((at, Language::Smaller, text));
            return Ok(Regex::nothing());
        }
        if self.open.len() > MAX_NESTING {
            let message =
                format!("rules in this token refer to others more than {MAX_NESTING} deep");
            return Err(self.source.error(at, message));
        }
        self.open.push(name);
        let regex = self.regex(tree);
        self.open.pop();
        let regex = regex?;
        let nodes = count_nodes(&regex);
        // If nesting was cut somewhere inside, the expression holds at this depth only.
        if !self.changes.iter().any(|(_, change, _)| *change == Language::Smaller) {
            self.expanded.insert(name, (regex.clone(), nodes));
        }
        self.charge(nodes, at)?;
        Ok(regex)
    }

    /// Takes nodes from the budget of the current token.
    fn charge(&mut self, nodes: usize, at: usize) -> Result<(), ImportError> {
        match self.budget.checked_sub(nodes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                let message = format!("this token expands to more than {MAX_EXPANSION} parts");
                Err(self.source.error(at, message))
            }
        }
    }

    /// The set of characters that a tree stands for; `None` if it can match anything
    /// but exactly one character.
    pub(super) fn char_set(&self, tree: &Tree) -> Option<Ranges> {
        self.char_set_within(tree, MAX_NESTING)
    }

    fn char_set_within(&self, tree: &Tree, depth: usize) -> Option<Ranges> {
        let depth = depth.checked_sub(1)?;
        match tree {
            Tree::Chars { set, .. } => Some(set.clone()),
            Tree::Literal { text, any_case, .. } => {
                let text = std::str::from_utf8(text).ok()?;
                let mut chars = text.chars();
                let (one, None) = (chars.next()? as u32, chars.next()) else { return None };
                let set = vec![(one, one)];
                Some(if *any_case { either_case(&set) } else { set })
            }
            Tree::Bytes { set, .. } if set.iter().all(|b| b < 128) => {
                Some(set.ranges().iter().map(|(l, h)| (u32::from(*l), u32::from(*h))).collect())
            }
            Tree::Alt(parts) => {
                let parts: Option<Vec<_>> =
                    parts.iter().map(|part| self.char_set_within(part, depth)).collect();
                Some(parts?.concat())
            }
            Tree::Name { name, .. } => self.char_set_within(self.rules.get(name.as_str())?, depth),
            Tree::Not { inner, .. } => Some(complement(&self.char_set_within(inner, depth)?)),
            _ => None,
        }
    }
}

pub(super) const EXCEPTION_IGNORED: &str =
    "the exception is ignored: only sets of characters can be subtracted";

pub(super) fn not_a_set(source: &Source, at: usize) -> ImportError {
    source.error(at, "only sets of characters can be negated")
}
