//! How long a run may take, where the user has not said.
//!
//! A run that does not end takes as long as a thousand others. So a run is given up
//! once it has used many times the CPU time of the slowest seed, and sooner when runs
//! that do not end take up too much of the search. The first of their kind are run again
//! with all the time there is, as long as that does not take up too much either: a run
//! that is slow is told from one that hangs, and a slow seed makes the search patient.

use std::time::Duration;

/// A run may use so many times the CPU time of the slowest seed that ends, and this in any
/// case.
const SEEDS: u32 = 20;
const LEAST: Duration = Duration::from_millis(100);
/// When too much is lost, it may use less, but not less than this.
const SHORTEST: Duration = Duration::from_millis(20);
/// Patience is halved while one part in so many of the time went to runs that were given
/// up, and doubled again at a quarter of that.
const LOST: u32 = 8;
/// So much of the time may go to second runs, and this in any case.
const SECOND: u32 = 16;
const SECOND_LEAST: Duration = Duration::from_secs(3);

#[derive(Default)]
pub struct Patience {
    /// CPU time of the slowest seed that ended.
    slowest: Duration,
    /// By the clock: all runs, those given up, and second ones.
    all: Duration,
    lost: Duration,
    second: Duration,
    halved: u32,
}

impl Patience {
    /// A seed came to an end.
    pub fn seed(&mut self, cpu: Duration) {
        self.slowest = self.slowest.max(cpu);
    }

    /// An input of a campaign that is gone on with came to an end, as it did before.
    /// Which were seeds is not known.
    pub fn known(&mut self, cpu: Duration) {
        self.seed(cpu * 2 / SEEDS);
    }

    /// A run took so long, and was given up or not.
    pub fn ran(&mut self, took: Duration, given_up: bool) {
        self.all += took;
        if given_up {
            self.lost += took;
        }
        if given_up && self.lost * LOST > self.all {
            self.halved = (self.halved + 1).min(8);
        } else if self.halved > 0 && self.lost * LOST * 4 < self.all {
            self.halved -= 1;
        }
    }

    /// A second run took so long.
    pub fn ran_again(&mut self, took: Duration) {
        self.all += took;
        self.second += took;
    }

    /// The CPU time that a run may use.
    pub fn limit(&self) -> Duration {
        (self.most() / (1 << self.halved)).max(self.slowest * 2).max(SHORTEST)
    }

    /// The same while little is lost.
    pub fn most(&self) -> Duration {
        (self.slowest * SEEDS).max(LEAST)
    }

    /// Whether there is time for a second run.
    pub fn allows_second(&self) -> bool {
        self.second < SECOND_LEAST || self.second * SECOND < self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_slow_seed_makes_patient() {
        let mut patience = Patience::default();
        assert_eq!(patience.limit(), LEAST);
        patience.seed(MS);
        assert_eq!(patience.limit(), LEAST);
        patience.seed(MS * 30);
        patience.seed(MS * 2);
        assert_eq!(patience.limit(), MS * 600);
    }

    #[test]
    fn runs_that_do_not_end_get_less_until_they_are_few() {
        let mut patience = Patience::default();
        (0..1000).for_each(|_| patience.ran(MS, false));
        patience.ran(MS * 100, true);
        assert_eq!(patience.limit(), LEAST);
        patience.ran(MS * 100, true);
        assert_eq!(patience.limit(), LEAST / 2);
        (0..9).for_each(|_| patience.ran(MS * 100, true));
        assert_eq!(patience.limit(), SHORTEST);
        (0..100_000).for_each(|_| patience.ran(MS, false));
        assert_eq!(patience.limit(), LEAST);
    }

    #[test]
    fn what_the_slowest_seed_takes_is_always_allowed() {
        let mut patience = Patience::default();
        patience.seed(MS * 300);
        (0..20).for_each(|_| patience.ran(MS * 1000, true));
        assert_eq!(patience.limit(), MS * 600);
    }

    #[test]
    fn second_runs_have_their_share() {
        let mut patience = Patience::default();
        (0..3).for_each(|_| patience.ran_again(MS * 1000));
        assert!(!patience.allows_second());
        (0..50).for_each(|_| patience.ran(MS * 1000, false));
        assert!(patience.allows_second());
    }
}
