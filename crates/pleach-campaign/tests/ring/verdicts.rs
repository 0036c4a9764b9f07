//! When a search says `exhausted`, and what keeps it from saying so.

use crate::support::{Bench, LETTERS_PATHS, letters, one_branch};
use pleach_abi::event::Kind;
use pleach_exec::fake::{FakeProgram, FakeTarget};
use pleach_exec::{End, Half};

/// What kept `dfs` from being exhaustive.
fn gaps(target: FakeTarget) -> Vec<String> {
    let ended = Bench::new(target).run();
    let expected = if ended.gaps().is_empty() { "exhausted" } else { "exhausted-partial" };
    assert_eq!(ended.stop(), expected);
    ended.gaps().into_iter().map(String::from).collect()
}

#[test]
fn dfs_runs_every_path_once() {
    let bench = Bench::new(letters());
    let ended = bench.run();
    assert_eq!((ended.stop(), ended.stats.paths), ("exhausted", LETTERS_PATHS));
    assert_eq!(ended.stats.traces, LETTERS_PATHS);
    assert_eq!((ended.stats.flips.sat, ended.stats.diverged), (LETTERS_PATHS - 1, 0));
}

#[test]
fn two_workers_find_the_same_paths() {
    let mut bench = Bench::new(letters());
    bench.jobs = 2;
    let ended = bench.run();
    assert_eq!((ended.stop(), ended.stats.paths), ("exhausted", LETTERS_PATHS));
    assert_eq!(ended.stats.branches.covered, 6);
}

#[test]
fn an_infeasible_flip_is_refuted_and_never_run() {
    let target = FakeProgram::new().branches("main", [10, 11]).target(|run| {
        let first = run.byte(0);
        if run.branch(10, first.is_below(10u8)) {
            run.branch(11, first.equals(200u8));
        }
        End::Exit(0)
    });
    let ended = Bench::new(target).run();
    assert_eq!((ended.stop(), ended.stats.flips.unsat), ("exhausted", 1));
    assert_eq!(ended.stats.branches.covered, 3);
}

#[test]
fn a_pinned_address_is_listed() {
    let target = FakeProgram::new().branches("main", [10]).target(|run| {
        let first = run.byte(0);
        run.pin(&first);
        run.branch(10, first.equals(b'a'));
        End::Exit(0)
    });
    assert!(gaps(target).contains(&"pinned".to_string()));
}

#[test]
fn a_cut_trace_and_lost_labels_are_listed() {
    let target = one_branch(|run| {
        run.cut = pleach_abi::shm::CUT_EVENTS;
        run.losses[0] = 1;
        End::Exit(0)
    });
    let gaps = gaps(target);
    assert!(gaps.contains(&"cut by events".to_string()), "{gaps:?}");
    assert!(gaps.iter().any(|gap| gap.starts_with("lost: ")), "{gaps:?}");
}

#[test]
fn a_folded_branch_is_listed_by_its_place() {
    // The fast half has no such branch: its compiler removed it.
    let target = FakeProgram::new().branches("main", [10]).target(|run| {
        let first = run.byte(0);
        if run.half == Half::Symbolic {
            run.branch(10, first.equals(b'a'));
        }
        End::Exit(0)
    });
    let ended = Bench::new(target).run();
    assert_eq!((ended.stop(), ended.gaps()), ("exhausted-partial", vec!["folded"]));
    assert!(ended.stats.folded_at.contains_key("fake.c:10"), "{:?}", ended.stats.folded_at);
}

#[test]
fn a_run_that_leaves_its_predicted_path_is_counted() {
    // The first decision depends on a byte that is not part of its condition.
    let target = FakeProgram::new().branches("main", [10, 11]).target(|run| {
        let [a, b] = [0, 1].map(|i| run.byte(i));
        let odd = b.number() % 2;
        run.branch(10, a.plus(odd as u8).equals(b'a'));
        run.branch(11, b.equals(b'c'));
        End::Exit(0)
    });
    let ended = Bench::new(target).run();
    assert!(ended.stats.diverged > 0);
    assert!(ended.gaps().contains(&"diverged"), "{:?}", ended.gaps());
}

