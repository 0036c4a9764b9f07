//! Few small sentences that cover much: every way of `k` steps down the grammar,
//! from a rule over productions to a symbol, occurs in one of them (Havrikov and
//! Zeller, "Systematically Covering Input Structure", 2019).
//!
//! Paths that begin deepest in the grammar are taken first. For each that is
//! still missing, the shortest way from the start leads down to it, and all else
//! gets its shortest text. The way down covers paths, too, and so does what fills
//! up; those need no sentence of their own.

use crate::grammar::{Grammar, ProductionId, RuleId, Symbol};
use crate::shortest::{Items, NEVER, Shortest};
use crate::tree::{Kind, Tree};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// Paths that may be asked for.
pub const MOST: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
#[error("there are more than {MOST} paths of {0} steps: ask for shorter ones")]
pub struct TooMany(usize);

/// A production, and which of its symbols comes next.
pub type Step = (ProductionId, u16);

pub type Path = Box<[Step]>;

/// Trees whose sentences cover every path of `k` steps that sentences can have.
pub fn cover(grammar: &Grammar, k: usize) -> Result<Vec<Tree>, TooMany> {
    let k = k.max(1);
    let items = Items::new(grammar);
    let shortest = Shortest::new(grammar, &items, |_| 1);
    let depths = depths(grammar, &shortest, &items);
    let mut missing = all(grammar, &shortest, &items, &depths, k)?;
    let mut trees = Vec::new();
    // Deep paths first: shallow ones are on the way to them.
    let mut wanted: Vec<Path> = missing.iter().cloned().collect();
    wanted.sort_by_key(|p| (Reverse(depths[grammar.production(p[0].0).rule.index()].0), p.clone()));
    let build = Build { grammar, shortest: &shortest, depths: &depths };
    for path in wanted {
        if missing.contains(&path) {
            let mut way = build.down_to(grammar.production(path[0].0).rule);
            way.extend(path.iter());
            let tree = build.along(&way);
            covered(&tree, k, |p| {
                missing.remove(p);
            });
            trees.push(tree);
        }
    }
    Ok(trees)
}

/// Calls back for every path of `k` steps in a tree.
pub fn covered(tree: &Tree, k: usize, mut found: impl FnMut(&Path)) {
    let mut way: Vec<(usize, ProductionId, u16)> = Vec::new();
    for (at, node) in tree.nodes().iter().enumerate() {
        while let Some((end, ..)) = way.last()
            && *end <= at
        {
            way.pop();
        }
        // This node is the next symbol of its parent.
        if let Some(parent) = way.last_mut() {
            let step = parent.2.wrapping_add(1);
            parent.2 = step;
            let last: Vec<_> =
                way[way.len().saturating_sub(k)..].iter().map(|w| (w.1, w.2)).collect();
            if last.len() == k {
                found(&last.into());
            }
        }
        if let Kind::Rule(p) = node.kind {
            way.push((at + node.size as usize, p, u16::MAX));
        }
    }
}

/// How far a rule is from the start, in steps and in the tokens that stand beside the
/// shortest way there, and the step before it.
pub(super) type Depth = (u32, Option<Step>);

/// By rule.
pub(super) fn depths(grammar: &Grammar, shortest: &Shortest, items: &Items) -> Vec<Depth> {
    let mut depth = vec![(u32::MAX, None); grammar.rules.len()];
    depth[grammar.start.index()] = (0, None);
    let mut queue = BinaryHeap::from([(Reverse(0), Reverse(grammar.start))]);
    while let Some((Reverse(far), Reverse(rule))) = queue.pop() {
        if far > depth[rule.index()].0 {
            continue;
        }
        for (p, i, symbol) in steps(grammar, shortest, items, rule) {
            let Symbol::Rule(next) = symbol else { continue };
            let all = shortest.rest[items.item(p, 0) as usize];
            let beside = all.saturating_sub(shortest.rule[next.index()]);
            let there = far.saturating_add(1 + beside.min(1 << 20) as u32);
            if there < depth[next.index()].0 {
                depth[next.index()] = (there, Some((p, i)));
                queue.push((Reverse(there), Reverse(next)));
            }
        }
    }
    depth
}

