//! Evaluates steps of a path with other inputs, without solving. If an input has few
//! possible values, as a token has, a caller can try all of them.

use crate::path::{Goal, Path, Shape, outcome};
use pleach_expr::{ChangedValues, Var};

/// Memory for trials of one path.
#[derive(Default)]
pub struct Trial {
    changed: ChangedValues,
}

impl Trial {
    /// Operations computed so far.
    pub fn work(&self) -> u64 {
        self.changed.work
    }

    /// True if each of `steps` reaches its goal, or decides as before if it has none, with
    /// the new inputs `changes` (sorted).
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
            let new = self.changed.eval(&path.pool, &path.values, &input, changes, *term);
            decides(shape, path.values.get(*term), new, goal)
        })
    }
}

/// True if the value `new` reaches the goal or, without one, decides as `old` did.
fn decides(shape: &Shape, old: u128, new: u128, goal: Option<Goal>) -> bool {
    match (shape, goal) {
        (Shape::Bool { taken }, None) => (new != 0) == *taken,
        (Shape::Bool { taken }, Some(Goal::Not)) => (new != 0) != *taken,
        (Shape::Cases { cases }, None) => outcome(cases, new) == outcome(cases, old),
        (Shape::Cases { cases }, Some(Goal::Case(i))) => outcome(cases, new) == i as usize,
        (Shape::Value, None) => new == old,
        (Shape::Value, Some(Goal::Other)) => new != old,
        (_, None) => true,
        _ => false,
    }
}
