//! Prints one operation at a time.

use super::ctype::{
    self, CExpr, CType, INT, Range, full_range, is_within, keep_signs, literal, literal_wide, prec,
};
use super::{Printer, call, logical, not};
use crate::graph::{Arg, Shape, shape};
use crate::{mask, sign_extend};
use pleach_abi::layout::LABEL_MAX;
use pleach_abi::node::Op;

/// Which number the printed expression must have as its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Unsigned,
    Signed,
    /// Any number that is correct modulo 2^width: the shortest text.
    Any,
}

/// True for an operation on two values of the same kind.
pub(super) fn is_pair(op: Op) -> bool {
    shape(op) == Shape::Binary
}

/// Equalities that are nested deeper than this are printed in one view only.
const MAX_TRIAL_DEPTH: u32 = 3;

impl Printer<'_> {
    pub(super) fn print(&self, label: u32, view: View, depth: u32) -> CExpr {
        let width = self.expr.width(label);
        if !self.may_print(depth) {
            return fit_view(CExpr::unsigned("…", width), width, view);
        }
        fit_view(self.print_modular(label, width, view, depth + 1), width, view)
    }

    pub(super) fn print_arg(&self, arg: Arg, width: u32, view: View, depth: u32) -> CExpr {
        match arg {
            Arg::Label(l) => self.print(l, view, depth),
            Arg::Const(c) => constant(c, width, view),
        }
    }

    /// An expression that is correct modulo 2^width. `view` is only a hint.
    fn print_modular(&self, label: u32, width: u32, view: View, depth: u32) -> CExpr {
        let node = self.expr.node(label);
        let op = self.expr.op(label);
        let signed = |l| self.print(l, View::Signed, depth);
        let unsigned = |l| self.print(l, View::Unsigned, depth);
        if let Some(token) = self.expr.token(label) {
            return CExpr::new(format!("tok[{token}]"), prec::PRIMARY, INT, full_range(true, 32));
        }
        if let Some(hole) = self.expr.hole(label) {
            let range = Some((0, LABEL_MAX.into()));
            return CExpr::new(format!("len[{hole}]"), prec::PRIMARY, CType::unsigned(32), range);
        }
        if let Some(number) = self.input_number(label) {
            return number;
        }
        match op {
            Op::Input | Op::Read | Op::Wide | Op::Token | Op::HoleLen => {
                CExpr::unsigned("…", width)
            }
            Op::InputLen => {
                // Inputs are not longer than there are labels.
                let range = Some((0, LABEL_MAX.into()));
                CExpr::new(length(node.a), prec::PRIMARY, CType::unsigned(64), range)
            }
            Op::Const => constant(self.expr.immediate(label), width, view),
            Op::Add | Op::Sub | Op::Mul => self.print_arithmetic(op, label, width, depth),
            Op::Shl => self.print_shift_left(label, width, depth),
            Op::LShr | Op::AShr => {
                let view = if op == Op::AShr { View::Signed } else { View::Unsigned };
                let (a, b) = self.expr.pair(label);
                let a = self.print_arg(a, width, view, depth);
                shift_right(a, &self.print_arg(b, width, View::Unsigned, depth))
            }
            Op::UDiv | Op::URem | Op::SDiv | Op::SRem => {
                self.print_division(op, label, width, depth)
            }
            Op::And | Op::Or | Op::Xor if width == 1 => self.print_logic(op, label, depth),
            Op::And | Op::Or | Op::Xor => self.print_bitwise(op, label, width, depth),
            Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
                self.print_truth(label, true, depth)
            }
            Op::UAddO => self.print_overflow("uadd_overflow", label, View::Unsigned, depth),
            Op::USubO => self.print_overflow("usub_overflow", label, View::Unsigned, depth),
            Op::UMulO => self.print_overflow("umul_overflow", label, View::Unsigned, depth),
            Op::SAddO => self.print_overflow("sadd_overflow", label, View::Signed, depth),
            Op::SSubO => self.print_overflow("ssub_overflow", label, View::Signed, depth),
            Op::SMulO => self.print_overflow("smul_overflow", label, View::Signed, depth),
            Op::ZExt => unsigned(node.a),
            Op::SExt => signed(node.a),
            Op::Trunc => self.print(node.a, View::Any, depth),
            Op::Extract if node.b == 0 => self.print(node.a, View::Any, depth),
            Op::Extract => shift_right(unsigned(node.a), &literal(node.b.into())),
            Op::Concat => self.print_concat(label, width, depth),
            Op::Ite => self.print_choice(label, view, depth),
            Op::Ctlz | Op::Cttz | Op::Popcnt => {
                let name = match op {
                    Op::Ctlz => "clz",
                    Op::Cttz => "ctz",
                    _ => "popcount",
                };
                let text = call(name, width, &[unsigned(node.a)]);
                CExpr::new(text, prec::PRIMARY, INT, Some((0, width.into())))
            }
            Op::Bswap => CExpr::unsigned(call("bswap", width, &[unsigned(node.a)]), width),
            Op::BitRev => CExpr::unsigned(call("bitreverse", width, &[unsigned(node.a)]), width),
            Op::FShl | Op::FShr => {
                let name = if op == Op::FShl { "fshl" } else { "fshr" };
                let args = [unsigned(node.a), unsigned(node.b), unsigned(node.c)];
                CExpr::unsigned(call(name, width, &args), width)
            }
            Op::Lookup => self.print_lookup(label, width, depth),
            _ => self.print_float_operation(label, width, depth),
        }
    }

    fn print_concat(&self, label: u32, width: u32, depth: u32) -> CExpr {
        let (low, high) = self.expr.pair(label);
        let low_width = self.expr.node(label).c;
        let low = self.print_arg(low, low_width, View::Unsigned, depth);
        let high = self.print_arg(high, width - low_width, View::Unsigned, depth);
        let high = shift_left(high, &literal(low_width.into()), Some(low_width), width);
        bitwise(&high, "|", prec::OR, &low)
    }

    fn print_choice(&self, label: u32, view: View, depth: u32) -> CExpr {
        if let Some(cells) = self.print_cells(label, self.expr.width(label), depth) {
            return cells;
        }
        let node = self.expr.node(label);
        let condition = self.print_truth(node.a, true, depth);
        let view = if view == View::Any { View::Unsigned } else { view };
        let (b, c) = keep_signs(self.print(node.b, view, depth), self.print(node.c, view, depth));
        let text = format!(
            "{} ? {} : {}",
            condition.at(prec::CHOICE + 1),
            b.at(prec::CHOICE),
            c.at(prec::CHOICE)
        );
        CExpr::new(text, prec::CHOICE, CType::usual(b.ty, c.ty), join(b.range, c.range))
    }

    /// The condition that a label is not 0, or its negation unless `holds`.
    pub(super) fn print_truth(&self, label: u32, holds: bool, depth: u32) -> CExpr {
        let width = self.expr.width(label);
        if width != 1 {
            return self.print_equality(label, 0, width, !holds, depth);
        }
        if !self.may_print(depth) {
            let cut = CExpr::unsigned("…", 1);
            return if holds { cut } else { not(&cut) };
        }
        let depth = depth + 1;
        let (op, node) = (self.expr.op(label), self.expr.node(label));
        if !matches!(op, Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle) {
            if op == Op::Xor && (node.a == 0 || node.b == 0) {
                let flip = self.expr.immediate(label) & 1 == 1;
                return self.print_truth(node.a | node.b, holds != flip, depth);
            }
            if op.touches_float() {
                return self.print_float_truth(label, holds, depth);
            }
            let bit = self.print_modular(label, 1, View::Unsigned, depth);
            let bit = fit_view(bit, 1, View::Unsigned);
            return if holds { bit } else { not(&bit) };
        }
        let (a, b) = self.expr.pair(label);
        let width = self.expr.pair_width(label);
        match op {
            Op::Eq | Op::Ne => {
                let equal = (op == Op::Eq) == holds;
                match (a, b) {
                    (Arg::Label(l), Arg::Const(c)) | (Arg::Const(c), Arg::Label(l)) => {
                        self.print_equality(l, c & mask(width), width, equal, depth)
                    }
                    _ => {
                        let symbol = if equal { "==" } else { "!=" };
                        self.print_shorter(depth, |view| {
                            let a = self.print_arg(a, width, view, depth);
                            let b = self.print_arg(b, width, view, depth);
                            compare(a, symbol, b)
                        })
                    }
                }
            }
            _ => self.print_order(op, a, b, width, holds, depth),
        }
    }

    fn print_order(&self, op: Op, a: Arg, b: Arg, width: u32, holds: bool, depth: u32) -> CExpr {
        let view = match op {
            Op::Slt | Op::Sle => View::Signed,
            _ => View::Unsigned,
        };
        let strict = matches!(op, Op::Slt | Op::Ult);
        // The labelled side comes first, so `48 <= in[0]` becomes `in[0] >= '0'`.
        let (symbol, mirrored) = match (strict, holds) {
            (true, true) => ("<", ">"),
            (false, true) => ("<=", ">="),
            (true, false) => (">=", "<="),
            (false, false) => (">", "<"),
        };
        match (a, b) {
            (Arg::Label(l), Arg::Const(c)) => {
                let right = self.print_constant_beside(l, c, width, view, true);
                compare(self.print(l, view, depth), symbol, right)
            }
            (Arg::Const(c), Arg::Label(l)) => {
                let right = self.print_constant_beside(l, c, width, view, true);
                compare(self.print(l, view, depth), mirrored, right)
            }
            (a, b) => {
                let a = self.print_arg(a, width, view, depth);
                compare(a, symbol, self.print_arg(b, width, view, depth))
            }
        }
    }

    /// A constant next to `label`: a character if the label is a byte of the input, and a
    /// name if it is a token.
    pub(super) fn print_constant_beside(
        &self,
        label: u32,
        value: u128,
        width: u32,
        view: View,
        order: bool,
    ) -> CExpr {
        let expr = constant(value, width, view);
        let readable = match expr.range {
            Some((v, _)) if self.is_byte(label) => ctype::character(v, order),
            Some((v, _)) => self.token_number(label, v, order),
            _ => None,
        };
        readable.unwrap_or(expr)
    }

    /// The number of a token: its name, or the character with that number.
    fn token_number(&self, label: u32, value: i128, order: bool) -> Option<CExpr> {
        let token = self.token_under(label)?;
        match self.symbols.token(token, i32::try_from(value).ok()?) {
            Some(name) => Some(CExpr::new(name, prec::PRIMARY, INT, Some((value, value)))),
            // Only visible characters: token 0 is the end of the input.
            None if (33..127).contains(&value) => ctype::character(value, order),
            None => None,
        }
    }

    /// The token whose number a label is, truncated or extended.
    fn token_under(&self, mut label: u32) -> Option<u32> {
        while matches!(self.expr.op(label), Op::SExt | Op::ZExt | Op::Trunc) {
            label = self.expr.node(label).a;
        }
        self.expr.token(label)
    }

    /// True if the number of a truncated token has a name as an unsigned number, and is
    /// negative as a signed one.
    pub(super) fn is_named_unsigned(&self, label: u32, value: u128, width: u32) -> bool {
        if width >= 32 || sign_extend(value, width) >= 0 {
            return false;
        }
        let token = self.token_under(label);
        let number = i32::try_from(value).ok();
        token.zip(number).is_some_and(|(t, n)| self.symbols.token(t, n).is_some())
    }

    /// Equalities are correct in both views. Prints the one with the shorter text.
    pub(super) fn print_shorter(&self, depth: u32, print: impl Fn(View) -> CExpr) -> CExpr {
        if depth > MAX_TRIAL_DEPTH {
            return print(View::Unsigned);
        }
        let left_before = self.operations_left.get();
        let unsigned = print(View::Unsigned);
        let left_after = self.operations_left.replace(left_before);
        let signed = print(View::Signed);
        if signed.text.len() < unsigned.text.len() {
            return signed;
        }
        self.operations_left.set(left_after);
        unsigned
    }

    fn print_arithmetic(&self, op: Op, label: u32, width: u32, depth: u32) -> CExpr {
        let (a, b) = self.expr.pair(label);
        let (op, a, b) = match (op, a, b) {
            // Constants come last and are added up. Adding a negative one is a subtraction.
            (Op::Mul, Arg::Const(_), _) => (op, b, a),
            (Op::Add, Arg::Const(_), _) | (Op::Add | Op::Sub, _, Arg::Const(_)) => {
                let (rest, added) = self.split_offset(label);
                match sign_extend(added, width) {
                    0 => return self.print(rest, View::Any, depth),
                    ..0 => {
                        let subtracted = added.wrapping_neg() & mask(width);
                        (Op::Sub, Arg::Label(rest), Arg::Const(subtracted))
                    }
                    _ => (Op::Add, Arg::Label(rest), Arg::Const(added)),
                }
            }
            _ => (op, a, b),
        };
        let left = self.print_arg(a, width, View::Any, depth);
        let right = match (op, a, b) {
            (Op::Sub, Arg::Label(l), Arg::Const(c)) => {
                self.print_constant_beside(l, c, width, View::Unsigned, true)
            }
            (_, _, Arg::Const(c)) => shortest_constant(c, width),
            _ => self.print_arg(b, width, View::Any, depth),
        };
        let (symbol, binds) = match op {
            Op::Add => ("+", prec::ADD),
            Op::Sub => ("-", prec::ADD),
            _ => ("*", prec::MUL),
        };
        let range = left.range.zip(right.range).and_then(|(x, y)| exact_range(op, x, y));
        let mut ty = CType::usual(left.ty, right.ty);
        let mut left = left;
        if !ty.contains(range) && (ty.signed || ty.bits < width) {
            // A wider signed type may contain the exact result. If not, the result may
            // wrap, and only unsigned arithmetic of at least `width` bits is correct.
            let wide = CType::signed(width.max(ty.bits));
            ty = CType {
                signed: CType::usual(wide, right.ty) == wide && wide.contains(range),
                ..wide
            };
            left = left.cast(ty.signed, ty.bits);
        }
        let range = if ty.contains(range) { range } else { full_range(false, ty.bits) };
        let text = format!("{} {symbol} {}", left.at(binds), right.at(binds + 1));
        CExpr::new(text, binds, ty, range)
    }

    fn print_shift_left(&self, label: u32, width: u32, depth: u32) -> CExpr {
        let (a, b) = self.expr.pair(label);
        let a = self.print_arg(a, width, View::Unsigned, depth);
        let by = match b {
            Arg::Const(c) => u32::try_from(c & mask(width)).ok(),
            Arg::Label(_) => None,
        };
        shift_left(a, &self.print_arg(b, width, View::Unsigned, depth), by, width)
    }

    fn print_division(&self, op: Op, label: u32, width: u32, depth: u32) -> CExpr {
        let signed = matches!(op, Op::SDiv | Op::SRem);
        let view = if signed { View::Signed } else { View::Unsigned };
        let (a, b) = self.expr.pair(label);
        let a = self.print_arg(a, width, view, depth);
        let (a, b) = keep_signs(a, self.print_arg(b, width, view, depth));
        let symbol = if matches!(op, Op::UDiv | Op::SDiv) { "/" } else { "%" };
        let text = format!("{} {symbol} {}", a.at(prec::MUL), b.at(prec::MUL + 1));
        // Neither result is farther from zero than the dividend. (The most negative number
        // divided by -1 is undefined in C, and itself in the graph.)
        let range = match a.range {
            Some((lo, hi)) if signed => {
                let most = lo.saturating_abs().max(hi.saturating_abs());
                full_range(true, width)
                    .map(|(least, greatest)| (least.max(-most), greatest.min(most)))
            }
            other => other.map(|(_, hi)| (0, hi)),
        };
        CExpr::new(text, prec::MUL, CType::usual(a.ty, b.ty), range)
    }

    fn print_logic(&self, op: Op, label: u32, depth: u32) -> CExpr {
        let (a, b) = self.expr.pair(label);
        let side = |arg| match arg {
            Arg::Label(l) => self.print_truth(l, true, depth),
            Arg::Const(c) => literal((c & 1) as i128),
        };
        let (a, b) = (side(a), side(b));
        match op {
            Op::And => logical(&a, "&&", prec::LOGIC_AND, &b),
            Op::Or => logical(&a, "||", prec::LOGIC_OR, &b),
            _ => logical(&a, "!=", prec::EQUAL, &b),
        }
    }

    fn print_bitwise(&self, op: Op, label: u32, width: u32, depth: u32) -> CExpr {
        let (a, b) = match self.expr.pair(label) {
            (a @ Arg::Const(_), b) => (b, a),
            pair => pair,
        };
        let a = self.print_arg(a, width, View::Unsigned, depth);
        if op == Op::Xor && b == Arg::Const(mask(width)) {
            let wide = if !a.ty.signed && a.ty.bits < width {
                a.cast(false, CType::unsigned(width).bits)
            } else {
                a
            };
            let range = match wide.range {
                Some((lo, hi)) if wide.ty.signed => Some((!hi, !lo)),
                _ => full_range(false, wide.ty.bits),
            };
            return CExpr::new(format!("~{}", wide.at(prec::UNARY)), prec::UNARY, wide.ty, range);
        }
        let b = self.print_arg(b, width, View::Unsigned, depth);
        match op {
            // The mask clears no bit.
            Op::And if is_mask_over(b.range, a.range) => a,
            Op::And => {
                let mut both = bitwise(&a, "&", prec::AND, &b);
                both.range = match (a.range, b.range) {
                    (Some((_, x)), Some((_, y))) => Some((0, x.min(y))),
                    (one, other) => one.or(other).map(|(_, hi)| (0, hi)),
                };
                both
            }
            Op::Or => bitwise(&a, "|", prec::OR, &b),
            _ => bitwise(&a, "^", prec::XOR, &b),
        }
    }

    fn print_overflow(&self, name: &str, label: u32, view: View, depth: u32) -> CExpr {
        let (a, b) = self.expr.pair(label);
        let width = self.expr.pair_width(label);
        let args = [self.print_arg(a, width, view, depth), self.print_arg(b, width, view, depth)];
        CExpr::new(call(name, width, &args), prec::PRIMARY, INT, Some((0, 1)))
    }
}

