//! Grammar-based whitebox fuzzing (Godefroid, Kiezun and Levin: "Grammar-based whitebox
//! fuzzing", PLDI 2008), and the same search without a grammar (`whitebox-tokens`), to
//! compare with.
//!
//! In these searches a run records decisions on the tokens that the program's lexer
//! returns. A flip asks for another token. With `gbw`, the grammar completes the input
//! after the new token. With `whitebox-tokens`, the new token only replaces the old one.
//!
//! The paper searches by generations: all flips of a run, then the next run. A parser
//! compares each token with dozens of others, so a run of twenty tokens has hundreds of
//! flips. Most of them reach no new code behind the parser. (Measured on examples/tinyjs:
//! 15,500 inputs from 97 runs took 60 % of the branches of its code generator. With the
//! order below, 12,000 inputs took 86 %.) So this search first uses the order of `auto`,
//! [`Tokens`]: flips to uncovered branches, then flips that were seldom asked. After these,
//! a [generational search](super::generational) asks the rest, so that the search ends when
//! every path was tried.
//!
//! The code behind a parser depends on which constructs are nested in which, and no single
//! decision of the parser shows this. So `gbw` also runs sentences of the grammar in which
//! every construct that can be nested is nested in every other.

use super::auto::goals::GoalFlip;
use super::auto::tokens::{Next, Tokens};
use super::generational::Generational;
use super::{
    Action, Derives, Descriptor, ExecutionReport, FirstInputs, Needs, Origin, Strategy, TokenUse,
    Verdict, View,
};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};
use std::collections::{HashMap, HashSet};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "gbw",
    about: "flips tokens; the grammar completes the input (grammar-based whitebox fuzzing)",
    use_for: "parsers with a grammar, and the code behind them",
    needs: Needs::Tokens,
    seeds: FirstInputs::GivenAndCovering,
    exhausts: true,
    tokens: Some(TokenUse::Complete),
    derives: Derives::Nested,
    make: |o| Box::new(OnTokens::new(TokenUse::Complete, o.max_waiting)),
    ..Descriptor::COMMON
};

pub(super) const WHITEBOX_TOKENS: Descriptor = Descriptor {
    name: "whitebox-tokens",
    about: "flips tokens, and keeps the rest of the input",
    use_for: "comparison with gbw",
    needs: Needs::Tokens,
    exhausts: true,
    tokens: Some(TokenUse::Replace),
    derives: Derives::Nested,
    make: |o| Box::new(OnTokens::new(TokenUse::Replace, o.max_waiting)),
    ..Descriptor::COMMON
};

struct OnTokens {
    /// Asks flips to uncovered branches and flips that were seldom asked.
    first: Tokens,
    /// Asks the remaining flips.
    rest: Generational,
    /// Flips under way that `first` asked, with their goals if they have one.
    asked: HashMap<Flip, Option<GoalFlip>>,
    /// Inputs that are being traced for `rest`.
    for_rest: HashSet<InputId>,
    /// True if `first` had nothing left to ask last time.
    rest_is_next: bool,
    actions: u64,
    /// True while the grammar has more sentences to derive.
    derives: bool,
}

/// One of this many actions derives a sentence.
const DERIVE_EVERY: u64 = 4;

impl OnTokens {
    fn new(tokens: TokenUse, max_waiting: usize) -> OnTokens {
        OnTokens {
            first: Tokens::default(),
            rest: Generational::new(max_waiting),
            asked: HashMap::new(),
            for_rest: HashSet::new(),
            rest_is_next: false,
            actions: 0,
            derives: tokens == TokenUse::Complete,
        }
    }
}

impl Strategy for OnTokens {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        self.actions += 1;
        if self.derives && self.actions.is_multiple_of(DERIVE_EVERY) {
            return Action::Derive;
        }
        let next = self.first.next(view);
        self.rest_is_next = next.is_none();
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

    fn record_execution(&mut self, view: &View, news: &ExecutionReport) {
        let asked = match news.origin {
            Origin::Flip(flip) => self.asked.remove(&flip),
            _ => None,
        };
        let stepped = asked.flatten().is_some_and(|a| a.is_step);
        self.first.record_execution(view, news, stepped, true);
        self.rest.record_execution(view, news);
    }

    fn record_trace(&mut self, view: &View, run: RunId) {
        if let Some(known) = view.runs.get(run) {
            self.first.record_trace(view, run, known);
            // The remaining flips of other runs are asked when they are traced again.
            if self.for_rest.remove(&known.input) {
                self.rest.record_trace(view, run);
            }
        }
    }

    fn record_trace_failure(&mut self, view: &View, input: InputId) {
        self.for_rest.remove(&input);
        self.first.record_trace_failure(input);
        self.rest.record_trace_failure(view, input);
    }

    fn record_verdict(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        let solved = matches!(verdict, Verdict::Sat | Verdict::Optimistic);
        if verdict != Verdict::Gone {
            self.first.record_verdict(view, flip, !solved);
        } else if let Some(Some(asked)) = self.asked.get(&flip) {
            self.first.retry_later(asked);
        }
        if !solved {
            self.asked.remove(&flip);
        }
        self.rest.record_verdict(view, flip, verdict);
    }

    fn doing(&self) -> String {
        match self.rest_is_next {
            true => self.rest.doing(),
            false => "flips of tokens, seldom asked ones first".into(),
        }
    }

    fn record_grammar_exhausted(&mut self) {
        self.derives = false;
    }

    fn left_out(&self) -> u64 {
        self.rest.left_out()
    }
}
