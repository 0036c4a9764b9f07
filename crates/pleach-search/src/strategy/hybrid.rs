//! Hybrid concolic testing (Majumdar and Sen: "Hybrid concolic testing", ICSE 2007):
//! random events drive a live run. When they find nothing new, a bounded search starts
//! from the state that they led to.
//!
//! This strategy chooses nothing itself. Each worker has its own live run and a
//! [`Pilot`](crate::Pilot) that decides what the run does next.

use super::{Action, Descriptor, Strategy, View};
use crate::rng::Rng;

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "hybrid",
    about: "drives a live process by random events, and searches from its states",
    use_for: "programs that keep reading: editors, servers, sequences of calls",
    live: true,
    make: |_| Box::new(Hybrid),
    ..Descriptor::COMMON
};

struct Hybrid;

impl Strategy for Hybrid {
    fn next(&mut self, _view: &View, _rng: &mut Rng) -> Action {
        Action::Live
    }

    fn doing(&self) -> String {
        "driving live runs".into()
    }
}
