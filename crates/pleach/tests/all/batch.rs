//! Batches: many inputs for one message to a persistent target. Every input of a batch has
//! the result that it has alone.

use crate::common::{NO_HURRY, Program};
use pleach_exec::{BatchInput, BatchRuns, End, Executor, Growth, Half, TargetOptions};
use std::time::Duration;

/// By their first byte, inputs crash, exit, hang, take all memory, take some time, or crash
/// if an `r` came before.
const BODY: &str = r#"
    if (n < 1) continue;
    if (b[0] == 'c') abort();
    if (b[0] == 'e') exit(7);
    if (b[0] == 'h') for (;;) usleep(1000);
    if (b[0] == 'm') for (;;) { all = malloc(1 << 20); memset(all, 1, 1 << 20); }
    if (b[0] == 't') usleep(20000);
    if (b[0] == 'r') remembered = 1;
    if (b[0] == 's' && remembered) abort();
    for (int i = 0; i < n; i++) if (b[i] == '+') sum += i;
"#;

const HEAD: &str = r#"#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int remembered, sum;
static char *volatile all;
"#;

/// The same program for three ways to get input: standard input, AFL's buffer, libFuzzer.
fn programs() -> [Program; 3] {
    let stdin = format!(
        "{HEAD}int main(void) {{
    static char b[64];
    while (__AFL_LOOP(1000)) {{
        long n = read(0, b, sizeof b);
        {BODY}
    }}
}}"
    );
    let buffer = format!(
        "{HEAD}__AFL_FUZZ_INIT();
int main(void) {{
    __AFL_INIT();
    unsigned char *b = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(1000)) {{
        long n = __AFL_FUZZ_TESTCASE_LEN;
        {BODY}
    }}
}}"
    );
    let fuzzer = format!(
        "{HEAD}int LLVMFuzzerTestOneInput(const uint8_t *b, size_t size) {{
    long n = size;
    do {{ {BODY} }} while (0);
    return 0;
}}"
    );
    let plain = [stdin, buffer].map(|source| Program::new(&source));
    let [stdin, buffer] = plain;
    [stdin, buffer, Program::with(&fuzzer, &["-fsanitize=fuzzer"])]
}

fn executor(p: &Program) -> Executor {
    let mut options = TargetOptions::new(Half::Fast, vec!["prog".into()]);
    options.memory_kib = Some(300 << 10);
    options.scratch = true;
    Executor::new(p.layout(), options).expect("an executor")
}

/// How an input ended, in which round of its process, and the counters of its run.
type Run = (End, u32, Vec<u8>);

fn run_alone(executor: &mut Executor, inputs: &[&str], timeout: Duration) -> Vec<Run> {
    let mut run = |input: &&str| {
        let outcome = executor.run(input.as_bytes(), timeout).expect("it runs");
        (outcome.end, outcome.round, executor.counters()[0].counters.clone())
    };
    inputs.iter().map(&mut run).collect()
}

/// The same in batches. Also returns how many inputs each batch ran.
fn run_batches(
    executor: &mut Executor,
    inputs: &[&str],
    timeout: Duration,
) -> (Vec<Run>, Vec<usize>) {
    let growth = Growth::default();
    let all: Vec<_> = inputs.iter().map(|i| BatchInput { bytes: i.as_bytes(), growth }).collect();
    let (mut runs, mut results, mut batches) = (BatchRuns::default(), Vec::new(), Vec::new());
    while results.len() < inputs.len() {
        executor.run_batch(&all[results.len()..], timeout, &mut runs).expect("it runs");
        assert!(!runs.outcomes().is_empty(), "at least one input must run");
        for (i, outcome) in runs.outcomes().iter().enumerate() {
            let counters = runs.touched(i).by_module()[0].counters.clone();
            results.push((outcome.end.clone(), outcome.round, counters));
        }
        batches.push(runs.outcomes().len());
    }
    (results, batches)
}

#[test]
fn an_input_of_a_batch_does_what_it_does_alone() {
    let mut inputs = vec!["a", "", "+", "+++", "a+", "x", "c", "b", "e+", "a", "+a+", "s", "r"];
    inputs.extend(["a", "+", "s", "a", "++", "m", "a", "b", "c", "c", "a", "", "+"]);
    for (number, p) in programs().iter().enumerate() {
        let alone = run_alone(&mut executor(p), &inputs, NO_HURRY);
        let (together, batches) = run_batches(&mut executor(p), &inputs, NO_HURRY);
        for (i, (alone, together)) in alone.iter().zip(&together).enumerate() {
            assert_eq!(alone, together, "program {number}, input {i}: {:?}", inputs[i]);
        }
        let end =
            |input: &str| together[inputs.iter().position(|i| *i == input).unwrap()].0.clone();
        assert_eq!([end("c"), end("e+"), end("m")], [End::Signal(6), End::Exit(7), End::Memory]);
        // The first input of a process runs alone; the others run up to a bad end.
        assert_eq!(batches, [1, 6, 1, 1, 1, 6, 1, 2, 1, 2, 1, 1, 2], "program {number}");
    }
}

