//! The order of the tiers. Each model is checked here, and each tier is charged for its
//! work.
//!
//! Tiers that cost microseconds come first, and the graph of the path where it is built.
//! Then the cache is asked, whose key is the slice of the request; then the tiers of
//! [`SLICE_TIERS`]; the SAT solver comes last.
//! `docs/contributing/add-a-solver-tier.md` explains how to add a tier.

use crate::allowance::Allowance;
use crate::answer::Tier;
use crate::cache::{Cache, Key};
use crate::complete::{self, Refused};
use crate::merge::{self, Merged};
use crate::path::Goal;
use crate::request::{Found, LeftOut, Request, Slice};
use crate::switch::SwitchValues;
use crate::{checksum, domains, floats, inversion, layers, prefix, search};
use pleach_expr::Term;
use std::rc::Rc;

/// The tiers between the cache and local search, in their order. The SAT solver is last.
const SLICE_TIERS: [(Tier, SolveSlice); 4] = [
    (Tier::Inversion, |request, _| inversion::solve(request)),
    (Tier::Inversion, |request, _| checksum::solve_goal(request)),
    (Tier::Search, |request, _| floats::solve(request)),
    (Tier::Domains, layers::solve),
];

/// The place in the first tiers at which comparisons of checksums are left out. The tier behind it
/// evaluates all conditions on a byte, for many values. The graph of the path comes before it: the
/// states of a generated lexer can look like checksums, and the graph gives up real ones early.
const BEFORE_SUMS: usize = 4;

/// Local search costs this part of what the SAT solver may cost.
const SEARCH_DIVISOR: u64 = 16;

/// Conditions of a slice that is made without credit for the tiers that need it.
const MAX_CHEAP_SLICE: usize = 512;

type SolveSlice = fn(&mut Request, &Slice) -> Found;

/// What tiers keep from one request to the next.
pub(crate) struct Tiers {
    cache: Cache,
    switch: SwitchValues,
    /// What the search over several bytes, local search and the SAT solver may cost.
    layers: Allowance,
    search: Allowance,
    complete: Allowance,
    /// What requests without the comparisons of checksums may cost.
    sums: Allowance,
}

impl Default for Tiers {
    fn default() -> Self {
        Tiers {
            cache: Cache::default(),
            switch: SwitchValues::default(),
            layers: Allowance::default(),
            search: Allowance::divided_by(SEARCH_DIVISOR),
            complete: Allowance::default(),
            sums: Allowance::default(),
        }
    }
}

impl Tiers {
    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.cache.memory()
    }

    /// Forgets the answers.
    pub fn clear(&mut self) {
        self.cache.clear();
    }
}

/// The answer of the tiers to one request.
pub(crate) struct TierAnswer {
    pub found: Result<Found, Refused>,
    pub tier: Tier,
    pub cached: bool,
}

/// What the tiers did for one flip.
#[derive(Default)]
pub(crate) struct Cost {
    /// The work by tier; `None` for tiers that were not asked.
    pub by_tier: [Option<u64>; Tier::COUNT],
    /// The work of the SAT solver. `Scratch::work` does not include it.
    pub sat: u64,
    /// Models that failed their check.
    pub rejected: u64,
}

impl Cost {
    pub fn add(&mut self, tier: Tier, work: u64) {
        *self.by_tier[tier as usize].get_or_insert(0) += work;
    }
}

impl Tiers {
    /// Asks the tiers in turn, until one has an answer.
    pub fn solve(&mut self, request: &mut Request, goal: Goal, cost: &mut Cost) -> TierAnswer {
        let answer = |found, tier, cached| TierAnswer { found, tier, cached };
        let mut judge = Judge { work_before: request.scratch.work(), cost };
        let first: [fn(&mut Request, Goal) -> Found; 5] = [
            prefix::solve_built,
            |request, _| domains::solve_byte(request),
            |request, _| domains::solve_few(request),
            prefix::solve,
            |request, _| domains::solve(request),
        ];
        for (place, solve) in first.into_iter().enumerate() {
            if place == BEFORE_SUMS
                && let Some((found, tier)) = self.solve_without_sums(request, goal, &mut judge)
            {
                return answer(Ok(found), tier, false);
            }
            if request.is_over() {
                return answer(Err(Refused::Work), Tier::Domains, false);
            }
            let found = solve(request, goal);
            let found = judge.accept(request, Tier::Domains, found);
            if found != Found::Pass {
                return answer(Ok(found), Tier::Domains, false);
            }
        }
        self.layers.earn();
        self.search.earn();
        self.complete.earn();
        if let Some((found, cached)) = self.switch.solve(request, goal, &mut self.layers) {
            let found = judge.accept(request, Tier::Domains, found);
            if found != Found::Pass {
                return answer(Ok(found), Tier::Domains, cached);
            }
        }
        // Without credit, only the cache and cheap tiers can answer.
        let has_credit = self.layers.available().or(self.complete.available()).is_some();
        let max_conditions = if has_credit { request.limits.slice } else { MAX_CHEAP_SLICE };
        let Some(slice) = request.slice(max_conditions) else {
            return answer(Err(Refused::Work), Tier::Complete, false);
        };
        let key = Key::new(request, &slice);
        if let Some((found, tier)) = self.cache.get(request, &key) {
            return answer(Ok(found), tier, true);
        }
        let (found, tier) = match merge::merge(request, &slice) {
            None => self.solve_slice(request, &slice, &mut judge),
            Some(Merged::Unsat) => (Ok(Found::Unsat), Tier::Domains),
            Some(Merged::Goals(goals, classes)) => {
                let (found, tier) = self.solve_merged(request, goals, &mut judge);
                let expanded = found.map(|found| match found {
                    Found::Sat(changes) => Found::Sat(classes.expand(request, &changes)),
                    found => found,
                });
                (expanded.map(|found| judge.accept(request, tier, found)), tier)
            }
        };
        let found = match found {
            Ok(Found::Pass) => Err(Refused::Broken),
            found => found,
        };
        if let Ok(found) = &found {
            self.cache.put(request, key, found, tier);
        }
        answer(found, tier, false)
    }

