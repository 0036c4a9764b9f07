//! The order in which the tiers are asked, and what is counted.

use crate::cache::{Cache, Key};
use crate::complete::{self, Refused};
use crate::interrupt::Interrupt;
use crate::model::Model;
use crate::path::{Goal, Path};
use crate::request::{Changes, Found, Request, Scratch, Slice};
use crate::{domains, inversion, layers, search};
use pleach_expr::{LENGTH_BITS, Term};
use std::time::Duration;

/// How much one request may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Conditions on several inputs that are taken together.
    pub slice: usize,
    /// Operations that are evaluated in a tier that only tries.
    pub evaluations: u64,
    /// Conflicts of the SAT solver.
    pub conflicts: u64,
    /// Variables of one SAT instance.
    pub variables: usize,
    /// The longest stream that a model may ask for.
    pub length: u64,
    /// Time of one question to the SAT solver, for what counting work does not
    /// foresee. An answer that hits it may be another one on a slower machine.
    pub guard: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            slice: 20_000,
            evaluations: 8_000_000,
            conflicts: 2_000,
            variables: 100_000,
            length: 1 << 20,
            guard: Duration::from_secs(10),
        }
    }
}

/// How a solver is set up.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub limits: Limits,
    /// Ends a request early; its answer is then unknown.
    pub interrupt: Interrupt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The model satisfies every condition before the flip, and the goal.
    Sat(Model),
    /// The model satisfies the goal and what conditions say of its bytes one by
    /// one; conditions that tie bytes together were left out.
    Optimistic(Model),
    /// There is no such input.
    Unsat,
    Unknown(Why),
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The step has no such goal.
    NoGoal,
    /// The goal holds already: the trace is not one of this input.
    Inconsistent,
    /// The limit of work.
    Work,
    /// The limit of memory.
    Memory,
    /// Only an input longer than allowed could do it.
    Length,
}

/// Who gave the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Simplification alone.
    Rules,
    Domains,
    Inversion,
    Search,
    Complete,
}

impl Tier {
    pub const ALL: [Tier; 5] =
        [Tier::Rules, Tier::Domains, Tier::Inversion, Tier::Search, Tier::Complete];

    pub fn name(self) -> &'static str {
        match self {
            Tier::Rules => "rules",
            Tier::Domains => "domains",
            Tier::Inversion => "inversion",
            Tier::Search => "search",
            Tier::Complete => "complete",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    pub tier: Tier,
    /// It was found for an equal request before.
    pub cached: bool,
    /// Operations evaluated, and what the SAT solver did, in their terms. An operation takes
    /// some 5 ns.
    pub work: u64,
    /// The same by tier, in the order of [`Tier::ALL`]; nothing for tiers that were not
    /// asked.
    pub by_tier: [Option<u64>; 5],
}

/// What the tiers did for one request.
#[derive(Default)]
struct Spent {
    by_tier: [Option<u64>; 5],
    /// Work of the SAT solver.
    completing: u64,
}

impl Spent {
    fn add(&mut self, tier: Tier, work: u64) {
        *self.by_tier[tier as usize].get_or_insert(0) += work;
    }
}

/// What was asked of a solver, and how it was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub asked: u64,
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
    pub optimistic: u64,
    pub cached: u64,
    /// Answers by tier, those without a verdict included.
    pub by_tier: [u64; 5],
    /// Models that did not pass the evaluation. Each is a defect of a tier; none
    /// has left.
    pub rejected: u64,
    pub work: u64,
}

/// Conditions that a model for an infeasible flip tries to keep.
const MAX_NEAREST: usize = 32;
/// The part of the limits that a request for an infeasible flip has.
const RELAXED: u64 = 16;

/// One for each worker.
pub struct Solver {
    config: Config,
    /// For flips that have no model with all conditions.
    relaxed: Config,
    scratch: Scratch,
    cache: Cache,
    switch: Switch,
    stats: Stats,
}

