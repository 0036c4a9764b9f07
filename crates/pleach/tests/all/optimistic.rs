//! Branches that are reached by optimistic flips: the flip is infeasible on its path, but
//! not with fewer conditions.

use crate::common::Program;

/// A reader of WAV files. It uses the format as an index before it decides on it. That pins
/// the value of the format on every path to the `switch`.
const READER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned short seen[65536];
int main(void) {
    unsigned char h[12];
    if (fread(h, 1, 12, stdin) != 12 || memcmp(h, "RIFF", 4)) return 1;
    unsigned size = h[4] | h[5] << 8;
    if (size < 16 || size > 40) return 2;
    unsigned format = h[6] | h[7] << 8;
    seen[format]++;
    switch (format) {
    case 1: return h[8] == 2 ? 3 : 4;
    case 65534:
        if (h[8] == 'X') abort();
        return 5;
    default: return 6;
    }
}
"#;

const SEED: &[u8] = b"RIFF\x10\0\x01\0\x01\0\0\0";

fn reader() -> Program {
    let p = Program::new(READER);
    p.seeds([("pcm", SEED)]);
    p
}

fn is_extensible(input: &[u8]) -> bool {
    input.get(6..8) == Some(&[0xfe, 0xff])
}

#[test]
fn a_branch_behind_a_pinned_value_is_reached() {
    let p = reader();
    for strategy in ["generational", "cfg", "auto"] {
        let ended = p.campaign(strategy, &["-i", "seeds", "-s", strategy, "-n", "400"]);
        let marked = ended.files("queue").into_iter().find(|(_, input)| is_extensible(input));
        let (name, _) = marked.unwrap_or_else(|| panic!("{strategy}: {}", ended.stats));
        assert!(strategy == "auto" || name.contains("op:optimistic"), "{name}");
        assert!(ended.crashes().iter().any(|c| is_extensible(c)), "{strategy}: {}", ended.stats);
        // The rest of the header is not changed.
        assert!(ended.crashes().iter().all(|c| c.starts_with(&SEED[..6])), "{strategy}");
    }
}

#[test]
fn an_exhaustive_search_runs_no_optimistic_input() {
    let p = reader();
    let ended = p.campaign("out", &["-i", "seeds", "-s", "dfs", "-n", "400"]);
    assert_eq!(ended.count("flips.relaxed"), 0, "{}", ended.stats);
    assert!(!ended.files("queue").keys().any(|name| name.contains("op:optimistic")));
}
