//! Undefined behaviour: at -O0 both halves take the same decisions. At higher levels,
//! decisions that the compiler folded are counted.

use crate::common::Program;
use crate::common::campaign::Ended;

/// With the arithmetic of the processor, every side of every branch is feasible.
const SOURCE: &str = r#"#include <stdlib.h>
#include <unistd.h>
static int kind(int x) {
    switch (x) {
    case 'a': return 1;
    case 'b': return 2;
    default: __builtin_unreachable();
    }
}
int main(void) {
    int a;
    unsigned char b[2];
    if (read(0, &a, 4) != 4) return 1;
    if (read(0, b, 2) != 2) return 2;
    if (a + 2147483640 < 0 && a > 0) return 3;
    if (b[0] == 'x') return 4;
    _Exit(kind(b[1]));
}
"#;

/// The symbolic half traps at `__builtin_unreachable()`, where the fast half continues with
/// whatever code comes next.
const TRAPPED: &str = "crashed in the symbolic half";

fn search(level: &str, strategy: &str) -> Ended {
    let program = Program::with(SOURCE, &[level]);
    program.campaign("out", &["-s", strategy, "--len", "6", "-n", "2000"])
}

#[test]
fn without_optimisation_both_halves_agree() {
    let ended = search("-O0", "dfs");
    assert_eq!(ended.partial(), [TRAPPED], "{}", ended.stats);
    let counts = ["folded", "diverged"].map(|name| ended.count(name));
    assert_eq!(counts, [0, 0], "{}", ended.stats);
    let branches = &ended.stats["branches"];
    assert_eq!(branches["covered"], branches["total"], "{}", ended.stats);
}

#[test]
fn a_search_with_folded_decisions_is_not_exhausted() {
    for strategy in ["dfs", "generational"] {
        let ended = search("-O2", strategy);
        assert_eq!(ended.stop(), "exhausted-partial", "{}", ended.stats);
        assert_eq!(ended.count("diverged"), 0, "{}", ended.stats);
        assert!(ended.count("folded") >= 2, "{}", ended.stats);
        let places = ended.stats["folded_at"].as_object().expect("places");
        let places: Vec<&str> = places.keys().map(String::as_str).collect();
        assert_eq!(places, ["prog.c:15", "prog.c:4"], "{}", ended.stats);
        assert_eq!(ended.partial(), [TRAPPED, "folded"], "{}", ended.stats);
    }
}

/// A run that crashes does not show whether the decisions after the crash are folded.
#[test]
fn decisions_behind_a_crash_are_not_folded() {
    let source = r#"#include <stdlib.h>
#include <unistd.h>
int main(void) {
    char b[2] = {0};
    if (read(0, b, 2) != 2) return 1;
    if (b[0] == 'x') abort();
    if (b[1] == 'y') return 2;
    return 0;
}
"#;
    let ended = Program::with(source, &["-O2"]).campaign("out", &["-s", "dfs", "--len", "2"]);
    assert_eq!(ended.count("folded"), 0, "{}", ended.stats);
    assert!(ended.stats["partial"].get("folded").is_none(), "{}", ended.stats);
}
