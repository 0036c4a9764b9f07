//! One operation at a time: from labels to C terms.

use super::ctype::{
    self, CType, INT, Range, Term, full, is_within, literal, literal_wide, prec, preserve,
};
use super::{Printer, call, logical, not};
use crate::graph::Arg;
use crate::{mask, sign_extend};
use pleach_abi::layout::LABEL_MAX;
use pleach_abi::node::Op;

/// What a term's value must be, for a label of some width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Unsigned,
    Signed,
    /// Right modulo 2^width, whatever is shortest.
    Any,
}

/// How deep comparisons may be nested and still be tried both ways.
const TRIALS: u32 = 3;

impl Printer<'_> {
    pub(super) fn term(&self, label: u32, view: View, depth: u32) -> Term {
        let width = self.expr.width(label);
        if !self.piece(depth) {
            return fit(Term::unsigned("…", width), width, view);
        }
        fit(self.raw(label, width, view, depth + 1), width, view)
    }

    fn arg(&self, arg: Arg, width: u32, view: View, depth: u32) -> Term {
        match arg {
            Arg::Label(l) => self.term(l, view, depth),
            Arg::Const(c) => constant(c, width, view),
        }
    }

    /// A term that is right modulo 2^width; `view` is only a hint.
    fn raw(&self, label: u32, width: u32, view: View, depth: u32) -> Term {
        let node = self.expr.node(label);
        let op = self.expr.op(label);
        let signed = |l| self.term(l, View::Signed, depth);
        let unsigned = |l| self.term(l, View::Unsigned, depth);
        if let Some(token) = self.expr.token(label) {
            return Term::new(format!("tok[{token}]"), prec::PRIMARY, INT, full(true, 32));
        }
        if let Some(hole) = self.expr.hole(label) {
            let range = Some((0, LABEL_MAX.into()));
            return Term::new(format!("len[{hole}]"), prec::PRIMARY, CType::unsigned(32), range);
        }
        if let Some(number) = self.input_number(label) {
            return number;
        }
        match op {
            Op::Input | Op::Read | Op::Wide | Op::Token | Op::HoleLen => Term::unsigned("…", width),
            Op::InputLen => {
                // An input that is longer than labels can number has none.
                let range = Some((0, LABEL_MAX.into()));
                Term::new(length(node.a), prec::PRIMARY, CType::unsigned(64), range)
            }
            Op::Const => constant(self.expr.immediate(label), width, view),
            Op::Add | Op::Sub | Op::Mul => self.arithmetic(op, label, width, depth),
            Op::Shl => self.shift_left(label, width, depth),
            Op::LShr | Op::AShr => {
                let view = if op == Op::AShr { View::Signed } else { View::Unsigned };
                let (a, b) = self.expr.pair(label);
                let a = self.arg(a, width, view, depth);
                shifted_right(a, &self.arg(b, width, View::Unsigned, depth))
            }
            Op::UDiv | Op::URem | Op::SDiv | Op::SRem => self.division(op, label, width, depth),
            Op::And | Op::Or | Op::Xor if width == 1 => self.logic(op, label, depth),
            Op::And | Op::Or | Op::Xor => self.bitwise(op, label, width, depth),
            Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
                self.truth(label, true, depth)
            }
            Op::UAddO => self.overflow("uadd_overflow", label, View::Unsigned, depth),
            Op::USubO => self.overflow("usub_overflow", label, View::Unsigned, depth),
            Op::UMulO => self.overflow("umul_overflow", label, View::Unsigned, depth),
            Op::SAddO => self.overflow("sadd_overflow", label, View::Signed, depth),
            Op::SSubO => self.overflow("ssub_overflow", label, View::Signed, depth),
            Op::SMulO => self.overflow("smul_overflow", label, View::Signed, depth),
            Op::ZExt => unsigned(node.a),
            Op::SExt => signed(node.a),
            Op::Trunc => self.term(node.a, View::Any, depth),
            Op::Extract if node.b == 0 => self.term(node.a, View::Any, depth),
            Op::Extract => shifted_right(unsigned(node.a), &literal(node.b.into())),
            Op::Concat => {
                let (low, high) = self.expr.pair(label);
                let low = self.arg(low, node.c, View::Unsigned, depth);
                let high = self.arg(high, width - node.c, View::Unsigned, depth);
                let high = shifted(high, &literal(node.c.into()), Some(node.c), width);
                either(&high, "|", prec::OR, &low)
            }
            Op::Ite => {
                let condition = self.truth(node.a, true, depth);
                let view = if view == View::Any { View::Unsigned } else { view };
                let (b, c) =
                    preserve(self.term(node.b, view, depth), self.term(node.c, view, depth));
                let text = format!(
                    "{} ? {} : {}",
                    condition.at(prec::CHOICE + 1),
                    b.at(prec::CHOICE),
                    c.at(prec::CHOICE)
                );
                Term::new(text, prec::CHOICE, CType::usual(b.ty, c.ty), join(b.range, c.range))
            }
            Op::Ctlz | Op::Cttz | Op::Popcnt => {
                let name = match op {
                    Op::Ctlz => "clz",
                    Op::Cttz => "ctz",
                    _ => "popcount",
                };
                let text = call(name, width, &[unsigned(node.a)]);
                Term::new(text, prec::PRIMARY, INT, Some((0, width.into())))
            }
            Op::Bswap => Term::unsigned(call("bswap", width, &[unsigned(node.a)]), width),
            Op::BitRev => Term::unsigned(call("bitreverse", width, &[unsigned(node.a)]), width),
            Op::FShl | Op::FShr => {
                let name = if op == Op::FShl { "fshl" } else { "fshr" };
                let args = [unsigned(node.a), unsigned(node.b), unsigned(node.c)];
                Term::unsigned(call(name, width, &args), width)
            }
            Op::Lookup => self.lookup(label, width, depth),
        }
    }

    /// A condition: a label of one bit, as it is or negated.
    pub(super) fn truth(&self, label: u32, holds: bool, depth: u32) -> Term {
        let width = self.expr.width(label);
        if width != 1 {
            return self.equality(label, 0, width, !holds, depth);
        }
        if !self.piece(depth) {
            let cut = Term::unsigned("…", 1);
            return if holds { cut } else { not(&cut) };
        }
        let depth = depth + 1;
        let (op, node) = (self.expr.op(label), self.expr.node(label));
        if !matches!(op, Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle) {
            if op == Op::Xor && (node.a == 0 || node.b == 0) {
                let flip = self.expr.immediate(label) & 1 == 1;
                return self.truth(node.a | node.b, holds != flip, depth);
            }
            let term = fit(self.raw(label, 1, View::Unsigned, depth), 1, View::Unsigned);
            return if holds { term } else { not(&term) };
        }
        let (a, b) = self.expr.pair(label);
        let width = self.expr.pair_width(label);
        match op {
            Op::Eq | Op::Ne => {
                let equal = (op == Op::Eq) == holds;
                match (a, b) {
                    (Arg::Label(l), Arg::Const(c)) | (Arg::Const(c), Arg::Label(l)) => {
                        self.equality(l, c & mask(width), width, equal, depth)
                    }
                    _ => {
                        let symbol = if equal { "==" } else { "!=" };
                        self.shorter(depth, |view| {
                            let a = self.arg(a, width, view, depth);
                            let b = self.arg(b, width, view, depth);
                            compare(a, symbol, b)
                        })
                    }
                }
            }
            _ => self.order(op, a, b, width, holds, depth),
        }
    }

    fn order(&self, op: Op, a: Arg, b: Arg, width: u32, holds: bool, depth: u32) -> Term {
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
                let right = self.beside(l, c, width, view, true);
                compare(self.term(l, view, depth), symbol, right)
            }
            (Arg::Const(c), Arg::Label(l)) => {
                let right = self.beside(l, c, width, view, true);
                compare(self.term(l, view, depth), mirrored, right)
            }
            (a, b) => {
                let a = self.arg(a, width, view, depth);
                compare(a, symbol, self.arg(b, width, view, depth))
            }
        }
    }

    /// A constant beside `label`: a character if that is a byte of the input.
    pub(super) fn beside(
        &self,
        label: u32,
        value: u128,
        width: u32,
        view: View,
        order: bool,
    ) -> Term {
        let term = constant(value, width, view);
        let number = match term.range {
            Some((v, _)) if self.is_byte(label) => ctype::character(v, order),
            Some((v, _)) => self.token_number(label, v, order),
            _ => None,
        };
        number.unwrap_or(term)
    }

    /// A number beside a token: its name, or the character that it is.
    fn token_number(&self, label: u32, value: i128, order: bool) -> Option<Term> {
        let token = self.token_under(label)?;
        let named = self.symbols.token(token, i32::try_from(value).ok()?);
        match named {
            Some(name) => Some(Term::new(name, prec::PRIMARY, INT, Some((value, value)))),
            // Zero is the end of the input, and what has no sign is no character.
            None if (33..127).contains(&value) => ctype::character(value, order),
            None => None,
        }
    }

    /// The token that a label is, cut or extended.
    fn token_under(&self, mut label: u32) -> Option<u32> {
        while matches!(self.expr.op(label), Op::SExt | Op::ZExt | Op::Trunc) {
            label = self.expr.node(label).a;
        }
        self.expr.token(label)
    }

    /// Whether a number beside a small token has a name only without its sign.
    pub(super) fn is_named_unsigned(&self, label: u32, value: u128, width: u32) -> bool {
        if width >= 32 || sign_extend(value, width) >= 0 {
            return false;
        }
        let token = self.token_under(label);
        let number = i32::try_from(value).ok();
        token.zip(number).is_some_and(|(t, n)| self.symbols.token(t, n).is_some())
    }

    /// Equality can be asked in either view; take the shorter text.
    pub(super) fn shorter(&self, depth: u32, print: impl Fn(View) -> Term) -> Term {
        if depth > TRIALS {
            return print(View::Unsigned);
        }
        let left = self.left.get();
        let unsigned = print(View::Unsigned);
        let after = self.left.replace(left);
        let signed = print(View::Signed);
        if signed.text.len() < unsigned.text.len() {
            return signed;
        }
        self.left.set(after);
        unsigned
    }

    fn arithmetic(&self, op: Op, label: u32, width: u32, depth: u32) -> Term {
        let (a, b) = self.expr.pair(label);
        let (op, a, b) = match (op, a, b) {
            // Constants come last and are added up, and adding a negative one
            // is subtraction.
            (Op::Mul, Arg::Const(_), _) => (op, b, a),
            (Op::Add, Arg::Const(_), _) | (Op::Add | Op::Sub, _, Arg::Const(_)) => {
                let (rest, added) = self.offset(label);
                match sign_extend(added, width) {
                    0 => return self.term(rest, View::Any, depth),
                    ..0 => {
                        let taken = added.wrapping_neg() & mask(width);
                        (Op::Sub, Arg::Label(rest), Arg::Const(taken))
                    }
                    _ => (Op::Add, Arg::Label(rest), Arg::Const(added)),
                }
            }
            _ => (op, a, b),
        };
        let left = self.arg(a, width, View::Any, depth);
        let right = match (op, a, b) {
            (Op::Sub, Arg::Label(l), Arg::Const(c)) => {
                self.beside(l, c, width, View::Unsigned, true)
            }
            (_, _, Arg::Const(c)) => shortest(c, width),
            _ => self.arg(b, width, View::Any, depth),
        };
        let (symbol, binds) = match op {
            Op::Add => ("+", prec::ADD),
            Op::Sub => ("-", prec::ADD),
            _ => ("*", prec::MUL),
        };
        let range = left.range.zip(right.range).and_then(|(x, y)| exact(op, x, y));
        let mut ty = CType::usual(left.ty, right.ty);
        let mut left = left;
        if !ty.holds(range) && (ty.signed || ty.bits < width) {
            // A wider type may hold it exactly. If not, it may wrap, and only
            // unsigned arithmetic of enough bits is right.
            let wide = CType::signed(width.max(ty.bits));
            ty =
                CType { signed: CType::usual(wide, right.ty) == wide && wide.holds(range), ..wide };
            left = left.cast(ty.signed, ty.bits);
        }
        let range = if ty.holds(range) { range } else { full(false, ty.bits) };
        let text = format!("{} {symbol} {}", left.at(binds), right.at(binds + 1));
        Term::new(text, binds, ty, range)
    }

    fn shift_left(&self, label: u32, width: u32, depth: u32) -> Term {
        let (a, b) = self.expr.pair(label);
        let a = self.arg(a, width, View::Unsigned, depth);
        let by = match b {
            Arg::Const(c) => u32::try_from(c & mask(width)).ok(),
            Arg::Label(_) => None,
        };
        shifted(a, &self.arg(b, width, View::Unsigned, depth), by, width)
    }

    fn division(&self, op: Op, label: u32, width: u32, depth: u32) -> Term {
        let signed = matches!(op, Op::SDiv | Op::SRem);
        let view = if signed { View::Signed } else { View::Unsigned };
        let (a, b) = self.expr.pair(label);
        let a = self.arg(a, width, view, depth);
        let (a, b) = preserve(a, self.arg(b, width, view, depth));
        let symbol = if matches!(op, Op::UDiv | Op::SDiv) { "/" } else { "%" };
        let text = format!("{} {symbol} {}", a.at(prec::MUL), b.at(prec::MUL + 1));
        // Neither is farther from zero than the dividend. (The most negative
        // number by -1 is undefined in C and itself in the graph.)
        let range = match a.range {
            Some((lo, hi)) if signed => {
                let most = lo.saturating_abs().max(hi.saturating_abs());
                full(true, width).map(|(least, greatest)| (least.max(-most), greatest.min(most)))
            }
            other => other.map(|(_, hi)| (0, hi)),
        };
        Term::new(text, prec::MUL, CType::usual(a.ty, b.ty), range)
    }

    fn logic(&self, op: Op, label: u32, depth: u32) -> Term {
        let (a, b) = self.expr.pair(label);
        let side = |arg| match arg {
            Arg::Label(l) => self.truth(l, true, depth),
            Arg::Const(c) => literal((c & 1) as i128),
        };
        let (a, b) = (side(a), side(b));
        match op {
            Op::And => logical(&a, "&&", prec::LOGIC_AND, &b),
            Op::Or => logical(&a, "||", prec::LOGIC_OR, &b),
            _ => logical(&a, "!=", prec::EQUAL, &b),
        }
    }

    fn bitwise(&self, op: Op, label: u32, width: u32, depth: u32) -> Term {
        let (a, b) = match self.expr.pair(label) {
            (a @ Arg::Const(_), b) => (b, a),
            pair => pair,
        };
        let a = self.arg(a, width, View::Unsigned, depth);
        if op == Op::Xor && b == Arg::Const(mask(width)) {
            let wide = if !a.ty.signed && a.ty.bits < width {
                a.cast(false, CType::unsigned(width).bits)
            } else {
                a
            };
            let range = match wide.range {
                Some((lo, hi)) if wide.ty.signed => Some((!hi, !lo)),
                _ => full(false, wide.ty.bits),
            };
            return Term::new(format!("~{}", wide.at(prec::UNARY)), prec::UNARY, wide.ty, range);
        }
        let b = self.arg(b, width, View::Unsigned, depth);
        match op {
            // A mask that takes nothing away.
            Op::And if is_mask_over(b.range, a.range) => a,
            Op::And => {
                let mut both = either(&a, "&", prec::AND, &b);
                both.range = match (a.range, b.range) {
                    (Some((_, x)), Some((_, y))) => Some((0, x.min(y))),
                    (one, other) => one.or(other).map(|(_, hi)| (0, hi)),
                };
                both
            }
            Op::Or => either(&a, "|", prec::OR, &b),
            _ => either(&a, "^", prec::XOR, &b),
        }
    }

    fn overflow(&self, name: &str, label: u32, view: View, depth: u32) -> Term {
        let (a, b) = self.expr.pair(label);
        let width = self.expr.pair_width(label);
        let args = [self.arg(a, width, view, depth), self.arg(b, width, view, depth)];
        Term::new(call(name, width, &args), prec::PRIMARY, INT, Some((0, 1)))
    }
}

