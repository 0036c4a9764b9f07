//! The states of charts, computed once for each grammar.
//!
//! A state is a set of items (productions with a dot) that a parser can be in at the
//! same time. These are LR(0) states in the form of Aycock and Horspool ("Practical
//! Earley Parsing", 2002). A *kernel* state has items that have moved over a symbol.
//! What it predicts is a state of its own, because that begins at another place of the
//! input. A dot moves over nullable rules at once. So no rule is ever completed over an
//! empty part of the input, which avoids the known problems of Earley parsers with
//! empty rules.
//!
//! For the cheapest completion, each state has the costs of finishing its items, and
//! [`LeftCorners`] has the costs of finishing a rule from a rule that it begins with.

use crate::analysis::Analysis;
use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};
use crate::shortest::{Items, NEVER, Shortest, plus};
use crate::token_set::TokenSet;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

pub const NONE: u32 = u32::MAX;
/// Entries of the transition table, and of the table of left corners.
const MAX_ENTRIES: usize = 64 << 20;
/// Tokens of the shortest string of any production.
const MAX_LENGTH: u64 = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum TooLarge {
    #[error("the grammar is too large: it needs a table of more than {MAX_ENTRIES} entries")]
    Tables,
    #[error("the shortest sentences with {rule} have more than {MAX_LENGTH} tokens")]
    Sentences { rule: String },
}

pub struct Automaton {
    pub grammar: Arc<Grammar>,
    pub items: Items,
    pub shortest: Shortest,
    pub(super) states: Vec<State>,
    /// One row for each state: the next state for each token, then for each rule.
    goto: Vec<u32>,
    /// The length of a row.
    symbols: usize,
    pub(super) follow: Vec<TokenSet>,
    pub(super) last: Vec<bool>,
    pub(super) corners: LeftCorners,
}

#[derive(Default)]
pub(super) struct State {
    pub items: Box<[u32]>,
    /// The symbol that all its items have just moved over.
    pub accessing: Option<Symbol>,
    /// The state that it predicts.
    pub predicted: u32,
    /// The next state for each token that has one.
    pub tokens: Vec<(TokenId, u32)>,
    /// True if some rule leads to a next state.
    pub waits: bool,
    /// Rules that are complete here, each with its first complete production.
    pub completes: Vec<(RuleId, ProductionId)>,
    pub wants: Vec<Want>,
    /// For each rule of an item: the cheapest way to finish it.
    pub finals: Vec<Final>,
}

/// A kernel item with a rule behind its dot.
pub(super) struct Want {
    pub rule: RuleId,
    pub lhs: RuleId,
    /// The cost of what is behind that rule.
    pub rest: u64,
    pub item: u32,
}

pub(super) struct Final {
    pub lhs: RuleId,
    pub rest: u64,
    pub item: u32,
}

impl Automaton {
    pub fn new(grammar: Arc<Grammar>) -> Result<Automaton, TooLarge> {
        let items = Items::new(&grammar);
        let shortest = Shortest::new(&grammar, &items, |_| 1);
        let analysis = Analysis::new(&grammar);
        if let Some(id) = grammar.production_ids().find(|&p| {
            let cost = shortest.rest[items.item(p, 0) as usize];
            analysis.is_useful(grammar.production(p).rule) && cost != NEVER && cost > MAX_LENGTH
        }) {
            let rule = grammar.rule(grammar.production(id).rule).name.clone();
            return Err(TooLarge::Sentences { rule });
        }
        let symbols = grammar.tokens.len() + grammar.rules.len();
        let mut build = Build {
            grammar: &grammar,
            items: &items,
            shortest: &shortest,
            nullable: &analysis.nullable,
            states: Vec::new(),
            kernels: HashMap::new(),
            predictions: HashMap::new(),
        };
        build.prediction(&[grammar.start]);
        let mut goto = Vec::new();
        let mut at = 0;
        while at < build.states.len() {
            goto.resize((at + 1) * symbols, NONE);
            build.add_transitions(at, &mut goto[at * symbols..]);
            at += 1;
            if build.states.len() * symbols > MAX_ENTRIES {
                return Err(TooLarge::Tables);
            }
        }
        let mut states = build.states;
        let mut roots: Vec<RuleId> =
            states.iter().flat_map(|s| s.wants.iter().map(|w| w.rule)).collect();
        roots.push(grammar.start);
        roots.sort();
        roots.dedup();
        if roots.len() * grammar.rules.len() > MAX_ENTRIES {
            return Err(TooLarge::Tables);
        }
        let corners = LeftCorners::new(&grammar, &items, &shortest, &analysis.nullable, &roots);
        states.shrink_to_fit();
        Ok(Automaton {
            items,
            shortest,
            states,
            goto,
            symbols,
            follow: analysis.follow,
            last: analysis.last,
            corners,
            grammar,
        })
    }

