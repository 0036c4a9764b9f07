//! Exchange with other fuzzers while a campaign runs.
//!
//! One thread watches their directories ([`Watcher`]), and puts new files into the inbox. The
//! workers take them from there, a few between two actions of the search, and judge them like
//! every candidate. So a flood of files delays the search by a bounded factor, and a slow
//! disk does not delay it at all. What was taken is in the journal.
//!
//! The other way needs no work: the queue of a campaign has AFL++'s names. In a directory of
//! AFL++ (`-M`, `-S`), [`Announcement`] tells AFL++ that this campaign is one of its
//! instances.

mod announcement;
mod place;
mod watcher;

pub use announcement::Announcement;
pub use watcher::Watcher;

use super::shared::{Shared, lock};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Thread;

/// How many files wait in the inbox at most, and their bytes.
const MAX_WAITING: usize = 256;
const MAX_WAITING_BYTES: usize = 4 << 20;

/// A file of another fuzzer.
#[derive(Clone, Debug)]
pub struct Import {
    pub bytes: Arc<[u8]>,
    pub sender: Sender,
    /// What the journal records when it has run.
    pub taken: TakenFile,
}

/// Whose file it is, for the name of the file if it is kept.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The other fuzzer.
    pub name: Arc<str>,
    /// Its number there.
    pub number: u32,
}

/// A file that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenFile {
    /// A hash of the path of its directory.
    pub place: u64,
    pub mark: FileMark,
}

/// How a file is recognised as one that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMark {
    /// By its number. Fuzzers with AFL++'s names number their files one after the other, so
    /// all files before it were taken, too.
    Number(u32),
    /// By a hash of its name.
    Name(u64),
}

/// What was taken from one directory.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// The first number that was not taken.
    pub next: u32,
    /// Hashes of the names without a number.
    pub names: HashSet<u64>,
}

impl Taken {
    pub fn add(&mut self, mark: FileMark) {
        match mark {
            FileMark::Number(number) => self.next = self.next.max(number.saturating_add(1)),
            FileMark::Name(hash) => _ = self.names.insert(hash),
        }
    }

    pub fn has(&self, mark: FileMark) -> bool {
        match mark {
            FileMark::Number(number) => number < self.next,
            FileMark::Name(hash) => self.names.contains(&hash),
        }
    }
}

/// What was taken, by the hash of the directory.
pub type AllTaken = HashMap<u64, Taken>;

/// What the watching thread and the workers share.
pub struct Exchange {
    inbox: Mutex<Inbox>,
    /// How many files wait. Workers read it while they hold the state, and must not lock the
    /// inbox then.
    waiting: AtomicUsize,
    is_over: AtomicBool,
    /// Taken by the thread that watches.
    watcher: Mutex<Option<Watcher>>,
    pub announcement: Option<Announcement>,
}

#[derive(Default)]
struct Inbox {
    files: VecDeque<Import>,
    bytes: usize,
}

impl Exchange {
    pub fn new(watcher: Watcher, announcement: Option<Announcement>) -> Exchange {
        Exchange {
            inbox: Mutex::default(),
            waiting: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            watcher: Mutex::new(Some(watcher)),
            announcement,
        }
    }

    /// True if a file waits in the inbox.
    pub fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Takes files from the inbox, at most `count`.
    pub fn take(&self, count: usize) -> Vec<Import> {
        let mut inbox = lock(&self.inbox);
        let count = count.min(inbox.files.len());
        let taken: Vec<_> = inbox.files.drain(..count).collect();
        inbox.bytes -= taken.iter().map(|import| import.bytes.len()).sum::<usize>();
        self.waiting.store(inbox.files.len(), Ordering::Release);
        taken
    }

    /// True if the inbox has room.
    fn has_room(&self) -> bool {
        let inbox = lock(&self.inbox);
        inbox.files.len() < MAX_WAITING && inbox.bytes < MAX_WAITING_BYTES
    }

    fn put(&self, import: Import) {
        let mut inbox = lock(&self.inbox);
        inbox.bytes += import.bytes.len();
        inbox.files.push_back(import);
        self.waiting.store(inbox.files.len(), Ordering::Release);
    }

    /// Watches the directories until [`Exchange::end`]. For a thread of its own.
    pub fn watch(&self, shared: &Shared) {
        let watcher = lock(&self.watcher).take();
        if let Some(watcher) = watcher {
            watcher.watch(self, shared);
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Ends the thread that watches.
    pub fn end(&self, thread: &Thread) {
        self.is_over.store(true, Ordering::Relaxed);
        thread.unpark();
    }
}
