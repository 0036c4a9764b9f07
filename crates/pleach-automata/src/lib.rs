//! Regular languages over bytes: sets of bytes, regular expressions, and
//! deterministic automata with the words and word lengths that they accept.
//!
//! Lexers, holes of templates, importers of scanners and the solver use these
//! types. Nothing here knows grammars, programs or traces.
//!
//! `docs/dependencies.md` compares this crate with `regex-automata`, which searches
//! text and hides its states. Most callers here walk, count, join or print states.

#![forbid(unsafe_code)]

mod byteset;
pub mod dfa;
mod minimise;
mod regex;
mod subsets;
mod words;

pub use byteset::{ByteSet, partition};
pub use dfa::{DEAD, Dfa, State, TooLarge};
pub use regex::Regex;
pub use words::Lengths;
