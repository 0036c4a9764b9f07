//! The files that a target meets: its input, where its output goes, and the
//! directory that it works in.
//!
//! The input is one file in a private directory, in memory where there is such
//! a place, rewritten in place for every run: the target knows it by its inode.

use crate::private::PrivateDir;
use crate::shm::memory_file;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

#[derive(Debug)]
pub(crate) struct InputFiles {
    dir: PrivateDir,
    path: PathBuf,
    /// What standard input or `@@` is.
    visible: File,
    identity: (u64, u64),
    /// A container as it was given.
    container: File,
}

impl InputFiles {
    pub fn new(extension: &OsStr) -> io::Result<InputFiles> {
        let dir = PrivateDir::in_memory()?;
        let mut name = OsString::from("input");
        name.push(extension);
        let path = dir.path().join(name);
        let (visible, identity) = create(&path)?;
        let container = memory_file(c"pleach-input", libc::MFD_CLOEXEC)?;
        Ok(InputFiles { dir, path, visible, identity, container })
    }

    /// Puts the next input in place. False: the target had removed or replaced
    /// the file, and there is a new one, which only a new server knows.
    pub fn put(&mut self, visible: &[u8], container: Option<&[u8]>) -> io::Result<bool> {
        let there = std::fs::metadata(&self.path).map(|m| (m.dev(), m.ino()));
        let intact = there.is_ok_and(|i| i == self.identity);
        if !intact {
            let _ = std::fs::remove_dir_all(&self.path);
            let _ = std::fs::remove_file(&self.path);
            std::fs::create_dir_all(self.dir.path())?;
            (self.visible, self.identity) = create(&self.path)?;
        }
        fill(&self.visible, visible)?;
        if let Some(bytes) = container {
            fill(&self.container, bytes)?;
        }
        Ok(intact)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn directory(&self) -> &Path {
        self.dir.path()
    }

    /// Device and inode of the file that standard input or `@@` is.
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// The input as it was given.
    pub fn given(&self, container: bool) -> &File {
        if container { &self.container } else { &self.visible }
    }

    /// For standard input; the runtime goes back to its start for every run.
    pub fn stdin(&self) -> io::Result<File> {
        File::open(&self.path)
    }
}

fn create(path: &Path) -> io::Result<(File, (u64, u64))> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    let meta = file.metadata()?;
    Ok((file, (meta.dev(), meta.ino())))
}

fn fill(file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all_at(bytes, 0)?;
    file.set_len(bytes.len() as u64)
}

/// The directory that runs work in: a program that writes beside itself finds
/// it empty every time, and hurts nobody.
#[derive(Debug)]
pub(crate) struct Scratch {
    dir: PrivateDir,
    identity: (u64, u64),
}

/// So many entries of a scratch directory are added up; more are too many.
const ENTRIES: usize = 10_000;

impl Scratch {
    pub fn new() -> io::Result<Scratch> {
        let dir = PrivateDir::new()?;
        let meta = dir.path().metadata()?;
        Ok(Scratch { dir, identity: (meta.dev(), meta.ino()) })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Removes what a run has left. False: it could not be done, or the run has
    /// removed the directory itself; there is a new one for a new server.
    pub fn clear(&mut self) -> io::Result<bool> {
        let there = self.path().metadata().map(|m| (m.dev(), m.ino()));
        if there.is_ok_and(|i| i == self.identity) && empty(self.path()).is_ok() {
            return Ok(true);
        }
        *self = Scratch::new()?;
        Ok(false)
    }

    /// Whether more was written into it than that.
    pub fn is_over(&self, limit: u64) -> bool {
        let (mut dirs, mut bytes, mut entries) = (vec![self.path().to_path_buf()], 0, 0);
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                entries += 1;
                let Ok(meta) = entry.metadata() else { continue };
                // Holes take no room.
                bytes += meta.blocks() * 512;
                if meta.is_dir() {
                    dirs.push(entry.path());
                }
                if bytes > limit || entries > ENTRIES {
                    return true;
                }
            }
        }
        false
    }
}

/// What a scratch directory holds, for putting it back.
#[derive(Debug)]
pub(crate) struct Saved {
    entries: Vec<Entry>,
    /// It holds more than is saved.
    pub cut: bool,
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    /// When it was changed last, and its contents; none for a directory.
    changed: (i64, i64),
    bytes: Option<Vec<u8>>,
}

/// So many bytes and entries are saved.
const SAVED: u64 = 4 << 20;
const SAVED_ENTRIES: usize = 256;

impl Scratch {
    /// Remembers everything that is in it, as far as that is not too much.
    pub fn save(&self) -> Saved {
        let (mut saved, mut left) = (Saved { entries: Vec::new(), cut: false }, SAVED);
        for (path, meta) in self.entries() {
            saved.cut |= saved.entries.len() >= SAVED_ENTRIES || meta.len() > left;
            if saved.cut {
                break;
            }
            let bytes = meta.is_file().then(|| std::fs::read(&path).unwrap_or_default());
            left = left.saturating_sub(bytes.as_ref().map_or(0, |b| b.len() as u64));
            let changed = (meta.mtime(), meta.mtime_nsec());
            saved.entries.push(Entry { path, changed, bytes });
        }
        saved
    }

