//! Strategies on simulated programs: what each is good at, and where others fail.
//!
//! The tests that use `names()` run every strategy in the list, new ones too.

mod sim;

use pleach_search::*;
use sim::*;

/// Strategies that do not use traces or coverage. They need not cover everything.
const BLIND: [&str; 3] = ["random", "blackbox", "gbb"];

/// All strategies except hybrid, whose choices are made by the pilot.
fn names() -> impl Iterator<Item = &'static str> {
    STRATEGIES.iter().filter(|s| !s.live).map(|s| s.name)
}

/// Strategies that end when every path was tried, and need no grammar for that.
fn exhaustive() -> impl Iterator<Item = &'static str> {
    let all = STRATEGIES.iter().filter(|s| s.exhausts && s.needs == Needs::Nothing);
    all.map(|s| s.name)
}

/// Figure 1 of CREST's paper: sites 0 (x > y), 1 (a > 0), 2 (a == 4) and 3 (2*b > 9).
/// `around` decisions on further bytes come before the calls in `main`, and again after
/// them.
fn figure_1(around: u32) -> Subject {
    let block = |next: &[u32]| next.to_vec();
    let site = |number: u32, block, targets: [u32; 2]| SiteShape {
        first: 2 * number,
        sides: 2,
        block,
        targets: targets.to_vec(),
        counts: true,
    };
    let call = |block, callee| Call { block, callee: Some(callee) };
    let main = FunctionShape {
        name: "main".into(),
        // l0; l1; l2; l3 and l4.
        blocks: vec![block(&[1, 2]), block(&[3]), block(&[3]), vec![]],
        sites: vec![site(0, 0, [1, 2])],
        calls: vec![call(1, 1), call(3, 2), call(0, 4), call(3, 4)],
        ..FunctionShape::default()
    };
    let f = FunctionShape {
        name: "f".into(),
        // l5; l6; l7 and l8.
        blocks: vec![block(&[1, 2]), vec![], vec![]],
        sites: vec![site(1, 0, [1, 2])],
        calls: vec![],
        ..FunctionShape::default()
    };
    let g = FunctionShape {
        name: "g".into(),
        // l9; l10; l11; l12; l13; l14.
        blocks: vec![block(&[1, 4]), block(&[2, 3]), vec![], block(&[5]), block(&[5]), vec![]],
        sites: vec![site(2, 0, [1, 4]), site(3, 1, [2, 3])],
        calls: vec![],
        ..FunctionShape::default()
    };
    let not_called = FunctionShape {
        name: "not_called".into(),
        blocks: vec![vec![]],
        sites: vec![],
        calls: vec![call(0, 1)],
        ..FunctionShape::default()
    };
    let more = FunctionShape {
        name: "more".into(),
        blocks: (0..=around).map(|i| if i < around { vec![i + 1] } else { vec![] }).collect(),
        sites: (0..around).map(|i| site(4 + i, i, [i + 1; 2])).collect(),
        calls: vec![],
        ..FunctionShape::default()
    };
    let xy = [0, 1, 2, 3, 4, 5, 6, 250, 251, 252, 253, 254, 255];
    let decide = |p: &mut Path, bytes: &[u8]| {
        for (i, &byte) in bytes.iter().enumerate() {
            p.branch(4 + i as u32, byte != 0);
        }
    };
    Subject::new(Program::new(vec![main, f, g, not_called, more], []), move |p, input| {
        let (x, y) = (i32::from(input[0] as i8), i32::from(input[1] as i8));
        decide(p, &input[2..][..around as usize]);
        let z = if p.branch(0, x > y) {
            if p.branch(1, y > 0) {
                return;
            }
            -y
        } else {
            y
        };
        if p.branch(2, x == 4) && p.branch(3, 2 * z > 9) {
            return p.abort();
        }
        decide(p, &input[2 + around as usize..]);
    })
    .over(&[&[&xy[..]; 2][..], &vec![&[0u8, 1][..]; 2 * around as usize]].concat())
}

