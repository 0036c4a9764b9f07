//! The directory that runs work in, and its contents when a run begins.
//!
//! It is a private directory. Without `--cwd` it is empty at the start of every run. With
//! `--cwd`, every run finds a copy of the files of the user's directory. The original is
//! only read, since a target may write or remove anything. (A read-only mount would protect
//! it too, but needs privileges; permissions do not stop root.)
//!
//! Before each run the directory is restored. The time of change of an entry, which no
//! program can set, shows whether the entry was touched. Clocks of file systems are coarse,
//! so an entry that was changed just now is also compared by its contents.

mod run_dir;
mod saved;
mod workdir;

pub(crate) use run_dir::RunDir;
pub(crate) use saved::Saved;
pub use workdir::{WorkDir, WorkDirError};

use crate::private::{ChangeTime, PrivateDir};
use saved::{Entry, identity};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scratch directory with more entries is over its limit.
const MAX_ENTRIES: usize = 10_000;
/// How much of the directory of a live run is saved.
const MAX_SAVED_BYTES: u64 = 4 << 20;
const MAX_SAVED_ENTRIES: usize = 256;

/// The directory that runs work in.
#[derive(Debug)]
pub(crate) struct Scratch {
    dir: PrivateDir,
    identity: (u64, u64),
    /// The files that every run finds there.
    given: Option<WorkDir>,
    contents: Saved,
    /// The directory was empty, and this is the time of its last change. While it stays so,
    /// the directory is empty: every later change has a later time.
    empty_since: Option<ChangeTime>,
}

/// What a run has left in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// What it found there.
    Untouched,
    /// Something else. It was undone.
    Changed,
    /// Nothing that can be used: there is a new directory, which only a new server knows.
    Gone,
}

