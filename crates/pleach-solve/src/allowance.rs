//! How much work an expensive tier may do, by what it has answered.
//!
//! On some traces a tier fails on every flip, and each failure uses the whole limit of a
//! request. So an expensive tier has *credit*: it pays for its work, earns a little with
//! each flip, and earns a multiple of what an answer has cost. A tier without credit is not
//! asked. It is asked again when the flips that others answered have earned it enough.

/// The credit of one tier, in evaluated operations.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    credit: u64,
    /// The credit at the start, and the most that flips can earn.
    start: u64,
    /// A tier with less credit is not asked.
    min: u64,
    earned_by_flip: u64,
}

const START: u64 = 64_000_000;
/// What each flip earns.
const EARNED_BY_FLIP: u64 = 10_000;
/// An answer earns its cost times this.
const EARNED_BY_ANSWER: u64 = 8;
/// The most that answers can earn, by the credit at the start.
const MAX_FACTOR: u64 = 8;
const MIN_CREDIT: u64 = 2_000_000;

impl Default for Allowance {
    fn default() -> Self {
        Allowance { credit: START, start: START, min: MIN_CREDIT, earned_by_flip: EARNED_BY_FLIP }
    }
}

impl Allowance {
    /// For a tier whose requests cost a fraction of what the others may.
    pub fn divided_by(divisor: u64) -> Self {
        let Allowance { credit, start, min, earned_by_flip } = Self::default();
        Allowance {
            credit: credit / divisor,
            start: start / divisor,
            min: min / divisor,
            earned_by_flip: earned_by_flip / divisor,
        }
    }

    /// Counts a flip, whoever answers it.
    pub fn earn(&mut self) {
        if self.credit < self.start {
            self.credit += self.earned_by_flip;
        }
    }

    /// How much the tier may spend on one request; `None` if it should not be asked.
    pub fn available(&self) -> Option<u64> {
        (self.credit >= self.min).then_some(self.credit)
    }

    /// Pays for a request.
    pub fn pay(&mut self, work: u64, has_answered: bool) {
        self.credit = match has_answered {
            true => (self.credit + EARNED_BY_ANSWER * work).min(MAX_FACTOR * self.start),
            false => self.credit.saturating_sub(work),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_that_never_answers_is_asked_ever_less() {
        let mut allowance = Allowance::default();
        let mut asked = 0;
        for _ in 0..10_000 {
            allowance.earn();
            if let Some(most) = allowance.available() {
                allowance.pay(most.min(8_000_000), false);
                asked += 1;
            }
        }
        // 4 times from the start, and then once for every 200 flips.
        assert!((40..70).contains(&asked), "{asked}");
    }

    #[test]
    fn a_tier_that_answers_keeps_its_credit() {
        let mut allowance = Allowance::default();
        for i in 0..10_000 {
            let most = allowance.available();
            assert!(most.is_some_and(|m| m >= 8_000_000), "{i}: {most:?}");
            allowance.pay(8_000_000, i % 4 == 0);
        }
    }
}
