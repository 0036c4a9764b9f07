//! Places in the source, as people name them: `parse.c:120`, `parse.c:120:9`,
//! `parse.c:120-130`, or a function. They are found in the function records, which say for
//! which lines each block has code.

mod obstacle;

pub use obstacle::Obstacles;

use pleach_abi::function::{Function, Place};
use pleach_exec::source::{is_system_file, path_in, tidy};
use pleach_exec::triage::{CrashId, readable, shortened};
use pleach_search::Goal;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use thiserror::Error;

/// A place of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundPlace {
    pub goal: Goal,
    /// The file, as the program names it.
    pub file: String,
    /// Its lines; of a function, all.
    pub lines: (u32, u32),
    /// The line with code that stands for the one that was given, which has none.
    pub moved_to: Option<u32>,
    /// The functions, readable.
    pub functions: Vec<String>,
}

/// Why there is no such place. Each is a mistake of the user.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlaceError {
    #[error("{0}: a place is FILE:LINE, FILE:LINE:COLUMN, FILE:FIRST-LAST, or a function")]
    Syntax(String),
    #[error("{place}: the program has no function `{place}`{}", similar(near))]
    NoFunction { place: String, near: Vec<String> },
    #[error("{0}: is a file; add a line, as in `{0}:12`")]
    OnlyFile(String),
    #[error("{place}: no instrumented file of the program is called `{file}`{}", similar(near))]
    NoFile { place: String, file: String, near: Vec<String> },
    #[error("{place}: several files have this name: {}", files.join(", "))]
    SeveralFiles { place: String, files: Vec<String> },
    #[error("{place}: there is no code at or after this line in a function{}", around(near))]
    NoCode { place: String, near: Vec<String> },
}

fn similar(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; there is {}", names.join(", ")) }
}

fn around(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; near it: {}", names.join(", ")) }
}

/// At most this many names are listed.
const MAX_NEAR: usize = 5;

/// The places of a program: an index of its function records.
pub struct Places<'a> {
    /// Numbered as a search numbers them.
    functions: Vec<&'a Function>,
    /// Full names, by directory and name.
    names: HashMap<&'a str, HashMap<&'a str, String>>,
    /// By the full name of each file, the functions with code in it.
    files: BTreeMap<String, Vec<usize>>,
}

