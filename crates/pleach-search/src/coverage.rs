//! Coverage: the branches that runs took, and their hit counts in AFL's buckets.

use crate::counts::Counts;
use crate::program::{BranchId, Program};
use pleach_abi::shm::Line;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

/// Branches and the buckets of their hit counts over all runs so far.
#[derive(Debug, Default)]
pub struct Coverage {
    buckets: Arc<Buckets>,
    /// The number of covered branches that count.
    covered: usize,
    /// For each function, true if some run took a branch of it.
    reached: Vec<bool>,
    /// Branches that a run took and a second run of the same input did not, and how often a
    /// run took them since then.
    doubted: HashMap<BranchId, u32>,
}

/// For each branch, one bit for each bucket that some run had. Bits are only ever added, so
/// they can be read while another thread adds some: most runs add nothing, and are done with
/// when this is known.
#[derive(Debug, Default)]
pub struct Buckets(Box<[AtomicU8]>);

impl Buckets {
    fn new(branches: usize) -> Buckets {
        Buckets((0..branches).map(|_| AtomicU8::new(0)).collect())
    }

    fn get(&self, branch: BranchId) -> Option<u8> {
        Some(self.0.get(branch as usize)?.load(Relaxed))
    }

    /// Adds bits. Returns those that were there before.
    fn add(&self, branch: BranchId, bits: u8) -> Option<u8> {
        Some(self.0.get(branch as usize)?.fetch_or(bits, Relaxed))
    }

    /// True if some run took the branch.
    pub fn has(&self, branch: BranchId) -> bool {
        self.get(branch).is_some_and(|bits| bits != 0)
    }

    /// True if a run adds nothing.
    pub fn has_all(&self, counts: &Counts) -> bool {
        counts.lines().iter().all(|line| self.has_line(line))
    }

    fn has_line(&self, line: &Line) -> bool {
        let seen = self.0.get(line.first as usize..).unwrap_or_default();
        let missing = |(seen, &count): (&AtomicU8, &u8)| bucket(count) & !seen.load(Relaxed);
        seen.iter().zip(&line.counts).map(missing).fold(0, |all, bits| all | bits) == 0
    }
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
            buckets: Arc::new(Buckets::new(program.branches())),
            covered: 0,
            reached: vec![false; program.functions().len()],
            doubted: HashMap::new(),
        }
    }

    /// What a run would add. Nothing is added yet. A branch that a second run did not
    /// confirm is reported again less and less often, at powers of two.
    pub fn news(&mut self, counts: &Counts) -> Gain {
        let mut gain = Gain::default();
        let buckets = self.buckets.clone();
        for line in counts.lines().iter().filter(|line| !buckets.has_line(line)) {
            for (branch, count) in (line.first..).zip(line.counts) {
                let Some(seen) = buckets.get(branch) else { continue };
                let bit = bucket(count);
                if seen & bit == bit || !self.should_report(branch) {
                    continue;
                }
                if seen == 0 {
                    gain.branches.push(branch);
                } else {
                    gain.buckets.push(branch);
                }
            }
        }
        gain
    }

    /// Adds what a run gained. Removes from the gain what another run added in the meantime.
    pub fn add(&mut self, program: &Program, counts: &Counts, gain: &mut Gain) {
        let Coverage { buckets, doubted, .. } = self;
        gain.branches.retain(|branch| {
            doubted.remove(branch);
            buckets.add(*branch, bucket(counts.get(*branch))) == Some(0)
        });
        gain.buckets.retain(|branch| {
            let bit = bucket(counts.get(*branch));
            doubted.remove(branch);
            buckets.add(*branch, bit).is_some_and(|seen| seen & bit != bit)
        });
        gain.branches.iter().for_each(|&branch| self.count(program, branch));
    }

    /// Adds branches that an earlier run is known to have taken.
    pub fn restore(&mut self, program: &Program, branches: &[BranchId]) {
        for &branch in branches {
            if self.buckets.get(branch) == Some(0) {
                self.doubted.remove(&branch);
                self.buckets.add(branch, bucket(1));
                self.count(program, branch);
            }
        }
    }

    /// Counts a branch that is covered from now on.
    fn count(&mut self, program: &Program, branch: BranchId) {
        self.covered += usize::from(program.counts(branch));
        if let Some(f) = program.function_of(branch) {
            self.reached[f as usize] = true;
        }
    }

    /// Takes another member's word for the hit count of a branch that some run here took.
    pub fn believe(&self, branch: BranchId, count: u8) {
        if self.buckets.has(branch) {
            self.buckets.add(branch, bucket(count));
        }
    }

    /// The branches that a run took and no earlier run did. Nothing is added.
    pub fn fresh(&mut self, counts: &Counts) -> Vec<BranchId> {
        let is_fresh = |b: &BranchId| self.buckets.get(*b) == Some(0);
        let fresh: Vec<_> = counts.taken().map(|(branch, _)| branch).filter(is_fresh).collect();
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
        let pairs = self.buckets.0.iter().zip(&other.buckets.0);
        let union = pairs.map(|(a, b)| AtomicU8::new(a.load(Relaxed) | b.load(Relaxed)));
        let buckets = Arc::new(Buckets(union.collect()));
        let new = (0..buckets.0.len() as BranchId)
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
        self.buckets.has(branch)
    }

    /// What threads may read without the lock that guards the rest.
    pub fn buckets(&self) -> Arc<Buckets> {
        self.buckets.clone()
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
    BUCKETS[count as usize]
}

