//! The execution tree, kept across runs and restarts.
//!
//! A node of the tree is a sequence of decisions, and is identified by its hash. The hash
//! of a child is computed from its parent's hash, the decision and the outcome. So an edge
//! needs no pointers. The table has one word for each edge: 60 bits of its hash and 4 bits
//! of mark, with open addressing. That is 8 bytes for an edge, or 11 to 22 with the free
//! slots. A trace of 30,000 decisions adds about half a megabyte; runs with the same
//! prefix share its edges.
//!
//! Two edges with the same 60 bits count as one, and one of them is not explored. With a
//! hundred million edges, the probability that this ever happens is one in two hundred.

use pleach_hash::{Hash, mix};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// What is known of an edge, that is, of a sequence of decisions. A later mark is stronger.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// The solver is working on it, or was when the driver died.
    Asked = 1,
    /// The solver gave up.
    Unknown = 2,
    /// No input satisfies it.
    Unsat = 3,
    /// There is an input that satisfies the flip and only some conditions of its path.
    Optimistic = 4,
    /// There is an input. Its run has not come here, or is not traced yet.
    Sat = 5,
    /// A run took it.
    Taken = 6,
}

impl Mark {
    pub const fn from_u8(n: u8) -> Option<Mark> {
        Some(match n {
            1 => Mark::Asked,
            2 => Mark::Unknown,
            3 => Mark::Unsat,
            4 => Mark::Optimistic,
            5 => Mark::Sat,
            6 => Mark::Taken,
            _ => return None,
        })
    }
}

/// See the module.
#[derive(Debug)]
pub struct Tree {
    table: Arc<Table>,
    edges: usize,
    /// Room for edges that others add to the table.
    reserved: usize,
    /// The number of distinct paths.
    paths: usize,
}

/// The table of a tree. A long run has many edges, and most of their places are far apart in
/// memory. So a worker may mark them while others work with the tree: see
/// [`Run::mark_taken`](crate::Run::mark_taken).
#[derive(Debug)]
pub struct Table(
    /// `hash << 4 | mark`; 0 is empty.
    Box<[AtomicU64]>,
);

/// The node where every run starts.
pub const ROOT: u64 = Hash::new().finish();

impl Default for Tree {
    fn default() -> Self {
        Tree { table: Arc::new(Table::new(1 << 10)), edges: 0, reserved: 0, paths: 0 }
    }
}

impl Tree {
    /// The node that a decision leads to.
    pub const fn child(node: u64, key: u64, outcome: u32) -> u64 {
        Hash::from(node).add(key ^ mix(outcome as u64 + 1)).finish()
    }

    pub fn mark(&self, node: u64) -> Option<Mark> {
        self.table.mark(node)
    }

    /// Marks a node, unless it has a stronger mark. Returns true if the node is new.
    pub fn set(&mut self, node: u64, mark: Mark) -> bool {
        self.make_room(1);
        let is_new = self.table.set(node, mark);
        self.edges += usize::from(is_new);
        is_new
    }

    /// Removes the mark of a flip that got no answer, so that it can be asked again. Stronger
    /// marks stay.
    pub fn withdraw(&mut self, node: u64) {
        self.table.withdraw(node);
    }

    /// Records the end of a path. Returns true if the path is new.
    pub fn end(&mut self, node: u64) -> bool {
        let new = self.set(Self::child(node, 0, u32::MAX), Mark::Taken);
        self.paths += usize::from(new);
        new
    }

    /// The table, with room for this many more edges. Who adds them reports it to
    /// [`Tree::count_added`].
    pub fn share(&mut self, edges: usize) -> Arc<Table> {
        self.make_room(edges);
        self.reserved += edges;
        self.table.clone()
    }

    /// Counts the edges that were added to the table of [`Tree::share`], and frees the room
    /// that was reserved. False if the tree has another table by now, because it has grown:
    /// then some of these edges are missing in it.
    pub fn count_added(&mut self, table: &Arc<Table>, added: usize, reserved: usize) -> bool {
        self.reserved -= reserved;
        let is_current = Arc::ptr_eq(table, &self.table);
        self.edges += if is_current { added } else { 0 };
        is_current
    }

    /// The number of nodes that were ever marked.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// The number of distinct paths.
    pub fn paths(&self) -> usize {
        self.paths
    }

    pub fn memory(&self) -> usize {
        self.table.0.len() * 8
    }

