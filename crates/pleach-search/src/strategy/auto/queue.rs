//! Chooses the input to mutate, and the number of mutants.
//!
//! The weight of an entry is a product, as in AFL's power schedules. It is higher for an
//! input that is fast and small, that took new branches and not only new hit counts, whose
//! branches few runs take, and whose children gained something lately. It is lower for an
//! input whose children crashed or hung, or that was chosen often. What its children did is
//! halved with every burst. So a new entry is tried soon, a good one gets several bursts,
//! and every entry is tried again at some time.
//!
//! A burst takes about 40 ms of estimated time. That is long enough that the choice costs
//! nothing, and short enough that flips of its results follow soon. In a fleet each
//! member has its part of a burst: all have the same inputs, and whole bursts of each would
//! try a new entry as often as there are members, before anything of that is known.

use super::guide::Guide;
use crate::program::BranchId;
use crate::rng::Rng;
use crate::run::{InputId, Run};
use crate::strategy::{ExecutionReport, RunCost};
use std::collections::HashMap;

/// The estimated time of a burst, in microseconds.
const BURST_TIME: u32 = 40_000;
/// The fewest and the most mutants of a burst.
const MIN_BURST: u32 = 32;
const MAX_BURST: u32 = 400;
/// The number of an entry's rarest branches that are remembered.
const MAX_RARE_BRANCHES: usize = 4;

#[derive(Default)]
pub(super) struct Queue {
    entries: Vec<Entry>,
    by_input: HashMap<InputId, usize>,
    /// The weights of the entries, unless some may have changed.
    weights: Vec<f64>,
    /// How many traced runs took each branch.
    runs_of_branch: Vec<u32>,
    /// Sums over the entries, for averages.
    cost: u64,
    size: u64,
    /// Entries that neither crash nor hang.
    good: usize,
}

struct Entry {
    input: InputId,
    size: u32,
    cost: RunCost,
    branches: u32,
    bad: bool,
    /// From the places that the search should get to; 0 if there are none.
    distance: u32,
    bursts: u32,
    /// What its children gained. Halved with every burst.
    gained: f64,
    /// Children that crashed or hung. Halved with every burst.
    bad_children: f64,
    /// The branches of its run that the fewest runs took, when it was traced.
    rare: Vec<BranchId>,
}

impl Queue {
    pub fn add(&mut self, input: InputId, news: &ExecutionReport, distance: u32) {
        self.weights.clear();
        self.by_input.insert(input, self.entries.len());
        self.cost += u64::from(news.cost.total());
        self.size += u64::from(news.size);
        self.good += usize::from(!news.bad);
        self.entries.push(Entry {
            input,
            size: news.size,
            cost: news.cost,
            branches: news.branches,
            bad: news.bad,
            distance,
            bursts: 0,
            gained: 0.0,
            bad_children: 0.0,
            rare: Vec::new(),
        });
    }

    /// Records what a child of an input gained. `bad`: it crashed or hung.
    pub fn record_child(&mut self, parent: InputId, gain: f64, bad: bool) {
        if gain == 0.0 && !bad {
            return;
        }
        if let Some(&at) = self.by_input.get(&parent) {
            self.entries[at].gained += gain;
            self.entries[at].bad_children += f64::from(u8::from(bad));
            self.update_weight(at);
        }
    }

    /// The program's own work in the run of an input, in microseconds.
    pub fn work(&self, input: InputId) -> Option<u32> {
        self.by_input.get(&input).map(|&at| self.entries[at].cost.work)
    }

    /// Records which branches the run of an input took.
    pub fn record_run(&mut self, branches: usize, run: &Run) {
        self.weights.clear();
        self.runs_of_branch.resize(branches.max(self.runs_of_branch.len()), 0);
        let shown = &run.decisions[..run.shown() as usize];
        let mut taken: Vec<BranchId> = shown.iter().filter_map(|d| d.branch(d.outcome)).collect();
        taken.sort_unstable();
        taken.dedup();
        taken.retain(|&b| (b as usize) < self.runs_of_branch.len());
        taken.iter().for_each(|&b| self.runs_of_branch[b as usize] += 1);
        if let Some(&at) = self.by_input.get(&run.input) {
            taken.sort_by_key(|&b| self.runs_of_branch[b as usize]);
            taken.truncate(MAX_RARE_BRANCHES);
            self.entries[at].rare = taken;
        }
    }

    /// Picks an input, the number of its children to run, and the cost of one run. `members` is
    /// the number of members of a fleet that pick from the same inputs.
    pub fn pick_burst(&mut self, rng: &mut Rng, members: usize) -> Option<(InputId, u32, u32)> {
        if self.weights.is_empty() {
            self.weights = self.entries.iter().map(|e| self.weight(e)).collect();
        }
        let distance = self.pick_distance(rng);
        let weight = |(entry, weight): (&Entry, &f64)| match distance {
            Some(distance) if distance != entry.distance => 0.0,
            _ => *weight,
        };
        let weights = || self.entries.iter().zip(&self.weights).map(weight);
        let point = rng.unit() * weights().fold(0.0, |sum, weight| sum + weight);
        let mut sum = 0.0;
        let mut is_before = |weight: &f64| {
            sum += weight;
            sum <= point
        };
        let at = weights().take_while(|w| is_before(w)).count();
        let at = at.min(self.weights.len().checked_sub(1)?);
        let entry = &mut self.entries[at];
        entry.bursts += 1;
        entry.gained /= 2.0;
        entry.bad_children /= 2.0;
        let cost = entry.cost.total();
        let count = BURST_TIME / u32::try_from(members).unwrap_or(u32::MAX) / cost.max(1);
        let burst = (entry.input, count.clamp(MIN_BURST, MAX_BURST), cost);
        self.update_weight(at);
        Some(burst)
    }

