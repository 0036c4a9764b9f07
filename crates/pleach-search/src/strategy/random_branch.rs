//! Random branch search, as in CREST: flip one random decision of the current path. The
//! path of the result is the next current path. In the paper's evaluation this simple
//! search did well.
//!
//! After [`MAX_FLIPS_WITHOUT_GAIN`] flips without a new branch the walk starts again.

use super::Descriptor;
use super::walks::{Place, Policy, Walker, may_force};
use crate::rng::Rng;
use crate::run::Run;
use crate::tree::Tree;

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "random-branch",
    about: "flips one random decision of the current path (CREST)",
    use_for: "a simple baseline; unknown programs",
    random_values: true,
    make: |_| Box::new(Walker::new(RandomBranch)),
    ..Descriptor::COMMON
};

const MAX_FLIPS_WITHOUT_GAIN: u32 = 100;
/// After this many picks of decisions that cannot be flipped, the walk starts again.
const MAX_PICKS: u32 = 64;

struct RandomBranch;

impl Policy for RandomBranch {
    fn choose(
        &self,
        place: &mut Place,
        run: &Run,
        tree: &Tree,
        rng: &mut Rng,
    ) -> Option<(u32, u32)> {
        if place.forced == MAX_FLIPS_WITHOUT_GAIN {
            return None;
        }
        for _ in 0..MAX_PICKS {
            let at = rng.below(run.decisions.len()) as u32;
            let decision = run.decisions.get(at as usize)?;
            let other = rng.below(decision.outcomes.saturating_sub(1) as usize) as u32;
            // Skip the outcome that the run had.
            let outcome = other + u32::from(other >= decision.outcome);
            if outcome < decision.outcomes && may_force(run, tree, at, outcome) {
                place.forced += 1;
                return Some((at, outcome));
            }
        }
        None
    }

    fn doing(&self, place: &Place) -> String {
        format!("{} decisions flipped without a new branch", place.forced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Decision;
    use crate::tree::Mark;
    use pleach_abi::event::Kind;

    #[test]
    fn each_decision_is_equally_likely_and_refused_ones_are_skipped() {
        let (mut rng, mut tree) = (Rng::new(5), Tree::default());
        let branch = |key| Decision::new(key, Kind::Branch, 1, 2);
        let switch = Decision::new(4, Kind::Switch, 1, 4);
        let run = Run::new(0, (0..4).map(branch).chain([switch]).collect());
        run.flipped(2, 0).map(|node| tree.set(node, Mark::Unsat));
        let mut counts = [[0; 4]; 5];
        for _ in 0..12_000 {
            let mut place = Place::default();
            let choice = RandomBranch.choose(&mut place, &run, &tree, &mut rng);
            let Some((at, outcome)) = choice else { panic!("nothing to flip") };
            counts[at as usize][outcome as usize] += 1;
        }
        let near = |n: i32, expected: i32| (n - expected).abs() < expected / 8;
        assert!([0, 1, 3].iter().all(|&at: &usize| near(counts[at][0], 3000)), "{counts:?}");
        assert_eq!((counts[2], counts[4][1]), ([0; 4], 0));
        assert!([0, 2, 3].iter().all(|&o: &usize| near(counts[4][o], 1000)), "{counts:?}");
    }

    #[test]
    fn a_walk_without_a_gain_ends() {
        let (mut rng, tree) = (Rng::new(5), Tree::default());
        let run = Run::new(0, vec![Decision::new(0, Kind::Branch, 1, 2)]);
        let mut place = Place::default();
        let mut forced = 0;
        while RandomBranch.choose(&mut place, &run, &tree, &mut rng).is_some() {
            forced += 1;
        }
        assert_eq!(forced, MAX_FLIPS_WITHOUT_GAIN);
        assert_eq!(
            RandomBranch.choose(&mut Place::default(), &Run::new(0, vec![]), &tree, &mut rng),
            None
        );
    }
}
