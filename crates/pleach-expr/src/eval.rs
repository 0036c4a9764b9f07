//! Evaluates the graph on an input: one pass over the labels in order, with 128-bit
//! values.
//!
//! Every operation has a value on all operands, so a condition of one run can be
//! evaluated on any input. As `pleach_abi` defines it, a division by zero is 0, a shift
//! by the width or more gives 0 (or the sign), and a read outside its snapshot is 0.

use crate::float::apply_float;
use crate::graph::{Arg, Bits, Expr, Shape, shape};
use crate::input::Input;
use pleach_abi::node::Op;

/// Values of labels on one input.
#[derive(Clone, Debug)]
pub struct Values(Vec<u128>);

impl Values {
    /// The value of a label that was evaluated; 0 for all others.
    pub fn get(&self, label: u32) -> u128 {
        self.0.get(label as usize).copied().unwrap_or(0)
    }
}

impl Expr {
    /// Evaluates every live label.
    pub fn eval_all(&self, input: &Input) -> Values {
        let top = self.order().iter().max().map_or(0, |&l| l as usize + 1);
        self.eval_in_order(self.order().iter().copied(), top, input)
    }

    /// Evaluates `labels` and the labels that they are computed from. Labels that are
    /// not live are skipped.
    pub fn eval(&self, labels: &[u32], input: &Input) -> Values {
        let top = self.order().iter().max().map_or(0, |&l| l as usize + 1);
        let mut needed = Bits::new(top);
        labels.iter().filter(|&&l| self.is_live(l)).for_each(|&l| {
            needed.insert(l);
        });
        // Operands come before their users, so one backward pass marks all of them.
        for &label in self.order().iter().rev() {
            if needed.contains(label) {
                self.operands(label).for_each(|o| {
                    needed.insert(o);
                });
            }
        }
        let steps = self.order().iter().copied().filter(|&l| needed.contains(l));
        self.eval_in_order(steps, top, input)
    }

    fn eval_in_order(&self, order: impl Iterator<Item = u32>, top: usize, input: &Input) -> Values {
        let mut values = Values(vec![0; top]);
        for label in order {
            values.0[label as usize] = self.eval_label(label, &values.0, input);
        }
        values
    }

    /// The value of one label, given the values of its operands.
    fn eval_label(&self, label: u32, values: &[u128], input: &Input) -> u128 {
        let node = self.node(label);
        let (op, width) = (self.op(label), u32::from(node.width));
        let at = |l: u32| values[l as usize];
        let arg = |a: Arg| match a {
            Arg::Label(l) => at(l),
            Arg::Const(c) => c,
        };
        match shape(op) {
            Shape::Leaf => match op {
                Op::Input => input.byte(node.a as usize).into(),
                Op::InputLen => input.length(node.a).into(),
                Op::Read => {
                    little_endian((0..width / 8).map(|i| input.byte((node.a - 1 + i) as usize)))
                }
                _ => self.immediate(label) & mask(width),
            },
            Shape::Binary | Shape::Compare => {
                let ((a, b), operand) = (self.pair(label), self.pair_width(label));
                apply(op, width, operand, arg(a), arg(b), 0)
            }
            Shape::Concat => {
                let (low, high) = self.pair(label);
                ((arg(high) << node.c) | (arg(low) & mask(node.c))) & mask(width)
            }
            Shape::Extract => (at(node.a) >> node.b) & mask(width),
            Shape::Same | Shape::Extend | Shape::Narrow | Shape::Convert => {
                apply(op, width, self.width(node.a), at(node.a), 0, 0)
            }
            Shape::Decimal => {
                let (digits, power) = self.pair(label);
                apply(op, width, 64, arg(digits), arg(power), 0)
            }
            Shape::Ite | Shape::Funnel => {
                apply(op, width, width, at(node.a), at(node.b), at(node.c))
            }
            Shape::Lookup => {
                let offset = (at(node.a) as u64).wrapping_sub(node.imm);
                let bytes = self.snapshot(label);
                let read = usize::try_from(offset)
                    .ok()
                    .and_then(|o| bytes.get(o..)?.get(..width as usize / 8));
                read.map_or(0, |b| little_endian(b.iter().copied()))
            }
        }
    }
}

