//! Lists all strings of all rules by rising length, and detects those that are derived
//! twice.
//!
//! A *rest* is the part of a production behind a dot. Its strings are those of its
//! first symbol, combined with those of the shorter rest. In the round for length n, a
//! rest is listed for one more length: what remains of n if everything before the rest
//! is as short as possible. No other length is needed. A string of a rule needs a
//! string of the same length of another rule only if all other symbols can be empty.
//! Rules are listed in an order in which that one is ready; such an order exists,
//! because no rule derives itself.
//!
//! Tokens that are used in exactly the same places (operators of one level, literals of
//! an expression) are equivalent, and only one of them is listed. Replacing a token by
//! an equivalent one keeps a string ambiguous.
//!
//! A string is stored as a number, which stands for a shorter string and a last token.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::grammar::{Grammar, ProductionId, RuleId, Symbol, TokenId};
use crate::shortest::{Items, NEVER, Shortest};

/// Tokens of a string.
const MAX_LENGTH: usize = 32;

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
    /// By rule: true if all its strings are listed, and not only its shortest one.
    open: Vec<bool>,
    /// By production: false if it has a token for which an equivalent one is listed.
    listed: &'a [bool],
    strings: Strings,
    /// By rule and length: its strings.
    rules: Vec<Vec<Vec<u32>>>,
    /// By item and length: the strings of rests of at least two symbols.
    rests: HashMap<u32, Vec<Vec<u32>>>,
    /// By rule and string: the first production that derived it.
    derived_by: HashMap<(u32, u32), ProductionId>,
    /// The number of strings so far.
    count: usize,
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
            derived_by: HashMap::new(),
            count: 0,
            open,
        };
        for rule in grammar.rule_ids().filter(|r| !this.open[r.index()]) {
            let mut tokens = Vec::new();
            if shortest.append(grammar, &[Symbol::Rule(rule)], &mut tokens, MAX_LENGTH) {
                let string = this.strings.append(0, &tokens);
                list_of_length(&mut this.rules[rule.index()], tokens.len()).push(string);
            }
        }
        this
    }

    /// Lists at most `max_strings` strings. Calls `report` for those that are derived
    /// twice, until it returns false. Returns the length up to which the list is
    /// complete.
    pub fn run(&mut self, max_strings: usize, mut report: impl FnMut(Double) -> bool) -> usize {
        let order = self.order();
        for length in 0..=MAX_LENGTH {
            for &rule in &order {
                for &production in &self.grammar.rule(rule).productions {
                    if self.listed[production.index()]
                        && !self.list_production(production, length, max_strings, &mut report)
                    {
                        return length.saturating_sub(1);
                    }
                }
            }
        }
        MAX_LENGTH
    }

    /// Open rules in an order of dependence: a rule is behind those whose strings it
    /// can have unchanged.
    fn order(&self) -> Vec<RuleId> {
        let empty = |s: &Symbol| self.shortest.symbol(*s) == 0;
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.grammar.rules.len()];
        let mut waiting = vec![0; users.len()];
        for (at, production) in self.grammar.productions.iter().enumerate() {
            let rule = production.rule.index();
            let length = self.shortest.rest[self.items.item(ProductionId::new(at), 0) as usize];
            if !self.open[rule] || !self.listed[at] || length == NEVER {
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

    /// Lists the strings of a length of a production. False if the search must stop.
    fn list_production(
        &mut self,
        production: ProductionId,
        length: usize,
        max_strings: usize,
        report: &mut impl FnMut(Double) -> bool,
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
            // What remains if everything before is as short as possible.
            let left = length - (all - self.shortest.rest[item as usize]) as usize;
            let Some(twice) = self.list_rest(item, symbols, dot, left, max_strings) else {
                return false;
            };
            if let Some(string) = twice {
                let mut tokens = Vec::new();
                if self.shortest.append(grammar, &symbols[..dot], &mut tokens, MAX_LENGTH) {
                    tokens.extend(self.strings.tokens(string));
                    if !report(Double { rule, productions: [production; 2], tokens }) {
                        return false;
                    }
                }
            }
        }
        let strings = self.of_item(self.items.item(production, 0), symbols, 0, length);
        self.count += strings.len();
        for string in strings {
            if let Some(&first) = self.derived_by.get(&(rule.0, string)) {
                let tokens = self.strings.tokens(string);
                if !report(Double { rule, productions: [first, production], tokens }) {
                    return false;
                }
            } else {
                self.derived_by.insert((rule.0, string), production);
                list_of_length(&mut self.rules[rule.index()], length).push(string);
            }
        }
        self.count <= max_strings
    }

    /// Lists the strings of a length of a rest of at least two symbols. Returns a
    /// string that is derived twice, if there is one; the outer `None` means that there
    /// are too many strings.
    fn list_rest(
        &mut self,
        item: u32,
        symbols: &[Symbol],
        dot: usize,
        length: usize,
        max_strings: usize,
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
                self.count += ends.len();
                if self.count > max_strings {
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
        *list_of_length(self.rests.entry(item).or_default(), length) = list;
        Some(twice)
    }

    /// The strings of a length of what is behind a dot.
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

/// The list of strings of a length. Lists of shorter strings are added if missing.
fn list_of_length(lists: &mut Vec<Vec<u32>>, length: usize) -> &mut Vec<u32> {
    if lists.len() <= length {
        lists.resize_with(length + 1, Vec::new);
    }
    &mut lists[length]
}

/// A use of a token: a rule, and a production of it with gaps in place of the token.
type Place = (RuleId, Vec<Option<Symbol>>);

/// By production: false if it has a token for which an equivalent one is listed.
pub fn without_equivalent_tokens(grammar: &Grammar) -> Vec<bool> {
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
    let mut is_replaced = vec![false; grammar.tokens.len()];
    for (token, places) in places {
        is_replaced[token.index()] = *first.entry(places).or_insert(token) != token;
    }
    let is_listed = |s: &Symbol| !matches!(s, Symbol::Token(token) if is_replaced[token.index()]);
    grammar.productions.iter().map(|p| p.symbols.iter().all(is_listed)).collect()
}

/// Strings of tokens by number; 0 is the empty string.
#[derive(Default)]
struct Strings {
    /// By string, from 1: all but its last token, and its last token.
    parts: Vec<(u32, TokenId)>,
    numbers: HashMap<(u32, TokenId), u32>,
}

impl Strings {
    fn append(&mut self, mut string: u32, tokens: &[TokenId]) -> u32 {
        for &token in tokens {
            string = *self.numbers.entry((string, token)).or_insert_with(|| {
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
