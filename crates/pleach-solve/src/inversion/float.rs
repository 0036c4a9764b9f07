//! Inverts floating-point operations.
//!
//! Rounding loses bits, so the real inverse may miss the wanted number by a few units in
//! the last place. The numbers next to it are tried as well.

use super::Guess;
use pleach_expr::{Code, Node, Term, apply_float, as_double, from_double, node_op, sign_extend};

/// How far from the real inverse an operand is tried, in units in the last place.
const MAX_ULPS: i64 = 4;

impl Guess<'_, '_> {
    /// Requires that a comparison of floating point holds, or not.
    pub(super) fn require_float_truth(
        &mut self,
        code: Code,
        x: Term,
        y: Term,
        wanted: bool,
        depth: u32,
    ) -> bool {
        let width = self.pool().width(x);
        let solves_x = self.picks_first(x, y);
        let (solved, kept) = if solves_x { (x, y) } else { (y, x) };
        let bound = as_double(width, self.current(kept) as u64);
        let candidates = match (code, wanted) {
            (Code::FUno, true) => vec![f64::NAN],
            (Code::FUno, false) => vec![0.0, 1.0],
            (Code::FEq, true) => vec![bound],
            (Code::FEq, false) => vec![bound + 1.0, next(width, bound, 1), 0.0, -bound, f64::NAN],
            // `x < y` is wanted, or `y <= x`, which is the negation but for NaNs.
            (code, wanted) => {
                let is_strict = (code == Code::FLt) == wanted;
                let below = solves_x == wanted;
                let mut all = if below {
                    vec![
                        next(width, bound, -1),
                        bound.ceil() - 1.0,
                        bound - 1.0,
                        -1.0 - bound.abs() * 2.0,
                    ]
                } else {
                    vec![
                        next(width, bound, 1),
                        bound.floor() + 1.0,
                        bound + 1.0,
                        1.0 + bound.abs() * 2.0,
                    ]
                };
                if !is_strict {
                    all.insert(0, bound);
                }
                all.push(if below { f64::NEG_INFINITY } else { f64::INFINITY });
                if !wanted {
                    all.push(f64::NAN);
                }
                all
            }
        };
        let number = candidates[self.pick(candidates.len() as u32) as usize];
        self.require_value(solved, from_double(width, number).into(), depth + 1)
    }

    /// Requires the result of a floating-point operation.
    pub(super) fn invert_float(
        &mut self,
        node: &Node,
        x: Term,
        y: Option<Term>,
        wanted: u128,
        depth: u32,
    ) -> bool {
        let width = node.width();
        let operand = self.pool().width(x);
        let target = as_double(width, wanted as u64);
        match node.code {
            Code::FToS | Code::FToU => {
                let whole = match node.code {
                    Code::FToS => sign_extend(wanted, width) as f64,
                    _ => wanted as f64,
                };
                let toward_zero = if self.pick(2) == 0 { 0.0 } else { whole.signum() * 0.5 };
                self.require_value(x, from_double(operand, whole + toward_zero).into(), depth)
            }
            Code::SToF | Code::UToF => {
                let signed = node.code == Code::SToF;
                let limit = 2f64.powi(operand as i32 - i32::from(signed));
                let lowest = if signed { -limit } else { 0.0 };
                let fits = target.fract() == 0.0 && target >= lowest && target < limit;
                fits && self.require_value(
                    x,
                    target as i128 as u128 & pleach_expr::mask(operand),
                    depth,
                )
            }
            Code::FToF => self.require_value(x, from_double(operand, target).into(), depth),
            Code::FDecimal => match y {
                Some(power) => self.invert_decimal(node, x, power, wanted as u64, depth),
                None => false,
            },
            Code::FFma => {
                let z = Term::from_index(node.c as usize);
                let Some(y) = y else { return false };
                let of = |guess: &Self, t: Term| as_double(operand, guess.current(t) as u64);
                let (a, b, c) = (of(self, x), of(self, y), of(self, z));
                let (solved, number) = match self.pick(3) {
                    0 => (x, (target - c) / b),
                    1 => (y, (target - c) / a),
                    _ => (z, target - a * b),
                };
                self.reads_input(solved)
                    && self.require_value(solved, from_double(operand, number).into(), depth)
            }
            code => match y {
                Some(y) => self.invert_float_pair(node, x, y, wanted as u64, depth),
                None => {
                    let Some(number) = self.invert_function(code, target) else { return false };
                    let bits = nearest(node, operand, number, wanted as u64, |bits| (bits, 0));
                    self.require_value(x, bits.into(), depth)
                }
            },
        }
    }

