//! A persistent target runs many inputs at once. What a campaign finds does not depend on it.

use crate::support::{Bench, Ended};
use pleach_exec::fake::{FakeProgram, FakeRun, FakeTarget};
use pleach_exec::{End, Half};
use std::time::Duration;

/// Inputs crash, hang, exit or count bytes, by their bytes.
fn target(is_persistent: bool) -> FakeTarget {
    let program = FakeProgram::new().branches("main", [10, 11, 12, 13, 14]);
    let program = if is_persistent { program.persistent() } else { program };
    program.target(|run| {
        while let Some(byte) = run.next_byte() {
            if run.branch(10, byte.equals(0xffu8)) {
                return run.crash(6);
            }
            if run.branch(11, byte.equals(0x80u8)) {
                return End::Timeout;
            }
            if run.branch(12, byte.equals(0x7fu8)) {
                return End::Memory;
            }
            if run.branch(13, byte.equals(0x40u8)) {
                return End::Exit(1);
            }
            run.branch(14, byte.is_below(0x20u8));
        }
        End::Exit(0)
    })
}

fn bench(is_persistent: bool, runs: u64) -> Bench {
    let mut bench = Bench::with(target(is_persistent), "blackbox", runs);
    bench.settings.max_len = 8;
    bench
}

/// Everything that a campaign has left, except for times.
fn left(ended: &Ended) -> String {
    let mut stats = ended.stats.clone();
    stats.time_s = Default::default();
    stats.lock = Default::default();
    stats.actions = Default::default();
    stats.resident = 0;
    format!("{stats:?} {:?} {:?} {:?}", ended.queue, ended.crashes, ended.hangs)
}

#[test]
fn a_campaign_finds_the_same_with_batches() {
    for runs in [50, 500, 5000] {
        let (single, batches) = (bench(false, runs), bench(true, runs));
        let (single, batches) = (single.run(), batches.run());
        assert!(runs < 500 || single.stats.crashes > 0 && single.stats.hangs > 0);
        assert_eq!(left(&single), left(&batches), "{runs} runs");
    }
}

#[test]
fn the_number_of_runs_is_exact_with_batches() {
    for runs in (1..20).chain([31, 64, 127, 128, 129, 200]) {
        let single = bench(false, runs).run().stats.runs;
        let batches = bench(true, runs).run().stats.runs;
        assert_eq!(single, batches, "-n {runs}");
    }
}

/// What ran after the last run of a campaign is as if it had not run.
#[test]
fn runs_after_the_last_one_are_not_counted() {
    let bench = bench(true, 100);
    let ended = bench.run();
    assert!(bench.runs_on(Half::Fast).len() as u64 >= ended.stats.runs);
    let reached = ended.stats.modules.values().map(|m| m.reached).max();
    assert!(reached.is_some_and(|reached| reached <= ended.stats.runs), "{reached:?}");
}

#[test]
fn a_batch_ends_soon_when_the_campaign_does() {
    let program = FakeProgram::new().branches("main", [10]).persistent();
    let slow = program.target(|run| {
        std::thread::sleep(Duration::from_millis(2));
        let byte = run.byte(0);
        run.branch(10, byte.equals(1u8));
        End::Exit(0)
    });
    let mut bench = Bench::with(slow, "blackbox", u64::MAX);
    bench.limits.time = Some(Duration::from_millis(100));
    let begin = std::time::Instant::now();
    assert_eq!(bench.run().stop(), "time");
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
}

/// Some work, so that a run takes about as long as that of a small real target.
fn busy(run: &mut FakeRun) -> End {
    let mut sum = 0u64;
    for i in 0..20_000u64 {
        sum = std::hint::black_box(sum.wrapping_mul(31) ^ i);
    }
    let byte = run.byte(0);
    run.branch(10, byte.equals(sum as u8));
    run.branch(11, byte.is_below(7u8));
    End::Exit(0)
}

/// All time of all workers is in some part. On a busy machine a worker may lose the processor
/// between two parts.
#[test]
fn the_parts_add_up_to_the_time_of_the_workers() {
    for (strategy, jobs) in [("auto", 1), ("blackbox", 1), ("auto", 3)] {
        let program = FakeProgram::new().branches("main", [10, 11]).persistent();
        let mut bench = Bench::with(program.target(busy), strategy, u64::MAX);
        (bench.jobs, bench.limits.time) = (jobs, Some(Duration::from_millis(400)));
        let time = bench.run().stats.time_s;
        let (parts, all) = (time.parts(), time.total * jobs as f64);
        assert!(
            (parts / all - 1.0).abs() < 0.15,
            "{strategy} -j {jobs}: {parts} of {all}: {time:?}"
        );
    }
}

/// Thirty-two workers on a persistent target would wait for less than a tenth of their time:
/// they do on 32 threads here, whose runs wait instead of working, as a processor of their
/// own would.
#[test]
fn many_workers_do_not_wait_for_each_other() {
    let program = FakeProgram::new().branches("main", [10, 11]).persistent();
    let target = program.target(|run| {
        // One run in thirty-two waits, for as long as all of them would work.
        if run.runs_before % 32 == 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        let byte = run.byte(0);
        run.branch(10, byte.equals(3u8));
        run.branch(11, byte.is_below(7u8));
        End::Exit(0)
    });
    let mut bench = Bench::with(target, "blackbox", u64::MAX);
    (bench.jobs, bench.limits.time) = (32, Some(Duration::from_millis(600)));
    let stats = bench.run().stats;
    let waited = stats.time_s.lock / (stats.time_s.total * 32.0);
    assert!(waited < 0.1, "they waited for {:.1} % of their time", 100.0 * waited);
}

/// Mutants need the lock for a batch, and not for a run.
#[test]
fn mutants_take_the_lock_once_for_many_runs() {
    let taken = |runs| {
        let program = FakeProgram::new().branches("main", [10, 11]).persistent();
        let target = program.target(|run| {
            let byte = run.byte(0);
            run.branch(10, byte.equals(3u8));
            run.branch(11, byte.is_below(7u8));
            End::Exit(0)
        });
        Bench::with(target, "auto", runs).run().stats.lock.taken
    };
    // The first runs find all there is, and flip it.
    let (few, many) = (taken(2_000), taken(22_000));
    assert!(many < few + 20_000 / 40, "{} times for 20,000 mutants", many - few);
}

/// A flip needs the lock to be chosen, to be answered and to be kept.
#[test]
fn a_flip_takes_the_lock_a_few_times() {
    let mut bench = Bench::with(crate::support::letters(), "dfs", 1_000);
    bench.jobs = 1;
    let stats = bench.run().stats;
    let (flips, traces) = (stats.flips.asked, stats.traces);
    assert!(flips > 5 && traces > 5, "{flips} flips, {traces} traces");
    // A trace: its input, its share of the tree, the tree, and the next action. The rest is the
    // seed and the watching thread.
    let most = 4 * flips + 7 * traces + 40;
    assert!(stats.lock.taken <= most, "{} times for {flips} flips", stats.lock.taken);
}
