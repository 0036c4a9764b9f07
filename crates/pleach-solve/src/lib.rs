//! From a decision of a trace to an input that decides otherwise.
//!
//! A [`Path`] is a trace in the solver's terms: its conditions, simplified, with
//! an index by the bytes that they read. [`Solver::flip`] asks for an input that
//! keeps all decisions before one and changes that one. Four tiers try in turn,
//! cheapest first, one file each:
//!
//! 1. `domains`, `ranges` and `layers`: sets of values for each byte, what a value
//!    can be at most, and the exhaustive search over several bytes that merges
//!    what cannot be told apart;
//! 2. `inversion`: backwards through operations that can be undone;
//! 3. `search`: from the input at hand downhill, by a distance;
//! 4. `complete`: the conditions as a circuit, and a SAT solver.
//!
//! The input that made the trace satisfies every condition before the decision.
//! All of the above rests on this: a change to a few bytes can only break
//! conditions that read these bytes, so only those are looked at, however long
//! the path is. Only to prove that there is no solution must all conditions be
//! taken that are connected with the decision through bytes that they share.
//!
//! Every model is evaluated on all conditions that it could break before it
//! leaves. No I/O is here, no processes, no clock but one that guards the SAT
//! solver, and no `unsafe`. Limits count work: the same request has the same
//! answer.

#![forbid(unsafe_code)]

mod cache;
mod complete;
mod domains;
mod interrupt;
mod inversion;
mod layers;
mod lengths;
mod model;
mod path;
mod ranges;
mod recording;
mod request;
mod requirement;
pub mod sat;
mod search;
mod smt;
mod solver;
mod trial;

pub use interrupt::Interrupt;
pub use lengths::{Holes, Resized};
pub use model::Model;
pub use path::{Goal, Path, Shape, Step};
pub use recording::{BadRecording, Recording};
pub use requirement::{HoleLanguage, Requirement, TooManyStates};
pub use smt::SmtRequest;
pub use solver::{Answer, Config, Limits, Solver, Stats, Tier, Verdict, Why};
pub use trial::Trial;
