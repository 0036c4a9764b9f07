//! What waits on disk, in order, while no server takes it: files of records in a directory.
//! A file is removed when all that it held is stored on the server.
//!
//! A record is its length, its hash, and its bytes. A process that is killed while it writes
//! leaves a cut record at the end of the last file; reading stops there.

use pleach_hash::Hash;
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file is closed beyond this size.
const SEGMENT: u64 = 4 << 20;
/// The number of the first file: there is room before it.
const FIRST: u64 = 1_000_000_000;

pub struct Spool {
    dir: PathBuf,
    /// The numbers of the files that are not taken yet, in order; the last is being written.
    waiting: VecDeque<u64>,
    /// The file whose records were taken and not yet removed.
    taken: Option<u64>,
    next: u64,
    writing: Option<(File, u64)>,
    /// Bytes on disk, and the most there may be.
    bytes: u64,
    limit: u64,
}

impl Spool {
    /// Opens the spool, with what a former process left in it.
    pub fn open(dir: &Path, limit: u64) -> io::Result<Spool> {
        fs::create_dir_all(dir)?;
        let mut numbers: Vec<u64> = Vec::new();
        let mut bytes = 0;
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
                numbers.push(number);
                bytes += entry.metadata()?.len();
            }
        }
        numbers.sort_unstable();
        let next = numbers.last().map_or(FIRST, |last| last + 1);
        let (dir, waiting) = (dir.to_path_buf(), numbers.into());
        Ok(Spool { dir, waiting, taken: None, next, writing: None, bytes, limit })
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.taken.is_none()
    }

    /// Appends a record. False if there is no room for it.
    pub fn push(&mut self, record: &[u8]) -> io::Result<bool> {
        let size = record.len() as u64 + 12;
        if self.bytes + size > self.limit {
            return Ok(false);
        }
        let (file, written) = match &mut self.writing {
            Some(writing) => writing,
            None => {
                let number = self.next;
                let path = self.path(number);
                let file = OpenOptions::new().create_new(true).append(true).open(path)?;
                self.next += 1;
                self.waiting.push_back(number);
                self.writing.insert((file, 0))
            }
        };
        let mut out = Vec::with_capacity(record.len() + 12);
        frame(record, &mut out);
        let result = file.write_all(&out);
        *written += size;
        self.bytes += size;
        // After a failure nothing may follow a record that is cut.
        if result.is_err() || *written > SEGMENT {
            self.writing = None;
        }
        result.map(|()| true)
    }

    /// Puts records before all others, in a file of their own. There may be more than the
    /// limit allows: they were in memory until now.
    pub fn push_front(&mut self, records: &[Vec<u8>]) -> io::Result<()> {
        let mut out = Vec::new();
        records.iter().for_each(|record| frame(record, &mut out));
        let number = self.waiting.front().map_or(self.next, |first| first - 1);
        fs::write(self.path(number), &out)?;
        self.next = self.next.max(number + 1);
        self.bytes += out.len() as u64;
        self.waiting.push_front(number);
        Ok(())
    }

    /// True if records are in memory that are also here.
    pub fn has_taken(&self) -> bool {
        self.taken.is_some()
    }

    /// The records of the next file, `None` if there is none. Those of the file before are
    /// stored, and it is removed.
    pub fn take(&mut self) -> io::Result<Option<Vec<Vec<u8>>>> {
        self.remove_taken()?;
        let Some(number) = self.waiting.pop_front() else { return Ok(None) };
        if self.waiting.is_empty() {
            self.writing = None;
        }
        self.taken = Some(number);
        fs::read(self.path(number)).map(|bytes| Some(records(&bytes)))
    }

    /// The records that were taken last are not stored after all: they come again first.
    pub fn put_back(&mut self) {
        if let Some(number) = self.taken.take() {
            self.waiting.push_front(number);
        }
    }

    /// What was taken last is stored.
    pub fn remove_taken(&mut self) -> io::Result<()> {
        if let Some(number) = self.taken.take() {
            let path = self.path(number);
            self.bytes = self.bytes.saturating_sub(fs::metadata(&path).map_or(0, |m| m.len()));
            fs::remove_file(path)?;
        }
        Ok(())
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:012}"))
    }
}

fn frame(record: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(record.len() as u32).to_le_bytes());
    out.extend_from_slice(&Hash::new().add_bytes(record).finish().to_le_bytes());
    out.extend_from_slice(record);
}

fn records(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    while let Some((len, rest)) = bytes.split_first_chunk::<4>() {
        let Some((hash, rest)) = rest.split_first_chunk::<8>() else { break };
        let len = u32::from_le_bytes(*len) as usize;
        let Some((record, rest)) = rest.split_at_checked(len) else { break };
        if Hash::new().add_bytes(record).finish() != u64::from_le_bytes(*hash) {
            break;
        }
        out.push(record.to_vec());
        bytes = rest;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(spool: &mut Spool) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        while let Some(mut records) = spool.take().unwrap() {
            all.append(&mut records);
        }
        all
    }

    #[test]
    fn records_come_back_in_order_also_to_another_process() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(dir.path(), u64::MAX).unwrap();
        let record = |n: u32| vec![n as u8; 1_000_000 + n as usize];
        (0..10).for_each(|n| assert!(spool.push(&record(n)).unwrap()));
        let first = spool.take().unwrap().unwrap();
        assert_eq!(first, (0..first.len() as u32).map(record).collect::<Vec<_>>());
        spool.put_back();
        assert!(spool.push(&record(10)).unwrap());
        drop(spool);
        let mut spool = Spool::open(dir.path(), u64::MAX).unwrap();
        assert!(!spool.is_empty());
        assert!(spool.push(&record(11)).unwrap());
        assert_eq!(drain(&mut spool), (0..12).map(record).collect::<Vec<_>>());
        assert!(spool.is_empty() && spool.bytes == 0);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_cut_record_ends_its_file_only() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(dir.path(), u64::MAX).unwrap();
        spool.push(b"one").unwrap();
        spool.push(b"two").unwrap();
        let path = dir.path().join("001000000000");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let mut spool = Spool::open(dir.path(), u64::MAX).unwrap();
        spool.push(b"three").unwrap();
        assert_eq!(drain(&mut spool), [b"one".to_vec(), b"three".to_vec()]);
    }

    #[test]
    fn a_full_spool_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(dir.path(), 40).unwrap();
        assert!(spool.push(&[1; 20]).unwrap());
        assert!(!spool.push(&[1; 20]).unwrap());
        assert_eq!(drain(&mut spool), [vec![1; 20]]);
        assert!(spool.push(&[2; 20]).unwrap());
    }
}
