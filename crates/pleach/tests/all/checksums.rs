//! Checksums over the input: `generational` alone reaches each goal of the programs in
//! `tests/checksums`, which are behind comparisons of checksums with fields.

use crate::common::Program;
use crate::goals::check_folder;

#[test]
fn goals_behind_checksums_are_reached() {
    check_folder("checksums", 10, &["-O1", "-lz"]);
}

#[test]
fn goals_behind_checksums_in_programs_that_are_not_optimised_are_reached() {
    check_folder("checksums", 10, &["-O0", "-lz"]);
}

/// A hash that nothing here inverts, compared with a constant: the search must not claim that
/// it has tried everything.
#[test]
fn a_hash_that_is_not_inverted_is_reported() {
    let source = r#"#include <stdint.h>
    #include <stdlib.h>
    #include <unistd.h>
    int main(void) {
        unsigned char in[24];
        uint64_t a = 1, b = 2;
        if (read(0, in, 24) != 24) return 1;
        for (int i = 0; i < 24; i++) {
            a = (a ^ in[i]) * 0x9e3779b97f4a7c15;
            a ^= a >> 29;
            b = (b + a) * 0xbf58476d1ce4e5b9;
            b ^= b >> 32;
        }
        if (a == 0x0123456789abcdef && b == 0xfedcba9876543210) abort();
        return 0;
    }
    "#;
    let p = Program::new(source);
    p.seeds([("seed", [b'.'; 24].as_slice())]);
    let ended = p.campaign("out", &["-s", "generational", "-n", "200", "-i", "seeds"]);
    assert_eq!(ended.stop(), "exhausted-partial", "{}", ended.stats);
    assert!(!ended.partial().is_empty(), "{}", ended.stats);
}
