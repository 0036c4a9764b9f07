//! Memory whose contents depend on the input, read and written at addresses that do, too:
//! `generational` alone reaches each goal of the programs in `tests/memory`.

use crate::common::Program;
use crate::goals::check_folder;

#[test]
fn all_goals_are_reached() {
    check_folder("memory", 30, &["-O1"]);
}

#[test]
fn all_goals_of_programs_that_are_not_optimised_are_reached() {
    check_folder("memory", 30, &["-O0"]);
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
