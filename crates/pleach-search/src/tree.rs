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
//!
//! The table has a maximal size. When it is full, the tree forgets what is cheapest to find
//! again: edges that runs took first (their inputs can be traced again), then the ends of
//! paths and flips with an input, then half of the refutations. What is forgotten depends
//! only on the edges, so the same search forgets the same. An edge that is forgotten is asked
//! for again, which finds a known path or the same answer. A search that should be exhaustive
//! gives its tree an [`Archive`], which takes these edges instead.
//!
//! When several machines search, all of them know some of the paths, and share out the flips
//! that lead away from these ([`Tree::share_out`]).

use crate::archive::Archive;
use pleach_hash::{Hash, mix};
use std::fmt;
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
    /// A run's path ended here.
    End = 7,
    /// A run took it whose input is known to all members of a fleet.
    Shared = 8,
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
            7 => Mark::End,
            8 => Mark::Shared,
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
    /// The most slots of the table.
    max_slots: usize,
    forgotten: Forgotten,
    /// The fleet that shares the flips of shared paths out, if there is one.
    members: Option<Arc<dyn Members>>,
}

/// The members of a fleet, as a search knows them.
pub trait Members: Send + Sync {
    /// True if this member should work on something with that hash.
    fn owns(&self, hash: u64) -> bool;

    /// How many members there are, this one too.
    fn count(&self) -> usize;
}

impl fmt::Debug for dyn Members {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Members")
    }
}

/// What a tree forgot, because its table was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// How often it was full.
    pub times: u64,
    pub edges: u64,
    /// Edges that the solver refuted or gave up.
    pub refutations: u64,
}

/// The table of a tree. A long run has many edges, and most of their places are far apart in
/// memory. So a worker may mark them while others work with the tree: see
/// [`Run::mark_taken`](crate::Run::mark_taken).
#[derive(Debug)]
pub struct Table {
    /// `hash << 4 | mark`; 0 is empty.
    slots: Box<[AtomicU64]>,
    /// The edges that are not in the slots. An edge that is in both has the stronger mark
    /// here.
    archive: Option<Arc<dyn Archive>>,
}

/// The node where every run starts.
pub const ROOT: u64 = Hash::new().finish();

/// The slots of a new table.
const MIN_SLOTS: usize = 1 << 10;

impl Default for Tree {
    fn default() -> Self {
        Tree::new(usize::MAX)
    }
}

impl Tree {
    /// A tree whose table takes at most `max_memory` bytes, or what one run needs.
    pub fn new(max_memory: usize) -> Tree {
        let max_slots = match (max_memory / size_of::<u64>()).max(MIN_SLOTS) {
            slots if slots.is_power_of_two() => slots,
            slots => slots.next_power_of_two() / 2,
        };
        Tree {
            table: Arc::new(Table::new(MIN_SLOTS, None)),
            edges: 0,
            reserved: 0,
            paths: 0,
            max_slots,
            forgotten: Forgotten::default(),
            members: None,
        }
    }

    /// Puts edges into an archive that would otherwise be forgotten. Call it first of all.
    pub fn set_archive(&mut self, archive: Arc<dyn Archive>) {
        self.table = Arc::new(Table::new(MIN_SLOTS, Some(archive)));
    }

    /// The number of edges that are in the archive, and perhaps in memory as well.
    pub fn archived(&self) -> usize {
        self.table.archive.as_ref().map_or(0, |archive| archive.count())
    }

    /// Shares the flips of paths that all members of a fleet know: only those are open here
    /// that this member owns. Flips of other paths are known to this member alone.
    pub fn share_out(&mut self, members: Arc<dyn Members>) {
        self.members = Some(members);
    }

    /// How many members search.
    pub fn members(&self) -> usize {
        self.members.as_ref().map_or(1, |members| members.count().max(1))
    }

    /// True if nobody has asked for a node, and it is for this member to ask. `parent` is the
    /// node before it, on a path that a run took; `question` decides who owns the flip.
    pub fn is_open(&self, parent: u64, node: u64, question: impl FnOnce() -> u64) -> bool {
        self.mark(node).is_none() && (!self.is_shared(parent) || self.owns(question))
    }

    /// True if this member of a fleet asks a question that all may know.
    pub fn owns(&self, question: impl FnOnce() -> u64) -> bool {
        self.members.as_ref().is_none_or(|members| members.owns(question()))
    }

