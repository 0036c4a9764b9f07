//! A small set of inputs with the coverage of all.
//!
//! To find the smallest one is set cover, which is NP-hard. A greedy choice comes near. The
//! rarest features are covered first: one of the few inputs that have such a feature must be
//! kept anyway, and often it has other rare features, too. At the end, inputs that are no
//! longer needed are dropped.

use pleach_exec::executor::ModuleCounters;
use pleach_search::bucket;
use pleach_work::Task;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// Numbers for what runs cover, the same in all runs. A feature is a branch together with
/// the bucket of its hit count.
#[derive(Debug, Default)]
pub struct Features {
    /// The number of the first counter of each module.
    modules: HashMap<PathBuf, u32>,
    next: u32,
}

impl Features {
    /// The features of a run, in order.
    pub fn of(&mut self, counters: &[ModuleCounters]) -> Vec<u32> {
        self.collect(counters, |branch, count| branch * 8 + bucket(count).trailing_zeros())
    }

    /// The branches that a run took, in order.
    pub fn branches(&mut self, counters: &[ModuleCounters]) -> Vec<u32> {
        self.collect(counters, |branch, _| branch)
    }

    fn collect(&mut self, all: &[ModuleCounters], number: impl Fn(u32, u8) -> u32) -> Vec<u32> {
        let mut found = Vec::new();
        for m in all {
            let base = *self.modules.entry(m.module.path.clone()).or_insert_with(|| {
                let base = self.next;
                self.next += m.counters.len() as u32;
                base
            });
            let taken = m.counters.iter().enumerate().filter(|(_, c)| **c != 0);
            found.extend(taken.map(|(i, &count)| number(base + i as u32, count)));
        }
        found.sort_unstable();
        found
    }
}

/// Inputs that are compared for one feature.
const MAX_COMPARED: usize = 256;

/// Chooses the inputs to keep, and returns their places in order. `inputs` has the features
/// and the length of each input.
pub fn smallest_set(inputs: &[(Vec<u32>, usize)]) -> Vec<usize> {
    // The inputs that have each feature.
    let mut holders: HashMap<u32, Vec<u32>> = HashMap::new();
    for (i, (features, _)) in inputs.iter().enumerate() {
        for &f in features {
            holders.entry(f).or_default().push(i as u32);
        }
    }
    let _choosing = pleach_work::enter(Task::Cover);
    let mut order: Vec<u32> = holders.keys().copied().collect();
    order.sort_unstable_by_key(|f| (holders[f].len(), *f));
    // How many kept inputs have each feature.
    let mut kept_with: HashMap<u32, u32> = HashMap::new();
    let mut kept = Vec::new();
    for feature in order {
        if kept_with.contains_key(&feature) {
            continue;
        }
        let gain =
            |i: u32| inputs[i as usize].0.iter().filter(|f| !kept_with.contains_key(f)).count();
        // Many inputs have a common feature. Of the shortest of them, one is good enough.
        let holders = &holders[&feature][..];
        let mut few = holders.to_vec();
        if few.len() > MAX_COMPARED {
            few.select_nth_unstable_by_key(MAX_COMPARED, |&i| (inputs[i as usize].1, i));
            few.truncate(MAX_COMPARED);
        }
        pleach_work::count(holders.len() as u64);
        few.iter().for_each(|&i| pleach_work::count(inputs[i as usize].0.len() as u64));
        let best =
            few.into_iter().min_by_key(|&i| (std::cmp::Reverse(gain(i)), inputs[i as usize].1, i));
        let Some(best) = best.map(|i| i as usize) else { continue };
        inputs[best].0.iter().for_each(|f| *kept_with.entry(*f).or_default() += 1);
        kept.push(best);
    }
    // Drop inputs whose features the others have, the longest first.
    let mut by_length = kept.clone();
    by_length.sort_by_key(|&i| (std::cmp::Reverse(inputs[i].1), i));
    let mut dropped: HashSet<usize> = HashSet::new();
    for i in by_length {
        let features = &inputs[i].0;
        if features.iter().all(|f| kept_with.get(f).is_some_and(|&n| n > 1)) {
            features.iter().for_each(|f| {
                kept_with.entry(*f).and_modify(|n| *n -= 1);
            });
            dropped.insert(i);
        }
    }
    kept.retain(|i| !dropped.contains(i));
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_exec::shm::LoadedModule;
    use pleach_search::Rng;
    use std::collections::BTreeSet;

    fn union(inputs: &[(Vec<u32>, usize)], of: impl IntoIterator<Item = usize>) -> BTreeSet<u32> {
        of.into_iter().flat_map(|i| inputs[i].0.iter().copied()).collect()
    }

    /// Compared with all subsets of up to ten inputs.
    #[test]
    fn no_feature_is_lost_and_few_inputs_are_kept() {
        let mut rng = Rng::new(11);
        let (mut found, mut least) = (0, 0);
        for round in 0..300 {
            let n = 1 + rng.below(10);
            let inputs: Vec<(Vec<u32>, usize)> = (0..n)
                .map(|_| {
                    let set: BTreeSet<u32> =
                        (0..rng.below(6)).map(|_| rng.below(9) as u32).collect();
                    (set.into_iter().collect(), 1 + rng.below(20))
                })
                .collect();
            let all = union(&inputs, 0..n);
            let kept = smallest_set(&inputs);
            assert_eq!(union(&inputs, kept.iter().copied()), all, "round {round}");
            for &i in &kept {
                let others = kept.iter().copied().filter(|&k| k != i);
                assert_ne!(union(&inputs, others), all, "{i} is superfluous in round {round}");
            }
            let members = |set: u32| (0..n).filter(move |i| set >> i & 1 == 1);
            let best = (0..1u32 << n).filter(|&s| union(&inputs, members(s)) == all);
            found += kept.len();
            least += best.map(u32::count_ones).min().unwrap() as usize;
        }
        // Greedy is at most five percent above the minimum.
        assert!(found * 100 <= least * 105, "{found} where {least} would do");
    }

    #[test]
    fn the_shortest_of_equal_inputs_is_kept() {
        assert_eq!(smallest_set(&[(vec![1, 2], 9), (vec![1, 2], 3), (vec![1], 1)]), [1]);
        assert_eq!(smallest_set(&[(vec![], 1)]), [0usize; 0]);
    }

    #[test]
    fn features_tell_buckets_apart() {
        let module = |path: &str, counters: &[u8]| ModuleCounters {
            module: LoadedModule {
                place: 0,
                path: path.into(),
                site_base: 0,
                sites: 0,
                cover_at: 0,
                counters: 0,
                bias: 0,
            },
            counters: counters.to_vec(),
        };
        let mut features = Features::default();
        let both = [module("a", &[1, 0, 5]), module("b", &[0, 3])];
        assert_eq!(features.of(&both), [0, 2 * 8 + 3, 4 * 8 + 2]);
        assert_eq!(features.branches(&both), [0, 2, 4]);
        // A module keeps its numbers.
        assert_eq!(features.of(&[module("b", &[0, 200])]), [4 * 8 + 7]);
    }
}
