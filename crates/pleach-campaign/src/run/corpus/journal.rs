//! The journal: what a resumed campaign would otherwise have to find again.
//!
//! It is only appended to. Each record has its length and a checksum. After `kill -9` at any
//! moment the file is a sequence of whole records and perhaps a part of one, which is cut off
//! when the journal is opened again. An input is stored as its difference from its parent: a
//! flip changes a few bytes, and a campaign makes thousands of inputs in a second.
//!
//! The order of records makes a cut harmless. The seeds come first, before the directory
//! counts as a campaign. An input comes before the answer that it results from, both in one
//! write: without its input, an answer would be a path that is never run. Without its answer,
//! an input only means that one flip is solved again.
//!
//! The files of the queue do not depend on the journal. A campaign without a journal can be
//! resumed, and solves again what it had solved.

use super::disk::Disk;
use crate::run::account::Entry;
use crate::run::exchange::{FileMark, TakenFile};
use pleach_search::{BranchId, InputId, Mark};
use pleach_template::HoleRecord;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What the journal records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A flip was answered. It asked for the edge `node` of the tree, in the trace of the
    /// input `of`, which took the edge `taken` there.
    Flip { node: u64, mark: Mark, of: InputId, taken: u64 },
    /// An input was run, and waits to be traced or is in the queue.
    Input(InputRecord),
    /// An input was traced. It took this path, and this many of its flips are open.
    Traced { input: InputId, open: u32, path: u64 },
    /// A crash was kept. The hash tells crashes apart.
    Crash { hash: u64 },
    /// Something that keeps the search from being exhaustive occurred for the first time.
    Partial(String),
    /// An input that the campaign starts from.
    Seed(Vec<u8>),
    /// The next seed was run.
    SeedRun,
    /// A file of another fuzzer was run.
    Taken(TakenFile),
    /// The parts of an input that may change, if they are not those of its parent.
    Template { input: InputId, holes: Vec<HoleRecord> },
    /// Something was learned about branches.
    Branch(Entry),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRecord {
    pub id: InputId,
    /// Its number in the queue, if it is there.
    pub queue: Option<u32>,
    pub parent: Option<InputId>,
    /// How many bytes at its start and at its end are those of its parent.
    pub prefix: u32,
    pub suffix: u32,
    /// The bytes between them.
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

    /// The bytes of the input, given those of its parent; `None` if the parent is too short.
    pub fn bytes(&self, parent: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = parent.get(..self.prefix as usize)?.to_vec();
        bytes.extend(&self.middle);
        bytes.extend(parent.get(parent.len().checked_sub(self.suffix as usize)?..)?);
        Some(bytes)
    }
}

const MAGIC: &[u8] = b"pleach journal 1\n";
/// Length and checksum of a record.
const HEADER_LEN: usize = 8;
/// Stands for no number.
const NONE: u32 = u32::MAX;
/// A longer record is taken for damage.
const MAX_RECORD: usize = 64 << 20;

/// How many bytes are gathered for one write.
const WRITE_SIZE: usize = 4096;

/// An open journal.
pub struct Journal {
    file: File,
    disk: Arc<Disk>,
    /// Records that are not written yet.
    buffer: Vec<u8>,
    /// The length of the part of the file that is whole records.
    valid_len: u64,
}

