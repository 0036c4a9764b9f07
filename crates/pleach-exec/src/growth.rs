//! Inputs that grow. A typed call past the end of the input gets a fresh value, and the
//! input becomes longer by it. The target reports how long the input has become. Driver
//! and target compute the same fresh bytes (`pleach_abi::growth`), so the driver can append
//! them to the input file, and a later run on that file does the same.

use crate::container::{self, is_container};
use pleach_abi::container::STDIN;
use pleach_abi::growth::fresh_byte;
use pleach_abi::shm::{self, CALLS_ENDED, CALLS_MIXED};
use std::borrow::Cow;

/// What typed calls past the end of the input get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// The whole input may become this long. A call that needs more ends the run.
    pub limit: u64,
    /// Seed of the fresh bytes; 0 makes all of them 0.
    pub seed: u64,
    /// The input does not grow. Its end is a decision for typed calls too, as it is for
    /// streams.
    pub fixed: bool,
}

/// What typed calls did at the end of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The stream that they read has become this long; 0 if it did not grow.
    pub reached: u64,
    /// A call past the end has ended the run.
    pub ended: bool,
    /// The program also reads the same stream without typed calls. The length of a stream
    /// must not change while a program reads it, so such a program needs
    /// [`Growth::fixed`].
    pub mixed: bool,
}

impl Growth {
    /// The form for the shared memory, where the limit is that of the stream.
    pub(crate) fn prepare(&self, input: &[u8]) -> shm::Growth {
        let room = self.limit.saturating_sub(input.len() as u64);
        let limit = if room == 0 || self.fixed { 0 } else { len_of_stream(input) + room };
        shm::Growth { limit, seed: self.seed, reached: 0, calls: 0 }
    }

    /// The input with the bytes that typed calls have added.
    pub fn add<'a>(&self, input: &'a [u8], calls: &Calls) -> Cow<'a, [u8]> {
        let before = len_of_stream(input);
        // A target may report any number.
        let reached = calls.reached.min(self.prepare(input).limit);
        if reached <= before {
            return Cow::Borrowed(input);
        }
        let fresh = (before..reached).map(|at| fresh_byte(self.seed, at));
        if !is_container(input) {
            return Cow::Owned(input.iter().copied().chain(fresh).collect());
        }
        let streams = container::parse(input).unwrap_or_default();
        let mut parts: Vec<_> = streams.iter().map(|s| (s.kind, s.bytes.to_vec())).collect();
        match parts.iter_mut().find(|(kind, _)| *kind == STDIN) {
            Some((_, bytes)) => bytes.extend(fresh),
            None => parts.push((STDIN, fresh.collect())),
        }
        match container::build(parts.iter().map(|(kind, bytes)| (*kind, &bytes[..]))) {
            Ok(grown) => Cow::Owned(grown),
            Err(_) => Cow::Borrowed(input),
        }
    }
}

impl From<shm::Growth> for Calls {
    fn from(reported: shm::Growth) -> Calls {
        let has = |bit| reported.calls & bit != 0;
        Calls { reached: reported.reached, ended: has(CALLS_ENDED), mixed: has(CALLS_MIXED) }
    }
}

/// The length of the stream that typed calls read.
fn len_of_stream(input: &[u8]) -> u64 {
    if !is_container(input) {
        return input.len() as u64;
    }
    let streams = container::parse(input).unwrap_or_default();
    streams.iter().find(|s| s.kind == STDIN).map_or(0, |s| s.bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_abi::container::ARG;

    fn grown(growth: &Growth, input: &[u8], reached: u64) -> Vec<u8> {
        growth.add(input, &Calls { reached, ..Calls::default() }).into_owned()
    }

    #[test]
    fn a_plain_input_grows_at_its_end() {
        let growth = Growth { limit: 8, ..Growth::default() };
        assert_eq!(grown(&growth, b"abc", 5), b"abc\0\0");
        assert_eq!(grown(&growth, b"abc", 0), b"abc");
        assert_eq!(grown(&growth, b"abc", u64::MAX).len(), 8);
    }

    #[test]
    fn fresh_bytes_depend_on_the_seed_and_the_offset_only() {
        let growth = Growth { limit: 100, seed: 7, fixed: false };
        let all = grown(&growth, b"", 40);
        assert_eq!(grown(&growth, &all[..11], 40), all);
        assert_ne!(grown(&Growth { seed: 8, ..growth }, b"", 40), all);
    }

    #[test]
    fn a_container_grows_in_its_own_stream() {
        let growth = Growth { limit: 100, ..Growth::default() };
        let file = container::build([(STDIN, &b"ab"[..]), (ARG, b"cd")]).unwrap();
        let expected = container::build([(STDIN, &b"ab\0"[..]), (ARG, b"cd")]).unwrap();
        assert_eq!(grown(&growth, &file, 3), expected);
        let file = container::build([(ARG, &b"cd"[..])]).unwrap();
        let expected = container::build([(ARG, &b"cd"[..]), (STDIN, b"\0\0")]).unwrap();
        assert_eq!(grown(&growth, &file, 2), expected);
    }
}
