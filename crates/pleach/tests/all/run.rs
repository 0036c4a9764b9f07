//! `pleach run` on small programs: faults that no branch guards, the same queue for the same
//! seed, several workers, seeds that hang.

use crate::common::Program;
use crate::common::campaign::{Ended, journal};

/// Compiles a program with these flags, and checks that a search reaches its fault.
fn reaches_fault(source: &str, flags: &[&str], len: &str, is_bad: impl Fn(&[u8]) -> bool) {
    let program = Program::with(source, flags);
    let ended = program.campaign("out", &["-s", "generational", "--len", len, "-n", "200"]);
    let crashes = ended.crashes();
    assert!(!crashes.is_empty(), "{source}: {}", ended.stats);
    assert!(crashes.iter().any(|c| is_bad(c)), "{source}: {crashes:?}");
    // No branch guards the fault, so coverage alone would not lead there.
    assert!(ended.queue().iter().all(|input| !is_bad(input)), "{source}");
}

fn word(input: &[u8]) -> i32 {
    input.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes))
}

#[test]
fn a_divisor_is_driven_to_zero() {
    let source = "#include <pleach.h>\n\
        int main(void) { unsigned char c = pleach_u8(); return 1000 / (c - 77) > 3; }\n";
    reaches_fault(source, &[], "1", |input| input == [77]);
}

#[test]
fn an_index_is_driven_out_of_its_array() {
    let source = "#include <pleach.h>\n\
        int table[10] = {1, 2, 3};\n\
        int main(void) { unsigned char c = pleach_u8(); return table[c] == 9; }\n";
    let out = |input: &[u8]| input.first().is_some_and(|&c| c >= 10);
    reaches_fault(source, &["-fsanitize=address"], "1", out);
}

#[test]
fn a_size_is_driven_beyond_its_buffer() {
    let source = "#include <pleach.h>\n#include <stdlib.h>\n#include <string.h>\n\
        int main(void) {\n\
            char from[600] = {0}, *to = malloc(100);\n\
            unsigned char n = pleach_u8();\n\
            memcpy(to, from, n);\n\
            return to[0];\n\
        }\n";
    let out = |input: &[u8]| input.first().is_some_and(|&n| n > 100);
    reaches_fault(source, &["-fsanitize=address"], "1", out);
}

#[test]
fn a_sum_is_driven_to_overflow() {
    let source = "#include <pleach.h>\n\
        int main(void) { int n = pleach_i32(); return (n + 1000) == 7; }\n";
    let flags = ["-fsanitize=undefined,address"];
    reaches_fault(source, &flags, "4", |input| word(input) > i32::MAX - 1000);
}

/// A parser of numbers, words and brackets, so that every strategy finds something.
const LANGUAGE: &str = r#"
    #include <ctype.h>
    #include <stdio.h>
    #include <string.h>
    static char text[64];
    static int deep;
    static int value(char **at) {
        char *start = *at;
        if (isdigit((unsigned char)**at)) {
            int n = 0;
            while (isdigit((unsigned char)**at)) n = (n * 10 + *(*at)++ - '0') % 1000;
            return n;
        }
        if (**at == '(' && deep < 5) {
            ++*at, ++deep;
            int n = value(at);
            if (**at == ')') ++*at, --deep;
            return n + 1;
        }
        while (isalpha((unsigned char)**at)) ++*at;
        if (strncmp(start, "let", 3) == 0) return 1;
        if (strncmp(start, "in", 2) == 0) return 2;
        return **at == '+' ? (++*at, value(at)) : 0;
    }
    int main(void) {
        fread(text, 1, sizeof text - 1, stdin);
        char *at = text;
        return value(&at) == 345;
    }
"#;

/// The front end computes the condition of a loop as one value, even if it has several
/// operands.
#[test]
fn each_operand_of_a_loop_condition_is_covered() {
    let source = "#include <pleach.h>\n\
        int main(void) {\n\
            int n = 0;\n\
            unsigned char c = pleach_u8();\n\
            while ((c == 'a' || c == 'b' || c == 'c') && n < 3) { c = pleach_u8(); n++; }\n\
            do { c = pleach_u8(); } while (c == 'x' || c == 'y');\n\
            return n;\n\
        }\n";
    let program = Program::with(source, &[]);
    let ended = program.campaign("out", &["-s", "generational", "--len", "6", "-n", "300"]);
    let queue = ended.queue();
    for c in *b"abcxy" {
        assert!(queue.iter().any(|input| input.contains(&c)), "{}: {queue:?}", c as char);
    }
    let branches = &ended.stats["branches"];
    assert_eq!(branches["covered"], branches["total"], "{branches}");
    assert_eq!(branches["total"], 12, "six operands");
}

