//! Shares the budget among the arms of `auto` by what each gained lately.
//!
//! Each arm has a sum of rewards and a sum of costs. Both sums decay with a half-life of 4
//! seconds of work. An arm's weight is the square of its reward per cost. The square
//! prefers the best arm, but the others keep a share. An arm with a small cost counts as
//! average. So an arm that was not used for a while returns to the average and is tried
//! again.
//!
//! The arms then take turns by *stride scheduling*: each cost advances the *pass* of its
//! arm by the cost divided by the arm's share, and the arm with the smallest pass is next.
//! So the shares hold over any period, and no random numbers are needed.

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
    /// An arm that is not enabled has no share.
    enabled: [bool; Arm::COUNT],
    /// The shares of arms that flip are multiplied by this, before all are scaled to a sum
    /// of one.
    flip_share: f64,
    /// All work.
    total: f64,
    /// Work since the last decay.
    since_decay: f64,
    /// The pass of the arm that was chosen last.
    current_pass: f64,
}

#[derive(Clone, Copy, Default)]
struct Account {
    reward: f64,
    cost: f64,
    /// The sum of its costs, each divided by the arm's share at that time.
    pass: f64,
}

/// After this much work, in microseconds, the sums are multiplied by [`DECAY`].
const DECAY_INTERVAL: f64 = 200_000.0;
const DECAY: f64 = 0.966;
/// Each arm's rate is computed as if it had this cost more, at the average rate.
const PRIOR_COST: f64 = 40_000.0;
/// The smallest share of each arm, before the shares are scaled to a sum of one. After
/// that, goals have at least 29 % and mutation 8 %; with all arms, 24 % and 7 %.
const MIN_SHARES: [f64; Arm::COUNT] = [0.5, 0.05, 0.05, 0.15, 0.05, 0.1, 0.2];

impl Arm {
    pub const COUNT: usize = 7;
    const ALL: [Arm; Arm::COUNT] =
        [Arm::Goals, Arm::Steps, Arm::Paths, Arm::Mutation, Arm::Grammar, Arm::Grafts, Arm::Tokens];

    /// True if the arm traces and flips.
    const fn flips(self) -> bool {
        matches!(self, Arm::Goals | Arm::Steps | Arm::Paths | Arm::Tokens)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Arm::Goals => "flips to new branches",
            Arm::Steps => "flips of comparisons and lengths",
            Arm::Paths => "flips to new paths",
            Arm::Mutation => "mutation",
            Arm::Grammar => "sentences of the grammar",
            Arm::Grafts => "grafts of inputs",
            Arm::Tokens => "flips of tokens",
        }
    }
}

impl Default for Bandit {
    fn default() -> Bandit {
        Bandit::new([true; Arm::COUNT], 1.0)
    }
}

impl Bandit {
    pub fn new(enabled: [bool; Arm::COUNT], flip_share: f64) -> Bandit {
        Bandit {
            arms: Default::default(),
            enabled,
            flip_share,
            total: 0.0,
            since_decay: 0.0,
            current_pass: 0.0,
        }
    }

    /// The arm with the smallest pass, among those that are not idle.
    pub fn choose(&mut self, idle: &[bool; Arm::COUNT]) -> Option<Arm> {
        let busy = Arm::ALL.into_iter().filter(|&a| self.enabled[a as usize] && !idle[a as usize]);
        // An arm that had no work for a while cannot claim its share of that time.
        let pass = |a: Arm| self.arms[a as usize].pass.max(self.current_pass);
        let arm = busy.min_by(|&a, &b| pass(a).total_cmp(&pass(b)))?;
        self.current_pass = pass(arm);
        self.arms[arm as usize].pass = self.current_pass;
        Some(arm)
    }

    pub fn spend(&mut self, arm: Arm, cost: f64) {
        // Most mutants end well, and were paid for with their burst.
        if cost == 0.0 {
            return;
        }
        let share = self.shares()[arm as usize];
        let account = &mut self.arms[arm as usize];
        account.cost += cost;
        self.total += cost;
        // The share of an arm that is not enabled is 0.
        account.pass += cost / share.max(f64::MIN_POSITIVE);
        self.since_decay += cost;
        while self.since_decay >= DECAY_INTERVAL {
            self.since_decay -= DECAY_INTERVAL;
            for account in &mut self.arms {
                account.cost *= DECAY;
                account.reward *= DECAY;
            }
        }
    }

    /// The sum of all costs.
    pub fn total_cost(&self) -> f64 {
        self.total
    }

