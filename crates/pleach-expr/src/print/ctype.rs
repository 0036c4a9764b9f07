//! What the printer knows of C: the type that an expression has after
//! promotion, the range of its value, and when C's arithmetic agrees with the
//! graph's.

use std::fmt::Write as _;

/// A type that arithmetic is done in: `int`, `unsigned` or wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CType {
    pub bits: u32,
    pub signed: bool,
}

pub(crate) const INT: CType = CType { bits: 32, signed: true };

/// Least and greatest value; `None` where `i128` cannot say.
pub(crate) type Range = Option<(i128, i128)>;

/// A printed expression: its text, how tightly it binds, its type and range.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub text: String,
    pub prec: u8,
    pub ty: CType,
    pub range: Range,
}

/// How tightly C's operators bind.
pub(crate) mod prec {
    pub const PRIMARY: u8 = 15;
    pub const UNARY: u8 = 14;
    pub const MUL: u8 = 13;
    pub const ADD: u8 = 12;
    pub const SHIFT: u8 = 11;
    pub const ORDER: u8 = 10;
    pub const EQUAL: u8 = 9;
    pub const AND: u8 = 8;
    pub const XOR: u8 = 7;
    pub const OR: u8 = 6;
    pub const LOGIC_AND: u8 = 5;
    pub const LOGIC_OR: u8 = 4;
    pub const CHOICE: u8 = 3;
}

impl CType {
    pub fn unsigned(width: u32) -> CType {
        CType { bits: round(width), signed: false }
    }

    pub fn signed(width: u32) -> CType {
        CType { bits: round(width), signed: true }
    }

    /// The usual arithmetic conversions.
    pub fn usual(a: CType, b: CType) -> CType {
        if a.bits == b.bits {
            CType { bits: a.bits, signed: a.signed && b.signed }
        } else if a.bits > b.bits {
            a
        } else {
            b
        }
    }

    pub fn holds(self, range: Range) -> bool {
        match range {
            Some(r) => is_within(Some(r), self.signed, self.bits),
            None => false,
        }
    }
}

fn round(width: u32) -> u32 {
    match width {
        0..=32 => 32,
        33..=64 => 64,
        _ => 128,
    }
}

/// All values of a number of bits; `None` if they are beyond `i128`.
pub(crate) fn full(signed: bool, width: u32) -> Range {
    match (signed, width) {
        (true, 128) => Some((i128::MIN, i128::MAX)),
        (true, w) => Some((-(1 << (w - 1)), (1 << (w - 1)) - 1)),
        (false, 127..) => None,
        (false, w) => Some((0, (1 << w) - 1)),
    }
}

pub(crate) fn is_within(range: Range, signed: bool, width: u32) -> bool {
    match (range, full(signed, width)) {
        (Some((lo, hi)), Some((least, most))) => lo >= least && hi <= most,
        (Some((lo, _)), None) => lo >= 0 && width >= 127,
        (None, _) => false,
    }
}

/// The name of a type in a cast.
pub(crate) fn name(signed: bool, width: u32) -> &'static str {
    match (signed, width) {
        (true, 8) => "int8_t",
        (true, 16) => "int16_t",
        (true, 32) => "int",
        (true, 64) => "int64_t",
        (true, _) => "__int128",
        (false, 8) => "uint8_t",
        (false, 16) => "uint16_t",
        (false, 32) => "uint32_t",
        (false, 64) => "uint64_t",
        (false, _) => "unsigned __int128",
    }
}

impl Term {
    pub fn new(text: impl Into<String>, prec: u8, ty: CType, range: Range) -> Term {
        Term { text: text.into(), prec, ty, range }
    }

    /// An expression whose value is any of an unsigned type of `width` bits.
    pub fn unsigned(text: impl Into<String>, width: u32) -> Term {
        let ty = if width < 32 { INT } else { CType::unsigned(width) };
        Term::new(text, prec::PRIMARY, ty, full(false, width))
    }

