//! Every answer over one and two bytes against trying all inputs.

mod common;

use common::{applied, cases, flips, random_path, reaches};
use pleach_solve::{Config, Goal, Recording, Solver, Verdict};

/// Whether any input of the recording's length reaches the goal.
fn possible(recording: &Recording, at: usize, goal: Goal) -> bool {
    let length = recording.input.len();
    let mut input = vec![0; length];
    (0..1u32 << (8 * length)).any(|n| {
        input.copy_from_slice(&n.to_le_bytes()[..length]);
        reaches(recording, at, goal, &input, length as u64)
    })
}

fn check(bytes: u32, seeds: std::ops::Range<u64>) {
    let mut solver = Solver::new(Config::default());
    for seed in seeds {
        let recording = random_path(seed, bytes, false);
        let mut path = recording.path();
        assert_eq!(path.inconsistent(), 0, "seed {seed}");
        for (at, goal) in flips(&path) {
            let answer = solver.flip(&mut path, at, goal);
            match &answer.verdict {
                Verdict::Sat(model) => {
                    let (input, length) = applied(&recording, model);
                    assert!(
                        reaches(&recording, at, goal, &input, length),
                        "seed {seed}, step {at}, {goal:?}: {model:?} is no model ({answer:?})"
                    );
                }
                Verdict::Unsat => assert!(
                    !possible(&recording, at, goal),
                    "seed {seed}, step {at}, {goal:?}: {answer:?}, but there is a model"
                ),
                other => panic!("seed {seed}, step {at}, {goal:?}: {other:?}"),
            }
        }
    }
    assert_eq!(solver.stats().rejected, 0);
}

#[test]
fn one_byte() {
    check(1, 0..cases(3000));
}

#[test]
fn two_bytes() {
    check(2, 1 << 32..(1 << 32) + cases(3000) / 150);
}
