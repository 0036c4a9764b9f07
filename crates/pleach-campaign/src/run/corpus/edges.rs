//! Edges of the execution tree on disk.
//!
//! A search that should be exhaustive must not forget what it asked. So the edges that do not
//! fit in memory are in a file, in pages of 512 words each. The first bits of an edge's hash
//! say in which page it is. A full page is split by more bits, and no other page changes
//! (extendible hashing: Fagin and others, 1979). In memory is only the index, a few bytes for
//! each page. Edges come many at once: each page that they belong to is read and written once.

use super::scratch::{Scratch, ScratchFile};
use pleach_search::Archive;
use std::io;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard};

const PAGE_WORDS: usize = 512;
const PAGE_BYTES: usize = 8 * PAGE_WORDS;
/// With more bits, hashes are not evenly distributed, or the disk is full long before.
const MAX_BITS: u32 = 28;

#[derive(Debug)]
pub struct EdgeFile {
    scratch: Scratch,
    /// It is made when it is needed; `None` if it cannot be made.
    file: OnceLock<Option<ScratchFile>>,
    index: RwLock<Index>,
}

#[derive(Debug)]
struct Index {
    /// How many bits of a hash choose the page.
    bits: u32,
    /// The page for each value of these bits.
    pages: Vec<u32>,
    /// What is known of each page.
    shapes: Vec<Shape>,
    edges: usize,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    /// How many words are used.
    used: u16,
    /// How many bits all of its hashes have in common.
    bits: u8,
}

impl EdgeFile {
    pub fn new(scratch: Scratch) -> EdgeFile {
        let shapes = vec![Shape { used: 0, bits: 0 }];
        let index = Index { bits: 0, pages: vec![0], shapes, edges: 0 };
        EdgeFile { scratch, file: OnceLock::new(), index: RwLock::new(index) }
    }

    fn file(&self) -> io::Result<&ScratchFile> {
        let file = self.file.get_or_init(|| self.scratch.file("edges").ok());
        file.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The used words of a page.
    fn read(&self, page: u32, shape: Shape) -> io::Result<Vec<u64>> {
        let mut bytes = [0; PAGE_BYTES];
        let used = &mut bytes[..8 * usize::from(shape.used)];
        self.file()?.read_at(used, page_start(page))?;
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        Ok(used.chunks_exact(8).map(word).collect())
    }

    fn write(&self, page: u32, words: &[u64]) -> io::Result<()> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.file()?.write_at(&bytes, page_start(page))
    }

    /// Adds words of one page. Returns how many of them do not fit.
    fn add_to_page(&self, index: &mut Index, page: u32, added: &[u64]) -> io::Result<Vec<u64>> {
        let shape = index.shapes[page as usize];
        let mut words = self.read(page, shape)?;
        words.extend(added);
        // Of the words of one edge, the strongest mark is the first.
        words.sort_unstable_by_key(|&word| (word >> 4, !word & 15));
        words.dedup_by_key(|word| *word >> 4);
        let first = words[0].checked_shr(64 - u32::from(shape.bits)).unwrap_or(0);
        let (mut leaves, mut refused) = (Vec::new(), Vec::new());
        split((first, shape.bits), &words, &mut leaves, &mut refused);
        // The index does not refer to new pages yet. The old one is written last.
        let new = index.shapes.len() as u32;
        for (number, leaf) in (0..).zip(&leaves[1..]) {
            self.write(new + number, leaf.words)?;
        }
        self.write(page, leaves[0].words)?;
        index.edges -= usize::from(shape.used);
        index.set(page, &leaves[0]);
        for (number, leaf) in (0..).zip(&leaves[1..]) {
            index.shapes.push(shape);
            index.set(new + number, leaf);
        }
        Ok(refused)
    }
}

/// The words of one page.
struct Leaf<'a> {
    /// The bits that all of its hashes have in common, and how many these are.
    prefix: (u64, u8),
    words: &'a [u64],
}

/// Divides sorted words with a common prefix into pages.
fn split<'a>(
    prefix: (u64, u8),
    words: &'a [u64],
    leaves: &mut Vec<Leaf<'a>>,
    refused: &mut Vec<u64>,
) {
    let (value, bits) = prefix;
    if words.len() <= PAGE_WORDS || u32::from(bits) == MAX_BITS {
        let (kept, rest) = words.split_at(words.len().min(PAGE_WORDS));
        refused.extend(rest);
        leaves.push(Leaf { prefix, words: kept });
        return;
    }
    let middle = words.partition_point(|word| word >> (63 - bits) & 1 == 0);
    let (low, high) = words.split_at(middle);
    split((value << 1, bits + 1), low, leaves, refused);
    split((value << 1 | 1, bits + 1), high, leaves, refused);
}

