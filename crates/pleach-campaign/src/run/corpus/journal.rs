//! The journal: what a campaign would have to find out again.
//!
//! It is only appended to, a record at a time, each with its length and a
//! checksum. After `kill -9` at any moment the file is a sequence of whole
//! records and perhaps a part of one, which is cut off when it is opened again.
//! Inputs are stored as what they do not share with their parent: a flip
//! changes a few bytes, and a campaign makes thousands of them a second.
//!
//! The order of records is what makes a cut harmless. The seeds come first, before
//! the directory counts as a campaign. An input comes before the answer that it
//! is the result of, in one write: an answer without its input would be a path
//! that nobody runs, an input without its answer is one flip asked again.
//!
//! The files of the queue do not depend on it: a queue without a journal can be resumed,
//! and then solves again what it had solved.

use super::disk::Disk;
use pleach_search::{InputId, Mark};
use pleach_template::HoleRecord;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What can be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An edge of the tree was asked for, from the trace of an input, which took
    /// another edge there: `taken`.
    Flip { node: u64, mark: Mark, of: InputId, taken: u64 },
    /// An input was executed, and waits to be traced or is in the queue.
    Input(InputRecord),
    /// An input was traced, took this path and left so many flips open.
    Traced { input: InputId, open: u32, path: u64 },
    /// A crash with this identity was kept.
    Crash { hash: u64 },
    /// Something was met for the first time that keeps the search from being
    /// exhaustive.
    Partial(String),
    /// An input that the campaign starts from.
    Seed(Vec<u8>),
    /// One more seed was executed.
    Planted,
    /// What of an input may change, if that is not what may of its parent.
    Template { input: InputId, holes: Vec<HoleRecord> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRecord {
    pub id: InputId,
    /// Its number in the queue.
    pub queue: Option<u32>,
    /// The input that `bytes` is a change of.
    pub parent: Option<InputId>,
    /// Bytes that are the parent's, at the start and at the end.
    pub prefix: u32,
    pub suffix: u32,
    /// What is between them.
    pub middle: Vec<u8>,
}

impl InputRecord {
    pub fn new(
        id: InputId,
        queue: Option<u32>,
        bytes: &[u8],
        parent: Option<(InputId, &[u8])>,
    ) -> Self {
        let base = parent.map_or(&[][..], |p| p.1);
        let same = |(a, b): &(&u8, &u8)| a == b;
        let prefix = bytes.iter().zip(base).take_while(same).count();
        let (rest, base_rest) = (&bytes[prefix..], &base[prefix..]);
        let suffix = rest.iter().rev().zip(base_rest.iter().rev()).take_while(same).count();
        InputRecord {
            id,
            queue,
            parent: parent.map(|p| p.0),
            prefix: prefix as u32,
            suffix: suffix as u32,
            middle: rest[..rest.len() - suffix].to_vec(),
        }
    }

    /// The input, given its parent's bytes; `None` if they do not fit.
    pub fn bytes(&self, parent: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = parent.get(..self.prefix as usize)?.to_vec();
        bytes.extend(&self.middle);
        bytes.extend(parent.get(parent.len().checked_sub(self.suffix as usize)?..)?);
        Some(bytes)
    }
}

const MAGIC: &[u8] = b"pleach journal 1\n";
const HEAD: usize = 8;
/// A record longer than this is damage.
const LONGEST: usize = 64 << 20;

/// An open journal.
pub struct Journal {
    file: File,
    disk: Arc<Disk>,
    /// Records that are not written yet.
    buffer: Vec<u8>,
    /// Bytes of the file that are whole records.
    good: u64,
}

impl Journal {
    /// Opens a journal, or begins one, and gives what is in it. A damaged end
    /// is cut off.
    pub fn open(path: &Path, disk: Arc<Disk>) -> io::Result<(Journal, Vec<Record>)> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(e),
        };
        let (records, good) = parse(&bytes);
        let file = disk.open_append(path)?;
        if good < bytes.len() {
            file.set_len(good as u64)?;
        }
        if good == 0 {
            disk.append(&file, MAGIC)?;
        }
        let good = good.max(MAGIC.len()) as u64;
        Ok((Journal { file, disk, buffer: Vec::new(), good }, records))
    }

    pub fn add(&mut self, record: &Record) {
        let start = self.buffer.len();
        self.buffer.extend([0; HEAD]);
        encode(record, &mut self.buffer);
        let payload = &self.buffer[start + HEAD..];
        let (len, sum) = (payload.len() as u32, checksum(payload));
        self.buffer[start..start + 4].copy_from_slice(&len.to_le_bytes());
        self.buffer[start + 4..start + HEAD].copy_from_slice(&sum.to_le_bytes());
    }

    /// Writes what was added.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.disk.append(&self.file, &self.buffer) {
            // What came after half a record would never be read.
            let _ = self.file.set_len(self.good);
            return Err(error);
        }
        self.good += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Whether enough has gathered for a write.
    pub fn is_full(&self) -> bool {
        self.buffer.len() >= 4096
    }
}

/// Whole records, and how many bytes they are.
fn parse(bytes: &[u8]) -> (Vec<Record>, usize) {
    let mut records = Vec::new();
    if !bytes.starts_with(MAGIC) {
        return (records, 0);
    }
    let mut at = MAGIC.len();
    while let Some(head) = bytes.get(at..at + HEAD) {
        let number =
            |i: usize| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
        let len = number(0) as usize;
        let payload = bytes.get(at + HEAD..).and_then(|rest| rest.get(..len.min(LONGEST)));
        let Some(payload) = payload.filter(|p| p.len() == len && checksum(p) == number(4)) else {
            break;
        };
        let Some(record) = decode(payload) else { break };
        records.push(record);
        at += HEAD + len;
    }
    (records, at)
}

