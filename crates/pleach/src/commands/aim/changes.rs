//! The lines that changed since a revision, from `git diff`. Those with code are places.
//!
//! The repository is that of the program's sources: the debug information says where they are.
//! If it is a submodule, the whole repository around it counts, with the changes in all of its
//! submodules. A renamed file has changed only where its text has.

use super::Aim;
use crate::exit::Failure;
use anyhow::anyhow;
use pleach_campaign::run::{Places, Toward};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub fn add_changes(revision: &str, places: &Places, aim: &mut Aim) -> Result<(), Failure> {
    let by_file = places.lines_with_code();
    let root = find_repository(&by_file)?;
    let changed = changed_lines(revision, &root)?;
    for (file, changed) in &changed {
        let full = root.join(file);
        let names = [full.canonicalize().unwrap_or(full.clone()), full];
        let known = by_file.iter().find(|(name, _)| {
            let path = Path::new(name);
            let real = path.canonicalize().unwrap_or_else(|_| path.into());
            names.contains(&real) || path.is_relative() && names.iter().any(|n| n.ends_with(path))
        });
        let Some((name, code)) = known else { continue };
        let lines: Vec<u32> = code.iter().copied().filter(|line| changed.contains(line)).collect();
        for (first, last) in group(places, name, &lines, code) {
            let place = match first == last {
                true => format!("{name}:{first}"),
                false => format!("{name}:{first}-{last}"),
            };
            aim.toward.push(Toward { place, what: String::new() });
        }
    }
    Ok(())
}

/// Joins neighbouring lines with code that the same blocks have.
fn group(places: &Places, file: &str, lines: &[u32], code: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut groups: Vec<(u32, u32)> = Vec::new();
    let mut blocks_of_last = Vec::new();
    for &line in lines {
        let Ok(found) = places.find(&format!("{file}:{line}")) else { continue };
        let blocks = found.goal.blocks;
        match groups.last_mut() {
            Some((_, last))
                if blocks_of_last == blocks && code.range(*last + 1..line).count() == 0 =>
            {
                *last = line;
            }
            _ => groups.push((line, line)),
        }
        blocks_of_last = blocks;
    }
    groups
}

/// The repository that most of the program's lines are in; if there is none, that of the
/// current directory.
fn find_repository(by_file: &BTreeMap<&str, BTreeSet<u32>>) -> Result<PathBuf, Failure> {
    let mut directories: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (file, lines) in by_file {
        let path = Path::new(file);
        if let Some(parent) = path.parent().filter(|_| path.is_absolute()) {
            *directories.entry(parent.into()).or_default() += lines.len();
        }
    }
    let mut roots: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (directory, lines) in directories.into_iter().filter(|(d, _)| d.is_dir()) {
        if let Some(root) = top_level(&directory) {
            *roots.entry(root).or_default() += lines;
        }
    }
    let best = roots.into_iter().max_by_key(|(_, lines)| *lines).map(|(root, _)| root);
    best.or_else(|| top_level(Path::new("."))).ok_or_else(|| {
        let first = by_file.keys().next().unwrap_or(&"the sources");
        Failure::user_error(anyhow!("--changed: {first}: not in a git repository"))
    })
}

/// The root of the repository that a directory is in; of the outermost one for a submodule.
fn top_level(directory: &Path) -> Option<PathBuf> {
    let ask = |at: &Path, what: &str| {
        let out = git(at, &["rev-parse", what]).ok()?;
        let line = String::from_utf8_lossy(&out).trim_end_matches('\n').to_string();
        (!line.is_empty()).then(|| PathBuf::from(line))
    };
    let mut root = ask(directory, "--show-toplevel")?;
    while let Some(around) = ask(&root, "--show-superproject-working-tree") {
        root = around;
    }
    Some(root)
}

