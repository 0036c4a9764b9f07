//! The programs that a build makes, by the names in its files, and harnesses of fuzzers.

use crate::includes::include_dirs;
use crate::tree::{File, Tree};
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub struct Programs {
    /// Those that are installed, then others, without duplicates.
    pub all: Vec<Program>,
    pub harnesses: Vec<Harness>,
}

/// A program that the build files name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    /// The directory of the file that names it, relative to the tree.
    pub dir: PathBuf,
}

/// A source with `LLVMFuzzerTestOneInput`.
#[derive(Clone, Debug)]
pub struct Harness {
    /// Relative to the tree.
    pub path: PathBuf,
    /// Directories of the tree that have the headers which it includes.
    pub include: Vec<PathBuf>,
}

impl Harness {
    pub fn is_cxx(&self) -> bool {
        self.path.extension().is_some_and(|e| e != "c")
    }

    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

const SOURCES: [&str; 5] = ["c", "cc", "cpp", "cxx", "c++"];

pub fn find(tree: &Tree) -> Programs {
    let (mut installed, mut others) = (Vec::new(), Vec::new());
    let sources = || tree.with_extension(&SOURCES);
    for file in &tree.files {
        let is_test = is_test_dir(file.dir());
        let lists = match file.name() {
            "Makefile.am" => automake_lists(&tree.text(file)),
            "CMakeLists.txt" => vec![(!is_test, cmake_programs(&tree.text(file)))],
            "meson.build" => vec![(!is_test, first_arguments(&tree.text(file), "executable("))],
            "Makefile" | "makefile" | "GNUmakefile" | "Makefile.in" => {
                vec![(!is_test, assigned(&tree.text(file)))]
            }
            _ => continue,
        };
        for (is_installed, names) in lists {
            let list = if is_installed && !is_test { &mut installed } else { &mut others };
            // A makefile of manual pages names the program, too.
            let has_sources = sources().any(|source| source.path.starts_with(file.dir()));
            let dir = if has_sources { file.dir() } else { Path::new("") };
            list.extend(names.into_iter().map(|name| Program { name, dir: dir.to_owned() }));
        }
    }
    // Else a source with a `main` is probably a program of its own.
    if installed.is_empty() && others.is_empty() {
        let main = sources().filter(|f| !is_test_dir(f.dir()) && has_main(&tree.text(f)));
        installed.extend(main.filter_map(|file| {
            let name = file.path.file_stem()?.to_str()?.to_owned();
            Some(Program { name, dir: file.dir().to_owned() })
        }));
    }
    let project = tree.name();
    // The program that is named like the project comes first.
    installed.sort_by_key(|program| program.name != project);
    // A test of a function reads no file more often than an example does.
    others.sort_by_key(|program| program.name.starts_with("test"));
    let mut all: Vec<Program> = Vec::new();
    for program in installed.into_iter().chain(others) {
        if is_name(&program.name) && !all.iter().any(|known| known.name == program.name) {
            all.push(program);
        }
    }
    let harnesses = sources().filter_map(|file| harness(tree, file)).collect();
    Programs { all, harnesses }
}

/// True for a directory of tests, examples and fuzzers: what is built there is not what users
/// run.
pub fn is_test_dir(dir: &Path) -> bool {
    dir.iter().any(|part| {
        let part = part.to_string_lossy().to_ascii_lowercase();
        ["test", "check", "fuzz", "bench", "example", "contrib", "sample", "demo", "doc"]
            .iter()
            .any(|word| part.starts_with(word))
    })
}

pub fn has_main(text: &str) -> bool {
    text.match_indices("main").any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let is_word = before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let line = text[..at].rsplit('\n').next().unwrap_or("").trim_start();
        let is_definition = line.is_empty() || line.starts_with("int") || line.starts_with("void");
        !is_word && is_definition && text[at + 4..].trim_start().starts_with('(')
    })
}

