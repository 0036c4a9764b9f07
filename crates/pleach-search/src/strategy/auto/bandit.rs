//! Shares the budget among the arms by what each has brought lately.
//!
//! Each arm has a sum of rewards and a sum of costs, and both are forgotten with
//! a half-life of some seconds of work. What an arm brings for its cost, squared,
//! is its weight; the square leans towards the best without going all the way.
//! An arm with little to show for or against it counts as the average of all:
//! one that has not been tried for long drifts back to it and is tried again.
//!
//! The arms then take turns by *stride*: the arm that has had least for its
//! weight is next. So shares hold exactly over any stretch of time, and no
//! random number is spent on them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arm {
    Goals,
    Steps,
    Paths,
    Mutation,
    Grammar,
    Grafts,
    Tokens,
}

pub(super) struct Bandit {
    arms: [Account; Arm::COUNT],
    /// Which arms there are at all. One that is not there has no share.
    there: [bool; Arm::COUNT],
    /// Work since things were last forgotten a little.
    since: f64,
    /// Where the last arm that was chosen stood.
    now: f64,
}

#[derive(Clone, Copy, Default)]
struct Account {
    reward: f64,
    cost: f64,
    /// What it has had, each cost divided by the weight of its time.
    had: f64,
}

/// Work after which the sums are multiplied by [`KEEP`], in microseconds: a
/// half-life of 4 seconds.
const STEP: f64 = 200_000.0;
const KEEP: f64 = 0.966;
/// An arm's own record counts against the average as its cost against this.
const PRIOR: f64 = 40_000.0;
/// No arm has a smaller share before the shares are brought to a sum of one: in
/// the end goals have at least a third and mutation a tenth; with a grammar, a quarter
/// and a fourteenth.
const LEAST: [f64; Arm::COUNT] = [0.5, 0.05, 0.05, 0.15, 0.05, 0.1, 0.2];

impl Arm {
    pub const COUNT: usize = 7;
    const ALL: [Arm; Arm::COUNT] =
        [Arm::Goals, Arm::Steps, Arm::Paths, Arm::Mutation, Arm::Grammar, Arm::Grafts, Arm::Tokens];

    pub const fn name(self) -> &'static str {
        match self {
            Arm::Goals => "flips to new branches",
            Arm::Steps => "flips of comparisons and lengths",
            Arm::Paths => "flips to new paths",
            Arm::Mutation => "mutation",
            Arm::Grammar => "sentences of the grammar",
            Arm::Grafts => "parts of inputs put together",
            Arm::Tokens => "flips on tokens",
        }
    }
}

impl Default for Bandit {
    fn default() -> Bandit {
        Bandit::new([true; Arm::COUNT])
    }
}

impl Bandit {
    pub fn new(there: [bool; Arm::COUNT]) -> Bandit {
        Bandit { arms: Default::default(), there, since: 0.0, now: 0.0 }
    }

    /// The arm whose turn it is, among those that are not idle.
    pub fn choose(&mut self, idle: &[bool; Arm::COUNT]) -> Option<Arm> {
        let busy = Arm::ALL.into_iter().filter(|&a| self.there[a as usize] && !idle[a as usize]);
        // One that had no work for a while does not get all of it back.
        let had = |a: Arm| self.arms[a as usize].had.max(self.now);
        let arm = busy.min_by(|&a, &b| had(a).total_cmp(&had(b)))?;
        self.now = had(arm);
        self.arms[arm as usize].had = self.now;
        Some(arm)
    }

    pub fn spend(&mut self, arm: Arm, cost: f64) {
        let share = self.shares()[arm as usize];
        let account = &mut self.arms[arm as usize];
        account.cost += cost;
        // Nothing is spent on what is not there.
        account.had += cost / share.max(f64::MIN_POSITIVE);
        self.since += cost;
        while self.since >= STEP {
            self.since -= STEP;
            for account in &mut self.arms {
                account.cost *= KEEP;
                account.reward *= KEEP;
            }
        }
    }

