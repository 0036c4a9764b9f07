//! One of several options, with probabilities that are ratios of big numbers,
//! exactly, for the price of a look into a table.
//!
//! A random number between 0 and 1 is drawn as 64 binary digits. Each bound
//! between two options is known to 32 of them, rounded down. Unless the two agree
//! in all 32, it is decided on which side of the bound the number lies, whatever
//! the digits behind. If they agree, once in 2^32 draws and for each bound, the
//! other digits are compared with the exact bound, and more are drawn if need be.
//! (64 digits for each bound are no better, and twice as much to wait for: the
//! tables of long sentences do not fit into the processor's memory.)

use num_bigint::BigUint;
use num_traits::Zero;

/// Binary digits of a bound that are kept.
const DIGITS: u32 = 32;

pub struct Pick {
    /// By option: the first digits of the bound behind it.
    bounds: Box<[u32]>,
    /// By the first digits, about as many as there are options: the first option
    /// that is possible.
    guide: Box<[u16]>,
    guide_bits: u32,
    /// Which they are; none if they follow each other from `first` on.
    options: Option<Box<[u32]>>,
    first: u32,
}

impl Pick {
    /// Options of weight 0 are left out. `None` if none is left.
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
        let plain = options.iter().zip(first..).all(|(&option, plain)| option == plain);
        let options = (!plain).then(|| options.into());
        Some(Pick { bounds, guide, guide_bits, options, first })
    }

    /// An option. `draw` gives 64 random digits. `weights` are those that it was
    /// made of: keeping them would take more memory than all the rest.
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
            at = exactly(digits, draw, weights());
        }
        self.options.as_ref().map_or(self.first + at as u32, |options| options[at])
    }
}

/// Which option, of those that have a weight.
#[cold]
fn exactly(
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

    /// Thirds have no end in binary: at the bound only later digits decide.
    #[test]
    fn digits_run_out() {
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
    fn shares_are_those_of_the_weights() {
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
