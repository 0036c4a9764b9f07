//! Symbolic grammars: some tokens are replaced by symbolic constants, each of which
//! stands for one byte (Majumdar and Xu, "Directed Test Generation using Symbolic
//! Grammars", 2007).
//!
//! A token with one text stays. A token with finitely many texts becomes sequences of
//! constants, one for each length of a text. A token with infinitely many texts becomes
//! at least as many constants as its shortest text has bytes.
//!
//! Productions that become equal are merged if they differ in one token. So the letters
//! and digits of a calculator become one constant, and its many derivations become few.
//! A constant stands for exactly the tokens that were merged into it, so that every text
//! for it gives a sentence of the grammar.
//!
//! The paper allows every length up to the longest one. Here lengths that no text has
//! are left out, which loses no path.

use crate::grammar::{
    Grammar, Pattern, Production, ProductionId, Rule, RuleId, Symbol, Token, TokenId,
};
use crate::lexer::Lexer;
use crate::note::Place;
use pleach_automata::dfa;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The name of a symbolic constant.
pub const CONSTANT: &str = "α";
/// The text of a symbolic constant.
const PLACEHOLDER: u8 = b'?';
/// If a text of a token is longer than this, the token counts as infinite.
const MAX_FINITE: u32 = 64;

/// How a token is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abstraction {
    /// By its texts, as described above.
    Auto,
    Keep,
    /// One constant, whatever the texts of the token are.
    One,
    /// At least this many constants.
    AtLeast(u32),
}

pub struct Symbolic {
    pub grammar: Grammar,
    /// By token of `grammar`: true if it is a symbolic constant.
    pub constants: Vec<bool>,
    /// By token of `grammar`: the tokens of the original that a constant stands for.
    pub stands_for: Vec<Vec<TokenId>>,
    /// By token of the original: true if it was replaced.
    pub replaced: Vec<bool>,
}

/// What a token becomes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Shape {
    Same,
    /// One of these numbers of constants.
    Lengths(Vec<u32>),
    /// At least this many constants.
    From(u32),
}

impl Symbolic {
    pub fn new(
        grammar: &Grammar,
        choose: impl Fn(TokenId) -> Abstraction,
    ) -> Result<Symbolic, dfa::TooLarge> {
        let lexer = Lexer::new(grammar)?;
        let shape = |id: TokenId| {
            let automatic = || match &grammar.token(id).pattern {
                Pattern::Literal(_) | Pattern::Unknown => Shape::Same,
                Pattern::Regex(regex) if regex.as_literal().is_some() => Shape::Same,
                Pattern::Regex(_) => shape_of(&lexer.language(id)),
            };
            match choose(id) {
                Abstraction::Auto => automatic(),
                Abstraction::Keep => Shape::Same,
                Abstraction::One => Shape::Lengths(vec![1]),
                Abstraction::AtLeast(least) => Shape::From(least),
            }
        };
        let shapes: Vec<Shape> = grammar.token_ids().map(shape).collect();
        Ok(replace(grammar, &shapes))
    }
}

fn shape_of(dfa: &dfa::Dfa) -> Shape {
    let least = dfa.distances().first().copied().unwrap_or(0);
    match dfa.longest() {
        Some(longest) if longest <= MAX_FINITE => {
            let counts = crate::count::count_strings(dfa, longest as usize);
            let texts: num_bigint::BigUint = counts.iter().sum();
            if texts <= 1u32.into() {
                return Shape::Same;
            }
            let none = num_bigint::BigUint::default();
            Shape::Lengths((0..).zip(counts).filter(|(_, n)| *n > none).map(|(l, _)| l).collect())
        }
        _ => Shape::From(least),
    }
}

/// The tokens that were merged at one place of a production.
type Choice = BTreeSet<TokenId>;