fn encode(record: &Record, out: &mut Vec<u8>) {
    match record {
        Record::Flip { node, mark, of, taken } => {
            out.push(1);
            out.extend(node.to_le_bytes());
            out.push(*mark as u8);
            out.extend(of.to_le_bytes());
            out.extend(taken.to_le_bytes());
        }
        Record::Input(input) => {
            out.push(2);
            let none = u32::MAX;
            for number in [
                input.id,
                input.queue.unwrap_or(none),
                input.parent.unwrap_or(none),
                input.prefix,
                input.suffix,
            ] {
                out.extend(number.to_le_bytes());
            }
            out.extend(&input.middle);
        }
        Record::Traced { input, open, path } => {
            out.push(3);
            out.extend(input.to_le_bytes());
            out.extend(open.to_le_bytes());
            out.extend(path.to_le_bytes());
        }
        Record::Crash { hash } => {
            out.push(4);
            out.extend(hash.to_le_bytes());
        }
        Record::Partial(what) => {
            out.push(5);
            out.extend(what.as_bytes());
        }
        Record::Seed(bytes) => {
            out.push(6);
            out.extend(bytes);
        }
        Record::Planted => out.push(7),
        Record::Template { input, holes } => {
            out.push(8);
            out.extend(input.to_le_bytes());
            out.extend(holes.iter().flatten().flat_map(|n| n.to_le_bytes()));
        }
    }
}

fn decode(payload: &[u8]) -> Option<Record> {
    let (&tag, body) = payload.split_first()?;
    let small = |at: usize| Some(u32::from_le_bytes(body.get(at..at + 4)?.try_into().ok()?));
    let large = |at: usize| Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?));
    let maybe = |n: u32| (n != u32::MAX).then_some(n);
    Some(match tag {
        1 => Record::Flip {
            node: large(0)?,
            mark: Mark::from_u8(*body.get(8)?)?,
            of: small(9)?,
            taken: large(13)?,
        },
        2 => Record::Input(InputRecord {
            id: small(0)?,
            queue: maybe(small(4)?),
            parent: maybe(small(8)?),
            prefix: small(12)?,
            suffix: small(16)?,
            middle: body.get(20..)?.to_vec(),
        }),
        3 => Record::Traced { input: small(0)?, open: small(4)?, path: large(8)? },
        4 => Record::Crash { hash: large(0)? },
        5 => Record::Partial(String::from_utf8_lossy(body).into_owned()),
        6 => Record::Seed(body.to_vec()),
        7 => Record::Planted,
        8 => {
            let hole = |bytes: &[u8]| -> HoleRecord {
                let number =
                    |i: usize| bytes[4 * i..4 * i + 4].try_into().map_or(0, u32::from_le_bytes);
                std::array::from_fn(number)
            };
            let holes = body.get(4..)?.chunks_exact(size_of::<HoleRecord>()).map(hole).collect();
            Record::Template { input: small(0)?, holes }
        }
        _ => return None,
    })
}

/// FNV-1a: enough to tell a torn write from a whole one.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &b| (sum ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        vec![
            Record::Seed(b"hello world".to_vec()),
            Record::Input(InputRecord::new(0, Some(0), b"hello world", None)),
            Record::Planted,
            Record::Traced { input: 0, open: 7, path: 0xfedc_ba98_7654_3210 },
            Record::Partial("pinned".into()),
            Record::Flip { node: 0x1234_5678_9abc_def0, mark: Mark::Sat, of: 0, taken: 17 },
            Record::Input(InputRecord::new(1, None, b"hello, world", Some((0, b"hello world")))),
            Record::Template { input: 1, holes: vec![[1, 5, 5, 5, 0, 1], [7, 12, 8, 12, 2, 0]] },
            Record::Crash { hash: 99 },
        ]
    }

    #[test]
    fn a_journal_cut_anywhere_gives_its_whole_records() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let (mut journal, none) = Journal::open(&path, Arc::default()).unwrap();
        assert!(none.is_empty());
        let mut ends = vec![MAGIC.len()];
        for record in records() {
            journal.add(&record);
            ends.push(MAGIC.len() + journal.buffer.len());
        }
        journal.flush().unwrap();
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole.len(), *ends.last().unwrap());
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut journal, found) = Journal::open(&path, Arc::default()).unwrap();
            let expected = ends.iter().filter(|&&e| e <= cut).count().saturating_sub(1);
            assert_eq!(found, records()[..expected], "cut at {cut}");
            // What comes after a damaged end is found again.
            journal.add(&Record::Crash { hash: 5 });
            journal.flush().unwrap();
            let (_, found) = Journal::open(&path, Arc::default()).unwrap();
            assert_eq!(found.len(), expected + 1);
        }
    }

    #[test]
    fn inputs_are_changes_of_their_parents() {
        let pairs: [(&[u8], &[u8]); 6] = [
            (b"aaaa", b"aaa"),
            (b"aaa", b"aaaa"),
            (b"", b"abc"),
            (b"abc", b""),
            (b"abXcd", b"abYcd"),
            (b"same", b"same"),
        ];
        for (bytes, parent) in pairs {
            let record = InputRecord::new(1, None, bytes, Some((0, parent)));
            assert_eq!(record.bytes(parent).as_deref(), Some(bytes));
            assert!(record.middle.len() <= bytes.len());
        }
        assert_eq!(InputRecord::new(1, None, b"abXcd", Some((0, b"abYcd"))).middle, b"X");
        assert_eq!(InputRecord::new(1, None, b"abXcd", Some((0, b"abYcd"))).bytes(b"a"), None);
    }
}
