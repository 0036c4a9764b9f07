//! Random inputs, to compare with: no trace, no flip, no mutation. What every
//! other strategy must beat (CREST's evaluation has it under the same name).

use super::{Action, InputNews, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, RunId};

pub struct Random;

impl Strategy for Random {
    fn next(&mut self, _view: &View, _rng: &mut Rng) -> Action {
        Action::Random
    }

    fn executed(&mut self, _view: &View, _news: &InputNews) {}

    fn traced(&mut self, _view: &View, _run: RunId) {}

    fn answered(&mut self, _view: &View, _flip: Flip, _verdict: Verdict) {}

    fn doing(&self) -> String {
        "random inputs".into()
    }
}
