//! Derivation trees, as a list of their nodes from the top down and from left
//! to right, each with the size of its subtree. Deep trees cost no stack.

use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub kind: Kind,
    /// Nodes of the subtree, itself included.
    pub size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Rule(ProductionId),
    /// With its number among the leaves.
    Token(TokenId, u32),
}

impl Tree {
    /// From the kinds of all nodes, in order. The caller vouches that they are a
    /// tree of the grammar.
    pub(crate) fn from_kinds(grammar: &Grammar, kinds: impl IntoIterator<Item = Kind>) -> Tree {
        let mut nodes: Vec<Node> = kinds.into_iter().map(|kind| Node { kind, size: 1 }).collect();
        // From the right: the subtrees that are complete and wait for a parent.
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

    /// From nodes that come after their children, each with its size.
    ///
    /// Read backwards they are the nodes from the top down and from right to
    /// left. The place of one is its size before the place where it ends, and it
    /// ends where the subtree right of it begins, or where its parent does.
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

    /// Productions on the longest way down.
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

    /// Whether every node's children are what its production says, and the root
    /// is the start.
    pub fn is_of(&self, grammar: &Grammar) -> bool {
        let fits = |at: usize| match self.nodes[at].kind {
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
            && (0..self.nodes.len()).all(fits)
    }

    /// An outline for people: a line a node, two spaces a level. `text` says what
    /// to print for a leaf.
    pub fn outline(&self, grammar: &Grammar, text: impl Fn(TokenId, u32) -> String) -> String {
        let mut out = String::new();
        let mut ends: Vec<usize> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            while ends.last().is_some_and(|&end| end <= at) {
                ends.pop();
            }
            // Deep trees stay readable, and their outline linear in size.
            let depth = ends.len().min(100);
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
