//! The decisions of the ring, on programs that are Rust functions: what is kept, what is
//! counted, what a divergence does, resuming, limits, and the order of the queue. Nothing
//! is compiled and no process is started, so each test takes milliseconds.

mod batches;
mod fleets;
mod keeping;
mod limits;
mod live;
mod memory;
mod resuming;
mod support;
mod verdicts;
