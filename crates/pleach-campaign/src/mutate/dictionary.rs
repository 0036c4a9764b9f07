//! The words that a program knows.
//!
//! A token has a weight by its origin and its form: the input is likelier to be compared with
//! a keyword than with a message.

use super::words::MAX_WORD_LEN;
use pleach_search::Rng;
use std::collections::HashMap;

/// A token's place in its dictionary.
pub(crate) type TokenId = u32;

/// Longer strings are messages, not words.
pub(super) const MAX_TOKEN_LEN: usize = 32;
/// How many tokens are kept besides those of the user. The first ones stay.
const MAX_TOKENS: usize = 4096;
/// How many of these may be constants of the program. The rest is for traces and seeds.
const MAX_CONSTANTS: usize = MAX_TOKENS / 2;
/// The weight of the user's words.
const GIVEN_WEIGHT: u32 = 16;
/// No weight is raised above this.
const MAX_WEIGHT: u32 = 128;

#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    tokens: Vec<Box<[u8]>>,
    by_bytes: HashMap<Box<[u8]>, TokenId>,
    weights: Vec<u32>,
    /// Sums of the weights up to each token.
    sums: Vec<u64>,
    /// How many tokens the user gave. They come first.
    given: usize,
}

impl Dictionary {
    /// Adds words of the user, before all others. They may be longer than other tokens.
    pub fn add_given<'a>(&mut self, words: impl IntoIterator<Item = &'a [u8]>) {
        for word in words {
            if (1..=MAX_WORD_LEN).contains(&word.len()) {
                self.add_up_to(word, GIVEN_WEIGHT, usize::MAX);
            }
        }
        self.given = self.tokens.len();
    }

    /// Adds a token. If it is there already, it gets the larger weight. Empty and long
    /// tokens are skipped, and all new ones when the dictionary is full.
    pub fn add(&mut self, bytes: &[u8], weight: u32) {
        if bytes.len() <= MAX_TOKEN_LEN {
            self.add_up_to(bytes, weight, self.given + MAX_TOKENS);
        }
    }

    /// Adds a constant of the program.
    pub(super) fn add_constant(&mut self, bytes: &[u8]) {
        if bytes.len() <= MAX_TOKEN_LEN {
            self.add_up_to(bytes, weight_of(bytes), self.given + MAX_CONSTANTS);
        }
    }

    /// Draws a token in proportion to the weights. `None` if there are none.
    pub(crate) fn pick(&self, rng: &mut Rng) -> Option<TokenId> {
        let all = *self.sums.last()?;
        let at = rng.below(usize::try_from(all).unwrap_or(usize::MAX)) as u64;
        Some(self.sums.partition_point(|&sum| sum <= at) as TokenId)
    }

    /// The bytes of a token; empty if there is no such token.
    pub(crate) fn token(&self, id: TokenId) -> &[u8] {
        self.tokens.get(id as usize).map_or(&[], |t| t)
    }

    /// The tokens and their weights.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.tokens.iter().map(|t| &**t).zip(self.weights.iter().copied())
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    fn add_up_to(&mut self, bytes: &[u8], weight: u32, max_tokens: usize) {
        if bytes.is_empty() || weight == 0 {
            return;
        }
        if let Some(&id) = self.by_bytes.get(bytes) {
            // Not the sum, so that a comparison in a loop does not make a word heavy.
            if self.weights[id as usize] < weight {
                self.raise(id as usize, weight - self.weights[id as usize]);
            }
            return;
        }
        if self.tokens.len() >= max_tokens {
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
        let more = (*weight + by).min(MAX_WEIGHT).saturating_sub(*weight);
        *weight += more;
        self.sums[token..].iter_mut().for_each(|sum| *sum += u64::from(more));
    }
}

/// The weight of a constant: how likely it is that the input is compared with it.
fn weight_of(bytes: &[u8]) -> u32 {
    let has_any = |these: &[u8]| bytes.iter().any(|b| these.contains(b));
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
    match bytes {
        _ if has_any(b"%\n") => 1,
        _ if has_any(b" ") => 2,
        _ if bytes.len() > 16 => 3,
        _ if bytes.iter().all(is_name) => 8,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_drawn_in_proportion_to_their_weights() {
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
        dictionary.add(b"cannot open %s\n", 9);
        let after = count(&dictionary);
        assert!(after[1] > 5 * message && after[0] < word, "{after:?}");
        dictionary.add(b"cannot open %s\n", 1000);
        assert_eq!(dictionary.iter().nth(1), Some((&b"cannot open %s\n"[..], MAX_WEIGHT)));
    }

    #[test]
    fn long_tokens_are_skipped_and_their_number_is_limited() {
        let mut dictionary = Dictionary::default();
        assert_eq!(dictionary.pick(&mut Rng::new(1)), None);
        for bytes in [&b""[..], &[b'x'; MAX_TOKEN_LEN + 1], b"a", b"a", b"b"] {
            dictionary.add(bytes, 1);
        }
        assert_eq!(dictionary.len(), 2);
        for i in 0..2 * MAX_TOKENS {
            dictionary.add_constant(format!("c{i}").as_bytes());
        }
        assert_eq!(dictionary.len(), MAX_CONSTANTS);
        for i in 0..2 * MAX_TOKENS {
            dictionary.add(format!("t{i}").as_bytes(), 1);
        }
        assert_eq!(dictionary.len(), MAX_TOKENS);
        assert_eq!(dictionary.token(u32::MAX), b"");
    }
}
