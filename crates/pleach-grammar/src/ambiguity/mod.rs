//! Searches for a sentence that has two derivations.
//!
//! No algorithm decides whether a grammar is ambiguous. But a grammar whose LALR(1)
//! tables have no conflict is unambiguous, and most ambiguous grammars have a short
//! ambiguous string. So the tables are tried first. Then strings are listed by rising
//! length (in `listing`); a string that is derived twice is the proof.
//!
//! Two things keep the strings short and few:
//!
//! - Strings of every rule are listed, not only of the start. `e + e + e` is found long
//!   before a program that contains it. The sentence around it is then completed with
//!   shortest strings.
//! - A second search follows the conflicts of the LALR(1) tables. For two rules in
//!   conflict, the nearest rule that derives both is found. Only the rules between are
//!   derived in all ways; every other rule is its shortest string. This finds
//!   `if ( e ) if ( e ) s else s`, which a list of all strings would reach much later.
//!   (The idea is from Isradisaikul and Myers, "Finding counterexamples from parsing
//!   conflicts", 2015, who search parser states and not strings.)
//!
//! The limits count work and not time, so a grammar has the same result on every
//! machine.

mod listing;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;

use self::listing::{Double, Listing, without_equivalent_tokens};
use crate::analysis::Analysis;
use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};
use crate::lalr::conflicting_rules;
use crate::note::{Note, Severity};
use crate::shortest::{Items, NEVER, Shortest, plus};

/// Pairs of rules in conflict that are examined.
const MAX_PAIRS: usize = 64;
/// Rules that are reported. Users fix these and check again.
const MAX_REPORTED: usize = 8;
/// Tokens of a sentence around the ambiguous part.
const MAX_SENTENCE: usize = 1000;

/// Limits of the work of a search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Strings that are listed when all rules are derived in all ways.
    pub all: usize,
    /// Strings that are listed for each conflict.
    pub conflict: usize,
}

impl Default for Limits {
    /// One or two seconds for the largest grammars.
    fn default() -> Limits {
        Limits { all: 200_000, conflict: 50_000 }
    }
}

/// What is known of a grammar's ambiguity.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// One token of lookahead always decides: no sentence has two derivations.
    Unambiguous,
    /// Some rule derives itself: [`Analysis::cyclic_rule`].
    Endless,
    /// At most one witness for each rule.
    Ambiguous(Vec<Witness>),
    /// No rule has two derivations of a string of at most `tokens` tokens.
    Unknown { tokens: usize },
}

/// A sentence with two derivations.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The rule that derives a part of the sentence in two ways.
    pub rule: RuleId,
    /// The first productions of the two derivations. They are the same if the
    /// derivations differ further down, or in where the parts end.
    pub productions: [ProductionId; 2],
    pub sentence: Vec<TokenId>,
    pub part: Range<usize>,
}

/// Proves that a grammar is unambiguous, or searches for ambiguous sentences.
pub fn search(grammar: &Grammar, analysis: &Analysis, limits: Limits) -> Verdict {
    if analysis.cyclic_rule().is_some() {
        return Verdict::Endless;
    }
    let pairs = conflicting_rules(grammar);
    if pairs.as_ref().is_some_and(Vec::is_empty) {
        return Verdict::Unambiguous;
    }
    let items = Items::new(grammar);
    let shortest = Shortest::new(grammar, &items, |_| 1);
    let listed = without_equivalent_tokens(grammar);
    let search = Search { grammar, analysis, items, shortest, listed };
    let mut found: BTreeMap<RuleId, Double> = BTreeMap::new();
    let tokens = search.list(|_| true, limits.all, &mut found);
    for pair in pairs.iter().flatten().take(MAX_PAIRS) {
        if found.len() >= MAX_REPORTED {
            break;
        }
        if let Some(open) = search.between(*pair) {
            search.list(|rule| open[rule.index()], limits.conflict, &mut found);
        }
    }
    let contexts = search.contexts();
    let witness = |double: &Double| search.witness(double, &contexts);
    let witnesses: Vec<Witness> = found.values().filter_map(witness).collect();
    if witnesses.is_empty() { Verdict::Unknown { tokens } } else { Verdict::Ambiguous(witnesses) }
}

impl Witness {
    /// A note for the user, at the rule.
    pub fn note(&self, grammar: &Grammar) -> Note {
        let rule = grammar.rule(self.rule);
        let shown = |tokens: &[TokenId]| {
            let texts = tokens.iter().map(|&t| grammar.token(t).shown());
            texts.collect::<Vec<_>>().join(" ")
        };
        let by = |p: ProductionId| {
            let line = grammar.production(p).place.line;
            let line = if line == 0 { String::new() } else { format!(" (line {line})") };
            format!("\"{}\"{line}", grammar.show(p))
        };
        let [one, other] = self.productions;
        let part = &self.sentence[self.part.clone()];
        let part = if part.is_empty() { "nothing".into() } else { shown(part) };
        let mut text = format!("ambiguous: {part} is {} in two ways, ", rule.name);
        if one == other {
            text += &format!("both by {}", by(one));
        } else {
            text += &format!("by {} and by {}", by(one), by(other));
        }
        if self.part.len() < self.sentence.len() {
            text += &format!(", as in {}", shown(&self.sentence));
        }
        Note { place: rule.place.clone(), severity: Severity::Info, text }
    }
}

