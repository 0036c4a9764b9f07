//! Grammars of the inputs that programs read: one representation, [`Grammar`],
//! and what can be done with it.
//!
//! Nothing here knows of programs, traces or processes. Nothing recurses as deep
//! as a grammar or an input is nested: both come from people, and a hundred
//! thousand brackets must not overflow the stack.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod builder;
pub mod grammar;
pub mod import;
pub mod note;
pub mod regex;

pub use builder::{Ebnf, GrammarBuilder, GrammarError};
pub use grammar::{
    Assoc, Grammar, Pattern, Precedence, Production, ProductionId, Rule, RuleId, Separator, Symbol,
    Token, TokenId,
};
pub use note::{Language, Note, Place, Severity};
pub use regex::{ByteSet, Regex};
