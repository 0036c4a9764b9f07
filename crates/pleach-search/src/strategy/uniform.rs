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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Decision;
    use crate::tree::Mark;
    use pleach_abi::event::Kind;
    use std::collections::HashMap;

    /// A run of a program whose first decision ends it if true, else there are
    /// three more, the last a switch with four cases.
    fn run(input: u32) -> Run {
        let branch = |key, bit: u32| Decision::new(key, Kind::Branch, input >> bit & 1, 2);
        let mut decisions = vec![branch(0, 0)];
        if input & 1 == 0 {
            decisions.extend([branch(1, 1), branch(2, 2)]);
            decisions.push(Decision::new(3, Kind::Switch, input >> 3 & 3, 4));
        }
        Run::new(0, decisions)
    }

    #[test]
    fn a_path_with_n_feasible_branches_comes_with_probability_2_to_the_minus_n() {
        let (mut rng, tree) = (Rng::new(5), Tree::default());
        let mut ends: HashMap<u64, u32> = HashMap::new();
        let mut input = 0;
        const WALKS: u32 = 64_000;
        for _ in 0..WALKS {
            let mut place = Place::default();
            while let Some((at, outcome)) = Uniform.choose(&mut place, &run(input), &tree, &mut rng)
            {
                let mask = if at == 3 { 3 } else { 1 };
                input = input & !(mask << at) | outcome << at;
            }
            *ends.entry(run(input).nodes[run(input).decisions.len()]).or_insert(0) += 1;
        }
        assert_eq!(ends.len(), 17);
        for (node, &count) in &ends {
            let expected = if *node == run(1).nodes[1] { WALKS / 2 } else { WALKS / 32 };
            assert!(count.abs_diff(expected) < expected / 8, "{count} {expected}");
        }
    }

    #[test]
    fn what_is_infeasible_is_not_forced() {
        let (mut rng, mut tree) = (Rng::new(5), Tree::default());
        let run = run(0);
        let others = run.decisions.iter().enumerate();
        for (at, outcome) in others.flat_map(|(at, d)| d.others().map(move |o| (at as u32, o))) {
            run.flipped(at, outcome).map(|node| tree.set(node, Mark::Unsat));
        }
        for _ in 0..100 {
            assert_eq!(Uniform.choose(&mut Place::default(), &run, &tree, &mut rng), None);
        }
    }
}
