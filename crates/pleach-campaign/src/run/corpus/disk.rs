//! The writes of a campaign. All go through here, so that tests can make each of them fail:
//! they run a short campaign once for every write in it, and that write fails.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The disk. In tests, writes can fail.
#[derive(Debug, Default)]
pub struct Disk {
    /// How many writes there were.
    writes: AtomicU64,
    /// This write fails, and all after it.
    fail_at: Option<u64>,
}

impl Disk {
    /// A disk that is full from write `n` on. The first write is 1.
    pub fn failing_at(n: u64) -> Disk {
        Disk { writes: AtomicU64::new(0), fail_at: Some(n) }
    }

    /// How many writes there were.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    pub fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.count_write()?;
        std::fs::create_dir_all(path)
    }

    /// Writes a file so that it appears whole or not at all: temporary file, fsync, rename.
    pub fn write_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".tmp");
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        let temporary = path.with_file_name(hidden);
        let result = self.write_and_rename(&temporary, path, bytes);
        if result.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        result
    }

    /// Appends in one write.
    pub fn append(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        self.count_write()?;
        file.write_all(bytes)
    }

    pub fn open_append(&self, path: &Path) -> io::Result<File> {
        self.count_write()?;
        OpenOptions::new().create(true).append(true).open(path)
    }

    /// Creates a file, or empties it, for reading and writing.
    pub fn create(&self, path: &Path) -> io::Result<File> {
        self.count_write()?;
        OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)
    }

    pub fn write_at(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
        self.count_write()?;
        file.write_all_at(bytes, at)
    }

    /// Puts a file in the place of another, when its contents are on the disk.
    pub fn replace(&self, file: &File, temporary: &Path, path: &Path) -> io::Result<()> {
        self.count_write()?;
        file.sync_data()?;
        self.count_write()?;
        std::fs::rename(temporary, path)
    }

    fn write_and_rename(&self, temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.count_write()?;
        let mut file = File::create(temporary)?;
        self.count_write()?;
        file.write_all(bytes)?;
        self.replace(&file, temporary, path)
    }

    /// Counts a write, and fails if it should.
    fn count_write(&self) -> io::Result<()> {
        let n = self.writes.fetch_add(1, Ordering::Relaxed) + 1;
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
    fn a_file_is_whole_or_does_not_exist() {
        for n in 1..=5 {
            let dir = tempfile::tempdir().unwrap();
            let disk = Disk::failing_at(n);
            let result = disk.write_file(&dir.path().join("a"), b"all");
            let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().flatten().collect();
            assert_eq!((result.is_ok(), names.len()), (n == 5, usize::from(n == 5)), "write {n}");
        }
    }
}
