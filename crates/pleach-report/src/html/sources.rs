//! The sources that a page contains, up to a limit.

use std::path::{Path, PathBuf};

/// How many bytes of sources a page may contain, and how many of one file.
const MAX_ALL: usize = 12 << 20;
const MAX_FILE: usize = 10 << 20;

/// Finds sources, and counts how much of them is in the page.
pub struct Sources {
    /// Where files with relative names may be.
    roots: Vec<PathBuf>,
    left: usize,
}

impl Sources {
    /// `roots`: the directories that names of sources are relative to, the first one first.
    pub fn new(roots: Vec<PathBuf>) -> Sources {
        Sources { roots, left: MAX_ALL }
    }

    /// The text of a source, or why it is not in the page.
    pub fn read(&mut self, name: &str) -> Result<String, String> {
        let path = self.find(name).ok_or_else(|| {
            format!("The source {name} is not there. If it is elsewhere, name the directory with --source DIR.")
        })?;
        let size = std::fs::metadata(&path).map_or(0, |m| m.len()) as usize;
        if size > MAX_FILE || size > self.left {
            return Err(format!(
                "The source {name} has {size} bytes: with it the page would become too large."
            ));
        }
        let bytes = std::fs::read(&path)
            .map_err(|error| format!("The source {name} cannot be read: {error}."))?;
        self.left = self.left.saturating_sub(bytes.len());
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
    }

    /// The file of a name: as it is, or below a root, also without its first directories.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let path = Path::new(name);
        if path.is_absolute() && path.is_file() {
            return Some(path.into());
        }
        let relative: PathBuf = path.components().skip(usize::from(path.is_absolute())).collect();
        let mut tails = vec![relative.clone()];
        let mut parts: Vec<_> = relative.components().collect();
        while parts.len() > 1 {
            parts.remove(0);
            tails.push(parts.iter().collect());
        }
        // The whole name first, in all roots.
        let candidates = tails.iter().flat_map(|tail| self.roots.iter().map(move |r| r.join(tail)));
        candidates.into_iter().find(|candidate| candidate.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_below_a_root() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("lib")).unwrap();
        std::fs::write(dir.path().join("lib/a.c"), "int a;\r\n").unwrap();
        let mut sources = Sources::new(vec!["/nowhere".into(), dir.path().into()]);
        for name in ["lib/a.c", "./lib/a.c", "/build/project/lib/a.c"] {
            assert_eq!(sources.read(name).as_deref(), Ok("int a;\n"), "{name}");
        }
        assert!(sources.read("lib/b.c").unwrap_err().contains("lib/b.c is not there"));
        let absolute = dir.path().join("lib/a.c");
        assert_eq!(sources.read(&absolute.to_string_lossy()).as_deref(), Ok("int a;\n"));
    }

    #[test]
    fn large_sources_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.c"), vec![b'\n'; MAX_FILE + 1]).unwrap();
        let mut sources = Sources::new(vec![dir.path().into()]);
        assert!(sources.read("a.c").unwrap_err().contains("too large"));
        std::fs::write(dir.path().join("a.c"), vec![b'\n'; MAX_ALL / 2 + 1]).unwrap();
        assert!(sources.read("a.c").is_ok());
        assert!(sources.read("a.c").unwrap_err().contains("too large"));
    }
}
