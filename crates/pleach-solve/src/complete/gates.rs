//! Circuits of bit-vector operations. Each gate is a few clauses. A gate with constant or
//! equal inputs is simplified, and equal gates are made once. Both are frequent, because
//! most high bits are constant zeros.

use crate::sat::{Literal as Lit, Sat};
use rustc_hash::FxHashMap;

/// A word, its lowest bit first.
pub(super) type Word = Vec<Lit>;

pub(super) struct Gates {
    pub sat: Sat,
    yes: Lit,
    ands: FxHashMap<(Lit, Lit), Lit>,
    xors: FxHashMap<(Lit, Lit), Lit>,
    muxes: FxHashMap<(Lit, Lit, Lit), Lit>,
}

impl Gates {
    pub fn new(mut sat: Sat) -> Gates {
        let yes = sat.variable(Some(true));
        sat.add(&[yes]);
        Gates {
            sat,
            yes,
            ands: FxHashMap::default(),
            xors: FxHashMap::default(),
            muxes: FxHashMap::default(),
        }
    }

    pub fn memory(&self) -> usize {
        64 * (self.sat.variables() + self.sat.clauses())
            + 32 * (self.ands.capacity() + self.xors.capacity() + self.muxes.capacity())
    }

    pub fn bit(&self, value: bool) -> Lit {
        if value { self.yes } else { !self.yes }
    }

    pub fn constant(&self, value: u128, width: u32) -> Word {
        (0..width).map(|i| self.bit(value >> i & 1 == 1)).collect()
    }

