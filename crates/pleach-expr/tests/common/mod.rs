//! Builds graphs by hand.
#![allow(dead_code)] // Each test program uses a part of this module.

use pleach_abi::node::{FLAG_WIDE, Node, Op};
use pleach_expr::{Expr, Input};

pub struct Builder {
    pub nodes: Vec<Node>,
    pub snapshots: Vec<u8>,
    pub input_len: u32,
}

impl Builder {
    pub fn new(input_len: u32) -> Builder {
        let mut nodes = vec![Node::default()];
        nodes.extend((0..input_len).map(|a| Node {
            op: Op::Input as u8,
            width: 8,
            a,
            ..Node::default()
        }));
        Builder { nodes, snapshots: Vec::new(), input_len }
    }

    pub fn raw(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    pub fn node(&mut self, op: Op, width: u32, [a, b, c]: [u32; 3], imm: u128) -> u32 {
        let high = (imm >> 64) as u64;
        let flags = if width > 64 || high != 0 { FLAG_WIDE } else { 0 };
        let label = self.raw(Node {
            op: op as u8,
            width: width as u8,
            flags,
            a,
            b,
            c,
            imm: imm as u64,
            val: 0,
        });
        if flags != 0 {
            self.raw(Node { op: Op::Wide as u8, imm: high, ..Node::default() });
        }
        label
    }

    pub fn byte(&self, offset: u32) -> u32 {
        1 + offset
    }

    pub fn read(&mut self, offset: u32, bytes: u32) -> u32 {
        self.node(Op::Read, 8 * bytes, [1 + offset, 0, 0], 0)
    }

    pub fn width(&self, label: u32) -> u32 {
        self.nodes[label as usize].width.into()
    }

    pub fn binary(&mut self, op: Op, a: u32, b: u32) -> u32 {
        let width = if is_compare(op) { 1 } else { self.width(a) };
        self.node(op, width, [a, b, 0], 0)
    }

    /// An operation on `a` and a constant.
    pub fn with(&mut self, op: Op, a: u32, imm: i128) -> u32 {
        let mask = pleach_expr::mask(self.width(a));
        let width = if is_compare(op) { 1 } else { self.width(a) };
        self.node(op, width, [a, 0, 0], imm as u128 & mask)
    }

    pub fn zext(&mut self, a: u32, width: u32) -> u32 {
        self.node(Op::ZExt, width, [a, 0, 0], 0)
    }

    pub fn sext(&mut self, a: u32, width: u32) -> u32 {
        self.node(Op::SExt, width, [a, 0, 0], 0)
    }

    pub fn trunc(&mut self, a: u32, width: u32) -> u32 {
        self.node(Op::Trunc, width, [a, 0, 0], 0)
    }

    pub fn snapshot(&mut self, base: u64, bytes: &[u8]) -> u32 {
        let at = self.snapshots.len() as u32;
        self.snapshots.extend(base.to_le_bytes());
        self.snapshots.extend((bytes.len() as u32).to_le_bytes());
        self.snapshots.extend([0; 4]);
        self.snapshots.extend(bytes);
        self.snapshots.resize(self.snapshots.len().next_multiple_of(8), 0);
        at
    }

    pub fn build(&self, roots: &[u32]) -> Expr {
        Expr::new(self.nodes.clone(), self.snapshots.clone(), self.input_len, roots.iter().copied())
            .expect("the graph of the test is valid")
    }

    pub fn eval(&self, label: u32, input: &[u8]) -> u128 {
        self.build(&[label]).eval(&[label], &Input::plain(input)).get(label)
    }
}

pub fn is_compare(op: Op) -> bool {
    (Op::Eq as u8..=Op::SMulO as u8).contains(&(op as u8))
}
