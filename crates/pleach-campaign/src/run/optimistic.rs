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

use super::store::Expect;
use super::worker::{Promised, Traced, Worker};
use pleach_exec::executor::ExecError;
use pleach_search::{Flip, InputId, Origin};
use pleach_solve::Goal;
use std::collections::HashMap;

/// Work of one outcome of a site before it must have paid, in microseconds as counted.
const BUDGET: f64 = 4000.0;
/// What a run costs besides the program's own time.
const RUN: f64 = 100.0;

/// What was spent on outcomes of sites, and how often it paid.
#[derive(Default)]
pub struct Bets {
    known: HashMap<(u64, u32), Bet>,
}

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
        let bet = self.known.entry(site).or_default();
        bet.spent += spent;
        bet.paid += u32::from(paid);
    }
}

impl Worker {
    /// Runs inputs that keep only some of the conditions before an infeasible flip, if its
    /// branch was not covered.
    pub(super) fn bet(
        &mut self,
        traced: &Traced,
        flip: Flip,
        goal: Goal,
        expect: Expect,
        parent: InputId,
    ) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let (site, branch) = {
            let state = shared.lock();
            let decision = state.runs.get(flip.run).map(|run| run.decisions[flip.at as usize]);
            let branch = state.branch_of(flip).filter(|&b| !state.coverage.has(b));
            let (Some(decision), Some(branch)) = (decision, branch) else { return Ok(()) };
            let site = (decision.key, flip.outcome);
            // What of a template may change is not for this to say.
            let wanted = shared.descriptor.relaxes && traced.template.is_none();
            if !wanted || !state.bets.allows(site) {
                return Ok(());
            }
            (site, branch)
        };
        let before = self.worked();
        let path = self.paths.get(flip.run, traced);
        let (models, _) = self.solver.relax(path, flip.at as usize, goal);
        let mut spent = self.worked() - before;
        let mut paid = false;
        for model in models {
            if paid || shared.stopping() || self.out_of_runs() {
                break;
            }
            let bytes = model.apply(&traced.input);
            if bytes.len() > shared.max_len(&traced.input) {
                continue;
            }
            let expect = Some(Expect { optimistic: true, ..expect });
            let promised = Promised { expect, ..Promised::default() };
            self.execute(&bytes, Origin::Flip(flip), Some(parent), promised)?;
            spent += RUN + f64::from(self.cost());
            paid = self.counts.get(branch as usize).is_some_and(|&count| count > 0);
            shared.lock().stats.flips.relaxed += 1;
        }
        let mut state = shared.lock();
        state.bets.add(site, spent, paid);
        state.stats.flips.relaxed_taken += u64::from(paid);
        Ok(())
    }
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
