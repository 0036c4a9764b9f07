//! From a chart to the cheapest sentence.

use super::automaton::NONE;
use super::{Chart, Entry};
use crate::grammar::{Symbol, TokenId};
use crate::shortest::plus;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The whole sentence: the constrained positions, then what completes it.
    pub tokens: Vec<TokenId>,
    /// Tokens behind the constrained positions, and penalties.
    pub cost: u64,
    /// How many positions were constrained.
    pub fixed: usize,
}

impl Chart {
    /// A cheapest sentence whose first tokens are as pushed. Among equally cheap
    /// ones the production that comes first in the grammar wins. There always is
    /// one: a push that would leave none is refused.
    pub fn complete(&self) -> Option<Completion> {
        let at = self.len();
        self.cheapest(self.frontiers[at].entries, at, |chart, (from, to)| {
            chart.open[to] > chart.open[from]
        })
    }

    /// The cheapest sentence that ends after the entries of a frontier before
    /// position `at`. `open` says whether the tokens between two positions have
    /// to be looked up.
    pub(super) fn cheapest(
        &self,
        frontier: (u32, u32),
        at: usize,
        open: impl Fn(&Chart, (usize, usize)) -> bool,
    ) -> Option<Completion> {
        let automaton = &*self.automaton;
        let (grammar, shortest) = (&*automaton.grammar, &automaton.shortest);
        let mut tokens = self.tokens[..at.min(self.tokens.len())].to_vec();
        if at == 0 {
            let start = Symbol::Rule(grammar.start);
            shortest.append(grammar, &[start], &mut tokens, usize::MAX);
            let cost = shortest.symbol(start);
            return Some(Completion { tokens, cost, fixed: 0 });
        }
        let mut best: Option<(u64, u32, u32)> = None;
        for index in frontier.0..frontier.1 {
            let entry = &self.entries[index as usize];
            for end in &automaton.states[entry.state as usize].finals {
                let after = self.context(entry.origin, end.lhs).0;
                let cost = plus(plus(entry.penalty, end.rest), after);
                if best.is_none_or(|(c, item, _)| (cost, end.item) < (c, item)) {
                    best = Some((cost, end.item, index));
                }
            }
        }
        let (cost, mut item, mut index) = best?;
        tokens.resize(at, TokenId(0));
        // Up from entry to entry: tokens between its ends, then the rest of its
        // production, then of those that began at the same place around it.
        let mut position = at;
        loop {
            let Entry { origin, .. } = self.entries[index as usize];
            let place = self.places[origin as usize];
            if open(self, (place.position as usize, position)) {
                self.spell(index, position, &mut tokens);
            }
            self.rest(item, 0, &mut tokens);
            let lhs = grammar.production(automaton.items.production(item)).rule;
            let (_, want) = self.context(origin, lhs);
            let want = self.wants[want as usize];
            let mut rule = lhs;
            while rule != want.rule {
                let (_, corner) = automaton.corners.get(want.rule, rule);
                self.rest(corner, 1, &mut tokens);
                rule = grammar.production(automaton.items.production(corner)).rule;
            }
            if want.entry == NONE {
                return Some(Completion { tokens, cost, fixed: at });
            }
            item = want.item + 1;
            index = want.entry;
            position = place.position as usize;
        }
    }

    /// Appends the cheapest string of what is `skip` symbols behind the dot.
    fn rest(&self, item: u32, skip: usize, tokens: &mut Vec<TokenId>) {
        let automaton = &*self.automaton;
        let production = automaton.grammar.production(automaton.items.production(item));
        let symbols = &production.symbols[automaton.items.dot(item) + skip..];
        automaton.shortest.append(&automaton.grammar, symbols, tokens, usize::MAX);
    }

    /// Writes the tokens that an entry spans into their positions.
    fn spell(&self, index: u32, end: usize, tokens: &mut [TokenId]) {
        let mut stack = vec![(index, end)];
        while let Some((index, end)) = stack.pop() {
            let entry = self.entries[index as usize];
            if entry.before == NONE {
                continue;
            }
            if entry.child == NONE {
                if let Some(Symbol::Token(token)) =
                    self.automaton.states[entry.state as usize].accessing
                {
                    tokens[end - 1] = token;
                }
                stack.push((entry.before, end - 1));
            } else {
                let middle = self.places[self.entries[entry.child as usize].origin as usize];
                stack.push((entry.child, end));
                stack.push((entry.before, middle.position as usize));
            }
        }
    }
}
