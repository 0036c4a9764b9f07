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
//! - **Sentences** of the grammar, if there is one, small ones with much nesting and ones
//!   that are drawn at random.
//! - **Grafts**: children of inputs that are made of their parts by the grammar, in
//!   bursts, of the same inputs as mutants.
//! - **Tokens**: flips of what the parser decides on tokens, if the program has a token
//!   function ([`Tokens`]).
//!
//! Cost is counted in microseconds, without a clock: an execution says what it
//! cost, a flip what work it was; traces are charged what they cost on average. So the
//! same seed gives the same search.

mod answers;
mod bandit;
pub(super) mod goals;
mod paths;
mod queue;
pub(super) mod tokens;

use super::generational::Rank;
use super::{Action, InputNews, Origin, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};
use bandit::{Arm, Bandit};
use goals::{Asked, Goals};
use paths::{Paths, Wants};
use queue::Queue;
use std::collections::{HashMap, VecDeque};
use tokens::{Next, Tokens};

/// What a flip apart from the work of solving it, an execution apart from the program's
/// own time, and a trace cost on average, in microseconds.
const FLIP: f64 = 20.0;
const TOKEN_FLIP: f64 = 200.0;
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
    /// Flips under way: whose, and their goals if they have one.
    asked: HashMap<Flip, (Arm, Option<Asked>)>,
    tracing: HashMap<InputId, Arm>,
    doing: Option<Arm>,
    /// There is a grammar, and not all of it was derived.
    derives: bool,
    grafts: bool,
    tokens: Option<Tokens>,
}

impl Auto {
    /// `grammar`: there is one to derive inputs from. `tokens`: runs can be on them.
    pub fn new(grammar: bool, tokens: bool) -> Auto {
        let tokens = (grammar && tokens).then(Tokens::default);
        let mut there = [true; Arm::COUNT];
        there[Arm::Grammar as usize] = grammar;
        there[Arm::Grafts as usize] = grammar;
        there[Arm::Tokens as usize] = tokens.is_some();
        let bandit = Bandit::new(there);
        Auto { bandit, derives: grammar, grafts: grammar, tokens, ..Auto::default() }
    }
}

