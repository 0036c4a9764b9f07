//! Grammars of the inputs that programs read: one representation, [`Grammar`], and
//! all that works on it. That is analyses, counting, enumeration, sampling, lexing,
//! parsing, and the context-free constraint solver ([`chart`]).
//!
//! Not here, on purpose:
//! - Grammar files. `pleach-import` reads them, and builds a [`Grammar`] with
//!   [`builder`] and [`note`]. A change of a file format does not touch this crate.
//! - Programs, traces and processes. A grammar works without any of them.
//! - Recursion as deep as a grammar or an input is nested. Both come from users, and
//!   a hundred thousand brackets must not overflow the stack.
//!
//! Most callers change an input and keep it in the language:
//!
//! ```
//! use std::sync::Arc;
//! use pleach_grammar::detokenize::Detokenizer;
//! use pleach_grammar::{Automaton, Chart, TokenSet};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"
//!     sum ::= item | sum "+" item
//!     item ::= number | "(" sum ")"
//!     number ::= [0-9]+
//!     /* @skip */ blank ::= [ ]+
//! "#;
//! let grammar = Arc::new(pleach_import::from_bytes("sum.ebnf", text.as_bytes(), None)?);
//! // Once for a grammar:
//! let automaton = Arc::new(Automaton::new(Arc::clone(&grammar))?);
//! let texts = Detokenizer::new(&grammar)?;
//!
//! // Once for an input: its tokens with their offsets, and a chart of them.
//! let input = b"12  +  34 + 5";
//! let lexemes = texts.lexer().lex(input)?;
//! assert_eq!(lexemes[1].span, (4, 5));
//! let mut chart = Chart::new(automaton);
//! assert!(lexemes.iter().all(|lexeme| chart.push_token(lexeme.token)));
//!
//! // Any number of times: another token at a position. The chart is shared.
//! let bracket = grammar.find_token("(").ok_or("no bracket")?;
//! let set = TokenSet::of(grammar.tokens.len(), [bracket]);
//! let shortest = chart.flip(2, &set).ok_or("unsat")?;
//! assert_eq!(texts.rewrite(input, &lexemes, &shortest.tokens), b"12  +(34)");
//! // The same, but the tokens behind it stay where possible.
//! let near = chart.flip_near(2, &set).ok_or("unsat")?;
//! assert_eq!(texts.rewrite(input, &lexemes, &near.tokens), b"12  +(34 + 5)");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod ambiguity;
pub mod analysis;
pub mod builder;
pub mod chart;
pub mod convert;
pub mod count;
pub mod detokenize;
pub mod enumerate;
pub mod grammar;
pub mod lalr;
pub mod lexer;
pub mod note;
pub mod parse;
pub mod reduce;
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
    Assoc, Grammar, Lexing, Pattern, Precedence, Production, ProductionId, Rule, RuleId, Separator,
    Symbol, Token, TokenId,
};
pub use lexer::{Lexeme, Lexer};
pub use note::{Language, Note, Place, Severity};
pub use parse::{ParseError, Parsed, Parser};
pub use pleach_automata::{ByteSet, Regex};
pub use token_set::TokenSet;
pub use tree::Tree;
