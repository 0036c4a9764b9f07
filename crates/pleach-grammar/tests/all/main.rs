//! All tests of the library in one executable: linking one for each file would take longer
//! than running them.

#[path = "../common/mod.rs"]
mod common;

mod ambiguity;
mod analysis;
mod builder;
mod complete;
mod count;
mod nested;
mod parse;
mod sample;
mod transform;
