//! The corpus: the inputs of a campaign in memory, in its directory and in its journal.

mod attic;
mod compact;
mod dir;
mod disk;
mod edges;
mod journal;
mod past;
mod scratch;
mod store;
mod writer;

pub use dir::{Dir, DirError, Kept, SEQUENCES, file_name_part, number_in};
pub use disk::Disk;
pub use edges::EdgeFile;
pub use journal::{BranchEntries, Journal, Record};
pub use past::{Needs, Past, Seed};
pub use scratch::Scratch;
pub use store::Store;

use crate::run::ring::Candidate;
use compact::{Compaction, MIN_COMPACTED, Moment};
use dir::{From, file_name};
use journal::InputRecord;
use pleach_search::{InputId, Tree};
use pleach_template::Strings;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The flips that a campaign asked, by the edges of the tree, as its journal has them. The
/// last four bits are zero.
pub fn asked_flips(dir: &Path) -> io::Result<Vec<u64>> {
    let mut asked = Vec::new();
    Journal::read(&dir.join("journal"), |record| match record {
        Record::Flip { node, .. } => asked.push(node & !15),
        Record::Answers(answers) => asked.extend(answers.iter().map(|[node, _]| node & !15)),
        _ => {}
    })?;
    Ok(asked)
}

pub struct Corpus {
    pub store: Store,
    pub dir: Dir,
    journal: Journal,
    compaction: Option<Compaction>,
    /// The journal is not compacted before it has this length.
    min_compacted: u64,
    /// A record of an input may need that of an input with this number or a later one. Others
    /// may be left out when the journal is compacted, unless they are in the queue.
    needed_from: InputId,
    /// A crash was recorded that is not in the journal's file yet.
    has_new_crash: bool,
    /// The next number in the queue, among the crashes and among the hangs.
    next_number: [u32; 3],
    /// What templates are made of, where inputs are strings of a symbolic grammar.
    strings: Option<Arc<Strings>>,
    /// The first write that failed: it ends the campaign.
    failure: Option<io::Error>,
}

/// What the name of a kept file says besides its number and its parent's.
pub struct Label {
    pub time_ms: u64,
    /// How the input was made, and where it went: `op:flip,site:calc.c:41`.
    pub text: String,
}

impl Corpus {
    pub fn new(
        store: Store,
        dir: Dir,
        journal: Journal,
        next_number: [u32; 3],
        strings: Option<Arc<Strings>>,
    ) -> Corpus {
        Corpus {
            store,
            dir,
            journal,
            compaction: None,
            min_compacted: MIN_COMPACTED,
            needed_from: 0,
            has_new_crash: false,
            next_number,
            strings,
            failure: None,
        }
    }

    /// Compacts the journal when it has grown to twice its size. To do so takes a while, and
    /// happens in another thread: call this again and again.
    pub fn tend_journal(&mut self, tree: &mut Tree, branches: usize) {
        if self.compaction.as_ref().is_some_and(|compaction| !compaction.is_finished()) {
            return;
        }
        if let Some(compaction) = self.compaction.take() {
            let from = compaction.from;
            let done = compaction.finish().and_then(|new| self.journal.replace_by(new, from));
            if done.is_err() {
                // It can be read as it is. If the disk is full, other writes will say so.
                self.min_compacted = 2 * self.journal.len();
            }
            return;
        }
        let len = self.journal.len();
        if len < self.min_compacted.max(2 * self.journal.compacted_len()) || self.has_failed() {
            return;
        }
        self.flush();
        self.needed_from = self.store.next_id();
        let moment = Moment {
            journal: self.journal.path().into(),
            len: self.journal.len(),
            table: tree.share(0),
            branches,
            inputs: self.store.inputs(),
            next_input: self.needed_from,
        };
        self.compaction = Some(Compaction::begin(moment, self.journal.disk().clone()));
    }

    /// Adds a candidate to the inputs; with a label, to the queue as well. Returns its number,
    /// and the file in the queue.
    pub fn add(
        &mut self,
        mut candidate: Candidate,
        queued: Option<&Label>,
    ) -> (InputId, Option<String>) {
        let mut file = None;
        if let Some(label) = queued {
            let (number, name) = self.keep(Kept::Queue, &candidate, label);
            candidate.queue = Some(number);
            file = Some(format!("queue/{name}"));
        }
        let answer = candidate.answer.take();
        let parent = candidate
            .parent
            .filter(|&p| p >= self.needed_from || self.store.queue_number(p).is_some());
        let parent = parent.and_then(|p| Some((p, self.store.get(p)?)));
        let inherited = parent.as_ref().and_then(|(_, parent)| parent.template.as_ref());
        let own = candidate.template.as_ref();
        let own = own.filter(|own| !inherited.is_some_and(|i| Arc::ptr_eq(own, i)));
        let holes = own.and_then(|own| self.strings.as_ref()?.save_template(own));
        let id = self.store.next_id();
        let base = parent.as_ref().map(|(id, parent)| (*id, &parent.bytes[..]));
        let input = InputRecord::new(id, candidate.queue, &candidate.bytes, base);
        // In this order, and in one write: see the journal.
        self.journal.add(&Record::Input(input));
        holes.into_iter().for_each(|h| self.journal.add(&Record::Template { input: id, holes: h }));
        answer.iter().for_each(|answer| self.journal.add(answer));
        self.flush_if_full();
        self.store.insert(id, candidate);
        (id, file)
    }

    /// Writes a file of the queue, of the crashes or of the hangs. Returns its number and
    /// its name.
    pub fn keep(&mut self, kept: Kept, candidate: &Candidate, label: &Label) -> (u32, String) {
        let number = self.next_number[kept as usize];
        self.next_number[kept as usize] += 1;
        let parent = candidate.parent.and_then(|p| self.store.queue_number(p));
        let from = match &candidate.sender {
            Some(sender) => From::Other(sender),
            None => parent.map_or(From::Nothing, From::Own),
        };
        let name = file_name(number, from, label.time_ms, &label.text);
        self.dir.keep(kept, &name, &candidate.bytes);
        (number, name)
    }

    pub fn record(&mut self, record: &Record) {
        self.has_new_crash |= matches!(record, Record::Crash { .. });
        self.journal.add(record);
        self.flush_if_full();
    }

    /// Writes all records that were added. The file of a crash is written before its record:
    /// a resumed campaign does not look again for a crash that it knows. After a write has
    /// failed, nothing more is recorded: what is not known is found again.
    pub fn flush(&mut self) {
        if std::mem::take(&mut self.has_new_crash) {
            self.dir.settle();
        }
        if self.has_failed() {
            return;
        }
        if let Err(error) = self.journal.flush() {
            self.failure.get_or_insert(error);
        }
    }

    fn flush_if_full(&mut self) {
        if self.journal.is_full() {
            self.flush();
        }
    }

    /// True if a write has failed.
    pub fn has_failed(&mut self) -> bool {
        if self.failure.is_none() {
            self.failure = self.dir.take_failure();
        }
        self.failure.is_some()
    }

    /// Waits until everything is on disk. Returns the first write that failed.
    pub fn settle(&mut self) -> Result<(), io::Error> {
        self.dir.settle();
        let late = self.dir.take_failure();
        self.failure.take().or(late).map_or(Ok(()), Err)
    }
}
