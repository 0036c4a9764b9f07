//! The one representation of a grammar: tokens, rules, productions, a start
//! symbol, and what may stand between tokens.
//!
//! It is plain: a production is a sequence of symbols and nothing else. Options,
//! repetitions and groups have become helper rules by the time a [`Grammar`]
//! exists (see [`crate::builder`]). Names, places and precedence survive for
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

/// How a text is cut into tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lexing {
    /// The longest match wins, whatever the parser would like: lex, ANTLR, most
    /// programs.
    #[default]
    Longest,
    /// The longest match that the parser can go on with: tree-sitter, the forms
    /// that know no lexer, whose tokens are our own idea, and lexers with states,
    /// which follow the parser.
    Context,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub name: String,
    pub pattern: Pattern,
    /// What the program's lexer returns for it, where that is known.
    pub number: Option<i64>,
    pub place: Place,
    pub precedence: Option<Precedence>,
    /// The order among the rules of a lexer: of two that match equally much, the
    /// lower one wins.
    pub priority: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    Literal(Vec<u8>),
    Regex(Regex),
    /// Known by name only: a hand-written lexer without a side file.
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
    /// How often it is chosen in weighted sampling, against its siblings.
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
    /// `%precedence`: a level and nothing about equals.
    Precedence,
}

/// What may stand between tokens: white space, comments.
#[derive(Clone, Debug)]
pub struct Separator {
    pub name: String,
    pub pattern: Regex,
    /// Must stand between any two tokens (and not only where they would run
    /// together).
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

    /// The token that a person means: by its name, or by its text where that is
    /// a literal.
    pub fn find_token(&self, name: &str) -> Option<TokenId> {
        let named = self.tokens.iter().position(|t| t.name == name);
        named.or_else(|| self.tokens.iter().position(|t| t.is_text(name))).map(TokenId::new)
    }

    pub fn find_rule(&self, name: &str) -> Option<RuleId> {
        self.rules.iter().position(|r| r.name == name).map(RuleId::new)
    }

    /// All tokens by name, for looking up many.
    pub fn tokens_by_name(&self) -> HashMap<&str, TokenId> {
        self.token_ids().map(|id| (self.token(id).name.as_str(), id)).collect()
    }

    /// A production as people write it, for messages.
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

    /// As people write it: its text if it has only one, else its name.
    pub fn shown(&self) -> String {
        match self.literal() {
            Some(text) => text.escape_ascii().to_string(),
            None => self.name.clone(),
        }
    }

    /// Its text, where there is only one.
    pub fn literal(&self) -> Option<&[u8]> {
        match &self.pattern {
            Pattern::Literal(bytes) => Some(bytes),
            _ => None,
        }
    }
}
