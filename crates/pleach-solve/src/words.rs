//! Words of an automaton made longer and shorter.
//!
//! Where a state comes back to itself, what it reads there can be repeated: the
//! pumping lemma as a tool. A hole's text has one place where it grows, the last such
//! place: the end of a name, the inside of a string before its closing quote. What
//! is added there repeats the byte before it, so that whoever reads the text sees
//! more of what was there already. What is taken away is taken in front of it. Only
//! where the language is stranger than that is the text put together anew.

use crate::requirement::{Automaton, TooManyStates};
use std::collections::HashMap;

/// The lengths of the words of a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    known: Vec<bool>,
    /// From `known.len()` on it goes as it went from here on; `None` if there are no
    /// longer words.
    again: Option<usize>,
}

/// Lengths that are found out one by one before it is taken for granted that there
/// are no more. Patterns repeat long before that.
const MOST_STEPS: usize = 1 << 16;
/// Room for a search of a way of a certain length, in states times bytes.
const MOST_ROOM: usize = 1 << 26;

impl Lengths {
    pub fn contains(&self, n: u32) -> bool {
        let n = n as usize;
        match (self.known.get(n), self.again) {
            (Some(&known), _) => known,
            (None, Some(from)) => self.known[from + (n - from) % (self.known.len() - from)],
            (None, None) => false,
        }
    }

    /// Whether there are no words at all.
    pub fn is_empty(&self) -> bool {
        !self.known.contains(&true)
    }

    /// Whether all words are of one length.
    pub fn is_single(&self) -> bool {
        let endless = self.again.is_some_and(|from| self.known[from..].contains(&true));
        !endless && self.known.iter().filter(|&&k| k).count() <= 1
    }
}

impl Automaton {
    /// Of which lengths there are words.
    pub(crate) fn find_lengths(&self) -> Lengths {
        let mut now = vec![false; self.states()];
        now[0] = true;
        let mut seen: HashMap<Vec<bool>, usize> = HashMap::new();
        let mut known = Vec::new();
        while known.len() < MOST_STEPS && now.contains(&true) {
            if let Some(&from) = seen.get(&now) {
                return Lengths { known, again: Some(from) };
            }
            known.push((0..self.states()).any(|s| now[s] && self.is_final(s)));
            let mut next = vec![false; self.states()];
            for state in (0..self.states()).filter(|&s| now[s]) {
                for to in self.successors(state) {
                    next[to] = true;
                }
            }
            // The set before is the key; the order of insertion is the length.
            seen.insert(std::mem::replace(&mut now, next), known.len() - 1);
        }
        Lengths { known, again: None }
    }

    /// The words that this automaton and another accept as asked: both, either, and so
    /// on.
    pub fn product(
        &self,
        other: &Automaton,
        accepts: impl Fn(bool, bool) -> bool,
    ) -> Result<Automaton, TooManyStates> {
        let mut places: HashMap<(usize, usize), usize> = HashMap::from([((0, 0), 0)]);
        let mut pairs = vec![(0, 0)];
        let mut moves: Vec<Vec<usize>> = Vec::new();
        while moves.len() < pairs.len() {
            let (a, b) = pairs[moves.len()];
            let step = |byte| (self.step(a, byte), other.step(b, byte));
            let targets = (0..=255).map(step).map(|pair| {
                *places.entry(pair).or_insert_with(|| {
                    pairs.push(pair);
                    pairs.len() - 1
                })
            });
            moves.push(targets.collect());
            if pairs.len() > Automaton::MOST {
                return Err(TooManyStates);
            }
        }
        let ends = |s: usize| accepts(self.is_final(pairs[s].0), other.is_final(pairs[s].1));
        // States from which nothing is accepted would be taken for ways on.
        let mut lives: Vec<bool> = (0..pairs.len()).map(ends).collect();
        loop {
            let more: Vec<usize> = (0..pairs.len())
                .filter(|&s| !lives[s] && moves[s].iter().any(|&to| lives[to]))
                .collect();
            if more.is_empty() {
                break;
            }
            more.into_iter().for_each(|s| lives[s] = true);
        }
        let next = |s: usize, byte: u8| Some(moves[s][usize::from(byte)]).filter(|&to| lives[to]);
        Automaton::new(pairs.len(), next, ends)
    }

    /// Where a word grows: bytes in front of that place.
    pub fn grows_at(&self, word: &[u8]) -> usize {
        let states = self.along(word);
        let loops = |p: &usize| (0..=255).any(|b| self.step(states[*p], b) == states[*p]);
        let alive = states.iter().all(|&s| s < self.states());
        let pumped = (0..=word.len()).rev().find(loops).filter(|_| alive);
        pumped.or_else(|| self.inserts_at(word, &states)).unwrap_or(word.len())
    }

