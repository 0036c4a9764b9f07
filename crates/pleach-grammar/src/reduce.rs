//! Reduces an input while a condition holds, and keeps it in the language.
//!
//! A subtree of the derivation tree is replaced by the shortest text of its rule, or by
//! a subtree of the same rule inside it. Large subtrees are tried first. This is
//! repeated until nothing helps. Every attempt is a sentence, so none is wasted on inputs
//! that a parser refuses. The number of attempts is limited.

use crate::detokenize::Detokenizer;
use crate::grammar::{Grammar, Symbol, TokenId};
use crate::parse::Parsed;
use crate::shortest::{Items, Shortest};
use crate::tree::{Kind, Tree};

pub struct Reduced {
    pub bytes: Vec<u8>,
    pub attempts: usize,
    /// True if the limit on attempts was reached: there may be a smaller input.
    pub cut: bool,
}

/// Inner subtrees of the same rule that are tried for one subtree.
const MAX_INNER: usize = 12;

/// A tree with the texts of its leaves.
struct Work {
    tree: Tree,
    texts: Vec<Vec<u8>>,
}

/// Reduces a parsed input while `holds` is true for it.
pub fn reduce(
    grammar: &Grammar,
    detokenizer: &Detokenizer,
    input: &[u8],
    parsed: &Parsed,
    max_attempts: usize,
    mut holds: impl FnMut(&[u8]) -> bool,
) -> Reduced {
    let shortest =
        Shortest::new(grammar, &Items::new(grammar), |t| detokenizer.text(t).len() as u64 + 1);
    let texts = parsed.lexemes.iter().map(|l| input[l.span.0..l.span.1].to_vec()).collect();
    let mut work = Work { tree: parsed.tree.clone(), texts };
    let mut best = input.to_vec();
    let mut attempts = 0;
    loop {
        let mut helped = false;
        let mut order: Vec<usize> = (0..work.tree.nodes().len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(work.tree.nodes()[at].size));
        let mut at = 0;
        while at < order.len() {
            let node = order[at];
            at += 1;
            for smaller in replacements(grammar, detokenizer, &shortest, &work, node) {
                let bytes = to_bytes(detokenizer, &smaller);
                if bytes.len() >= best.len()
                    && smaller.tree.nodes().len() >= work.tree.nodes().len()
                {
                    continue;
                }
                if attempts >= max_attempts {
                    return Reduced { bytes: best, attempts, cut: true };
                }
                attempts += 1;
                if holds(&bytes) {
                    (best, work) = (bytes, smaller);
                    helped = true;
                    // The indices of nodes have changed.
                    order = (0..work.tree.nodes().len()).collect();
                    order.sort_by_key(|&at| std::cmp::Reverse(work.tree.nodes()[at].size));
                    at = at.min(order.len()).saturating_sub(1);
                    break;
                }
            }
        }
        if !helped {
            return Reduced { bytes: best, attempts, cut: false };
        }
    }
}

fn to_bytes(detokenizer: &Detokenizer, work: &Work) -> Vec<u8> {
    let tokens: Vec<(TokenId, &[u8])> =
        work.tree.tokens().zip(&work.texts).map(|(t, text)| (t, text.as_slice())).collect();
    detokenizer.join(&tokens)
}

/// The tree with each possible replacement of a subtree, the smallest first.
fn replacements(
    grammar: &Grammar,
    detokenizer: &Detokenizer,
    shortest: &Shortest,
    work: &Work,
    at: usize,
) -> Vec<Work> {
    let nodes = work.tree.nodes();
    let end = at + nodes[at].size as usize;
    let Some(rule) = work.tree.rule(grammar, at) else {
        // A leaf gets the shortest text of its token.
        let Kind::Token(token, leaf) = nodes[at].kind else { return Vec::new() };
        let text = detokenizer.text(token);
        if text.len() >= work.texts[leaf as usize].len() {
            return Vec::new();
        }
        let mut texts = work.texts.clone();
        texts[leaf as usize] = text.to_vec();
        return vec![Work { tree: work.tree.clone(), texts }];
    };
    let leaves = |from: usize, to: usize| {
        nodes[from..to].iter().filter(|n| matches!(n.kind, Kind::Token(..))).count()
    };
    let (before, inside) = (leaves(0, at), leaves(at, end));
    let splice = |kinds: Vec<Kind>, texts: Vec<Vec<u8>>| {
        let kinds = nodes[..at].iter().map(|n| n.kind).chain(kinds);
        let kinds = kinds.chain(nodes[end..].iter().map(|n| n.kind));
        let tree = Tree::from_kinds(grammar, kinds);
        let texts = [&work.texts[..before], &texts, &work.texts[before + inside..]].concat();
        Work { tree, texts }
    };
    let mut found = Vec::new();
    let (kinds, tokens) = shortest_tree(grammar, shortest, Symbol::Rule(rule));
    if kinds.len() < end - at {
        let texts = tokens.iter().map(|&t| detokenizer.text(t).to_vec()).collect();
        found.push(splice(kinds, texts));
    }
    let mut inner: Vec<usize> =
        (at + 1..end).filter(|&i| work.tree.rule(grammar, i) == Some(rule)).collect();
    inner.sort_by_key(|&i| nodes[i].size);
    inner.truncate(MAX_INNER);
    for i in inner {
        let to = i + nodes[i].size as usize;
        let first = leaves(0, i);
        let texts = work.texts[first..first + leaves(i, to)].to_vec();
        found.push(splice(nodes[i..to].iter().map(|n| n.kind).collect(), texts));
    }
    found
}

fn shortest_tree(
    grammar: &Grammar,
    shortest: &Shortest,
    root: Symbol,
) -> (Vec<Kind>, Vec<TokenId>) {
    let (mut kinds, mut tokens) = (Vec::new(), Vec::new());
    let mut stack = vec![root];
    while let Some(symbol) = stack.pop() {
        match symbol {
            Symbol::Token(t) => {
                kinds.push(Kind::Token(t, 0));
                tokens.push(t);
            }
            Symbol::Rule(r) => {
                let Some(p) = shortest.choice[r.index()] else { continue };
                kinds.push(Kind::Rule(p));
                stack.extend(grammar.production(p).symbols.iter().rev());
            }
        }
    }
    (kinds, tokens)
}