impl<'a> Places<'a> {
    pub fn new(functions: impl IntoIterator<Item = &'a Function>) -> Places<'a> {
        let functions: Vec<&Function> = functions.into_iter().collect();
        let mut places = Places { functions, names: HashMap::new(), files: BTreeMap::new() };
        for (number, &function) in places.functions.iter().enumerate() {
            let own = [function.file.as_str()].into_iter();
            let used = function.places.iter().flatten().map(|p| function.file_of_place(p));
            for file in own.chain(used) {
                let directory = function.directory.as_str();
                let names = places.names.entry(directory).or_default();
                let name = names.entry(file).or_insert_with(|| path_in(function, file));
                if function.places.iter().all(Vec::is_empty) {
                    continue;
                }
                let list = match places.files.get_mut(name.as_str()) {
                    Some(list) => list,
                    None => places.files.entry(name.clone()).or_default(),
                };
                if list.last() != Some(&number) {
                    list.push(number);
                }
            }
        }
        places
    }

    /// The full name of a file that a function names.
    fn name_of(&self, function: &Function, file: &str) -> &str {
        let of_directory = self.names.get(function.directory.as_str());
        of_directory.and_then(|names| names.get(file)).map_or("", String::as_str)
    }

    /// The lines that have code, by the full name of their file.
    pub fn lines_with_code(&self) -> BTreeMap<&str, BTreeSet<u32>> {
        let mut lines: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for function in &self.functions {
            for place in function.places.iter().flatten() {
                let name = self.name_of(function, function.file_of_place(place));
                lines.entry(name).or_default().insert(place.line);
            }
        }
        lines
    }

    /// Finds a place that a user named.
    pub fn find(&self, text: &str) -> Result<FoundPlace, PlaceError> {
        let Some((file, lines, column)) = parse(text)? else { return self.find_function(text) };
        let matching: BTreeSet<&String> =
            self.files.keys().filter(|name| is_end_of(file, name)).collect();
        let Some(longest) = matching.iter().max_by_key(|name| clean(name).len()) else {
            let (place, file) = (text.to_string(), file.to_string());
            let own = self.files.keys().filter(|name| !is_system_file(name));
            let near = nearest(&file, own.cloned().collect());
            return Err(PlaceError::NoFile { place, file, near });
        };
        // The same file may be named in several ways.
        if matching.iter().any(|name| !is_end_of(name, longest)) {
            let files = matching.into_iter().cloned().collect();
            return Err(PlaceError::SeveralFiles { place: text.into(), files });
        }
        let mut found = FoundPlace { file: longest.to_string(), lines, ..FoundPlace::default() };
        let numbers: BTreeSet<usize> =
            matching.iter().flat_map(|name| &self.files[*name]).copied().collect();
        let is_here = |function: &Function, file: &str| {
            matching.iter().any(|name| name.as_str() == self.name_of(function, file))
        };
        for &number in &numbers {
            let function = self.functions[number];
            let at = |place: &Place| is_here(function, function.file_of_place(place));
            add(&mut found, number, function, blocks_at(function, at, lines, column));
        }
        let functions = || numbers.iter().map(|&number| (number, self.functions[number]));
        if found.goal.blocks.is_empty() && lines.0 == lines.1 {
            move_to_code(functions(), &is_here, lines.0, &mut found);
        }
        if found.goal.blocks.is_empty() {
            let near = functions_near(functions().map(|(_, f)| f), &is_here, lines.0);
            return Err(PlaceError::NoCode { place: text.into(), near });
        }
        Ok(found)
    }

    fn find_function(&self, text: &str) -> Result<FoundPlace, PlaceError> {
        let mut found = FoundPlace::default();
        let name = text.strip_suffix("()").unwrap_or(text);
        // Template arguments do not count.
        let plain = shortened(name).replace("<…>", "");
        let end = format!("::{plain}");
        for exact in [true, false] {
            let with_code = self.functions.iter().enumerate().filter(|(_, f)| !f.blocks.is_empty());
            for (number, function) in with_code {
                let readable = readable(&function.name).replace("<…>", "");
                let is_it = match exact {
                    true => function.name == name || readable == plain,
                    false => readable.ends_with(&end),
                };
                if is_it {
                    found.file = self.name_of(function, &function.file).into();
                    let own = |f: &Function, file: &str| self.name_of(f, file) == found.file;
                    found.lines = extent(function, &own).unwrap_or((function.line, function.line));
                    add(&mut found, number, function, vec![0]);
                }
            }
            if !found.goal.blocks.is_empty() {
                return Ok(found);
            }
        }
        if self.files.keys().any(|file| is_end_of(text, file)) {
            return Err(PlaceError::OnlyFile(text.into()));
        }
        let is_own = |f: &&&Function| !is_system_file(self.name_of(f, &f.file));
        let own = self.functions.iter().filter(is_own).map(|f| readable(&f.name)).collect();
        Err(PlaceError::NoFunction { place: text.into(), near: nearest(&plain, own) })
    }
}

/// File, lines and column.
type InFile<'a> = (&'a str, (u32, u32), Option<u32>);

/// What a place in a file consists of; `None` for the name of a function.
fn parse(text: &str) -> Result<Option<InFile<'_>>, PlaceError> {
    let syntax = || PlaceError::Syntax(text.into());
    let Some((before, last)) = text.rsplit_once(':') else {
        return if text.is_empty() { Err(syntax()) } else { Ok(None) };
    };
    // A name of C++: `ns::parse`.
    if before.ends_with(':') || last.starts_with(|c: char| !c.is_ascii_digit()) {
        let is_name = text.contains("::") || before.contains("::");
        return if is_name { Ok(None) } else { Err(syntax()) };
    }
    let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n > 0);
    if let Some((first, end)) = last.split_once('-') {
        let lines = number(first).zip(number(end)).filter(|(first, end)| first <= end);
        return Ok(Some((before, lines.ok_or_else(syntax)?, None)));
    }
    let last = number(last).ok_or_else(syntax)?;
    match before.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
        Some((file, line)) if !file.is_empty() => Ok(Some((file, (line, line), Some(last)))),
        _ if before.is_empty() => Err(syntax()),
        _ => Ok(Some((before, (last, last), None))),
    }
}

