//! The branches that a traced run has decided on, with a condition over the input.

use pleach_search::{BranchId, Run};

/// The branches that a run could have taken in place of those that it took.
#[derive(Debug, Default)]
pub struct Conditions {
    pub changeable: Vec<BranchId>,
    /// Those that depend only on parts of the input that must not change.
    pub fixed: Vec<BranchId>,
}

impl Conditions {
    pub fn of(run: &Run) -> Conditions {
        let mut all = Conditions::default();
        for decision in &run.decisions {
            let list = if decision.is_frozen() { &mut all.fixed } else { &mut all.changeable };
            let others = (0..decision.outcomes).filter(|&o| o != decision.outcome);
            list.extend(others.filter_map(|o| decision.branch(o)));
        }
        for list in [&mut all.changeable, &mut all.fixed] {
            list.sort_unstable();
            list.dedup();
        }
        all
    }
}
