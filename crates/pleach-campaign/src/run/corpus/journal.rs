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
//! When the journal has grown to twice its size, it is compacted (`compact.rs`): it then has
//! what is still needed. Most answers fit in 16 bytes, and inputs whose flips were all
//! answered are left out.
//!
//! The files of the queue do not depend on the journal. A campaign without a journal can be
//! resumed, and solves again what it had solved.

use super::dir::Kept;
use super::disk::Disk;
use crate::run::account::{Entry, Ledger, Tally};
use crate::run::exchange::{FileMark, TakenFile};
use pleach_search::{BranchId, InputId, Mark};
use pleach_template::HoleRecord;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
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
    /// A kept input took these branches, and none before it.
    Covered { kept: Kept, number: u32, branches: Vec<BranchId> },
    /// Of a compacted journal: flips that were answered. Each has the edge that it asked for,
    /// with its mark in the last four bits, and the edge that its run took.
    Answers(Vec<[u64; 2]>),
    /// The same: ends of paths.
    Paths(Vec<u64>),
    /// The same: an input that was traced has this many open flips.
    Open { input: InputId, flips: u32 },
    /// The same: all that was learned about a branch.
    Tally(BranchId, Tally),
    /// The same: the last record of what was compacted.
    Compacted(Totals),
}

/// What a compacted journal counts without its records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The records that it once had.
    pub records: u64,
    /// The number of the next input.
    pub next_input: InputId,
    /// Answers of the solver, by mark.
    pub answers: [u64; Mark::Shared as usize + 1],
    /// Paths whose ends were forgotten.
    pub paths: u64,
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
    path: PathBuf,
    file: File,
    disk: Arc<Disk>,
    /// Records that are not written yet.
    buffer: Vec<u8>,
    /// The length of the part of the file that is whole records.
    valid_len: u64,
    /// How much of it was compacted.
    compacted_len: u64,
}

