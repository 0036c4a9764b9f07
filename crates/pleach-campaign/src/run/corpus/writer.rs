//! A thread that writes files. A file that must survive a loss of power waits for the disk for
//! some milliseconds, and the search should not wait with it. If the driver is killed before
//! an input is written, the journal still has it.

use super::disk::Disk;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A job for the thread.
enum Job {
    CreateDir(PathBuf),
    Write {
        path: PathBuf,
        bytes: Vec<u8>,
    },
    Append {
        path: PathBuf,
        head: &'static str,
        bytes: Vec<u8>,
    },
    /// Report that all jobs before this one are done.
    Settle(SyncSender<()>),
}

/// Gives files to the thread. Dropping it waits until all are written.
pub struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

/// How many files may wait. If there are more, the search waits.
const MAX_WAITING: usize = 1024;

impl Writer {
    pub fn new(disk: Arc<Disk>) -> Writer {
        let (jobs, work) = sync_channel(MAX_WAITING);
        let failure = Arc::new(Mutex::new(None));
        let first_failure = failure.clone();
        let start = std::thread::Builder::new();
        let thread = start.spawn(move || write_all(&work, &disk, &first_failure));
        let thread = thread.map_err(|error| record(&failure, error)).ok();
        Writer { jobs: Some(jobs), thread, failure }
    }

    /// Makes a directory, before the files in it are written.
    pub fn create_dir(&self, path: PathBuf) {
        self.send(Job::CreateDir(path));
    }

    /// Writes a file that appears whole or not at all.
    pub fn write_file(&self, path: PathBuf, bytes: Vec<u8>) {
        self.send(Job::Write { path, bytes });
    }

    /// Appends to a file. A new file starts with `head`.
    pub fn append(&self, path: PathBuf, head: &'static str, bytes: Vec<u8>) {
        self.send(Job::Append { path, head, bytes });
    }

    /// Waits until all files are written.
    pub fn settle(&self) {
        let (done, wait) = sync_channel(1);
        self.send(Job::Settle(done));
        let _ = wait.recv();
    }

    /// The first failure. It is returned once.
    pub fn take_failure(&self) -> Option<io::Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // The thread ends only when the sender is dropped.
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
            Job::CreateDir(path) => disk.create_dir(&path),
            Job::Write { path, bytes } => disk.write_file(&path, &bytes),
            Job::Append { path, head, bytes } => {
                let is_new = !path.exists();
                disk.open_append(&path).and_then(|file| {
                    if is_new {
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
            record(failure, error);
        }
    }
}

/// Records the first failure.
fn record(failure: &Mutex<Option<io::Error>>, error: io::Error) {
    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}
