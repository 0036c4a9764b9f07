//! Inputs under constraints: strings, grammars and sizes that must fit together.
//!
//! A [`Template`] is an input of which parts may change and the rest stays;
//! [`Strings`] are the templates of a symbolic grammar, one after another.
//! [`solve`] answers flips: bytes, tokens, lengths and grammar are parts of one request.
//! [`Vocabulary`] flips decisions on tokens within a grammar. [`Samples`] are sentences
//! drawn at random, [`Grafts`] are made of parts of others. [`hampi`] reads and solves
//! files in HAMPI's language.
//!
//! No processes are here and no files: text comes in, values go out.

#![forbid(unsafe_code)]

mod grafts;
pub mod hampi;
mod names;
mod nesting;
mod samples;
pub mod solve;
mod strings;
mod template;
mod tokens;

pub use grafts::{Grafts, GraftsError};
pub use names::Differ;
pub use samples::Samples;
pub use strings::{Bounds, Choices, SavedHole, Strings, StringsError, Unit, order};
pub use template::{Hole, Template};
pub use tokens::{Flipped, Mismatch, Reading, Sentence, Spent, TokensError, Try, Vocabulary};
