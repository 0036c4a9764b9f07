//! Typed calls for input: a call past the end of the input gets a fresh value, and the kept
//! input contains it.

use crate::common::Program;
use crate::common::campaign::Ended;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// The fault depends on the value after `$ROUNDS` others.
const ROUNDS: &str = r#"
    #include <crest.h>
    #include <stdlib.h>
    int main(void) {
        int x, y;
        unsigned sum = 0;
        for (int i = 0; i < $ROUNDS; i++) { CREST_int(x); sum = sum * 31 + x; }
        CREST_int(y);
        if (y == 4711) abort();
        return sum == 1;
    }
"#;

fn rounds(n: u32) -> Program {
    Program::new(&ROUNDS.replace("$ROUNDS", &n.to_string()))
}

/// Runs the program by hand on a kept input. Returns the signal that ends it.
fn signal_by_hand(program: &Program, bytes: &[u8]) -> Option<i32> {
    let file = program.file("kept", bytes);
    let mut command = Command::new(program.path("prog"));
    command.env("PLEACH_INPUT", file).status().expect("it starts").signal()
}

#[test]
fn a_fault_behind_a_hundred_values_is_found() {
    let program = rounds(100);
    for strategy in ["cfg", "generational", "dfs", "auto"] {
        let ended = program.campaign(strategy, &["-s", strategy, "-n", "100", "--stop-on-crash"]);
        assert_eq!(ended.stop(), "crash", "{strategy}: {}", ended.stats);
        let crash = &ended.crashes()[0];
        assert_eq!(crash.len(), 404, "{strategy}");
        assert_eq!(signal_by_hand(&program, crash), Some(libc::SIGABRT), "{strategy}");
    }
}

#[test]
fn one_run_may_get_a_hundred_thousand_values() {
    let program = rounds(100_000);
    let ended = program.campaign("out", &["-s", "cfg", "-n", "100"]);
    // There is a decision on the sum, too, but no tier can invert it.
    assert!(ended.count("runs") >= 3, "{}", ended.stats);
    assert_eq!(ended.crashes()[0].len(), 400_004);
    assert_eq!(signal_by_hand(&program, &ended.crashes()[0]), Some(libc::SIGABRT));
}

#[test]
fn coverage_does_not_depend_on_the_length_of_the_first_input() {
    let program = Program::new(include_str!("../../../../examples/substitute/substitute.c"));
    for (strategy, expected) in [("cfg", 140), ("generational", 150)] {
        let run = |out: &str, flags: &[&str]| {
            let flags = [&["-s", strategy, "-n", "600", "-t", "10000"], flags].concat();
            program.campaign(&format!("{strategy}-{out}"), &flags)
        };
        let (plain, long) = (run("plain", &[]), run("long", &["--len", "200"]));
        let covered = |ended: &Ended| ended.count("branches.covered");
        assert_eq!(covered(&plain), covered(&long), "{strategy}");
        assert!(covered(&plain) >= expected, "{strategy}: {}", plain.stats);
    }
}

/// Never stops asking for input. The fault comes after more than a hundred values.
const ENDLESS: &str = r#"
    #include <pleach.h>
    #include <stdlib.h>
    int main(void) {
        for (int n = 0;; n++) {
            int x = pleach_i32();
            if (x == 77777 && n > 100) abort();
            if (x == 5) return 1;
        }
    }
"#;

#[test]
fn a_program_that_asks_for_ever_is_ended_at_max_len() {
    let program = Program::new(ENDLESS);
    let ended = program.campaign("out", &["-s", "cfg", "-n", "300"]);
    assert!(ended.count("crashes") > 0, "{}", ended.stats);
    assert!(ended.count("partial.ended at --max-len") > 0, "{}", ended.stats);
    // Later runs do not all get a megabyte of input.
    assert!(ended.queue().iter().all(|input| input.len() <= 4096));
    // A limit that the user gives is used.
    let flags = ["-s", "dfs", "--depth", "3", "--max-len", "10000", "-n", "50"];
    let ended = program.campaign("given", &flags);
    assert!(ended.queue().iter().any(|input| input.len() == 10000), "{}", ended.stats);
    let flags = ["-s", "dfs", "--max-len", "12"];
    let ended = program.campaign("short", &flags);
    assert_eq!(ended.stop(), "exhausted-partial", "{}", ended.stats);
    // Three values of four bytes, and at most one more.
    assert!(ended.queue().iter().all(|input| input.len() <= 16));
}