const BUCKETS: [u8; 256] = {
    let (mut buckets, mut count) = ([0; 256], 0);
    while count < buckets.len() {
        buckets[count] = match count {
            0 => 0,
            1 => 1,
            2 => 2,
            3 => 4,
            4..=7 => 8,
            8..=15 => 16,
            16..=31 => 32,
            32..=127 => 64,
            _ => 128,
        };
        count += 1;
    }
    buckets
};

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
        let counts = Counts::from_all(counts);
        let mut gain = coverage.news(&counts);
        assert_eq!(coverage.buckets().has_all(&counts), gain.is_empty());
        coverage.add(&program(), &counts, &mut gain);
        assert!(coverage.buckets().has_all(&counts));
        gain
    }

    fn fresh(coverage: &mut Coverage, counts: &[u8]) -> Vec<BranchId> {
        coverage.fresh(&Counts::from_all(counts))
    }

    #[test]
    fn new_branches_and_new_buckets_are_reported_separately() {
        let mut coverage = Coverage::new(&program());
        assert_eq!(fresh(&mut coverage, &[1, 0, 200, 0, 0, 0]), [0, 2]);
        let gain = add(&mut coverage, &[1, 0, 200, 0, 0, 0]);
        assert_eq!(fresh(&mut coverage, &[1, 0, 0, 4, 0, 0]), [3]);
        assert_eq!((gain.branches, gain.buckets), (vec![0, 2], vec![]));
        let gain = add(&mut coverage, &[2, 0, 255, 0, 0, 0]);
        assert_eq!((gain.branches, gain.buckets), (vec![], vec![0]));
        assert_eq!(add(&mut coverage, &[2, 0, 1, 0, 0, 0]).buckets, [2]);
        assert!(add(&mut coverage, &[1, 0, 128, 0, 0, 0]).is_empty());
    }

    #[test]
    fn only_confirmed_branches_are_added() {
        let (program, mut coverage) = (program(), Coverage::new(&program()));
        let all = [1, 0, 0, 0, 1, 0];
        let counts = Counts::from_all(&all);
        let mut gain = coverage.news(&counts);
        gain.branches.retain(|&b| b != 4);
        coverage.doubt(4);
        coverage.add(&program, &counts, &mut gain);
        assert_eq!((coverage.covered(), coverage.doubted(), coverage.has(4)), (1, 1, false));
        // An unconfirmed branch is reported less and less often, until it is confirmed.
        let reported: Vec<bool> = (0..8).map(|_| !coverage.news(&counts).is_empty()).collect();
        assert_eq!(reported, [true, true, false, true, false, false, false, true]);
        (0..7).for_each(|_| assert!(coverage.fresh(&counts).is_empty()));
        assert_eq!(add(&mut coverage, &all).branches, [4]);
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
