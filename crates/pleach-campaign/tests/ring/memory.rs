//! A campaign whose memory is short.

use crate::support::{Bench, Ended};
use pleach_exec::End;
use pleach_exec::fake::{FakeProgram, FakeTarget};

/// The tree of a campaign with this limit has its smallest table, and only a few of its runs
/// and inputs are in memory.
const LITTLE: u64 = 128 << 10;
const BYTES: usize = 8;
/// How often a byte is compared again.
const REPEATS: usize = 16;

/// One path for each set of bytes that are `a`. Each byte is compared many times, and after
/// the first time only one outcome is possible: most flips are refuted.
fn many_paths() -> FakeTarget {
    FakeProgram::new().branches("main", [10, 11]).target(|run| {
        let bytes: Vec<_> = (0..BYTES).map(|i| run.byte(i)).collect();
        for byte in bytes {
            run.branch(10, byte.equals(b'a'));
            (0..REPEATS).for_each(|_| _ = run.branch(11, byte.equals(b'a')));
        }
        End::Exit(0)
    })
}

fn bench(strategy: &str, max_memory: u64) -> Bench {
    let mut bench = Bench::new(many_paths());
    bench.seeds = vec![vec![0; BYTES]];
    bench.settings.max_len = BYTES as u64;
    bench.settings.strategy = strategy.into();
    bench.settings.max_memory = max_memory;
    bench
}

fn contents(ended: &Ended) -> Vec<Vec<u8>> {
    let mut contents: Vec<_> = ended.queue.iter().map(|(_, bytes)| bytes.clone()).collect();
    contents.sort();
    contents
}

#[test]
fn the_limit_is_kept_over_many_runs() {
    for strategy in ["auto", "generational"] {
        let mut bench = bench(strategy, LITTLE);
        bench.limits.runs = Some(2000);
        let memory = bench.run().stats.memory;
        assert!(memory.forgotten > 0, "{strategy}: {memory:?}");
        assert_eq!(memory.limit, LITTLE);
        assert!(memory.tree > 0 && memory.runs > 0 && memory.total <= LITTLE, "{memory:?}");
    }
}

#[test]
fn the_same_limit_gives_the_same_queue() {
    for strategy in ["auto", "generational"] {
        let run = || {
            let mut bench = bench(strategy, LITTLE);
            bench.limits.runs = Some(1000);
            bench.run()
        };
        let (first, second) = (run(), run());
        assert_eq!(first.queue, second.queue);
        assert_eq!(first.stats.memory, second.stats.memory);
        assert_eq!(first.stats.flips.asked, second.stats.flips.asked);
    }
}

#[test]
fn a_smaller_limit_loses_no_input() {
    let mut plenty = bench("generational", 1 << 30);
    plenty.limits.runs = Some(1000);
    let mut little = bench("generational", LITTLE);
    little.limits.runs = Some(1000);
    let (plenty, little) = (plenty.run(), little.run());
    assert_eq!(contents(&plenty), contents(&little));
    assert_eq!(little.queue.len() as u64, little.stats.inputs);
    assert_eq!(plenty.stats.branches, little.stats.branches);
}

/// With enough memory, this search is exhaustive.
#[test]
fn a_search_that_forgot_refutations_is_not_exhaustive() {
    let whole = bench("generational", 1 << 30).run();
    assert_eq!((whole.stop(), whole.gaps()), ("exhausted", vec![]));
    let part = bench("generational", LITTLE).run();
    assert_eq!(part.stop(), "exhausted-partial");
    assert!(part.gaps().contains(&"forgotten"), "{:?}", part.gaps());
}
