//! Words of an automaton: their lengths, and words made longer or shorter.
//!
//! If a byte leads from a state to the same state, it can be repeated there. A word
//! grows at the last such place: the end of a name, or the inside of a string before
//! the closing quote. A longer word repeats the byte before that place. A shorter word
//! drops the bytes before it. If the result is not in the language, a new word is made.

use crate::dfa::{DEAD, Dfa, TooLarge};
use std::collections::HashMap;

/// The lengths of the words of a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// By length: true if there is a word of that length.
    computed: Vec<bool>,
    /// Lengths from `computed.len()` on repeat those from here on. `None` if there are no
    /// longer words.
    period_start: Option<usize>,
}

/// Lengths that are computed one by one. Almost all languages repeat long before that.
/// Longer words of the others are ignored.
const MAX_LENGTHS: usize = 1 << 16;
/// Memory for the search for a path of one length, in states times bytes.
const MAX_PATH_ROOM: usize = 1 << 26;
/// Places of a word that are tried if no state leads to itself.
const MAX_PLACES: usize = 64;

impl Lengths {
    pub fn contains(&self, n: u32) -> bool {
        let n = n as usize;
        match (self.computed.get(n), self.period_start) {
            (Some(&exists), _) => exists,
            (None, Some(from)) => self.computed[from + (n - from) % (self.computed.len() - from)],
            (None, None) => false,
        }
    }

    /// True if there are no words at all.
    pub fn is_empty(&self) -> bool {
        !self.computed.contains(&true)
    }

    /// True if all words have the same length.
    pub fn is_single(&self) -> bool {
        let is_endless =
            self.period_start.is_some_and(|from| self.computed[from..].contains(&true));
        !is_endless && self.computed.iter().filter(|&&exists| exists).count() <= 1
    }
}

impl Dfa {
    /// The lengths for which there are words.
    pub fn lengths(&self) -> Lengths {
        // The states that words of the current length lead to. If a set comes again, so do
        // all that followed it.
        let mut reached = vec![false; self.states()];
        reached[0] = true;
        let mut seen: HashMap<Vec<bool>, usize> = HashMap::new();
        let mut computed = Vec::new();
        while computed.len() < MAX_LENGTHS && reached.contains(&true) {
            if let Some(&from) = seen.get(&reached) {
                return Lengths { computed, period_start: Some(from) };
            }
            computed.push((0..self.states()).any(|s| reached[s] && self.is_final(s as u32)));
            let mut next = vec![false; self.states()];
            for state in (0..self.states()).filter(|&s| reached[s]) {
                for to in self.successors(state as u32) {
                    next[to as usize] = true;
                }
            }
            seen.insert(std::mem::replace(&mut reached, next), computed.len() - 1);
        }
        Lengths { computed, period_start: None }
    }

    /// The words for which `accepts` is true. Its arguments are whether this automaton
    /// accepts a word, and whether the other does. All matches have the number 0.
    pub fn product(
        &self,
        other: &Dfa,
        accepts: impl Fn(bool, bool) -> bool,
    ) -> Result<Dfa, TooLarge> {
        let mut places: HashMap<(u32, u32), u32> = HashMap::from([((0, 0), 0)]);
        let mut pairs = vec![(0, 0)];
        let mut table = Vec::new();
        while table.len() < 256 * pairs.len() {
            let (a, b) = pairs[table.len() / 256];
            for byte in 0..=255 {
                let pair = (self.step(a, byte), other.step(b, byte));
                table.push(*places.entry(pair).or_insert_with(|| {
                    pairs.push(pair);
                    pairs.len() as u32 - 1
                }));
            }
            if pairs.len() > crate::dfa::MAX_STATES {
                return Err(TooLarge::States);
            }
        }
        let ends = pairs.iter().map(|&(a, b)| accepts(self.is_final(a), other.is_final(b)));
        let ends = ends.map(|end| if end { Box::from([0]) } else { Box::default() });
        Ok(Dfa::from_table(&table, ends.collect()))
    }

    /// A word of exactly this length. Each byte is the first of `order` that is possible.
    pub fn word(&self, length: usize, order: &[u8]) -> Option<Vec<u8>> {
        let goal = (0..self.states() as u32).map(|s| self.is_final(s)).collect();
        self.path(Dfa::START, goal, length, order)
    }

