//! Programs with goals: each takes the number of a goal, which is an `abort()`. The comment at the
//! top has a `seed:` and the number of `goals:`.

use crate::common::Program;
use std::path::Path;

#[path = "quoted.rs"]
mod quoted;

/// The value of a key in the comment at the top of a program.
fn key<'a>(source: &'a str, name: &str) -> &'a str {
    let prefix = format!("// {name}: ");
    let value = source.lines().find_map(|line| line.strip_prefix(&prefix));
    value.unwrap_or_else(|| panic!("no {name}: {source}"))
}

/// The goals of a program that `generational` does not reach, as `file goal: why the search
/// ended`.
fn missed_goals(file: &Path, flags: &[&str]) -> Vec<String> {
    let source = std::fs::read_to_string(file).expect("a program");
    let program = Program::empty();
    let (compiler, name) = match file.extension().is_some_and(|e| e == "cc") {
        true => ("c++", "prog.cc"),
        false => ("cc", "prog.c"),
    };
    program.file(name, source.as_bytes());
    program.text(&[&[compiler, "-g", name, "-o", "prog"], flags].concat(), b"");
    let seed = quoted::unquote(key(&source, "seed")).expect("a quoted string");
    program.seeds([("seed", &*seed)]);
    let goals: u32 = key(&source, "goals").parse().expect("a number");
    let try_goal = |goal: u32| {
        let flags = ["-s", "generational", "-n", "200", "--stop-on-crash", "-i", "seeds"];
        let out = format!("goal{goal}");
        let ended = program.campaign_with_args(&out, &flags, &[&goal.to_string()]);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        (ended.stop() != "crash").then(|| format!("{name} {goal}: {}", ended.stop()))
    };
    (0..goals).filter_map(try_goal).collect()
}

/// Checks that all goals of the programs in a folder of `tests` are reached.
pub fn check_folder(name: &str, least: usize, flags: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name);
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= least);
    let missed: Vec<String> = files.iter().flat_map(|f| missed_goals(f, flags)).collect();
    assert_eq!(missed, [] as [String; 0]);
}