    /// True for a node on a path that all members of a fleet know.
    pub fn is_shared(&self, node: u64) -> bool {
        self.members.is_some() && (node == ROOT || self.mark(node) == Some(Mark::Shared))
    }

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

    /// The node for the end of a path.
    pub const fn end_of(node: u64) -> u64 {
        Self::child(node, 0, u32::MAX)
    }

    /// Records the end of a path. Returns true if the path is new.
    pub fn end(&mut self, node: u64) -> bool {
        let new = self.set(Self::end_of(node), Mark::End);
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
        self.table.slots.len() * 8
    }

    /// What was forgotten so far.
    pub fn forgotten(&self) -> Forgotten {
        self.forgotten
    }

    /// True if less than a quarter of the largest table is used.
    pub fn is_sparse(&self) -> bool {
        (self.edges + self.reserved) * 4 < self.max_slots
    }

    fn make_room(&mut self, edges: usize) {
        let needed = self.edges + self.reserved + edges;
        if needed * 4 <= self.table.slots.len() * 3 {
            return;
        }
        let slots_for = |edges: usize| (edges * 4).div_ceil(3).next_power_of_two();
        if slots_for(needed) <= self.max_slots {
            self.rebuild(slots_for(needed), |_| true);
            return;
        }
        let added = self.reserved + edges;
        let is_kept = self.choose_kept((self.max_slots / 2).saturating_sub(added));
        let before = self.edges;
        self.rebuild(self.max_slots.max(slots_for(before + added) / 2), is_kept);
        // One run may need more than the largest table.
        if (self.edges + added) * 4 > self.table.slots.len() * 3 {
            self.rebuild(slots_for(self.edges + added), |_| true);
        }
        self.forgotten.times += 1;
    }

    /// Moves the edges to a new table. Those that are not kept go to the archive, or are
    /// counted as forgotten.
    fn rebuild(&mut self, slots: usize, is_kept: impl Fn(u64) -> bool) {
        let archive = self.table.archive.clone();
        let next = Table::new(slots, archive.clone());
        let chunk = (self.table.slots.len() / 16).max(Left::MIN_CHUNK);
        let mut left = Left { archive, words: Vec::new(), chunk, forgotten: self.forgotten };
        self.edges = 0;
        // Others may be adding edges, so those in the table count.
        for word in self.table.words() {
            if is_kept(word) {
                next.slots[next.slot(word)].store(word, Relaxed);
                self.edges += 1;
            } else if mark_of(word).is_some() {
                left.add(word);
            }
        }
        self.forgotten = left.finish();
        self.table = Arc::new(next);
    }

    /// Chooses at most `max` edges to keep: whether a word of the table is one of them. Edges
    /// that are asked for are always kept.
    fn choose_kept(&self, max: usize) -> impl Fn(u64) -> bool + use<> {
        let mut counts = [0; 16];
        self.table.words().for_each(|word| counts[(word & 15) as usize] += 1);
        let mut kept: usize = counts[1..].iter().sum();
        let mut least = 0;
        for mark in [Mark::Taken, Mark::Shared, Mark::End, Mark::Sat, Mark::Optimistic] {
            if kept <= max {
                break;
            }
            kept -= counts[mark as usize];
            least |= 1u16 << mark as u32;
        }
        // Of the refutations, a half of a half..., and another one each time.
        let (mut bits, times) = (0, self.forgotten.times);
        while kept > max && bits < 32 {
            bits += 1;
            kept /= 2;
        }
        move |word| match mark_of(word) {
            None => false,
            Some(Mark::Asked) => true,
            Some(mark) => {
                least >> mark as u32 & 1 == 0
                    && mix(mix(word >> 4) ^ times) & ((1 << bits) - 1) == 0
            }
        }
    }
}

/// Edges that leave the table.
struct Left {
    archive: Option<Arc<dyn Archive>>,
    /// Those that are not in the archive yet.
    words: Vec<u64>,
    /// The number of edges that go to the archive at once: alone, each takes a read and a write.
    chunk: usize,
    forgotten: Forgotten,
}

impl Left {
    const MIN_CHUNK: usize = 1 << 20;