impl Solver {
    pub fn new(mut config: Config) -> Solver {
        config.limits.length = config.limits.length.min((1 << LENGTH_BITS) - 1);
        let mut relaxed = config.clone();
        relaxed.limits.evaluations /= RELAXED;
        relaxed.limits.conflicts /= RELAXED;
        Solver {
            config,
            relaxed,
            scratch: Scratch::default(),
            cache: Cache::default(),
            switch: Switch::default(),
            stats: Stats::default(),
        }
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// An input that keeps every decision of `path` before `at`, and decides this
    /// one as `goal` says.
    pub fn flip(&mut self, path: &mut Path, at: usize, goal: Goal) -> Answer {
        let before = self.scratch.work();
        let mut spent = Spent::default();
        let (verdict, tier, cached) = self.decide(path, at, goal, &mut spent);
        let work = self.scratch.work() - before + spent.completing;
        // Simplification is never asked, and the cache answers for others.
        spent.add(tier, 0);
        let by_tier = spent.by_tier;
        let stats = &mut self.stats;
        stats.asked += 1;
        stats.work += work;
        stats.cached += u64::from(cached);
        stats.by_tier[tier as usize] += 1;
        *match verdict {
            Verdict::Sat(_) => &mut stats.sat,
            Verdict::Optimistic(_) => &mut stats.optimistic,
            Verdict::Unsat => &mut stats.unsat,
            Verdict::Unknown(_) => &mut stats.unknown,
        } += 1;
        Answer { verdict, tier, cached, work, by_tier }
    }

    /// Models that keep only some of the conditions before a flip, for one that has no
    /// model with all of them: with the conditions nearest to it on the same inputs, as
    /// many as can be kept, and with none. Also the work that was done.
    ///
    /// A condition may hold for no reason that the program cares about: whoever prints a
    /// number decides on its value, and pins it. QSYM (Yun et al., USENIX Security 2018)
    /// calls this optimistic solving.
    pub fn relax(&mut self, path: &mut Path, at: usize, goal: Goal) -> (Vec<Model>, u64) {
        let before = self.scratch.work();
        let mut completing = 0;
        let models = self.relaxed(path, at, goal, &mut completing);
        let work = self.scratch.work() - before + completing;
        self.stats.work += work;
        (models, work)
    }

    fn relaxed(
        &mut self,
        path: &mut Path,
        at: usize,
        goal: Goal,
        completing: &mut u64,
    ) -> Vec<Model> {
        let Some(goals) = path.wanted(at, goal) else { return Vec::new() };
        let nearest = path.nearest(at, &goals, MAX_NEAREST);
        let Solver { relaxed, scratch, cache, switch, stats, .. } = self;
        let mut solve = |kept: usize| {
            let goals: Vec<Term> = goals.iter().chain(&nearest[..kept]).copied().collect();
            // Nothing holds before step 0, so nothing but the goals is kept.
            let mut request = Request::new(path, scratch, relaxed, 0, goals, true);
            let spent = &mut Spent::default();
            let asked = tiers(&mut request, goal, switch, cache, spent, &mut stats.rejected);
            *completing += spent.completing;
            match asked.found {
                Ok(Found::Sat(changes)) => Some(Model::new(&changes)),
                _ => None,
            }
        };
        let Some(alone) = solve(0) else { return Vec::new() };
        let (mut models, mut best) = (vec![alone], 0);
        let mut too_many = nearest.len() + 1;
        while best + 1 < too_many && !self.config.interrupt.is_set() {
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
        spent: &mut Spent,
    ) -> (Verdict, Tier, bool) {
        let Some(goals) = path.wanted(at, goal) else {
            return (Verdict::Unknown(Why::NoGoal), Tier::Rules, false);
        };
        if goals.iter().any(|&g| path.pool.constant(g) == Some(0)) {
            return (Verdict::Unsat, Tier::Rules, false);
        }
        if goals.iter().all(|&g| path.values.low(g) != 0) {
            return (Verdict::Unknown(Why::Inconsistent), Tier::Rules, false);
        }
        let Solver { config, scratch, cache, switch, stats, .. } = self;
        let mut request = Request::new(path, scratch, config, at, goals.clone(), false);
        let Asked { found, tier, cached } =
            tiers(&mut request, goal, switch, cache, spent, &mut stats.rejected);
        let why = match found {
            Ok(Found::Sat(changes)) => return (Verdict::Sat(Model::new(&changes)), tier, cached),
            Ok(Found::Unsat) => return (Verdict::Unsat, tier, cached),
            Ok(Found::TooLong) => Why::Length,
            Err(Refused::Memory) => Why::Memory,
            _ => Why::Work,
        };
        let mut request = Request::new(path, scratch, config, at, goals, true);
        let alone = tiers(&mut request, goal, switch, cache, spent, &mut stats.rejected);
        match alone.found {
            Ok(Found::Sat(changes)) => (Verdict::Optimistic(Model::new(&changes)), tier, false),
            // Without the other conditions there is none, so with them neither.
            Ok(Found::Unsat) => (Verdict::Unsat, alone.tier, alone.cached),
            _ => (Verdict::Unknown(why), tier, false),
        }
    }
}

/// Asks the tiers in turn.
fn tiers(
    request: &mut Request,
    goal: Goal,
    switch: &mut Switch,
    cache: &mut Cache,
    spent: &mut Spent,
    rejected: &mut u64,
) -> Asked {
    let mut before = request.scratch.work();
    // All that was evaluated since the last call is a tier's.
    let mut charge = |request: &Request, spent: &mut Spent, tier: Tier| {
        spent.add(tier, request.scratch.work() - before);
        before = request.scratch.work();
    };
    let mut checked = |request: &mut Request, found: Found| match found {
        Found::Sat(changes) if !request.holds(&changes) => {
            *rejected += 1;
            debug_assert!(false, "a tier gave a wrong model: {changes:?}");
            Found::Pass
        }
        found => found,
    };
    let found = domains::solve(request);
    let found = checked(request, found);
    charge(request, spent, Tier::Domains);
    if found != Found::Pass {
        return Asked { found: Ok(found), tier: Tier::Domains, cached: false };
    }
    if let Some((found, known)) = switched(request, goal, switch) {
        let found = checked(request, found);
        charge(request, spent, Tier::Domains);
        if found != Found::Pass {
            return Asked { found: Ok(found), tier: Tier::Domains, cached: known };
        }
    }
    let Some(slice) = request.slice() else {
        return Asked { found: Err(Refused::Work), tier: Tier::Complete, cached: false };
    };
    let key = Key::new(request, &slice);
    if let Some((found, tier)) = cache.get(request, &key) {
        return Asked { found: Ok(found), tier, cached: true };
    }
    type Attempt = fn(&mut Request, &Slice) -> Found;
    let attempts: [(Tier, Attempt); 3] = [
        (Tier::Inversion, |request, _| inversion::solve(request)),
        (Tier::Domains, layers::solve),
        (Tier::Search, |request, _| search::solve(request)),
    ];
    for (tier, attempt) in attempts {
        if request.interrupt.is_set() {
            return Asked { found: Err(Refused::Work), tier, cached: false };
        }
        let found = attempt(request, &slice);
        let found = checked(request, found);
        charge(request, spent, tier);
        if found != Found::Pass {
            cache.put(request, key, &found, tier);
            return Asked { found: Ok(found), tier, cached: false };
        }
    }
    let (answer, used) = complete::solve(request, &slice);
    spent.completing += used;
    spent.add(Tier::Complete, used);
    let found = match answer {
        Ok(found) => match checked(request, found) {
            Found::Pass => Err(Refused::Broken),
            found => {
                cache.put(request, key, &found, Tier::Complete);
                Ok(found)
            }
        },
        refused => refused,
    };
    charge(request, spent, Tier::Complete);
    Asked { found, tier: Tier::Complete, cached: false }
}

/// What the tiers said together.
struct Asked {
    found: Result<Found, Refused>,
    tier: Tier,
    cached: bool,
}

/// What the value of one step can be, found for one of its goals and kept for the
/// others.
#[derive(Default)]
struct Switch {
    /// The path and the step.
    about: (u64, usize),
    /// Nothing if there was too much to try.
    values: Option<Vec<(u64, Changes)>>,
}

/// The answer for a goal about a value, if all values of the step are known; and
/// whether they were before.
fn switched(request: &mut Request, goal: Goal, switch: &mut Switch) -> Option<(Found, bool)> {
    let (term, wanted) = request.path.switch(request.at, goal).filter(|_| !request.optimistic)?;
    let about = (request.path.serial, request.at);
    let known = switch.about == about;
    if !known {
        let (path, scratch) = (&mut *request.path, &mut *request.scratch);
        let vars = path.pool.vars(term).collect();
        let Request { limits, interrupt, at, .. } = *request;
        let (goals, optimistic) = (vec![], false);
        let mut all = Request { path, scratch, limits, at, goals, vars, optimistic, interrupt };
        let values = all.slice().and_then(|slice| layers::values(&mut all, &slice, term));
        *switch = Switch { about, values };
    }
    let ways = switch.values.as_ref()?;
    let way = ways.iter().filter(|w| wanted.allows(w.0)).min_by_key(|w| w.1.len());
    Some((way.map_or(Found::Unsat, |w| Found::Sat(w.1.clone())), known))
}