    /// Solves a request without the comparisons of checksums before its flip, and meets these
    /// after that. `None` if there are none, or that did not work.
    fn solve_without_sums(
        &mut self,
        request: &mut Request,
        goal: Goal,
        judge: &mut Judge,
    ) -> Option<(Found, Tier)> {
        if !request.keeps_all() || self.sums.available().is_none() {
            return None;
        }
        let sums = checksum::sums_of(request);
        if sums.is_empty() {
            return None;
        }
        self.sums.earn();
        let before = request.scratch.work();
        let atoms: Vec<u32> = sums.iter().map(|s| s.atom).collect();
        let left_out = Rc::new(LeftOut::new(request.path, &atoms));
        let (path, scratch) = (&mut *request.path, &mut *request.scratch);
        let goals = request.goals.clone();
        let mut without = Request::new(path, scratch, request.limits, request.at, goals, false);
        (without.left_out, without.max_work) = (Some(left_out), request.max_work);
        let answer = self.solve(&mut without, goal, judge.cost);
        judge.work_before = request.scratch.work();
        let found = match answer.found {
            Ok(Found::Unsat) => Found::Unsat,
            Ok(Found::Sat(model)) => match checksum::complete(request, &sums, model) {
                Some(changes) => Found::Sat(changes),
                None => Found::Pass,
            },
            _ => Found::Pass,
        };
        let found = judge.accept(request, answer.tier, found);
        let has_found = found != Found::Pass;
        self.sums.pay(request.scratch.work() - before, has_found);
        has_found.then_some((found, answer.tier))
    }

    /// Asks the tiers for conditions that are all goals.
    fn solve_merged(
        &mut self,
        request: &mut Request,
        goals: Vec<Term>,
        judge: &mut Judge,
    ) -> (Result<Found, Refused>, Tier) {
        let (path, scratch) = (&mut *request.path, &mut *request.scratch);
        let mut merged = Request::new(path, scratch, request.limits, request.at, goals, true);
        merged.max_work = request.max_work;
        match merged.slice(request.limits.slice) {
            Some(slice) => self.solve_slice(&mut merged, &slice, judge),
            None => (Err(Refused::Work), Tier::Complete),
        }
    }

    /// Asks the tiers that need the slice of a request.
    fn solve_slice(
        &mut self,
        request: &mut Request,
        slice: &Slice,
        judge: &mut Judge,
    ) -> (Result<Found, Refused>, Tier) {
        for (tier, solve) in SLICE_TIERS {
            if request.is_over() {
                return (Err(Refused::Work), tier);
            }
            let before = request.scratch.work();
            let is_layers = tier == Tier::Domains;
            if is_layers && self.layers.available().is_none() {
                continue;
            }
            let found = solve(request, slice);
            let found = judge.accept(request, tier, found);
            if is_layers {
                self.layers.pay(request.scratch.work() - before, found != Found::Pass);
            }
            if found != Found::Pass {
                return (Ok(found), tier);
            }
        }
        // Where local search finds nothing, the SAT solver is asked first.
        let is_search_first =
            self.search.available().is_some() || self.complete.available().is_none();
        if is_search_first && let Some(found) = self.search(request, judge) {
            return (found, Tier::Search);
        }
        let Some(available) = self.complete.available() else {
            judge.cost.add(Tier::Complete, 0);
            return (Err(Refused::Work), Tier::Complete);
        };
        let (solved, sat_work) = complete::solve(request, slice, available);
        self.complete.pay(sat_work, solved.is_ok());
        judge.cost.sat += sat_work;
        judge.cost.add(Tier::Complete, sat_work);
        let found = solved.map(|found| judge.accept(request, Tier::Complete, found));
        if found.is_err()
            && !is_search_first
            && let Some(found) = self.search(request, judge)
        {
            return (found, Tier::Search);
        }
        (found, Tier::Complete)
    }

    /// Asks local search. `None` if it has no answer.
    fn search(
        &mut self,
        request: &mut Request,
        judge: &mut Judge,
    ) -> Option<Result<Found, Refused>> {
        if request.is_over() {
            return Some(Err(Refused::Work));
        }
        let before = request.scratch.work();
        let found = search::solve(request);
        let found = judge.accept(request, Tier::Search, found);
        let has_found = found != Found::Pass;
        self.search.pay(request.scratch.work() - before, has_found);
        has_found.then_some(Ok(found))
    }
}

/// Checks models and charges tiers for their work.
struct Judge<'c> {
    cost: &'c mut Cost,
    /// All work up to the last charge.
    work_before: u64,
}

impl Judge<'_> {
    /// Returns what a tier found, but [`Found::Pass`] for a model that does not hold, or if
    /// the thread must stop: then models are not checked. Charges the tier for all work since the last call.
    fn accept(&mut self, request: &mut Request, tier: Tier, found: Found) -> Found {
        let found = match found {
            _ if pleach_work::is_stopping() => Found::Pass,
            Found::Sat(changes) if !request.holds(&changes) => {
                if pleach_work::is_stopping() {
                    return Found::Pass;
                }
                self.cost.rejected += 1;
                debug_assert!(false, "tier {tier:?} gave a wrong model: {changes:?}");
                Found::Pass
            }
            found => found,
        };
        let work = request.scratch.work();
        self.cost.add(tier, work - self.work_before);
        self.work_before = work;
        found
    }
}