    /// Puts back what was saved. Files are written in place: somebody may have
    /// them open. Whether anything had changed.
    pub fn restore(&self, saved: &mut Saved) -> io::Result<bool> {
        let now = self.entries();
        let same = now.len() == saved.entries.len()
            && now.iter().zip(&saved.entries).all(|((path, meta), entry)| {
                *path == entry.path && (meta.mtime(), meta.mtime_nsec()) == entry.changed
            });
        if same || saved.cut {
            return Ok(!same);
        }
        for (path, meta) in now.iter().rev() {
            let known = saved.entries.iter().find(|e| e.path == *path);
            if known.is_none_or(|e| e.bytes.is_some() != meta.is_file()) {
                let _ = match meta.is_dir() {
                    true => std::fs::remove_dir(path),
                    false => std::fs::remove_file(path),
                };
            }
        }
        for entry in &mut saved.entries {
            match &entry.bytes {
                Some(bytes) => {
                    let mut options = OpenOptions::new();
                    options.write(true).create(true).truncate(false);
                    fill(&options.open(&entry.path)?, bytes)?;
                }
                None => std::fs::create_dir_all(&entry.path)?,
            }
            let meta = entry.path.symlink_metadata()?;
            entry.changed = (meta.mtime(), meta.mtime_nsec());
        }
        Ok(true)
    }

    /// Everything in it, directories before what is in them.
    fn entries(&self) -> Vec<(PathBuf, std::fs::Metadata)> {
        let (mut dirs, mut found) = (vec![self.path().to_path_buf()], Vec::new());
        while let Some(dir) = dirs.pop() {
            let mut here: Vec<_> = std::fs::read_dir(dir).into_iter().flatten().flatten().collect();
            here.sort_by_key(std::fs::DirEntry::file_name);
            for entry in here {
                let Ok(meta) = entry.metadata() else { continue };
                if meta.is_dir() {
                    dirs.push(entry.path());
                }
                found.push((entry.path(), meta));
                if found.len() > ENTRIES {
                    return found;
                }
            }
        }
        found
    }
}

fn empty(dir: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false => std::fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Standard output and error of a target, kept in memory.
#[derive(Debug)]
pub(crate) struct Capture {
    stdout: File,
    stderr: File,
    limit: u64,
}

impl Capture {
    pub fn new(limit: u64) -> io::Result<Capture> {
        let open = |name| {
            let file = memory_file(name, libc::MFD_CLOEXEC)?;
            // Appending, so that clearing needs no word with the target.
            OpenOptions::new()
                .read(true)
                .append(true)
                .open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file)))
        };
        Ok(Capture { stdout: open(c"pleach-stdout")?, stderr: open(c"pleach-stderr")?, limit })
    }

    pub fn clear(&self) -> io::Result<()> {
        for file in [&self.stdout, &self.stderr] {
            file.set_len(0)?;
            (&*file).rewind()?;
        }
        Ok(())
    }

    /// Whether more was written than is kept.
    pub fn is_over(&self) -> bool {
        let size = |f: &File| f.metadata().map_or(0, |m| m.len());
        size(&self.stdout) + size(&self.stderr) > self.limit
    }

    pub fn handles(&self) -> io::Result<(Stdio, Stdio)> {
        Ok((self.stdout.try_clone()?.into(), self.stderr.try_clone()?.into()))
    }

    /// What was written, each stream up to the limit.
    pub fn read(&self) -> (Vec<u8>, Vec<u8>) {
        let read = |file: &File| {
            let len = file.metadata().map_or(0, |m| m.len()).min(self.limit);
            let mut bytes = vec![0; len as usize];
            let n = file.read_at(&mut bytes, 0).unwrap_or(0);
            bytes.truncate(n);
            bytes
        };
        (read(&self.stdout), read(&self.stderr))
    }

    /// The end of what went to standard error, on one line.
    pub fn last_words(&self) -> Option<String> {
        let (_, stderr) = self.read();
        let text = String::from_utf8_lossy(&stderr);
        let tail: Vec<_> = text.lines().filter(|l| !l.trim().is_empty()).collect();
        let tail = tail[tail.len().saturating_sub(3)..].join(" / ");
        let clean: String = tail.chars().filter(|c| !c.is_control()).collect();
        (!clean.is_empty()).then_some(clean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_put_back_as_it_was() {
        let scratch = Scratch::new().expect("a directory");
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
            // The very file: a program that has it open sees it.
            let mut bytes = [0; 6];
            open.read_exact_at(&mut bytes, 0).unwrap();
            assert_eq!(&bytes, b"before");
        }
    }

    #[test]
    fn what_is_too_much_is_not_saved() {
        let scratch = Scratch::new().expect("a directory");
        std::fs::write(scratch.path().join("long"), vec![0; SAVED as usize + 1]).unwrap();
        assert!(scratch.save().cut);
    }
}
