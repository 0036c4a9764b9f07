//! Counts derivations, exactly.
//!
//! A derivation is a tree with a text for each of its leaves. Its length is the number
//! of bytes of these texts, without separators; or the number of tokens, and then all
//! texts of a token count as one. The number for a length is a sum over productions and
//! over all ways to split the length among the symbols. At the same length, a rule
//! depends only on rules that it can derive alone. So one order of the rules works for
//! all lengths, unless a rule derives itself.

use crate::analysis::Analysis;
use crate::grammar::{Grammar, Pattern, Symbol, TokenId};
use crate::lexer::Lexer;
use crate::shortest::{Items, NEVER, Shortest};
use num_bigint::BigUint;
use num_traits::{One, Zero};
use pleach_automata::dfa::{self, DEAD, Dfa};

/// The largest length that can be counted.
pub const MAX_LENGTH: usize = 4096;
/// Bits of a number. Numbers by height grow doubly exponentially.
pub const MAX_BITS: u64 = 1 << 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Tokens,
}

#[derive(Debug, thiserror::Error)]
pub enum CountError {
    #[error("{place}: {rule} derives itself: it has infinitely many derivations of one string")]
    Endless { rule: String, place: crate::Place },
    #[error("{place}: token {token} has no pattern, so its bytes are unknown; count in tokens")]
    Unknown { token: String, place: crate::Place },
    #[error("{place}: token {token} has infinitely many texts; count by length instead")]
    EndlessTexts { token: String, place: crate::Place },
    #[error("a length of {0} is too large; the limit is {MAX_LENGTH}")]
    TooLong(usize),
    #[error("there are more than 2^{MAX_BITS} derivations of height {0}")]
    TooMany(usize),
    #[error(transparent)]
    Pattern(#[from] dfa::TooLarge),
}

/// Numbers of derivations by length.
pub struct Counts {
    pub unit: Unit,
    pub longest: usize,
    pub(crate) items: Items,
    /// By token and length: the number of texts.
    pub(crate) tokens: Vec<Vec<BigUint>>,
    /// By rule and length.
    pub(crate) rules: Vec<Vec<BigUint>>,
    /// By item and length: for what is behind the dot.
    pub(crate) rests: Vec<Vec<BigUint>>,
    start: usize,
}

impl Counts {
    pub fn new(grammar: &Grammar, unit: Unit, longest: usize) -> Result<Counts, CountError> {
        if longest > MAX_LENGTH {
            return Err(CountError::TooLong(longest));
        }
        refuse_cyclic(grammar)?;
        let items = Items::new(grammar);
        let tokens = count_texts(grammar, unit, longest)?;
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

    /// The number of derivations of exactly this length.
    pub fn of_length(&self, length: usize) -> BigUint {
        self.rules[self.start].get(length).cloned().unwrap_or_default()
    }

    /// The number of derivations of at most this length.
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
                    // Numbers that are not computed yet have a factor of zero.
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

    /// Rules and items in an order of dependence at the same length.
    fn order(&self, grammar: &Grammar) -> Vec<Node> {
        let shortest = Shortest::new(grammar, &self.items, |t| {
            self.shortest_text(t).map_or(NEVER, |n| n as u64)
        });
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
            // Useless productions have no derivations, and depend on nothing.
            let is_useful = |s: &Symbol| !matches!(s, Symbol::Rule(r) if !useful[r.index()]);
            if !production.symbols.iter().all(is_useful) {
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

    /// The length of the shortest text of a token.
    fn shortest_text(&self, token: TokenId) -> Option<usize> {
        self.tokens[token.index()].iter().position(|n| !n.is_zero())
    }
}

#[derive(Clone, Copy)]
enum Node {
    Rule(u32),
    Item(u32),
}

/// For each height up to `height`: the number of derivations of at most that height.
/// In bytes, each text of a token counts, and there must be finitely many.
pub fn by_height(grammar: &Grammar, unit: Unit, height: usize) -> Result<Vec<BigUint>, CountError> {
    refuse_cyclic(grammar)?;
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
            tokens[id.index()] = count_strings(&dfa, longest as usize).iter().sum();
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
                if product.bits() > MAX_BITS {
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

fn refuse_cyclic(grammar: &Grammar) -> Result<(), CountError> {
    match Analysis::new(grammar).cyclic_rule() {
        None => Ok(()),
        Some(rule) => {
            let rule = grammar.rule(rule);
            Err(CountError::Endless { rule: rule.name.clone(), place: rule.place.clone() })
        }
    }
}

/// By token and length: the number of texts.
fn count_texts(
    grammar: &Grammar,
    unit: Unit,
    longest: usize,
) -> Result<Vec<Vec<BigUint>>, CountError> {
    let one_of_length = |length: usize| {
        let mut counts = vec![BigUint::zero(); longest + 1];
        if let Some(n) = counts.get_mut(length) {
            *n = BigUint::one();
        }
        counts
    };
    if unit == Unit::Tokens {
        return Ok(vec![one_of_length(1); grammar.tokens.len()]);
    }
    let lexer = Lexer::new(grammar)?;
    let count = |id: TokenId| {
        let token = grammar.token(id);
        match &token.pattern {
            Pattern::Literal(bytes) => Ok(one_of_length(bytes.len())),
            Pattern::Regex(_) => Ok(count_strings(&lexer.language(id), longest)),
            Pattern::Unknown => {
                Err(CountError::Unknown { token: token.name.clone(), place: token.place.clone() })
            }
        }
    };
    grammar.token_ids().map(count).collect()
}

/// By length: the number of strings that an automaton accepts.
pub(crate) fn count_strings(dfa: &Dfa, longest: usize) -> Vec<BigUint> {
    count_strings_from(dfa, longest).into_iter().map(|by_state| by_state[0].clone()).collect()
}

/// By length and state: the number of strings that lead from the state to a match.
pub(crate) fn count_strings_from(dfa: &Dfa, longest: usize) -> Vec<Vec<BigUint>> {
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
