//! Searches that look at nothing, to compare with (Godefroid, Kiezun and Levin,
//! "Grammar-based whitebox fuzzing", PLDI 2008): mutants of the seeds, and sentences
//! of a grammar. Neither learns from what an input covered.

use super::{Action, InputNews, Origin, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};

/// Blackbox fuzzing: each seed in turn, a few mutants of it.
#[derive(Default)]
pub struct Mutants {
    seeds: Vec<InputId>,
    next: usize,
}

/// Mutants of a seed in a row.
const BURST: u32 = 16;

impl Strategy for Mutants {
    fn next(&mut self, _view: &View, _rng: &mut Rng) -> Action {
        let Some(&input) = self.seeds.get(self.next % self.seeds.len().max(1)) else {
            return Action::Wait;
        };
        self.next += 1;
        Action::Mutate { input, count: BURST }
    }

    fn executed(&mut self, _view: &View, news: &InputNews) {
        if let (Some(input), Origin::Seed) = (news.input, news.origin) {
            self.seeds.push(input);
        }
    }

    fn traced(&mut self, _view: &View, _run: RunId) {}

    fn answered(&mut self, _view: &View, _flip: Flip, _verdict: Verdict) {}

    fn doing(&self) -> String {
        format!("mutants of {} seeds", self.seeds.len())
    }
}

/// Grammar-based blackbox fuzzing.
#[derive(Default)]
pub struct Sentences {
    dry: bool,
}

impl Strategy for Sentences {
    fn next(&mut self, _view: &View, _rng: &mut Rng) -> Action {
        if self.dry { Action::Wait } else { Action::Derive }
    }

    fn derived_all(&mut self) {
        self.dry = true;
    }

    fn executed(&mut self, _view: &View, _news: &InputNews) {}

    fn traced(&mut self, _view: &View, _run: RunId) {}

    fn answered(&mut self, _view: &View, _flip: Flip, _verdict: Verdict) {}

    fn doing(&self) -> String {
        "sentences of the grammar".into()
    }
}
