//! The words that a program knows, and which of them have paid.
//!
//! A token's weight starts with where it comes from and what it looks like: a
//! keyword is likelier to be compared with the input than a message is. Each
//! kept input that a token went into raises it.

use pleach_search::Rng;
use std::collections::HashMap;

/// A token's place in its dictionary.
pub type TokenId = u32;

/// Longer strings are messages, not words.
pub const LONGEST: usize = 32;
/// So many tokens are kept; what came first stays.
const MOST: usize = 4096;
/// Of these the program's constants may take so many; the rest is for what
/// traces and seeds bring.
const MOST_CONSTANTS: usize = MOST / 2;
/// What a kept input adds to the weight of a token, and the most that one gets
/// to: no word may crowd out the others.
const REWARD: u32 = 8;
const HEAVIEST: u32 = 128;

#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    tokens: Vec<Box<[u8]>>,
    by_bytes: HashMap<Box<[u8]>, TokenId>,
    weights: Vec<u32>,
    /// Sums of the weights up to each token.
    sums: Vec<u64>,
}

impl Dictionary {
    /// Adds a token, or its weight to that of the one that is there. What is
    /// empty, too long, or too much is left out.
    pub fn add(&mut self, bytes: &[u8], weight: u32) {
        self.add_up_to(bytes, weight, MOST);
    }

    /// Adds a constant of the program, by its looks.
    pub(super) fn add_constant(&mut self, bytes: &[u8]) {
        self.add_up_to(bytes, looks(bytes), MOST_CONSTANTS);
    }

    /// A mutant with this token was worth keeping.
    pub fn reward(&mut self, token: TokenId) {
        self.raise(token as usize, REWARD);
    }

    /// A token, the heavier the likelier; `None` if there are none.
    pub fn pick(&self, rng: &mut Rng) -> Option<TokenId> {
        let all = *self.sums.last()?;
        let at = rng.below(usize::try_from(all).unwrap_or(usize::MAX)) as u64;
        Some(self.sums.partition_point(|&sum| sum <= at) as TokenId)
    }

    /// The bytes of a token; none for a number that is not one of ours.
    pub fn token(&self, id: TokenId) -> &[u8] {
        self.tokens.get(id as usize).map_or(&[], |t| t)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.tokens.iter().map(|t| &**t).zip(self.weights.iter().copied())
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    fn add_up_to(&mut self, bytes: &[u8], weight: u32, most: usize) {
        if bytes.is_empty() || bytes.len() > LONGEST || weight == 0 {
            return;
        }
        if let Some(&id) = self.by_bytes.get(bytes) {
            // Seen again: a little more, so that one loop does not make a word heavy.
            if self.weights[id as usize] < weight {
                self.raise(id as usize, weight - self.weights[id as usize]);
            }
            return;
        }
        if self.tokens.len() >= most {
            return;
        }
        let id = self.tokens.len() as TokenId;
        self.tokens.push(bytes.into());
        self.by_bytes.insert(bytes.into(), id);
        self.weights.push(weight);
        self.sums.push(self.sums.last().copied().unwrap_or(0) + u64::from(weight));
    }

    fn raise(&mut self, token: usize, by: u32) {
        let Some(weight) = self.weights.get_mut(token) else { return };
        let more = (*weight + by).min(HEAVIEST).saturating_sub(*weight);
        *weight += more;
        self.sums[token..].iter_mut().for_each(|sum| *sum += u64::from(more));
    }
}

/// How much a string looks like something that input is compared with.
fn looks(bytes: &[u8]) -> u32 {
    let any = |these: &[u8]| bytes.iter().any(|b| these.contains(b));
    let name = |b: &u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
    match bytes {
        _ if any(b"%\n") => 1,
        _ if any(b" ") => 2,
        _ if bytes.len() > 16 => 3,
        _ if bytes.iter().all(name) => 8,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_decide() {
        let mut dictionary = Dictionary::default();
        for word in ["while", "cannot open %s\n", "no such thing"] {
            dictionary.add_constant(word.as_bytes());
        }
        let count = |dictionary: &Dictionary| {
            let (mut rng, mut seen) = (Rng::new(5), [0u32; 3]);
            (0..11_000).for_each(|_| seen[dictionary.pick(&mut rng).unwrap() as usize] += 1);
            seen
        };
        // In proportion to 8, 1 and 2.
        let [word, message, sentence] = count(&dictionary);
        assert!((7700..8300).contains(&word), "{word}");
        assert!((900..1100).contains(&message) && (1850..2150).contains(&sentence));
        dictionary.reward(1);
        let after = count(&dictionary);
        assert!(after[1] > 5 * message && after[0] < word, "{after:?}");
        (0..1000).for_each(|_| dictionary.reward(1));
        assert_eq!(dictionary.iter().nth(1), Some((&b"cannot open %s\n"[..], HEAVIEST)));
    }

    #[test]
    fn only_words_are_kept_and_not_without_end() {
        let mut dictionary = Dictionary::default();
        assert_eq!(dictionary.pick(&mut Rng::new(1)), None);
        for bytes in [&b""[..], &[b'x'; LONGEST + 1], b"a", b"a", b"b"] {
            dictionary.add(bytes, 1);
        }
        assert_eq!(dictionary.len(), 2);
        for i in 0..2 * MOST {
            dictionary.add_constant(format!("c{i}").as_bytes());
        }
        assert_eq!(dictionary.len(), MOST_CONSTANTS);
        for i in 0..2 * MOST {
            dictionary.add(format!("t{i}").as_bytes(), 1);
        }
        assert_eq!(dictionary.len(), MOST);
        dictionary.reward(u32::MAX);
        assert_eq!(dictionary.token(u32::MAX), b"");
    }
}
