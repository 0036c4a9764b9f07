//! The types of C: which type an expression has after promotion, which values it can
//! have, and which casts and literals there are.

use std::fmt::Write as _;

/// A type of arithmetic: `int`, `unsigned` or wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CType {
    pub bits: u32,
    pub signed: bool,
}

pub(crate) const INT: CType = CType { bits: 32, signed: true };

/// The least and the greatest value; `None` if one is beyond `i128`.
pub(crate) type Range = Option<(i128, i128)>;

/// A printed expression: its text, its precedence, its type, and the range of its value.
#[derive(Clone, Debug)]
pub(crate) struct CExpr {
    pub text: String,
    pub prec: u8,
    pub ty: CType,
    pub range: Range,
}

/// The precedence of the operators of C.
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
        CType { bits: round_up(width), signed: false }
    }

    pub fn signed(width: u32) -> CType {
        CType { bits: round_up(width), signed: true }
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

    pub fn contains(self, range: Range) -> bool {
        match range {
            Some(r) => is_within(Some(r), self.signed, self.bits),
            None => false,
        }
    }
}

/// The width of the smallest type of arithmetic with `width` bits.
fn round_up(width: u32) -> u32 {
    match width {
        0..=32 => 32,
        33..=64 => 64,
        _ => 128,
    }
}

/// The range of all numbers of a width.
pub(crate) fn full_range(signed: bool, width: u32) -> Range {
    match (signed, width) {
        (true, 128) => Some((i128::MIN, i128::MAX)),
        (true, w) => Some((-(1 << (w - 1)), (1 << (w - 1)) - 1)),
        (false, 127..) => None,
        (false, w) => Some((0, (1 << w) - 1)),
    }
}

pub(crate) fn is_within(range: Range, signed: bool, width: u32) -> bool {
    match (range, full_range(signed, width)) {
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

impl CExpr {
    pub fn new(text: impl Into<String>, prec: u8, ty: CType, range: Range) -> CExpr {
        CExpr { text: text.into(), prec, ty, range }
    }

    /// An expression that can have any unsigned value of `width` bits.
    pub fn unsigned(text: impl Into<String>, width: u32) -> CExpr {
        let ty = if width < 32 { INT } else { CType::unsigned(width) };
        CExpr::new(text, prec::PRIMARY, ty, full_range(false, width))
    }

    /// The text as an operand, in parentheses if its precedence is below `place`.
    pub fn at(&self, place: u8) -> String {
        if self.prec >= place { self.text.clone() } else { format!("({})", self.text) }
    }

    /// A cast to `width` bits (8, 16, 32, 64 or 128).
    pub fn cast(&self, signed: bool, width: u32) -> CExpr {
        let text = format!("({}){}", name(signed, width), self.at(prec::UNARY));
        let ty = if width < 32 { INT } else { CType { bits: width, signed } };
        CExpr::new(text, prec::UNARY, ty, full_range(signed, width))
    }

    fn may_be_negative(&self) -> bool {
        self.ty.signed && self.range.is_none_or(|(lo, _)| lo < 0)
    }
}

/// Makes two expressions safe to compare or divide. If one is unsigned, C converts a
/// negative value of the other to a large one; casts prevent that.
pub(crate) fn keep_signs(a: CExpr, b: CExpr) -> (CExpr, CExpr) {
    let mixed = !CType::usual(a.ty, b.ty).signed;
    if !mixed || !(a.may_be_negative() || b.may_be_negative()) {
        return (a, b);
    }
    let signed = |t: CExpr| {
        if t.ty.signed {
            return t;
        }
        let width = [32, 64, 128].into_iter().find(|&w| is_within(t.range, true, w));
        let range = t.range;
        CExpr { range, ..t.cast(true, width.unwrap_or(128)) }
    };
    (signed(a), signed(b))
}

/// A literal, decimal below 10,000 and hexadecimal above.
pub(crate) fn literal(value: i128) -> CExpr {
    let exact = Some((value, value));
    if value == i128::from(i32::MIN) {
        return CExpr::new("INT_MIN", prec::PRIMARY, INT, exact);
    }
    if value == i128::from(i64::MIN) {
        return CExpr::new("INT64_MIN", prec::PRIMARY, CType::signed(64), exact);
    }
    if let Ok(small) = i64::try_from(value)
        && small < 10_000
    {
        // Decimal literals are never unsigned.
        let ty = if i32::try_from(small).is_ok() { INT } else { CType::signed(64) };
        let binds = if small < 0 { prec::UNARY } else { prec::PRIMARY };
        return CExpr::new(small.to_string(), binds, ty, exact);
    }
    if let Ok(plain) = u64::try_from(value) {
        let ty = [INT, CType::unsigned(32), CType::signed(64)].into_iter();
        let ty = ty.into_iter().find(|t| t.contains(exact)).unwrap_or(CType::unsigned(64));
        return CExpr::new(format!("{plain:#x}"), prec::PRIMARY, ty, exact);
    }
    let unsigned = literal_wide(value as u128);
    CExpr { range: exact, ..unsigned.cast(true, 128) }
}

/// A number of more than 64 bits, for which C has no literals.
pub(crate) fn literal_wide(value: u128) -> CExpr {
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
    CExpr::new(text, binds, CType::unsigned(128), range)
}

/// A byte as a character constant, if that reads better than its number. With `<` and the
/// like (`order`), only visible characters do.
pub(crate) fn character(value: i128, order: bool) -> Option<CExpr> {
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
    Some(CExpr::new(text, prec::PRIMARY, INT, Some((value, value))))
}
