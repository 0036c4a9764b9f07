//! Grammar-based whitebox fuzzing (Godefroid, Kiezun and Levin, PLDI 2008), and its
//! rival that works on tokens without a grammar.
//!
//! Both are a [generational search](super::generational); what differs is what a
//! run records and how a flip is solved: decisions are on the tokens that the
//! program's lexer returns, and a flip asks for another token, which a grammar then
//! completes to a sentence, or which simply takes the place of the old one.

use super::generational::Generational;
use super::{Action, InputNews, Strategy, TokenUse, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};

pub struct OnTokens {
    search: Generational,
    tokens: TokenUse,
}

impl OnTokens {
    pub fn new(tokens: TokenUse) -> OnTokens {
        OnTokens { search: Generational::default(), tokens }
    }
}

impl Strategy for OnTokens {
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action {
        self.search.next(view, rng)
    }

    fn executed(&mut self, view: &View, news: &InputNews) {
        self.search.executed(view, news);
    }

    fn traced(&mut self, view: &View, run: RunId) {
        self.search.traced(view, run);
    }

    fn untraceable(&mut self, view: &View, input: InputId) {
        self.search.untraceable(view, input);
    }

    fn answered(&mut self, view: &View, flip: Flip, verdict: Verdict) {
        self.search.answered(view, flip, verdict);
    }

    fn doing(&self) -> String {
        self.search.doing()
    }

    fn wants_tokens(&self) -> Option<TokenUse> {
        Some(self.tokens)
    }

    fn left_out(&self) -> u64 {
        self.search.left_out()
    }
}