/// All ones in the low `width` bits.
pub const fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The low `width` bits, as a signed number.
pub const fn sign_extend(value: u128, width: u32) -> i128 {
    let shift = 128 - width;
    ((value << shift) as i128) >> shift
}

/// Computes one operation. `width` is that of the result, `operand` that of the
/// operands. Unused operands are ignored. Operations that need more than values
/// (leaves, `Extract`, `Concat`, `Lookup`) give 0.
pub fn apply(op: Op, width: u32, operand: u32, a: u128, b: u128, c: u128) -> u128 {
    if op.touches_float() {
        let a = (a & mask(operand)) as u64;
        return apply_float(op, width, operand, a, b as u64, c as u64).into();
    }
    let ones = mask(operand);
    let (a, signed_a) = (if op == Op::Ite { a } else { a & ones }, sign_extend(a, operand));
    let (b, signed_b) = (b & ones, sign_extend(b, operand));
    // 1 if the exact signed result has more than `operand` bits.
    let overflows =
        |r: Option<i128>| r.is_none_or(|r| sign_extend(r as u128, operand) != r) as u128;
    let shift = u32::try_from(b).ok().filter(|&s| s < width);
    let value = match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b).unwrap_or(0),
        Op::URem => a.checked_rem(b).unwrap_or(0),
        Op::SDiv if b == 0 => 0,
        Op::SDiv => signed_a.wrapping_div(signed_b) as u128,
        Op::SRem if b == 0 => 0,
        Op::SRem => signed_a.wrapping_rem(signed_b) as u128,
        Op::Shl => shift.map_or(0, |s| a << s),
        Op::LShr => shift.map_or(0, |s| a >> s),
        Op::AShr => (signed_a >> shift.unwrap_or(127)) as u128,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Eq => (a == b) as u128,
        Op::Ne => (a != b) as u128,
        Op::Ult => (a < b) as u128,
        Op::Ule => (a <= b) as u128,
        Op::Slt => (signed_a < signed_b) as u128,
        Op::Sle => (signed_a <= signed_b) as u128,
        Op::UAddO => a.checked_add(b).is_none_or(|r| r > ones) as u128,
        Op::USubO => (a < b) as u128,
        Op::UMulO => a.checked_mul(b).is_none_or(|r| r > ones) as u128,
        Op::SAddO => overflows(signed_a.checked_add(signed_b)),
        Op::SSubO => overflows(signed_a.checked_sub(signed_b)),
        Op::SMulO => overflows(signed_a.checked_mul(signed_b)),
        Op::ZExt | Op::Trunc => a,
        Op::SExt => signed_a as u128,
        Op::Ite if a & 1 == 1 => b,
        Op::Ite => c,
        Op::Ctlz => (a.leading_zeros() - (128 - width)).into(),
        Op::Cttz => a.trailing_zeros().min(width).into(),
        Op::Popcnt => a.count_ones().into(),
        Op::Bswap => a.swap_bytes() >> (128 - width),
        Op::BitRev => a.reverse_bits() >> (128 - width),
        Op::FShl | Op::FShr => {
            let amount = ((c & ones) % u128::from(width)) as u32;
            let left = if op == Op::FShl { amount } else { width - amount };
            match left {
                0 => a,
                l if l == width => b,
                l => (a << l) | (b >> (width - l)),
            }
        }
        // Leaves, and operations that were handled above.
        _ => 0,
    };
    value & mask(width)
}

fn little_endian(bytes: impl DoubleEndedIterator<Item = u8>) -> u128 {
    bytes.rev().fold(0, |value, byte| value << 8 | u128::from(byte))
}
