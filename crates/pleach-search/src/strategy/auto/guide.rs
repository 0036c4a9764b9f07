//! What is near a goal, for a search towards places.
//!
//! The distance of a branch is the number of branches from it to a goal, in the static graph
//! with calls and calls through pointers (as AFLGo and CREST measure it). The distance of an
//! *input* is that of the best site that its run came to: 0 if it made the decision that the
//! goal depends on, however it decided. A decision that the graph gives no way from may still
//! matter, because it comes before others: so it is as near as the sites that the run came to
//! after it, and a little farther for each decision in between.
//!
//! The order is a preference, not a filter. A near flip that was asked often moves behind
//! farther ones, and half of the mutants go to inputs that are not nearest.
//!
//! **Several goals.** The distance is to the nearest of them, in turn with that to each one
//! alone. So a goal that is near but infeasible does not hide the others.

use crate::aim::Aim;
use crate::counts::Counts;
use crate::distance::Distances;
use crate::program::{BranchId, Program};
use crate::run::{InputId, Run};
use std::collections::HashMap;
use std::sync::Arc;

/// Distances are counted in finer steps: this number of steps is one branch.
const STEPS: u32 = 16;
/// The distance of what has no way to a goal.
const NO_WAY: u32 = 40 * STEPS;
/// The work for one turn of a goal, in microseconds.
const TURN_COST: f64 = 1_000_000.0;
/// The most branches that are remembered, over all inputs.
const MAX_BRANCHES: usize = 1 << 22;

pub(super) struct Guide {
    aim: Arc<Aim>,
    distances: Option<Distances>,
    /// For each branch, its distance, and the least distance of the sides of its site.
    sides: Vec<u32>,
    sites: Vec<u32>,
    /// The goals that the distances are to.
    near: Vec<usize>,
    /// The branches of inputs in the queue.
    inputs: HashMap<InputId, Box<[BranchId]>>,
    remembered: usize,
    /// The input that was executed last, and its distance.
    last: Option<(InputId, u32)>,
    /// The turn that the goals were chosen for.
    turn: u64,
}

impl Guide {
    pub fn new(aim: Arc<Aim>) -> Guide {
        Guide {
            aim,
            distances: None,
            sides: Vec::new(),
            sites: Vec::new(),
            near: Vec::new(),
            inputs: HashMap::new(),
            remembered: 0,
            last: None,
            turn: 0,
        }
    }

    /// Chooses the goals for now. True if the distances have changed.
    pub fn update(&mut self, program: &Program, cost: f64) -> bool {
        let turn = (cost / TURN_COST) as u64;
        if self.distances.is_some()
            && self.turn == turn
            && !self.near.iter().any(|&goal| self.aim.is_reached(goal))
        {
            return false;
        }
        self.turn = turn;
        let open = self.aim.open();
        let near = match turn.is_multiple_of(2) || open.is_empty() {
            true => open,
            false => vec![open[(turn / 2) as usize % open.len()]],
        };
        if self.distances.is_some() && near == self.near {
            return false;
        }
        let distances = self.distances.get_or_insert_with(|| Distances::with_pointers(program));
        let goals = self.aim.goals();
        distances.update_toward(near.iter().flat_map(|&g| goals[g].blocks.iter().copied()));
        self.near = near;
        let branches = program.branches() as BranchId;
        let far = |d: u32| d.min(NO_WAY / STEPS) * STEPS;
        self.sides = (0..branches).map(|b| far(distances.toward(b))).collect();
        self.sites = vec![NO_WAY; branches as usize];
        for site in program.functions().iter().flat_map(|f| &f.sites) {
            let range = site.first as usize..(site.first + site.sides) as usize;
            let least = self.sides[range.clone()].iter().copied().min().unwrap_or(NO_WAY);
            self.sites[range].fill(least);
        }
        true
    }

    /// The distance of a branch.
    pub fn of_branch(&self, branch: BranchId) -> u32 {
        self.sides.get(branch as usize).copied().unwrap_or(NO_WAY)
    }

    /// Records the branches that an input took. `is_kept`: it is in the queue, and will be asked
    /// for again.
    pub fn add_input(&mut self, input: InputId, counts: &Counts, is_kept: bool) {
        let taken: Box<[BranchId]> = counts.taken().map(|(branch, _)| branch).collect();
        self.last = Some((input, self.of_taken(&taken)));
        if is_kept && self.remembered + taken.len() <= MAX_BRANCHES {
            self.remembered += taken.len();
            self.inputs.insert(input, taken);
        }
    }

    /// The distance of an input that was executed last or is in the queue.
    pub fn of_input(&self, input: InputId) -> u32 {
        let last = self.last.filter(|(last, _)| *last == input).map(|(_, distance)| distance);
        let known = || self.inputs.get(&input).map(|taken| self.of_taken(taken));
        last.or_else(known).unwrap_or(NO_WAY)
    }

    /// The distances of an input of the queue have changed.
    pub fn forget_last(&mut self) {
        self.last = None;
    }

    fn of_taken(&self, taken: &[BranchId]) -> u32 {
        let near = taken.iter().filter_map(|&b| self.sites.get(b as usize));
        near.copied().min().unwrap_or(NO_WAY)
    }

    /// For each decision of a run, the distance of flipping it because of what comes after it.
    pub fn ahead(&self, run: &Run) -> Vec<u32> {
        let mut ahead = vec![NO_WAY; run.decisions.len()];
        let mut next = NO_WAY;
        for (at, decision) in run.decisions.iter().enumerate().rev() {
            let branch = decision.branch(decision.outcome);
            let here = branch.and_then(|b| self.sites.get(b as usize)).copied().unwrap_or(NO_WAY);
            // What it decides itself counts through the branch that the flip takes.
            ahead[at] = next.saturating_add(STEPS).min(NO_WAY);
            next = here.min(next + 1);
        }
        ahead
    }

    /// The whole number of branches in a distance.
    pub fn branches(distance: u32) -> u32 {
        distance / STEPS
    }
}
