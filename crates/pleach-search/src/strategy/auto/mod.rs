//! The default strategy.
//!
//! Mutation quickly finds what is near and frequent. Flips find what is rare and exact: a
//! keyword, a magic number, a length. Neither is better everywhere, and the better one
//! changes within a minute. So `auto` has several *arms* and gives more of the budget to
//! those that gained most lately ([`Bandit`]). Four arms need no grammar:
//!
//! - **Goals**: flips to branches that no run took. Every input that took a new branch is
//!   traced soon, and the flips of its run to uncovered branches are asked at once. A goal
//!   that is refused again and again is asked less and less often ([`Goals`]). While this
//!   arm has work, it gets at least 24 % of the budget.
//! - **Steps**: flips of decisions that are not branches: one character of a comparison in
//!   a libc model, a length, a check. Their results are traced even if they gained nothing,
//!   because a keyword gains something only with its last character.
//! - **Paths**: other open flips of inputs that gained something, as in [generational
//!   search](super::generational), those first that were flipped least so far ([`Paths`]).
//! - **Mutation** of the inputs in the queue, in bursts ([`Queue`]).
//!
//! Two arms need a grammar, and one also a token function:
//!
//! - **Grammar**: sentences of the grammar, small nested ones and random ones in turn.
//! - **Grafts**: inputs made by the grammar from parts of inputs in the queue, in bursts.
//! - **Tokens**: flips of the parser's decisions on tokens ([`Tokens`]).
//!
//! With places to get to, what is near them comes first in each arm ([`Guide`]).
//!
//! Costs are estimated microseconds, and no clock is read. So the same seed gives the same
//! search. The campaign estimates the costs of executions and flips, and this file those of
//! traces.

mod answers;
mod bandit;
pub(super) mod goals;
mod guide;
mod paths;
mod queue;
pub(super) mod tokens;

use super::generational::Rank;
use super::{
    Action, Derives, Descriptor, ExecutionReport, FirstInputs, Options, Origin, Strategy, TokenUse,
    Verdict, View,
};
use crate::counts::Counts;
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};
use bandit::{Arm, Bandit};
use goals::{GoalFlip, Goals};
use guide::Guide;
use paths::{PathAction, Paths};
use queue::Queue;
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use tokens::{Next, Tokens};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "auto",
    about: "mutation, flips and grammar; what gained most lately gets more time",
    use_for: "everything; start here",
    seeds: FirstInputs::GivenAndCovering,
    keeps_hit_counts: true,
    tokens: Some(TokenUse::Complete),
    grafts: true,
    derives: Derives::NestedAndSamples,
    make: |o| Box::new(Auto::new(&o)),
    ..Descriptor::COMMON
};

/// Costs besides the work of the solver (flips) and the program's own work (traces), in
/// microseconds.
const FLIP_OVERHEAD: f64 = 20.0;
const TOKEN_FLIP_OVERHEAD: f64 = 200.0;
/// A trace always has a process of its own.
const TRACE_OVERHEAD: f64 = 550.0;
/// A run that is not one of a burst: the driver and the process take turns for it.
const MIN_SINGLE_COST: f64 = 80.0;
/// How much slower the symbolic half is than the fast half.
const TRACE_SLOWDOWN: f64 = 4.0;
/// The cost of reading one decision of a trace.
const DECISION_COST: f64 = 0.7;
/// The extra cost of a crash or hang: sometimes triage, sometimes a new process.
const BAD_END_COST: f64 = 300.0;
/// The reward for a new branch. The reward for a new hit count is 1.
const BRANCH_REWARD: f64 = 16.0;
/// The most inputs without a new branch that wait to be traced.
const MAX_WAITING_STEPS: usize = 4096;
/// The most flips without a result that are remembered: several for each worker.
const MAX_REFUSED: usize = 1024;
/// While fewer seeds than this wait, seeds without a new branch are traced first, too.
const MAX_FIRST_SEEDS: usize = 64;

#[derive(Default)]
pub(super) struct Auto {
    bandit: Bandit,
    queue: Queue,
    goals: Goals,
    paths: Paths,
    seeds: VecDeque<InputId>,
    /// Inputs with new branches, not traced yet; the latest first.
    fresh: Vec<InputId>,
    /// Results of steps, not traced yet.
    steps: VecDeque<InputId>,
    /// Flips under way: the arm that asked, and the goal if there is one.
    asked: HashMap<Flip, (Arm, Option<GoalFlip>)>,
    /// The last flips without a result. Inputs that satisfy only some of the conditions may
    /// still be tried for them.
    refused: VecDeque<(Flip, Arm)>,
    tracing: HashMap<InputId, Arm>,
    last_arm: Option<Arm>,
    /// True while the grammar has more sentences to derive.
    derives: bool,
    has_grammar: bool,
    tokens: Option<Tokens>,
    /// What is near the places that the search should get to.
    guide: Option<Guide>,
}

