//! The expressions of a trace: how each labelled value was computed from the bytes of
//! the input.
//!
//! [`Expr`] is the graph of nodes as the target wrote it, and a target may write
//! anything. The graph is checked once, when it is built; after that, evaluating and
//! printing cannot fail. [`Pool`] has the same expressions as simplified *terms*, which
//! the solver works on; [`Tape`] evaluates terms fast.
//!
//! There is no I/O here, nothing knows of processes or files, and no recursion is
//! deeper than a constant.

#![forbid(unsafe_code)]

mod canon;
pub mod container;
mod eval;
mod float;
mod graph;
mod input;
mod part;
mod pointers;
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
pub use float::{apply_float, as_double, from_double, is_same_result};
pub use graph::{Arg, Broken, Expr, Variables};
pub use input::Input;
pub use part::{Labels, NoPart, Part};
pub use pointers::PointerTable;
pub use pool::{Code, Imported, LENGTH_BITS, Node, Pool, Set, Table, Term, node_op};
pub use print::{NoSymbols, Printer, Symbols, case_of};
pub use reads::{Reads, Var};
pub use support::Support;
pub use tape::{Compiler, Frame, Tape};
pub use values::{ChangedValues, TermValues, Users};
pub use word::{compute64, compute128, mask64, plain64, sign64};
