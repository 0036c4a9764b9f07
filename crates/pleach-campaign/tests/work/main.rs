//! The work of each part grows no worse than n log n with the length of an input or a trace,
//! or stops at a cap, and then the answer says so. Work is counted (`pleach-work`), never
//! timed. The sizes are those that users have: inputs of 1 KiB to 1 MiB, and traces of a
//! thousand to a million events.

mod grammars;
mod growth;
mod minimising;
mod paths;
// A campaign on a fake target. Not all of it is used here.
#[allow(dead_code)]
#[path = "../ring/support.rs"]
mod support;
mod traces;
