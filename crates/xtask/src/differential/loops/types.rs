//! The integer types of C, as far as the generator needs them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    pub bits: u32,
    pub signed: bool,
}

pub const I32: Int = Int { bits: 32, signed: true };
pub const U32: Int = Int { bits: 32, signed: false };
pub const U64: Int = Int { bits: 64, signed: false };

pub const ALL: [Int; 8] = [
    Int { bits: 8, signed: true },
    Int { bits: 8, signed: false },
    Int { bits: 16, signed: true },
    Int { bits: 16, signed: false },
    I32,
    U32,
    Int { bits: 64, signed: true },
    U64,
];

impl Int {
    pub fn name(self) -> String {
        format!("{}int{}_t", if self.signed { "" } else { "u" }, self.bits)
    }

    /// The type after integer promotion.
    pub fn promoted(self) -> Int {
        if self.bits < 32 { I32 } else { self }
    }

    /// The type of an operation on two values.
    pub fn common(self, other: Int) -> Int {
        let (a, b) = (self.promoted(), other.promoted());
        let bits = a.bits.max(b.bits);
        let is_unsigned = |t: Int| !t.signed && t.bits == bits;
        Int { bits, signed: !(is_unsigned(a) || is_unsigned(b)) }
    }

    /// The unsigned type in which operations on this one wrap around.
    pub fn wrapping(self) -> Int {
        if self.bits == 64 { U64 } else { U32 }
    }

    /// The largest absolute value, as a power of two.
    pub fn magnitude_bits(self) -> u32 {
        if self.signed { self.bits - 1 } else { self.bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_types_are_those_of_c() {
        let (i8, u16, i64) = (ALL[0], ALL[3], ALL[6]);
        assert_eq!(i8.common(u16), I32);
        assert_eq!(I32.common(U32), U32);
        assert_eq!(U32.common(i64), i64);
        assert_eq!(i64.common(U64), U64);
    }
}
