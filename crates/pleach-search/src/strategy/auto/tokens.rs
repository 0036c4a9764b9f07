//! Flips on tokens, for a program whose token function is known and whose input has a
//! grammar: what [grammar-based whitebox fuzzing](super::super::gbw) does, with the goals
//! and paths of `auto`.
//!
//! A run on tokens is another run than the one on bytes, with decisions of its own, so
//! what was asked of one says nothing of the other. Inputs that took a new branch are
//! traced first, and their goals asked; then comparisons of texts take turns with
//! paths: a flip of a token that gains nothing by itself is what the next one stands on.

use super::goals::{Asked, Goals};
use super::paths::{Paths, Wants};
use crate::run::{Flip, InputId, Run, RunId};
use crate::strategy::generational::Rank;
use crate::strategy::{InputNews, Origin, View};
use std::collections::{HashSet, VecDeque};

/// Inputs that may wait for a trace without having gained a branch.
const STEPS: usize = 4096;

#[derive(Default)]
pub(in crate::strategy) struct Tokens {
    goals: Goals,
    paths: Paths,
    /// Inputs with new branches, not traced yet; the latest first.
    fresh: Vec<InputId>,
    seeds: VecDeque<InputId>,
    /// Results of steps, not traced yet.
    steps: VecDeque<InputId>,
    /// Inputs that are being traced for the sake of paths.
    for_paths: HashSet<InputId>,
    turn: bool,
}

pub(in crate::strategy) enum Next {
    Trace(InputId),
    Flip(Flip, Option<Asked>),
}

impl Tokens {
    pub fn next(&mut self, view: &View) -> Option<Next> {
        if let Some(asked) = self.goals.goal(view) {
            return Some(Next::Flip(asked.flip, Some(asked)));
        }
        let fresh = self.fresh.pop().or_else(|| self.seeds.pop_front());
        if let Some(input) = fresh.or_else(|| self.goals.lost()) {
            return Some(Next::Trace(input));
        }
        self.turn = !self.turn;
        match self.turn {
            true => self.step(view).or_else(|| self.path(view)),
            false => self.path(view).or_else(|| self.step(view)),
        }
    }

    fn step(&mut self, view: &View) -> Option<Next> {
        if let Some(input) = self.steps.pop_front() {
            return Some(Next::Trace(input));
        }
        let asked = self.goals.step(view)?;
        Some(Next::Flip(asked.flip, Some(asked)))
    }

    fn path(&mut self, view: &View) -> Option<Next> {
        Some(match self.paths.next(view)? {
            Wants::Flip(flip) => Next::Flip(flip, None),
            Wants::Trace(input) => {
                self.for_paths.insert(input);
                Next::Trace(input)
            }
        })
    }

    /// An input was executed; `own`: for a flip of ours, `stepped`: that was a step.
    pub fn executed(&mut self, view: &View, news: &InputNews, stepped: bool, own: bool) {
        let Some(input) = news.input.filter(|_| !news.hung) else { return };
        let gained = news.branches > 0 || news.buckets > 0;
        if let Origin::Flip(flip) = news.origin
            && (gained && own)
        {
            self.paths.paid(view, flip);
        }
        match news.origin {
            Origin::Seed => self.seeds.push_back(input),
            _ if news.branches > 0 => self.fresh.push(input),
            _ if stepped && self.steps.len() < STEPS => self.steps.push_back(input),
            _ => {}
        }
        match news.origin {
            _ if gained || news.origin == Origin::Seed => self.paths.add(input, Rank::new(news)),
            Origin::Recalled => self.paths.add_recalled(input, Rank::new(news)),
            Origin::Flip(flip) if own => {
                self.paths.add_dull(view, input, Rank::new(news), flip);
            }
            _ => {}
        }
    }

    pub fn traced(&mut self, view: &View, id: RunId, run: &Run) {
        self.goals.offer(view, id, run);
        self.paths.traced(view, id, run, self.for_paths.remove(&run.input));
    }

    pub fn untraceable(&mut self, input: InputId) {
        self.for_paths.remove(&input);
        self.paths.forget(input);
    }

    pub fn answered(&mut self, view: &View, flip: Flip, refused: bool) {
        self.paths.answered(view, flip, refused);
    }

    pub fn lose(&mut self, asked: &Asked) {
        self.goals.lose(asked.input, asked.goal);
    }
}
