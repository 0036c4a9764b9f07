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
        let offset = self.cells_offset(label)?;
        if let Some(first) = self.input_cells(label, offset) {
            return Some(self.print_element("in", (offset, first), width, depth));
        }
        let start_of_cells = self.expr.node(label).imm;
        let (name, start) = self.table_name(start_of_cells);
        let first = start.wrapping_sub(start_of_cells);
        Some(self.print_element(&name, (offset, first), width, depth))
    }

    /// True for a read of one byte of the input at an offset that is not known.
    pub(super) fn is_input_element(&self, label: u32) -> bool {
        self.expr.width(label) == 8
            && self.cells_offset(label).is_some_and(|o| self.input_cells(label, o).is_some())
    }

    /// The offset by which a tree of choices decides; `None` if the label is not the root of one.
    fn cells_offset(&self, root: u32) -> Option<u32> {
        let node = self.expr.node(root);
        if self.expr.op(root) != Op::Ite || node.flags & FLAG_CELLS == 0 {
            return None;
        }
        let condition = self.expr.node(node.a);
        (condition.op == Op::Ult as u8 && condition.a != 0).then_some(condition.a)
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
