//! What each strategy is good at, on real programs: it finds the abort within a number of
//! runs, and others do not.

use crate::common::Program;
use crate::common::campaign::Ended;

/// Figure 1 of CREST's paper. Typed calls read the input.
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
fn figure_1_of_crest_is_covered() {
    // Unoptimised, so that `2 * b` wraps in both halves.
    let program = Program::with(FIGURE_1, &["-O0"]);
    let run = |name: &str| program.campaign(name, &["-s", name, "--len", "8", "-n", "400"]);
    for name in ["dfs", "generational", "cfg"] {
        let ended = run(name);
        // If x > y: f aborts, or one of three paths of g. Else: three paths of g.
        assert_eq!((ended.stop(), ended.count("paths")), ("exhausted", 7), "{name}");
        assert_eq!(ended.count("branches.covered"), 8, "{name}: {}", ended.stats);
        // The aborts of f and g.
        assert_eq!(ended.count("crashes"), 2, "{name}: {}", ended.stats);
    }
    for name in ["auto", "uniform", "random-branch"] {
        let ended = run(name);
        assert_eq!(ended.count("branches.covered"), 8, "{name}: {}", ended.stats);
    }
    // One value of x in four billion is 4.
    assert!(run("random").count("branches.covered") < 8);
}

/// Reads bytes, and sets a bit in `bits` for each that is `x`. Labels do not flow into
/// `bits`. So a later decision on `bits` cannot be solved, only reached by chance.
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

/// Checks that one strategy finds the abort within some runs, and that others do not.
fn check_best((program, len): (Program, String), runs: u32, best: &str, others: &[&str]) {
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
fn generational_search_asks_all_flips_of_a_run_first() {
    // Only the first of sixteen bytes. Depth-first search starts with the last.
    check_best(bits(16, "(bits & 3) == 1"), 40, "generational", &["dfs"]);
}

#[test]
fn dfs_tries_every_end_of_a_path() {
    // One pattern of the last six bytes. Depth-first search has 64 paths to try. For the
    // others, it is six flips away from the first run, and none of them gains anything.
    check_best(bits(24, "bits >> 18 == 0x2d"), 80, "dfs", &["generational", "auto", "random"]);
}

#[test]
fn uniform_reaches_the_middle_of_the_tree() {
    // About half of all paths have at least 12 bits set, but no path near the first one.
    let subject = bits(24, "__builtin_popcountl(bits) >= 12");
    check_best(subject, 100, "uniform", &["dfs", "generational", "cfg", "auto"]);
}

#[test]
fn random_branch_combines_distant_decisions() {
    // Two bytes of sixty, far from each other.
    let subject = bits(60, "(bits >> 3 & 1) && (bits >> 30 & 3) == 1");
    check_best(subject, 300, "random-branch", &["dfs", "generational"]);
}

#[test]
fn cfg_goes_towards_uncovered_branches() {
    // Figure 1, between branches that lead to nothing uncovered.
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
    check_best(subject, 40, "cfg", &["dfs", "uniform", "random"]);
}

#[test]
fn auto_combines_flips_and_mutation() {
    // A word that mutation does not guess, and a sum of `long double`, which has no label.
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        int main(void) {
            char in[16] = {0};
            long double sum = 0;
            fread(in, 1, 15, stdin);
            if (strncmp(in, "pleach", 6)) return 0;
            for (int i = 6; i < 15; i++) sum = sum * 3 + (unsigned char)in[i];
            if ((long)sum % 11 == 3) abort();
            return 1;
        }
    "#;
    let subject = (Program::new(source), "15".into());
    check_best(subject, 3000, "auto", &["dfs", "generational", "cfg", "random"]);
}

#[test]
fn random_needs_no_labels() {
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) {
            long double first = getchar();
            if ((long)(first / 2) % 4 == 3) abort();
            return 0;
        }
    "#;
    check_best((Program::new(source), "1".into()), 100, "random", &["dfs", "generational", "cfg"]);
}

/// Six bytes with three outcomes each: a larger depth gives more paths.
#[test]
fn depth_bounds_the_paths_of_dfs() {
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
