//! Small sentences in which whatever nests is nested in each other: every kind of
//! statement in every kind of statement in every kind of statement, every kind of
//! expression likewise.
//!
//! What a parser does with a part seldom depends on what is around it. What comes behind
//! the parser does depend on it: a `break` is compiled otherwise in a loop than in a
//! `try` in a loop. [Ways](super::paths) of a few steps down a grammar do not show that,
//! because there are a dozen steps from a statement to the statement in it, most of
//! which decide nothing.
//!
//! So only *choices* count here: productions with a token of their own, in a rule that has
//! others to choose from. From a place in a choice one gets to the next by steps that
//! choose nothing. A pair of choices is a *nesting* if on the way from one to the other
//! there is a rule that the first could have been chosen for as well; and what is covered
//! is nestings of nestings. What may be left out of the innermost (the label of a
//! `break`) is there once and not there once.

use super::paths::{Build, Depth, Step, depths, ends};
use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};
use crate::shortest::{Items, Shortest};
use crate::tree::Tree;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Choices in a chain, at most.
const LONGEST: usize = 4;
/// Ways from a place to the same rule, at most.
const WAYS: usize = 6;

/// A choice, with the way to it.
struct Choice {
    way: Vec<Step>,
    production: ProductionId,
    /// The rules on the way, that of the production included.
    rules: Vec<RuleId>,
}

/// A choice, a place in it, and the way from there to another choice.
struct Nesting {
    outer: ProductionId,
    way: Vec<Step>,
    inner: ProductionId,
}

/// Trees of pairs of choices, then of three, and so on, in an order without order among
/// those of the same length.
pub struct Nested {
    grammar: Arc<Grammar>,
    shortest: Shortest,
    items: Items,
    depths: Vec<Depth>,
    nestings: Vec<Nesting>,
    /// Chains of nestings that no trees were made of.
    chains: std::vec::IntoIter<Box<[u32]>>,
    /// Trees of the last chain.
    trees: VecDeque<Tree>,
    /// Sentences so far: what fills up is a choice as well, and so some are made twice.
    seen: HashSet<Vec<TokenId>>,
}

impl Nested {
    /// Of `most` chains. Where not all of a length fit, they are drawn at random, and there
    /// are no longer ones.
    pub fn new(grammar: Arc<Grammar>, most: usize, seed: u64) -> Nested {
        let items = Items::new(&grammar);
        let shortest = Shortest::new(&grammar, &items, |_| 1);
        let depths = depths(&grammar, &shortest, &items);
        let finder = Finder { grammar: &grammar, shortest: &shortest, items: &items };
        let nestings = finder.nestings(&depths);
        let chains = chains(&grammar, &nestings, most, &mut fastrand::Rng::with_seed(seed));
        let chains = chains.into_iter();
        let (trees, seen) = (VecDeque::new(), HashSet::new());
        Nested { grammar, shortest, items, depths, nestings, chains, trees, seen }
    }

    /// The sentences of a chain: with what may be left out at its end, and without.
    fn trees(&self, chain: &[u32]) -> VecDeque<Tree> {
        let grammar = &self.grammar;
        let build = Build { grammar, shortest: &self.shortest, depths: &self.depths };
        let finder = Finder { grammar, shortest: &self.shortest, items: &self.items };
        let links: Vec<&Nesting> = chain.iter().map(|&i| &self.nestings[i as usize]).collect();
        let (first, last) = (links[0], links[links.len() - 1]);
        let mut way = build.down_to(grammar.production(first.outer).rule);
        links.iter().for_each(|link| way.extend(&link.way));
        let ends = std::iter::once(vec![(last.inner, 0)]).chain(finder.options(last.inner));
        ends.map(|end| build.along(&[&way[..], &end].concat())).collect()
    }
}

impl Iterator for Nested {
    type Item = Tree;

    fn next(&mut self) -> Option<Tree> {
        loop {
            while let Some(tree) = self.trees.pop_front() {
                if self.seen.insert(tree.tokens().collect()) {
                    return Some(tree);
                }
            }
            let chain = self.chains.next()?;
            self.trees = self.trees(&chain);
        }
    }
}

/// Chains of nestings, by their numbers.
fn chains(
    grammar: &Grammar,
    nestings: &[Nesting],
    most: usize,
    random: &mut fastrand::Rng,
) -> Vec<Box<[u32]>> {
    // By production: the nestings that it is the outer one of.
    let mut of: Vec<Vec<u32>> = vec![Vec::new(); grammar.productions.len()];
    for (i, nesting) in nestings.iter().enumerate() {
        of[nesting.outer.index()].push(i as u32);
    }
    let on = |chain: &[u32]| &of[nestings[chain[chain.len() - 1] as usize].inner.index()];
    let longer = |chain: &[u32], on: u32| -> Box<[u32]> { [chain, &[on]].concat().into() };
    let mut chains: Vec<Box<[u32]>> = Vec::new();
    let mut last: Vec<Box<[u32]>> = (0..nestings.len() as u32).map(|i| [i].into()).collect();
    for _ in 2..LONGEST {
        random.shuffle(&mut last);
        last.truncate(most - chains.len());
        chains.extend(last.iter().cloned());
        let room = most - chains.len();
        let count: usize = last.iter().map(|chain| on(chain).len()).sum();
        last = match count <= room {
            true => last.iter().flat_map(|c| on(c).iter().map(|&i| longer(c, i))).collect(),
            false => {
                let mut drawn = HashSet::new();
                for _ in 0..2 * room {
                    let chain = &last[random.usize(0..last.len())];
                    if let Some(&i) = random.choice(on(chain)).filter(|_| drawn.len() < room) {
                        drawn.insert(longer(chain, i));
                    }
                }
                let mut drawn: Vec<_> = drawn.into_iter().collect();
                // The order of a set is nobody's.
                drawn.sort_unstable();
                drawn
            }
        };
        if count > room {
            break;
        }
    }
    random.shuffle(&mut last);
    last.truncate(most - chains.len());
    chains.extend(last);
    chains
}

