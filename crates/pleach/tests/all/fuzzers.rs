//! Programs that were written for other fuzzers: persistent loops, deferred starts, AFL's
//! buffer, libFuzzer's entry. Both halves, under the driver and by hand.

use crate::common::{NO_HURRY, Program, feed};
use pleach_exec::{End, Half};
use std::process::Command;
use std::time::Duration;

/// How each input ends, and in which round of its process.
fn ends(p: &Program, half: Half, inputs: &[&str]) -> Vec<(End, u32)> {
    let mut executor = p.executor(half);
    let mut run = |input: &&str| {
        let outcome = executor.run(input.as_bytes(), NO_HURRY).expect("it runs");
        (outcome.end, outcome.round)
    };
    inputs.iter().map(&mut run).collect()
}

/// `c` crashes, `e` exits, `h` hangs, `s` crashes if an `r` came before.
const LOOP: &str = r#"#include <stdlib.h>
#include <unistd.h>
int main(void) {
    static char b[8];
    static int remembered;
    while (__AFL_LOOP(5)) {
        if (read(0, b, sizeof b) < 1) continue;
        if (b[0] == 'c') abort();
        if (b[0] == 'e') return 7;
        if (b[0] == 'h') for (;;) pause();
        if (b[0] == 'r') remembered = 1;
        if (b[0] == 's' && remembered) abort();
    }
    return 3;
}
"#;

#[test]
fn one_process_takes_many_inputs() {
    let p = Program::new(LOOP);
    let stopped = |round| (End::Exit(0), round);
    // After its last round the program exits, and the next input gets a new process.
    assert_eq!(
        ends(&p, Half::Fast, &["a", "b", "", "a", "a", "a", "a"]),
        [stopped(1), stopped(2), stopped(3), stopped(4), (End::Exit(3), 5), stopped(1), stopped(2)]
    );
    // In the symbolic half every input gets a new process.
    assert_eq!(ends(&p, Half::Symbolic, &["a", "b"]), [(End::Exit(3), 1), (End::Exit(3), 1)]);
}

#[test]
fn a_crash_in_a_later_round_belongs_to_that_round() {
    let p = Program::new(LOOP);
    let abort = || End::Signal(6);
    assert_eq!(
        ends(&p, Half::Fast, &["a", "a", "c", "a", "e", "a"]),
        [
            (End::Exit(0), 1),
            (End::Exit(0), 2),
            (abort(), 3),
            (End::Exit(0), 1),
            (End::Exit(7), 2),
            (End::Exit(0), 1),
        ]
    );
}

#[test]
fn a_hang_in_a_later_round_times_out() {
    let p = Program::new(LOOP);
    let mut executor = p.executor(Half::Fast);
    let short = Duration::from_millis(300);
    let fine = End::Exit(0);
    for (input, timeout, end) in
        [("a", NO_HURRY, fine.clone()), ("h", short, End::Timeout), ("a", NO_HURRY, fine)]
    {
        let outcome = executor.run(input.as_bytes(), timeout).expect("it runs");
        assert_eq!(outcome.end, end, "{input}");
    }
}

#[test]
fn counters_count_one_round() {
    let p = Program::new(LOOP);
    let mut executor = p.executor(Half::Fast);
    let mut counters = |input: &str| {
        executor.run(input.as_bytes(), NO_HURRY).expect("it runs");
        executor.counters()[0].counters.clone()
    };
    // The first round includes what comes before the loop.
    counters("a");
    let (second, other, fourth) = (counters("a"), counters("r"), counters("a"));
    assert_eq!(second, fourth);
    assert_ne!(second, other);
}

#[test]
fn a_crash_that_depends_on_an_earlier_input_is_reported_as_such() {
    let p = Program::new(LOOP);
    for (name, text) in [("r", "r"), ("s", "s"), ("c", "c")] {
        p.file(name, text.as_bytes());
    }
    let text = p.text(&["cover", "r", "s", "c", "--", "./prog"], b"");
    let report = "s: SIGABRT: not in a new process (exit 0 there): \
                  the program keeps state between inputs\n";
    assert!(text.contains(report), "{text}");
    assert!(text.ends_with("c: SIGABRT\n"), "{text}");
}

#[test]
fn by_hand_a_loop_has_one_round() {
    let p = Program::new(LOOP);
    for half in ["fast", "symbolic"] {
        let out = p.run(&["exec", "--half", half, "--", "./prog"], b"a");
        assert_eq!(out.status.code(), Some(3), "{half}: {out:?}");
    }
}

/// Returns 5 if the fork server started at `ready`, and 6 if it started before `main`: then
/// the process that runs `main` is the same all the time.
fn deferred(ready: &str) -> Program {
    Program::new(&format!(
        r#"#include <stdio.h>
#include <unistd.h>
#include <pleach.h>
int main(void) {{
    static char b[8];
    int started_by = getpid();
    {ready};
    if (read(0, b, sizeof b) < 1) return 1;
    if (b[0] == 'x') return 2;
    return started_by != getpid() ? 5 : 6;
}}
"#
    ))
}