    pub fn reward(&mut self, arm: Arm, reward: f64) {
        self.arms[arm as usize].reward += reward;
    }

    /// The share of the budget that each arm would get now if all had work.
    pub fn shares(&self) -> [f64; Arm::COUNT] {
        let all = self.arms.iter().fold(Account::default(), |a, b| Account {
            reward: a.reward + b.reward,
            cost: a.cost + b.cost,
            pass: 0.0,
        });
        // The 1 makes all arms equal at the start.
        let average = (all.reward + 1.0) / (all.cost + PRIOR_COST);
        let weights = Arm::ALL.map(|arm| {
            let a = &self.arms[arm as usize];
            let rate = (a.reward + average * PRIOR_COST) / (a.cost + PRIOR_COST);
            if self.enabled[arm as usize] { rate * rate } else { 0.0 }
        });
        let sum: f64 = weights.iter().sum();
        let mut shares = weights.map(|w| w / sum);
        for arm in Arm::ALL.map(|arm| arm as usize) {
            if self.enabled[arm] {
                shares[arm] = shares[arm].max(MIN_SHARES[arm]);
            }
        }
        for arm in Arm::ALL.into_iter().filter(|arm| arm.flips()) {
            shares[arm as usize] *= self.flip_share;
        }
        let sum: f64 = shares.iter().sum();
        shares.map(|s| s / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All arms but grafts and tokens.
    fn without_grafts_and_tokens() -> Bandit {
        Bandit::new([true, true, true, true, true, false, false], 1.0)
    }

    /// Lets the arms work. Each turn of an arm earns its reward. Returns each arm's share of
    /// the turns.
    fn work(bandit: &mut Bandit, rewards: [f64; Arm::COUNT], turns: u32) -> [f64; Arm::COUNT] {
        let mut got = [0.0; Arm::COUNT];
        for _ in 0..turns {
            let Some(arm) = bandit.choose(&[false; Arm::COUNT]) else { break };
            bandit.spend(arm, 1000.0);
            bandit.reward(arm, rewards[arm as usize]);
            got[arm as usize] += 1.0 / f64::from(turns);
        }
        got
    }

    #[test]
    fn the_budget_follows_the_rewards() {
        let mut bandit = without_grafts_and_tokens();
        let got = work(&mut bandit, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 20_000);
        assert!(got[Arm::Mutation as usize] > 0.5, "{got:?}");
        work(&mut bandit, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 20_000);
        let got = work(&mut bandit, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 20_000);
        assert!(got[Arm::Paths as usize] > 0.5, "{got:?}");
        assert!(got[Arm::Mutation as usize] > 0.04, "{got:?}");
    }

    #[test]
    fn an_arm_cannot_claim_the_share_of_its_idle_time() {
        let mut bandit = without_grafts_and_tokens();
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
    fn an_arm_that_is_not_enabled_has_no_share() {
        let mut enabled = [true; Arm::COUNT];
        enabled[Arm::Tokens as usize] = false;
        let mut bandit = Bandit::new(enabled, 1.0);
        let shares = bandit.shares();
        assert!(shares[Arm::Tokens as usize] == 0.0 && shares[Arm::Grafts as usize] > 0.0);
        let got = work(&mut bandit, [1.0; Arm::COUNT], 1000);
        assert_eq!(got[Arm::Tokens as usize], 0.0);
    }

    #[test]
    fn the_share_of_flips_can_be_scaled() {
        let flips = |factor| {
            let mut bandit = Bandit::new([true, true, true, true, false, false, false], factor);
            let got = work(&mut bandit, [1.0; Arm::COUNT], 10_000);
            1.0 - got[Arm::Mutation as usize]
        };
        // The odds of flips against mutation are multiplied.
        let odds = |share: f64| share / (1.0 - share);
        let (half, one, two) = (odds(flips(0.5)), odds(flips(1.0)), odds(flips(2.0)));
        assert!((half / one - 0.5).abs() < 0.05, "{half} {one}");
        assert!((two / one - 2.0).abs() < 0.2, "{two} {one}");
    }

    #[test]
    fn at_the_start_shares_are_equal_except_for_the_minimum() {
        let shares = without_grafts_and_tokens().shares();
        assert!((shares[1] - shares[3]).abs() < 1e-9 && shares[0] > shares[1], "{shares:?}");
        let shares = Bandit::default().shares();
        assert!((shares[1] - shares[4]).abs() < 1e-9, "{shares:?}");
        assert!(shares[0] > shares[3] && shares[3] > shares[1], "{shares:?}");
    }
}
