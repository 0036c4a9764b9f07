//! Files that may be inputs of the program: tests, examples, corpora.
//!
//! Files of one extension below one directory are a group. The names of the directories and
//! the sizes of the files say how likely it is that they are inputs.

use crate::tree::{File, Tree};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Larger files make every run slow.
pub const MAX_SIZE: u64 = 32 << 10;

/// A group of files.
#[derive(Clone, Debug)]
pub struct Seeds {
    /// The directory that has them all, relative to the tree.
    pub dir: PathBuf,
    /// Their extension, without the dot; empty for names without one.
    pub extension: String,
    pub files: Vec<File>,
    score: u64,
}

impl Seeds {
    /// `test/*.awk`
    pub fn pattern(&self) -> String {
        self.dir.join(self.name_pattern()).display().to_string()
    }

    /// A pattern for the names, as `find` takes it.
    pub fn name_pattern(&self) -> String {
        match self.extension.as_str() {
            "" => "[!.]*".into(),
            extension => format!("*.{extension}"),
        }
    }
}

/// Words in names of directories, and how much they say.
const DIRS: [(&str, u64); 14] = [
    ("corpus", 40),
    ("corpora", 40),
    ("seed", 40),
    ("testdata", 30),
    ("fixture", 25),
    ("input", 25),
    ("sample", 20),
    ("example", 20),
    ("regress", 20),
    ("test", 20),
    ("resources", 10),
    ("data", 10),
    ("demo", 10),
    ("fuzz", 10),
];

/// Files that are never inputs of the program, unless it is a compiler.
const OTHERS: &[&str] = &[
    "c",
    "h",
    "cc",
    "cpp",
    "cxx",
    "hpp",
    "hh",
    "hxx",
    "c++",
    "inl",
    "inc",
    "s",
    "asm",
    "o",
    "a",
    "so",
    "la",
    "lo",
    "in",
    "am",
    "ac",
    "m4",
    "mk",
    "cmake",
    "build",
    "wrap",
    "sh",
    "bash",
    "bat",
    "cmd",
    "ps1",
    "py",
    "pl",
    "pm",
    "rb",
    "go",
    "rs",
    "java",
    "md",
    "rst",
    "texi",
    "texinfo",
    "info",
    "po",
    "pot",
    "gmo",
    "mo",
    "1",
    "3",
    "5",
    "7",
    "8",
    "pc",
    "spec",
    "sln",
    "vcxproj",
    "filters",
    "vcproj",
    "dsp",
    "dsw",
    "gn",
    "gyp",
    "gypi",
    "bzl",
    "bazel",
    "y",
    "l",
    "yy",
    "ll",
    "ypp",
    "g4",
    "ebnf",
    "bnf",
    "patch",
    "diff",
    "log",
    "gz",
    "xz",
    "bz2",
    "zip",
    "tar",
    "tgz",
    "results",
    "err",
    "stderr",
    "d",
    "def",
    "rc",
    "ico",
    "guess",
    "sub",
    "stamp",
    "orig",
    "rej",
    "dict",
    "options",
    "nix",
    "lock",
    "kdev4",
    "gcov",
    "cfg",
    "ini",
    "toml",
    "map",
    "symbols",
    "install",
    "docs",
    "manpages",
    "changelog",
    "copyright",
    "control",
    "rules",
    "watch",
    "postinst",
    "prerm",
];

/// Files that say what the program answers on the file of the same name.
const ANSWERS: [&str; 9] =
    ["expect", "expected", "exp", "out", "ok", "ref", "result", "good", "stdout"];

/// Names of files that many projects have.
const NAMES: [&str; 26] = [
    "README",
    "LICENSE",
    "LICENCE",
    "COPYING",
    "INSTALL",
    "NEWS",
    "AUTHORS",
    "THANKS",
    "TODO",
    "ChangeLog",
    "Changes",
    "CHANGES",
    "CHANGELOG",
    "MANIFEST",
    "VERSION",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "configure",
    "depcomp",
    "missing",
    "compile",
    "install-sh",
    "Doxyfile",
    "CODEOWNERS",
    "Dockerfile",
];

