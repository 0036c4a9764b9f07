//! Branch counters after a run: only those that moved. To take the counters of a run
//! costs one pass over their cache lines, and work only for the lines that the run touched.
//! What was taken is cleared, so that the next run begins at zero.

use super::{LoadedModule, Shm};
use pleach_abi::section::Counter;
use pleach_abi::shm::{LINE_BYTES, LINE_COUNTERS, Line};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

const WORD: usize = size_of::<AtomicU64>();
const LINE_WORDS: usize = LINE_BYTES / WORD;
const WORD_COUNTERS: usize = WORD / size_of::<Counter>();

/// The counters of the modules that a target reported: a part of the cover region for each,
/// in order. They do not overlap, whatever the target reported, so that to go over them all
/// is bounded work.
#[derive(Clone, Debug, Default)]
pub struct CounterRanges {
    /// Lines of the cover region: the first, and the one after the last.
    lines: Vec<(usize, usize)>,
}

impl CounterRanges {
    /// A module whose counters cannot be where the target says is left with none.
    pub fn new(modules: &mut [LoadedModule], region: u64) -> CounterRanges {
        let mut in_order: Vec<&mut LoadedModule> = modules.iter_mut().collect();
        in_order.sort_by_key(|m| (m.cover_at, m.counters));
        let mut lines: Vec<(usize, usize)> = Vec::new();
        for m in in_order {
            let end = m.cover_at.checked_add(m.counters).filter(|end| *end <= region);
            let range = end.map(|end| (m.cover_at as usize, end as usize)).map(|(at, end)| {
                (at / LINE_BYTES, end.div_ceil(LINE_BYTES), at.is_multiple_of(LINE_BYTES))
            });
            let end_before = lines.last().map_or(0, |(_, end)| *end);
            match range {
                Some((first, end, true)) if first >= end_before => lines.push((first, end)),
                _ => m.counters = 0,
            }
        }
        CounterRanges { lines }
    }

    /// Checks lines that a target reports: they must be in order, each once, and be lines of
    /// counters.
    pub fn filter(&self) -> LineFilter<'_> {
        LineFilter { ranges: &self.lines, next: 0 }
    }
}

pub struct LineFilter<'a> {
    ranges: &'a [(usize, usize)],
    /// No line before this one is accepted.
    next: usize,
}

impl LineFilter<'_> {
    /// `first` is the number of the first counter of the line.
    pub fn accept(&mut self, first: u32) -> bool {
        let line = first as usize / LINE_COUNTERS;
        while let [(_, end), rest @ ..] = self.ranges
            && *end <= line
        {
            self.ranges = rest;
        }
        let is_line = self.ranges.first().is_some_and(|(from, _)| *from <= line)
            && line >= self.next
            && first.is_multiple_of(LINE_COUNTERS as u32);
        self.next = if is_line { line + 1 } else { self.next };
        is_line
    }
}

impl Shm {
    /// Appends the lines of counters that have moved since they were last taken, in order,
    /// and clears them. [`Line::first`] is the number of a counter in the cover region.
    pub fn take_counters(&self, ranges: &CounterRanges, lines: &mut Vec<Line>) {
        let (words, _) = self.cover.words().as_chunks::<LINE_WORDS>();
        for &(first, end) in &ranges.lines {
            for (line, words) in (first..).zip(words.get(first..end).unwrap_or_default()) {
                if words.iter().fold(0, |all, word| all | word.load(Relaxed)) != 0 {
                    lines.push(take_line((line * LINE_COUNTERS) as u32, words));
                }
            }
        }
    }
}

/// Reads and clears one line.
fn take_line(first: u32, words: &[AtomicU64; LINE_WORDS]) -> Line {
    let mut line = Line { first, counts: [0; LINE_COUNTERS] };
    for (counts, word) in line.counts.chunks_exact_mut(WORD_COUNTERS).zip(words) {
        let both = word.load(Relaxed);
        word.store(0, Relaxed);
        let [low, high] = [both, both >> Counter::BITS].map(|count| count as Counter);
        counts.copy_from_slice(&[low, high].map(|count| count.min(255) as u8));
    }
    line
}

/// Raises the counts of `lines` to those of `floor`. Both are in order.
pub fn raise_to(lines: &mut Vec<Line>, floor: &[Line]) {
    if floor.is_empty() {
        return;
    }
    let taken = std::mem::take(lines);
    let (mut a, mut b) = (taken.iter().peekable(), floor.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let first = x.first.min(y.first);
        let counts =
            |line: &Line| if line.first == first { line.counts } else { Default::default() };
        let (ours, theirs) = (counts(x), counts(y));
        lines.push(Line { first, counts: std::array::from_fn(|i| ours[i].max(theirs[i])) });
        a.next_if(|line| line.first == first);
        b.next_if(|line| line.first == first);
    }
    lines.extend(a.chain(b));
}

#[cfg(test)]
mod tests {
    use super::super::Sizes;
    use super::*;
    use pleach_hash::hash_words;
    use std::os::unix::fs::FileExt;