    /// The place where a word grows: the number of bytes before it.
    pub fn grows_at(&self, word: &[u8]) -> usize {
        let states = self.states_along(word);
        let has_loop = |p: &usize| (0..=255).any(|b| self.step(states[*p], b) == states[*p]);
        let is_alive = !states.contains(&DEAD);
        let looping = (0..=word.len()).rev().find(has_loop).filter(|_| is_alive);
        looping.or_else(|| self.edit_place(word, &states)).unwrap_or(word.len())
    }

    /// The last place where inserting or deleting one byte gives another word.
    fn edit_place(&self, word: &[u8], states: &[u32]) -> Option<usize> {
        let ends_from = |from: u32, p: usize| self.is_final(self.walk(from, &word[p..]));
        let inserts = |p: &usize| (0..=255).any(|b| ends_from(self.step(states[*p], b), *p));
        let deletes = |p: &usize| *p > 0 && ends_from(states[*p - 1], *p);
        let places = || (0..=word.len()).rev().take(MAX_PLACES);
        places().find(inserts).or_else(|| places().find(deletes))
    }

    /// A word of `length` bytes, made from a word that grows at `place`, and the place
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
            let new = self.word(length, order)?;
            let place = self.grows_at(&new);
            Some((new, place))
        });
        found.filter(|(new, _)| new.len() == length && self.matches(new))
    }

    fn longer(
        &self,
        word: &[u8],
        place: usize,
        more: usize,
        order: &[u8],
    ) -> Option<(Vec<u8>, usize)> {
        let state = self.walk(Dfa::START, &word[..place]);
        let last = place.checked_sub(1).map(|i| word[i]);
        let ends = |s| self.is_final(self.walk(s, &word[place..]));
        // The first byte may lead to another state; the following ones stay in that.
        let repeats = |b: &u8| {
            let next = self.step(state, *b);
            self.step(next, *b) == next && ends(next)
        };
        let filling = match last.into_iter().chain(order.iter().copied()).find(repeats) {
            Some(byte) => vec![byte; more],
            None => {
                let goal = (0..self.states() as u32).map(ends).collect();
                self.path(state, goal, more, order)?
            }
        };
        let new = [&word[..place], &filling, &word[place..]].concat();
        Some((new, place + more))
    }

    fn shorter(&self, word: &[u8], place: usize, less: usize) -> Option<(Vec<u8>, usize)> {
        let nearby = (less..=word.len()).rev().take(MAX_PLACES);
        let mut places = std::iter::once(place).filter(|&p| p >= less).chain(nearby);
        places.find_map(|p| {
            let new = [&word[..p - less], &word[p..]].concat();
            self.matches(&new).then_some((new, p - less))
        })
    }

    /// `length` bytes that lead from a state to one for which `goal` is true.
    fn path(&self, from: u32, goal: Vec<bool>, length: usize, order: &[u8]) -> Option<Vec<u8>> {
        if from == DEAD || length.saturating_mul(self.states()) > MAX_PATH_ROOM {
            return None;
        }
        // By number of bytes: the states from which that many bytes can lead to the goal.
        let mut live = vec![goal];
        for _ in 0..length {
            let last = &live[live.len() - 1];
            let lives = |s: u32| self.successors(s).any(|to| last[to as usize]);
            live.push((0..self.states() as u32).map(lives).collect());
        }
        if !live[length][from as usize] {
            return None;
        }
        let (mut state, mut path) = (from, Vec::with_capacity(length));
        for remaining in (0..length).rev() {
            let is_possible = |b: u8| match self.step(state, b) {
                DEAD => false,
                to => live[remaining][to as usize],
            };
            let byte = order.iter().copied().find(|&b| is_possible(b))?;
            state = self.step(state, byte);
            path.push(byte);
        }
        Some(path)
    }

    /// The states that a word leads through, from the start on.
    fn states_along(&self, word: &[u8]) -> Vec<u32> {
        let mut state = Dfa::START;
        let rest = word.iter().map(|&b| {
            state = self.step(state, b);
            state
        });
        std::iter::once(Dfa::START).chain(rest).collect()
    }

    fn walk(&self, from: u32, word: &[u8]) -> u32 {
        word.iter().fold(from, |state, &b| self.step(state, b))
    }

    /// As [`Dfa::next`], and defined for [`DEAD`].
    fn step(&self, state: u32, byte: u8) -> u32 {
        if state == DEAD { DEAD } else { self.next(state, byte) }
    }

    fn is_final(&self, state: u32) -> bool {
        state != DEAD && !self.accepts(state).is_empty()
    }

    /// The states that follow a state. One may come several times.
    fn successors(&self, state: u32) -> impl Iterator<Item = u32> {
        let row = &self.table[state as usize * self.classes..][..self.classes];
        row.iter().copied().filter(|&to| to != DEAD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn order() -> Vec<u8> {
        (b'a'..=b'z').chain(0..=255).collect()
    }

    /// An automaton from its moves (state, bytes, next state) and its final states.
    fn language(moves: &[(u32, &[u8], u32)], ends: &[u32]) -> Dfa {
        let states = moves.iter().flat_map(|m| [m.0, m.2]).max().unwrap_or(0) + 1;
        let state = |s: u32| {
            let own = moves.iter().filter(|(from, ..)| *from == s);
            let edges = own.map(|(_, bytes, to)| (bytes.iter().copied().collect(), *to));
            let accepts = if ends.contains(&s) { vec![0] } else { Vec::new() };
            State { edges: edges.collect(), accepts }
        };
        Dfa::from_states(&(0..states).map(state).collect::<Vec<_>>())
    }

    /// `[a-c][a-c0]*`, `"[a-c]*"`, `(ab)*c`, `a{1,3}`, `ab|abab`.
    fn languages() -> Vec<(Dfa, Vec<&'static [u8]>)> {
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
    fn a_length_is_contained_if_it_has_a_word() {
        for (i, (a, _)) in languages().into_iter().enumerate() {
            let lengths = a.lengths();
            for n in 0..40 {
                let word = a.word(n as usize, &order());
                assert_eq!(lengths.contains(n), word.is_some(), "language {i}, length {n}");
            }
            assert!(!lengths.is_single());
        }
        assert!(language(&[(0, b"abc", 1)], &[1]).lengths().is_single());
        assert!(languages()[0].0.lengths().contains(60_001));
    }

    #[test]
    fn words_are_resized_to_every_possible_length() {
        for (i, (a, words)) in languages().into_iter().enumerate() {
            let lengths = a.lengths();
            for word in words {
                let place = a.grows_at(word);
                for n in 0..40 {
                    let new = a.resized(word, place, n, &order());
                    assert_eq!(new.is_some(), lengths.contains(n as u32), "{i}: {word:?} to {n}");
                    let Some((new, place)) = new else { continue };
                    assert!(a.matches(&new) && new.len() == n && place <= n, "{i}: {new:?}");
                    if i < 2 && n >= word.len() {
                        let old = word.len() - (new.len() - place);
                        assert!(new.starts_with(&word[..old]) && new.ends_with(&word[old..]));
                    }
                }
            }
        }
    }

    #[test]
    fn products_are_intersections_and_unions() {
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
                    let (x, y) = (a.matches(word), b.matches(word));
                    assert_eq!((both.matches(word), either.matches(word)), (x && y, x || y));
                }
            }
        }
    }

    #[test]
    fn added_bytes_repeat_the_last_one() {
        let all = languages();
        let grown = |i: usize, word: &[u8], n| {
            let a = &all[i].0;
            let new = a.resized(word, a.grows_at(word), n, &order());
            String::from_utf8(new.expect("the length is possible").0).expect("letters")
        };
        assert_eq!(grown(0, b"ab0", 6), "ab0000");
        assert_eq!(grown(1, b"\"ab\"", 6), "\"abbb\"");
        assert_eq!(grown(2, b"abc", 5), "ababc");
        assert_eq!(grown(0, b"ab0", 1), "a");
        assert_eq!(grown(1, b"\"ab\"", 2), "\"\"");
    }

    #[test]
    fn words_have_the_length_and_prefer_the_first_bytes_of_the_order() {
        // Identifiers, except `if`.
        let names: &[(u32, &[u8], u32)] =
            &[(0, b"i", 2), (0, b"ab", 1), (1, b"abif0", 1), (2, b"f", 3), (2, b"abi0", 1)];
        let a = language(&[names, &[(3, b"abif0", 1)]].concat(), &[1, 2]);
        assert!(a.matches(b"i") && a.matches(b"ifa") && !a.matches(b"if") && !a.matches(b"0"));
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(a.word(0, &all), None);
        assert_eq!(a.word(3, &all), Some(b"a00".to_vec()));
        assert_eq!(a.word(2, b"if"), Some(b"ii".to_vec()));
    }
}