    fn value(&self, a: Lit) -> Option<bool> {
        if a == self.yes {
            Some(true)
        } else if a == !self.yes {
            Some(false)
        } else {
            None
        }
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.value(a), self.value(b)) {
            (Some(false), _) | (_, Some(false)) => return self.bit(false),
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            _ if a == b => return a,
            _ if a == !b => return self.bit(false),
            _ => {}
        }
        let key = if a.idx() < b.idx() { (a, b) } else { (b, a) };
        if let Some(&known) = self.ands.get(&key) {
            return known;
        }
        let out = self.sat.variable(None);
        self.sat.add(&[!out, a]);
        self.sat.add(&[!out, b]);
        self.sat.add(&[out, !a, !b]);
        self.ands.insert(key, out);
        out
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        match (self.value(a), self.value(b)) {
            (Some(v), _) => return if v { !b } else { b },
            (_, Some(v)) => return if v { !a } else { a },
            _ if a == b => return self.bit(false),
            _ if a == !b => return self.bit(true),
            _ => {}
        }
        // Signs go outside: x ^ !y = !(x ^ y).
        let flip = a.sign() != b.sign();
        let (a, b) = (a.apply_sign(a.sign()), b.apply_sign(b.sign()));
        let key = if a.idx() < b.idx() { (a, b) } else { (b, a) };
        let out = match self.xors.get(&key) {
            Some(&known) => known,
            None => {
                let out = self.sat.variable(None);
                self.sat.add(&[!out, a, b]);
                self.sat.add(&[!out, !a, !b]);
                self.sat.add(&[out, !a, b]);
                self.sat.add(&[out, a, !b]);
                self.xors.insert(key, out);
                out
            }
        };
        if flip { !out } else { out }
    }

    pub fn mux(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit {
        match self.value(condition) {
            Some(true) => return yes,
            Some(false) => return no,
            None => {}
        }
        if yes == no {
            return yes;
        }
        if !condition.sign() {
            return self.mux(!condition, no, yes);
        }
        match (self.value(yes), self.value(no)) {
            (Some(true), _) => return self.or(condition, no),
            (Some(false), _) => return self.and(!condition, no),
            (_, Some(true)) => return self.or(!condition, yes),
            (_, Some(false)) => return self.and(condition, yes),
            _ if yes == !no => return self.xor(!condition, yes),
            _ => {}
        }
        if let Some(&known) = self.muxes.get(&(condition, yes, no)) {
            return known;
        }
        let out = self.sat.variable(None);
        self.sat.add(&[!condition, !yes, out]);
        self.sat.add(&[!condition, yes, !out]);
        self.sat.add(&[condition, !no, out]);
        self.sat.add(&[condition, no, !out]);
        // Redundant, but these propagate a value that both sides have.
        self.sat.add(&[!yes, !no, out]);
        self.sat.add(&[yes, no, !out]);
        self.muxes.insert((condition, yes, no), out);
        out
    }

    pub fn choose(&mut self, condition: Lit, yes: &[Lit], no: &[Lit]) -> Word {
        yes.iter().zip(no).map(|(&y, &n)| self.mux(condition, y, n)).collect()
    }

    pub fn any(&mut self, bits: impl IntoIterator<Item = Lit>) -> Lit {
        let start = self.bit(false);
        bits.into_iter().fold(start, |any, bit| self.or(any, bit))
    }

    /// `a + b + carry`, and the carry out of it.
    pub fn add(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Word, Lit) {
        let mut sum = Vec::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            let half = self.xor(x, y);
            sum.push(self.xor(half, carry));
            // The majority of the three.
            let both = self.and(x, y);
            let one = self.and(half, carry);
            carry = self.or(both, one);
        }
        (sum, carry)
    }

    /// `a - b`, and whether `a >= b`.
    pub fn subtract(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Lit) {
        let not: Word = b.iter().map(|&l| !l).collect();
        let one = self.bit(true);
        self.add(a, &not, one)
    }

    pub fn negate(&mut self, a: &[Lit]) -> Word {
        let zero = self.constant(0, a.len() as u32);
        self.subtract(&zero, a).0
    }

    pub fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Word {
        let width = a.len();
        let constants = |w: &[Lit]| w.iter().filter(|&&l| self.value(l).is_some()).count();
        // The operand with more constants is the multiplier: its zeros save additions.
        let (a, b) = if constants(a) > constants(b) { (b, a) } else { (a, b) };
        let mut sum = self.constant(0, width as u32);
        let none = self.bit(false);
        for (i, &bit) in b.iter().enumerate() {
            if self.value(bit) == Some(false) {
                continue;
            }
            let mut line = vec![none; i];
            for &x in &a[..width - i] {
                line.push(self.and(x, bit));
            }
            sum = self.add(&sum, &line, none).0;
        }
        sum
    }

    /// Quotient and remainder; both 0 where the divisor is 0.
    pub fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let (width, none) = (a.len(), self.bit(false));
        let mut wide: Word = b.to_vec();
        wide.push(none);
        let mut rest = self.constant(0, width as u32 + 1);
        let mut quotient = vec![none; width];
        for i in (0..width).rev() {
            rest.pop();
            rest.insert(0, a[i]);
            let (less, fits) = self.subtract(&rest, &wide);
            quotient[i] = fits;
            rest = self.choose(fits, &less, &rest);
        }
        rest.pop();
        let some = self.any(b.iter().copied());
        let zero = self.constant(0, width as u32);
        (self.choose(some, &quotient, &zero), self.choose(some, &rest, &zero))
    }

    pub fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let differ: Vec<Lit> = a.iter().zip(b).map(|(&x, &y)| self.xor(x, y)).collect();
        !self.any(differ)
    }

    pub fn less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        !self.subtract(a, b).1
    }

    pub fn signed_less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let (mut x, mut y) = (a.to_vec(), b.to_vec());
        // With the sign bits flipped, signed order is unsigned order.
        for word in [&mut x, &mut y] {
            if let Some(sign) = word.last_mut() {
                *sign = !*sign;
            }
        }
        self.less(&x, &y)
    }

    /// `a` shifted by a variable amount; `fill` is shifted in.
    pub fn shift(&mut self, a: &[Lit], amount: &[Lit], left: bool, fill: Lit) -> Word {
        let width = a.len();
        let stages = usize::BITS - (width - 1).leading_zeros();
        let mut word = a.to_vec();
        for (stage, &bit) in amount.iter().enumerate().take(stages as usize) {
            let by = 1usize << stage;
            let moved: Word = (0..width)
                .map(|i| match left {
                    true if i >= by => word[i - by],
                    false if i + by < width => word[i + by],
                    _ => fill,
                })
                .collect();
            word = self.choose(bit, &moved, &word);
        }
        // True if the amount is the width or more: then all bits are shifted out.
        let all_out = {
            let bound = self.constant(width as u128, amount.len() as u32);
            // Amounts of 128 bits are never too narrow to express the width.
            let is_narrow = |bits| (width as u128).checked_shr(bits).is_some_and(|high| high != 0);
            if amount.len() < stages as usize || is_narrow(amount.len() as u32) {
                self.bit(false)
            } else {
                !self.less(amount, &bound)
            }
        };
        let filled = vec![fill; width];
        self.choose(all_out, &filled, &word)
    }

    /// The number of set bits, as a word of `width` bits.
    pub fn count(&mut self, bits: &[Lit], width: u32) -> Word {
        let zero = self.constant(0, width);
        let mut sum = zero.clone();
        for &bit in bits {
            let (more, _) = self.add(&sum, &zero, bit);
            sum = more;
        }
        sum
    }
}
