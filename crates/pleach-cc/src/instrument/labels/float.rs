//! Labels of floating-point operations: arithmetic, comparisons, conversions, and the
//! intrinsics of libm.
//!
//! Only `float` and `double` have labels. `long double` and the others are concrete, and
//! lost labels are counted. The symbolic half has no fast-math flags (see `undefined`), so
//! each operation rounds once. Where the target has fused multiply-add, `fmuladd` is one.
//! The runtime counts a loss if the program rounds in another mode.

use super::emit::Emitter;
use super::nodes::{Labelled, width};
use super::shape::{is_float, scalar_bits};
use crate::instrument::llvm::{IntPredicate, Opcode, RealPredicate, Value};
use pleach_abi::node::Op;

/// True for a floating-point operation whose operands and result can have labels.
pub fn has_node(i: Value) -> bool {
    use Opcode::*;
    let is_operation = matches!(
        i.opcode(),
        LLVMFAdd
            | LLVMFSub
            | LLVMFMul
            | LLVMFDiv
            | LLVMFRem
            | LLVMFNeg
            | LLVMFCmp
            | LLVMSIToFP
            | LLVMUIToFP
            | LLVMFPToSI
            | LLVMFPToUI
            | LLVMFPExt
            | LLVMFPTrunc
    );
    let fits = |v: Value| scalar_bits(v.ty()).is_some_and(|bits| bits <= 64);
    is_operation && fits(i) && (0..i.operand_count()).all(|n| fits(i.operand(n)))
}

/// Intrinsics of floating point whose result has an exact expression.
#[derive(Clone, Copy)]
pub enum FloatIntrinsic {
    Unary(Op),
    Binary(Op),
    /// `a * b + c`, rounded once.
    Fma,
    /// `a * b + c`, rounded once if the target can.
    MultiplyAdd,
    /// The absolute value.
    Abs,
    CopySign,
    /// The first operand times two to the power of an integer.
    Scale,
    /// Rounds to an integer type.
    ToInteger(Op),
    /// True if the operand is of one of the classes of a mask.
    Class,
    /// 1 if the operand is not a number.
    IsNan,
}

/// Finds an intrinsic by its family, such as `sqrt`.
pub fn find(family: &str) -> Option<FloatIntrinsic> {
    use FloatIntrinsic::*;
    Some(match family {
        "fabs" => Abs,
        "copysign" => CopySign,
        "fma" => Fma,
        "fmuladd" => MultiplyAdd,
        "ldexp" => Scale,
        "lround" | "llround" => ToInteger(Op::FRound),
        "lrint" | "llrint" => ToInteger(Op::FRint),
        "is.fpclass" => Class,
        "minnum" | "minimumnum" => Binary(Op::FMin),
        "maxnum" | "maximumnum" => Binary(Op::FMax),
        "pow" => Binary(Op::FPow),
        "atan2" => Binary(Op::FAtan2),
        "sqrt" => Unary(Op::FSqrt),
        "floor" => Unary(Op::FFloor),
        "ceil" => Unary(Op::FCeil),
        "trunc" => Unary(Op::FChop),
        "round" => Unary(Op::FRound),
        "rint" | "nearbyint" | "roundeven" => Unary(Op::FRint),
        "sin" => Unary(Op::FSin),
        "cos" => Unary(Op::FCos),
        "tan" => Unary(Op::FTan),
        "asin" => Unary(Op::FAsin),
        "acos" => Unary(Op::FAcos),
        "atan" => Unary(Op::FAtan),
        "sinh" => Unary(Op::FSinh),
        "cosh" => Unary(Op::FCosh),
        "tanh" => Unary(Op::FTanh),
        "exp" => Unary(Op::FExp),
        "exp2" => Unary(Op::FExp2),
        "exp10" => Unary(Op::FExp10),
        "log" => Unary(Op::FLog),
        "log2" => Unary(Op::FLog2),
        "log10" => Unary(Op::FLog10),
        _ => return None,
    })
}

