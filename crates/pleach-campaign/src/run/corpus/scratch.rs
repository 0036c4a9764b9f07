//! Files that a campaign needs only while it runs: what does not fit in memory.
//!
//! They have no name, so nothing is left of them, however the driver ends.

use super::disk::Disk;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// Makes such files, on the disk of the campaign.
#[derive(Clone, Debug)]
pub struct Scratch {
    pub dir: PathBuf,
    pub disk: Arc<Disk>,
}

/// A file without a name.
#[derive(Debug)]
pub struct ScratchFile {
    file: File,
    disk: Arc<Disk>,
}

impl Scratch {
    pub fn file(&self, name: &str) -> io::Result<ScratchFile> {
        let path = self.dir.join(format!(".{name}.scratch"));
        let file = self.disk.create(&path)?;
        std::fs::remove_file(&path)?;
        Ok(ScratchFile { file, disk: self.disk.clone() })
    }
}

impl ScratchFile {
    pub fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.disk.write_at(&self.file, bytes, at)
    }

    pub fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, at)
    }
}
