//! Precedence made part of the grammar: derivations that a parser with precedence
//! would never take are gone, and the texts that it accepts stay.
//!
//! yacc decides between reducing a production and shifting a token by comparing
//! the two. Both sides of the decision are visible in a derivation. Where an
//! operand is followed by a token, no production on its *right edge* may be one
//! that loses against that token: the parser would have shifted. Where an operand
//! ends a production, no production on its *left edge* may go on with a token
//! that loses against it: the parser would have reduced. (Edges, and not only
//! children: in `a + not b + c` the weak `not` is on the right edge of the left
//! operand.)
//!
//! So a rule comes in variants, one for each pair of sets of productions that may
//! not be on its left and right edge. Only recursion of a rule to itself is looked
//! at, which is how operators are written. The idea is that of Afroozeh and
//! others, "Safe specification of operator precedence rules" (2013), with yacc's
//! way to compare.

use std::collections::{BTreeSet, HashMap};

use pleach_grammar::{
    Assoc, Grammar, Note, Precedence, Production, ProductionId, Rule, RuleId, Severity, Symbol,
};

/// With more productions than this the grammar is left as it is.
const MAX_PRODUCTIONS: usize = 50_000;

type Set = BTreeSet<ProductionId>;

/// A rule that some productions must not be on the edges of.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Variant {
    rule: RuleId,
    left: Set,
    right: Set,
}

/// The grammar with precedence applied; as it was, with a note, where that would
/// make it too large.
pub(crate) fn applied(mut grammar: Grammar) -> Grammar {
    match Applying::new(&grammar).run() {
        Some((rules, productions)) => {
            grammar.rules = rules;
            grammar.productions = productions;
        }
        None => {
            let place = grammar.rule(grammar.start).place.clone();
            let text = format!(
                "precedence is kept as ambiguity: without it the grammar would have more \
                 than {MAX_PRODUCTIONS} productions"
            );
            grammar.notes.push(Note { place, severity: Severity::Warning, text });
        }
    }
    grammar
}

/// A production that is complete loses against the token that follows.
fn must_shift(production: Option<Precedence>, token: Option<Precedence>) -> bool {
    let (Some(production), Some(token)) = (production, token) else { return false };
    production.level < token.level
        || production.level == token.level && matches!(token.assoc, Assoc::Right | Assoc::None)
}

/// The token loses: the production is reduced, or there is an error.
fn must_reduce(production: Option<Precedence>, token: Option<Precedence>) -> bool {
    let (Some(production), Some(token)) = (production, token) else { return false };
    production.level > token.level
        || production.level == token.level && matches!(token.assoc, Assoc::Left | Assoc::None)
}

struct Applying<'g> {
    grammar: &'g Grammar,
    known: HashMap<Variant, RuleId>,
    waiting: Vec<Variant>,
    rules: Vec<Rule>,
    productions: Vec<Production>,
    names: BTreeSet<&'g str>,
}

impl<'g> Applying<'g> {
    fn new(grammar: &'g Grammar) -> Applying<'g> {
        let rules =
            grammar.rules.iter().map(|rule| Rule { productions: Vec::new(), ..rule.clone() });
        let rules: Vec<Rule> = rules.collect();
        let free = |rule| Variant { rule, left: Set::new(), right: Set::new() };
        let waiting: Vec<Variant> =
            (0..grammar.rules.len()).rev().map(RuleId::new).map(free).collect();
        let known = waiting.iter().map(|variant| (variant.clone(), variant.rule)).collect();
        let tokens = grammar.tokens.iter().map(|token| token.name.as_str());
        let names = tokens.chain(grammar.rules.iter().map(|rule| rule.name.as_str())).collect();
        Applying { grammar, known, waiting, rules, productions: Vec::new(), names }
    }

    fn run(mut self) -> Option<(Vec<Rule>, Vec<Production>)> {
        while let Some(variant) = self.waiting.pop() {
            let id = self.known[&variant];
            let grammar = self.grammar;
            for &production in &grammar.rule(variant.rule).productions {
                let symbols = &grammar.production(production).symbols;
                let it = Symbol::Rule(variant.rule);
                // What is only `A: A` has both edges, and says nothing.
                let on_left = symbols.first() == Some(&it) && variant.left.contains(&production);
                let on_right = symbols.last() == Some(&it) && variant.right.contains(&production);
                if on_left || on_right {
                    continue;
                }
                let symbols = self.symbols(production, &variant);
                self.rules[id.index()].productions.push(ProductionId::new(self.productions.len()));
                let original = grammar.production(production).clone();
                self.productions.push(Production { rule: id, symbols, ..original });
                if self.productions.len() > MAX_PRODUCTIONS {
                    return None;
                }
            }
        }
        Some((self.rules, self.productions))
    }

    /// The symbols of a production inside a variant of its rule.
    fn symbols(&mut self, id: ProductionId, variant: &Variant) -> Vec<Symbol> {
        let production = self.grammar.production(id);
        let it = Symbol::Rule(variant.rule);
        let last = production.symbols.len().saturating_sub(1);
        let mut symbols = production.symbols.clone();
        for (at, symbol) in symbols.iter_mut().enumerate().filter(|(_, symbol)| **symbol == it) {
            let left = if at == last && at > 0 {
                self.losing_tokens(production)
            } else if at == 0 {
                variant.left.clone()
            } else {
                Set::new()
            };
            let right = match production.symbols.get(at + 1) {
                Some(Symbol::Token(token)) => {
                    let before = &production.symbols[..at];
                    let token = self.grammar.token(*token).precedence;
                    self.losing_productions(variant.rule, before, token)
                }
                Some(Symbol::Rule(_)) => Set::new(),
                None => variant.right.clone(),
            };
            *symbol = Symbol::Rule(self.variant(Variant { rule: variant.rule, left, right }));
        }
        symbols
    }

    /// Productions that end in their own rule and lose against a token that the
    /// parser could shift instead: one behind an operand that stands first, or
    /// behind the same symbols (`if c s` and `if c s else s`).
    fn losing_productions(
        &self,
        rule: RuleId,
        before: &[Symbol],
        token: Option<Precedence>,
    ) -> Set {
        self.edges(rule, |production| match production.symbols.split_last() {
            Some((last, same)) => {
                *last == Symbol::Rule(rule)
                    && (before.is_empty() || before == same)
                    && must_shift(production.precedence, token)
            }
            None => false,
        })
    }

    /// Productions that start with their own rule and go on with a token that
    /// loses against `complete`.
    fn losing_tokens(&self, complete: &Production) -> Set {
        self.edges(complete.rule, |production| match production.symbols[..] {
            [first, Symbol::Token(token), ..] => {
                first == Symbol::Rule(complete.rule)
                    && must_reduce(complete.precedence, self.grammar.token(token).precedence)
            }
            _ => false,
        })
    }

    fn edges(&self, rule: RuleId, wanted: impl Fn(&Production) -> bool) -> Set {
        let productions = self.grammar.rule(rule).productions.iter().copied();
        productions.filter(|id| wanted(self.grammar.production(*id))).collect()
    }

    fn variant(&mut self, variant: Variant) -> RuleId {
        if let Some(&known) = self.known.get(&variant) {
            return known;
        }
        let id = RuleId::new(self.rules.len());
        let original = self.grammar.rule(variant.rule);
        let mut name = format!("{}_{}", original.name, self.rules.len());
        while self.names.contains(name.as_str()) {
            name.push('_');
        }
        let place = original.place.clone();
        self.rules.push(Rule { name, place, productions: Vec::new(), helper: true });
        self.known.insert(variant.clone(), id);
        self.waiting.push(variant);
        id
    }
}
