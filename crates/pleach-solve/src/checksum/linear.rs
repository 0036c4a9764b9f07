//! Bytes on which the difference of two sides depends linearly.
//!
//! A CRC is linear over bits: each bit of its input flips a fixed set of its bits. A sum is
//! linear over numbers: one more in a byte adds a fixed number. Neither has to be seen in the
//! terms. Each bit or byte is changed alone, which shows what it does, and the equations are
//! solved. Whether the guess was right is then seen by evaluating the comparison.

use super::Repair;
use pleach_expr::{Code, Term, Var, mask};

/// Inputs of a comparison that are considered.
const MAX_INPUTS: usize = 1 << 14;
/// Bytes whose numbers may change to meet a sum.
const MAX_BYTES: usize = 64;

impl Repair<'_, '_> {
    /// As [`Repair::meet`], by bytes that no other condition reads.
    pub(super) fn meet_linearly(&mut self, condition: Term, sides: [Term; 2]) -> bool {
        let width = self.request.path.pool.width(sides[0]);
        if width > 64 {
            return false;
        }
        let free = self.free_bytes(condition);
        let few = width.div_ceil(8) as usize;
        let last = free.len().saturating_sub(few);
        let groups = [&free[last..], &free[..few.min(free.len())]];
        groups.into_iter().any(|bytes| self.meet_by_bits(condition, sides, width, bytes))
            || self.meet_by_numbers(
                condition,
                sides,
                width,
                &free[free.len().saturating_sub(MAX_BYTES)..],
            )
    }

    /// The bytes that a comparison reads, and no other condition but checksums.
    fn free_bytes(&self, condition: Term) -> Vec<Var> {
        let request = &*self.request;
        let is_free = |var: &Var| {
            let Some(offset) = var.as_byte() else { return false };
            let is_sum = |atom: u32| {
                let term = request.path.atom(atom).term;
                term == condition || self.sums.contains(&atom)
            };
            !self.frozen.contains(var)
                && request.path.own(offset, request.at).is_empty()
                && request.ties(*var).all(is_sum)
                && request
                    .goals
                    .iter()
                    .all(|&goal| goal == condition || !request.path.pool.depends_on(goal, *var))
        };
        request.path.pool.vars(condition).take(MAX_INPUTS).filter(is_free).collect()
    }

    /// The sides combined, if some bytes have other values.
    fn combined(&mut self, code: Code, sides: [Term; 2], width: u32, others: &[(Var, u64)]) -> u64 {
        let before = std::mem::take(&mut self.base);
        self.base.clone_from(&before);
        self.set(self.with(others));
        let [x, y] = sides.map(|side| self.value(side) as u64);
        self.set(before);
        let combined = if code == Code::Xor { x ^ y } else { x.wrapping_sub(y) };
        combined & mask(width) as u64
    }

    /// Takes other values of some bytes, if the comparison then holds.
    fn take_if_met(&mut self, condition: Term, others: &[(Var, u64)]) -> bool {
        let before = self.base.clone();
        self.set(self.with(others));
        if self.value(condition) != 0 {
            return true;
        }
        self.set(before);
        false
    }

    /// Solves for the bits of some bytes, as if the sides were linear over bits.
    fn meet_by_bits(
        &mut self,
        condition: Term,
        sides: [Term; 2],
        width: u32,
        bytes: &[Var],
    ) -> bool {
        let now = self.combined(Code::Xor, sides, width, &[]);
        let mut system = BitSystem::default();
        for (i, &var) in bytes.iter().enumerate().take(8) {
            for bit in 0..8 {
                let flipped = (var, self.current(var) ^ 1 << bit);
                let effect = self.combined(Code::Xor, sides, width, &[flipped]) ^ now;
                system.add(effect, 1 << (8 * i + bit));
                if self.request.is_over() {
                    return false;
                }
            }
        }
        let Some(flips) = system.solve(now) else { return false };
        let flip = |(i, &var): (usize, &Var)| (var, self.current(var) ^ (flips >> (8 * i) & 0xff));
        let others: Vec<(Var, u64)> = bytes.iter().enumerate().take(8).map(flip).collect();
        self.take_if_met(condition, &others)
    }

    /// Changes the numbers of some bytes, as if the sides were sums.
    fn meet_by_numbers(
        &mut self,
        condition: Term,
        sides: [Term; 2],
        width: u32,
        bytes: &[Var],
    ) -> bool {
        let now = self.combined(Code::Sub, sides, width, &[]);
        let sign = |number: u64| (number << (64 - width)) as i64 >> (64 - width);
        // How much one more in each byte adds.
        let mut steps: Vec<(i64, Var)> = Vec::new();
        for &var in bytes.iter().rev() {
            let value = self.current(var);
            let (other, up) = if value < 255 { (value + 1, 1) } else { (value - 1, -1) };
            let added = self.combined(Code::Sub, sides, width, &[(var, other)]).wrapping_sub(now);
            let added = sign(added & mask(width) as u64);
            if added != 0 {
                steps.push((up * added, var));
            }
            if self.request.is_over() {
                return false;
            }
        }
        steps.sort_by_key(|step| std::cmp::Reverse(step.0.unsigned_abs()));
        let one_round = 1i128 << width;
        let missing = -i128::from(sign(now));
        // The sum may also wrap once.
        [missing, missing - one_round, missing + one_round].into_iter().any(|missing| {
            let mut left = missing;
            let mut others = Vec::new();
            for &(step, var) in &steps {
                let value = self.current(var) as i128;
                let by = (left / i128::from(step)).clamp(-value, 255 - value);
                if by != 0 {
                    left -= by * i128::from(step);
                    others.push((var, (value + by) as u64));
                }
            }
            left == 0 && self.take_if_met(condition, &others)
        })
    }
}

/// Equations over bits: which flips combine to an effect.
#[derive(Default)]
struct BitSystem {
    /// Effects, each with the flips that have it, sorted so that the highest bit of each
    /// effect is in no other.
    rows: Vec<(u64, u64)>,
}

impl BitSystem {
    fn reduce(&self, (mut effect, mut flips): (u64, u64)) -> (u64, u64) {
        for &(row, by) in &self.rows {
            if effect & highest_bit(row) != 0 {
                effect ^= row;
                flips ^= by;
            }
        }
        (effect, flips)
    }

    fn add(&mut self, effect: u64, flips: u64) {
        let row = self.reduce((effect, flips));
        if row.0 != 0 {
            self.rows.push(row);
            self.rows.sort_by_key(|row| std::cmp::Reverse(row.0));
        }
    }

    /// The flips with this effect.
    fn solve(&self, effect: u64) -> Option<u64> {
        match self.reduce((effect, 0)) {
            (0, flips) => Some(flips),
            _ => None,
        }
    }
}

fn highest_bit(number: u64) -> u64 {
    1 << (63 - number.max(1).leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_combine_to_an_effect() {
        let mut system = BitSystem::default();
        for (i, effect) in [0b1100u64, 0b0110, 0b1010, 0b0001].into_iter().enumerate() {
            system.add(effect, 1 << i);
        }
        for wanted in 0..16u64 {
            let effects = [0b1100u64, 0b0110, 0b1010, 0b0001];
            let of = |flips: u64| {
                (0..4).filter(|i| flips >> i & 1 != 0).fold(0, |all, i| all ^ effects[i as usize])
            };
            let can = (0..16).any(|flips| of(flips) == wanted);
            assert_eq!(system.solve(wanted).map(of), can.then_some(wanted));
        }
    }
}
