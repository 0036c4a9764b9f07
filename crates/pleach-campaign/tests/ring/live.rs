//! Hybrid search: the same ring on a live run.

use crate::support::Bench;
use pleach_exec::End;
use pleach_exec::fake::{FakeProgram, FakeTarget};

/// Reads commands for ever; `x`, then `!!`, leads to line 13.
fn commands() -> FakeTarget {
    FakeProgram::new().branches("main", [10, 11, 12, 13]).target(|run| {
        let (mut at, mut state) = (0, 0);
        while let Some(byte) = run.try_byte(at) {
            at += 1;
            state = match state {
                0 => u32::from(run.branch(10, byte.equals(b'x'))),
                1 => {
                    if run.branch(11, byte.equals(0xf7u8)) {
                        2
                    } else {
                        0
                    }
                }
                2 => {
                    if run.branch(12, byte.equals(0xe3u8)) {
                        3
                    } else {
                        0
                    }
                }
                _ => {
                    run.branch(13, byte.equals(0x91u8));
                    3
                }
            };
        }
        End::Exit(0)
    })
}

#[test]
fn a_search_from_a_live_state_finds_what_random_events_do_not() {
    let mut bench = Bench::with(commands(), "hybrid", 4000);
    bench.settings.max_len = 4096;
    bench.settings.len = 64;
    let ended = bench.run();
    assert_eq!(ended.stats.branches.covered, 8, "{:?}", ended.stats.hybrid);
    assert!(ended.stats.hybrid.searches > 0 && ended.stats.hybrid.found > 0);
}