impl Journal {
    /// Reads the records of a journal that another driver may be writing. It is not changed.
    /// The files of a fleet that were fetched have none.
    pub fn read(path: &Path) -> io::Result<Vec<Record>> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(parse(&bytes).0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Opens a journal, or creates it, and reads its records. A damaged end is cut off.
    pub fn open(path: &Path, disk: Arc<Disk>) -> io::Result<(Journal, Vec<Record>)> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(e),
        };
        let (records, valid_len) = parse(&bytes);
        let file = disk.open_append(path)?;
        if valid_len < bytes.len() {
            file.set_len(valid_len as u64)?;
        }
        if valid_len == 0 {
            disk.append(&file, MAGIC)?;
        }
        let valid_len = valid_len.max(MAGIC.len()) as u64;
        Ok((Journal { file, disk, buffer: Vec::new(), valid_len }, records))
    }

    /// Adds a record. It is written by the next `flush`.
    pub fn add(&mut self, record: &Record) {
        let start = self.buffer.len();
        self.buffer.extend([0; HEADER_LEN]);
        encode(record, &mut self.buffer);
        let payload = &self.buffer[start + HEADER_LEN..];
        let (len, sum) = (payload.len() as u32, checksum(payload));
        self.buffer[start..start + 4].copy_from_slice(&len.to_le_bytes());
        self.buffer[start + 4..start + HEADER_LEN].copy_from_slice(&sum.to_le_bytes());
    }

    /// Writes the records that were added.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.disk.append(&self.file, &self.buffer) {
            // Records after a damaged one would never be read.
            let _ = self.file.set_len(self.valid_len);
            return Err(error);
        }
        self.valid_len += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// True if enough records were added for a write.
    pub fn is_full(&self) -> bool {
        self.buffer.len() >= WRITE_SIZE
    }
}

/// What a journal says of branches.
pub struct BranchEntries;

impl BranchEntries {
    /// Reads the journal of a campaign, which a driver may be writing.
    pub fn read(path: &Path) -> io::Result<Vec<Entry>> {
        let of_branch =
            |record| if let Record::Branch(entry) = record { Some(entry) } else { None };
        Ok(Journal::read(path)?.into_iter().filter_map(of_branch).collect())
    }
}

/// Reads the whole records of a file. Also returns their length.
fn parse(bytes: &[u8]) -> (Vec<Record>, usize) {
    let mut records = Vec::new();
    if !bytes.starts_with(MAGIC) {
        return (records, 0);
    }
    let mut at = MAGIC.len();
    while let Some(head) = bytes.get(at..at + HEADER_LEN) {
        let number =
            |i: usize| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
        let len = number(0) as usize;
        let payload = bytes.get(at + HEADER_LEN..).and_then(|rest| rest.get(..len.min(MAX_RECORD)));
        let Some(payload) = payload.filter(|p| p.len() == len && checksum(p) == number(4)) else {
            break;
        };
        let Some(record) = decode(payload) else { break };
        records.push(record);
        at += HEADER_LEN + len;
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
            for number in [
                input.id,
                input.queue.unwrap_or(NONE),
                input.parent.unwrap_or(NONE),
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
        Record::SeedRun => out.push(7),
        Record::Template { input, holes } => {
            out.push(8);
            out.extend(input.to_le_bytes());
            out.extend(holes.iter().flatten().flat_map(|n| n.to_le_bytes()));
        }
        Record::Taken(TakenFile { place, mark }) => {
            out.push(9);
            out.extend(place.to_le_bytes());
            let (is_name, mark) = match mark {
                FileMark::Number(number) => (0, u64::from(*number)),
                FileMark::Name(hash) => (1, *hash),
            };
            out.push(is_name);
            out.extend(mark.to_le_bytes());
        }
        Record::Branch(entry) => encode_entry(entry, out),
    }
}

fn encode_entry(entry: &Entry, out: &mut Vec<u8>) {
    match entry {
        Entry::Answered { branch, mark, pin } => {
            out.push(20);
            out.extend(branch.to_le_bytes());
            out.push(*mark as u8);
            out.extend(pin.iter().flat_map(|site| site.to_le_bytes()));
        }
        Entry::Conditional(branches) => encode_branches(21, branches, out),
        Entry::Fixed(branches) => encode_branches(22, branches, out),
        Entry::Missed(branch) => encode_branches(23, &[*branch], out),
        Entry::Folded(branch) => encode_branches(24, &[*branch], out),
    }
}

fn encode_branches(tag: u8, branches: &[BranchId], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend(branches.iter().flat_map(|branch| branch.to_le_bytes()));
}

fn decode(payload: &[u8]) -> Option<Record> {
    let (&tag, body) = payload.split_first()?;
    let read_u32 = |at: usize| Some(u32::from_le_bytes(body.get(at..at + 4)?.try_into().ok()?));
    let read_u64 = |at: usize| Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?));
    let optional = |n: u32| (n != NONE).then_some(n);
    Some(match tag {
        1 => Record::Flip {
            node: read_u64(0)?,
            mark: Mark::from_u8(*body.get(8)?)?,
            of: read_u32(9)?,
            taken: read_u64(13)?,
        },
        2 => Record::Input(InputRecord {
            id: read_u32(0)?,
            queue: optional(read_u32(4)?),
            parent: optional(read_u32(8)?),
            prefix: read_u32(12)?,
            suffix: read_u32(16)?,
            middle: body.get(20..)?.to_vec(),
        }),
        3 => Record::Traced { input: read_u32(0)?, open: read_u32(4)?, path: read_u64(8)? },
        4 => Record::Crash { hash: read_u64(0)? },
        5 => Record::Partial(String::from_utf8_lossy(body).into_owned()),
        6 => Record::Seed(body.to_vec()),
        7 => Record::SeedRun,
        8 => {
            let hole = |bytes: &[u8]| -> HoleRecord {
                let number =
                    |i: usize| bytes[4 * i..4 * i + 4].try_into().map_or(0, u32::from_le_bytes);
                std::array::from_fn(number)
            };
            let holes = body.get(4..)?.chunks_exact(size_of::<HoleRecord>()).map(hole).collect();
            Record::Template { input: read_u32(0)?, holes }
        }
        9 => {
            let mark = match *body.get(8)? {
                0 => FileMark::Number(u32::try_from(read_u64(9)?).ok()?),
                _ => FileMark::Name(read_u64(9)?),
            };
            Record::Taken(TakenFile { place: read_u64(0)?, mark })
        }
        20 => Record::Branch(Entry::Answered {
            branch: read_u32(0)?,
            mark: Mark::from_u8(*body.get(4)?)?,
            pin: if body.len() > 5 { Some(read_u64(5)?) } else { None },
        }),
        21 => Record::Branch(Entry::Conditional(decode_branches(body))),
        22 => Record::Branch(Entry::Fixed(decode_branches(body))),
        23 => Record::Branch(Entry::Missed(read_u32(0)?)),
        24 => Record::Branch(Entry::Folded(read_u32(0)?)),
        _ => return None,
    })
}