impl Archive for EdgeFile {
    fn add(&self, words: &mut [u64]) -> Vec<u64> {
        words.sort_unstable();
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        let (mut rest, mut refused) = (&*words, Vec::new());
        while let Some(&first) = rest.first() {
            let page = index.page_of(first);
            let of_page = rest.partition_point(|&word| index.page_of(word) == page);
            let (added, others) = rest.split_at(of_page);
            match self.add_to_page(&mut index, page, added) {
                Ok(without_room) => refused.extend(without_room),
                Err(_) => refused.extend(added),
            }
            rest = others;
        }
        refused
    }

    fn find(&self, word: u64) -> Option<u64> {
        let index = self.index();
        if index.edges == 0 {
            return None;
        }
        let page = index.page_of(word);
        let words = self.read(page, index.shapes[page as usize]).ok()?;
        words.into_iter().find(|other| other >> 4 == word >> 4)
    }

    fn count(&self) -> usize {
        self.index().edges
    }
}

impl Index {
    /// The entry of `pages` for a word.
    fn entry_of(&self, word: u64) -> usize {
        word.checked_shr(64 - self.bits).unwrap_or(0) as usize
    }

    fn page_of(&self, word: u64) -> u32 {
        self.pages[self.entry_of(word)]
    }

    /// A page was written.
    fn set(&mut self, page: u32, leaf: &Leaf) {
        let (value, bits) = leaf.prefix;
        while self.bits < u32::from(bits) {
            self.bits += 1;
            self.pages = self.pages.iter().flat_map(|&page| [page; 2]).collect();
        }
        let count = 1usize << (self.bits - u32::from(bits));
        self.pages[value as usize * count..][..count].fill(page);
        self.shapes[page as usize] = Shape { used: leaf.words.len() as u16, bits };
        self.edges += leaf.words.len();
    }
}

fn page_start(page: u32) -> u64 {
    u64::from(page) * PAGE_BYTES as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::corpus::Disk;
    use std::collections::HashMap;
    use std::sync::Arc;

    fn edges(disk: Disk) -> (tempfile::TempDir, EdgeFile) {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch { dir: dir.path().into(), disk: Arc::new(disk) };
        let edges = EdgeFile::new(scratch);
        assert!(edges.add(&mut [word(0, 1)]).is_empty());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "the file has a name");
        (dir, edges)
    }

    fn word(i: u64, mark: u64) -> u64 {
        pleach_hash::mix(i) & !15 | mark
    }

    #[test]
    fn every_edge_is_found_with_its_strongest_mark() {
        let (_dir, edges) = edges(Disk::default());
        let mut expected = HashMap::new();
        for i in 0..30_000 {
            let (edge, mark) = (i * 7 % 20_011, 1 + i % 8);
            assert!(edges.add(&mut [word(edge, mark)]).is_empty());
            let strongest = expected.entry(edge).or_insert(mark);
            *strongest = mark.max(*strongest);
        }
        assert_eq!(edges.count(), expected.len());
        for (edge, mark) in expected {
            assert_eq!(edges.find(word(edge, 0)), Some(word(edge, mark)), "edge {edge}");
        }
        assert_eq!(edges.find(word(20_011, 0)), None);
        let index = edges.index();
        assert!(index.shapes.len() > 40 && index.pages.len() >= index.shapes.len());
    }

    #[test]
    fn an_edge_that_cannot_be_written_is_refused_and_the_others_stay() {
        let (_dir, edges) = edges(Disk::failing_at(1500));
        let words = (0..3000).map(|i| word(i, 3));
        let added: Vec<u64> = words.filter(|&w| edges.add(&mut [w]).is_empty()).collect();
        assert!((1000..2000).contains(&added.len()), "{}", added.len());
        assert_eq!(edges.count(), added.len());
        assert!(added.iter().all(|&w| edges.find(w) == Some(w)));
        assert_eq!(edges.find(word(2999, 0)), None);
    }

    #[test]
    fn many_edges_at_once_take_one_write_for_each_page() {
        let (_dir, edges) = edges(Disk::default());
        let before = edges.scratch.disk.writes();
        for round in 0..2 {
            let mut words: Vec<u64> = (0..200_000).map(|i| word(round + i, 3)).collect();
            assert!(edges.add(&mut words).is_empty());
        }
        assert_eq!(edges.count(), 200_001);
        let (writes, pages) = (edges.scratch.disk.writes() - before, edges.index().shapes.len());
        assert!(writes <= 2 * pages as u64, "{writes} writes of {pages} pages");
        assert!((0..=200_000).all(|i| edges.find(word(i, 0)) == Some(word(i, 3))));
    }
}
