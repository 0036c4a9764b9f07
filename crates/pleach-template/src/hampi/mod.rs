//! HAMPI's language: strings of bounded size under membership in regular and
//! context-free languages, substrings and equality, each also denied.
//!
//! ```text
//! var v : 2;
//! cfg E := "()" | E E | "(" E ")";
//! reg F := fix(E, 6);
//! val q := concat("((", v, "))");
//! assert q in F;
//! assert q contains "()()";
//! ```
//!
//! The published tool (Kieżun, Ganesh, Guo, Hooimeijer, Ernst: *HAMPI: A Solver for
//! String Constraints*, ISSTA 2009) expands a fixed-size language into one regular
//! expression and gives bit-vectors to a solver. Here nothing is expanded.
//!
//! 1. `problem` resolves names. All languages of the file, regular or not, become
//!    one grammar (`language`, `normal`).
//! 2. `layout` goes through the sizes of the variables, small ones first. With sizes
//!    known, every value is a row of bytes, some given and some open, and every
//!    positive `equals` is settled by making cells the same.
//! 3. `chart` turns each assertion into a `circuit` of *and* and *or* over single
//!    bytes. It is cubic in the size, and it folds: what no byte can make true is
//!    not there.
//! 4. `decide` narrows what each byte may be by every assertion in turn, until
//!    nothing changes. If no byte is in two assertions, any way through the circuits
//!    is a solution, and the chart alone has decided.
//! 5. Otherwise `clauses` gives the circuits to a SAT solver. They have no
//!    negation inside and no circles, so a denied membership is the same circuit
//!    wanted false: context-free languages are not closed under complement, but on
//!    texts of one size that does not matter.
//! 6. `check` evaluates the file as it was written on every solution, by a way that
//!    shares nothing with the above, before anyone sees it.

mod chart;
mod check;
mod circuit;
mod clauses;
mod decide;
mod language;
mod layout;
mod narrow;
mod normal;
mod problem;
mod show;
mod work;

use pleach_import::ImportError;

pub use decide::Solutions;
pub use language::MOST_PARTS;
pub use problem::{MOST_LENGTH, Problem};
pub use show::quoted;

/// A value for each variable, in the order of their declarations.
pub type Solution = Vec<Vec<u8>>;

#[derive(Debug, thiserror::Error)]
pub enum HampiError {
    /// The file's fault.
    #[error(transparent)]
    File(#[from] ImportError),
    /// Too much for the limits on work and memory.
    #[error("the constraints are too large: they need more steps or gates than the limit allows")]
    Work,
    /// Too hard for the SAT solver in its limits.
    #[error("the constraints are too hard: the SAT solver gave up")]
    Hard,
    /// A defect of ours.
    #[error("a solution that was found does not satisfy the file")]
    Wrong,
}

impl Problem {
    /// One solution, of the smallest sizes that have any.
    pub fn solve(&self) -> Result<Option<Solution>, HampiError> {
        Solutions::first(self).next().transpose()
    }

    /// All solutions, each once, small sizes first.
    pub fn solutions(&self) -> Solutions<'_> {
        Solutions::all(self)
    }
}