/// How the length of a stream is written.
pub(super) fn length(stream: u32) -> String {
    if stream == 0 { "len".into() } else { format!("len({stream})") }
}

/// Brings a term that is right modulo 2^width into a view.
fn fit(term: Term, width: u32, view: View) -> Term {
    let signed = match view {
        View::Any => return term,
        View::Unsigned => false,
        View::Signed => true,
    };
    let already = term.ty == CType { bits: width, signed };
    if already || is_within(term.range, signed, width) {
        return term;
    }
    if matches!(width, 8 | 16 | 32 | 64 | 128) {
        return term.cast(signed, width);
    }
    let ones = match i128::try_from(mask(width)) {
        Ok(ones) => literal(ones),
        Err(_) => literal_wide(mask(width)),
    };
    let cut = if is_within(term.range, false, width) {
        term
    } else {
        let mut cut = either(&term, "&", prec::AND, &ones);
        cut.range = full(false, width).or(Some((0, i128::MAX)));
        cut
    };
    if !signed {
        return cut;
    }
    // The sign bit of an odd width: flip it and take it away again.
    let wide = CType::signed(width + 1);
    let cut = if cut.ty == wide { cut } else { cut.cast(true, wide.bits) };
    let sign = literal(1 << (width - 1));
    let text = format!("({} ^ {}) - {}", cut.at(prec::XOR), sign.text, sign.at(prec::ADD + 1));
    Term::new(text, prec::ADD, wide, full(true, width))
}

