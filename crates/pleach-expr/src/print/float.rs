//! Prints floating point. A label is the bits of a number; an operation on numbers prints
//! its operands as numbers.

use super::ctype::{CExpr, CType, INT, full_range, prec};
use super::operation::View;
use super::{Printer, not};
use crate::float::as_double;
use crate::graph::Arg;
use crate::mask;
use pleach_abi::node::Op;

/// The text of a number, and how strongly its outermost operator binds.
struct Number {
    text: String,
    prec: u8,
}

impl Number {
    fn new(text: impl Into<String>, prec: u8) -> Number {
        Number { text: text.into(), prec }
    }

    fn at(&self, place: u8) -> String {
        if self.prec < place { format!("({})", self.text) } else { self.text.clone() }
    }
}

impl Printer<'_> {
    /// An operation with a floating-point operand or result, as an integer: a number
    /// becomes its bits.
    pub(super) fn print_float_operation(&self, label: u32, width: u32, depth: u32) -> CExpr {
        let op = self.expr.op(label);
        match op {
            Op::FEq | Op::FLt | Op::FLe => {
                let (a, b) = self.numbers(label, depth);
                let (symbol, binds) = match op {
                    Op::FEq => ("==", prec::EQUAL),
                    Op::FLt => ("<", prec::ORDER),
                    _ => ("<=", prec::ORDER),
                };
                let text = format!("{} {symbol} {}", a.at(binds + 1), b.at(binds + 1));
                CExpr::new(text, binds, INT, Some((0, 1)))
            }
            Op::FUno => {
                let (a, b) = self.numbers(label, depth);
                let isnan = |n: &Number| format!("isnan({})", n.text);
                let both = a.text != b.text && !matches!(self.expr.pair(label).1, Arg::Const(_));
                let (text, prec) = match both {
                    true => (format!("{} || {}", isnan(&a), isnan(&b)), prec::LOGIC_OR),
                    false => (isnan(&a), prec::PRIMARY),
                };
                CExpr::new(text, prec, INT, Some((0, 1)))
            }
            Op::FToS | Op::FToU => {
                let signed = op == Op::FToS;
                let number = self.number(Arg::Label(self.expr.node(label).a), 0, depth);
                let ty = if signed { CType::signed(width) } else { CType::unsigned(width) };
                let name = super::ctype::name(signed, width);
                let text = format!("({name}){}", number.at(prec::UNARY));
                CExpr::new(text, prec::UNARY, ty, full_range(signed, width))
            }
            _ => {
                let name = if width == 32 { "float_bits" } else { "double_bits" };
                let number = self.float_operation(label, depth);
                CExpr::unsigned(format!("{name}({})", number.text), width)
            }
        }
    }

    /// The negation of a comparison.
    pub(super) fn print_float_truth(&self, label: u32, holds: bool, depth: u32) -> CExpr {
        let text = self.print_float_operation(label, 1, depth);
        if holds { text } else { not(&text) }
    }

    fn numbers(&self, label: u32, depth: u32) -> (Number, Number) {
        let (a, b) = self.expr.pair(label);
        let width = self.expr.pair_width(label);
        (self.number(a, width, depth), self.number(b, width, depth))
    }

    /// An operand as a number. The width matters for constants only.
    fn number(&self, arg: Arg, width: u32, depth: u32) -> Number {
        let label = match arg {
            Arg::Const(bits) => return literal(width, (bits & mask(width)) as u64),
            Arg::Label(label) => label,
        };
        if !self.may_print(depth) {
            return Number::new("…", prec::PRIMARY);
        }
        let (op, width) = (self.expr.op(label), self.expr.width(label));
        let sign = 1u128 << (width - 1);
        match (op, self.expr.node(label)) {
            (op, _) if op.is_float() => self.float_operation(label, depth + 1),
            (Op::Ite, n) => {
                let condition = self.print_truth(n.a, true, depth + 1);
                let yes = self.number(Arg::Label(n.b), width, depth + 1);
                let no = self.number(Arg::Label(n.c), width, depth + 1);
                let text = format!("{} ? {} : {}", condition.at(prec::LOGIC_OR), yes.text, no.text);
                Number::new(text, prec::CHOICE)
            }
            (Op::Const, _) => literal(width, self.expr.immediate(label) as u64),
            (Op::Xor | Op::And, _) => {
                let (rest, constant) = match self.expr.pair(label) {
                    (rest, Arg::Const(c)) | (Arg::Const(c), rest) => (rest, c & mask(width)),
                    _ => return self.bits(label, width, depth),
                };
                let inner = || self.number(rest, width, depth + 1);
                match op {
                    Op::Xor if constant == sign => {
                        Number::new(format!("-{}", inner().at(prec::UNARY)), prec::UNARY)
                    }
                    Op::And if constant == sign - 1 => {
                        Number::new(format!("fabs({})", inner().text), prec::PRIMARY)
                    }
                    _ => self.bits(label, width, depth),
                }
            }
            _ => self.bits(label, width, depth),
        }
    }

    /// The number whose bits are an integer.
    fn bits(&self, label: u32, width: u32, depth: u32) -> Number {
        let name = if width == 32 { "as_float" } else { "as_double" };
        let bits = self.print(label, View::Unsigned, depth + 1);
        Number::new(format!("{name}({})", bits.text), prec::PRIMARY)
    }

    fn float_operation(&self, label: u32, depth: u32) -> Number {
        let (op, width) = (self.expr.op(label), self.expr.width(label));
        let n = self.expr.node(label);
        let infix = |symbol: &str, binds: u8| {
            let (a, b) = self.numbers(label, depth);
            Number::new(format!("{} {symbol} {}", a.at(binds), b.at(binds + 1)), binds)
        };
        let of = |label: u32| self.number(Arg::Label(label), width, depth);
        let function = |name: String, args: &[Number]| {
            let args: Vec<&str> = args.iter().map(|a| a.text.as_str()).collect();
            Number::new(format!("{name}({})", args.join(", ")), prec::PRIMARY)
        };
        let named = |name: &str| format!("{name}{}", if width == 32 { "f" } else { "" });
        match op {
            Op::FAdd => infix("+", prec::ADD),
            Op::FSub => infix("-", prec::ADD),
            Op::FMul => infix("*", prec::MUL),
            Op::FDiv => infix("/", prec::MUL),
            Op::FFma => function(named("fma"), &[of(n.a), of(n.b), of(n.c)]),
            Op::SToF | Op::UToF => {
                let view = if op == Op::SToF { View::Signed } else { View::Unsigned };
                let text = self.print(n.a, view, depth).at(prec::UNARY);
                let name = if width == 32 { "float" } else { "double" };
                Number::new(format!("({name}){text}"), prec::UNARY)
            }
            // A `float` becomes a `double` by itself.
            Op::FToF if width == 64 => of(n.a),
            Op::FToF => Number::new(format!("(float){}", of(n.a).at(prec::UNARY)), prec::UNARY),
            Op::FDecimal => {
                let (digits, power) = self.expr.pair(label);
                let digits = self.print_arg(digits, 64, View::Unsigned, depth);
                let power = self.print_arg(power, 32, View::Signed, depth);
                let text = format!("decimal({}, {})", digits.text, power.text);
                Number::new(text, prec::PRIMARY)
            }
            _ => match (function_name(op), super::operation::is_pair(op)) {
                (Some(name), true) => {
                    let (a, b) = self.numbers(label, depth);
                    function(named(name), &[a, b])
                }
                (Some(name), false) => function(named(name), &[of(n.a)]),
                (None, _) => Number::new("…", prec::PRIMARY),
            },
        }
    }
}

