//! One hash for everything that is told apart by a number: nodes of the execution tree,
//! crashes, builds, questions that were asked. It is the same on every machine and in every
//! run, because the same seed must give the same search.
//!
//! It does not resist an attacker who chooses the input. Two hashes are elsewhere, because
//! they are tuned for one place: that of the expression pool (`pleach-expr`) and that of the
//! chart (`pleach-grammar`), where hashing is a large part of the time. The journal has a
//! checksum of its own, which is part of its format. `pleach-abi` and `pleach-rt` have no
//! dependencies, and a generator of their own.

#![no_std]
#![forbid(unsafe_code)]

/// The golden ratio in 64 bits: its multiples are far apart.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014): every bit of the result depends on every bit of `n`.
pub const fn mix(mut n: u64) -> u64 {
    n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

/// A hash of words, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(u64);

impl Hash {
    pub const fn new() -> Hash {
        Hash(GOLDEN)
    }

    /// Continues a hash that was finished before.
    pub const fn from(hash: u64) -> Hash {
        Hash(hash)
    }

    #[must_use]
    pub const fn add(self, word: u64) -> Hash {
        Hash(mix(self.0.rotate_left(5) ^ word))
    }

    /// Adds bytes and their number: what follows is not taken for a part of them.
    #[must_use]
    pub fn add_bytes(self, bytes: &[u8]) -> Hash {
        let hash = bytes.chunks(8).fold(self, |hash, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash.add(u64::from_le_bytes(word))
        });
        hash.add(bytes.len() as u64)
    }

    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Hash {
    fn default() -> Hash {
        Hash::new()
    }
}

pub fn hash_words(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(Hash::new(), Hash::add).finish()
}

pub fn hash_bytes(bytes: &[u8]) -> u64 {
    Hash::new().add_bytes(bytes).finish()
}

/// SplitMix64, the generator: the finaliser over multiples of the golden ratio.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::collections::HashSet;
    use std::vec::Vec;

    #[test]
    fn short_texts_and_numbers_have_hashes_of_their_own() {
        let texts = (0..=2).flat_map(|len| {
            (0..256usize.pow(len)).map(move |n| n.to_le_bytes()[..len as usize].to_vec())
        });
        let hashes: Vec<u64> = texts.map(|text| hash_bytes(&text)).collect();
        let different: HashSet<&u64> = hashes.iter().collect();
        assert_eq!(different.len(), hashes.len());
        let pairs = (0..300).flat_map(|a| (0..300).map(move |b| hash_words([a, b])));
        assert_eq!(pairs.collect::<HashSet<u64>>().len(), 300 * 300);
    }

    #[test]
    fn borders_between_parts_count() {
        let two = |a: &[u8], b: &[u8]| Hash::new().add_bytes(a).add_bytes(b).finish();
        assert_ne!(two(b"ab", b"c"), two(b"a", b"bc"));
        assert_ne!(hash_bytes(b"a"), hash_bytes(b"a\0"));
    }

    /// The numbers are promised: a seed gives the same search in every version.
    #[test]
    fn the_numbers_stay() {
        let mut random = SplitMix64::new(1);
        assert_eq!(random.next_u64(), 0x910a_2dec_8902_5cc1);
        assert_eq!(mix(1), 0x5692_161d_100b_05e5);
    }
}