impl Strategy for Auto {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        if let Some(input) = self.seeds.pop_front() {
            return self.trace(input, Arm::Goals);
        }
        let mut idle = [false; Arm::COUNT];
        idle[Arm::Grammar as usize] = !self.derives;
        while let Some(arm) = self.bandit.choose(&idle) {
            let action = match arm {
                Arm::Goals => self.goal(view),
                Arm::Steps => self.step(view),
                Arm::Paths => self.path(view),
                Arm::Mutation => self.mutate(rng),
                Arm::Grammar => Some(Action::Derive),
                Arm::Grafts => self.graft(rng),
                Arm::Tokens => self.token(view),
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
        // Of children in bursts, what good ones cost is spent already.
        let spoilt = if news.bad { BAD + f64::from(news.cost) } else { 0.0 };
        let (mut stepped, mut by_tokens) = (false, false);
        match news.origin {
            Origin::Flip(flip) => {
                if let Some((arm, asked)) = self.asked.remove(&flip) {
                    stepped = asked.is_some_and(|a| a.step);
                    by_tokens = arm == Arm::Tokens;
                    self.bandit.spend(arm, f64::from(news.cost) + EXECUTION + bad);
                    self.bandit.reward(arm, gain);
                }
            }
            Origin::Graft(parent) => {
                self.bandit.spend(Arm::Grafts, spoilt);
                self.bandit.reward(Arm::Grafts, gain);
                self.queue.found(parent, gain, news.bad);
            }
            Origin::Mutant(parent) => {
                self.bandit.spend(Arm::Mutation, spoilt);
                self.bandit.reward(Arm::Mutation, gain);
                self.queue.found(parent, gain, news.bad);
            }
            Origin::Derived => {
                self.bandit.spend(Arm::Grammar, f64::from(news.cost) + EXECUTION + bad);
                self.bandit.reward(Arm::Grammar, gain);
            }
            Origin::Seed | Origin::Random | Origin::Live | Origin::Recalled => {}
        }
        if let Some(tokens) = &mut self.tokens {
            tokens.executed(view, news, stepped && by_tokens, by_tokens);
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
        } else if news.branches > 0 && !news.hung {
            self.fresh.push(input);
        } else if stepped && !by_tokens && !news.hung && self.steps.len() < STEPS {
            self.steps.push_back(input);
        }
        match news.origin {
            _ if seed || (gain > 0.0 && !news.hung) => self.paths.add(input, Rank::new(news)),
            Origin::Recalled => self.paths.add_recalled(input, Rank::new(news)),
            Origin::Flip(flip) if !news.hung && !by_tokens => {
                self.paths.add_dull(view, input, Rank::new(news), flip);
            }
            _ => {}
        }
    }

    fn traced(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        let arm = match run.tokens {
            true => Arm::Tokens,
            false => self.tracing.remove(&run.input).unwrap_or(Arm::Paths),
        };
        let cost = self.queue.cost(run.input).map_or(0.0, f64::from);
        let decisions = run.decisions.len() as f64 + run.left_out as f64;
        self.bandit.spend(arm, TRACE + TRACE_TIMES * cost + DECISION * decisions);
        if let Some(tokens) = self.tokens.as_mut().filter(|_| run.tokens) {
            tokens.traced(view, id, run);
            return;
        }
        self.goals.offer(view, id, run);
        self.queue.traced(view.program.branches(), run);
        self.paths.traced(view, id, run, arm == Arm::Paths);
    }

    fn untraceable(&mut self, _view: &View, input: InputId) {
        if let Some(arm) = self.tracing.remove(&input) {
            self.bandit.spend(arm, TRACE);
        }
        self.paths.forget(input);
        self.tokens.iter_mut().for_each(|t| t.untraceable(input));
    }

    fn worked(&mut self, flip: Flip, cost: f64) {
        if let Some((arm, _)) = self.asked.get(&flip) {
            self.bandit.spend(*arm, cost);
        }
    }

    fn answered(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        let solved = matches!(verdict, Verdict::Sat | Verdict::Optimistic);
        let arm = self.asked.get(&flip).map(|(arm, _)| *arm);
        let tokens = self.tokens.as_mut().filter(|_| arm == Some(Arm::Tokens));
        match tokens {
            _ if verdict == Verdict::Gone => {}
            Some(tokens) => tokens.answered(view, flip, !solved),
            None => self.paths.answered(view, flip, !solved),
        }
        if solved {
            return;
        }
        if let Some((arm, Some(asked))) = self.asked.remove(&flip)
            && verdict == Verdict::Gone
        {
            match &mut self.tokens {
                Some(tokens) if arm == Arm::Tokens => tokens.lose(&asked),
                _ => self.goals.lose(asked.input, asked.goal),
            }
        }
    }

    fn doing(&self) -> String {
        let now = self.doing.map_or("starting", Arm::name);
        let [goals, steps, paths, mutation, grammar, grafts, tokens] =
            self.bandit.shares().map(|s| (s * 100.0).round());
        let mut rest = String::new();
        if self.grafts {
            rest = format!(", grammar {grammar}, grafts {grafts}");
        }
        if self.tokens.is_some() {
            rest.push_str(&format!(", tokens {tokens}"));
        }
        format!("{now} (goals {goals}, steps {steps}, paths {paths}, mutation {mutation}{rest} %)")
    }

    fn derived_all(&mut self) {
        self.derives = false;
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
        self.asked.insert(flip, (arm, Some(asked)));
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
                self.asked.insert(flip, (Arm::Paths, None));
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

    fn graft(&mut self, rng: &mut Rng) -> Option<Action> {
        let (input, count, cost) = self.queue.pick(rng)?;
        self.bandit.spend(Arm::Grafts, f64::from(count) * (f64::from(cost) + EXECUTION));
        Some(Action::Graft { input, count })
    }

    fn token(&mut self, view: &View) -> Option<Action> {
        Some(match self.tokens.as_mut()?.next(view)? {
            Next::Trace(input) => Action::TraceTokens(input),
            Next::Flip(flip, asked) => {
                self.bandit.spend(Arm::Tokens, TOKEN_FLIP);
                self.asked.insert(flip, (Arm::Tokens, asked));
                Action::Flip(flip)
            }
        })
    }
}
