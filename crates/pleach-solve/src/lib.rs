//! Finds an input that takes a decision of a trace the other way.
//!
//! A [`Path`] has the conditions of a trace, simplified and indexed by the bytes that they
//! read. [`Solver::flip`] finds an input that keeps all decisions before one, and flips
//! that one. Four tiers try in turn, the cheapest first (`tiers`):
//!
//! 1. `domains`, `prefix`, `ranges`, `layers` and `switch`: the values that each byte may
//!    have, a graph of what the path allows, the values that a term can have, and an
//!    exhaustive search over several bytes;
//! 2. `inversion`: solves backwards through operations that have an inverse;
//! 3. `search`: local search from the current input, by a distance;
//! 4. `complete`: the conditions as a circuit, for a SAT solver.
//!
//! The input of the trace satisfies every condition before the decision. So a change of
//! some bytes can break only conditions that read these bytes, and finding a model needs
//! only those, however long the path is. A proof that there is no model needs the *slice*:
//! all conditions that are connected with the decision through shared bytes.
//!
//! Every model is evaluated on all conditions that it could break, before it is returned.
//! Limits count work, so the same request has the same answer. There is no I/O here, there
//! are no processes, and the only clock guards the SAT solver.

#![forbid(unsafe_code)]

mod allowance;
mod answer;
mod cache;
mod checksum;
mod complete;
mod domains;
mod floats;
mod inversion;
mod layers;
mod lengths;
mod merge;
mod model;
mod path;
mod prefix;
mod ranges;
mod recording;
mod request;
mod requirement;
pub mod sat;
mod search;
mod smt;
mod solver;
mod switch;
#[cfg(test)]
mod test_trace;
mod tiers;
mod trial;

pub use answer::{Answer, Stats, Tier, Verdict, Why};
pub use lengths::{Holes, Resized};
pub use model::Model;
pub use path::{Goal, Path, Shape, Step};
pub use recording::{BadRecording, Recording};
pub use requirement::{HoleLanguage, Requirement, TooManyStates};
pub use smt::SmtRequest;
pub use solver::{Config, Limits, Solver};
pub use trial::Trial;
