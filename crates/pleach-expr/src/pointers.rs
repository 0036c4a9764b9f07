//! The values that a pointer read from a table can have.
//!
//! A call `op[x % 7].run()` reads its target from a table at an address that depends on the
//! input. The bytes of the table are a snapshot in the trace, and the expression of the address
//! tells how far apart its entries are. So all entries are known, not only the one that the run
//! has used. Whether an input can reach an entry is for the solver to say: it asks for each
//! entry, and for any value that is no entry.

use crate::graph::{Arg, Expr};
use pleach_abi::node::Op;

/// Where the values of a label come from: entries of a table, to which a constant is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PointerTable {
    /// The label of the read.
    lookup: u32,
    /// The snapshot, as the node of the read names it.
    snapshot: u32,
    /// The offset of the first entry, and the distance between two.
    first: u64,
    step: u64,
    /// The size of an entry in bytes.
    bytes: u32,
    /// True if an entry is a signed number.
    is_signed: bool,
    /// What is added to an entry.
    added: u64,
}

/// Entries of a table are at least so far apart as they are long; two pointers are.
const POINTER_BYTES: u64 = 8;
/// How deep the expression of an address is searched for the distance of entries.
const MAX_DEPTH: u32 = 24;

impl PointerTable {
    /// The table that a label of 64 bits is read from; `None` if it is computed otherwise.
    pub fn of(expr: &Expr, label: u32) -> Option<PointerTable> {
        let (mut at, mut added, mut is_signed) = (label, 0u64, false);
        if expr.width(label) != 64 {
            return None;
        }
        loop {
            match expr.op(at) {
                Op::Add => match expr.pair(at) {
                    (Arg::Label(next), Arg::Const(n)) | (Arg::Const(n), Arg::Label(next)) => {
                        (at, added) = (next, added.wrapping_add(n as u64));
                    }
                    _ => return None,
                },
                op @ (Op::SExt | Op::ZExt) => {
                    at = expr.node(at).a;
                    is_signed = op == Op::SExt;
                    if expr.op(at) != Op::Lookup {
                        return None;
                    }
                }
                Op::Lookup => break,
                _ => return None,
            }
        }
        let node = expr.node(at);
        let bytes = expr.width(at) / 8;
        let step = match step_of(expr, node.a, MAX_DEPTH) {
            0 | 1 => POINTER_BYTES.min(bytes.into()),
            step => step,
        };
        let offset = (expr.recorded(node.a) as u64).wrapping_sub(node.imm);
        Some(PointerTable {
            lookup: at,
            snapshot: node.b,
            first: offset % step,
            step,
            bytes,
            is_signed,
            added,
        })
    }

    /// Two reads of the same entries of one table.
    pub fn is_same(&self, other: &PointerTable) -> bool {
        PointerTable { lookup: 0, ..*self } == PointerTable { lookup: 0, ..*other }
    }

    /// All values, in the order of the table.
    pub fn values<'a>(&self, expr: &'a Expr) -> impl Iterator<Item = u64> + use<'a> {
        let &PointerTable { lookup, first, step, bytes, is_signed, added, .. } = self;
        let bytes = bytes as usize;
        let snapshot = expr.snapshot(lookup);
        let starts = (first as usize..).step_by(step.max(1) as usize);
        let entries = starts.map_while(move |at| snapshot.get(at..)?.get(..bytes));
        entries.map(move |entry| {
            let mut word = [0; 8];
            word[..bytes.min(8)].copy_from_slice(&entry[..bytes.min(8)]);
            let unused = 64 - 8 * bytes.min(8) as u32;
            let value = u64::from_le_bytes(word);
            let value = match is_signed {
                true => ((value << unused) as i64 >> unused) as u64,
                false => value,
            };
            value.wrapping_add(added)
        })
    }
}

/// A number that divides all differences between the values of a label; 0 for a constant.
fn step_of(expr: &Expr, label: u32, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let of = |arg: Arg| match arg {
        Arg::Label(label) => step_of(expr, label, depth - 1),
        Arg::Const(_) => 0,
    };
    match expr.op(label) {
        Op::Const => 0,
        Op::Add | Op::Sub => {
            let (a, b) = expr.pair(label);
            gcd(of(a), of(b))
        }
        Op::Mul => match expr.pair(label) {
            (a, Arg::Const(n)) | (Arg::Const(n), a) => of(a).saturating_mul(n as u64),
            _ => 1,
        },
        Op::Shl => match expr.pair(label) {
            (a, Arg::Const(n)) if n < 64 => of(a).saturating_mul(1 << n),
            _ => 1,
        },
        Op::ZExt | Op::SExt => step_of(expr, expr.node(label).a, depth - 1),
        _ => 1,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_abi::node::Node;

    /// A table of two records of 16 bytes: a number, and the pointer 0x10000 or 0x20000.
    fn snapshot() -> Vec<u8> {
        let head = [0u64, 32];
        let body = [7, 0x1_0000, 8, 0x2_0000];
        head.into_iter().chain(body).flat_map(u64::to_le_bytes).collect()
    }

    /// The expression of `table[in[0]].pointer + 5`, at 0x1000.
    fn expr() -> Expr {
        let node = |op: Op, width, a, b, imm, val| Node {
            op: op as u8,
            width,
            a,
            b,
            imm,
            val,
            ..Node::default()
        };
        let nodes = vec![
            Node::default(),
            node(Op::Input, 8, 0, 0, 0, 1),
            node(Op::ZExt, 64, 1, 0, 0, 1),
            node(Op::Mul, 64, 2, 0, 16, 16),
            node(Op::Add, 64, 3, 0, 0x1008, 0x1018),
            node(Op::Lookup, 64, 4, 0, 0x1000, 0x2_0000),
            node(Op::Add, 64, 5, 0, 5, 0x2_0005),
            node(Op::Xor, 64, 5, 0, 5, 0x2_0005),
        ];
        Expr::with_variables(nodes, snapshot(), 1, Default::default(), [6, 7]).expect("sound")
    }

    #[test]
    fn all_pointers_of_a_table_of_records_are_found() {
        let expr = expr();
        let table = PointerTable::of(&expr, 6).expect("a table");
        assert_eq!(table.values(&expr).collect::<Vec<_>>(), [0x1_0005, 0x2_0005]);
        assert!(table.is_same(&table));
        let direct = PointerTable::of(&expr, 5).expect("a table");
        assert_eq!(direct.values(&expr).collect::<Vec<_>>(), [0x1_0000, 0x2_0000]);
        assert!(!table.is_same(&direct));
    }

    #[test]
    fn a_pointer_that_is_computed_otherwise_has_no_table() {
        assert_eq!(PointerTable::of(&expr(), 7), None);
        assert_eq!(PointerTable::of(&expr(), 1), None);
    }
}