fn harness(tree: &Tree, file: &File) -> Option<Harness> {
    const NAME: &str = "LLVMFuzzerTestOneInput";
    let text = tree.text(file);
    // A file that only declares or calls it has no body.
    let is_definition = |(at, _): (usize, &str)| {
        let rest = &text[at..];
        rest.find('{').is_some_and(|brace| !rest[..brace].contains([';', '=']))
            && !text[..at].trim_end().ends_with([')', '='])
    };
    if !text.match_indices(NAME).any(is_definition) {
        return None;
    }
    let include = include_dirs(tree, [file]);
    Some(Harness { path: file.path.clone(), include })
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphanumeric())
        && chars.all(|c| c.is_ascii_alphanumeric() || "_.+-".contains(c))
}

/// The lists `bin_PROGRAMS = a b`: true for those that are installed, and the names.
fn automake_lists(text: &str) -> Vec<(bool, Vec<String>)> {
    let joined = text.replace("\\\n", " ");
    let mut lists = Vec::new();
    for line in joined.lines() {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim().trim_end_matches('+').trim();
        if let Some(kind) = name.strip_suffix("_PROGRAMS") {
            let value = value.split('#').next().unwrap_or("");
            let names = value.split_whitespace().filter_map(|word| word.rsplit('/').next());
            lists.push((kind == "bin", names.map(str::to_owned).collect()));
        }
    }
    lists
}

/// The programs of `add_executable`: the target, or the name that `OUTPUT_NAME` gives it.
fn cmake_programs(text: &str) -> Vec<String> {
    let targets = first_arguments(text, "add_executable(").into_iter();
    targets.filter_map(|target| cmake_value(text, &output_name(text, target))).collect()
}

/// The name of the file that a target becomes.
fn output_name(text: &str, target: String) -> String {
    let calls = text.split("set_target_properties(").skip(1);
    let words = calls.filter_map(|rest| {
        let words = rest[..rest.find(')')?].split_whitespace();
        Some(words.map(|word| word.trim_matches('"')).collect::<Vec<_>>())
    });
    let named = words.filter(|words| words.first() == Some(&target.as_str())).filter_map(|words| {
        let at = words.iter().position(|word| *word == "OUTPUT_NAME")?;
        Some((*words.get(at + 1)?).to_owned())
    });
    named.last().unwrap_or(target)
}

/// The value of a word. A variable has the value that `set` or `project` gives it in the same file.
fn cmake_value(text: &str, word: &str) -> Option<String> {
    let Some(variable) = word.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else {
        return Some(word.to_owned());
    };
    if ["PROJECT_NAME", "CMAKE_PROJECT_NAME"].contains(&variable) {
        return first_arguments(text, "project(").pop();
    }
    let set = text.match_indices("set(").map(|(at, call)| text[at + call.len()..].trim_start());
    let rest = set.filter_map(|rest| rest.strip_prefix(variable));
    let rest = rest.filter(|rest| rest.starts_with(char::is_whitespace)).last()?;
    let value = rest.trim_start().trim_start_matches('"');
    let end = value.find(|c: char| c.is_whitespace() || "\")".contains(c))?;
    Some(value[..end].to_owned())
}

/// The first argument of each call: `name` in `executable('name', …)`.
fn first_arguments(text: &str, call: &str) -> Vec<String> {
    let calls = text.match_indices(call).filter(|(at, _)| {
        let line = text[..*at].rsplit('\n').next().unwrap_or("");
        !line.contains('#') && !line.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    });
    let first = calls.map(|(at, _)| &text[at + call.len()..]);
    first
        .filter_map(|rest| {
            rest.trim_start()
                .trim_start_matches(['\'', '"'])
                .split(|c: char| c.is_whitespace() || "'\",)".contains(c))
                .next()
        })
        .map(str::to_owned)
        .collect()
}

/// The values of `PROG = name` and its like in a makefile.
fn assigned(text: &str) -> Vec<String> {
    let names = [
        "PROG",
        "PROGRAM",
        "PROGRAMS",
        "PROGS",
        "BIN",
        "BINARY",
        "BINARIES",
        "EXE",
        "EXEC",
        "EXECUTABLE",
        "TARGET",
        "TARGETS",
    ];
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let values = lines.filter_map(|(name, value)| {
        let name = name.trim().trim_end_matches([':', '?', '+']).trim();
        names.contains(&name).then_some(value)
    });
    let words = values.flat_map(|value| value.split('#').next().unwrap_or("").split_whitespace());
    words
        .filter(|word| !word.ends_with(".so") && !word.ends_with(".a"))
        .map(str::to_owned)
        .collect()
}
