//! The directories of a tree that a compiler needs with `-I`: those of the headers that sources
//! include, and of the headers that these include.

use crate::programs::is_test_dir;
use crate::tree::{File, Tree};
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// More files are not read.
const MAX_READ: usize = 2000;

/// The directories, relative to the tree, in the order in which they are needed.
pub fn include_dirs<'a>(
    tree: &'a Tree,
    sources: impl IntoIterator<Item = &'a File>,
) -> Vec<PathBuf> {
    let mut by_name: HashMap<&str, Vec<&File>> = HashMap::new();
    for file in &tree.files {
        by_name.entry(file.name()).or_default().push(file);
    }
    let mut waiting: Vec<&File> = sources.into_iter().collect();
    waiting.reverse();
    let mut seen: HashSet<&Path> = waiting.iter().map(|file| file.path.as_path()).collect();
    let mut dirs: Vec<PathBuf> = Vec::new();
    while let Some(file) = waiting.pop() {
        if seen.len() > MAX_READ {
            break;
        }
        for include in tree.text(file).lines().filter_map(included) {
            let wanted = Path::new(include.name);
            let beside = plain(&file.dir().join(wanted));
            let name = wanted.file_name().and_then(|n| n.to_str()).unwrap_or("");
            let candidates = by_name.get(name).map_or(&[][..], Vec::as_slice);
            let is_beside = |f: &&&File| include.is_quoted && f.path == beside;
            let found = match candidates.iter().find(is_beside) {
                Some(found) => Some(*found),
                None if !include.is_quoted && is_of_system(include.name) => None,
                None => find(candidates, &plain(wanted), file.dir(), &mut dirs),
            };
            waiting.extend(found.filter(|found| seen.insert(found.path.as_path())));
        }
    }
    dirs
}

/// The file that a directory of headers has by a name. The directory is added to `dirs`.
fn find<'a>(
    candidates: &[&'a File],
    wanted: &Path,
    from: &Path,
    dirs: &mut Vec<PathBuf>,
) -> Option<&'a File> {
    let depth = wanted.iter().count();
    let top = |file: &File| file.path.ancestors().nth(depth).unwrap_or(Path::new("")).to_owned();
    let matching = || candidates.iter().copied().filter(|file| file.path.ends_with(wanted));
    if let Some(known) = matching().find(|file| dirs.contains(&top(file))) {
        return Some(known);
    }
    // A directory named for headers, then one near the file that includes it.
    let best = matching().min_by_key(|file| {
        let dir = top(file);
        let is_for_headers = dir.ends_with("include") || dir.ends_with("inc");
        let common = dir.iter().zip(from).take_while(|(a, b)| a == b).count();
        let distance = dir.iter().count() + from.iter().count() - 2 * common;
        (is_test_dir(&dir) && !from.starts_with(&dir), !is_for_headers, distance)
    })?;
    dirs.push(top(best));
    Some(best)
}

struct Include<'a> {
    name: &'a str,
    is_quoted: bool,
}

/// The header of a line `#include "x.h"` or `#include <x.h>`.
fn included(line: &str) -> Option<Include<'_>> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    let rest = rest.trim_start();
    let is_quoted = rest.starts_with('"');
    let name = rest.strip_prefix(['"', '<'])?.split(['"', '>']).next()?;
    (!name.is_empty()).then_some(Include { name, is_quoted })
}

/// A path without `.` and `..`. What leads out of the tree is left out.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => _ = out.pop(),
            _ => {}
        }
    }
    out
}

/// True for a header of the compiler or of this machine. A tree that has one of its own, for
/// another machine, must not replace it.
fn is_of_system(name: &str) -> bool {
    const OF_COMPILER: [&str; 12] = [
        "float.h",
        "iso646.h",
        "limits.h",
        "stdalign.h",
        "stdarg.h",
        "stdatomic.h",
        "stdbool.h",
        "stddef.h",
        "stdint.h",
        "stdnoreturn.h",
        "tgmath.h",
        "immintrin.h",
    ];
    const DIRS: [&str; 3] = ["/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu"];
    OF_COMPILER.contains(&name) || DIRS.iter().any(|dir| Path::new(dir).join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_include() {
        let name = |line| included(line).map(|i| (i.name.to_string(), i.is_quoted));
        assert_eq!(name("# include  \"a/b.h\" // x"), Some(("a/b.h".into(), true)));
        assert_eq!(name("#include <a.h>"), Some(("a.h".into(), false)));
        assert_eq!(name("#include HEADER"), None);
        assert_eq!(name("include \"a.h\""), None);
        assert_eq!(plain(Path::new("a/../../b/./c.h")), Path::new("b/c.h"));
    }
}
