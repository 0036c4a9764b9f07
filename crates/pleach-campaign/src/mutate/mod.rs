//! Mutation: cheap children of an input, for the fast half.
//!
//! A mutant is its parent after a few operations stacked on one another, as in
//! AFL's havoc stage. Most mutants are worthless, and the fast half runs some
//! ten thousand a second, so what counts is to make them for next to nothing and
//! to have every kind of change among them:
//!
//! - on bytes and blocks (`bytes`): flips, interesting numbers, arithmetic,
//!   deletion, duplication, splicing with another input;
//! - on text (`text`): numbers in decimal, words, and groups in brackets. A
//!   parser throws away at its first token what havoc does to its input; a word
//!   or a balanced group put elsewhere often still parses;
//! - with the words of the program itself (`dictionary`).
//!
//! A container is mutated inside one of its streams and stays well-formed.
//!
//! Nothing here keeps state that changes what comes next: the same generator,
//! inputs and dictionary give the same mutant.

mod bytes;
mod collect;
mod dictionary;
mod text;

pub use dictionary::{Dictionary, TokenId};

use pleach_abi::container::{ARG, ENV, RECORD_HEAD};
use pleach_exec::container::{self, is_container};
use pleach_search::Rng;

#[derive(Debug, Default)]
pub struct Mutator {
    /// What blocks are copied through.
    scratch: Vec<u8>,
    /// Tokens of the dictionary in the last mutant.
    used: Vec<TokenId>,
}

/// What one operation works with.
struct Work<'a> {
    rng: &'a mut Rng,
    other: &'a [u8],
    dictionary: &'a Dictionary,
    used: &'a mut Vec<TokenId>,
    scratch: &'a mut Vec<u8>,
    max_len: usize,
}

/// At most so many operations in one mutant: 1, 2, 4 or 8, each as likely.
const STACK: usize = 4;

impl Mutator {
    pub fn new() -> Mutator {
        Mutator::default()
    }

    /// Writes a mutant of `parent` into `out`, at most `max_len` bytes of it (of
    /// the mutated stream, in a container). `other` is what to splice with.
    pub fn mutate(
        &mut self,
        rng: &mut Rng,
        parent: &[u8],
        other: Option<&[u8]>,
        dictionary: &Dictionary,
        out: &mut Vec<u8>,
        max_len: usize,
    ) {
        self.used.clear();
        out.clear();
        let other = other.unwrap_or_default();
        if is_container(parent) && self.in_stream(rng, parent, other, dictionary, out, max_len) {
            return;
        }
        out.extend_from_slice(&parent[..parent.len().min(max_len)]);
        // A container is no text to splice with.
        let other = if is_container(other) { &[] } else { other };
        self.havoc(rng, parent, other, dictionary, out, max_len);
    }

    /// The tokens that the last mutant got: those to reward if it is kept.
    pub fn used(&self) -> &[TokenId] {
        &self.used
    }

    /// Mutates one stream of a container. False if it has none that could be.
    fn in_stream(
        &mut self,
        rng: &mut Rng,
        parent: &[u8],
        other: &[u8],
        dictionary: &Dictionary,
        out: &mut Vec<u8>,
        max_len: usize,
    ) -> bool {
        let Ok(streams) = container::parse(parent) else { return false };
        let Some(stream) = rng.pick(&streams) else { return false };
        // The name of a variable is not input.
        let fixed = match stream.kind {
            ENV => stream.bytes.iter().position(|&b| b == b'=').map_or(0, |at| at + 1),
            _ => 0,
        };
        let (name, value) = stream.bytes.split_at(fixed);
        let others = match is_container(other) {
            true => container::parse(other).unwrap_or_default(),
            false => Vec::new(),
        };
        let alike = others.iter().filter(|s| s.kind == stream.kind).nth(
            streams.iter().filter(|s| s.kind == stream.kind && s.offset < stream.offset).count(),
        );
        let mut child = value[..value.len().min(max_len)].to_vec();
        self.havoc(rng, value, alike.map_or(&[], |s| s.bytes), dictionary, &mut child, max_len);
        if matches!(stream.kind, ARG | ENV) {
            // These end at a zero byte.
            child.iter_mut().filter(|b| **b == 0).for_each(|b| *b = b'0');
        }
        let Ok(len) = u32::try_from(name.len() + child.len()) else { return false };
        out.extend_from_slice(&parent[..stream.offset - RECORD_HEAD + 4]);
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(name);
        out.extend_from_slice(&child);
        out.extend_from_slice(&parent[stream.offset + stream.bytes.len()..]);
        true
    }

