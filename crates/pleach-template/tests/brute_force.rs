//! Random constraints, compared with brute force over all strings: the verdict is the same,
//! every solution is right, and none is missing. Here a language is a set of strings, so the
//! test shares nothing with the solver.

mod common;

use common::Generator;
use pleach_template::hampi::Problem;
use std::collections::BTreeSet;

/// The letters that constraints use, and some others.
const ALPHABET: &[u8] = b"abxyz";

#[test]
fn verdicts_equal_those_of_brute_force() {
    let mut generator = Generator::new(1);
    let (mut sat, mut unsat) = (0, 0);
    for number in 0..6000 {
        let case = generator.case();
        let text = case.text();
        let problem = Problem::read("random", text.as_bytes())
            .unwrap_or_else(|e| panic!("case {number}: {e}\n{text}"));
        let solved = problem.solve().unwrap_or_else(|e| panic!("case {number}: {e}\n{text}"));
        match solved {
            Some(values) => {
                sat += 1;
                assert_ne!(case.holds(&values), Some(false), "case {number}: {values:?}\n{text}");
            }
            None => {
                unsat += 1;
                let mut all = case.candidates(ALPHABET).into_iter();
                let missed = all.find(|values| case.holds(values) == Some(true));
                assert_eq!(missed, None, "case {number}\n{text}");
            }
        }
    }
    // If nearly all constraints had the same verdict, the test would show little.
    assert!(sat > 1000 && unsat > 1000, "{sat} sat, {unsat} unsat");
}

#[test]
fn all_solutions_are_found_once() {
    const MAX_SOLUTIONS: usize = 1500;
    let mut generator = Generator::new(2);
    let (mut enumerated, mut several) = (0, 0);
    for number in 0..2000 {
        let case = generator.case();
        let text = case.text();
        let problem = Problem::read("random", text.as_bytes()).unwrap();
        let mut found = BTreeSet::new();
        for values in problem.solutions().take(MAX_SOLUTIONS) {
            let values = values.unwrap_or_else(|e| panic!("case {number}: {e}\n{text}"));
            assert_ne!(case.holds(&values), Some(false), "case {number}: {values:?}\n{text}");
            assert!(found.insert(values), "case {number}: a solution came twice\n{text}");
        }
        if found.len() == MAX_SOLUTIONS {
            continue;
        }
        enumerated += 1;
        several += usize::from(found.len() > 1);
        for values in case.candidates(b"abxy") {
            if case.holds(&values) == Some(true) {
                assert!(found.contains(&values), "case {number}: {values:?} is missing\n{text}");
            }
        }
    }
    assert!(
        enumerated > 500 && several > 100,
        "{enumerated} enumerated, {several} with several solutions"
    );
}

/// The evaluator that checks every solution is compared, too.
#[test]
fn the_check_of_solutions_is_right() {
    let mut generator = Generator::new(3);
    let mut compared = [0; 2];
    for number in 0..1500 {
        let case = generator.case();
        let text = case.text();
        let problem = Problem::read("random", text.as_bytes()).unwrap();
        let mut candidates = case.candidates(b"abx");
        generator.rng.shuffle(&mut candidates);
        for values in candidates.iter().take(12) {
            if let Some(expected) = case.holds(values) {
                let got = problem.holds(values).unwrap();
                assert_eq!(got, expected, "case {number}: {values:?}\n{text}");
                compared[usize::from(expected)] += 1;
            }
        }
    }
    assert!(compared.iter().all(|&n| n > 1000), "{compared:?}");
}
