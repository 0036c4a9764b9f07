//! Several campaigns are members of one fleet.

use crate::support::{Bench, Ended, LETTERS_PATHS, letters};
use pleach_campaign::run::fleet::LocalFleet;
use pleach_exec::Half;
use pleach_exec::fake::FakeTarget;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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

/// Runs all members to their end.
fn run(fleet: &Arc<LocalFleet>, members: &[Bench]) -> Vec<Ended> {
    let joined: Vec<_> = (0..members.len()).map(|number| fleet.join(&name(number))).collect();
    std::thread::scope(|scope| {
        let started = members.iter().zip(joined).map(|(member, fleet)| {
            scope.spawn(move || {
                let stats = member.search(member.campaign().join(fleet)).unwrap();
                member.ended(stats)
            })
        });
        let threads: Vec<_> = started.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// How often each input was traced, over all members.
fn traced(members: &[Bench]) -> BTreeMap<Vec<u8>, usize> {
    let mut traced = BTreeMap::new();
    for run in members.iter().flat_map(|member| member.runs_on(Half::Symbolic)) {
        *traced.entry(run.input).or_default() += 1;
    }
    traced
}

/// `letters` with more letters: 2^5 paths of five bytes, and those of shorter inputs.
fn bits() -> FakeTarget {
    use pleach_exec::End;
    use pleach_exec::fake::FakeProgram;
    FakeProgram::new().branches("main", [10, 11, 12, 13, 14]).target(|run| {
        for i in 0..5 {
            let byte = run.byte(i as usize);
            run.branch(10 + i, byte.equals(b'a' + i as u8));
        }
        End::Exit(0)
    })
}

fn long(target: FakeTarget) -> Bench {
    let mut bench = Bench::new(target);
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
        let stops: BTreeSet<_> = all.iter().map(Ended::stop).collect();
        assert_eq!(stops, BTreeSet::from(["exhausted"]), "{count} members");
        assert_eq!(all.iter().map(|e| e.stats.paths).sum::<u64>(), LETTERS_PATHS, "{count}");
        let traced = traced(&members);
        assert!(traced.values().all(|&times| times == 1), "{count} members: {traced:?}");
        assert_eq!(traced.len() as u64, LETTERS_PATHS);
        // What one finds, all have.
        for member in &all {
            assert_eq!(member.stats.branches, ended.stats.branches, "{count} members");
            let fleet = member.stats.fleet.as_ref().unwrap();
            assert_eq!(fleet.settled_by.len(), count);
            assert!(fleet.settled_at.is_some() && fleet.split == "paths");
        }
    }
}

#[test]
fn eight_members_share_the_paths_and_ask_no_flip_twice() {
    let alone = long(bits());
    let whole = alone.run();
    let members = members(8, || long(bits()));
    let all = run(&LocalFleet::in_step(1), &members);
    assert!(all.iter().all(|ended| ended.stop() == "exhausted"));
    assert_eq!(all.iter().map(|e| e.stats.paths).sum::<u64>(), whole.stats.paths);
    assert_eq!(all.iter().map(|e| e.stats.flips.asked).sum::<u64>(), whole.stats.flips.asked);
    assert!(traced(&members).values().all(|&times| times == 1));
    let shares: Vec<u64> = all.iter().map(|e| e.stats.paths).collect();
    assert!(shares.iter().filter(|&&share| share > 0).count() >= 5, "{shares:?}");
}
