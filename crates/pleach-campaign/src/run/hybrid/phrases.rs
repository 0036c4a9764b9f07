//! Phrases: events that a search has found, to be used again in other states.
//!
//! A search looks for new branches. Once it has found the name of a command, that name covers
//! nothing new in other states, and no search would find it again; but there the command may
//! do something else. So the events that were found, cut to what they need, become part of the
//! random events.
//!
//! Phrases are also varied: a word is replaced by another word that the program knows, or
//! followed by one. So `:print` becomes `:sort`, and `USER` becomes `USER guest`.
//!
//! A phrase that ends the run, because it quits or runs into a known crash, would keep runs
//! short if it were used often. Each time its weight is halved.

use crate::mutate::Dictionary;
use pleach_search::Rng;

#[derive(Debug, Default)]
pub struct Phrases {
    all: Vec<Phrase>,
}

#[derive(Debug)]
struct Phrase {
    bytes: Box<[u8]>,
    weight: f64,
}

/// How many phrases are kept. If there are more, the one with the smallest weight is dropped;
/// of several, the oldest.
const MAX_PHRASES: usize = 512;
/// Longer phrases are not kept.
pub const MAX_LENGTH: usize = 64;
const MIN_WEIGHT: f64 = 1.0 / 16.0;

impl Phrases {
    /// Adds a phrase.
    pub fn add(&mut self, bytes: &[u8]) {
        if bytes.is_empty()
            || bytes.len() > MAX_LENGTH
            || self.all.iter().any(|p| *p.bytes == *bytes)
        {
            return;
        }
        if self.all.len() == MAX_PHRASES {
            let weights = self.all.iter().map(|p| p.weight).enumerate();
            let least = weights.min_by(|a, b| a.1.total_cmp(&b.1));
            least.map(|(at, _)| self.all.remove(at));
        }
        self.all.push(Phrase { bytes: bytes.into(), weight: 1.0 });
    }

    /// Halves the weights of phrases that a run ended with.
    pub fn record_end(&mut self, input: &[u8]) {
        for phrase in self.all.iter_mut().filter(|p| input.ends_with(&p.bytes)) {
            phrase.weight = (phrase.weight / 2.0).max(MIN_WEIGHT);
        }
    }

    /// Draws phrases in proportion to their weights. Half of them are varied by words of the
    /// dictionary, some several times.
    pub fn draw(&self, rng: &mut Rng, dictionary: &Dictionary, count: usize) -> Vec<Vec<u8>> {
        let total: f64 = self.all.iter().map(|p| p.weight).sum();
        let one = |_| {
            let mut at = rng.unit() * total;
            let drawn = self.all.iter().find(|p| {
                at -= p.weight;
                at < 0.0
            });
            let drawn = drawn.or(self.all.last())?;
            let mut bytes = drawn.bytes.to_vec();
            while rng.below(2) == 0 {
                bytes = vary(&bytes, dictionary, rng);
            }
            Some(bytes)
        };
        (0..count).filter_map(one).collect()
    }
}

/// Replaces a word of a phrase by a word of the dictionary, or inserts one after it.
fn vary(phrase: &[u8], dictionary: &Dictionary, rng: &mut Rng) -> Vec<u8> {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let starts = (0..phrase.len())
        .filter(|&at| is_part(&phrase[at]) && (at == 0 || !is_part(&phrase[at - 1])));
    let starts: Vec<usize> = starts.collect();
    let word = dictionary.pick(rng).map(|id| dictionary.token(id));
    let (Some(word), false) = (word.filter(|w| !w.contains(&b'\n')), starts.is_empty()) else {
        return phrase.to_vec();
    };
    let start = starts[rng.below(starts.len())];
    let len = phrase[start..].iter().take_while(|b| is_part(b)).count();
    let (before, own) = phrase.split_at(start);
    let (own, after) = own.split_at(len);
    match rng.below(2) {
        0 => [before, word, after].concat(),
        _ => [before, own, b" ", word, after].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_that_end_runs_are_drawn_less_often() {
        let (mut phrases, dictionary) = (Phrases::default(), Dictionary::default());
        assert!(phrases.draw(&mut Rng::new(1), &dictionary, 10).is_empty());
        for word in [&b":q!\n"[..], b":sort\n", b":sort\n", b"", &[b'x'; MAX_LENGTH + 1]] {
            phrases.add(word);
        }
        let quits = |phrases: &Phrases| {
            let drawn = phrases.draw(&mut Rng::new(7), &dictionary, 1000);
            assert_eq!(drawn.len(), 1000);
            drawn.iter().filter(|p| **p == b":q!\n").count()
        };
        assert!((400..600).contains(&quits(&phrases)));
        phrases.record_end(b"something else");
        assert!((400..600).contains(&quits(&phrases)));
        (0..4).for_each(|_| phrases.record_end(b"ihello\x1b:q!\n"));
        let now = quits(&phrases);
        assert!((20..120).contains(&now), "{now}");
    }

    #[test]
    fn a_word_is_replaced_by_another_or_followed_by_one() {
        let mut dictionary = Dictionary::default();
        ["guest", "sort", "two\nlines"].iter().for_each(|w| dictionary.add(w.as_bytes(), 1));
        let mut phrases = Phrases::default();
        phrases.add(b"USER\nPASS x\n");
        let all = phrases.draw(&mut Rng::new(3), &dictionary, 2000);
        let has = |text: &[u8]| all.iter().any(|p| p == text);
        assert!(has(b"USER\nPASS x\n") && has(b"USER guest\nPASS x\n"));
        assert!(has(b"USER\nPASS guest\n") && has(b"sort\nPASS x\n"));
        assert!(has(b"USER guest\nPASS sort\n"));
        assert!(all.iter().all(|p| p.iter().filter(|&&b| b == b'\n').count() == 2));
    }

    #[test]
    fn the_number_of_phrases_is_limited() {
        let mut phrases = Phrases::default();
        for i in 0..2 * MAX_PHRASES {
            phrases.add(format!("{i}").as_bytes());
        }
        assert_eq!(phrases.all.len(), MAX_PHRASES);
    }
}
