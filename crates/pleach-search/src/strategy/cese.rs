//! CESE (Majumdar and Xu: "Directed test generation using symbolic grammars", ASE
//! 2007): strings of a symbolic grammar one after another, and of each all paths
//! that its holes can take.
//!
//! Whoever derives them gives the strings, the fewest holes first. Here each is
//! searched to its end before the next is asked for: what a [generational
//! search](super::generational) does with one seed, whose bytes outside the holes
//! are settled and offer no flips. The tree is one for all strings, so a path that
//! was seen under another is not solved for again.
//!
//! A string can be given up after a number of flips. That is counted: a search
//! that ends so has not exhausted the program.

use super::generational::Generational;
use super::{Action, InputNews, Origin, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};

pub struct Cese {
    string: Generational,
    per_string: u32,
    /// Flips asked for the string at hand.
    asked: u32,
    strings: u64,
    dry: bool,
    left_out: u64,
}

impl Cese {
    pub fn new(per_string: u32) -> Cese {
        Cese {
            string: Generational::default(),
            per_string,
            asked: 0,
            strings: 0,
            dry: false,
            left_out: 0,
        }
    }

    fn derive(&mut self) -> Action {
        match self.dry {
            true => Action::Wait,
            false => {
                self.asked = 0;
                Action::Derive
            }
        }
    }
}

impl Strategy for Cese {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        if self.asked >= self.per_string {
            self.left_out += self.string.left_out() + 1;
            self.string = Generational::default();
            return self.derive();
        }
        match self.string.next(view, rng) {
            Action::Wait => self.derive(),
            action => {
                self.asked += u32::from(matches!(action, Action::Flip(_)));
                action
            }
        }
    }

    fn executed(&mut self, view: &View, news: &InputNews) {
        self.strings += u64::from(news.origin == Origin::Derived);
        self.string.executed(view, news);
    }

    fn traced(&mut self, view: &View, run: RunId) {
        self.string.traced(view, run);
    }

    fn untraceable(&mut self, view: &View, input: InputId) {
        self.string.untraceable(view, input);
    }

    fn derived_all(&mut self) {
        self.dry = true;
    }

    fn answered(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        self.string.answered(view, flip, verdict);
    }

    fn doing(&self) -> String {
        format!("string {}: {}", self.strings, self.string.doing())
    }

    fn left_out(&self) -> u64 {
        self.left_out + self.string.left_out()
    }
}