    pub fn reward(&mut self, arm: Arm, reward: f64) {
        self.arms[arm as usize].reward += reward;
    }

    /// What each arm would get of the budget now if all had work.
    pub fn shares(&self) -> [f64; Arm::COUNT] {
        let all = self.arms.iter().fold(Account::default(), |a, b| Account {
            reward: a.reward + b.reward,
            cost: a.cost + b.cost,
            had: 0.0,
        });
        // At the start, and where nothing brings anything, all are equal.
        let average = (all.reward + 1.0) / (all.cost + PRIOR);
        let weights = Arm::ALL.map(|arm| {
            let a = &self.arms[arm as usize];
            let rate = (a.reward + average * PRIOR) / (a.cost + PRIOR);
            if self.there[arm as usize] { rate * rate } else { 0.0 }
        });
        let sum: f64 = weights.iter().sum();
        let mut shares = weights.map(|w| w / sum);
        for arm in Arm::ALL.map(|arm| arm as usize) {
            if self.there[arm] {
                shares[arm] = shares[arm].max(LEAST[arm]);
            }
        }
        let sum: f64 = shares.iter().sum();
        shares.map(|s| s / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a campaign without tokens and parts.
    fn five() -> Bandit {
        Bandit::new([true, true, true, true, true, false, false])
    }

    /// Lets the arms work, each bringing so much a turn, and says what each got.
    fn work(bandit: &mut Bandit, brings: [f64; Arm::COUNT], turns: u32) -> [f64; Arm::COUNT] {
        let mut got = [0.0; Arm::COUNT];
        for _ in 0..turns {
            let Some(arm) = bandit.choose(&[false; Arm::COUNT]) else { break };
            bandit.spend(arm, 1000.0);
            bandit.reward(arm, brings[arm as usize]);
            got[arm as usize] += 1.0 / f64::from(turns);
        }
        got
    }

    #[test]
    fn the_budget_goes_to_what_pays_and_follows_when_that_changes() {
        let mut bandit = five();
        let got = work(&mut bandit, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 20_000);
        assert!(got[Arm::Mutation as usize] > 0.5, "{got:?}");
        work(&mut bandit, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 20_000);
        let got = work(&mut bandit, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 20_000);
        assert!(got[Arm::Paths as usize] > 0.5, "{got:?}");
        assert!(got[Arm::Mutation as usize] > 0.04, "{got:?}");
    }

    #[test]
    fn an_arm_without_work_leaves_its_share_and_cannot_claim_it_later() {
        let mut bandit = five();
        for _ in 0..1000 {
            let arm = bandit.choose(&[true, true, true, false, true, true, true]);
            assert_eq!(arm, Some(Arm::Mutation));
            bandit.spend(Arm::Mutation, 1000.0);
            bandit.reward(Arm::Mutation, 1.0);
        }
        let got = work(&mut bandit, [1.0; Arm::COUNT], 300);
        assert!(got[Arm::Mutation as usize] > 0.15, "{got:?}");
        assert_eq!(bandit.choose(&[true; Arm::COUNT]), None);
    }

    #[test]
    fn what_is_not_there_has_no_share() {
        let mut there = [true; Arm::COUNT];
        there[Arm::Tokens as usize] = false;
        let mut bandit = Bandit::new(there);
        let shares = bandit.shares();
        assert!(shares[Arm::Tokens as usize] == 0.0 && shares[Arm::Grafts as usize] > 0.0);
        let got = work(&mut bandit, [1.0; Arm::COUNT], 1000);
        assert_eq!(got[Arm::Tokens as usize], 0.0);
    }

    #[test]
    fn with_nothing_known_all_are_equal_but_for_their_least() {
        let shares = five().shares();
        assert!((shares[1] - shares[3]).abs() < 1e-9 && shares[0] > shares[1], "{shares:?}");
        let shares = Bandit::default().shares();
        assert!((shares[1] - shares[4]).abs() < 1e-9, "{shares:?}");
        assert!(shares[0] > shares[3] && shares[3] > shares[1], "{shares:?}");
    }
}