/// Functions of libm, by their names for `double`, beside those with the name of an
/// intrinsic.
const FUNCTIONS: [(&str, FloatIntrinsic); 22] = [
    ("fmod", FloatIntrinsic::Binary(Op::FRem)),
    ("remainder", FloatIntrinsic::Binary(Op::FIeeeRem)),
    ("drem", FloatIntrinsic::Binary(Op::FIeeeRem)),
    ("fmin", FloatIntrinsic::Binary(Op::FMin)),
    ("fmax", FloatIntrinsic::Binary(Op::FMax)),
    ("hypot", FloatIntrinsic::Binary(Op::FHypot)),
    ("scalbn", FloatIntrinsic::Scale),
    ("scalbln", FloatIntrinsic::Scale),
    ("expm1", FloatIntrinsic::Unary(Op::FExpm1)),
    ("log1p", FloatIntrinsic::Unary(Op::FLog1p)),
    ("cbrt", FloatIntrinsic::Unary(Op::FCbrt)),
    ("asinh", FloatIntrinsic::Unary(Op::FAsinh)),
    ("acosh", FloatIntrinsic::Unary(Op::FAcosh)),
    ("atanh", FloatIntrinsic::Unary(Op::FAtanh)),
    ("exp10", FloatIntrinsic::Unary(Op::FExp10)),
    ("erf", FloatIntrinsic::Unary(Op::FErf)),
    ("erfc", FloatIntrinsic::Unary(Op::FErfc)),
    ("tgamma", FloatIntrinsic::Unary(Op::FGamma)),
    ("nextafter", FloatIntrinsic::Binary(Op::FNextAfter)),
    ("fdim", FloatIntrinsic::Binary(Op::FDim)),
    ("isnan", FloatIntrinsic::IsNan),
    ("__isnan", FloatIntrinsic::IsNan),
];

/// The names of intrinsics that are also functions of libm.
const FAMILIES: [&str; 32] = [
    "fabs",
    "copysign",
    "fma",
    "ldexp",
    "lround",
    "llround",
    "lrint",
    "llrint",
    "pow",
    "atan2",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "nearbyint",
    "roundeven",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
];

/// The function of libm that a call names, if it has its types. The program calls the
/// function itself; only the label is added.
pub fn math_call(i: Value) -> Option<FloatIntrinsic> {
    let callee = i.callee();
    if i.opcode() != Opcode::LLVMCall || !callee.is_function() || !callee.is_declaration() {
        return None;
    }
    let name = callee.name();
    let first = (i.argument_count() > 0).then(|| i.operand(0)).filter(|a| is_float(a.ty()))?;
    let which = function(&name, width(first))?;
    let is_same = |n: u32| i.operand(n).ty() == first.ty();
    let is_integer = |v: Value| v.ty().int_width().is_some_and(|w| w <= 64);
    let (count, returns_float) = (i.argument_count(), i.ty() == first.ty());
    let fits = match which {
        FloatIntrinsic::Unary(_) | FloatIntrinsic::Abs => count == 1 && returns_float,
        FloatIntrinsic::Binary(_) | FloatIntrinsic::CopySign => {
            count == 2 && is_same(1) && returns_float
        }
        FloatIntrinsic::Fma => count == 3 && is_same(1) && is_same(2) && returns_float,
        FloatIntrinsic::Scale => count == 2 && is_integer(i.operand(1)) && returns_float,
        FloatIntrinsic::ToInteger(_) | FloatIntrinsic::IsNan => count == 1 && is_integer(i),
        FloatIntrinsic::MultiplyAdd | FloatIntrinsic::Class => false,
    };
    fits.then_some(which)
}

/// The function of libm for numbers of this width.
fn function(name: &str, width: u32) -> Option<FloatIntrinsic> {
    let plain = if width == 32 { name.strip_suffix('f')? } else { name };
    if let Some((_, which)) = FUNCTIONS.iter().find(|(n, _)| *n == plain) {
        return Some(*which);
    }
    FAMILIES.contains(&plain).then(|| find(plain)).flatten()
}

