//! A few small sentences that cover every path of `k` steps: from a rule down over
//! productions to a symbol (Havrikov and Zeller, "Systematically Covering Input
//! Structure", 2019).
//!
//! Paths that begin deepest in the grammar come first. For each missing path, a sentence
//! goes the shortest way from the start to the path, and has shortest texts elsewhere.
//! The way and these texts cover other paths as well, which then need no sentence.

use crate::grammar::{Grammar, ProductionId, RuleId, Symbol};
use crate::shortest::{Items, NEVER, Shortest};
use crate::tree::{Kind, Tree};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// Paths that can be covered.
pub const MAX_PATHS: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
#[error("there are more than {MAX_PATHS} paths of {0} steps; use fewer steps")]
pub struct TooMany(usize);

/// A production, and the index of one of its symbols.
pub type Step = (ProductionId, u16);

pub type Path = Box<[Step]>;

/// Trees whose sentences cover every path of `k` steps of any sentence.
pub fn cover(grammar: &Grammar, k: usize) -> Result<Vec<Tree>, TooMany> {
    let k = k.max(1);
    let items = Items::new(grammar);
    let shortest = Shortest::new(grammar, &items, |_| 1);
    let depths = depths(grammar, &shortest, &items);
    let mut missing = all_paths(grammar, &shortest, &items, &depths, k)?;
    let mut trees = Vec::new();
    // Deep paths first: shallow ones are on the way to them.
    let mut paths: Vec<Path> = missing.iter().cloned().collect();
    paths.sort_by_key(|p| (Reverse(depths[grammar.production(p[0].0).rule.index()].0), p.clone()));
    let build = Build { grammar, shortest: &shortest, depths: &depths };
    for path in paths {
        if missing.contains(&path) {
            let mut way = build.down_to(grammar.production(path[0].0).rule);
            way.extend(path.iter());
            let tree = build.along(&way);
            visit_paths(&tree, k, |p| {
                missing.remove(p);
            });
            trees.push(tree);
        }
    }
    Ok(trees)
}

/// Calls `visit` for every path of `k` steps in a tree.
pub fn visit_paths(tree: &Tree, k: usize, mut visit: impl FnMut(&Path)) {
    // From the root: the end of each node, its production, and the current child.
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
                visit(&last.into());
            }
        }
        if let Kind::Rule(p) = node.kind {
            way.push((at + node.size as usize, p, u16::MAX));
        }
    }
}

/// The distance of a rule from the start, and the last step of the way to it. The
/// distance is the number of steps, plus the number of tokens beside the way.
pub(super) type Depth = (u32, Option<Step>);

/// The depth of each rule, by the shortest way from the start.
pub(super) fn depths(grammar: &Grammar, shortest: &Shortest, items: &Items) -> Vec<Depth> {
    let mut depth = vec![(u32::MAX, None); grammar.rules.len()];
    depth[grammar.start.index()] = (0, None);
    let mut queue = BinaryHeap::from([(Reverse(0), Reverse(grammar.start))]);
    while let Some((Reverse(distance), Reverse(rule))) = queue.pop() {
        if distance > depth[rule.index()].0 {
            continue;
        }
        for (p, i, symbol) in steps(grammar, shortest, items, rule) {
            let Symbol::Rule(next) = symbol else { continue };
            let all = shortest.rest[items.item(p, 0) as usize];
            let beside = all.saturating_sub(shortest.rule[next.index()]);
            let total = distance.saturating_add(1 + beside.min(1 << 20) as u32);
            if total < depth[next.index()].0 {
                depth[next.index()] = (total, Some((p, i)));
                queue.push((Reverse(total), Reverse(next)));
            }
        }
    }
    depth
}

/// True if a production derives a finite string.
pub(super) fn is_productive(shortest: &Shortest, items: &Items, production: ProductionId) -> bool {
    shortest.rest[items.item(production, 0) as usize] != NEVER
}

/// The steps down from a rule.
fn steps<'a>(
    grammar: &'a Grammar,
    shortest: &'a Shortest,
    items: &'a Items,
    rule: RuleId,
) -> impl Iterator<Item = (ProductionId, u16, Symbol)> + 'a {
    let productive = |p: &&ProductionId| is_productive(shortest, items, **p);
    grammar.rule(rule).productions.iter().filter(productive).flat_map(|&p| {
        let symbols = grammar.production(p).symbols.iter().take(usize::from(u16::MAX));
        symbols.enumerate().map(move |(i, &s)| (p, i as u16, s))
    })
}

/// All paths of `k` steps that are reachable from the start.
fn all_paths(
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
            if found.len() + stack.len() > MAX_PATHS {
                return Err(TooMany(k));
            }
        }
    }
    Ok(found)
}

/// Builds small trees that contain a path: the shortest way down to it, and shortest
/// texts elsewhere.
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

    /// The tree that contains a way from the start.
    pub fn along(&self, way: &[Step]) -> Tree {
        let mut kinds = Vec::new();
        // What is still to build: a symbol with its shortest text, or a step of the way.
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
