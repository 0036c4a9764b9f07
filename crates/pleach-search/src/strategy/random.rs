//! Random inputs: no traces, no flips, no mutation. It is here to compare with; CREST's
//! evaluation has it under the same name.

use super::{Action, Descriptor, Strategy, View};
use crate::rng::Rng;

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "random",
    about: "runs random bytes",
    use_for: "comparison",
    random_values: true,
    make: |_| Box::new(Random),
    ..Descriptor::COMMON
};

struct Random;

impl Strategy for Random {
    fn next(&mut self, _view: &View, _rng: &mut Rng) -> Action {
        Action::Random
    }

    fn doing(&self) -> String {
        "random inputs".into()
    }
}