/// The name of the length of a stream.
pub(super) fn length(stream: u32) -> String {
    if stream == 0 { "len".into() } else { format!("len({stream})") }
}

/// Converts an expression that is correct modulo 2^width to a view.
fn fit_view(expr: CExpr, width: u32, view: View) -> CExpr {
    let signed = match view {
        View::Any => return expr,
        View::Unsigned => false,
        View::Signed => true,
    };
    let has_type = expr.ty == CType { bits: width, signed };
    if has_type || is_within(expr.range, signed, width) {
        return expr;
    }
    if matches!(width, 8 | 16 | 32 | 64 | 128) {
        return expr.cast(signed, width);
    }
    let ones = match i128::try_from(mask(width)) {
        Ok(ones) => literal(ones),
        Err(_) => literal_wide(mask(width)),
    };
    let cut = if is_within(expr.range, false, width) {
        expr
    } else {
        let mut cut = bitwise(&expr, "&", prec::AND, &ones);
        cut.range = full_range(false, width).or(Some((0, i128::MAX)));
        cut
    };
    if !signed {
        return cut;
    }
    // To extend the sign of an odd width, flip the sign bit and subtract it.
    let wide = CType::signed(width + 1);
    let cut = if cut.ty == wide { cut } else { cut.cast(true, wide.bits) };
    let sign = literal(1 << (width - 1));
    let text = format!("({} ^ {}) - {}", cut.at(prec::XOR), sign.text, sign.at(prec::ADD + 1));
    CExpr::new(text, prec::ADD, wide, full_range(true, width))
}