    const REGION: u64 = 1 << 16;

    fn memory() -> Shm {
        let none = Sizes { nodes: 0, events: 0, snapshots: 0, tokens: 0, ..Sizes::default() };
        Shm::new(Sizes { cover: REGION, live: 0, batch: 0, ..none }).expect("a memory file")
    }

    fn module(cover_at: u64, counters: u64) -> LoadedModule {
        let (path, bias) = ("x".into(), 0);
        LoadedModule { place: 0, path, site_base: 0, sites: 0, cover_at, counters, bias }
    }

    /// The counts of a range of counters, by lines.
    fn expand(lines: &[Line], counters: usize) -> Vec<u8> {
        let mut all = vec![0; counters];
        for line in lines {
            all[line.first as usize..][..LINE_COUNTERS].copy_from_slice(&line.counts);
        }
        all
    }

    /// Random numbers below `bounds`.
    fn random(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut calls = 0;
        move |bound| {
            calls += 1;
            hash_words([seed, calls]) % bound
        }
    }

    /// What is taken is what the whole region holds, and then it holds nothing.
    #[test]
    fn lines_equal_the_whole_region() {
        for seed in 0..200 {
            let (shm, mut below) = (memory(), random(seed));
            let (mut at, mut modules) = (0, Vec::new());
            for _ in 0..1 + below(4) {
                let size = below(REGION / 8) & !3;
                modules.push(module(at, size));
                at += size.next_multiple_of(4096);
            }
            let ends = |m: &LoadedModule| (m.cover_at + m.counters).next_multiple_of(64);
            let is_counter = |n: u64, modules: &[LoadedModule]| {
                // A line belongs to the module that it begins in.
                modules.iter().any(|m| (m.cover_at..ends(m)).contains(&(n * 4)))
            };
            let mut all = vec![0; REGION as usize / 4];
            for _ in 0..below(200) {
                let (number, count) = (below(REGION / 4), below(1 << 32) >> below(32));
                let bytes = (count as Counter).to_ne_bytes();
                shm.file.write_all_at(&bytes, shm.cover_off + number * 4).unwrap();
                if is_counter(number, &modules) {
                    all[number as usize] = count.min(255) as u8;
                }
            }
            let (ranges, mut lines) = (CounterRanges::new(&mut modules, REGION), Vec::new());
            shm.take_counters(&ranges, &mut lines);
            assert!(lines.iter().all(|line| line.counts != [0; LINE_COUNTERS]));
            assert_eq!(expand(&lines, all.len()), all);
            lines.clear();
            shm.take_counters(&ranges, &mut lines);
            assert_eq!(lines, []);
        }
    }

    #[test]
    fn a_floor_raises_every_count() {
        for seed in 0..200 {
            let mut below = random(seed);
            let mut counts = || -> Vec<u8> {
                let density = 1 + below(60);
                let mut count = || if below(density) == 0 { below(256) as u8 } else { 0 };
                (0..20 * LINE_COUNTERS).map(|_| count()).collect()
            };
            let (counts, floor) = (counts(), counts());
            let lines = |all: &[u8]| -> Vec<Line> {
                let chunks = all.as_chunks().0.iter().zip((0..).step_by(LINE_COUNTERS));
                let all = chunks.map(|(&counts, first)| Line { first, counts });
                all.filter(|line| line.counts != [0; LINE_COUNTERS]).collect()
            };
            let mut raised = lines(&counts);
            raise_to(&mut raised, &lines(&floor));
            let expected: Vec<u8> = counts.iter().zip(&floor).map(|(a, b)| *a.max(b)).collect();
            assert!(raised.is_sorted_by_key(|line| line.first));
            assert_eq!(expand(&raised, expected.len()), expected);
        }
    }

    #[test]
    fn modules_that_cannot_be_are_left_out() {
        let shm = memory();
        shm.file.write_all_at(&[1; REGION as usize], shm.cover_off).unwrap();
        let mut modules = [
            module(u64::MAX, 64),
            module(64, u64::MAX),
            module(REGION - 64, 65),
            module(4096, 128),
            module(4096, 4096),
            module(4160, 64),
            module(3, 64),
            module(0, 64),
        ];
        let (ranges, mut lines) = (CounterRanges::new(&mut modules, REGION), Vec::new());
        shm.take_counters(&ranges, &mut lines);
        let first: Vec<u32> = lines.iter().map(|line| line.first).collect();
        assert_eq!(first, [0, 1024, 1040]);
        assert_eq!(modules.map(|m| m.counters), [0, 0, 0, 128, 0, 0, 0, 64]);
        let mut filter = ranges.filter();
        let reported = [0, 0, 16, 1024, 1025, 1040, 1024, 1056, u32::MAX, 0];
        let accepted: Vec<u32> = reported.into_iter().filter(|&line| filter.accept(line)).collect();
        assert_eq!(accepted, [0, 1024, 1040]);
    }
}
