//! The tables of an LALR(1) parser.
//!
//! LR(0) states with the lookaheads of DeRemer and Pennello ("Efficient Computation of
//! LALR(1) Look-Ahead Sets", 1982). When a state moves over a rule, the rule can be
//! followed by the tokens that the next state can read, and by what follows the rules
//! that can end there. Both are least solutions of inclusions between sets, and are
//! found by propagating new members.
//!
//! The automaton of the chart has other states: its dots skip nullable rules, and
//! predictions are states of their own.

use crate::grammar::{Grammar, ProductionId, RuleId, Symbol};
use crate::shortest::{Items, NEVER, Shortest};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Entries of the tables; also the words of all sets.
const MAX_ENTRIES: usize = 8 << 20;
const NONE: u32 = u32::MAX;

// The lower two bits of an action. Above them a shift has the next state, and a
// reduction has the production. A conflict is an error with a bit above.
const ERROR: u32 = 0;
pub const SHIFT: u32 = 1;
pub const REDUCE: u32 = 2;
const CONFLICT: u32 = 4;
pub const ACCEPT: u32 = 3;

pub struct Tables {
    pub states: usize,
    /// The column for the end of the input: one behind the tokens.
    pub end: u32,
    pub conflicts: usize,
    rules: usize,
    width: usize,
    /// One row for each state: an action for each token and for the end, then the next
    /// state for each rule.
    table: Vec<u32>,
    /// By production: its rule and its length.
    productions: Vec<(u32, u32)>,
}

impl Tables {
    pub fn new(grammar: &Grammar) -> Option<Tables> {
        let build = Build::new(grammar)?;
        let mut tables = Tables {
            states: build.states.len(),
            end: grammar.tokens.len() as u32,
            conflicts: 0,
            rules: grammar.rules.len(),
            width: build.width,
            table: Vec::new(),
            productions: grammar
                .productions
                .iter()
                .map(|p| (p.rule.0, p.symbols.len() as u32))
                .collect(),
        };
        let lookaheads = build.lookaheads()?;
        let end = grammar.tokens.len();
        let mut table = build.goto;
        for row in table.chunks_mut(tables.width) {
            for cell in &mut row[..end] {
                *cell = if *cell == NONE { ERROR } else { *cell << 2 | SHIFT };
            }
            row[end] = ERROR;
        }
        let accepting = table[end + 1 + grammar.start.index()] as usize;
        table[accepting * tables.width + end] = ACCEPT;
        for ((state, production), set) in lookaheads {
            for token in set.ones() {
                let cell = &mut table[state as usize * tables.width + token];
                match *cell {
                    ERROR => *cell = production << 2 | REDUCE,
                    CONFLICT => {}
                    _ => {
                        *cell = CONFLICT;
                        tables.conflicts += 1;
                    }
                }
            }
        }
        tables.table = table;
        Some(tables)
    }

    #[inline]
    pub fn action(&self, state: u32, column: u32) -> u32 {
        self.table[state as usize * self.width + column as usize]
    }

    #[inline]
    pub fn goto(&self, state: u32, rule: u32) -> u32 {
        self.table[state as usize * self.width + self.end as usize + 1 + rule as usize]
    }

    #[inline]
    pub fn reduction(&self, action: u32) -> (ProductionId, u32, usize) {
        let (rule, length) = self.productions[(action >> 2) as usize];
        (ProductionId(action >> 2), rule, length as usize)
    }

    /// A bound on the reductions before the next token, unless the parse loops: each of
    /// the `stack` symbols can have a chain of rules above it, and so can each empty rule
    /// that is added on top.
    pub fn max_reductions(&self, stack: usize) -> usize {
        (stack + self.states).saturating_mul(self.rules + 1)
    }
}