    /// The text, in parentheses if it binds less tightly than its place.
    pub fn at(&self, place: u8) -> String {
        if self.prec >= place { self.text.clone() } else { format!("({})", self.text) }
    }

    /// Cut to `width` bits (8, 16, 32, 64 or 128) by a cast.
    pub fn cast(&self, signed: bool, width: u32) -> Term {
        let text = format!("({}){}", name(signed, width), self.at(prec::UNARY));
        let ty = if width < 32 { INT } else { CType { bits: width, signed } };
        Term::new(text, prec::UNARY, ty, full(signed, width))
    }

    fn may_be_negative(&self) -> bool {
        self.ty.signed && self.range.is_none_or(|(lo, _)| lo < 0)
    }
}

/// Makes two expressions safe to compare or divide: C would turn a negative
/// value into a large one if the other side is unsigned.
pub(crate) fn preserve(a: Term, b: Term) -> (Term, Term) {
    let mixed = !CType::usual(a.ty, b.ty).signed;
    if !mixed || !(a.may_be_negative() || b.may_be_negative()) {
        return (a, b);
    }
    let signed = |t: Term| {
        if t.ty.signed {
            return t;
        }
        let width = [32, 64, 128].into_iter().find(|&w| is_within(t.range, true, w));
        let range = t.range;
        Term { range, ..t.cast(true, width.unwrap_or(128)) }
    };
    (signed(a), signed(b))
}

/// A number: decimal where people count, hexadecimal where they look at bits.
pub(crate) fn literal(value: i128) -> Term {
    let exact = Some((value, value));
    if value == i128::from(i32::MIN) {
        return Term::new("INT_MIN", prec::PRIMARY, INT, exact);
    }
    if value == i128::from(i64::MIN) {
        return Term::new("INT64_MIN", prec::PRIMARY, CType::signed(64), exact);
    }
    if let Ok(small) = i64::try_from(value)
        && small < 10_000
    {
        // Decimal literals are never unsigned.
        let ty = if i32::try_from(small).is_ok() { INT } else { CType::signed(64) };
        let binds = if small < 0 { prec::UNARY } else { prec::PRIMARY };
        return Term::new(small.to_string(), binds, ty, exact);
    }
    if let Ok(plain) = u64::try_from(value) {
        let ty = [INT, CType::unsigned(32), CType::signed(64)].into_iter();
        let ty = ty.into_iter().find(|t| t.holds(exact)).unwrap_or(CType::unsigned(64));
        return Term::new(format!("{plain:#x}"), prec::PRIMARY, ty, exact);
    }
    let unsigned = literal_wide(value as u128);
    Term { range: exact, ..unsigned.cast(true, 128) }
}

/// A number above 64 bits, which C has no literals for.
pub(crate) fn literal_wide(value: u128) -> Term {
    let mut text = String::new();
    let _ = write!(text, "(unsigned __int128){:#x} << 64", (value >> 64) as u64);
    let low = value as u64;
    let binds = if low == 0 {
        prec::SHIFT
    } else {
        let _ = write!(text, " | {low:#x}");
        prec::OR
    };
    let range = i128::try_from(value).ok().map(|v| (v, v));
    Term::new(text, binds, CType::unsigned(128), range)
}

/// A byte as a character constant. In order comparisons only what is visible
/// reads better than its number.
pub(crate) fn character(value: i128, order: bool) -> Option<Term> {
    let byte = u8::try_from(value).ok()?;
    let text = match byte {
        b'\'' | b'\\' => format!("'\\{}'", char::from(byte)),
        b' '..=b'~' => format!("'{}'", char::from(byte)),
        _ if order => return None,
        0 => "'\\0'".into(),
        b'\t' => "'\\t'".into(),
        b'\n' => "'\\n'".into(),
        b'\r' => "'\\r'".into(),
        _ => return None,
    };
    Some(Term::new(text, prec::PRIMARY, INT, Some((value, value))))
}
