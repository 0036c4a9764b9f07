//! Which input to mutate, and how often.
//!
//! The weight of an entry is a product, as in AFL's power schedules: more for
//! one that is fast and small, that took new branches rather than new counts,
//! whose branches few others take, and whose mutants have lately gained
//! something; less for one whose mutants crashed or hung, and the more often it
//! was chosen. What its mutants did fades by half with every burst. So a new entry is tried soon, a good one is kept at
//! while it is good, and no entry is ever left alone for good.
//!
//! A burst is some fiftieth of a second: long enough for the choice to cost
//! nothing, short enough for flips to follow at once on what it found.

use crate::program::BranchId;
use crate::rng::Rng;
use crate::run::{InputId, Run};
use crate::strategy::InputNews;
use std::collections::HashMap;

/// How long a burst is to take, in microseconds, and how many mutants it has.
const BURST: u32 = 40_000;
const FEWEST: u32 = 32;
const MOST: u32 = 400;
/// Branches by which the rarity of an entry is judged.
const RARE: usize = 4;
/// Time of an execution outside the program, in microseconds.
const OVERHEAD: u32 = 60;

#[derive(Default)]
pub(super) struct Queue {
    entries: Vec<Entry>,
    by_input: HashMap<InputId, usize>,
    /// How many traced runs took each branch.
    taken: Vec<u32>,
    /// Sums over the entries, for averages.
    cost: u64,
    size: u64,
    /// Entries that neither crash nor hang.
    good: usize,
}

struct Entry {
    input: InputId,
    size: u32,
    cost: u32,
    branches: u32,
    bad: bool,
    bursts: u32,
    /// What its mutants gained, fading.
    gained: f64,
    /// Mutants that crashed or hung, fading too.
    spoilt: f64,
    /// The branches of its run that fewest runs took, when it was traced.
    rare: Vec<BranchId>,
}

impl Queue {
    pub fn add(&mut self, input: InputId, news: &InputNews) {
        self.by_input.insert(input, self.entries.len());
        self.cost += u64::from(news.cost);
        self.size += u64::from(news.size);
        self.good += usize::from(!news.bad);
        self.entries.push(Entry {
            input,
            size: news.size,
            cost: news.cost,
            branches: news.branches,
            bad: news.bad,
            bursts: 0,
            gained: 0.0,
            spoilt: 0.0,
            rare: Vec::new(),
        });
    }

    /// What a mutant of an input gained, and whether it crashed or hung.
    pub fn found(&mut self, parent: InputId, gain: f64, bad: bool) {
        if let Some(&at) = self.by_input.get(&parent) {
            self.entries[at].gained += gain;
            self.entries[at].spoilt += f64::from(u8::from(bad));
        }
    }

    pub fn cost(&self, input: InputId) -> Option<u32> {
        self.by_input.get(&input).map(|&at| self.entries[at].cost)
    }

    /// Notes which branches the run of an input took.
    pub fn traced(&mut self, branches: usize, run: &Run) {
        self.taken.resize(branches.max(self.taken.len()), 0);
        let shown = &run.decisions[..run.shown() as usize];
        let mut took: Vec<BranchId> = shown.iter().filter_map(|d| d.branch(d.outcome)).collect();
        took.sort_unstable();
        took.dedup();
        took.retain(|&b| (b as usize) < self.taken.len());
        took.iter().for_each(|&b| self.taken[b as usize] += 1);
        if let Some(&at) = self.by_input.get(&run.input) {
            took.sort_by_key(|&b| self.taken[b as usize]);
            took.truncate(RARE);
            self.entries[at].rare = took;
        }
    }