/// The names of libm's functions that have labels, for both widths. The optimiser must not
/// replace a call of one by something else that rounds differently.
pub fn function_names() -> impl Iterator<Item = String> {
    let names = FUNCTIONS.iter().map(|f| f.0).chain(FAMILIES);
    names.flat_map(|name| [name.to_string(), format!("{name}f")])
}

impl Emitter<'_> {
    /// Makes the node of a floating-point instruction, in a cold block.
    pub fn float_node(&mut self, i: Value) -> Value {
        use Opcode::*;
        let with = |e: &Self, n: u32| (i.operand(n), e.cold_label(i.operand(n)));
        let op = match i.opcode() {
            LLVMFCmp => return self.float_comparison(i, with(self, 0), with(self, 1)),
            LLVMFNeg => {
                let sign = self.sign_bit(i);
                let none = self.zero();
                return self.binary_node(Op::Xor, with(self, 0), (sign, none), i);
            }
            LLVMFAdd => Op::FAdd,
            LLVMFSub => Op::FSub,
            LLVMFMul => Op::FMul,
            LLVMFDiv => Op::FDiv,
            LLVMFRem => Op::FRem,
            LLVMSIToFP => Op::SToF,
            LLVMUIToFP => Op::UToF,
            LLVMFPToSI => Op::FToS,
            LLVMFPToUI => Op::FToU,
            _ => Op::FToF,
        };
        match i.operand_count() {
            1 => self.unary_node(op, with(self, 0), i),
            _ => self.binary_node(op, with(self, 0), with(self, 1), i),
        }
    }

    /// Nodes compare equal, less, less or equal, and unordered. The other predicates are
    /// these with swapped operands, or negated.
    fn float_comparison(&mut self, i: Value, a: Labelled, b: Labelled) -> Value {
        use RealPredicate::*;
        let p = i.real_predicate();
        match p {
            LLVMRealOEQ => self.binary_node(Op::FEq, a, b, i),
            LLVMRealOLT => self.binary_node(Op::FLt, a, b, i),
            LLVMRealOLE => self.binary_node(Op::FLe, a, b, i),
            LLVMRealOGT => self.binary_node(Op::FLt, b, a, i),
            LLVMRealOGE => self.binary_node(Op::FLe, b, a, i),
            LLVMRealUNO => self.binary_node(Op::FUno, a, b, i),
            LLVMRealORD => self.negated(Op::FUno, a, b, i),
            LLVMRealUNE => self.negated(Op::FEq, a, b, i),
            LLVMRealUGE => self.negated(Op::FLt, a, b, i),
            LLVMRealUGT => self.negated(Op::FLe, a, b, i),
            LLVMRealULE => self.negated(Op::FLt, b, a, i),
            LLVMRealULT => self.negated(Op::FLe, b, a, i),
            LLVMRealONE | LLVMRealUEQ => {
                let below = self.builder.compare_floats(LLVMRealOLT, a.0, b.0);
                let above = self.builder.compare_floats(LLVMRealOLT, b.0, a.0);
                let l_below = self.binary_node(Op::FLt, a, b, below);
                let l_above = self.binary_node(Op::FLt, b, a, above);
                let either = self.builder.or(below, above);
                let label = self.binary_node(Op::Or, (below, l_below), (above, l_above), either);
                match p {
                    LLVMRealONE => label,
                    _ => self.not_node((either, label), i),
                }
            }
            LLVMRealPredicateFalse | LLVMRealPredicateTrue => self.zero(),
        }
    }

    /// The negation of a comparison; `i` has the negated value.
    fn negated(&mut self, op: Op, a: Labelled, b: Labelled, i: Value) -> Value {
        let one = self.ctx.constant(1, 1);
        let plain = self.builder.op(Opcode::LLVMXor, i, one);
        let label = self.binary_node(op, a, b, plain);
        self.not_node((plain, label), i)
    }

    fn not_node(&mut self, bit: Labelled, result: Value) -> Value {
        let (one, none) = (self.ctx.constant(1, 1), self.zero());
        self.binary_node(Op::Xor, bit, (one, none), result)
    }

    /// The sign bit of a number's type, as an integer.
    fn sign_bit(&self, number: Value) -> Value {
        let w = width(number);
        self.ctx.power_of_two(w, w - 1)
    }

    /// Makes the node of an intrinsic, in a cold block.
    pub fn float_intrinsic_node(&mut self, i: Value, which: FloatIntrinsic) -> Value {
        let with = |e: &Self, n: u32| (i.operand(n), e.cold_label(i.operand(n)));
        let none = self.zero();
        match which {
            FloatIntrinsic::Unary(op) => self.unary_node(op, with(self, 0), i),
            FloatIntrinsic::Binary(op) => self.binary_node(op, with(self, 0), with(self, 1), i),
            FloatIntrinsic::Fma => {
                let all = [with(self, 0), with(self, 1), with(self, 2)];
                self.general_node(Op::FFma, &all, i)
            }
            FloatIntrinsic::MultiplyAdd => {
                let (a, b, c) = (with(self, 0), with(self, 1), with(self, 2));
                if self.fuses {
                    return self.general_node(Op::FFma, &[a, b, c], i);
                }
                let product = self.builder.op(Opcode::LLVMFMul, a.0, b.0);
                let label = self.binary_node(Op::FMul, a, b, product);
                self.binary_node(Op::FAdd, (product, label), c, i)
            }
            FloatIntrinsic::Abs => self.magnitude(with(self, 0), i).1,
            FloatIntrinsic::CopySign => {
                let (a, b) = (with(self, 0), with(self, 1));
                let sign = self.sign_bit(i);
                let size = self.magnitude(a, i);
                let bits = self.as_integer(b.0);
                let kept = self.builder.op(Opcode::LLVMAnd, bits, sign);
                let l_kept = self.binary_node(Op::And, b, (sign, none), kept);
                self.binary_node(Op::Or, size, (kept, l_kept), i)
            }
            FloatIntrinsic::Scale => {
                let (a, by) = (with(self, 0), with(self, 1));
                let power = self.builder.cast(Opcode::LLVMSIToFP, by.0, i.ty());
                let label = self.unary_node(Op::SToF, by, power);
                self.binary_node(Op::FScale, a, (power, label), i)
            }
            FloatIntrinsic::ToInteger(op) => {
                let a = with(self, 0);
                let rounded = self.builder.cast(Opcode::LLVMSIToFP, i, a.0.ty());
                let label = self.unary_node(op, a, rounded);
                self.unary_node(Op::FToS, (rounded, label), i)
            }
            FloatIntrinsic::Class => self.class_node(i, with(self, 0)),
            FloatIntrinsic::IsNan => {
                let a = with(self, 0);
                let is_nan = self.builder.compare_floats(RealPredicate::LLVMRealUNO, a.0, a.0);
                let label = self.binary_node(Op::FUno, a, a, is_nan);
                // glibc returns 1.
                let wide = self.builder.cast(Opcode::LLVMZExt, is_nan, i.ty());
                self.unary_node(Op::ZExt, (is_nan, label), wide)
            }
        }
    }

    /// A number without its sign, as an integer, and the label of that.
    fn magnitude(&mut self, a: Labelled, result: Value) -> Labelled {
        let (w, none) = (width(result), self.zero());
        let sign = self.ctx.power_of_two(w, w - 1);
        let rest = self.builder.op(Opcode::LLVMXor, sign, sign.ty().all_ones());
        let bits = self.as_integer(a.0);
        let size = self.builder.op(Opcode::LLVMAnd, bits, rest);
        let label = self.binary_node(Op::And, a, (rest, none), size);
        (size, label)
    }

    fn as_integer(&self, number: Value) -> Value {
        let bits = self.ctx.int(width(number));
        self.builder.cast(Opcode::LLVMBitCast, number, bits)
    }

    /// `is.fpclass`: the bits of each class are a range of integers, so the test is a test
    /// of ranges.
    fn class_node(&mut self, i: Value, a: Labelled) -> Value {
        let Some(mask) = i.operand(1).constant_int() else { return self.zero() };
        if !is_float(a.0.ty()) {
            return self.zero();
        }
        let (none, bits) = (self.zero(), self.as_integer(a.0));
        let w = width(a.0);
        let mut any: Option<Labelled> = None;
        for (low, high) in class_ranges(w, mask as u32) {
            let first = self.number(w, low);
            let count = self.number(w, (high - low).wrapping_add(1));
            let from = self.builder.op(Opcode::LLVMSub, bits, first);
            let l_from = self.binary_node(Op::Sub, a, (first, none), from);
            let inside = self.builder.compare(IntPredicate::LLVMIntULT, from, count);
            let l_inside = self.binary_node(Op::Ult, (from, l_from), (count, none), inside);
            any = Some(match any {
                None => (inside, l_inside),
                Some(before) => {
                    let either = self.builder.or(before.0, inside);
                    let label = self.binary_node(Op::Or, before, (inside, l_inside), either);
                    (either, label)
                }
            });
        }
        any.map_or(none, |(_, label)| label)
    }

    fn number(&self, width: u32, n: u64) -> Value {
        self.ctx.constant(width, n)
    }
}

