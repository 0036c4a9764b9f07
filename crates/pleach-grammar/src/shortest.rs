//! The cheapest string of each rule, and of each rest of a production. Each token has a
//! cost.
//!
//! This is Knuth's generalisation of Dijkstra's algorithm: rules are settled by rising
//! cost, and a production counts when all its rules are settled. Of equally cheap
//! productions, the first in the grammar wins, unless that would lead to a cycle
//! (`a: a | 'x'`). Rules on a cycle use the production that settled them.

use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cost if there is no string.
pub const NEVER: u64 = u64::MAX;
/// Costs saturate here. Each of thirty rules can double a length.
pub const HUGE: u64 = 1 << 48;

/// Numbers items. An item is a production with a dot in it. Numbers are consecutive: all
/// items of the first production, then all of the second, and so on.
#[derive(Clone, Debug)]
pub struct Items {
    offsets: Vec<u32>,
    productions: Vec<u32>,
}

impl Items {
    pub fn new(grammar: &Grammar) -> Items {
        let (mut offsets, mut productions) = (Vec::new(), Vec::new());
        for (i, production) in grammar.productions.iter().enumerate() {
            offsets.push(productions.len() as u32);
            productions.extend(std::iter::repeat_n(i as u32, production.symbols.len() + 1));
        }
        Items { offsets, productions }
    }

    pub fn len(&self) -> usize {
        self.productions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.productions.is_empty()
    }

    pub fn item(&self, production: ProductionId, dot: usize) -> u32 {
        self.offsets[production.index()] + dot as u32
    }

    pub fn production(&self, item: u32) -> ProductionId {
        ProductionId(self.productions[item as usize])
    }

    pub fn dot(&self, item: u32) -> usize {
        (item - self.offsets[self.productions[item as usize] as usize]) as usize
    }

    /// The symbol behind the dot.
    pub fn next(&self, grammar: &Grammar, item: u32) -> Option<Symbol> {
        grammar.production(self.production(item)).symbols.get(self.dot(item)).copied()
    }
}

#[derive(Clone, Debug)]
pub struct Shortest {
    /// By rule: the cost of its cheapest string, or [`NEVER`].
    pub rule: Vec<u64>,
    /// By rule: the first production of its cheapest string.
    pub choice: Vec<Option<ProductionId>>,
    /// By item: the cost of what is behind the dot.
    pub rest: Vec<u64>,
    /// By token: its cost.
    pub token: Vec<u64>,
}

impl Shortest {
    pub fn new(grammar: &Grammar, items: &Items, cost: impl Fn(TokenId) -> u64) -> Shortest {
        let token: Vec<u64> = grammar.token_ids().map(cost).collect();
        let rules = grammar.rules.len();
        let mut rule = vec![NEVER; rules];
        let mut settled_by = vec![None; rules];
        let mut uses: Vec<Vec<u32>> = vec![Vec::new(); rules];
        let mut waiting = Vec::with_capacity(grammar.productions.len());
        let mut sums = Vec::with_capacity(grammar.productions.len());
        let mut heap = BinaryHeap::new();
        for (i, production) in grammar.productions.iter().enumerate() {
            let (mut sum, mut count) = (0, 0);
            for &symbol in &production.symbols {
                match symbol {
                    Symbol::Token(t) => sum = plus(sum, token[t.index()]),
                    Symbol::Rule(r) => {
                        uses[r.index()].push(i as u32);
                        count += 1;
                    }
                }
            }
            waiting.push(count);
            sums.push(sum);
            if count == 0 && sum != NEVER {
                heap.push(Reverse((sum, i as u32)));
            }
        }
        while let Some(Reverse((cost, production))) = heap.pop() {
            let r = grammar.productions[production as usize].rule.index();
            if rule[r] != NEVER {
                continue;
            }
            rule[r] = cost;
            settled_by[r] = Some(ProductionId(production));
            for &user in &uses[r] {
                let user = user as usize;
                sums[user] = plus(sums[user], cost);
                waiting[user] -= 1;
                if waiting[user] == 0 && sums[user] != NEVER {
                    heap.push(Reverse((sums[user], user as u32)));
                }
            }
        }
        let choice = first_choices(grammar, &rule, &token, settled_by);
        let mut rest = vec![0; items.len()];
        for id in grammar.production_ids() {
            let symbols = &grammar.production(id).symbols;
            for dot in (0..symbols.len()).rev() {
                let first = match symbols[dot] {
                    Symbol::Token(t) => token[t.index()],
                    Symbol::Rule(r) => rule[r.index()],
                };
                let at = items.item(id, dot) as usize;
                rest[at] = plus(first, rest[at + 1]);
            }
        }
        Shortest { rule, choice, rest, token }
    }

