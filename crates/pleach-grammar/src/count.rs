//! How many derivations there are, exactly.
//!
//! A derivation is a tree with a text for each of its leaves. Its length is
//! counted in bytes of those texts (separators between tokens are no part of
//! it), or in tokens, and then texts are not told apart. Numbers by length are
//! sums over productions of products over splits; at equal length a rule needs
//! only rules that it can become without anything beside it, so one order serves
//! all lengths unless a rule can become itself.

use crate::analysis::Analysis;
use crate::grammar::{Grammar, Pattern, Symbol, TokenId};
use crate::lexer::Lexer;
use crate::shortest::{Items, NEVER, Shortest};
use num_bigint::BigUint;
use num_traits::{One, Zero};
use pleach_automata::dfa::{self, DEAD, Dfa};

/// Lengths up to this can be asked for.
pub const LONGEST: usize = 4096;
/// Numbers by height get out of hand; this many bits are enough.
pub const MOST_BITS: u64 = 1 << 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Tokens,
}

#[derive(Debug, thiserror::Error)]
pub enum CountError {
    #[error("{place}: {rule} can become itself: it has endlessly many derivations of one string")]
    Endless { rule: String, place: crate::Place },
    #[error("{place}: token {token} has no pattern, so its bytes are not known; count in tokens")]
    Unknown { token: String, place: crate::Place },
    #[error("{place}: token {token} has endlessly many texts; count by length instead")]
    EndlessTexts { token: String, place: crate::Place },
    #[error("a length of {0} is too much: {LONGEST} is the limit")]
    TooLong(usize),
    #[error("there are more than 2^{MOST_BITS} derivations of height {0}")]
    TooMany(usize),
    #[error(transparent)]
    Pattern(#[from] dfa::TooLarge),
}

/// Numbers of derivations by length.
pub struct Counts {
    pub unit: Unit,
    pub longest: usize,
    pub(crate) items: Items,
    /// By token, then length: how many texts.
    pub(crate) tokens: Vec<Vec<BigUint>>,
    /// By rule, then length.
    pub(crate) rules: Vec<Vec<BigUint>>,
    /// By item, then length: of what is behind the dot.
    pub(crate) rests: Vec<Vec<BigUint>>,
    start: usize,
}

impl Counts {
    pub fn new(grammar: &Grammar, unit: Unit, longest: usize) -> Result<Counts, CountError> {
        if longest > LONGEST {
            return Err(CountError::TooLong(longest));
        }
        refuse_endless(grammar)?;
        let items = Items::new(grammar);
        let tokens = texts(grammar, unit, longest)?;
        let mut counts = Counts {
            unit,
            longest,
            tokens,
            rules: vec![Vec::with_capacity(longest + 1); grammar.rules.len()],
            rests: vec![Vec::with_capacity(longest + 1); items.len()],
            items,
            start: grammar.start.index(),
        };
        let order = counts.order(grammar);
        for length in 0..=longest {
            for &node in &order {
                let value = counts.value(grammar, node, length);
                match node {
                    Node::Rule(r) => counts.rules[r as usize].push(value),
                    Node::Item(i) => counts.rests[i as usize].push(value),
                }
            }
        }
        Ok(counts)
    }

    /// Derivations of the start of exactly this length.
    pub fn of_length(&self, length: usize) -> BigUint {
        self.rules[self.start].get(length).cloned().unwrap_or_default()
    }

    /// Derivations of the start up to this length.
    pub fn up_to(&self, length: usize) -> BigUint {
        self.rules[self.start].iter().take(length + 1).sum()
    }

    pub(crate) fn symbol(&self, symbol: Symbol) -> &[BigUint] {
        match symbol {
            Symbol::Token(t) => &self.tokens[t.index()],
            Symbol::Rule(r) => &self.rules[r.index()],
        }
    }

    fn value(&self, grammar: &Grammar, node: Node, length: usize) -> BigUint {
        match node {
            Node::Rule(r) => {
                let productions = &grammar.rules[r as usize].productions;
                productions
                    .iter()
                    .filter_map(|&p| self.rests[self.items.item(p, 0) as usize].get(length))
                    .sum()
            }
            Node::Item(i) => match self.items.next(grammar, i) {
                None if length == 0 => BigUint::one(),
                None => BigUint::zero(),
                Some(symbol) => {
                    let (first, rest) = (self.symbol(symbol), &self.rests[i as usize + 1]);
                    // What is not there yet is multiplied by nothing.
                    let mut sum = BigUint::zero();
                    for (k, a) in first.iter().enumerate().take(length + 1) {
                        if let Some(b) = rest.get(length - k)
                            && !a.is_zero()
                            && !b.is_zero()
                        {
                            sum += a * b;
                        }
                    }
                    sum
                }
            },
        }
    }

