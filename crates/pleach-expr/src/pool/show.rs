//! Terms as text, to debug the solver: the name of the operation and its operands in
//! parentheses, cut off at a depth.

use super::{Code, Pool, Term};
use std::fmt::Write;

impl Pool {
    /// The text of a term. Operands deeper than `depth` are cut off.
    pub fn show(&self, term: Term, depth: u32) -> String {
        let mut out = String::new();
        self.show_into(&mut out, term, depth);
        out
    }

    // This recurses, because callers pass a small constant as the depth.
    fn show_into(&self, out: &mut String, term: Term, depth: u32) {
        let node = self.node(term);
        // Writing to a String cannot fail.
        let _ = match node.code {
            Code::Const => {
                write!(out, "{:#x}:{}", self.constant(term).unwrap_or(0), node.width)
            }
            Code::Read => write!(out, "in[{}..{}]", node.a, node.a + node.width() / 8),
            Code::Len => write!(out, "len[{}]", node.a),
            _ if depth == 0 => write!(out, "…"),
            code => {
                let _ = write!(out, "({code:?}:{}", node.width);
                for operand in node.operands() {
                    out.push(' ');
                    self.show_into(out, operand, depth - 1);
                }
                let _ = match code {
                    Code::Extract => write!(out, " @{}", node.b),
                    Code::Lookup => write!(out, " table{}", node.b),
                    Code::Member => write!(out, " {:?}", self.set(&node).values),
                    _ => Ok(()),
                };
                write!(out, ")")
            }
        };
    }
}
