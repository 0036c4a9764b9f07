//! Grammar-based whitebox fuzzing (Godefroid, Kiezun and Levin, PLDI 2008), and its
//! rival that works on tokens without a grammar.
//!
//! What makes them is what a run records and how a flip is solved: decisions are on the
//! tokens that the program's lexer returns, and a flip asks for another token, which a
//! grammar then completes to a sentence, or which simply takes the place of the old one.
//!
//! The paper searches by generations: all flips of a run, then the next run. A parser
//! compares each token with dozens of others, so that a run of twenty tokens has
//! hundreds of flips, most of which say nothing new about what comes behind the parser.
//! (Measured on examples/tinyjs: 15,500 inputs from 97 runs took 60 % of the branches of
//! its code generator, and 12,000 inputs by what follows took 86 %.) So the choice
//! of flips is that of `auto`, [`Tokens`]: those to branches that nobody took, then those
//! that were seldom asked. When that has nothing left, a [generational
//! search](super::generational) asks the rest, so that the search ends when every path
//! was tried.
//!
//! What comes behind a parser is decided by what is nested in what, and no decision of the
//! parser's shows it. So with a grammar, some of the runs are of sentences in which
//! whatever nests is nested in each other.

use super::auto::goals::Asked;
use super::auto::tokens::{Next, Tokens};
use super::generational::Generational;
use super::{Action, InputNews, Origin, Strategy, TokenUse, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};
use std::collections::{HashMap, HashSet};

pub struct OnTokens {
    first: Tokens,
    rest: Generational,
    /// Flips under way that the first asked, with their goals if they have one.
    asked: HashMap<Flip, Option<Asked>>,
    /// Inputs that are being traced for the rest.
    for_rest: HashSet<InputId>,
    /// What asks at present.
    resting: bool,
    /// Actions so far, and whether there are sentences that were not derived.
    turns: u64,
    derives: bool,
}

/// Of so many actions, one derives a sentence.
const DERIVE: u64 = 4;

impl OnTokens {
    pub fn new(tokens: TokenUse) -> OnTokens {
        OnTokens {
            first: Tokens::default(),
            rest: Generational::default(),
            asked: HashMap::new(),
            for_rest: HashSet::new(),
            resting: false,
            turns: 0,
            derives: tokens == TokenUse::Complete,
        }
    }
}

impl Strategy for OnTokens {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        self.turns += 1;
        if self.derives && self.turns.is_multiple_of(DERIVE) {
            return Action::Derive;
        }
        let next = self.first.next(view);
        self.resting = next.is_none();
        match next {
            Some(Next::Trace(input)) => Action::TraceTokens(input),
            Some(Next::Flip(flip, asked)) => {
                self.asked.insert(flip, asked);
                Action::Flip(flip)
            }
            None => match self.rest.next(view, rng) {
                Action::Trace(input) => {
                    self.for_rest.insert(input);
                    Action::TraceTokens(input)
                }
                Action::Wait if self.derives => Action::Derive,
                action => action,
            },
        }
    }

    fn executed(&mut self, view: &View, news: &InputNews) {
        let asked = match news.origin {
            Origin::Flip(flip) => self.asked.remove(&flip),
            _ => None,
        };
        let stepped = asked.flatten().is_some_and(|a| a.step);
        self.first.executed(view, news, stepped, true);
        self.rest.executed(view, news);
    }

    fn traced(&mut self, view: &View, run: RunId) {
        if let Some(known) = view.runs.get(run) {
            self.first.traced(view, run, known);
            // What is left of other runs is asked when their inputs are traced once more.
            if self.for_rest.remove(&known.input) {
                self.rest.traced(view, run);
            }
        }
    }

    fn untraceable(&mut self, view: &View, input: InputId) {
        self.for_rest.remove(&input);
        self.first.untraceable(input);
        self.rest.untraceable(view, input);
    }

    fn answered(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        let solved = matches!(verdict, Verdict::Sat | Verdict::Optimistic);
        if verdict != Verdict::Gone {
            self.first.answered(view, flip, !solved);
        } else if let Some(Some(asked)) = self.asked.get(&flip) {
            self.first.lose(asked);
        }
        if !solved {
            self.asked.remove(&flip);
        }
        self.rest.answered(view, flip, verdict);
    }

    fn doing(&self) -> String {
        match self.resting {
            true => self.rest.doing(),
            false => "flips on tokens, those seldom asked first".into(),
        }
    }

    fn derived_all(&mut self) {
        self.derives = false;
    }

    fn left_out(&self) -> u64 {
        self.rest.left_out()
    }
}
