//! The tests of the library, in one executable: to link one for each file takes longer
//! than to run most of them.

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