    pub fn states(&self) -> usize {
        self.states.len()
    }

    #[inline]
    pub(super) fn on_token(&self, state: u32, token: TokenId) -> u32 {
        self.goto[state as usize * self.symbols + token.index()]
    }

    #[inline]
    pub(super) fn on_rule(&self, state: u32, rule: RuleId) -> u32 {
        self.goto[state as usize * self.symbols + self.grammar.tokens.len() + rule.index()]
    }
}

struct Build<'a> {
    grammar: &'a Grammar,
    items: &'a Items,
    shortest: &'a Shortest,
    nullable: &'a [bool],
    states: Vec<State>,
    kernels: HashMap<Box<[u32]>, u32>,
    predictions: HashMap<Box<[u32]>, u32>,
}

impl Build<'_> {
    /// Adds an item, and the items behind nullable rules.
    fn add(&self, mut item: u32, to: &mut Vec<u32>) {
        loop {
            to.push(item);
            match self.items.next(self.grammar, item) {
                Some(Symbol::Rule(r)) if self.nullable[r.index()] => item += 1,
                _ => return,
            }
        }
    }

    /// The state of all items that can begin where one of `roots` begins. The first such
    /// state is state 0.
    fn prediction(&mut self, roots: &[RuleId]) -> u32 {
        let mut seen = vec![false; self.grammar.rules.len()];
        let mut stack: Vec<RuleId> = Vec::new();
        for &root in roots {
            if !std::mem::replace(&mut seen[root.index()], true) {
                stack.push(root);
            }
        }
        let mut found = Vec::new();
        while let Some(rule) = stack.pop() {
            for &p in &self.grammar.rule(rule).productions {
                let first = self.items.item(p, 0);
                if self.shortest.rest[first as usize] == NEVER {
                    continue;
                }
                let from = found.len();
                self.add(first, &mut found);
                for &item in &found[from..] {
                    if let Some(Symbol::Rule(r)) = self.items.next(self.grammar, item)
                        && !std::mem::replace(&mut seen[r.index()], true)
                    {
                        stack.push(r);
                    }
                }
            }
        }
        found.sort_unstable();
        let key: Box<[u32]> = found.into();
        if let Some(&state) = self.predictions.get(&key) {
            return state;
        }
        let state = self.states.len() as u32;
        self.states.push(State { items: key.clone(), predicted: NONE, ..State::default() });
        self.predictions.insert(key, state);
        state
    }

    /// The state of items that have just moved over a symbol.
    fn kernel(&mut self, accessing: Symbol, moved: &[u32]) -> u32 {
        let mut kernel = Vec::new();
        for &item in moved {
            self.add(item, &mut kernel);
        }
        kernel.sort_unstable();
        kernel.dedup();
        let key: Box<[u32]> = kernel.into();
        if let Some(&state) = self.kernels.get(&key) {
            return state;
        }
        let state = self.states.len() as u32;
        let mut new = State {
            accessing: Some(accessing),
            predicted: NONE,
            items: key.clone(),
            ..State::default()
        };
        for &item in &key {
            let production = self.items.production(item);
            let lhs = self.grammar.production(production).rule;
            match self.items.next(self.grammar, item) {
                None if !new.completes.iter().any(|&(r, _)| r == lhs) => {
                    new.completes.push((lhs, production));
                }
                Some(Symbol::Rule(rule)) => {
                    let rest = self.shortest.rest[item as usize + 1];
                    new.wants.push(Want { rule, lhs, rest, item });
                }
                _ => {}
            }
            let rest = self.shortest.rest[item as usize];
            match new.finals.iter_mut().find(|f| f.lhs == lhs) {
                Some(f) if f.rest <= rest => {}
                Some(f) => *f = Final { lhs, rest, item },
                None => new.finals.push(Final { lhs, rest, item }),
            }
        }
        self.states.push(new);
        self.kernels.insert(key, state);
        state
    }

    /// Fills in the next states of a state.
    fn add_transitions(&mut self, at: usize, row: &mut [u32]) {
        let mut moves: Vec<(Symbol, u32)> = Vec::new();
        for &item in &self.states[at].items {
            if let Some(symbol) = self.items.next(self.grammar, item) {
                moves.push((symbol, item + 1));
            }
        }
        moves.sort_unstable();
        if self.states[at].accessing.is_some() {
            let mut wanted: Vec<RuleId> = self.states[at].wants.iter().map(|w| w.rule).collect();
            wanted.sort_unstable();
            wanted.dedup();
            if !wanted.is_empty() {
                self.states[at].predicted = self.prediction(&wanted);
            }
        }
        for group in moves.chunk_by(|a, b| a.0 == b.0) {
            let moved: Vec<u32> = group.iter().map(|m| m.1).collect();
            let target = self.kernel(group[0].0, &moved);
            match group[0].0 {
                Symbol::Token(t) => {
                    row[t.index()] = target;
                    self.states[at].tokens.push((t, target));
                }
                Symbol::Rule(r) => {
                    row[self.grammar.tokens.len() + r.index()] = target;
                    self.states[at].waits = true;
                }
            }
        }
    }
}

