//! Floating-point operations on the bits of `float` and `double`.
//!
//! Addition, square root and their like have one correct result. The functions of libm do
//! not: they are those of the machine's libm, as the target calls them.

use pleach_abi::node::Op;
use pleach_libm::{Binary, Unary};

/// Computes a floating-point operation. `width` is that of the result, `operand` that of
/// the first operand. Widths that no such number has give 0.
pub fn apply_float(op: Op, width: u32, operand: u32, a: u64, b: u64, c: u64) -> u64 {
    match op {
        Op::FEq | Op::FLt | Op::FLe | Op::FUno => compare(op, operand, a, b).into(),
        Op::FToS | Op::FToU => to_integer(op == Op::FToS, width, as_double(operand, a)),
        Op::SToF | Op::UToF => {
            let n = if op == Op::SToF {
                i128::from(crate::word::sign64(a, operand.clamp(1, 64)))
            } else {
                a.into()
            };
            match width {
                32 => (n as f32).to_bits().into(),
                64 => (n as f64).to_bits(),
                _ => 0,
            }
        }
        Op::FToF => match (operand, width) {
            (32, 64) => f64::from(f32::from_bits(a as u32)).to_bits(),
            (64, 32) => (f64::from_bits(a) as f32).to_bits().into(),
            _ => a,
        },
        Op::FDecimal => match width {
            32 => decimal32(a, b as i32).to_bits().into(),
            64 => decimal64(a, b as i32).to_bits(),
            _ => 0,
        },
        _ if width == 32 => {
            let of = |bits: u64| f32::from_bits(bits as u32);
            single(op, of(a), of(b), of(c)).to_bits().into()
        }
        _ if width == 64 => {
            double(op, f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits()
        }
        _ => 0,
    }
}

/// The number with these bits; a `float` is widened, which is exact.
pub fn as_double(width: u32, bits: u64) -> f64 {
    match width {
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The bits of a number, rounded to this width.
pub fn from_double(width: u32, number: f64) -> u64 {
    match width {
        32 => (number as f32).to_bits().into(),
        _ => number.to_bits(),
    }
}

/// True if two results of an operation are the same: equal bits, or two NaNs, whose signs
/// and payloads are not defined.
pub fn is_same_result(op: Op, width: u32, a: u128, b: u128) -> bool {
    let is_nan = |bits: u128| as_double(width, bits as u64).is_nan();
    a == b || op.is_float() && matches!(width, 32 | 64) && is_nan(a) && is_nan(b)
}

fn compare(op: Op, operand: u32, a: u64, b: u64) -> bool {
    let (a, b) = (as_double(operand, a), as_double(operand, b));
    match op {
        Op::FEq => a == b,
        Op::FLt => a < b,
        Op::FLe => a <= b,
        _ => a.is_nan() || b.is_nan(),
    }
}

/// What the instructions of x86-64 give, in the sequences that compilers use.
fn to_integer(signed: bool, width: u32, number: f64) -> u64 {
    let to32 = |x: f64| match x > -2_147_483_649.0 && x < 2_147_483_648.0 {
        true => x as i32,
        false => i32::MIN,
    };
    let to64 =
        |x: f64| match (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) {
            true => x as i64,
            false => i64::MIN,
        };
    let bits = match (signed, width) {
        (true, 0..=32) | (false, 0..=16) => to32(number) as u64,
        (true, _) | (false, 17..=32) => to64(number) as u64,
        _ => {
            let low = to64(number);
            let high = to64(number - 9_223_372_036_854_775_808.0);
            (low | high & (low >> 63)) as u64
        }
    };
    bits & crate::word::mask64(width)
}

macro_rules! operations {
    ($name:ident, $float:ty) => {
        fn $name(op: Op, a: $float, b: $float, c: $float) -> $float {
            match op {
                Op::FAdd => a + b,
                Op::FSub => a - b,
                Op::FMul => a * b,
                Op::FDiv => a / b,
                Op::FRem => a % b,
                Op::FMin => match a.is_nan() || b < a {
                    true => b,
                    false => a,
                },
                Op::FMax => match a.is_nan() || b > a {
                    true => b,
                    false => a,
                },
                Op::FScale => scale(a.into(), b.into()) as $float,
                Op::FSqrt => a.sqrt(),
                Op::FFloor => a.floor(),
                Op::FCeil => a.ceil(),
                Op::FChop => a.trunc(),
                Op::FRound => a.round(),
                Op::FRint => a.round_ties_even(),
                Op::FFma => a.mul_add(b, c),
                op => match (unary_function(op), binary_function(op)) {
                    (Some(f), _) => f.$name(a),
                    (_, Some(f)) => f.$name(a, b),
                    _ => 0.0,
                },
            }
        }
    };
}

operations!(single, f32);
operations!(double, f64);

fn unary_function(op: Op) -> Option<Unary> {
    Some(match op {
        Op::FSin => Unary::Sin,
        Op::FCos => Unary::Cos,
        Op::FTan => Unary::Tan,
        Op::FAsin => Unary::Asin,
        Op::FAcos => Unary::Acos,
        Op::FAtan => Unary::Atan,
        Op::FSinh => Unary::Sinh,
        Op::FCosh => Unary::Cosh,
        Op::FTanh => Unary::Tanh,
        Op::FAsinh => Unary::Asinh,
        Op::FAcosh => Unary::Acosh,
        Op::FAtanh => Unary::Atanh,
        Op::FExp => Unary::Exp,
        Op::FExp2 => Unary::Exp2,
        Op::FExp10 => Unary::Exp10,
        Op::FExpm1 => Unary::Expm1,
        Op::FLog => Unary::Log,
        Op::FLog2 => Unary::Log2,
        Op::FLog10 => Unary::Log10,
        Op::FLog1p => Unary::Log1p,
        Op::FCbrt => Unary::Cbrt,
        Op::FErf => Unary::Erf,
        Op::FErfc => Unary::Erfc,
        Op::FGamma => Unary::Gamma,
        _ => return None,
    })
}

fn binary_function(op: Op) -> Option<Binary> {
    Some(match op {
        Op::FPow => Binary::Pow,
        Op::FAtan2 => Binary::Atan2,
        Op::FHypot => Binary::Hypot,
        Op::FIeeeRem => Binary::Remainder,
        Op::FNextAfter => Binary::NextAfter,
        Op::FDim => Binary::Dim,
        _ => return None,
    })
}

/// `a` times two to the power of `by`. All products but the last are exact.
fn scale(a: f64, by: f64) -> f64 {
    const UP: f64 = f64::from_bits(0x7fe << 52);
    // 2^-969: what is not lost below the normal numbers is left to the last product.
    const DOWN: f64 = f64::from_bits(54 << 52);
    let (mut out, mut by) = (a, by.clamp(-5000.0, 5000.0) as i32);
    for _ in 0..2 {
        if by > 1023 {
            (out, by) = (out * UP, by - 1023);
        } else if by < -1022 {
            (out, by) = (out * DOWN, by + 969);
        }
    }
    out * f64::from_bits(((by.clamp(-1022, 1023) + 1023) as u64) << 52)
}

fn decimal64(digits: u64, power: i32) -> f64 {
    const EXACT: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    // Both numbers are exact, so one operation rounds once.
    match (digits < 1 << 53, EXACT.get(power.unsigned_abs() as usize)) {
        (true, Some(by)) if power >= 0 => digits as f64 * by,
        (true, Some(by)) => digits as f64 / by,
        _ => format!("{digits}e{power}").parse().unwrap_or(0.0),
    }
}

fn decimal32(digits: u64, power: i32) -> f32 {
    const EXACT: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];
    match (digits < 1 << 24, EXACT.get(power.unsigned_abs() as usize)) {
        (true, Some(by)) if power >= 0 => digits as f32 * by,
        (true, Some(by)) => digits as f32 / by,
        _ => format!("{digits}e{power}").parse().unwrap_or(0.0),
    }
}
