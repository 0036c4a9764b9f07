//! The contents of a directory, saved to restore them later.

use crate::private::{change_time, is_settled};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The contents of a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved {
    /// Each directory comes before its own entries.
    pub(super) entries: Vec<Entry>,
    /// The directory has more than was saved.
    pub cut: bool,
}

impl Saved {
    /// True if the directory was empty.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && !self.cut
    }
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Relative to the directory.
    pub(super) path: PathBuf,
    mode: u32,
    /// `None` for a directory.
    pub(super) bytes: Option<Arc<[u8]>>,
    /// Device and inode.
    identity: (u64, u64),
    /// The time of the last change: seconds and nanoseconds.
    changed: (i64, i64),
    /// That was long enough ago: a later change would have another time.
    is_settled: bool,
}

impl Entry {
    pub fn new(path: PathBuf, meta: &Metadata, bytes: Option<Arc<[u8]>>) -> Entry {
        let mut entry = Entry {
            path,
            mode: meta.mode() & 0o7777,
            bytes,
            identity: (0, 0),
            changed: (0, 0),
            is_settled: false,
        };
        entry.observe(meta);
        entry
    }

    /// Remembers which file it is and when it was changed.
    pub fn observe(&mut self, meta: &Metadata) {
        (self.identity, self.changed) = (identity(meta), change_time(meta));
        self.is_settled = is_settled(meta);
    }

    /// True if it has certainly not changed. For a directory, this includes the names of
    /// its entries.
    pub fn is_untouched(&self, meta: &Metadata) -> bool {
        let changed = (meta.ctime(), meta.ctime_nsec());
        identity(meta) == self.identity && self.is_settled && changed == self.changed
    }

    /// Restores it. True if it had changed. A file is written in place, because a program
    /// may have it open, but only if it is still the same file: a link could lead to a file
    /// elsewhere.
    pub fn restore(&mut self, path: &Path) -> io::Result<bool> {
        let there = path.symlink_metadata().ok();
        let Some(bytes) = &self.bytes else {
            let mode = self.mode | 0o700;
            let changed = there.is_none_or(|m| m.mode() & 0o7777 != mode);
            if changed {
                std::fs::create_dir_all(path)?;
                std::fs::set_permissions(path, Permissions::from_mode(mode))?;
            }
            self.observe(&path.symlink_metadata()?);
            return Ok(changed);
        };
        let own = |m: &&Metadata| m.is_file() && identity(m) == self.identity && m.nlink() == 1;
        let mut changed = false;
        match there.as_ref().filter(own) {
            Some(meta) => {
                let same = meta.len() == bytes.len() as u64
                    && std::fs::read(path).is_ok_and(|now| now[..] == bytes[..]);
                if !same {
                    fill(&OpenOptions::new().write(true).open(path)?, bytes)?;
                    changed = true;
                }
            }
            None => {
                if there.is_some() {
                    std::fs::remove_file(path)?;
                }
                fill(&OpenOptions::new().write(true).create_new(true).open(path)?, bytes)?;
                changed = true;
            }
        }
        let meta = path.symlink_metadata()?;
        if meta.mode() & 0o7777 != self.mode {
            std::fs::set_permissions(path, Permissions::from_mode(self.mode))?;
            changed = true;
        }
        self.observe(&path.symlink_metadata()?);
        Ok(changed)
    }
}

pub(super) fn identity(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

fn fill(file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all_at(bytes, 0)?;
    file.set_len(bytes.len() as u64)
}
