//! A small interface to the SAT solver: variables, clauses, solving under assumptions with
//! a budget.
//!
//! The solver is `batsat`, a maintained port of MiniSat to Rust. Only this file uses it, so
//! only this file would change for another solver.

use crate::interrupt::Interrupt;
use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

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

pub struct Sat {
    solver: Solver<Budget>,
    clause: Vec<Lit>,
    broken: bool,
}

/// The budget of one call. It counts conflicts and decisions, so the answer does not depend
/// on the machine. The clock stops a call only if these fail to bound it.
struct Budget {
    conflicts: u64,
    max_conflicts: u64,
    decisions: Cell<u64>,
    max_decisions: u64,
    start: Instant,
    max_time: Duration,
    interrupt: Interrupt,
    is_late: Cell<bool>,
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.conflicts += 1;
        }
    }

    fn stop(&self) -> bool {
        let n = self.decisions.get() + 1;
        self.decisions.set(n);
        if n.is_multiple_of(4096) && self.start.elapsed() > self.max_time {
            self.is_late.set(true);
        }
        let is_used_up = self.conflicts > self.max_conflicts || n > self.max_decisions;
        is_used_up || self.is_late.get() || self.interrupt.is_set()
    }
}

impl Sat {
    /// Each call of [`Sat::solve`] takes at most `max_time`, and ends when it is
    /// interrupted.
    pub fn new(max_time: Duration, interrupt: Interrupt) -> Sat {
        let budget = Budget {
            conflicts: 0,
            max_conflicts: 0,
            decisions: Cell::new(0),
            max_decisions: 0,
            start: Instant::now(),
            max_time,
            interrupt,
            is_late: Cell::new(false),
        };
        let solver = Solver::new(SolverOpts::default(), budget);
        Sat { solver, clause: Vec::new(), broken: false }
    }

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

    /// Looks for a model in which all of `assumed` hold, with at most `max_conflicts`
    /// conflicts.
    pub fn solve(&mut self, assumed: &[Lit], max_conflicts: u64) -> Outcome {
        if self.broken {
            return Outcome::Broken;
        }
        let budget = self.solver.cb_mut();
        budget.conflicts = 0;
        budget.max_conflicts = max_conflicts;
        budget.decisions.set(0);
        // In a large instance, decisions take time even without conflicts.
        budget.max_decisions = 50 * max_conflicts + 100_000;
        budget.start = Instant::now();
        budget.is_late.set(false);
        // A panic in the library must not end the campaign.
        let solver = &mut self.solver;
        let answer = catch_unwind(AssertUnwindSafe(|| solver.solve_limited(assumed)));
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

    /// The conflicts of the last call of [`Sat::solve`].
    pub fn conflicts(&self) -> u64 {
        self.solver.cb().conflicts
    }
}
