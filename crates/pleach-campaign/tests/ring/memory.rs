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
        let stats = bench.run().stats;
        assert!(stats.resident > LITTLE, "{stats:?}");
        let memory = stats.memory;
        // A search that should be exhaustive has the rest on disk.
        match strategy {
            "auto" => assert!(memory.forgotten > 0, "{memory:?}"),
            _ => assert!(memory.edges_on_disk > 0 && memory.forgotten == 0, "{memory:?}"),
        }
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

#[test]
fn an_exhaustive_search_needs_little_memory() {
    for strategy in ["dfs", "generational"] {
        let whole = bench(strategy, 1 << 30).run();
        let part = bench(strategy, LITTLE).run();
        for ended in [&whole, &part] {
            assert_eq!((ended.stop(), ended.gaps()), ("exhausted", vec![]), "{strategy}");
        }
        assert_eq!(whole.stats.paths, part.stats.paths);
        assert_eq!(contents(&whole), contents(&part));
        assert!(part.stats.memory.edges_on_disk > 0 && part.stats.memory.total <= LITTLE);
    }
}

/// Without room on the disk for it, the tree forgets. Then the search does not end by itself:
/// it asks for what it forgot.
#[test]
fn a_search_that_forgot_refutations_is_not_exhaustive() {
    let mut bench = bench("generational", LITTLE);
    bench.limits.runs = Some(2000);
    let campaign = bench.campaign();
    std::fs::create_dir(bench.out().join(".edges.scratch")).unwrap();
    let stats = bench.search(campaign).unwrap();
    assert!(stats.memory.forgotten_refutations > 0, "{:?}", stats.memory);
    assert_eq!(bench.ended(stats).stop(), "runs");
}