impl Auto {
    pub fn new(options: &Options) -> Auto {
        let has_grammar = options.grammar;
        let tokens = (has_grammar && options.tokens).then(Tokens::default);
        let mut enabled = [true; Arm::COUNT];
        enabled[Arm::Grammar as usize] = has_grammar;
        enabled[Arm::Grafts as usize] = has_grammar;
        enabled[Arm::Tokens as usize] = tokens.is_some();
        let bandit = Bandit::new(enabled, options.flip_share);
        Auto { bandit, derives: has_grammar, has_grammar, tokens, ..Auto::default() }
    }

    /// The same, but what is nearest to the places of the options comes first.
    pub fn toward(options: &Options) -> Auto {
        Auto { guide: options.aim.clone().map(Guide::new), ..Auto::new(options) }
    }
}

impl Strategy for Auto {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        self.update_guide(view);
        if let Some(input) = self.seeds.pop_front() {
            return self.trace(input, Arm::Goals);
        }
        let mut idle = [false; Arm::COUNT];
        idle[Arm::Grammar as usize] = !self.derives;
        while let Some(arm) = self.bandit.choose(&idle) {
            let action = match arm {
                Arm::Goals => self.next_goal(view),
                Arm::Steps => self.next_step(view),
                Arm::Paths => self.next_path(view),
                Arm::Mutation => self.next_mutation(view, rng),
                Arm::Grammar => Some(Action::Derive),
                Arm::Grafts => self.next_graft(view, rng),
                Arm::Tokens => self.next_on_tokens(view),
            };
            if let Some(action) = action {
                self.last_arm = Some(arm);
                return action;
            }
            idle[arm as usize] = true;
        }
        Action::Wait
    }

    fn record_execution(&mut self, view: &View, news: &ExecutionReport) {
        let gain = BRANCH_REWARD * f64::from(news.branches) + f64::from(news.buckets);
        let bad = if news.bad { BAD_END_COST } else { 0.0 };
        // The cost of a burst was charged when it began, for children that end well.
        let cost = f64::from(news.cost.total());
        let bad_child = if news.bad { BAD_END_COST + cost } else { 0.0 };
        let (mut stepped, mut by_tokens) = (false, false);
        match news.origin {
            Origin::Flip(flip) => {
                let asked = self.asked.remove(&flip);
                let relaxed = || self.refused_arm(flip).map(|arm| (arm, None));
                if let Some((arm, asked)) = asked.or_else(relaxed) {
                    stepped = asked.is_some_and(|a| a.is_step);
                    by_tokens = arm == Arm::Tokens;
                    self.bandit.spend(arm, cost.max(MIN_SINGLE_COST) + bad);
                    self.bandit.reward(arm, gain);
                }
            }
            Origin::Graft(parent) => {
                self.bandit.spend(Arm::Grafts, bad_child);
                self.bandit.reward(Arm::Grafts, gain);
                self.queue.record_child(parent, gain, news.bad);
            }
            Origin::Mutant(parent) => {
                self.bandit.spend(Arm::Mutation, bad_child);
                self.bandit.reward(Arm::Mutation, gain);
                self.queue.record_child(parent, gain, news.bad);
            }
            Origin::Derived => {
                self.bandit.spend(Arm::Grammar, cost.max(MIN_SINGLE_COST) + bad);
                self.bandit.reward(Arm::Grammar, gain);
            }
            Origin::Seed
            | Origin::Random
            | Origin::Live
            | Origin::Recalled
            | Origin::Imported
            | Origin::Task => {}
        }
        if let Some(tokens) = &mut self.tokens {
            tokens.record_execution(view, news, stepped && by_tokens, by_tokens);
        }
        let Some(input) = news.input else { return };
        let is_seed = news.origin == Origin::Seed;
        let distance = self.guide.as_ref().map_or(0, |guide| guide.of_input(input));
        if is_seed || gain > 0.0 {
            self.queue.add(input, news, distance);
        }
        if is_seed && (news.branches > 0 || self.seeds.len() < MAX_FIRST_SEEDS) {
            self.seeds.push_back(input);
        } else if is_seed {
            // There may be thousands of seeds that cover the same branches.
            self.steps.push_back(input);
        } else if news.branches > 0 && !news.hung {
            self.fresh.push(input);
        } else if stepped && !by_tokens && !news.hung && self.steps.len() < MAX_WAITING_STEPS {
            self.steps.push_back(input);
        }
        match news.origin {
            _ if is_seed || (gain > 0.0 && !news.hung) => {
                self.paths.add(input, distance, Rank::new(news));
            }
            // What others found may gain nothing here, and has flips of its own.
            Origin::Recalled | Origin::Imported if !news.hung => {
                self.paths.add_recalled(input, Rank::new(news));
            }
            Origin::Flip(flip) if !news.hung && !by_tokens => {
                self.paths.add_without_gain(view, input, distance, Rank::new(news), flip);
            }
            _ => {}
        }
    }

    fn record_counts(&mut self, view: &View, input: InputId, counts: &Counts, is_kept: bool) {
        self.update_guide(view);
        if let Some(guide) = &mut self.guide {
            guide.add_input(input, counts, is_kept);
        }
    }

    fn record_trace(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        let arm = match run.tokens {
            true => Arm::Tokens,
            false => self.tracing.remove(&run.input).unwrap_or(Arm::Paths),
        };
        let work = self.queue.work(run.input).map_or(0.0, f64::from);
        let decisions = run.decisions.len() as f64 + run.left_out as f64;
        let mut cost = TRACE_OVERHEAD + TRACE_SLOWDOWN * work + DECISION_COST * decisions;
        if run.shared {
            // All members trace it, and each asks its part of the flips. If each charged all of
            // it, the arms that flip would seem so dear in a large fleet that it only mutated.
            cost /= view.tree.members() as f64;
        }
        self.bandit.spend(arm, cost);
        if let Some(tokens) = self.tokens.as_mut().filter(|_| run.tokens) {
            tokens.record_trace(view, id, run);
            return;
        }
        let guide = self.guide.as_ref();
        self.goals.add_run(view, id, run, guide);
        self.queue.record_run(view.program.branches(), run);
        self.paths.record_trace(view, id, run, arm == Arm::Paths, guide);
    }

    fn record_trace_failure(&mut self, _view: &View, input: InputId) {
        if let Some(arm) = self.tracing.remove(&input) {
            self.bandit.spend(arm, TRACE_OVERHEAD);
        }
        self.paths.forget(input);
        self.tokens.iter_mut().for_each(|t| t.record_trace_failure(input));
    }

    fn record_solver_cost(&mut self, flip: Flip, cost: f64) {
        let asked = self.asked.get(&flip).map(|(arm, _)| *arm);
        if let Some(arm) = asked.or_else(|| self.refused_arm(flip)) {
            self.bandit.spend(arm, cost);
        }
    }

    fn record_verdict(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        let solved = matches!(verdict, Verdict::Sat | Verdict::Optimistic);
        let arm = self.asked.get(&flip).map(|(arm, _)| *arm);
        let tokens = self.tokens.as_mut().filter(|_| arm == Some(Arm::Tokens));
        match tokens {
            _ if verdict == Verdict::Gone => {}
            Some(tokens) => tokens.record_verdict(view, flip, !solved),
            None => self.paths.record_verdict(view, flip, !solved),
        }
        if solved {
            return;
        }
        let asked = self.asked.remove(&flip);
        if let Some((arm, _)) = &asked
            && verdict != Verdict::Gone
        {
            self.refused.push_back((flip, *arm));
            if self.refused.len() > MAX_REFUSED {
                self.refused.pop_front();
            }
        }
        if let Some((arm, Some(asked))) = asked
            && verdict == Verdict::Gone
        {
            match &mut self.tokens {
                Some(tokens) if arm == Arm::Tokens => tokens.retry_later(&asked),
                _ => self.goals.retry_later(asked.input, asked.goal),
            }
        }
    }

    fn estimated_cost(&self) -> f64 {
        self.bandit.total_cost()
    }

    fn doing(&self) -> String {
        let now = self.last_arm.map_or("starting", Arm::name);
        let [goals, steps, paths, mutation, grammar, grafts, tokens] =
            self.bandit.shares().map(|s| (s * 100.0).round());
        let mut rest = String::new();
        if self.has_grammar {
            rest = format!(", grammar {grammar}, grafts {grafts}");
        }
        if self.tokens.is_some() {
            rest.push_str(&format!(", tokens {tokens}"));
        }
        format!("{now} (goals {goals}, steps {steps}, paths {paths}, mutation {mutation}{rest} %)")
    }

    fn record_grammar_exhausted(&mut self) {
        self.derives = false;
    }
}