    /// The last place where one byte more or less is a word, too.
    fn inserts_at(&self, word: &[u8], states: &[usize]) -> Option<usize> {
        let ends_from = |from: usize, p: usize| {
            let end = word[p..].iter().fold(from, |state, &b| self.step(state, b));
            self.is_final(end)
        };
        let inserts = |p: &usize| (0..=255).any(|b| ends_from(self.step(states[*p], b), *p));
        let deletes = |p: &usize| *p > 0 && ends_from(states[*p - 1], *p);
        let places = || (0..=word.len()).rev().take(NEAR);
        places().find(inserts).or_else(|| places().find(deletes))
    }

    /// A word of `length` bytes made of another that grows at `place`: the bytes, and
    /// where the new word grows.
    pub fn resized(
        &self,
        word: &[u8],
        place: usize,
        length: usize,
        order: &[u8],
    ) -> Option<(Vec<u8>, usize)> {
        let place = place.min(word.len());
        let found = match length.checked_sub(word.len()) {
            Some(more) => self.longer(word, place, more, order),
            None => self.shorter(word, place, word.len() - length),
        };
        let found = found.or_else(|| {
            let new = self.word(length, || order.to_vec())?;
            let place = self.grows_at(&new);
            Some((new, place))
        });
        found.filter(|(new, _)| new.len() == length && self.accepts(new))
    }

    fn longer(
        &self,
        word: &[u8],
        place: usize,
        more: usize,
        order: &[u8],
    ) -> Option<(Vec<u8>, usize)> {
        let state = *self.along(&word[..place]).last()?;
        let last = place.checked_sub(1).map(|i| word[i]);
        let rest = &word[place..];
        let ends = |s| self.is_final(rest.iter().fold(s, |s, &b| self.step(s, b)));
        // The first of them may lead to where the others stay.
        let loops = |b: &u8| {
            let next = self.step(state, *b);
            self.step(next, *b) == next && ends(next)
        };
        let filling = match last.into_iter().chain(order.iter().copied()).find(loops) {
            Some(byte) => vec![byte; more],
            None => {
                let goal: Vec<bool> = (0..=self.states()).map(ends).collect();
                self.way(state, goal, more, order)?
            }
        };
        let new = [&word[..place], &filling, &word[place..]].concat();
        Some((new, place + more))
    }

    fn shorter(&self, word: &[u8], place: usize, less: usize) -> Option<(Vec<u8>, usize)> {
        let nearby = (less..=word.len()).rev().take(NEAR);
        let mut places = std::iter::once(place).filter(|&p| p >= less).chain(nearby);
        places.find_map(|p| {
            let new = [&word[..p - less], &word[p..]].concat();
            self.accepts(&new).then_some((new, p - less))
        })
    }

    /// Bytes that lead from a state to one of `goal`, as many as asked.
    fn way(&self, from: usize, goal: Vec<bool>, length: usize, order: &[u8]) -> Option<Vec<u8>> {
        if length.saturating_mul(self.states()) > MOST_ROOM {
            return None;
        }
        let mut live = vec![goal];
        for _ in 0..length {
            let last = &live[live.len() - 1];
            let lives = |s: usize| s < self.states() && self.successors(s).any(|to| last[to]);
            live.push((0..=self.states()).map(lives).collect());
        }
        if !live[length][from] {
            return None;
        }
        let (mut state, mut way) = (from, Vec::with_capacity(length));
        for to_go in (0..length).rev() {
            let byte = *order.iter().find(|&&b| live[to_go][self.step(state, b)])?;
            state = self.step(state, byte);
            way.push(byte);
        }
        Some(way)
    }

    /// The states that a word goes through, the first one included.
    fn along(&self, word: &[u8]) -> Vec<usize> {
        let mut state = 0;
        let rest = word.iter().map(|&b| {
            state = self.step(state, b);
            state
        });
        std::iter::once(0).chain(rest).collect()
    }

    /// Where the bytes of a state lead, each place once.
    fn successors(&self, state: usize) -> impl Iterator<Item = usize> + use<> {
        let mut all: Vec<usize> = (0..=255).map(|b| self.step(state, b)).collect();
        all.sort_unstable();
        all.dedup();
        let states = self.states();
        all.into_iter().filter(move |&s| s < states)
    }
}