/// The blocks of a function with code on some lines. With a column, only those whose code on the
/// line goes over it, or else begins or ends nearest to it: the compiler gives `n = 2` the column
/// of `=`, and a user that of `n`.
fn blocks_at(
    function: &Function,
    is_here: impl Fn(&Place) -> bool,
    (first, last): (u32, u32),
    column: Option<u32>,
) -> Vec<u32> {
    let mut blocks = Vec::new();
    for (block, places) in (0..).zip(&function.places) {
        let on_lines = places.iter().filter(|p| (first..=last).contains(&p.line) && is_here(p));
        let columns = on_lines.map(|p| p.column);
        let range = columns.map(|c| (c, c)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        blocks.extend(range.map(|range| (range, block)));
    }
    if let Some(column) = column {
        let distance = |(first, last): (u32, u32)| {
            let outside = first.saturating_sub(column).max(column.saturating_sub(last));
            (outside, last - first)
        };
        let best = blocks.iter().map(|b| distance(b.0)).min();
        blocks.retain(|b| Some(distance(b.0)) == best);
    }
    blocks.into_iter().map(|(_, block)| block).collect()
}

fn add(found: &mut FoundPlace, number: usize, function: &Function, blocks: Vec<u32>) {
    if blocks.is_empty() {
        return;
    }
    found.goal.blocks.extend(blocks.into_iter().map(|block| (number as u32, block)));
    let name = readable(&function.name);
    if !found.functions.contains(&name) {
        found.functions.push(name);
    }
}

/// Takes the next line with code, if the given one is in a function.
fn move_to_code<'a>(
    functions: impl Iterator<Item = (usize, &'a Function)>,
    is_here: &impl Fn(&Function, &str) -> bool,
    line: u32,
    found: &mut FoundPlace,
) {
    for (number, function) in functions {
        let Some((first, _)) = extent(function, is_here).filter(|e| e.0 <= line && line <= e.1)
        else {
            continue;
        };
        let at = |place: &Place| is_here(function, function.file_of_place(place));
        let lines = function.places.iter().flatten().filter(|p| at(p)).map(|p| p.line);
        let Some(next) = lines.filter(|l| *l >= line.max(first)).min() else { continue };
        if found.moved_to.is_none_or(|known| known == next) {
            found.moved_to = Some(next);
            add(found, number, function, blocks_at(function, at, (next, next), None));
        }
    }
}

/// The first and last line of a function in a file.
fn extent(function: &Function, is_here: &impl Fn(&Function, &str) -> bool) -> Option<(u32, u32)> {
    let at = |place: &&Place| is_here(function, function.file_of_place(place));
    let lines = || function.places.iter().flatten().filter(at).map(|p| p.line);
    let own = (function.line > 0 && is_here(function, &function.file)).then_some(function.line);
    Some((own.into_iter().chain(lines()).min()?, lines().max()?))
}

fn functions_near<'a>(
    functions: impl Iterator<Item = &'a Function>,
    is_here: &impl Fn(&Function, &str) -> bool,
    line: u32,
) -> Vec<String> {
    let mut near: Vec<(u32, u32, u32, String)> = functions
        .filter_map(|f| {
            let (first, last) = extent(f, is_here)?;
            let away = if line < first { first - line } else { line.saturating_sub(last) };
            Some((away, first, last, readable(&f.name)))
        })
        .collect();
    near.sort();
    near.dedup();
    let text = |(_, first, last, name)| format!("{name} (lines {first}-{last})");
    near.into_iter().take(2).map(text).collect()
}

/// The parts of a path without `.` and leading `..`.
fn clean(path: &str) -> Vec<&str> {
    path.split('/').filter(|p| !matches!(*p, "" | "." | "..")).collect()
}

/// True if a path ends in another, in whole parts.
pub fn is_end_of(end: &str, path: &str) -> bool {
    match (end.starts_with('/'), path.starts_with('/')) {
        // An included file may be `src/./table.h`.
        (true, true) => tidy(Path::new(end)) == tidy(Path::new(path)),
        // The program does not say which directory it was built in.
        (true, false) => clean(end).ends_with(&clean(path)),
        (false, _) => clean(path).ends_with(&clean(end)),
    }
}

/// The names that are most like one: those whose last part has few different letters.
fn nearest(name: &str, all: BTreeSet<String>) -> Vec<String> {
    let short = |n: &str| n.rsplit(['/', ':']).next().unwrap_or(n).to_lowercase();
    let wanted = short(name);
    let mut ranked: Vec<(usize, String)> =
        all.into_iter().map(|n| (edits(&wanted, &short(&n)), n)).collect();
    ranked.sort();
    ranked.into_iter().take(MAX_NEAR).map(|(_, n)| n).collect()
}