fn constant(value: u128, width: u32, view: View) -> Term {
    let value = value & mask(width);
    match view {
        View::Signed => literal(sign_extend(value, width)),
        View::Unsigned => i128::try_from(value).map_or_else(|_| literal_wide(value), literal),
        View::Any => shortest(value, width),
    }
}

/// A constant in a place where only its value modulo 2^width matters.
fn shortest(value: u128, width: u32) -> Term {
    let (signed, unsigned) =
        (constant(value, width, View::Signed), constant(value, width, View::Unsigned));
    if signed.text.len() < unsigned.text.len() { signed } else { unsigned }
}

pub(super) fn compare(a: Term, symbol: &str, b: Term) -> Term {
    let (a, b) = preserve(a, b);
    let binds = if matches!(symbol, "==" | "!=") { prec::EQUAL } else { prec::ORDER };
    logical(&a, symbol, binds, &b)
}

/// `a << b`; `by` where it is known.
fn shifted(a: Term, b: &Term, by: Option<u32>, width: u32) -> Term {
    let range = match (a.range, by) {
        (Some((0, 0)), _) => Some((0, 0)),
        (Some((_, hi)), Some(by)) if by < hi.leading_zeros() => Some((0, hi << by)),
        _ => None,
    };
    if by == Some(0) {
        return a;
    }
    let exact = a.ty.holds(range) && by.is_some_and(|by| by < a.ty.bits);
    let enough = !a.ty.signed && a.ty.bits >= width;
    let a = if exact || enough { a } else { a.cast(false, CType::unsigned(width).bits) };
    let range = if exact { range } else { full(false, a.ty.bits) };
    let text = format!("{} << {}", a.at(prec::SHIFT), b.at(prec::SHIFT + 1));
    Term::new(text, prec::SHIFT, a.ty, range)
}

