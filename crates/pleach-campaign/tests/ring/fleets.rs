//! Several campaigns are members of one fleet.

use crate::support::{Bench, Ended, LETTERS_PATHS, letters, one_branch};
use pleach_campaign::run::asked_flips;
use pleach_campaign::run::fleet::{Cover, Find, FindKind, Fleet, LocalFleet, News};
use pleach_exec::fake::{FakeProgram, FakeTarget};
use pleach_exec::{End, Half};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// Members of a fleet. The first has the seeds.
fn members(count: usize, make: impl Fn() -> Bench) -> Vec<Bench> {
    let mut members: Vec<Bench> = (0..count).map(|_| make()).collect();
    for (number, member) in members.iter_mut().enumerate() {
        member.settings.seed += number as u64;
    }
    members[1..].iter_mut().for_each(|member| member.seeds.clear());
    members
}

fn name(number: usize) -> String {
    format!("m{number}")
}

fn join(fleet: &Arc<LocalFleet>, count: usize) -> Vec<Arc<dyn Fleet>> {
    (0..count).map(|number| fleet.join(&name(number))).collect()
}

/// Runs all members to their end. `meanwhile` is done while they run.
fn run_and(fleet: &Arc<LocalFleet>, members: &[Bench], meanwhile: impl FnOnce()) -> Vec<Ended> {
    let joined = join(fleet, members.len());
    std::thread::scope(|scope| {
        let started = members.iter().zip(joined).map(|(member, fleet)| {
            scope.spawn(move || {
                let stats = member.search(member.campaign().join(fleet)).unwrap();
                member.ended(stats)
            })
        });
        let threads: Vec<_> = started.collect();
        meanwhile();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn run(fleet: &Arc<LocalFleet>, members: &[Bench]) -> Vec<Ended> {
    run_and(fleet, members, || {})
}

/// How often each input was traced, over all members.
fn traced(members: &[Bench]) -> BTreeMap<Vec<u8>, usize> {
    let mut traced = BTreeMap::new();
    for run in members.iter().flat_map(|member| member.runs_on(Half::Symbolic)) {
        *traced.entry(run.input).or_default() += 1;
    }
    traced
}

/// The flips that were asked, and those that more than one member asked.
fn asked(members: &[Bench]) -> (usize, usize) {
    let mut asked: BTreeMap<u64, usize> = BTreeMap::new();
    for member in members {
        let own: BTreeSet<u64> = asked_flips(&member.out()).unwrap().into_iter().collect();
        own.into_iter().for_each(|flip| *asked.entry(flip).or_default() += 1);
    }
    (asked.len(), asked.values().filter(|&&count| count > 1).count())
}

fn stops(all: &[Ended]) -> BTreeSet<&str> {
    all.iter().map(Ended::stop).collect()
}

/// Five bytes, each with its letter or without, and shorter inputs.
fn words(pause: Duration) -> FakeTarget {
    FakeProgram::new().branches("main", [10, 11, 12, 13, 14]).target(move |run| {
        sleep(pause);
        for i in 0..5 {
            let byte = run.byte(i);
            run.branch(10 + i as u32, byte.equals(b'a' + i as u8));
        }
        End::Exit(0)
    })
}

/// The path of an input of `words`.
fn path(input: &[u8]) -> Vec<bool> {
    input.iter().take(5).enumerate().map(|(i, &byte)| byte == b'a' + i as u8).collect()
}

fn paths(members: &[Bench]) -> BTreeSet<Vec<bool>> {
    traced(members).keys().map(|input| path(input)).collect()
}

fn search_words(pause: Duration) -> Bench {
    let mut bench = Bench::new(words(pause));
    (bench.settings.len, bench.settings.max_len) = (5, 5);
    bench.seeds = vec![vec![0; 5]];
    bench
}

#[test]
fn members_run_every_path_once() {
    let alone = Bench::new(letters());
    let ended = alone.run();
    assert_eq!((ended.stop(), ended.stats.paths), ("exhausted", LETTERS_PATHS));
    for count in [1, 2, 8] {
        let members = members(count, || Bench::new(letters()));
        let all = run(&LocalFleet::new(), &members);
        assert_eq!(stops(&all), BTreeSet::from(["exhausted"]), "{count} members");
        assert_eq!(all.iter().map(|e| e.stats.paths).sum::<u64>(), LETTERS_PATHS, "{count}");
        let traced = traced(&members);
        assert!(traced.values().all(|&times| times == 1), "{count} members: {traced:?}");
        assert_eq!(traced.len() as u64, LETTERS_PATHS);
        // What one finds, all have, and all write down who declared the end.
        for member in &all {
            assert_eq!(member.stats.branches, ended.stats.branches, "{count} members");
            let fleet = member.stats.fleet.as_ref().unwrap();
            assert_eq!(fleet.settled_by, (0..count).map(name).collect::<Vec<_>>());
            assert!(fleet.settled_at.is_some() && fleet.split == "paths");
        }
    }
}

#[test]
fn eight_members_share_the_paths_and_ask_no_flip_twice() {
    let alone = search_words(Duration::ZERO);
    let whole = alone.run();
    let members = members(8, || search_words(Duration::ZERO));
    let all = run(&LocalFleet::in_step(1), &members);
    assert_eq!(stops(&all), BTreeSet::from(["exhausted"]));
    assert_eq!(paths(&members), paths(&[alone]));
    assert_eq!(all.iter().map(|e| e.stats.paths).sum::<u64>(), whole.stats.paths);
    assert_eq!(asked(&members), (whole.stats.flips.asked as usize, 0));
    assert!(traced(&members).values().all(|&times| times == 1));
    let shares: Vec<u64> = all.iter().map(|e| e.stats.paths).collect();
    assert!(shares.iter().filter(|&&share| share > 0).count() >= 5, "{shares:?}");
}

/// In step, members find the same in every run of the test.
#[test]
fn members_in_step_do_not_depend_on_time() {
    let search = || {
        let mut members = members(3, || Bench::with(letters(), "auto", 200));
        members.iter_mut().for_each(|member| member.settings.adaptive = false);
        let all = run(&LocalFleet::in_step(10), &members);
        all.into_iter().map(|ended| (ended.stats.runs, ended.queue)).collect::<Vec<_>>()
    };
    assert_eq!(search(), search());
}

/// Waits until a member has begun a task.
fn wait_for_begun(fleet: &LocalFleet, name: &str) {
    for _ in 0..2000 {
        let begun =
            |(from, news): &(Arc<str>, News)| **from == *name && matches!(news, News::Begun(_));
        if fleet.told().iter().any(begun) {
            return;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("{name} begins nothing");
}

#[test]
fn what_a_lost_member_had_begun_is_done_by_the_others() {
    let alone = search_words(Duration::ZERO);
    alone.run();
    let members = members(3, || search_words(Duration::from_millis(3)));
    let fleet = LocalFleet::new();
    let all = run_and(&fleet, &members, || {
        wait_for_begun(&fleet, "m1");
        fleet.lose("m1");
    });
    assert_eq!(all[0].stop(), "exhausted");
    assert_eq!(all[0].stats.fleet.as_ref().unwrap().settled_by, ["m0", "m2"]);
    let survivors = [&members[0], &members[2]];
    let mut found: BTreeSet<Vec<bool>> = BTreeSet::new();
    let done: BTreeSet<u64> = fleet
        .told()
        .into_iter()
        .filter_map(|(from, news)| match news {
            News::Done(edges) if *from == *"m1" => Some(edges),
            _ => None,
        })
        .flatten()
        .collect();
    for member in survivors {
        found.extend(member.runs_on(Half::Symbolic).iter().map(|run| path(&run.input)));
    }
    // The others need not run again what it had done.
    let whole = paths(&[alone]);
    assert_eq!(paths(&members), whole);
    assert!(found.len() + done.len() >= whole.len(), "{} of {}", found.len(), whole.len());
}

#[test]
fn members_come_while_others_work() {
    let alone = search_words(Duration::ZERO);
    alone.run();
    let fleet = LocalFleet::new();
    let first = members(1, || search_words(Duration::from_millis(3)));
    let mut late = search_words(Duration::from_millis(3));
    late.seeds.clear();
    let mut late_ended = None;
    let all = run_and(&fleet, &first, || {
        wait_for_begun(&fleet, "m0");
        let joined = fleet.join("late");
        late_ended = Some(late.search(late.campaign().join(joined)).unwrap());
    });
    let late_ended = late.ended(late_ended.unwrap());
    assert_eq!((all[0].stop(), late_ended.stop()), ("exhausted", "exhausted"));
    assert!(late_ended.stats.paths > 0, "it had no part of the work");
    let both = [first.into_iter().next().unwrap(), late];
    assert_eq!(paths(&both), paths(&[alone]));
}

#[test]
fn a_member_that_is_interrupted_continues() {
    let alone = search_words(Duration::ZERO);
    alone.run();
    let fleet = LocalFleet::new();
    let mut members = members(1, || search_words(Duration::ZERO));
    members[0].limits.runs = Some(10);
    let all = run(&fleet, &members);
    assert_eq!(all[0].stop(), "runs");
    members[0].limits.runs = None;
    let campaign = pleach_campaign::run::Campaign::resume(
        members[0].setup(),
        &members[0].out(),
        Default::default(),
    );
    let stats = members[0].search(campaign.unwrap().join(fleet.join("m0"))).unwrap();
    assert_eq!(stats.stop.unwrap().name(), "exhausted");
    assert_eq!(paths(&members), paths(&[alone]));
}

#[test]
fn searches_that_split_finds_are_exhausted_by_all() {
    for strategy in ["generational", "cfg"] {
        let make = || {
            let mut bench = search_words(Duration::ZERO);
            bench.settings.strategy = strategy.into();
            bench
        };
        let alone = make();
        let whole = alone.run();
        let members = members(4, make);
        let all = run(&LocalFleet::in_step(5), &members);
        assert_eq!(stops(&all), BTreeSet::from([whole.stop()]), "{strategy}");
        assert_eq!(paths(&members), paths(&[alone]), "{strategy}");
        let (flips, twice) = asked(&members);
        assert!(twice * 20 < flips, "{strategy}: {twice} of {flips} flips were asked twice");
        for member in &all {
            assert_eq!(member.stats.branches, whole.stats.branches, "{strategy}");
        }
    }
}

#[test]
fn a_crash_is_kept_once_by_each_member() {
    let make = || Bench::with(one_branch(|run| run.crash(libc::SIGSEGV)), "auto", 300);
    let members = members(3, make);
    let fleet = LocalFleet::in_step(20);
    let all = run(&fleet, &members);
    for ended in &all {
        assert_eq!((ended.stats.crashes, ended.crashes.len()), (1, 1));
    }
    let crashes = fleet.told();
    let crashes = crashes.iter().filter(|(_, news)| match news {
        News::Find(find) => matches!(find.kind, pleach_campaign::run::fleet::FindKind::Crash(_)),
        _ => false,
    });
    assert!((1..=3).contains(&crashes.count()));
}

#[test]
fn a_gap_of_one_member_is_known_to_all() {
    let target = || {
        one_branch(|run| {
            run.cut = pleach_abi::shm::CUT_NODES;
            End::Exit(0)
        })
    };
    let members = members(4, || Bench::new(target()));
    let all = run(&LocalFleet::new(), &members);
    for ended in &all {
        assert_eq!((ended.stop(), ended.gaps()), ("exhausted-partial", vec!["cut by nodes"]));
    }
}

/// A find that says what it covers.
fn claim(bytes: Vec<u8>, branches: impl Iterator<Item = u32>) -> News {
    let covers = branches.map(|branch| Cover { branch, count: 1 }).collect();
    News::Find(Find { kind: FindKind::Queue, bytes: bytes.into(), covers })
}

/// Two members search in step. Others have told something before, and left.
fn run_after(told: impl Iterator<Item = (&'static str, News)>) -> Vec<Ended> {
    run_with(told).0
}

/// The same, and returns the members too.
fn run_with(told: impl Iterator<Item = (&'static str, News)>) -> (Vec<Ended>, Vec<Bench>) {
    let make = || {
        let mut bench = search_words(Duration::ZERO);
        bench.settings.strategy = "auto".into();
        bench.limits.runs = Some(3000);
        bench
    };
    let fleet = LocalFleet::in_step(1);
    let others = ["liar", "honest"].map(|name| (name, fleet.join(name)));
    for (name, news) in told {
        let (_, other) = others.iter().find(|(known, _)| *known == name).unwrap();
        other.tell(news);
    }
    others.iter().for_each(|(_, other)| other.leave());
    let members = members(2, make);
    (run(&fleet, &members), members)
}

#[test]
fn an_untrue_claim_does_not_keep_others_from_being_heard() {
    // An input takes one side of each of the five branches.
    let lie = ("liar", claim(vec![1; 5], 0..10));
    let truth = ("honest", claim(b"abcde".to_vec(), (0..5).map(|i| 2 * i)));
    let all = run_after([lie, truth].into_iter());
    for ended in &all {
        assert_eq!(ended.stats.branches.covered, 10);
    }
    assert_eq!(all[0].stats.sync["honest"].taken, 1, "{:?}", all[0].stats.sync);
}

#[test]
fn finds_of_a_member_that_sends_rubbish_are_no_longer_run() {
    let input = |n: u32| [&n.to_le_bytes()[..], b"x"].concat();
    let rubbish = (0..5000).map(|n| ("liar", claim(input(n), 0..0)));
    for ended in run_after(rubbish) {
        assert!(ended.stats.notes.iter().any(|n| n.contains("the member liar are ignored")));
        assert!(ended.stats.sync["liar"].taken <= 300, "{:?}", ended.stats.sync);
        assert_eq!(ended.stats.branches.covered, 10);
        assert!(ended.stats.fleet.unwrap().ignored > 4000);
    }
}

/// The finder has run it twice already.
#[test]
fn a_find_whose_claims_are_true_runs_once() {
    let input = b"abcde".to_vec();
    let branches = (0..5).map(|i| 2 * i);
    let runs_again = |covers: Vec<u32>| {
        let told = [("honest", claim(input.clone(), covers.into_iter()))];
        let (all, members) = run_with(told.into_iter());
        assert_eq!(all[1].stats.sync["honest"].kept, 1, "{:?}", all[1].stats.sync);
        let runs = members[1].runs_on(Half::Fast);
        let first = runs.iter().position(|run| run.input == input).unwrap();
        let next = &runs[first + 1];
        next.input == input && next.fresh
    };
    assert!(!runs_again(branches.clone().collect()));
    assert!(runs_again(branches.take(4).collect()), "what nobody says must be confirmed");
}

#[test]
fn gaps_of_others_are_limited() {
    let gaps = (0..1000).map(|n| ("liar", News::Partial(format!("gap {n}"))));
    for ended in run_after(gaps) {
        assert!(ended.gaps().len() <= 300, "{}", ended.gaps().len());
        assert!(ended.stats.fleet.unwrap().ignored >= 700);
    }
}

/// The number of `a` is the hit count of a branch.
#[test]
fn hit_counts_of_others_are_believed() {
    let target = || {
        FakeProgram::new().branches("main", [10]).target(|run| {
            for i in 0..40 {
                let byte = run.byte(i);
                run.branch(10, byte.equals(b'a'));
            }
            End::Exit(0)
        })
    };
    let make = || {
        let mut bench = Bench::with(target(), "auto", 600);
        (bench.settings.len, bench.settings.max_len) = (40, 40);
        bench.settings.adaptive = false;
        bench.seeds = vec![vec![0; 40]];
        bench
    };
    let members = members(3, make);
    let all = run(&LocalFleet::in_step(20), &members);
    for ended in &all {
        assert_eq!(ended.stats.branches.covered, 2);
        let fleet = ended.stats.fleet.as_ref().unwrap();
        assert!(fleet.run < fleet.heard, "{fleet:?}");
        assert_eq!(ended.stats.inputs as usize, ended.queue.len());
    }
    // What was not run by a member is in its queue all the same.
    let believed = all.iter().any(|ended| {
        ended.stats.sync.values().map(|sync| sync.taken).sum::<u64>()
            > ended.stats.fleet.as_ref().unwrap().run
    });
    assert!(believed);
}
