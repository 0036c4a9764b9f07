//! A small interface to the SAT solver: variables, clauses, solving under assumptions with
//! a budget.
//!
//! The budget counts conflicts and propagations, so the answer does not depend on the
//! machine. The solver calls back once for each conflict and each decision, but does not say
//! there how many literals it has propagated. So a call is made in slices: each has as many
//! conflicts as surely fit into what is left of the propagations, since between two
//! conflicts every variable is propagated at most once. All but the largest instances need
//! one slice. A new slice is a restart; learnt clauses and preferred values stay.
//!
//! The solver is `batsat`, a maintained port of MiniSat to Rust. Only this file uses it, so
//! only this file would change for another solver.

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use pleach_work::Task;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use batsat::Lit as Literal;

/// The result of [`Sat::solve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Sat,
    Unsat,
    /// The budget was used up.
    Limit,
    /// The solver has panicked and must not be used again.
    Broken,
}

/// What one call of [`Sat::solve`] may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub conflicts: u64,
    /// Literals whose consequences are found.
    pub propagations: u64,
}

/// A slice with fewer conflicts than this is not worth a restart.
const MIN_SLICE: u64 = 16;

pub struct Sat {
    solver: Solver<Slice>,
    clause: Vec<Lit>,
    broken: bool,
    /// What the last call has cost.
    spent: Budget,
}

/// Ends a part of a call.
#[derive(Default)]
struct Slice {
    conflicts: u64,
    max_conflicts: u64,
}

impl Callbacks for Slice {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.conflicts += 1;
        }
    }

    fn stop(&self) -> bool {
        self.conflicts > self.max_conflicts || pleach_work::is_stopping()
    }
}

impl Default for Sat {
    fn default() -> Sat {
        let solver = Solver::new(SolverOpts::default(), Slice::default());
        let spent = Budget { conflicts: 0, propagations: 0 };
        Sat { solver, clause: Vec::new(), broken: false, spent }
    }
}

impl Sat {
    /// A new variable. The solver tries the value `prefer` first, if one is given.
    pub fn variable(&mut self, prefer: Option<bool>) -> Lit {
        let prefer = prefer.map_or(lbool::UNDEF, lbool::new);
        let var: Var = self.solver.new_var(prefer, true);
        Lit::new(var, true)
    }

    pub fn add(&mut self, clause: &[Lit]) {
        self.clause.clear();
        self.clause.extend(clause);
        self.solver.add_clause_reuse(&mut self.clause);
    }

    pub fn variables(&self) -> usize {
        self.solver.num_vars() as usize
    }

    pub fn clauses(&self) -> usize {
        self.solver.num_clauses() as usize
    }

    /// Looks for a model in which all of `assumed` hold.
    pub fn solve(&mut self, assumed: &[Lit], budget: Budget) -> Outcome {
        let _solving = pleach_work::enter(Task::Sat);
        self.spent = Budget { conflicts: 0, propagations: 0 };
        let variables: u64 = self.solver.num_vars().max(1).into();
        loop {
            let left = budget.propagations.saturating_sub(self.spent.propagations);
            let max_conflicts =
                (left / variables).min(budget.conflicts.saturating_sub(self.spent.conflicts));
            let outcome = self.solve_slice(assumed, max_conflicts);
            let is_used_up = self.spent.conflicts >= budget.conflicts || max_conflicts < MIN_SLICE;
            if outcome != Outcome::Limit || is_used_up || pleach_work::is_stopping() {
                return outcome;
            }
        }
    }

    fn solve_slice(&mut self, assumed: &[Lit], max_conflicts: u64) -> Outcome {
        if self.broken {
            return Outcome::Broken;
        }
        let before = self.solver.num_propagations();
        *self.solver.cb_mut() = Slice { conflicts: 0, max_conflicts };
        // A panic in the library must not end the campaign.
        let solver = &mut self.solver;
        let answer = catch_unwind(AssertUnwindSafe(|| solver.solve_limited(assumed)));
        let propagations = self.solver.num_propagations() - before;
        pleach_work::count(propagations);
        self.spent.propagations += propagations;
        self.spent.conflicts += self.solver.cb().conflicts;
        match answer {
            Ok(answer) if answer == lbool::TRUE => Outcome::Sat,
            Ok(answer) if answer == lbool::FALSE => Outcome::Unsat,
            Ok(_) => Outcome::Limit,
            Err(_) => {
                self.broken = true;
                Outcome::Broken
            }
        }
    }

    /// The value of a literal in the last model.
    pub fn value(&self, literal: Lit) -> bool {
        self.solver.value_lit(literal) == lbool::TRUE
    }

    /// What the last call of [`Sat::solve`] has cost.
    pub fn spent(&self) -> Budget {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pigeons` in one hole less: infeasible, and hard to refute.
    fn pigeonhole(pigeons: usize) -> Sat {
        let mut sat = Sat::default();
        let holes = pigeons - 1;
        let places: Vec<Vec<Lit>> =
            (0..pigeons).map(|_| (0..holes).map(|_| sat.variable(None)).collect()).collect();
        places.iter().for_each(|pigeon| sat.add(pigeon));
        for (a, first) in places.iter().enumerate() {
            for second in &places[..a] {
                first.iter().zip(second).for_each(|(&x, &y)| sat.add(&[!x, !y]));
            }
        }
        sat
    }

    #[test]
    fn the_budget_of_propagations_holds() {
        let unlimited = Budget { conflicts: u64::MAX, propagations: u64::MAX };
        let mut sat = pigeonhole(7);
        assert_eq!(sat.solve(&[], unlimited), Outcome::Unsat);
        for propagations in [10_000, 50_000, 200_000] {
            let budget = Budget { propagations, ..unlimited };
            let costs: Vec<u64> = (0..2)
                .map(|_| {
                    let mut sat = pigeonhole(11);
                    assert_eq!(sat.solve(&[], budget), Outcome::Limit);
                    sat.spent().propagations
                })
                .collect();
            // The same work each time, and most of the budget is used.
            assert_eq!(costs[0], costs[1]);
            assert!((propagations / 2..=propagations).contains(&costs[0]), "{costs:?}");
        }
    }

    #[test]
    fn the_budget_of_conflicts_holds() {
        let mut sat = pigeonhole(11);
        let budget = Budget { conflicts: 100, propagations: u64::MAX };
        assert_eq!(sat.solve(&[], budget), Outcome::Limit);
        assert!((100..=110).contains(&sat.spent().conflicts), "{:?}", sat.spent());
    }
}