/// The lines that are new or changed, by the file's path in the repository.
fn changed_lines(revision: &str, root: &Path) -> Result<Vec<(String, BTreeSet<u32>)>, Failure> {
    let wrong = |why: &str| {
        let why = why.lines().next().unwrap_or("git fails");
        Failure::user_error(anyhow!("--changed {revision}: {}: {why}", root.display()))
    };
    // An option of git is no revision.
    let is_known = !revision.starts_with('-') && !revision.is_empty() && {
        let commit = format!("{revision}^{{commit}}");
        git(root, &["rev-parse", "--quiet", "--verify", &commit]).is_ok()
    };
    if !is_known {
        return Err(wrong("no such revision"));
    }
    let options = [
        "-c",
        "core.quotePath=false",
        "diff",
        "--unified=0",
        "--find-renames",
        "--submodule=diff",
        "--no-color",
        "--no-ext-diff",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        revision,
        "--",
    ];
    let text = git(root, &options).map_err(|why| wrong(&why))?;
    Ok(parse_diff(&String::from_utf8_lossy(&text)))
}

/// Runs git. Returns its output, or its messages if it failed.
fn git(directory: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(args).stdin(Stdio::null());
    match command.output() {
        Ok(out) if out.status.success() => Ok(out.stdout),
        Ok(out) => Err(String::from_utf8_lossy(&out.stderr).into_owned()),
        Err(error) => Err(format!("cannot run git: {error}")),
    }
}

/// The new lines of a diff without context.
fn parse_diff(text: &str) -> Vec<(String, BTreeSet<u32>)> {
    let mut files: Vec<(String, BTreeSet<u32>)> = Vec::new();
    // Lines of a hunk that are still to come; they may look like anything.
    let mut left = (0u32, 0u32);
    for line in text.lines() {
        match line.as_bytes().first() {
            Some(b'-') if left.0 > 0 => left.0 -= 1,
            Some(b'+') if left.1 > 0 => left.1 -= 1,
            _ => {
                if let Some(name) = line.strip_prefix("+++ ") {
                    files.push((file_name(name), BTreeSet::new()));
                } else if let Some((old, new)) = hunk(line)
                    && let Some((_, lines)) = files.last_mut()
                {
                    lines.extend(new.0..new.0 + new.1);
                    left = (old.1, new.1);
                }
            }
        }
    }
    files.retain(|(name, lines)| !name.is_empty() && !lines.is_empty());
    files
}

/// The name after `+++`: without its prefix, quotes and the tab that git adds after spaces.
/// Empty for a file that was removed.
fn file_name(text: &str) -> String {
    let text = text.strip_suffix('\t').unwrap_or(text);
    let text = match text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => text.into(),
    };
    text.strip_prefix("b/").unwrap_or_default().into()
}

/// First line and number of lines of `@@ -1,2 +3,4 @@`, before and after.
fn hunk(line: &str) -> Option<((u32, u32), (u32, u32))> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    Some((range(old)?, range(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_of_a_diff_are_read() {
        let text = "\
diff --git a/old.c b/new name.c
similarity index 90%
rename from old.c
rename to new name.c
--- a/old.c
+++ b/new name.c\t
@@ -3,2 +3,2 @@ int f(void)
--- a/looks like a header
-two
+++ b/looks like a header
+two
@@ -9 +9,0 @@
-gone
diff --git a/gone.c b/gone.c
--- a/gone.c
+++ /dev/null
@@ -1 +0,0 @@
-x
Submodule lib 12..34:
diff --git a/lib/x.c b/lib/x.c
--- a/lib/x.c
+++ b/lib/x.c
@@ -0,0 +7 @@
+y
";
        let files = parse_diff(text);
        let expected = [("new name.c", vec![3, 4]), ("lib/x.c", vec![7])];
        let found: Vec<_> =
            files.iter().map(|(n, l)| (n.as_str(), l.iter().copied().collect())).collect();
        assert_eq!(found, expected);
    }
}