/// `a >> b`, in a type of more bits than it shifts by.
fn shifted_right(a: Term, b: &Term) -> Term {
    let most = b.range.map_or(i128::MAX, |(_, most)| most);
    let range = match b.range {
        Some((least, most)) if least == most && most < 127 => {
            a.range.map(|(lo, hi)| (lo >> least, hi >> least))
        }
        _ => a.range.map(|(lo, hi)| (lo.min(0), hi.max(-1))),
    };
    let enough = [32, 64, 128].into_iter().find(|&bits| most < bits.into()).unwrap_or(128);
    let a = if a.ty.bits < enough { a.cast(a.ty.signed, enough) } else { a };
    let text = format!("{} >> {}", a.at(prec::SHIFT), b.at(prec::SHIFT + 1));
    Term::new(text, prec::SHIFT, a.ty, range)
}

/// Two values that are not negative, under `|`, `^` or `&`.
fn either(a: &Term, symbol: &str, binds: u8, b: &Term) -> Term {
    let ty = CType::usual(a.ty, b.ty);
    let range = match (a.range, b.range) {
        (Some((_, x)), Some((_, y))) if x >= 0 && y >= 0 => {
            let bits = 128 - (x | y).leading_zeros();
            full(false, bits.max(1)).or(Some((0, i128::MAX)))
        }
        _ => full(ty.signed, ty.bits),
    };
    Term::new(format!("{} {symbol} {}", a.at(binds), b.at(binds + 1)), binds, ty, range)
}

/// Whether `mask` is the constant 2^n - 1 and `of` lies within it.
fn is_mask_over(mask: Range, of: Range) -> bool {
    match (mask, of) {
        (Some((m, same)), Some((0.., hi))) => m == same && hi <= m && m & m.wrapping_add(1) == 0,
        _ => false,
    }
}

fn exact(op: Op, (a, b): (i128, i128), (c, d): (i128, i128)) -> Range {
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

fn join(a: Range, b: Range) -> Range {
    let ((a, b), (c, d)) = a.zip(b)?;
    Some((a.min(c), b.max(d)))
}