#[test]
fn an_input_that_takes_another_path_each_time_is_not_flipped() {
    let target = FakeProgram::new().branches("main", [10, 11, 12]).target(|run| {
        let [a, b] = [0, 1].map(|i| run.byte(i));
        // After the flip of line 10, the lines that follow change from run to run.
        let flipped = run.branch(10, a.equals(b'a'));
        let line = if flipped && run.runs_before % 2 == 0 { 11 } else { 12 };
        run.branch(line, b.equals(b'b'));
        End::Exit(0)
    });
    let ended = Bench::new(target).run();
    assert_eq!(ended.stop(), "exhausted-partial");
    assert!(ended.stats.unstable_paths + ended.stats.unstable > 0, "{:?}", ended.stats);
}

#[test]
fn a_broken_trace_is_refused_and_counted() {
    let target = one_branch(|run| {
        run.record(pleach_abi::event::Event { kind: 255, ..Default::default() });
        End::Exit(0)
    });
    let ended = Bench::new(target).run();
    assert_eq!((ended.stats.broken_traces, ended.gaps()), (1, vec!["broken trace"]));
}

#[test]
fn decisions_behind_a_crash_of_the_fast_half_claim_nothing() {
    // A sanitizer ends the fast half; the symbolic half runs on.
    let target = FakeProgram::new().branches("main", [10, 11]).target(|run| {
        let [a, b] = [0, 1].map(|i| run.byte(i));
        if run.branch(10, a.equals(b'a')) && run.half == Half::Fast {
            return run.crash(libc::SIGABRT);
        }
        run.branch(11, b.equals(b'b'));
        End::Exit(0)
    });
    let ended = Bench::new(target).run();
    assert_eq!((ended.stop(), ended.gaps()), ("exhausted-partial", vec!["stopped by a sanitizer"]));
    assert_eq!(ended.stats.crashes, 1);
}

#[test]
fn a_crash_of_the_symbolic_half_alone_is_listed() {
    let target = one_branch(|run| match run.half {
        Half::Fast => End::Exit(0),
        Half::Symbolic => run.crash(libc::SIGSEGV),
    });
    assert_eq!(gaps(target), ["crashed in the symbolic half"]);
}

#[test]
fn limits_and_a_lost_server_are_listed_by_name() {
    for (end, name) in [
        (End::Memory, "out of memory"),
        (End::Output, "too much output"),
        (End::Processes, "too many processes"),
        (End::Lost("gone".into()), "fork server lost"),
    ] {
        let gaps = gaps(one_branch(move |_| end.clone()));
        assert!(gaps.contains(&name.to_string()), "{name}: {gaps:?}");
    }
}

#[test]
fn a_check_is_flipped_and_is_no_branch() {
    let target = FakeProgram::new().branches("main", [10]).target(|run| {
        let first = run.byte(0);
        // A divisor that is not zero.
        if !run.decide(Kind::CheckDiv, first.equals(7u8).equals(0u8)) {
            return run.crash(libc::SIGFPE);
        }
        End::Exit(0)
    });
    let ended = Bench::new(target).run();
    assert_eq!((ended.stop(), ended.stats.crashes), ("exhausted", 1));
}

#[test]
fn an_infeasible_flip_to_a_new_branch_is_tried_with_fewer_conditions() {
    // Line 10 pins the first byte; the program does not mean line 11 to depend on that.
    let target = || {
        FakeProgram::new().branches("main", [10, 11]).target(|run| {
            let first = run.byte(0);
            run.branch(10, first.equals(0u8));
            run.branch(11, first.equals(9u8));
            End::Exit(0)
        })
    };
    let ended = Bench::with(target(), "generational", 50).run();
    assert_eq!(ended.stats.branches.covered, 4);
    // `dfs` promises to run each path once, and relaxes nothing.
    assert_eq!(Bench::new(target()).run().stats.flips.relaxed, 0);
}