    fn make_room(&mut self, edges: usize) {
        let needed = self.edges + self.reserved + edges;
        if needed * 4 <= self.table.0.len() * 3 {
            return;
        }
        let bigger = Table::new((needed * 4).div_ceil(3).next_power_of_two());
        // Others may be adding edges, so those in the table count.
        let words = self.table.0.iter().map(|word| word.load(Relaxed)).filter(|&word| word != 0);
        self.edges = 0;
        for word in words {
            bigger.0[bigger.slot(word)].store(word, Relaxed);
            self.edges += 1;
        }
        self.table = Arc::new(bigger);
    }
}

impl Table {
    fn new(slots: usize) -> Table {
        Table(std::iter::repeat_with(AtomicU64::default).take(slots).collect())
    }

    pub fn mark(&self, node: u64) -> Option<Mark> {
        Mark::from_u8((self.0[self.slot(node)].load(Relaxed) & 15) as u8)
    }

    /// Marks a node, unless it has a stronger mark. Returns true if the node is new.
    pub fn set(&self, node: u64, mark: Mark) -> bool {
        loop {
            let slot = &self.0[self.slot(node)];
            let old = slot.load(Relaxed);
            // Another thread has just put another node here.
            if old != 0 && old >> 4 != node >> 4 {
                continue;
            }
            if (old & 15) >= mark as u64 {
                return false;
            }
            let new = node & !15 | mark as u64;
            if slot.compare_exchange(old, new, Relaxed, Relaxed).is_ok() {
                return old == 0;
            }
        }
    }

    /// Reads the places of nodes, so that they are in the processor's cache. Unlike marks,
    /// which are set one after the other, these reads do not wait for each other.
    pub fn read_ahead(&self, nodes: impl Iterator<Item = u64>) {
        let mask = self.0.len() - 1;
        let word = |node: u64| self.0[(node >> 4) as usize & mask].load(Relaxed);
        std::hint::black_box(nodes.fold(0, |sum, node| sum ^ word(node)));
    }

    fn withdraw(&self, node: u64) {
        let slot = &self.0[self.slot(node)];
        let old = slot.load(Relaxed);
        if old >> 4 == node >> 4 && old & 15 == Mark::Asked as u64 {
            // The hash stays in its slot, because other entries may come after it. If the
            // exchange fails, the mark has become a stronger one.
            let _ = slot.compare_exchange(old, old & !15, Relaxed, Relaxed);
        }
    }

    fn slot(&self, node: u64) -> usize {
        let mask = self.0.len() - 1;
        let mut at = (node >> 4) as usize & mask;
        loop {
            let word = self.0[at].load(Relaxed);
            if word == 0 || word >> 4 == node >> 4 {
                return at;
            }
            at = (at + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stronger_mark_replaces_a_weaker_one() {
        let mut tree = Tree::default();
        let nodes: Vec<u64> = (0..50_000).map(|i| Tree::child(ROOT, i, 1)).collect();
        for &node in &nodes {
            assert_eq!(tree.mark(node), None);
            assert!(tree.set(node, Mark::Asked));
        }
        for &node in &nodes[..100] {
            assert!(!tree.set(node, Mark::Unsat));
            assert!(!tree.set(node, Mark::Unknown));
        }
        assert_eq!(tree.mark(nodes[0]), Some(Mark::Unsat));
        assert_eq!(tree.mark(nodes[100]), Some(Mark::Asked));
        assert_eq!(tree.edges(), 50_000);
        assert!(tree.memory() <= 22 * 50_000);
    }

    #[test]
    fn only_unanswered_flips_can_be_withdrawn() {
        let mut tree = Tree::default();
        let (asked, taken) = (Tree::child(ROOT, 1, 0), Tree::child(ROOT, 1, 1));
        tree.set(asked, Mark::Asked);
        tree.set(taken, Mark::Taken);
        tree.withdraw(asked);
        tree.withdraw(taken);
        assert_eq!((tree.mark(asked), tree.mark(taken)), (None, Some(Mark::Taken)));
        tree.set(asked, Mark::Asked);
        assert_eq!((tree.mark(asked), tree.edges()), (Some(Mark::Asked), 2));
    }

    #[test]
    fn the_end_of_a_path_is_a_node_of_its_own() {
        let mut tree = Tree::default();
        let node = Tree::child(ROOT, 1, 0);
        tree.set(node, Mark::Taken);
        assert_eq!((tree.end(node), tree.end(node), tree.end(ROOT)), (true, false, true));
        assert_eq!(tree.paths(), 2);
    }
}
