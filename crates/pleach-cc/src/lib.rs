//! The compiler driver of Pleach: runs clang for the front end, instruments
//! LLVM IR, makes the two halves of every object, and links both.
//!
//! `driver` knows command lines, files and processes; `instrument` knows IR;
//! `runtime` is what goes into every target. Nothing here knows of search,
//! grammars or solving: what a compiled program is used for is not the
//! compiler's affair.

mod driver;
pub mod instrument;
mod runtime;

pub use driver::main;

/// Which of clang's two faces is shown: `clang` or `clang++`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}
