//! Inputs under constraints on bytes, tokens, lengths and a grammar.
//!
//! - [`Template`]: an input with fixed bytes and holes that may change.
//! - [`solve`]: flips of decisions. Bytes, tokens and lengths may change in one request.
//! - [`Vocabulary`]: the tokens of the program and of the grammar, and flips of decisions on
//!   tokens.
//! - [`Strings`]: the strings of a symbolic grammar, as templates.
//! - [`Samples`]: random sentences of a grammar.
//! - [`Grafts`]: inputs that are made of parts of other inputs.
//! - [`hampi`]: reads and solves files in HAMPI's language.
//!
//! Nothing here starts a process or opens a file.

#![forbid(unsafe_code)]

mod grafts;
pub mod hampi;
mod samples;
pub mod solve;
mod strings;
mod template;
mod tokens;

pub use grafts::{Grafts, GraftsError};
pub use samples::Samples;
pub use strings::{Bounds, Choices, HoleRecord, Strings, StringsError, Unit};
pub use template::{Hole, Template};
pub use tokens::{Mismatch, NameConflict, Sentence, TokenEdit, TokensError, Vocabulary};
