//! Triage and the dictionary on real programs, through the library.

use crate::common::{NO_HURRY, Program};
use pleach_campaign::mutate::Dictionary;
use pleach_exec::triage::Examined;
use pleach_exec::{End, Half, TargetOptions, Triage};
use std::collections::HashSet;
use std::process::Command;
use std::time::Duration;

fn triage(p: &Program, timeout: Duration) -> Triage {
    let target = TargetOptions::new(Half::Fast, vec!["prog".into()]);
    Triage::new(p.layout(), &target, timeout).expect("an executor")
}

/// How a run ends, and its crash as text.
fn examine(triage: &mut Triage, input: &str) -> (End, String) {
    let Examined { outcome, crash } = triage.examine(input.as_bytes()).expect("it runs");
    (outcome.end, crash.map_or_else(String::new, |c| c.to_string()))
}

/// What a target may do while it runs under `ptrace`.
const HOSTILE: &str = r#"#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void crash(void) { *(volatile int *)8 = 1; }
static void *thread(void *arg) { crash(); return arg; }
static void again(int s) { signal(s, SIG_DFL); raise(s); }
static void caught(int s) { _exit(40 + s); }
int main(void) {
    static char b[4];
    pthread_t t;
    if (read(0, b, 1) != 1) return 1;
    switch (b[0]) {
    case 'c': crash(); break;
    case 't': pthread_create(&t, 0, thread, 0); pthread_join(t, 0); break;
    case 'f': if (!fork()) crash(); wait(0); return 7;
    case 'F': if (!fork()) { for (;;) pause(); } crash(); break;
    case 'h': signal(SIGSEGV, caught); crash(); break;
    case 'r': signal(SIGSEGV, again); crash(); break;
    case 's': raise(SIGSTOP); return 8;
    case 'k': kill(getppid(), SIGKILL); for (;;) pause();
    case 'm': kill(getpid(), SIGKILL); break;
    case 'e': execl("/bin/sh", "sh", "-c", "kill -SEGV $$", NULL); break;
    }
    return 0;
}
"#;

#[test]
fn crashes_of_hostile_targets_are_examined() {
    let p = Program::with(HOSTILE, &["-pthread"]);
    let mut triage = triage(&p, NO_HURRY);
    let crash = "SIGSEGV in crash (prog.c:6)";
    for (input, end, expected) in [
        ("c", End::Signal(11), crash),
        ("t", End::Signal(11), crash),
        ("F", End::Signal(11), crash),
        // Only a child crashes, or the program handles the signal.
        ("f", End::Exit(7), ""),
        ("h", End::Exit(51), ""),
        ("m", End::Signal(9), "SIGKILL"),
        ("x", End::Exit(0), ""),
    ] {
        assert_eq!(examine(&mut triage, input), (end, expected.into()), "{input}");
    }
    let (end, text) = examine(&mut triage, "r");
    assert_eq!(end, End::Signal(11), "{text}");
    let (end, text) = examine(&mut triage, "e");
    assert!(end == End::Signal(11) && text.starts_with("SIGSEGV"), "{text}");
    let (end, text) = examine(&mut triage, "k");
    assert!(matches!(end, End::Lost(_)), "{end:?} {text}");
    // After all this, the next run is examined as before.
    assert_eq!(examine(&mut triage, "c").1, crash);
}

#[test]
fn a_stopped_run_times_out_with_and_without_ptrace() {
    let p = Program::with(HOSTILE, &["-pthread"]);
    let timeout = Duration::from_millis(300);
    let alone = p.executor(Half::Fast).run(b"s", timeout).expect("it runs").end;
    assert_eq!(alone, End::Timeout);
    assert_eq!(examine(&mut triage(&p, timeout), "s").0, End::Timeout);
}

#[test]
fn frames_have_names_without_debug_information() {
    let source = "#include <stdio.h>\n\
        __attribute__((noinline)) void broken(void) { *(volatile int *)8 = 1; }\n\
        int main(void) { if (getchar() == 'x') broken(); return 0; }\n";
    let p = Program::with(source, &["-g0"]);
    let id = triage(&p, NO_HURRY).examine(b"x").expect("it runs").crash.expect("it crashes");
    let names: Vec<_> = id.frames.iter().map(|f| f.function.as_str()).collect();
    assert_eq!(names, ["broken", "main"]);
    assert_eq!(id.to_string(), "SIGSEGV in broken (prog)");
}

#[test]
fn a_crash_in_a_persistent_loop_is_examined() {
    let p = Program::new(
        "#include <unistd.h>\n\
         __attribute__((noinline)) static void broken(void) { *(volatile int *)8 = 1; }\n\
         int main(void) {\n\
             static char b[4];\n\
             while (__AFL_LOOP(1000))\n\
                 if (read(0, b, 1) == 1 && b[0] == 'x') broken();\n\
             return 0;\n\
         }\n",
    );
    let mut triage = triage(&p, NO_HURRY);
    assert_eq!(examine(&mut triage, "x").1, "SIGSEGV in broken (prog.c:2)");
    assert_eq!(examine(&mut triage, "y"), (End::Exit(0), String::new()));
}

/// How many different crashes the inputs have, and the text of each.
fn distinct(triage: &mut Triage, inputs: &[&str]) -> (usize, Vec<String>) {
    let mut examine = |input: &&str| {
        let crash = triage.examine(input.as_bytes()).expect("it runs").crash;
        let crash = crash.expect("it crashes");
        (crash.hash, crash.to_string())
    };
    let (hashes, texts): (HashSet<u64>, Vec<_>) = inputs.iter().map(&mut examine).unzip();
    (hashes.len(), texts)
}

