//! Fewer inputs, and shorter ones, that show the same.

mod corpus;
mod input;
mod moves;

pub use corpus::{Features, smallest_set};
pub use input::{Shrunk, drop_events, shrink};
pub use moves::{From, Shows, bisect, remove_blocks};
