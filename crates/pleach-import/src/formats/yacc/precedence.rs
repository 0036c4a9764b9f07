//! Makes precedence part of the grammar: removes the derivations that a parser with
//! precedence never chooses, and keeps the texts that it accepts.
//!
//! yacc decides between reducing a production and shifting a token by comparing their
//! precedence. A derivation shows both kinds of decisions:
//!
//! - A token follows an operand. Then no production on the *right edge* of the operand
//!   may lose against the token, because the parser would have shifted it.
//! - An operand ends a production. Then no production on the *left edge* of the operand
//!   may continue with a token that loses against the outer production, because the
//!   parser would have reduced that.
//!
//! All productions on an edge count, not only children: in `a + not b + c` the weak
//! `not` is on the right edge of the left operand.
//!
//! So a rule gets variants, one for each pair of sets of productions that are forbidden
//! on its left and right edge. Only direct recursion of a rule is examined, which is how
//! operators are written. The idea is from Afroozeh and others, "Safe specification of
//! operator precedence rules" (2013); the comparison is yacc's.

use std::collections::{BTreeSet, HashMap};

use pleach_grammar::{
    Assoc, Grammar, Note, Precedence, Production, ProductionId, Rule, RuleId, Severity, Symbol,
};

/// If there would be more productions than this, the grammar stays as it is.
const MAX_PRODUCTIONS: usize = 50_000;

type Set = BTreeSet<ProductionId>;

/// A rule, and the productions that are forbidden on its edges.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Variant {
    rule: RuleId,
    left: Set,
    right: Set,
}

/// The grammar with precedence applied. If that would make it too large, the grammar
/// stays as it is, with a note.
pub(super) fn apply(mut grammar: Grammar) -> Grammar {
    match Rewriter::new(&grammar).run() {
        Some((rules, productions)) => {
            grammar.rules = rules;
            grammar.productions = productions;
        }
        None => {
            let place = grammar.rule(grammar.start).place.clone();
            let text = format!(
                "precedence is not applied: the grammar would have more than \
                 {MAX_PRODUCTIONS} productions"
            );
            grammar.notes.push(Note { place, severity: Severity::Warning, text });
        }
    }
    grammar
}

/// True if a complete production loses against the next token, which is shifted.
fn must_shift(production: Option<Precedence>, token: Option<Precedence>) -> bool {
    let (Some(production), Some(token)) = (production, token) else { return false };
    production.level < token.level
        || production.level == token.level && matches!(token.assoc, Assoc::Right | Assoc::None)
}

/// True if the next token loses: the production is reduced, or there is an error.
fn must_reduce(production: Option<Precedence>, token: Option<Precedence>) -> bool {
    let (Some(production), Some(token)) = (production, token) else { return false };
    production.level > token.level
        || production.level == token.level && matches!(token.assoc, Assoc::Left | Assoc::None)
}

struct Rewriter<'g> {
    grammar: &'g Grammar,
    ids: HashMap<Variant, RuleId>,
    /// Variants that have no productions yet.
    waiting: Vec<Variant>,
    rules: Vec<Rule>,
    productions: Vec<Production>,
    names: BTreeSet<&'g str>,
}

impl<'g> Rewriter<'g> {
    fn new(grammar: &'g Grammar) -> Rewriter<'g> {
        let rules =
            grammar.rules.iter().map(|rule| Rule { productions: Vec::new(), ..rule.clone() });
        let rules: Vec<Rule> = rules.collect();
        let free = |rule| Variant { rule, left: Set::new(), right: Set::new() };
        let waiting: Vec<Variant> =
            (0..grammar.rules.len()).rev().map(RuleId::new).map(free).collect();
        let ids = waiting.iter().map(|variant| (variant.clone(), variant.rule)).collect();
        let tokens = grammar.tokens.iter().map(|token| token.name.as_str());
        let names = tokens.chain(grammar.rules.iter().map(|rule| rule.name.as_str())).collect();
        Rewriter { grammar, ids, waiting, rules, productions: Vec::new(), names }
    }

    fn run(mut self) -> Option<(Vec<Rule>, Vec<Production>)> {
        while let Some(variant) = self.waiting.pop() {
            let id = self.ids[&variant];
            let grammar = self.grammar;
            for &production in &grammar.rule(variant.rule).productions {
                let symbols = &grammar.production(production).symbols;
                let rule = Symbol::Rule(variant.rule);
                let on_left = symbols.first() == Some(&rule) && variant.left.contains(&production);
                let on_right = symbols.last() == Some(&rule) && variant.right.contains(&production);
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

    /// The symbols of a production in a variant of its rule.
    fn symbols(&mut self, id: ProductionId, variant: &Variant) -> Vec<Symbol> {
        let production = self.grammar.production(id);
        let rule = Symbol::Rule(variant.rule);
        let last = production.symbols.len().saturating_sub(1);
        let mut symbols = production.symbols.clone();
        for (at, symbol) in symbols.iter_mut().enumerate().filter(|(_, symbol)| **symbol == rule) {
            let left = if at == last && at > 0 {
                self.productions_with_losing_token(production)
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

    /// Productions that end in their own rule and lose against a token that the parser
    /// could shift instead: the token is behind a first operand, or behind the same
    /// symbols (`if c s` and `if c s else s`).
    fn losing_productions(
        &self,
        rule: RuleId,
        before: &[Symbol],
        token: Option<Precedence>,
    ) -> Set {
        self.filter(rule, |production| match production.symbols.split_last() {
            Some((last, same)) => {
                *last == Symbol::Rule(rule)
                    && (before.is_empty() || before == same)
                    && must_shift(production.precedence, token)
            }
            None => false,
        })
    }

    /// Productions that start with their own rule and continue with a token that loses
    /// against `complete`.
    fn productions_with_losing_token(&self, complete: &Production) -> Set {
        self.filter(complete.rule, |production| match production.symbols[..] {
            [first, Symbol::Token(token), ..] => {
                first == Symbol::Rule(complete.rule)
                    && must_reduce(complete.precedence, self.grammar.token(token).precedence)
            }
            _ => false,
        })
    }

    fn filter(&self, rule: RuleId, accepts: impl Fn(&Production) -> bool) -> Set {
        let productions = self.grammar.rule(rule).productions.iter().copied();
        productions.filter(|id| accepts(self.grammar.production(*id))).collect()
    }

    /// The rule of a variant, which is made at its first use.
    fn variant(&mut self, variant: Variant) -> RuleId {
        if let Some(&id) = self.ids.get(&variant) {
            return id;
        }
        let id = RuleId::new(self.rules.len());
        let original = self.grammar.rule(variant.rule);
        let mut name = format!("{}_{}", original.name, self.rules.len());
        while self.names.contains(name.as_str()) {
            name.push('_');
        }
        let place = original.place.clone();
        self.rules.push(Rule { name, place, productions: Vec::new(), helper: true });
        self.ids.insert(variant.clone(), id);
        self.waiting.push(variant);
        id
    }
}
