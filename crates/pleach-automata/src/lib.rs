//! Regular languages over bytes: sets of bytes, regular expressions, and
//! deterministic automata with the words and word lengths that they accept.
//!
//! Lexers, holes of templates, importers of scanners and the solver all use
//! these types. Nothing here knows grammars, programs or traces.
//!
//! `regex-automata` is not used, for the reasons in `docs/dependencies.md`: its
//! automata hide their states, and most callers here walk, count, join or print
//! states.

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