    pub fn symbol(&self, symbol: Symbol) -> u64 {
        match symbol {
            Symbol::Token(t) => self.token[t.index()],
            Symbol::Rule(r) => self.rule[r.index()],
        }
    }

    /// Appends the cheapest string of the symbols. False if it has more than `limit`
    /// tokens, or if there is none; then a part of it may have been appended.
    pub fn append(
        &self,
        grammar: &Grammar,
        symbols: &[Symbol],
        out: &mut Vec<TokenId>,
        limit: usize,
    ) -> bool {
        let end = out.len().saturating_add(limit);
        let mut stack: Vec<Symbol> = symbols.iter().rev().copied().collect();
        while let Some(symbol) = stack.pop() {
            match symbol {
                Symbol::Token(t) => out.push(t),
                Symbol::Rule(r) => match self.choice[r.index()] {
                    Some(p) => stack.extend(grammar.production(p).symbols.iter().rev()),
                    None => return false,
                },
            }
            if out.len() > end {
                return false;
            }
        }
        true
    }
}

/// The sum of two costs.
pub fn plus(a: u64, b: u64) -> u64 {
    if a == NEVER || b == NEVER { NEVER } else { (a + b).min(HUGE) }
}

/// The first of the cheapest productions of each rule, but without cycles.
fn first_choices(
    grammar: &Grammar,
    rule: &[u64],
    token: &[u64],
    settled_by: Vec<Option<ProductionId>>,
) -> Vec<Option<ProductionId>> {
    let cost = |p: ProductionId| {
        grammar.production(p).symbols.iter().fold(0, |sum, s| match s {
            Symbol::Token(t) => plus(sum, token[t.index()]),
            Symbol::Rule(r) => plus(sum, rule[r.index()]),
        })
    };
    let mut choice: Vec<Option<ProductionId>> = grammar
        .rules
        .iter()
        .enumerate()
        .map(|(r, of_grammar)| match rule[r] {
            NEVER => None,
            HUGE => settled_by[r],
            best => of_grammar.productions.iter().copied().find(|&p| cost(p) == best),
        })
        .collect();
    // `settled_by` has no cycles, so this ends.
    loop {
        let mut changed = false;
        for r in rules_on_cycles(grammar, &choice) {
            changed |= choice[r] != settled_by[r];
            choice[r] = settled_by[r];
        }
        if !changed {
            return choice;
        }
    }
}

/// Rules whose choices lead to a cycle.
fn rules_on_cycles(grammar: &Grammar, choice: &[Option<ProductionId>]) -> Vec<usize> {
    let parts = |r: usize| {
        let symbols = choice[r].map_or(&[][..], |p| &grammar.production(p).symbols);
        symbols.iter().filter_map(|s| match s {
            Symbol::Rule(r) => Some(r.index()),
            Symbol::Token(_) => None,
        })
    };
    let mut waiting = vec![0; choice.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); choice.len()];
    for (r, count) in waiting.iter_mut().enumerate() {
        for part in parts(r) {
            users[part].push(r);
            *count += 1;
        }
    }
    let mut ready: Vec<usize> = (0..choice.len()).filter(|&r| waiting[r] == 0).collect();
    let mut done = ready.len();
    while let Some(r) = ready.pop() {
        for &user in &users[r] {
            waiting[user] -= 1;
            if waiting[user] == 0 {
                ready.push(user);
                done += 1;
            }
        }
    }
    if done == choice.len() {
        return Vec::new();
    }
    (0..choice.len()).filter(|&r| waiting[r] > 0).collect()
}

/// By rule: the height of its lowest derivation tree, or [`NEVER`]. A production of
/// tokens only has height 1.
pub fn lowest_heights(grammar: &Grammar) -> Vec<u64> {
    let mut height = vec![NEVER; grammar.rules.len()];
    let mut uses: Vec<Vec<u32>> = vec![Vec::new(); grammar.rules.len()];
    let mut waiting = Vec::new();
    let mut level = Vec::new();
    for (i, production) in grammar.productions.iter().enumerate() {
        let mut count = 0;
        for symbol in &production.symbols {
            if let Symbol::Rule(r) = symbol {
                uses[r.index()].push(i as u32);
                count += 1;
            }
        }
        waiting.push(count);
        if count == 0 {
            level.push(i as u32);
        }
    }
    let mut now = 1;
    while !level.is_empty() {
        let mut fresh: Vec<RuleId> = Vec::new();
        for &p in &level {
            let rule = grammar.productions[p as usize].rule;
            if height[rule.index()] == NEVER {
                height[rule.index()] = now;
                fresh.push(rule);
            }
        }
        level.clear();
        for rule in fresh {
            for &user in &uses[rule.index()] {
                waiting[user as usize] -= 1;
                if waiting[user as usize] == 0 {
                    level.push(user);
                }
            }
        }
        now += 1;
    }
    height
}
