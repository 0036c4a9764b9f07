//! The representation of a grammar: tokens, rules, productions, a start symbol, and
//! separators, which may stand between tokens.
//!
//! A production is a plain sequence of symbols. Options, repetitions and groups are
//! helper rules (see [`crate::builder`]). Names, places and precedence are kept for
//! messages and for printing.

use crate::note::{Language, Note, Place};
use pleach_automata::Regex;
use std::collections::HashMap;
use std::fmt;

macro_rules! id {
    ($name:ident) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            pub fn new(index: usize) -> $name {
                $name(u32::try_from(index).expect("the builder limits the size of grammars"))
            }

            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

id!(TokenId);
id!(RuleId);
id!(ProductionId);

#[derive(Clone, Debug)]
pub struct Grammar {
    pub tokens: Vec<Token>,
    /// The nonterminals.
    pub rules: Vec<Rule>,
    pub productions: Vec<Production>,
    pub start: RuleId,
    pub separators: Vec<Separator>,
    pub notes: Vec<Note>,
    pub language: Language,
    pub lexing: Lexing,
}

/// How a text is split into tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lexing {
    /// The longest match wins, as in lex, ANTLR and most programs.
    #[default]
    Longest,
    /// The longest match that the parser can accept there. For tree-sitter, for
    /// formats without a lexer, and for lexers with states, which follow the parser.
    Context,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub name: String,
    pub pattern: Pattern,
    /// The number that the program's lexer returns for it, if known.
    pub number: Option<i64>,
    pub place: Place,
    pub precedence: Option<Precedence>,
    /// Of two tokens that match the same text, the one with the lower number wins.
    pub priority: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    Literal(Vec<u8>),
    Regex(Regex),
    /// Only the name is known: the lexer is written by hand, and no token list was
    /// given.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub place: Place,
    /// In the order of the file.
    pub productions: Vec<ProductionId>,
    /// Made by the builder for an option, a repetition or a group.
    pub helper: bool,
}

#[derive(Clone, Debug)]
pub struct Production {
    pub rule: RuleId,
    pub symbols: Vec<Symbol>,
    pub place: Place,
    pub precedence: Option<Precedence>,
    pub label: Option<String>,
    /// For weighted sampling: its share among the productions of the rule.
    pub weight: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    Token(TokenId),
    Rule(RuleId),
}

/// A higher level binds tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precedence {
    pub level: u32,
    pub assoc: Assoc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assoc {
    Left,
    Right,
    /// `%nonassoc`: two of them in a row are an error.
    None,
    /// `%precedence`: a level without associativity.
    Precedence,
}

/// What may stand between tokens: white space or comments.
#[derive(Clone, Debug)]
pub struct Separator {
    pub name: String,
    pub pattern: Regex,
    /// True if a separator must stand between any two tokens, not only between those
    /// that would run together.
    pub required: bool,
}

impl Grammar {
    pub fn token(&self, id: TokenId) -> &Token {
        &self.tokens[id.index()]
    }

    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.index()]
    }

    pub fn production(&self, id: ProductionId) -> &Production {
        &self.productions[id.index()]
    }

    pub fn token_ids(&self) -> impl ExactSizeIterator<Item = TokenId> + use<> {
        (0..self.tokens.len()).map(TokenId::new)
    }

    pub fn rule_ids(&self) -> impl ExactSizeIterator<Item = RuleId> + use<> {
        (0..self.rules.len()).map(RuleId::new)
    }

    pub fn production_ids(&self) -> impl ExactSizeIterator<Item = ProductionId> + use<> {
        (0..self.productions.len()).map(ProductionId::new)
    }

    pub fn name(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Token(id) => &self.token(id).name,
            Symbol::Rule(id) => &self.rule(id).name,
        }
    }

    /// The token of this name, or else the literal of this text.
    pub fn find_token(&self, name: &str) -> Option<TokenId> {
        let by_name = self.tokens.iter().position(|t| t.name == name);
        by_name.or_else(|| self.tokens.iter().position(|t| t.is_text(name))).map(TokenId::new)
    }

    pub fn find_rule(&self, name: &str) -> Option<RuleId> {
        self.rules.iter().position(|r| r.name == name).map(RuleId::new)
    }

    /// A map of all tokens, to look up many.
    pub fn tokens_by_name(&self) -> HashMap<&str, TokenId> {
        self.token_ids().map(|id| (self.token(id).name.as_str(), id)).collect()
    }

    /// A production as text, for messages.
    pub fn show(&self, id: ProductionId) -> String {
        let production = self.production(id);
        let mut text = format!("{}:", self.rule(production.rule).name);
        for &symbol in &production.symbols {
            text.push(' ');
            text.push_str(self.name(symbol));
        }
        text
    }
}

impl Token {
    fn is_text(&self, text: &str) -> bool {
        matches!(&self.pattern, Pattern::Literal(bytes) if bytes == text.as_bytes())
    }

    /// For messages: its text if it is a literal, else its name.
    pub fn shown(&self) -> String {
        match self.literal() {
            Some(text) => text.escape_ascii().to_string(),
            None => self.name.clone(),
        }
    }

    /// Its text, if it is a literal.
    pub fn literal(&self) -> Option<&[u8]> {
        match &self.pattern {
            Pattern::Literal(bytes) => Some(bytes),
            _ => None,
        }
    }
}
