//! Uniform random search, as in CREST: walk down the path and flip each decision with
//! probability one half. The result of a flip is run and traced, and the walk continues
//! after the flipped decision, on the new path.
//!
//! So a path with `n` decisions that are feasible both ways has probability 2⁻ⁿ, wherever
//! the walk started. For this, a decision must be flipped even if its other side is covered
//! already. Therefore the tree is used only to skip infeasible flips. A switch with `k`
//! feasible outcomes takes each with probability 1/k. If some outcomes are infeasible, the
//! decision keeps its outcome with their share of the probability.

use super::Descriptor;
use super::walks::{Place, Policy, Walker, may_force};
use crate::rng::Rng;
use crate::run::Run;
use crate::tree::Tree;

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "uniform",
    about: "walks down the path, and flips each decision with probability 1/2 (CREST)",
    use_for: "programs with very many similar paths",
    random_values: true,
    make: |_| Box::new(Walker::new(Uniform)),
    ..Descriptor::COMMON
};

struct Uniform;

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
        format!("at decision {}, {} flipped", place.at, place.forced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Decision;
    use crate::tree::Mark;
    use pleach_abi::event::Kind;
    use std::collections::HashMap;

    /// A run of a program that ends if its first decision is true. Otherwise there are
    /// three more decisions, the last a switch with four cases.
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
    fn a_path_with_n_feasible_branches_has_probability_2_to_the_minus_n() {
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
    fn infeasible_flips_are_skipped() {
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