#[test]
fn the_fork_server_starts_where_the_program_says() {
    for (ready, status) in [("__AFL_INIT()", 5), ("pleach_ready()", 5), ("", 6)] {
        let p = deferred(ready);
        for half in [Half::Fast, Half::Symbolic] {
            let expected = [(End::Exit(status), 1), (End::Exit(2), 1), (End::Exit(1), 1)];
            assert_eq!(ends(&p, half, &["a", "x", ""]), expected, "{ready:?} {half:?}");
        }
        // By hand there is no fork server.
        let out = feed(&mut Command::new(p.path("prog")), b"a");
        assert_eq!(out.status.code(), Some(6), "{ready:?}");
    }
}

#[test]
fn a_start_that_is_never_reached_is_refused() {
    let p = Program::new(
        "#include <pleach.h>\nint main(int c, char **v) { if (c > 9) pleach_ready(); return 0; }\n",
    );
    p.file("input", b"a");
    let reason = "is pleach_ready() or __AFL_INIT() reached?";
    p.refuses(&["cover", "input", "--", "./prog"], &[reason]);
}

#[test]
fn the_buffer_of_afl_is_the_input() {
    let p = Program::new(
        r#"#include <stdlib.h>
#include <unistd.h>
__AFL_FUZZ_INIT();
int main(void) {
    __AFL_INIT();
    unsigned char *b = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(100)) {
        int n = __AFL_FUZZ_TESTCASE_LEN;
        if (n > 2 && b[0] == 'F' && b[n - 1] == '!') abort();
    }
    return 0;
}
"#,
    );
    let inputs = ["", "F", "Fuzz", "Fuzz!", "ab"];
    let signals = |half| -> Vec<bool> {
        ends(&p, half, &inputs).iter().map(|(e, _)| matches!(e, End::Signal(6))).collect()
    };
    for half in [Half::Fast, Half::Symbolic] {
        assert_eq!(signals(half), [false, false, false, true, false], "{half:?}");
    }
    let text = p.text(&["explain", "-", "--", "./prog"], b"Fuzz!");
    for part in ["in[0] == 'F'", "in[4] == '!'", "SIGABRT"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = p.json(&["trace", "--json", "--check", "-", "--", "./prog"], b"Fuzz?");
    assert_eq!(json["disagreements"], 0, "{json}");
}

/// A libFuzzer target. It exits with 9 if `LLVMFuzzerInitialize` was not called.
const TARGET: &str = r#"#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int ready;
int LLVMFuzzerInitialize(int *argc, char ***argv) { ready = *argc > 0 && **argv; return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!ready) exit(9);
    if (size > 3 && !memcmp(data, "BUG", 3)) {
        if (data[3] == '1') abort();
        if (data[3] == '2') return data[size];
    }
    return 0;
}
"#;

#[test]
fn fuzz_targets_run_under_the_driver() {
    let p = Program::with(TARGET, &["-fsanitize=fuzzer"]);
    for half in [Half::Fast, Half::Symbolic] {
        let ends: Vec<_> =
            ends(&p, half, &["", "BUG0", "BUG1", "xyz"]).into_iter().map(|(e, _)| e).collect();
        let fine = End::Exit(0);
        assert_eq!(ends, [fine.clone(), fine.clone(), End::Signal(6), fine], "{half:?}");
    }
    let text = p.text(&["explain", "-", "--", "./prog"], b"BUG1");
    for part in
        ["len > 3", "in[0] == 'B' && in[1] == 'U' && in[2] == 'G'", "in[3] == '1'", "SIGABRT"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = p.json(&["trace", "--json", "--check", "-", "--", "./prog"], b"BUG0");
    assert_eq!(json["disagreements"], 0, "{json}");
}

#[test]
fn fuzz_targets_run_files_by_hand() {
    let p = Program::with(TARGET, &["-fsanitize=fuzzer"]);
    p.file("fine", b"hello");
    p.file("bad", b"BUG1");
    let by_hand = |args: &[&str]| {
        let mut command = Command::new(p.path("prog"));
        feed(command.current_dir(p.dir.path()).args(args), b"BUG0")
    };
    let out = by_hand(&["-runs=1", "fine"]);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && stderr.contains("Running: fine\n"), "{stderr}");
    // Without arguments the input is standard input.
    assert!(by_hand(&[]).status.success());
    assert_eq!(by_hand(&["bad"]).status.code(), Some(77));
    let missing = by_hand(&["nothing"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot open nothing"));
}

#[test]
fn a_read_beyond_the_buffer_of_a_fuzz_target_is_a_crash() {
    let p = Program::with(TARGET, &["-fsanitize=fuzzer,address"]);
    p.file("over", b"BUG2");
    p.file("fine", b"BUG0");
    let text = p.text(&["cover", "fine", "over", "--", "./prog"], b"");
    assert!(text.contains("over: SIGABRT: AddressSanitizer: heap-buffer-overflow"), "{text}");
    assert!(!text.contains("fine: "), "{text}");
}