    /// An input, how many mutants of it to run, and what one costs.
    pub fn pick(&mut self, rng: &mut Rng) -> Option<(InputId, u32, u32)> {
        let mut sum = 0.0;
        let sums: Vec<f64> = self
            .entries
            .iter()
            .map(|e| {
                sum += self.weight(e);
                sum
            })
            .collect();
        let point = rng.unit() * sum;
        let at = sums.partition_point(|&s| s <= point).min(sums.len().checked_sub(1)?);
        let entry = &mut self.entries[at];
        entry.bursts += 1;
        entry.gained /= 2.0;
        entry.spoilt /= 2.0;
        let count = BURST / (entry.cost + OVERHEAD);
        Some((entry.input, count.clamp(FEWEST, MOST), entry.cost))
    }

    fn weight(&self, entry: &Entry) -> f64 {
        // Crashes and hangs are mutated only if there is nothing else.
        if entry.bad && self.good > 0 {
            return 0.0;
        }
        let n = self.entries.len() as f64;
        let against = |sum: u64, own: u32, floor: f64| {
            ((sum as f64 / n + floor) / (f64::from(own) + floor)).clamp(0.25, 2.0)
        };
        let fast = against(self.cost, entry.cost, f64::from(OVERHEAD));
        let small = against(self.size, entry.size, 16.0);
        let new = 1.0 + f64::from(entry.branches.min(8)) / 2.0;
        let rarest = entry.rare.iter().map(|&b| self.taken[b as usize]).min();
        let rare = rarest.map_or(1.0, |n| 1.0 + 3.0 / f64::from(n.max(1)).sqrt());
        let tried = (1.0 + entry.gained / 4.0) / f64::from(1 + entry.bursts);
        // A time-out costs as much as thousands of runs.
        let sound = 4.0 / (4.0 + entry.spoilt);
        fast * small * new * rare * tried * sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::Origin;

    fn news(branches: u32, size: u32, cost: u32, bad: bool) -> InputNews {
        let (input, origin, buckets, hung) = (None, Origin::Seed, 1, false);
        InputNews { input, origin, branches, buckets, bad, hung, size, cost }
    }

    /// How often each of some entries is picked in a thousand bursts.
    fn picks(all: &[InputNews], mut each: impl FnMut(&mut Queue, InputId)) -> Vec<u32> {
        let (mut queue, mut rng) = (Queue::default(), Rng::new(3));
        all.iter().enumerate().for_each(|(i, n)| queue.add(i as InputId, n));
        let mut picks = vec![0; all.len()];
        for _ in 0..1000 {
            let Some((input, count, _)) = queue.pick(&mut rng) else { break };
            assert!((FEWEST..=MOST).contains(&count));
            picks[input as usize] += 1;
            each(&mut queue, input);
        }
        picks
    }

    #[test]
    fn every_entry_has_its_turn_and_good_ones_more() {
        let all = [news(0, 10, 100, false), news(5, 10, 100, false), news(0, 9000, 9000, false)];
        let picks = picks(&all, |_, _| {});
        assert!(picks[1] > picks[0] && picks[0] > picks[2] && picks[2] > 50, "{picks:?}");
    }

    #[test]
    fn an_entry_whose_mutants_gain_is_kept_at() {
        let all = [news(0, 10, 100, false); 8];
        let picks = picks(&all, |queue, input| {
            if input == 3 {
                queue.found(3, 16.0, false);
            }
        });
        assert!(picks[3] > 2 * picks[2], "{picks:?}");
    }

    #[test]
    fn an_entry_whose_mutants_hang_is_left_alone_for_a_while() {
        let all = [news(0, 10, 100, false); 8];
        let picks = picks(&all, |queue, input| {
            if input == 3 {
                (0..32).for_each(|_| queue.found(3, 0.0, true));
            }
        });
        assert!(2 * picks[3] < picks[2] && picks[3] > 10, "{picks:?}");
    }

    #[test]
    fn crashes_are_mutated_only_if_there_is_nothing_else() {
        let picked = picks(&[news(1, 1, 1, true), news(1, 1, 1, false)], |_, _| {});
        assert_eq!(picked, [0, 1000]);
        assert_eq!(picks(&[news(1, 1, 1, true)], |_, _| {}), [1000]);
        assert!(Queue::default().pick(&mut Rng::new(1)).is_none());
    }
}
