//! Mutation: cheap children of an input, for the fast half.
//!
//! A mutant is its parent after a few random operations, as in AFL's havoc stage. Most
//! mutants are worthless, and the fast half runs about ten thousand of them in a second. So
//! they must be cheap, and all kinds of changes must occur:
//!
//! - on bytes and blocks (`bytes`): bit flips, boundary values, arithmetic, deletion,
//!   duplication, splicing with another input;
//! - on text (`text`): decimal numbers, words, and groups in brackets. A parser rejects most
//!   inputs with changed bytes at their first token. If a word or a balanced group is moved,
//!   the input often still parses;
//! - with words that the program knows (`dictionary`, filled by `collect`) or that the user
//!   gives (`words`).
//!
//! In a container, one of its streams is mutated, and the container stays well-formed.
//!
//! The same generator, inputs and dictionary give the same mutant.

mod bytes;
mod collect;
mod dictionary;
mod text;
mod words;

pub use dictionary::Dictionary;
pub use words::{MAX_WORD_LEN, Words, WordsError, parse_words, write_words};

use pleach_abi::container::{ARG, ENV, RECORD_HEAD};
use pleach_exec::container::{self, is_container};
use pleach_search::Rng;

#[derive(Debug, Default)]
pub struct Mutator {
    /// A buffer for blocks that are copied.
    scratch: Vec<u8>,
}

/// What an operation works with.
struct Work<'a> {
    rng: &'a mut Rng,
    /// Another input, to splice with; may be empty.
    other: &'a [u8],
    dictionary: &'a Dictionary,
    scratch: &'a mut Vec<u8>,
    max_len: usize,
}

/// A mutant takes 1, 2, 4 or 8 operations; these four counts are equally likely.
const OPERATION_COUNTS: usize = 4;
/// How often a mutant that equals its parent is changed again.
const MAX_ROUNDS: usize = 4;

impl Mutator {
    pub fn new() -> Mutator {
        Mutator::default()
    }

    /// Writes a mutant of `parent` into `out`, of at most `max_len` bytes. In a container,
    /// that is the length of the mutated stream. `other` is another input to splice with.
    pub fn mutate(
        &mut self,
        rng: &mut Rng,
        parent: &[u8],
        other: Option<&[u8]>,
        dictionary: &Dictionary,
        out: &mut Vec<u8>,
        max_len: usize,
    ) {
        out.clear();
        let other = other.unwrap_or_default();
        if is_container(parent) && self.mutate_stream(rng, parent, other, dictionary, out, max_len)
        {
            return;
        }
        out.extend_from_slice(&parent[..parent.len().min(max_len)]);
        // A container is not spliced into a plain input.
        let other = if is_container(other) { &[] } else { other };
        self.havoc(rng, parent, other, dictionary, out, max_len);
    }

    /// Mutates one stream of a container. False if it has no streams.
    fn mutate_stream(
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
        // The stream of the other input with the same kind and number.
        let same_kind = streams.iter().filter(|s| s.kind == stream.kind);
        let number = same_kind.filter(|s| s.offset < stream.offset).count();
        let alike = others.iter().filter(|s| s.kind == stream.kind).nth(number);
        let mut child = value[..value.len().min(max_len)].to_vec();
        self.havoc(rng, value, alike.map_or(&[], |s| s.bytes), dictionary, &mut child, max_len);
        if matches!(stream.kind, ARG | ENV) {
            // A zero byte would end them.
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
        // Operations may find nothing to do, or undo each other.
        for _ in 0..MAX_ROUNDS {
            let mut work = Work { rng, other, dictionary, scratch: &mut self.scratch, max_len };
            for _ in 0..1 << work.rng.below(OPERATION_COUNTS) {
                work.apply_operation(out);
            }
            out.truncate(max_len);
            if out != parent {
                return;
            }
        }
    }
}

impl Work<'_> {
    /// Applies one random operation. If it does not apply to the input, nothing changes.
    fn apply_operation(&mut self, out: &mut Vec<u8>) {
        if out.is_empty() {
            return match self.rng.below(4) {
                0 | 1 if !self.dictionary.is_empty() => self.put_token(out),
                2 if !self.other.is_empty() => self.splice(out),
                _ => self.add_first_bytes(out),
            };
        }
        // How often each family occurs, in sixteenths.
        match self.rng.below(16) {
            0..=5 => self.change_bytes(out),
            6..=9 => self.change_block(out),
            10..=11 if !self.dictionary.is_empty() => self.put_token(out),
            10..=11 => self.change_block(out),
            12 if !self.other.is_empty() => self.splice(out),
            12 => self.change_bytes(out),
            _ => self.change_text(out),
        }
    }

    /// Inserts a token of the dictionary, or writes it over other bytes.
    fn put_token(&mut self, out: &mut Vec<u8>) {
        let Some(id) = self.dictionary.pick(self.rng) else { return };
        let token = self.dictionary.token(id);
        match self.rng.below(3) {
            0 => self.overwrite_with(out, token),
            1 => self.replace_word(out, token),
            _ => self.insert(out, token),
        };
    }

    /// Inserts bytes at a random place, if there is room.
    fn insert(&mut self, out: &mut Vec<u8>, bytes: &[u8]) -> bool {
        let at = self.rng.below(out.len() + 1);
        splice_in(out, at, 0, bytes, self.max_len)
    }

    /// Writes bytes over as many others, if there are enough.
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
    let (old_len, new_len) = (out.len(), out.len() - len + bytes.len());
    if new_len > max_len {
        return false;
    }
    if bytes.len() > len {
        out.resize(new_len, 0);
    }
    out.copy_within(at + len..old_len, at + bytes.len());
    out.truncate(new_len);
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
    fn mutants_differ_and_are_not_too_long() {
        for (parent, max) in [(JSON, 60), (JSON, 20), (b"", 8), (b"x", 1), (b"(((", 4096), (b"", 0)]
        {
            let all = mutants(parent, None, max, 2000);
            assert!(all.iter().all(|m| m.len() <= max), "{max}");
            let different: HashSet<_> = all.iter().collect();
            let expected = match (parent.len(), max) {
                (_, 0) => 1,
                (_, 1) => 100,
                (0, _) => 500,
                _ => 1000,
            };
            assert!(different.len() >= expected, "{} of {max}", different.len());
            if max > 0 {
                let same = all.iter().filter(|m| *m == parent).count();
                assert!(same < 40, "{same} mutants are their parent");
            }
        }
    }

    #[test]
    fn every_family_of_operations_occurs() {
        let all = mutants(JSON, Some(b"<html>unlike</html>"), 200, 20_000);
        let occurs = |what: &[u8]| all.iter().any(|m| m.windows(what.len()).any(|w| w == what));
        for what in [&b"while"[..], b"\x7fELF", b"unlike", b"2147483647", b"-1", b"\xff\xff"] {
            assert!(occurs(what), "{}", String::from_utf8_lossy(what));
        }
        // Groups in brackets move as a whole.
        assert!(occurs(br#"{"deep": null}{"deep": null}"#));
        assert!(all.iter().any(|m| m == br#"{"key": , "other": "text"}"#));
    }

    #[test]
    fn a_mutated_container_stays_a_container() {
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
}