/// The number of letters to insert, remove or replace.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// True if a crash happened at a place, or in something that was called from there.
pub fn is_in_stack(place: &FoundPlace, crash: &CrashId) -> bool {
    let (first, last) = (place.moved_to.unwrap_or(place.lines.0), place.lines.1);
    crash.frames.iter().any(|frame| {
        place.functions.contains(&frame.function)
            && (first..=last.max(first)).contains(&frame.line)
            && is_end_of(&frame.file, &place.file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32, column: u32) -> Place {
        Place { file: String::new(), line, column }
    }

    fn function(name: &str, file: &str, line: u32, places: Vec<Vec<Place>>) -> Function {
        Function {
            name: name.into(),
            file: file.into(),
            directory: "/src/app".into(),
            line,
            blocks: vec![vec![]; places.len()],
            places,
            ..Function::default()
        }
    }

    /// `parse` has three blocks, `show` in a header two copies.
    fn functions() -> Vec<Function> {
        let parse = vec![
            vec![place(11, 3), place(12, 7)],
            vec![place(12, 15)],
            vec![place(15, 5), place(20, 1)],
        ];
        vec![
            function("parse", "lib/parse.c", 10, parse),
            function("show", "../include/show.h", 3, vec![vec![place(4, 1)]]),
            function("_ZN2ns4showEv", "../include/show.h", 3, vec![vec![place(4, 1)]]),
            function("parse_all", "tools/parse.c", 5, vec![vec![place(6, 1)]]),
        ]
    }

    fn find(text: &str) -> Result<FoundPlace, String> {
        let functions = functions();
        Places::new(&functions).find(text).map_err(|e| e.to_string())
    }

    #[track_caller]
    fn check(text: &str, blocks: &[(u32, u32)], moved_to: Option<u32>) {
        let found = find(text).unwrap();
        assert_eq!((&found.goal.blocks[..], found.moved_to), (blocks, moved_to), "{text}");
    }

    #[test]
    fn lines_columns_ranges_and_functions_are_found() {
        check("lib/parse.c:12", &[(0, 0), (0, 1)], None);
        check("/src/app/lib/parse.c:11", &[(0, 0)], None);
        check("/src/app/./lib/../lib/parse.c:11", &[(0, 0)], None);
        check("lib/parse.c:12:15", &[(0, 1)], None);
        check("lib/parse.c:12:14", &[(0, 1)], None);
        check("lib/parse.c:12:9", &[(0, 0)], None);
        check("lib/parse.c:15:6", &[(0, 2)], None);
        check("lib/parse.c:14-20", &[(0, 2)], None);
        check("show.h:4", &[(1, 0), (2, 0)], None);
        check("parse", &[(0, 0)], None);
        check("ns::show", &[(2, 0)], None);
        check("show", &[(1, 0)], None);
    }

    /// `a::Box<int>::open` and `std::opens`, which a system header defines.
    #[test]
    fn the_end_of_a_cxx_name_is_enough() {
        let places = || vec![vec![place(4, 1)]];
        let functions = vec![
            function("_ZN1a3BoxIiE4openEv", "box.h", 3, places()),
            function("_ZSt5opensv", "/usr/include/c++/12/bits/open.h", 3, places()),
        ];
        let places = Places::new(&functions);
        for name in ["open", "Box::open", "Box<int>::open", "a::Box<…>::open", "a::Box::open()"] {
            let found = places.find(name).unwrap();
            assert_eq!((&found.goal.blocks[..], name), (&[(0, 0)][..], name));
        }
        for name in ["ox::open", "b::Box::open", "Box::opens", "opem"] {
            let error = places.find(name).unwrap_err().to_string();
            assert!(error.ends_with("there is a::Box<…>::open"), "{error}");
        }
        let error = places.find("bax.h:4").unwrap_err().to_string();
        assert!(error.ends_with("there is /src/app/box.h"), "{error}");
    }

    #[test]
    fn a_line_without_code_stands_for_the_next_one_of_its_function() {
        check("lib/parse.c:13", &[(0, 2)], Some(15));
        check("lib/parse.c:10", &[(0, 0)], Some(11));
    }

    #[test]
    fn wrong_places_are_named_with_what_is_near() {
        let error = |text| find(text).unwrap_err();
        assert!(error("lib/parse.c:21").ends_with("near it: parse (lines 10-20)"));
        assert!(error("parse.c:12").contains("/src/app/lib/parse.c, /src/app/tools/parse.c"));
        assert!(error("prase.c:12").contains("there is /src/app/lib/parse.c"));
        assert_eq!(error("show.h"), "show.h: is a file; add a line, as in `show.h:12`");
        assert!(error("pars").contains("no function `pars`; there is parse,"));
        for text in ["", ":12", "lib/parse.c:0", "lib/parse.c:x", "lib/parse.c:9-3"] {
            assert!(error(text).contains("a place is FILE:LINE"), "{text}: {}", error(text));
        }
    }
}