    /// Rules and items such that each comes after those it needs at equal length.
    fn order(&self, grammar: &Grammar) -> Vec<Node> {
        let shortest =
            Shortest::new(grammar, &self.items, |t| self.least(t).map_or(NEVER, |n| n as u64));
        let useful: Vec<bool> = shortest.rule.iter().map(|&c| c != NEVER).collect();
        let (rules, items) = (grammar.rules.len(), self.items.len());
        let number = |node: Node| match node {
            Node::Rule(r) => r as usize,
            Node::Item(i) => rules + i as usize,
        };
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); rules + items];
        let mut waiting = vec![0u32; rules + items];
        let mut edge = |user: Node, needs: Node| {
            users[number(needs)].push(number(user));
            waiting[number(user)] += 1;
        };
        for id in grammar.production_ids() {
            let production = grammar.production(id);
            edge(Node::Rule(production.rule.0), Node::Item(self.items.item(id, 0)));
            // Productions of no use stay at zero, and wait for nobody.
            let fine = |s: &Symbol| !matches!(s, Symbol::Rule(r) if !useful[r.index()]);
            if !production.symbols.iter().all(fine) {
                continue;
            }
            for (dot, &symbol) in production.symbols.iter().enumerate() {
                let item = self.items.item(id, dot);
                if let Symbol::Rule(r) = symbol
                    && shortest.rest[item as usize + 1] == 0
                {
                    edge(Node::Item(item), Node::Rule(r.0));
                }
                if shortest.symbol(symbol) == 0 {
                    edge(Node::Item(item), Node::Item(item + 1));
                }
            }
        }
        let mut ready: Vec<usize> = (0..rules + items).filter(|&n| waiting[n] == 0).collect();
        let mut order = Vec::new();
        while let Some(n) = ready.pop() {
            order.push(if n < rules {
                Node::Rule(n as u32)
            } else {
                Node::Item((n - rules) as u32)
            });
            for &user in &users[n] {
                waiting[user] -= 1;
                if waiting[user] == 0 {
                    ready.push(user);
                }
            }
        }
        order
    }

    fn least(&self, token: TokenId) -> Option<usize> {
        self.tokens[token.index()].iter().position(|n| !n.is_zero())
    }
}

#[derive(Clone, Copy)]
enum Node {
    Rule(u32),
    Item(u32),
}

/// Derivations whose trees are at most so high, by height from 0 on. Texts of
/// tokens are told apart in bytes, and must be finitely many then.
pub fn by_height(grammar: &Grammar, unit: Unit, height: usize) -> Result<Vec<BigUint>, CountError> {
    refuse_endless(grammar)?;
    let mut tokens = vec![BigUint::one(); grammar.tokens.len()];
    if unit == Unit::Bytes {
        let lexer = Lexer::new(grammar)?;
        for id in grammar.token_ids() {
            let Pattern::Regex(_) = grammar.token(id).pattern else { continue };
            let dfa = lexer.language(id);
            let longest = dfa.longest().ok_or_else(|| CountError::EndlessTexts {
                token: grammar.token(id).name.clone(),
                place: grammar.token(id).place.clone(),
            })?;
            tokens[id.index()] = strings(&dfa, longest as usize).iter().sum();
        }
    }
    let mut rules = vec![BigUint::zero(); grammar.rules.len()];
    let mut found = vec![BigUint::zero()];
    for now in 1..=height {
        let mut next = vec![BigUint::zero(); grammar.rules.len()];
        for production in &grammar.productions {
            let mut product = BigUint::one();
            for symbol in &production.symbols {
                product *= match symbol {
                    Symbol::Token(t) => &tokens[t.index()],
                    Symbol::Rule(r) => &rules[r.index()],
                };
                if product.bits() > MOST_BITS {
                    return Err(CountError::TooMany(now));
                }
            }
            next[production.rule.index()] += product;
        }
        rules = next;
        found.push(rules[grammar.start.index()].clone());
    }
    Ok(found)
}

fn refuse_endless(grammar: &Grammar) -> Result<(), CountError> {
    match Analysis::new(grammar).endless() {
        None => Ok(()),
        Some(rule) => {
            let rule = grammar.rule(rule);
            Err(CountError::Endless { rule: rule.name.clone(), place: rule.place.clone() })
        }
    }
}

/// By token, then length: how many texts it has.
fn texts(grammar: &Grammar, unit: Unit, longest: usize) -> Result<Vec<Vec<BigUint>>, CountError> {
    let one_of = |length: usize| {
        let mut counts = vec![BigUint::zero(); longest + 1];
        if let Some(n) = counts.get_mut(length) {
            *n = BigUint::one();
        }
        counts
    };
    if unit == Unit::Tokens {
        return Ok(vec![one_of(1); grammar.tokens.len()]);
    }
    let lexer = Lexer::new(grammar)?;
    let count = |id: TokenId| {
        let token = grammar.token(id);
        match &token.pattern {
            Pattern::Literal(bytes) => Ok(one_of(bytes.len())),
            Pattern::Regex(_) => Ok(strings(&lexer.language(id), longest)),
            Pattern::Unknown => {
                Err(CountError::Unknown { token: token.name.clone(), place: token.place.clone() })
            }
        }
    };
    grammar.token_ids().map(count).collect()
}

/// How many strings of each length an automaton accepts.
pub(crate) fn strings(dfa: &Dfa, longest: usize) -> Vec<BigUint> {
    strings_from(dfa, longest).into_iter().map(|by_state| by_state[0].clone()).collect()
}

/// By length, then by state: how many strings lead from there to a match.
pub(crate) fn strings_from(dfa: &Dfa, longest: usize) -> Vec<Vec<BigUint>> {
    let moves: Vec<Vec<(u8, u32)>> = (0..dfa.states() as u32).map(|s| dfa.moves(s)).collect();
    let accepts = |s: usize| BigUint::from(u8::from(!dfa.accepts(s as u32).is_empty()));
    let mut by_length = vec![(0..dfa.states()).map(accepts).collect::<Vec<_>>()];
    for length in 1..=longest {
        let before = &by_length[length - 1];
        let sum = |m: &Vec<(u8, u32)>| {
            m.iter().filter(|(_, to)| *to != DEAD).map(|&(_, to)| &before[to as usize]).sum()
        };
        let now = moves.iter().map(sum).collect();
        by_length.push(now);
    }
    by_length
}