struct Finder<'a> {
    grammar: &'a Grammar,
    shortest: &'a Shortest,
    items: &'a Items,
}

impl Finder<'_> {
    fn nestings(&self, depths: &[Depth]) -> Vec<Nesting> {
        let choices: Vec<Vec<Choice>> =
            self.grammar.rule_ids().map(|rule| self.choices(rule)).collect();
        let productions = |c: &Vec<Choice>| c.iter().map(|c| c.production).collect();
        let sets: Vec<HashSet<ProductionId>> = choices.iter().map(productions).collect();
        let reached =
            |&&p: &&ProductionId| depths[self.grammar.production(p).rule.index()].0 != u32::MAX;
        let mut all: Vec<ProductionId> = sets.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        let mut nestings = Vec::new();
        for &outer in all.iter().filter(reached) {
            for (place, symbol) in self.grammar.production(outer).symbols.iter().enumerate() {
                let Symbol::Rule(rule) = symbol else { continue };
                for inner in &choices[rule.index()] {
                    if inner.rules.iter().any(|r| sets[r.index()].contains(&outer)) {
                        let mut way = vec![(outer, place as u16)];
                        way.extend(&inner.way);
                        nestings.push(Nesting { outer, way, inner: inner.production });
                    }
                }
            }
        }
        nestings
    }

    /// The ways into what may be left out of a production.
    fn options(&self, production: ProductionId) -> impl Iterator<Item = Vec<Step>> {
        let symbols = self.grammar.production(production).symbols.iter().enumerate();
        let optional = symbols.filter(|(_, symbol)| self.empty(symbol));
        optional.filter_map(move |(place, symbol)| {
            let Symbol::Rule(rule) = symbol else { return None };
            let productions = &self.grammar.rule(*rule).productions;
            let full = *productions.iter().find(|p| self.is_full(**p))?;
            Some(vec![(production, place as u16), (full, 0)])
        })
    }

    /// The choices that a rule comes to, by the shortest ways.
    fn choices(&self, from: RuleId) -> Vec<Choice> {
        let mut found = Vec::new();
        let (mut seen, mut found_by) = (HashSet::new(), HashSet::new());
        // With whether a rule on the way had others to choose from, and the productions on
        // it that have tokens: a `catch` and a `finally` are two ways to the same block.
        type By = Vec<ProductionId>;
        let mut queue = VecDeque::from([(from, false, By::new(), Vec::new(), vec![from])]);
        let mut ways: HashMap<RuleId, usize> = HashMap::new();
        while let Some((rule, chosen, by, way, rules)) = queue.pop_front() {
            let rule = self.grammar.rule(rule);
            let there = || rule.productions.iter().filter(|&&p| self.ends(p));
            let (all, full) = (there().count(), there().filter(|p| self.is_full(**p)).count());
            for &production in there() {
                let symbols = &self.grammar.production(production).symbols;
                let token = symbols.iter().any(|s| matches!(s, Symbol::Token(_)));
                if token && (all > 1 || chosen) && found_by.insert((production, by.clone())) {
                    found.push(Choice { way: way.clone(), production, rules: rules.clone() });
                }
                for (place, &symbol) in symbols.iter().enumerate() {
                    let Symbol::Rule(next) = symbol else { continue };
                    let others = symbols.iter().enumerate().filter(|(i, _)| *i != place);
                    let alone = others.map(|(_, s)| s).all(|s| self.empty(s));
                    if !alone && (full > 1 || chosen && token) {
                        continue;
                    }
                    let chosen = chosen || full > 1 && !rule.helper;
                    let mut by = by.clone();
                    by.extend(token.then_some(production));
                    let ways = ways.entry(next).or_default();
                    if !rules.contains(&next)
                        && *ways < WAYS
                        && seen.insert((next, chosen, by.clone()))
                    {
                        *ways += 1;
                        let way = [&way[..], &[(production, place as u16)]].concat();
                        let rules = [&rules[..], &[next]].concat();
                        queue.push_back((next, chosen, by, way, rules));
                    }
                }
            }
        }
        found
    }

    /// Whether a production has sentences, and more than nothing in it.
    fn is_full(&self, production: ProductionId) -> bool {
        self.ends(production) && !self.grammar.production(production).symbols.is_empty()
    }

    fn ends(&self, production: ProductionId) -> bool {
        ends(self.shortest, self.items, production)
    }

    fn empty(&self, symbol: &Symbol) -> bool {
        match symbol {
            Symbol::Token(_) => false,
            Symbol::Rule(rule) => self.shortest.rule[rule.index()] == 0,
        }
    }
}