#[test]
fn a_hang_belongs_to_the_input_that_hangs() {
    let short = Duration::from_millis(300);
    for p in &programs() {
        let inputs = ["a", "b", "+", "h", "a", "h+", "b"];
        let (runs, _) = run_batches(&mut executor(p), &inputs, short);
        let ends: Vec<_> = runs.into_iter().map(|(end, ..)| end).collect();
        let fine = || End::Exit(0);
        let expected = [fine(), fine(), fine(), End::Timeout, fine(), End::Timeout, fine()];
        assert_eq!(ends, expected);
    }
}

/// Together the inputs take many times the limit; each is within it.
#[test]
fn limits_are_those_of_one_input() {
    let inputs = ["t"; 60];
    for p in &programs() {
        let mut executor = executor(p);
        executor.limit_cpu(Some(Duration::from_millis(200)));
        let (runs, batches) = run_batches(&mut executor, &inputs, Duration::from_millis(400));
        assert!(runs.iter().all(|(end, ..)| *end == End::Exit(0)), "{runs:?}");
        assert_eq!(batches, [1, 59]);
    }
}

/// A run that writes files needs an empty directory.
#[test]
fn a_target_that_writes_files_gets_one_input_at_a_time() {
    let p = Program::with(
        r#"#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
int LLVMFuzzerTestOneInput(const uint8_t *b, size_t n) {
    int fd = open("file", O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd < 0) abort();
    close(fd);
    return 0;
}
"#,
        &["-fsanitize=fuzzer"],
    );
    let (runs, batches) = run_batches(&mut executor(&p), &["a"; 20], NO_HURRY);
    assert!(runs.iter().all(|(end, ..)| *end == End::Exit(0)), "{runs:?}");
    assert_eq!(batches, [1; 20]);
}

/// The target fills all of the shared memory with a byte, each time another one, or with
/// numbers that may be lengths and offsets.
#[test]
fn a_target_that_writes_over_the_shared_memory_spoils_only_its_own_runs() {
    let p = Program::with(
        r#"#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *b, size_t n) {
    char line[512];
    if (n < 2 || b[0] != 'w') return 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to, offset;
        if (!strstr(line, "pleach-trace")) continue;
        sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset);
        // The parts for nodes and events are large, and of no use here.
        unsigned long header_end = from + 65536, tail = to - (16 << 20);
        if (offset != 0) header_end = to, tail = to;
        for (uint32_t *p = (void *)from; (unsigned long)p < header_end; p++)
            *p = b[1] == 'r' ? (uint32_t)rand() % 1000 : b[1] * 0x01010101u;
        for (uint32_t *p = (void *)tail; (unsigned long)p < to; p++)
            *p = b[1] == 'r' ? (uint32_t)rand() % 1000 : b[1] * 0x01010101u;
    }
    fclose(maps);
    return b[1] == 'x' ? abort(), 0 : 0;
}
"#,
        &["-fsanitize=fuzzer"],
    );
    let mut executor = executor(&p);
    let short = Duration::from_secs(2);
    let inputs = ["a", "b", "w\u{1}", "a", "wr", "wr", "b", "wx", "c", "w\u{7f}", "a", "wr"];
    for _ in 0..3 {
        let (runs, _) = run_batches(&mut executor, &inputs, short);
        assert_eq!(runs.len(), inputs.len());
        // After that, other inputs run as ever.
        executor.stop();
        let (runs, _) = run_batches(&mut executor, &["a", "b", "c"], NO_HURRY);
        assert!(runs.iter().all(|(end, ..)| *end == End::Exit(0)), "{runs:?}");
    }
}

/// A crash that needs an input before it is kept with that input. Replaying these inputs in
/// one process shows it.
#[test]
fn a_crash_that_depends_on_other_inputs_is_kept_with_them() {
    let [p, ..] = programs();
    p.seeds([("one", &b"r"[..]), ("two", b"s")]);
    let ended = p.campaign("out", &["-i", "seeds", "-s", "blackbox", "-n", "3000"]);
    let sequences: Vec<_> = std::fs::read_dir(ended.out.join("sequences"))
        .expect("a crash of its own kind is there")
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(sequences.len(), 1, "{sequences:?}");
    let name = sequences[0].file_name().unwrap().to_str().unwrap();
    assert!(ended.out.join("crashes").join(name).exists(), "{name}");
    let note = p.read(&format!("out/crashes/{name}.stack.txt"));
    let note = String::from_utf8(note).unwrap();
    assert!(note.contains("sequences/"), "{note}");
    let files = std::fs::read_dir(&sequences[0]).unwrap().count();
    assert!((2..20).contains(&files), "{files} inputs");
    let dir = sequences[0].to_str().unwrap();
    let out = p.run(&["replay", "--sequence", dir, "--", "./prog"], b"");
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{text}");
    assert!(text.contains("1 crashed"), "{text}");
}
