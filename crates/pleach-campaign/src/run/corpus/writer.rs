//! Files are written by a thread of their own: a file that is to be whole after
//! a loss of power waits for the disk, some milliseconds each, and a search must
//! not wait with it. What was handed over and is not on disk when the driver is
//! killed is in the journal still.

use super::disk::Disk;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Work for the thread.
enum Job {
    Put {
        path: PathBuf,
        bytes: Vec<u8>,
    },
    Append {
        path: PathBuf,
        head: &'static str,
        bytes: Vec<u8>,
    },
    /// Everything before is done: say so.
    Settle(SyncSender<()>),
}

/// Hands files to the thread. Dropping it waits for all of them.
pub struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

/// Files that may wait; more than these and the search waits too.
const WAITING: usize = 1024;

impl Writer {
    pub fn new(disk: Arc<Disk>) -> Writer {
        let (jobs, work) = sync_channel(WAITING);
        let failure = Arc::new(Mutex::new(None));
        let report = failure.clone();
        let thread = std::thread::spawn(move || write_all(&work, &disk, &report));
        Writer { jobs: Some(jobs), thread: Some(thread), failure }
    }

    /// A file that appears whole.
    pub fn put(&self, path: PathBuf, bytes: Vec<u8>) {
        self.send(Job::Put { path, bytes });
    }

    /// More at the end of a file; a new file begins with `head`.
    pub fn append(&self, path: PathBuf, head: &'static str, bytes: Vec<u8>) {
        self.send(Job::Append { path, head, bytes });
    }

    pub fn settle(&self) {
        let (done, wait) = sync_channel(1);
        self.send(Job::Settle(done));
        let _ = wait.recv();
    }

    /// The first failure; said once.
    pub fn failure(&self) -> Option<io::Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // The thread ends only when the sender does.
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_all(work: &Receiver<Job>, disk: &Disk, failure: &Mutex<Option<io::Error>>) {
    while let Ok(job) = work.recv() {
        let result = match job {
            Job::Put { path, bytes } => disk.put(&path, &bytes),
            Job::Append { path, head, bytes } => {
                let new = !path.exists();
                disk.open_append(&path).and_then(|file| {
                    if new {
                        disk.append(&file, head.as_bytes())?;
                    }
                    disk.append(&file, &bytes)
                })
            }
            Job::Settle(done) => {
                let _ = done.send(());
                Ok(())
            }
        };
        if let Err(error) = result {
            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}
