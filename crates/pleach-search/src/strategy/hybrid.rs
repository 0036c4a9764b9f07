//! Hybrid concolic testing (Majumdar, Sen: "Hybrid concolic testing", ICSE 2007):
//! random events drive a live run, and where they bring nothing new a bounded
//! search runs from the state that they led to.
//!
//! There is nothing to choose between here: each worker has a live run of its
//! own, and a [`Pilot`](crate::Pilot) that decides on it.

use super::{Action, InputNews, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, RunId};

pub struct Hybrid;

impl Strategy for Hybrid {
    fn next(&mut self, _view: &View, _rng: &mut Rng) -> Action {
        Action::Live
    }

    fn executed(&mut self, _view: &View, _news: &InputNews) {}

    fn traced(&mut self, _view: &View, _run: RunId) {}

    fn answered(&mut self, _view: &View, _flip: Flip, _verdict: Verdict) {}

    fn doing(&self) -> String {
        "driving".into()
    }
}
