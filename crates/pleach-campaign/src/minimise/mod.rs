//! Makes an input shorter, or a set of inputs smaller, without losing what it shows.
//!
//! `input` shrinks one input, `corpus` chooses a small set of inputs with the same coverage,
//! and `moves` has the steps that all shrinkers share.

mod corpus;
mod input;
mod moves;

pub use corpus::{Features, smallest_set};
pub use input::{Shrunk, drop_events, shorten, shrink};
pub(crate) use moves::{RemoveFrom, Shows, bisect, remove_blocks};
