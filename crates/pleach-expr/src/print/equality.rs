//! Prints `label == value` with as few operations as possible.
//!
//! Operations that can be undone (added constants, subtractions from a constant,
//! extensions) are removed from the label and undone on the value:
//! `(uint32_t)(in[0] - 48) == 5` is printed as `in[0] == '5'`.
//!
//! Models of `memcmp` and `strcmp` return the first difference as a chain,
//! `d0 != 0 ? d0 : d1 != 0 ? d1 : d2`. The chain is 0 if all its links are, so it is
//! printed as `in[0] == 'G' && in[1] == 'E' && in[2] == 'T'`.

use super::Printer;
use super::ctype::{CExpr, prec};
use super::logical;
use super::operation::{View, compare};
use crate::graph::Arg;
use crate::{mask, sign_extend};
use pleach_abi::node::Op;

/// The condition `label == value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Equality {
    label: u32,
    value: u128,
    width: u32,
}

/// Links of a chain that are printed.
const MAX_LINKS: usize = 32;

impl Printer<'_> {
    /// `label == value`, or `label != value` unless `equal`.
    pub(super) fn print_equality(
        &self,
        label: u32,
        value: u128,
        width: u32,
        equal: bool,
        depth: u32,
    ) -> CExpr {
        let whole = self.strip(Equality { label, value, width });
        let Some(links) = self.links(whole) else { return self.print_link(whole, equal, depth) };
        let (symbol, binds) = if equal { ("&&", prec::LOGIC_AND) } else { ("||", prec::LOGIC_OR) };
        let mut printed: Vec<_> =
            links.iter().take(MAX_LINKS).map(|&l| self.print_link(l, equal, depth + 1)).collect();
        if links.len() > MAX_LINKS {
            printed.push(CExpr::unsigned("…", 1));
        }
        let joined = printed.into_iter().reduce(|a, b| logical(&a, symbol, binds, &b));
        joined.unwrap_or_else(|| self.print_link(whole, equal, depth))
    }

    fn print_link(
        &self,
        Equality { label, value, width }: Equality,
        equal: bool,
        depth: u32,
    ) -> CExpr {
        if width == 1 {
            return self.print_truth(label, (value == 1) == equal, depth);
        }
        let symbol = if equal { "==" } else { "!=" };
        let print = |view: View| {
            let a = self.print(label, view, depth);
            let b = self.print_constant_beside(label, value, width, view, false);
            compare(a, symbol, b)
        };
        // A name is better than a shorter number.
        match self.is_named_unsigned(label, value, width) {
            true => print(View::Unsigned),
            false => self.print_shorter(depth, print),
        }
    }

    /// The links of a chain of first differences: the chain has its value if and only if
    /// all links have theirs. `None` if it is not a chain.
    fn links(&self, whole: Equality) -> Option<Vec<Equality>> {
        let (mut links, mut rest) = (Vec::new(), whole);
        while self.expr.op(rest.label) == Op::Ite {
            let node = self.expr.node(rest.label);
            let (differs, then, otherwise) = (node.a, node.b, node.c);
            // The link `x != k ? then : rest`, where `then` has the value only if x == k.
            let (x, k) = match (self.expr.op(differs), self.expr.pair(differs)) {
                (Op::Ne, (Arg::Label(x), Arg::Const(k)) | (Arg::Const(k), Arg::Label(x))) => (x, k),
                _ => break,
            };
            let width = self.expr.width(x);
            let same = self.strip(Equality { label: x, value: k & mask(width), width });
            if self.strip(Equality { label: then, ..rest }) != same {
                break;
            }
            links.push(same);
            rest = self.strip(Equality { label: otherwise, ..rest });
        }
        if links.is_empty() {
            return None;
        }
        match self.expr.op(rest.label) {
            Op::Const if self.expr.immediate(rest.label) & mask(rest.width) == rest.value => {}
            Op::Const => return None,
            _ => links.push(rest),
        }
        Some(links)
    }

    /// Removes operations that can be undone.
    fn strip(&self, Equality { mut label, mut value, mut width }: Equality) -> Equality {
        loop {
            let (inner, added) = self.split_offset(label);
            (label, value) = (inner, value.wrapping_sub(added) & mask(width));
            let node = self.expr.node(label);
            match self.expr.op(label) {
                Op::Sub => match self.expr.pair(label) {
                    (Arg::Const(from), Arg::Label(l)) => {
                        (label, value) = (l, from.wrapping_sub(value) & mask(width));
                    }
                    _ => break,
                },
                op @ (Op::ZExt | Op::SExt) => {
                    let bits = self.expr.width(node.a);
                    let extended = match op {
                        Op::ZExt => value & mask(bits),
                        _ => sign_extend(value, bits) as u128 & mask(width),
                    };
                    if extended != value {
                        break;
                    }
                    (label, width, value) = (node.a, bits, value & mask(bits));
                }
                _ => break,
            }
        }
        Equality { label, value, width }
    }
}