fn constant(value: u128, width: u32, view: View) -> CExpr {
    let value = value & mask(width);
    match view {
        View::Signed => literal(sign_extend(value, width)),
        View::Unsigned => i128::try_from(value).map_or_else(|_| literal_wide(value), literal),
        View::Any => shortest_constant(value, width),
    }
}

/// The shorter of a constant's signed and unsigned text.
fn shortest_constant(value: u128, width: u32) -> CExpr {
    let (signed, unsigned) =
        (constant(value, width, View::Signed), constant(value, width, View::Unsigned));
    if signed.text.len() < unsigned.text.len() { signed } else { unsigned }
}

pub(super) fn compare(a: CExpr, symbol: &str, b: CExpr) -> CExpr {
    let (a, b) = keep_signs(a, b);
    let binds = if matches!(symbol, "==" | "!=") { prec::EQUAL } else { prec::ORDER };
    logical(&a, symbol, binds, &b)
}

/// `a << b`; `by` is the value of `b` if it is a constant.
fn shift_left(a: CExpr, b: &CExpr, by: Option<u32>, width: u32) -> CExpr {
    let range = match (a.range, by) {
        (Some((0, 0)), _) => Some((0, 0)),
        (Some((_, hi)), Some(by)) if by < hi.leading_zeros() => Some((0, hi << by)),
        _ => None,
    };
    if by == Some(0) {
        return a;
    }
    let exact = a.ty.contains(range) && by.is_some_and(|by| by < a.ty.bits);
    let enough = !a.ty.signed && a.ty.bits >= width;
    let a = if exact || enough { a } else { a.cast(false, CType::unsigned(width).bits) };
    let range = if exact { range } else { full_range(false, a.ty.bits) };
    let text = format!("{} << {}", a.at(prec::SHIFT), b.at(prec::SHIFT + 1));
    CExpr::new(text, prec::SHIFT, a.ty, range)
}