impl Journal {
    /// Reads the records of a journal that another driver may be writing. It is not changed.
    /// The files of a fleet that were fetched have none.
    pub fn read(path: &Path, mut each: impl FnMut(Record)) -> io::Result<()> {
        let mut records = match Records::open(path) {
            Ok(records) => records,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        while let Some(record) = records.next()? {
            each(record);
        }
        Ok(())
    }

    /// Opens a journal, or creates it, and reads its records. A damaged end is cut off.
    pub fn open(path: &Path, disk: Arc<Disk>, mut each: impl FnMut(Record)) -> io::Result<Journal> {
        let (mut valid_len, mut compacted_len, mut len) = (0, 0, 0);
        match Records::open(path) {
            Ok(mut records) => {
                len = records.len()?;
                while let Some(record) = records.next()? {
                    if matches!(record, Record::Compacted(_)) {
                        compacted_len = records.at;
                    }
                    each(record);
                }
                valid_len = records.at;
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        // A driver may have died while it compacted.
        let _ = std::fs::remove_file(path.with_extension("tmp"));
        let file = disk.open_append(path)?;
        if valid_len < len {
            file.set_len(valid_len)?;
        }
        if valid_len == 0 {
            disk.append(&file, MAGIC)?;
        }
        let valid_len = valid_len.max(MAGIC.len() as u64);
        let path = path.to_path_buf();
        Ok(Journal { path, file, disk, buffer: Vec::new(), valid_len, compacted_len })
    }

    /// Begins a new journal, which is to take the place of another.
    pub fn create(path: &Path, disk: Arc<Disk>) -> io::Result<Journal> {
        let file = disk.create(path)?;
        disk.append(&file, MAGIC)?;
        let (path, valid_len) = (path.to_path_buf(), MAGIC.len() as u64);
        Ok(Journal { path, file, disk, buffer: Vec::new(), valid_len, compacted_len: 0 })
    }

    /// The length of the file.
    pub fn len(&self) -> u64 {
        self.valid_len
    }

    /// How much of it was compacted.
    pub fn compacted_len(&self) -> u64 {
        self.compacted_len
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn disk(&self) -> &Arc<Disk> {
        &self.disk
    }

    /// Puts a compacted journal in the place of this one: it has the records of the first
    /// `from` bytes of this one, and gets those that came later.
    pub fn replace_by(&mut self, mut compacted: Journal, from: u64) -> io::Result<()> {
        self.flush()?;
        compacted.flush()?;
        let compacted_len = compacted.valid_len;
        let mut records = Records::open(&self.path)?;
        records.skip_to(from)?;
        let mut rest = Vec::new();
        records.file.take(self.valid_len - from).read_to_end(&mut rest)?;
        self.disk.append(&compacted.file, &rest)?;
        self.disk.replace(&compacted.file, &compacted.path, &self.path)?;
        // From here on, records must go to the new file.
        self.valid_len = compacted_len + rest.len() as u64;
        self.compacted_len = compacted_len;
        self.file = compacted.file;
        Ok(())
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

    /// Waits until what was written is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
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
    pub fn read(path: &Path, ledger: &mut Ledger) -> io::Result<()> {
        Journal::read(path, |record| match record {
            Record::Branch(entry) => _ = ledger.add(&entry),
            Record::Tally(branch, tally) => ledger.set(branch, tally),
            _ => {}
        })
    }
}

/// The whole records of a file, one after the other.
pub struct Records {
    file: BufReader<File>,
    /// Where the next record begins.
    at: u64,
    payload: Vec<u8>,
}

impl Records {
    /// Without the first bytes of a journal, there are no records.
    pub fn open(path: &Path) -> io::Result<Records> {
        let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
        let mut magic = [0; MAGIC.len()];
        let at = match read_whole(&mut file, &mut magic)? && magic == MAGIC {
            true => MAGIC.len() as u64,
            false => 0,
        };
        Ok(Records { file, at, payload: Vec::new() })
    }

    /// Where the next record begins.
    pub fn at(&self) -> u64 {
        self.at
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.get_ref().metadata()?.len())
    }

    fn skip_to(&mut self, at: u64) -> io::Result<()> {
        self.at = at;
        io::Seek::seek(&mut self.file, io::SeekFrom::Start(at)).map(drop)
    }

    /// The next record. `None` at the end, or where the file is damaged.
    pub fn next(&mut self) -> io::Result<Option<Record>> {
        let mut head = [0; HEADER_LEN];
        if self.at == 0 || !read_whole(&mut self.file, &mut head)? {
            return Ok(None);
        }
        let number =
            |i: usize| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
        let len = number(0) as usize;
        if len > MAX_RECORD {
            return Ok(None);
        }
        self.payload.resize(len, 0);
        if !read_whole(&mut self.file, &mut self.payload)? || checksum(&self.payload) != number(4) {
            return Ok(None);
        }
        let record = decode(&self.payload);
        self.at += if record.is_some() { (HEADER_LEN + len) as u64 } else { 0 };
        Ok(record)
    }
}

/// Fills the bytes. False if the file ends before.
fn read_whole(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
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
        Record::Answers(answers) => {
            out.push(10);
            out.extend(answers.iter().flatten().flat_map(|n| n.to_le_bytes()));
        }
        Record::Paths(paths) => {
            out.push(11);
            out.extend(paths.iter().flat_map(|n| n.to_le_bytes()));
        }
        Record::Open { input, flips } => {
            out.push(12);
            out.extend(input.to_le_bytes());
            out.extend(flips.to_le_bytes());
        }
        Record::Compacted(Totals { records, next_input, answers, paths }) => {
            out.push(13);
            out.extend(next_input.to_le_bytes());
            let numbers = [records, paths].into_iter().chain(answers);
            out.extend(numbers.flat_map(|n| n.to_le_bytes()));
        }
        Record::Covered { kept, number, branches } => {
            out.push(14);
            out.push(*kept as u8);
            out.extend(number.to_le_bytes());
            out.extend(branches.iter().flat_map(|branch| branch.to_le_bytes()));
        }
        Record::Tally(branch, tally) => {
            out.push(25);
            out.extend(branch.to_le_bytes());
            let Tally { asked, solved, relaxed, refuted, pinned, unknown, missed, .. } = *tally;
            let counts = [asked, solved, relaxed, refuted, pinned, unknown, missed];
            out.extend(counts.into_iter().flat_map(|n| n.to_le_bytes()));
            out.extend(tally.pin.to_le_bytes());
            out.extend([tally.conditional, tally.fixed, tally.folded].map(u8::from));
        }
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
        10 => {
            let words: Vec<u64> = decode_words(body);
            Record::Answers(words.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
        }
        11 => Record::Paths(decode_words(body)),
        12 => Record::Open { input: read_u32(0)?, flips: read_u32(4)? },
        13 => {
            let words = decode_words(body.get(4..)?);
            let (&[records, paths], rest) = words.split_first_chunk()?;
            let mut answers = Totals::default().answers;
            answers.iter_mut().zip(rest).for_each(|(count, &n)| *count = n);
            Record::Compacted(Totals { records, next_input: read_u32(0)?, answers, paths })
        }
        14 => Record::Covered {
            kept: *Kept::ALL.get(usize::from(*body.first()?))?,
            number: read_u32(1)?,
            branches: decode_branches(body.get(5..)?),
        },
        25 => {
            let flag = |at: usize| Some(*body.get(at)? != 0);
            let tally = Tally {
                asked: read_u32(4)?,
                solved: read_u32(8)?,
                relaxed: read_u32(12)?,
                refuted: read_u32(16)?,
                pinned: read_u32(20)?,
                unknown: read_u32(24)?,
                missed: read_u32(28)?,
                pin: read_u64(32)?,
                conditional: flag(40)?,
                fixed: flag(41)?,
                folded: flag(42)?,
            };
            Record::Tally(read_u32(0)?, tally)
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

fn decode_words(body: &[u8]) -> Vec<u64> {
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    body.chunks_exact(8).map(number).collect()
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

    fn open(path: &Path) -> (Journal, Vec<Record>) {
        let mut found = Vec::new();
        let journal = Journal::open(path, Arc::default(), |record| found.push(record)).unwrap();
        (journal, found)
    }

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
            Record::Covered { kept: Kept::Crash, number: 3, branches: vec![1, 2] },
            Record::Answers(vec![[1 << 40 | 3, 2], [u64::MAX, 0]]),
            Record::Paths(vec![7, 8, 9]),
            Record::Open { input: 4, flips: 70_000 },
            Record::Tally(
                9,
                Tally { asked: 5, missed: 2, pin: 1 << 50, fixed: true, ..Tally::default() },
            ),
            Record::Compacted(Totals {
                records: 1 << 33,
                next_input: 6,
                answers: [3; 9],
                paths: 2,
            }),
        ]
    }

    #[test]
    fn a_journal_that_is_cut_anywhere_keeps_its_whole_records() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let (mut journal, none) = open(&path);
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
            let (mut journal, found) = open(&path);
            let expected = ends.iter().filter(|&&e| e <= cut).count().saturating_sub(1);
            assert_eq!(found, records()[..expected], "cut at {cut}");
            // Records that are added after a damaged end can be read.
            journal.add(&Record::Crash { hash: 5 });
            journal.flush().unwrap();
            let (_, found) = open(&path);
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
