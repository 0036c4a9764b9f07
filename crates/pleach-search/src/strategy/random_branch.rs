//! Random branch search, as in CREST: pick one decision of the current path at
//! random and force it the other way; the run of what comes of it is the current
//! path. The paper found nothing so simple to do so well.
//!
//! After [`RESTART`] forced decisions without a new branch the walk begins again.

use super::walks::{Place, Policy, Walker, may_force};
use crate::rng::Rng;
use crate::run::Run;
use crate::tree::Tree;

const RESTART: u32 = 100;
/// Picks of decisions that cannot be forced before the walk begins again.
const PICKS: u32 = 64;

pub struct RandomBranch;

impl RandomBranch {
    pub(super) fn walker() -> Walker<RandomBranch> {
        Walker::new(RandomBranch)
    }
}

impl Policy for RandomBranch {
    fn choose(
        &self,
        place: &mut Place,
        run: &Run,
        tree: &Tree,
        rng: &mut Rng,
    ) -> Option<(u32, u32)> {
        if place.forced == RESTART {
            return None;
        }
        for _ in 0..PICKS {
            let at = rng.below(run.decisions.len()) as u32;
            let decision = run.decisions.get(at as usize)?;
            let other = rng.below(decision.outcomes.saturating_sub(1) as usize) as u32;
            // Skip over the one that was seen.
            let outcome = other + u32::from(other >= decision.outcome);
            if outcome < decision.outcomes && may_force(run, tree, at, outcome) {
                place.forced += 1;
                return Some((at, outcome));
            }
        }
        None
    }

    fn doing(&self, place: &Place) -> String {
        format!("{} decisions forced without a new branch", place.forced)
    }
}