/// The pairs of rules in conflict. The rules of a cell are those whose productions can be
/// reduced there, and those that can continue with the token. Any two of them are in
/// conflict; a rule can be in conflict with itself.
pub fn conflicting_rules(grammar: &Grammar) -> Option<Vec<(RuleId, RuleId)>> {
    let build = Build::new(grammar)?;
    let mut reductions: BTreeMap<(u32, usize), Vec<RuleId>> = BTreeMap::new();
    for ((state, production), set) in build.lookaheads()? {
        for column in set.ones() {
            let rule = grammar.productions[production as usize].rule;
            reductions.entry((state, column)).or_default().push(rule);
        }
    }
    let (mut added, end) = (vec![NONE; grammar.rules.len()], grammar.tokens.len());
    let accepting = build.goto[end + 1 + grammar.start.index()];
    let mut pairs = BTreeSet::new();
    let mut closure = (NONE, Vec::new());
    for ((state, column), mut rules) in reductions {
        let is_only = rules.len() == 1;
        if column < end && build.goto[state as usize * build.width + column] != NONE {
            if closure.0 != state {
                closure = (state, build.closure(state, &mut added));
            }
            let here = closure.1.iter().filter(|&&item| {
                build.next(item).is_some_and(|symbol| build.column(symbol) == column)
            });
            rules.extend(here.map(|&item| build.rule(item)));
        } else if column == end && state == accepting {
            rules.push(grammar.start);
        } else if is_only {
            continue;
        }
        for (at, &one) in rules.iter().enumerate() {
            pairs.extend(rules[at + 1..].iter().map(|&other| (one.min(other), one.max(other))));
        }
    }
    Some(pairs.into_iter().collect())
}

/// LR(0) states.
struct Build<'a> {
    grammar: &'a Grammar,
    items: Items,
    nullable: Vec<bool>,
    /// By production: true if it derives a finite string.
    useful: Vec<bool>,
    /// By state: its kernel items.
    states: Vec<Vec<u32>>,
    width: usize,
    goto: Vec<u32>,
}