#[test]
fn fresh_values_are_zero_or_come_from_the_seed() {
    let source = "#include <pleach.h>\n\
        int main(void) { for (int i = 0; i < 50; i++) if (pleach_u8() > 99) return i; return 99; }";
    let program = Program::new(source);
    let run = |out: &str, flags: &[&str]| {
        let flags = [&["--len", "0", "-n", "60", "-t", "10000"], flags].concat();
        program.campaign(out, &flags).queue()
    };
    assert_eq!(run("dfs", &["-s", "dfs"])[0], [0; 50]);
    for strategy in ["random", "uniform", "random-branch"] {
        let flags = |seed| ["-s", strategy, "--seed", seed];
        let first = run(&format!("{strategy}-1"), &flags("1"));
        assert_eq!(first, run(&format!("{strategy}-2"), &flags("1")), "{strategy}");
        assert_ne!(first, run(&format!("{strategy}-3"), &flags("2")), "{strategy}");
        assert!(first.iter().flatten().any(|&byte| byte != 0), "{strategy}");
    }
}

/// The end of a stream is a decision, so the input of a program that also reads a stream
/// does not grow.
#[test]
fn an_input_that_is_also_a_stream_does_not_grow() {
    let source = r#"
        #include <pleach.h>
        #include <stdio.h>
        int main(void) {
            if (getchar() == EOF) return pleach_u8();
            unsigned char last[20];
            pleach_bytes(last, sizeof last);
            return last[19] == 'x' ? 1 : 2;
        }
    "#;
    let program = Program::new(source);
    for strategy in ["dfs", "cfg", "generational"] {
        let ended = program.campaign(strategy, &["-s", strategy]);
        // An empty input, one that is too short for the twenty bytes, and two that are not.
        let found = (ended.stop(), ended.count("paths"), ended.count("diverged"));
        assert_eq!(found, ("exhausted", 4, 0), "{strategy}: {}", ended.stats);
    }
}

#[test]
fn a_program_that_asks_for_the_length_decides_on_it() {
    let source = r#"
        #include <pleach.h>
        int main(void) {
            unsigned char n = pleach_u8();
            if (pleach_left() < 3) return 1;
            if (pleach_u32() == n) return 2;
            return 3;
        }
    "#;
    let ended = Program::new(source).campaign("out", &["-s", "dfs", "--len", "0"]);
    // Fewer than three bytes are left; three bytes are left, so the number is cut; and two
    // paths with the whole number.
    let found = (ended.stop(), ended.count("paths"), ended.count("diverged"));
    assert_eq!(found, ("exhausted", 4, 0), "{}", ended.stats);
}

#[test]
fn a_container_gets_a_stream_for_calls() {
    let source = r#"
        #include <pleach.h>
        #include <stdlib.h>
        #include <string.h>
        int main(int argc, char **argv) {
            if (argc > 1 && argv[1][0] == 'g' && pleach_u32() == 123456) abort();
            return 0;
        }
    "#;
    let program = Program::new(source);
    program.make_dir("seeds");
    program.text(&["pack", "--arg=ab", "-o", "seeds/words"], b"");
    let ended = program.campaign("out", &["-s", "dfs", "-i", "seeds"]);
    let found = (ended.stop(), ended.count("paths"), ended.count("crashes"));
    assert_eq!(found, ("exhausted", 3, 1), "{}", ended.stats);
    // The argument, and four bytes for the call.
    let crash = program.file("crash", &ended.crashes()[0]);
    let replayed = program.run(&["replay", &crash.to_string_lossy(), "--", "./prog"], b"");
    assert!(String::from_utf8_lossy(&replayed.stdout).contains("SIGABRT"), "{replayed:?}");
}

/// The first inputs do not satisfy the assumption, so it must be solved for.
#[test]
fn an_assumption_that_fails_is_a_decision() {
    let source = "#include <klee/klee.h>\n#include <stdlib.h>\n\
        int main(void) {\n\
            int n = klee_int(\"n\"), m = klee_range(5, 9, \"m\");\n\
            klee_assume(n > 100);\n\
            if (n == 4711 && m == 7) abort();\n\
            return 0;\n\
        }";
    let program = Program::new(source);
    for strategy in ["dfs", "cfg", "generational", "auto"] {
        let ended = program.campaign(strategy, &["-s", strategy, "-n", "2000"]);
        assert_eq!(ended.count("crashes"), 1, "{strategy}: {}", ended.stats);
    }
}

