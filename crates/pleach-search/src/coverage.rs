//! Coverage: the branches that runs took, and their hit counts in AFL's buckets.

use crate::program::{BranchId, Program};
use std::collections::HashMap;

/// Branches and the buckets of their hit counts over all runs so far.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// For each branch, one bit for each bucket that some run had.
    buckets: Vec<u8>,
    /// The number of covered branches that count.
    covered: usize,
    /// For each function, true if some run took a branch of it.
    reached: Vec<bool>,
    /// Branches that a run took and a second run of the same input did not, and how often a
    /// run took them since then.
    doubted: HashMap<BranchId, u32>,
}

/// What a run added to the coverage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// Branches that no earlier run took, also those that do not count in totals.
    pub branches: Vec<BranchId>,
    /// Other branches whose hit count is in a bucket that no earlier run had.
    pub buckets: Vec<BranchId>,
}

impl Gain {
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty() && self.buckets.is_empty()
    }
}

impl Coverage {
    pub fn new(program: &Program) -> Coverage {
        Coverage {
            buckets: vec![0; program.branches()],
            covered: 0,
            reached: vec![false; program.functions().len()],
            doubted: HashMap::new(),
        }
    }

    /// What a run would add: `counts[b]` is how often it took branch `b`. Nothing is added
    /// yet. A branch that a second run did not confirm is reported again less and less
    /// often, at powers of two.
    pub fn news(&mut self, counts: &[u8]) -> Gain {
        let mut gain = Gain::default();
        // Most counts are zero, so check eight at a time.
        for (word, chunk) in counts.chunks(8).enumerate() {
            if chunk.iter().all(|&c| c == 0) {
                continue;
            }
            for (i, &count) in chunk.iter().enumerate() {
                let branch = word * 8 + i;
                let Some(&seen) = self.buckets.get(branch) else { return gain };
                let bit = bucket(count);
                if seen & bit == bit || !self.should_report(branch as BranchId) {
                    continue;
                }
                if seen == 0 {
                    gain.branches.push(branch as BranchId);
                } else {
                    gain.buckets.push(branch as BranchId);
                }
            }
        }
        gain
    }

    /// Adds what a run gained. Removes from the gain what another run added in the meantime.
    pub fn add(&mut self, program: &Program, counts: &[u8], gain: &mut Gain) {
        let Coverage { buckets, covered, reached, doubted } = self;
        gain.branches.retain(|branch| {
            let Some(seen) = buckets.get_mut(*branch as usize) else { return false };
            let new = *seen == 0;
            *seen |= bucket(counts[*branch as usize]);
            doubted.remove(branch);
            new
        });
        gain.buckets.retain(|branch| {
            let Some(seen) = buckets.get_mut(*branch as usize) else { return false };
            let bit = bucket(counts[*branch as usize]);
            let new = *seen & bit != bit;
            *seen |= bit;
            doubted.remove(branch);
            new
        });
        for &branch in &gain.branches {
            *covered += usize::from(program.counts(branch));
            if let Some(f) = program.function_of(branch) {
                reached[f as usize] = true;
            }
        }
    }

    /// The branches that a run took and no earlier run did. Nothing is added.
    pub fn fresh(&mut self, counts: &[u8]) -> Vec<BranchId> {
        let pairs = self.buckets.iter().zip(counts).enumerate();
        let taken = pairs.filter(|(_, (seen, count))| **seen == 0 && **count != 0);
        let fresh: Vec<_> = taken.map(|(b, _)| b as BranchId).collect();
        fresh.into_iter().filter(|&branch| self.should_report(branch)).collect()
    }

    /// Records that a second run of the same input did not take a branch again.
    pub fn doubt(&mut self, branch: BranchId) {
        self.doubted.entry(branch).or_insert(0);
    }

    /// The number of branches that a second run did not confirm.
    pub fn doubted(&self) -> usize {
        self.doubted.len()
    }

    fn should_report(&mut self, branch: BranchId) -> bool {
        match self.doubted.get_mut(&branch) {
            Some(times) => {
                *times = times.saturating_add(1);
                times.is_power_of_two()
            }
            None => true,
        }
    }

    /// The union of both.
    #[must_use]
    pub fn with(&self, other: &Coverage, program: &Program) -> Coverage {
        let pairs = self.buckets.iter().zip(&other.buckets);
        let buckets: Vec<u8> = pairs.map(|(a, b)| a | b).collect();
        let new = (0..buckets.len() as BranchId)
            .filter(|&b| !self.has(b) && other.has(b) && program.counts(b));
        Coverage {
            covered: self.covered + new.count(),
            reached: self.reached.iter().zip(&other.reached).map(|(a, b)| a | b).collect(),
            doubted: HashMap::new(),
            buckets,
        }
    }

