//! Blackbox fuzzing: mutants of the seeds, without any feedback. It is here to compare
//! with (Godefroid, Kiezun and Levin: "Grammar-based whitebox fuzzing", PLDI 2008).

use super::{Action, Descriptor, ExecutionReport, Origin, Strategy, View};
use crate::rng::Rng;
use crate::run::InputId;

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "blackbox",
    about: "mutates the seeds, without feedback",
    use_for: "comparison",
    random_values: true,
    make: |_| Box::new(Blackbox::default()),
    ..Descriptor::COMMON
};

/// Takes the seeds in turn.
#[derive(Default)]
struct Blackbox {
    seeds: Vec<InputId>,
    next: usize,
}

const MUTANTS_PER_TURN: u32 = 16;

impl Strategy for Blackbox {
    fn next(&mut self, _view: &View, _rng: &mut Rng) -> Action {
        let Some(&input) = self.seeds.get(self.next % self.seeds.len().max(1)) else {
            return Action::Wait;
        };
        self.next += 1;
        Action::Mutate { input, count: MUTANTS_PER_TURN }
    }

    fn record_execution(&mut self, _view: &View, news: &ExecutionReport) {
        if let (Some(input), Origin::Seed) = (news.input, news.origin) {
            self.seeds.push(input);
        }
    }

    fn doing(&self) -> String {
        format!("mutants of {} seeds", self.seeds.len())
    }
}
