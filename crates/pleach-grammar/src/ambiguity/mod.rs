//! Looking for a sentence that has two derivations.
//!
//! No algorithm decides whether a grammar is ambiguous. It is not if an LALR(1)
//! parser for it has no conflict, and most grammars that are have a short proof of
//! it. So after the first has been tried, strings are listed (in `listing`), by
//! rising length, and one that is made twice is the proof.
//!
//! Two things keep the strings short and few. They are strings of every rule and
//! not of the start alone: `e + e + e` is met long before the program around it,
//! which is then filled up with what is shortest. And a second search goes by the
//! conflicts of the LALR(1) tables: for two rules that a parser cannot tell apart,
//! only rules between them and the nearest rule that leads to both are derived in
//! all ways, and every other rule is its shortest string. That finds
//! `if ( e ) if ( e ) s else s`, of which a list of all strings is far. (The idea of
//! going by conflicts is that of Isradisaikul and Myers, "Finding counterexamples
//! from parsing conflicts", 2015; they go through parser states and not through
//! strings.)
//!
//! Work is limited by counting, so that the same grammar has the same answer on
//! every machine.

mod listing;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;

use self::listing::{Double, Listing, without_like_tokens};
use crate::analysis::Analysis;
use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};
use crate::lalr::conflicting_rules;
use crate::note::{Note, Severity};
use crate::shortest::{Items, NEVER, Shortest, plus};

/// Pairs of rules in conflict that are looked into.
const MOST_PAIRS: usize = 64;
/// Rules that are reported; who mends these looks again.
const MOST_FOUND: usize = 8;
/// Tokens of a sentence around the ambiguous part.
const LONGEST_SENTENCE: usize = 1000;

/// How much work a search may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Strings that are made when all rules are derived in all ways.
    pub all: usize,
    /// Strings that are made for each conflict.
    pub conflict: usize,
}

impl Default for Limits {
    /// A second or two for the largest grammars.
    fn default() -> Limits {
        Limits { all: 200_000, conflict: 50_000 }
    }
}

/// What is known of a grammar's ambiguity.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// One token of lookahead always decides: no sentence has two derivations.
    Unambiguous,
    /// Some rules can become themselves: [`Analysis::endless`].
    Endless,
    /// At most one witness a rule.
    Ambiguous(Vec<Witness>),
    /// No rule has two derivations of a string of up to so many tokens.
    Unknown { tokens: usize },
}

/// A sentence with two derivations.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The rule that derives a part of the sentence in two ways.
    pub rule: RuleId,
    /// What the two begin with; twice the same if they differ further down or in
    /// where the parts end.
    pub productions: [ProductionId; 2],
    pub sentence: Vec<TokenId>,
    pub part: Range<usize>,
}

/// Proves that a grammar is unambiguous, or looks for sentences that say it is not.
pub fn search(grammar: &Grammar, analysis: &Analysis, limits: Limits) -> Verdict {
    if analysis.endless().is_some() {
        return Verdict::Endless;
    }
    let pairs = conflicting_rules(grammar);
    if pairs.as_ref().is_some_and(Vec::is_empty) {
        return Verdict::Unambiguous;
    }
    let items = Items::new(grammar);
    let shortest = Shortest::new(grammar, &items, |_| 1);
    let listed = without_like_tokens(grammar);
    let search = Search { grammar, analysis, items, shortest, listed };
    let mut found: BTreeMap<RuleId, Double> = BTreeMap::new();
    let tokens = search.list(|_| true, limits.all, &mut found);
    for pair in pairs.iter().flatten().take(MOST_PAIRS) {
        if found.len() >= MOST_FOUND {
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
    /// A remark for a person, at the rule.
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

/// How the shortest sentence around a rule goes: the production that has it, and
/// where. The start has none.
type Context = Option<(ProductionId, usize)>;

impl Search<'_> {
    /// Lists strings, with the rules that are not open as their shortest string.
    fn list(
        &self,
        open: impl Fn(RuleId) -> bool,
        most: usize,
        found: &mut BTreeMap<RuleId, Double>,
    ) -> usize {
        let open: Vec<bool> =
            self.grammar.rule_ids().map(|r| self.analysis.useful(r) && open(r)).collect();
        let mut listing =
            Listing::new(self.grammar, &self.items, &self.shortest, &self.listed, open);
        listing.run(most, |double| {
            found.entry(double.rule).or_insert(double);
            found.len() < MOST_FOUND
        })
    }

    /// The rules between two and the nearest that leads to both.
    fn between(&self, (one, other): (RuleId, RuleId)) -> Option<Vec<bool>> {
        let (to_one, to_other) = (self.distances_to(one), self.distances_to(other));
        let both = |r: &usize| {
            let (a, b) = (to_one[*r]?, to_other[*r]?);
            Some((a + b, *r))
        };
        let useful = |r: &usize| self.analysis.useful(RuleId::new(*r));
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

    /// By rule: the least number of productions that lead to `goal`.
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

    /// By rule: how the shortest sentence around it goes.
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

    /// A sentence around a string with two derivations. None if it is too long to
    /// be read.
    fn witness(&self, double: &Double, contexts: &[Option<Context>]) -> Option<Witness> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut rule = double.rule;
        while let Some((p, at)) = (*contexts.get(rule.index())?)? {
            let symbols = &self.grammar.production(p).symbols;
            let (mut left, mut right) = (Vec::new(), Vec::new());
            let fits =
                self.shortest.append(self.grammar, &symbols[..at], &mut left, LONGEST_SENTENCE)
                    && self.shortest.append(
                        self.grammar,
                        &symbols[at + 1..],
                        &mut right,
                        LONGEST_SENTENCE,
                    );
            left.append(&mut before);
            before = left;
            after.append(&mut right);
            if !fits || before.len() + after.len() > LONGEST_SENTENCE {
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
