//! How often a run took each branch. Only the branches near those that it took are stored:
//! a run takes a few hundred of the many thousand branches of a large program, and whatever
//! is done with its counts should cost as much as it took.

use crate::program::BranchId;
use pleach_abi::shm::{LINE_COUNTERS, Line};

/// The counts of one run, in lines of neighbouring branches, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    lines: Vec<Line>,
}

impl Counts {
    /// From an array with the count of every branch.
    pub fn from_all(counts: &[u8]) -> Counts {
        let mut lines = Vec::new();
        for (chunk, first) in counts.chunks(LINE_COUNTERS).zip((0..).step_by(LINE_COUNTERS)) {
            let mut line = Line { first, ..Line::default() };
            line.counts[..chunk.len()].copy_from_slice(chunk);
            lines.extend(chunk.iter().any(|&c| c != 0).then_some(line));
        }
        Counts { lines }
    }

    pub fn clear(&mut self) {
        self.lines.clear();
    }

    /// Appends a line. Its branches must come after all others: see [`Counts::sort`].
    pub fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// Puts the lines in order.
    pub fn sort(&mut self) {
        if !self.lines.is_sorted_by_key(|line| line.first) {
            self.lines.sort_unstable_by_key(|line| line.first);
        }
    }

    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// How often the run took a branch.
    pub fn get(&self, branch: BranchId) -> u8 {
        let after = self.lines.partition_point(|line| line.first <= branch);
        let line = after.checked_sub(1).map(|at| &self.lines[at]);
        let count = line.and_then(|l| l.counts.get((branch - l.first) as usize));
        count.copied().unwrap_or(0)
    }

    /// The branches that the run took, and how often.
    pub fn taken(&self) -> impl Iterator<Item = (BranchId, u8)> {
        let all = self.lines.iter().flat_map(|line| (line.first..).zip(line.counts));
        all.filter(|(_, count)| *count != 0)
    }

    /// Raises the counts to those of another run.
    pub fn raise_to(&mut self, other: &Counts) {
        let mut both: Vec<Line> = self.lines.iter().chain(&other.lines).copied().collect();
        both.sort_by_key(|line| line.first);
        self.lines.clear();
        for line in both {
            match self.lines.last_mut().filter(|last| last.first == line.first) {
                Some(last) => {
                    let pairs = last.counts.iter_mut().zip(line.counts);
                    pairs.for_each(|(count, more)| *count = (*count).max(more));
                }
                None => self.lines.push(line),
            }
        }
    }

    /// The sum of all counts.
    pub fn sum(&self) -> u32 {
        let line = |line: &Line| line.counts.iter().map(|&c| u32::from(c)).sum::<u32>();
        self.lines.iter().map(line).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Whatever is asked of the lines has the answer that the whole array gives.
    #[test]
    fn lines_equal_the_whole_array() {
        let mut rng = Rng::new(5);
        for size in (0..200).chain([1000, 4096]) {
            let density = 1 + rng.below(40);
            let mut count = || if rng.below(density) == 0 { rng.next_u64() as u8 } else { 0 };
            let all: Vec<u8> = (0..size).map(|_| count()).collect();
            let counts = Counts::from_all(&all);
            let taken = (0..).zip(all.iter().copied()).filter(|(_, count)| *count != 0);
            assert!(taken.eq(counts.taken()));
            assert_eq!(counts.sum(), all.iter().map(|&c| u32::from(c)).sum::<u32>());
            for branch in 0..size as BranchId + 40 {
                let expected = all.get(branch as usize).copied().unwrap_or(0);
                assert_eq!(counts.get(branch), expected, "{branch} of {size}");
            }
        }
    }

    #[test]
    fn lines_of_several_modules_are_put_in_order() {
        let line = |first, count| Line { first, counts: [count; LINE_COUNTERS] };
        let mut counts = Counts::default();
        [line(37, 3), line(0, 1), line(16, 2)].into_iter().for_each(|line| counts.push(line));
        counts.sort();
        // The first line of a module begins where the module before it ends, in mid-line.
        assert_eq!(
            [0, 15, 16, 31, 32, 36, 37, 52, 53].map(|b| counts.get(b)),
            [1, 1, 2, 2, 0, 0, 3, 3, 0]
        );
    }
}
