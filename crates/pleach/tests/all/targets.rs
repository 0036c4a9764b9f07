//! Calls and jumps through pointers that the input chooses: each target that the table has is an
//! outcome of a decision. `generational` alone reaches each goal of the programs in
//! `tests/targets`.

use crate::common::Program;
use crate::goals::check_folder;

#[test]
fn all_goals_are_reached() {
    check_folder("targets", 4, &["-O1"]);
}

#[test]
fn all_goals_of_programs_that_are_not_optimised_are_reached() {
    check_folder("targets", 4, &["-O0"]);
}

const TABLES: &str = r#"#include <unistd.h>
typedef int handler(int);
static int one(int n) { return n + 1; }
static int two(int n) { return n * 2; }
static int three(int n) { return n - 3; }
static handler *const table[] = { one, two, three };
int main(void) {
    unsigned char in[2];
    if (read(0, in, 2) != 2) return 9;
    int n = table[in[0] % 3](in[1]);
    static void *const jumps[] = { &&a, &&b };
    goto *jumps[in[1] & 1];
a:  return n;
b:  return n + 100;
}
"#;

#[test]
fn explain_prints_the_targets() {
    let p = Program::new(TABLES);
    let text = p.text(&["explain", "-", "--", "./prog"], b"ab");
    assert!(text.contains("table[in[0] % 3] == two"), "{text}");
    assert!(text.contains("main.jumps[in[1] & 1] == line 13"), "{text}");
    let text = p.text(&["explain", "-", "--", "./prog"], b"ba");
    assert!(text.contains("table[in[0] % 3] == three"), "{text}");
    assert!(text.contains("main.jumps[in[1] & 1] == line 14"), "{text}");
}

#[test]
fn each_target_is_counted_and_taken_once() {
    let p = Program::new(TABLES);
    let ended = p.campaign("out", &["-s", "dfs", "--len", "2"]);
    assert_eq!(ended.stop(), "exhausted", "{}", ended.stats);
    // Two sides of the test of the length, three functions and two labels.
    assert_eq!(ended.count("branches.total"), 7, "{}", ended.stats);
    assert_eq!(ended.count("branches.covered"), 7, "{}", ended.stats);
    // The input is too short, or it chooses a function and a label.
    assert_eq!(ended.count("paths"), 1 + 3 * 2, "{}", ended.stats);
}

/// Targets that no table in reach tells.
const OUT_OF_REACH: &str = r#"#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
typedef int handler(int);
static int one(int n) { return n + 1; }
static int two(int n) { return n + 2; }
static int three(int n) { return n == 3 ? 77 : 3; }
static handler *large[10000];
static uintptr_t hidden[4];
int main(int count, char **args) {
    unsigned char in[4];
    if (read(0, in, 4) != 4) return 1;
    handler *all[4] = { one, two, three, one };
    switch (args[1][0]) {
    case 'l':
        for (int i = 0; i < 10000; i++) large[i] = all[i % 3];
        return large[(in[0] | in[1] << 8) % 10000](in[2]) == 77;
    case 'h':
        for (int i = 0; i < 4; i++) hidden[i] = (uintptr_t)all[i] * 3;
        return ((handler *)(hidden[in[0] & 3] / 3))(in[2]) == 77;
    case 'c':
        return ((handler *)((uintptr_t)one + ((uintptr_t)two - (uintptr_t)one) * (in[0] & 1)))(in[2]);
    }
    return 0;
}
"#;

#[test]
fn targets_out_of_reach_are_counted() {
    let p = Program::new(OUT_OF_REACH);
    p.seeds([("seed", b"abcd".as_slice())]);
    for (how, reason) in [("large", "pinned"), ("hidden", "indirect"), ("computed", "indirect")] {
        let flags = ["-s", "generational", "-n", "200", "-i", "seeds"];
        let ended = p.campaign_with_args(how, &flags, &[how]);
        assert_eq!(ended.stop(), "exhausted-partial", "{how}: {}", ended.stats);
        assert!(ended.partial().contains(&reason), "{how}: {}", ended.stats);
    }
}
