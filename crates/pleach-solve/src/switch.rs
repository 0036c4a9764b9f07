//! Tier 1, switches: all values that the value of one step can have.
//!
//! A switch has one goal for each case, and all are about one term. The values are found
//! once, by [`layers::values`], and kept for the other goals of the step.

use crate::allowance::Allowance;
use crate::layers;
use crate::path::Goal;
use crate::request::{Changes, Found, Request};

/// The values of the last step that was a switch.
#[derive(Default)]
pub(crate) struct SwitchValues {
    /// The serial number of the path, and the step.
    step: (u64, usize),
    /// Each value with changes that lead to it; `None` if there is too much to try.
    values: Option<Vec<(u64, Changes)>>,
}

impl SwitchValues {
    /// The answer for a goal of a switch, and true if the values were cached. `None` if
    /// the step is no switch, or its values could not be found.
    pub fn solve(
        &mut self,
        request: &mut Request,
        goal: Goal,
        allowance: &mut Allowance,
    ) -> Option<(Found, bool)> {
        let (term, wanted) =
            request.path.switch_values(request.at, goal).filter(|_| request.keeps_all())?;
        let step = (request.path.serial, request.at);
        let cached = self.step == step;
        if !cached {
            allowance.available()?;
            let before = request.scratch.work();
            let (path, scratch) = (&mut *request.path, &mut *request.scratch);
            let Request { limits, at, max_work, .. } = *request;
            let mut all = Request::on_term(path, scratch, (limits, max_work), at, term);
            let values =
                all.slice(limits.slice).and_then(|slice| layers::values(&mut all, &slice, term));
            allowance.pay(request.scratch.work() - before, values.is_some());
            *self = SwitchValues { step, values };
        }
        let values = self.values.as_ref()?;
        let reaching = values.iter().filter(|(value, _)| wanted.contains(*value));
        let found = match reaching.min_by_key(|(_, changes)| changes.len()) {
            Some((_, changes)) => Found::Sat(changes.clone()),
            None => Found::Unsat,
        };
        Some((found, cached))
    }
}
