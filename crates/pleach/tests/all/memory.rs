//! Memory whose contents depend on the input, read and written at addresses that do, too:
//! `generational` alone reaches each goal of the programs in `tests/memory`.

#[path = "../support/quoted.rs"]
mod quoted;

use crate::common::Program;
use std::path::Path;

/// The value of a key in the comment at the top of a program.
fn key<'a>(source: &'a str, name: &str) -> &'a str {
    let prefix = format!("// {name}: ");
    let value = source.lines().find_map(|line| line.strip_prefix(&prefix));
    value.unwrap_or_else(|| panic!("no {name}: {source}"))
}

/// The goals of a program that are not reached, as `file goal: why the search ended`.
fn missed_goals(file: &Path, level: &str) -> Vec<String> {
    let source = std::fs::read_to_string(file).expect("a program");
    let program = Program::with(&source, &[level]);
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

fn check_all(level: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/memory");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= 20);
    let missed: Vec<String> = files.iter().flat_map(|f| missed_goals(f, level)).collect();
    assert_eq!(missed, [] as [String; 0]);
}

#[test]
fn all_goals_are_reached() {
    check_all("-O1");
}

#[test]
fn all_goals_of_programs_that_are_not_optimised_are_reached() {
    check_all("-O0");
}

const INDEX: &str = r#"#include <unistd.h>
static int table[100];
int main(void) {
    unsigned char in[8];
    if (read(0, in, 8) != 8) return 1;
    if (in[0] < 8 && in[in[0]] == 'Q') return 2;
    int x = (signed char)in[1];
    table[50] = in[2];
    if (table[x % 100] == 9) return 3;
    return 0;
}
"#;

#[test]
fn explain_prints_the_element() {
    let p = Program::new(INDEX);
    let text = p.text(&["explain", "-", "--", "./prog"], b"\x03\x06......");
    assert!(text.contains("in[in[0]] == 'Q'") || text.contains("in[in[0]] != 'Q'"), "{text}");
    assert!(text.contains("table["), "{text}");
    assert!(!text.contains('?'), "{text}");
}

#[test]
fn an_index_outside_its_array_is_a_check_of_that_array() {
    let p = Program::new(INDEX);
    // -5 % 100 is -5: outside `table`, whatever lies there.
    let text = p.text(&["explain", "-", "--", "./prog"], b"\x03\xfb......");
    let check = text.lines().find(|line| line.contains("in[1] % 100")).unwrap_or_default();
    assert!(check.contains("> 396"), "{text}");
}

#[test]
fn too_many_cells_are_pinned_and_counted() {
    let source = r#"#include <stdlib.h>
    #include <unistd.h>
    static unsigned char big[2000];
    int main(void) {
        unsigned char in[4];
        if (read(0, in, 4) != 4) return 1;
        unsigned i = (in[0] | in[1] << 8) % 2000;
        big[i] = in[2];
        if (big[999] == 77) abort();
        return 0;
    }
    "#;
    let p = Program::new(source);
    p.seeds([("seed", b"....".as_slice())]);
    let ended = p.campaign("out", &["-s", "generational", "-n", "200", "-i", "seeds"]);
    assert_eq!(ended.stop(), "exhausted-partial");
    assert!(ended.partial().contains(&"pinned"), "{}", ended.stats);
}
