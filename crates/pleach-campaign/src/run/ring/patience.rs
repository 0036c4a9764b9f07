//! How long a run may take, where the user has not said.
//!
//! A hanging run takes as long as a thousand others. So a run is stopped when it has used
//! many times the CPU time of the slowest seed, and sooner when hanging runs take too much
//! of the time. The first hangs of each kind run again with all the time there is, as long
//! as that does not take too much either. This tells a slow run from a hang, and a slow
//! seed gives all runs more time.

use std::time::Duration;

/// A run may use this many times the CPU time of the slowest seed, and at least
/// `MIN_LIMIT`.
const SLOW_SEED_FACTOR: u32 = 20;
const MIN_LIMIT: Duration = Duration::from_millis(100);
/// When hanging runs take too much of the time, a run gets less, but at least this.
const SHORTEST_LIMIT: Duration = Duration::from_millis(20);
/// The limit is halved while hanging runs take more than one part in this many of the time,
/// and doubled again at a quarter of that.
const HANG_SHARE: u32 = 8;
/// Second runs may take one part in this many of the time, and at least `MIN_SECOND`.
const SECOND_SHARE: u32 = 16;
const MIN_SECOND: Duration = Duration::from_secs(3);

#[derive(Default)]
pub struct Patience {
    /// CPU time of the slowest seed that ended.
    slowest: Duration,
    /// Time of all runs, of those that were stopped, and of second runs.
    all: Duration,
    stopped: Duration,
    second: Duration,
    /// How often the limit was halved.
    halved: u32,
}

impl Patience {
    /// A seed ended.
    pub fn add_seed(&mut self, cpu: Duration) {
        self.slowest = self.slowest.max(cpu);
    }

    /// An input of a resumed campaign ended, as it did before. It is not known which of them
    /// were seeds.
    pub fn add_recalled(&mut self, cpu: Duration) {
        self.add_seed(cpu * 2 / SLOW_SEED_FACTOR);
    }

    /// A run took this long, and was stopped or not.
    pub fn ran(&mut self, took: Duration, was_stopped: bool) {
        self.all += took;
        if was_stopped {
            self.stopped += took;
        }
        if was_stopped && self.stopped * HANG_SHARE > self.all {
            self.halved = (self.halved + 1).min(8);
        } else if self.halved > 0 && self.stopped * HANG_SHARE * 4 < self.all {
            self.halved -= 1;
        }
    }

    /// A second run took this long.
    pub fn ran_again(&mut self, took: Duration) {
        self.all += took;
        self.second += took;
    }

    /// The CPU time that a run may use.
    pub fn limit(&self) -> Duration {
        (self.max_limit() / (1 << self.halved)).max(self.slowest * 2).max(SHORTEST_LIMIT)
    }

    /// The same while hanging runs take little of the time.
    pub fn max_limit(&self) -> Duration {
        (self.slowest * SLOW_SEED_FACTOR).max(MIN_LIMIT)
    }

    /// True if there is time for a second run.
    pub fn allows_second(&self) -> bool {
        self.second < MIN_SECOND || self.second * SECOND_SHARE < self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_slow_seed_gives_runs_more_time() {
        let mut patience = Patience::default();
        assert_eq!(patience.limit(), MIN_LIMIT);
        patience.add_seed(MS);
        assert_eq!(patience.limit(), MIN_LIMIT);
        patience.add_seed(MS * 30);
        patience.add_seed(MS * 2);
        assert_eq!(patience.limit(), MS * 600);
    }

    #[test]
    fn hanging_runs_get_less_time_until_they_are_few() {
        let mut patience = Patience::default();
        (0..1000).for_each(|_| patience.ran(MS, false));
        patience.ran(MS * 100, true);
        assert_eq!(patience.limit(), MIN_LIMIT);
        patience.ran(MS * 100, true);
        assert_eq!(patience.limit(), MIN_LIMIT / 2);
        (0..9).for_each(|_| patience.ran(MS * 100, true));
        assert_eq!(patience.limit(), SHORTEST_LIMIT);
        (0..100_000).for_each(|_| patience.ran(MS, false));
        assert_eq!(patience.limit(), MIN_LIMIT);
    }

    #[test]
    fn a_run_may_always_take_twice_the_time_of_the_slowest_seed() {
        let mut patience = Patience::default();
        patience.add_seed(MS * 300);
        (0..20).for_each(|_| patience.ran(MS * 1000, true));
        assert_eq!(patience.limit(), MS * 600);
    }

    #[test]
    fn second_runs_take_a_share_of_the_time() {
        let mut patience = Patience::default();
        (0..3).for_each(|_| patience.ran_again(MS * 1000));
        assert!(!patience.allows_second());
        (0..50).for_each(|_| patience.ran(MS * 1000, false));
        assert!(patience.allows_second());
    }
}