struct Search<'a> {
    grammar: &'a Grammar,
    analysis: &'a Analysis,
    items: Items,
    shortest: Shortest,
    listed: Vec<bool>,
}

/// The production and the position of a rule in the shortest sentence that contains
/// it. The start has none.
type Context = Option<(ProductionId, usize)>;

impl Search<'_> {
    /// Lists at most `max_strings` strings. Rules that are not open have only their
    /// shortest string. Returns the length up to which the list is complete.
    fn list(
        &self,
        open: impl Fn(RuleId) -> bool,
        max_strings: usize,
        found: &mut BTreeMap<RuleId, Double>,
    ) -> usize {
        let open: Vec<bool> =
            self.grammar.rule_ids().map(|r| self.analysis.is_useful(r) && open(r)).collect();
        let mut listing =
            Listing::new(self.grammar, &self.items, &self.shortest, &self.listed, open);
        listing.run(max_strings, |double| {
            found.entry(double.rule).or_insert(double);
            found.len() < MAX_REPORTED
        })
    }

    /// The rules between two rules and the nearest rule that derives both.
    fn between(&self, (one, other): (RuleId, RuleId)) -> Option<Vec<bool>> {
        let (to_one, to_other) = (self.distances_to(one), self.distances_to(other));
        let both = |r: &usize| {
            let (a, b) = (to_one[*r]?, to_other[*r]?);
            Some((a + b, *r))
        };
        let useful = |r: &usize| self.analysis.is_useful(RuleId::new(*r));
        let (_, nearest) = (0..to_one.len()).filter(useful).filter_map(|r| both(&r)).min()?;
        let mut open = vec![false; to_one.len()];
        let mut stack = vec![nearest];
        while let Some(rule) = stack.pop() {
            if (to_one[rule].is_none() && to_other[rule].is_none())
                || std::mem::replace(&mut open[rule], true)
            {
                continue;
            }
            for &p in &self.grammar.rules[rule].productions {
                stack.extend(rules_of(self.grammar, p).map(RuleId::index));
            }
        }
        Some(open)
    }

    /// By rule: the smallest number of productions that lead to `goal`.
    fn distances_to(&self, goal: RuleId) -> Vec<Option<u32>> {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.grammar.rules.len()];
        for p in self.grammar.production_ids() {
            for rule in rules_of(self.grammar, p) {
                users[rule.index()].push(self.grammar.production(p).rule.index());
            }
        }
        let mut distance = vec![None; users.len()];
        distance[goal.index()] = Some(0);
        let mut queue = VecDeque::from([(goal.index(), 0)]);
        while let Some((rule, so_far)) = queue.pop_front() {
            for &user in &users[rule] {
                if distance[user].is_none() {
                    distance[user] = Some(so_far + 1);
                    queue.push_back((user, so_far + 1));
                }
            }
        }
        distance
    }

    /// By rule: its context, if it is part of a sentence.
    fn contexts(&self) -> Vec<Option<Context>> {
        let mut heap = BinaryHeap::new();
        let mut contexts = vec![None; self.grammar.rules.len()];
        heap.push((Reverse(0), self.grammar.start, None));
        while let Some((Reverse(cost), rule, context)) = heap.pop() {
            if contexts[rule.index()].is_some() {
                continue;
            }
            contexts[rule.index()] = Some(context);
            for &p in &self.grammar.rule(rule).productions {
                let all = self.shortest.rest[self.items.item(p, 0) as usize];
                if all == NEVER {
                    continue;
                }
                for (at, symbol) in self.grammar.production(p).symbols.iter().enumerate() {
                    if let Symbol::Rule(r) = symbol {
                        let around = all - self.shortest.rule[r.index()].min(all);
                        heap.push((Reverse(plus(cost, around)), *r, Some((p, at))));
                    }
                }
            }
        }
        contexts
    }

    /// A sentence around a string with two derivations; `None` if it is too long.
    fn witness(&self, double: &Double, contexts: &[Option<Context>]) -> Option<Witness> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut rule = double.rule;
        while let Some((p, at)) = (*contexts.get(rule.index())?)? {
            let symbols = &self.grammar.production(p).symbols;
            let (mut left, mut right) = (Vec::new(), Vec::new());
            let append = |symbols: &[Symbol], tokens: &mut Vec<TokenId>| {
                self.shortest.append(self.grammar, symbols, tokens, MAX_SENTENCE)
            };
            let is_short =
                append(&symbols[..at], &mut left) && append(&symbols[at + 1..], &mut right);
            left.append(&mut before);
            before = left;
            after.append(&mut right);
            if !is_short || before.len() + after.len() > MAX_SENTENCE {
                return None;
            }
            rule = self.grammar.production(p).rule;
        }
        let part = before.len()..before.len() + double.tokens.len();
        let sentence = [before, double.tokens.clone(), after].concat();
        Some(Witness { rule: double.rule, productions: double.productions, sentence, part })
    }
}

fn rules_of(grammar: &Grammar, production: ProductionId) -> impl Iterator<Item = RuleId> + '_ {
    grammar.production(production).symbols.iter().filter_map(|symbol| match symbol {
        Symbol::Rule(rule) => Some(*rule),
        Symbol::Token(_) => None,
    })
}
