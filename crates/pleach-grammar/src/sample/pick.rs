//! Draws one of several options. The probabilities are ratios of big numbers, and are
//! exact, but a draw costs only a table lookup.
//!
//! A draw gives a random number between 0 and 1 as 64 binary digits. The table has the
//! first 32 digits of each bound between two options. If they differ from those of the
//! number, they decide on which side of the bound the number is. If all 32 agree, which
//! happens once in 2^32 draws for each bound, the exact bound is computed, and more
//! digits are drawn if needed.
//!
//! Tables of 64 digits would be twice as large and slower: the tables of long sentences
//! do not fit into the processor's cache.

use num_bigint::BigUint;
use num_traits::Zero;

/// Binary digits of a bound in the table.
const DIGITS: u32 = 32;

pub struct Pick {
    /// By option: the first digits of the bound behind it.
    bounds: Box<[u32]>,
    /// By the first `guide_bits` digits of a draw: the first option that is possible.
    guide: Box<[u16]>,
    guide_bits: u32,
    /// The options. `None` if they are consecutive numbers from `first` on.
    options: Option<Box<[u32]>>,
    first: u32,
}

impl Pick {
    /// A table of the options with a weight above 0; `None` if there are none.
    pub fn new(weights: impl IntoIterator<Item = (u32, BigUint)>) -> Option<Pick> {
        let (mut options, mut exact) = (Vec::new(), Vec::new());
        let mut sum = BigUint::zero();
        for (option, weight) in weights {
            if !weight.is_zero() {
                sum += weight;
                options.push(option);
                exact.push(sum.clone());
            }
        }
        if options.is_empty() {
            return None;
        }
        let bound = |s: &BigUint| u32::try_from((s << DIGITS) / &sum).unwrap_or(u32::MAX);
        let bounds: Box<[u32]> = exact.iter().map(bound).collect();
        let guide_bits = options.len().next_power_of_two().trailing_zeros().max(1);
        let guide = (0..1u64 << guide_bits)
            .map(|top| bounds.partition_point(|&b| u64::from(b) < top << (DIGITS - guide_bits)))
            .map(|at| at as u16)
            .collect();
        let first = options[0];
        let is_consecutive = options.iter().zip(first..).all(|(&option, next)| option == next);
        let options = (!is_consecutive).then(|| options.into());
        Some(Pick { bounds, guide, guide_bits, options, first })
    }

    /// Draws an option. `draw` gives 64 random digits. `weights` gives the weights of
    /// the table again; storing them would take more memory than the table.
    #[inline]
    pub fn draw<W: Iterator<Item = (u32, BigUint)>>(
        &self,
        mut draw: impl FnMut() -> u64,
        weights: impl FnOnce() -> W,
    ) -> u32 {
        if self.bounds.len() == 1 {
            return self.first;
        }
        let digits = draw();
        let top = (digits >> DIGITS) as u32;
        let mut at = usize::from(self.guide[(top >> (DIGITS - self.guide_bits)) as usize]);
        while at + 1 < self.bounds.len() && self.bounds[at] < top {
            at += 1;
        }
        if self.bounds[at] == top && at + 1 < self.bounds.len() {
            at = draw_exactly(digits, draw, weights());
        }
        self.options.as_ref().map_or(self.first + at as u32, |options| options[at])
    }
}

/// The index of the option, among those with a weight above 0.
#[cold]
fn draw_exactly(
    digits: u64,
    mut draw: impl FnMut() -> u64,
    weights: impl Iterator<Item = (u32, BigUint)>,
) -> usize {
    let mut sums: Vec<BigUint> = Vec::new();
    for (_, weight) in weights.filter(|(_, weight)| !weight.is_zero()) {
        let sum = sums.last().map_or_else(|| weight.clone(), |sum| sum + &weight);
        sums.push(sum);
    }
    let last = sums.len() - 1;
    let mut number = BigUint::from(digits);
    let mut length = 64u32;
    loop {
        let bound = |i: usize| (&sums[i] << length) / &sums[last];
        let at = (0..last).find(|&i| number <= bound(i)).unwrap_or(last);
        if at == last || number < bound(at) {
            return at;
        }
        number = (number << 64u32) + draw();
        length += 64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A third has infinitely many binary digits, so at the bound later digits decide.
    #[test]
    fn more_digits_are_drawn_at_a_bound() {
        let weights = || [(7, 1u32.into()), (8, 0u32.into()), (9, 2u32.into())].into_iter();
        let third = Pick::new(weights()).unwrap();
        let bound = u64::MAX / 3;
        let draw = |digits: &[u64]| {
            let mut rest = digits.iter();
            third.draw(|| *rest.next().unwrap(), weights)
        };
        assert_eq!(draw(&[bound - 1]), 7);
        assert_eq!(draw(&[bound + 1]), 9);
        assert_eq!(draw(&[bound, bound - 1]), 7);
        assert_eq!(draw(&[bound, bound + 1]), 9);
        assert_eq!(draw(&[bound, bound, bound, 0]), 7);
        assert_eq!(draw(&[bound, bound, bound, u64::MAX]), 9);
        assert_eq!(draw(&[u64::MAX]), 9);
        assert!(Pick::new([(1, 0u32.into())]).is_none());
    }

    #[test]
    fn draws_follow_the_weights() {
        let weights = || (0..300u32).map(|i| (i, BigUint::from(i % 7)));
        let pick = Pick::new(weights()).unwrap();
        let mut random = fastrand::Rng::with_seed(1);
        let mut counts = [0u32; 300];
        let draws = 900_000;
        for _ in 0..draws {
            counts[pick.draw(|| random.u64(..), weights) as usize] += 1;
        }
        let total: u32 = (0..300).map(|i| i % 7).sum();
        for (i, &count) in counts.iter().enumerate() {
            let expected = f64::from(draws) * (i % 7) as f64 / f64::from(total);
            assert!((f64::from(count) - expected).abs() <= 6.0 * expected.sqrt(), "{i}: {count}");
        }
    }
}
