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
#[derive(Clone, Debug)]
pub struct Tree {
    /// `hash << 4 | mark`; 0 is empty.
    table: Vec<u64>,
    edges: usize,
    /// The number of distinct paths.
    paths: usize,
}

/// The node where every run starts.
pub const ROOT: u64 = Hash::new().finish();

impl Default for Tree {
    fn default() -> Self {
        Tree { table: vec![0; 1 << 10], edges: 0, paths: 0 }
    }
}

impl Tree {
    /// The node that a decision leads to.
    pub const fn child(node: u64, key: u64, outcome: u32) -> u64 {
        Hash::from(node).add(key ^ mix(outcome as u64 + 1)).finish()
    }

    pub fn mark(&self, node: u64) -> Option<Mark> {
        Mark::from_u8((self.table[self.slot(node)] & 15) as u8)
    }

    /// Marks a node, unless it has a stronger mark. Returns true if the node is new.
    pub fn set(&mut self, node: u64, mark: Mark) -> bool {
        if (self.edges + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let slot = self.slot(node);
        let old = self.table[slot];
        if old == 0 {
            self.edges += 1;
        }
        if (old & 15) < mark as u64 {
            self.table[slot] = node & !15 | mark as u64;
        }
        old == 0
    }

    /// Removes the mark of a flip that got no answer, so that it can be asked again. Stronger
    /// marks stay.
    pub fn withdraw(&mut self, node: u64) {
        let slot = self.slot(node);
        if self.table[slot] & 15 == Mark::Asked as u64 {
            // The hash stays in its slot, because other entries may come after it.
            self.table[slot] &= !15;
        }
    }

    /// Records the end of a path. Returns true if the path is new.
    pub fn end(&mut self, node: u64) -> bool {
        let new = self.set(Self::child(node, 0, u32::MAX), Mark::Taken);
        self.paths += usize::from(new);
        new
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
        self.table.len() * 8
    }

    fn slot(&self, node: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut at = (node >> 4) as usize & mask;
        while self.table[at] != 0 && self.table[at] >> 4 != node >> 4 {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let bigger = vec![0; self.table.len() * 2];
        for word in std::mem::replace(&mut self.table, bigger) {
            if word != 0 {
                let slot = self.slot(word);
                self.table[slot] = word;
            }
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
