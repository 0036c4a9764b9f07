//! Flips of tokens, for a program with a token function and a grammar: [grammar-based
//! whitebox fuzzing](super::super::gbw) with the goals and paths of `auto`.
//!
//! An input has one run on bytes and another on tokens, with different decisions. So this
//! arm has its own goals and paths. Inputs that took a new branch are traced first, and
//! their goals asked. Then steps and paths take turns. Paths are needed because a flip of a
//! token that gains nothing may be the first of several flips that together gain something.

use super::goals::{GoalFlip, Goals};
use super::paths::{PathAction, Paths};
use crate::run::{Flip, InputId, Run, RunId};
use crate::strategy::generational::Rank;
use crate::strategy::{ExecutionReport, Origin, View};
use std::collections::{HashSet, VecDeque};

/// The most inputs without a new branch that wait to be traced.
const MAX_WAITING_STEPS: usize = 4096;

#[derive(Default)]
pub(in crate::strategy) struct Tokens {
    goals: Goals,
    paths: Paths,
    /// Inputs with new branches, not traced yet; the latest first.
    fresh: Vec<InputId>,
    seeds: VecDeque<InputId>,
    /// Results of steps, not traced yet.
    steps: VecDeque<InputId>,
    /// Inputs that are being traced for `paths`.
    for_paths: HashSet<InputId>,
    /// True if a step comes first in this turn.
    is_step_turn: bool,
}

pub(in crate::strategy) enum Next {
    Trace(InputId),
    Flip(Flip, Option<GoalFlip>),
}

impl Tokens {
    pub fn next(&mut self, view: &View) -> Option<Next> {
        if let Some(asked) = self.goals.next_goal(view) {
            return Some(Next::Flip(asked.flip, Some(asked)));
        }
        let fresh = self.fresh.pop().or_else(|| self.seeds.pop_front());
        if let Some(input) = fresh.or_else(|| self.goals.next_retry()) {
            return Some(Next::Trace(input));
        }
        self.is_step_turn = !self.is_step_turn;
        match self.is_step_turn {
            true => self.next_step(view).or_else(|| self.next_path(view)),
            false => self.next_path(view).or_else(|| self.next_step(view)),
        }
    }

    fn next_step(&mut self, view: &View) -> Option<Next> {
        if let Some(input) = self.steps.pop_front() {
            return Some(Next::Trace(input));
        }
        let asked = self.goals.next_step(view)?;
        Some(Next::Flip(asked.flip, Some(asked)))
    }

    fn next_path(&mut self, view: &View) -> Option<Next> {
        Some(match self.paths.next(view, None)? {
            PathAction::Flip(flip) => Next::Flip(flip, None),
            PathAction::Trace(input) => {
                self.for_paths.insert(input);
                Next::Trace(input)
            }
        })
    }

    /// Reports that an input was executed. `own`: it is the result of a flip that this arm
    /// asked. `stepped`: that flip was a step.
    pub fn record_execution(
        &mut self,
        view: &View,
        news: &ExecutionReport,
        stepped: bool,
        own: bool,
    ) {
        let Some(input) = news.input.filter(|_| !news.hung) else { return };
        let gained = news.branches > 0 || news.buckets > 0;
        if let Origin::Flip(flip) = news.origin
            && (gained && own)
        {
            self.paths.record_gain(view, flip);
        }
        match news.origin {
            Origin::Seed => self.seeds.push_back(input),
            _ if news.branches > 0 => self.fresh.push(input),
            _ if stepped && self.steps.len() < MAX_WAITING_STEPS => self.steps.push_back(input),
            _ => {}
        }
        match news.origin {
            _ if gained || news.origin == Origin::Seed => self.paths.add(input, 0, Rank::new(news)),
            Origin::Recalled | Origin::Imported => {
                self.paths.add_recalled(input, Rank::new(news));
            }
            Origin::Flip(flip) if own => {
                self.paths.add_without_gain(view, input, 0, Rank::new(news), flip);
            }
            _ => {}
        }
    }

    pub fn record_trace(&mut self, view: &View, id: RunId, run: &Run) {
        self.goals.add_run(view, id, run, None);
        self.paths.record_trace(view, id, run, self.for_paths.remove(&run.input), None);
    }

    pub fn record_trace_failure(&mut self, input: InputId) {
        self.for_paths.remove(&input);
        self.paths.forget(input);
    }

    pub fn record_verdict(&mut self, view: &View, flip: Flip, refused: bool) {
        self.paths.record_verdict(view, flip, refused);
    }

    /// Reports that a flip could not be asked because its run was dropped.
    pub fn retry_later(&mut self, asked: &GoalFlip) {
        self.goals.retry_later(asked.input, asked.goal);
    }
}
