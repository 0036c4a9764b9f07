//! Random numbers that are the same on every machine for the same seed.

use pleach_hash::SplitMix64;

pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A random input. With uniform bytes nearly every comparison would have the same
    /// result. So each input mixes zeros, boundary values and random bytes in its own
    /// proportion, in pieces of 1 to 8 bytes, like the integers that are read.
    pub fn input(&mut self, len: usize) -> Vec<u8> {
        const BOUNDARIES: [u8; 6] = [0, 1, 2, 0x7f, 0x80, 0xff];
        let (zeros, boundaries) = (self.below(80), self.below(60));
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            let piece = 1usize << self.below(4);
            let kind = self.below(140);
            for _ in 0..piece {
                bytes.push(match kind {
                    k if k < zeros => 0,
                    k if k < zeros + boundaries => BOUNDARIES[self.below(6) as usize],
                    _ => self.next() as u8,
                });
            }
        }
        bytes.truncate(len);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_input_of_the_given_length() {
        for len in [0, 1, 7, 300] {
            let one = Random::new(5).input(len);
            assert_eq!(one, Random::new(5).input(len));
            assert_eq!(one.len(), len);
        }
        assert_ne!(Random::new(5).input(300), Random::new(6).input(300));
    }
}
