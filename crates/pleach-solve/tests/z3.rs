//! Compares proofs of infeasibility with Z3, on the graph itself: neither simplified nor
//! sliced.
//!
//! Without Z3 these tests fail, because a test that is silently skipped proves nothing.
//! `./x setup` installs it.

mod common;
#[path = "../../pleach/src/commands/z3.rs"]
mod z3;

use common::{applied, flips, random_path, reaches, seeds};
use pleach_solve::{Config, Limits, SmtRequest, Solver, Verdict};
use z3::{Z3, Z3Answer};

/// A unit of Z3's work is some tens of nanoseconds.
const Z3_WORK: u64 = 20_000_000;

fn check(seeds: std::ops::Range<u64>, bytes: u32, lengths: bool) {
    let limits = Limits { length: 4096, ..Limits::default() };
    let longest = limits.length;
    let mut solver = Solver::new(Config { limits, ..Config::default() });
    let start = || Z3::start(Z3_WORK, 10_000).expect("z3 can be run; ./x setup installs it");
    let mut z3 = start();
    let (mut asked, mut refuted, mut open) = (0, 0, 0);
    for seed in seeds {
        let recording = random_path(seed, bytes, lengths);
        let mut path = recording.path();
        assert_eq!(path.inconsistent(), 0, "seed {seed}");
        for (at, goal) in flips(&path) {
            let answer = solver.flip(&mut path, at, goal);
            asked += 1;
            let context = || format!("seed {seed}, step {at}, {goal:?}: {answer:?}");
            assert_eq!(solver.stats().rejected, 0, "{}", context());
            match &answer.verdict {
                Verdict::Sat(model) => {
                    let (input, length) = applied(&recording, model);
                    assert!(reaches(&recording, at, goal, &input, length), "{}", context());
                }
                Verdict::Unsat => {
                    refuted += 1;
                    let request = SmtRequest::new(&recording, at, goal, false, longest)
                        .expect("the goal is one of the step's");
                    match z3.ask(&request.script, &request.values()).expect("z3 answers") {
                        Z3Answer::Unsat => {}
                        // Its limit of work is for the whole process.
                        Z3Answer::Unknown => {
                            open += 1;
                            z3 = start();
                        }
                        Z3Answer::Sat(values) => panic!("{}, but Z3 has {values}", context()),
                    }
                }
                Verdict::Optimistic(_) | Verdict::Unknown(_) => open += 1,
            }
        }
    }
    assert!(refuted > 0);
    eprintln!("{asked} flips, {refuted} refuted by both, {open} open");
    // Few flips may be without an answer.
    assert!(open * 50 <= asked, "{open} of {asked} are open");
}

#[test]
fn proofs_on_three_bytes_agree() {
    check(seeds(1 << 40, 600), 3, false);
}

#[test]
fn proofs_on_five_bytes_and_a_length_agree() {
    check(seeds(1 << 41, 600), 5, true);
}

#[test]
fn proofs_on_seventeen_bytes_agree() {
    check(seeds(1 << 42, 200), 17, true);
}

/// The flip of a length was refuted, though bytes in the same condition could change.
#[test]
fn lengths_in_conditions_with_bytes() {
    let seed = (1 << 41) + 751;
    check(seed - 20..seed + 1, 5, true);
}

/// A word of 128 bits, shifted by 128 or more, was encoded wrongly.
#[test]
fn shifts_of_128_bits() {
    check((1 << 40) + 8585..(1 << 40) + 8595, 3, false);
}
