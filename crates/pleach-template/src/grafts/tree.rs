//! Derivation trees as flat lists, and edits of them.
//!
//! A tree is the list of its nodes from the root on, each followed by its children. So a
//! subtree is a range of nodes, and no edit recurses, however deep a tree is.

use super::MAX_NODES;
use pleach_grammar::{RuleId, TokenId};
use std::ops::Range;

#[derive(Clone, Copy)]
pub(super) struct Node {
    pub kind: NodeKind,
    /// How many nodes its subtree has, with itself.
    pub size: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    Rule(RuleId),
    /// A token, and the number of its text.
    Leaf(TokenId, u32),
}

/// The nodes of the subtree at a place.
pub(super) fn subtree(nodes: &[Node], at: usize) -> Range<usize> {
    at..at + nodes[at].size as usize
}

/// Draws a node that was derived from a rule. Half of the time all such nodes are equally
/// likely; otherwise all rules are, because most nodes are deep in expressions.
pub(super) fn draw_rule(nodes: &[Node], random: &mut fastrand::Rng) -> Option<(usize, RuleId)> {
    let rule = |at: usize| match nodes[at].kind {
        NodeKind::Rule(rule) => Some((at, rule)),
        NodeKind::Leaf(..) => None,
    };
    if random.bool() && !nodes.is_empty() {
        // At least half of all nodes are rules.
        return (0..32).find_map(|_| rule(random.usize(0..nodes.len())));
    }
    let mut places: Vec<(RuleId, usize)> =
        (0..nodes.len()).filter_map(rule).map(|(at, rule)| (rule, at)).collect();
    places.sort_unstable();
    let by_rule: Vec<&[(RuleId, usize)]> = places.chunk_by(|a, b| a.0 == b.0).collect();
    let places = random.choice(&by_rule)?;
    random.choice(places.iter()).map(|&(rule, at)| (at, rule))
}

/// Replaces the subtree at a place.
pub(super) fn replace(nodes: &[Node], at: usize, new: &[Node]) -> Vec<Node> {
    let old = subtree(nodes, at);
    let mut changed = Vec::with_capacity(nodes.len() + new.len() - old.len());
    changed.extend_from_slice(&nodes[..at]);
    changed.extend_from_slice(new);
    changed.extend_from_slice(&nodes[old.end..]);
    // The sizes of all nodes around it change as well.
    for (i, node) in changed[..at].iter_mut().enumerate() {
        if i + nodes[i].size as usize > at {
            node.size = node.size + new.len() as u32 - old.len() as u32;
        }
    }
    changed
}

/// Replaces a subtree by another of the same tree.
pub(super) fn copy_within(nodes: &[Node], random: &mut fastrand::Rng) -> Option<Vec<Node>> {
    let (at, _) = draw_rule(nodes, random)?;
    let others: Vec<usize> =
        (0..nodes.len()).filter(|&i| i != at && nodes[i].kind == nodes[at].kind).collect();
    let &from = random.choice(&others)?;
    Some(replace(nodes, at, &nodes[subtree(nodes, from)]))
}

/// Draws a subtree, `outer`, and a subtree of it that was derived from the same rule,
/// `inner`.
pub(super) fn draw_nested(nodes: &[Node], random: &mut fastrand::Rng) -> Option<(usize, usize)> {
    let (inner, _) = draw_rule(nodes, random)?;
    let is_around = |&i: &usize| {
        i < inner && nodes[i].kind == nodes[inner].kind && subtree(nodes, i).contains(&inner)
    };
    let outer: Vec<usize> = (0..inner).filter(is_around).collect();
    let &outer = random.choice(&outer)?;
    Some((outer, inner))
}

/// Replaces `outer` by its subtree `inner`.
pub(super) fn unwrap(nodes: &[Node], (outer, inner): (usize, usize)) -> Vec<Node> {
    replace(nodes, outer, &nodes[subtree(nodes, inner)])
}

/// Replaces `inner` by a copy of `outer`, then the inner subtree of that copy, and so on.
pub(super) fn nest(nodes: &[Node], (outer, inner): (usize, usize), times: usize) -> Vec<Node> {
    let mut changed = nodes.to_vec();
    let mut at = inner;
    for _ in 0..times {
        if changed.len() > MAX_NODES {
            break;
        }
        changed = replace(&changed, at, &nodes[subtree(nodes, outer)]);
        at += inner - outer;
    }
    changed
}
