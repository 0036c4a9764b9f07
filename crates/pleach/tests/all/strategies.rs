//! What each strategy is for, on real programs: the one finds the abort within a
//! number of runs, others do not.

use crate::common::Program;
use crate::common::campaign::Ended;

/// Figure 1 of CREST's paper, with the inputs by calls.
const FIGURE_1: &str = r#"
    #include <pleach.h>
    #include <stdio.h>
    #include <stdlib.h>
    static int f(int a) {
        if (a > 0) abort();
        return -a;
    }
    static void g(int a, int b) {
        if (a == 4) {
            if (2 * b > 9) abort();
        } else {
            printf("%d\n", b - a);
        }
    }
    int not_called(int a) { return 2 * f(a); }
    int main(void) {
        int x = pleach_i32(), y = pleach_i32(), z;
        if (x > y) z = f(y);
        else z = y;
        g(x, z);
        return 0;
    }
"#;

#[test]
fn figure_1_of_crest() {
    // Unoptimised, so that `2 * b` wraps in both halves.
    let program = Program::with(FIGURE_1, &["-O0"]);
    let run = |name: &str| program.campaign(name, &["-s", name, "--len", "8", "-n", "400"]);
    for name in ["dfs", "generational", "cfg"] {
        let ended = run(name);
        // x > y: f aborts, or g's three ways; else g's three ways.
        assert_eq!((ended.stop(), ended.count("paths")), ("exhausted", 7), "{name}");
        assert_eq!(ended.count("branches.covered"), 8, "{name}: {}", ended.stats);
        // f's abort and g's.
        assert_eq!(ended.count("crashes"), 2, "{name}: {}", ended.stats);
    }
    for name in ["auto", "uniform", "random-branch"] {
        let ended = run(name);
        assert_eq!(ended.count("branches.covered"), 8, "{name}: {}", ended.stats);
    }
    // One x in four billion is 4.
    assert!(run("random").count("branches.covered") < 8);
}

/// Reads bytes and notes in `bits`, where no label follows, which are `x`: what
/// is decided by it later cannot be solved for, only met.
const BITS: &str = r#"
    #include <pleach.h>
    #include <stdlib.h>
    static volatile unsigned long bits;
    static void read_bits(int n) {
        unsigned char in[64];
        pleach_bytes(in, n);
        for (int i = 0; i < n; i++) if (in[i] == 'x') bits = bits | 1ul << i;
    }
"#;

fn bits(n: u32, bad: &str) -> (Program, String) {
    let main = format!("int main(void) {{ read_bits({n}); if ({bad}) abort(); return 0; }}\n");
    (Program::new(&(BITS.to_string() + &main)), n.to_string())
}

/// Within so many runs, the best finds the abort and the others do not.
fn compare((program, len): (Program, String), runs: u32, best: &str, others: &[&str]) {
    let run = |name: &str| -> Ended {
        let runs = runs.to_string();
        let flags = ["-s", name, "--len", &len, "-n", &runs, "--seed", "1", "--stop-on-crash"];
        program.campaign(name, &flags)
    };
    let ended = run(best);
    assert_eq!(ended.stop(), "crash", "{best}: {}", ended.stats);
    for other in others {
        assert_ne!(run(other).stop(), "crash", "{other}");
    }
}

#[test]
fn generational_asks_every_flip_of_a_run_first() {
    // The first of sixteen bytes alone; depth-first search begins at the last.
    compare(bits(16, "(bits & 3) == 1"), 40, "generational", &["dfs"]);
}

#[test]
fn dfs_tries_every_end_of_a_path() {
    // One pattern of the last six bytes: 64 paths for the one, and six flips
    // from the first run, each without any gain, for the others.
    compare(bits(24, "bits >> 18 == 0x2d"), 80, "dfs", &["generational", "auto", "random"]);
}

#[test]
fn uniform_reaches_the_middle_of_the_tree() {
    // Most paths have half of the bits set, but none near the first one.
    let subject = bits(24, "__builtin_popcountl(bits) >= 12");
    compare(subject, 100, "uniform", &["dfs", "generational", "cfg", "auto"]);
}

#[test]
fn random_branch_goes_far_from_where_it_was() {
    // Two bytes of sixty, far from each other.
    let subject = bits(60, "(bits >> 3 & 1) && (bits >> 30 & 3) == 1");
    compare(subject, 300, "random-branch", &["dfs", "generational"]);
}

#[test]
fn cfg_goes_towards_what_is_not_covered() {
    // Figure 1 in the midst of branches that lead nowhere.
    let source = r#"
        #include <pleach.h>
        #include <stdlib.h>
        static volatile int count;
        static void more(unsigned char *in) {
            for (int i = 0; i < 12; i++) if (in[i] == 'x') count++;
        }
        static int f(int a) { if (a > 0) exit(1); return -a; }
        static void g(int a, int b) { if (a == 4) { if (2 * b > 9) abort(); } }
        int main(void) {
            unsigned char around[24];
            int x = pleach_i32(), y = pleach_i32(), z;
            pleach_bytes(around, 24);
            more(around);
            if (x > y) z = f(y); else z = y;
            g(x, z);
            more(around + 12);
            return 0;
        }
    "#;
    let subject = (Program::new(source), "32".into());
    compare(subject, 40, "cfg", &["dfs", "uniform", "random"]);
}

#[test]
fn auto_finds_what_needs_both_flips_and_mutation() {
    // A word that mutation does not guess, and a sum that no label follows.
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        int main(void) {
            char in[16] = {0};
            double sum = 0;
            fread(in, 1, 15, stdin);
            if (strncmp(in, "pleach", 6)) return 0;
            for (int i = 6; i < 15; i++) sum = sum * 3 + (unsigned char)in[i];
            if ((long)sum % 11 == 3) abort();
            return 1;
        }
    "#;
    let subject = (Program::new(source), "15".into());
    compare(subject, 3000, "auto", &["dfs", "generational", "cfg", "random"]);
}

#[test]
fn random_needs_no_labels() {
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) {
            double first = getchar();
            if ((long)(first / 2) % 4 == 3) abort();
            return 0;
        }
    "#;
    compare((Program::new(source), "1".into()), 100, "random", &["dfs", "generational", "cfg"]);
}

/// Of six bytes with three ways each, those of the first two.
#[test]
fn dfs_goes_as_deep_as_told() {
    let program = Program::new(
        r#"
        #include <pleach.h>
        int main(void) {
            unsigned char in[6];
            int sum = 0;
            pleach_bytes(in, 6);
            for (int i = 0; i < 6; i++) {
                if (in[i] == 'a') sum += 1;
                else if (in[i] == 'b') sum += 2;
            }
            return sum;
        }
    "#,
    );
    let paths = |depth: &str| {
        let ended = program.campaign(depth, &["-s", "dfs", "--len", "6", "--depth", depth]);
        assert_eq!(ended.stop(), "exhausted", "{}", ended.stats);
        ended.count("paths")
    };
    let (one, three, six) = (paths("1"), paths("3"), paths("6"));
    assert!(1 < one && one < three && three < six, "{one} {three} {six}");
}
