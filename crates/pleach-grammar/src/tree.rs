//! Derivation trees. A tree is a list of its nodes in preorder, each with the size of
//! its subtree. So deep trees need no recursion.

use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub kind: Kind,
    /// The number of nodes of the subtree, including this one.
    pub size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Rule(ProductionId),
    /// A token, and its number among the leaves.
    Token(TokenId, u32),
}

impl Tree {
    /// A tree from the kinds of its nodes in preorder. They must be a tree of the grammar.
    pub(crate) fn from_kinds(grammar: &Grammar, kinds: impl IntoIterator<Item = Kind>) -> Tree {
        let mut nodes: Vec<Node> = kinds.into_iter().map(|kind| Node { kind, size: 1 }).collect();
        // From the right: the sizes of complete subtrees without a parent.
        let mut waiting: Vec<u32> = Vec::new();
        let mut leaves = 0;
        for node in &mut nodes {
            if let Kind::Token(_, number) = &mut node.kind {
                *number = leaves;
                leaves += 1;
            }
        }
        for node in nodes.iter_mut().rev() {
            if let Kind::Rule(p) = node.kind {
                let children = waiting.len() - grammar.production(p).symbols.len();
                node.size += waiting.drain(children..).sum::<u32>();
            }
            waiting.push(node.size);
        }
        Tree { nodes }
    }

    /// A tree from its nodes in postorder, each with its size.
    ///
    /// In reverse, parents come before their children, and right children before left
    /// ones. A node ends where the subtree to its right begins, or where its parent
    /// ends. It begins `size` nodes before its end.
    pub(crate) fn from_postorder(post: &[Node]) -> Tree {
        let mut nodes = post.to_vec();
        let mut parents: Vec<usize> = Vec::new();
        let mut end = nodes.len();
        for node in post.iter().rev() {
            let at = end - node.size as usize;
            nodes[at] = *node;
            if node.size > 1 {
                parents.push(at);
                continue;
            }
            end = at;
            while end > 0 && parents.last() == Some(&(end - 1)) {
                parents.pop();
                end -= 1;
            }
        }
        Tree { nodes }
    }

    pub(crate) fn empty() -> Tree {
        Tree { nodes: Vec::new() }
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The tokens at the leaves.
    pub fn tokens(&self) -> impl Iterator<Item = TokenId> + '_ {
        self.nodes.iter().filter_map(|n| match n.kind {
            Kind::Token(token, _) => Some(token),
            Kind::Rule(_) => None,
        })
    }

    pub fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = at + self.nodes[at].size as usize;
        let mut next = at + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next += self.nodes[child].size as usize;
            Some(child)
        })
    }

    /// The number of productions on the longest way down.
    pub fn height(&self) -> usize {
        let mut ends: Vec<usize> = Vec::new();
        let mut height = 0;
        for (at, node) in self.nodes.iter().enumerate() {
            while ends.last().is_some_and(|&end| end <= at) {
                ends.pop();
            }
            if let Kind::Rule(_) = node.kind {
                ends.push(at + node.size as usize);
                height = height.max(ends.len());
            }
        }
        height
    }

    pub fn rule(&self, grammar: &Grammar, at: usize) -> Option<RuleId> {
        match self.nodes[at].kind {
            Kind::Rule(p) => Some(grammar.production(p).rule),
            Kind::Token(..) => None,
        }
    }

    /// True if the children of every node are those of its production, and the root is the
    /// start.
    pub fn is_of(&self, grammar: &Grammar) -> bool {
        let is_valid = |at: usize| match self.nodes[at].kind {
            Kind::Token(..) => true,
            Kind::Rule(p) => {
                let children: Vec<Symbol> = self
                    .children(at)
                    .map(|c| match self.nodes[c].kind {
                        Kind::Token(t, _) => Symbol::Token(t),
                        Kind::Rule(p) => Symbol::Rule(grammar.production(p).rule),
                    })
                    .collect();
                children == grammar.production(p).symbols
            }
        };
        !self.nodes.is_empty()
            && self.rule(grammar, 0) == Some(grammar.start)
            && (0..self.nodes.len()).all(is_valid)
    }

    /// An outline with one line for each node, indented by two spaces for each level.
    /// `text` gives the line of a leaf.
    pub fn outline(&self, grammar: &Grammar, text: impl Fn(TokenId, u32) -> String) -> String {
        let mut out = String::new();
        let mut ends: Vec<usize> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            while ends.last().is_some_and(|&end| end <= at) {
                ends.pop();
            }
            // With a limit, the size of the outline is linear.
            const MAX_DEPTH: usize = 100;
            let depth = ends.len().min(MAX_DEPTH);
            out.push_str(&"  ".repeat(depth));
            match node.kind {
                Kind::Token(t, number) => out.push_str(&text(t, number)),
                Kind::Rule(p) => {
                    out.push_str(&grammar.rule(grammar.production(p).rule).name);
                    ends.push(at + node.size as usize);
                }
            }
            out.push('\n');
        }
        out
    }
}