/// Tasks of SV-COMP and Test-Comp declare the functions that they call, without a header.
#[test]
fn tasks_of_the_competitions_run_unchanged() {
    let own = r#"
        extern void abort(void);
        extern void __assert_fail(const char *, const char *, unsigned int, const char *)
            __attribute__((__nothrow__, __leaf__)) __attribute__((__noreturn__));
        void reach_error() { __assert_fail("0", "task.c", 3, "reach_error"); }
        extern int __VERIFIER_nondet_int(void);
        extern _Bool __VERIFIER_nondet_bool();
        extern unsigned char __VERIFIER_nondet_uchar(void);
        extern long __VERIFIER_nondet_long(void);
        extern unsigned __int128 __VERIFIER_nondet_uint128(void);
        extern void *__VERIFIER_nondet_pointer(void);
        extern double __VERIFIER_nondet_double(void);
        extern void __VERIFIER_assume(int);
        int main() {
            int x = __VERIFIER_nondet_int();
            __VERIFIER_assume(x > 100);
            if (__VERIFIER_nondet_double() > 1.0) return 2;
            if (__VERIFIER_nondet_bool() && __VERIFIER_nondet_uchar() == 200
                && __VERIFIER_nondet_long() == 1234567890123L
                && __VERIFIER_nondet_uint128() == (unsigned __int128)7 << 70
                && __VERIFIER_nondet_pointer() == (void *)0x1234 && x == 4711)
                reach_error();
            return 0;
        }
    "#;
    // The declared types differ from those of the rules, and `reach_error` has no body.
    let declared = r#"
        extern int __VERIFIER_nondet_bool();
        extern int __VERIFIER_nondet_char();
        extern char __VERIFIER_nondet_short();
        extern unsigned long __VERIFIER_nondet_uint();
        extern void __VERIFIER_assume(_Bool);
        extern void reach_error(void);
        int main() {
            int b = __VERIFIER_nondet_bool(), c = __VERIFIER_nondet_char();
            char s = __VERIFIER_nondet_short();
            unsigned long u = __VERIFIER_nondet_uint();
            __VERIFIER_assume(u > 4000000000ul);
            if (b + 1 == 2 && c == -5 && s == 9 && u == 4000000007ul) reach_error();
            return 0;
        }
    "#;
    let error = r#"
        extern unsigned __VERIFIER_nondet_uint();
        void __VERIFIER_error();
        void __VERIFIER_assume(int cond) { if (!cond) for (;;) ; }
        int main() { if (__VERIFIER_nondet_uint() == 77777) __VERIFIER_error(); return 0; }
    "#;
    for (name, source) in [("own", own), ("declared", declared), ("error", error)] {
        let ended = Program::with(source, &[]).campaign(name, &["-s", "cfg", "-n", "300"]);
        assert_eq!(ended.count("crashes"), 1, "{name}: {}", ended.stats);
        assert_eq!(ended.count("diverged"), 0, "{name}: {}", ended.stats);
        assert_eq!(ended.count("broken_traces"), 0, "{name}: {}", ended.stats);
    }
}

/// A flip that needs a stream of a megabyte costs a trace of a megabyte, and so does the next
/// one. Only typed calls may make inputs that long.
#[test]
fn streams_have_a_shorter_limit_than_calls() {
    let source = "#include <stdio.h>\nint main(void) { while (getchar() != EOF) {} return 0; }";
    let program = Program::new(source);
    let read = |out: &str, flags: &[&str]| {
        let ended = program.campaign(out, &[&["-s", "uniform", "-n", "60"], flags].concat());
        let settings = std::fs::read_to_string(ended.out.join("run.toml")).expect("settings");
        let limit = |name: &str| settings.lines().find_map(|l| l.strip_prefix(name)?.parse().ok());
        let variables = ended.count("symbolic.variables");
        (limit("max_len = "), limit("calls_len = "), variables / ended.count("traces").max(1))
    };
    let (streams, calls, bytes_a_trace) = read("out", &[]);
    assert_eq!((streams, calls), (Some(65_536), Some(1_048_576)));
    assert!(bytes_a_trace <= 65_536, "{bytes_a_trace}");
    // A limit that the user gives holds for both.
    assert_eq!(
        read("given", &["--max-len", "99"]),
        (Some(99), None, read("given2", &["--max-len", "99"]).2)
    );
}
