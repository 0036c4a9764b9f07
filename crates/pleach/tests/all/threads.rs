//! Programs with threads: they share labels and the log of events, and traces stay sound.

use crate::common::Program;

const SOURCE: &str = r#"#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
enum { THREADS = 8, EACH = 64 };
static unsigned char in[THREADS * EACH];
static unsigned sums[THREADS];
static void *work(void *p) {
    unsigned k = *(unsigned *)p, sum = 0;
    for (int i = 0; i < EACH; i++) {
        unsigned char c = in[EACH * k + i];
        if (c > 'm') sum = sum * 31 + c;
        else sum ^= c << 3;
    }
    if (sum % 7 == 3) sum++;
    sums[k] = sum;
    return NULL;
}
int main(void) {
    pthread_t threads[THREADS];
    unsigned numbers[THREADS], total = 0;
    if (read(0, in, sizeof in) != sizeof in) return 1;
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i])) return 2;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        total += sums[i];
    }
    return total % 2 ? 3 : 4;
}
"#;

#[test]
fn traces_of_threads_are_sound() {
    let p = Program::with(SOURCE, &["-pthread"]);
    for seed in 0u32..12 {
        let byte = |i: u32| (i.wrapping_mul(2_654_435_761).wrapping_add(seed * 77) >> 13) as u8;
        let input: Vec<u8> = (0..512).map(byte).collect();
        p.file("input", &input);
        let args = ["trace", "--json", "--check", "--repeat", "5", "input", "--", "./prog"];
        let json = p.json(&args, b"");
        assert_eq!(json["disagreements"], 0, "{json}");
        // One event for the length, one for each byte, one for the sum of each thread, and
        // one in main.
        assert_eq!(json["events"], 1 + 512 + 8 + 1, "{json}");
        let cover = p.json(&["cover", "--json", "input", "--", "./prog"], b"");
        assert_eq!(cover["inputs"][0]["status"], json["status"], "{cover}");
    }
}

/// The decisions of two threads come in any order. A search in which the order has changed says so.
#[test]
fn a_search_with_threads_is_exhaustive_or_says_why_not() {
    let source = include_str!("../../../../tests/ways/two_threads.c");
    let p = Program::with(source, &["-pthread"]);
    p.seeds([("seed", b"abcdef".as_slice())]);
    let flags = ["-s", "dfs", "-n", "1000", "-i", "seeds"];
    let ended = p.campaign_with_args("out", &flags, &["7"]);
    let is_complete = ended.stop() == "exhausted" && ended.count("traces") == 1 + (1 << 6);
    let is_counted = ended.partial().iter().any(|&why| why == "unstable" || why == "diverged");
    assert!(is_complete || is_counted, "{}", ended.stats);
}
