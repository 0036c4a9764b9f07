//! Small traces for the tests of tiers.

use crate::path::{Path, Shape, Step};
use pleach_abi::node::{Node, Op};
use pleach_expr::{Expr, Input};

/// Nodes of a trace, and conditions. The nodes from 1 on are the bytes of the input.
pub(crate) struct TestTrace {
    nodes: Vec<Node>,
    conditions: Vec<u32>,
    bytes: u32,
}

impl TestTrace {
    pub fn new(bytes: u32) -> TestTrace {
        let mut nodes = vec![Node::default()];
        let byte = |a| Node { op: Op::Input as u8, width: 8, a, ..Node::default() };
        nodes.extend((0..bytes).map(byte));
        TestTrace { nodes, conditions: Vec::new(), bytes }
    }

    pub fn add(&mut self, op: Op, width: u8, [a, b]: [u32; 2], imm: u64) -> u32 {
        self.nodes.push(Node { op: op as u8, width, a, b, imm, ..Node::default() });
        self.nodes.len() as u32 - 1
    }

    pub fn require(&mut self, op: Op, operands: [u32; 2], imm: u64) {
        let condition = self.add(op, 1, operands, imm);
        self.conditions.push(condition);
    }

    pub fn path(&self, input: &[u8]) -> Path {
        let roots = self.conditions.iter().copied();
        let expr = Expr::new(self.nodes.clone(), Vec::new(), self.bytes, roots).expect("a graph");
        let values = expr.eval_all(&Input::plain(input));
        let step = |&label: &u32| {
            let taken = values.get(label) != 0;
            Step { label, shape: Shape::Bool { taken } }
        };
        let steps = self.conditions.iter().map(step).collect();
        Path::new(&expr, steps, input, &[self.bytes.into()], &[0])
    }
}
