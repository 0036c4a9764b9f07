//! Small sentences with deep nesting: every kind of statement inside every kind of
//! statement, three and more levels deep; the same for expressions.
//!
//! A parser seldom treats a part differently because of what is around it. But the code
//! behind the parser does: a `break` is compiled differently in a loop and in a `try` in
//! a loop. [Paths](super::paths) of a few steps do not cover that. From a statement to
//! the statement inside it there are a dozen steps, and most of them have no
//! alternative.
//!
//! So only *choices* count here: productions that have a token, in a rule with several
//! productions. Steps without a choice lead from one choice to the next. A pair of
//! choices is a *nesting* if, on the way from the outer to the inner one, there is a rule
//! that also derives the outer one. Chains of nestings are covered. What is optional in
//! the innermost choice (the label of a `break`) is present in one sentence and absent in
//! another.

use super::paths::{Build, Depth, Step, depths, is_productive};
use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};
use crate::shortest::{Items, Shortest};
use crate::tree::Tree;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Choices in a chain.
const MAX_CHOICES: usize = 4;
/// Ways from a place to the same rule.
const MAX_WAYS: usize = 6;

/// A choice, and the way to it.
struct Choice {
    way: Vec<Step>,
    production: ProductionId,
    /// The rules on the way, including the one of the production.
    rules: Vec<RuleId>,
}

/// A choice, a place in it, and the way from there to another choice.
struct Nesting {
    outer: ProductionId,
    way: Vec<Step>,
    inner: ProductionId,
}

/// Trees of pairs of choices, then of three choices, and so on. Trees of the same length
/// are in random order.
pub struct Nested {
    grammar: Arc<Grammar>,
    shortest: Shortest,
    items: Items,
    depths: Vec<Depth>,
    nestings: Vec<Nesting>,
    /// Chains of nestings for which no trees were built yet.
    chains: std::vec::IntoIter<Box<[u32]>>,
    /// Trees of the last chain.
    trees: VecDeque<Tree>,
    /// Sentences so far. Different chains can give the same sentence.
    seen: HashSet<Vec<TokenId>>,
}

impl Nested {
    /// Uses at most `max_chains` chains. If there are more chains of some length, they
    /// are drawn at random, and no longer ones are used.
    pub fn new(grammar: Arc<Grammar>, max_chains: usize, seed: u64) -> Nested {
        let items = Items::new(&grammar);
        let shortest = Shortest::new(&grammar, &items, |_| 1);
        let depths = depths(&grammar, &shortest, &items);
        let finder = Finder { grammar: &grammar, shortest: &shortest, items: &items };
        let nestings = finder.nestings(&depths);
        let mut random = fastrand::Rng::with_seed(seed);
        let chains = find_chains(&grammar, &nestings, max_chains, &mut random);
        let chains = chains.into_iter();
        let (trees, seen) = (VecDeque::new(), HashSet::new());
        Nested { grammar, shortest, items, depths, nestings, chains, trees, seen }
    }