/// The runtime has the `main` of a libFuzzer target. It calls the target, and must not count
/// as a library that reports faults.
#[test]
fn crashes_of_a_libfuzzer_target_are_told_apart() {
    let source = "#include <stdlib.h>\n\
        __attribute__((noinline)) static void one(void) { abort(); }\n\
        __attribute__((noinline)) static void two(void) { abort(); }\n\
        int LLVMFuzzerTestOneInput(const unsigned char *in, size_t n) {\n\
            if (n && in[0] == 'a') one();\n\
            if (n && in[0] == 'b') two();\n\
            if (n && in[0] == 'c') abort();\n\
            return 0;\n\
        }\n";
    for flags in [&["-fsanitize=fuzzer"][..], &["-fsanitize=fuzzer,address", "-g0"]] {
        let p = Program::with(source, flags);
        let (n, texts) = distinct(&mut triage(&p, NO_HURRY), &["a", "b", "c"]);
        assert_eq!(n, 3, "{flags:?}: {texts:?}");
        let names = ["one", "two", "LLVMFuzzerTestOneInput"];
        for (text, name) in texts.iter().zip(names) {
            assert!(text.starts_with(&format!("SIGABRT in {name} (prog")), "{text}");
        }
    }
}

/// Faults that a library reports. Most kinds happen in two places of one function.
const REPORTED: &str = r#"#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <vector>
static std::vector<int> numbers;
__attribute__((noinline)) void raise(void *) { *(volatile int *)8 = 1; }
__attribute__((noinline)) void quiet(int c) noexcept {
    if (c == 'i') throw std::runtime_error("i");
}
__attribute__((noinline)) void check(int c) {
    switch (c) {
    case 'a': numbers.at(10) = 1; break;
    case 'b': numbers.at(11) = 1; break;
    case 'c': throw 1;
    case 'd': throw 2;
    case 'e': std::terminate();
    case 'f': std::terminate();
    case 'g': assert(c == 'x'); break;
    case 'h': assert(c == 'y'); break;
    case 'k': raise(&numbers); break;
    }
}
int main() {
    int c = getchar();
    quiet(c);
    check(c);
    return 0;
}
"#;

#[test]
fn the_library_that_reports_a_fault_does_not_count() {
    let p = Program::empty();
    p.file("prog.cc", REPORTED.as_bytes());
    p.text(&["c++", "-g", "-O0", "-Wno-exceptions", "prog.cc", "-o", "prog"], b"");
    let inputs = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "k"];
    let (n, texts) = distinct(&mut triage(&p, NO_HURRY), &inputs);
    assert_eq!(n, inputs.len(), "{texts:?}");
    for (input, text) in inputs.iter().zip(&texts) {
        let function = match *input {
            "i" => "quiet",
            "k" => "raise",
            _ => "check",
        };
        assert!(text.contains(&format!(" in {function} (prog.cc:")), "{input}: {text}");
    }
    // In a stripped program, functions and places are known by their addresses, but nothing
    // tells which functions are the C++ library's. So `a` and `b` are the same crash: they
    // differ only in the line of the caller.
    let inputs = &inputs[1..];
    let stripped = Command::new("strip").arg(p.path("prog")).status();
    assert!(stripped.expect("strip is installed").success());
    let (n, texts) = distinct(&mut triage(&p, NO_HURRY), inputs);
    assert_eq!(n, inputs.len(), "{texts:?}");
}

const WORDS: &str = r#"#include <stdio.h>
#include <string.h>
struct keyword { char name[8]; int number; };
static const struct keyword words[] = {{"while", 1}, {"return", 2}, {"if", 3}};
int main(void) {
    static char b[64];
    unsigned magic;
    if (!fgets(b, sizeof b, stdin)) return 1;
    for (int i = 0; i < 3; i++)
        if (!strncmp(b, words[i].name, strlen(words[i].name))) return words[i].number;
    if (!strcmp(b, "enchanted\n")) puts("a message with words");
    memcpy(&magic, b, 4);
    if (magic == 0x46445025) return 4;
    return 0;
}
"#;

#[test]
fn the_dictionary_has_the_words_of_the_program_and_no_others() {
    let has = |d: &Dictionary, word: &str| d.iter().any(|(t, _)| t == word.as_bytes());
    for flags in [&[][..], &["-fsanitize=address"]] {
        let p = Program::with(WORDS, flags);
        let layout = p.layout();
        let mut dictionary = Dictionary::default();
        dictionary.add_program(&layout);
        for word in ["while", "return", "if", "enchanted\n", "a message with words"] {
            assert!(has(&dictionary, word), "{word}: {dictionary:?}");
        }
        // Nothing of the runtime or the sanitizer.
        assert!(dictionary.len() < 10, "{dictionary:?}");

        let mut executor = p.executor(Half::Symbolic);
        let mut traced = Dictionary::default();
        executor.run(b"here is another line\n", NO_HURRY).expect("it runs");
        traced.add_trace(&executor.trace().expect("a sound trace"));
        for word in ["while", "return", "if", "enchanted\n", "%PDF"] {
            assert!(has(&traced, word), "{word}: {traced:?}");
        }
    }
}
