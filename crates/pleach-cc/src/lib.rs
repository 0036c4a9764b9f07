//! The compiler driver of Pleach: runs clang for the front end, instruments
//! LLVM IR, makes the two halves of every object, and links both.
//!
//! `driver` handles command lines, files and processes; `instrument` handles IR;
//! `runtime` installs the files that every target is linked with. Nothing here
//! depends on search, grammars or solving.

mod driver;
pub mod instrument;
mod runtime;

pub use driver::main;
pub use runtime::write_runtime;

/// Which clang to run: `clang` or `clang++`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}