/// `a >> b`, in a type with more bits than the largest `b`.
fn shift_right(a: CExpr, b: &CExpr) -> CExpr {
    let largest = b.range.map_or(i128::MAX, |(_, largest)| largest);
    let range = match b.range {
        Some((least, largest)) if least == largest && largest < 127 => {
            a.range.map(|(lo, hi)| (lo >> least, hi >> least))
        }
        _ => a.range.map(|(lo, hi)| (lo.min(0), hi.max(-1))),
    };
    let enough = [32, 64, 128].into_iter().find(|&bits| largest < bits.into()).unwrap_or(128);
    let a = if a.ty.bits < enough { a.cast(a.ty.signed, enough) } else { a };
    let text = format!("{} >> {}", a.at(prec::SHIFT), b.at(prec::SHIFT + 1));
    CExpr::new(text, prec::SHIFT, a.ty, range)
}

/// `a | b`, `a ^ b` or `a & b`, of values that are not negative.
fn bitwise(a: &CExpr, symbol: &str, binds: u8, b: &CExpr) -> CExpr {
    let ty = CType::usual(a.ty, b.ty);
    let range = match (a.range, b.range) {
        (Some((_, x)), Some((_, y))) if x >= 0 && y >= 0 => {
            let bits = 128 - (x | y).leading_zeros();
            full_range(false, bits.max(1)).or(Some((0, i128::MAX)))
        }
        _ => full_range(ty.signed, ty.bits),
    };
    CExpr::new(format!("{} {symbol} {}", a.at(binds), b.at(binds + 1)), binds, ty, range)
}

/// True if `mask` is a constant 2^n - 1 and `of` has no value above it.
fn is_mask_over(mask: Range, of: Range) -> bool {
    match (mask, of) {
        (Some((m, same)), Some((0.., hi))) => m == same && hi <= m && m & m.wrapping_add(1) == 0,
        _ => false,
    }
}

/// The range of the exact result of `+`, `-` or `*`.
fn exact_range(op: Op, (a, b): (i128, i128), (c, d): (i128, i128)) -> Range {
    Some(match op {
        Op::Add => (a.checked_add(c)?, b.checked_add(d)?),
        Op::Sub => (a.checked_sub(d)?, b.checked_sub(c)?),
        _ => {
            let corners =
                [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            (*corners.iter().min()?, *corners.iter().max()?)
        }
    })
}

/// The smallest range that contains both.
fn join(a: Range, b: Range) -> Range {
    let ((a, b), (c, d)) = a.zip(b)?;
    Some((a.min(c), b.max(d)))
}