    fn add(&mut self, word: u64) {
        self.words.push(word);
        if self.words.len() == self.chunk {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let mut words = std::mem::take(&mut self.words);
        let refused = match &self.archive {
            Some(archive) => archive.add(&mut words),
            None => words,
        };
        self.forgotten.edges += refused.len() as u64;
        let is_refutation =
            |&&word: &&u64| matches!(mark_of(word), Some(Mark::Unsat | Mark::Unknown));
        self.forgotten.refutations += refused.iter().filter(is_refutation).count() as u64;
    }

    fn finish(mut self) -> Forgotten {
        self.flush();
        self.forgotten
    }
}

fn mark_of(word: u64) -> Option<Mark> {
    Mark::from_u8((word & 15) as u8)
}

impl Table {
    fn new(slots: usize, archive: Option<Arc<dyn Archive>>) -> Table {
        let slots = std::iter::repeat_with(AtomicU64::default).take(slots).collect();
        Table { slots, archive }
    }

    pub fn mark(&self, node: u64) -> Option<Mark> {
        mark_of(self.slots[self.slot(node)].load(Relaxed)).or_else(|| self.archived_mark(node))
    }

    fn archived_mark(&self, node: u64) -> Option<Mark> {
        self.archive.as_ref()?.find(node).and_then(mark_of)
    }

    /// The slots that are used.
    fn words(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().map(|word| word.load(Relaxed)).filter(|&word| word != 0)
    }

    /// Marks a node, unless it has a stronger mark. Returns true if the node is new.
    pub fn set(&self, node: u64, mark: Mark) -> bool {
        let mut archived = None;
        loop {
            let slot = &self.slots[self.slot(node)];
            let old = slot.load(Relaxed);
            if old & 15 == 0 {
                archived = self.archived_mark(node);
                if archived >= Some(mark) {
                    return false;
                }
            }
            // Another thread has just put another node here.
            if old != 0 && old >> 4 != node >> 4 {
                continue;
            }
            if (old & 15) >= mark as u64 {
                return false;
            }
            let new = node & !15 | mark as u64;
            if slot.compare_exchange(old, new, Relaxed, Relaxed).is_ok() {
                return old == 0 && archived.is_none();
            }
        }
    }

    /// Reads the places of nodes, so that they are in the processor's cache. Unlike marks,
    /// which are set one after the other, these reads do not wait for each other.
    pub fn read_ahead(&self, nodes: impl Iterator<Item = u64>) {
        let mask = self.slots.len() - 1;
        let word = |node: u64| self.slots[(node >> 4) as usize & mask].load(Relaxed);
        std::hint::black_box(nodes.fold(0, |sum, node| sum ^ word(node)));
    }

    fn withdraw(&self, node: u64) {
        let slot = &self.slots[self.slot(node)];
        let old = slot.load(Relaxed);
        if old >> 4 == node >> 4 && old & 15 == Mark::Asked as u64 {
            // The hash stays in its slot, because other entries may come after it. If the
            // exchange fails, the mark has become a stronger one.
            let _ = slot.compare_exchange(old, old & !15, Relaxed, Relaxed);
        }
    }