    /// An entry has changed, and no other.
    fn update_weight(&mut self, at: usize) {
        if !self.weights.is_empty() {
            self.weights[at] = self.weight(&self.entries[at]);
        }
    }

    /// The distances of the entries have changed.
    pub fn sort_again(&mut self, guide: &Guide) {
        self.entries.iter_mut().for_each(|e| e.distance = guide.of_input(e.input));
    }

    /// Picks one of the distances that entries have: the least with probability 1/2, the next
    /// with 1/4, and so on. `None` if all have the same.
    fn pick_distance(&self, rng: &mut Rng) -> Option<u32> {
        let first = self.entries.first()?.distance;
        if self.entries.iter().all(|e| e.distance == first) {
            return None;
        }
        let good = |e: &&Entry| !e.bad || self.good == 0;
        let mut distances: Vec<u32> =
            self.entries.iter().filter(good).map(|e| e.distance).collect();
        distances.sort_unstable();
        distances.dedup();
        let coins = rng.next_u64().trailing_ones() as usize;
        // The farthest ones share what is left.
        distances.get(coins).copied()
    }

    fn weight(&self, entry: &Entry) -> f64 {
        // Inputs that crash or hang are mutated only if there are no others.
        if entry.bad && self.good > 0 {
            return 0.0;
        }
        let n = self.entries.len() as f64;
        let against_mean = |sum: u64, own: u32, floor: f64| {
            ((sum as f64 / n + floor) / (f64::from(own) + floor)).clamp(0.25, 2.0)
        };
        let fast = against_mean(self.cost, entry.cost.total(), f64::MIN_POSITIVE);
        let small = against_mean(self.size, entry.size, 16.0);
        let new = 1.0 + f64::from(entry.branches.min(8)) / 2.0;
        let rarest = entry.rare.iter().map(|&b| self.runs_of_branch[b as usize]).min();
        let rare = rarest.map_or(1.0, |n| 1.0 + 3.0 / f64::from(n.max(1)).sqrt());
        let tried = (1.0 + entry.gained / 4.0) / f64::from(1 + entry.bursts);
        // A timeout costs as much as thousands of runs.
        let stable = 4.0 / (4.0 + entry.bad_children);
        fast * small * new * rare * tried * stable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::Origin;

    fn news(branches: u32, size: u32, cost: u32, bad: bool) -> ExecutionReport {
        let (input, origin, buckets, hung) = (None, Origin::Seed, 1, false);
        let cost = RunCost { work: cost, fixed: 60 };
        ExecutionReport { input, origin, branches, buckets, bad, hung, size, cost }
    }

    /// How often each entry is picked in a thousand bursts.
    fn picks(all: &[ExecutionReport], mut each: impl FnMut(&mut Queue, InputId)) -> Vec<u32> {
        let (mut queue, mut rng) = (Queue::default(), Rng::new(3));
        all.iter().enumerate().for_each(|(i, n)| queue.add(i as InputId, n, 0));
        let mut picks = vec![0; all.len()];
        for _ in 0..1000 {
            let Some((input, count, _)) = queue.pick_burst(&mut rng, 1) else { break };
            assert!((MIN_BURST..=MAX_BURST).contains(&count));
            picks[input as usize] += 1;
            each(&mut queue, input);
        }
        picks
    }

    #[test]
    fn every_entry_is_picked_and_good_ones_more_often() {
        let all = [news(0, 10, 100, false), news(5, 10, 100, false), news(0, 9000, 9000, false)];
        let picks = picks(&all, |_, _| {});
        assert!(picks[1] > picks[0] && picks[0] > picks[2] && picks[2] > 50, "{picks:?}");
    }

    #[test]
    fn members_of_a_fleet_share_a_burst() {
        let burst = |members| {
            let mut queue = Queue::default();
            queue.add(0, &news(0, 10, 40, false), 0);
            queue.pick_burst(&mut Rng::new(1), members).unwrap().1
        };
        assert_eq!([1, 4, 1000].map(burst), [400, 100, MIN_BURST]);
    }

    #[test]
    fn an_entry_whose_mutants_gain_is_picked_more_often() {
        let all = [news(0, 10, 100, false); 8];
        let picks = picks(&all, |queue, input| {
            if input == 3 {
                queue.record_child(3, 16.0, false);
            }
        });
        assert!(picks[3] > 2 * picks[2], "{picks:?}");
    }

    #[test]
    fn an_entry_whose_mutants_hang_is_picked_less_often() {
        let all = [news(0, 10, 100, false); 8];
        let picks = picks(&all, |queue, input| {
            if input == 3 {
                (0..32).for_each(|_| queue.record_child(3, 0.0, true));
            }
        });
        assert!(2 * picks[3] < picks[2] && picks[3] > 10, "{picks:?}");
    }

    #[test]
    fn crashing_inputs_are_mutated_only_if_there_are_no_others() {
        let picked = picks(&[news(1, 1, 1, true), news(1, 1, 1, false)], |_, _| {});
        assert_eq!(picked, [0, 1000]);
        assert_eq!(picks(&[news(1, 1, 1, true)], |_, _| {}), [1000]);
        assert!(Queue::default().pick_burst(&mut Rng::new(1), 1).is_none());
    }
}