    fn invert_float_pair(
        &mut self,
        node: &Node,
        x: Term,
        y: Term,
        wanted: u64,
        depth: u32,
    ) -> bool {
        let width = node.width();
        let target = as_double(width, wanted);
        if x == y {
            let number = match node.code {
                Code::FAdd => target / 2.0,
                Code::FMul if self.pick(2) == 0 => target.sqrt(),
                Code::FMul => -target.sqrt(),
                _ => return false,
            };
            let bits = nearest(node, width, number, wanted, |bits| (bits, bits));
            return self.require_value(x, bits.into(), depth);
        }
        let solves_x = self.picks_first(x, y);
        let (solved, kept) = if solves_x { (x, y) } else { (y, x) };
        let kept_bits = self.current(kept) as u64;
        let other = as_double(width, kept_bits);
        let now = as_double(width, self.current(solved) as u64);
        let number = match (node.code, solves_x) {
            (Code::FAdd, _) => target - other,
            (Code::FSub, true) => target + other,
            (Code::FSub, false) => other - target,
            (Code::FMul, _) => target / other,
            (Code::FDiv, true) => target * other,
            (Code::FDiv, false) => other / target,
            // Whole multiples of the divisor stay.
            (Code::FRem | Code::FIeeeRem, true) => now - now % other + target,
            (Code::FMin | Code::FMax, _) => target,
            (Code::FPow, true) if target < 0.0 => -(-target).powf(1.0 / other),
            (Code::FPow, true) => {
                let root = target.powf(1.0 / other);
                // An even power has two roots.
                if other % 2.0 == 0.0 && self.pick(2) == 1 { -root } else { root.round_if_near() }
            }
            (Code::FPow, false) => (target.ln() / other.ln()).round_if_near(),
            (Code::FAtan2, true) => target.tan() * other,
            (Code::FAtan2, false) => other / target.tan(),
            (Code::FDim, true) => target + other,
            (Code::FNextAfter, true) => target,
            (Code::FHypot, _) => (target * target - other * other).sqrt(),
            (Code::FScale, true) => target / other.exp2(),
            (Code::FScale, false) => (target / other).log2().round(),
            _ => return false,
        };
        let bits = nearest(node, width, number, wanted, |bits| match solves_x {
            true => (bits, kept_bits),
            false => (kept_bits, bits),
        });
        self.require_value(solved, bits.into(), depth)
    }

    /// A number that a function of libm maps to `target`, or near it.
    fn invert_function(&mut self, code: Code, target: f64) -> Option<f64> {
        use std::f64::consts::PI;
        Some(match code {
            Code::FSqrt => target * target,
            Code::FFloor | Code::FCeil | Code::FChop | Code::FRound | Code::FRint => target,
            Code::FSin => match self.pick(3) {
                0 => target.asin(),
                1 => PI - target.asin(),
                _ => target.asin() + 2.0 * PI,
            },
            Code::FCos => match self.pick(3) {
                0 => target.acos(),
                1 => -target.acos(),
                _ => target.acos() + 2.0 * PI,
            },
            Code::FTan => target.atan(),
            Code::FAsin => target.sin(),
            Code::FAcos => target.cos(),
            Code::FAtan => target.tan(),
            Code::FSinh => target.asinh(),
            Code::FCosh if self.pick(2) == 0 => target.acosh(),
            Code::FCosh => -target.acosh(),
            Code::FTanh => target.atanh(),
            Code::FExp => target.ln(),
            Code::FExp2 => target.log2(),
            Code::FExpm1 => target.ln_1p(),
            Code::FLog => target.exp(),
            Code::FLog2 => target.exp2(),
            Code::FLog10 => 10f64.powf(target),
            Code::FLog1p => target.exp_m1(),
            Code::FCbrt => target * target * target,
            Code::FAsinh => target.sinh(),
            Code::FAcosh => target.cosh(),
            Code::FAtanh => target.tanh(),
            Code::FExp10 => target.log10(),
            _ => return None,
        })
    }

