//! Inputs for flips that are infeasible on their path.
//!
//! A condition that makes a flip infeasible may be there for no reason that the program
//! cares about: code that prints a field decides on its value, and every path to the
//! `switch` behind it has that value pinned. So for a branch that nobody has taken the
//! conditions are relaxed ([`Solver::relax`](pleach_solve::Solver::relax)) and the results
//! are run. They are marked `op:optimistic`, promise nothing, and change no verdict: the
//! flip stays infeasible.
//!
//! Most such inputs bring nothing. Each outcome of a site has a budget of counted work,
//! and another one for each time that it was reached so.

use super::candidate::{Candidate, Predicted, PredictedPath};
use super::judge::run_candidate;
use super::worker::Worker;
use crate::run::clock::{self, Part};
use crate::run::search::Question;
use pleach_exec::executor::ExecError;
use pleach_search::{Flip, Origin};
use std::collections::HashMap;

/// What one outcome of a site may cost before it must have paid, in microseconds as counted.
const BUDGET: f64 = 4000.0;
/// What a run costs besides, to judge it.
const RUN_COST: f64 = 40.0;

/// What was spent on outcomes of sites, and how often it paid.
#[derive(Default)]
pub struct Bets {
    known: HashMap<(u64, u32), Bet>,
}

/// The most outcomes that are known. With more, all are forgotten.
const MAX_KNOWN: usize = 1 << 17;

#[derive(Default)]
struct Bet {
    spent: f64,
    paid: u32,
}

impl Bets {
    /// True if an outcome of a site may be tried again.
    fn allows(&self, site: (u64, u32)) -> bool {
        self.known.get(&site).is_none_or(|bet| bet.spent < BUDGET * f64::from(1 + bet.paid))
    }

    fn add(&mut self, site: (u64, u32), spent: f64, paid: bool) {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        let bet = self.known.entry(site).or_default();
        bet.spent += spent;
        bet.paid += u32::from(paid);
    }
}

/// Runs inputs that keep only some of the conditions before an infeasible flip, if its
/// branch was not covered.
pub fn bet(worker: &mut Worker, flip: Flip, question: &Question) -> Result<(), ExecError> {
    let shared = worker.runner.shared.clone();
    let site = (question.key, flip.outcome);
    // The relaxed conditions do not include those of a template.
    let may_relax = shared.descriptor.relaxes && question.traced.template.is_none();
    let branch = question.branch.filter(|&b| may_relax && !shared.seen.has(b));
    let Some(branch) = branch.filter(|_| shared.lock().bets.allows(site)) else { return Ok(()) };
    let request = question.request(flip, None, 0);
    let solving = clock::enter(Part::Solve);
    let (inputs, mut spent) = worker.solver.relax(&mut worker.prepared, &request);
    drop(solving);
    shared.lock().search.strategy.record_solver_cost(flip, spent);
    let runner = &mut worker.runner;
    let mut paid = false;
    for bytes in inputs {
        if paid || shared.is_ending() {
            break;
        }
        if bytes.len() > shared.max_len(&question.traced.input) {
            continue;
        }
        let path = PredictedPath { optimistic: true, ..question.predicted };
        let origin = Origin::Flip(flip);
        let candidate = Candidate {
            predicted: Some(Predicted::Path(path)),
            ..Candidate::new(bytes.into(), origin, Some(question.parent))
        };
        run_candidate(runner, candidate)?;
        spent += RUN_COST + f64::from(runner.cost().total());
        paid = runner.has_taken(&[branch]);
        shared.lock().account.stats.flips.relaxed += 1;
    }
    let mut state = shared.lock();
    state.bets.add(site, spent, paid);
    state.account.stats.flips.relaxed_taken += u64::from(paid);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_that_does_not_pay_is_given_up() {
        let mut bets = Bets::default();
        let (dull, good) = ((1, 0), (2, 0));
        let tries = |bets: &mut Bets, site, paid| {
            let mut tries = 0;
            while tries < 1000 && bets.allows(site) {
                bets.add(site, 400.0, paid);
                tries += 1;
            }
            tries
        };
        assert_eq!(tries(&mut bets, dull, false), 10);
        assert_eq!(tries(&mut bets, good, true), 1000);
    }
}