/// The function of libm that computes an operation.
fn function_name(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::FRem => "fmod",
        Op::FIeeeRem => "remainder",
        Op::FMin => "fmin",
        Op::FMax => "fmax",
        Op::FPow => "pow",
        Op::FAtan2 => "atan2",
        Op::FHypot => "hypot",
        Op::FScale => "ldexp",
        Op::FSqrt => "sqrt",
        Op::FFloor => "floor",
        Op::FCeil => "ceil",
        Op::FChop => "trunc",
        Op::FRound => "round",
        Op::FRint => "rint",
        Op::FSin => "sin",
        Op::FCos => "cos",
        Op::FTan => "tan",
        Op::FAsin => "asin",
        Op::FAcos => "acos",
        Op::FAtan => "atan",
        Op::FSinh => "sinh",
        Op::FCosh => "cosh",
        Op::FTanh => "tanh",
        Op::FExp => "exp",
        Op::FExp2 => "exp2",
        Op::FExpm1 => "expm1",
        Op::FLog => "log",
        Op::FLog2 => "log2",
        Op::FLog10 => "log10",
        Op::FLog1p => "log1p",
        Op::FCbrt => "cbrt",
        Op::FAsinh => "asinh",
        Op::FAcosh => "acosh",
        Op::FAtanh => "atanh",
        Op::FExp10 => "exp10",
        Op::FErf => "erf",
        Op::FErfc => "erfc",
        Op::FGamma => "tgamma",
        Op::FNextAfter => "nextafter",
        Op::FDim => "fdim",
        _ => return None,
    })
}

/// The shortest text that reads back as the same number.
fn literal(width: u32, bits: u64) -> Number {
    let number = as_double(width, bits);
    let text = match number {
        n if n.is_nan() => "NAN".into(),
        n if n.is_infinite() => if n < 0.0 { "-INFINITY" } else { "INFINITY" }.into(),
        _ if width == 32 => format!("{:?}f", f32::from_bits(bits as u32)),
        n => format!("{n:?}"),
    };
    let prec = if text.starts_with('-') { prec::UNARY } else { prec::PRIMARY };
    Number::new(text, prec)
}
