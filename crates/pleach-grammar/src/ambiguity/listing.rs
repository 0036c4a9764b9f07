//! All strings of the rules, by rising length, each with whether it was there
//! already.
//!
//! The strings of a rest of a production are those of its first symbol, each with
//! those of what comes after. In a round for length n, a rest is listed for what is
//! left of n when everything before it is as short as it can be: no more is needed
//! for strings of length n, and one length comes with each round. Only where all
//! other symbols of a production can be empty does a string need one of equal
//! length, of another rule: rules are taken in an order that has it ready (there is
//! one, as no rule can become itself).
//!
//! Tokens that stand in all the same places (the operators of a level, the literals
//! of an expression) are listed as one. A string with two derivations stays one
//! when another token of the kind is put in its place.
//!
//! A string is a number: that of its beginning and its last token.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};
use crate::shortest::{Items, NEVER, Shortest};

/// Tokens of a string.
const LONGEST: usize = 32;

/// A string of a rule that has two derivations.
#[derive(Clone, Debug)]
pub struct Double {
    pub rule: RuleId,
    pub productions: [ProductionId; 2],
    pub tokens: Vec<TokenId>,
}

pub struct Listing<'a> {
    grammar: &'a Grammar,
    items: &'a Items,
    shortest: &'a Shortest,
    open: Vec<bool>,
    /// Productions that are listed: not those with the second of two like tokens.
    listed: &'a [bool],
    strings: Strings,
    /// By rule and length, and by item and length, if two symbols or more follow.
    rules: Vec<Vec<Vec<u32>>>,
    rests: HashMap<u32, Vec<Vec<u32>>>,
    /// By rule and string: the production that made it.
    of_rule: HashMap<(u32, u32), ProductionId>,
    /// The number of strings so far.
    made: usize,
}

impl<'a> Listing<'a> {
    pub fn new(
        grammar: &'a Grammar,
        items: &'a Items,
        shortest: &'a Shortest,
        listed: &'a [bool],
        open: Vec<bool>,
    ) -> Listing<'a> {
        let mut this = Listing {
            grammar,
            items,
            shortest,
            listed,
            strings: Strings::default(),
            rules: vec![Vec::new(); open.len()],
            rests: HashMap::new(),
            of_rule: HashMap::new(),
            made: 0,
            open,
        };
        for rule in grammar.rule_ids().filter(|r| !this.open[r.index()]) {
            let mut tokens = Vec::new();
            if shortest.append(grammar, &[Symbol::Rule(rule)], &mut tokens, LONGEST) {
                let string = this.strings.append(0, &tokens);
                of_length(&mut this.rules[rule.index()], tokens.len()).push(string);
            }
        }
        this
    }

    /// Lists strings until so many were made, and hands on those that were made
    /// twice until that says false. Returns the length up to which all are listed.
    pub fn run(&mut self, most: usize, mut double: impl FnMut(Double) -> bool) -> usize {
        let order = self.order();
        for length in 0..=LONGEST {
            for &rule in &order {
                for &production in &self.grammar.rule(rule).productions {
                    if self.listed[production.index()]
                        && !self.production(production, length, most, &mut double)
                    {
                        return length.saturating_sub(1);
                    }
                }
            }
        }
        LONGEST
    }

    /// Open rules, each behind those that it can be a string of alone.
    fn order(&self) -> Vec<RuleId> {
        let empty = |s: &Symbol| self.shortest.symbol(*s) == 0;
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.grammar.rules.len()];
        let mut waiting = vec![0; users.len()];
        for (at, production) in self.grammar.productions.iter().enumerate() {
            let rule = production.rule.index();
            let fits = self.shortest.rest[self.items.item(ProductionId::new(at), 0) as usize];
            if !self.open[rule] || !self.listed[at] || fits == NEVER {
                continue;
            }
            let full = production.symbols.iter().filter(|s| !empty(s)).count();
            for symbol in &production.symbols {
                if let Symbol::Rule(r) = symbol
                    && self.open[r.index()]
                    && full == usize::from(!empty(symbol))
                {
                    users[r.index()].push(rule);
                    waiting[rule] += 1;
                }
            }
        }
        let mut order = Vec::new();
        let mut ready: Vec<usize> =
            (0..users.len()).rev().filter(|&r| self.open[r] && waiting[r] == 0).collect();
        while let Some(rule) = ready.pop() {
            order.push(RuleId::new(rule));
            for &user in &users[rule] {
                waiting[user] -= 1;
                if waiting[user] == 0 {
                    ready.push(user);
                }
            }
        }
        order
    }

    /// Strings of a length of a production. False if it is time to end.
    fn production(
        &mut self,
        production: ProductionId,
        length: usize,
        most: usize,
        double: &mut impl FnMut(Double) -> bool,
    ) -> bool {
        let grammar = self.grammar;
        let symbols = &grammar.production(production).symbols;
        let rule = grammar.production(production).rule;
        let all = self.shortest.rest[self.items.item(production, 0) as usize];
        if all > length as u64 {
            return true;
        }
        for dot in (0..symbols.len().saturating_sub(1)).rev() {
            let item = self.items.item(production, dot);
            // What is left when all before is as short as can be.
            let left = length - (all - self.shortest.rest[item as usize]) as usize;
            let Some(twice) = self.rest(item, symbols, dot, left, most) else { return false };
            if let Some(string) = twice {
                let mut tokens = Vec::new();
                if self.shortest.append(grammar, &symbols[..dot], &mut tokens, LONGEST) {
                    tokens.extend(self.strings.tokens(string));
                    if !double(Double { rule, productions: [production; 2], tokens }) {
                        return false;
                    }
                }
            }
        }
        let strings = self.of_item(self.items.item(production, 0), symbols, 0, length);
        self.made += strings.len();
        for string in strings {
            if let Some(&first) = self.of_rule.get(&(rule.0, string)) {
                let tokens = self.strings.tokens(string);
                if !double(Double { rule, productions: [first, production], tokens }) {
                    return false;
                }
            } else {
                self.of_rule.insert((rule.0, string), production);
                of_length(&mut self.rules[rule.index()], length).push(string);
            }
        }
        self.made <= most
    }

    /// Lists a rest of two symbols or more for a length. A string that was made
    /// twice, if there is one; None if too many were made.
    fn rest(
        &mut self,
        item: u32,
        symbols: &[Symbol],
        dot: usize,
        length: usize,
        most: usize,
    ) -> Option<Option<u32>> {
        let mut list = Vec::new();
        let mut seen = HashSet::new();
        let mut twice = None;
        for first in 0..=length {
            let ends = self.of_item(item + 1, symbols, dot + 1, length - first);
            if ends.is_empty() {
                continue;
            }
            let ends: Vec<Vec<TokenId>> = ends.iter().map(|&s| self.strings.tokens(s)).collect();
            for begin in self.of_symbol(symbols[dot], first) {
                self.made += ends.len();
                if self.made > most {
                    return None;
                }
                for end in &ends {
                    let string = self.strings.append(begin, end);
                    if seen.insert(string) {
                        list.push(string);
                    } else {
                        twice.get_or_insert(string);
                    }
                }
            }
        }
        *of_length(self.rests.entry(item).or_default(), length) = list;
        Some(twice)
    }

    /// Strings of a length of what is behind a dot.
    fn of_item(&mut self, item: u32, symbols: &[Symbol], dot: usize, length: usize) -> Vec<u32> {
        match &symbols[dot..] {
            [] if length == 0 => vec![0],
            [] => Vec::new(),
            [symbol] => self.of_symbol(*symbol, length),
            _ => self.rests.get(&item).and_then(|l| l.get(length)).cloned().unwrap_or_default(),
        }
    }

    fn of_symbol(&mut self, symbol: Symbol, length: usize) -> Vec<u32> {
        match symbol {
            Symbol::Token(token) if length == 1 => vec![self.strings.append(0, &[token])],
            Symbol::Token(_) => Vec::new(),
            Symbol::Rule(rule) => self.rules[rule.index()].get(length).cloned().unwrap_or_default(),
        }
    }
}