/// All groups that look like inputs, the most likely first.
pub fn find(tree: &Tree) -> Vec<Seeds> {
    let mut groups: BTreeMap<(PathBuf, String), Vec<File>> = BTreeMap::new();
    let answered = answered(tree);
    let has_answer = |file: &File| answered.contains(&file.path.with_extension(""));
    for file in tree.files.iter().filter(|f| is_possible(f, has_answer(f))) {
        let Some(top) = seed_dir(file.dir()) else { continue };
        groups.entry((top, file.extension())).or_default().push(file.clone());
    }
    let mut found: Vec<Seeds> = groups
        .into_iter()
        .map(|((dir, extension), files)| {
            let with_answers = files.iter().filter(|file| has_answer(file)).count();
            let bonus = if 2 * with_answers > files.len() { 40 } else { 0 };
            let score = score(tree, &dir, &extension, &files) + bonus;
            Seeds { dir: common_dir(&files).unwrap_or(dir), extension, files, score }
        })
        .filter(|seeds| seeds.score > 0)
        .collect();
    found.sort_by(|a, b| (b.score, &a.dir, &a.extension).cmp(&(a.score, &b.dir, &b.extension)));
    found
}

/// The files that have an answer beside them, without their extensions.
fn answered(tree: &Tree) -> HashSet<PathBuf> {
    let answers = tree.with_extension(&ANSWERS);
    answers.map(|file| file.path.with_extension("")).collect()
}

/// `has_answer`: a test compares what the program answers on it, so it is an input of a compiler
/// even if its name is that of a source.
fn is_possible(file: &File, has_answer: bool) -> bool {
    let stem = file.name().split('.').next().unwrap_or("");
    // The tests of a Debian package are scripts.
    !file.path.starts_with("debian")
        && (1..=MAX_SIZE).contains(&file.size)
        && !ANSWERS.contains(&file.extension().as_str())
        && (has_answer || !OTHERS.contains(&file.extension().as_str()))
        && !NAMES.contains(&stem)
        && !file.name().ends_with('~')
        && file.name() != "CMakeLists.txt"
        && (has_answer || !file.path.to_string_lossy().contains("expected"))
}

/// The outermost directory of a path whose name says that it has inputs.
fn seed_dir(dir: &Path) -> Option<PathBuf> {
    let depth = dir.iter().position(|part| weight(&part.to_string_lossy()) > 0)?;
    Some(dir.iter().take(depth + 1).collect())
}

fn weight(name: &str) -> u64 {
    let name = name.to_ascii_lowercase();
    DIRS.iter().filter(|(word, _)| name.contains(word)).map(|(_, w)| *w).max().unwrap_or(0)
}

fn common_dir(files: &[File]) -> Option<PathBuf> {
    let first = files.first()?.dir();
    let common = first.ancestors().find(|dir| files.iter().all(|f| f.path.starts_with(dir)));
    common.map(Path::to_owned)
}

fn score(tree: &Tree, dir: &Path, extension: &str, files: &[File]) -> u64 {
    let place = |file: &File| {
        let parts = file.dir().iter().map(|p| p.to_string_lossy().to_ascii_lowercase());
        let (mut best, mut is_fuzzing, mut is_corpus) = (0, false, false);
        for part in parts {
            best = best.max(weight(&part));
            is_fuzzing |= part.contains("fuzz") || part.contains("afl");
            is_corpus |= weight(&part) >= 25;
        }
        // Somebody has already collected inputs for a fuzzer.
        best + if is_fuzzing && is_corpus { 60 } else { 0 }
    };
    let names = files.iter().map(place).max().unwrap_or_else(|| weight(&dir.to_string_lossy()));
    // Many files say more than one, but a thousand not more than a hundred.
    let count = 10 * (files.len().min(100) as u64).ilog2() as u64 + 5;
    let project = tree.name().to_ascii_lowercase();
    let is_own = extension.len() >= 2 && project.contains(extension)
        || project.strip_prefix("lib").is_some_and(|p| p == extension)
        || files.iter().any(|f| f.dir().iter().any(|p| p.to_string_lossy() == project));
    let own = if is_own { 40 } else { 0 };
    let text = match extension {
        // Notes and lists of tests are more often text than inputs are.
        "txt" | "html" | "cmake" | "css" | "js" | "xml" | "yml" | "yaml" if !is_own => 0,
        "" => 5,
        _ => 20,
    };
    names + count + own + text
}
