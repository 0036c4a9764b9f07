//! A part of a graph: the nodes that some roots reach, with new labels.
//!
//! A long run leaves millions of nodes, and a caller may need few of them. The caller
//! passes the nodes in chunks, from the highest label to the lowest. Only the nodes that
//! the roots reach are kept, so memory grows with the part and not with the run. Input
//! bytes keep their labels.

use crate::graph::{Bits, operand_fields};
use pleach_abi::node::{FLAG_WIDE, Node, Op};
use thiserror::Error;

/// Why there is no part.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NoPart {
    #[error("the roots reach more nodes than allowed")]
    TooLarge,
    /// An operand does not lie below its user: several threads wrote the nodes.
    #[error("a node refers to one that is not below it")]
    Unordered,
}

/// The nodes that were found so far.
pub struct Part {
    /// Labels below this are those of the input.
    base: u32,
    live: Bits,
    /// Old labels and their nodes, the highest label first.
    kept: Vec<(u32, Node)>,
    max_nodes: usize,
    /// The node that was passed last, which is the next one in the graph.
    above: Option<Node>,
}

/// New labels for old ones.
#[derive(Debug)]
pub struct Labels {
    base: u32,
    kept: Bits,
    /// From [`Bits::ranks`].
    ranks: Vec<u32>,
}

impl Part {
    /// A part of a graph with `count` nodes. Node 0 is unused, and the next `input_len`
    /// nodes are the input. All roots are below `count`.
    pub fn new(count: u32, input_len: u32, roots: &[u32], max_nodes: usize) -> Part {
        let mut live = Bits::new(count as usize);
        roots.iter().for_each(|&root| _ = live.insert(root));
        let base = input_len.saturating_add(1).min(count);
        Part { base, live, kept: Vec::new(), max_nodes, above: None }
    }

    /// Adds the nodes from label `from` on. This chunk ends where the previous one began.
    pub fn add_chunk(&mut self, from: u32, nodes: &[Node]) -> Result<(), NoPart> {
        for (at, node) in nodes.iter().enumerate().rev() {
            let label = from + at as u32;
            let above = self.above.replace(*node);
            if label < self.base || !self.live.contains(label) {
                continue;
            }
            if node.flags & FLAG_WIDE != 0
                && let Some(above) = above
                && self.kept.last().is_none_or(|k| k.0 != label + 1)
            {
                self.kept.push((label + 1, above));
            }
            self.kept.push((label, *node));
            if self.kept.len() > self.max_nodes {
                return Err(NoPart::TooLarge);
            }
            // `Expr::new` refuses unknown operations.
            let Some(op) = Op::from_u8(node.op) else { continue };
            let (used, fields) = (operand_fields(op), [node.a, node.b, node.c]);
            for &operand in fields.iter().take(used).filter(|&&l| l != 0) {
                if operand >= label {
                    return Err(NoPart::Unordered);
                }
                self.live.insert(operand);
            }
        }
        Ok(())
    }

    /// The nodes of the part: those of the input, then the kept ones; and their labels.
    pub fn finish(self, mut input: Vec<Node>) -> (Vec<Node>, Labels) {
        input.truncate(self.base as usize);
        let mut kept = Bits::new(self.kept.first().map_or(0, |k| k.0 as usize + 1));
        self.kept.iter().for_each(|k| _ = kept.insert(k.0));
        let labels = Labels { base: self.base, ranks: kept.ranks(), kept };
        for (_, mut node) in self.kept.into_iter().rev() {
            let used = Op::from_u8(node.op).map_or(0, operand_fields);
            let fields = [&mut node.a, &mut node.b, &mut node.c];
            fields.into_iter().take(used).for_each(|label| *label = labels.get(*label));
            input.push(node);
        }
        (input, labels)
    }
}

impl Labels {
    /// The new label of a node that was kept.
    pub fn get(&self, label: u32) -> u32 {
        match label < self.base {
            true => label,
            false => self.base + self.kept.rank(&self.ranks, label),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(op: Op, width: u8, [a, b]: [u32; 2], imm: u64) -> Node {
        Node { op: op as u8, width, a, b, imm, ..Node::default() }
    }

    /// Two input bytes, then a chain in which only every other node is used.
    fn chain() -> Vec<Node> {
        let mut nodes = vec![Node::default()];
        nodes.extend((0..2).map(|offset| node(Op::Input, 8, [offset, 0], 0)));
        for i in 3..103 {
            nodes.push(node(Op::Add, 8, [i - 2, 0], u64::from(i)));
        }
        nodes
    }

    fn cut(nodes: &[Node], roots: &[u32], max: usize) -> Result<(Vec<Node>, Labels), NoPart> {
        let mut part = Part::new(nodes.len() as u32, 2, roots, max);
        let mut end = nodes.len();
        while end > 0 {
            let from = end.saturating_sub(7);
            part.add_chunk(from as u32, &nodes[from..end])?;
            end = from;
        }
        Ok(part.finish(nodes[..3].to_vec()))
    }

    #[test]
    fn the_nodes_that_the_roots_reach_are_kept() {
        let nodes = chain();
        let (part, labels) = cut(&nodes, &[101], 1000).expect("a part");
        // Odd labels from 3 to 101, behind the input.
        assert_eq!((part.len(), labels.get(101), labels.get(2)), (53, 52, 2));
        for old in (3..=101u32).step_by(2) {
            let new = part[labels.get(old) as usize];
            assert_eq!(new.imm, nodes[old as usize].imm);
            assert_eq!(new.a, labels.get(nodes[old as usize].a));
        }
    }

    #[test]
    fn the_high_half_of_a_wide_node_still_follows_it() {
        let mut nodes = chain();
        let wide = nodes.len() as u32;
        nodes.push(Node { flags: FLAG_WIDE, ..node(Op::ZExt, 128, [3, 0], 0) });
        nodes.push(node(Op::Wide, 64, [0, 0], 9));
        nodes.push(node(Op::Add, 8, [4, 0], 0));
        let (part, labels) = cut(&nodes, &[wide], 1000).expect("a part");
        let at = labels.get(wide) as usize;
        assert_eq!((part[at].width, part[at + 1].op, part.len()), (128, Op::Wide as u8, at + 2));
    }

    #[test]
    fn large_and_unordered_parts_are_refused() {
        let mut nodes = chain();
        assert_eq!(cut(&nodes, &[101], 20).err(), Some(NoPart::TooLarge));
        nodes[50].a = 60;
        assert_eq!(cut(&nodes, &[50], 1000).err(), Some(NoPart::Unordered));
    }
}
