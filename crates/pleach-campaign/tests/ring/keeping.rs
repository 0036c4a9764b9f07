//! What is kept, under which names, and what is told to the strategy.

use crate::support::{Bench, letters, one_branch};
use pleach_exec::fake::{FakeProgram, Purpose};
use pleach_exec::{End, Half};

#[test]
fn inputs_that_cover_something_new_are_kept_in_order() {
    let ended = Bench::new(letters()).run();
    assert_eq!(
        ended.queue_names(),
        [
            "id:000000,op:seed,site:fake.c:10,+cov",
            "id:000001,src:000000,op:flip,site:fake.c:12,+cov",
            "id:000002,src:000001,op:flip,site:fake.c:10,+cov",
            "id:000003,src:000002,op:flip,site:fake.c:11,+cov",
        ]
    );
    let contents: Vec<_> = ended.queue.iter().map(|(_, bytes)| &bytes[..]).collect();
    assert_eq!(contents, [b"\0\0\0", b"\0\0c", b"a\0c", b"abc"]);
    assert_eq!((ended.stats.branches.covered, ended.stats.branches.total), (6, 6));
}

#[test]
fn seeds_are_kept_though_they_cover_nothing_new() {
    let mut bench = Bench::new(letters());
    bench.seeds = vec![b"xyz".to_vec(), b"zyx".to_vec()];
    bench.limits.runs = Some(3);
    let ended = bench.run();
    assert_eq!(ended.queue_names(), ["id:000000,op:seed,site:fake.c:10,+cov", "id:000001,op:seed"]);
}

#[test]
fn mutants_that_cover_nothing_new_are_not_kept() {
    let ended = Bench::with(letters(), "auto", 300).run();
    let with_gain = ended.queue_names().iter().filter(|n| n.ends_with("+cov")).count();
    // `auto` also keeps inputs for new hit counts; here every branch is taken once.
    assert_eq!(with_gain, ended.queue.len());
    assert!(ended.queue.len() <= 4 && ended.stats.runs >= 300);
}

#[test]
fn a_gain_counts_only_if_a_run_in_a_fresh_process_confirms_it() {
    // Line 11 is taken by every other run, whatever the input is.
    let target = FakeProgram::new().branches("main", [10, 11]).target(|run| {
        let first = run.byte(0);
        run.branch(10, first.equals(b'a'));
        let odd = run.runs_before % 2 == 0;
        run.branch(11, if odd { 1u8.into() } else { 0u8.into() });
        End::Exit(0)
    });
    let bench = Bench::new(target);
    let ended = bench.run();
    let fresh: Vec<bool> = bench.runs_on(Half::Fast).iter().map(|run| run.fresh).collect();
    assert_eq!(fresh[..2], [false, true]);
    assert!(ended.stats.unstable > 0, "{:?}", ended.stats);
    assert!(ended.stats.branches.covered < 4);
}

#[test]
fn a_persistent_target_shows_its_first_call_and_its_later_ones() {
    // A table is filled in the first call of a process.
    let target = FakeProgram::new().branches("main", [10, 11]).persistent().target(|run| {
        let is_first = run.round == 1;
        run.branch(11, if is_first { 1u8.into() } else { 0u8.into() });
        let first = run.byte(0);
        run.branch(10, first.equals(b'a'));
        End::Exit(0)
    });
    let ended = Bench::new(target).run();
    assert_eq!(ended.stats.branches.covered, 4);
    assert_eq!(ended.stats.unstable, 0);
}

#[test]
fn one_crash_is_kept_once_and_examined_once() {
    let target = FakeProgram::new().branches("main", [10, 11]).target(|run| {
        let [a, b] = [0, 1].map(|i| run.byte(i));
        let crashes = run.branch(10, a.equals(b'a'));
        run.branch(11, b.equals(b'b'));
        if crashes { run.crash(libc::SIGSEGV) } else { End::Exit(0) }
    });
    let bench = Bench::new(target);
    let ended = bench.run();
    assert_eq!(ended.stats.crashes, 1);
    let names: Vec<_> = ended.crashes.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, ["id:000000,src:000001,sig:11,op:flip,site:fake.c:10,+cov"]);
    // A crash with other branches is examined as well, and found to be the same.
    let examined = bench.target.log().runs();
    let examined = examined.iter().filter(|run| run.purpose == Purpose::Examine).count();
    assert_eq!(examined, 2);
    // What only a crash covers counts as covered, and its flips are searched.
    assert_eq!((ended.stats.branches.covered, ended.stop()), (4, "exhausted"));
}

#[test]
fn a_hang_is_kept_and_its_limit_is_listed() {
    let ended = Bench::new(one_branch(|_| End::Timeout)).run();
    assert_eq!((ended.stats.hangs, ended.hangs.len()), (1, 1));
    assert_eq!((ended.stop(), ended.gaps()), ("exhausted-partial", vec!["timed out"]));
}

#[test]
fn a_run_that_was_stopped_early_gets_all_its_time_once() {
    let slow = |run: &mut pleach_exec::fake::FakeRun| {
        run.cpu = std::time::Duration::from_millis(500);
        End::Exit(0)
    };
    let mut bench = Bench::new(one_branch(slow));
    bench.settings.adaptive = true;
    let ended = bench.run();
    // It is slow, and does not hang.
    assert_eq!((ended.stats.hangs, ended.queue.len()), (0, 2));
    let limits: Vec<_> = bench.runs_on(Half::Fast).iter().map(|run| run.cpu_limit).collect();
    assert!(limits.contains(&None) && limits.iter().any(Option::is_some));
}

#[test]
fn the_same_seed_gives_the_same_queue() {
    for strategy in ["auto", "generational", "cfg", "uniform", "random-branch", "random"] {
        let queue = || Bench::with(letters(), strategy, 200).run().queue;
        assert_eq!(queue(), queue(), "{strategy}");
    }
}
