//! Symbolic grammars: some tokens give way to symbolic constants, each of which
//! stands for any one byte (Majumdar and Xu, "Directed Test Generation using
//! Symbolic Grammars", 2007).
//!
//! A token with one text stays. One with finitely many becomes the sequences of
//! as many constants as its texts have bytes; one with endlessly many becomes at
//! least as many constants as its shortest text. Tokens that become the same
//! merge, and so do productions that become the same: letters and digits of a
//! calculator are one constant afterwards, and its many derivations few.
//! (The paper allows every length up to the longest. Lengths that no text has
//! are left out here: no path is lost by that.)

use crate::dfa;
use crate::grammar::{
    Grammar, Pattern, Production, ProductionId, Rule, RuleId, Symbol, Token, TokenId,
};
use crate::lexer::Lexer;
use crate::note::Place;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The name of a symbolic constant. Its text is a place holder of one byte.
pub const CONSTANT: &str = "α";
const PLACE_HOLDER: u8 = b'?';
/// Finite tokens with longer texts than this are treated as endless.
const LONGEST: u32 = 64;

/// What becomes of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abstraction {
    /// By the rule above.
    Auto,
    Keep,
    /// One constant, whatever the token's texts are.
    One,
    /// Any number of constants from this on.
    AtLeast(u32),
}

pub struct Symbolic {
    pub grammar: Grammar,
    /// By token of that grammar.
    pub constants: Vec<bool>,
    /// By token of the original: whether it gave way.
    pub replaced: Vec<bool>,
}

/// What a token turns into.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Same,
    Lengths(Vec<u32>),
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
                Pattern::Regex(_) => shape(&lexer.language(id)),
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

fn shape(dfa: &dfa::Dfa) -> Shape {
    let least = dfa.distances().first().copied().unwrap_or(0);
    match dfa.longest() {
        Some(longest) if longest <= LONGEST => {
            let counts = crate::count::strings(dfa, longest as usize);
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

fn replace(grammar: &Grammar, shapes: &[Shape]) -> Symbolic {
    let mut new = Grammar { tokens: Vec::new(), productions: Vec::new(), ..grammar.clone() };
    let mut kept: HashMap<TokenId, TokenId> = HashMap::new();
    for id in grammar.token_ids().filter(|id| shapes[id.index()] == Shape::Same) {
        kept.insert(id, TokenId::new(new.tokens.len()));
        new.tokens.push(grammar.token(id).clone());
    }
    let replaced: Vec<bool> = shapes.iter().map(|s| *s != Shape::Same).collect();
    let mut constants = vec![false; new.tokens.len()];
    let constant = Symbol::Token(TokenId::new(new.tokens.len()));
    if replaced.contains(&true) {
        new.tokens.push(Token {
            name: CONSTANT.into(),
            pattern: Pattern::Literal(vec![PLACE_HOLDER]),
            number: None,
            place: Place::none(),
            precedence: None,
            priority: u32::MAX,
        });
        constants.push(true);
    }
    new.rules.iter_mut().for_each(|r| r.productions.clear());
    let add = |new: &mut Grammar, production: Production| {
        let id = ProductionId::new(new.productions.len());
        new.rules[production.rule.index()].productions.push(id);
        new.productions.push(production);
    };
    // One rule for each shape that is more than one constant.
    let mut rules: BTreeMap<Shape, Symbol> = BTreeMap::new();
    for shape in shapes.iter().filter(|s| !matches!(s, Shape::Same)) {
        if rules.contains_key(shape) {
            continue;
        }
        if *shape == Shape::Lengths(vec![1]) {
            rules.insert(shape.clone(), constant);
            continue;
        }
        let rule = RuleId::new(new.rules.len());
        let name = match shape {
            Shape::From(least) => format!("{CONSTANT}{least}_or_more"),
            Shape::Lengths(lengths) => {
                let lengths: Vec<String> = lengths.iter().map(u32::to_string).collect();
                format!("{CONSTANT}{}", lengths.join("_or_"))
            }
            Shape::Same => continue,
        };
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
        rules.insert(shape.clone(), Symbol::Rule(rule));
    }
    let mut seen: HashSet<(RuleId, Vec<Symbol>)> = HashSet::new();
    for production in &grammar.productions {
        let symbol = |s: &Symbol| match s {
            Symbol::Rule(r) => Symbol::Rule(*r),
            Symbol::Token(t) => match kept.get(t) {
                Some(&token) => Symbol::Token(token),
                None => rules[&shapes[t.index()]],
            },
        };
        let symbols: Vec<Symbol> = production.symbols.iter().map(symbol).collect();
        if seen.insert((production.rule, symbols.clone())) {
            add(&mut new, Production { symbols, ..production.clone() });
        }
    }
    Symbolic { grammar: new, constants, replaced }
}

fn plain(rule: RuleId, symbols: Vec<Symbol>) -> Production {
    Production { rule, symbols, place: Place::none(), precedence: None, label: None, weight: 1.0 }
}
