//! HAMPI's language: constraints on strings of bounded size. A string is in a regular or
//! context-free language, contains a text, or equals another string; or does not.
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
//! String Constraints*, ISSTA 2009) expands a language of a fixed size into one regular
//! expression, and solves it with bit-vectors. Here nothing is expanded.
//!
//! 1. `resolve` resolves the names of the file; the result is a `problem`. All languages,
//!    regular or not, become one grammar (`language`, `normal`).
//! 2. `layout` tries the sizes of the variables, small ones first. With these sizes a value
//!    is a row of cells: given bytes and open ones. An `equals` makes cells the same.
//! 3. `chart` turns each other assertion into a `circuit` of *and* and *or* over conditions
//!    on single cells. This takes cubic time in the size. A gate that can only be true or
//!    only be false is not built.
//! 4. `decide` restricts the bytes of each cell by one assertion after the other, until
//!    nothing changes (`narrow`). If no cell is in two assertions, the first way through
//!    each circuit is a solution.
//! 5. Otherwise `clauses` gives the circuits to a SAT solver, with `classes` of bytes that
//!    they do not tell apart. Circuits have no negation inside and no cycles, so a denied
//!    assertion is the same circuit, required to be false. Context-free languages are not
//!    closed under complement, but for strings of one size that does not matter.
//! 6. `check` evaluates the file as it was written on every solution. It shares no code with
//!    the steps above.
//!
//! `budget` counts the work, and `show` prints bytes.

mod budget;
mod chart;
mod check;
mod circuit;
mod classes;
mod clauses;
mod decide;
mod language;
mod layout;
mod narrow;
mod normal;
mod problem;
mod resolve;
mod show;

use pleach_import::ImportError;

pub use decide::Solutions;
pub use problem::Problem;
pub use show::quote;

/// A value for each variable, in the order of their declarations.
pub type Solution = Vec<Vec<u8>>;

#[derive(Debug, thiserror::Error)]
pub enum HampiError {
    /// The file is wrong.
    #[error(transparent)]
    File(#[from] ImportError),
    /// A limit on work or memory was reached.
    #[error("the constraints are too large: they need more steps or gates than the limit allows")]
    TooLarge,
    /// The SAT solver reached its limits.
    #[error("the constraints are too hard: the SAT solver gave up")]
    TooHard,
    /// A bug of Pleach.
    #[error("a solution that was found does not satisfy the file")]
    WrongSolution,
}

impl Problem {
    /// Finds one solution, of the smallest possible size.
    pub fn solve(&self) -> Result<Option<Solution>, HampiError> {
        Solutions::first(self).next().transpose()
    }

    /// Finds all solutions, each once, small sizes first.
    pub fn solutions(&self) -> Solutions<'_> {
        Solutions::all(self)
    }
}