fn replace(grammar: &Grammar, shapes: &[Shape]) -> Symbolic {
    let mut new = Grammar { tokens: Vec::new(), productions: Vec::new(), ..grammar.clone() };
    let mut kept: HashMap<TokenId, TokenId> = HashMap::new();
    for id in grammar.token_ids().filter(|id| shapes[id.index()] == Shape::Same) {
        kept.insert(id, TokenId::new(new.tokens.len()));
        new.tokens.push(grammar.token(id).clone());
    }
    let replaced: Vec<bool> = shapes.iter().map(|s| *s != Shape::Same).collect();
    let mut constants = vec![false; new.tokens.len()];
    let mut stands_for = vec![Vec::new(); new.tokens.len()];
    let merged = merge(grammar, shapes);
    let choices = merged.iter().flat_map(|(_, places)| places.iter().flatten());
    let choices: BTreeSet<&Choice> = choices.collect();
    new.rules.iter_mut().for_each(|r| r.productions.clear());
    let add = |new: &mut Grammar, production: Production| {
        let id = ProductionId::new(new.productions.len());
        new.rules[production.rule.index()].productions.push(id);
        new.productions.push(production);
    };
    // A constant for each choice. If it stands for several constants, also a rule.
    let mut symbols: HashMap<&Choice, Symbol> = HashMap::new();
    for choice in choices {
        let constant = Symbol::Token(TokenId::new(new.tokens.len()));
        new.tokens.push(Token {
            name: CONSTANT.into(),
            pattern: Pattern::Literal(vec![PLACEHOLDER]),
            number: None,
            place: Place::none(),
            precedence: None,
            priority: u32::MAX,
        });
        constants.push(true);
        stands_for.push(choice.iter().copied().collect());
        // All tokens of a choice have the same shape.
        let shape = choice.first().map_or(&Shape::Same, |t| &shapes[t.index()]);
        if *shape == Shape::Lengths(vec![1]) {
            symbols.insert(choice, constant);
            continue;
        }
        let rule = RuleId::new(new.rules.len());
        let mut name = match shape {
            Shape::From(least) => format!("{CONSTANT}{least}_or_more"),
            Shape::Lengths(lengths) => {
                let lengths: Vec<String> = lengths.iter().map(u32::to_string).collect();
                format!("{CONSTANT}{}", lengths.join("_or_"))
            }
            Shape::Same => continue,
        };
        while new.rules.iter().any(|r| r.name == name) {
            name.push('\'');
        }
        let place = Place::none();
        new.rules.push(Rule { name, place, productions: Vec::new(), helper: true });
        let times = |n: u32| vec![constant; n as usize];
        let bodies: Vec<Vec<Symbol>> = match shape {
            Shape::From(least) => vec![times(*least), vec![Symbol::Rule(rule), constant]],
            Shape::Lengths(lengths) => lengths.iter().map(|&n| times(n)).collect(),
            Shape::Same => continue,
        };
        for symbols in bodies {
            add(&mut new, plain(rule, symbols));
        }
        symbols.insert(choice, Symbol::Rule(rule));
    }
    let mut seen: HashSet<(RuleId, Vec<Symbol>)> = HashSet::new();
    for (production, places) in &merged {
        let symbol = |(s, choice): (&Symbol, &Option<Choice>)| match (s, choice) {
            (_, Some(choice)) => symbols[choice],
            (Symbol::Token(t), None) => Symbol::Token(kept[t]),
            (Symbol::Rule(r), None) => Symbol::Rule(*r),
        };
        let symbols: Vec<Symbol> = production.symbols.iter().zip(places).map(symbol).collect();
        if seen.insert((production.rule, symbols.clone())) {
            add(&mut new, Production { symbols, ..(*production).clone() });
        }
    }
    Symbolic { grammar: new, constants, stands_for, replaced }
}

/// A production with shapes in place of replaced tokens.
type Kind<'a> = (RuleId, Vec<Result<Symbol, &'a Shape>>);

/// Merges productions that differ in one replaced token only. At each place of a
/// replaced token, the result has the tokens that were merged there.
fn merge<'a>(grammar: &'a Grammar, shapes: &[Shape]) -> Vec<(&'a Production, Vec<Option<Choice>>)> {
    let mut merged: Vec<(&Production, Vec<Option<Choice>>)> = Vec::new();
    // By kind: the indices of its productions in `merged`.
    let mut kinds: HashMap<Kind, Vec<usize>> = HashMap::new();
    for production in &grammar.productions {
        let replaced = |s: &Symbol| match s {
            Symbol::Token(t) if shapes[t.index()] != Shape::Same => Some(*t),
            _ => None,
        };
        let kind = |s: &Symbol| replaced(s).map_or(Ok(*s), |t| Err(&shapes[t.index()]));
        let kind = (production.rule, production.symbols.iter().map(kind).collect());
        let places: Vec<Option<Choice>> =
            production.symbols.iter().map(|s| replaced(s).map(|t| Choice::from([t]))).collect();
        let same_kind = kinds.entry(kind).or_default();
        let differs_in_one = |at: &&usize| {
            let pairs = merged[**at].1.iter().zip(&places);
            pairs.filter(|(a, b)| a != b).count() <= 1
        };
        match same_kind.iter().find(differs_in_one).copied() {
            Some(at) => {
                for (place, new) in merged[at].1.iter_mut().zip(places) {
                    if let (Some(place), Some(new)) = (place, new) {
                        place.extend(new);
                    }
                }
            }
            None => {
                same_kind.push(merged.len());
                merged.push((production, places));
            }
        }
    }
    merged
}

fn plain(rule: RuleId, symbols: Vec<Symbol>) -> Production {
    Production { rule, symbols, place: Place::none(), precedence: None, label: None, weight: 1.0 }
}
