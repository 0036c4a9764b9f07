//! Answers over several bytes and a length, held against Z3 on the graph as it
//! was written, unsimplified and unsliced.
//!
//! Z3 must be installed (`./x setup` does): without it this fails, since a test
//! that is silently skipped proves nothing.

mod common;
#[path = "../../pleach/src/commands/z3.rs"]
mod z3;

use common::{applied, cases, flips, random_path, reaches};
use pleach_solve::{Config, Limits, SmtRequest, Solver, Verdict};
use z3::{Said, Z3};

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
                        Said::Unsat => {}
                        // Its limit counts from its start.
                        Said::Unknown => {
                            open += 1;
                            z3 = start();
                        }
                        Said::Sat(values) => panic!("{}, but Z3 has {values}", context()),
                    }
                }
                Verdict::Optimistic(_) | Verdict::Unknown(_) => open += 1,
            }
        }
    }
    assert!(refuted > 0);
    eprintln!("{asked} flips, {refuted} refuted by both, {open} open");
    // What neither can say in its time must stay the exception.
    assert!(open * 50 <= asked, "{open} of {asked} are open");
}

#[test]
fn three_bytes() {
    check(1 << 40..(1 << 40) + cases(600), 3, false);
}

#[test]
fn five_bytes_and_a_length() {
    check(1 << 41..(1 << 41) + cases(600), 5, true);
}

#[test]
fn seventeen_bytes() {
    check(1 << 42..(1 << 42) + cases(200), 17, true);
}

/// Answers that were wrong once: a length that is tied to bytes which may change too, and
/// 128 bits that are shifted by 128 and more.
#[test]
fn wrong_once() {
    check((1 << 40) + 8585..(1 << 40) + 8595, 3, false);
    let seed = (1 << 41) + 751;
    check(seed - 20..seed + 1, 5, true);
}
