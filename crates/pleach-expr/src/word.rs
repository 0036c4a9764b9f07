//! Computes one operation of a term: on 64-bit words if all widths are at most 64, else
//! on 128 bits by [`crate::apply`].

use crate::eval::{apply, mask};
use crate::pool::{Code, Node, Pool};

/// All ones in the low `width` bits.
pub const fn mask64(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// The low `width` bits, as a signed number.
pub const fn sign64(value: u64, width: u32) -> i64 {
    let shift = 64 - width;
    ((value << shift) as i64) >> shift
}

/// The value of `node` if all widths are at most 64. `operand` is the width of its first
/// operand. The operands have no bits above their widths.
#[inline(always)]
pub fn compute64(pool: &Pool, node: &Node, operand: u32, a: u64, b: u64, c: u64) -> u64 {
    match node.code {
        Code::Lookup => pool.table(node).get64(a, node.width()),
        Code::Member => pool.set(node).values.binary_search(&a).is_ok().into(),
        Code::Extract => (a >> node.b) & mask64(node.width()),
        Code::Concat => a | b << operand,
        code => plain64(code, node.width(), operand, a, b, c),
    }
}

/// [`compute64`] for operations that need nothing from the pool.
#[inline(always)]
pub fn plain64(code: Code, width: u32, operand: u32, a: u64, b: u64, c: u64) -> u64 {
    let (sa, sb) = (|| sign64(a, operand), || sign64(b, operand));
    let overflows = |r: Option<i64>| u64::from(r.is_none_or(|r| sign64(r as u64, operand) != r));
    let value = match code {
        Code::Add => a.wrapping_add(b),
        Code::Sub => a.wrapping_sub(b),
        Code::Mul => a.wrapping_mul(b),
        Code::UDiv => a.checked_div(b).unwrap_or(0),
        Code::URem => a.checked_rem(b).unwrap_or(0),
        Code::SDiv if b == 0 => 0,
        Code::SDiv => sa().wrapping_div(sb()) as u64,
        Code::SRem if b == 0 => 0,
        Code::SRem => sa().wrapping_rem(sb()) as u64,
        Code::Shl if b < width.into() => a << b,
        Code::LShr if b < width.into() => a >> b,
        Code::Shl | Code::LShr => 0,
        Code::AShr => (sa() >> b.min(63)) as u64,
        Code::And => a & b,
        Code::Or => a | b,
        Code::Xor => a ^ b,
        Code::Eq => (a == b).into(),
        Code::Ne => (a != b).into(),
        Code::Ult | Code::USubO => (a < b).into(),
        Code::Ule => (a <= b).into(),
        Code::Slt => (sa() < sb()).into(),
        Code::Sle => (sa() <= sb()).into(),
        Code::UAddO => a.checked_add(b).is_none_or(|r| r > mask64(operand)).into(),
        Code::UMulO => a.checked_mul(b).is_none_or(|r| r > mask64(operand)).into(),
        Code::SAddO => overflows(sa().checked_add(sb())),
        Code::SSubO => overflows(sa().checked_sub(sb())),
        Code::SMulO => overflows(sa().checked_mul(sb())),
        Code::ZExt => a,
        Code::SExt => sa() as u64,
        Code::Ite => {
            if a != 0 {
                b
            } else {
                c
            }
        }
        Code::Ctlz => (a.leading_zeros() - (64 - width)).into(),
        Code::Cttz => a.trailing_zeros().min(width).into(),
        Code::Popcnt => a.count_ones().into(),
        Code::BitRev => a.reverse_bits() >> (64 - width),
        Code::FShl | Code::FShr => {
            let amount = (c % u64::from(width)) as u32;
            let left = if code == Code::FShl { amount } else { width - amount };
            match left {
                0 => a,
                l if l == width => b,
                l => a << l | b >> (width - l),
            }
        }
        code if code.touches_float() => float64(code, width, operand, a, b, c),
        // Leaves, and operations that only `compute64` has.
        _ => 0,
    };
    value & mask64(width)
}

#[inline(never)]
fn float64(code: Code, width: u32, operand: u32, a: u64, b: u64, c: u64) -> u64 {
    let op = crate::pool::node_op(code);
    op.map_or(0, |op| crate::float::apply_float(op, width, operand, a, b, c))
}

/// The value of `node` at any width.
pub fn compute128(pool: &Pool, node: &Node, operand: u32, a: u128, b: u128, c: u128) -> u128 {
    match node.code {
        Code::Lookup => pool.table(node).get(a as u64, node.width()),
        Code::Member => pool.set(node).contains(a).into(),
        Code::Extract => (a >> node.b) & mask(node.width()),
        Code::Concat => a | b << operand,
        Code::Ite => [c, b][(a & 1) as usize],
        code => match crate::pool::node_op(code) {
            Some(op) => apply(op, node.width(), operand, a, b, c),
            None => 0,
        },
    }
}
