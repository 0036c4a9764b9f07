//! Inputs under constraints: strings, grammars and sizes that must fit together.
//!
//! [`hampi`] reads and solves files in HAMPI's language.
//!
//! No processes are here and no files: text comes in, values go out.

#![forbid(unsafe_code)]

pub mod hampi;
