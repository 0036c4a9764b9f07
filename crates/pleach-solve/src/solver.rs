//! The solver: limits, flips, and flips with relaxed conditions.

use crate::answer::{Answer, Stats, Tier, Verdict, Why};
use crate::complete::Refused;
use crate::model::Model;
use crate::path::{Goal, Path};
use crate::request::{Found, Request, Scratch};
use crate::tiers::{Cost, Tiers};
use pleach_expr::{LENGTH_BITS, Term};

/// How much one request may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Conditions on several inputs in one slice.
    pub slice: usize,
    /// Operations that one tier may evaluate.
    pub evaluations: u64,
    /// Conflicts of the SAT solver, and literals that it propagates.
    pub conflicts: u64,
    pub propagations: u64,
    /// Variables of one SAT instance.
    pub variables: usize,
    /// The length of a stream in a model.
    pub length: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            slice: 20_000,
            evaluations: 8_000_000,
            conflicts: 2_000,
            propagations: 10_000_000,
            variables: 100_000,
            length: 1 << 20,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Config {
    pub limits: Limits,
    /// How many bytes the solver may use for what it remembers. If it needs more, it forgets.
    pub max_memory: usize,
    /// True to leave a flip unknown, instead of solving it again without the conditions on
    /// several inputs.
    pub no_retries: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config { limits: Limits::default(), max_memory: usize::MAX, no_retries: false }
    }
}

/// Conditions that a relaxed request may keep.
const MAX_NEAREST: usize = 32;
/// The limits of a relaxed request are the usual ones divided by this.
const RELAXED_DIVISOR: u64 = 16;

/// Solves flips. Each worker has one.
pub struct Solver {
    config: Config,
    /// For [`Solver::relax`].
    relaxed_config: Config,
    scratch: Scratch,
    tiers: Tiers,
    stats: Stats,
}

