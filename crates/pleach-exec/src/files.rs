//! The files of a target: its input, and its output.
//!
//! The input is one file in a private directory, in memory if possible. It is rewritten in
//! place for every run, because the target knows it by its inode.

use crate::private::{ChangeTime, PrivateDir};
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
    /// The file that standard input or `@@` is.
    visible: File,
    identity: (u64, u64),
    /// The whole container, if the input is one.
    container: File,
    /// The last change of the directory when the file was seen in its place. While this stays
    /// so, the file is there.
    seen_since: Option<ChangeTime>,
}

impl InputFiles {
    pub fn new(extension: &OsStr) -> io::Result<InputFiles> {
        let dir = PrivateDir::in_memory()?;
        let mut name = OsString::from("input");
        name.push(extension);
        let path = dir.path().join(name);
        let (visible, identity) = create(&path)?;
        let container = memory_file(c"pleach-input", libc::MFD_CLOEXEC)?;
        Ok(InputFiles { dir, path, visible, identity, container, seen_since: None })
    }

    /// Puts the next input in place. False if the target had removed or replaced the file.
    /// Then there is a new file, which only a new server knows.
    pub fn put(&mut self, visible: &[u8], container: Option<&[u8]>) -> io::Result<bool> {
        let last_change = self.dir.last_change();
        let mut intact = last_change.is_some() && last_change == self.seen_since;
        if !intact {
            let there = std::fs::metadata(&self.path).map(|m| (m.dev(), m.ino()));
            intact = there.is_ok_and(|i| i == self.identity);
            self.seen_since = last_change.filter(|_| intact);
        }
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

    /// The file that holds the whole input.
    pub fn given(&self, container: bool) -> &File {
        if container { &self.container } else { &self.visible }
    }

    /// A new handle for standard input. The runtime rewinds it for every run.
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
            // In append mode: after it is cleared, the target writes at its new end.
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

    /// True if more was written than is kept.
    pub fn is_over(&self) -> bool {
        let size = |f: &File| f.metadata().map_or(0, |m| m.len());
        size(&self.stdout) + size(&self.stderr) > self.limit
    }

    pub fn handles(&self) -> io::Result<(Stdio, Stdio)> {
        Ok((self.stdout.try_clone()?.into(), self.stderr.try_clone()?.into()))
    }

    /// Standard output and error, each up to the limit.
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

    /// The last lines of standard error, as one line.
    pub fn last_words(&self) -> Option<String> {
        let (_, stderr) = self.read();
        let text = String::from_utf8_lossy(&stderr);
        let tail: Vec<_> = text.lines().filter(|l| !l.trim().is_empty()).collect();
        let tail = tail[tail.len().saturating_sub(3)..].join(" / ");
        let clean: String = tail.chars().filter(|c| !c.is_control()).collect();
        (!clean.is_empty()).then_some(clean)
    }
}
