//! Grammar-based blackbox fuzzing: random sentences of a grammar, without any feedback. It
//! is here to compare with (Godefroid, Kiezun and Levin: "Grammar-based whitebox fuzzing",
//! PLDI 2008).

use super::{Action, Descriptor, FirstInputs, Needs, Strategy, View};
use crate::rng::Rng;

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "gbb",
    about: "runs random sentences of the grammar (grammar-based blackbox fuzzing)",
    use_for: "comparison; a first look at a program with a grammar",
    needs: Needs::Grammar,
    seeds: FirstInputs::Derived,
    make: |_| Box::new(Sentences::default()),
    ..Descriptor::COMMON
};

#[derive(Default)]
struct Sentences {
    all_derived: bool,
}

impl Strategy for Sentences {
    fn next(&mut self, _view: &View, _rng: &mut Rng) -> Action {
        if self.all_derived { Action::Wait } else { Action::Derive }
    }

    fn record_grammar_exhausted(&mut self) {
        self.all_derived = true;
    }

    fn doing(&self) -> String {
        "sentences of the grammar".into()
    }
}
