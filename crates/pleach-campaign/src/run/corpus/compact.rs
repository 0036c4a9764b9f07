//! Compacts the journal: writes a shorter one that says the same.
//!
//! A journal grows with every flip, and a campaign of a week has millions. What is still
//! needed of them is what the driver has in memory. So a compacted journal has
//!
//! - the answers and the ends of paths that the tree has not forgotten, in 16 and 8 bytes,
//! - the inputs that resuming needs: those of the queue, and those in memory that were not
//!   traced or have open flips,
//! - sums of everything else.
//!
//! A thread of its own reads the journal as it was at one moment, while the campaign goes on
//! and appends to it. What was appended meanwhile is copied at the end. Then the new file
//! takes the place of the old one, by a rename.

use super::disk::Disk;
use super::journal::{InputRecord, Journal, Record, Records, Totals};
use super::store::Inputs;
use crate::run::account::Ledger;
use crate::run::exchange::{AllTaken, FileMark, TakenFile};
use pleach_search::{InputId, Table, Tree};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A shorter journal is not compacted.
pub const MIN_COMPACTED: u64 = 16 << 20;
/// How many answers or paths are in one record.
const BLOCK: usize = 4096;

/// What is needed of a campaign at one moment to compact its journal.
pub struct Moment {
    /// The journal, and how much of it there was.
    pub journal: PathBuf,
    pub len: u64,
    /// The tree: what it has forgotten is left out.
    pub table: Arc<Table>,
    pub branches: usize,
    pub inputs: Inputs,
    pub next_input: InputId,
}

/// A thread that compacts.
pub struct Compaction {
    thread: Option<JoinHandle<io::Result<Journal>>>,
    stop: Arc<AtomicBool>,
    /// How much of the old journal it reads.
    pub from: u64,
}

impl Compaction {
    pub fn begin(moment: Moment, disk: Arc<Disk>) -> Compaction {
        let (stop, from) = (Arc::new(AtomicBool::new(false)), moment.len);
        let flag = stop.clone();
        let start = std::thread::Builder::new();
        let thread = start.spawn(move || {
            let path = moment.journal.with_extension("tmp");
            let result = Journal::create(&path, disk).and_then(|new| compact(&moment, new, &flag));
            if result.is_err() {
                let _ = std::fs::remove_file(&path);
            }
            result
        });
        Compaction { thread: thread.ok(), stop, from }
    }

    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the compacted journal.
    pub fn finish(mut self) -> io::Result<Journal> {
        let failed = || io::Error::other("the journal was not compacted");
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_else(|| Err(failed()))
    }
}

impl Drop for Compaction {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Ok(Ok(unused))) = self.thread.take().map(JoinHandle::join) {
            let _ = std::fs::remove_file(unused.path());
        }
    }
}

/// Reads the journal, and writes what is still needed.
fn compact(moment: &Moment, new: Journal, stop: &AtomicBool) -> io::Result<Journal> {
    let mut old = Records::open(&moment.journal)?;
    let mut sum = Sum::new(moment, new);
    while old.at() < moment.len {
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match old.next()? {
            Some(record) => sum.add(record)?,
            None => break,
        }
    }
    sum.finish()
}

/// The sum of the records so far.
struct Sum<'a> {
    moment: &'a Moment,
    new: Journal,
    totals: Totals,
    answers: Vec<[u64; 2]>,
    paths: Vec<u64>,
    /// How many flips of an input are open, unless there are none; `None` if it was not
    /// traced.
    open: HashMap<InputId, Option<i64>>,
    seeds: Vec<Vec<u8>>,
    seeds_run: usize,
    crashes: BTreeSet<u64>,
    gaps: BTreeSet<String>,
    taken: AllTaken,
    ledger: Ledger,
}