impl Scratch {
    /// Makes a new directory, with a copy of these files.
    pub fn new(given: Option<&WorkDir>) -> io::Result<Scratch> {
        let dir = PrivateDir::new()?;
        let identity = identity(&dir.path().metadata()?);
        let mut contents = given.map(|g| Saved::clone(&g.0)).unwrap_or_default();
        let (given_files, contents_now) = (given.cloned(), Saved::default());
        let scratch = Scratch {
            dir,
            identity,
            given: given_files,
            contents: contents_now,
            empty_since: None,
        };
        scratch.restore(&mut contents)?;
        Ok(Scratch { contents, ..scratch })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Undoes what a run has done. If that fails, or if the run has removed the directory
    /// itself, there is a new directory.
    pub fn clear(&mut self) -> io::Result<Found> {
        let last_change = self.dir.last_change();
        if last_change.is_some() && last_change == self.empty_since {
            return Ok(Found::Untouched);
        }
        let there = self.path().metadata().map(|m| identity(&m));
        if !there.is_ok_and(|i| i == self.identity) {
            *self = Scratch::new(self.given.as_ref())?;
            return Ok(Found::Gone);
        }
        let mut contents = std::mem::take(&mut self.contents);
        let Ok(changed) = self.restore(&mut contents) else {
            *self = Scratch::new(self.given.as_ref())?;
            return Ok(Found::Gone);
        };
        self.empty_since = last_change.filter(|_| contents.is_empty() && !changed);
        self.contents = contents;
        Ok(if changed { Found::Changed } else { Found::Untouched })
    }

    /// True if its files take more than `limit` bytes.
    pub fn is_over(&self, limit: u64) -> bool {
        let (mut dirs, mut bytes, mut entries) = (vec![self.path().to_path_buf()], 0, 0);
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                entries += 1;
                let Ok(meta) = entry.metadata() else { continue };
                // By blocks: holes in a file take no space.
                bytes += meta.blocks() * 512;
                if meta.is_dir() {
                    dirs.push(entry.path());
                }
                if bytes > limit || entries > MAX_ENTRIES {
                    return true;
                }
            }
        }
        false
    }

    /// Saves its contents, up to the limit.
    pub fn save(&self) -> Saved {
        let (mut saved, mut left) = (Saved::default(), MAX_SAVED_BYTES);
        for (path, meta) in self.entries() {
            saved.cut |= saved.entries.len() >= MAX_SAVED_ENTRIES || meta.len() > left;
            if saved.cut {
                break;
            }
            let read = || std::fs::read(self.path().join(&path)).unwrap_or_default();
            let bytes: Option<Arc<[u8]>> = meta.is_file().then(|| read().into());
            left = left.saturating_sub(bytes.as_ref().map_or(0, |b| b.len() as u64));
            saved.entries.push(Entry::new(path, &meta, bytes));
        }
        saved
    }

    /// Restores what was saved. True if anything had changed.
    pub fn restore(&self, saved: &mut Saved) -> io::Result<bool> {
        if saved.is_empty() {
            return empty(self.path());
        }
        let now = self.entries();
        if now.len() > MAX_ENTRIES {
            return Err(io::Error::other("too many files"));
        }
        let untouched = now.len() == saved.entries.len()
            && now
                .iter()
                .zip(&saved.entries)
                .all(|((path, meta), entry)| *path == entry.path && entry.is_untouched(meta));
        if untouched || saved.cut {
            return Ok(!untouched);
        }
        let mut changed = false;
        for (path, meta) in now.iter().rev() {
            let known = saved.entries.iter().find(|e| e.path == *path);
            if known.is_none_or(|e| e.bytes.is_none() != meta.is_dir()) {
                let path = self.path().join(path);
                match meta.is_dir() {
                    true => std::fs::remove_dir_all(path)?,
                    false => std::fs::remove_file(path)?,
                }
                changed = true;
            }
        }
        for entry in &mut saved.entries {
            let path = self.path().join(&entry.path);
            changed |= entry.restore(&path)?;
        }
        // Restoring the entries of a directory has changed its time.
        for entry in saved.entries.iter_mut().filter(|e| e.bytes.is_none()) {
            entry.observe(&self.path().join(&entry.path).symlink_metadata()?);
        }
        Ok(changed)
    }

    /// Its entries, each directory before its own entries.
    fn entries(&self) -> Vec<(PathBuf, Metadata)> {
        let (mut dirs, mut found) = (vec![PathBuf::new()], Vec::new());
        while let Some(dir) = dirs.pop() {
            let here = std::fs::read_dir(self.path().join(&dir)).into_iter().flatten().flatten();
            let mut here: Vec<_> = here.collect();
            here.sort_by_key(std::fs::DirEntry::file_name);
            for entry in here {
                let Ok(meta) = entry.metadata() else { continue };
                let path = dir.join(entry.file_name());
                if meta.is_dir() {
                    dirs.push(path.clone());
                }
                found.push((path, meta));
                if found.len() > MAX_ENTRIES {
                    return found;
                }
            }
        }
        found
    }
}