    /// The trees of a chain: without and with the optional parts of its last choice.
    fn trees(&self, chain: &[u32]) -> VecDeque<Tree> {
        let grammar = &self.grammar;
        let build = Build { grammar, shortest: &self.shortest, depths: &self.depths };
        let finder = Finder { grammar, shortest: &self.shortest, items: &self.items };
        let links: Vec<&Nesting> = chain.iter().map(|&i| &self.nestings[i as usize]).collect();
        let (first, last) = (links[0], links[links.len() - 1]);
        let mut way = build.down_to(grammar.production(first.outer).rule);
        links.iter().for_each(|link| way.extend(&link.way));
        let ends = std::iter::once(vec![(last.inner, 0)]).chain(finder.optional_parts(last.inner));
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

/// Chains of nestings, by their indices.
fn find_chains(
    grammar: &Grammar,
    nestings: &[Nesting],
    max_chains: usize,
    random: &mut fastrand::Rng,
) -> Vec<Box<[u32]>> {
    // By production: the nestings in which it is the outer choice.
    let mut by_outer: Vec<Vec<u32>> = vec![Vec::new(); grammar.productions.len()];
    for (i, nesting) in nestings.iter().enumerate() {
        by_outer[nesting.outer.index()].push(i as u32);
    }
    let next = |chain: &[u32]| &by_outer[nestings[chain[chain.len() - 1] as usize].inner.index()];
    let longer = |chain: &[u32], next: u32| -> Box<[u32]> { [chain, &[next]].concat().into() };
    let mut chains: Vec<Box<[u32]>> = Vec::new();
    let mut last: Vec<Box<[u32]>> = (0..nestings.len() as u32).map(|i| [i].into()).collect();
    for _ in 2..MAX_CHOICES {
        random.shuffle(&mut last);
        last.truncate(max_chains - chains.len());
        chains.extend(last.iter().cloned());
        let room = max_chains - chains.len();
        let count: usize = last.iter().map(|chain| next(chain).len()).sum();
        last = match count <= room {
            true => last.iter().flat_map(|c| next(c).iter().map(|&i| longer(c, i))).collect(),
            false => {
                let mut drawn = HashSet::new();
                for _ in 0..2 * room {
                    let chain = &last[random.usize(0..last.len())];
                    if let Some(&i) = random.choice(next(chain)).filter(|_| drawn.len() < room) {
                        drawn.insert(longer(chain, i));
                    }
                }
                let mut drawn: Vec<_> = drawn.into_iter().collect();
                // A hash set has no stable order.
                drawn.sort_unstable();
                drawn
            }
        };
        if count > room {
            break;
        }
    }
    random.shuffle(&mut last);
    last.truncate(max_chains - chains.len());
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
        let is_reachable =
            |&&p: &&ProductionId| depths[self.grammar.production(p).rule.index()].0 != u32::MAX;
        let mut all: Vec<ProductionId> = sets.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        let mut nestings = Vec::new();
        for &outer in all.iter().filter(is_reachable) {
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

    /// The ways into the optional parts of a production.
    fn optional_parts(&self, production: ProductionId) -> impl Iterator<Item = Vec<Step>> {
        let symbols = self.grammar.production(production).symbols.iter().enumerate();
        let optional = symbols.filter(|(_, symbol)| self.is_nullable(symbol));
        optional.filter_map(move |(place, symbol)| {
            let Symbol::Rule(rule) = symbol else { return None };
            let productions = &self.grammar.rule(*rule).productions;
            let full = *productions.iter().find(|p| self.is_nonempty(**p))?;
            Some(vec![(production, place as u16), (full, 0)])
        })
    }

    /// The choices that a rule leads to, by the shortest ways.
    fn choices(&self, from: RuleId) -> Vec<Choice> {
        let mut found = Vec::new();
        let (mut seen, mut found_by) = (HashSet::new(), HashSet::new());
        // Each element has a rule; true if a rule on the way had alternatives; the
        // productions on the way that have tokens; the way; and the rules on the way. The
        // productions are needed because `catch` and `finally` are two ways to a block.
        type TokenProductions = Vec<ProductionId>;
        let first = (from, false, TokenProductions::new(), Vec::new(), vec![from]);
        let mut queue = VecDeque::from([first]);
        let mut ways: HashMap<RuleId, usize> = HashMap::new();
        while let Some((rule, chosen, by, way, rules)) = queue.pop_front() {
            let rule = self.grammar.rule(rule);
            let productive = || rule.productions.iter().filter(|&&p| self.is_productive(p));
            let all = productive().count();
            let full = productive().filter(|p| self.is_nonempty(**p)).count();
            for &production in productive() {
                let symbols = &self.grammar.production(production).symbols;
                let has_token = symbols.iter().any(|s| matches!(s, Symbol::Token(_)));
                if has_token && (all > 1 || chosen) && found_by.insert((production, by.clone())) {
                    found.push(Choice { way: way.clone(), production, rules: rules.clone() });
                }
                for (place, &symbol) in symbols.iter().enumerate() {
                    let Symbol::Rule(next) = symbol else { continue };
                    let others = symbols.iter().enumerate().filter(|(i, _)| *i != place);
                    let is_only = others.map(|(_, s)| s).all(|s| self.is_nullable(s));
                    if !is_only && (full > 1 || chosen && has_token) {
                        continue;
                    }
                    let chosen = chosen || full > 1 && !rule.helper;
                    let mut by = by.clone();
                    by.extend(has_token.then_some(production));
                    let ways = ways.entry(next).or_default();
                    if !rules.contains(&next)
                        && *ways < MAX_WAYS
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

    /// True if a production derives a finite string, and has symbols.
    fn is_nonempty(&self, production: ProductionId) -> bool {
        self.is_productive(production) && !self.grammar.production(production).symbols.is_empty()
    }

    fn is_productive(&self, production: ProductionId) -> bool {
        is_productive(self.shortest, self.items, production)
    }

    fn is_nullable(&self, symbol: &Symbol) -> bool {
        match symbol {
            Symbol::Token(_) => false,
            Symbol::Rule(rule) => self.shortest.rule[rule.index()] == 0,
        }
    }
}
