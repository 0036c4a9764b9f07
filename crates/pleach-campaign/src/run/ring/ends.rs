//! Which crashes and hangs are examined. To examine a crash takes a hundred times as long
//! as to run into it, and a search that has found one runs into it again and again, each
//! time in a slightly different way.
//!
//! As in AFL, a crash is examined if it took a branch that no other of its kind took. Two
//! different crashes may have all their branches in common. So of the others the first,
//! second, fourth, eighth and so on are examined as well.

use pleach_exec::executor::End;
use pleach_hash::hash_words;
use pleach_search::{BranchId, Counts};
use std::collections::{HashMap, HashSet};

#[derive(Default)]
pub struct Ends {
    /// Ends with the very same branches.
    exact: HashSet<u64>,
    kinds: HashMap<i32, Kind>,
}

#[derive(Default)]
struct Kind {
    /// Branches that ends of this kind took.
    seen: HashSet<BranchId>,
    /// How many took no other branches.
    repeated: u64,
}

impl Ends {
    /// True if a run that ended like this and took these branches should be examined.
    pub fn is_new(&mut self, end: &End, counts: &Counts) -> bool {
        let kind = match end {
            End::Signal(signal) => *signal,
            End::Timeout => -1,
            End::Memory => -2,
            _ => -3,
        };
        if !self.exact.insert(signature(end, counts)) {
            return false;
        }
        let kind = self.kinds.entry(kind).or_default();
        let mut new = false;
        for (branch, _) in counts.taken() {
            new |= kind.seen.insert(branch);
        }
        kind.repeated += u64::from(!new);
        new || kind.repeated.is_power_of_two()
    }
}

/// A hash of how a run ended and which branches it took.
pub fn signature(end: &End, counts: &Counts) -> u64 {
    let kind: u64 = match end {
        End::Signal(n) => *n as u64,
        End::Timeout => 1000,
        End::Memory => 1001,
        _ => 1002,
    };
    let taken = counts.taken().map(|(branch, _)| u64::from(branch));
    hash_words([kind].into_iter().chain(taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_branch_is_worth_a_look_and_of_the_rest_ever_fewer() {
        let mut ends = Ends::default();
        let mut is_new = |end: &End, counts: &[u8]| ends.is_new(end, &Counts::from_all(counts));
        let crash = End::Signal(11);
        assert!(is_new(&crash, &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]));
        assert!(!is_new(&crash, &[2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]));
        assert!(is_new(&crash, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
        let looks = (1u16..1024).filter(|n| {
            let counts: Vec<u8> = (0..12).map(|b| (n >> b & 1) as u8).collect();
            is_new(&crash, &counts)
        });
        assert_eq!(looks.count(), 10);
        assert!(is_new(&End::Timeout, &[1; 12]));
    }

    #[test]
    fn signals_and_branches_are_not_mistaken_for_each_other() {
        let at = |branch: usize| {
            let mut counts = [0; 64];
            counts[branch] = 1;
            Counts::from_all(&counts)
        };
        let all = (0..64).flat_map(|b| (1..32).map(move |s| (b, s)));
        let hashes: HashSet<u64> = all.map(|(b, s)| signature(&End::Signal(s), &at(b))).collect();
        assert_eq!(hashes.len(), 64 * 31);
    }
}