impl Solver {
    pub fn new(mut config: Config) -> Solver {
        config.limits.length = config.limits.length.min((1 << LENGTH_BITS) - 1);
        let mut relaxed_config = config.clone();
        relaxed_config.limits.evaluations /= RELAXED_DIVISOR;
        relaxed_config.limits.conflicts /= RELAXED_DIVISOR;
        Solver {
            config,
            relaxed_config,
            scratch: Scratch::default(),
            tiers: Tiers::default(),
            stats: Stats::default(),
        }
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Bytes of memory for what is remembered.
    pub fn memory(&self) -> usize {
        self.scratch.memory() + self.tiers.memory()
    }

    /// Forgets answers if they take more memory than they may.
    fn limit_memory(&mut self) {
        if self.memory() > self.config.max_memory {
            self.tiers.clear();
            self.scratch.memo.clear();
        }
        // Buffers that one long path has made large.
        if self.memory() > self.config.max_memory {
            let work = self.scratch.work();
            self.scratch = Scratch { graph_work: work, ..Scratch::default() };
        }
    }

    /// An input that keeps every decision of `path` before `at`, and decides this one as
    /// `goal` says.
    pub fn flip(&mut self, path: &mut Path, at: usize, goal: Goal) -> Answer {
        let before = self.scratch.work();
        let mut cost = Cost::default();
        let (verdict, tier, cached) = self.decide(path, at, goal, &mut cost);
        self.limit_memory();
        let work = self.scratch.work() - before + cost.sat;
        pleach_work::count(work);
        // The tier of the answer counts as asked, even if rules or the cache answered.
        cost.add(tier, 0);
        let stats = &mut self.stats;
        stats.asked += 1;
        stats.work += work;
        stats.rejected += cost.rejected;
        stats.cached += u64::from(cached);
        stats.by_tier[tier as usize] += 1;
        *match verdict {
            Verdict::Sat(_) => &mut stats.sat,
            Verdict::Optimistic(_) => &mut stats.optimistic,
            Verdict::Unsat => &mut stats.unsat,
            Verdict::Unknown(_) => &mut stats.unknown,
        } += 1;
        Answer { verdict, tier, cached, work, by_tier: cost.by_tier }
    }

    /// Models that keep only some of the conditions before a flip, for a flip that no model
    /// with all conditions reaches. One model keeps as many as possible of the nearest
    /// conditions on the same inputs, another one keeps none. Also returns the work.
    ///
    /// Many conditions do not matter for the flip: a program that prints a number decides
    /// on each digit, and so pins the number. QSYM (Yun et al., USENIX Security 2018) calls
    /// this optimistic solving.
    pub fn relax(&mut self, path: &mut Path, at: usize, goal: Goal) -> (Vec<Model>, u64) {
        let before = self.scratch.work();
        let mut cost = Cost::default();
        let models = self.relaxed_models(path, at, goal, &mut cost);
        let work = self.scratch.work() - before + cost.sat;
        pleach_work::count(work);
        self.stats.work += work;
        self.stats.rejected += cost.rejected;
        (models, work)
    }

    fn relaxed_models(
        &mut self,
        path: &mut Path,
        at: usize,
        goal: Goal,
        cost: &mut Cost,
    ) -> Vec<Model> {
        let Some(goals) = path.goal_terms(at, goal) else { return Vec::new() };
        let nearest = path.nearest(at, &goals, MAX_NEAREST);
        let Solver { relaxed_config, scratch, tiers, .. } = self;
        let mut solve = |kept: usize| {
            let goals: Vec<Term> = goals.iter().chain(&nearest[..kept]).copied().collect();
            // No condition is before step 0, so only the goals count.
            let mut request = Request::new(path, scratch, &relaxed_config.limits, 0, goals, true);
            match tiers.solve(&mut request, goal, cost).found {
                Ok(Found::Sat(changes)) => Some(Model::new(&changes)),
                _ => None,
            }
        };
        let Some(alone) = solve(0) else { return Vec::new() };
        let mut models = vec![alone];
        // Bisection: `best` conditions can be kept, `too_many` cannot.
        let (mut best, mut too_many) = (0, nearest.len() + 1);
        while best + 1 < too_many && !pleach_work::is_stopping() {
            let kept = best.midpoint(too_many);
            match solve(kept) {
                Some(model) => {
                    best = kept;
                    models.truncate(1);
                    models.push(model);
                }
                None => too_many = kept,
            }
        }
        models.dedup();
        models.reverse();
        models
    }

    fn decide(
        &mut self,
        path: &mut Path,
        at: usize,
        goal: Goal,
        cost: &mut Cost,
    ) -> (Verdict, Tier, bool) {
        let Some(goals) = path.goal_terms(at, goal) else {
            return (Verdict::Unknown(Why::NoGoal), Tier::Rules, false);
        };
        if path.is_implied(at) || goals.iter().any(|&g| path.pool.constant(g) == Some(0)) {
            return (Verdict::Unsat, Tier::Rules, false);
        }
        if goals.iter().all(|&g| path.values.low(g) != 0) {
            return (Verdict::Unknown(Why::Inconsistent), Tier::Rules, false);
        }
        let Solver { config, scratch, tiers, .. } = self;
        let mut request = Request::new(path, scratch, &config.limits, at, goals.clone(), false);
        let answer = tiers.solve(&mut request, goal, cost);
        let (tier, cached) = (answer.tier, answer.cached);
        let why = match answer.found {
            Ok(Found::Sat(changes)) => return (Verdict::Sat(Model::new(&changes)), tier, cached),
            Ok(Found::Unsat) => return (Verdict::Unsat, tier, cached),
            Ok(Found::TooLong) => Why::Length,
            Err(Refused::Memory) => Why::Memory,
            _ => Why::Work,
        };
        if config.no_retries {
            return (Verdict::Unknown(why), tier, cached);
        }
        let mut request = Request::new(path, scratch, &config.limits, at, goals, true);
        let alone = tiers.solve(&mut request, goal, cost);
        match alone.found {
            Ok(Found::Sat(changes)) => (Verdict::Optimistic(Model::new(&changes)), tier, false),
            // The goal has no model without the other conditions, so it has none with them.
            Ok(Found::Unsat) => (Verdict::Unsat, alone.tier, alone.cached),
            _ => (Verdict::Unknown(why), tier, false),
        }
    }
}
