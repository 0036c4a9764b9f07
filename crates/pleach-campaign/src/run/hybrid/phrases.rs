//! Sentences: events that a search has found, kept to be said again elsewhere.
//!
//! A search goes for what is new. Once it has spelt the name of a command, that
//! name is not new in any other state, and no search would spell it again; but
//! there it may do something else. So what was found is cut to what it needed and
//! becomes part of the random events.
//!
//! What was said once can be said otherwise: a word of a sentence gives way to
//! another that the program knows, or is followed by one. So `:sort` comes of
//! `:print`, and `USER guest` of `USER`, where a search had to find out first how
//! long the word must be.
//!
//! A sentence that ends the run (it quits, or it meets a crash that is known) keeps
//! runs from getting anywhere when it is said often. Its weight halves each time.

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

/// When there are more, the lightest is dropped, and the oldest of these.
const MAX_PHRASES: usize = 512;
/// Longer ones are not kept: their parts were new as well.
pub const MAX_LENGTH: usize = 64;
const MIN_WEIGHT: f64 = 1.0 / 16.0;

impl Phrases {
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

    /// A run has ended, and this is what it had taken.
    pub fn ended(&mut self, input: &[u8]) {
        for phrase in self.all.iter_mut().filter(|p| input.ends_with(&p.bytes)) {
            phrase.weight = (phrase.weight / 2.0).max(MIN_WEIGHT);
        }
    }

    /// Some of them, the heavier the likelier, each as often as it is drawn. Every
    /// other one is varied by words of the dictionary.
    pub fn draw(&self, rng: &mut Rng, dictionary: &Dictionary, most: usize) -> Vec<Vec<u8>> {
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
                bytes = varied(&bytes, dictionary, rng);
            }
            Some(bytes)
        };
        (0..most).filter_map(one).collect()
    }
}

/// The sentence with another word in the place of one of its own, or after it.
fn varied(sentence: &[u8], dictionary: &Dictionary, rng: &mut Rng) -> Vec<u8> {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let starts = (0..sentence.len())
        .filter(|&at| is_part(&sentence[at]) && (at == 0 || !is_part(&sentence[at - 1])));
    let starts: Vec<usize> = starts.collect();
    let word = dictionary.pick(rng).map(|id| dictionary.token(id));
    let (Some(word), false) = (word.filter(|w| !w.contains(&b'\n')), starts.is_empty()) else {
        return sentence.to_vec();
    };
    let start = starts[rng.below(starts.len())];
    let len = sentence[start..].iter().take_while(|b| is_part(b)).count();
    let (before, own) = sentence.split_at(start);
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
    fn what_ends_runs_is_said_less_often() {
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
        phrases.ended(b"something else");
        assert!((400..600).contains(&quits(&phrases)));
        (0..4).for_each(|_| phrases.ended(b"ihello\x1b:q!\n"));
        let now = quits(&phrases);
        assert!((20..120).contains(&now), "{now}");
    }

    #[test]
    fn a_word_gives_way_to_another_or_is_followed_by_one() {
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
    fn there_are_not_too_many() {
        let mut phrases = Phrases::default();
        for i in 0..2 * MAX_PHRASES {
            phrases.add(format!("{i}").as_bytes());
        }
        assert_eq!(phrases.all.len(), MAX_PHRASES);
    }
}