/// The list for a length, with empty ones for what is shorter.
fn of_length(lists: &mut Vec<Vec<u32>>, length: usize) -> &mut Vec<u32> {
    if lists.len() <= length {
        lists.resize_with(length + 1, Vec::new);
    }
    &mut lists[length]
}

/// Where a token stands: a rule, and a production of it with gaps there.
type Place = (RuleId, Vec<Option<Symbol>>);

/// By production: whether it has no token for which another stands.
pub fn without_like_tokens(grammar: &Grammar) -> Vec<bool> {
    let mut places: BTreeMap<TokenId, BTreeSet<Place>> = BTreeMap::new();
    for production in &grammar.productions {
        let tokens: BTreeSet<Symbol> =
            production.symbols.iter().copied().filter(|s| matches!(s, Symbol::Token(_))).collect();
        for symbol in tokens {
            let gap = production.symbols.iter().map(|s| (*s != symbol).then_some(*s)).collect();
            if let Symbol::Token(token) = symbol {
                places.entry(token).or_default().insert((production.rule, gap));
            }
        }
    }
    let mut first = BTreeMap::new();
    let mut like = vec![false; grammar.tokens.len()];
    for (token, places) in places {
        like[token.index()] = *first.entry(places).or_insert(token) != token;
    }
    let stays = |s: &Symbol| !matches!(s, Symbol::Token(token) if like[token.index()]);
    grammar.productions.iter().map(|p| p.symbols.iter().all(stays)).collect()
}

/// Strings of tokens; 0 is the empty one.
#[derive(Default)]
struct Strings {
    /// By string, from 1: its beginning and its last token.
    parts: Vec<(u32, TokenId)>,
    known: HashMap<(u32, TokenId), u32>,
}

impl Strings {
    fn append(&mut self, mut string: u32, tokens: &[TokenId]) -> u32 {
        for &token in tokens {
            string = *self.known.entry((string, token)).or_insert_with(|| {
                self.parts.push((string, token));
                self.parts.len() as u32
            });
        }
        string
    }

    fn tokens(&self, mut string: u32) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        while string != 0 {
            let (begin, token) = self.parts[string as usize - 1];
            tokens.push(token);
            string = begin;
        }
        tokens.reverse();
        tokens
    }
}
