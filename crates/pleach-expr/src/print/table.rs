//! Prints table reads: `name[index]` if the address is a base plus a scaled index.

use super::Printer;
use super::ctype::{CExpr, literal, prec};
use super::operation::View;
use crate::graph::Arg;
use pleach_abi::node::{FLAG_CELLS, Op};

impl Printer<'_> {
    pub(super) fn print_lookup(&self, label: u32, width: u32, depth: u32) -> CExpr {
        let node = self.expr.node(label);
        let (name, start) = self.table_name(node.imm);
        self.print_element(&name, (node.a, start), width, depth)
    }

    /// A read at a labelled address where the memory has labels: the root of a tree of choices
    /// by the offset. `None` if the node is not one.
    pub(super) fn print_cells(&self, label: u32, width: u32, depth: u32) -> Option<CExpr> {
        let node = self.expr.node(label);
        let condition = self.expr.node(node.a);
        if node.flags & FLAG_CELLS == 0 || condition.op != Op::Ult as u8 || condition.a == 0 {
            return None;
        }
        let offset = condition.a;
        if let Some(first) = self.input_cells(label, offset) {
            return Some(self.print_element("in", (offset, first), width, depth));
        }
        let (name, start) = self.table_name(node.imm);
        Some(self.print_element(&name, (offset, start.wrapping_sub(node.imm)), width, depth))
    }

    /// If the leaves of a tree of choices are consecutive bytes of the input: minus the offset
    /// of the byte whose offset in the object is 0.
    fn input_cells(&self, root: u32, offset: u32) -> Option<u64> {
        /// Nodes that are examined.
        const MAX_NODES: usize = 2048;
        let mut first = None;
        // Each label with the offset where its cells start. That of the lowest is unknown.
        let mut open = vec![(root, None)];
        let mut seen = 0;
        while let Some((label, from)) = open.pop() {
            seen += 1;
            let node = self.expr.node(label);
            match self.expr.op(label) {
                Op::Ite if seen < MAX_NODES => {
                    let condition = self.expr.node(node.a);
                    if condition.op != Op::Ult as u8 || condition.a != offset {
                        return None;
                    }
                    open.push((node.b, from));
                    open.push((node.c, Some(condition.imm)));
                }
                op @ (Op::Input | Op::Read) => {
                    let at = u64::from(if op == Op::Input { node.a } else { node.a - 1 });
                    if let Some(from) = from {
                        let distance: u64 = from.wrapping_sub(at);
                        if *first.get_or_insert(distance) != distance {
                            return None;
                        }
                    }
                }
                _ => return None,
            }
        }
        first
    }

    /// The name of a table, and the address where it starts.
    fn table_name(&self, address: u64) -> (String, u64) {
        match self.symbols.symbol(address) {
            Some((name, inside)) => (name, address.wrapping_sub(inside)),
            None => (format!("table_{address:x}"), address),
        }
    }

    /// An element of a table, whose address is a label and that starts at another address.
    fn print_element(
        &self,
        name: &str,
        (address, start): (u32, u64),
        width: u32,
        depth: u32,
    ) -> CExpr {
        let (index, offset) = self.split_offset(address);
        let offset = (offset as i64).wrapping_sub(start as i64);
        let size = i64::from(width / 8);
        let (item, scale) = self.split_scale(index);
        let text = if scale == size as u128 && offset % size == 0 {
            let item = self.print(item, View::Any, depth);
            format!("{name}[{}]", plus(&item, offset / size))
        } else {
            let bytes = self.print(index, View::Any, depth);
            let bytes = CExpr { text: bytes.at(prec::ADD + 1), prec: prec::PRIMARY, ..bytes };
            format!("u{width}le({name} + {})", plus(&bytes, offset))
        };
        CExpr::unsigned(text, width)
    }

    /// Splits an offset in bytes into an index and a constant size of items.
    fn split_scale(&self, label: u32) -> (u32, u128) {
        match (self.expr.op(label), self.expr.pair(label)) {
            (Op::Mul, (Arg::Label(l), Arg::Const(c)) | (Arg::Const(c), Arg::Label(l))) => (l, c),
            (Op::Shl, (Arg::Label(l), Arg::Const(c))) if c < 64 => (l, 1 << c),
            _ => (label, 1),
        }
    }
}

fn plus(expr: &CExpr, offset: i64) -> String {
    let number = literal(offset.unsigned_abs().into()).text;
    match offset {
        0 => expr.text.clone(),
        1.. => format!("{} + {number}", expr.at(prec::ADD)),
        _ => format!("{} - {number}", expr.at(prec::ADD)),
    }
}
