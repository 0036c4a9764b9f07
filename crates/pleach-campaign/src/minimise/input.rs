//! Shrinks one input as long as a check holds: delta debugging, after Zeller and Hildebrandt
//! ("Simplifying and Isolating Failure-Inducing Input", 2002). Three steps are repeated until
//! none of them helps:
//!
//! 1. Remove blocks, from the whole input down to single bytes.
//! 2. Remove pairs of brackets: from `((1))` no single byte can be removed.
//! 3. Replace bytes by `0`: first all bytes of one value, then single ones. So people see
//!    which bytes matter.
//!
//! No input is tried twice. To make and hash a candidate takes time by its length, so the
//! bytes of all candidates are bounded, too: a long input is not shrunk byte by byte. The
//! streams of a container are shrunk one after the other.

use super::moves::{RemoveFrom, Shows, remove_blocks};
use pleach_exec::container::{self, Stream, is_container};
use pleach_work::Task;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The result of shrinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    pub input: Vec<u8>,
    /// How often the check was called.
    pub runs: u64,
    /// False if the budget was used up before nothing was left to try.
    pub finished: bool,
}

/// Bytes of candidates for each byte of the input, and for each run. Removing blocks of all
/// sizes down to one part in a thousand takes about this many.
const BYTES_PER_BYTE: u64 = 4096;
const BYTES_PER_RUN: u64 = 1 << 16;

