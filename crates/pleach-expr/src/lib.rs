//! The expression graph that a run of the symbolic half leaves behind: what
//! each labelled value was computed from, down to the bytes of the input.
//!
//! [`Expr`] is built from nodes that a target wrote, and a target may write
//! anything. Everything is checked once, when the graph is built; after that
//! evaluation, support and printing cannot fail. There is no I/O here, nothing
//! knows of processes or files, and nothing recurses deeper than a constant.

#![forbid(unsafe_code)]

mod canon;
pub mod container;
mod eval;
mod graph;
mod input;
mod part;
mod pool;
mod print;
mod reads;
pub mod rules;
mod support;
mod tape;
mod values;
mod word;

pub use canon::Canon;
pub use eval::{Values, apply, mask, sign_extend};
pub use graph::{Arg, Broken, Expr, Variables};
pub use input::Input;
pub use part::{Labels, NoPart, Part};
pub use pool::{Code, Imported, LENGTH_BITS, Node, Pool, Set, Table, Term};
pub use print::{NoSymbols, Printer, Symbols, case_of};
pub use reads::{Reads, Var};
pub use support::Support;
pub use tape::{Compiler, Frame, Tape};
pub use values::{Changed, TermValues};
pub use word::{compute64, compute128, mask64, plain64, sign64};
