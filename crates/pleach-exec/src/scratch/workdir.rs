//! The user's directory that `--cwd` names.

use super::saved::{Entry, Saved};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Limits for a directory of `--cwd`, because its copy is checked before every run.
const MAX_COPIED_BYTES: u64 = 64 << 20;
const MAX_COPIED_ENTRIES: usize = 4096;

/// Why a directory cannot be given to runs.
#[derive(Debug, Error)]
pub enum WorkDirError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error(
        "{}: holds too much to be copied for runs (at most {} MiB and {MAX_COPIED_ENTRIES} \
         files); give a directory with only what the program needs",
        dir.display(), MAX_COPIED_BYTES >> 20
    )]
    TooLarge { dir: PathBuf },
}

/// The files of the user's directory. Every run gets a copy of them.
#[derive(Clone, Debug)]
pub struct WorkDir(pub(super) Arc<Saved>);

impl WorkDir {
    /// Reads a directory. Links are followed. `.git` and directories of campaigns are left
    /// out.
    pub fn read(dir: &Path) -> Result<WorkDir, WorkDirError> {
        let mut saved = Saved::default();
        let mut dirs = vec![PathBuf::new()];
        let mut bytes = 0;
        while let Some(relative) = dirs.pop() {
            let at = dir.join(&relative);
            let io = |error| WorkDirError::Io { path: at.clone(), error };
            let names = std::fs::read_dir(&at).map_err(io)?.map(|e| Ok(e?.file_name()));
            let mut names = names.collect::<io::Result<Vec<_>>>().map_err(io)?;
            names.sort();
            for name in names {
                let (path, source) = (relative.join(&name), at.join(&name));
                // A broken link is of no use to the program.
                let Ok(meta) = source.metadata() else { continue };
                let is_campaign = || source.join("run.toml").exists();
                if meta.is_dir() && (name == ".git" || is_campaign()) {
                    continue;
                }
                if meta.is_dir() {
                    dirs.push(path.clone());
                } else if !meta.is_file() {
                    continue;
                }
                bytes += meta.len();
                if bytes > MAX_COPIED_BYTES || saved.entries.len() >= MAX_COPIED_ENTRIES {
                    return Err(WorkDirError::TooLarge { dir: dir.into() });
                }
                let read = |error| WorkDirError::Io { path: source.clone(), error };
                let contents = match meta.is_file() {
                    true => Some(std::fs::read(&source).map_err(read)?.into()),
                    false => None,
                };
                saved.entries.push(Entry::new(path, &meta, contents));
            }
        }
        Ok(WorkDir(Arc::new(saved)))
    }
}