/// Shrinks an input that passes the check. Calls the check at most `max_runs` times. The
/// same input and check give the same result. Ends early if the thread must stop.
pub fn shrink<E>(
    input: &[u8],
    max_runs: u64,
    check: &mut dyn FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Shrunk, E> {
    shrink_by(Steps::All, input, max_runs, check)
}

/// As [`shrink`], but only removes bytes: those that are left have their values.
pub fn shorten<E>(
    input: &[u8],
    max_runs: u64,
    check: &mut dyn FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Shrunk, E> {
    shrink_by(Steps::Removal, input, max_runs, check)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Steps {
    All,
    /// Steps 1 and 2.
    Removal,
}

fn shrink_by<E>(
    steps: Steps,
    input: &[u8],
    max_runs: u64,
    check: &mut dyn FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Shrunk, E> {
    let _shrinking = pleach_work::enter(Task::Shrink);
    let max_bytes = BYTES_PER_BYTE * input.len() as u64 + BYTES_PER_RUN.saturating_mul(max_runs);
    let tried = HashSet::new();
    let mut budget =
        Budget { steps, runs: 0, max_runs, bytes: 0, max_bytes, tried, is_used_up: false };
    let mut best = input.to_vec();
    let count = match is_container(input) {
        true => container::parse(input).map_or(0, |s| s.len()),
        false => 0,
    };
    loop {
        let before = best.clone();
        if count == 0 {
            budget.shrink_stream(&mut best, check)?;
        }
        for i in 0..count {
            let whole = best.clone();
            let streams = container::parse(&whole).unwrap_or_default();
            let Some(mut stream) = streams.get(i).map(|s| s.bytes.to_vec()) else { break };
            let mut inside = |bytes: &[u8]| match rebuild(&streams, i, bytes) {
                Some(file) => check(&file),
                None => Ok(false),
            };
            budget.tried.clear();
            budget.shrink_stream(&mut stream, &mut inside)?;
            best = rebuild(&streams, i, &stream).unwrap_or(whole);
        }
        if best == before || budget.is_used_up {
            break;
        }
    }
    Ok(Shrunk { input: best, runs: budget.runs, finished: !budget.is_used_up })
}

/// Drops events of an input that passes the check, in blocks from all of them down to single
/// ones, the last first. `ends` has the end of each event; bytes after the last count as one
/// more event.
pub fn drop_events<E>(
    input: &[u8],
    ends: &[u64],
    max_runs: u64,
    check: &mut dyn FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Shrunk, E> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let events = starts.zip(ends).map(|(from, &to)| input.get(from as usize..to as usize));
    let mut events: Vec<&[u8]> = events.map(Option::unwrap_or_default).collect();
    let tail = ends.last().and_then(|&end| input.get(end as usize..)).unwrap_or(input);
    events.extend((!tail.is_empty()).then_some(tail));
    let (mut runs, size) = (0, events.len().next_power_of_two());
    let finished = remove_blocks(&mut events, size, RemoveFrom::End, |fewer| {
        if runs >= max_runs {
            return Ok(Shows::OutOfBudget);
        }
        runs += 1;
        check(&fewer.concat()).map(Shows::same_if)
    })?;
    Ok(Shrunk { input: events.concat(), runs, finished })
}

/// Builds a container with other bytes in one of its streams.
fn rebuild(streams: &[Stream], place: usize, bytes: &[u8]) -> Option<Vec<u8>> {
    let parts = streams.iter().enumerate();
    container::build(parts.map(|(i, s)| (s.kind, if i == place { bytes } else { s.bytes }))).ok()
}

struct Budget {
    steps: Steps,
    runs: u64,
    max_runs: u64,
    /// Bytes of candidates and of texts that were searched.
    bytes: u64,
    max_bytes: u64,
    /// Hashes of the inputs that were tried.
    tried: HashSet<u64>,
    is_used_up: bool,
}

type Check<'a, E> = &'a mut dyn FnMut(&[u8]) -> Result<bool, E>;

impl Budget {
    fn shrink_stream<E>(&mut self, best: &mut Vec<u8>, check: Check<E>) -> Result<(), E> {
        loop {
            let before = best.clone();
            self.remove_blocks(best, check)?;
            self.remove_pairs(best, check)?;
            if before == *best || self.is_used_up {
                break;
            }
        }
        match self.steps {
            Steps::All => self.make_plain(best, check),
            Steps::Removal => Ok(()),
        }
    }

    /// Asks about a smaller input, unless it was tried before.
    fn ask<E>(&mut self, new: &[u8], check: Check<E>) -> Result<Shows, E> {
        if self.runs >= self.max_runs || self.spend(new.len()) {
            self.is_used_up = true;
            return Ok(Shows::OutOfBudget);
        }
        let mut hasher = DefaultHasher::new();
        new.hash(&mut hasher);
        if !self.tried.insert(hasher.finish()) {
            return Ok(Shows::Other);
        }
        self.runs += 1;
        check(new).map(Shows::same_if)
    }

    /// Counts bytes. True if the budget is used up.
    fn spend(&mut self, bytes: usize) -> bool {
        self.bytes += 1 + bytes as u64;
        pleach_work::spend(1 + bytes as u64) || self.bytes > self.max_bytes
    }

    /// Asks about an input, and replaces the best by it if it shows the same.
    fn attempt<E>(&mut self, best: &mut Vec<u8>, new: Vec<u8>, check: Check<E>) -> Result<bool, E> {
        let shows = self.ask(&new, check)?;
        if shows == Shows::Same {
            *best = new;
        }
        Ok(shows == Shows::Same)
    }

    fn remove_blocks<E>(&mut self, best: &mut Vec<u8>, check: Check<E>) -> Result<(), E> {
        let size = best.len().next_power_of_two();
        remove_blocks(best, size, RemoveFrom::Start, |new| self.ask(new, check)).map(drop)
    }

    /// Removes pairs of brackets or quotes, and keeps what is between them.
    fn remove_pairs<E>(&mut self, best: &mut Vec<u8>, check: Check<E>) -> Result<(), E> {
        let mut at = 0;
        while at < best.len() && !self.is_used_up {
            let close = find_closing(best, at);
            // It was searched to its end.
            let searched = close.map_or_else(|| best.len() - at, |close| close - at);
            if is_opening(best[at]) && self.spend(searched) {
                self.is_used_up = true;
                return Ok(());
            }
            let Some(close) = close else {
                at += 1;
                continue;
            };
            let new = [&best[..at], &best[at + 1..close], &best[close + 1..]].concat();
            if !self.attempt(best, new, check)? {
                at += 1;
            }
        }
        Ok(())
    }

    /// Replaces bytes by `0`.
    fn make_plain<E>(&mut self, best: &mut Vec<u8>, check: Check<E>) -> Result<(), E> {
        const PLAIN: u8 = b'0';
        let mut values: Vec<u8> = best.clone();
        values.sort_unstable();
        values.dedup();
        for value in values.into_iter().filter(|&v| v != PLAIN) {
            if self.is_used_up {
                return Ok(());
            }
            let new = best.iter().map(|&b| if b == value { PLAIN } else { b }).collect();
            self.attempt(best, new, check)?;
        }
        for at in 0..best.len() {
            if best[at] != PLAIN && !self.is_used_up {
                let mut new = best.clone();
                new[at] = PLAIN;
                self.attempt(best, new, check)?;
            }
        }
        Ok(())
    }
}

fn is_opening(byte: u8) -> bool {
    matches!(byte, b'(' | b'[' | b'{' | b'<' | b'"' | b'\'')
}

/// The place where the bracket or quote at a place is closed.
fn find_closing(text: &[u8], at: usize) -> Option<usize> {
    let open = text[at];
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        b'"' | b'\'' => return Some(at + 1 + text[at + 1..].iter().position(|&b| b == open)?),
        _ => return None,
    };
    let mut depth = 0usize;
    for (i, &b) in text.iter().enumerate().skip(at) {
        depth += usize::from(b == open);
        depth -= usize::from(b == close);
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_abi::container::{ARG, STDIN};
    use pleach_search::Rng;
    use std::convert::Infallible;

    fn shrunk(input: &[u8], check: impl Fn(&[u8]) -> bool) -> Shrunk {
        let mut check = |b: &[u8]| Ok::<_, Infallible>(check(b));
        let Ok(shrunk) = shrink(input, 100_000, &mut check);
        shrunk
    }

    fn has_subsequence(text: &[u8], wanted: &[u8]) -> bool {
        let mut rest = text.iter();
        wanted.iter().all(|w| rest.any(|b| b == w))
    }

    #[test]
    fn values_are_kept_if_bytes_are_only_removed() {
        let mut check = |b: &[u8]| Ok::<_, Infallible>(b.contains(&b'+') && b.len() >= 3);
        let Ok(shorter) = shorten(b"(17 + 25)", 1000, &mut check);
        assert_eq!(shorter.input.len(), 3);
        assert!(has_subsequence(b"(17 + 25)", &shorter.input), "{shorter:?}");
        assert_eq!(shrunk(b"(17 + 25)", |b| b.contains(&b'+') && b.len() >= 3).input, b"+00");
    }

    /// The shortest text with a subsequence is the subsequence.
    #[test]
    fn the_smallest_input_is_found_if_removing_bytes_leads_to_it() {
        let mut rng = Rng::new(2);
        for _ in 0..200 {
            let bytes: Vec<u8> = (0..rng.below(80)).map(|_| b'a' + rng.below(6) as u8).collect();
            let wanted: Vec<u8> = bytes.iter().copied().filter(|_| rng.below(9) == 0).collect();
            let result = shrunk(&bytes, |b| has_subsequence(b, &wanted));
            assert_eq!(result.input, wanted);
            assert!(result.finished);
        }
    }

    /// For any check: it holds for the result, and no single byte can be removed.
    #[test]
    fn no_single_byte_can_be_removed() {
        let mut rng = Rng::new(9);
        for round in 0..200u64 {
            let bytes: Vec<u8> = (0..1 + rng.below(40)).map(|_| rng.below(256) as u8).collect();
            let sum = |b: &[u8]| b.iter().map(|&b| u64::from(b)).sum::<u64>() + b.len() as u64;
            let target = sum(&bytes) % 7;
            let check =
                |b: &[u8]| b == bytes || (sum(b) % 7 == target && b.len() as u64 > round % 4);
            let result = shrunk(&bytes, check).input;
            assert!(check(&result));
            for at in 0..result.len() {
                let less = [&result[..at], &result[at + 1..]].concat();
                assert!(!check(&less), "byte {at} of {result:?} can be removed");
            }
        }
    }

    #[test]
    fn brackets_are_removed_in_pairs_and_the_rest_becomes_plain() {
        let balanced = |text: &[u8]| {
            let mut depth = 0i32;
            let fine = text.iter().all(|b| {
                depth += i32::from(*b == b'(') - i32::from(*b == b')');
                depth >= 0
            });
            fine && depth == 0
        };
        let result = shrunk(b"((((see) (x!) more))y)", |b| balanced(b) && b.contains(&b'!'));
        assert_eq!(result.input, b"!");
        let result = shrunk(b"name=value;", |b| b.len() == 11 && b[4] == b'=');
        assert_eq!(result.input, b"0000=000000");
    }

    #[test]
    fn runs_are_limited_and_the_result_still_passes() {
        for max_runs in [0, 1, 5, 50] {
            let (text, mut asked) = (b"some longer text with an x in it", 0);
            let mut check = |b: &[u8]| {
                asked += 1;
                Ok::<_, Infallible>(b.contains(&b'x'))
            };
            let Ok(result) = shrink(text, max_runs, &mut check);
            assert_eq!(result.runs, asked);
            assert!(asked <= max_runs && result.input.contains(&b'x'));
            assert_eq!(result.finished, max_runs == 50);
        }
        let mut fails = |_: &[u8]| Err("broken");
        assert_eq!(shrink(b"ab", 9, &mut fails), Err("broken"));
    }

    /// No part of an event is removed.
    #[test]
    fn whole_events_are_dropped() {
        let mut rng = Rng::new(4);
        for _ in 0..100 {
            let events: Vec<Vec<u8>> = (0..rng.below(30))
                .map(|i| (0..1 + rng.below(4)).map(|_| i as u8).collect())
                .collect();
            let wanted: Vec<u8> = (0..events.len() as u8).filter(|_| rng.below(6) == 0).collect();
            let whole = |b: &[u8]| {
                let all = wanted.iter().flat_map(|&i| events[i as usize].clone());
                has_subsequence(b, &all.collect::<Vec<_>>())
            };
            let ends: Vec<u64> = events
                .iter()
                .scan(0, |end, e| {
                    *end += e.len() as u64;
                    Some(*end)
                })
                .collect();
            let mut input = events.concat();
            input.extend(b"\xff\xff");
            let mut check = |b: &[u8]| Ok::<_, Infallible>(whole(b));
            let Ok(shrunk) = drop_events(&input, &ends, 10_000, &mut check);
            let smallest: Vec<u8> =
                wanted.iter().flat_map(|&i| events[i as usize].clone()).collect();
            assert_eq!(shrunk.input, smallest);
            let Ok(cut) = drop_events(&input, &ends, 3, &mut check);
            assert!(cut.runs <= 3 && whole(&cut.input));
        }
    }

    #[test]
    fn the_streams_of_a_container_are_shrunk() {
        let file = container::build([(STDIN, &b"hello world"[..]), (ARG, b"--verbose")]).unwrap();
        let check = |b: &[u8]| {
            let streams = container::parse(b).expect("well-formed");
            streams.len() == 2
                && streams[0].bytes.contains(&b'w')
                && streams[1].bytes.contains(&b'v')
        };
        let smallest = container::build([(STDIN, &b"w"[..]), (ARG, b"v")]).unwrap();
        assert_eq!(shrunk(&file, check).input, smallest);
    }
}
