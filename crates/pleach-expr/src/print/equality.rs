//! `label == value`, said about as few operations as possible.
//!
//! What is injective is stripped from the label and applied to the value instead:
//! constants added or subtracted, subtraction from a constant, extensions of a
//! value that the narrow type can have. `(uint32_t)(in[0] - 48) == 5` is then
//! `in[0] == '5'`.
//!
//! Models of `memcmp` and `strcmp` give the first difference as a chain,
//! `d0 != 0 ? d0 : d1 != 0 ? d1 : d2`. That such a chain is 0 means that every
//! link is, and it is printed so: `in[0] == 'G' && in[1] == 'E' && in[2] == 'T'`.

use super::Printer;
use super::ctype::{Term, prec};
use super::logical;
use super::term::{View, compare};
use crate::graph::Arg;
use crate::{mask, sign_extend};
use pleach_abi::node::Op;

/// That a label of some width has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Equality {
    label: u32,
    value: u128,
    width: u32,
}

/// So many links of a chain are printed.
const LINKS: usize = 32;

impl Printer<'_> {
    /// `label == value` (`!=` unless `equal`).
    pub(super) fn equality(
        &self,
        label: u32,
        value: u128,
        width: u32,
        equal: bool,
        depth: u32,
    ) -> Term {
        let whole = self.stripped(Equality { label, value, width });
        let Some(links) = self.links(whole) else { return self.single(whole, equal, depth) };
        let (symbol, binds) = if equal { ("&&", prec::LOGIC_AND) } else { ("||", prec::LOGIC_OR) };
        let mut terms: Vec<_> =
            links.iter().take(LINKS).map(|&l| self.single(l, equal, depth + 1)).collect();
        if links.len() > LINKS {
            terms.push(Term::unsigned("…", 1));
        }
        let joined = terms.into_iter().reduce(|a, b| logical(&a, symbol, binds, &b));
        joined.unwrap_or_else(|| self.single(whole, equal, depth))
    }

    fn single(&self, Equality { label, value, width }: Equality, equal: bool, depth: u32) -> Term {
        if width == 1 {
            return self.truth(label, (value == 1) == equal, depth);
        }
        let symbol = if equal { "==" } else { "!=" };
        let print = |view: View| {
            let a = self.term(label, view, depth);
            let b = self.beside(label, value, width, view, false);
            compare(a, symbol, b)
        };
        // A name is better than a shorter number.
        match self.is_named_unsigned(label, value, width) {
            true => print(View::Unsigned),
            false => self.shorter(depth, print),
        }
    }

    /// The links of a chain of first differences; all hold exactly if the
    /// whole does. `None`: it is no chain.
    fn links(&self, whole: Equality) -> Option<Vec<Equality>> {
        let (mut links, mut rest) = (Vec::new(), whole);
        while self.expr.op(rest.label) == Op::Ite {
            let node = self.expr.node(rest.label);
            let (differs, then, otherwise) = (node.a, node.b, node.c);
            // `x != k ? t : rest`, where t has the value only for x == k.
            let (x, k) = match (self.expr.op(differs), self.expr.pair(differs)) {
                (Op::Ne, (Arg::Label(x), Arg::Const(k)) | (Arg::Const(k), Arg::Label(x))) => (x, k),
                _ => break,
            };
            let width = self.expr.width(x);
            let same = self.stripped(Equality { label: x, value: k & mask(width), width });
            if self.stripped(Equality { label: then, ..rest }) != same {
                break;
            }
            links.push(same);
            rest = self.stripped(Equality { label: otherwise, ..rest });
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

    fn stripped(&self, Equality { mut label, mut value, mut width }: Equality) -> Equality {
        loop {
            let (inner, added) = self.offset(label);
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