/// Whether some sentence has a production.
pub(super) fn ends(shortest: &Shortest, items: &Items, production: ProductionId) -> bool {
    shortest.rest[items.item(production, 0) as usize] != NEVER
}

/// The steps down from a rule that some sentence has.
fn steps<'a>(
    grammar: &'a Grammar,
    shortest: &'a Shortest,
    items: &'a Items,
    rule: RuleId,
) -> impl Iterator<Item = (ProductionId, u16, Symbol)> + 'a {
    let there = |p: &&ProductionId| ends(shortest, items, **p);
    grammar.rule(rule).productions.iter().filter(there).flat_map(|&p| {
        let symbols = grammar.production(p).symbols.iter().take(usize::from(u16::MAX));
        symbols.enumerate().map(move |(i, &s)| (p, i as u16, s))
    })
}

fn all(
    grammar: &Grammar,
    shortest: &Shortest,
    items: &Items,
    depths: &[Depth],
    k: usize,
) -> Result<HashSet<Path>, TooMany> {
    let mut found = HashSet::new();
    let reached = |r: &RuleId| depths[r.index()].0 != u32::MAX;
    let mut stack: Vec<(RuleId, Vec<Step>)> =
        grammar.rule_ids().filter(reached).map(|r| (r, Vec::new())).collect();
    while let Some((rule, way)) = stack.pop() {
        for (p, i, symbol) in steps(grammar, shortest, items, rule) {
            let mut way = way.clone();
            way.push((p, i));
            if way.len() == k {
                found.insert(way.into());
            } else if let Symbol::Rule(next) = symbol {
                stack.push((next, way));
            }
            if found.len() + stack.len() > MOST {
                return Err(TooMany(k));
            }
        }
    }
    Ok(found)
}

/// Makes the smallest trees with a path in them, as far as going the shortest way down to
/// it and filling up with shortest texts makes them.
pub(super) struct Build<'a> {
    pub grammar: &'a Grammar,
    pub shortest: &'a Shortest,
    pub depths: &'a [Depth],
}

impl Build<'_> {
    /// The shortest way from the start to a rule.
    pub fn down_to(&self, mut rule: RuleId) -> Vec<Step> {
        let mut way: Vec<Step> = Vec::new();
        while let Some(step) = self.depths[rule.index()].1 {
            way.push(step);
            rule = self.grammar.production(step.0).rule;
        }
        way.reverse();
        way
    }

    /// The tree with a way in it that begins at the start.
    pub fn along(&self, way: &[Step]) -> Tree {
        let mut kinds = Vec::new();
        // What is left to write: symbols by their shortest texts, or the way on.
        enum Left {
            Symbol(Symbol),
            Way(usize),
        }
        let mut stack = vec![Left::Way(0)];
        while let Some(left) = stack.pop() {
            let (production, on) = match left {
                Left::Symbol(Symbol::Token(t)) => {
                    kinds.push(Kind::Token(t, 0));
                    continue;
                }
                Left::Symbol(Symbol::Rule(r)) => match self.shortest.choice[r.index()] {
                    Some(p) => (p, None),
                    None => continue,
                },
                Left::Way(at) => (way[at].0, Some((way[at].1, at + 1))),
            };
            kinds.push(Kind::Rule(production));
            for (i, &symbol) in self.grammar.production(production).symbols.iter().enumerate().rev()
            {
                stack.push(match on {
                    Some((step, next)) if usize::from(step) == i && next < way.len() => {
                        Left::Way(next)
                    }
                    _ => Left::Symbol(symbol),
                });
            }
        }
        Tree::from_kinds(self.grammar, kinds)
    }
}
