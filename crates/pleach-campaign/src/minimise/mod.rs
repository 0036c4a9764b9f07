//! Fewer inputs, and shorter ones, that show the same.

mod corpus;
mod input;

pub use corpus::{Features, smallest_set};
pub use input::{Shrunk, drop_events, shrink};