fn decode_branches(body: &[u8]) -> Vec<BranchId> {
    let number = |bytes: &[u8]| bytes.try_into().map_or(NONE, u32::from_le_bytes);
    body.chunks_exact(size_of::<BranchId>()).map(number).collect()
}

/// FNV-1a, which is enough to recognise a torn write.
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
            Record::SeedRun,
            Record::Traced { input: 0, open: 7, path: 0xfedc_ba98_7654_3210 },
            Record::Partial("pinned".into()),
            Record::Flip { node: 0x1234_5678_9abc_def0, mark: Mark::Sat, of: 0, taken: 17 },
            Record::Input(InputRecord::new(1, None, b"hello, world", Some((0, b"hello world")))),
            Record::Template { input: 1, holes: vec![[1, 5, 5, 5, 0, 1], [7, 12, 8, 12, 2, 0]] },
            Record::Crash { hash: 99 },
            Record::Taken(TakenFile { place: 7, mark: FileMark::Number(41) }),
            Record::Taken(TakenFile { place: 7, mark: FileMark::Name(u64::MAX) }),
            Record::Branch(Entry::Answered { branch: 3, mark: Mark::Unsat, pin: None }),
            Record::Branch(Entry::Answered { branch: 3, mark: Mark::Unsat, pin: Some(1 << 60) }),
            Record::Branch(Entry::Conditional(vec![2, 3])),
            Record::Branch(Entry::Fixed(vec![4])),
            Record::Branch(Entry::Missed(5)),
            Record::Branch(Entry::Folded(6)),
        ]
    }

    #[test]
    fn a_journal_that_is_cut_anywhere_keeps_its_whole_records() {
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
            // Records that are added after a damaged end can be read.
            journal.add(&Record::Crash { hash: 5 });
            journal.flush().unwrap();
            let (_, found) = Journal::open(&path, Arc::default()).unwrap();
            assert_eq!(found.len(), expected + 1);
        }
    }

    #[test]
    fn inputs_are_stored_as_differences_from_their_parents() {
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