    /// True if some run took the branch.
    pub fn has(&self, branch: BranchId) -> bool {
        self.buckets.get(branch as usize).is_some_and(|&b| b != 0)
    }

    /// The number of covered branches that count.
    pub fn covered(&self) -> usize {
        self.covered
    }

    /// True if some run took a branch of the function.
    pub fn reached(&self, function: u32) -> bool {
        self.reached.get(function as usize).is_some_and(|&r| r)
    }

    /// The number of branches that count in functions that some run reached.
    pub fn reachable(&self, program: &Program) -> usize {
        let reached = program.functions().iter().zip(&self.reached).filter(|(_, r)| **r);
        reached.flat_map(|(f, _)| &f.sites).filter(|s| s.counts).map(|s| s.sides as usize).sum()
    }

    /// The number of functions that some run reached and that have a branch that counts.
    pub fn functions_reached(&self, program: &Program) -> usize {
        let functions = program.functions().iter().zip(&self.reached);
        functions.filter(|(function, reached)| **reached && function.counts()).count()
    }
}

/// AFL's buckets: 1, 2, 3, 4–7, 8–15, 16–31, 32–127, 128 and more; 0 for none.
pub const fn bucket(count: u8) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        _ => 128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{FunctionShape, SiteShape};

    fn program() -> Program {
        let site = |first, counts| SiteShape { first, sides: 2, block: 0, targets: vec![], counts };
        let f = |sites| FunctionShape { sites, ..FunctionShape::default() };
        Program::new(vec![f(vec![site(0, true), site(2, false)]), f(vec![site(4, true)])], [])
    }

    /// Adds all that a run has.
    fn add(coverage: &mut Coverage, counts: &[u8]) -> Gain {
        let mut gain = coverage.news(counts);
        coverage.add(&program(), counts, &mut gain);
        gain
    }

    #[test]
    fn new_branches_and_new_buckets_are_reported_separately() {
        let mut coverage = Coverage::new(&program());
        assert_eq!(coverage.fresh(&[1, 0, 200, 0, 0, 0]), [0, 2]);
        let gain = add(&mut coverage, &[1, 0, 200, 0, 0, 0]);
        assert_eq!(coverage.fresh(&[1, 0, 0, 4, 0, 0]), [3]);
        assert_eq!((gain.branches, gain.buckets), (vec![0, 2], vec![]));
        let gain = add(&mut coverage, &[2, 0, 255, 0, 0, 0]);
        assert_eq!((gain.branches, gain.buckets), (vec![], vec![0]));
        assert_eq!(add(&mut coverage, &[2, 0, 1, 0, 0, 0]).buckets, [2]);
        assert!(add(&mut coverage, &[1, 0, 128, 0, 0, 0]).is_empty());
    }

    #[test]
    fn only_confirmed_branches_are_added() {
        let (program, mut coverage) = (program(), Coverage::new(&program()));
        let counts = [1, 0, 0, 0, 1, 0];
        let mut gain = coverage.news(&counts);
        gain.branches.retain(|&b| b != 4);
        coverage.doubt(4);
        coverage.add(&program, &counts, &mut gain);
        assert_eq!((coverage.covered(), coverage.doubted(), coverage.has(4)), (1, 1, false));
        // An unconfirmed branch is reported less and less often, until it is confirmed.
        let reported: Vec<bool> = (0..8).map(|_| !coverage.news(&counts).is_empty()).collect();
        assert_eq!(reported, [true, true, false, true, false, false, false, true]);
        (0..7).for_each(|_| assert!(coverage.fresh(&counts).is_empty()));
        assert_eq!(add(&mut coverage, &counts).branches, [4]);
        assert_eq!((coverage.covered(), coverage.doubted()), (2, 0));
        // What another worker added in the meantime is not a gain.
        let mut late = Gain { branches: vec![4], buckets: vec![] };
        coverage.add(&program, &counts, &mut late);
        assert!(late.is_empty());
    }

    #[test]
    fn selects_are_recorded_but_do_not_count() {
        let (program, mut coverage) = (program(), Coverage::new(&program()));
        add(&mut coverage, &[1, 0, 1, 1, 0, 0]);
        assert_eq!((coverage.covered(), coverage.reachable(&program)), (1, 2));
        assert_eq!(coverage.functions_reached(&program), 1);
        assert!(coverage.has(3) && !coverage.has(4));
    }
}
