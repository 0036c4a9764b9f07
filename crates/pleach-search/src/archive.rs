//! Where a tree puts the edges that do not fit in memory.

use std::fmt::Debug;

/// Edges outside of memory. An edge is one word, as in the table of a tree: 60 bits of its
/// hash and 4 bits of mark.
///
/// Several threads may look edges up while others are added.
pub trait Archive: Debug + Send + Sync {
    /// Adds edges, or gives them stronger marks. Returns those that there is no room for. One
    /// call with many edges costs much less than many calls.
    fn add(&self, words: &mut [u64]) -> Vec<u64>;

    /// The word of an edge, given one with the same hash.
    fn find(&self, word: u64) -> Option<u64>;

    /// The number of edges.
    fn count(&self) -> usize;
}
