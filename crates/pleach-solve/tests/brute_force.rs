//! Compares the answers on paths of one and two bytes with all inputs.

mod common;

use common::{applied, cases, flips, random_path, reaches};
use pleach_solve::{Config, Goal, Recording, Solver, Verdict};

/// True if any input of the same length reaches the goal.
fn is_feasible(recording: &Recording, at: usize, goal: Goal) -> bool {
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
                    !is_feasible(&recording, at, goal),
                    "seed {seed}, step {at}, {goal:?}: {answer:?}, but there is a model"
                ),
                other => panic!("seed {seed}, step {at}, {goal:?}: {other:?}"),
            }
        }
    }
    assert_eq!(solver.stats().rejected, 0);
}

#[test]
fn answers_on_one_byte_agree_with_all_inputs() {
    check(1, 0..cases(3000));
}

#[test]
fn answers_on_two_bytes_agree_with_all_inputs() {
    check(2, 1 << 32..(1 << 32) + cases(3000) / 150);
}
