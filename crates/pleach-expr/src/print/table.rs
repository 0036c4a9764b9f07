//! Prints table reads: `name[index]` if the address is a base plus a scaled index.

use super::Printer;
use super::ctype::{CExpr, literal, prec};
use super::operation::View;
use crate::graph::Arg;
use pleach_abi::node::Op;

impl Printer<'_> {
    pub(super) fn print_lookup(&self, label: u32, width: u32, depth: u32) -> CExpr {
        let node = self.expr.node(label);
        let (index, offset) = self.split_offset(node.a);
        let (name, start) = match self.symbols.symbol(node.imm) {
            Some((name, inside)) => (name, node.imm.wrapping_sub(inside)),
            None => (format!("table_{:x}", node.imm), node.imm),
        };
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
