//! Every write of a campaign goes through here, so that each can be made to
//! fail on purpose: the tests run a short campaign once for every write in it,
//! with that write failing.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The disk, with an optional fault.
#[derive(Debug, Default)]
pub struct Disk {
    steps: AtomicU64,
    fail_at: Option<u64>,
}

impl Disk {
    /// A disk that is full from the `n`th write on, counted from 1.
    pub fn failing_at(n: u64) -> Disk {
        Disk { steps: AtomicU64::new(0), fail_at: Some(n) }
    }

    /// How many writes there were.
    pub fn writes(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    pub fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        std::fs::create_dir_all(path)
    }

    /// A file appears whole or not at all: temporary file, fsync, rename.
    pub fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".tmp");
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        let temporary = path.with_file_name(hidden);
        let result = self.put_through(&temporary, path, bytes);
        if result.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        result
    }

    /// Appends in one write.
    pub fn append(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        self.step()?;
        file.write_all(bytes)
    }

    pub fn open_append(&self, path: &Path) -> io::Result<File> {
        self.step()?;
        OpenOptions::new().create(true).append(true).open(path)
    }

    fn put_through(&self, temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.step()?;
        let mut file = File::create(temporary)?;
        self.step()?;
        file.write_all(bytes)?;
        self.step()?;
        file.sync_data()?;
        self.step()?;
        std::fs::rename(temporary, path)
    }

    fn step(&self) -> io::Result<()> {
        let n = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        match self.fail_at {
            Some(at) if n >= at => Err(io::Error::from_raw_os_error(libc::ENOSPC)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there() {
        for n in 1..=5 {
            let dir = tempfile::tempdir().unwrap();
            let disk = Disk::failing_at(n);
            let result = disk.put(&dir.path().join("a"), b"all");
            let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().flatten().collect();
            assert_eq!((result.is_ok(), names.len()), (n == 5, usize::from(n == 5)), "write {n}");
        }
    }
}
