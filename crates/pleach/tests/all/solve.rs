//! `pleach trace --record` and `pleach solve-trace`.

use crate::common::Program;

const SOURCE: &str = r#"
#include <stdio.h>
#include <string.h>
int main(void) {
    char line[16] = {0};
    if (!fgets(line, sizeof line, stdin)) return 1;
    if (line[0] != 'k') return 2;
    switch (line[1]) {
    case 'a': return 3;
    case 'b': return 4;
    case 'c': if (line[1] == 'd') return 5; /* never */
    }
    return strcmp(line + 2, "secret") ? 6 : 7;
}
"#;

#[test]
fn every_flip_of_a_recorded_trace_is_answered() {
    let p = Program::new(SOURCE);
    p.file("input", b"kxSECRET");
    p.text(&["trace", "--record", "path", "input", "--", "./prog"], b"");
    let ours = p.json(&["solve-trace", "--json", "path"], b"");
    let flips = ours["flips"].as_u64().expect("a number");
    assert!(flips > 5, "{ours}");
    assert_eq!(ours["verdicts"]["unknown"], 0, "{ours}");
    assert_eq!(ours["verdicts"]["optimistic"], 0, "{ours}");
    assert_eq!(ours["inconsistent"], 0, "{ours}");
    // Z3 has the same verdicts.
    let z3 = p.json(&["solve-trace", "--json", "--solver", "z3", "path"], b"");
    assert_eq!(z3["verdicts"], ours["verdicts"]);
    let listed = p.text(&["solve-trace", "--list", "path"], b"");
    assert_eq!(listed.lines().filter(|l| l.contains(" by ")).count() as u64, flips, "{listed}");
    let some = p.json(&["solve-trace", "--json", "--sample", "3", "path"], b"");
    assert_eq!(some["flips"], 3, "{some}");
}

/// The product of two primes of 32 bits, which no tier can factor, and an easy comparison.
const HARD: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    uint32_t x, y;
    char in[8];
    if (fread(in, 1, 8, stdin) != 8) return 1;
    memcpy(&x, in, 4);
    memcpy(&y, in + 4, 4);
    if ((uint64_t)x * y == 8670687648630721837ULL) return 2;
    return in[0] == 'a';
}
"#;

#[test]
fn flips_that_a_tier_does_not_answer_are_reported_with_their_cost() {
    let p = Program::new(HARD);
    p.file("input", b"bcdefghi");
    p.text(&["trace", "--record", "path", "input", "--", "./prog"], b"");
    let report = p.json(&["solve-trace", "--json", "path"], b"");
    let complete = &report["tiers"]["complete"];
    let failed = complete["not_answered"].as_u64().expect("a number");
    assert!(failed > 0, "{report}");
    assert!(complete["share_of_work"].as_f64().expect("a number") > 0.5, "{report}");
    let answered = |tier: &str| report["tiers"][tier]["answered"].as_u64().expect("a number");
    let tiers = ["rules", "domains", "inversion", "search", "complete"];
    let verdicts = |verdict: &str| report["verdicts"][verdict].as_u64().expect("a number");
    assert_eq!(tiers.map(answered).iter().sum::<u64>(), verdicts("sat") + verdicts("unsat"));
    let text = p.text(&["solve-trace", "path"], b"");
    assert!(text.contains(&format!("tier 4 did not answer {failed} of")), "{text}");
}

#[test]
fn a_file_that_is_no_recording_is_refused() {
    let p = Program::empty();
    p.file("text", b"this is not a recording");
    for (file, message) in [("text", "not a recording"), ("absent", "absent")] {
        p.refuses(&["solve-trace", file], &[message]);
    }
}
