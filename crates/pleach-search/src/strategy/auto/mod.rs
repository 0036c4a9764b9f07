//! What people get when they name no strategy.
//!
//! Mutation finds in a second what is near and frequent; flips find what is rare
//! and exact: a keyword, a magic number, a length. Neither wins everywhere, and
//! what wins changes within a minute, so `auto` does four things and shares the
//! budget among them by what each has brought lately ([`Bandit`]):
//!
//! - **Goals**: flips to branches that no run took. Every input that took a new
//!   branch is traced soon, and what its run could have taken instead is asked at
//!   once. A goal that does not give way is asked ever more seldom
//!   ([`Goals`]). This arm has at least a third of the budget while it has work,
//!   and it seldom has for long.
//! - **Steps**: flips of decisions that are no branch: one character of a
//!   comparison in a libc model, a length, a check. Their runs are traced even if
//!   they gained nothing: a keyword gains only with its last character.
//! - **Paths**: other open flips of inputs that gained something, as in
//!   [generational search](super::generational), those first that were flipped
//!   least so far ([`Paths`]).
//! - **Mutation** of what is in the queue, in bursts ([`Queue`]).
//! - **Sentences** drawn from the grammar, if there is one.
//!
//! Cost is counted in microseconds, without a clock: an execution says what it
//! cost; flips and traces are charged what they cost on average. So the same
//! seed gives the same search.

mod answers;
mod bandit;
mod goals;
mod paths;
mod queue;

use super::generational::Rank;
use super::{Action, InputNews, Origin, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};
use bandit::{Arm, Bandit};
use goals::{Asked, Goals};
use paths::{Paths, Wants};
use queue::Queue;
use std::collections::{HashMap, VecDeque};

/// What a solved flip, an execution apart from the program's own time, and a
/// trace cost on average, in microseconds.
const FLIP: f64 = 40.0;
const EXECUTION: f64 = 60.0;
const TRACE: f64 = 150.0;
/// The symbolic half is so many times slower, and reading a decision costs this.
const TRACE_TIMES: f64 = 4.0;
const DECISION: f64 = 0.15;
/// What a bad end costs besides its time: a look at the few that are new, a
/// new process now and then.
const BAD: f64 = 300.0;
/// What a new branch is worth; a new hit count is worth one.
const BRANCH: f64 = 16.0;
/// Inputs that may wait for a trace without having gained a branch.
const STEPS: usize = 4096;
/// Seeds that are traced before all else, gain or not.
const SEEDS: usize = 64;

#[derive(Default)]
pub struct Auto {
    bandit: Bandit,
    queue: Queue,
    goals: Goals,
    paths: Paths,
    seeds: VecDeque<InputId>,
    /// Inputs with new branches, not traced yet; the latest first.
    fresh: Vec<InputId>,
    /// Results of steps, not traced yet.
    steps: VecDeque<InputId>,
    /// Flips under way, with their goals if they have one.
    asked: HashMap<Flip, Option<Asked>>,
    tracing: HashMap<InputId, Arm>,
    doing: Option<Arm>,
    grammar: bool,
}

impl Auto {
    /// `grammar`: there is one to derive inputs from.
    pub fn new(grammar: bool) -> Auto {
        Auto { grammar, ..Auto::default() }
    }
}

