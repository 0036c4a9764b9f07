//! A campaign that is resumed continues where it was.

use crate::support::{Bench, LETTERS_PATHS, letters, one_branch};
use pleach_exec::fake::FakeProgram;
use pleach_exec::{End, Half};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn parts_of_a_campaign_find_what_one_finds() {
    let whole = Bench::new(letters()).run();
    for runs in 1..8 {
        let mut bench = Bench::new(letters());
        bench.limits.runs = Some(runs);
        let mut ended = bench.run();
        let mut sessions = 1;
        while ended.stop() == "runs" {
            bench.limits.runs = Some(ended.stats.runs + runs);
            ended = bench.resume();
            sessions += 1;
            assert!(sessions < 50, "no progress with {runs} runs a session");
        }
        assert_eq!((ended.stop(), ended.stats.paths), ("exhausted", LETTERS_PATHS), "{runs}");
        assert_eq!(ended.stats.branches, whole.stats.branches, "{runs}");
        let contents = |ended: &crate::support::Ended| {
            let mut all: Vec<_> = ended.queue.iter().map(|(_, bytes)| bytes.clone()).collect();
            all.sort();
            all
        };
        assert_eq!(contents(&ended), contents(&whole), "{runs}");
    }
}

#[test]
fn resuming_an_ended_campaign_changes_no_count() {
    let bench = Bench::new(letters());
    let before = bench.run();
    let after = bench.resume();
    let counts = |e: &crate::support::Ended| {
        let s = &e.stats;
        (s.runs, s.paths, s.inputs, s.flips.asked, s.flips.sat, s.flips.unsat, s.branches)
    };
    assert_eq!(counts(&before), counts(&after));
    assert_eq!(before.queue, after.queue);
}

#[test]
fn a_known_crash_is_not_kept_again() {
    let bench = Bench::new(one_branch(|run| run.crash(libc::SIGSEGV)));
    assert_eq!(bench.run().stats.crashes, 1);
    let after = bench.resume();
    assert_eq!((after.stats.crashes, after.crashes.len()), (1, 1));
}

#[test]
fn inputs_of_the_queue_run_once_and_are_not_counted() {
    let bench = Bench::new(letters());
    let before = bench.run();
    let runs = bench.runs_on(Half::Fast).len();
    let after = bench.resume();
    let again: Vec<_> =
        bench.runs_on(Half::Fast)[runs..].iter().map(|run| run.input.clone()).collect();
    let queue: Vec<_> = before.queue.iter().map(|(_, bytes)| bytes.clone()).collect();
    // Then come inputs that are traced again.
    assert_eq!(again[..queue.len()], queue);
    assert_eq!(after.stats.runs, before.stats.runs);
}

#[test]
fn what_kept_a_search_from_being_exhaustive_is_remembered() {
    let target = one_branch(|run| {
        run.cut = pleach_abi::shm::CUT_NODES;
        End::Exit(0)
    });
    let mut bench = Bench::new(target);
    bench.limits.runs = Some(3);
    bench.run();
    bench.limits.runs = None;
    let ended = bench.resume();
    assert_eq!((ended.stop(), ended.gaps()), ("exhausted-partial", vec!["cut by nodes"]));
}

/// On a slow machine, or one where somebody kills runs, a run may show less than in the
/// session before, or more.
#[test]
fn what_a_resumed_campaign_sees_for_the_first_time_stays_covered() {
    for ends_badly in [false, true] {
        let session = Arc::new(AtomicU32::new(0));
        let seen = session.clone();
        let program = FakeProgram::new().branches("main", [10, 20]);
        let mut bench = Bench::new(program.target(move |run| {
            if run.byte(0).equals(b'a').number() == 0 {
                return End::Exit(0);
            }
            run.branch(10, 1u64.into());
            if seen.load(Ordering::Relaxed) == 1 {
                run.branch(20, 1u64.into());
            }
            if ends_badly { run.crash(libc::SIGSEGV) } else { End::Exit(0) }
        }));
        bench.seeds = vec![b"abc".to_vec()];
        assert_eq!(bench.run().stats.branches.covered, 1, "{ends_badly}");
        for number in 1..4 {
            session.store(number, Ordering::Relaxed);
            assert_eq!(bench.resume().stats.branches.covered, 2, "{ends_badly}, {number}");
        }
    }
}
