//! The SAT solver behind a small surface: variables, clauses, a question under
//! assumptions, a budget.
//!
//! The solver is `batsat`, a kept port of MiniSat to Rust. Nothing here but these
//! few calls knows it, so another one is a change to this file.

use crate::interrupt::Interrupt;
use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

pub use batsat::Lit as Literal;

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Sat,
    Unsat,
    /// The budget is used up.
    Limit,
    /// The solver is broken and must not be used again.
    Broken,
}

pub struct Sat {
    solver: Solver<Budget>,
    clause: Vec<Lit>,
    broken: bool,
}

/// Work is counted in conflicts and decisions, so that an answer does not depend
/// on the machine. The clock is there for what counting cannot foresee.
struct Budget {
    conflicts: u64,
    most_conflicts: u64,
    decisions: Cell<u64>,
    most_decisions: u64,
    start: Instant,
    time: Duration,
    interrupt: Interrupt,
    late: Cell<bool>,
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
        if n.is_multiple_of(4096) && self.start.elapsed() > self.time {
            self.late.set(true);
        }
        let over = self.conflicts > self.most_conflicts || n > self.most_decisions;
        over || self.late.get() || self.interrupt.is_set()
    }
}

impl Sat {
    /// Each question takes at most `time`, and ends when it is interrupted.
    pub fn new(time: Duration, interrupt: Interrupt) -> Sat {
        let budget = Budget {
            conflicts: 0,
            most_conflicts: 0,
            decisions: Cell::new(0),
            most_decisions: 0,
            start: Instant::now(),
            time,
            interrupt,
            late: Cell::new(false),
        };
        let solver = Solver::new(SolverOpts::default(), budget);
        Sat { solver, clause: Vec::new(), broken: false }
    }

    /// A new variable. It is tried with the value `prefer` first, whatever it had
    /// last, if that is given.
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

    /// Whether there is a model in which all of `assumed` holds.
    pub fn solve(&mut self, assumed: &[Lit], conflicts: u64) -> Outcome {
        if self.broken {
            return Outcome::Broken;
        }
        let budget = self.solver.cb_mut();
        budget.conflicts = 0;
        budget.most_conflicts = conflicts;
        budget.decisions.set(0);
        // Decisions without conflicts are not free in a large instance.
        budget.most_decisions = 50 * conflicts + 100_000;
        budget.start = Instant::now();
        budget.late.set(false);
        // A panic in a library must cost one answer, not the campaign.
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

    /// A literal's value in the model that was found last.
    pub fn value(&self, literal: Lit) -> bool {
        self.solver.value_lit(literal) == lbool::TRUE
    }

    /// Conflicts of the last question.
    pub fn conflicts(&self) -> u64 {
        self.solver.cb().conflicts
    }
}