    fn havoc(
        &mut self,
        rng: &mut Rng,
        parent: &[u8],
        other: &[u8],
        dictionary: &Dictionary,
        out: &mut Vec<u8>,
        max_len: usize,
    ) {
        // Operations that find nothing to do, or undo each other, would give
        // the parent again: another round, within reason.
        for _ in 0..4 {
            let mut work = Work {
                rng,
                other,
                dictionary,
                used: &mut self.used,
                scratch: &mut self.scratch,
                max_len,
            };
            for _ in 0..1 << work.rng.below(STACK) {
                work.step(out);
            }
            out.truncate(max_len);
            if out != parent {
                return;
            }
        }
    }
}

impl Work<'_> {
    /// One operation. One that does not fit the input does nothing.
    fn step(&mut self, out: &mut Vec<u8>) {
        if out.is_empty() {
            return match self.rng.below(4) {
                0 | 1 if !self.dictionary.is_empty() => self.token(out),
                2 if !self.other.is_empty() => self.splice(out),
                _ => self.begin(out),
            };
        }
        // In sixteenths of a choice: how often each family comes up.
        match self.rng.below(16) {
            0..=5 => self.change(out),
            6..=9 => self.block(out),
            10..=11 if !self.dictionary.is_empty() => self.token(out),
            10..=11 => self.block(out),
            12 if !self.other.is_empty() => self.splice(out),
            12 => self.change(out),
            _ => self.text(out),
        }
    }

    /// A token of the dictionary, put in or written over.
    fn token(&mut self, out: &mut Vec<u8>) {
        let Some(id) = self.dictionary.pick(self.rng) else { return };
        let token = self.dictionary.token(id);
        let done = match self.rng.below(3) {
            0 => self.overwrite_with(out, token),
            1 => self.replace_word(out, token),
            _ => self.insert(out, token),
        };
        if done {
            self.used.push(id);
        }
    }

    /// Puts bytes in at a random place, if there is room.
    fn insert(&mut self, out: &mut Vec<u8>, bytes: &[u8]) -> bool {
        let at = self.rng.below(out.len() + 1);
        splice_in(out, at, 0, bytes, self.max_len)
    }

    /// Writes bytes over others of the same number.
    fn overwrite_with(&mut self, out: &mut [u8], bytes: &[u8]) -> bool {
        if bytes.is_empty() || bytes.len() > out.len() {
            return false;
        }
        let at = self.rng.below(out.len() - bytes.len() + 1);
        out[at..at + bytes.len()].copy_from_slice(bytes);
        true
    }
}

