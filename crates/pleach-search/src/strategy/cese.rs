//! CESE (Majumdar and Xu: "Directed test generation using symbolic grammars", ASE 2007):
//! takes the strings of a symbolic grammar one after another, and runs all paths that the
//! holes of each string can take.
//!
//! The campaign derives the strings, those with the fewest holes first. This strategy
//! searches one string to its end before it asks for the next. The search of one string is
//! a [generational search](super::generational) with one seed. Bytes outside the holes are
//! frozen and offer no flips. All strings share one tree, so a path that an earlier string
//! took is not solved again.
//!
//! A string can be given up after a number of flips. This is counted, because such a search
//! has not exhausted the program.

use super::generational::Generational;
use super::{
    Action, Derives, Descriptor, ExecutionReport, FirstInputs, Needs, Origin, Strategy, Verdict,
    View,
};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "cese",
    about: "runs the strings of a symbolic grammar, and solves for their holes (CESE)",
    use_for: "programs with a grammar, within small bounds",
    needs: Needs::Grammar,
    seeds: FirstInputs::Derived,
    exhausts: true,
    relaxes: false,
    derives: Derives::Strings,
    make: |o| Box::new(Cese::new(o.per_string, o.max_waiting)),
    ..Descriptor::COMMON
};

struct Cese {
    /// The search of the current string.
    search: Generational,
    /// The most inputs that wait in it.
    max_waiting: usize,
    /// The most flips for one string.
    per_string: u32,
    /// Flips that were asked for the current string.
    flips_of_string: u32,
    /// Strings so far.
    strings: u64,
    all_derived: bool,
    left_out: u64,
}

impl Cese {
    fn new(per_string: u32, max_waiting: usize) -> Cese {
        Cese {
            search: Generational::new(max_waiting),
            max_waiting,
            per_string,
            flips_of_string: 0,
            strings: 0,
            all_derived: false,
            left_out: 0,
        }
    }

    fn derive_next(&mut self) -> Action {
        match self.all_derived {
            true => Action::Wait,
            false => {
                self.flips_of_string = 0;
                Action::Derive
            }
        }
    }
}

impl Strategy for Cese {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        if self.flips_of_string >= self.per_string {
            self.left_out += self.search.left_out() + 1;
            self.search = Generational::new(self.max_waiting);
            return self.derive_next();
        }
        match self.search.next(view, rng) {
            Action::Wait => self.derive_next(),
            action => {
                self.flips_of_string += u32::from(matches!(action, Action::Flip(_)));
                action
            }
        }
    }

    fn record_execution(&mut self, view: &View, news: &ExecutionReport) {
        self.strings += u64::from(news.origin == Origin::Derived);
        self.search.record_execution(view, news);
    }

    fn record_trace(&mut self, view: &View, run: RunId) {
        self.search.record_trace(view, run);
    }

    fn record_trace_failure(&mut self, view: &View, input: InputId) {
        self.search.record_trace_failure(view, input);
    }

    fn record_grammar_exhausted(&mut self) {
        self.all_derived = true;
    }

    fn record_verdict(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        self.search.record_verdict(view, flip, verdict);
    }

    fn doing(&self) -> String {
        format!("string {}: {}", self.strings, self.search.doing())
    }

    fn left_out(&self) -> u64 {
        self.left_out + self.search.left_out()
    }
}