    /// The digits that make a number with the present power of ten.
    fn invert_decimal(
        &mut self,
        node: &Node,
        digits: Term,
        power: Term,
        wanted: u64,
        depth: u32,
    ) -> bool {
        let target = as_double(node.width(), wanted);
        let representable = target >= 0.0 && target.is_finite();
        if !representable || !self.reads_input(digits) {
            return false;
        }
        let Some(number) = digits_of(target, self.current(power) as u32 as i32) else {
            return false;
        };
        self.require_value(digits, number.into(), depth)
    }
}

/// The whole number nearest to `number` divided by ten to the power of `power`.
pub(crate) fn digits_of(number: f64, power: i32) -> Option<u64> {
    const MAX_PLACES: usize = 400;
    let text = match usize::try_from(-power) {
        Ok(places) if places <= MAX_PLACES => {
            let text = format!("{number:.places$}");
            text.replace('.', "")
        }
        Ok(_) => return None,
        Err(_) => {
            let whole = format!("{number:.0}");
            let cut = power as usize;
            // The digits that the power of ten stands for are lost.
            whole.get(..whole.len().checked_sub(cut)?).map(str::to_string)?
        }
    };
    let text = text.trim_start_matches('0');
    if text.is_empty() { Some(0) } else { text.parse().ok() }
}

/// The operand near `number` with which the operation gives `wanted`, or `number` itself.
/// `operands` makes both operands from the one that is solved for.
fn nearest(
    node: &Node,
    operand: u32,
    number: f64,
    wanted: u64,
    operands: impl Fn(u64) -> (u64, u64),
) -> u64 {
    let first = from_double(operand, number);
    let Some(op) = node_op(node.code) else { return first };
    let is_right = |bits: u64| {
        let (a, b) = operands(bits);
        apply_float(op, node.width(), operand, a, b, 0) == wanted
    };
    let offsets = (0..=MAX_ULPS).flat_map(|n| [n, -n]);
    let near = offsets.map(|n| from_double(operand, next(operand, number, n)));
    near.into_iter().find(|&bits| is_right(bits)).unwrap_or(first)
}

/// The number that is `ulps` units in the last place above.
pub(crate) fn next(width: u32, number: f64, ulps: i64) -> f64 {
    if number.is_nan() {
        return number;
    }
    let bits = from_double(width, number);
    as_double(width, from_order(width, to_order(width, bits).saturating_add(ulps.into())))
}

/// A place in the order of numbers: neighbours differ by one, and both zeros are 0.
pub(crate) fn to_order(width: u32, bits: u64) -> i128 {
    let sign = 1u64 << (width - 1);
    let size = i128::from(bits & (sign - 1));
    if bits & sign != 0 { -size } else { size }
}

/// The number at a place; infinities are the last ones.
pub(crate) fn from_order(width: u32, place: i128) -> u64 {
    let infinity = if width == 32 { 0x7f80_0000 } else { 0x7ff0_0000_0000_0000 };
    let size = place.unsigned_abs().min(infinity) as u64;
    if place < 0 { size | 1 << (width - 1) } else { size }
}

trait RoundIfNear {
    fn round_if_near(self) -> Self;
}

impl RoundIfNear for f64 {
    /// A root that should be whole is, in spite of rounding.
    fn round_if_near(self) -> f64 {
        if (self - self.round()).abs() < 1e-9 { self.round() } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_has_no_gaps() {
        assert_eq!(next(64, 0.0, 1), f64::from_bits(1));
        assert_eq!(next(64, 0.0, -1), -f64::from_bits(1));
        assert_eq!(next(32, 1.0, 1), f64::from(1f32.next_up()));
        assert_eq!(next(64, f64::MAX, 1), f64::INFINITY);
        assert_eq!(next(64, f64::INFINITY, 9), f64::INFINITY);
    }

    #[test]
    fn digits_of_decimals() {
        assert_eq!(digits_of(49.5, -1), Some(495));
        assert_eq!(digits_of(49.5, 0), Some(50));
        assert_eq!(digits_of(0.25, -4), Some(2500));
        assert_eq!(digits_of(1200.0, 2), Some(12));
        assert_eq!(digits_of(0.0, -3), Some(0));
        assert_eq!(digits_of(1e30, 0), None);
    }
}