impl Strategy for Auto {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        if let Some(input) = self.seeds.pop_front() {
            return self.trace(input, Arm::Goals);
        }
        let mut idle = [false; Arm::COUNT];
        idle[Arm::Grammar as usize] = !self.grammar;
        while let Some(arm) = self.bandit.choose(&idle) {
            let action = match arm {
                Arm::Goals => self.goal(view),
                Arm::Steps => self.step(view),
                Arm::Paths => self.path(view),
                Arm::Mutation => self.mutate(rng),
                Arm::Grammar => Some(Action::Derive),
            };
            if let Some(action) = action {
                self.doing = Some(arm);
                return action;
            }
            idle[arm as usize] = true;
        }
        Action::Wait
    }

    fn executed(&mut self, view: &View, news: &InputNews) {
        let gain = BRANCH * f64::from(news.branches) + f64::from(news.buckets);
        let bad = if news.bad { BAD } else { 0.0 };
        let mut stepped = false;
        match news.origin {
            Origin::Flip(flip) => {
                if let Some(asked) = self.asked.remove(&flip) {
                    stepped = asked.as_ref().is_some_and(|a| a.step);
                    let arm = match asked {
                        Some(_) if stepped => Arm::Steps,
                        Some(_) => Arm::Goals,
                        None => Arm::Paths,
                    };
                    self.bandit.spend(arm, f64::from(news.cost) + EXECUTION + bad);
                    self.bandit.reward(arm, gain);
                }
            }
            Origin::Mutant(parent) => {
                self.bandit.spend(Arm::Mutation, bad);
                self.bandit.reward(Arm::Mutation, gain);
                self.queue.found(parent, gain, news.bad);
            }
            Origin::Derived => {
                self.bandit.spend(Arm::Grammar, f64::from(news.cost) + EXECUTION + bad);
                self.bandit.reward(Arm::Grammar, gain);
            }
            Origin::Seed | Origin::Random | Origin::Live => {}
        }
        let Some(input) = news.input else { return };
        let seed = news.origin == Origin::Seed;
        if seed || gain > 0.0 {
            self.queue.add(input, news);
        }
        if seed && (news.branches > 0 || self.seeds.len() < SEEDS) {
            self.seeds.push_back(input);
        } else if seed {
            // Thousands of seeds that cover the same can wait.
            self.steps.push_back(input);
        } else if news.branches > 0 && !news.bad {
            self.fresh.push(input);
        } else if stepped && !news.bad && self.steps.len() < STEPS {
            self.steps.push_back(input);
        }
        match news.origin {
            _ if seed || (gain > 0.0 && !news.bad) => self.paths.add(input, Rank::new(news)),
            Origin::Flip(flip) if !news.bad => {
                self.paths.add_dull(view, input, Rank::new(news), flip);
            }
            _ => {}
        }
    }

    fn traced(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        let arm = self.tracing.remove(&run.input).unwrap_or(Arm::Paths);
        let cost = self.queue.cost(run.input).map_or(0.0, f64::from);
        let decisions = run.decisions.len() as f64;
        self.bandit.spend(arm, TRACE + TRACE_TIMES * cost + DECISION * decisions);
        self.goals.offer(view, id, run);
        self.queue.traced(view.program.branches(), run);
        self.paths.traced(view, id, run, arm == Arm::Paths);
    }

    fn untraceable(&mut self, _view: &View, input: InputId) {
        if let Some(arm) = self.tracing.remove(&input) {
            self.bandit.spend(arm, TRACE);
        }
        self.paths.forget(input);
    }

    fn answered(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        let solved = matches!(verdict, Verdict::Sat | Verdict::Optimistic);
        if verdict != Verdict::Gone {
            self.paths.answered(view, flip, !solved);
        }
        if solved {
            return;
        }
        if let Some(Some(asked)) = self.asked.remove(&flip)
            && verdict == Verdict::Gone
        {
            self.goals.lose(asked.input, asked.goal);
        }
    }

    fn doing(&self) -> String {
        let now = self.doing.map_or("starting", Arm::name);
        let [goals, steps, paths, mutation, grammar] =
            self.bandit.shares().map(|s| (s * 100.0).round());
        let rest = if self.grammar { format!(", grammar {grammar}") } else { String::new() };
        format!("{now} (goals {goals}, steps {steps}, paths {paths}, mutation {mutation}{rest} %)")
    }

    fn derived_all(&mut self) {
        self.grammar = false;
    }

    fn wants_buckets(&self) -> bool {
        true
    }
}

impl Auto {
    fn trace(&mut self, input: InputId, arm: Arm) -> Action {
        self.tracing.insert(input, arm);
        Action::Trace(input)
    }

    fn ask(&mut self, asked: Asked, arm: Arm) -> Action {
        let flip = asked.flip;
        self.bandit.spend(arm, FLIP);
        self.asked.insert(flip, Some(asked));
        Action::Flip(flip)
    }

    fn goal(&mut self, view: &View) -> Option<Action> {
        if let Some(asked) = self.goals.goal(view) {
            return Some(self.ask(asked, Arm::Goals));
        }
        let input = self.fresh.pop().or_else(|| self.goals.lost())?;
        Some(self.trace(input, Arm::Goals))
    }

    fn step(&mut self, view: &View) -> Option<Action> {
        // What was stepped on goes on before another step is begun.
        if let Some(input) = self.steps.pop_front() {
            return Some(self.trace(input, Arm::Steps));
        }
        let asked = self.goals.step(view)?;
        Some(self.ask(asked, Arm::Steps))
    }

    fn path(&mut self, view: &View) -> Option<Action> {
        Some(match self.paths.next(view)? {
            Wants::Flip(flip) => {
                self.bandit.spend(Arm::Paths, FLIP);
                self.asked.insert(flip, None);
                Action::Flip(flip)
            }
            Wants::Trace(input) => self.trace(input, Arm::Paths),
        })
    }

    fn mutate(&mut self, rng: &mut Rng) -> Option<Action> {
        let (input, count, cost) = self.queue.pick(rng)?;
        self.bandit.spend(Arm::Mutation, f64::from(count) * (f64::from(cost) + EXECUTION));
        Some(Action::Mutate { input, count })
    }
}