impl Auto {
    /// Measures the distances again, if the goals have changed.
    fn update_guide(&mut self, view: &View) {
        let Some(guide) = &mut self.guide else { return };
        if guide.update(view.program, self.bandit.total_cost()) {
            guide.forget_last();
            self.goals.sort_again(guide);
            self.paths.sort_again(guide);
            self.queue.sort_again(guide);
        }
    }

    fn trace(&mut self, input: InputId, arm: Arm) -> Action {
        self.tracing.insert(input, arm);
        Action::Trace(input)
    }

    fn ask(&mut self, asked: GoalFlip, arm: Arm) -> Action {
        let flip = asked.flip;
        self.bandit.spend(arm, FLIP_OVERHEAD);
        self.asked.insert(flip, (arm, Some(asked)));
        Action::Flip(flip)
    }

    /// The arm that asked a flip without a result, if it was asked lately.
    fn refused_arm(&self, flip: Flip) -> Option<Arm> {
        // The one that is asked for is among the last.
        self.refused.iter().rev().find(|(f, _)| *f == flip).map(|(_, arm)| *arm)
    }

    fn next_goal(&mut self, view: &View) -> Option<Action> {
        if self.guide.is_some() && self.is_fresh_nearer() {
            let input = self.next_fresh()?;
            return Some(self.trace(input, Arm::Goals));
        }
        if let Some(asked) = self.goals.next_goal(view) {
            return Some(self.ask(asked, Arm::Goals));
        }
        let input = self.next_fresh().or_else(|| self.goals.next_retry())?;
        Some(self.trace(input, Arm::Goals))
    }

