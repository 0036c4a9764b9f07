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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Decision;
    use crate::tree::Mark;
    use pleach_abi::event::Kind;

    #[test]
    fn each_decision_is_as_likely_and_refused_ones_are_left() {
        let (mut rng, mut tree) = (Rng::new(5), Tree::default());
        let branch = |key| Decision::new(key, Kind::Branch, 1, 2);
        let switch = Decision::new(4, Kind::Switch, 1, 4);
        let run = Run::new(0, (0..4).map(branch).chain([switch]).collect());
        run.flipped(2, 0).map(|node| tree.set(node, Mark::Unsat));
        let mut counts = [[0; 4]; 5];
        for _ in 0..12_000 {
            let mut place = Place::default();
            let choice = RandomBranch.choose(&mut place, &run, &tree, &mut rng);
            let Some((at, outcome)) = choice else { panic!("nothing to force") };
            counts[at as usize][outcome as usize] += 1;
        }
        let near = |n: i32, expected: i32| (n - expected).abs() < expected / 8;
        assert!([0, 1, 3].iter().all(|&at: &usize| near(counts[at][0], 3000)), "{counts:?}");
        assert_eq!((counts[2], counts[4][1]), ([0; 4], 0));
        assert!([0, 2, 3].iter().all(|&o: &usize| near(counts[4][o], 1000)), "{counts:?}");
    }

    #[test]
    fn a_walk_without_a_gain_begins_again() {
        let (mut rng, tree) = (Rng::new(5), Tree::default());
        let run = Run::new(0, vec![Decision::new(0, Kind::Branch, 1, 2)]);
        let mut place = Place::default();
        let mut forced = 0;
        while RandomBranch.choose(&mut place, &run, &tree, &mut rng).is_some() {
            forced += 1;
        }
        assert_eq!(forced, RESTART);
        assert_eq!(
            RandomBranch.choose(&mut Place::default(), &Run::new(0, vec![]), &tree, &mut rng),
            None
        );
    }
}