impl<'a> Build<'a> {
    fn new(grammar: &'a Grammar) -> Option<Build<'a>> {
        let items = Items::new(grammar);
        let shortest = Shortest::new(grammar, &items, |_| 1);
        let useful = grammar
            .production_ids()
            .map(|p| shortest.rest[items.item(p, 0) as usize] != NEVER)
            .collect();
        let mut build = Build {
            nullable: shortest.rule.iter().map(|&length| length == 0).collect(),
            useful,
            states: Vec::new(),
            // One column is for the end of the input.
            width: grammar.tokens.len() + 1 + grammar.rules.len(),
            goto: Vec::new(),
            grammar,
            items,
        };
        // The item of the first state has a dot before the start. Its number is behind
        // those of all other items.
        let first = build.items.len() as u32;
        build.states.push(vec![first]);
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::from([(vec![first], 0)]);
        let mut added = vec![NONE; grammar.rules.len()];
        let mut at = 0;
        while at < build.states.len() {
            if build.states.len() * build.width > MAX_ENTRIES {
                return None;
            }
            let closure = build.closure(at as u32, &mut added);
            build.goto.resize((at + 1) * build.width, NONE);
            let mut moves: Vec<(Symbol, u32)> =
                closure.iter().filter_map(|&i| Some((build.next(i)?, i + 1))).collect();
            moves.sort_unstable();
            for group in moves.chunk_by(|a, b| a.0 == b.0) {
                let kernel: Vec<u32> = group.iter().map(|m| m.1).collect();
                let target = *numbers.entry(kernel).or_insert_with_key(|kernel| {
                    build.states.push(kernel.clone());
                    build.states.len() as u32 - 1
                });
                let column = build.column(group[0].0);
                build.goto[at * build.width + column] = target;
            }
            at += 1;
        }
        Some(build)
    }

    fn column(&self, symbol: Symbol) -> usize {
        match symbol {
            Symbol::Token(t) => t.index(),
            Symbol::Rule(r) => self.grammar.tokens.len() + 1 + r.index(),
        }
    }

    fn next(&self, item: u32) -> Option<Symbol> {
        match item.cmp(&(self.items.len() as u32)) {
            std::cmp::Ordering::Less => self.items.next(self.grammar, item),
            std::cmp::Ordering::Equal => Some(Symbol::Rule(self.grammar.start)),
            std::cmp::Ordering::Greater => None,
        }
    }

    /// The rule of an item. For the first item, that is the start.
    fn rule(&self, item: u32) -> RuleId {
        if item < self.items.len() as u32 {
            self.grammar.production(self.items.production(item)).rule
        } else {
            self.grammar.start
        }
    }

    /// All items of a state. By rule, `added` has the last state that the rule was added
    /// to.
    fn closure(&self, state: u32, added: &mut [u32]) -> Vec<u32> {
        let mut all = self.states[state as usize].clone();
        let mut at = 0;
        while at < all.len() {
            if let Some(Symbol::Rule(rule)) = self.next(all[at])
                && std::mem::replace(&mut added[rule.index()], state) != state
            {
                let productions = self.grammar.rule(rule).productions.iter();
                let useful = productions.filter(|p| self.useful[p.index()]);
                all.extend(useful.map(|&p| self.items.item(p, 0)));
            }
            at += 1;
        }
        all
    }

    /// By state and production: the columns in which the production is reduced.
    fn lookaheads(&self) -> Option<HashMap<(u32, u32), Set>> {
        let (grammar, tokens) = (self.grammar, self.grammar.tokens.len());
        let rules = tokens + 1..self.width;
        // All moves over rules: state and column.
        let mut moves: Vec<(u32, usize)> = Vec::new();
        let mut number = HashMap::new();
        for state in 0..self.states.len() {
            for column in rules.clone() {
                if self.goto[state * self.width + column] != NONE {
                    number.insert((state as u32, column), moves.len() as u32);
                    moves.push((state as u32, column));
                }
            }
        }
        let words = (tokens + 1).div_ceil(64);
        if moves.len() * words > MAX_ENTRIES {
            return None;
        }
        // The tokens that can be read behind each move, directly or behind empty rules.
        let mut follow = vec![Set::new(words); moves.len()];
        let mut reads = Vec::new();
        for (at, &(state, column)) in moves.iter().enumerate() {
            let target = self.goto[state as usize * self.width + column];
            let row = &self.goto[target as usize * self.width..][..self.width];
            for token in (0..tokens).filter(|&t| row[t] != NONE) {
                follow[at].insert(token);
            }
            if state == 0 && column == self.column(Symbol::Rule(grammar.start)) {
                follow[at].insert(tokens);
            }
            for rule in rules.clone().filter(|&r| row[r] != NONE) {
                if self.nullable[rule - tokens - 1] {
                    reads.push((number[&(target, rule)], at as u32));
                }
            }
        }
        propagate(&mut follow, reads);
        // And the tokens behind rules that end at the same place.
        let mut includes = Vec::new();
        let mut ends = Vec::new();
        for (at, &(from, column)) in moves.iter().enumerate() {
            for &p in &grammar.rules[column - tokens - 1].productions {
                if !self.useful[p.index()] {
                    continue;
                }
                let symbols = &grammar.production(p).symbols;
                let empty = |s: &Symbol| matches!(s, Symbol::Rule(r) if self.nullable[r.index()]);
                let full = symbols.iter().rposition(|s| !empty(s));
                let mut state = from;
                for (i, &symbol) in symbols.iter().enumerate() {
                    let column = self.column(symbol);
                    if matches!(symbol, Symbol::Rule(_)) && full.is_none_or(|full| i >= full) {
                        includes.push((at as u32, number[&(state, column)]));
                    }
                    state = self.goto[state as usize * self.width + column];
                }
                ends.push((state, p.0, at));
            }
        }
        propagate(&mut follow, includes);
        let mut lookaheads: HashMap<(u32, u32), Set> = HashMap::new();
        for (state, production, at) in ends {
            lookaheads
                .entry((state, production))
                .or_insert_with(|| Set::new(words))
                .add(&follow[at]);
        }
        Some(lookaheads)
    }
}

/// Adds the set at the start of each edge to the set at its end, until nothing changes.
fn propagate(sets: &mut [Set], mut edges: Vec<(u32, u32)>) {
    edges.sort_unstable();
    edges.dedup();
    let mut todo: Vec<u32> = (0..sets.len() as u32).collect();
    let mut waiting = vec![true; sets.len()];
    while let Some(from) = todo.pop() {
        waiting[from as usize] = false;
        let first = edges.partition_point(|e| e.0 < from);
        let set = sets[from as usize].clone();
        for &(_, to) in edges[first..].iter().take_while(|e| e.0 == from) {
            if sets[to as usize].add(&set) && !std::mem::replace(&mut waiting[to as usize], true) {
                todo.push(to);
            }
        }
    }
}

/// A set of columns.
#[derive(Clone)]
struct Set(Box<[u64]>);

impl Set {
    fn new(words: usize) -> Set {
        Set(vec![0; words].into())
    }

    fn insert(&mut self, column: usize) {
        self.0[column / 64] |= 1 << (column % 64);
    }

    /// True if the set has become larger.
    fn add(&mut self, other: &Set) -> bool {
        let mut new = false;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            new |= other & !*word != 0;
            *word |= other;
        }
        new
    }

    fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(i, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |b| word >> b & 1 != 0).map(move |b| i * 64 + b)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}