#[test]
fn the_same_seed_gives_the_same_queue() {
    let program = Program::new(LANGUAGE);
    let strategies = ["auto", "generational", "cfg", "dfs", "uniform", "random-branch", "random"];
    for strategy in strategies {
        let flags = ["-s", strategy, "--len", "8", "-n", "250", "-t", "10000", "--seed"];
        let run = |out: &str, seed| {
            let out = format!("{strategy}-{out}");
            program.campaign(&out, &[&flags[..], &[seed]].concat())
        };
        let (first, second, other) = (run("1", "1"), run("2", "1"), run("3", "2"));
        assert_eq!(first.queue(), second.queue(), "{strategy}");
        assert!(first.queue().len() > 2, "{strategy}: {}", first.stats);
        let counts = |e: &Ended| ["runs", "traces", "paths", "flips.asked"].map(|c| e.count(c));
        assert_eq!(counts(&first), counts(&second), "{strategy}");
        if ["auto", "random"].contains(&strategy) {
            assert_ne!(first.queue(), other.queue(), "{strategy}");
        }
    }
}

#[test]
fn two_workers_find_the_paths_of_one() {
    let program = Program::new(
        r#"
        #include <pleach.h>
        static volatile int n;
        int main(void) {
            unsigned char in[5];
            pleach_bytes(in, 5);
            for (int i = 0; i < 5; i++) {
                if (in[i] == 'x' && in[0] != 'y') n++;
                else if (in[i] > 'a' + i) n += 2;
            }
            return n;
        }
        "#,
    );
    let flags = ["-s", "dfs", "--len", "5", "-j"];
    let one = program.campaign("one", &[&flags[..], &["1"]].concat());
    assert_eq!(one.stop(), "exhausted", "{}", one.stats);
    let paths = journal::paths(&one.out);
    assert_eq!(paths.len() as u64, one.count("paths"));
    for jobs in ["2", "3"] {
        let several = program.campaign(jobs, &[&flags[..], &[jobs]].concat());
        assert_eq!(several.stop(), "exhausted", "{}", several.stats);
        assert_eq!(journal::paths(&several.out), paths, "{jobs} workers");
        assert_eq!(several.count("flips.asked"), one.count("flips.asked"), "{jobs} workers");
    }
}

#[test]
fn targets_run_in_a_scratch_directory_and_find_files_of_their_arguments() {
    // It compares its input with the file that its argument names.
    let source = r#"
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        int main(int count, char **args) {
            char key[8] = {0}, in[8] = {0}, here[4096];
            FILE *file = fopen(strchr(args[1], '=') + 1, "r");
            if (!file || !fread(key, 1, 4, file)) return 1;
            if (strcmp(args[2], ".")) return 1;
            FILE *note = fopen("note", "w");
            if (!note || access("config", F_OK) == 0) return 2;
            if (fread(in, 1, 4, stdin) == 4 && memcmp(in, key, 4) == 0) return 3;
            return 0;
        }
    "#;
    let program = Program::new(source);
    program.make_dir("config");
    program.file("config/key", b"iris");
    let flags = ["-s", "dfs", "--len", "4"];
    let ended = program.campaign_with_args("out", &flags, &["--key=config/key", "."]);
    assert!(ended.queue().contains(&b"iris".to_vec()), "{}", ended.stats);
    assert!(!program.path("note").exists());
}

/// Hangs on the letters from a to l. On s it uses 150 milliseconds of processor time: more
/// than a run may at first, and far less than the second that a run with all its time may
/// take on a busy machine.
const SLOW: &str = r#"
    #include <stdio.h>
    #include <time.h>
    int main(void) {
        volatile unsigned n = 0;
        int c = getchar();
        if (c == 's')
            while (clock() < CLOCKS_PER_SEC * 3 / 20)
                n++;
        switch (c) {
        case 'a': case 'b': case 'c': case 'd': case 'e': case 'f':
        case 'g': case 'h': case 'i': case 'j': case 'k': case 'l':
            for (;;)
                n++;
        }
        return 0;
    }
"#;

/// Makes one seed of each letter.
fn seeds(program: &Program, letters: &str) {
    program.seeds(letters.split("").filter(|l| !l.is_empty()).map(|l| (l, l.as_bytes())));
}

#[test]
fn only_a_few_of_many_hanging_seeds_get_the_full_time_limit() {
    let program = Program::new(SLOW);
    seeds(&program, "abcdefghijklz");
    // All seeds run, some of them again, and hardly anything after them.
    let ended = program.campaign("out", &["-s", "generational", "-i", "seeds", "-n", "22"]);
    // Each takes a side of the switch that none took before.
    assert!(ended.count("partial.timed out") >= 12, "{}", ended.stats);
    assert!((1..=6).contains(&ended.count("hangs")), "{}", ended.stats);
    assert!(ended.queue().contains(&b"z".to_vec()), "{}", ended.stats);
}

#[test]
fn a_slow_seed_is_no_hang() {
    let program = Program::new(SLOW);
    seeds(&program, "sz");
    let ended = program.campaign("out", &["-s", "generational", "-i", "seeds", "-n", "4"]);
    assert!(ended.queue().contains(&b"s".to_vec()), "{}", ended.stats);
    assert_eq!(ended.count("hangs"), 0, "{}", ended.stats);
}
