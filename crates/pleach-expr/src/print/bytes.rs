//! Values that are made of input bytes and zero bytes only.
//!
//! Programs build numbers from bytes with shifts and ors, and take them apart with shifts
//! and masks. This module finds out what each byte of a value is. If they are consecutive
//! input bytes, ascending or descending, the value is printed as a number in the input:
//! `in[4] << 8 | in[5]` is `u16be(in+4)`, and `u32le(in) >> 8 & 255` is `in[1]`.

use super::Printer;
use super::ctype::CExpr;
use crate::graph::Arg;
use crate::mask;
use pleach_abi::node::Op;

/// Least significant first: the offset of an input byte, or a zero byte.
type Bytes = Vec<Option<u32>>;

/// Nodes that are examined for one value.
const MAX_NODES: u32 = 64;

impl Printer<'_> {
    /// The value as a number in the input, if it is made of consecutive bytes.
    pub(super) fn input_number(&self, label: u32) -> Option<CExpr> {
        let bytes = self.input_bytes(label)?;
        let (&first, &last) = (bytes.first()?, bytes.last()?);
        let bits = 8 * bytes.len() as u32;
        let from = |at: u32| if at == 0 { "in".into() } else { format!("in+{at}") };
        let text = if bits == 8 {
            format!("in[{first}]")
        } else if bytes.windows(2).all(|w| w[0].checked_add(1) == Some(w[1])) {
            format!("u{bits}le({})", from(first))
        } else if bytes.windows(2).all(|w| w[1].checked_add(1) == Some(w[0])) {
            format!("u{bits}be({})", from(last))
        } else {
            return None;
        };
        Some(CExpr::unsigned(text, bits))
    }

    /// True if a label is one byte of the input, extended or not.
    pub(super) fn is_byte(&self, mut label: u32) -> bool {
        while self.expr.op(label) == Op::SExt {
            label = self.expr.node(label).a;
        }
        self.is_input_element(label) || self.input_bytes(label).is_some_and(|b| b.len() == 1)
    }

    /// The offsets of the bytes of a value, without the zero bytes above them; `None` if
    /// any other byte is not one of the input.
    fn input_bytes(&self, label: u32) -> Option<Vec<u32>> {
        let mut bytes = self.bytes(label, &mut MAX_NODES.clone())?;
        while bytes.last() == Some(&None) {
            bytes.pop();
        }
        bytes.into_iter().map(|b| b.filter(|&at| at < self.expr.input_len())).collect()
    }

    fn bytes(&self, label: u32, left: &mut u32) -> Option<Bytes> {
        *left = left.checked_sub(1)?;
        let (node, width) = (self.expr.node(label), self.expr.width(label));
        if !width.is_multiple_of(8) {
            return None;
        }
        let size = width as usize / 8;
        let pair = self.expr.pair(label);
        let mut bytes = match (self.expr.op(label), pair) {
            (Op::Input, _) => vec![Some(node.a)],
            (Op::Read, _) => (0..size as u32).map(|i| Some(node.a - 1 + i)).collect(),
            (Op::ZExt | Op::Trunc, _) => self.bytes(node.a, left)?,
            (Op::Extract, _) if node.b.is_multiple_of(8) => {
                let inner = self.bytes(node.a, left)?;
                inner.get(node.b as usize / 8..)?.to_vec()
            }
            (Op::Concat, (Arg::Label(low), Arg::Label(high))) => {
                let mut bytes = self.bytes(low, left)?;
                bytes.extend(self.bytes(high, left)?);
                bytes
            }
            (Op::Bswap, _) => {
                let mut bytes = self.bytes(node.a, left)?;
                bytes.reverse();
                bytes
            }
            (Op::LShr, (Arg::Label(a), Arg::Const(by))) if by % 8 == 0 => {
                let bytes = self.bytes(a, left)?;
                bytes.get(usize::try_from(by / 8).ok()?..)?.to_vec()
            }
            (Op::Shl, (Arg::Label(a), Arg::Const(by))) if by % 8 == 0 && by < width.into() => {
                let mut bytes = vec![None; by as usize / 8];
                bytes.extend(self.bytes(a, left)?);
                bytes
            }
            (Op::And, (Arg::Label(a), Arg::Const(c)) | (Arg::Const(c), Arg::Label(a))) => {
                let bytes = self.bytes(a, left)?;
                let masked = |(i, byte): (usize, Option<u32>)| match (c >> (8 * i)) & 0xff {
                    0 => Some(None),
                    0xff => Some(byte),
                    _ => byte.is_none().then_some(None),
                };
                bytes.into_iter().enumerate().map(masked).collect::<Option<_>>()?
            }
            // Without common bytes these three are the same.
            (Op::Or | Op::Add | Op::Xor, (Arg::Label(a), Arg::Label(b))) => {
                let (a, b) = (self.bytes(a, left)?, self.bytes(b, left)?);
                let either = |(x, y): (Option<u32>, Option<u32>)| match (x, y) {
                    (Some(_), Some(_)) => None,
                    (x, y) => Some(x.or(y)),
                };
                a.into_iter().zip(b).map(either).collect::<Option<_>>()?
            }
            _ => return None,
        };
        bytes.resize(size, None);
        Some(bytes)
    }

    /// Splits a label into another one and a constant that is added to it.
    pub(super) fn split_offset(&self, mut label: u32) -> (u32, u128) {
        let ones = mask(self.expr.width(label));
        let mut offset = 0u128;
        loop {
            match (self.expr.op(label), self.expr.pair(label)) {
                (Op::Add, (Arg::Label(l), Arg::Const(c)) | (Arg::Const(c), Arg::Label(l))) => {
                    (label, offset) = (l, offset.wrapping_add(c) & ones);
                }
                (Op::Sub, (Arg::Label(l), Arg::Const(c))) => {
                    (label, offset) = (l, offset.wrapping_sub(c) & ones);
                }
                _ => return (label, offset),
            }
        }
    }
}