/// A program of `n` bytes and `n` branches. Each byte decides one branch.
fn bits(n: u32, then: impl Fn(&mut Path, &[bool]) + 'static) -> Subject {
    Subject::flat(n + 1, move |p, input| {
        let taken: Vec<bool> =
            input.iter().enumerate().map(|(i, &b)| p.branch(i as u32, b != 0)).collect();
        then(p, &taken);
    })
    .solved_by(|input, _, at, outcome| {
        let mut input = input.to_vec();
        input[at as usize] = outcome as u8;
        Answer::Input(input)
    })
    .seed(&[&vec![0; n as usize]])
}

/// A random program over three bytes of five values. Its blocks compare a byte or a sum
/// with a constant, and lead to other blocks, for at most twelve steps. Some branches are
/// infeasible, some are met several times.
fn random_program(seed: u64) -> Subject {
    let mut rng = Rng::new(seed);
    let sites = 2 + rng.below(6);
    let nodes: Vec<_> = (0..sites)
        .map(|_| {
            let (a, b) = (rng.below(3), rng.below(3));
            let step = [rng.below(sites + 2), rng.below(sites + 2)];
            (a, b, rng.coin(), rng.below(6) as u8, rng.coin(), step)
        })
        .collect();
    Subject::flat(sites as u32, move |p, input| {
        let (mut at, mut steps) = (0, 0);
        while let (Some(&(a, b, sum, than, less, next)), true) = (nodes.get(at), steps < 12) {
            steps += 1;
            let value = input[(a + steps) % 3] + if sum { input[b] } else { 0 };
            let taken = if less { value < than } else { value == than };
            at = next[usize::from(p.branch(at as u32, taken))];
        }
    })
    .over(&[&[0, 1, 2, 3, 4][..]; 3])
}

#[test]
fn every_path_is_found_and_depth_first_runs_each_once() {
    for seed in 0..80 {
        let subject = random_program(seed);
        for name in exhaustive() {
            let out = search(&subject, name, Limits::default());
            assert!(out.ended && out.left_out == 0, "{name} {seed}");
            assert_eq!(
                (out.paths, out.covered),
                (subject.paths(), subject.feasible()),
                "{name} {seed}"
            );
            if name == "dfs" {
                assert_eq!((out.runs, out.traces), (out.paths, out.paths), "{seed}");
            }
        }
    }
}

#[test]
fn every_path_is_found_with_several_workers_or_little_memory() {
    for seed in 0..30 {
        let subject = random_program(seed);
        for name in exhaustive() {
            for limits in [
                Limits { workers: 4, ..Limits::default() },
                // Room for a few runs at a time.
                Limits { memory: 1500, ..Limits::default() },
            ] {
                let out = search(&subject, name, limits);
                assert!(out.ended, "{name} {seed}");
                if out.left_out == 0 {
                    assert_eq!(out.paths, subject.paths(), "{name} {seed}");
                }
                assert!(limits.workers > 1 || name != "generational" || out.left_out == 0);
            }
        }
    }
}

