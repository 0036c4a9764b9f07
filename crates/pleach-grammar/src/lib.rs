//! Grammars of the inputs that programs read: one representation, [`Grammar`],
//! and what can be done with it.
//!
//! Nothing here knows of programs, traces or processes. Nothing recurses as deep
//! as a grammar or an input is nested: both come from people, and a hundred
//! thousand brackets must not overflow the stack.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod builder;
pub mod chart;
pub mod convert;
pub mod count;
pub mod detokenize;
pub mod dfa;
pub mod enumerate;
pub mod grammar;
pub mod import;
pub mod lalr;
pub mod lexer;
pub mod note;
pub mod parse;
pub mod reduce;
pub mod regex;
pub mod sample;
pub mod shortest;
pub mod symbolic;
mod token_set;
pub mod tree;
pub mod unroll;

pub use analysis::Analysis;
pub use builder::{Ebnf, GrammarBuilder, GrammarError};
pub use chart::{Automaton, Chart, Completion};
pub use grammar::{
    Assoc, Grammar, Pattern, Precedence, Production, ProductionId, Rule, RuleId, Separator, Symbol,
    Token, TokenId,
};
pub use lexer::{Lexeme, Lexer};
pub use note::{Language, Note, Place, Severity};
pub use parse::{ParseError, Parsed, Parser};
pub use regex::{ByteSet, Regex};
pub use token_set::TokenSet;
pub use tree::Tree;
