//! The files of a source tree.

use std::path::{Path, PathBuf};

/// More files are not read, so that a look at `/` ends.
const MAX_FILES: usize = 100_000;
const MAX_DEPTH: usize = 16;
/// The part of a file that is read.
const MAX_TEXT: u64 = 4 << 20;
/// Directories that have no sources.
const SKIPPED: [&str; 6] =
    ["CVS", "node_modules", "autom4te.cache", "CMakeFiles", "__pycache__", "target"];

#[derive(Clone, Debug)]
pub struct File {
    /// Relative to the tree.
    pub path: PathBuf,
    pub size: u64,
}

impl File {
    pub fn name(&self) -> &str {
        self.path.file_name().and_then(|n| n.to_str()).unwrap_or("")
    }

    /// The extension in lower case, without the dot.
    pub fn extension(&self) -> String {
        let extension = self.path.extension().and_then(|e| e.to_str());
        extension.unwrap_or("").to_ascii_lowercase()
    }

    pub fn dir(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

#[derive(Debug)]
pub struct Tree {
    pub root: PathBuf,
    /// Sorted by path. Hidden files are left out.
    pub files: Vec<File>,
}

impl Tree {
    pub fn read(root: &Path) -> std::io::Result<Tree> {
        let root = root.canonicalize()?;
        let mut files = Vec::new();
        let mut dirs = vec![(PathBuf::new(), 0)];
        while let Some((dir, depth)) = dirs.pop() {
            let entries = match std::fs::read_dir(root.join(&dir)) {
                Ok(entries) => entries,
                Err(error) if dir.as_os_str().is_empty() => return Err(error),
                Err(_) => continue,
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let text = name.to_string_lossy();
                let Ok(kind) = entry.file_type() else { continue };
                if text.starts_with('.') || files.len() >= MAX_FILES {
                    continue;
                }
                if kind.is_dir() && depth < MAX_DEPTH && !SKIPPED.contains(&&*text) {
                    dirs.push((dir.join(&name), depth + 1));
                } else if kind.is_file() {
                    let size = entry.metadata().map_or(0, |m| m.len());
                    files.push(File { path: dir.join(&name), size });
                }
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { root, files })
    }

    /// True if the tree has this file at its top.
    pub fn has(&self, name: &str) -> bool {
        self.files.binary_search_by(|f| f.path.as_path().cmp(Path::new(name))).is_ok()
    }

    /// The text of a file. Empty if it cannot be read, or if it is very large.
    pub fn text(&self, file: &File) -> String {
        if file.size > MAX_TEXT {
            return String::new();
        }
        let bytes = std::fs::read(self.root.join(&file.path)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn with_extension<'a>(&'a self, of: &'a [&str]) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(|f| of.contains(&f.extension().as_str()))
    }

    /// The name of the project: that of its directory, without a version.
    pub fn name(&self) -> String {
        let name = self.root.file_name().map(|n| n.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| "project".into());
        let version = name
            .match_indices(['-', '_'])
            .map(|(at, _)| at)
            .find(|&at| name[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        match version {
            Some(at) if at > 0 => name[..at].into(),
            _ => name,
        }
    }
}