/// How many places are tried where there is none to repeat anything.
const NEAR: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Vec<u8> {
        (b'a'..=b'z').chain(0..=255).collect()
    }

    /// A language by its states: what a byte does, and which accept.
    fn language(moves: &[(usize, &[u8], usize)], ends: &[usize]) -> Automaton {
        let states = moves.iter().flat_map(|m| [m.0, m.2]).max().unwrap_or(0) + 1;
        let next = |s: usize, b: u8| {
            moves.iter().find(|(from, bytes, _)| *from == s && bytes.contains(&b)).map(|m| m.2)
        };
        Automaton::new(states, next, |s| ends.contains(&s)).expect("it is small")
    }

    /// `[a-c][a-c0]*`, `"[a-c]*"`, `(ab)*c`, `a{1,3}`, `ab|abab`.
    fn languages() -> Vec<(Automaton, Vec<&'static [u8]>)> {
        let name = language(&[(0, b"abc", 1), (1, b"abc0", 1)], &[1]);
        let string = language(&[(0, b"\"", 1), (1, b"abc", 1), (1, b"\"", 2)], &[2]);
        let pairs = language(&[(0, b"a", 1), (1, b"b", 0), (0, b"c", 2)], &[2]);
        let few = language(&[(0, b"a", 1), (1, b"a", 2), (2, b"a", 3)], &[1, 2, 3]);
        let two = language(&[(0, b"a", 1), (1, b"b", 2), (2, b"a", 3), (3, b"b", 4)], &[2, 4]);
        vec![
            (name, vec![b"a", b"b0c"]),
            (string, vec![b"\"\"", b"\"abc\""]),
            (pairs, vec![b"c", b"ababc"]),
            (few, vec![b"a", b"aa", b"aaa"]),
            (two, vec![b"ab", b"abab"]),
        ]
    }

    #[test]
    fn lengths_are_those_of_words() {
        for (i, (a, _)) in languages().into_iter().enumerate() {
            let lengths = a.find_lengths();
            for n in 0..40 {
                let word = a.word(n as usize, order);
                assert_eq!(lengths.contains(n), word.is_some(), "language {i}, length {n}");
            }
            assert!(!lengths.is_single());
        }
        assert!(language(&[(0, b"abc", 1)], &[1]).find_lengths().is_single());
        assert!(languages()[0].0.find_lengths().contains(60_001));
    }

    #[test]
    fn a_word_has_every_length_that_it_can_have_and_keeps_its_text() {
        for (i, (a, words)) in languages().into_iter().enumerate() {
            let lengths = a.find_lengths();
            for word in words {
                let place = a.grows_at(word);
                for n in 0..40 {
                    let new = a.resized(word, place, n, &order());
                    assert_eq!(new.is_some(), lengths.contains(n as u32), "{i}: {word:?} to {n}");
                    let Some((new, place)) = new else { continue };
                    assert!(a.accepts(&new) && new.len() == n && place <= n, "{i}: {new:?}");
                    if i < 2 && n >= word.len() {
                        let old = word.len() - (new.len() - place);
                        assert!(new.starts_with(&word[..old]) && new.ends_with(&word[old..]));
                    }
                }
            }
        }
    }

    #[test]
    fn products_have_the_words_of_both_or_of_either() {
        let all = languages();
        let words: Vec<Vec<u8>> = (0..6u32.pow(4))
            .map(|n| (0..4).map(|i| b"ab0c\" "[(n / 6u32.pow(i) % 6) as usize]).collect())
            .map(|word: Vec<u8>| word.split(|&b| b == b' ').next().unwrap_or_default().to_vec())
            .collect();
        for (a, _) in &all {
            for (b, _) in &all {
                let both = a.product(b, |x, y| x && y).expect("small");
                let either = a.product(b, |x, y| x || y).expect("small");
                for word in &words {
                    let (x, y) = (a.accepts(word), b.accepts(word));
                    assert_eq!((both.accepts(word), either.accepts(word)), (x && y, x || y));
                }
            }
        }
    }

    #[test]
    fn what_is_added_repeats_the_last_byte() {
        let all = languages();
        let grown = |i: usize, word: &[u8], n| {
            let a = &all[i].0;
            let new = a.resized(word, a.grows_at(word), n, &order());
            String::from_utf8(new.expect("there is one").0).expect("letters")
        };
        assert_eq!(grown(0, b"ab0", 6), "ab0000");
        assert_eq!(grown(1, b"\"ab\"", 6), "\"abbb\"");
        assert_eq!(grown(2, b"abc", 5), "ababc");
        assert_eq!(grown(0, b"ab0", 1), "a");
        assert_eq!(grown(1, b"\"ab\"", 2), "\"\"");
    }
}
