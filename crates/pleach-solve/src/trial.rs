//! Trying values on a path without solving: what a step would decide if a few inputs
//! were others. Where an input has few values, such as a token that is one of a
//! grammar's, trying them all is exact, and nothing else is needed.

use crate::path::{Goal, Path, Shape, outcome};
use pleach_expr::{ChangedValues, Var};

/// Room for trials of one path.
#[derive(Default)]
pub struct Trial {
    changed: ChangedValues,
}

impl Trial {
    /// Whether each of some steps decides as it did and, where a goal is given for
    /// one, that one reaches it, if the inputs were as `changes` (sorted) say.
    pub fn holds(
        &mut self,
        path: &Path,
        changes: &[(Var, u64)],
        steps: impl IntoIterator<Item = (usize, Option<Goal>)>,
    ) -> bool {
        self.changed.start(&path.pool);
        let input = path.input();
        steps.into_iter().all(|(at, goal)| {
            let Some((Some(term), shape)) = path.step(at) else { return goal.is_none() };
            let now = self.changed.eval(&path.pool, &path.values, &input, changes, *term);
            decides(shape, path.values.get(*term), now, goal)
        })
    }
}

/// Whether a value decides as another did, or reaches a goal.
fn decides(shape: &Shape, seen: u128, now: u128, goal: Option<Goal>) -> bool {
    match (shape, goal) {
        (Shape::Bool { taken }, None) => (now != 0) == *taken,
        (Shape::Bool { taken }, Some(Goal::Not)) => (now != 0) != *taken,
        (Shape::Cases { cases }, None) => outcome(cases, now) == outcome(cases, seen),
        (Shape::Cases { cases }, Some(Goal::Case(i))) => outcome(cases, now) == i as usize,
        (Shape::Value, None) => now == seen,
        (Shape::Value, Some(Goal::Other)) => now != seen,
        (_, None) => true,
        _ => false,
    }
}