/// The ranges of bits of the classes in a mask of `is.fpclass`, adjacent ones merged.
fn class_ranges(width: u32, mask: u32) -> Vec<(u64, u64)> {
    let (sign, digits) = if width == 32 { (1u64 << 31, 23) } else { (1u64 << 63, 52) };
    let infinity = (sign - 1) >> digits << digits;
    let (normal, quiet) = (1u64 << digits, infinity | 1 << (digits - 1));
    // Bits of the mask, in the order of the classes' bits: zero, subnormal, normal,
    // infinity, signalling NaN, quiet NaN. NaNs have one bit for both signs.
    let positive = [
        (6, 0, 0),
        (7, 1, normal - 1),
        (8, normal, infinity - 1),
        (9, infinity, infinity),
        (0, infinity + 1, quiet - 1),
        (1, quiet, sign - 1),
    ];
    let negative = [5, 4, 3, 2, 0, 1];
    let both = positive
        .iter()
        .copied()
        .chain(positive.iter().zip(negative).map(|(p, bit)| (bit, sign | p.1, sign | p.2)));
    let mut out: Vec<(u64, u64)> = Vec::new();
    for (_, low, high) in both.filter(|c| mask >> c.0 & 1 == 1) {
        match out.last_mut() {
            Some(last) if last.1 + 1 == low => last.1 = high,
            _ => out.push((low, high)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ranges_of_bits() {
        let holds = |mask, x: f64| {
            let bits = x.to_bits();
            class_ranges(64, mask).iter().any(|&(low, high)| (low..=high).contains(&bits))
        };
        let numbers = [0.0, -0.0, 1e-310, -1e-310, 1.5, -7.0, f64::INFINITY, f64::NEG_INFINITY];
        let masks = [1 << 6, 1 << 5, 1 << 7, 1 << 4, 1 << 8, 1 << 3, 1 << 9, 1 << 2];
        for (n, &x) in numbers.iter().enumerate() {
            for (m, &mask) in masks.iter().enumerate() {
                assert_eq!(holds(mask, x), n == m, "{x} in {mask:#x}");
            }
            assert!(!holds(3, x));
            assert_eq!(holds(0x1f8, x), x.is_finite());
        }
        assert!(holds(3, f64::NAN) && holds(3, -f64::NAN));
        assert_eq!(class_ranges(32, 3).len(), 2);
        // Everything is one range for each sign at most.
        assert_eq!(class_ranges(64, 0x3ff), [(0, u64::MAX)]);
    }
}
