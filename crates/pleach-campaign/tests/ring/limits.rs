//! How a campaign ends.

use crate::support::{Bench, letters, one_branch};
use pleach_campaign::run::{CampaignError, Disk};
use pleach_exec::fake::FakeProgram;
use pleach_exec::{End, Half};
use pleach_work::Task;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn a_campaign_ends_after_its_runs() {
    for runs in [1, 2, 7, 50] {
        let bench = Bench::with(letters(), "auto", runs);
        let ended = bench.run();
        assert_eq!(ended.stop(), "runs");
        // An input that gained something is run again before the next is begun.
        assert!((runs..=runs + 2).contains(&ended.stats.runs), "{runs}: {}", ended.stats.runs);
        assert_eq!(bench.runs_on(Half::Fast).len() as u64, ended.stats.runs);
    }
}

#[test]
fn a_campaign_ends_when_it_is_told_to() {
    let bench = Bench::with(letters(), "auto", u64::MAX);
    let campaign = bench.campaign();
    campaign.stop_flag().store(true, Ordering::Relaxed);
    let stats = bench.search(campaign).unwrap();
    assert_eq!(bench.ended(stats).stop(), "interrupted");
}

#[test]
fn a_campaign_ends_when_its_time_is_up() {
    let mut bench = Bench::with(letters(), "auto", u64::MAX);
    bench.limits.time = Some(Duration::from_millis(1));
    assert_eq!(bench.run().stop(), "time");
}

/// The symbolic half takes longer than its time limit allows, as if the driver were stuck.
#[test]
fn a_worker_that_does_not_come_back_is_reported_and_counted() {
    let target = FakeProgram::new().branches("main", [10]).target(|run| {
        let first = run.byte(0);
        run.branch(10, first.equals(b'a'));
        if run.half == Half::Symbolic && run.runs_before < 3 {
            std::thread::sleep(Duration::from_millis(500));
        }
        End::Exit(0)
    });
    let mut bench = Bench::with(target, "dfs", u64::MAX);
    bench.settings.timeout_ms = 1;
    bench.limits.stall_time = Some(Duration::from_millis(100));
    let mut seen = Vec::new();
    let target = bench.target.clone();
    let stats = bench
        .campaign()
        .run_on(|now| seen.extend(now.stalls.clone()), || Ok(Box::new(target.clone())))
        .unwrap();
    assert_eq!((stats.stalls, stats.stalled_in.get("trace")), (1, Some(&1)), "{stats:?}");
    let [stall] = seen[..] else { panic!("{seen:?}") };
    assert_eq!((stall.worker, stall.task, stall.input), (0, Task::Trace, Some(0)));
    assert!(stall.time >= Duration::from_millis(100));
    assert_eq!(bench.ended(stats).stop(), "exhausted");
}

#[test]
fn a_campaign_can_end_at_its_first_crash() {
    let mut bench = Bench::with(one_branch(|run| run.crash(6)), "auto", u64::MAX);
    bench.limits.stop_on_crash = true;
    let ended = bench.run();
    assert_eq!((ended.stop(), ended.stats.crashes), ("crash", 1));
}

#[test]
fn a_program_that_reads_nothing_ends_the_campaign_after_its_seeds() {
    let target = FakeProgram::new().branches("main", [10]).target(|_| End::Exit(0));
    let mut bench = Bench::with(target, "auto", u64::MAX);
    bench.limits.reads_nothing = true;
    let ended = bench.run();
    assert_eq!(ended.stop(), "reads-nothing");
    assert!(ended.stats.runs <= 2, "{}", ended.stats.runs);
}

#[test]
fn inputs_do_not_become_longer_than_the_limit() {
    let target = || {
        FakeProgram::new().branches("main", [10]).target(|run| {
            // Reads on until a zero byte or the end.
            let mut at = 0;
            while let Some(byte) = run.try_byte(at) {
                if run.branch(10, byte.equals(0u8)) {
                    break;
                }
                at += 1;
            }
            End::Exit(0)
        })
    };
    for max_len in [3, 6] {
        let mut bench = Bench::new(target());
        bench.settings.max_len = max_len;
        let ended = bench.run();
        assert_eq!(ended.stop(), "exhausted");
        let longest = bench.target.log().runs().iter().map(|run| run.input.len()).max();
        assert_eq!(longest, Some(max_len as usize));
    }
}

/// Every write of a campaign fails once: each time it is a clean stop that names the fault,
/// and the campaign can be resumed to its end. No crash is lost.
#[test]
fn every_write_may_fail() {
    for n in 1.. {
        let bench = Bench::new(one_branch(|run| run.crash(libc::SIGSEGV)));
        let ended = match bench.try_run(Disk::failing_at(n)) {
            Ok(_) => {
                assert!(n > 20, "only {n} writes");
                return;
            }
            Err(CampaignError::Write { .. }) => bench.resume(),
            // The directory was not a campaign yet.
            Err(CampaignError::Dir(_)) => bench.run(),
            Err(other) => panic!("write {n}: {other}"),
        };
        assert_eq!((ended.stop(), ended.stats.paths), ("exhausted", 3), "write {n}");
        assert_eq!(ended.stats.branches.covered, 2, "write {n}");
        assert!(ended.crashes.iter().any(|(_, bytes)| bytes[0] == b'a'), "write {n}");
    }
}