#[test]
fn no_fault_stops_a_strategy() {
    for seed in 0..20 {
        let subject = random_program(seed);
        for name in names() {
            for (workers, memory) in [(1, 1 << 20), (3, 1 << 20), (3, 600)] {
                let (gone, untraceable) = (Some(3), Some(5));
                let limits =
                    Limits { runs: 1500, workers, memory, gone, untraceable, ..Limits::default() };
                let out = search(&subject, name, limits);
                assert!(out.ended || out.runs >= 1500, "{name} {seed}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_actions() {
    let subject = random_program(7);
    for name in names() {
        let actions = |seed, workers| {
            let limits = Limits { runs: 2000, seed, workers, ..Limits::default() };
            search(&subject, name, limits).actions
        };
        assert_eq!(actions(1, 1), actions(1, 1), "{name}");
        assert_eq!(actions(1, 3), actions(1, 3), "{name}");
        if ["auto", "uniform", "random-branch"].contains(&name) {
            assert_ne!(actions(1, 1), actions(2, 1), "{name}");
        }
    }
}

#[test]
fn every_feasible_branch_is_covered() {
    for seed in 0..15 {
        let subject = random_program(seed);
        for name in names().filter(|n| !BLIND.contains(n)) {
            let out = search(&subject, name, Limits { runs: 6000, ..Limits::default() });
            assert_eq!(out.covered, subject.feasible(), "{name} {seed}");
        }
    }
}

/// The number of runs until the program aborts, at most `max_runs`: the mean of five seeds.
fn runs_until_abort(subject: &Subject, strategy: &str, max_runs: usize) -> usize {
    let run = |seed| {
        let limits = Limits { runs: max_runs, seed, until_abort: true, ..Limits::default() };
        let out = search(subject, strategy, limits);
        if out.aborted { out.runs } else { max_runs }
    };
    (1..=5).map(run).sum::<usize>() / 5
}

#[test]
fn control_flow_directed_search_takes_the_steps_of_the_paper() {
    // Only l11 is uncovered. From x = 1, y = 0 the paper forces l10, then l11.
    let subject = figure_1(0).seed(&[&[1, 0]]).covered_by(&[&[2, 1], &[4, 0], &[0, 0]]);
    let out = search(&subject, "cfg", Limits { until_abort: true, ..Limits::default() });
    assert_eq!((out.runs, out.flips), (3, vec![(2, 1), (3, 1)]));
}

/// Checks that a strategy finds the abort within some runs, and that others need more than
/// twice as many.
fn check_best(subject: &Subject, best: &str, within: usize, others: &[&str]) {
    let runs = runs_until_abort(subject, best, 2 * within);
    assert!(runs <= within, "{best}: {runs}");
    for other in others {
        let other_runs = runs_until_abort(subject, other, 8 * runs);
        assert!(other_runs > 2 * runs, "{best} {runs}, {other} {other_runs}");
    }
}

#[test]
fn control_flow_directed_search_skips_branches_that_lead_nowhere() {
    // Other strategies try the covered branches around the calls first.
    let subject = figure_1(3).seed(&[&[1, 0, 0, 0, 0, 0, 0, 0]]).covered_by(&[
        &[2, 1, 1, 1, 1, 1, 1, 1],
        &[4, 0, 0, 0, 0, 0, 0, 0],
        &[0; 8],
    ]);
    check_best(&subject, "cfg", 3, &["dfs", "uniform", "random-branch", "random"]);
}

#[test]
fn generational_search_asks_all_flips_of_a_run_first() {
    // The abort depends on the first of sixteen branches. Generational search needs one
    // trace. Depth-first search starts with the last branch.
    let subject = bits(16, |p, taken| {
        if taken[0] && !taken[1] {
            p.abort();
        }
    });
    check_best(&subject, "generational", 17, &["dfs"]);
    let out = search(&subject, "generational", Limits { runs: 17, ..Limits::default() });
    assert_eq!((out.traces, out.covered), (1, 32));
    let out = search(&subject, "dfs", Limits { runs: 17, ..Limits::default() });
    assert!(out.covered < 24, "{}", out.covered);
}

#[test]
fn uniform_search_reaches_the_middle_of_the_tree() {
    // At least half of the bits are set. Most paths are such, but no single flip covers
    // anything new, and a search in order starts with paths that have few bits set.
    let subject = bits(24, |p, taken| {
        if taken.iter().filter(|&&t| t).count() >= 12 {
            p.abort();
        }
    });
    check_best(&subject, "uniform", 60, &["dfs", "generational"]);
}

#[test]
fn random_branch_search_takes_fewer_runs_than_uniform() {
    // Two bits of sixty, far from each other, and no sign of progress.
    let subject = bits(60, |p, taken| {
        if taken[3] && taken[30] && !taken[31] {
            p.abort();
        }
    });
    check_best(&subject, "random-branch", 150, &["dfs"]);
    let (branch, uniform) = (
        runs_until_abort(&subject, "random-branch", 3000),
        runs_until_abort(&subject, "uniform", 3000),
    );
    assert!(branch < uniform, "{branch} {uniform}");
}

/// A word that mutation does not guess, compared as by `strcmp`, and after it a sum that
/// the solver cannot solve.
fn word_and_sum() -> Subject {
    const WORD: &[u8] = b"pleach";
    Subject::flat(40, |p, input| {
        let (word, rest) = input.split_at(WORD.len());
        let equal = word.iter().zip(WORD).all(|(a, b)| p.compare(0, a == b));
        if !p.opaque(0, equal) {
            return;
        }
        let sum = rest.iter().fold(0u8, |a, &b| a.wrapping_mul(3).wrapping_add(b));
        for level in 1..5 {
            if !p.branch(level, sum >> (2 * level - 2) & 3 == 2) {
                return;
            }
        }
        p.abort();
    })
    .solved_by(|input, decision, at, outcome| {
        if decision.key >> 32 == 0 {
            return Answer::Unknown;
        }
        let mut input = input.to_vec();
        input[at as usize] = if outcome == 1 { WORD[at as usize] } else { b'?' };
        Answer::Input(input)
    })
    .mutated_with(&(0..=255).collect::<Vec<_>>())
    .seed(&[b"hazel!....", b"yew..!...."])
}

#[test]
fn auto_combines_mutation_and_flips() {
    check_best(
        &word_and_sum(),
        "auto",
        3000,
        &["dfs", "generational", "cfg", "uniform", "random-branch", "random"],
    );
}

#[test]
fn auto_traces_all_seeds_first_and_never_ends() {
    let subject = word_and_sum();
    let out = search(&subject, "auto", Limits { runs: 5000, ..Limits::default() });
    assert_eq!(out.actions[..2], [Action::Trace(0), Action::Trace(1)]);
    // A program without a branch.
    let subject = Subject::flat(1, |_, _| {}).seed(&[b"x"]);
    for workers in [1, 4] {
        let out = search(&subject, "auto", Limits { runs: 5000, workers, ..Limits::default() });
        assert!(!out.ended && out.mutants > 4000);
    }
}

#[test]
fn auto_asks_infeasible_flips_less_often() {
    // Site 0 is taken ten times for each other site, and always the same way.
    let subject = Subject::flat(25, |p, input| {
        for (i, &b) in input.iter().enumerate() {
            p.branch(1 + i as u32, b != 0);
            (0..10).for_each(|_| {
                p.branch(0, false);
            });
        }
    })
    .solved_by(|input, decision, _, outcome| {
        let mut input = input.to_vec();
        match (decision.key as usize).checked_sub(1) {
            Some(place) => input[place] = outcome as u8,
            None => return Answer::Unsat,
        }
        Answer::Input(input)
    })
    .seed(&[&[0; 24]]);
    let out = search(&subject, "auto", Limits { runs: 30_000, ..Limits::default() });
    assert_eq!(out.covered, 49);
    let refused = out.flips.iter().filter(|f| **f == (0, 1)).count();
    assert!(out.flips.len() > 1000, "{}", out.flips.len());
    assert!(refused * 4 < out.flips.len(), "{refused} of {}", out.flips.len());
}

#[test]
fn runs_of_thirty_thousand_decisions_are_handled() {
    const LONG: usize = 30_000;
    let subject = Subject::flat(40, |p, input| {
        let mut sum = 0usize;
        for i in 0..LONG {
            let byte = input[i % input.len()];
            sum += usize::from(p.branch((i % 37) as u32, byte > (i % 7) as u8));
        }
        p.branch(38, sum.is_multiple_of(2));
    })
    .solved_by(|input, _, at, outcome| {
        let mut input = input.to_vec();
        let place = at as usize % input.len();
        input[place] = if outcome == 1 { 7 } else { 0 };
        Answer::Input(input)
    })
    .seed(&[&[3; 64]]);
    // The simulated grammar derives only three inputs.
    for name in names().filter(|&n| n != "gbb") {
        let limits = Limits { runs: 60, ..Limits::default() };
        let mut out = search(&subject, name, limits);
        out.actions.truncate(60);
        assert!(out.runs >= 60, "{name}");
    }
}