/// Removes everything in a directory. True if it was not empty.
fn empty(dir: &Path) -> io::Result<bool> {
    let mut any = false;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        any = true;
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false => std::fs::remove_file(entry.path())?,
        }
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_directory_is_restored() {
        let scratch = Scratch::new(None).expect("a directory");
        let at = |name: &str| scratch.path().join(name);
        std::fs::write(at("kept"), "before").unwrap();
        std::fs::create_dir(at("dir")).unwrap();
        std::fs::write(at("dir/inner"), "inner").unwrap();
        let mut saved = scratch.save();
        assert!(!saved.cut && !scratch.restore(&mut saved).unwrap());
        let open = File::open(at("kept")).unwrap();
        for _ in 0..2 {
            std::fs::write(at("kept"), "something else").unwrap();
            std::fs::write(at("new"), "x").unwrap();
            std::fs::create_dir(at("dir/deep")).unwrap();
            std::fs::remove_file(at("dir/inner")).unwrap();
            assert!(scratch.restore(&mut saved).unwrap());
            assert_eq!(std::fs::read(at("kept")).unwrap(), b"before");
            assert_eq!(std::fs::read(at("dir/inner")).unwrap(), b"inner");
            assert!(!at("new").exists() && !at("dir/deep").exists());
            // It is the same file, also for a program that has it open.
            let mut bytes = [0; 6];
            open.read_exact_at(&mut bytes, 0).unwrap();
            assert_eq!(&bytes, b"before");
        }
    }

    /// Whenever a run writes, the next one finds the directory empty, also if it was not
    /// looked into for some time.
    #[test]
    fn an_empty_directory_is_known_by_its_time() {
        let mut scratch = Scratch::new(None).expect("a directory");
        let at = scratch.path().join("new");
        for round in 0..8 {
            assert_eq!(scratch.clear().unwrap(), Found::Untouched);
            std::fs::write(&at, "x").unwrap();
            assert_eq!(scratch.clear().unwrap(), Found::Changed, "round {round}");
            assert!(!at.exists());
            if round == 4 {
                std::thread::sleep(std::time::Duration::from_millis(100));
                assert_eq!(scratch.clear().unwrap(), Found::Untouched);
                assert!(scratch.empty_since.is_some());
            }
        }
        std::fs::remove_dir(scratch.path()).unwrap();
        assert_eq!(scratch.clear().unwrap(), Found::Gone);
    }

    #[test]
    fn a_large_directory_is_not_saved() {
        let scratch = Scratch::new(None).expect("a directory");
        let long = vec![0; MAX_SAVED_BYTES as usize + 1];
        std::fs::write(scratch.path().join("long"), long).unwrap();
        assert!(scratch.save().cut);
    }

    /// Whatever a run does to its copy, the next run finds it restored. The original and
    /// files elsewhere do not change.
    #[test]
    fn a_copy_is_restored_and_the_original_is_never_written() {
        let source = tempfile::tempdir().unwrap();
        let original = |name: &str| source.path().join(name);
        std::fs::create_dir_all(original("conf/deep")).unwrap();
        std::fs::write(original("conf/a.ini"), "one").unwrap();
        std::fs::write(original("conf/deep/b.ini"), "two").unwrap();
        std::os::unix::fs::symlink("conf/a.ini", original("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", original("dangling")).unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(outside.path(), "mine").unwrap();
        let given = WorkDir::read(source.path()).unwrap();
        let mut scratch = Scratch::new(Some(&given)).unwrap();
        let (dir, here) = (scratch.path().to_path_buf(), scratch.path().to_path_buf());
        let at = |name: &str| here.join(name);
        let check = || {
            let read = |name| std::fs::read(at(name)).unwrap();
            assert_eq!((&read("conf/a.ini")[..], &read("link")[..]), (&b"one"[..], &b"one"[..]));
            assert_eq!(read("conf/deep/b.ini"), b"two");
            assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2);
            assert_eq!(std::fs::read(original("conf/a.ini")).unwrap(), b"one");
            assert_eq!(std::fs::read(outside.path()).unwrap(), b"mine");
        };
        check();
        let damages: [&dyn Fn(); 6] = [
            &|| std::fs::write(at("conf/a.ini"), "ONE").unwrap(),
            &|| std::fs::remove_dir_all(at("conf")).unwrap(),
            &|| std::fs::write(at("link"), "through the link").unwrap(),
            // Restoring must not write through this link.
            &|| {
                std::fs::remove_file(at("conf/a.ini")).unwrap();
                std::os::unix::fs::symlink(outside.path(), at("conf/a.ini")).unwrap();
            },
            &|| {
                std::fs::remove_file(at("conf/a.ini")).unwrap();
                let _ = std::fs::hard_link(outside.path(), at("conf/a.ini"));
            },
            &|| {
                std::fs::remove_dir_all(at("conf")).unwrap();
                std::fs::write(at("conf"), "a file now").unwrap();
            },
        ];
        for damage in damages {
            // Several times without a pause: short runs may have the same time of change.
            for _ in 0..3 {
                damage();
                assert_eq!(scratch.clear().unwrap(), Found::Changed);
                check();
            }
        }
    }
}
