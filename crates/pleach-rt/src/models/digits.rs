//! Digits of a labelled number in the text that `printf` and its relatives write.
//!
//! The sign and the count of the digits are decided. Then each digit is an expression, so that a
//! comparison of the text can be flipped. A number with `%f` is rounded to an integer first: `12.75`
//! with two decimals is 1275. Where the text is something else, because libc rounds the exact
//! number and the expression a product, it gets no labels.

use super::api::V;
use crate::symbolic::arena;
use crate::symbolic::ops::rounds_to_nearest;
use pleach_abi::node::Op;

/// The digits of a number that is not negative.
#[derive(Clone, Copy)]
pub struct Digits {
    number: V,
    base: u64,
    pub count: u64,
    /// The number of digits after the point of the text; 0 for an integer.
    decimals: u64,
    first_letter: u8,
}

/// An integer without its sign. The sign is decided.
pub struct Unsigned {
    pub magnitude: V,
    pub is_negative: bool,
}

impl Unsigned {
    pub fn of(number: V, is_signed: bool) -> Unsigned {
        let zero = V::new(number.width, 0);
        let is_negative = is_signed && number.slt(zero).decide();
        Unsigned { magnitude: if is_negative { zero.sub(number) } else { number }, is_negative }
    }

    /// A `double` as `%f` rounds it: times ten to the power of `decimals`. `None` if the result
    /// is too large for an exact integer, or not a number.
    pub fn of_double(number: V, decimals: u64) -> Option<Unsigned> {
        /// All smaller numbers have a unit in the last place of at most 1.
        const LIMIT: f64 = (1u64 << 52) as f64;
        let power = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
        let &power = power.get(decimals as usize)?;
        if !rounds_to_nearest() {
            return None;
        }
        let bits = |n: f64| V::new(64, n.to_bits());
        let is_negative = number.slt(V::new(64, 0)).decide();
        let magnitude = number.and(V::new(64, i64::MAX as u64));
        // Numbers that are not negative have the order of their bits.
        if !magnitude.ult(bits(LIMIT / power)).decide() {
            return None;
        }
        let product = f64::from_bits(magnitude.val) * power;
        let rounded = (product + LIMIT) - LIMIT;
        let node = |op, width, a: V, imm: V, val: u64| {
            let label = arena::binary(op, width, a.label, 0, imm.val, val);
            V::arg(label, width, val)
        };
        let product = node(Op::FMul, 64, magnitude, bits(power), product.to_bits());
        let whole = node(Op::FRint, 64, product, V::new(64, 0), rounded.to_bits());
        let magnitude = node(Op::FToU, 64, whole, V::new(64, 0), rounded as u64);
        Some(Unsigned { magnitude, is_negative })
    }
}

impl Digits {
    /// Decides how many digits the number has.
    pub fn of(number: V, base: u64, first_letter: u8) -> Digits {
        Digits { number, base, count: 1, decimals: 0, first_letter }.counted()
    }

    /// The digits of a number that is a multiple of a power of ten.
    pub fn with_decimals(number: V, decimals: u64) -> Digits {
        Digits { number, base: 10, count: decimals + 1, decimals, first_letter: 0 }.counted()
    }

    fn counted(mut self) -> Digits {
        let greatest = arena::mask(self.number.width);
        let mut limit = self.base.checked_pow(self.count as u32);
        while let Some(n) = limit.filter(|&n| n <= greatest) {
            if self.number.ult(V::new(self.number.width, n)).decide() {
                break;
            }
            self.count += 1;
            limit = n.checked_mul(self.base);
        }
        // Small numbers are cheaper to divide.
        if limit.is_some_and(|n| n <= arena::mask(32)) && self.number.width > 32 {
            self.number = self.number.trunc(32);
        }
        self
    }

    /// The number of characters, with the point.
    pub fn len(&self) -> u64 {
        self.count + u64::from(self.decimals > 0)
    }

    /// Labels the digits in a text, of which only `start .. stop` was written; the last digit
    /// is before `end`. False if one of them is another one.
    pub fn label(&self, end: u64, written: core::ops::Range<u64>) -> bool {
        let width = self.number.width;
        let constant = |n: u64| V::new(width, n);
        let (mut at, mut power) = (end, 1u64);
        for place in 0..self.count {
            at -= 1;
            if place == self.decimals && place > 0 {
                at -= 1;
            }
            let digit = match self.base.trailing_zeros() {
                bits @ 3.. => {
                    self.number.shift_right(bits * place as u32).and(constant(self.base - 1))
                }
                _ if place == 0 => self.number.remainder(constant(self.base)),
                _ => self.number.quotient(constant(power)).remainder(constant(self.base)),
            };
            power = power.wrapping_mul(self.base);
            let mut char = digit.add(constant(u64::from(b'0')));
            if self.base > 10 {
                let letter = digit.add(constant(u64::from(self.first_letter) - 10));
                char = digit.ult(constant(10)).choose(char, letter);
            }
            if !written.contains(&at) {
                continue;
            }
            let char = char.trunc(8);
            if char.val != V::byte(at).val {
                return false;
            }
            char.store_label(at);
        }
        true
    }
}
