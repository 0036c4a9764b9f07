//! Uniform random search, as in CREST: walk down the path and force each
//! decision with probability one half. What was forced is solved, run and
//! traced, and the walk goes on behind it, on the new path.
//!
//! A path with `n` decisions that are feasible both ways is so produced with
//! probability 2⁻ⁿ, wherever the walk began. That needs decisions whose other
//! side is known already to be forced as readily as any, so the tree is asked
//! only for what is infeasible. A switch with `k` outcomes goes each way with
//! probability 1/k, as long as all of them are feasible: the ones that are not
//! leave their share to staying.

use super::walks::{Place, Policy, Walker, may_force};
use crate::rng::Rng;
use crate::run::Run;
use crate::tree::Tree;

pub struct Uniform;

impl Uniform {
    pub(super) fn walker() -> Walker<Uniform> {
        Walker::new(Uniform)
    }
}

impl Policy for Uniform {
    fn choose(
        &self,
        place: &mut Place,
        run: &Run,
        tree: &Tree,
        rng: &mut Rng,
    ) -> Option<(u32, u32)> {
        while let Some(decision) = run.decisions.get(place.at as usize) {
            let at = place.at;
            place.at += 1;
            let outcome = rng.below(decision.outcomes as usize) as u32;
            if outcome != decision.outcome && may_force(run, tree, at, outcome) {
                place.forced += 1;
                return Some((at, outcome));
            }
        }
        None
    }

    fn doing(&self, place: &Place) -> String {
        format!("at decision {}, {} forced", place.at, place.forced)
    }
}
