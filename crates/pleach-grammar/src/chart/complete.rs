//! From a chart to the cheapest sentence.

use super::automaton::NONE;
use super::{Chart, Entry};
use crate::grammar::{Symbol, TokenId};
use crate::shortest::plus;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The whole sentence: the constrained positions, then what completes it.
    pub tokens: Vec<TokenId>,
    /// The number of tokens behind the constrained positions, plus penalties.
    pub cost: u64,
    /// How many positions were constrained.
    pub fixed: usize,
}

impl Chart {
    /// A cheapest sentence whose first tokens are as pushed. Of equally cheap ones, the
    /// production that is first in the grammar wins. There always is a sentence: `push`
    /// refuses positions that would leave none.
    pub fn complete(&self) -> Option<Completion> {
        let at = self.len();
        self.cheapest(self.frontiers[at].entries, at, |chart, (from, to)| {
            chart.open[to] > chart.open[from]
        })
    }

    /// The cheapest sentence that continues the entries of a frontier before position
    /// `at`. `is_open` is true for two positions if some position between them allows
    /// several tokens.
    pub(super) fn cheapest(
        &self,
        frontier: (u32, u32),
        at: usize,
        is_open: impl Fn(&Chart, (usize, usize)) -> bool,
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
        // From entry to entry upwards: the tokens that it spans, the rest of its
        // production, and the rests of the productions around it that began at the same
        // place.
        let mut position = at;
        loop {
            let Entry { origin, .. } = self.entries[index as usize];
            let place = self.places[origin as usize];
            if is_open(self, (place.position as usize, position)) {
                self.write_tokens(index, position, &mut tokens);
            }
            self.append_rest(item, 0, &mut tokens);
            let lhs = grammar.production(automaton.items.production(item)).rule;
            let (_, want) = self.context(origin, lhs);
            let want = self.wants[want as usize];
            let mut rule = lhs;
            while rule != want.rule {
                let (_, corner) = automaton.corners.get(want.rule, rule);
                self.append_rest(corner, 1, &mut tokens);
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

    /// Appends the cheapest string of the symbols from `skip` behind the dot on.
    fn append_rest(&self, item: u32, skip: usize, tokens: &mut Vec<TokenId>) {
        let automaton = &*self.automaton;
        let production = automaton.grammar.production(automaton.items.production(item));
        let symbols = &production.symbols[automaton.items.dot(item) + skip..];
        automaton.shortest.append(&automaton.grammar, symbols, tokens, usize::MAX);
    }

    /// Writes the tokens that an entry spans to their positions.
    fn write_tokens(&self, index: u32, end: usize, tokens: &mut [TokenId]) {
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