/// For a wanted rule and a rule that can begin it: the least cost from the end of the
/// second to the end of the first.
pub(super) struct LeftCorners {
    rules: usize,
    /// By wanted rule: its row in `entries`.
    row: Vec<u32>,
    /// The cost, and the item whose dot is before the second rule.
    entries: Vec<(u64, u32)>,
}

impl LeftCorners {
    fn new(
        grammar: &Grammar,
        items: &Items,
        shortest: &Shortest,
        nullable: &[bool],
        roots: &[RuleId],
    ) -> LeftCorners {
        let rules = grammar.rules.len();
        let mut row = vec![NONE; rules];
        let mut entries = vec![(NEVER, NONE); rules * roots.len()];
        let mut edges: Vec<Vec<(RuleId, u64, u32)>> = vec![Vec::new(); rules];
        for id in grammar.production_ids() {
            let production = grammar.production(id);
            if shortest.rest[items.item(id, 0) as usize] == NEVER {
                continue;
            }
            for (dot, symbol) in production.symbols.iter().enumerate() {
                let Symbol::Rule(r) = *symbol else { break };
                let item = items.item(id, dot);
                let rest = shortest.rest[item as usize + 1];
                edges[production.rule.index()].push((r, rest, item));
                if !nullable[r.index()] {
                    break;
                }
            }
        }
        let mut heap = BinaryHeap::new();
        for (i, &root) in roots.iter().enumerate() {
            row[root.index()] = i as u32;
            let entries = &mut entries[i * rules..(i + 1) * rules];
            entries[root.index()] = (0, NONE);
            heap.push(Reverse((0, root)));
            while let Some(Reverse((cost, rule))) = heap.pop() {
                if entries[rule.index()].0 < cost {
                    continue;
                }
                for &(to, rest, item) in &edges[rule.index()] {
                    let total = plus(cost, rest);
                    if total < entries[to.index()].0 {
                        entries[to.index()] = (total, item);
                        heap.push(Reverse((total, to)));
                    }
                }
            }
        }
        LeftCorners { rules, row, entries }
    }

    #[inline]
    pub fn get(&self, wanted: RuleId, begins: RuleId) -> (u64, u32) {
        match self.row[wanted.index()] {
            NONE => (NEVER, NONE),
            row => self.entries[row as usize * self.rules + begins.index()],
        }
    }
}