impl Sum<'_> {
    fn new(moment: &Moment, new: Journal) -> Sum<'_> {
        Sum {
            moment,
            new,
            totals: Totals::default(),
            answers: Vec::new(),
            paths: Vec::new(),
            open: HashMap::new(),
            seeds: Vec::new(),
            seeds_run: 0,
            crashes: BTreeSet::new(),
            gaps: BTreeSet::new(),
            taken: AllTaken::new(),
            ledger: Ledger::new(moment.branches),
        }
    }

    fn add(&mut self, record: Record) -> io::Result<()> {
        self.totals.records += 1;
        match record {
            Record::Flip { node, mark, of, taken } => {
                self.totals.answers[mark as usize] += 1;
                self.add_answer([node & !15 | mark as u64, taken])?;
                if let Some(Some(flips)) = self.open.get_mut(&of) {
                    *flips -= 1;
                    if *flips <= 0 {
                        self.open.remove(&of);
                    }
                }
            }
            Record::Answers(answers) => {
                answers.into_iter().try_for_each(|answer| self.add_answer(answer))?;
            }
            Record::Input(InputRecord { id, .. }) => {
                if self.moment.inputs.may_have(id) {
                    self.open.insert(id, None);
                }
            }
            Record::Traced { input, open, path } => {
                self.set_open(input, open);
                self.add_path(path)?;
            }
            Record::Open { input, flips } => self.set_open(input, flips),
            Record::Paths(paths) => paths.into_iter().try_for_each(|path| self.add_path(path))?,
            Record::Crash { hash } => _ = self.crashes.insert(hash),
            Record::Partial(gap) => _ = self.gaps.insert(gap),
            Record::Seed(bytes) => self.seeds.push(bytes),
            Record::SeedRun => self.seeds_run += 1,
            Record::Taken(file) => self.taken.entry(file.place).or_default().add(file.mark),
            Record::Branch(entry) => _ = self.ledger.add(&entry),
            Record::Tally(branch, tally) => self.ledger.set(branch, tally),
            Record::Compacted(Totals { records, answers, paths, .. }) => {
                self.totals.records += records;
                self.totals.paths += paths;
                self.totals.answers.iter_mut().zip(answers).for_each(|(sum, n)| *sum += n);
            }
            covered @ Record::Covered { .. } => self.write(&covered)?,
            // The inputs have theirs.
            Record::Template { .. } => {}
        }
        Ok(())
    }

    fn set_open(&mut self, input: InputId, flips: u32) {
        match flips > 0 && self.moment.inputs.may_have(input) {
            true => self.open.insert(input, Some(flips.into())),
            false => self.open.remove(&input),
        };
    }

    fn add_answer(&mut self, [asked, taken]: [u64; 2]) -> io::Result<()> {
        if self.moment.table.mark(asked).is_some() {
            self.answers.push([asked, taken]);
        }
        if self.answers.len() == BLOCK {
            let block = std::mem::take(&mut self.answers);
            self.write(&Record::Answers(block))?;
        }
        Ok(())
    }

    fn add_path(&mut self, path: u64) -> io::Result<()> {
        match self.moment.table.mark(Tree::end_of(path)) {
            Some(_) => self.paths.push(path),
            None => self.totals.paths += 1,
        }
        if self.paths.len() == BLOCK {
            let block = std::mem::take(&mut self.paths);
            self.write(&Record::Paths(block))?;
        }
        Ok(())
    }

    fn write(&mut self, record: &Record) -> io::Result<()> {
        self.new.add(record);
        if self.new.is_full() { self.new.flush() } else { Ok(()) }
    }

    fn finish(mut self) -> io::Result<Journal> {
        let answers = Record::Answers(std::mem::take(&mut self.answers));
        let paths = Record::Paths(std::mem::take(&mut self.paths));
        self.write(&answers)?;
        self.write(&paths)?;
        for bytes in std::mem::take(&mut self.seeds).into_iter().skip(self.seeds_run) {
            self.write(&Record::Seed(bytes))?;
        }
        for hash in std::mem::take(&mut self.crashes) {
            self.write(&Record::Crash { hash })?;
        }
        for gap in std::mem::take(&mut self.gaps) {
            self.write(&Record::Partial(gap))?;
        }
        for (place, taken) in std::mem::take(&mut self.taken) {
            let number = taken.next.checked_sub(1).map(FileMark::Number);
            for mark in number.into_iter().chain(taken.names.into_iter().map(FileMark::Name)) {
                self.write(&Record::Taken(TakenFile { place, mark }))?;
            }
        }
        for branch in 0..self.moment.branches as u32 {
            let tally = self.ledger.of(branch);
            if tally != Default::default() {
                self.write(&Record::Tally(branch, tally))?;
            }
        }
        self.write_inputs()?;
        self.totals.next_input = self.moment.next_input;
        let totals = Record::Compacted(self.totals);
        self.write(&totals)?;
        self.new.flush()?;
        self.new.sync()?;
        Ok(self.new)
    }

    fn write_inputs(&mut self) -> io::Result<()> {
        let inputs = &self.moment.inputs;
        let mut ids: Vec<InputId> = inputs.queued().collect();
        ids.extend(self.open.keys());
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let Some(input) = inputs.get(id) else { continue };
            let record = InputRecord::new(id, input.queue, &input.bytes, None);
            self.write(&Record::Input(record))?;
            if let Some(holes) = inputs.holes(&input) {
                self.write(&Record::Template { input: id, holes })?;
            }
            if let Some(&Some(flips)) = self.open.get(&id) {
                let flips = u32::try_from(flips).unwrap_or(u32::MAX);
                self.write(&Record::Open { input: id, flips })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Corpus, Dir, Kept, Label, Needs, Past, Seed};
    use super::*;
    use crate::run::account::{Entry, Flips, Tally};
    use crate::run::memory::Shares;
    use crate::run::ring::Candidate;
    use pleach_hash::mix;
    use pleach_search::{Mark, Origin};

    const BRANCHES: usize = 8;
    /// One input of this number is in the queue.
    const QUEUED: u32 = 50;
    /// One input of this number is never finished.
    const UNFINISHED: u32 = 40;

    struct Work {
        corpus: Corpus,
        tree: Tree,
        inputs: u32,
        nodes: Vec<u64>,
    }

    fn shares() -> Shares {
        // With less memory, inputs outside of the queue would be dropped.
        Shares::new(1 << 30, 1)
    }

    fn needs(shares: &Shares) -> Needs<'_> {
        Needs { shares, strings: None, keeps_all: false, branches: BRANCHES }
    }

    impl Work {
        fn begin(dir: Dir) -> Work {
            let journal = Journal::open(&dir.journal(), dir.disk.clone(), |_| {}).unwrap();
            let Past { journal, tree, store, .. } = Past::new(&dir, &needs(&shares()), journal);
            let mut corpus = Corpus::new(store, dir, journal, [0; 3], None);
            for seed in [b"one", b"two"] {
                corpus.record(&Record::Seed(seed.to_vec()));
            }
            Work { corpus, tree, inputs: 0, nodes: Vec::new() }
        }

        /// Inputs that are traced, with flips that are answered.
        fn search(&mut self, count: u32) {
            for number in self.inputs..self.inputs + count {
                let bytes: Arc<[u8]> = [&b"some bytes "[..], &number.to_le_bytes()].concat().into();
                let parent = number.checked_sub(1 + number % 3);
                let candidate = Candidate::new(bytes, Origin::Seed, parent);
                let label = Label { time_ms: 1, text: "op:flip".into() };
                let queued = number.is_multiple_of(QUEUED).then_some(&label);
                let (input, _) = self.corpus.add(candidate, queued);
                let path = mix(u64::from(number) << 8);
                self.tree.end(path);
                self.corpus.record(&Record::Traced { input, open: 3, path });
                let left = u32::from(number.is_multiple_of(UNFINISHED));
                for flip in left..3 {
                    let mark = [Mark::Sat, Mark::Unsat, Mark::Unknown][flip as usize];
                    let node = mix(u64::from(number) << 8 | u64::from(flip) << 4 | 1);
                    self.tree.set(node, mark);
                    self.nodes.push(node);
                    self.corpus.record(&Record::Flip { node, mark, of: input, taken: !node });
                }
                let branch = number % BRANCHES as u32;
                let entry = Entry::Answered { branch, mark: Mark::Unsat, pin: None };
                self.corpus.record(&Record::Branch(entry));
            }
            self.inputs += count;
            self.corpus.record(&Record::Crash { hash: u64::from(self.inputs) });
            self.corpus.record(&Record::Partial("pinned".into()));
            self.corpus.record(&Record::SeedRun);
        }

        /// What a campaign knows that is resumed from this journal.
        fn resumed(&self, dir: &Dir) -> Resumed {
            let past = Past::read(dir, &needs(&shares())).unwrap();
            let bytes = |id| past.store.get(id).unwrap().bytes.to_vec();
            let seed = |seed: &Seed| match seed {
                Seed::New(bytes) => (None, bytes.clone(), Vec::new()),
                Seed::Recalled(id, first) => (Some(*id), bytes(*id), first.clone()),
                Seed::Bad(..) => unreachable!("there are none"),
            };
            Resumed {
                marks: self.nodes.iter().map(|&node| past.tree.mark(node)).collect(),
                taken: self.nodes.iter().filter(|&&n| past.tree.mark(!n).is_some()).count(),
                seeds: past.seeds.iter().map(seed).collect(),
                next_id: past.store.next_id(),
                flips: past.stats.flips.clone(),
                paths: past.stats.paths,
                gaps: past.stats.partial.keys().cloned().collect(),
                records: past.records,
                crashes: past.crash_ids.len(),
                tallies: (0..BRANCHES as u32).map(|branch| past.ledger.of(branch)).collect(),
            }
        }
    }

    #[derive(Debug, PartialEq)]
    struct Resumed {
        marks: Vec<Option<Mark>>,
        taken: usize,
        seeds: Vec<(Option<InputId>, Vec<u8>, Vec<u32>)>,
        next_id: InputId,
        flips: Flips,
        paths: u64,
        gaps: Vec<String>,
        records: u64,
        crashes: usize,
        tallies: Vec<Tally>,
    }

    /// The directory of a campaign, and another one with a copy of its journal.
    fn directories() -> [(tempfile::TempDir, Dir); 2] {
        [(), ()].map(|()| {
            let dir = tempfile::tempdir().unwrap();
            let open = Dir::create(&dir.path().join("out"), Arc::default()).unwrap();
            (dir, open)
        })
    }

    #[test]
    fn a_compacted_journal_says_the_same() {
        let [(_first, dir), (_second, copy)] = directories();
        let mut work = Work::begin(dir);
        work.corpus.min_compacted = 1;
        // The second time, the journal begins with what was compacted.
        for round in 0..2 {
            work.search(1000);
            let covered = Record::Covered { kept: Kept::Queue, number: 3, branches: vec![round] };
            work.corpus.record(&covered);
            work.corpus.tend_journal(&mut work.tree, BRANCHES);
            assert!(work.corpus.compaction.is_some());
            // What is recorded meanwhile comes after it; some of it refers to inputs before.
            work.search(200);
            work.corpus.flush();
            std::fs::copy(work.corpus.dir.journal(), copy.journal()).unwrap();
            let before = work.corpus.journal.len();
            while work.corpus.compaction.is_some() {
                work.corpus.tend_journal(&mut work.tree, BRANCHES);
            }
            let after = work.corpus.journal.len();
            assert!(after * 2 < before || round > 0, "{before} bytes, then {after}");
            work.corpus.dir.settle();
            let (expected, found) = (work.resumed(&copy), work.resumed(&work.corpus.dir));
            // Records that were summed up are still counted.
            let records = expected.records.min(found.records);
            let expected = Resumed { records, ..without_files(expected) };
            assert_eq!(Resumed { records, ..without_files(found) }, expected);
        }
    }

    /// Without what is only in the directory, which the copy lacks.
    fn without_files(mut resumed: Resumed) -> Resumed {
        resumed.seeds.sort();
        resumed
    }

    #[test]
    fn a_large_journal_becomes_small() {
        let [(_first, dir), _] = directories();
        let mut work = Work::begin(dir);
        work.search(120_000);
        let before = work.corpus.journal.len();
        work.corpus.min_compacted = 1;
        work.corpus.tend_journal(&mut work.tree, BRANCHES);
        while work.corpus.compaction.is_some() {
            work.corpus.tend_journal(&mut work.tree, BRANCHES);
        }
        let after = work.corpus.journal.len();
        assert!(after * 2 < before, "{before} bytes, then {after}");
        work.corpus.tend_journal(&mut work.tree, BRANCHES);
        assert!(work.corpus.compaction.is_none(), "it is compacted again when it has doubled");
        let resumed = work.resumed(&work.corpus.dir);
        let (queued, unfinished) = (120_000 / QUEUED, 120_000 / UNFINISHED);
        let both = 120_000 / 200;
        let seeds = resumed.seeds.len() as u32;
        // One of the seeds was not run.
        assert_eq!(seeds, queued + unfinished - both + 1);
        assert_eq!(resumed.flips.asked, 120_000 * 3 - u64::from(unfinished));
    }

    #[test]
    fn a_disk_without_room_keeps_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Arc::new(Disk::default());
        let dir = Dir::create(&dir.path().join("out"), disk).unwrap();
        let mut work = Work::begin(dir);
        work.search(500);
        work.corpus.flush();
        let before = std::fs::read(work.corpus.dir.journal()).unwrap();
        // The new file cannot be made: there is a directory in its place.
        std::fs::create_dir(work.corpus.dir.journal().with_extension("tmp")).unwrap();
        work.corpus.min_compacted = 1;
        work.corpus.tend_journal(&mut work.tree, BRANCHES);
        while work.corpus.compaction.is_some() {
            work.corpus.tend_journal(&mut work.tree, BRANCHES);
        }
        assert_eq!(std::fs::read(work.corpus.dir.journal()).unwrap(), before);
        work.corpus.tend_journal(&mut work.tree, BRANCHES);
        assert!(work.corpus.compaction.is_none() && !work.corpus.has_failed());
    }
}
