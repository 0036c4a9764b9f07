//! Edges of the execution tree on disk.
//!
//! A search that should be exhaustive must not forget what it asked. So the edges that do not
//! fit in memory are in a file, in pages of 512 words each. The first bits of an edge's hash
//! say in which page it is. A full page is split in two by one more bit, so no piece of work
//! is larger than two pages, however many edges there are (extendible hashing: Fagin and
//! others, 1979). In memory is only the index, a few bytes for each page.

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

    fn write(&self, page: u32, from: usize, words: &[u64]) -> io::Result<()> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.file()?.write_at(&bytes, page_start(page) + 8 * from as u64)
    }

    fn try_add(&self, index: &mut Index, word: u64) -> io::Result<bool> {
        loop {
            let page = index.page_of(word);
            let shape = index.shapes[page as usize];
            let words = self.read(page, shape)?;
            match words.iter().position(|&other| other >> 4 == word >> 4) {
                Some(at) if words[at] & 15 >= word & 15 => return Ok(true),
                Some(at) => return self.write(page, at, &[word]).map(|()| true),
                None if words.len() < PAGE_WORDS => {
                    self.write(page, words.len(), &[word])?;
                    index.shapes[page as usize].used += 1;
                    index.edges += 1;
                    return Ok(true);
                }
                None if u32::from(shape.bits) == MAX_BITS => return Ok(false),
                None => self.split(index, page, shape, &words)?,
            }
        }
    }

    /// Moves the words of a full page that have the next bit to a new page.
    fn split(&self, index: &mut Index, page: u32, shape: Shape, words: &[u64]) -> io::Result<()> {
        let has_bit = |word: &&u64| **word >> (63 - shape.bits) & 1 == 1;
        let (moved, left): (Vec<u64>, Vec<u64>) = words.iter().partition(has_bit);
        let new = index.shapes.len() as u32;
        self.write(new, 0, &moved)?;
        self.write(page, 0, &left)?;
        let bits = shape.bits + 1;
        index.shapes[page as usize] = Shape { used: left.len() as u16, bits };
        index.shapes.push(Shape { used: moved.len() as u16, bits });
        if u32::from(bits) > index.bits {
            index.bits += 1;
            index.pages = index.pages.iter().flat_map(|&page| [page; 2]).collect();
        }
        // The entries of one page are next to each other; the second half has the bit.
        let count = 1usize << (index.bits - u32::from(bits));
        let first = index.entry_of(words[0]) / (2 * count) * (2 * count);
        index.pages[first + count..first + 2 * count].fill(new);
        Ok(())
    }
}

impl Archive for EdgeFile {
    fn add(&self, word: u64) -> bool {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        self.try_add(&mut index, word).unwrap_or(false)
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
        assert!(edges.add(word(0, 1)));
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
            assert!(edges.add(word(edge, mark)));
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
        let added: Vec<u64> = (0..3000).map(|i| word(i, 3)).filter(|&w| edges.add(w)).collect();
        assert!((1000..2000).contains(&added.len()), "{}", added.len());
        assert_eq!(edges.count(), added.len());
        assert!(added.iter().all(|&w| edges.find(w) == Some(w)));
        assert_eq!(edges.find(word(2999, 0)), None);
    }
}