/// Replaces `len` bytes at `at` by `bytes`, if the result is not too long.
fn splice_in(out: &mut Vec<u8>, at: usize, len: usize, bytes: &[u8], max_len: usize) -> bool {
    let (old, new) = (out.len(), out.len() - len + bytes.len());
    if new > max_len {
        return false;
    }
    if bytes.len() > len {
        out.resize(new, 0);
    }
    out.copy_within(at + len..old, at + bytes.len());
    out.truncate(new);
    out[at..at + bytes.len()].copy_from_slice(bytes);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_abi::container::{FILE, STDIN};
    use std::collections::HashSet;

    const JSON: &[u8] = br#"{"key": [1, 20, {"deep": null}], "other": "text"}"#;

    fn dictionary() -> Dictionary {
        let mut dictionary = Dictionary::default();
        for word in ["while", "null", "\u{7f}ELF"] {
            dictionary.add(word.as_bytes(), 1);
        }
        dictionary
    }

    fn mutants(parent: &[u8], other: Option<&[u8]>, max: usize, n: usize) -> Vec<Vec<u8>> {
        let (mut mutator, dictionary, mut rng) = (Mutator::new(), dictionary(), Rng::new(3));
        let mut one = || {
            let mut out = Vec::new();
            mutator.mutate(&mut rng, parent, other, &dictionary, &mut out, max);
            out
        };
        (0..n).map(|_| one()).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_mutants() {
        assert_eq!(
            mutants(JSON, Some(b"(a b)"), 100, 500),
            mutants(JSON, Some(b"(a b)"), 100, 500)
        );
    }

    #[test]
    fn mutants_differ_and_keep_to_the_limit() {
        for (parent, max) in [(JSON, 60), (JSON, 20), (b"", 8), (b"x", 1), (b"(((", 4096), (b"", 0)]
        {
            let all = mutants(parent, None, max, 2000);
            assert!(all.iter().all(|m| m.len() <= max), "{max}");
            let different: HashSet<_> = all.iter().collect();
            let least = match (parent.len(), max) {
                (_, 0) => 1,
                (_, 1) => 100,
                (0, _) => 500,
                _ => 1000,
            };
            assert!(different.len() >= least, "{} of {max}", different.len());
            if max > 0 {
                let same = all.iter().filter(|m| *m == parent).count();
                assert!(same < 40, "{same} mutants are their parent");
            }
        }
    }

    #[test]
    fn every_family_of_operations_shows() {
        let all = mutants(JSON, Some(b"<html>unlike</html>"), 200, 20_000);
        let some = |what: &[u8]| all.iter().any(|m| m.windows(what.len()).any(|w| w == what));
        for what in [&b"while"[..], b"\x7fELF", b"unlike", b"2147483647", b"-1", b"\xff\xff"] {
            assert!(some(what), "{}", String::from_utf8_lossy(what));
        }
        // Groups in brackets move as a whole.
        assert!(some(br#"{"deep": null}{"deep": null}"#));
        assert!(all.iter().any(|m| m == br#"{"key": , "other": "text"}"#));
    }

    #[test]
    fn a_container_stays_one() {
        let parts = [(STDIN, &b"hello world"[..]), (ARG, b"-x"), (ENV, b"MODE=fast"), (FILE, b"")];
        let parent = container::build(parts).unwrap();
        let other = container::build([(STDIN, &b"(another)"[..])]).unwrap();
        let mut changed = [false; 4];
        for mutant in mutants(&parent, Some(&other), 64, 3000) {
            let streams = container::parse(&mutant).expect("well-formed");
            assert_eq!(streams.len(), 4);
            let differ = streams.iter().zip(parts).map(|(s, (kind, bytes))| {
                assert_eq!(s.kind, kind);
                s.bytes != bytes
            });
            let differ: Vec<_> = differ.collect();
            assert!(differ.iter().filter(|d| **d).count() <= 1);
            changed.iter_mut().zip(differ).for_each(|(c, d)| *c |= d);
            assert!(streams[1].bytes.iter().all(|&b| b != 0));
            assert!(streams[2].bytes.starts_with(b"MODE="));
        }
        assert_eq!(changed, [true; 4]);
    }

    #[test]
    fn tokens_that_were_used_are_told() {
        let (mut mutator, dictionary, mut rng) = (Mutator::new(), dictionary(), Rng::new(1));
        let (mut out, mut told) = (Vec::new(), 0);
        for _ in 0..2000 {
            mutator.mutate(&mut rng, b"", None, &dictionary, &mut out, 64);
            let has = out.windows(5).any(|w| w == b"while");
            let said = mutator.used().iter().any(|&t| dictionary.token(t) == b"while");
            assert!(!has || said);
            told += u32::from(said);
        }
        assert!(told > 50, "{told}");
    }
}