    fn slot(&self, node: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (node >> 4) as usize & mask;
        loop {
            let word = self.slots[at].load(Relaxed);
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

    /// A full tree forgets taken edges before answers, and it never exceeds its limit. What it
    /// forgets depends on its edges alone.
    #[test]
    fn a_full_tree_forgets_what_is_cheapest_to_find_again() {
        const MAX_MEMORY: usize = 64 << 10;
        let make = || {
            let mut tree = Tree::new(MAX_MEMORY);
            for i in 0..40_000 {
                let mark = if i % 40 == 0 { Mark::Unsat } else { Mark::Taken };
                tree.set(Tree::child(ROOT, i, 1), mark);
                assert!(tree.memory() <= MAX_MEMORY);
            }
            tree
        };
        let (mut tree, again) = (make(), make());
        assert!(tree.forgotten().times > 5 && tree.forgotten().refutations == 0);
        assert_eq!(tree.forgotten().edges as usize + tree.edges(), 40_000);
        for i in 0..40_000 {
            let node = Tree::child(ROOT, i, 1);
            assert_eq!(tree.mark(node), again.mark(node));
            assert!(i % 40 != 0 || tree.mark(node) == Some(Mark::Unsat));
        }
        // Then refutations alone are too many. Edges that are asked for stay.
        let asked = Tree::child(ROOT, 1, 2);
        tree.set(asked, Mark::Asked);
        (0..20_000).for_each(|i| _ = tree.set(Tree::child(ROOT, i, 3), Mark::Unsat));
        assert!(tree.forgotten().refutations > 10_000 && tree.memory() <= MAX_MEMORY);
        assert_eq!(tree.mark(asked), Some(Mark::Asked));
    }

    /// One run that is larger than the limit is entered whole.
    #[test]
    fn a_run_larger_than_the_limit_has_room() {
        let mut tree = Tree::new(0);
        for _ in 0..3 {
            let table = tree.share(10_000);
            let new = (0..10_000).filter(|&i| table.set(Tree::child(ROOT, i, 1), Mark::Taken));
            let new = new.count();
            tree.count_added(&table, new, 10_000);
            assert_eq!(tree.edges(), 10_000);
        }
    }

    /// A member of a fleet of four.
    struct Quarter;

    impl Members for Quarter {
        fn owns(&self, hash: u64) -> bool {
            hash >> 60 < 4
        }

        fn count(&self) -> usize {
            4
        }
    }

    /// Of the flips that lead away from shared paths, a member sees its own.
    #[test]
    fn flips_of_shared_paths_are_shared_out() {
        let mut tree = Tree::default();
        let (shared, private) = (Tree::child(ROOT, 1, 0), Tree::child(ROOT, 1, 1));
        tree.set(shared, Mark::Shared);
        tree.set(private, Mark::Taken);
        let flips = |node| (10..110).map(move |key| Tree::child(node, key, 1));
        let open = |tree: &Tree, from| flips(from).filter(|&n| tree.is_open(from, n, || n)).count();
        assert_eq!([ROOT, shared, private].map(|from| open(&tree, from)), [100; 3]);
        tree.share_out(Arc::new(Quarter));
        assert_eq!(tree.members(), 4);
        let [at_root, at_shared, at_private] =
            [ROOT, shared, private].map(|from| open(&tree, from));
        assert!((10..40).contains(&at_root) && (10..40).contains(&at_shared));
        assert_eq!(at_private, 100);
        // What was found by a member alone becomes known to all.
        tree.set(private, Mark::Shared);
        assert!((10..40).contains(&open(&tree, private)));
    }

    #[derive(Debug, Default)]
    struct Shelf(std::sync::Mutex<std::collections::HashMap<u64, u64>>);

    impl Archive for Shelf {
        fn add(&self, words: &mut [u64]) -> Vec<u64> {
            let mut shelf = self.0.lock().unwrap();
            for &mut word in words {
                let known = shelf.entry(word >> 4).or_default();
                *known = word.max(*known);
            }
            Vec::new()
        }

        fn find(&self, word: u64) -> Option<u64> {
            self.0.lock().unwrap().get(&(word >> 4)).copied()
        }

        fn count(&self) -> usize {
            self.0.lock().unwrap().len()
        }
    }

    #[test]
    fn a_tree_with_an_archive_forgets_nothing() {
        const MAX_MEMORY: usize = 16 << 10;
        let mut tree = Tree::new(MAX_MEMORY);
        tree.set_archive(Arc::new(Shelf::default()));
        let node = |i| Tree::child(ROOT, i, 1);
        let mark = |i| if i % 3 == 0 { Mark::Unsat } else { Mark::Taken };
        for i in 0..20_000 {
            assert!(tree.set(node(i), mark(i)) && tree.memory() <= MAX_MEMORY);
        }
        assert!(tree.archived() > 10_000);
        assert_eq!(tree.forgotten().edges, 0);
        for i in 0..20_000 {
            assert!(!tree.set(node(i), Mark::Unsat), "{i}");
            assert_eq!(tree.mark(node(i)), Some(mark(i)), "{i}");
        }
        // A stronger mark is in memory before the one in the archive.
        assert!(!tree.set(node(0), Mark::Sat));
        assert_eq!(tree.mark(node(0)), Some(Mark::Sat));
        let path = tree.end(7);
        (20_000..30_000).for_each(|i| _ = tree.set(node(i), Mark::Taken));
        assert_eq!((path, tree.end(7), tree.paths()), (true, false, 1));
        assert_eq!(tree.mark(node(0)), Some(Mark::Sat));
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