    /// True if an input that waits to be traced is at least as near as the next goal.
    fn is_fresh_nearer(&self) -> bool {
        let Some(guide) = &self.guide else { return false };
        let nearest = self.fresh.iter().map(|&input| Guide::branches(guide.of_input(input))).min();
        let goal = self.goals.next_distance();
        nearest.is_some_and(|nearest| goal.is_none_or(|goal| nearest <= goal))
    }

    /// The latest of the nearest inputs with new branches.
    fn next_fresh(&mut self) -> Option<InputId> {
        let Some(guide) = &self.guide else { return self.fresh.pop() };
        let distances = self.fresh.iter().map(|&input| guide.of_input(input));
        let (at, _) = distances.enumerate().min_by_key(|(at, d)| (*d, Reverse(*at)))?;
        Some(self.fresh.remove(at))
    }

    fn next_step(&mut self, view: &View) -> Option<Action> {
        // Results of earlier steps come before new steps.
        if let Some(input) = self.steps.pop_front() {
            return Some(self.trace(input, Arm::Steps));
        }
        let asked = self.goals.next_step(view)?;
        Some(self.ask(asked, Arm::Steps))
    }

    fn next_path(&mut self, view: &View) -> Option<Action> {
        Some(match self.paths.next(view, self.guide.as_ref())? {
            PathAction::Flip(flip) => {
                self.bandit.spend(Arm::Paths, FLIP_OVERHEAD);
                self.asked.insert(flip, (Arm::Paths, None));
                Action::Flip(flip)
            }
            PathAction::Trace(input) => self.trace(input, Arm::Paths),
        })
    }

    fn next_mutation(&mut self, view: &View, rng: &mut Rng) -> Option<Action> {
        let (input, count, cost) = self.queue.pick_burst(rng, view.tree.members())?;
        self.bandit.spend(Arm::Mutation, f64::from(count) * f64::from(cost));
        Some(Action::Mutate { input, count })
    }

    fn next_graft(&mut self, view: &View, rng: &mut Rng) -> Option<Action> {
        let (input, count, cost) = self.queue.pick_burst(rng, view.tree.members())?;
        self.bandit.spend(Arm::Grafts, f64::from(count) * f64::from(cost));
        Some(Action::Graft { input, count })
    }

    fn next_on_tokens(&mut self, view: &View) -> Option<Action> {
        Some(match self.tokens.as_mut()?.next(view)? {
            Next::Trace(input) => Action::TraceTokens(input),
            Next::Flip(flip, asked) => {
                self.bandit.spend(Arm::Tokens, TOKEN_FLIP_OVERHEAD);
                self.asked.insert(flip, (Arm::Tokens, asked));
                Action::Flip(flip)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coverage, Program, Runs, Tree};

    #[test]
    fn attempts_after_a_refusal_are_charged_to_the_arm_that_asked() {
        let (program, coverage) = (Program::default(), Coverage::default());
        let (tree, runs) = (Tree::default(), Runs::new(1 << 20));
        let view = View { program: &program, coverage: &coverage, tree: &tree, runs: &runs };
        let mut auto = Auto::new(&Options::default());
        let flip = Flip { run: 0, at: 3, outcome: 1 };
        auto.asked.insert(flip, (Arm::Paths, None));
        auto.record_solver_cost(flip, 500.0);
        auto.record_verdict(&view, flip, Verdict::Unsat);
        assert_eq!(auto.estimated_cost(), 500.0);
        auto.record_solver_cost(flip, 700.0);
        assert_eq!(auto.estimated_cost(), 1200.0);
        // A flip that is gone is asked again later, and not tried in another way.
        let gone = Flip { run: 1, ..flip };
        auto.asked.insert(gone, (Arm::Paths, None));
        auto.record_verdict(&view, gone, Verdict::Gone);
        auto.record_solver_cost(gone, 900.0);
        assert_eq!(auto.estimated_cost(), 1200.0);
    }
}
